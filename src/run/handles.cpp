#include "weft/run/handles.hpp"

#include "weft/bodies/mesh_body.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft {
namespace {

/// Places are held to this many grid spacings.
constexpr Real tolerance = 1e-12;
/// Places give way by this share of their own mobility, so that conditions which nearly depend on one another ask for no
/// violent motion of light nodes around them.
constexpr Real softness = 1e-4;
constexpr int most_iterations = 300;

Real dot(const Comm& comm, std::span<const Vec3> a, std::span<const Vec3> b) {
  Real sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k].dot(b[k]);
  return comm.sum(sum);
}

Real largest(const Comm& comm, std::span<const Vec3> a) {
  Real most = 0;
  for (const Vec3& v : a) most = std::max(most, v.norm());
  return comm.max(most);
}

}  // namespace

void Handles::load(Real time) const {
  for (const GridHandle& handle : scene_.handles) {
    if (!handle.force) continue;
    auto& body = dynamic_cast<MeshBody&>(*scene_.bodies[handle.body]);
    const auto f = body.points().get<ElementForce>();
    const Vec3 part = handle.force->amplitude.at(time) / static_cast<Real>(handle.count) * handle.force->total;
    for (const Stencil& stencil : body.watched(handle.sites))
      for (std::size_t k = 0; k < stencil.rows.size(); ++k) f[stencil.rows[k]] += stencil.weights[k] * part;
  }
}

void Handles::settle(const Cuts& cuts) {
  held_.clear();
  x_.clear();
  id_.clear();
  for (std::size_t h = 0; h < scene_.handles.size(); ++h) {
    const GridHandle& handle = scene_.handles[h];
    if (!handle.hold) continue;
    const auto& body = dynamic_cast<const MeshBody&>(*scene_.bodies[handle.body]);
    const auto x = body.points().get<Position>();
    for (const Stencil& stencil : body.watched(handle.sites)) {
      Held held{h, Mat3::Zero(), {}, Vec3::Zero(), stencil.of(x)};
      for (std::size_t k = 0; k < stencil.rows.size(); ++k) {
        const std::int32_t row = stencil.rows[k];
        held.rest += stencil.weights[k] * body.mesh().x[body.piece().points[row]];
        held.parts.emplace_back(static_cast<std::uint32_t>(x_.size()), stencil.weights[k]);
        id_.push_back(x_.size());
        x_.push_back(x[row]);
      }
      held_.push_back(std::move(held));
    }
  }
  bins_.sort(scene_.transfer.kernel, scene_.transfer.dx, x_, id_);
  std::vector<BlockKey> touched = touched_blocks(std::span(&bins_, 1));
  if (comm_.any(!has_map_ || touched != touched_ || !(cuts == cuts_))) {
    touched_ = std::move(touched);
    cuts_ = cuts;
    map_ = BlockMap(comm_, cuts_, touched_);
    has_map_ = true;
  }
  bins_.number(map_);
}

std::vector<Vec3> Handles::at_places(const NodeField& field) const {
  std::vector<Vec3> of_point(x_.size()), of_place;
  gather(scene_.transfer, bins_, x_, field, [&](ChunkRows rows, const ChunkMotion& motion) {
    for (std::size_t k = 0; k < rows.size(); ++k) of_point[rows[k]] = motion.v[k];
  });
  for (const Held& held : held_) {
    Vec3& v = of_place.emplace_back(Vec3::Zero());
    for (const auto& [point, weight] : held.parts) v += weight * of_point[point];
  }
  return of_place;
}

/// Impulses on held places to the change of velocity of nodes; `layer_.velocity` afterwards, ghosts included.
void Handles::apply(std::span<const Vec3> impulse, std::span<Vec3> velocity_change) {
  std::vector<Vec3> of_point(x_.size(), Vec3::Zero());
  for (std::size_t c = 0; c < held_.size(); ++c)
    for (const auto& [point, weight] : held_[c].parts) of_point[point] += weight * impulse[c];
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
  const std::vector<Vec3> v = at_places(layer_.velocity);
  for (std::size_t c = 0; c < held_.size(); ++c) velocity_change[c] = held_[c].axes * v[c];
}

void Handles::hold(Real dt, Real time, const BlockMap& map, Layer& layer, std::span<HandleImpulse> impulses) {
  std::fill(impulses.begin(), impulses.end(), HandleImpulse{});
  if (!has_map_ || comm_.sum(static_cast<std::int64_t>(held_.size())) == 0) return;
  // The nodes around: what they do without handles, and how they give way.
  mobility_ = wall_projections(scene_.walls, time, scene_.transfer.dx, map_,
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
    states.push_back(handle.hold ? handle.hold->motion.at(time + dt) : RigidState{});
  for (Held& held : held_) {
    held.axes.setZero();
    for (int a = 0; a < 3; ++a)
      if (scene_.handles[held.handle].hold->axes[a]) {
        const Vec3 axis = states[held.handle].rotation.col(a);
        held.axes += axis * axis.transpose();
      }
  }
  // Conjugate gradients.
  const std::size_t count = held_.size();
  std::vector<Vec3> r = at_places(layer_.velocity), ease = at_places(layer_.inertia), z(count), S_p(count),
                    lambda(count, Vec3::Zero());
  const auto precondition = [&] {
    for (std::size_t c = 0; c < count; ++c) z[c] = held_[c].axes * ease[c].cwiseProduct(r[c]);
  };
  for (std::size_t c = 0; c < count; ++c) {
    r[c] = held_[c].axes * ((states[held_[c].handle].to_world(held_[c].rest) - held_[c].x) / dt - r[c]);
    // About how easily a place is moved: the mean of P / m around it. What walls hold fast stays.
    ease[c] = (ease[c].array() > 0).select(ease[c].cwiseInverse(), 0);
  }
  std::vector<Vec3> inverse(count);
  for (std::size_t c = 0; c < count; ++c) inverse[c] = (ease[c].array() > 0).select(ease[c].cwiseInverse(), 0);
  precondition();
  std::vector<Vec3> p = z;
  Real r_z = dot(comm_, r, z);
  for (int k = 0; k < most_iterations && largest(comm_, r) * dt > tolerance * scene_.transfer.dx; ++k) {
    apply(p, S_p);
    for (std::size_t c = 0; c < count; ++c) S_p[c] += softness * held_[c].axes * inverse[c].cwiseProduct(p[c]);
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
    HandleImpulse& sum = impulses[held_[c].handle];
    sum.linear += lambda[c];
    sum.angular += (held_[c].x - states[held_[c].handle].center).cross(lambda[c]);
  }
}

}  // namespace weft
