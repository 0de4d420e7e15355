#include "weft/coupling/layer_contact.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <utility>

namespace weft {
namespace {

/// Where three layers meet, each pair has so many turns.
constexpr int most_turns = 20;
/// Surfaces come as near as this [dx].
constexpr Real nearest = 0.1;
/// Flat surfaces that are nearer part to 1/e in this many radians of their fastest vibration, which is slow beside it,
/// and no faster than when they are so many dx nearer.
constexpr Real recovery = 200, most_nearer = 0.05;
/// Mass inside a surface comes out likewise, as fast as from this many dx at most.
constexpr Real most_inside = 0.5;
/// Friction on a mass begins so many dx before it touches: it needs contact that lasts, and the places of points vary.
constexpr Real margin_of_friction = 0.25;
/// What two surfaces have alike is as long as this at least, squared.
constexpr Real least_alike = 0.01;
/// Surfaces do not face one another along what is more behind either than before it, by this part of both.
constexpr Real most_behind = 0.1;
/// Nor where the planes that face along it are far from square to it, as of a side and the floor beside it.
constexpr Real least_square = 1e-3;
/// Of two directions that which both face more, and squarely, counts by this power.
constexpr int sharpness = 20;
/// Normals shorter than this have no direction.
constexpr Real least_normal = 1e-6;
/// The mean of a surface that faces the other body makes an angle with the normal of at least this cosine.
constexpr Real least_cosine = 0.5;
/// Surfaces this far from a node [dx] are away from it.
constexpr Real away = 0.75;
/// Bodies touch if what they remember ends this part of an approach in a step.
constexpr Real least_touch = 1;
/// A surface of which less than this faces a direction has no place along it.
constexpr Real least_facing = 1e-3;

/// The mean of x >= 0 by the normal distribution about s with the deviation 1.
Real mean_of_half(Real s) {
  const Real density = std::exp(-s * s / 2) / std::sqrt(2 * std::numbers::pi);
  const Real share = std::erfc(-s / std::numbers::sqrt2) / 2;
  return share > 1e-6 ? s + density / share : 0;
}

Real* row_of(NodeField& field, int block, int place) { return field.block(block) + place * NodeField::width; }

}  // namespace

/// A layer at a node.
struct LayerContact::AtNode {
  /// The speed with which surfaces may close [m/s].
  struct Closing {
    Real speed;
    bool is_hit = false;  ///< They rebound.
  };

  std::size_t layer;
  int block;  ///< Of the layer.
  Real mass;
  Vec3 v, before;
  bool has_surface;  ///< It is of contact points.
  Real frequency;    ///< Of their body [rad/s],
  bool is_rigid;     ///< which may keep its shape.
  Real area;         ///< Of a surface, by the kernel [m^2].
  Mat3 facing;       ///< Of a surface: the mean of n n^T.
  Vec3 offset;       ///< Of a surface: the mean of n (n . y), y being from the node to the place [m].
  Real restitution;  ///< Of a rigid body;
  Real slowest_hit;  ///< slower ones have none [m/s].
  Vec3 start;        ///< Velocity as the step began,
  bool is_hit;       ///< It rebounds.
  Real remembered;   ///< and what the remembered force changes in the step [m/s].
  Vec3 middle;       ///< Of a rigid body: from the node to the middle of the mass of its points [m].
  Real spread;       ///< The middle of a mass is this times dx times its normal behind the node; 0: unknown.
  Vec3 normal;       ///< The mean of a surface, of length 1 at most; else from the middle of the mass to the node [1].

