// The pipe between motions of nodes and forces on them, against plain sums over all pairs of points and nodes.

#include "unit/transfer/clouds.hpp"

#include "weft/transfer/pipe.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft::test {
namespace {

class PipeTest : public ::testing::TestWithParam<KernelKind> {
 protected:
  static TransferSettings settings() { return {GetParam(), 0.1, 0}; }
};
INSTANTIATE_TEST_SUITE_P(Kernels, PipeTest,
                         ::testing::Values(KernelKind::linear, KernelKind::quadratic, KernelKind::cubic), name_of);

/// A vector for each node, in [-1, 1]^3, the same on every rank.
Vec3 noise(const Vec3i& node) {
  const auto counter = static_cast<std::uint64_t>(((node.x() + 512) * 1024 + node.y() + 512) * 1024 + node.z() + 512);
  return 2 * Random(12, 0, counter).uniform3() - Vec3::Ones();
}

/// The nodes of every point of this rank, by row.
std::vector<PointNodes> nodes_of_points(const Ground& ground) {
  std::vector<PointNodes> nodes(ground.own.size());
  std::vector<int> visits(ground.own.size(), 0);
  for_each_point(ground.settings, ground.bins, ground.own.x, [&](std::uint32_t row, const PointNodes& of_row) {
    nodes[row] = of_row;
    ++visits[row];
  });
  EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](int count) { return count == 1; }));
  return nodes;
}

/// All reals of a node field, ghosts included.
std::span<const Real> values_of(const Ground& ground) {
  return {ground.field.block(0), static_cast<std::size_t>(ground.map.size() * NodeField::row)};
}

/// Position of a node by the number of its first real [m].
Vec3 position_of(const Ground& ground, std::int32_t at) {
  const int node = at / NodeField::width;
  const Vec3i index = ground.map.first_node(node / nodes_per_block) + node_at_place(node % nodes_per_block);
  return index.cast<Real>() * ground.settings.dx;
}

struct Felt {
  std::vector<Vec3> u;
  std::vector<Mat3> H;
};
Felt gathered(const Ground& ground) {
  Felt felt{std::vector<Vec3>(ground.own.size()), std::vector<Mat3>(ground.own.size())};
  gather(ground.settings, ground.bins, ground.own.x, values_of(ground), [&](ChunkRows rows, const ChunkMotion& moved) {
    for (std::size_t k = 0; k < rows.size(); ++k) felt.u[rows[k]] = moved.v[k], felt.H[rows[k]] = moved.C[k];
  });
  return felt;
}

/// The fourth real of each node must stay as it is.
constexpr Real mark = 7;
std::vector<Real> marked(const Ground& ground) {
  std::vector<Real> force(static_cast<std::size_t>(ground.map.size() * NodeField::row), 0);
  for (std::size_t i = 3; i < force.size(); i += NodeField::width) force[i] = mark;
  return force;
}
Vec3 force_at(std::span<const Real> force, std::int32_t node) {
  EXPECT_EQ(force[static_cast<std::size_t>(node) + 3], mark);
  return Vec3::Map(force.data() + node);
}

TEST_P(PipeTest, FlatWeightsAreThoseOfThePoints) {
  const Ground ground = shared_ground(settings(), random_cloud(300, settings().dx, 23));
  PointWeights flat;
  find_weights(ground.settings, ground.bins, ground.own.x, flat);
  const std::vector<PointNodes> nodes = nodes_of_points(ground);
  for (std::size_t p = 0; p < nodes.size(); ++p) {
    ASSERT_EQ(nodes[p].at.size(), flat.of_each);
    for (std::size_t i = 0; i < flat.of_each; ++i) {
      EXPECT_EQ(flat.at[p * flat.of_each + i], nodes[p].at[i]);
      EXPECT_NEAR(flat.w[p * flat.of_each + i], nodes[p].w[i], 1e-15);  // in other lanes of packs
    }
  }
}

