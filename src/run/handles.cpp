#include "run/handles.hpp"

#include "weft/base/overloaded.hpp"
#include "weft/bodies/continuum.hpp"
#include "weft/transfer/pipe.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace weft {

bool Handles::any() const {
  return std::ranges::any_of(scene_.handles, [&](const GridHandle& h) { return scene_.is_on_layer(h, layer_); });
}

void Handles::load(Real from, Real to, Real ahead) {
  pushes_.clear();
  for (std::size_t h = 0; h < scene_.handles.size(); ++h) {
    const GridHandle& handle = scene_.handles[h];
    if (!scene_.is_on_layer(handle, layer_) || scene_.mesh_of(handle) == nullptr) continue;
    const MeshBody& body = *scene_.mesh_of(handle);
    const auto x = body.points().get<Position>(), v = body.points().get<Velocity>();
    std::visit(Overloaded{[](const GridHandle::Hold&) {}, [](const GridHandle::OnPoints&) {},
                          [&](const GridHandle::Dead& load) {
                            const Real factor = load.amplitude.mean(from, to);
                            for (const Grip& grip : body.grips(handle.list)) {
                              const std::int32_t row = grip.rows.front();
                              pushes_.push_back({h, row, body.share_of_vertex(row) * factor * force_of(grip), {}, {}});
                              pushes_.back().mean_force = pushes_.back().force;
                            }
                          },
                          [&](const GridHandle::Following& load) {
                            const Real factor = load.amplitude.mean(from, to) * load.magnitude;
                            for (const Grip& grip : body.grips(handle.list)) {
                              const auto forces_in = [&](Real later) {
                                const auto a = [&](int k) { return Vec3(grip.sum(x, k) + later * grip.sum(v, k)); };
                                return follower_forces(load.kind, factor * value_of(grip), a(1), a(2));
                              };
                              const FollowerForces before = forces_in(0), now = ahead > 0 ? forces_in(ahead) : before;
                              for (std::size_t k = 0; k < grip.rows.size(); ++k) {
                                const auto& [place, d1, d2] = grip.vertices[k].weights;
                                const auto of_vertex = [&](const FollowerForces& f) {
                                  return Vec3(place * f.place + d1 * f.a1 + d2 * f.a2);
                                };
                                const Vec3 force = of_vertex(now);
                                pushes_.push_back({h, grip.rows[k], force, {}, (of_vertex(before) + force) / 2});
                              }
                            }
                          }},
               handle.action);
  }
  for (Push& push : pushes_) {
    Table& points = scene_.bodies[scene_.handles[push.handle].body]->points();
    points.get<ElementForce>()[push.vertex] += push.force;
    push.v = points.get<Velocity>()[push.vertex];
  }
  load_points(from, to);
}

/// Of points that share a total the number is counted anew, so that it stays whole when points leave the bounds.
void Handles::load_points(Real from, Real to) {
  point_loads_.clear();
  for (std::size_t b = 0; b < scene_.bodies.size(); ++b)
    if (Table& points = scene_.bodies[b]->points(); scene_.on_layer[b] == layer_ && points.has<LoadForce>()) {
      const auto f = points.get<LoadForce>();
      std::fill(f.begin(), f.end(), Vec3::Zero());
    }
  for (std::size_t h = 0; h < scene_.handles.size(); ++h) {
    const GridHandle& handle = scene_.handles[h];
    const auto* load = std::get_if<GridHandle::OnPoints>(&handle.action);
    if (load == nullptr || !scene_.is_on_layer(handle, layer_)) continue;
    Table& points = scene_.bodies[handle.body]->points();
    const auto by = std::as_const(points).get<HandledBy>();
    const auto m = std::as_const(points).get<Mass>();
    const auto v = std::as_const(points).get<Velocity>();
    const auto f = points.get<LoadForce>();
    const std::int64_t count = comm_.sum(static_cast<std::int64_t>(
        std::count_if(by.begin(), by.end(), [&](PointId bits) { return is_handled(bits, handle.list); })));
    const Real factor = load->amplitude.mean(from, to);
    PointLoad of_each{h, factor * load->total / static_cast<Real>(std::max<std::int64_t>(count, 1)),
                      factor * load->acceleration, 0};
    for (const std::uint32_t p : bins_of_body_[handle.body]->order()) {
      if (!is_handled(by[p], handle.list)) continue;
      const Vec3 force = of_each.each + m[p] * of_each.acceleration;
      f[p] += force;
      of_each.power += force.dot(v[p]);
    }
    point_loads_.push_back(of_each);
  }
}

