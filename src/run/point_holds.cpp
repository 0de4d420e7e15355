#include "run/point_holds.hpp"

#include "weft/bodies/continuum.hpp"
#include "weft/transfer/transfer.hpp"

#include <algorithm>
#include <utility>

namespace weft {

std::vector<LedAxis> led_axes(const GridHandle::Hold& hold, Real time, Real dt) {
  const RigidState before = hold.motion.at(time), after = hold.motion.at(time + dt);
  std::vector<LedAxis> led;
  for (const Vec3& at_rest : hold.axes) {
    const Vec3 n = before.rotation * at_rest, n_after = after.rotation * at_rest;
    led.push_back({n_after, (n - n_after) / dt, (n_after.dot(after.translation) - n.dot(before.translation)) / dt});
  }
  return led;
}

std::vector<LedNode> LedNodes::find(const BlockMap& map, Real time) {
  std::vector<LedNode> led;
  for (std::size_t h = 0; h < scene_.handles.size(); ++h) {
    const GridHandle& handle = scene_.handles[h];
    const GridHandle::Hold* hold = handle.hold();
    if (scene_.is_on_layer(handle, layer_) && scene_.mesh_of(handle) == nullptr && hold != nullptr &&
        hold->holds_from(time))
      add(map, h, led);
  }
  return led;
}

void LedNodes::add(const BlockMap& map, std::size_t h, std::vector<LedNode>& led) {
  const GridHandle& handle = scene_.handles[h];
  const Table& points = std::as_const(*scene_.bodies[handle.body]).points();
  const auto by = points.get<HandledBy>();
  const auto x = points.get<Position>(), v = points.get<Velocity>();
  const auto C = points.get<Affine>();
  const Real dx = scene_.dx;
  marks_.reset(map.size());
  for (const std::uint32_t p : bins_[handle.body]->order()) {  // sums do not depend on the order of rows
    if (!is_handled(by[p], handle.list)) continue;
    const Vec3i node = (x[p] / dx).array().round().cast<int>();
    const int block = map.find(block_of_node(node));
    WEFT_ENSURE(block >= 0);  // its stencil has the node
    Real* const mark = marks_.block(block) + NodeField::width * place_in_block(node);
    Eigen::Map<Vec3>(mark + 1) += v[p] + C[p] * (dx * node.cast<Real>() - x[p]);
    mark[0] += 1;
  }
  map.forest().sum_to_owners(marks_.view());
  for (int b = 0; b < map.owned(); ++b)
    for (int place = 0; place < nodes_per_block; ++place) {
      const std::int32_t at = NodeField::row * b + NodeField::width * place;
      const Real* const mark = marks_.block(0) + at;
      if (mark[0] > 0)
        led.push_back({h, at, dx * (map.first_node(b) + node_at_place(place)).cast<Real>(),
                       Eigen::Map<const Vec3>(mark + 1) / mark[0]});
    }
}

namespace {

/// The change of m eps(C D), with the diagonal D of the moment of inertia (docs/theory/transfer.md, 2).
Vec3 own_rotation(Real m, const Mat3& C, const Vec3& D) {
  const Mat3 M = m * C * D.asDiagonal();
  return {M(2, 1) - M(1, 2), M(0, 2) - M(2, 0), M(1, 0) - M(0, 1)};
}

/// Of a point [J].
Real kinetic_energy(Real m, const Vec3& v, const Mat3& C, const Vec3& D) {
  return m / 2 * (v.squaredNorm() + (C * D.asDiagonal() * C.transpose()).trace());
}

}  // namespace

void lead_points(const Scene& scene, std::size_t body, const Bins& bins, std::span<const Vec3> borne, Real time,
                 Real dt, std::span<Impulse> impulses) {
  Table& points = scene.bodies[body]->points();
  const auto by = std::as_const(points).get<HandledBy>();
  const auto x = std::as_const(points).get<Position>();
  const auto m = std::as_const(points).get<Mass>();
  const auto v = points.get<Velocity>();
  const auto C = points.get<Affine>();
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
      Mat3 C_led = C[p];
      for (const LedAxis& led : axes) {
        v_led += led.axis * (led.velocity_at(x[p]) - led.axis.dot(v_led));
        C_led += led.axis * (led.gradient - C_led.transpose() * led.axis).transpose();
      }
      if (has_momentum) {
        const Vec3 D = moment_of_inertia(scene.layer_of(body).transfer, x[p]);
        const Vec3 impulse = m[p] * (v_led - v[p]);
        impulses[h].linear += impulse;
        impulses[h].angular += (x[p] - center).cross(impulse) + own_rotation(m[p], C_led - C[p], D);
        impulses[h].work += kinetic_energy(m[p], v_led, C_led, D) - kinetic_energy(m[p], v[p], C[p], D);
      }
      if (!borne.empty()) impulses[h].add(-m[p] * borne[p], x[p] - center, v_led);
      v[p] = v_led;
      C[p] = C_led;
    }
  }
}

}  // namespace weft
