#pragma once
// Derivatives of 3x3 matrices by 3x3 matrices, as 9x9 matrices over their columns: entry (r + 3 k, s + 3 l) is
// dA_rk / dH_sl.

#include "weft/base/types.hpp"

namespace weft {

using Mat9 = Eigen::Matrix<Real, 9, 9>;

/// Product of a tangent with a change of the argument.
inline Mat3 change_by(const Mat9& tangent, const Mat3& dH) {
  // Column by column: Eigen's own product calls a function for matrices of any size.
  Eigen::Matrix<Real, 9, 1> sum = tangent.col(0) * dH.data()[0];
  for (int c = 1; c < 9; ++c) sum += tangent.col(c) * dH.data()[c];
  return Eigen::Map<const Mat3>(sum.data());
}

/// The tangent whose columns are differential(E), E running over the nine unit matrices.
template <class Differential>
Mat9 tangent_of(Differential&& differential) {
  Mat9 tangent;
  for (int l = 0; l < 3; ++l)
    for (int s = 0; s < 3; ++s) {
      Mat3 unit = Mat3::Zero();
      unit(s, l) = 1;
      const Mat3 change = differential(unit);
      tangent.col(s + 3 * l) = Eigen::Map<const Eigen::Matrix<Real, 9, 1>>(change.data());
    }
  return tangent;
}

/// The symmetric part of a matrix without its negative eigenvalues.
Mat9 positive_part(const Mat9& matrix);
Eigen::Matrix<Real, 15, 15> positive_part(const Eigen::Matrix<Real, 15, 15>& matrix);

}  // namespace weft
