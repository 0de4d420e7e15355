// Rigid bodies as meshes of one element.

#include "weft/bodies/rigid.hpp"

#include "bodies/surface_points.hpp"
#include "bodies/thickness.hpp"
#include "weft/base/check.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/bodies/shell_body.hpp"
#include "weft/geometry/polyhedron.hpp"
#include "weft/math/svd.hpp"
#include "weft/parallel/send.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft {
namespace {

/// A body whose smallest second moment is smaller than this part of the largest is flat.
constexpr Real least_thickness = 1e-10;

/// A point of the surface, as it moves with the four.
struct SurfacePoint {
  Vec3 rest;
  std::array<Real, 4> weights;
};

/// Drawn and touched; the same all the time.
struct Surface {
  std::vector<SurfacePoint> points;
  std::vector<std::array<std::int32_t, 3>> triangles;

  struct Contact {
    std::array<Real, 4> weights;
    Real mass;              ///< [kg]
    std::int32_t triangle;  ///< Of which it has a share of the area,
    Real share;             ///< none at a corner.
    Vec3 rest;              ///< [m]
    std::int32_t corner;    ///< The point of the surface there; -1.
    Real thickness = 0;     ///< Behind it [m].
    Sides sides{};
  };
  std::vector<Contact> contact;

  std::vector<Vec3> corners() const {
    std::vector<Vec3> at_rest;
    for (const SurfacePoint& point : points) at_rest.push_back(point.rest);
    return at_rest;
  }
};

class RigidBody final : public MeshBody {
 public:
  /// surface: null on ranks without the body.
  RigidBody(std::string name, const MeshCounts& counts, Real mass, const FourPoints& rest, std::optional<Joint> joint,
            std::shared_ptr<const Surface> surface, bool is_here)
      : MeshBody(std::move(name), Carrier::own, counts),
        mass_(mass),
        frame_(mass, rest, joint),
        surface_(std::move(surface)),
        is_here_(is_here) {}

  Roles roles() override {
    Roles roles = MeshBody::roles();
    roles.rigid = &frame_;
    return roles;
  }

  Real trial_energy(const Parts&, const TrialShape&) const override { return 0; }
  void trial_response(const Parts&, const TrialShape&, const TrialForces& to) const override {
    std::ranges::fill(to.A, Mat3(Mat3::Zero()));
  }
  void add_stiffness(const Parts&, const TrialShape&, bool, MeshStiffness&) const override {}
  void weigh_elements(const Vec3& gravity, std::span<Vec3> f) const override {
    for (std::size_t r = 0; r < points_.owned(); ++r) f[r] += mass_ / 4 * gravity;
  }

  bool is_drawn_by_its_points() const override { return false; }
  Picture picture() const override {
    Picture picture{3, {}, Table::with<ContactPressure>()};
    picture.point_fields = Table::with<Id, Velocity>();
    if (points_.owned() == 0) return picture;
    const auto v = points_.get<Velocity>();
    picture.point_fields.resize(surface_->points.size());
    for (const auto& [rest, weights] : surface_->points) {
      const std::size_t k = picture.points.size();
      picture.point_fields.get<Id>()[k] = static_cast<PointId>(k);
      picture.point_fields.get<Velocity>()[k] = of(weights, v);
      picture.points.push_back(of(weights, x()));
      picture.rest.push_back(rest);
    }
    for (const auto& triangle : surface_->triangles)
      picture.cells.insert(picture.cells.end(), triangle.begin(), triangle.end());
    picture.fields.resize(surface_->triangles.size());
    draw_pressure(picture);
    return picture;
  }

  std::span<const ContactStencil> contact_stencils() const override { return stencils_; }
  std::vector<std::int64_t> elements() const override { return std::vector<std::int64_t>(is_here_ ? 1 : 0, 0); }

