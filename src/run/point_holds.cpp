#include "run/point_holds.hpp"

#include "weft/bodies/continuum.hpp"
#include "weft/transfer/transfer.hpp"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

/// Of the mass of a node; what is held has no more but for round-off.
constexpr Real all = 1 - 1e-9;

}  // namespace

std::vector<LedAxis> led_axes(const GridHandle::Hold& hold, Real time, Real dt) {
  const RigidState before = hold.motion.at(time), after = hold.motion.at(time + dt);
  std::vector<LedAxis> led;
  for (const Vec3& at_rest : hold.axes) {
    const Vec3 n = before.rotation * at_rest, n_after = after.rotation * at_rest;
    led.push_back({n_after, (n - n_after) / dt, (n_after.dot(after.translation) - n.dot(before.translation)) / dt});
  }
  return led;
}

std::vector<LedNode> LedNodes::find(const BlockMap& map, const NodeField& inertia, Real time) {
  std::vector<LedNode> led;
  for (std::size_t h = 0; h < scene_.handles.size(); ++h) {
    const GridHandle& handle = scene_.handles[h];
    const GridHandle::Hold* hold = handle.hold();
    if (scene_.is_on_layer(handle, layer_) && scene_.mesh_of(handle) == nullptr && hold != nullptr &&
        hold->holds_from(time))
      add(map, inertia, h, led);
  }
  return led;
}

void LedNodes::mark(const BlockMap& map, const GridHandle& handle) {
  const Table& points = std::as_const(*scene_.bodies[handle.body]).points();
  const auto by = points.get<HandledBy>();
  const auto x = points.get<Position>();
  const auto m = points.get<Mass>();
  const Bins& bins = *bins_[handle.body];
  nearest_.reset(map.size());
  held_.reset(map.size());
  mass_.assign(points.rows(), 0);
  std::vector<bool> has_held(static_cast<std::size_t>(map.size()), false);
  for (const Bin& bin : bins.bins())
    for (const std::uint32_t p : bins.order().subspan(bin.begin, bin.end - bin.begin)) {
      if (!is_handled(by[p], handle.list)) continue;
      const Vec3i node = (x[p] / scene_.dx).array().round().cast<int>();
      const int block = map.find(block_of_node(node));
      WEFT_ENSURE(block >= 0);  // its stencil has the node
      nearest_.block(block)[NodeField::width * place_in_block(node)] += 1;
      mass_[p] = m[p];
      has_held[static_cast<std::size_t>(bin.numbers[0])] = true;
    }
  const auto no_stress = [](ChunkRows, const ChunkForces& forces) { std::ranges::fill(forces.A, Mat3::Zero()); };
  scatter(scene_.layers[layer_].transfer, bins.near(has_held), {x, points.get<Velocity>(), points.get<Affine>(), mass_},
          no_stress, 0, held_);
  map.forest().sum_to_owners(nearest_.view());
  map.forest().sum_to_owners(held_.view());
}

void LedNodes::add(const BlockMap& map, const NodeField& inertia, std::size_t h, std::vector<LedNode>& led) {
  mark(map, scene_.handles[h]);
  for (int b = 0; b < map.owned(); ++b)
    for (int place = 0; place < nodes_per_block; ++place) {
      const std::int32_t at = NodeField::row * b + NodeField::width * place;
      const Real* const held = held_.block(0) + at;
      if (held[0] > 0 && (nearest_.block(0)[at] > 0 || held[0] > all * inertia.block(0)[at]))
        led.push_back({h, at, scene_.dx * (map.first_node(b) + node_at_place(place)).cast<Real>(),
                       Eigen::Map<const Vec3>(held + 1) / held[0]});
    }
}

void lead_points(const Scene& scene, std::size_t body, const Bins& bins, std::span<const Vec3> borne, Real time,
                 Real dt, std::span<Impulse> impulses) {
  Table& points = scene.bodies[body]->points();
  const auto by = std::as_const(points).get<HandledBy>();
  const auto x = std::as_const(points).get<Position>();
  const auto m = std::as_const(points).get<Mass>();
  const auto v = points.get<Velocity>();
  const bool has_momentum = !scene.step.is_implicit || scene.step.implicit.inertia;
  for (std::size_t h = 0; h < scene.handles.size(); ++h) {
    const GridHandle& handle = scene.handles[h];
    const GridHandle::Hold* hold = handle.hold();
    if (handle.body != body || hold == nullptr || !hold->holds_to(time + dt)) continue;
    const std::vector<LedAxis> axes = led_axes(*hold, time, dt);
    const Vec3 center = hold->motion.at(time + dt).center;
    for (const std::uint32_t p : bins.order()) {
      if (!is_handled(by[p], handle.list)) continue;
      Vec3 v_led = v[p];
      for (const LedAxis& led : axes) v_led += led.axis * (led.velocity_at(x[p]) - led.axis.dot(v_led));
      if (has_momentum) impulses[h].add(m[p] * (v_led - v[p]), x[p] - center, (v_led + v[p]) / 2);
      if (!borne.empty()) impulses[h].add(-m[p] * borne[p], x[p] - center, v_led);
      v[p] = v_led;
    }
  }
}

}  // namespace weft
