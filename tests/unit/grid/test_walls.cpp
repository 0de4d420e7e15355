// Walls against closed forms at one node, and against sums over all nodes on the grid.

#include "weft/grid/walls.hpp"

#include "weft/base/random.hpp"
#include "weft/geometry/level_set.hpp"
#include "weft/geometry/primitives.hpp"

#include "support/random_matrices.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace weft {
namespace {

using enum WallCondition;
constexpr Real round_off = 16 * std::numeric_limits<Real>::epsilon();  // velocities are below 4

TEST(VelocityAtWallTest, FollowsTheClosedForms) {
  const Vec3 rest = Vec3::Zero(), up(0, 1, 0), approaching(3, -2, 4), leaving(3, 2, 4);
  const auto expect = [&](WallCondition condition, Real friction, const Vec3& v, const Vec3& expected) {
    EXPECT_LE((velocity_at_wall(condition, friction, v, rest, up) - expected).norm(), round_off)
        << "condition " << static_cast<int>(condition) << ", friction " << friction << ", v " << v.transpose();
  };
  expect(sticky, 0, approaching, rest);
  expect(sticky, 0, leaving, rest);
  expect(slip, 0, approaching, {3, 0, 4});
  expect(slip, 0, leaving, {3, 0, 4});
  expect(separate, 0, approaching, {3, 0, 4});
  expect(separate, 0, leaving, leaving);
  expect(separate, 0.5, leaving, leaving);
  // The tangential speed 5 loses friction times the normal speed 2.
  expect(separate, 0.5, approaching, {3 * 0.8, 0, 4 * 0.8});
  expect(slip, 0.5, approaching, {3 * 0.8, 0, 4 * 0.8});
  expect(slip, 0.5, leaving, {3 * 0.8, 0, 4 * 0.8});
  expect(separate, 2.5, approaching, rest);  // the edge of the cone
  expect(separate, 10, approaching, rest);
  // Material that only slides feels no wall, whatever the friction.
  expect(separate, 10, {3, 0, 4}, {3, 0, 4});
  expect(slip, 10, {3, 0, 4}, {3, 0, 4});
  // Straight impact: no direction of sliding to divide by.
  expect(separate, 0, {0, -2, 0}, rest);
  expect(slip, 0, rest, rest);
}

TEST(VelocityAtWallTest, LooksTheSameFromEveryFrame) {
  test::MatrixSource source(1);
  for (int i = 0; i < 200; ++i)
    for (const WallCondition condition : {sticky, slip, separate}) {
      const Mat3 Q = source.rotation();
      const Vec3 v = source.vector(), v_wall = source.vector(), n = source.rotation().col(0), drift = source.vector();
      const Real friction = source.uniform(0, 1);
      const Vec3 here = velocity_at_wall(condition, friction, v, v_wall, n);
      const Vec3 there = velocity_at_wall(condition, friction, Q * v + drift, Q * v_wall + drift, Q * n);
      EXPECT_LE((there - (Q * here + drift)).norm(), round_off);
    }
}

TEST(VelocityAtWallTest, ImpulseLiesInTheFrictionConeAndTakesEnergyAsSeenFromTheWall) {
  test::MatrixSource source(2);
  int stuck = 0, slid = 0;
  for (int i = 0; i < 500; ++i) {
    const Vec3 v = source.vector(), v_wall = source.vector(), n = source.rotation().col(0);
    const Real friction = source.uniform(0, 1);
    const Vec3 after = velocity_at_wall(separate, friction, v, v_wall, n), change = after - v;
    const Real push = change.dot(n);
    EXPECT_GE(push, -round_off);
    EXPECT_GE((after - v_wall).dot(n), -round_off);
    const Real drag = (change - push * n).norm();
    EXPECT_LE(drag, friction * push + round_off);
    EXPECT_LE((after - v_wall).norm(), (v - v_wall).norm() + round_off);
    if (push > 0) (after == v_wall ? stuck : slid) += 1;
    if (push > 0 && after != v_wall) {
      EXPECT_NEAR(drag, friction * push, round_off);
    }
  }
  EXPECT_GT(stuck, 20);
  EXPECT_GT(slid, 20);
}

/// A cube of blocks around the origin, shared by all ranks, with masses and velocities that are functions of the node.
struct Scene {
  static constexpr Real dx = 0.1;
  static constexpr int from = -2, to = 2;  ///< Blocks.
  BlockMap map;
  NodeField inertia{"inertia", "kg"}, velocity{"velocity", "m/s"};

