// Preconditioners of an implicit step are inverses where nodes see only themselves, walls included.

#include "solve/grid_preconditioner.hpp"

#include "support/implicit_ground.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace weft {
namespace {

class OfKind : public testing::TestWithParam<std::tuple<bool, Preconditioner>> {};

TEST_P(OfKind, InvertsTheMatrixOfNodesThatSeeOnlyThemselves) {
  const Comm comm = Comm::world();
  const ImplicitSettings settings{.minimise = std::get<0>(GetParam()), .preconditioner = std::get<1>(GetParam())};
  test::ImplicitGround ground;
  const test::Anchors anchors(ground, 4000, 1e6);
  const std::vector<Wall> walls = test::three_walls();
  PetscDatabase options(comm, "", options_of_matrix_preconditioners(settings.minimise));
  GridProblem problem(comm, ground.map, {&anchors}, {}, settings);
  GridPreconditioner preconditioner(comm, ground.map, problem, settings);
  options.apply([&] { return preconditioner.create(); });

  Vec x = problem.create_vector(), r = problem.create_vector(), z = problem.create_vector(),
      product = problem.create_vector();
  problem.begin_step(test::ImplicitGround::step(0.02), walls, ground.layer.get<NodeInertia>());
  preconditioner.begin_step();
  problem.guess(x, r);
  problem.linearise(x);
  options.apply([&] { return preconditioner.set_up(false, 0); });
  {
    Random random(3, 0, static_cast<std::uint64_t>(comm.rank()));
    const NodeWriting to(r);
    for (std::size_t n = 0; n < problem.nodes(); ++n) to[n] = 2 * random.uniform3() - Vec3::Ones();
  }
  preconditioner.apply(r, z);
  problem.multiply(z, product);
  Real size = 0, error = 0;
  check_petsc(VecNorm(r, NORM_2, &size));
  check_petsc(VecAXPY(product, -1, r));
  check_petsc(VecNorm(product, NORM_2, &error));
  EXPECT_LE(error, 1e-11 * size);
  for (Vec* v : {&x, &r, &z, &product}) check_petsc(VecDestroy(v));
}

std::string name_of(const testing::TestParamInfo<OfKind::ParamType>& info) {
  const auto [minimise, kind] = info.param;
  return std::string(minimise ? "Minimise" : "Residual") + (kind == Preconditioner::blocks ? "Blocks" : "Direct");
}
INSTANTIATE_TEST_SUITE_P(GridPreconditionerTest, OfKind,
                         testing::Combine(testing::Bool(),
                                          testing::Values(Preconditioner::blocks, Preconditioner::direct)),
                         name_of);

}  // namespace
}  // namespace weft
