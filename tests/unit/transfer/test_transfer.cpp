// Scatter and gather: what they reproduce, and bounds of what is gathered [docs/theory/transfer.md, 2].

#include "unit/transfer/transfer_test.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft::test {

INSTANTIATE_TEST_SUITE_P(Kernels, TransferTest,
                         ::testing::Values(KernelKind::linear, KernelKind::quadratic, KernelKind::cubic), name_of);

namespace {

// --- What can be computed by hand ---------------------------------------------------------------------------------

TEST_P(TransferTest, OnePointAtRestGivesTheWeightsOfItsKernel) {
  const TransferSettings settings{GetParam(), 0.5, 0};
  Cloud cloud;
  cloud.x = {{0.5, 0, -1}};  // the nodes (1, 0, -2)
  cloud.v = {{1, 2, 3}};
  cloud.C = cloud.A = {Mat3::Zero()};
  cloud.m = {2};
  cloud.id = {0};
  Ground ground = serial_ground(settings, cloud);
  ground.scatter_points(dt);
  // Weights of a point on a node: (1), (1/8, 3/4, 1/8), (1/6, 2/3, 1/6).
  const Real middle = std::array{1.0, 3.0 / 4, 2.0 / 3}[static_cast<int>(GetParam())], side = (1 - middle) / 2;
  ground.for_each_node([&](const Vec3i& node, const Vec3&, const Real* value) {
    Real w = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const int away = std::abs(node[axis] - Vec3i(1, 0, -2)[axis]);
      w *= away == 0 ? middle : away == 1 ? side : 0;
    }
    EXPECT_NEAR(value[0], 2 * w, 1e-15);
    for (int axis = 0; axis < 3; ++axis) EXPECT_NEAR(value[axis + 1], 2 * w * (axis + 1), 1e-14);
  });
}

TEST_P(TransferTest, PointsWithinRoundOffOfNodesGiveNoNodeANegativeMass) {
  for (const auto& s : settings()) {
    Cloud cloud;
    for (int node = -5; node <= 5; ++node)
      for (const Real towards : {-10.0, 10.0})
        cloud.x.push_back({std::nextafter(node * s.dx, towards), s.dx / 3, std::nextafter(node * s.dx, -towards)});
    const std::size_t count = cloud.x.size();
    cloud.v.assign(count, Vec3(1, 2, 3));
    cloud.C.assign(count, Mat3::Zero());
    cloud.A = cloud.C;
    cloud.m.assign(count, 2);
    for (std::size_t k = 0; k < count; ++k) cloud.id.push_back(k);
    Ground ground = serial_ground(s, cloud);
    ground.scatter_points(0);
    ground.for_each_node([](const Vec3i&, const Vec3&, const Real* value) { EXPECT_GE(value[0], 0); });
  }
}

TEST_P(TransferTest, MomentOfInertiaIsTheSumOverNodes) {
  for (const auto& s : settings()) {
    const Cloud cloud = random_cloud(200, s.dx, 1);
    for (const Vec3& x : cloud.x)
      EXPECT_LE((moment_of_inertia(s, x) - inertia_of(s, x)).norm(), 1e-13 * s.dx * s.dx) << x.transpose();
  }
}

TEST_P(TransferTest, NodesReceiveThePlainSumOverPointsOnAnyNumberOfRanks) {
  for (const auto& s : settings()) {
    const Cloud cloud = random_cloud(800, s.dx, 2);
    const NodeSums expected = plain_scatter(s, cloud, dt);
    Real mass_scale = 0, momentum_scale = 0;
    for (const auto& [node, sum] : expected) {
      mass_scale = std::max(mass_scale, sum[0]);
      momentum_scale = std::max(momentum_scale, sum.tail<3>().norm());
    }
    Ground ground = shared_ground(s, cloud);
    EXPECT_EQ(ground.comm.sum(static_cast<std::int64_t>(ground.own.size())), 800);
    ground.scatter_points(dt);
    std::int64_t seen = 0;
    ground.for_each_node([&](const Vec3i& node, const Vec3&, const Real* value) {
      const auto it = expected.find({node[0], node[1], node[2]});
      const Eigen::Vector4d sum = it == expected.end() ? Eigen::Vector4d(Eigen::Vector4d::Zero()) : it->second;
      seen += it != expected.end();
      EXPECT_NEAR(value[0], sum[0], 1e-13 * mass_scale);
      EXPECT_LE((Vec3::Map(value + 1) - sum.tail<3>()).norm(), 1e-13 * momentum_scale);
    });
    EXPECT_EQ(ground.comm.sum(seen), static_cast<std::int64_t>(expected.size()));
  }
}

