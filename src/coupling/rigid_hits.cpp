// Hits of rigid bodies on one another.
//
// Nodes know gaps to some hundredths of dx, and those beside a round body have normals that lean. So the pair decides
// whether it is hit: its bodies first touch at the time t = min gap / speed over all nodes. Nodes whose surfaces are
// then within a margin of one another make up the hit, along their mean normal.
//
// Poisson's law: first they press, until they do not approach, with the impulses l_n. These then grow to (1 + e) l_n at
// least, to more where bodies still approach, and friction finds what the whole allows. So hits add no energy, whatever
// friction does, and whatever e other pairs have. [docs/theory/rigid.md]

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "weft/coupling/layer_contact.hpp"

namespace weft {
namespace {

/// Surfaces this near take part when their bodies first touch [dx].
constexpr Real margin = 0.02;
/// Normals that make less than this cosine with the mean one of a hit keep to themselves.
constexpr Real least_alike = 0.9;
/// Of the speed of a hit, what contact gives in a step to bodies that touch.
constexpr Real least_touch = 1e-3;

}  // namespace

/// Of two rigid bodies at a node.
struct LayerContact::Approach {
  std::size_t bodies;  ///< The number of the pair,
  Real sign;           ///< and of its normal, from the first of both.
  Real speed;          ///< Along the normal [m/s],
  Real predicted;      ///< with what else acts on them in the step.
  Real remembered;     ///< What of it the forces that both remember end in the step [m/s].
  Real restitution;
  Real slowest;      ///< Hits are faster [m/s].
  bool leaves_wall;  ///< One of them rebounds from a wall.
  Real mass;         ///< Reduced, of the node [kg].

