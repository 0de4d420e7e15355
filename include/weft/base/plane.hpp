#pragma once
// Vectors and matrices of the plane.

#include "weft/base/types.hpp"

namespace weft {

template <class T>
using Vector2 = Eigen::Matrix<T, 2, 1>;
template <class T>
using Matrix2 = Eigen::Matrix<T, 2, 2>;

using Vec2 = Vector2<Real>;
using Mat2 = Matrix2<Real>;

}  // namespace weft