void Handles::count_point_load(const PointLoad& load, Real dt, Impulse& given) const {
  const GridHandle& handle = scene_.handles[load.handle];
  const Table& points = std::as_const(*scene_.bodies[handle.body]).points();
  const auto by = points.get<HandledBy>();
  const auto m = points.get<Mass>();
  const auto x = points.get<Position>(), v = points.get<Velocity>();
  Real power = 0;  // when the step ends
  for (const std::uint32_t p : bins_of_body_[handle.body]->order()) {
    if (!is_handled(by[p], handle.list)) continue;
    const Vec3 force = load.each + m[p] * load.acceleration;
    given.linear += dt * force;
    given.angular += dt * (x[p] - dt * v[p]).cross(force);
    power += force.dot(v[p]);
  }
  given.work += dt * (scene_.step.is_implicit ? power : (load.power + power) / 2);
}

void Handles::count_loads(Real dt, std::span<Impulse> impulses) const {
  const bool at_end = scene_.step.is_implicit;  // of the step
  for (const auto& [h, vertex, force, v_before, mean_force] : pushes_) {
    const Table& points = std::as_const(*scene_.bodies[scene_.handles[h].body]).points();
    const Vec3 v = points.get<Velocity>()[vertex], before = points.get<Position>()[vertex] - dt * v;
    const Vec3 mean_v = at_end ? v : Vec3((v_before + v) / 2);
    impulses[h].add(dt * force, before, mean_v);
    impulses[h].work += dt * (mean_force - force).dot(mean_v);
  }
  for (const PointLoad& load : point_loads_) count_point_load(load, dt, impulses[load.handle]);
}

void Handles::load_alone(Real from, Real to, Real ahead) {
  for (std::size_t b = 0; b < scene_.bodies.size(); ++b)
    if (MeshBody* meshed = scene_.bodies[b]->roles().mesh;
        meshed != nullptr && meshed->carrier() == Carrier::grid && scene_.on_layer[b] == layer_) {
      const auto f = meshed->points().get<ElementForce>();
      std::fill(f.begin(), f.end(), Vec3::Zero());
    }
  load(from, to, ahead);
}

void Handles::load_again(Real from, Real to) {
  for (const Push& push : pushes_)
    scene_.bodies[scene_.handles[push.handle].body]->points().get<ElementForce>()[push.vertex] -= push.force;
  load(from, to);
}

/// Led nodes go where their handle goes, whatever walls and other handles say. The work is that of the mean velocity
/// before and after.
void Handles::lead_nodes(Real dt, Real time, const BlockMap& map, Layer& layer, std::span<Impulse> impulses) {
  const Real* const inertia = layer.get<NodeInertia>().block(0);
  Real* const velocity = layer.get<NodeVelocity>().block(0);
  for (const LedNode& node : led_nodes_.find(map, layer.get<NodeInertia>(), time)) {
    const GridHandle::Hold& hold = *scene_.handles[node.handle].hold();
    const Vec3 center = hold.motion.at(time + dt).center;
    Impulse& given = impulses[node.handle];
    Eigen::Map<Vec3> v(velocity + node.at);
    for (const LedAxis& led : led_axes(hold, time, dt)) {
      const Real along = led.velocity_at(node.x), change = along - led.axis.dot(v);
      const Vec3 impulse = inertia[node.at] * change * led.axis;
      v += change * led.axis;
      given.add(impulse, node.x - center, (led.axis.dot(node.v) + along) / 2 * led.axis);
    }
  }
}

