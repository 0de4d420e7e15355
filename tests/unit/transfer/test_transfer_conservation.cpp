// Scatter and gather: what they conserve, and are to one another [docs/theory/transfer.md, 2].

#include "unit/transfer/transfer_test.hpp"

#include <algorithm>
#include <cmath>

namespace weft::test {
namespace {

template <class T>
void sum_over(const Comm& comm, T& value) {
  comm.sum(std::span(value.data(), static_cast<std::size_t>(value.size())));
}

// --- Conservation -------------------------------------------------------------------------------------------------

struct NodeTotals {
  Real mass = 0;
  Vec3 momentum = Vec3::Zero(), angular = Vec3::Zero();
};
/// Sums over the nodes of all ranks.
NodeTotals totals_of(Ground& ground) {
  NodeTotals totals;
  ground.for_each_node([&](const Vec3i&, const Vec3& x, const Real* value) {
    const Vec3 p = Vec3::Map(value + 1);
    totals.mass += value[0];
    totals.momentum += p;
    totals.angular += x.cross(p);
  });
  totals.mass = ground.comm.sum(totals.mass);
  sum_over(ground.comm, totals.momentum);
  sum_over(ground.comm, totals.angular);
  return totals;
}

TEST_P(TransferTest, ScatterKeepsMassMomentumAndAngularMomentumWithAndWithoutDamping) {
  for (const Real damping : {0.0, 0.3, 1.0})
    for (const auto& s : settings(damping)) {
      SCOPED_TRACE(::testing::Message() << "damping " << damping << ", dx " << s.dx);
      Cloud cloud = random_cloud(800, s.dx, 3);
      std::fill(cloud.A.begin(), cloud.A.end(), Mat3::Zero());
      NodeTotals expected;
      Real momentum_scale = 0, angular_scale = 0;
      for (std::size_t p = 0; p < cloud.size(); ++p) {
        const Vec3 mv = cloud.m[p] * cloud.v[p];
        const Vec3 own = cloud.m[p] * axial(cloud.C[p] * inertia_of(s, cloud.x[p]).asDiagonal());
        expected.mass += cloud.m[p];
        expected.momentum += mv;
        expected.angular += cloud.x[p].cross(mv) + own;
        momentum_scale += mv.norm();
        angular_scale += cloud.x[p].norm() * mv.norm() + own.norm();
      }
      Ground ground = shared_ground(s, cloud);
      ground.scatter_points(dt);
      const NodeTotals found = totals_of(ground);
      // A few round-offs of each point's share.
      EXPECT_NEAR(found.mass, expected.mass, 1e-14 * expected.mass);
      EXPECT_LE((found.momentum - expected.momentum).norm(), 1e-14 * momentum_scale);
      EXPECT_LE((found.angular - expected.angular).norm(), 1e-14 * angular_scale);
    }
}

TEST_P(TransferTest, GatherKeepsMomentumAndAngularMomentumOfTheMovedGrid) {
  for (const auto& s : settings()) {
    Cloud cloud = random_cloud(800, s.dx, 4);
    std::fill(cloud.A.begin(), cloud.A.end(), Mat3::Zero());
    Ground ground = shared_ground(s, cloud);
    ground.scatter_points(dt);
    // m_i from the points, v_i anything.
    Vec3 momentum = Vec3::Zero(), angular = Vec3::Zero();
    ground.for_each_node([&](const Vec3i& node, const Vec3& x, const Real* value) {
      const Vec3 v = noise(node);
      momentum += value[0] * v;
      angular += (x + dt * v).cross(value[0] * v);
    });
    ground.set_velocity([](const Vec3i& node, const Vec3&) { return noise(node); });
    const auto [v, C] = ground.gather_points();
    Real momentum_scale = 0, angular_scale = 0;
    for (std::size_t p = 0; p < ground.own.size(); ++p) {
      const Vec3 x = ground.own.x[p] + dt * v[p], mv = ground.own.m[p] * v[p];
      const Vec3 own = ground.own.m[p] * axial(C[p] * inertia_of(s, ground.own.x[p]).asDiagonal());
      momentum -= mv;
      angular -= x.cross(mv) + own;
      momentum_scale += ground.own.m[p];  // speeds are near 1
      angular_scale += ground.own.m[p] * (x.norm() + s.dx);
    }
    sum_over(ground.comm, momentum);
    sum_over(ground.comm, angular);
    EXPECT_LE(momentum.norm(), 1e-14 * ground.comm.sum(momentum_scale));
    EXPECT_LE(angular.norm(), 1e-14 * ground.comm.sum(angular_scale));
  }
}

TEST_P(TransferTest, FullDampingLeavesTheRigidPartOfTheVelocityGradient) {
  for (const auto& s : settings()) {
    Cloud cloud = random_cloud(300, s.dx, 5), rigid = cloud;
    for (std::size_t p = 0; p < cloud.size(); ++p) {
      const Vec3 D = inertia_of(s, cloud.x[p]);
      rigid.C[p] = rigid_part(cloud.C[p], D / (s.dx * s.dx));
      EXPECT_EQ(rigid.C[p], -rigid.C[p].transpose());
      const Real scale = cloud.C[p].norm() * D.maxCoeff();
      EXPECT_LE((axial(rigid.C[p] * D.asDiagonal()) - axial(cloud.C[p] * D.asDiagonal())).norm(), 1e-14 * scale);
      if (GetParam() != KernelKind::linear) {
        EXPECT_LE((rigid.C[p] - 0.5 * (cloud.C[p] - cloud.C[p].transpose())).norm(), 1e-14 * cloud.C[p].norm());
      }
    }
    Ground damped = serial_ground({s.kernel, s.dx, 1}, cloud), undamped = serial_ground(s, rigid);
    damped.scatter_points(dt);
    undamped.scatter_points(dt);
    for (int k = 0; k < damped.map.size() * NodeField::row; ++k)
      EXPECT_NEAR(damped.field.block(0)[k], undamped.field.block(0)[k], 1e-13);  // values are below ten
  }
}

TEST(RigidPartTest, LeavesARotationAloneAndExistsWithoutInertia) {
  Mat3 spin;
  spin << 0, -3, 2, 3, 0, -1, -2, 1, 0;
  EXPECT_LE((rigid_part(spin, {0.1, 0.2, 0.05}) - spin).norm(), 1e-15);
  const Mat3 C = MatrixSource(1).matrix();
  EXPECT_LE((rigid_part(C, Vec3::Zero()) - 0.5 * (C - C.transpose())).norm(), 1e-15);  // a point on a node
  // About an edge of no extent along x: only the rows that move along x are seen.
  EXPECT_NEAR(rigid_part(C, {0, 0.25, 0.25})(0, 1), C(0, 1), 1e-15);
}

TEST_P(TransferTest, InternalForcesBalanceAndSoDoTheirTorquesIfStressIsSymmetric) {
  for (const auto& s : settings()) {
    Cloud cloud = random_cloud(800, s.dx, 6);
    for (std::size_t p = 0; p < cloud.size(); ++p) {
      cloud.v[p].setZero();
      cloud.C[p].setZero();
      cloud.A[p] = (cloud.A[p] + cloud.A[p].transpose()).eval();
    }
    Ground ground = shared_ground(s, cloud);
    ground.scatter_points(dt);
    Real force_scale = 0, torque_scale = 0;
    ground.for_each_node([&](const Vec3i&, const Vec3& x, const Real* value) {
      const Real f = Vec3::Map(value + 1).norm();
      force_scale += f;
      torque_scale += f * x.norm();
    });
    const NodeTotals totals = totals_of(ground);
    EXPECT_GT(ground.comm.sum(force_scale), 1);
    EXPECT_LE(totals.momentum.norm(), 1e-14 * ground.comm.sum(force_scale));
    EXPECT_LE(totals.angular.norm(), 1e-14 * ground.comm.sum(torque_scale));
  }
}

// --- One operator and its transpose -------------------------------------------------------------------------------

TEST_P(TransferTest, APlaceThatIsNotANumberSpoilsNoMoreThanTheTileOfItsBin) {
  const TransferSettings s{GetParam(), 0.25, 0};
  for (int axis = 0; axis < 3; ++axis) {
    Ground ground = serial_ground(s, random_cloud(300, s.dx, 33));
    const Bin& bin = ground.bins.bins().back();
    const std::uint32_t lost = ground.bins.order()[bin.begin];
    ground.own.x[lost][axis] = std::numeric_limits<Real>::quiet_NaN();
    ground.scatter_points(dt);
    int spoilt = 0;
    for (int block = 0; block < ground.map.size(); ++block) {
      const std::span<const Real> row(ground.field.block(block), NodeField::row);
      if (std::all_of(row.begin(), row.end(), [](Real value) { return std::isfinite(value); })) continue;
      ++spoilt;
      EXPECT_NE(std::find(bin.numbers.begin(), bin.numbers.end(), block), bin.numbers.end());
    }
    EXPECT_GT(spoilt, 0);
    EXPECT_FALSE(ground.gather_points().v[lost].allFinite());
  }
}

TEST_P(TransferTest, GatherIsTheTransposeOfScatter) {
  for (const auto& s : settings()) {
    Cloud cloud = random_cloud(800, s.dx, 12);
    std::fill(cloud.C.begin(), cloud.C.end(), Mat3::Zero());
    Ground ground = shared_ground(s, cloud);
    ground.scatter_points(dt);
    // <scatter(m v, A), u> = sum m v . u_p - dt A : H_p
    Real at_nodes = 0, at_points = 0, scale = 0;
    ground.for_each_node(
        [&](const Vec3i& node, const Vec3&, const Real* value) { at_nodes += Vec3::Map(value + 1).dot(noise(node)); });
    ground.set_velocity([](const Vec3i& node, const Vec3&) { return noise(node); });
    const auto [u, H] = ground.gather_points();
    for (std::size_t p = 0; p < u.size(); ++p) {
      const Real motion = ground.own.m[p] * ground.own.v[p].dot(u[p]);
      const Real work = dt * ground.own.A[p].cwiseProduct(H[p]).sum();
      at_points += motion - work;
      scale += std::abs(motion) + std::abs(work);
    }
    EXPECT_NEAR(ground.comm.sum(at_nodes), ground.comm.sum(at_points), 1e-13 * ground.comm.sum(scale));
  }
}

/// Shares of two sides: together they are the whole, and gather is the transpose for any of them. Every other slab of
/// blocks has one side.
TEST_P(TransferTest, SidesOfNodesShareWhatPointsGive) {
  for (const auto& s : settings()) {
    Ground ground = shared_ground(s, random_cloud(700, s.dx, 21));
    std::vector<Vec3> normals;
    for (const Vec3& v : ground.own.v) normals.push_back(v.normalized());
    NodeField share("share", "1"), near("near", "1"), far("far", "1");
    for (NodeField* field : {&share, &near, &far}) field->reset(ground.map.size());
    ground.for_each_node([&](const Vec3i& node, const Vec3&, Real* value) {
      Real* const of_node = share.block(0) + (value - ground.field.block(0));
      const Vec3 d = (node.x() >> 2) % 2 == 0 ? Vec3(noise(node) / 4) : Vec3::Zero();
      of_node[0] = 1 - d.norm();
      Vec3::Map(of_node + 1) = d;
    });
    ground.map.forest().update_ghosts(share.view());
    std::vector<char> split;
    for (int b = 0; b < ground.map.size(); ++b) split.push_back(share.block(b)[0] != 1);
    const NodeSides sides{&share, split, normals};
    const ScatterPoints points{ground.own.x, ground.own.v, {}, ground.own.m};
    scatter(s, ground.bins, points, {}, 0, ground.field);
    scatter_to_sides(s, ground.bins, points, sides, near, far);
    Real most_far = 0;
    for (std::ptrdiff_t k = 0; k < static_cast<std::ptrdiff_t>(ground.map.size()) * NodeField::row; ++k) {
      EXPECT_NEAR(near.block(0)[k] + far.block(0)[k], ground.field.block(0)[k], 1e-13);
      most_far = std::max(most_far, std::abs(far.block(0)[k]));
    }
    EXPECT_TRUE(most_far > 0.01 || ground.own.size() == 0);
    for (NodeField* field : {&near, &far}) ground.map.forest().sum_to_owners(field->view());
    Real at_nodes = 0, at_points = 0;
    NodeField of_near("of_near", "1"), of_far("of_far", "1");
    for (NodeField* field : {&of_near, &of_far}) field->reset(ground.map.size());
    ground.for_each_node([&](const Vec3i& node, const Vec3&, Real* value) {
      const std::ptrdiff_t k = value - ground.field.block(0);
      Vec3::Map(of_near.block(0) + k) = noise(node);
      Vec3::Map(of_far.block(0) + k) = noise(node + Vec3i(7, 0, 0));
      at_nodes += Vec3::Map(near.block(0) + k + 1).dot(noise(node)) +
                  Vec3::Map(far.block(0) + k + 1).dot(noise(node + Vec3i(7, 0, 0)));
    });
    for (NodeField* field : {&of_near, &of_far}) ground.map.forest().update_ghosts(field->view());
    std::vector<Vec3> values(ground.own.size());
    gather_from_sides(s, ground.bins, ground.own.x, sides, of_near, of_far, values);
    for (std::size_t p = 0; p < values.size(); ++p) at_points += ground.own.m[p] * ground.own.v[p].dot(values[p]);
    EXPECT_NEAR(ground.comm.sum(at_nodes), ground.comm.sum(at_points), 1e-12 * 700);
  }
}

/// Saint Venant-Kirchhoff rubber, enough to be nonlinear: psi = mu |E|^2 + lambda/2 tr(E)^2, E = (F^T F - I)/2.
struct Rubber {
  static constexpr Real mu = 2, lambda = 3;
  static Mat3 strain(const Mat3& F) { return 0.5 * (F.transpose() * F - Mat3::Identity()); }
  static Real energy(const Mat3& F) {
    const Mat3 E = strain(F);
    return mu * E.squaredNorm() + 0.5 * lambda * E.trace() * E.trace();
  }
  static Mat3 stress(const Mat3& F) {
    const Mat3 E = strain(F);
    return F * (2 * mu * E + lambda * E.trace() * Mat3::Identity());
  }
};

TEST_P(TransferTest, NodalForcesAreMinusTheDerivativeOfTheEnergyByTheNodesDisplacements) {
  const TransferSettings s{GetParam(), 0.25, 0};
  Cloud cloud = random_cloud(8, s.dx, 13);
  for (Vec3& x : cloud.x) x *= 0.15;  // so that they share nodes
  MatrixSource source(14);
  std::vector<Mat3> F(cloud.size());
  for (std::size_t p = 0; p < cloud.size(); ++p) {
    F[p] = source.near_identity(0.3);
    cloud.v[p].setZero();
    cloud.C[p].setZero();
    cloud.A[p] = cloud.m[p] * Rubber::stress(F[p]) * F[p].transpose();  // m serves as rest volume
  }
  Ground ground = serial_ground(s, cloud);
  ground.scatter_points(1);  // dt = 1: momentum is force
  const NodeField force = ground.field;
  Real largest = 0;
  for (int k = 0; k < ground.map.size() * NodeField::row; ++k) largest = std::max(largest, force.block(0)[k]);
  EXPECT_GT(largest, 0.1);

  const auto energy = [&](int value, Real displacement) {
    ground.field.reset(ground.map.size());
    ground.field.block(0)[value] = displacement;
    const auto H = ground.gather_points().C;
    Real sum = 0;
    for (std::size_t p = 0; p < cloud.size(); ++p) sum += cloud.m[p] * Rubber::energy((Mat3::Identity() + H[p]) * F[p]);
    return sum;
  };
  // The energy is a quartic in u, so the four-point difference is exact but for round-off: 1e-16 E / (h dx).
  const Real h = 0.1 * s.dx;
  for (int value = 0; value < ground.map.size() * NodeField::row; ++value) {
    const int component = value % NodeField::width;
    if (component == 3) continue;  // velocities have three
    const Real slope =
        (8 * (energy(value, h) - energy(value, -h)) - (energy(value, 2 * h) - energy(value, -2 * h))) / (12 * h);
    EXPECT_NEAR(force.block(0)[value + 1], -slope, 1e-12 * largest) << "value " << value;
  }
}

TEST_P(TransferTest, GatherLeavesTheMotionInColumnsAndTouchesNoOtherRow) {
  const TransferSettings s{GetParam(), 0.1, 0};
  const Cloud cloud = random_cloud(2000, s.dx, 19);
  const std::size_t count = cloud.size();
  // Rows in visiting order, which follow one another, and in any order, which do not.
  const Ground any_order = serial_ground(s, cloud);
  const Cloud in_order = cloud.picked(any_order.bins.order());
  for (const Cloud& rows : {in_order, cloud}) {
    Ground ground = serial_ground(s, rows);
    ground.scatter_points(dt);
    const Ground::Gathered expected = ground.gather_points();
    std::vector<Vec3> v(count + 1, Vec3::Constant(7));
    std::vector<Mat3> C(count + 1, Mat3::Constant(7));
    gather(s, ground.bins, rows.x, ground.field,
           [&](ChunkRows chunk, const ChunkMotion& motion) {
             for (std::size_t k = 0; k < chunk.size(); ++k) {
               EXPECT_EQ(motion.v[k], v[chunk[k]]);
               EXPECT_EQ(motion.C[k], C[chunk[k]]);
             }
           },
           {std::span(v).first(count), std::span(C).first(count)});
    for (std::size_t p = 0; p < count; ++p) {
      EXPECT_EQ(v[p], expected.v[p]);
      EXPECT_EQ(C[p], expected.C[p]);
    }
    EXPECT_EQ(v[count], Vec3(Vec3::Constant(7)));
    EXPECT_EQ(C[count], Mat3(Mat3::Constant(7)));
  }
}

}  // namespace
}  // namespace weft::test
