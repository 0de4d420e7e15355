#pragma once
// Solid shapes by signed distance, their complement and their placement; primitives and meshes implement `Shape`.

#include "weft/base/types.hpp"

#include <array>
#include <limits>
#include <memory>
#include <optional>

namespace weft {

struct SurfaceMesh;

/// Axis-aligned box; empty (lower > upper) until something is included.
struct Box {
  Vec3 lower = Vec3::Constant(std::numeric_limits<Real>::infinity());
  Vec3 upper = Vec3::Constant(-std::numeric_limits<Real>::infinity());
  void include(const Vec3& x) {
    lower = lower.cwiseMin(x);
    upper = upper.cwiseMax(x);
  }
  bool contains(const Vec3& x) const {
    return (x.array() >= lower.array()).all() && (x.array() <= upper.array()).all();
  }
};

/// The box around the images of a box's corners under an affine map.
template <class Map>
Box image_of(const Box& box, Map map) {
  Box image;
  for (int corner = 0; corner < 8; ++corner)
    image.include(map(Vec3(corner & 1 ? box.upper[0] : box.lower[0], corner & 2 ? box.upper[1] : box.lower[1],
                           corner & 4 ? box.upper[2] : box.lower[2])));
  return image;
}

/// Distance and outward direction at a point.
struct Surface {
  Real distance;  ///< [m], negative inside the solid.
  Vec3 normal;    ///< Unit; the gradient of the distance where that exists.
};

/// Unit normals, few.
struct Normals {
  std::array<Vec3, 3> of;
  int count = 0;

  void add(const Vec3& normal) { of[count++] = normal; }
  Vec3* begin() { return of.data(); }
  Vec3* end() { return of.data() + count; }
  const Vec3* begin() const { return of.data(); }
  const Vec3* end() const { return of.data() + count; }
};

/// Smooth parts of a surface near a point, few.
struct Faces {
  std::array<Surface, 6> of;
  int count = 0;

  void add(const Surface& face) { of[static_cast<std::size_t>(count++)] = face; }
  Surface* begin() { return of.data(); }
  Surface* end() { return of.data() + count; }
  const Surface* begin() const { return of.data(); }
  const Surface* end() const { return of.data() + count; }
};

/// Which side of a surface material is on.
enum class Side { outside, inside };

/// A solid region of space. Immutable: every function may be called from many threads at once.
class Shape {
 public:
  virtual ~Shape() = default;
  /// Signed distance to the surface and its gradient. Where several surface points are equally near, one is chosen.
  virtual Surface surface(const Vec3& x) const = 0;
  virtual bool contains(const Vec3& x) const { return surface(x).distance <= 0; }
  /// The normals, towards the material, of the smooth parts of the surface which hold material on this side of it back
  /// from x, which lies beyond the surface or on it (within `slack` [m]). One as a rule; behind an inner edge or corner
  /// those of all parts that meet there, since the gradient of the distance, which leads to the edge, lets material
  /// slip across it.
  virtual Normals holding(const Vec3& x, Side side, Real slack) const;
  /// The smooth parts of the surface nearer to x than `reach` [m] that material on this side meets, each with its
  /// distance, which is negative beyond it, and its normal towards the material. One where the surface is smooth or
  /// bends away from the material; at an inner edge or corner one for each part that meets there.
  virtual Faces faces(const Vec3& x, Side side, Real reach) const;
  /// Whether the solid is convex: then its distance grows at least as along the tangent plane anywhere.
  virtual bool is_convex() const { return false; }
  /// Whether `faces` on this side are planes, the same for all points that they are near to.
  virtual bool is_flat(Side) const { return false; }
  /// Whether the surface may have sharp edges that point to this side; false if it is smooth or bends the other way.
  virtual bool has_edges(Side side) const { return side == Side::outside || !is_convex(); }
  /// A box around the solid, not always the smallest; unbounded shapes (half spaces, complements) give none.
  virtual std::optional<Box> bounds() const = 0;
  /// A box around the surface: that of complements too.
  virtual std::optional<Box> surface_bounds() const { return bounds(); }
  /// Volume [m^3] where it is known in closed form.
  virtual std::optional<Real> volume() const = 0;
  /// The surface as faces turned outward, fine enough to draw; closed where the shape is bounded. An unbounded plane
  /// is drawn as a square patch that covers `view`; bounded shapes do not look at it.
  virtual SurfaceMesh tessellate(const Box& view) const = 0;
  /// True only if the shape contains no point of the ball about x; may be false for a ball that it just misses.
  virtual bool misses_ball(const Vec3& x, Real radius) const {
    return surface(x).distance > 2 * radius;  // interpolated distances are right within a half
  }
};

/// Uniform scale, then rotation, then translation: x -> translation + rotation * (scale * x).
struct Placement {
  Real scale = 1;
  Mat3 rotation = Mat3::Identity();
  Vec3 translation = Vec3::Zero();
  Vec3 operator()(const Vec3& x) const { return translation + rotation * (scale * x); }
};

/// Rotation by the length of `rotation_vector` [rad] about its direction.
Mat3 rotation_matrix(const Vec3& rotation_vector);

/// The shape moved to its position. Throws if scale is not positive and finite, or rotation is not a rotation.
std::unique_ptr<Shape> placed(std::unique_ptr<Shape> shape, const Placement& placement);

/// The complement: material is inside the shape and the solid outside (a container). Unbounded.
std::unique_ptr<Shape> hollow(std::unique_ptr<Shape> shape);

}  // namespace weft
