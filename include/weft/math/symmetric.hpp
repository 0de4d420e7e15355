#pragma once
// Functions of symmetric 3x3 matrices: logarithm and exponential.

#include "weft/base/types.hpp"

namespace weft {

/// Logarithm of a symmetric positive definite matrix, to a few units of round-off of the identity. Near the identity
/// (eigenvalues within about 1/2 to 2) by a series without decomposition, elsewhere by eigenvalues.
Mat3 log_symmetric(const Mat3& A);
/// Exponential of a symmetric matrix, to a few units of round-off.
Mat3 exp_symmetric(const Mat3& A);

}  // namespace weft
