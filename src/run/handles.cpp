#include "weft/run/handles.hpp"

#include "weft/base/check.hpp"
#include "weft/bodies/reaction.hpp"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

/// Held sums are led to this many grid spacings of their targets, each.
constexpr Real tolerance = 1e-12;
/// Later ones take away what large impulses of nearly equal conditions left of a gap by round-off.
constexpr int most_passes = 3;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

/// Calls visit(held) for each sum that is held on this rank at the end of a step, in a fixed order.
template <class Visit>
void for_each_held(const Scene& scene, Real end, Visit&& visit) {
  for (std::size_t h = 0; h < scene.handles.size(); ++h) {
    const GridHandle& handle = scene.handles[h];
    if (!scene.is_on_grid(handle)) continue;
    const GridHandle::Hold* hold = handle.hold();
    if (hold == nullptr || !hold->holds_to(end)) continue;
    const MeshBody& body = *scene.bodies[handle.body]->roles().mesh;
    const auto x = body.points().get<Position>();
    const RigidState state = hold->motion.at(end);
    for (const Grip& grip : body.grips(handle.list)) {
      const HeldAim aim = aim_of(grip);
      const Vec3 axis = state.rotation * aim.axis, now = grip.sum(x);
      visit(HeldNow{h, grip, aim, axis, state.center, now, axis.dot(aim.goal(state) - now)});
    }
  }
}

/// The condition on the nodes of a held sum; nodes_of(k) are those of its k-th vertex.
template <class NodesOf>
void append_condition(const HeldNow& held, NodesOf&& nodes_of, ConstraintRows& rows) {
  for (std::size_t k = 0; k < held.grip.rows.size(); ++k) {
    const PointNodes& at = nodes_of(k);
    for (std::size_t i = 0; i < at.at.size(); ++i)
      rows.add(at.at[i], held.grip.vertices[k].weights[0] * at.w[i] * held.axis);
  }
  rows.close(held.target);
}

/// What a handle gave by an impulse along the axis of a sum that moved so far in that direction over dt [m/s].
void add_impulse(const HeldNow& held, Real impulse, Real velocity, HandleImpulse& given) {
  const Reaction its = reaction_of(held.aim, impulse * held.axis, held.now, held.center);
  given.linear += its.force;
  given.angular += its.torque;
  given.work += impulse * velocity;
}

}  // namespace

