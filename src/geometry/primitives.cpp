// Distances, volumes and drawings of the primitive shapes.

#include "weft/geometry/primitives.hpp"

#include "weft/base/check.hpp"
#include "weft/geometry/mesh.hpp"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace weft {

namespace {

constexpr Real pi = std::numbers::pi;

bool positive(Real x) { return x > 0 && std::isfinite(x); }

void require_shape(bool condition, const std::string& text) { require(condition, ExitCode::geometry, text); }

/// v / |v|, or `otherwise` where v has no direction.
Vec3 direction(const Vec3& v, const Vec3& otherwise) {
  const Real length = v.norm();
  return length > 0 ? Vec3(v / length) : otherwise;
}

/// Any unit vector at right angles to the unit vector n.
Vec3 perpendicular(const Vec3& n) { return n.unitOrthogonal(); }

/// A point in the half plane through an axis: distance from the axis and height along it.
struct ProfilePoint {
  Real radius, height;
};

/// Turns a profile about the axis through `center`. The solid lies to the left of the profile's direction in the
/// (radius, height) plane. Profile points on the axis become single points; a closed profile joins its last point to
/// its first, an open one must start and end on the axis.
SurfaceMesh revolve(const std::vector<ProfilePoint>& profile, bool closed, const Vec3& center, const Vec3& axis) {
  constexpr int segments = 48;
  const Vec3 e1 = perpendicular(axis), e2 = axis.cross(e1);
  SurfaceMesh mesh;
  std::vector<std::int32_t> ring_start;
  for (const auto& [radius, height] : profile) {
    ring_start.push_back(static_cast<std::int32_t>(mesh.points.size()));
    for (int s = 0; s < (radius > 0 ? segments : 1); ++s) {
      const Real angle = 2 * pi * s / segments;
      mesh.points.push_back(center + height * axis + radius * (std::cos(angle) * e1 + std::sin(angle) * e2));
    }
  }
  const auto point = [&](std::size_t ring, int s) {
    return ring_start[ring] + (profile[ring].radius > 0 ? s % segments : 0);
  };
  const std::size_t bands = closed ? profile.size() : profile.size() - 1;
  for (std::size_t a = 0; a < bands; ++a) {
    const std::size_t b = (a + 1) % profile.size();
    for (int s = 0; s < segments; ++s) {
      if (profile[a].radius == 0) mesh.add_face({point(a, s), point(b, s + 1), point(b, s)});
      else if (profile[b].radius == 0) mesh.add_face({point(a, s), point(a, s + 1), point(b, s)});
      else mesh.add_face({point(a, s), point(a, s + 1), point(b, s + 1), point(b, s)});
    }
  }
  return mesh;
}

/// A quarter or half circle of the profile, from angle `from` to `to` above the equator, ends included.
void add_arc(std::vector<ProfilePoint>& profile, Real radius, Real height, Real from, Real to) {
  constexpr int steps_per_half_turn = 24;
  const int steps = static_cast<int>(std::lround(std::abs(to - from) / pi * steps_per_half_turn));
  for (int k = 0; k <= steps; ++k) {
    const Real angle = from + (to - from) * k / steps;
    const bool pole = std::abs(std::abs(angle) - pi / 2) < 1e-9;
    profile.push_back({pole ? 0 : radius * std::cos(angle), height + radius * std::sin(angle)});
  }
}

SurfaceMesh unit_sphere_mesh() {
  std::vector<ProfilePoint> profile;
  add_arc(profile, 1, 0, -pi / 2, pi / 2);
  return revolve(profile, false, Vec3::Zero(), Vec3::UnitZ());
}

class HalfSpace final : public Shape {
 public:
  HalfSpace(const Vec3& point, const Vec3& normal) : point_(point), normal_(normal) {}
  Surface surface(const Vec3& x) const override { return {normal_.dot(x - point_), normal_}; }
  bool is_convex() const override { return true; }
  bool has_edges(Side) const override { return false; }
  bool is_flat(Side) const override { return true; }
  std::optional<Box> bounds() const override { return std::nullopt; }
  std::optional<Real> volume() const override { return std::nullopt; }
  SurfaceMesh tessellate(const Box& view) const override {
    const Vec3 middle = 0.5 * (view.lower + view.upper);
    const Real half = 0.5 * (view.upper - view.lower).norm();
    const Vec3 center = middle - surface(middle).distance * normal_;
    const Vec3 e1 = half * perpendicular(normal_), e2 = normal_.cross(e1);
    SurfaceMesh mesh;
    mesh.points = {center - e1 - e2, center + e1 - e2, center + e1 + e2, center - e1 + e2};
    mesh.add_face({0, 1, 2, 3});
    return mesh;
  }

 private:
  Vec3 point_, normal_;
};

class BoxShape final : public Shape {
 public:
  BoxShape(const Vec3& lower, const Vec3& upper) : box_{lower, upper} {}

