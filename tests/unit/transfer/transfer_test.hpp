#pragma once
// Tests of scatter and gather, for the three kernels.

#include "unit/transfer/clouds.hpp"

namespace weft::test {

constexpr Real dt = 0.7;

class TransferTest : public ::testing::TestWithParam<KernelKind> {
 protected:
  /// A spacing that is exact in binary, and one that is not.
  static std::vector<TransferSettings> settings(Real damping = 0) {
    return {{GetParam(), 0.25, damping}, {GetParam(), 0.1, damping}};
  }
};

/// A vector for each node, in [-1, 1]^3, the same on every rank.
inline Vec3 noise(const Vec3i& node) {
  const Vec3i from = node + Vec3i::Constant(512);
  const int counter = (from.x() * 1024 + from.y()) * 1024 + from.z();
  return 2 * Random(11, 0, static_cast<std::uint64_t>(counter)).uniform3() - Vec3::Ones();
}

}  // namespace weft::test
