// What handles do to a body whose own freedoms move it: conditions of holds, loads, and what both give.

#include "run/own_motion.hpp"
#include "weft/bodies/mesh_body.hpp"

#include <algorithm>
#include <utility>

namespace weft {

bool OwnMotion::has_handles() const {
  return std::ranges::any_of(piece_->system.of_handle, [](const OwnSystem::Action& action) {
    return action.hold != nullptr || action.load != nullptr || action.clamp != nullptr;
  });
}

ConstraintRows OwnMotion::rows_of_holds(Real end) const {
  ConstraintRows rows;
  for (const Constraints* hold : piece_->system.all_holds()) hold->append(end, rows);
  return rows;
}

/// A vertex is held that three conditions are of alone.
std::vector<bool> OwnMotion::held(Real end) const {
  const ConstraintRows rows = rows_of_holds(end);
  std::vector<int> conditions(piece_->mass.size(), 0);
  for (std::size_t c = 0; c < rows.count(); ++c) {
    const auto first = rows.freedom.begin() + static_cast<std::ptrdiff_t>(rows.begin[c]);
    const auto last = rows.freedom.begin() + static_cast<std::ptrdiff_t>(rows.begin[c + 1]);
    const auto vertex = static_cast<std::size_t>(*first / 3);
    if (vertex < conditions.size() && std::all_of(first, last, [&](std::int32_t f) { return f / 3 == *first / 3; }))
      ++conditions[vertex];
  }
  std::vector<bool> held;
  for (const int count : conditions) held.push_back(count >= 3);
  return held;
}

/// Contact points of vertices that are held: the others would have to make up for what these do in a wall.
std::function<bool(std::uint32_t)> OwnMotion::led_points() const {
  if (!piece_ || std::ranges::none_of(piece_->system.of_handle, [&](const OwnSystem::Action& action) {
        return action.hold != nullptr && action.hold->holds_to(state_.time);
      }))
    return {};
  const std::vector<bool> owned = held(state_.time);
  FreedomValues is_held(piece_->system.freedoms);
  for (std::size_t r = 0; r < owned.size(); ++r) is_held.points(0)[r][0] = owned[r] ? 1 : 0;
  is_held.update_ghosts();
  return [is_held = std::move(is_held), &mesh = std::as_const(mesh())](std::uint32_t row) {
    const auto [rows, weights] = mesh.contact_stencil(row);
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (weights[k] != 0 && is_held.points(0)[static_cast<std::size_t>(rows[k])][0] > 0) return true;
    return false;
  };
}

std::vector<Real> OwnMotion::lightness(Real dt) const {
  const std::vector<bool> is_held = held(state_.time + dt);
  std::vector<Real> lightness;
  for (std::size_t r = 0; r < is_held.size(); ++r) lightness.push_back(is_held[r] ? 0 : 1 / piece_->mass[r]);
  return lightness;
}

/// Changes velocities of owned vertices, or changes of these, so that what is held is at `end`, h after where it is.
std::vector<Real> OwnMotion::meet_holds(Real h, Real end, std::span<Vec3> v) {
  if (piece_->system.holds.empty()) return {};
  return piece_->holds->meet(rows_of_holds(end), h, piece_->motion.u.points(0), v);
}

/// Changes of the velocities of vertices become those that what is held allows.
void OwnMotion::hold(Real dt, Real end, std::span<Vec3> dv) { count_change(meet_holds(dt, end, dv), end, dv); }

Real OwnMotion::energy_of_clamps(const Motion& at) const {
  Real sum = 0;
  for (const OwnSystem::Action& action : piece_->system.of_handle)
    if (action.clamp != nullptr) sum += action.clamp->elastic_energy(at);
  return sum;
}

/// What holds give as velocities change by dv.
void OwnMotion::count_change(std::span<const Real> by_holds, Real end, std::span<const Vec3> dv) {
  if (by_holds.empty()) return;
  const auto v = std::as_const(piece_->velocity).points(0);
  std::vector<Vec3> mean(v.begin(), v.end());
  for (std::size_t r = 0; r < mean.size(); ++r) mean[r] += dv[r] / 2;
  count_holds(by_holds, end, mean);
}

/// impulses: along the conditions of all holds, in their order.
void OwnMotion::count_holds(std::span<const Real> impulses, Real end, std::span<const Vec3> mean_velocity) {
  piece_->motion.time = end;
  add_reactions(piece_->system.holds, impulses, piece_->motion, rows_of_holds(end).sums(mean_velocity),
                given_.by_handles);
}

/// before: where the loads are that act at the end of an implicit step, if it is one; then they do work by the mean of
/// both, as what follows a surface that turns needs. The torque of a clamp does work as its frame turns about when the
/// torque is known, or up to the end of an implicit step.
void OwnMotion::count_loads(Real h, const FreedomValues& mean_velocity, const Motion* before) {
  Piece& own = *piece_;
  const auto x = positions();
  for (std::size_t i = 0; i < scene_.handles.size(); ++i) {
    const OwnSystem::Action& action = own.system.of_handle[i];
    if (action.load == nullptr && action.clamp == nullptr) continue;
    if (action.load != nullptr) {
      Load force(own.system.freedoms), force_before(own.system.freedoms);
      action.load->add_force(own.motion, force);
      if (before != nullptr) action.load->add_force(*before, force_before);
      for (std::size_t r = 0; r < x.size(); ++r) {
        const Vec3 f = force.points(0)[r], now = x[r] + own.motion.u.points(0)[r], v = mean_velocity.points(0)[r];
        given_.by_handles[i].add(h * f, now, v);
        if (before != nullptr) given_.by_handles[i].work += h / 2 * (force_before.points(0)[r] - f).dot(v);
      }
    }
    if (action.clamp != nullptr) {
      const Vec3 torque = action.clamp->reaction(own.motion).torque;
      const Real from = own.motion.time - (is_implicit() ? h : h / 2);
      given_.by_handles[i].angular += h * torque;
      given_.by_handles[i].work += torque.dot(action.clamp->turned(from, from + h));
    }
  }
}

}  // namespace weft
