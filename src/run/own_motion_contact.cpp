// What contact, impulses and walls do to a body whose own freedoms move it.

#include "run/own_motion.hpp"
#include "weft/base/check.hpp"
#include "weft/bodies/mesh_body.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace weft {

/// The masses of contact points grow to what the body sets against a change of their forces:
///   s = dt sum df_q . dL_q / m_q / sum dL_q . dv_q                                                           (16.8)
/// the smallest of the passes so far, so that none overshoots.
void OwnMotion::weigh_contact_points(Real dt, int passes) {
  if (!is_implicit()) return;
  Piece& own = *piece_;
  mesh().scale_contact_points(1);
  const Table& points = std::as_const(*mesh().contact_points()).points();
  const auto mass = points.get<Mass>();
  const auto v = points.get<TentativeVelocity>(), forces = contact_forces(), loads = contact_loads();
  std::array<Real, 2> sums{0, 0};
  for (std::size_t q = 0; passes > 0 && q < mass.size(); ++q) {
    const Vec3 more = loads[q] - own.loads[q];
    if (mass[q] > 0) sums[0] += dt * (forces[q] - own.forces[q]).dot(more) / mass[q];
    sums[1] += more.dot(v[q] - own.tentative[q]);
  }
  own.forces.assign(forces.begin(), forces.end());
  own.loads.assign(loads.begin(), loads.end());
  own.tentative.assign(v.begin(), v.end());
  comm_.sum(std::span(sums));
  const bool is_known = sums[0] > 0 && sums[1] > 0;
  if (passes == 0) own.scale = 1;
  else if (is_known && (own.scale == 1 || sums[0] < own.scale * sums[1]))
    own.scale = std::max(Real(1), sums[0] / sums[1]);
  mesh().scale_contact_points(own.scale);
}

void OwnMotion::predict_vertices(Real dt) {
  const auto v = std::as_const(piece_->velocity).points(0);
  const auto to = mesh().contact_points()->points().get<Velocity>();
  const Vec3 fall = this->fall(dt);
  for (std::size_t r = 0; r < to.size(); ++r) to[r] = v[r] - fall;
}

/// The motion since the last substep began [m].
std::vector<Vec3> OwnMotion::moved_in_substep() const {
  const auto u = std::as_const(piece_->motion.u).points(0);
  std::vector<Vec3> moved(u.begin(), u.end());
  if (!piece_->before_last) return moved;
  const auto before = std::as_const(*piece_->before_last).points(0);
  for (std::size_t r = 0; r < u.size(); ++r) moved[r] -= before[r];
  return moved;
}

/// At the end of a substep of h.
void OwnMotion::let_walls_act(Real h, Real end) {
  Piece& own = *piece_;
  std::vector<Vec3> mean = moved_in_substep();
  for (Vec3& v : mean) v /= h;
  meet_walls(own.mass, std::min(state_.last_dt, h), mean);
  push(h, end, summed(news_of_walls(h)).points(0).first(own.mass.size()));
}

void OwnMotion::begin_blend(Real dt) {
  WEFT_ENSURE(mesh().contact_points_are_vertices() && mesh().forest().ghosts() == 0);
  Piece& own = *piece_;
  if (!acts_at_once()) {
    received_.resize(own.system.freedoms.rows(0));
    own.blended.resize(received_.size());
  }
  own.blend = {dt, scene_.step.blends[body_]->share(dt), fall(dt)};
}

/// Whether vertices take what they receive as they do.
bool OwnMotion::acts_at_once() const { return piece_->system.holds.empty() && !scene_.step.has_impulses(body_); }

/// Of vertices, changes of velocities stand for impulses.
void OwnMotion::receive_blended(ChunkRows rows, std::span<const Vec3> change, std::span<const Vec3> at_nodes) {
  Piece& own = *piece_;
  const auto& [dt, share, fall] = own.blend;
  const bool at_once = acts_at_once();
  const auto u = own.motion.u.points(0), v = own.velocity.points(0);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::uint32_t r = rows[k];
    const Vec3 received = change[k] - fall, blended = share * (at_nodes[k] - v[r] - received);
    if (at_once) {
      u[r] += dt * received;
      v[r] += received + blended;
    } else {
      received_[r] = received;
      own.blended[r] = blended;
    }
  }
}

void OwnMotion::correct(Real dt) {
  Piece& own = *piece_;
  if (!own.contact) return;
  if (is_implicit() && has_surface()) return answer(dt);
  if (has_surface()) return push(dt, summed(received_).points(0).first(own.mass.size()));
  if (acts_at_once()) return;
  const auto u = own.motion.u.points(0), v = own.velocity.points(0);
  hold(dt, state_.time + dt, received_);
  for (std::size_t r = 0; r < v.size(); ++r) {
    u[r] += dt * received_[r];
    v[r] += received_[r];
  }
}

/// Once impulses have acted on the velocities that move vertices.
void OwnMotion::take_over() {
  Piece& own = *piece_;
  if (!own.contact || has_surface() || acts_at_once()) return;
  hold(own.blend.dt, state_.time + own.blend.dt, own.blended);
  const auto v = own.velocity.points(0);
  for (std::size_t r = 0; r < v.size(); ++r) v[r] += own.blended[r];
}

/// An implicit body answers to what contact gave as a whole. If no motion is found, its skin does.
void OwnMotion::answer(Real dt) {
  const FreedomValues u = piece_->motion.u, v = piece_->velocity;
  const Given given = given_;
  std::vector<Vec3> forces = remembered_forces(dt);
  for (std::size_t r = 0; r < forces.size(); ++r) forces[r] += received_[r] / dt;
  begin(std::move(forces));
  if (move(dt).excess <= 1) return;
  piece_->motion.u = u;
  piece_->velocity = v;
  given_ = given;
  push(dt, summed(received_).points(0).first(piece_->mass.size()));
}

/// What ranks have of values of vertices, in one for the owner.
FreedomValues OwnMotion::summed(std::span<const Vec3> parts) const {
  FreedomValues sum(piece_->system.freedoms);
  std::ranges::copy(parts, sum.points(0).begin());
  sum.sum_to_owners();
  return sum;
}

void OwnMotion::push(Real dt, std::span<const Vec3> impulses) { push(dt, state_.time + dt, impulses); }

/// In a part of the step, dt long, that is over at `end`.
void OwnMotion::push(Real dt, Real end, std::span<const Vec3> impulses) {
  Piece& own = *piece_;
  const FreedomValues changes = change_by(impulses, dt, end);
  const std::span<const Real> change = changes.all();
  const auto u = own.motion.u.all(), v = own.velocity.all();
  for (std::size_t k = 0; k < change.size(); ++k) {
    v[k] += change[k];
    u[k] += dt * change[k];
  }
}

/// Of velocities, by impulses on owned vertices and by what holds those that are held.
FreedomValues OwnMotion::change_by(std::span<const Vec3> impulses, Real dt, Real end) {
  Piece& own = *piece_;
  FreedomValues change(own.system.freedoms);
  const auto dv = change.points(0);
  for (std::size_t r = 0; r < own.mass.size(); ++r) dv[r] = impulses[r] / own.mass[r];
  const std::vector<Real> by_holds = meet_holds(dt, end, dv);
  change.update_ghosts();
  count_change(by_holds, end, dv);
  return change;
}

}  // namespace weft
