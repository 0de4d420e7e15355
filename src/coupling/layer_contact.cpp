#include "weft/coupling/layer_contact.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "coupling/layer_at_node.hpp"

namespace weft {
namespace {

/// The share of a node that yields is no less than this: else handles prescribe its motion.
constexpr Real least_yielding = 1e-6;

/// Where three layers meet, each pair has so many turns.
constexpr int most_turns = 20;
/// What is so near the middle of one of two sides, on the way between these, is on it: one over so much of the way.
constexpr Real steepness = 2;
/// The mean normal of a thin part is across its sides at edges: if it is so long, these become one, as from the second
/// on.
constexpr Real least_across = 0.1, most_across = 0.3;
/// The middle between sides is as far beyond the far one where a node begins to have two, in ways between them.
constexpr Real most_beyond = 4;
/// Layers that are nearer than they should be part to 1/e in this many radians of their fastest vibration, which is
/// slow beside it.
constexpr Real recovery = 200;
/// Surfaces with this gap half touch [dx],
constexpr Real touching = 0.003;
/// and those that do not meet touch by this part.
constexpr Real least_touch = 1e-3;

Real* row_of(NodeField& field, int block, int place) { return field.block(block) + place * NodeField::width; }

/// A row of NodeSplit that leaves all to the near side.
bool is_whole(const Real* split) { return split[0] == 1 && split[1] == 0 && split[2] == 0 && split[3] == 0; }
void make_whole(Real* split) {
  split[0] = 1;
  std::fill_n(split + 1, 3, 0);
}

}  // namespace

/// What a thread works with at a node, of sides and of pairs.
struct LayerContact::Work {
  std::vector<Real> mass;
  std::vector<Vec3> v, before;
  std::vector<bool> is_hit;
  std::vector<Real> closing;  ///< Of pairs.
  std::vector<Vec3> impulse;

  void resize(std::size_t sides, std::size_t pairs) {
    for (auto* each : {&v, &before}) each->resize(sides);
    mass.resize(sides);
    is_hit.resize(sides);
    closing.resize(pairs);
    impulse.resize(pairs);
  }
};

Vec3 contact_impulse(const Vec3& before, const Vec3& u, const Vec3& normal, Real closing, Real reduced_mass,
                     Real friction, Real least) {
  const Vec3 wanted = before - reduced_mass * (u - closing * normal);
  const Real along = wanted.dot(normal), l_n = std::max(least, -along);
  Vec3 l_t = wanted - along * normal;
  const Real size = l_t.norm();
  if (size > friction * l_n) l_t *= friction * l_n / size;
  return l_t - l_n * normal;
}

void split_by_normals(const BlockMap& map, Layer& nodes) {
  const NodeField &normals = nodes.get<NodeNormal>(), &squares = nodes.get<NodeFacing>(),
                  &products = nodes.get<NodeFacingAcross>();
  NodeField& split = nodes.get<NodeSplit>();
  split.resize(map.size());
  const auto reals = static_cast<std::ptrdiff_t>(map.owned()) * NodeField::row;
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t k = 0; k < reals; k += NodeField::width) {
    const auto mean = [k](const NodeField& field) {
      return Vec3(Eigen::Map<const Vec3>(field.block(0) + k + 1) / field.block(0)[k]);
    };
    Real away = 0;  // how wholly the node has two sides
    Vec3 along = Vec3::Zero();
    if (normals.block(0)[k] > 0)
      std::tie(away, along) = two_sides(symmetric_of(mean(squares), mean(products)), mean(normals));
    split.block(0)[k] = 1 - away / 2;
    Eigen::Map<Vec3>(split.block(0) + k + 1) = away / 2 * along;
  }
}

std::vector<char> blocks_with_two_sides(const NodeField& split) {
  std::vector<char> have_two(static_cast<std::size_t>(split.blocks()));
#pragma omp parallel for schedule(static)
  for (int b = 0; b < split.blocks(); ++b) {
    bool any = false;
    for (int place = 0; place < nodes_per_block; ++place) any |= !is_whole(split.block(b) + place * NodeField::width);
    have_two[static_cast<std::size_t>(b)] = any;
  }
  return have_two;
}

