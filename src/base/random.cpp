#include "weft/base/random.hpp"

#include <algorithm>

namespace weft {

namespace {

/// The words of several blocks: word w of block l is [w][l].
template <std::size_t blocks>
using Words = std::array<std::array<std::uint32_t, blocks>, 4>;

/// Turns counters into random words, several at once so that they fill the registers of vectors.
template <std::size_t blocks>
void ten_rounds(Words<blocks>& c, std::array<std::uint32_t, 2> k) {
  constexpr std::uint64_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t weyl0 = 0x9E3779B9, weyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
#pragma omp simd
    for (std::size_t l = 0; l < blocks; ++l) {
      const std::uint64_t product0 = multiplier0 * c[0][l], product1 = multiplier1 * c[2][l];
      const std::uint32_t word1 = c[1][l], word3 = c[3][l];
      c[0][l] = static_cast<std::uint32_t>(product1 >> 32) ^ word1 ^ k[0];
      c[1][l] = static_cast<std::uint32_t>(product1);
      c[2][l] = static_cast<std::uint32_t>(product0 >> 32) ^ word3 ^ k[1];
      c[3][l] = static_cast<std::uint32_t>(product0);
    }
    k[0] += weyl0;
    k[1] += weyl1;
  }
}

/// 53 bits of two words, as a number in [0, 1).
Real uniform_of(std::uint64_t high, std::uint64_t low) {
  return static_cast<Real>((high << 21) ^ (low >> 11)) * 0x1p-53;
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  Words<1> c{{{counter[0]}, {counter[1]}, {counter[2]}, {counter[3]}}};
  ten_rounds(c, key);
  return {c[0][0], c[1][0], c[2][0], c[3][0]};
}

Real Random::uniform() {
  if (left_ < 2) {
    words_ = philox(counter_, key_);
    ++counter_[2];
    left_ = 4;
  }
  const Real number = uniform_of(words_[4 - left_], words_[5 - left_]);
  left_ -= 2;
  return number;
}

Vec3 Random::uniform3() {
  const Real x = uniform(), y = uniform(), z = uniform();
  return {x, y, z};
}

void first_uniform3(std::uint32_t seed, std::uint32_t stream, std::uint64_t first, std::span<Vec3> out) {
  constexpr std::size_t at_once = 16;
  for (std::size_t begin = 0; begin < out.size(); begin += at_once) {
    // Three numbers take the first block of a stream and half of its second.
    std::array<Words<at_once>, 2> words{};
    for (std::uint32_t block = 0; block < 2; ++block) {
      for (std::size_t l = 0; l < at_once; ++l) {
        const std::uint64_t counter = first + begin + l;
        words[block][0][l] = static_cast<std::uint32_t>(counter);
        words[block][1][l] = static_cast<std::uint32_t>(counter >> 32);
        words[block][2][l] = block;
      }
      ten_rounds(words[block], {seed, stream});
    }
    for (std::size_t l = 0; l < std::min(at_once, out.size() - begin); ++l)
      out[begin + l] = {uniform_of(words[0][0][l], words[0][1][l]), uniform_of(words[0][2][l], words[0][3][l]),
                        uniform_of(words[1][0][l], words[1][1][l])};
  }
}

}  // namespace weft