void Handles::hold(Real dt, Real time, const BlockMap& map, Layer& layer, std::span<Impulse> impulses) {
  sums_.hold(dt, time, map, layer, impulses);
  lead_nodes(dt, time, map, layer, impulses);
}

// --- In implicit steps -----------------------------------------------------------------------------------------------

/// Calls visit(held) for each condition, in a fixed order.
template <class Visit>
void GridHolds::for_each_sum(Real time, Visit&& visit) const {
  for (std::size_t h = 0; h < scene_.handles.size(); ++h) {
    const GridHandle& handle = scene_.handles[h];
    if (!scene_.is_on_layer(handle, layer_) || scene_.mesh_of(handle) == nullptr) continue;
    const GridHandle::Hold* hold = handle.hold();
    if (hold == nullptr || !hold->holds_to(time)) continue;
    const MeshBody& body = *scene_.mesh_of(handle);
    const auto x = body.points().get<Position>();
    const RigidState state = hold->motion.at(time);
    for (const Grip& grip : body.grips(handle.list)) {
      const HeldAim aim = aim_of(grip);
      visit(Held{{h, aim, grip.sum(x), aim.direction(state, grip.sum(x, 1))}, grip, state});
    }
  }
}

void GridHolds::append(Real time, ConstraintRows& rows) const {
  // The nodes of the vertices of bodies that are held.
  std::vector<std::vector<PointNodes>> nodes(scene_.bodies.size());
  for (const GridHandle& handle : scene_.handles) {
    if (!scene_.is_on_layer(handle, layer_) || scene_.mesh_of(handle) == nullptr) continue;
    if (!handle.hold() || !nodes[handle.body].empty()) continue;
    const Table& points = scene_.bodies[handle.body]->points();
    nodes[handle.body].resize(points.rows());
    for_each_point(scene_.layers[layer_].transfer, *bins_[handle.body], points.get<Position>(),
                   [&](std::uint32_t row, const PointNodes& of_row) { nodes[handle.body][row] = of_row; });
  }
  for_each_sum(time, [&](const Held& held) {
    for (std::size_t k = 0; k < held.grip.rows.size(); ++k) {
      const PointNodes& at = nodes[scene_.handles[held.handle].body][held.grip.rows[k]];
      for (std::size_t i = 0; i < at.at.size(); ++i)
        for (int c = 0; c < 3; ++c) rows.add(at.at[i] + c, held.grip.vertices[k].weights[0] * at.w[i] * held.axis[c]);
    }
    rows.close(held.change(held.state));
  });
  for (const auto& [node, led, center] : led_) {
    rows.add(node.at, led.axis);
    rows.close(dt_ * led.velocity_at(node.x));
  }
}

void GridHolds::begin_step(const BlockMap& map, const NodeField& inertia, Real time, Real dt) {
  dt_ = dt;
  led_.clear();
  for (const LedNode& node : led_nodes_.find(map, inertia, time)) {
    const GridHandle::Hold& hold = *scene_.handles[node.handle].hold();
    const Vec3 center = hold.motion.at(time + dt).center;
    for (const LedAxis& axis : led_axes(hold, time, dt)) led_.push_back({node, axis, center});
  }
}

void GridHolds::add_impulses(Real time, Real dt, std::span<const Real> of_conditions,
                             std::span<Impulse> impulses) const {
  std::size_t c = 0;
  for_each_sum(time, [&](const Held& held) {
    held.add_to(impulses[held.handle], held.state, of_conditions[c], held.change(held.state) / dt);
    ++c;
  });
  for (const auto& [node, led, center] : led_) {
    Impulse& given = impulses[node.handle];
    const Vec3 impulse = of_conditions[c] * led.axis;
    given.add(impulse, node.x - center, led.velocity_at(node.x) * led.axis);
    ++c;
  }
}

}  // namespace weft
