#pragma once
// Shapes whose distance is known in closed form, or by one scalar equation: exact everywhere, inside and out.

#include "weft/geometry/shape.hpp"

namespace weft {

// Lengths in metres. Each throws Error(geometry) if the shape would be empty or not finite.

/// The side of the plane through `point` that `normal` (any length but zero) points away from.
std::unique_ptr<Shape> make_half_space(const Vec3& point, const Vec3& normal);
/// Axis-aligned box, lower < upper in every direction.
std::unique_ptr<Shape> make_box(const Vec3& lower, const Vec3& upper);
std::unique_ptr<Shape> make_sphere(const Vec3& center, Real radius);
/// Round bar with flat caps at `from` and `to`.
std::unique_ptr<Shape> make_cylinder(const Vec3& from, const Vec3& to, Real radius);
/// All points within `radius` of the segment `from`-`to`, which may be a single point.
std::unique_ptr<Shape> make_capsule(const Vec3& from, const Vec3& to, Real radius);
/// Half axes `radii` along x, y, z. The distance is the true one, not the scaled approximation.
std::unique_ptr<Shape> make_ellipsoid(const Vec3& center, const Vec3& radii);
/// All points within `minor_radius` of the circle with `major_radius` about `axis`; minor_radius < major_radius.
std::unique_ptr<Shape> make_torus(const Vec3& center, const Vec3& axis, Real major_radius, Real minor_radius);

}  // namespace weft
