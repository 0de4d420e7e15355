// Contact of points with walls: weights, the springs as a Term, and what a step gives to nodes and walls.

#include "weft/bodies/continuum.hpp"
#include "weft/coupling/continuum_term.hpp"
#include "weft/coupling/wall_term.hpp"
#include "weft/geometry/primitives.hpp"

#include "support/points_on_grid.hpp"
#include "support/random_matrices.hpp"
#include "support/some_constants.hpp"
#include "support/term_checks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace weft::test {
namespace {

constexpr Real dx = 0.1, dt = 1e-3, radius = 0.25 * dx;
/// Low enough for the springs to give way visibly.
constexpr Real frequency = 300;

/// Points in a corner of two walls, of which one moves, each on the rank that owns its block.
struct Corner : PointsOnGrid {
  TransferSettings transfer{.kernel = KernelKind::quadratic, .dx = dx, .rpic_damping = 0};
  std::unique_ptr<PointBody> body = make_continuum("lump", Chosen<NeoHookean>{some_constants<NeoHookean>()}, 700);
  std::vector<Wall> walls;
  WallContacts contacts;

  explicit Corner(KernelKind kernel, Real friction, WallCondition condition = WallCondition::separate,
                  bool is_reach_known = true, std::optional<bool> is_foreseen = {}) {
    transfer.kernel = kernel;
    const Vec3 up = Vec3(0.1, 1, -0.2).normalized(), aside = Vec3(1, -0.2, 0.3).normalized();
    const auto wall = [&](const char* name, const Vec3& normal, const RigidMotion& motion) {
      walls.push_back({name, MovingShape(make_half_space(Vec3::Zero(), normal), motion), condition, friction,
                       WallContactKind::surface});
    };
    wall("floor", up, {});
    wall("side", aside, RigidMotion::steady({0.4, 0.1, 0}, {0, 0.3, 0.2}, Vec3::Zero()));

    MatrixSource source(3);
    std::vector<Vec3> x;
    for (std::size_t p = 0; p < 120; ++p) {
      // Some press, some are about to; every third in the edge.
      const Real height = source.uniform(-0.01, 0.06) * dx + radius;
      Vec3 at = 4 * dx * source.vector();
      at += (height - up.dot(at)) * up;
      if (p % 3 == 0)
        for (int k = 0; k < 20; ++k) {
          at += (height - aside.dot(at)) * aside;
          at += (height - up.dot(at)) * up;
        }
      if (aside.dot(at) < height - 1e-9)
        at += 2 * (height - aside.dot(at)) * aside.cross(up).cross(up).normalized() * -1;
      x.push_back(at);
    }
    body->let_touch_walls();
    Table& points = body->points();
    place(*body, dx, x, [&](std::size_t row, std::uint32_t p) {
      MatrixSource of_point(p);
      body->rest(row, 1e-4);
      points.get<ElasticF>()[row] = of_point.near_identity(0.1);
      points.get<ContactExtent>()[row] = ball_extent(radius);
      points.get<Velocity>()[row] = of_point.vector();
      if (!is_foreseen) points.get<WallForce>()[row] = 0.5 * (of_point.vector() + Vec3(0, 1.5, 0));
    });
    const Real reach =
        is_reach_known ? body->limit_from(0).stretch * largest_half_axis(*body) : std::numeric_limits<Real>::infinity();
    TouchingSet set{body.get(), &bins, frequency, 3, reach};
    set.is_foreseen = is_foreseen.value_or(false);
    contacts.find(walls, {&set, 1}, transfer, 0, dt);
    WallContacts* const all[] = {&contacts};
    WallContacts::agree(Comm::world(), all);
    contacts.act_on(map);
    contacts.begin(dt);
  }

  Motion moved(Real size) const {
    Motion motion(*freedoms);
    motion.rate_per_u = 1 / dt;
    motion.u = random_values(*freedoms, size, 4);
    return motion;
  }
  Vec3 position_of_node(std::int32_t at) const {
    const int node = at / NodeField::width, block = node / nodes_per_block;
    return (map.first_node(block) + node_at_place(node % nodes_per_block)).cast<Real>() * dx;
  }
};

class OfKernel : public testing::TestWithParam<KernelKind> {};
INSTANTIATE_TEST_SUITE_P(Kernels, OfKernel,
                         testing::Values(KernelKind::linear, KernelKind::quadratic, KernelKind::cubic));

TEST_P(OfKernel, WeightsSumToOneAndMeetOnTheSurfaceOfTheEllipsoid) {
  const Corner corner(GetParam(), 0.3);
  const auto& contacts = corner.contacts;
  EXPECT_GT(Comm::world().sum(static_cast<std::int64_t>(contacts.size())), 100);
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    Real sum = 0;
    Vec3 x = Vec3::Zero();
    for (std::size_t k = 0; k < contacts.nodes_of(c).size(); ++k) {
      sum += contacts.weights_of(c)[k];
      x += contacts.weights_of(c)[k] * corner.position_of_node(contacts.nodes_of(c)[k]);
    }
    EXPECT_NEAR(sum, 1, 1e-13);
    EXPECT_LE((x - contacts.position(c)).norm(), 1e-13 * dx);
    // The end of the ellipsoid lies as far from the wall as the gap says.
    const auto contact = contacts.face(c);
    const RigidState state = corner.walls[static_cast<std::size_t>(contact.wall)].shape.at(0);
    EXPECT_NEAR(corner.walls[static_cast<std::size_t>(contact.wall)].shape.surface(state, x).distance, contact.gap,
                1e-13 * dx);
  }
}