  /// Towards b; zero: they do not face one another. Of two surfaces of which one deforms the flatter one counts.
  Vec3 normal_to(const AtNode& b) const {
    if (!has_surface && !b.has_surface) return normal - b.normal;  // from the middle of one mass to that of the other
    if (is_rigid && b.is_rigid) return normal_of_faces(b);
    if (has_surface && b.has_surface) {
      const Real flatter = std::max({normal.norm(), b.normal.norm(), least_normal});
      const auto share = [&](const Vec3& mean) { return std::pow(mean.squaredNorm() / (flatter * flatter), 50); };
      return share(normal) * normal - share(b.normal) * b.normal;
    }
    const Vec3 of_surface = has_surface ? normal : Vec3(-b.normal), of_mass = has_surface ? Vec3(-b.normal) : normal;
    const Real flat = flatness(of_surface);
    return flat * of_surface + (1 - flat) * of_mass.normalized();
  }
  /// Of two rigid bodies, (16.2): by what both have across, and by what is left without sides that face alike.
  Vec3 normal_of_faces(const AtNode& b) const {
    if (!(area + b.area > 0)) return Vec3::Zero();
    const Real part = area / (area + b.area);
    const Vec3 apart = part * normal - (1 - part) * b.normal, alike = part * normal + (1 - part) * b.normal;
    const Vec3 across = facing * (b.facing * apart) + b.facing * (facing * apart);
    const Vec3 left = apart - apart.dot(alike) / std::max(alike.squaredNorm(), least_alike) * alike;
    Vec3 found = Vec3::Zero();
    const auto include = [&](const Vec3& along, Real weight) {
      if (!(along.norm() > least_normal)) return;
      const Vec3 n = along.normalized();
      const Real mine = n.dot(facing * n), its = n.dot(b.facing * n);
      if (normal.dot(n) < -most_behind * mine || b.normal.dot(n) > most_behind * its) return;
      const Real faces = mine * its, square = squareness(n) * b.squareness(n);
      if (square > least_square) found += weight * std::pow(faces * square, sharpness) * n;
    };
    include(across, 1);
    include(left, alike.squaredNorm());
    return found.stableNormalized();
  }
  /// 1 where the surface is flat, hardly anything at its edges, by its mean normal.
  static Real flatness(const Vec3& mean) { return std::pow(mean.squaredNorm(), 10); }
  /// 1 where both face one another and are flat: on the whole, or of rigid bodies, whose edges keep their shape, by
  /// what faces the other one.
  Real opposition(const AtNode& b, const Vec3& to_b) const {
    if (is_rigid && b.is_rigid) return squareness(to_b) * b.squareness(to_b);
    return std::pow(std::max(Real(0), -normal.dot(b.normal)), 20);
  }
  /// 1 where what faces along is flat across it.
  Real squareness(const Vec3& along) const {
    const Vec3 faces = facing * along;
    const Real across = along.dot(faces);
    return across > 0 ? std::pow(across * across / faces.squaredNorm(), 10) : 0;
  }
  /// Whether a surface does so on the whole.
  bool faces(const Vec3& along) const { return normal.dot(along) >= least_cosine * normal.norm(); }
  /// From the planes of a surface to the node along a direction, each by how much it faces that [m]; none: it does not.
  /// Aside of the node those of rigid bodies are looked at where the mass is that moves it: its velocity is the rate of
  /// the distance there.
  std::optional<Real> distance(const Vec3& along) const {
    const Real faces = along.dot(facing * along);
    if (!(faces > least_facing)) return {};
    const Vec3 aside = middle - middle.dot(along) * along;
    return along.dot(facing * aside - offset) / faces;
  }
  /// The speed with which layers may close along the normal to b; where they are too near, they are to part.
  Closing closing(const AtNode& b, const Vec3& to_b, Real friction, Real dx, Real dt) const {
    if (!has_surface && !b.has_surface) return {0};
    if (!has_surface) return {b.closing_on_mass(*this, friction, dx, dt)};
    if (!b.has_surface) return {closing_on_mass(b, friction, dx, dt)};
    const std::optional<Real> mine = distance(to_b), its = b.distance(-to_b);
    // A node beside an edge sees sides alone, which do not meet, as long as the other surface is away from the node.
    if (!faces(to_b) && its && *its > away * dx) return {*its / dt};
    if (!b.faces(-to_b) && mine && *mine > away * dx) return {*mine / dt};
    if (!mine || !its) return {0};
    const Real gap = *mine + *its - nearest * dx;
    if (const Real speed = (start - b.start).dot(to_b); hits(b, speed) && speed * dt > gap)
      return {-std::max(restitution, b.restitution) * speed, true};
    if (gap > 0) return {gap / dt};
    const Real fastest = std::min({frequency, b.frequency, recovery / (2 * dt)});  // half of the way in a step
    return {opposition(b, to_b) * std::max(gap, -most_nearer * dx) * fastest / recovery};
  }
  /// Whether an approach is a hit, from which rigid bodies rebound: those that touch already remember a force.
  bool hits(const AtNode& b, Real speed) const {
    return is_rigid && b.is_rigid && std::max(restitution, b.restitution) > 0 &&
           speed > std::max(slowest_hit, b.slowest_hit) && std::min(remembered, b.remembered) < least_touch * speed;
  }
  /// Of a surface and a mass, which touches where its mean distance is that of a mass beyond a plane.
  Real closing_on_mass(const AtNode& b, Real friction, Real dx, Real dt) const {
    if (b.spread == 0) return 0;
    const std::optional<Real> mine = distance(normal.stableNormalized());
    if (!mine) return 0;
    const Real deviation = dx * std::sqrt(b.spread), middle = *mine - dx * b.spread * normal.dot(b.normal);
    const Real gap = middle - deviation * mean_of_half(*mine / deviation);
    const Real margin = friction > 0 ? margin_of_friction * dx : 0;
    if (gap > 0) return flatness(normal) * std::max(Real(0), gap - margin) / dt;
    return flatness(normal) * std::max(gap, -most_inside * dx) * std::min(frequency, 1 / dt) / recovery;
  }
};

struct LayerContact::Pair {
  std::size_t a, b;  ///< Numbers in Meeting::layers.
  Vec3 normal;
  Real closing;  ///< [m/s].
  Vec3 impulse;
};

Vec3 contact_impulse(const Vec3& before, const Vec3& u, const Vec3& normal, Real closing, Real reduced_mass,
                     Real friction) {
  const Vec3 wanted = before - reduced_mass * (u - closing * normal);
  const Real along = wanted.dot(normal), l_n = std::max(Real(0), -along);
  Vec3 l_t = wanted - along * normal;
  const Real size = l_t.norm();
  if (size > friction * l_n) l_t *= friction * l_n / size;
  return l_t - l_n * normal;
}

void LayerContact::find(std::span<const MeetingLayer> layers) {
  std::map<BlockKey, SharedBlock> numbers;
  for (std::size_t l = 0; l < layers.size(); ++l)
    for (int b = 0; b < layers[l].map->owned(); ++b) {
      SharedBlock& block = numbers[layers[l].map->keys()[static_cast<std::size_t>(b)]];
      block.resize(layers.size(), -1);
      block[l] = b;
    }
  shared_.clear();
  for (auto& [key, block] : numbers)
    if (std::ranges::count(block, -1) <= static_cast<std::ptrdiff_t>(layers.size()) - 2)
      shared_.push_back(std::move(block));
  is_shared_.clear();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    NodeField& marks = layers[l].nodes->get<NodeNormal>();
    marks.reset(layers[l].map->size());
    for (const SharedBlock& block : shared_)
      if (block[l] >= 0) marks.block(block[l])[0] = 1;
    layers[l].map->forest().update_ghosts(marks.view());
    std::vector<bool>& of_layer = is_shared_.emplace_back();
    for (int b = 0; b < layers[l].map->size(); ++b) of_layer.push_back(marks.block(b)[0] > 0);
  }
}