void split_by_places(const BlockMap& map, Real dx, Layer& nodes, const NodeField& far_at_rest) {
  const NodeField &normals = nodes.get<NodeNormal>(), &near = nodes.get<NodeAtRest>();
  NodeField& split = nodes.get<NodeSplit>();
  const auto reals = static_cast<std::ptrdiff_t>(map.owned()) * NodeField::row;
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t k = 0; k < reals; k += NodeField::width) {
    const Vec3 along = Vec3::Map(split.block(0) + k + 1);
    Real away = 2 * along.norm(), c = 1;
    Vec3 d = Vec3::Zero();
    if (away > 0 && near.block(0)[k] > 0 && far_at_rest.block(0)[k] > 0) {
      const auto mean = [k](const NodeField& of) { return Vec3(Vec3::Map(of.block(0) + k + 1) / of.block(0)[k]); };
      const Vec3 apart = mean(near) - mean(far_at_rest), middle = (mean(near) + mean(far_at_rest)) / 2;
      if (apart.norm() < LayerAtNode::least_apart_at_rest * dx) {
        const Vec3 n = along.normalized(), mean_normal = mean(normals);
        away *= 1 - smooth_step(least_across, most_across, (mean_normal - mean_normal.dot(n) * n).norm());
      }
      if (apart.squaredNorm() > 0 && away > 0) {
        d = steepness / apart.squaredNorm() * apart;
        c = 0.5 - d.dot(middle) + steepness * most_beyond * (1 - away);
      }
    }
    split.block(0)[k] = c;
    Vec3::Map(split.block(0) + k + 1) = d;
  }
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
  for (auto& [key, block] : numbers) {
    std::ptrdiff_t meet = 0;
    for (std::size_t l = 0; l < layers.size(); ++l)
      if (block[l] >= 0) meet += layers[l].is_far ? 0 : layers[l].meets_itself ? 2 : 1;
    if (meet > 1) shared_.push_back(std::move(block));
  }
  is_shared_.clear();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (layers[l].is_far) continue;
    NodeField& marks = layers[l].nodes->get<NodeNormal>();
    marks.reset(layers[l].map->size());
    for (const SharedBlock& block : shared_)
      if (block[l] >= 0) marks.block(block[l])[0] = 1;
    layers[l].map->forest().update_ghosts(marks.view());
    std::vector<bool>& of_layer = is_shared_.emplace_back();
    for (int b = 0; b < layers[l].map->size(); ++b) of_layer.push_back(marks.block(b)[0] > 0);
  }
}

void LayerContact::keep_whole(std::span<const MeetingLayer> layers) const {
  const auto may_split = [&](std::size_t l) { return layers[l].has_contact_points && !layers[l].is_far; };
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (!may_split(l)) continue;
    NodeField& split = layers[l].nodes->get<NodeSplit>();
    const std::vector<bool>& is_shared = is_shared_[layers[l].layer];
    for (int b = 0; b < layers[l].map->owned(); ++b)
      for (int place = 0; place < nodes_per_block && !is_shared[static_cast<std::size_t>(b)]; ++place)
        make_whole(row_of(split, b, place));
  }
  const auto count = static_cast<std::ptrdiff_t>(shared_.size());
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t s = 0; s < count; ++s) {
    const SharedBlock& block = shared_[static_cast<std::size_t>(s)];
    for (int place = 0; place < nodes_per_block; ++place) {
      int surfaces = 0, masses = 0;
      for (std::size_t l = 0; l < layers.size(); ++l) {
        if (layers[l].is_far || block[l] < 0 || !(*row_of(layers[l].nodes->get<NodeNormal>(), block[l], place) > 0))
          continue;
        ++(layers[l].has_contact_points ? surfaces : masses);
      }
      for (std::size_t l = 0; l < layers.size(); ++l)
        if (block[l] >= 0 && may_split(l) && (masses > 0 || (surfaces < 2 && !layers[l].meets_itself)))
          make_whole(row_of(layers[l].nodes->get<NodeSplit>(), block[l], place));
    }
  }
}

void LayerContact::look(std::span<const MeetingLayer> layers, Real dx) {
  dx_ = dx;
  for (const MeetingLayer& layer : layers) {
    if (!layer.is_rigid() || !layer.is_on) continue;
    const NodeField& middle = layer.nodes->get<NodeMiddle>();
    NodeField& places = layer.nodes->get<NodePlace>();
    places.reset(layer.map->size());
#pragma omp parallel for schedule(static)
    for (int b = 0; b < layer.map->owned(); ++b)
      for (int place = 0; place < nodes_per_block; ++place) {
        const Real* const sums = middle.block(b) + place * NodeField::width;
        Eigen::Map<Vec3>(row_of(places, b, place)) =
            sums[0] > 0 ? Vec3(Eigen::Map<const Vec3>(sums + 1) / sums[0])
                        : Vec3(dx * (layer.map->first_node(b) + node_at_place(place)).cast<Real>());
      }
  }
  meetings_.resize(shared_.size());
  const auto count = static_cast<std::ptrdiff_t>(shared_.size());
#pragma omp parallel for schedule(dynamic)
  for (std::ptrdiff_t s = 0; s < count; ++s) {
    Meetings& found = meetings_[static_cast<std::size_t>(s)];
    found.nodes.clear();
    found.sides.clear();
    found.pairs.clear();
    for (int place = 0; place < nodes_per_block; ++place)
      look_at(layers, shared_[static_cast<std::size_t>(s)], place, dx, found);
  }
}

