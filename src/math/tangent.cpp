#include "weft/math/tangent.hpp"

#include <Eigen/Eigenvalues>

namespace weft {

Mat9 positive_part(const Mat9& tangent) {
  const Eigen::SelfAdjointEigenSolver<Mat9> eigen(0.5 * (tangent + tangent.transpose()));
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() * eigen.eigenvectors().transpose();
}

}  // namespace weft
