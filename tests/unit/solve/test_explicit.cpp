// The explicit grid step: free fall, the momentum books, light nodes, and what it reports.

#include "weft/solve/explicit.hpp"

#include "weft/base/random.hpp"
#include "weft/geometry/primitives.hpp"
#include "weft/parallel/curve.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace weft {
namespace {

constexpr Real dx = 0.1;
const Vec3 gravity(0.5, -9.81, 2);

ExplicitStep step_of(Real dt) {
  return {.dt = dt, .dt_before = dt, .time = 0, .dx = dx, .gravity = gravity, .light_mass = 0, .light_speed = 0};
}

/// A cube of blocks around the origin, spread over the ranks, each of which holds all that it does not own as ghosts.
/// Masses and momenta are functions of the node, given to the owners.
struct Ground {
  BlockMap map;
  Layer layer;

  Ground() {
    const Comm comm = Comm::world();
    std::vector<BlockWork> work;
    std::vector<BlockKey> touched;
    for (int x = -1; x < 2; ++x)
      for (int y = -1; y < 2; ++y)
        for (int z = -1; z < 2; ++z) touched.push_back(key_of({x, y, z}));
    std::sort(touched.begin(), touched.end());
    for (const BlockKey key : touched)
      if (comm.is_root()) work.push_back({key, 1});
    map = BlockMap(comm, balanced_cuts(comm, work), touched);
    layer.reset(map.size());
    for_each_node([&](const Vec3i& node, Real* inertia, Real*) {
      inertia[0] = mass(node);
      Vec3::Map(inertia + 1) = momentum(node);
    });
  }

  static Random random(const Vec3i& node) {
    return {6, 0, static_cast<std::uint64_t>(((node.x() + 64) * 128 + node.y() + 64) * 128 + node.z() + 64)};
  }
  /// One node in four is empty; the others weigh between 1e-9 and 1.
  static Real mass(const Vec3i& node) {
    Random r = random(node);
    return r.uniform() < 0.25 ? 0 : std::pow(10, -9 * r.uniform());
  }
  static Vec3 velocity(const Vec3i& node) {
    Random r = random(node);
    r.uniform3();
    return 2 * r.uniform3() - Vec3::Ones();
  }
  static Vec3 momentum(const Vec3i& node) { return mass(node) * velocity(node); }

  /// Calls visit(node, inertia, velocity) for the nodes that this rank owns.
  template <class Visit>
  void for_each_node(Visit&& visit) {
    for (int b = 0; b < map.owned(); ++b)
      for (int place = 0; place < nodes_per_block; ++place)
        visit(Vec3i(map.first_node(b) + node_at_place(place)),
              layer.get<NodeInertia>().block(b) + place * NodeField::width,
              layer.get<NodeVelocity>().block(b) + place * NodeField::width);
  }