TEST(WallContactsTest, NoPointReachesFurtherThanItsBodySays) {
  const Corner corner(KernelKind::quadratic, 0.3);
  const Corner all(KernelKind::quadratic, 0.3, WallCondition::separate, false);
  EXPECT_LT(largest_half_axis(*corner.body), 1.001 * radius);
  ASSERT_EQ(corner.contacts.size(), all.contacts.size());
  for (std::size_t c = 0; c < all.contacts.size(); ++c) {
    EXPECT_EQ(corner.contacts.row(c), all.contacts.row(c));
    EXPECT_EQ(corner.contacts.face(c).gap, all.contacts.face(c).gap);
  }
}

TEST(WallContactsTest, OfPointsThatNoWallHasPressedThoseTakePartThatAreAboutToTouch) {
  for (const WallCondition condition : {WallCondition::separate, WallCondition::slip}) {
    const Corner all(KernelKind::quadratic, 0.3, condition, true, false);
    const Corner some(KernelKind::quadratic, 0.3, condition, true, true);
    std::vector<std::pair<std::uint32_t, std::int32_t>> found;
    for (std::size_t c = 0; c < some.contacts.size(); ++c)
      found.emplace_back(some.contacts.row(c), some.contacts.face(c).wall);
    std::int64_t left_out = 0;
    for (std::size_t c = 0; c < all.contacts.size(); ++c) {
      const auto [wall, normal, gap] = all.contacts.face(c);
      if (std::ranges::find(found, std::pair(all.contacts.row(c), wall)) != found.end()) continue;
      const Vec3 v = std::as_const(*all.body).points().get<Velocity>()[all.contacts.row(c)];
      const RigidState state = all.walls[static_cast<std::size_t>(wall)].shape.at(0);
      EXPECT_GT(gap + dt * normal.dot(v - state.velocity_at(all.contacts.position(c))), 0);
      ++left_out;
    }
    left_out = Comm::world().sum(left_out);
    if (condition == WallCondition::separate) EXPECT_GT(left_out, 10);
    else EXPECT_EQ(left_out, 0);  // walls that hold
  }
}

TEST_P(OfKernel, ForcesAndTheirChangesAreDerivatives) {
  for (const WallCondition condition : {WallCondition::separate, WallCondition::slip, WallCondition::sticky})
    for (const Real friction : {0.0, 0.4}) {
      if (condition == WallCondition::sticky && friction > 0) continue;
      const Corner corner(GetParam(), friction, condition);
      for (const bool is_lagged : {false, true}) {
        SCOPED_TRACE(testing::Message() << "condition " << static_cast<int>(condition) << ", friction " << friction
                                        << (is_lagged ? ", lagged" : ""));
        const WallTerm term(corner.contacts, friction > 0, is_lagged);
        EXPECT_EQ(term.has_energy(), is_lagged || friction == 0);
        check_term(term, corner.moved(0.02 * dx), 1e-5 * dx);
      }
    }
}

/// A lump of nodes that falls onto the walls, and what a step gives.
struct Fall {
  Corner corner;
  Layer layer;
  Impulse gained, given;  ///< Momenta of nodes, and of walls what they gave, on all ranks.

