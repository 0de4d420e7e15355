// Walls at the nodes of an implicit step, against differences.

#include "solve/node_walls.hpp"

#include "support/implicit_ground.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

namespace weft {
namespace {

constexpr Real k = 1.7;

struct Touched {
  test::ImplicitGround ground;
  std::vector<Wall> walls = test::three_walls();
  NodeWalls nodes;

  /// With the first so many walls.
  explicit Touched(std::size_t count = 3) {
    walls.erase(walls.begin() + static_cast<std::ptrdiff_t>(count), walls.end());
    nodes.begin_step(test::ImplicitGround::step(0.01), walls, ground.map, ground.layer.get<NodeInertia>());
    nodes.weigh([](const WallNode&) { return k; });
    nodes.linearise([&](const WallNode& node) { return asked(node); },
                    [&](const WallNode& node) { return mass(node); });
  }
  static Vec3 asked(const WallNode& node) {
    Random r(9, 0, node.node);
    return 4 * r.uniform3() - Vec3::Constant(2);
  }
  Vec3 place(const WallNode& node) const {
    const auto [block, place] = std::div(static_cast<int>(node.node), nodes_per_block);
    return test::ImplicitGround::place(ground.map.first_node(block) + node_at_place(place));
  }
  Real mass(const WallNode& node) const {
    return ground.layer.get<NodeInertia>().block(0)[NodeField::width * node.node];
  }
};

TEST(NodeWallsTest, SlopesAreThoseOfDifferences) {
  Touched touched;
  const Real h = 1e-6;
  std::int64_t slopes = 0;
  for (const WallNode& node : touched.nodes.nodes()) {
    Mat3 difference;
    for (int axis = 0; axis < 3; ++axis) {
      const Vec3 y = Touched::asked(node), step = h * Vec3::Unit(axis);
      difference.col(axis) = (touched.nodes.leave(node, y + step) - touched.nodes.leave(node, y - step)) / (2 * h);
    }
    EXPECT_LE((node.slope - difference).norm(), 1e-8) << node.slope << "\n\n" << difference;
    slopes += node.slope.isIdentity(1e-9) ? 0 : 1;
  }
  EXPECT_GT(Comm::world().sum(slopes), 20);
}

TEST(NodeWallsTest, SymmetricPartsShareTheDirectionsThatAreLeftFree) {
  Touched touched;
  for (const WallNode& node : touched.nodes.nodes()) {
    EXPECT_LE((node.free * node.free - node.free).norm(), 1e-14);
    EXPECT_LE((node.free - node.free.transpose()).norm(), 1e-14);
    // theta along free directions: drag = k (1 - theta) / theta, inverse = 1 / theta.
    EXPECT_LE((node.drag - k * (node.inverse - node.free)).norm(), 1e-12 * (1 + node.inverse.norm()));
    if (touched.nodes.leave(node, Touched::asked(node)) == Touched::asked(node)) {
      EXPECT_TRUE(node.free.isIdentity(0));
    }
  }
}

TEST(NodeWallsTest, FrictionHasTheStrengthOfThePressureWhereItWasLinearised) {
  Touched touched(1);
  const Vec3 n = Vec3(0, 1, 0.3).normalized();
  int pressed = 0;
  for (const WallNode& node : touched.nodes.nodes()) {
    const Vec3 y = Touched::asked(node), v(0.3, -0.4, 0.5);
    const Real pressure = std::max(-y.dot(n), 0.0);
    const Real expected = 0.3 * k * touched.mass(node) * pressure * (v - v.dot(n) * n).norm();
    EXPECT_NEAR(touched.nodes.friction(node, v), expected, 1e-14);
    pressed += pressure > 0 ? 1 : 0;
  }
  EXPECT_GT(Comm::world().sum(static_cast<std::int64_t>(pressed)), 20);
}

TEST(NodeWallsTest, WallsGiveWhatNodesGain) {
  Touched touched;
  std::vector<Impulse> by_walls(touched.walls.size());
  Impulse gained;
  for (const WallNode& node : touched.nodes.nodes()) {
    const Vec3 y = Touched::asked(node), left = touched.nodes.finish(node, y, touched.mass(node), by_walls);
    EXPECT_EQ(left, touched.nodes.leave(node, y));
    gained.add(k * touched.mass(node) * (left - y), touched.place(node), Vec3::Zero());
  }
  for (const Impulse& given : by_walls) {
    gained.linear -= given.linear;
    gained.angular -= given.angular;
  }
  EXPECT_LE(gained.linear.norm(), 1e-12);
  EXPECT_LE(gained.angular.norm(), 1e-12);
}

}  // namespace
}  // namespace weft
