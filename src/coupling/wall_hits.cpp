// Hits of a body that rebounds from walls, which moves as a whole.
//
// Contacts that would close within the step do not all do so at once. The body is hit at the time t = min gap / speed,
// where gaps are then below a margin. Poisson's law: these contacts press until they do not approach, by impulses l_n,
// and then give e l_n more. What then still closes within the step is the next hit. [docs/theory/rigid.md, 17.3]

#include "weft/coupling/wall_contacts.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace weft {
namespace {

/// Contacts this near take part when the body first touches [dx].
constexpr Real margin = 1e-3;

}  // namespace

/// Of each contact before the hits of a step.
void WallContacts::begin_hits(const ContactGround& ground) {
  hits_.clear();
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const Contact& contact = contacts_[c];
    const TouchingSet& set = sets_[contact.set];
    const Vec3& v = std::as_const(*set.points).points().get<Velocity>()[contact.row];
    const Real at_start = contact.normal.dot(states_[contact.wall].velocity_at(contact.x) - v);
    const Real closes = -contact.normal.dot(velocity_beside_wall(c, ground.velocities()));
    hits_.push_back({.by_loads = closes - at_start,
                     .was_hit = false,
                     .share = 0,
                     .begun = 0,
                     .before = Vec3::Zero(),
                     .least = 0,
                     .allowed = 0});
  }
}

/// The next hit of the step, if there is one on any rank: (17.3a). Contacts that remember a force go on to press.
bool WallContacts::find_hits(const ContactGround& ground) {
  std::vector<Real> closes(contacts_.size());
  const auto at_start = [&](std::size_t c) { return closes[c] - hits_[c].by_loads; };
  const auto may_be_hit = [&](std::size_t c) {
    return closes[c] > 0 && at_start(c) > sets_[contacts_[c].set].rebound->slowest_hit;
  };
  Real first = std::numeric_limits<Real>::infinity();  // when the body touches
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    closes[c] = -contacts_[c].normal.dot(velocity_beside_wall(c, ground.velocities()));
    if (may_be_hit(c)) first = std::min(first, std::max(Real(0), contacts_[c].gap / closes[c]));
  }
  const bool is_hit = first < dt_;
  for (std::size_t c = 0; is_hit && c < contacts_.size(); ++c) {
    Contact& contact = contacts_[c];
    Hit& hit = hits_[c];
    if (may_be_hit(c) && contact.gap - closes[c] * first <= margin * transfer_.dx) {
      contact.acts = Acts::by_hit;
      if (std::exchange(hit.was_hit, true)) hit.before = contact.impulse;
      hit.least = 0;
      hit.share = at_start(c) / closes[c];
      hit.begun = (contact.impulse - hit.before).dot(contact.normal);
    } else {
      const bool presses = !hit.was_hit && (contact.is_held || !contact.force.isZero(0));
      contact.acts = presses ? Acts::by_spring : Acts::later;
    }
  }
  return ground.agree->any(is_hit);
}

/// (6.5) and (6.6) of a hit: no spring takes any of it.
void WallContacts::solve_hit(std::size_t c, const Vec3& u, Real a) {
  Contact& contact = contacts_[c];
  const Hit& hit = hits_[c];
  const Wall& wall = walls_[contact.wall];
  const Vec3& n = contact.normal;
  const Vec3 l = contact.impulse - hit.before, u_t = u - u.dot(n) * n;
  const Real normal = std::max(hit.least, l.dot(n) - (u.dot(n) + hit.allowed) / a);
  Vec3 tangential = l - l.dot(n) * n - u_t / a;
  if (wall.condition != WallCondition::sticky) {
    const Real most = wall.friction * normal, size = tangential.norm();
    if (size > most) tangential *= most / size;
  } else if (normal == 0) {
    tangential.setZero();
  }
  contact.impulse = hit.before + normal * n + tangential;
}

/// What presses now gives e r l_n more, with the friction of that. Neither loads nor what the force of the step before
/// carries rebound, by the ratio r.
void WallContacts::let_rebound() {
  Real all = 0, of_approach = 0;
  const auto l_n = [&](std::size_t c) { return (contacts_[c].impulse - hits_[c].before).dot(contacts_[c].normal); };
  for (std::size_t c = 0; c < contacts_.size(); ++c)
    if (contacts_[c].acts == Acts::by_hit) {
      all += l_n(c);
      of_approach += hits_[c].share * (l_n(c) - hits_[c].begun);
    }
  for (std::size_t c = 0; c < contacts_.size(); ++c)
    if (const Contact& contact = contacts_[c]; contact.acts == Acts::by_hit && all > 0) {
      const Real ratio = std::clamp(of_approach / all, Real(0), Real(1));
      hits_[c].least = sets_[contact.set].rebound->restitution * ratio * l_n(c);
      hits_[c].before = contact.impulse;
    }
}

/// All contacts act, those that were hit once more where their gap would close.
void WallContacts::end_hits() {
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    Contact& contact = contacts_[c];
    Hit& hit = hits_[c];
    contact.acts = hit.was_hit ? Acts::by_hit : Acts::by_spring;
    if (hit.was_hit) hit.before = contact.impulse;
    hit.least = 0;
    hit.allowed = std::max(Real(0), contact.gap) / dt_;
  }
}

}  // namespace weft
