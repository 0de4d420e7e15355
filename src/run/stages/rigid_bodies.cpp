#include "run/stages/rigid_bodies.hpp"

#include <algorithm>
#include <vector>

namespace weft {
namespace {

/// Of the largest force for its mass, that a node has which touches.
constexpr Real least_touch = 0.1;
/// Of the velocity of a body, what forces change in a step that only round-off has left of a contact.
constexpr Real round_off = 1e-9;

/// Tells all ranks how rigid bodies move, how heavy their contact points are, and which rebound from a wall.
void share(StepContext& step, RigidVelocity GridLayer::* which, RigidVelocity (RigidBodyMotion::*of)() const) {
  constexpr std::size_t reals = 17;
  std::vector<Real> values;
  for (const GridLayer& layer : step.layers) {
    if (layer.rigid == nullptr) continue;
    const RigidVelocity v = (layer.rigid->*of)();
    for (const Vec3& each : {v.centre, v.velocity}) values.insert(values.end(), each.begin(), each.end());
    values.insert(values.end(), v.gradient.data(), v.gradient.data() + v.gradient.size());
    values.push_back(layer.rigid->scale_of_contact_points());
    values.push_back(layer.rigid->leaves_wall() ? 1 : 0);
  }
  if (values.empty()) return;
  step.comm.sum(std::span(values));
  const Real* value = values.data();
  for (GridLayer& layer : step.layers) {
    if (layer.rigid == nullptr) continue;
    layer.*
        which = {Eigen::Map<const Vec3>(value), Eigen::Map<const Vec3>(value + 3), Eigen::Map<const Mat3>(value + 6)};
    layer.scale = value[15];
    layer.leaves_wall = value[16] > 0;
    value += reals;
  }
}

/// The real numbers of sums over nodes, as one array.
using NodeSums = Eigen::Matrix<Real, NodeForces::reals, 1>;

NodeSums numbers(const NodeForces& of) {
  NodeSums all;
  all << of.force, of.moment.reshaped(), of.mass, of.first, of.second.reshaped();
  return all;
}

NodeForces forces(const NodeSums& all) {
  return {all.head<3>(), all.segment<9>(3).reshaped(3, 3), all[12], all.segment<3>(13), all.tail<9>().reshaped(3, 3)};
}

/// Of forces and masses on the nodes of a layer in contact, which act at their places on its body; add(sum, k, r): of
/// the node whose reals begin at k, and its place r from the centre. Threads change no bit of it.
template <class Add>
NodeSums sum_over_nodes(const GridLayer& layer, const Add& add) {
  const NodeField& places = layer.nodes.get<NodePlace>();
  std::vector<NodeSums> of_blocks(layer.in_contact.size());
  const auto count = static_cast<std::ptrdiff_t>(of_blocks.size());
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t b = 0; b < count; ++b) {
    NodeForces of_block;
    const std::ptrdiff_t first = layer.in_contact[static_cast<std::size_t>(b)] * std::ptrdiff_t{NodeField::row};
    for (std::ptrdiff_t k = first; k < first + NodeField::row; k += NodeField::width)
      add(of_block, k, Vec3(Eigen::Map<const Vec3>(places.block(0) + k) - layer.start.centre));
    of_blocks[static_cast<std::size_t>(b)] = numbers(of_block);
  }
  NodeSums sum = NodeSums::Zero();
  for (const NodeSums& each : of_blocks) sum += each;
  return sum;
}

/// Near sides of rigid bodies.
std::vector<GridLayer*> layers_of_rigid_bodies(StepContext& step) {
  std::vector<GridLayer*> found;
  for (GridLayer& layer : step.layers)
    if (layer.rigid != nullptr && layer.near == nullptr) found.push_back(&layer);
  return found;
}

/// Gives rigid bodies what sums over the nodes of their layers, of(side, number of the body), say.
template <class Of>
void give(StepContext& step, void (RigidBodyMotion::*take)(const NodeForces&), const Of& of) {
  const std::vector<GridLayer*> bodies = layers_of_rigid_bodies(step);
  if (bodies.empty()) return;
  std::vector<Real> sums;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    NodeSums sum = NodeSums::Zero();
    for (const GridLayer* side : bodies[b]->sides()) sum += of(*side, b);
    sums.insert(sums.end(), sum.begin(), sum.end());
  }
  step.comm.sum(std::span(sums));
  const Real* next = sums.data();
  for (const GridLayer* body : bodies) {
    (body->rigid->*take)(forces(Eigen::Map<const NodeSums>(next)));
    next += NodeForces::reals;
  }
}