 protected:
  std::vector<std::int32_t> needed_vertices() const override {
    return is_here_ ? std::vector<std::int32_t>{0, 1, 2, 3} : std::vector<std::int32_t>{};
  }
  std::vector<std::int64_t> first_vertices() const override { return elements(); }
  void send_elements(const Comm& comm, std::span<const int> to) override {
    is_here_ = !send(comm, std::vector<std::int64_t>(to.size(), 0), to).empty();
  }
  std::size_t bytes_of_elements() const override { return bytes_of(surface_->points) + bytes_of(surface_->contact); }
  std::vector<std::int64_t> rows_of_elements(const Table&) const override {
    return std::vector<std::int64_t>(is_here_ ? 1 : 0, static_cast<std::int64_t>(surface_->contact.size()));
  }
  void add_mass(std::span<Real> of_vertices, std::span<Real>) const override {
    if (is_here_) std::ranges::fill(of_vertices, mass_ / 4);
  }

  void rest_elements() override {}
  void take_piece() override {
    stencils_.clear();
    if (is_here_)
      for (const auto& point : surface_->contact) stencils_.push_back({{0, 1, 2, 3}, point.weights});
  }
  void commit_elements(Real, std::span<const Mat3>) override {}
  StepLimit limit_of_elements() override { return {}; }
  void sample(std::span<const Vec3>, std::span<Vec3>) const override {}
  void add_force_at_sample(std::size_t, const Vec3&, std::span<Vec3>) const override {}
  void place_contact_points(const ContactPlaces& places) const override {
    for (std::size_t q = 0; q < places.x.size(); ++q) {
      const Surface::Contact& point = surface_->contact[q];
      const Vec3 area = area_of(point.triangle);
      places.x[q] = stencils_[q].of(x());
      places.areas[q] = point.share * area;
      places.normals[q] = area.stableNormalized();
      places.at_rest[q] = point.rest;
      places.thickness[q] = point.thickness;
    }
  }
  void weigh_contact_points(std::span<Real> mass) const override {
    for (std::size_t q = 0; q < mass.size(); ++q) mass[q] = surface_->contact[q].mass;
  }
  bool faces(std::size_t q, const Vec3& way) const override {
    FourPoints now;
    std::ranges::copy(x().first(4), now.begin());
    return surface_->contact[q].sides.face(frame_.rotation(now).transpose() * way);
  }
  Real half_thickness(std::size_t) const override { return 0; }
  std::optional<Real> half_thickness_at_vertices() const override { return 0; }

 private:
  std::span<const Vec3> x() const { return points_.get<Position>(); }
  static Vec3 of(const std::array<Real, 4>& weights, std::span<const Vec3> values) {
    return ContactStencil{{0, 1, 2, 3}, weights}.of(values);
  }
  /// Of a triangle, along its normal [m^2].
  Vec3 area_of(std::int32_t triangle) const {
    std::array<Vec3, 3> corners;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto vertex = surface_->triangles[static_cast<std::size_t>(triangle)][k];
      corners[k] = of(surface_->points[static_cast<std::size_t>(vertex)].weights, x());
    }
    return (corners[1] - corners[0]).cross(corners[2] - corners[0]) / 2;
  }
  /// The forces on the points in a triangle, against its normal, over its area. That on a corner is shared by those
  /// around which face the same way: F . n_t / sum_s A_s max(n_s . n_t, 0)^2.
  void draw_pressure(Picture& picture) const {
    const auto pressure = picture.fields.get<ContactPressure>();
    if (contact_points() == nullptr) return;
    const Table& contact = contact_points()->points();
    const auto forces = contact.get<ContactForce>();
    const auto by_walls = contact.has<WallForce>() ? contact.get<WallForce>() : std::span<const Vec3>();
    std::vector<Vec3> at_corner(surface_->points.size(), Vec3::Zero());
    for (std::size_t q = 0; q < forces.size(); ++q) {
      const Surface::Contact& point = surface_->contact[q];
      const Vec3 force = by_walls.empty() ? forces[q] : Vec3(forces[q] + by_walls[q]), area = area_of(point.triangle);
      if (point.corner >= 0) at_corner[static_cast<std::size_t>(point.corner)] = force;
      else pressure[static_cast<std::size_t>(point.triangle)] -= force.dot(area) / area.squaredNorm();
    }
    std::vector<std::vector<std::pair<std::size_t, Vec3>>> around(at_corner.size());  // triangles, and their areas
    for (std::size_t t = 0; t < surface_->triangles.size(); ++t)
      for (const std::int32_t v : surface_->triangles[t])
        around[static_cast<std::size_t>(v)].emplace_back(t, area_of(static_cast<std::int32_t>(t)));
    for (std::size_t v = 0; v < around.size(); ++v)
      for (const auto& [t, area] : around[v]) {
        const Vec3 n = area.stableNormalized();
        Real alike = 0;
        for (const auto& [s, other] : around[v])
          if (const Real along = n.dot(other); along > 0) alike += along * along / other.stableNorm();
        if (alike > 0) pressure[t] -= n.dot(at_corner[v]) / alike;
      }
  }