TEST_P(PipeTest, WeightsOfAPointReproduceLinearFields) {
  const Ground ground = shared_ground(settings(), random_cloud(300, settings().dx, 21));
  const std::vector<PointNodes> nodes = nodes_of_points(ground);
  for (std::size_t p = 0; p < nodes.size(); ++p) {
    Real sum = 0;
    Vec3 mean = Vec3::Zero(), slope_of_one = Vec3::Zero();
    Mat3 slope_of_x = Mat3::Zero();
    for (std::size_t i = 0; i < nodes[p].at.size(); ++i) {
      const Vec3 away = position_of(ground, nodes[p].at[i]) - ground.own.x[p];
      sum += nodes[p].w[i];
      mean += nodes[p].w[i] * away;
      slope_of_one += nodes[p].G[i];
      slope_of_x += away * nodes[p].G[i].transpose();
    }
    EXPECT_NEAR(sum, 1, 1e-14);
    EXPECT_LE(mean.norm(), 1e-14);
    EXPECT_LE(slope_of_one.norm(), 1e-12 / settings().dx);
    EXPECT_LE((slope_of_x - Mat3::Identity()).norm(), 1e-12);
  }
}

TEST_P(PipeTest, GatherIsTheSumOverTheNodesOfAPoint) {
  Ground ground = shared_ground(settings(), random_cloud(300, settings().dx, 22));
  ground.set_velocity([](const Vec3i& node, const Vec3&) { return noise(node); });
  const std::vector<PointNodes> nodes = nodes_of_points(ground);
  const Felt felt = gathered(ground);
  for (std::size_t p = 0; p < nodes.size(); ++p) {
    Vec3 u = Vec3::Zero();
    Mat3 H = Mat3::Zero();
    for (std::size_t i = 0; i < nodes[p].at.size(); ++i) {
      const Vec3 u_i = Vec3::Map(values_of(ground).data() + nodes[p].at[i]);
      u += nodes[p].w[i] * u_i;
      H += u_i * nodes[p].G[i].transpose();
    }
    EXPECT_LE((felt.u[p] - u).norm(), 1e-14);
    EXPECT_LE((felt.H[p] - H).norm(), 1e-13 / settings().dx);
  }
}

TEST_P(PipeTest, PushIsTheSumOverThePointsOfANode) {
  const Ground ground = shared_ground(settings(), random_cloud(300, settings().dx, 23));
  std::vector<Real> force = marked(ground), expected(force.size(), 0);
  push(settings(), ground.bins, ground.own.x, ground.own.v, ground.own.A, force);
  const std::vector<PointNodes> nodes = nodes_of_points(ground);
  for (std::size_t p = 0; p < nodes.size(); ++p)
    for (std::size_t i = 0; i < nodes[p].at.size(); ++i)
      Eigen::Map<Vec3>(expected.data() + nodes[p].at[i]) +=
          nodes[p].w[i] * ground.own.v[p] - ground.own.A[p] * nodes[p].G[i];
  for (std::int32_t node = 0; node < static_cast<std::int32_t>(force.size()); node += NodeField::width)
    EXPECT_LE((force_at(force, node) - Vec3::Map(expected.data() + node)).norm(), 1e-12);
}

TEST_P(PipeTest, EitherPartOfWhatIsPushedMayBeMissing) {
  const Ground ground = shared_ground(settings(), random_cloud(200, settings().dx, 24));
  std::vector<Real> together = marked(ground), apart = marked(ground);
  push(settings(), ground.bins, ground.own.x, ground.own.v, ground.own.A, together);
  push(settings(), ground.bins, ground.own.x, ground.own.v, {}, apart);
  push(settings(), ground.bins, ground.own.x, {}, ground.own.A, apart);
  for (std::size_t i = 0; i < together.size(); ++i) EXPECT_NEAR(together[i], apart[i], 1e-12);
}