TEST_P(TransferTest, PointsWithoutGradientsGiveWhatThoseWithZerosGive) {
  for (const auto& s : settings()) {
    Cloud cloud = random_cloud(300, s.dx, 12);
    std::ranges::fill(cloud.C, Mat3::Zero());
    std::ranges::fill(cloud.A, Mat3::Zero());
    Ground with_zeros = shared_ground(s, cloud), without = shared_ground(s, cloud);
    with_zeros.scatter_points(dt);
    const Cloud& own = without.own;
    scatter(s, without.bins, {own.x, own.v, {}, own.m}, {}, dt, without.field);
    without.map.forest().sum_to_owners(without.field.view());
    for (int b = 0; b < without.map.owned(); ++b)
      for (int k = 0; k < NodeField::row; ++k)
        EXPECT_NEAR(without.field.block(b)[k], with_zeros.field.block(b)[k], 1e-14);
  }
}

TEST_P(TransferTest, WhatPointsCarryIsAddedApartFromWhatPushesThem) {
  for (const auto& s : settings()) {
    const Cloud cloud = random_cloud(300, s.dx, 15);
    Ground all = shared_ground(s, cloud), apart = shared_ground(s, cloud);
    all.scatter_points(dt);
    Cloud unpushed = cloud;
    std::ranges::fill(unpushed.A, Mat3::Zero());
    Ground carried = shared_ground(s, unpushed);
    carried.scatter_points(0);
    const Cloud& own = apart.own;
    for (const bool has_stress : {true, false}) {
      NodeField sum = apart.field, without = apart.field;
      const Respond respond = [&](ChunkRows rows, const ChunkForces& forces) {
        for (std::size_t k = 0; k < rows.size(); ++k) forces.A[k] = own.A[rows[k]];
      };
      scatter_apart(s, apart.bins, {own.x, own.v, own.C, own.m}, has_stress ? respond : Respond(), dt, sum, without);
      apart.map.forest().sum_to_owners(std::array{sum.view(), without.view()});
      const NodeField& expected = has_stress ? all.field : carried.field;
      for (int b = 0; b < apart.map.owned(); ++b)
        for (int k = 0; k < NodeField::row; ++k) {
          EXPECT_NEAR(sum.block(b)[k], expected.block(b)[k], 1e-12);
          EXPECT_NEAR(without.block(b)[k], carried.field.block(b)[k], 1e-12);
        }
    }
  }
}

TEST_P(TransferTest, ForcesOnPointsPushApart) {
  for (const auto& s : settings()) {
    const Cloud cloud = random_cloud(300, s.dx, 16);
    Ground together = serial_ground(s, cloud), apart = serial_ground(s, cloud);
    const Cloud& own = apart.own;
    std::vector<Vec3> f;
    for (const Vec3& v : own.v) f.emplace_back(Vec3(v.y(), -2 * v.x(), v.z() + 1));
    const ScatterPoints points{own.x, own.v, own.C, own.m, f};
    NodeField sum = apart.field, carried = apart.field, unpushed = apart.field;
    scatter(s, apart.bins, points, own.respond(), dt, together.field);
    scatter_apart(s, apart.bins, points, own.respond(), dt, sum, carried);
    scatter_apart(s, apart.bins, own.points(), {}, dt, apart.field, unpushed);
    for (int b = 0; b < apart.map.owned(); ++b)
      for (int k = 0; k < NodeField::row; ++k) {
        EXPECT_NEAR(sum.block(b)[k], together.field.block(b)[k], 1e-12);
        EXPECT_NEAR(carried.block(b)[k], unpushed.block(b)[k], 1e-12);
      }
  }
}

TEST_P(TransferTest, RanksWithoutPointsScatterNothingApart) {
  for (const auto& s : settings()) {
    Ground ground = serial_ground(s, random_cloud(0, s.dx, 15));
    NodeField carried = ground.field;
    const Cloud& own = ground.own;
    EXPECT_NO_THROW(scatter_apart(s, ground.bins, {own.x, own.v, own.C, own.m}, {}, 0.01, ground.field, carried));
  }
}

TEST_P(TransferTest, MassAndItsGradientAreThoseOfAnImpulse) {
  for (const auto& s : settings()) {
    Cloud cloud = random_cloud(300, s.dx, 14);
    std::ranges::fill(cloud.v, Vec3::Zero());
    std::ranges::fill(cloud.C, Mat3::Zero());
    for (std::size_t p = 0; p < cloud.size(); ++p) cloud.A[p] = -cloud.m[p] * Mat3::Identity();
    Ground pushed = serial_ground(s, cloud), ground = serial_ground(s, cloud);
    pushed.scatter_points(s.dx);
    scatter_mass(s, ground.bins, ground.own.x, ground.own.m, ground.field);
    for (int b = 0; b < ground.map.owned(); ++b)
      for (int k = 0; k < NodeField::row; ++k) EXPECT_NEAR(ground.field.block(b)[k], pushed.field.block(b)[k], 1e-14);
  }
}