/// Finds the layers that have mass at a node of a block, and which of them face one another.
void LayerContact::look_at(std::span<const MeetingLayer> layers, const SharedBlock& block, int place, Real dx,
                           Meetings& found) const {
  std::vector<LayerAtNode> here;
  Node node{place, found.sides.size(), 0, found.pairs.size(), 0};
  for (std::size_t l = 0; l < layers.size(); ++l)
    if (layers[l].is_on && block[l] >= 0 && *row_of(layers[l].nodes->get<NodeNormal>(), block[l], place) > 0) {
      here.emplace_back(layers[l], block[l], place, dx);
      found.sides.push_back({l, block[l]});
    }
  node.sides = here.size();
  const auto side = [&](std::size_t k) { return found.sides[node.first_side + k]; };
  for (std::size_t k = 1; k < here.size(); ++k)  // far sides come after all near ones
    for (std::size_t near = 0; near < k; ++near)
      if (layers[side(near).layer].layer == layers[side(k).layer].layer) here[near].is_side = here[k].is_side = true;
  const auto does_not_yield = [&](std::size_t k) {
    const MeetingLayer& of = layers[side(k).layer];
    if (of.is_led || !of.nodes->has<NodeLed>()) return of.is_led;
    const Real* const led = row_of(of.nodes->get<NodeLed>(), side(k).block, place);
    return led[0] > 0 && led[1] > (1 - least_yielding) * led[0];
  };
  Vec3 at = Vec3::Zero();  // of all pairs, so that opposite impulses keep the angular momentum
  for (std::size_t i = 0; i < here.size(); ++i)
    for (std::size_t j = i + 1; j < here.size(); ++j) {
      const MeetingLayer &a = layers[side(i).layer], &b = layers[side(j).layer];
      if (a.layer == b.layer && !(a.meets_itself && here[i].is_elsewhere(here[j]))) continue;
      if (does_not_yield(i) && does_not_yield(j)) continue;
      const auto found_here = here[i].meet(here[j], friction_of(a.layer, b.layer));
      if (!found_here) continue;
      const Real gap = found_here->gap;
      const bool has_surfaces = here[i].has_surface && here[j].has_surface;
      found.pairs.push_back(
          {{i, j}, found_here->normal, std::max(gap, Real(0)), std::max(-gap, Real(0)), has_surfaces});
      at += here[i].x + found_here->at;
    }
  node.pairs = found.pairs.size() - node.first_pair;
  if (node.pairs == 0) {
    found.sides.resize(node.first_side);
    return;
  }
  found.nodes.push_back(node);
  for (std::size_t k = 0; k < here.size(); ++k)
    if (here[k].is_rigid)
      Eigen::Map<Vec3>(row_of(layers[side(k).layer].nodes->get<NodePlace>(), side(k).block, place)) =
          at / static_cast<Real>(node.pairs);
}

template <class Visit>
void LayerContact::for_each_side(const Visit& visit) const {
  for (const Meetings& meetings : meetings_)
    for (const Node& node : meetings.nodes)
      for (const Pair& pair : std::span(meetings.pairs).subspan(node.first_pair, node.pairs))
        for (const std::size_t side : pair.sides) visit(meetings.sides[node.first_side + side], node.place, pair);
}

void LayerContact::mark_surfaces_that_meet(std::span<Real> layers) const {
  for_each_side([&](const Side& side, int, const Pair& pair) {
    if (pair.has_surfaces) layers[side.layer] = 1;
  });
}

void LayerContact::mark_touch(std::size_t layer, NodeField& touch) const {
  for (int b = 0; b < touch.blocks(); ++b)
    for (int place = 0; place < nodes_per_block; ++place) *row_of(touch, b, place) = least_touch;
  for_each_side([&](const Side& side, int place, const Pair& pair) {
    if (side.layer != layer) return;
    const Real gap = pair.gap / (touching * dx_);
    Real& most = *row_of(touch, side.block, place);
    most = std::max(most, least_touch + (1 - least_touch) / (1 + gap * gap));
  });
}

