#pragma once
// Scalar, vector and matrix types that every room shares. SI units throughout; angles in radians.

#include <Eigen/Core>

#include <cstdint>

namespace weft {

using Real = double;

/// Templated on the scalar, so that a law serves plain numbers and derivative-carrying ones with one text.
template <class T>
using Vector3 = Eigen::Matrix<T, 3, 1>;
template <class T>
using Matrix3 = Eigen::Matrix<T, 3, 3>;
/// Gradient of a surface: the images of two directions of the plane.
template <class T>
using Matrix32 = Eigen::Matrix<T, 3, 2>;

using Vec3 = Vector3<Real>;
using Mat3 = Matrix3<Real>;
using Mat32 = Matrix32<Real>;
using Vec3i = Eigen::Matrix<std::int32_t, 3, 1>;

/// Identity of a point within its body: never reused, independent of ranks and threads.
using PointId = std::uint64_t;

}  // namespace weft
