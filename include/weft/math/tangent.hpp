#pragma once
// Derivatives of 3x3 matrices by 3x3 matrices, as 9x9 matrices over their columns: entry (r + 3 k, s + 3 l) is
// dA_rk / dH_sl.

#include "weft/base/types.hpp"
#include "weft/math/pack.hpp"

namespace weft {

using Mat9 = Eigen::Matrix<Real, 9, 9>;

/// Product of a tangent with a change of the argument.
inline Mat3 change_by(const Mat9& tangent, const Mat3& dH) {
  // Column by column: Eigen's own product calls a function for matrices of any size.
  Eigen::Matrix<Real, 9, 1> sum = tangent.col(0) * dH.data()[0];
  for (int c = 1; c < 9; ++c) sum += tangent.col(c) * dH.data()[c];
  return Eigen::Map<const Mat3>(sum.data());
}

/// The tangent whose columns are differential(E), E running over the unit matrices with as many columns; of packs too.
template <class T = Real, int columns = 3, class Differential>
Eigen::Matrix<T, 3 * columns, 3 * columns> tangent_of(Differential&& differential) {
  using Argument = Eigen::Matrix<T, 3, columns>;
  Eigen::Matrix<T, 3 * columns, 3 * columns> tangent;
  for (int c = 0; c < 3 * columns; ++c) {
    Argument unit = Argument::Zero();
    unit(c) = T(1);
    const Argument change = differential(unit);
    tangent.col(c) = Eigen::Map<const Eigen::Matrix<T, 3 * columns, 1>>(change.data());
  }
  return tangent;
}

/// The symmetric part of a matrix without its negative eigenvalues.
Mat9 positive_part(const Mat9& matrix);
/// Of symmetric matrices.
Eigen::Matrix<Pack, 11, 11> positive_part(const Eigen::Matrix<Pack, 11, 11>& matrix);

}  // namespace weft