namespace {

/// The mass that implicit layers have at a node of a shared block.
Real implicit_mass(std::span<const MeetingLayer> layers, std::span<const int> block, int place) {
  Real sum = 0;
  for (std::size_t l = 0; l < layers.size(); ++l)
    if (layers[l].is_implicit && block[l] >= 0) sum += *row_of(layers[l].nodes->get<NodeNormal>(), block[l], place);
  return sum;
}

}  // namespace

void LayerContact::weigh_touch(std::span<const MeetingLayer> layers, std::size_t layer, NodeField& touch) const {
  NodeField weighed(NodeTouch::label.name, NodeTouch::label.unit);
  weighed.reset(touch.blocks());
  for (const SharedBlock& block : shared_)
    for (int place = 0; place < nodes_per_block && block[layer] >= 0; ++place)
      *row_of(weighed, block[layer], place) = *row_of(touch, block[layer], place) * implicit_mass(layers, block, place);
  for_each_side([&](const Side& side, int place, const Pair& pair) {
    if (side.layer == layer && pair.has_surfaces) *row_of(weighed, side.block, place) = 0;
  });
  touch = std::move(weighed);
}

void LayerContact::oppose_memory(std::span<const MeetingLayer> layers, std::size_t layer) const {
  for (const SharedBlock& block : shared_)
    for (int place = 0; place < nodes_per_block && block[layer] >= 0; ++place) {
      const Real mass = implicit_mass(layers, block, place);
      if (!(mass > 0)) continue;
      const Vec3 phi = Vec3::Map(row_of(layers[layer].nodes->get<NodeMemory>(), block[layer], place) + 1);
      for (std::size_t l = 0; l < layers.size(); ++l)
        if (layers[l].is_implicit && block[l] >= 0)
          Vec3::Map(row_of(layers[l].nodes->get<NodeMemory>(), block[l], place) + 1) -=
              *row_of(layers[l].nodes->get<NodeNormal>(), block[l], place) / mass * phi;
    }
}

std::vector<int> LayerContact::blocks_that_meet(std::size_t layer) const {
  std::vector<int> blocks;
  for (std::size_t s = 0; s < shared_.size(); ++s)
    if (!meetings_[s].nodes.empty() && shared_[s][layer] >= 0) blocks.push_back(shared_[s][layer]);
  return blocks;
}

namespace {

/// (16.1a): the share of a node whose motion handles prescribe does not yield.
Real mass_with_handles(Real mass, const Real* led) {
  if (led == nullptr || !(led[0] > 0)) return mass;
  return mass / (1 - std::min(led[1] / led[0], Real(1)) + least_yielding);
}

}  // namespace

void LayerContact::exchange(std::span<const MeetingLayer> layers, Real dt) {
  for (const MeetingLayer& layer : layers) {
    if (layer.is_on && layer.nodes->has<NodeBorne>()) layer.nodes->get<NodeBorne>().reset(layer.map->size());
    if (!layer.is_loaded() || !layer.is_on) continue;
    const BlockMap* const map = layer.map;
    Layer* const nodes = layer.nodes;
    const NodeField &inertia = nodes->get<NodeInertia>(), &memory = nodes->get<NodeMemory>();
    const NodeField* const places = layer.is_rigid() ? &nodes->get<NodePlace>() : nullptr;
    NodeField &velocity = nodes->get<NodeVelocity>(), &meeting = nodes->get<NodeMeeting>();
    meeting.reset(map->size());
    if (layer.is_rigid()) nodes->get<NodeRebound>().reset(map->size());
    const auto reals = static_cast<std::ptrdiff_t>(map->owned()) * NodeField::row;
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t k = 0; k < reals; k += NodeField::width) {
      const Real mass = inertia.block(0)[k];
      if (!(mass > 0)) continue;
      Eigen::Map<Vec3> v(velocity.block(0) + k);
      if (places != nullptr) v = layer.moves->at(Eigen::Map<const Vec3>(places->block(0) + k));
      const Vec3 change = -dt / mass * Eigen::Map<const Vec3>(memory.block(0) + k + 1);
      v += change;
      Eigen::Map<Vec3>(meeting.block(0) + k) = change;
    }
  }
  const auto count = static_cast<std::ptrdiff_t>(meetings_.size());
#pragma omp parallel
  {
    Work work;
#pragma omp for schedule(dynamic)
    for (std::ptrdiff_t s = 0; s < count; ++s)
      for (const Node& node : meetings_[static_cast<std::size_t>(s)].nodes)
        meet(layers, meetings_[static_cast<std::size_t>(s)], node, dt, work);
  }
}

