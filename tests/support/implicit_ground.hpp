#pragma once
// Nodes on a few blocks and springs between each and where it stands: implicit steps with known solutions.

#include "weft/base/random.hpp"
#include "weft/geometry/primitives.hpp"
#include "weft/motion/term.hpp"
#include "weft/parallel/curve.hpp"
#include "weft/solve/implicit.hpp"

#include <algorithm>

namespace weft::test {

constexpr Real ground_dx = 0.1;

/// A cube of blocks about the origin, spread over the ranks, each of which holds all that it does not own as ghosts.
/// One node in four is empty.
struct ImplicitGround {
  BlockMap map;
  Layer layer;

  ImplicitGround() {
    const Comm comm = Comm::world();
    std::vector<BlockWork> work;
    std::vector<BlockKey> touched;
    for (int x = -1; x < 1; ++x)
      for (int y = -1; y < 1; ++y)
        for (int z = -1; z < 1; ++z) touched.push_back(key_of({x, y, z}));
    std::sort(touched.begin(), touched.end());
    for (const BlockKey key : touched)
      if (comm.is_root()) work.push_back({key, 1});
    map = BlockMap(comm, balanced_cuts(comm, work), touched);
    layer.reset(map.size());
    for_each_node([&](std::size_t, const Vec3i& node, Real* inertia, Real*) {
      Random r = random(node);
      inertia[0] = r.uniform() < 0.25 ? 0 : std::pow(10, -3 * r.uniform());
      Vec3::Map(inertia + 1) = inertia[0] * (2 * r.uniform3() - Vec3::Ones());
    });
  }

  static Random random(const Vec3i& node) {
    return {6, 0, static_cast<std::uint64_t>(((node.x() + 64) * 128 + node.y() + 64) * 128 + node.z() + 64)};
  }
  static Vec3 place(const Vec3i& node) { return node.cast<Real>() * ground_dx; }
  static ImplicitStep step(Real dt) {
    return {.dt = dt, .time = 0, .dx = ground_dx, .gravity = {0.5, -9.81, 2}, .wave_speed = 10};
  }

  /// Calls visit(number, node, inertia, velocity) for the nodes that this rank owns.
  template <class Visit>
  void for_each_node(Visit&& visit) {
    for (int b = 0; b < map.owned(); ++b)
      for (int place = 0; place < nodes_per_block; ++place)
        visit(static_cast<std::size_t>(b) * nodes_per_block + static_cast<std::size_t>(place),
              Vec3i(map.first_node(b) + node_at_place(place)),
              layer.get<NodeInertia>().block(b) + place * NodeField::width,
              layer.get<NodeVelocity>().block(b) + place * NodeField::width);
  }
};

/// m (stiffness u . K u / 2 + hardening |u|^4 / 4) at each node, K symmetric with eigenvalues from 1 to 3, m its mass.
class Anchors final : public Term {
 public:
  Anchors(ImplicitGround& ground, Real stiffness, Real hardening = 0) : stiffness_(stiffness), hardening_(hardening) {
    ground.for_each_node([&](std::size_t n, const Vec3i& node, const Real* inertia, const Real*) {
      Random r = ImplicitGround::random(node + Vec3i(0, 0, 17));
      const Vec3 e = (2 * r.uniform3() - Vec3::Ones()).normalized();
      nodes_.push_back({n, inertia[0], Mat3::Identity() + 2 * e * e.transpose()});
    });
  }

  Mat3 K(std::size_t n) const { return stiffness_ * nodes_[n].mass * nodes_[n].K; }

  Real energy(const Motion& motion) const override {
    Real sum = 0;
    for (const Node& node : nodes_) {
      const Vec3 u = at(motion.u, node);
      sum += node.mass * (0.5 * stiffness_ * u.dot(node.K * u) + 0.25 * hardening_ * std::pow(u.squaredNorm(), 2));
    }
    return sum;
  }
  void add_force(const Motion& motion, Load& force) const override {
    for (const Node& node : nodes_) {
      const Vec3 u = at(motion.u, node);
      Vec3::Map(force.all().data() + NodeField::width * node.n) -=
          node.mass * (stiffness_ * node.K * u + hardening_ * u.squaredNorm() * u);
    }
  }
  struct Slopes final : Linear {
    std::vector<Mat3> at;
  };
  std::unique_ptr<Linear> linearise(const Motion& motion) const override {
    auto slopes = std::make_unique<Slopes>();
    for (const Node& node : nodes_) {
      const Vec3 u = at(motion.u, node);
      slopes->at.push_back(node.mass * (stiffness_ * node.K +
                                        hardening_ * (u.squaredNorm() * Mat3::Identity() + 2 * u * u.transpose())));
    }
    return slopes;
  }
  void add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const override {
    for (const Node& node : nodes_)
      Vec3::Map(change.all().data() + NodeField::width * node.n) -= of(linear, node) * at(du, node);
  }
  void add_tangent(const Linear& linear, Tangent& tangent) const override {
    for (const Node& node : nodes_) {
      const auto first = static_cast<std::int32_t>(NodeField::width * node.n);
      const Mat3& K = of(linear, node);
      tangent.add(std::array{first, first + 1, first + 2}, {K.data(), 9});
    }
  }
  void add_diagonal_blocks(const Linear& linear, std::size_t, std::span<Real> matrices) const override {
    for (const Node& node : nodes_) Mat3::Map(matrices.data() + 9 * node.n) += of(linear, node);
  }

 private:
  struct Node {
    std::size_t n;
    Real mass;
    Mat3 K;
  };
  static Vec3 at(const FreedomValues& u, const Node& node) {
    return Vec3::Map(u.all().data() + NodeField::width * node.n);
  }
  static const Mat3& of(const Linear& linear, const Node& node) {
    return static_cast<const Slopes&>(linear).at[node.n];
  }

  const Real stiffness_, hardening_;
  std::vector<Node> nodes_;
};

/// A slope with friction below, a ball that turns and moves and lets nothing slip, and a plane without friction.
inline std::vector<Wall> three_walls() {
  std::vector<Wall> walls;
  const auto add = [&](std::unique_ptr<Shape> shape, const RigidMotion& motion, WallCondition condition,
                       Real friction) {
    walls.push_back({"wall", MovingShape(std::move(shape), motion), condition, friction});
  };
  add(make_half_space({0, -0.15, 0}, {0, 1, 0.3}), {}, WallCondition::separate, 0.3);
  add(make_sphere({0.2, 0.2, 0.2}, 0.17), RigidMotion::steady({-1, 0, 0}, {0, 0, 2}, {0.2, 0.2, 0.2}),
      WallCondition::sticky, 0);
  add(make_half_space({-0.25, 0, 0}, {1, 0, 0}), {}, WallCondition::slip, 0);
  return walls;
}

}  // namespace weft::test
