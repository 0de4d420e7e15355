#pragma once
// Counter-based random numbers: a pure function of (seed, stream, counter), so nothing depends on ranks,
// threads, order or retries. Philox 4x32-10 [Salmon et al. 2011, Parallel random numbers: as easy as 1, 2, 3].

#include "weft/base/types.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace weft {

/// Four independent 32-bit words for one 128-bit counter and one 64-bit key.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// A stream of random numbers named by (seed, stream, counter); drawing does not affect any other stream.
/// Example: Random(deck seed, body number, point id).uniform3().
class Random {
 public:
  Random(std::uint32_t seed, std::uint32_t stream, std::uint64_t counter)
      : key_{seed, stream},
        counter_{static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0} {}

  /// Uniform in [0, 1), 53 random bits.
  Real uniform();
  /// Uniform in [0, 1)^3.
  Vec3 uniform3();

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> words_{};
  int left_ = 0;
};

/// The first uniform3() of (seed, stream, first), (seed, stream, first + 1), ...: the same bits, made faster.
void first_uniform3(std::uint32_t seed, std::uint32_t stream, std::uint64_t first, std::span<Vec3> out);

}  // namespace weft