/// How fast a pair may close [m/s]; negative: it is to part.
Real LayerContact::closing(const MeetingLayer& a, const MeetingLayer& b, const Pair& pair, Real dt) {
  if (is_hit(pair)) return 0;
  if (pair.gap > 0) return pair.gap / dt;
  const Real of_surfaces = std::min({a.frequency, b.frequency, recovery / (2 * dt)});  // half of the way in a step
  const Real of_mass = std::min(std::max(a.frequency, b.frequency), 1 / dt);
  return -pair.nearer * (pair.has_surfaces ? of_surfaces : of_mass) / recovery;
}

/// (K.5) for each pair of layers at a node.
void LayerContact::meet(std::span<const MeetingLayer> layers, Meetings& meetings, const Node& node, Real dt,
                        Work& work) const {
  const auto sides = std::span(meetings.sides).subspan(node.first_side, node.sides);
  const auto pairs = std::span(meetings.pairs).subspan(node.first_pair, node.pairs);
  const auto layer_of = [&](std::size_t k) -> const MeetingLayer& { return layers[sides[k].layer]; };
  const auto row = [&](std::size_t k, NodeField& field) { return row_of(field, sides[k].block, node.place); };
  const auto led = [&](std::size_t k) -> const Real* {
    Layer& nodes = *layer_of(k).nodes;
    return nodes.has<NodeLed>() ? row(k, nodes.get<NodeLed>()) : nullptr;
  };
  work.resize(sides.size(), pairs.size());
  for (std::size_t k = 0; k < sides.size(); ++k) {
    Layer& nodes = *layer_of(k).nodes;
    work.mass[k] = mass_with_handles(*row(k, nodes.get<NodeInertia>()), led(k));
    work.v[k] = work.before[k] = Eigen::Map<const Vec3>(row(k, nodes.get<NodeVelocity>()));
    work.is_hit[k] = false;
  }
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const auto& [i, j] = pairs[p].sides;
    const MeetingLayer &a = layer_of(i), &b = layer_of(j);
    work.closing[p] = closing(a, b, pairs[p], dt);
    if (is_hit(pairs[p])) work.is_hit[i] = work.is_hit[j] = true;
    work.impulse[p].setZero();
  }
  const int turns = pairs.size() > 1 ? most_turns : 1;
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const Pair& pair = pairs[p];
      if (pair.meeting == Meeting::later) continue;
      const auto& [i, j] = pair.sides;
      const Vec3 &normal = is_hit(pair) ? pair.normal_of_hit : pair.normal, u = work.v[i] - work.v[j];
      const Real reduced = work.mass[i] * work.mass[j] / (work.mass[i] + work.mass[j]);
      const Real friction = friction_of(layer_of(i).layer, layer_of(j).layer);
      const Real least = pair.meeting == Meeting::rebound ? pair.pressed : 0;
      const Vec3 after = contact_impulse(work.impulse[p], u, normal, work.closing[p], reduced, friction, least);
      work.v[i] += (after - work.impulse[p]) / work.mass[i];
      work.v[j] -= (after - work.impulse[p]) / work.mass[j];
      work.impulse[p] = after;
    }
  for (std::size_t p = 0; p < pairs.size(); ++p)
    if (pairs[p].meeting == Meeting::hit) pairs[p].pressed = -work.impulse[p].dot(pairs[p].normal_of_hit);
  for (std::size_t k = 0; k < sides.size(); ++k) {
    Layer& nodes = *layer_of(k).nodes;
    const Vec3 change = work.v[k] - work.before[k];
    Eigen::Map<Vec3>(row(k, nodes.get<NodeVelocity>())) = work.v[k];
    if (layer_of(k).is_loaded()) Eigen::Map<Vec3>(row(k, nodes.get<NodeMeeting>())) += change;
    if (work.is_hit[k]) Eigen::Map<Vec3>(row(k, nodes.get<NodeRebound>())) = change;
    if (const Real* const led_here = led(k); led_here != nullptr && led_here[1] > 0) {
      Vec3 taken = -*row(k, nodes.get<NodeInertia>()) * change;
      for (std::size_t p = 0; p < pairs.size(); ++p)
        if (const auto& [i, j] = pairs[p].sides; k == i || k == j) taken += (k == i ? 1 : -1) * work.impulse[p];
      Eigen::Map<Vec3>(row(k, nodes.get<NodeBorne>())) = taken / led_here[1];
    }
  }
}

}  // namespace weft
