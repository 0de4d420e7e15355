// Placement and complement of any shape.

#include "weft/geometry/shape.hpp"

#include "weft/base/check.hpp"
#include "weft/geometry/mesh.hpp"

#include <Eigen/Geometry>

#include <cmath>

namespace weft {

namespace {

/// Of a length that went through a placement, more than enough.
constexpr Real rounding = 1e-6;

class Placed final : public Shape {
 public:
  Placed(std::unique_ptr<Shape> shape, const Placement& placement) : shape_(std::move(shape)), placement_(placement) {}

  Surface surface(const Vec3& x) const override {
    const Surface at_rest = shape_->surface(to_rest(x));
    return {placement_.scale * at_rest.distance, placement_.rotation * at_rest.normal};
  }
  bool contains(const Vec3& x) const override { return shape_->contains(to_rest(x)); }
  bool misses_ball(const Vec3& x, Real radius) const override {
    return shape_->misses_ball(to_rest(x), (1 + rounding) * radius / placement_.scale);
  }
  Normals holding(const Vec3& x, Side side, Real slack) const override {
    Normals normals = shape_->holding(to_rest(x), side, slack / placement_.scale);
    for (Vec3& n : normals) n = placement_.rotation * n;
    return normals;
  }
  Faces faces(const Vec3& x, Side side, Real reach) const override {
    Faces faces = shape_->faces(to_rest(x), side, reach / placement_.scale);
    for (auto& [distance, normal] : faces) {
      distance *= placement_.scale;
      normal = placement_.rotation * normal;
    }
    return faces;
  }

  bool is_convex() const override { return shape_->is_convex(); }
  bool is_flat(Side side) const override { return shape_->is_flat(side); }
  bool has_edges(Side side) const override { return shape_->has_edges(side); }
  std::optional<Box> bounds() const override {
    const std::optional<Box> box = shape_->bounds();
    if (!box) return std::nullopt;
    return image_of(*box, placement_);
  }
  std::optional<Box> surface_bounds() const override {
    const std::optional<Box> box = shape_->surface_bounds();
    if (!box) return std::nullopt;
    return image_of(*box, placement_);
  }

  std::optional<Real> volume() const override {
    const std::optional<Real> at_rest = shape_->volume();
    if (!at_rest) return std::nullopt;
    return std::pow(placement_.scale, 3) * *at_rest;
  }

  SurfaceMesh tessellate(const Box& view) const override {
    const Box view_at_rest = image_of(view, [this](const Vec3& x) { return to_rest(x); });
    return weft::placed(shape_->tessellate(view_at_rest), placement_);
  }

 private:
  Vec3 to_rest(const Vec3& x) const {
    return placement_.rotation.transpose() * (x - placement_.translation) / placement_.scale;
  }

  std::unique_ptr<Shape> shape_;
  Placement placement_;
};

class Hollow final : public Shape {
 public:
  explicit Hollow(std::unique_ptr<Shape> shape) : shape_(std::move(shape)) {}

  Surface surface(const Vec3& x) const override {
    const Surface inner = shape_->surface(x);
    return {-inner.distance, -inner.normal};
  }
  Normals holding(const Vec3& x, Side side, Real slack) const override {
    return shape_->holding(x, other(side), slack);
  }
  Faces faces(const Vec3& x, Side side, Real reach) const override { return shape_->faces(x, other(side), reach); }
  bool is_flat(Side side) const override { return shape_->is_flat(other(side)); }
  bool has_edges(Side side) const override { return shape_->has_edges(other(side)); }
  std::optional<Box> bounds() const override { return std::nullopt; }
  std::optional<Box> surface_bounds() const override { return shape_->surface_bounds(); }
  std::optional<Real> volume() const override { return std::nullopt; }
  SurfaceMesh tessellate(const Box& view) const override { return reversed(shape_->tessellate(view)); }

 private:
  static Side other(Side side) { return side == Side::outside ? Side::inside : Side::outside; }

  std::unique_ptr<Shape> shape_;
};

}  // namespace

Faces Shape::faces(const Vec3& x, Side side, Real reach) const {
  const auto [distance, normal] = surface(x);
  const Real sign = side == Side::outside ? 1 : -1;
  Faces faces;
  if (sign * distance < reach) faces.add({sign * distance, sign * normal});
  return faces;
}

Normals Shape::holding(const Vec3& x, Side side, Real) const {
  Normals normals;
  normals.add(side == Side::outside ? surface(x).normal : Vec3(-surface(x).normal));
  return normals;
}

Mat3 rotation_matrix(const Vec3& rotation_vector) {
  const Real angle = rotation_vector.norm();
  if (angle == 0) return Mat3::Identity();
  return Eigen::AngleAxis<Real>(angle, rotation_vector / angle).toRotationMatrix();
}

std::unique_ptr<Shape> placed(std::unique_ptr<Shape> shape, const Placement& placement) {
  require(placement.scale > 0 && std::isfinite(placement.scale), ExitCode::geometry,
          "The scale of a shape must be a positive number.");
  require(placement.translation.allFinite(), ExitCode::geometry, "The translation of a shape must be finite.");
  const Mat3& R = placement.rotation;
  require((R.transpose() * R - Mat3::Identity()).norm() < 1e-9 && R.determinant() > 0, ExitCode::geometry,
          "The rotation of a shape must be a rotation matrix.");
  return std::make_unique<Placed>(std::move(shape), placement);
}

std::unique_ptr<Shape> hollow(std::unique_ptr<Shape> shape) { return std::make_unique<Hollow>(std::move(shape)); }

}  // namespace weft