  Vec3 total_momentum() {
    Vec3 sum = Vec3::Zero();
    for_each_node([&](const Vec3i&, const Real* m, const Real* v) { sum += *m * Vec3::Map(v); });
    Comm::world().sum(std::span(sum.data(), 3));
    return sum;
  }
};

Wall wall_of(std::unique_ptr<Shape> shape, const RigidMotion& motion, WallCondition condition, Real friction) {
  return {"wall", MovingShape(std::move(shape), motion), condition, friction};
}
std::vector<Wall> two_walls() {
  std::vector<Wall> walls;
  walls.push_back(wall_of(make_half_space({0, -0.15, 0}, {0, 1, 0.3}), {}, WallCondition::separate, 0.3));
  walls.push_back(wall_of(make_sphere({0.4, 0.4, 0.4}, 0.33),
                          RigidMotion::steady({-1, 0, 0}, {0, 0, 2}, {0.4, 0.4, 0.4}), WallCondition::sticky, 0));
  return walls;
}

TEST(ExplicitTest, NodesFallWithGravityAndEmptyNodesStay) {
  Ground ground;
  const Real dt = 0.01;
  advance_explicit(step_of(dt), ground.map, {}, ground.layer, {});
  ground.for_each_node([&](const Vec3i& node, const Real*, const Real* v) {
    const Vec3 expected = Ground::mass(node) > 0 ? Vec3(Ground::velocity(node) + dt * gravity) : Vec3(Vec3::Zero());
    EXPECT_LE((Vec3::Map(v) - expected).norm(), 1e-15);
    EXPECT_EQ(v[3], Ground::mass(node) > 0 ? 1 : 0);
  });
}

TEST(ExplicitTest, FreeFallFollowsTheParabolaOfSymplecticEuler) {
  // x_n = x_0 + v_0 t + g t (t + dt) / 2, each node carrying its momentum from step to step.
  Ground ground;
  const Real dt = 1e-3, t = 50 * dt;
  std::vector<Vec3> travelled(static_cast<std::size_t>(ground.map.owned()) * nodes_per_block, Vec3::Zero());
  for (int step = 0; step < 50; ++step) {
    advance_explicit(step_of(dt), ground.map, {}, ground.layer, {});
    std::size_t n = 0;
    ground.for_each_node([&](const Vec3i&, Real* inertia, const Real* v) {
      travelled[n++] += dt * Vec3::Map(v);
      Vec3::Map(inertia + 1) = inertia[0] * Vec3::Map(v);
    });
  }
  std::size_t n = 0;
  ground.for_each_node([&](const Vec3i& node, const Real*, const Real*) {
    const Vec3 expected = Ground::velocity(node) * t + gravity * (t * (t + dt) / 2);
    if (Ground::mass(node) > 0) {
      EXPECT_LE((travelled[n] - expected).norm(), 1e-14);
    }
    ++n;
  });
}

TEST(ExplicitTest, MomentumGrowsByWhatGravityAndWallsGive) {
  Ground ground;
  const Real dt = 0.02;
  const std::vector<Wall> walls = two_walls();
  std::vector<Impulse> by_walls(walls.size());
  Vec3 before = Vec3::Zero();
  Real mass = 0;
  ground.for_each_node([&](const Vec3i& node, const Real*, const Real*) {
    before += Ground::momentum(node);
    mass += Ground::mass(node);
  });
  const Comm comm = Comm::world();
  comm.sum(std::span(before.data(), 3));
  mass = comm.sum(mass);
  ExplicitStep step = step_of(dt);
  step.time = 0.05;
  advance_explicit(step, ground.map, walls, ground.layer, by_walls);
  Vec3 given = Vec3::Zero();
  for (Impulse& share : by_walls) {
    comm.sum(std::span(share.linear.data(), 3));
    EXPECT_GT(share.linear.norm(), 1e-3);
    given += share.linear;
  }
  EXPECT_LE((ground.total_momentum() - (before + dt * mass * gravity + given)).norm(), 1e-14 * mass);
}

TEST(ExplicitTest, WallsActAfterGravityAndStandWhereTheyAreInTheMiddle) {
  // A floor that material on it does not leave, and that moves away after the start.
  std::vector<Wall> walls;
  walls.push_back(wall_of(make_half_space({0, 0.104, 0}, {0, 1, 0}),
                          RigidMotion::steady({0, -1, 0}, Vec3::Zero(), Vec3::Zero()), WallCondition::slip, 0));
  Ground ground;
  std::vector<Impulse> unused(1);
  ExplicitStep step = step_of(0.01);
  step.time = 0.1;  // the floor is at 0.004, and at -0.001 in the middle of the step
  advance_explicit(step, ground.map, walls, ground.layer, unused);
  ground.for_each_node([&](const Vec3i& node, const Real*, const Real* v) {
    if (Ground::mass(node) == 0) return;
    Vec3 expected = Ground::velocity(node) + 0.01 * gravity;
    if (node.y() < 0) expected.y() = -1;
    EXPECT_LE((Vec3::Map(v) - expected).norm(), 1e-15) << node.transpose();
  });
}

TEST(ExplicitTest, LightNodesAreHeldToTheirSpeedAndOthersAreNot) {
  Ground ground;
  ExplicitStep step = step_of(0.01);
  step.light_mass = 1e-4;
  step.light_speed = 0.5;
  advance_explicit(step, ground.map, {}, ground.layer, {});
  int held = 0;
  ground.for_each_node([&](const Vec3i& node, const Real*, const Real* v) {
    if (Ground::mass(node) == 0) return;
    const Vec3 free = Ground::velocity(node) + 0.01 * gravity;
    const bool holds = Ground::mass(node) < 1e-4 && free.norm() > 0.5;
    held += holds;
    const Vec3 expected = holds ? Vec3(0.5 * free.normalized()) : free;
    EXPECT_LE((Vec3::Map(v) - expected).norm(), 1e-14);
  });
  EXPECT_GT(Comm::world().sum(static_cast<std::int64_t>(held)), 100);
}

TEST(ExplicitTest, ReportsTheFastestNodeOfThisRank) {
  Ground ground;
  advance_explicit(step_of(0.01), ground.map, {}, ground.layer, {});
  const FastestNode fastest = fastest_node(ground.map, dx, ground.layer.get<NodeVelocity>());
  FastestNode expected;
  ground.for_each_node([&](const Vec3i& node, const Real*, const Real* v) {
    if (Vec3::Map(v).norm() > expected.speed) expected = {Vec3::Map(v).norm(), node.cast<Real>() * dx};
  });
  EXPECT_NEAR(fastest.speed, expected.speed, 1e-15);
  EXPECT_LE((fastest.x - expected.x).norm(), 1e-15);
  EXPECT_EQ(fastest.speed > 0, ground.map.owned() > 0);
}

TEST(ExplicitTest, VelocitiesThatAreNotNumbersCountAsInfinite) {
  for (const Real bad : {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity()})
    for (int component = 1; component < 4; ++component) {
      Ground ground;
      const Vec3i sick(3, -2, 1);
      bool here = false;
      ground.for_each_node([&](const Vec3i& node, Real* inertia, Real*) {
        if (node != sick) return;
        here = true;
        inertia[0] = 1;
        inertia[component] = bad;
      });
      advance_explicit(step_of(0.01), ground.map, {}, ground.layer, {});
      const FastestNode fastest = fastest_node(ground.map, dx, ground.layer.get<NodeVelocity>());
      EXPECT_EQ(std::isinf(fastest.speed), here);
      if (here) {
        EXPECT_LE((fastest.x - sick.cast<Real>() * dx).norm(), 1e-15);
      }
    }
}

TEST(ExplicitTest, ThreadsChangeNoBit) {
  const std::vector<Wall> walls = two_walls();
  const int threads_before = omp_get_max_threads();
  NodeField first("first", "m/s");
  std::vector<Impulse> first_given;
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    Ground ground;
    std::vector<Impulse> by_walls(walls.size());
    advance_explicit(step_of(0.01), ground.map, walls, ground.layer, by_walls);
    if (threads == 1) {
      first = ground.layer.get<NodeVelocity>();
      first_given = by_walls;
    }
    EXPECT_EQ(std::memcmp(first.block(0), ground.layer.get<NodeVelocity>().block(0),
                          first.blocks() * NodeField::row * sizeof(Real)),
              0);
    EXPECT_EQ(std::memcmp(by_walls.data(), first_given.data(), first_given.size() * sizeof(Impulse)), 0);
  }
  omp_set_num_threads(threads_before);
}

TEST(ExplicitTest, AGridWithoutBlocksHasNoFastestNode) {
  BlockMap map(Comm::world(), Cuts{std::vector<BlockKey>(static_cast<std::size_t>(Comm::world().size() - 1), 0)}, {});
  Layer layer;
  layer.reset(map.size());
  advance_explicit(step_of(0.01), map, {}, layer, {});
  EXPECT_EQ(fastest_node(map, dx, layer.get<NodeVelocity>()).speed, 0);
}

}  // namespace
}  // namespace weft