/// What nodes of a layer remember [N], and the masses of contact points there [kg]; k: where the reals of one begin.
class Memories {
 public:
  explicit Memories(const GridLayer& layer)
      : memory_(layer.nodes.get<NodeMemory>()), middle_(layer.nodes.get<NodeMiddle>()) {}
  Vec3 force(std::ptrdiff_t k) const { return Eigen::Map<const Vec3>(memory_.block(0) + k + 1); }
  Real mass(std::ptrdiff_t k) const { return middle_.block(0)[k]; }
  Real acceleration(std::ptrdiff_t k) const { return mass(k) > 0 ? force(k).norm() / mass(k) : 0; }

 private:
  const NodeField &memory_, &middle_;
};

/// The largest that nodes of a layer remember for their mass on this rank [m/s^2].
Real largest_acceleration(const GridLayer& layer) {
  Real most = 0;
  const Memories memories(layer);
  for (const int b : layer.in_contact)
    for (std::ptrdiff_t k = 0; k < NodeField::row; k += NodeField::width)
      most = std::max(most, memories.acceleration(b * std::ptrdiff_t{NodeField::row} + k));
  return most;
}

/// Of each rigid body, over all ranks.
std::vector<Real> largest_accelerations(StepContext& step) {
  std::vector<Real> largest;
  for (GridLayer* body : layers_of_rigid_bodies(step)) {
    largest.push_back(0);
    for (const GridLayer* side : body->sides()) largest.back() = std::max(largest.back(), largest_acceleration(*side));
  }
  if (!largest.empty()) step.comm.max(std::span(largest));
  return largest;
}

}  // namespace

void share_motions(StepContext& step) { share(step, &GridLayer::start, &RigidBodyMotion::velocity_now); }

void share_predictions(StepContext& step) { share(step, &GridLayer::moves, &RigidBodyMotion::velocity_predicted); }

void load_rigid_bodies(StepContext& step) {
  if (!step.has_layers()) return;
  const std::vector<Real> largest = largest_accelerations(step);
  give(step, &RigidBodyMotion::load, [&](const GridLayer& layer, std::size_t body) {
    const Real most = largest[body], slow = layer.start.velocity.norm() + step.settings.gravity.norm() * step.dt();
    const bool touches = most * step.dt() > round_off * slow;
    const Memories memories(layer);
    return sum_over_nodes(layer, [&](NodeForces& sum, std::ptrdiff_t k, const Vec3& r) {
      const Real share = touches ? std::min(Real(1), memories.acceleration(k) / (least_touch * most)) : 0;
      sum.add(memories.force(k), share * memories.mass(k), r);
    });
  });
}

void push_rigid_bodies(StepContext& step) {
  if (!step.has_layers()) return;
  give(step, &RigidBodyMotion::push, [](const GridLayer& layer, std::size_t) {
    const NodeField &inertia = layer.nodes.get<NodeInertia>(), &meeting = layer.nodes.get<NodeMeeting>();
    return sum_over_nodes(layer, [&](NodeForces& sum, std::ptrdiff_t k, const Vec3& r) {
      sum.add(inertia.block(0)[k] * Eigen::Map<const Vec3>(meeting.block(0) + k), 0, r);
    });
  });
}

}  // namespace weft