TEST_P(TransferTest, ValuesAreThoseOfAGatherWhereTheFieldIsNotZero) {
  for (const auto& s : settings()) {
    Ground ground = shared_ground(s, random_cloud(600, s.dx, 13));
    // Zero but in one octant of space: bins see all of it, some of it or none.
    ground.set_velocity([&](const Vec3i& node, const Vec3& x) {
      return (x.array() > 2 * s.dx).all() ? noise(node) : Vec3(Vec3::Zero());
    });
    const auto gathered = ground.gather_points();
    std::vector<Vec3> values(ground.own.size(), Vec3::Ones());
    gather_values(s, ground.bins, ground.own.x, ground.field, values);
    for (std::size_t p = 0; p < values.size(); ++p) EXPECT_EQ(values[p], gathered.v[p]);
    NodeField twice = ground.field;
    for (int b = 0; b < twice.blocks(); ++b)
      for (int k = 0; k < NodeField::row; ++k) twice.block(b)[k] *= 2;
    gather_values(s, ground.bins, ground.own.x, {&twice, &ground.field},
                  [&](ChunkRows rows, std::span<const Vec3> doubled, std::span<const Vec3> single) {
                    for (std::size_t k = 0; k < rows.size(); ++k) {
                      EXPECT_EQ(single[k], gathered.v[rows[k]]);
                      EXPECT_EQ(doubled[k], 2 * gathered.v[rows[k]]);
                    }
                  });
  }
}

// --- Reproduction -------------------------------------------------------------------------------------------------

TEST_P(TransferTest, WeightsSumToOne) {
  for (const auto& s : settings()) {
    const Vec3 constant(1, -2, 3);
    Ground ground = shared_ground(s, random_cloud(800, s.dx, 7));
    ground.set_velocity([&](const Vec3i&, const Vec3&) { return constant; });
    const auto [v, C] = ground.gather_points();
    for (std::size_t p = 0; p < v.size(); ++p) {
      EXPECT_LE((v[p] - constant).norm(), 1e-14);
      EXPECT_LE(C[p].norm(), 1e-13 / s.dx);  // speeds of 3 over dx, coordinates of up to 10 dx
    }
  }
}

TEST_P(TransferTest, AffineFieldsAreGatheredExactly) {
  for (const auto& s : settings()) {
    MatrixSource source(8);
    const Mat3 L = source.matrix();
    const Vec3 v0 = source.vector();
    Ground ground = shared_ground(s, random_cloud(800, s.dx, 9));
    ground.set_velocity([&](const Vec3i&, const Vec3& x) { return Vec3(v0 + L * x); });
    const auto [v, C] = ground.gather_points();
    for (std::size_t p = 0; p < v.size(); ++p) {
      const Vec3& x = ground.own.x[p];
      EXPECT_LE((v[p] - (v0 + L * x)).norm(), 1e-14 * (1 + x.norm())) << x.transpose();
      EXPECT_LE((C[p] - L).norm(), 1e-13 / s.dx) << x.transpose();
    }
  }
}

TEST_P(TransferTest, AffineFieldsAreScatteredExactly) {
  for (const auto& s : settings()) {
    MatrixSource source(10);
    const Mat3 L = source.matrix();
    const Vec3 v0 = source.vector();
    Cloud cloud = random_cloud(800, s.dx, 11);
    for (std::size_t p = 0; p < cloud.size(); ++p) {
      cloud.v[p] = v0 + L * cloud.x[p];
      cloud.C[p] = L;
      cloud.A[p].setZero();
    }
    Ground ground = shared_ground(s, cloud);
    ground.scatter_points(dt);
    ground.for_each_node([&](const Vec3i&, const Vec3& x, const Real* value) {
      if (!(value[0] > 0)) return;
      const Vec3 v = Vec3::Map(value + 1) / value[0];
      EXPECT_LE((v - (v0 + L * x)).norm(), 1e-13) << x.transpose() << " mass " << value[0];
    });
  }
}

// --- Bounds of what is gathered -----------------------------------------------------------------------------------

