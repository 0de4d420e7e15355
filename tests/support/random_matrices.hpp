#pragma once
// Reproducible random matrices for tests: of prescribed singular values, near rest, far from it, degenerate in every
// way.

#include "weft/base/random.hpp"
#include "weft/base/types.hpp"

#include <Eigen/Geometry>

#include <cmath>
#include <string>
#include <vector>

namespace weft::test {

/// Draws from one stream; equal seeds give equal sequences.
class MatrixSource {
 public:
  explicit MatrixSource(std::uint32_t seed) : random_(seed, 0, 0) {}

  Real uniform(Real from, Real to) { return from + (to - from) * random_.uniform(); }
  /// Entries uniform in [-1, 1].
  Vec3 vector() { return {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)}; }
  Mat3 matrix() {
    Mat3 M;
    for (int i = 0; i < 9; ++i) M(i) = uniform(-1, 1);
    return M;
  }
  Mat3 rotation() {
    Eigen::Vector4d q;
    do {
      for (int i = 0; i < 4; ++i) q[i] = uniform(-1, 1);
    } while (q.squaredNorm() > 1 || q.squaredNorm() < 0.01);
    return Eigen::Quaterniond(q.normalized()).toRotationMatrix();
  }
  /// U diag(s) V^T with random rotations.
  Mat3 with_singular_values(const Vec3& s) { return rotation() * s.asDiagonal() * rotation().transpose(); }
  Mat3 near_identity(Real size) { return Mat3::Identity() + size * matrix(); }

 private:
  Random random_;
};

}  // namespace weft::test
