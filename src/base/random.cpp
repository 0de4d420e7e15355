#include "weft/base/random.hpp"

namespace weft {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> k) {
  constexpr std::uint64_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t weyl0 = 0x9E3779B9, weyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = multiplier0 * c[0], product1 = multiplier1 * c[2];
    c = {static_cast<std::uint32_t>(product1 >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(product1),
         static_cast<std::uint32_t>(product0 >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(product0)};
    k[0] += weyl0;
    k[1] += weyl1;
  }
  return c;
}

Real Random::uniform() {
  if (left_ < 2) {
    words_ = philox(counter_, key_);
    ++counter_[2];
    left_ = 4;
  }
  const std::uint64_t high = words_[4 - left_], low = words_[5 - left_];
  left_ -= 2;
  return static_cast<Real>((high << 21) ^ (low >> 11)) * 0x1p-53;
}

Vec3 Random::uniform3() {
  const Real x = uniform(), y = uniform(), z = uniform();
  return {x, y, z};
}

}  // namespace weft
