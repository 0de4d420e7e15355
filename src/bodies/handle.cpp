#include "weft/bodies/handle.hpp"

#include "bodies/stencils.hpp"
#include "weft/base/check.hpp"
#include "weft/base/plane.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace weft {

bool Selection::has(const Site& site) const {
  return (!vertices || vertices->contains(site.point)) && (!boundary || site.boundary == *boundary) &&
         (shape == nullptr || shape->contains(site.where));
}

bool Selection::has(const Sample& sample) const {
  const auto contains = [&](const Vec3& x) { return shape == nullptr || shape->contains(x); };
  return (!faces || faces->contains(sample.face)) && (!boundary || sample.boundary == *boundary) &&
         (contains(sample.where) || (sample.ends && std::ranges::all_of(*sample.ends, contains)));
}

std::vector<Site> vertices_in(const Sites& sites, const Selection& selection) {
  std::vector<Site> chosen;
  for (const Site& site : sites.vertices)
    if (selection.has(site)) chosen.push_back(site);
  return chosen;
}

std::vector<Site> sites_in(const Sites& sites, const Selection& selection) {
  std::vector<Site> chosen;
  std::set<std::int32_t> taken;
  for (std::size_t s = 0; s < sites.sides.size(); ++s) {
    const std::vector<Site>& side = sites.sides[s];
    const std::size_t n = side.size();
    std::vector<bool> inside(n);
    for (std::size_t i = 0; i < n; ++i) inside[i] = !side[i].at_end && selection.has(side[i]);
    // In pairs only; a site beyond an end follows the pair at the end.
    const auto pair = [&](std::size_t i, std::size_t k) { return k < n && inside[i] && inside[k]; };
    for (std::size_t i = 0; i < n; ++i) {
      const bool follows = side[i].at_end && n > 2 && (i == 0 ? pair(1, 2) : pair(n - 2, n - 3));
      if (!follows && !pair(i, i + 1) && !(i > 0 && pair(i, i - 1))) continue;
      chosen.push_back(side[i]);
      taken.insert(side[i].point);
    }
    if (s >= sites.middles.size()) continue;
    std::set<std::int32_t> held;
    for (std::size_t i = 0; i < n; ++i)
      if (inside[i]) held.insert(side[i].point);
    for (const Site& middle : sites.middles[s])
      if (held.contains(middle.point) && held.contains(middle.to_point)) chosen.push_back(middle);
  }
  for (Site& site : vertices_in(sites, selection))
    if (!taken.contains(site.point)) chosen.push_back(std::move(site));
  return chosen;
}

namespace {

/// Lines this close to the normal of a plane stand square on it [rad].
constexpr Real square = 1e-5;
/// Sides that meet this close to a right angle do so [rad].
constexpr Real right_angle = 0.1;

std::vector<Vec3> chosen_axes(const std::array<bool, 3>& axes) {
  std::vector<Vec3> chosen;
  for (int a = 0; a < 3; ++a)
    if (axes[static_cast<std::size_t>(a)]) chosen.push_back(Vec3::Unit(a));
  return chosen;
}

/// Orthonormal directions that span what some axes have in common with the plane across a normal.
std::vector<Vec3> along_surface(const std::array<bool, 3>& axes, const Vec3& normal) {
  std::vector<Vec3> common = chosen_axes(axes);
  const auto steepest =
      std::ranges::max_element(common, {}, [&](const Vec3& axis) { return std::abs(axis.dot(normal)); });
  if (steepest == common.end() || std::abs(steepest->dot(normal)) < square) return common;
  const Vec3 out = std::move(*steepest);
  common.erase(steepest);
  for (Vec3& axis : common) axis -= out * (axis.dot(normal) / out.dot(normal));
  for (std::size_t k = 0; k < common.size(); ++k) {
    if (k > 0) common[k] -= common[0] * common[0].dot(common[k]);
    common[k].normalize();
  }
  return common;
}

}  // namespace