TEST_P(TransferTest, TheSteepestGradientIsFoundWhateverTheBoundBelowIt) {
  for (const auto& s : settings()) {
    const Cloud cloud = random_cloud(1500, s.dx, 30);
    with_threads([&](int) {
      Ground ground = serial_ground(s, cloud);
      ground.set_velocity([](const Vec3i& node, const Vec3&) { return noise(node); });
      ground.for_each_node([](const Vec3i&, const Vec3&, Real* value) { value[3] = 1; });
      const auto C = ground.gather_points().C;
      std::vector<Real> norms;
      for (const Mat3& c : C) norms.push_back(c.norm());
      const auto most = std::max_element(norms.begin(), norms.end());
      for (const Real bound : {0.0, 0.5 * *most, 0.999999 * *most}) {
        const Steepest found =
            steepest_above(bound, s, ground.bins, ground.own.x, ground.field, VelocityRanges(s, ground.field));
        EXPECT_DOUBLE_EQ(found.norm, *most);
        EXPECT_EQ(norms[found.row], *most);
      }
      EXPECT_EQ(
          steepest_above(1.000001 * *most, s, ground.bins, ground.own.x, ground.field, VelocityRanges(s, ground.field))
              .norm,
          0);
    });
  }
}

TEST_P(TransferTest, EmptyNodesBeyondTheSurfaceDoNotMakeAGradient) {
  if (GetParam() == KernelKind::linear) GTEST_SKIP() << "its gradient sees every node of the cell";
  // A body that moves as one: nodes with mass have its velocity, all others none.
  const TransferSettings s{GetParam(), 0.25, 0};
  Ground ground = serial_ground(s, random_cloud(1500, s.dx, 31));
  ground.scatter_points(0);
  ground.for_each_node([](const Vec3i&, const Vec3&, Real* value) {
    const bool has_mass = value[0] > 0;
    Vec3::Map(value) = has_mass ? Vec3(100, 50, -20) : Vec3::Zero();
    value[3] = has_mass ? 1 : 0;
  });
  EXPECT_EQ(steepest_above(1e-9, s, ground.bins, ground.own.x, ground.field, VelocityRanges(s, ground.field)).norm, 0);
}

TEST_P(TransferTest, RangesBoundSpeedsAndGradients) {
  const TransferSettings s{GetParam(), 0.25, 0};
  Ground ground = serial_ground(s, random_cloud(1500, s.dx, 33));
  ground.set_velocity([](const Vec3i& node, const Vec3&) { return noise(node); });
  Real fastest = 0;
  ground.for_each_node([&](const Vec3i& node, const Vec3&, Real* value) {
    value[3] = node.x() % 3 == 0 ? 0 : 1;
    if (value[3] == 0) Vec3::Map(value).setZero();
    fastest = std::max(fastest, Vec3::Map(value).norm());
  });
  const VelocityRanges ranges(s, ground.field);
  EXPECT_GE(ranges.largest(ground.map.owned()), fastest);
  EXPECT_LE(ranges.largest(ground.map.owned()), std::sqrt(3) * fastest);
  const auto C = ground.gather_points().C;
  for (const Bin& bin : ground.bins.bins())
    for (std::size_t k = bin.begin; k < bin.end; ++k)
      EXPECT_LE(C[ground.bins.order()[k]].squaredNorm(), ranges.steepest2(bin));
}

TEST_P(TransferTest, AGradientThatIsNotANumberIsTheSteepest) {
  const TransferSettings s{GetParam(), 0.25, 0};
  Ground ground = serial_ground(s, random_cloud(300, s.dx, 32));
  ground.set_velocity([](const Vec3i& node, const Vec3&) { return noise(node); });
  ground.for_each_node([](const Vec3i&, const Vec3&, Real* value) { value[3] = 1; });
  const auto before = ground.gather_points().C;
  // One node under the first point.
  const Vec3i node = (ground.own.x[0] / s.dx).array().round().cast<int>();
  const int block = ground.map.find(block_of_node(node));
  ground.field.block(block)[place_in_block(node) * NodeField::width + 1] = std::numeric_limits<Real>::quiet_NaN();
  const VelocityRanges ranges(s, ground.field);
  EXPECT_EQ(ranges.largest(ground.field.blocks()), std::numeric_limits<Real>::infinity());
  const Steepest found = steepest_above(0.1, s, ground.bins, ground.own.x, ground.field, ranges);
  EXPECT_EQ(found.norm, std::numeric_limits<Real>::infinity());
  EXPECT_FALSE(ground.gather_points().C[found.row].allFinite());
}

// --- Bits ---------------------------------------------------------------------------------------------------------