  Real mass_;
  RigidFrame frame_;
  std::shared_ptr<const Surface> surface_;
  bool is_here_;
  std::vector<ContactStencil> stencils_;
};

class RigidSource final : public MeshSource {
 public:
  explicit RigidSource(RigidDescription of)
      : MeshSource(of.name, Carrier::own), joint_(of.joint), mass_(of.mass.mass), rest_(equal_points(of.mass)) {
    auto surface = std::make_shared<Surface>();
    for (const Vec3& x : of.points) surface->points.push_back({x, weights_at(rest_, x)});
    surface->triangles = std::move(of.triangles);
    if (of.contact_points > 0) {
      add_contact_points(of.contact_points, *surface);
      find_thickness(1 / std::sqrt(of.contact_points), of.thick, *surface);
      find_sides(*surface);
    }
    surface_ = std::move(surface);
  }

  MeshCounts counts() const override { return {4, 1, 0, static_cast<std::int64_t>(surface_->contact.size())}; }
  std::string census() const override {
    return fmt::format("{} triangles of its surface, {} contact points", surface_->triangles.size(),
                       surface_->contact.size());
  }
  VertexValues rest_positions() const override { return rest_; }
  /// Corners of the surface, which loads take hold of.
  Sites sites(const ElementRange& range) const override {
    Sites sites;
    if (!range.has(0)) return sites;
    for (std::size_t v = 0; v < surface_->points.size(); ++v) {
      const SurfacePoint& point = surface_->points[v];
      Site& site = sites.vertices.emplace_back();
      site.place = {{0, 1, 2, 3}, {point.weights.begin(), point.weights.end()}};
      site.where = point.rest;
      site.point = static_cast<std::int32_t>(v);
      site.element = 0;
    }
    return sites;
  }
  Site nearest(const ElementRange&, const Vec3&) const override { return {}; }
  /// Of each triangle, without mass; normals point inwards, as of solids.
  std::vector<Sample> surface_samples(const ElementRange& range) const override {
    std::vector<Sample> samples;
    for (const auto& triangle : surface_->triangles) {
      if (!range.has(0)) break;
      const auto corner = [&](std::size_t k) -> const SurfacePoint& {
        return surface_->points[static_cast<std::size_t>(triangle[k])];
      };
      Sample& sample = samples.emplace_back();
      sample.rows = {0, 1, 2, 3};
      for (std::size_t k = 0; k < 4; ++k) {
        sample.value.push_back((corner(0).weights[k] + corner(1).weights[k] + corner(2).weights[k]) / 3);
        sample.d1.push_back(corner(2).weights[k] - corner(0).weights[k]);
        sample.d2.push_back(corner(1).weights[k] - corner(0).weights[k]);
      }
      sample.element = 0;
      sample.where = (corner(0).rest + corner(1).rest + corner(2).rest) / 3;
      sample.measure = (corner(1).rest - corner(0).rest).cross(corner(2).rest - corner(0).rest).norm() / 2;
    }
    return samples;
  }
  std::vector<Sample> side_samples(const ElementRange&) const override { return {}; }
  SurfaceMesh closed_surface() const override {
    SurfaceMesh closed;
    closed.points = surface_->corners();
    for (const auto& triangle : surface_->triangles) closed.add_face(triangle);
    return closed;
  }
  std::unique_ptr<MeshBody> body_of(const ElementRange& range) const override {
    return std::make_unique<RigidBody>(name(), counts(), mass_, rest_, joint_, surface_, range.has(0));
  }