  Scene() {
    const Comm comm = Comm::world();
    std::vector<BlockWork> work;
    for (int x = from; x < to; ++x)
      for (int y = from; y < to; ++y)
        for (int z = from; z < to; ++z) work.push_back({key_of({x, y, z}), 1});
    const Cuts cuts = balanced_cuts(comm, comm.is_root() ? std::span<const BlockWork>(work) : std::span<BlockWork>());
    std::vector<BlockKey> touched;
    for (const BlockWork& block : work) touched.push_back(block.key);
    std::sort(touched.begin(), touched.end());
    map = BlockMap(comm, cuts, touched);
    inertia.reset(map.size());
    velocity.reset(map.size());
    for (int b = 0; b < map.size(); ++b)
      for (int place = 0; place < nodes_per_block; ++place) {
        const Vec3i node = map.first_node(b) + node_at_place(place);
        *(inertia.block(b) + place * NodeField::width) = mass(node);
        Vec3::Map(velocity.block(b) + place * NodeField::width) = initial(node);
      }
  }

  static Random random(const Vec3i& node) {
    return {3, 0, static_cast<std::uint64_t>(((node.x() + 64) * 128 + node.y() + 64) * 128 + node.z() + 64)};
  }
  /// One node in five is empty.
  static Real mass(const Vec3i& node) {
    Random r = random(node);
    return r.uniform() < 0.2 ? 0 : r.uniform();
  }
  static Vec3 initial(const Vec3i& node) {
    Random r = random(node);
    r.uniform3();
    return 2 * r.uniform3() - Vec3::Ones();
  }
  Vec3 velocity_at(int b, int place) const { return Vec3::Map(velocity.block(b) + place * NodeField::width); }

