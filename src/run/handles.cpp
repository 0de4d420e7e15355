#include "weft/run/handles.hpp"

#include "weft/bodies/continuum.hpp"
#include "weft/transfer/pipe.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace weft {
namespace {

/// Nodes meet conditions to this many grid spacings, all together (root of the sum of squares), but for what gives way;
/// so closely that numbers of ranks agree. Vertices then meet them exactly (HeldVertices).
constexpr Real tolerance = 1e-12;
/// Places give way by this share of their own mobility, so that conditions which nearly depend on one another ask for
/// no violent motion of light nodes around them.
constexpr Real softness = 1e-4;
constexpr int most_iterations = 300;

Real dot(std::span<const Real> a, std::span<const Real> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), Real(0));
}

using Vec4 = Eigen::Matrix<Real, NodeField::width, 1>;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

}  // namespace

bool Handles::any() const {
  return std::ranges::any_of(scene_.handles, [&](const GridHandle& h) { return scene_.is_on_layer(h, layer_); });
}

void Handles::load(Real time) {
  pushes_.clear();
  for (std::size_t h = 0; h < scene_.handles.size(); ++h) {
    const GridHandle& handle = scene_.handles[h];
    if (!scene_.is_on_layer(handle, layer_) || scene_.mesh_of(handle) == nullptr) continue;
    const MeshBody& body = *scene_.mesh_of(handle);
    const auto x = body.points().get<Position>();
    std::visit(Overloaded{[](const GridHandle::Hold&) {}, [](const GridHandle::OnPoints&) {},
                          [&](const GridHandle::Dead& load) {
                            const Real factor = load.amplitude.at(time);
                            for (const Grip& grip : body.grips(handle.list)) {
                              const std::int32_t row = grip.rows.front();
                              pushes_.push_back({h, row, body.share_of_vertex(row) * factor * force_of(grip), {}});
                            }
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
  load_points(time);
}

/// Of points that share a total the number is counted anew, so that it stays whole when points leave the bounds.
void Handles::load_points(Real time) {
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
    const Real factor = load->amplitude.at(time);
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
  for (const auto& [h, vertex, force, v_before] : pushes_) {
    const Table& points = std::as_const(*scene_.bodies[scene_.handles[h].body]).points();
    const Vec3 v = points.get<Velocity>()[vertex], before = points.get<Position>()[vertex] - dt * v;
    impulses[h].add(dt * force, before, at_end ? v : Vec3((v_before + v) / 2));
  }
  for (const PointLoad& load : point_loads_) count_point_load(load, dt, impulses[load.handle]);
}

void Handles::load_alone(Real time) {
  for (std::size_t b = 0; b < scene_.bodies.size(); ++b)
    if (MeshBody* meshed = scene_.bodies[b]->roles().mesh; meshed != nullptr && scene_.on_layer[b] == layer_) {
      const auto f = meshed->points().get<ElementForce>();
      std::fill(f.begin(), f.end(), Vec3::Zero());
    }
  load(time);
}

void Handles::settle(const Cuts& cuts, Real time) {
  held_.clear();
  x_.clear();
  id_.clear();
  std::map<std::pair<std::size_t, std::int32_t>, std::uint32_t> point_of;  // of body and row
  for (std::size_t h = 0; h < scene_.handles.size(); ++h) {
    const GridHandle& handle = scene_.handles[h];
    if (!scene_.is_on_layer(handle, layer_) || scene_.mesh_of(handle) == nullptr) continue;
    const GridHandle::Hold* hold = handle.hold();
    if (hold == nullptr || !hold->holds_from(time)) continue;
    const MeshBody& body = *scene_.mesh_of(handle);
    const auto x = body.points().get<Position>(), v = body.points().get<Velocity>();
    for (const Grip& grip : body.grips(handle.list)) {
      const HeldAim aim = aim_of(grip);
      Held held{h, aim, {}, grip.sum(x), grip.sum(v), aim.axis};
      for (std::size_t k = 0; k < grip.rows.size(); ++k) {
        const auto [known, is_new] =
            point_of.try_emplace({handle.body, grip.rows[k]}, static_cast<std::uint32_t>(x_.size()));
        if (is_new) {
          id_.push_back(x_.size());
          x_.push_back(x[grip.rows[k]]);
        }
        held.parts.emplace_back(known->second, grip.vertices[k].weights[0]);
      }
      held_.push_back(std::move(held));
    }
  }
  bins_.sort(scene_.dx, x_, id_);
  std::vector<BlockKey> touched = touched_blocks(std::span(&bins_, 1));
  if (comm_.any(!has_map_ || touched != touched_ || !(cuts == cuts_))) {
    touched_ = std::move(touched);
    cuts_ = cuts;
    map_ = BlockMap(comm_, cuts_, touched_);
    has_map_ = true;
  }
  bins_.number(map_);

  std::vector<Eigen::Triplet<Real>> entries;
  of_node_.reset(map_.size());
  for_each_point(scene_.layers[layer_].transfer, bins_, x_, [&](std::uint32_t point, const PointNodes& nodes) {
    for (std::size_t i = 0; i < nodes.at.size(); ++i) {
      entries.emplace_back(static_cast<int>(point), nodes.at[i] / NodeField::width, nodes.w[i]);
      of_node_.block(0)[nodes.at[i]] = 1;
    }
  });
  weights_.resize(static_cast<int>(x_.size()), map_.size() * nodes_per_block);
  weights_.setFromTriplets(entries.begin(), entries.end());
  spread_ = weights_.transpose();
  map_.forest().sum_to_owners(of_node_.view());
  nodes_.clear();
  for (int b = 0; b < map_.owned(); ++b)
    for (int place = 0; place < nodes_per_block; ++place)
      if (Real* const row = of_node_.block(b) + place * NodeField::width; *row > 0)
        nodes_.push_back({map_.first_node(b) + node_at_place(place), row, {}, {}});
}

/// to = weights * from, for rows of four numbers. Each is summed in the order of its row, whatever the threads; rows
/// without weights stay as they are.
void Handles::multiply(const Weights& weights, const Real* from, Real* to) {
#pragma omp parallel for schedule(static)
  for (int row = 0; row < weights.outerSize(); ++row) {
    Weights::InnerIterator entry(weights, row);
    if (!entry) continue;
    Vec4 sum = Vec4::Zero();
    for (; entry; ++entry) sum += entry.value() * Eigen::Map<const Vec4>(from + NodeField::width * entry.col());
    Eigen::Map<Vec4>(to + NodeField::width * row) = sum;
  }
}

void Handles::gather_at_points() {
  map_.forest().update_ghosts(of_node_.view());
  of_point_.resize(weights_.rows(), NodeField::width);
  multiply(weights_, of_node_.block(0), of_point_.data());
}

void Handles::sum_along_axes(std::span<Real> of_sum) const {
  for (std::size_t c = 0; c < held_.size(); ++c) {
    of_sum[c] = 0;
    for (const auto& [point, weight] : held_[c].parts)
      of_sum[c] += weight * held_[c].axis.dot(of_point_.row(point).head<3>());
  }
}

/// Impulses along the axes of held sums to their change of velocity; `of_node_` has that of nodes afterwards.
void Handles::apply(std::span<const Real> impulse, std::span<Real> velocity_change) {
  of_point_.setZero(weights_.rows(), NodeField::width);
  for (std::size_t c = 0; c < held_.size(); ++c)
    for (const auto& [point, weight] : held_[c].parts)
      of_point_.row(point).head<3>() += weight * impulse[c] * held_[c].axis.transpose();
  for (const Node& node : nodes_) node.now().setZero();  // other ranks may be all that pulls at it
  std::fill(of_node_.block(map_.owned()), of_node_.block(map_.size()), Real(0));
  multiply(spread_, of_point_.data(), of_node_.block(0));
  map_.forest().sum_to_owners(of_node_.view());
  const auto count = static_cast<std::ptrdiff_t>(nodes_.size());
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t i = 0; i < count; ++i) nodes_[i].now() = nodes_[i].mobility * nodes_[i].now();
  gather_at_points();
  sum_along_axes(velocity_change);
}

/// Led nodes go where their handle goes, whatever walls and other handles say. The work is that of the mean velocity
/// before and after.
void Handles::lead_nodes(Real dt, Real time, const BlockMap& map, Layer& layer, std::span<Impulse> impulses) {
  const Real* const inertia = layer.get<NodeInertia>().block(0);
  Real* const velocity = layer.get<NodeVelocity>().block(0);
  for (const LedNode& node : led_nodes_.find(map, time)) {
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

/// Finds what the nodes around do without handles, and how they give way.
void Handles::look_at_nodes(Real time, const BlockMap& map, Layer& layer) {
  const Real dx = scene_.dx;
  std::vector<RigidState> walls;
  for (const Wall& wall : scene_.walls) walls.push_back(wall.shape.at(time));
  const NodeField& inertia = layer.get<NodeInertia>();
  NodeField& velocity = layer.get<NodeVelocity>();
  for (Node& node : nodes_) {
    const int block = map.find(block_of_node(node.index)), place = NodeField::width * place_in_block(node.index);
    WEFT_ENSURE(0 <= block && block < map.owned());
    node.velocity = velocity.block(block) + place;
    const Real mass = inertia.block(block)[place];
    const Eigen::Map<const Vec3> v(node.velocity);
    node.mobility.setZero();
    if (mass > 0) node.mobility = wall_projection(scene_.walls, walls, dx, node.index.cast<Real>() * dx, v) / mass;
    node.now() = v;
  }
}

/// The impulses lambda with W P M^-1 P W^T lambda = change, to a root of the sum of squares. Collective.
std::vector<Real> Handles::solve(std::span<const Real> change, Real tolerance) {
  const std::size_t count = held_.size();
  // About how easily a sum is moved: the mean of P / m around its points. What walls hold fast stays.
  for (const Node& node : nodes_) node.now() = node.mobility.diagonal();
  gather_at_points();
  std::vector<Real> mobility(count, 0);
  for (std::size_t c = 0; c < count; ++c)
    for (const auto& [point, weight] : held_[c].parts)
      mobility[c] += std::abs(weight) * of_point_.row(point).head<3>().dot(held_[c].axis.cwiseAbs2());

  std::vector<Real> r(change.begin(), change.end()), z(count), S_p(count), lambda(count, 0);
  Real r_z = 0, r_r = 0;
  const auto precondition = [&] {
    for (std::size_t c = 0; c < count; ++c) z[c] = mobility[c] > 0 ? r[c] / mobility[c] : 0;
    std::array<Real, 2> products{dot(r, z), dot(r, r)};
    comm_.sum(products);
    r_z = products[0], r_r = products[1];
  };
  precondition();
  std::vector<Real> p = z;
  for (int k = 0; k < most_iterations && !(std::sqrt(r_r) <= tolerance); ++k) {
    apply(p, S_p);
    for (std::size_t c = 0; c < count; ++c) S_p[c] += softness * mobility[c] * p[c];
    const Real p_S_p = comm_.sum(dot(p, S_p));
    if (!(p_S_p > 0)) break;  // walls allow no more
    const Real step = r_z / p_S_p, r_z_before = r_z;
    for (std::size_t c = 0; c < count; ++c) {
      lambda[c] += step * p[c];
      r[c] -= step * S_p[c];
    }
    precondition();
    for (std::size_t c = 0; c < count; ++c) p[c] = z[c] + r_z / r_z_before * p[c];
  }
  return lambda;
}

void Handles::hold(Real dt, Real time, const BlockMap& map, Layer& layer, std::span<Impulse> impulses) {
  hold_sums(dt, time, map, layer, impulses);
  lead_nodes(dt, time, map, layer, impulses);
}

void Handles::hold_sums(Real dt, Real time, const BlockMap& map, Layer& layer, std::span<Impulse> impulses) {
  const std::size_t count = held_.size();
  if (!has_map_ || comm_.sum(static_cast<std::int64_t>(count)) == 0) return;
  std::vector<RigidState> states;
  for (const GridHandle& handle : scene_.handles)
    states.push_back(handle.hold() ? handle.hold()->motion.at(time + dt) : RigidState{});
  for (Held& held : held_) held.axis = states[held.handle].rotation * held.aim.axis;

  look_at_nodes(time + dt / 2, map, layer);
  std::vector<Real> wanted(count), change(count);
  gather_at_points();
  sum_along_axes(change);
  for (std::size_t c = 0; c < count; ++c) {
    wanted[c] = held_[c].axis.dot(held_[c].aim.goal(states[held_[c].handle]) - held_[c].x) / dt;
    change[c] = wanted[c] - change[c];
  }
  const std::vector<Real> lambda = solve(change, tolerance * scene_.dx / dt);
  apply(lambda, change);
  for (const Node& node : nodes_) Eigen::Map<Vec3>(node.velocity) += node.now();

  for (std::size_t c = 0; c < count; ++c) {
    const Held& held = held_[c];
    Impulse& given = impulses[held.handle];
    const Vec3 impulse = lambda[c] * held.axis;
    given.linear += held.aim.total * impulse;
    given.angular += (held.x - held.aim.total * states[held.handle].center).cross(impulse);
    given.work += lambda[c] * (held.axis.dot(held.v) + wanted[c]) / 2;
  }
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
      visit(Held{h, grip, aim, state, state.rotation * aim.axis, grip.sum(x)});
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
    rows.close(held.target());
  });
  for (const auto& [node, led, center] : led_) {
    rows.add(node.at, led.axis);
    rows.close(dt_ * led.velocity_at(node.x));
  }
}

void GridHolds::begin_step(const BlockMap& map, Real time, Real dt) {
  dt_ = dt;
  led_.clear();
  for (const LedNode& node : led_nodes_.find(map, time)) {
    const GridHandle::Hold& hold = *scene_.handles[node.handle].hold();
    const Vec3 center = hold.motion.at(time + dt).center;
    for (const LedAxis& axis : led_axes(hold, time, dt)) led_.push_back({node, axis, center});
  }
}

void GridHolds::add_impulses(Real time, Real dt, std::span<const Real> of_conditions,
                             std::span<Impulse> impulses) const {
  std::size_t c = 0;
  for_each_sum(time, [&](const Held& held) {
    Impulse& given = impulses[held.handle];
    const Vec3 impulse = of_conditions[c] * held.axis;
    given.linear += held.aim.total * impulse;
    given.angular += (held.now - held.aim.total * held.state.center).cross(impulse);
    given.work += of_conditions[c] * held.target() / dt;
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
