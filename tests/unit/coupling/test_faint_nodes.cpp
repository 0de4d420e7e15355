// Springs of nodes that continua hardly reach.

#include "weft/bodies/continuum.hpp"
#include "weft/coupling/faint_nodes.hpp"

#include "support/points_on_grid.hpp"
#include "support/random_matrices.hpp"
#include "support/some_constants.hpp"
#include "support/term_checks.hpp"

#include <gtest/gtest.h>

namespace weft::test {
namespace {

constexpr Real dx = 0.1, dt = 1e-2, wave_speed = 30;

/// A small cloud of points: half of its nodes are faint.
struct Cloud : PointsOnGrid {
  TransferSettings transfer{.kernel = KernelKind::quadratic, .dx = dx, .rpic_damping = 0};
  std::unique_ptr<PointBody> body = make_continuum("lump", Chosen<NeoHookean>{some_constants<NeoHookean>()}, 700);
  Layer layer;
  FaintNodes faint;

  explicit Cloud(KernelKind kernel) {
    transfer.kernel = kernel;
    MatrixSource source(5);
    std::vector<Vec3> x;
    for (int p = 0; p < 300; ++p) x.push_back(4 * dx * source.vector());
    place(*body, dx, x,
          [&](std::size_t row, std::uint32_t p) { body->rest(row, (1 + 0.5 * std::sin(Real(p))) * 1e-4); });
    const Table& points = std::as_const(*body).points();
    layer.reset(map.size());
    NodeField& inertia = layer.get<NodeInertia>();
    scatter(
        transfer, bins, {points.get<Position>(), points.get<Velocity>(), points.get<Affine>(), points.get<Mass>()},
        [](ChunkRows, const ChunkForces& forces) { std::ranges::fill(forces.A, Mat3::Zero()); }, dt, inertia);
    map.forest().sum_to_owners(inertia.view());
    const FaintNodes::Points of_body{&bins, points.get<Position>(), points.get<Mass>()};
    faint.begin_step({&of_body, 1}, transfer, map, inertia, wave_speed);
  }

  Motion at_rest() const {
    Motion motion(*freedoms);
    motion.rate_per_u = 1 / dt;
    return motion;
  }
  template <class Field>
  Motion moved_by(const Field& u) const {
    Motion motion = at_rest();
    for_each_node([&](std::size_t at, const Vec3& x) { Eigen::Map<Vec3>(motion.u.block(0).data() + at) = u(x); });
    return motion;
  }
  /// visit(number of its first real, position), ghosts among them.
  template <class Visit>
  void for_each_node(const Visit& visit) const {
    for (int b = 0; b < map.size(); ++b)
      for (int node = 0; node < nodes_per_block; ++node)
        visit((static_cast<std::size_t>(b) * nodes_per_block + static_cast<std::size_t>(node)) * NodeField::width,
              position(b, node, dx));
  }
};

struct FaintOfKernel : testing::TestWithParam<KernelKind> {};
INSTANTIATE_TEST_SUITE_P(Kernels, FaintOfKernel,
                         testing::Values(KernelKind::linear, KernelKind::quadratic, KernelKind::cubic));

TEST_P(FaintOfKernel, ForcesAndTheirChangesAreDerivatives) {
  const Cloud cloud(GetParam());
  Motion motion = cloud.at_rest();
  motion.u = random_values(*cloud.freedoms, 0.1 * dx, 4);
  EXPECT_GT(Comm::world().sum(cloud.faint.energy(motion)), 0);
  check_term(cloud.faint, motion, 0.1 * dx);
}

TEST_P(FaintOfKernel, AffineMotionsAreFree) {
  const Cloud cloud(GetParam());
  const Mat3 gradient = MatrixSource(8).near_identity(0.5);
  const auto energy = [&](auto&& u) { return Comm::world().sum(cloud.faint.energy(cloud.moved_by(u))); };
  const auto affine = [&](const Vec3& x) { return Vec3(gradient * x + Vec3(dx, 2 * dx, -dx)); };
  EXPECT_LE(energy(affine), 1e-24 * energy([&](const Vec3& x) { return Vec3(affine(x).cwiseAbs2() / dx); }));
}

TEST_P(FaintOfKernel, ForcesHaveNoResultantAndNoTorqueAboutTheMovedNodes) {
  const Cloud cloud(GetParam());
  Motion motion = cloud.at_rest();
  motion.u = random_values(*cloud.freedoms, 0.5 * dx, 4);
  const Load force = force_of(cloud.faint, motion);
  Vec3 sum = Vec3::Zero(), torque = Vec3::Zero();
  Real size = 0;
  cloud.for_each_node([&](std::size_t at, const Vec3& x) {
    const Vec3 f = Eigen::Map<const Vec3>(force.block(0).data() + at);
    sum += f;
    torque += (x + Eigen::Map<const Vec3>(motion.u.block(0).data() + at)).cross(f);
    size += f.norm();
  });
  const Comm comm = Comm::world();
  for (Vec3* vector : {&sum, &torque}) comm.sum(std::span(vector->data(), 3));
  size = comm.sum(size);
  EXPECT_GT(size, 0);
  EXPECT_LE(sum.norm(), 1e-13 * size);
  EXPECT_LE(torque.norm(), 1e-12 * size * dx);
}

}  // namespace
}  // namespace weft::test