  /// Calls visit(node) for every node of all ranks.
  template <class Visit>
  static void for_each_node(Visit&& visit) {
    for (int x = 4 * from; x < 4 * to; ++x)
      for (int y = 4 * from; y < 4 * to; ++y)
        for (int z = 4 * from; z < 4 * to; ++z) visit(Vec3i(x, y, z));
  }
};

Wall wall_of(std::unique_ptr<Shape> shape, const RigidMotion& motion, WallCondition condition, Real friction) {
  return {"wall", MovingShape(std::move(shape), motion), condition, friction};
}

Impulse on_all_ranks(Impulse impulse) {
  Comm::world().sum(std::span(impulse.linear.data(), 7));
  return impulse;
}

/// Walls that rest, move and turn; large, small between nodes, and around a single node; overlapping one another.
std::vector<Wall> several_walls() {
  std::vector<Wall> walls;
  walls.push_back(wall_of(make_half_space({0, -0.33, 0}, {0.1, 1, 0.2}), {}, separate, 0.4));
  walls.push_back(wall_of(make_sphere({0.3, 0.3, 0.3}, 0.25),
                          RigidMotion::steady({0.2, -0.5, 0}, {0, 1, 3}, {0.3, 0.3, 0.3}), slip, 0.1));
  walls.push_back(wall_of(make_sphere({-0.4, 0, -0.4}, 0.02), {}, sticky, 0));
  walls.push_back(wall_of(make_sphere({-0.45, 0.05, 0.05}, 0.02), {}, sticky, 0));
  walls.push_back(wall_of(
      make_box({-0.9, -0.9, 0.31}, {-0.31, 0.9, 0.9}),
      RigidMotion::keyed({{0, Vec3::Zero(), Vec3::Zero()}, {1, {0.1, 0, 0}, {0, 0, 0.5}}}, {-0.6, 0, 0.6}), sticky, 0));
  return walls;
}

TEST(ApplyWallsTest, EveryNodeWithMassInsideAWallTakesItsVelocityInTheOrderOfTheList) {
  const std::vector<Wall> walls = several_walls();
  const Real time_before = 0.2, time = 0.3;
  Scene scene;
  const Impulse earlier{Vec3::Constant(5), Vec3::Constant(6), 7};
  std::vector<Impulse> by_walls(walls.size(), earlier);
  apply_walls(walls, time_before, time, Scene::dx, scene.map, scene.inertia, scene.velocity, by_walls);

  std::vector<int> hit(walls.size(), 0);
  const auto after_walls = [&](const Vec3i& node, std::span<Impulse> given) {
    Vec3 v = Scene::initial(node);
    const Vec3 x = node.cast<Real>() * Scene::dx;
    for (std::size_t w = 0; w < walls.size(); ++w) {
      const RigidState state = walls[w].shape.at(time);
      const Surface surface = walls[w].shape.surface(state, x);
      if (Scene::mass(node) == 0 || surface.distance > 1e-9 * Scene::dx) continue;
      const Vec3 before = v;
      v = velocity_at_wall(walls[w].condition, walls[w].friction, v, state.velocity_at(x), surface.normal);
      const Vec3 v_before = walls[w].shape.at(time_before).velocity_at(x);
      given[w].add(Scene::mass(node) * (v - before), x, (v_before + state.velocity_at(x)) / 2);
      ++hit[w];
    }
    return v;
  };

  std::vector<Impulse> expected(walls.size()), unused(walls.size());
  Scene::for_each_node([&](const Vec3i& node) { after_walls(node, expected); });
  EXPECT_GT(*std::min_element(hit.begin(), hit.begin() + 3), 0);
  EXPECT_EQ(hit[3], 0);  // between nodes
  for (int b = 0; b < scene.map.size(); ++b)
    for (int place = 0; place < nodes_per_block; ++place) {
      const Vec3i node = scene.map.first_node(b) + node_at_place(place);
      // Ghosts wait for their owner.
      const Vec3 wanted = b < scene.map.owned() ? after_walls(node, unused) : Scene::initial(node);
      EXPECT_LE((scene.velocity_at(b, place) - wanted).norm(), 1e-14);
    }
  // A thousand nodes at most, each of mass and speed near one.
  for (std::size_t w = 0; w < walls.size(); ++w) {
    SCOPED_TRACE(testing::Message() << "wall " << w);
    const Impulse given = on_all_ranks(by_walls[w]);
    const int ranks = Comm::world().size();
    EXPECT_LE((given.linear - ranks * earlier.linear - expected[w].linear).norm(), 1e-12);
    EXPECT_LE((given.angular - ranks * earlier.angular - expected[w].angular).norm(), 1e-12);
    EXPECT_NEAR(given.work - ranks * earlier.work, expected[w].work, 1e-12);
  }
}

TEST(ApplyWallsTest, ImpulsesAreTheMomentaThatTheMaterialGains) {
  const std::vector<Wall> walls = several_walls();
  Scene scene;
  const auto momenta = [&] {
    Impulse sum;
    for (int b = 0; b < scene.map.owned(); ++b)
      for (int place = 0; place < nodes_per_block; ++place)
        sum.add(scene.inertia.block(b)[place * NodeField::width] * scene.velocity_at(b, place),
                (scene.map.first_node(b) + node_at_place(place)).cast<Real>() * Scene::dx, Vec3::Zero());
    return on_all_ranks(sum);
  };
  const Impulse before = momenta();
  std::vector<Impulse> by_walls(walls.size());
  apply_walls(walls, 0.7, 0.7, Scene::dx, scene.map, scene.inertia, scene.velocity, by_walls);
  Impulse given;
  for (const Impulse& share : by_walls) given += on_all_ranks(share);
  const Impulse after = momenta();
  EXPECT_GT(given.linear.norm(), 1);
  EXPECT_GT(given.angular.norm(), 1);
  EXPECT_LE((after.linear - before.linear - given.linear).norm(), 1e-12);
  EXPECT_LE((after.angular - before.angular - given.angular).norm(), 1e-12);
}

TEST(ApplyWallsTest, NoBlockThatAWallReachesIsPassedOver) {
  // Small spheres at random places, some of them on the corner of a block: whole blocks are passed over by a bound.
  Random random(4, 0, 0);
  for (int trial = 0; trial < 60; ++trial) {
    Vec3 center = 1.6 * random.uniform3() - Vec3::Constant(0.8);
    if (trial % 2 == 0) center = (center / 0.4).array().floor() * 0.4 + (trial % 4 == 0 ? 0.3 : 0.0);
    const std::vector<Wall> walls = {wall_of(make_sphere(center, 0.06), {}, sticky, 0)};
    Scene scene;
    std::vector<Impulse> unused(1);
    apply_walls(walls, 0, 0, Scene::dx, scene.map, scene.inertia, scene.velocity, unused);
    for (int b = 0; b < scene.map.owned(); ++b)
      for (int place = 0; place < nodes_per_block; ++place) {
        const Vec3i node = scene.map.first_node(b) + node_at_place(place);
        const bool held = (node.cast<Real>() * Scene::dx - center).norm() <= 0.06 && Scene::mass(node) > 0;
        EXPECT_EQ(scene.velocity_at(b, place), held ? Vec3(Vec3::Zero()) : Scene::initial(node)) << center.transpose();
      }
  }
}

TEST(ApplyWallsTest, NodesOnTheSurfaceBelongToTheWallWhateverTheRounding) {
  // 3 * 0.1 is more than 0.3, 4 * 0.1 is not more than 0.4; a floor at either holds the nodes on it.
  for (const auto& [height, row] :
       {std::pair(-0.7, -7), {-0.6, -6}, {-0.3, -3}, {0.3, 3}, {0.4, 4}, {0.6, 6}, {0.7, 7}}) {
    const std::vector<Wall> walls = {wall_of(make_half_space({0, height, 0}, {0, 1, 0}), {}, sticky, 0)};
    Scene scene;
    std::vector<Impulse> unused(1);
    apply_walls(walls, 0, 0, Scene::dx, scene.map, scene.inertia, scene.velocity, unused);
    for (int b = 0; b < scene.map.owned(); ++b)
      for (int place = 0; place < nodes_per_block; ++place) {
        const Vec3i node = scene.map.first_node(b) + node_at_place(place);
        const bool held = node.y() <= row && Scene::mass(node) > 0;
        EXPECT_EQ(scene.velocity_at(b, place), held ? Vec3(Vec3::Zero()) : Scene::initial(node)) << node.transpose();
      }
  }
}

/// Velocities of all nodes after these walls.
std::vector<Vec3> velocities_after(const std::vector<Wall>& walls) {
  Scene scene;
  std::vector<Impulse> unused(walls.size());
  apply_walls(walls, 0, 0, Scene::dx, scene.map, scene.inertia, scene.velocity, unused);
  std::vector<Vec3> all;
  for (int b = 0; b < scene.map.owned(); ++b)
    for (int place = 0; place < nodes_per_block; ++place) all.push_back(scene.velocity_at(b, place));
  return all;
}

/// A box with walls one around another box.
SurfaceMesh thick_walls(const Vec3& lower, const Vec3& upper) {
  SurfaceMesh mesh = make_box(Vec3::Constant(-2), Vec3::Constant(2))->tessellate({});
  const SurfaceMesh inner = reversed(make_box(lower, upper)->tessellate({}));
  const auto first = static_cast<std::int32_t>(mesh.points.size());
  mesh.points.insert(mesh.points.end(), inner.points.begin(), inner.points.end());
  for (std::int64_t f = 0; f < inner.face_count(); ++f) {
    std::vector<std::int32_t> face(inner.face(f).begin(), inner.face(f).end());
    for (std::int32_t& corner : face) corner += first;
    mesh.add_face(face);
  }
  return mesh;
}

TEST(ApplyWallsTest, InnerEdgesHoldAsTheWallsThatMeetThereDo) {
  // Some faces hit nodes, others lie between.
  const Vec3 lower(-0.3, -0.25, -0.3), upper(0.4, 0.3, 0.33);
  const LevelSetBand band{0.5, 1.5};  // so that distances are exact at all nodes
  for (const auto& [condition, friction] : {std::pair(slip, 0.0), {separate, 0.0}, {separate, 0.3}, {sticky, 0.0}}) {
    std::vector<Wall> planes;
    for (int axis = 0; axis < 3; ++axis)
      for (const auto& [place, way] : {std::pair(lower, 1), {upper, -1}})
        planes.push_back(wall_of(make_half_space(place, way * Vec3::Unit(axis)), {}, condition, friction));
    const std::vector<Vec3> expected = velocities_after(planes);
    const auto expect_the_same = [&](const char* what, std::unique_ptr<Shape> tank) {
      const std::vector<Vec3> found = velocities_after({wall_of(std::move(tank), {}, condition, friction)});
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_LE((found[i] - expected[i]).norm(), round_off) << what;
    };
    expect_the_same("box", hollow(make_box(lower, upper)));
    const Placement turned{1, rotation_matrix({0, 0, M_PI / 2}), {0, 0, 0}};  // (x, y) -> (-y, x)
    if (friction > 0) continue;                                               // the order of the walls counts then
    expect_the_same(
        "turned box",
        placed(hollow(make_box({lower.y(), -upper.x(), lower.z()}, {upper.y(), -lower.x(), upper.z()})), turned));
    expect_the_same("mesh", hollow(make_level_set(make_box(lower, upper)->tessellate({}), band)));
    expect_the_same("mesh with thick walls", make_level_set(thick_walls(lower, upper), band));
  }
}

TEST(ApplyWallsTest, TheRimOfAHollowCylinderHoldsAsTheTubeAndTheFloorDo) {
  const auto tube = [](Real from, Real to) { return hollow(make_cylinder({0, from, 0}, {0, to, 0}, 0.33)); };
  for (const auto& [condition, friction] : {std::pair(slip, 0.0), {separate, 0.0}, {separate, 0.3}}) {
    const std::vector<Vec3> expected =
        velocities_after({wall_of(tube(-9, 9), {}, condition, friction),
                          wall_of(make_half_space({0, -0.3, 0}, {0, 1, 0}), {}, condition, friction),
                          wall_of(make_half_space({0, 0.35, 0}, {0, -1, 0}), {}, condition, friction)});
    const std::vector<Vec3> found = velocities_after({wall_of(tube(-0.3, 0.35), {}, condition, friction)});
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_LE((found[i] - expected[i]).norm(), round_off);
  }
}

TEST(ApplyWallsTest, OuterEdgesHoldInOneDirectionAlone) {
  // A node on an outer edge may leave along either face.
  const auto box = make_box({0, 0, 0}, {1, 1, 1});
  const auto mesh = make_level_set(box->tessellate({}), {0.05, 0.2});
  for (const Shape* shape : {box.get(), mesh.get()})
    for (const Vec3& x : {Vec3(1, 1, 0.5), Vec3(1, 1, 1), Vec3(0.97, 0.98, 0.4), Vec3(0, 0.3, 0)})
      EXPECT_EQ(shape->holding(x, Side::outside, 1e-9).count, 1) << x.transpose();
}

TEST(ApplyWallsTest, ThreadsChangeNoBit) {
  const std::vector<Wall> walls = several_walls();
  const int threads_before = omp_get_max_threads();
  std::vector<Impulse> first;
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    Scene scene;
    std::vector<Impulse> by_walls(walls.size());
    apply_walls(walls, 0.3, 0.3, Scene::dx, scene.map, scene.inertia, scene.velocity, by_walls);
    if (threads == 1) first = by_walls;
    EXPECT_EQ(std::memcmp(by_walls.data(), first.data(), first.size() * sizeof(Impulse)), 0);
  }
  omp_set_num_threads(threads_before);
}

}  // namespace
}  // namespace weft