void Handles::load(Real time) {
  pushes_.clear();
  for (std::size_t h = 0; h < scene_.handles.size(); ++h) {
    const GridHandle& handle = scene_.handles[h];
    if (!scene_.is_on_grid(handle)) continue;
    const MeshBody& body = *scene_.bodies[handle.body]->roles().mesh;
    const auto x = body.points().get<Position>();
    std::visit(Overloaded{[](const GridHandle::Hold&) {},
                          [&](const GridHandle::Dead& load) {
                            const Real factor = load.amplitude.at(time);
                            for (const Grip& grip : body.grips(handle.list))
                              pushes_.push_back({h, grip.rows.front(), factor * force_of(grip), {}});
                          },
                          [&](const GridHandle::Following& load) {
                            const Real factor = load.amplitude.at(time) * load.magnitude;
                            for (const Grip& grip : body.grips(handle.list)) {
                              const FollowerForces f =
                                  follower_forces(load.kind, factor * value_of(grip), grip.sum(x, 1), grip.sum(x, 2));
                              for (std::size_t k = 0; k < grip.rows.size(); ++k) {
                                const auto& [place, d1, d2] = grip.vertices[k].weights;
                                pushes_.push_back({h, grip.rows[k], place * f.place + d1 * f.a1 + d2 * f.a2, {}});
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
}

void Handles::count_loads(Real dt, std::span<HandleImpulse> impulses) const {
  const bool at_end = scene_.step.is_implicit;  // of the step
  for (const auto& [h, vertex, force, v_before] : pushes_) {
    const Table& points = std::as_const(*scene_.bodies[scene_.handles[h].body]).points();
    const Vec3 v = points.get<Velocity>()[vertex], before = points.get<Position>()[vertex] - dt * v;
    impulses[h].linear += dt * force;
    impulses[h].angular += dt * before.cross(force);
    impulses[h].work += dt * force.dot(at_end ? v : (v_before + v) / 2);
  }
}

void Handles::load_alone(Real time) {
  for (const auto& body : scene_.bodies)
    if (MeshBody* meshed = body->roles().mesh) {
      const auto f = meshed->points().get<ElementForce>();
      std::fill(f.begin(), f.end(), Vec3::Zero());
    }
  load(time);
}

void Handles::settle(const Cuts& cuts, Real time) {
  x_.clear();
  id_.clear();
  point_of_.clear();
  for (const GridHandle& handle : scene_.handles) {
    if (!scene_.is_on_grid(handle)) continue;
    const GridHandle::Hold* hold = handle.hold();
    if (hold == nullptr || !hold->holds_from(time)) continue;
    const MeshBody& body = *scene_.bodies[handle.body]->roles().mesh;
    const auto x = body.points().get<Position>();
    for (const Grip& grip : body.grips(handle.list))
      for (const std::int32_t row : grip.rows) {
        if (!point_of_.try_emplace({handle.body, row}, x_.size()).second) continue;
        id_.push_back(x_.size());
        x_.push_back(x[row]);
      }
  }
  bins_.sort(scene_.transfer.dx, x_, id_);
  std::vector<BlockKey> touched = touched_blocks(std::span(&bins_, 1));
  if (comm_.any(!has_map_ || touched != touched_ || !(cuts == cuts_))) {
    touched_ = std::move(touched);
    cuts_ = cuts;
    map_ = BlockMap(comm_, cuts_, touched_);
    has_map_ = true;
    number_points();
  }
  bins_.number(map_);
  nodes_of_.resize(x_.size());
  for_each_point(scene_.transfer, bins_, x_,
                 [&](std::uint32_t point, const PointNodes& nodes) { nodes_of_[point] = nodes; });
}

void Handles::number_points() {
  const Freedoms blocks({{"blocks", 1, &map_.forest()}});
  FreedomValues numbers(blocks);  // whole numbers below 2^53 travel exactly
  const std::int64_t first = comm_.offset(map_.owned());
  for (int b = 0; b < map_.owned(); ++b) numbers.all()[b] = static_cast<Real>(first + b);
  numbers.update_ghosts();
  block_number_.clear();
  for (const Real number : numbers.all()) block_number_.push_back(static_cast<std::int64_t>(number));
  slot_.assign(static_cast<std::size_t>(map_.owned()) * nodes_per_block, -1);
}

/// Finds what the nodes around do without handles, and how they give way.
void Handles::look_at_nodes(Real time, const BlockMap& map, Layer& layer) {
  const Real dx = scene_.transfer.dx;
  std::vector<RigidState> walls;
  for (const Wall& wall : scene_.walls) walls.push_back(wall.shape.at(time));
  const NodeField& inertia = layer.get<NodeInertia>();
  NodeField& velocity = layer.get<NodeVelocity>();
  nodes_.clear();
  conditions_.for_each_owned([&](std::size_t n) {
    const Vec3i index =
        map_.first_node(static_cast<int>(n / nodes_per_block)) + node_at_place(static_cast<int>(n % nodes_per_block));
    const int block = map.find(block_of_node(index)), place = NodeField::width * place_in_block(index);
    WEFT_ENSURE(0 <= block && block < map.owned());
    Node node{velocity.block(block) + place, Mat3::Zero()};
    const Real mass = inertia.block(block)[place];
    if (mass > 0)
      node.mobility =
          wall_projection(scene_.walls, walls, dx, index.cast<Real>() * dx, Eigen::Map<const Vec3>(node.velocity)) /
          mass;
    slot_[n] = static_cast<std::int32_t>(nodes_.size());
    nodes_.push_back(node);
  });
}

/// Changes the velocities of nodes so that held sums move to their targets; the impulses that did it.
std::vector<Real> Handles::meet(std::span<const Real> target, Real dt) {
  std::vector<Real> lambda(target.size(), 0.0);
  for (int pass = 0; pass < most_passes; ++pass) {
    std::vector<Real> change =
        conditions_.sums([&](std::size_t n) { return Vec3(Eigen::Map<const Vec3>(node(n).velocity)); });
    Real most = 0;
    for (std::size_t c = 0; c < change.size(); ++c) {
      change[c] = target[c] / dt - change[c];
      most = std::max(most, std::abs(change[c]));
    }
    if (dt * most <= tolerance * scene_.transfer.dx) break;
    const std::vector<Real> more = schur_.solve(change);
    conditions_.spread(more, [&](std::size_t n, const Vec3& impulse) {
      Eigen::Map<Vec3>(node(n).velocity) += node(n).mobility * impulse;
    });
    for (std::size_t c = 0; c < lambda.size(); ++c) lambda[c] += more[c];
  }
  return lambda;
}

void Handles::hold(Real dt, Real time, const BlockMap& map, Layer& layer, std::span<HandleImpulse> impulses) {
  std::fill(impulses.begin(), impulses.end(), HandleImpulse{});
  if (!has_map_) return;
  rows_.clear();
  for_each_held(scene_, time + dt, [&](const HeldNow& held) {
    const std::size_t body = scene_.handles[held.handle].body;
    append_condition(
        held, [&](std::size_t k) -> const PointNodes& { return nodes_of_[point_of_.at({body, held.grip.rows[k]})]; },
        rows_);
  });
  conditions_.take(rows_, {.first = nodes_per_block * comm_.offset(map_.owned()),
                           .owned = slot_.size(),
                           .of_freedom = [&](std::int32_t freedom) {
                             const auto block = static_cast<std::size_t>(freedom / NodeField::row);
                             return nodes_per_block * block_number_[block] +
                                    freedom % NodeField::row / NodeField::width;
                           }});
  if (!conditions_.any()) return;
  look_at_nodes(time + dt / 2, map, layer);
  schur_.factor([&](std::size_t n) { return node(n).mobility; });
  const std::vector<Real> lambda = meet(conditions_.gathered(rows_.target), dt);
  const std::span<const Real> own = conditions_.own(lambda);
  std::size_t c = 0;
  for_each_held(scene_, time + dt, [&](const HeldNow& held) {
    const Table& points = std::as_const(*scene_.bodies[scene_.handles[held.handle].body]).points();
    const auto velocities = points.get<Velocity>();
    const Real mean = (held.axis.dot(held.grip.sum(velocities)) + held.target / dt) / 2;
    add_impulse(held, own[c++], mean, impulses[held.handle]);
  });
}

// --- In implicit steps -----------------------------------------------------------------------------------------------

void GridHolds::append(Real time, ConstraintRows& rows) const {
  // The nodes of the vertices of bodies that are held.
  std::vector<std::vector<PointNodes>> nodes(scene_.bodies.size());
  for (const GridHandle& handle : scene_.handles) {
    if (!scene_.is_on_grid(handle)) continue;
    if (!handle.hold() || !nodes[handle.body].empty()) continue;
    const Table& points = scene_.bodies[handle.body]->points();
    nodes[handle.body].resize(points.rows());
    for_each_point(scene_.transfer, *vertices_[handle.body], points.get<Position>(),
                   [&](std::uint32_t row, const PointNodes& of_row) { nodes[handle.body][row] = of_row; });
  }
  for_each_held(scene_, time, [&](const HeldNow& held) {
    const std::vector<PointNodes>& of_body = nodes[scene_.handles[held.handle].body];
    append_condition(
        held, [&](std::size_t k) -> const PointNodes& { return of_body[static_cast<std::size_t>(held.grip.rows[k])]; },
        rows);
  });
}

void GridHolds::add_impulses(Real time, Real dt, std::span<const Real> of_conditions,
                             std::span<HandleImpulse> impulses) const {
  std::size_t c = 0;
  for_each_held(scene_, time, [&](const HeldNow& held) {
    add_impulse(held, of_conditions[c++], held.target / dt, impulses[held.handle]);
  });
}

}  // namespace weft