void LayerContact::exchange(std::span<const MeetingLayer> layers, Real dx, Real dt) const {
  for (const MeetingLayer& layer : layers) {
    if (!layer.has_contact_points) continue;
    const BlockMap* const map = layer.map;
    Layer* const nodes = layer.nodes;
    const NodeField &inertia = nodes->get<NodeInertia>(), &memory = nodes->get<NodeMemory>();
    NodeField &velocity = nodes->get<NodeVelocity>(), &meeting = nodes->get<NodeMeeting>();
    meeting.reset(map->size());
    if (layer.remembered != nullptr) nodes->get<NodeRebound>().reset(map->size());
    const auto reals = static_cast<std::ptrdiff_t>(map->owned()) * NodeField::row;
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t k = 0; k < reals; k += NodeField::width) {
      const Real mass = inertia.block(0)[k];
      if (!(mass > 0)) continue;
      const Vec3 change = -dt / mass * Eigen::Map<const Vec3>(memory.block(0) + k + 1);
      Eigen::Map<Vec3>(velocity.block(0) + k) += change;
      Eigen::Map<Vec3>(meeting.block(0) + k) = change;
    }
  }
  const auto count = static_cast<std::ptrdiff_t>(shared_.size());
#pragma omp parallel
  {
    Meeting meeting;
#pragma omp for schedule(dynamic)
    for (std::ptrdiff_t s = 0; s < count; ++s)
      for (int place = 0; place < nodes_per_block; ++place) {
        look(layers, shared_[static_cast<std::size_t>(s)], place, dx, dt, meeting);
        if (meeting.layers.size() < 2) continue;
        meet(meeting, dx, dt);
        for (const AtNode& at : meeting.layers) {
          Layer& nodes = *layers[at.layer].nodes;
          Eigen::Map<Vec3>(row_of(nodes.get<NodeVelocity>(), at.block, place)) = at.v;
          if (!at.has_surface) continue;
          Eigen::Map<Vec3>(row_of(nodes.get<NodeMeeting>(), at.block, place)) += at.v - at.before;
          if (at.is_hit) Eigen::Map<Vec3>(row_of(nodes.get<NodeRebound>(), at.block, place)) = at.v - at.before;
        }
      }
  }
}