TEST_P(PipeTest, PushIsTheTransposeOfGatherOnAnyNumberOfRanks) {
  Ground ground = shared_ground(settings(), random_cloud(500, settings().dx, 25));
  ground.set_velocity([](const Vec3i& node, const Vec3&) { return noise(node); });
  const Felt felt = gathered(ground);
  std::vector<Real> force = marked(ground);
  push(settings(), ground.bins, ground.own.x, ground.own.v, ground.own.A, force);
  // f . u_p - A : H_p over points, force_i . u_i over nodes, whose ghosts are copies of their owners.
  std::array<Real, 3> sums{0, 0, 0};
  for (std::size_t p = 0; p < ground.own.size(); ++p) {
    const Real work = ground.own.v[p].dot(felt.u[p]) - ground.own.A[p].cwiseProduct(felt.H[p]).sum();
    sums[0] += work;
    sums[2] += std::abs(work);
  }
  for (std::int32_t node = 0; node < static_cast<std::int32_t>(force.size()); node += NodeField::width)
    sums[1] += force_at(force, node).dot(Vec3::Map(values_of(ground).data() + node));
  ground.comm.sum(sums);
  EXPECT_GT(sums[2], 100);
  EXPECT_NEAR(sums[0], sums[1], 1e-13 * sums[2]);
}

TEST_P(PipeTest, PassingThroughGathersReactsAndPushes) {
  Ground ground = shared_ground(settings(), random_cloud(500, settings().dx, 26));
  ground.set_velocity([](const Vec3i& node, const Vec3&) { return noise(node); });
  const auto answer = [&](std::size_t row, const Vec3& u, const Mat3& H) {
    return Mat3(ground.own.m[row] * H + ground.own.C[row] * u.x());
  };
  const Felt felt = gathered(ground);
  std::vector<Mat3> A(ground.own.size());
  for (std::size_t p = 0; p < A.size(); ++p) A[p] = answer(p, felt.u[p], felt.H[p]);
  std::vector<Real> expected = marked(ground), before;
  push(settings(), ground.bins, ground.own.x, {}, A, expected);
  with_threads([&](int) {
    std::vector<Real> force = marked(ground);
    pass_through(
        settings(), ground.bins, ground.own.x, values_of(ground),
        [&](ChunkRows rows, const ChunkMotion& moved, const ChunkForces& forces) {
          for (std::size_t k = 0; k < rows.size(); ++k) forces.A[k] = answer(rows[k], moved.v[k], moved.C[k]);
        },
        force);
    for (std::size_t i = 0; i < force.size(); ++i) EXPECT_NEAR(force[i], expected[i], 1e-12 / settings().dx);
    if (!before.empty()) {
      EXPECT_EQ(std::memcmp(force.data(), before.data(), force.size() * sizeof(Real)), 0);
    }
    before = force;
  });
}

TEST_P(PipeTest, BlocksOfNodesAreTheDerivativeOfTheirForces) {
  const Ground ground = serial_ground(settings(), random_cloud(60, settings().dx, 27));
  MatrixSource source(28);
  std::vector<Mat9> tangents(ground.own.size());
  for (Mat9& tangent : tangents)
    for (int c = 0; c < 9; ++c) {
      const Mat3 column = source.matrix();
      tangent.col(c) = Eigen::Map<const Eigen::Matrix<Real, 9, 1>>(column.data());
    }
  std::vector<Real> blocks(static_cast<std::size_t>(ground.map.size() * node_blocks_row), 0);
  add_node_blocks(settings(), ground.bins, ground.own.x, tangents, blocks);

  // The pipe with A = tangent : H is linear: a unit displacement of one node gives a column of its block.
  const std::size_t nodes = blocks.size() / 9;
  std::vector<Real> motion(NodeField::width * nodes, 0), force(motion.size());
  Real largest = 0;
  for (std::size_t n = 0; n < nodes; n += 5)
    for (std::size_t s = 0; s < 3; ++s) {
      std::fill(motion.begin(), motion.end(), 0);
      std::fill(force.begin(), force.end(), 0);
      motion[NodeField::width * n + s] = 1;
      pass_through(
          settings(), ground.bins, ground.own.x, motion,
          [&](ChunkRows rows, const ChunkMotion& moved, const ChunkForces& forces) {
            for (std::size_t k = 0; k < rows.size(); ++k) forces.A[k] = change_by(tangents[rows[k]], moved.C[k]);
          },
          force);
      for (std::size_t r = 0; r < 3; ++r) {
        EXPECT_NEAR(blocks[9 * n + 3 * r + s], -force[NodeField::width * n + r], 1e-11 / settings().dx);
        largest = std::max(largest, std::abs(blocks[9 * n + 3 * r + s]));
      }
    }
  EXPECT_GT(largest, 1);
}

}  // namespace
}  // namespace weft::test