 private:
  /// All together have the mass of the body, by area: three quarters of that of a triangle are amid, a quarter is at
  /// its corners, which meet walls first.
  void add_contact_points(Real density, Surface& surface) const {
    const auto vertex = [&](std::int32_t v) -> const SurfacePoint& {
      return surface.points[static_cast<std::size_t>(v)];
    };
    const auto area = [&](const std::array<std::int32_t, 3>& t) {
      const Vec3& a = vertex(t[0]).rest;
      return (vertex(t[1]).rest - a).cross(vertex(t[2]).rest - a).norm() / 2;
    };
    Real whole = 0;
    for (const auto& triangle : surface.triangles) whole += area(triangle);
    std::vector<Real> at_corner(surface.points.size(), 0);
    std::vector<std::int32_t> triangle_at(surface.points.size(), 0);
    for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
      const auto& triangle = surface.triangles[t];
      const Real here = area(triangle), mass = mass_ * here / whole;
      const std::array<Vec3, 3> corners{vertex(triangle[0]).rest, vertex(triangle[1]).rest, vertex(triangle[2]).rest};
      for (const auto& [b, share] : TriangleParts::of(corners, density)) {
        const Vec3 x = b[0] * corners[0] + b[1] * corners[1] + b[2] * corners[2];
        surface.contact.push_back(
            {weights_at(rest_, x), 0.75 * mass * share, static_cast<std::int32_t>(t), share, x, -1});
      }
      for (const std::int32_t v : triangle) {
        at_corner[static_cast<std::size_t>(v)] += mass / 12;
        triangle_at[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(t);
      }
    }
    for (std::size_t v = 0; v < at_corner.size(); ++v)
      if (at_corner[v] > 0)
        surface.contact.push_back({surface.points[v].weights, at_corner[v], triangle_at[v], 0, surface.points[v].rest,
                                   static_cast<std::int32_t>(v)});
  }

  static void find_sides(Surface& surface) {
    const std::vector<Vec3> corners = surface.corners();
    const auto at_corner = sides_of(corners, surface.triangles);
    for (Surface::Contact& point : surface.contact) {
      const Vec3 normal = normal_of(surface.triangles[static_cast<std::size_t>(point.triangle)], corners);
      point.sides = point.corner >= 0 ? at_corner.at(point.corner) : Sides::of({&normal, 1});
    }
  }

  /// spacing: of contact points [m].
  static void find_thickness(Real spacing, Real thick, Surface& surface) {
    const std::vector<Vec3> corners = surface.corners();
    std::vector<Vec3> places, normals;
    for (const Surface::Contact& point : surface.contact) {
      places.push_back(point.rest);
      normals.push_back(normal_of(surface.triangles[static_cast<std::size_t>(point.triangle)], corners));
    }
    const std::vector<Real> thickness = thickness_behind(places, normals, spacing, thick);
    for (std::size_t q = 0; q < thickness.size(); ++q) surface.contact[q].thickness = thickness[q];
  }

  std::optional<Joint> joint_;
  Real mass_;
  FourPoints rest_;
  std::shared_ptr<const Surface> surface_;
};

}  // namespace

bool has_extent(const Mat3& second_moment) {
  const Vec3 moments = symmetric_eigen(second_moment).values;
  return moments.minCoeff() > least_thickness * moments.maxCoeff();
}

RigidMass mass_of_volume(std::span<const Vec3> points, std::span<const std::array<std::int32_t, 3>> triangles) {
  const Moments moments = moments_of(points, triangles);
  require(moments.volume > 0 && has_extent(moments.second_moment), ExitCode::geometry,
          fmt::format("the surface encloses {:.3g} m^3{}. Expected: a closed surface, seen counter-clockwise from "
                      "outside.",
                      moments.volume, moments.volume > 0 ? ", but is flat" : ""));
  return {moments.volume, moments.centre, moments.second_moment};
}

std::unique_ptr<MeshSource> make_rigid(RigidDescription rigid) {
  return std::make_unique<RigidSource>(std::move(rigid));
}

}  // namespace weft