  Surface surface(const Vec3& x) const override {
    const Vec3 above = x - box_.upper, below = box_.lower - x;
    const Vec3 excess = above.cwiseMax(below);  // beyond the nearer of the two faces, for each axis
    const Vec3 side = (above.array() >= below.array()).select(Vec3::Ones(), -Vec3::Ones());
    int axis;
    const Real deepest = excess.maxCoeff(&axis);
    const Vec3 outside = excess.cwiseMax(0);
    if (deepest <= 0 || outside.norm() == 0) return {deepest, side[axis] * Vec3::Unit(axis)};
    return {outside.norm(), side.cwiseProduct(outside).normalized()};
  }
  bool contains(const Vec3& x) const override { return box_.contains(x); }
  Normals holding(const Vec3& x, Side side, Real slack) const override {
    if (side == Side::outside) return Shape::holding(x, side, slack);
    Normals normals;
    for (int axis = 0; axis < 3; ++axis) {
      if (x[axis] >= box_.upper[axis] - slack) normals.add(-Vec3::Unit(axis));
      else if (x[axis] <= box_.lower[axis] + slack) normals.add(Vec3::Unit(axis));
    }
    return normals;
  }
  Faces faces(const Vec3& x, Side side, Real reach) const override {
    if (side == Side::outside) return Shape::faces(x, side, reach);
    Faces faces;
    for (int axis = 0; axis < 3; ++axis) {
      if (box_.upper[axis] - x[axis] < reach) faces.add({box_.upper[axis] - x[axis], -Vec3::Unit(axis)});
      if (x[axis] - box_.lower[axis] < reach) faces.add({x[axis] - box_.lower[axis], Vec3::Unit(axis)});
    }
    return faces;
  }
  bool is_convex() const override { return true; }
  bool is_flat(Side side) const override { return side == Side::inside; }
  std::optional<Box> bounds() const override { return box_; }
  std::optional<Real> volume() const override { return (box_.upper - box_.lower).prod(); }

  SurfaceMesh tessellate(const Box&) const override {
    SurfaceMesh mesh;
    for (int corner = 0; corner < 8; ++corner)
      mesh.points.emplace_back(corner & 1 ? box_.upper[0] : box_.lower[0], corner & 2 ? box_.upper[1] : box_.lower[1],
                               corner & 4 ? box_.upper[2] : box_.lower[2]);
    for (const auto& face :
         {std::array{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}})
      mesh.add_face({face[0], face[1], face[2], face[3]});
    return mesh;
  }

 private:
  Box box_;
};

class Sphere final : public Shape {
 public:
  Sphere(const Vec3& center, Real radius) : center_(center), radius_(radius) {}
  Surface surface(const Vec3& x) const override {
    return {(x - center_).norm() - radius_, direction(x - center_, Vec3::UnitX())};
  }
  bool is_convex() const override { return true; }
  bool has_edges(Side) const override { return false; }
  std::optional<Box> bounds() const override {
    return Box{center_ - Vec3::Constant(radius_), center_ + Vec3::Constant(radius_)};
  }
  std::optional<Real> volume() const override { return 4 * pi / 3 * std::pow(radius_, 3); }
  SurfaceMesh tessellate(const Box&) const override {
    return weft::placed(unit_sphere_mesh(), {radius_, Mat3::Identity(), center_});
  }

 private:
  Vec3 center_;
  Real radius_;
};

/// Half extents of a disc of this radius at right angles to the unit axis.
Vec3 disc_extent(const Vec3& axis, Real radius) {
  return radius * (Vec3::Ones() - axis.cwiseAbs2()).cwiseMax(0).cwiseSqrt();
}

class Cylinder final : public Shape {
 public:
  Cylinder(const Vec3& from, const Vec3& to, Real radius)
      : center_(0.5 * (from + to)), axis_((to - from).normalized()), half_(0.5 * (to - from).norm()), radius_(radius) {}

