#include "weft/math/tangent.hpp"

#include <Eigen/Eigenvalues>

namespace weft {
namespace {

template <class Matrix>
Matrix without_negative(const Matrix& matrix) {
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(0.5 * (matrix + matrix.transpose()));
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() * eigen.eigenvectors().transpose();
}

}  // namespace

Mat9 positive_part(const Mat9& matrix) { return without_negative(matrix); }
Eigen::Matrix<Real, 15, 15> positive_part(const Eigen::Matrix<Real, 15, 15>& matrix) {
  return without_negative(matrix);
}

}  // namespace weft