  /// Those that touch remember a force; and a wall that throws a body back is no partner that presses.
  bool may_be_hit() const { return !leaves_wall && speed > std::max(slowest, remembered); }
  Real fastest() const { return std::max(speed, predicted); }
};

std::optional<LayerContact::Approach> LayerContact::approach(std::span<const MeetingLayer> layers,
                                                             const Meetings& meetings, const Node& node,
                                                             const Pair& pair, Real dt) const {
  const auto [of_a, of_b] =
      std::pair(meetings.sides[node.first_side + pair.sides[0]], meetings.sides[node.first_side + pair.sides[1]]);
  const MeetingLayer &a = layers[of_a.layer], &b = layers[of_b.layer];
  const Real e = std::max(a.restitution, b.restitution);
  if (!a.is_rigid() || !b.is_rigid() || !(e > 0)) return {};
  const auto row = [&](const NodeField& field, int block) {
    return field.block(block) + node.place * NodeField::width;
  };
  const Real m_a = *row(a.nodes->get<NodeInertia>(), of_a.block), m_b = *row(b.nodes->get<NodeInertia>(), of_b.block);
  const auto remembered = [&](const MeetingLayer& layer, int block, Real mass) {
    return dt * Eigen::Map<const Vec3>(row(*layer.remembered, block) + 1).norm() / mass;
  };
  const Vec3 at = Eigen::Map<const Vec3>(row(a.nodes->get<NodePlace>(), of_a.block));
  return Approach{.bodies = std::min(a.layer, b.layer) * layers_ + std::max(a.layer, b.layer),
                  .sign = a.layer < b.layer ? 1.0 : -1.0,
                  .speed = (a.start->at(at) - b.start->at(at)).dot(pair.normal),
                  .predicted = (a.moves->at(at) - b.moves->at(at)).dot(pair.normal),
                  .remembered = std::min(remembered(a, of_a.block, m_a), remembered(b, of_b.block, m_b)),
                  .restitution = e,
                  .slowest = std::max(a.slowest_hit, b.slowest_hit),
                  .leaves_wall = a.leaves_wall || b.leaves_wall,
                  .mass = m_a * m_b / (m_a + m_b)};
}

template <class Visit>
void LayerContact::for_each_approach(std::span<const MeetingLayer> layers, Real dt, const Visit& visit) {
  for (Meetings& meetings : meetings_)
    for (const Node& node : meetings.nodes)
      for (std::size_t p = node.first_pair; p < node.first_pair + node.pairs; ++p)
        if (const auto found = approach(layers, meetings, node, meetings.pairs[p], dt))
          visit(meetings.pairs[p], *found);
}

void LayerContact::find_hits(const Comm& comm, std::span<const MeetingLayer> layers, Real dt) {
  any_hits_ = are_pressing_ = false;
  if (std::ranges::none_of(layers, [](const MeetingLayer& layer) { return layer.is_rigid() && layer.restitution > 0; }))
    return;
  const std::size_t pairs = layers_ * layers_;
  std::vector<Real> first(pairs, std::numeric_limits<Real>::infinity());  // when bodies touch
  for_each_approach(layers, dt, [&](Pair& pair, const Approach& found) {
    pair.meeting = Meeting::contact;
    if (found.may_be_hit()) first[found.bodies] = std::min(first[found.bodies], pair.gap / found.fastest());
  });
  comm.min(std::span(first));
  const auto are_hit = [&](std::size_t bodies) { return first[bodies] < dt; };
  std::vector<Real> is_hit(layers_, 0);  // of a body by any other one, or by a wall
  for (const MeetingLayer& layer : layers)
    if (layer.leaves_wall) is_hit[layer.layer] = 1;
  bool any_hits = false;
  for (std::size_t a = 0; a < layers_; ++a)
    for (std::size_t b = a; b < layers_; ++b)
      if (are_hit(a * layers_ + b)) {
        is_hit[a] = is_hit[b] = 1;
        any_hits = true;
      }
  if (std::ranges::find(is_hit, 1) == is_hit.end()) return;

  // The sums of normals, of speeds and of those that other loads leave, by mass.
  std::vector<Real> sums(5 * pairs, 0);
  Real fastest = 0;
  for_each_approach(layers, dt, [&](Pair& pair, const Approach& found) {
    const Real when = first[found.bodies];
    if (!found.may_be_hit() || !(when < dt) || pair.gap - found.fastest() * when > margin * dx_) return;
    pair.meeting = Meeting::hit;
    Real* const sum = &sums[5 * found.bodies];
    Eigen::Map<Vec3>(sum) += found.sign * found.mass * pair.normal;
    sum[3] += found.mass * found.speed;
    sum[4] += found.mass * found.fastest();
    fastest = std::max(fastest, found.speed);
  });
  comm.sum(std::span(sums));
  fastest = comm.max(fastest);

  for_each_approach(layers, dt, [&](Pair& pair, const Approach& found) {
    const auto [a, b] = std::pair(found.bodies / layers_, found.bodies % layers_);
    if (pair.meeting == Meeting::hit) {
      const Real* const sum = &sums[5 * found.bodies];
      const Vec3 mean = found.sign * Eigen::Map<const Vec3>(sum).normalized();
      pair.normal_of_hit = pair.normal.dot(mean) > least_alike ? mean : pair.normal;
      pair.restitution = found.restitution * sum[3] / sum[4];
    } else if (is_hit[a] + is_hit[b] > 0 &&
               found.remembered <= std::max(found.speed, least_touch * std::max(fastest, found.predicted))) {
      pair.meeting = Meeting::later;
    }
  });
  any_hits_ = are_pressing_ = any_hits;
}

bool LayerContact::let_rebound(std::span<const MeetingLayer> layers) {
  if (!std::exchange(are_pressing_, false)) return false;
  for (Meetings& meetings : meetings_)
    for (const Node& node : meetings.nodes)
      for (std::size_t p = node.first_pair; p < node.first_pair + node.pairs; ++p) {
        Pair& pair = meetings.pairs[p];
        if (pair.meeting != Meeting::hit) continue;
        const bool leaves_wall = std::ranges::any_of(
            pair.sides, [&](std::size_t k) { return layers[meetings.sides[node.first_side + k].layer].leaves_wall; });
        pair.meeting = Meeting::rebound;
        pair.pressed *= leaves_wall ? 1 : 1 + pair.restitution;
      }
  return true;
}

}  // namespace weft