/// Finds the layers that have mass at a node of a block.
void LayerContact::look(std::span<const MeetingLayer> layers, const SharedBlock& block, int place, Real dx, Real dt,
                        Meeting& meeting) {
  meeting.layers.clear();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (block[l] < 0) continue;
    Layer& nodes = *layers[l].nodes;
    const Real mass = *row_of(nodes.get<NodeInertia>(), block[l], place);
    if (!(mass > 0)) continue;
    AtNode& at = meeting.layers.emplace_back();
    at.layer = l;
    at.block = block[l];
    at.mass = mass;
    at.v = at.before = Eigen::Map<const Vec3>(row_of(nodes.get<NodeVelocity>(), at.block, place));
    at.has_surface = layers[l].has_contact_points;
    at.frequency = layers[l].frequency;
    at.is_rigid = layers[l].is_rigid;
    at.spread = layers[l].spread;
    const Real* const normal = row_of(nodes.get<NodeNormal>(), at.block, place);
    at.area = at.has_surface ? normal[0] : 0;
    at.normal.setZero();
    if (normal[0] > 0) at.normal = Eigen::Map<const Vec3>(normal + 1) / normal[0];
    at.facing.setZero();
    at.offset.setZero();
    at.middle.setZero();
    at.restitution = layers[l].restitution;
    at.slowest_hit = layers[l].slowest_hit;
    at.start.setZero();
    at.remembered = 0;
    at.is_hit = false;
    if (at.has_surface && normal[0] > 0) {
      const Vec3 x = dx * (layers[l].map->first_node(at.block) + node_at_place(place)).cast<Real>();
      const auto mean = [&](NodeField& field) {
        return Vec3(Eigen::Map<const Vec3>(row_of(field, at.block, place) + 1) / normal[0]);
      };
      const Vec3 along = mean(nodes.get<NodeFacing>()), across = mean(nodes.get<NodeFacingAcross>());
      at.facing << along[0], across[2], across[1], across[2], along[1], across[0], across[1], across[0], along[2];
      at.offset = mean(nodes.get<NodeOffset>()) - at.facing * x;
      if (!at.is_rigid) continue;
      const Real* const middle = row_of(nodes.get<NodeMiddle>(), at.block, place);
      at.middle = Eigen::Map<const Vec3>(middle + 1) / middle[0] - x;
      if (layers[l].remembered == nullptr) continue;
      const Real* const start = row_of(nodes.get<NodeStart>(), at.block, place);
      at.start = Eigen::Map<const Vec3>(start + 1) / start[0];
      const Real* const force = layers[l].remembered->block(at.block) + place * NodeField::width + 1;
      at.remembered = dt * Eigen::Map<const Vec3>(force).norm() / mass;
    }
  }
}

Real LayerContact::friction_of(const AtNode& a, const AtNode& b) const {
  return friction_[a.layer * layers_ + b.layer];
}

/// (K.5) for each pair of layers.
void LayerContact::meet(Meeting& meeting, Real dx, Real dt) const {
  std::vector<AtNode>& here = meeting.layers;
  meeting.pairs.clear();
  for (std::size_t i = 0; i < here.size(); ++i)
    for (std::size_t j = i + 1; j < here.size(); ++j) {
      AtNode &a = here[i], &b = here[j];
      const Vec3 normal = a.normal_to(b);
      const Real length = normal.norm();
      if (!(length > least_normal)) continue;
      const Vec3 n = normal / length;
      const AtNode::Closing closing = a.closing(b, n, friction_of(a, b), dx, dt);
      if (closing.is_hit) a.is_hit = b.is_hit = true;
      meeting.pairs.push_back({i, j, n, closing.speed, Vec3::Zero()});
    }
  const int turns = meeting.pairs.size() > 1 ? most_turns : 1;
  for (int turn = 0; turn < turns; ++turn)
    for (auto& [i, j, normal, closing, impulse] : meeting.pairs) {
      AtNode &a = here[i], &b = here[j];
      const Real reduced = a.mass * b.mass / (a.mass + b.mass), friction = friction_of(a, b);
      const Vec3 after = contact_impulse(impulse, a.v - b.v, normal, closing, reduced, friction);
      a.v += (after - impulse) / a.mass;
      b.v -= (after - impulse) / b.mass;
      impulse = after;
    }
}

}  // namespace weft