  Surface surface(const Vec3& x) const override {
    const Vec3 r = x - center_;
    const Real height = axis_.dot(r);
    const Vec3 across = r - height * axis_;
    const Vec3 side_normal = direction(across, perpendicular(axis_));
    const Vec3 cap_normal = height < 0 ? Vec3(-axis_) : axis_;
    const Real beyond_side = across.norm() - radius_, beyond_cap = std::abs(height) - half_;
    if (beyond_side > 0 && beyond_cap > 0)  // nearest is the rim
      return {std::hypot(beyond_side, beyond_cap), (beyond_side * side_normal + beyond_cap * cap_normal).normalized()};
    return beyond_side >= beyond_cap ? Surface{beyond_side, side_normal} : Surface{beyond_cap, cap_normal};
  }
  Normals holding(const Vec3& x, Side side, Real slack) const override {
    if (side == Side::outside) return Shape::holding(x, side, slack);
    const Real height = axis_.dot(x - center_);
    const Vec3 across = x - center_ - height * axis_;
    Normals normals;
    if (across.norm() >= radius_ - slack) normals.add(-direction(across, perpendicular(axis_)));
    if (std::abs(height) >= half_ - slack) normals.add(height < 0 ? axis_ : Vec3(-axis_));
    return normals;
  }
  Faces faces(const Vec3& x, Side side, Real reach) const override {
    if (side == Side::outside) return Shape::faces(x, side, reach);
    const Real height = axis_.dot(x - center_);
    const Vec3 across = x - center_ - height * axis_;
    Faces faces;
    if (const Real left = radius_ - across.norm(); left < reach)
      faces.add({left, -direction(across, perpendicular(axis_))});
    if (half_ - height < reach) faces.add({half_ - height, -axis_});
    if (half_ + height < reach) faces.add({half_ + height, axis_});
    return faces;
  }
  bool is_convex() const override { return true; }
  std::optional<Box> bounds() const override {
    const Vec3 extent = half_ * axis_.cwiseAbs() + disc_extent(axis_, radius_);
    return Box{center_ - extent, center_ + extent};
  }
  std::optional<Real> volume() const override { return pi * radius_ * radius_ * 2 * half_; }
  SurfaceMesh tessellate(const Box&) const override {
    return revolve({{0, -half_}, {radius_, -half_}, {radius_, half_}, {0, half_}}, false, center_, axis_);
  }

 private:
  Vec3 center_, axis_;
  Real half_, radius_;
};

class Capsule final : public Shape {
 public:
  Capsule(const Vec3& from, const Vec3& to, Real radius)
      : center_(0.5 * (from + to)),
        axis_(direction(to - from, Vec3::UnitZ())),
        half_(0.5 * (to - from).norm()),
        radius_(radius) {}

  Surface surface(const Vec3& x) const override {
    const Vec3 r = x - center_;
    const Vec3 from_core = r - std::clamp(axis_.dot(r), -half_, half_) * axis_;
    return {from_core.norm() - radius_, direction(from_core, perpendicular(axis_))};
  }
  bool is_convex() const override { return true; }
  bool has_edges(Side) const override { return false; }
  std::optional<Box> bounds() const override {
    const Vec3 extent = half_ * axis_.cwiseAbs() + Vec3::Constant(radius_);
    return Box{center_ - extent, center_ + extent};
  }
  std::optional<Real> volume() const override { return pi * radius_ * radius_ * (2 * half_ + 4 * radius_ / 3); }
  SurfaceMesh tessellate(const Box&) const override {
    std::vector<ProfilePoint> profile;
    add_arc(profile, radius_, -half_, -pi / 2, 0);
    if (half_ == 0) profile.pop_back();
    add_arc(profile, radius_, half_, 0, pi / 2);
    return revolve(profile, false, center_, axis_);
  }

 private:
  Vec3 center_, axis_;
  Real half_, radius_;
};

class Ellipsoid final : public Shape {
 public:
  Ellipsoid(const Vec3& center, const Vec3& radii) : center_(center), radii_(radii) {}

  /// The nearest surface point is q_i = a_i^2 y_i / (a_i^2 + t), with y the point and t the largest root of
  /// sum (a_i y_i / (a_i^2 + t))^2 = 1 [Eberly 2013, Distance from a point to an ellipse, an ellipsoid]. With the
  /// smallest half axis b, u = 1 + t / b^2 > 0, k_i = a_i^2 / b^2 - 1 >= 0 and w_i = a_i |y_i| / b^2 this reads
  /// g(u) = sum (w_i / (u + k_i))^2 - 1 = 0: g is convex and falls, so Newton from the left never overshoots, and no
  /// difference of nearly equal numbers is ever taken.
  Surface surface(const Vec3& x) const override {
    const Vec3 y = x - center_;
    const Real b = radii_.minCoeff();
    // On a plane of symmetry the nearest point may lie off it, on either side: the tiny offset chooses one.
    const Vec3 size = y.cwiseAbs().cwiseMax(1e-30 * b);
    const Vec3 w = size.cwiseProduct(radii_) / (b * b);
    const Vec3 k = ((radii_.array() - b) * (radii_.array() + b)).matrix() / (b * b);

    Real u = (w - k).maxCoeff();  // one term of the sum is 1 here, so g >= 0; the root is less than three times as far
    for (int iteration = 0; iteration < 100; ++iteration) {
      const Vec3 q = w.array() / (u + k.array());
      const Real g = q.squaredNorm() - 1;
      const Real slope = -2 * (q.array().square() / (u + k.array())).sum();
      const Real next = u - g / slope;
      if (!(next > u)) break;
      u = next;
    }
    const Vec3 scaled = w.array() / (u + k.array());  // q_i / a_i, on the unit sphere
    const Vec3 nearest = scaled.cwiseProduct(radii_);
    const Vec3 normal = scaled.cwiseQuotient(radii_).normalized();
    const Vec3 sign = (y.array() < 0).select(-Vec3::Ones(), Vec3::Ones());
    return {(y.cwiseAbs() - nearest).dot(normal), sign.cwiseProduct(normal)};
  }
  bool contains(const Vec3& x) const override { return (x - center_).cwiseQuotient(radii_).squaredNorm() <= 1; }
  bool is_convex() const override { return true; }
  bool has_edges(Side) const override { return false; }
  std::optional<Box> bounds() const override { return Box{center_ - radii_, center_ + radii_}; }
  std::optional<Real> volume() const override { return 4 * pi / 3 * radii_.prod(); }
  SurfaceMesh tessellate(const Box&) const override {
    SurfaceMesh mesh = unit_sphere_mesh();
    for (Vec3& p : mesh.points) p = center_ + radii_.cwiseProduct(p);
    return mesh;
  }

