#include "weft/bodies/handle.hpp"

#include "weft/base/check.hpp"

#include <algorithm>
#include <numeric>

namespace weft {

bool Part::has(const Site& site) const {
  return (!vertices || vertices->contains(site.point)) && (!boundary || site.boundary == *boundary) &&
         (shape == nullptr || shape->contains(site.where));
}

bool Part::has(const Sample& sample) const {
  return (!faces || faces->contains(sample.face)) && (!boundary || sample.boundary == *boundary) &&
         (shape == nullptr || shape->contains(sample.where));
}

std::vector<Site> vertices_in(const Sites& sites, const Part& part) {
  std::vector<Site> chosen;
  for (const Site& site : sites.vertices)
    if (part.has(site)) chosen.push_back(site);
  return chosen;
}

std::vector<Site> sites_in(const Sites& sites, const Part& part) {
  std::vector<Site> chosen;
  std::set<std::int32_t> taken;
  for (const std::vector<Site>& side : sites.sides) {
    const std::size_t n = side.size();
    std::vector<bool> inside(n);
    for (std::size_t i = 0; i < n; ++i) inside[i] = !side[i].at_end && part.has(side[i]);
    // In pairs only; a site beyond an end follows the pair at the end.
    const auto pair = [&](std::size_t i, std::size_t k) { return k < n && inside[i] && inside[k]; };
    for (std::size_t i = 0; i < n; ++i) {
      const bool follows = side[i].at_end && n > 2 && (i == 0 ? pair(1, 2) : pair(n - 2, n - 3));
      if (!follows && !pair(i, i + 1) && !(i > 0 && pair(i, i - 1))) continue;
      chosen.push_back(side[i]);
      taken.insert(side[i].point);
    }
  }
  for (Site& site : vertices_in(sites, part))
    if (!taken.contains(site.point)) chosen.push_back(std::move(site));
  return chosen;
}

std::vector<HeldSum> held_sums(std::span<const Site> sites, const HandleSettings& settings,
                               std::span<const Vec3> positions) {
  std::vector<HeldSum> sums;
  for (const Site& site : sites) {
    const auto add = [&](const Stencil& stencil, const Vec3& axis) {
      const Real total = std::accumulate(stencil.weights.begin(), stencil.weights.end(), 0.0);
      sums.push_back({{stencil.of(positions), std::round(total), axis}, stencil, site.element});
    };
    const bool has_slope = !site.slope.rows.empty();
    if (settings.hold == Hold::symmetry) {
      // Displacements are odd across the plane, and even along it.
      const Vec3& m = settings.mirror;
      add(site.place, m);
      if (!has_slope) continue;
      const Vec3 along = m.unitOrthogonal();
      add(site.slope, along);
      add(site.slope, m.cross(along));
      continue;
    }
    for (int a = 0; a < 3; ++a)
      if (settings.axes[a]) add(site.place, Vec3::Unit(a));
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
    const Vec3 axis = state.rotation * c.axis;
    for (std::size_t k = 0; k < c.stencil.rows.size(); ++k)
      rows.add(freedoms_.at(block_, c.stencil.rows[k]), c.stencil.weights[k] * axis);
    rows.close(axis.dot(c.goal(state) - c.stencil.of(positions_)));
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
    const Vec3 along = forces[i] * (state.rotation * c.axis);
    sum.force += c.total * along;
    sum.torque += (now - c.total * about).cross(along);
  }
  return sum;
}

}  // namespace weft
