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
  const auto counter = static_cast<std::uint64_t>(((node.x() + 512) * 1024 + node.y() + 512) * 1024 + node.z() + 512);
  return 2 * Random(11, 0, counter).uniform3() - Vec3::Ones();
}

}  // namespace weft::test