void turn_slopes(std::vector<Site>& sites, const Vec3& mirror, std::span<const Vec3> positions,
                 const std::string& place) {
  const auto stands_square = [&](const Site& site) {
    if (!site.on_line) return false;
    const Vec3 slope = site.slope.of(positions), across = mirror - mirror.dot(site.normal) * site.normal;
    return slope.cross(across).norm() <= square * slope.norm() * across.norm();
  };
  if (std::all_of(sites.begin(), sites.end(), stands_square)) return;
  for (Site& site : sites) {
    if (site.amid) continue;
    const Eigen::Matrix<Real, 3, 2> a = columns_of(site.tangents, positions);
    const Mat2 inverse = inverse_metric(a);
    const Vec2 nearest = inverse * (a.transpose() * mirror);  // a * nearest is the closest direction along the surface
    require(
        (a * nearest).norm() > square, ExitCode::deck,
        fmt::format("{}: the surface lies along the plane of symmetry of normal [{:.4g}, {:.4g}, {:.4g}] at [{:.4g}, "
                    "{:.4g}, {:.4g}]; it should cross it.",
                    place, mirror.x(), mirror.y(), mirror.z(), site.where.x(), site.where.y(), site.where.z()));
    // Where sides meet at right angles the slope of one is taken along the other, so that conditions of both agree.
    const Vec3 other = a * site.other_side;
    const bool is_right = other.cross(a * nearest).norm() < right_angle * other.norm() * (a * nearest).norm();
    const Vec2 across = is_right ? Vec2(site.other_side * (other.dot(mirror) / other.squaredNorm())) : nearest;
    const Real size = a.norm() / (a * nearest).norm();
    StencilSum slope, edge;
    edge.add(Vec2(-mirror.dot(a.col(1)), mirror.dot(a.col(0))), site.tangents);
    edge.add(Vec2::Zero(), site.turns);
    if (site.turns[0].rows.empty()) slope.add(size * across, site.tangents);
    else {  // the change of that slope along the edge
      const Eigen::Matrix<Real, 3, 2> change = columns_of(site.turns, positions);
      const Mat2 mixed = change.transpose() * a;
      slope.add(size * across, site.turns);
      slope.add(size * (inverse * (change.transpose() * mirror - (mixed + mixed.transpose()) * across)), site.tangents);
    }
    site.slope = slope.sum();
    site.edge = edge.sum();
  }
}

std::vector<HeldSum> held_sums(std::span<const Site> sites, const HandleSettings& settings,
                               const VertexValues& positions) {
  std::vector<HeldSum> sums;
  for (const Site& site : sites) {
    const auto add = [&](const Stencil& stencil, const Vec3& axis, const Stencil& edge = {}) {
      if (stencil.rows.empty()) return;
      const Real total = std::accumulate(stencil.weights.begin(), stencil.weights.end(), 0.0);
      HeldSum sum{{0, std::round(total), axis}, stencil, edge, site.element};
      sum.rest = sum.direction({}, edge.of(positions)).dot(stencil.of(positions));
      sums.push_back(std::move(sum));
    };
    const bool has_slope = !site.slope.rows.empty();
    if (settings.hold == Hold::symmetry) {
      // Displacements are odd across the plane, and even along it.
      const Vec3& m = settings.mirror;
      add(site.place, m);
      if (!has_slope) continue;
      if (!site.edge.rows.empty()) {
        // No shear along the edge is a natural condition; held at each vertex it locks.
        WEFT_ENSURE(site.edge.rows == site.slope.rows);
        add(site.slope, m, site.edge);
        continue;
      }
      const Vec3 along = m.unitOrthogonal();
      add(site.slope, along);
      add(site.slope, m.cross(along));
      continue;
    }
    for (const Vec3& axis : site.amid ? along_surface(settings.axes, site.normal) : chosen_axes(settings.axes))
      add(site.place, axis);
    if (settings.hold == Hold::clamp && has_slope) add(site.slope, site.normal);
  }
  return sums;
}

Handle::Handle(const Freedoms& freedoms, std::size_t b, std::vector<HeldSum> sums, const RigidMotion& motion,
               std::span<const Vec3> positions, Real until)
    : freedoms_(freedoms),
      block_(b),
      motion_(motion),
      until_(until),
      positions_(positions),
      conditions_(std::move(sums)) {
  WEFT_ENSURE(positions.size() == freedoms.rows(b));
}

void Handle::append(Real time, ConstraintRows& rows) const {
  if (!holds_to(time)) return;
  const RigidState state = motion_.at(time);
  for (const HeldSum& c : conditions_) {
    const Vec3 direction = c.direction(state, c.edge.of(positions_));
    for (std::size_t k = 0; k < c.stencil.rows.size(); ++k)
      rows.add(freedoms_.at(block_, c.stencil.rows[k]), c.stencil.weights[k] * direction);
    rows.close(c.goal(direction, state) - direction.dot(c.stencil.of(positions_)));
  }
}

Reaction Handle::reaction(std::span<const Real> forces, const Motion& motion, const Vec3& about) const {
  WEFT_ENSURE(forces.size() == conditions_.size());
  const RigidState state = motion_.at(motion.time);
  const auto u = motion.u.points(block_);
  Reaction sum;
  for (std::size_t i = 0; i < forces.size(); ++i) {
    const HeldSum& c = conditions_[i];
    const Vec3 now = c.stencil.of(positions_) + c.stencil.of(u);
    const Vec3 along = forces[i] * c.direction(state, c.edge.of(positions_));
    sum.force += c.total * along;
    sum.torque += (now - c.total * about).cross(along);
  }
  return sum;
}

}  // namespace weft
