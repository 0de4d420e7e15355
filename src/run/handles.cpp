#include "weft/run/handles.hpp"

#include "weft/transfer/pipe.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace weft {
namespace {

/// Places are held to this many grid spacings.
constexpr Real tolerance = 1e-12;
/// Places give way by this share of their own mobility, so that conditions which nearly depend on one another ask for
/// no violent motion of light nodes around them.
constexpr Real softness = 1e-4;
constexpr int most_iterations = 300;
/// Relative to times.
constexpr Real round_off = 1e-12;

Real dot(const Comm& comm, std::span<const Real> a, std::span<const Real> b) {
  return comm.sum(std::inner_product(a.begin(), a.end(), b.begin(), Real(0)));
}

Real largest(const Comm& comm, std::span<const Real> a) {
  Real most = 0;
  for (const Real v : a) most = std::max(most, std::abs(v));
  return comm.max(most);
}

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

}  // namespace

void Handles::load(Real time) {
  pushes_.clear();
  for (std::size_t h = 0; h < scene_.handles.size(); ++h) {
    const GridHandle& handle = scene_.handles[h];
    const auto& body = dynamic_cast<const MeshBody&>(*scene_.bodies[handle.body]);
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
  const bool at_end = scene_.deck.time.scheme == Scheme::implicit_euler;  // of the step
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
    if (auto* meshed = dynamic_cast<MeshBody*>(body.get())) {
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
    const GridHandle::Hold* hold = handle.hold();
    if (hold == nullptr || time >= hold->until) continue;
    const auto& body = dynamic_cast<const MeshBody&>(*scene_.bodies[handle.body]);
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
  bins_.sort(scene_.transfer.dx, x_, id_);
  std::vector<BlockKey> touched = touched_blocks(std::span(&bins_, 1));
  if (comm_.any(!has_map_ || touched != touched_ || !(cuts == cuts_))) {
    touched_ = std::move(touched);
    cuts_ = cuts;
    map_ = BlockMap(comm_, cuts_, touched_);
    has_map_ = true;
  }
  bins_.number(map_);
}

std::vector<Vec3> Handles::at_points(const NodeField& field) const {
  std::vector<Vec3> of_point(x_.size());
  gather(scene_.transfer, bins_, x_, field, [&](ChunkRows rows, const ChunkMotion& motion) {
    for (std::size_t k = 0; k < rows.size(); ++k) of_point[rows[k]] = motion.v[k];
  });
  return of_point;
}

std::vector<Real> Handles::along_axes(std::span<const Vec3> of_point) const {
  std::vector<Real> of_sum;
  for (const Held& held : held_) {
    Real& v = of_sum.emplace_back(0);
    for (const auto& [point, weight] : held.parts) v += weight * held.axis.dot(of_point[point]);
  }
  return of_sum;
}

/// Impulses along the axes of held sums to their change of velocity; `layer_.velocity` has that of nodes afterwards,
/// ghosts included.
void Handles::apply(std::span<const Real> impulse, std::span<Real> velocity_change) {
  std::vector<Vec3> of_point(x_.size(), Vec3::Zero());
  for (std::size_t c = 0; c < held_.size(); ++c)
    for (const auto& [point, weight] : held_[c].parts) of_point[point] += weight * impulse[c] * held_[c].axis;
  const std::vector<Vec3> none(x_.size(), Vec3::Zero());
  const std::vector<Mat3> no_gradient(x_.size(), Mat3::Zero());
  const std::vector<Real> no_mass(x_.size(), 0);
  layer_.reset(map_.size());
  TransferSettings settings = scene_.transfer;
  settings.rpic_damping = 0;
  scatter(
      settings, bins_, {x_, none, no_gradient, no_mass, of_point},
      [](ChunkRows, const ChunkForces& forces) {
        for (Mat3& A : forces.A) A.setZero();
      },
      1, layer_.inertia);
  map_.forest().sum_to_owners(layer_.inertia.view());
  for (int b = 0; b < map_.owned(); ++b)
    for (int place = 0; place < nodes_per_block; ++place) {
      const Real* momentum = layer_.inertia.block(b) + place * NodeField::width + 1;
      Real* velocity = layer_.velocity.block(b) + place * NodeField::width;
      Eigen::Map<Vec3> change(velocity);
      change = mobility_[static_cast<std::size_t>(b) * nodes_per_block + place] * Eigen::Map<const Vec3>(momentum);
      velocity[3] = 1;
    }
  map_.forest().update_ghosts(layer_.velocity.view());
  const std::vector<Real> v = along_axes(at_points(layer_.velocity));
  std::copy(v.begin(), v.end(), velocity_change.begin());
}

void Handles::hold(Real dt, Real time, const BlockMap& map, Layer& layer, std::span<HandleImpulse> impulses) {
  std::fill(impulses.begin(), impulses.end(), HandleImpulse{});
  if (!has_map_ || comm_.sum(static_cast<std::int64_t>(held_.size())) == 0) return;
  // The nodes around: what they do without handles, and how they give way.
  mobility_ = wall_projections(scene_.walls, time + dt / 2, scene_.transfer.dx, map_,
                               [&](const Vec3i& block) { return layer.velocity.block(map.find(block)); });
  layer_.reset(map_.size());
  for (int b = 0; b < map_.owned(); ++b) {
    const int whole = map.find(map_.block(b));
    WEFT_ENSURE(0 <= whole && whole < map.owned());
    std::copy_n(layer.velocity.block(whole), NodeField::row, layer_.velocity.block(b));
    for (int place = 0; place < nodes_per_block; ++place) {
      const Real mass = layer.inertia.block(whole)[place * NodeField::width];
      Mat3& mobility = mobility_[static_cast<std::size_t>(b) * nodes_per_block + place];
      mobility *= mass > 0 ? 1 / mass : 0;
      Eigen::Map<Vec3> diagonal(layer_.inertia.block(b) + place * NodeField::width);
      diagonal = mobility.diagonal();
    }
  }
  map_.forest().update_ghosts(layer_.velocity.view());
  map_.forest().update_ghosts(layer_.inertia.view());

  std::vector<RigidState> states;
  for (const GridHandle& handle : scene_.handles)
    states.push_back(handle.hold() ? handle.hold()->motion.at(time + dt) : RigidState{});
  for (Held& held : held_) held.axis = states[held.handle].rotation * held.aim.axis;
  // Conjugate gradients.
  const std::size_t count = held_.size();
  const std::vector<Vec3> ease = at_points(layer_.inertia);
  std::vector<Real> r = along_axes(at_points(layer_.velocity)), wanted(count), mobility(count, 0), z(count), S_p(count),
                    lambda(count, 0);
  for (std::size_t c = 0; c < count; ++c) {
    const Held& held = held_[c];
    wanted[c] = held.axis.dot(held.aim.goal(states[held.handle]) - held.x) / dt;
    r[c] = wanted[c] - r[c];
    // About how easily a sum is moved: the mean of P / m around its points. What walls hold fast stays.
    for (const auto& [point, weight] : held.parts)
      mobility[c] += std::abs(weight) * held.axis.dot(ease[point].cwiseProduct(held.axis));
  }
  const auto precondition = [&] {
    for (std::size_t c = 0; c < count; ++c) z[c] = mobility[c] > 0 ? r[c] / mobility[c] : 0;
  };
  precondition();
  std::vector<Real> p = z;
  Real r_z = dot(comm_, r, z);
  for (int k = 0; k < most_iterations && largest(comm_, r) * dt > tolerance * scene_.transfer.dx; ++k) {
    apply(p, S_p);
    for (std::size_t c = 0; c < count; ++c) S_p[c] += softness * mobility[c] * p[c];
    const Real p_S_p = dot(comm_, p, S_p);
    if (!(p_S_p > 0)) break;  // walls allow no more
    const Real step = r_z / p_S_p;
    for (std::size_t c = 0; c < count; ++c) {
      lambda[c] += step * p[c];
      r[c] -= step * S_p[c];
    }
    precondition();
    const Real before = r_z;
    r_z = dot(comm_, r, z);
    for (std::size_t c = 0; c < count; ++c) p[c] = z[c] + r_z / before * p[c];
  }
  apply(lambda, S_p);
  for (int b = 0; b < map_.owned(); ++b) {
    Real* velocity = layer.velocity.block(map.find(map_.block(b)));
    for (int place = 0; place < nodes_per_block; ++place)
      Eigen::Map<Vec3>(velocity + place * NodeField::width) +=
          Eigen::Map<const Vec3>(layer_.velocity.block(b) + place * NodeField::width);
  }
  for (std::size_t c = 0; c < count; ++c) {
    const Held& held = held_[c];
    HandleImpulse& given = impulses[held.handle];
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
    const GridHandle::Hold* hold = handle.hold();
    if (hold == nullptr || time > (1 + round_off) * hold->until) continue;
    const auto& body = dynamic_cast<const MeshBody&>(*scene_.bodies[handle.body]);
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
    if (!handle.hold() || !nodes[handle.body].empty()) continue;
    const Table& points = scene_.bodies[handle.body]->points();
    nodes[handle.body].resize(points.rows());
    for_each_point(scene_.transfer, *vertices_[handle.body], points.get<Position>(),
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
}

void GridHolds::add_impulses(Real time, Real dt, std::span<const Real> of_conditions,
                             std::span<HandleImpulse> impulses) const {
  std::size_t c = 0;
  for_each_sum(time, [&](const Held& held) {
    HandleImpulse& given = impulses[held.handle];
    const Vec3 impulse = of_conditions[c] * held.axis;
    given.linear += held.aim.total * impulse;
    given.angular += (held.now - held.aim.total * held.state.center).cross(impulse);
    given.work += of_conditions[c] * held.target() / dt;
    ++c;
  });
}

}  // namespace weft