TEST_P(TransferTest, NeitherThreadsNorTheOrderOfRowsChangeABit) {
  const Cloud cloud = random_cloud(3000, 0.1, 15);
  for (const Real dx : {0.1, 0.04}) {  // bins one by one, and in cubes
    const TransferSettings s{GetParam(), dx, 0.2};
    const std::vector<std::uint32_t> order = shuffled(cloud.size(), 16);
    NodeField first("first", "1");
    Ground::Gathered gathered;
    const auto same = [](const auto& a, const auto& b, std::size_t bytes) { return std::memcmp(a, b, bytes) == 0; };
    with_threads([&](int threads) {
      Ground ground = serial_ground(s, cloud), permuted = serial_ground(s, cloud.picked(order));
      ground.scatter_points(dt);
      permuted.scatter_points(dt);
      if (threads == 1) first = ground.field;
      const std::size_t bytes = ground.map.size() * NodeField::row * sizeof(Real);
      EXPECT_TRUE(same(first.block(0), ground.field.block(0), bytes)) << threads << " threads";
      EXPECT_TRUE(same(first.block(0), permuted.field.block(0), bytes)) << threads << " threads, permuted";

      const auto here = ground.gather_points(), there = permuted.gather_points();
      if (threads == 1) gathered = here;
      EXPECT_TRUE(same(gathered.v.data(), here.v.data(), here.v.size() * sizeof(Vec3)));
      EXPECT_TRUE(same(gathered.C.data(), here.C.data(), here.C.size() * sizeof(Mat3)));
      for (std::size_t row = 0; row < order.size(); ++row) {
        EXPECT_EQ(there.v[row], here.v[order[row]]);
        EXPECT_EQ(there.C[row], here.C[order[row]]);
      }
    });
  }
}

TEST_P(TransferTest, BodiesAddToWhatOthersScattered) {
  const TransferSettings s{GetParam(), 0.25, 0};
  const Cloud cloud = random_cloud(100, s.dx, 17);
  Ground ground = serial_ground(s, cloud);
  ground.scatter_points(dt);
  const NodeField once = ground.field;
  scatter(s, ground.bins, ground.own.points(), ground.own.respond(), dt, ground.field);
  for (int k = 0; k < ground.map.size() * NodeField::row; ++k)
    EXPECT_NEAR(ground.field.block(0)[k], 2 * once.block(0)[k], 1e-13);
}

// --- Few points ---------------------------------------------------------------------------------------------------

TEST_P(TransferTest, NoPointsAtAllScatterAndGatherNothing) {
  Ground ground = shared_ground({GetParam(), 0.1, 0}, Cloud{});
  EXPECT_EQ(ground.map.size(), 0);
  ground.scatter_points(dt);
  EXPECT_TRUE(ground.gather_points().v.empty());
}

TEST_P(TransferTest, RanksWithoutPointsTakePart) {
  // One block of points: all but one rank have none, and its neighbours may belong to ranks that have none.
  const TransferSettings s{GetParam(), 0.25, 0};
  Cloud cloud = random_cloud(30, s.dx, 18);
  for (Vec3& x : cloud.x) x = (0.05 * x.array() + 3.4 * s.dx).matrix();
  const NodeSums expected = plain_scatter(s, cloud, dt);
  // Cuts that give the block of the points to one rank, its neighbours to others.
  Bins bins;
  bins.sort(s.dx, cloud.x, cloud.id);
  const std::vector<BlockKey> touched = touched_blocks({&bins, 1});
  const Comm comm = Comm::world();
  Cuts cuts;
  for (int r = 1; r < comm.size(); ++r) cuts.at.push_back(touched[touched.size() * r / comm.size()]);
  std::vector<std::uint32_t> mine;
  for (const Bin& bin : bins.bins())
    if (cuts.owner(bin.key) == comm.rank())
      mine.insert(mine.end(), bins.order().begin() + bin.begin, bins.order().begin() + bin.end);
  Ground ground(s, comm, cuts, cloud.picked(mine));
  ground.scatter_points(dt);
  std::int64_t with_mass = 0;
  ground.for_each_node([&](const Vec3i& node, const Vec3&, const Real* value) {
    const auto it = expected.find({node[0], node[1], node[2]});
    EXPECT_NEAR(value[0], it == expected.end() ? 0 : it->second[0], 1e-13);
    with_mass += value[0] > 0;
  });
  EXPECT_GT(comm.sum(with_mass), 0);
  const Vec3 drift(1, 2, 3);
  ground.set_velocity([&](const Vec3i&, const Vec3&) { return drift; });
  for (const Vec3& v : ground.gather_points().v) EXPECT_LE((v - drift).norm(), 1e-14);
}

}  // namespace
}  // namespace weft::test