  explicit Fall(Real friction) : corner(KernelKind::quadratic, friction) {
    const BlockMap& map = corner.map;
    layer.add<NodeContact>();
    layer.reset(map.size());
    const Table& points = std::as_const(*corner.body).points();
    scatter(
        corner.transfer, corner.bins,
        {points.get<Position>(), points.get<Velocity>(), points.get<Affine>(), points.get<Mass>()},
        [](ChunkRows, const ChunkForces& forces) { std::ranges::fill(forces.A, Mat3::Zero()); }, dt,
        layer.get<NodeInertia>());
    const NodeField before = layer.get<NodeInertia>();
    corner.contacts.scatter(ground_of(map, layer));
    map.forest().sum_to_owners(layer.get<NodeInertia>().view());
    map.forest().sum_to_owners(layer.get<NodeContact>().view());
    corner.contacts.add_shared_impulses(layer);
    NodeField start = before;
    map.forest().sum_to_owners(start.view());
    const auto for_each_node = [&](auto&& visit) {
      for (int b = 0; b < map.owned(); ++b)
        for (int place = 0; place < nodes_per_block; ++place) {
          const auto at = static_cast<std::size_t>(place) * NodeField::width;
          if (const Real* in = layer.get<NodeInertia>().block(b) + at; in[0] > 0)
            visit(in, start.block(b) + at, layer.get<NodeVelocity>().block(b) + at,
                  (map.first_node(b) + node_at_place(place)).template cast<Real>() * dx);
        }
    };
    layer.get<NodeVelocity>().reset(map.size());
    for_each_node([](const Real* in, const Real*, Real* v, const Vec3&) { Vec3::Map(v) = Vec3::Map(in + 1) / in[0]; });
    std::vector<Impulse> by_walls(2);
    corner.contacts.solve(ground_of(map, layer));
    corner.contacts.add_given(0, by_walls);
    for_each_node([&](const Real* in, const Real* old, const Real* v, const Vec3& x) {
      gained.add(in[0] * Vec3::Map(v) - Vec3::Map(old + 1), x, Vec3::Zero());
    });
    for (const Impulse& by_wall : by_walls) given += by_wall;
    for (Impulse* sum : {&gained, &given}) Comm::world().sum(std::span(sum->linear.data(), 7));
  }

  /// The impulses when the step is tried with so many passes at most, which end when they have settled.
  std::vector<Vec3> impulses_of_try(int most_passes) {
    const BlockMap& map = corner.map;
    const Comm comm = Comm::world();
    corner.contacts.begin(dt);
    ContactGround ground = ground_of(map, layer);
    ground.passes = most_passes;
    ground.agree = &comm;
    corner.contacts.scatter(ground);
    map.forest().sum_to_owners(layer.get<NodeContact>().view());
    for (std::ptrdiff_t point = 0; point < ground.owned; ++point) {
      const Real* const in = ground.inertia + point * NodeField::width;
      if (in[0] > 0) Vec3::Map(ground.velocities() + point * NodeField::width) = Vec3::Map(in + 1) / in[0];
    }
    corner.contacts.solve(ground);
    std::vector<Vec3> impulses;
    for (std::size_t c = 0; c < corner.contacts.size(); ++c) impulses.push_back(corner.contacts.impulse(c));
    return impulses;
  }
};

TEST(WallContactsTest, NodesGainTheImpulseAndTorqueThatWallsGive) {
  const Fall fall(0.4);
  const Real size = fall.given.linear.norm();
  EXPECT_GT(size, 1e-3);
  EXPECT_GT(fall.given.angular.norm(), 1e-4);
  EXPECT_LE((fall.gained.linear - fall.given.linear).norm(), 1e-13 * size);
  EXPECT_LE((fall.gained.angular - fall.given.angular).norm(), 1e-13 * size);
}

TEST(WallContactsTest, ImpulsesLieInTheirFrictionCones) {
  const Fall fall(0.4);
  int slid = 0, stuck = 0;
  for (std::size_t c = 0; c < fall.corner.contacts.size(); ++c) {
    const Vec3 n = fall.corner.contacts.face(c).normal, l = fall.corner.contacts.impulse(c);
    const Real l_n = l.dot(n), l_t = (l - l_n * n).norm();
    EXPECT_GE(l_n, 0);
    EXPECT_LE(l_t, 0.4 * l_n * (1 + 1e-12));
    if (l_n > 0) (l_t > 0.4 * l_n * (1 - 1e-12) ? slid : stuck) += 1;
  }
  EXPECT_GT(Comm::world().sum(std::int64_t{slid}), 0);
  EXPECT_GT(Comm::world().sum(std::int64_t{stuck}), 0);
}

TEST(WallContactsTest, AStepThatIsTriedAgainGoesOnFromWhereItsPassesEnded) {
  Fall fall(0.4);
  const std::vector<Vec3> in_one_pass = fall.impulses_of_try(1), settled = Fall(0.4).impulses_of_try(500);
  for (int passes = 2; passes <= 100; ++passes) fall.impulses_of_try(1);
  const std::vector<Vec3> one_by_one = fall.impulses_of_try(1);
  std::array<Real, 3> most{0, 0, 0};
  for (std::size_t c = 0; c < settled.size(); ++c) {
    most[0] = std::max(most[0], settled[c].norm());
    most[1] = std::max(most[1], (in_one_pass[c] - settled[c]).norm());
    most[2] = std::max(most[2], (one_by_one[c] - settled[c]).norm());
  }
  Comm::world().max(std::span(most));
  EXPECT_GT(most[1], 0.1 * most[0]);
  EXPECT_LT(most[2], 0.01 * most[0]);
}

}  // namespace
}  // namespace weft::test