 private:
  Vec3 center_, radii_;
};

class Torus final : public Shape {
 public:
  Torus(const Vec3& center, const Vec3& axis, Real major, Real minor)
      : center_(center), axis_(axis), major_(major), minor_(minor) {}

  Surface surface(const Vec3& x) const override {
    const Vec3 r = x - center_;
    const Real height = axis_.dot(r);
    const Vec3 outward = direction(r - height * axis_, perpendicular(axis_));
    const Vec3 from_ring = (outward.dot(r) - major_) * outward + height * axis_;
    return {from_ring.norm() - minor_, direction(from_ring, outward)};
  }
  bool has_edges(Side) const override { return false; }
  std::optional<Box> bounds() const override {
    const Vec3 extent = disc_extent(axis_, major_) + Vec3::Constant(minor_);
    return Box{center_ - extent, center_ + extent};
  }
  std::optional<Real> volume() const override { return 2 * pi * pi * major_ * minor_ * minor_; }
  SurfaceMesh tessellate(const Box&) const override {
    constexpr int steps = 24;
    std::vector<ProfilePoint> profile;
    for (int k = 0; k < steps; ++k)
      profile.push_back({major_ + minor_ * std::cos(2 * pi * k / steps), minor_ * std::sin(2 * pi * k / steps)});
    return revolve(profile, true, center_, axis_);
  }

 private:
  Vec3 center_, axis_;
  Real major_, minor_;
};

}  // namespace

std::unique_ptr<Shape> make_half_space(const Vec3& point, const Vec3& normal) {
  require_shape(point.allFinite() && positive(normal.norm()),
                "A plane needs a finite point and a normal that is not zero.");
  return std::make_unique<HalfSpace>(point, normal.normalized());
}

std::unique_ptr<Shape> make_box(const Vec3& lower, const Vec3& upper) {
  require_shape(lower.allFinite() && upper.allFinite() && (lower.array() < upper.array()).all(),
                "A box needs finite corners with lower < upper in every direction.");
  return std::make_unique<BoxShape>(lower, upper);
}

std::unique_ptr<Shape> make_sphere(const Vec3& center, Real radius) {
  require_shape(center.allFinite() && positive(radius), "A sphere needs a finite center and a positive radius.");
  return std::make_unique<Sphere>(center, radius);
}

std::unique_ptr<Shape> make_cylinder(const Vec3& from, const Vec3& to, Real radius) {
  require_shape(from.allFinite() && positive((to - from).norm()) && positive(radius),
                "A cylinder needs two different, finite end points and a positive radius.");
  return std::make_unique<Cylinder>(from, to, radius);
}

std::unique_ptr<Shape> make_capsule(const Vec3& from, const Vec3& to, Real radius) {
  require_shape(from.allFinite() && to.allFinite() && positive(radius),
                "A capsule needs finite end points and a positive radius.");
  return std::make_unique<Capsule>(from, to, radius);
}

std::unique_ptr<Shape> make_ellipsoid(const Vec3& center, const Vec3& radii) {
  require_shape(center.allFinite() && positive(radii.minCoeff()) && radii.allFinite(),
                "An ellipsoid needs a finite center and three positive radii.");
  return std::make_unique<Ellipsoid>(center, radii);
}

std::unique_ptr<Shape> make_torus(const Vec3& center, const Vec3& axis, Real major_radius, Real minor_radius) {
  require_shape(center.allFinite() && positive(axis.norm()) && positive(minor_radius) && positive(major_radius) &&
                    minor_radius < major_radius,
                "A torus needs a finite center, an axis that is not zero, and 0 < minor_radius < major_radius.");
  return std::make_unique<Torus>(center, axis.normalized(), major_radius, minor_radius);
}

}  // namespace weft
