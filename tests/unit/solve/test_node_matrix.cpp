// The matrix of an implicit step, on every rank count.

#include "solve/node_matrix.hpp"

#include "parallel/call.hpp"
#include "solve/node_vectors.hpp"
#include "weft/grid/node_field.hpp"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

namespace weft {
namespace {

/// Of one block of nodes on each rank, without neighbours.
struct Nodes {
  const Comm comm = Comm::world();
  const Forest forest{comm, 1, {}};
  const Freedoms freedoms{{{"grid", NodeField::row, &forest, {NodeField::width, 3}}}};
  const Unknowns unknowns{comm, freedoms};
  const Points3 points{unknowns};
  NodeMatrix matrix{comm, unknowns, points};

  /// A step with the stiffness k between the nodes i and j of every rank, ones on the diagonal. The matrix's name.
  PetscObjectId fill(std::int32_t i, std::int32_t j, Real k) {
    matrix.begin_step();
    EXPECT_FALSE(matrix.is_filled());
    matrix.begin_adding();
    std::vector<std::int32_t> freedoms_of_two;
    for (const std::int32_t node : {i, j})
      for (std::int32_t axis = 0; axis < 3; ++axis) freedoms_of_two.push_back(NodeField::width * node + axis);
    Eigen::Matrix<Real, 6, 6, Eigen::RowMajor> stiffness;
    stiffness << k * Mat3::Identity(), -k * Mat3::Identity(), -k * Mat3::Identity(), k * Mat3::Identity();
    matrix.add(freedoms_of_two, {stiffness.data(), 36});
    matrix.list([](std::size_t) { return true; });
    matrix.fill([](std::size_t) -> NodeMatrix::Node { return {Mat3::Identity(), Mat3::Identity(), Mat3::Identity()}; });
    PetscObjectId id = 0;
    check_petsc(PetscObjectGetId(reinterpret_cast<PetscObject>(matrix.matrix()), &id));
    return id;
  }
  /// Of the first component between two nodes of this rank.
  Real entry(std::int32_t i, std::int32_t j) const {
    const PetscInt first = 3 * nodes_per_block * comm.rank(), row = first + 3 * i, column = first + 3 * j;
    PetscScalar value = 0;
    check_petsc(MatGetValues(matrix.matrix(), 1, &row, 1, &column, &value));
    return value;
  }
};

TEST(NodeMatrixTest, IsTheSameOneInEveryStepAndTakesOtherBlocksAndValues) {
  Nodes nodes;
  const PetscObjectId first = nodes.fill(3, 5, 2);
  EXPECT_EQ(nodes.entry(3, 3), 3);
  EXPECT_EQ(nodes.entry(3, 5), -2);
  EXPECT_EQ(nodes.entry(7, 7), 1);

  EXPECT_EQ(nodes.fill(3, 5, 4), first);
  EXPECT_EQ(nodes.entry(5, 5), 5);
  EXPECT_EQ(nodes.entry(5, 3), -4);

  // As many blocks as before, elsewhere.
  EXPECT_EQ(nodes.fill(4, 6, 8), first);
  EXPECT_EQ(nodes.entry(3, 3), 1);
  EXPECT_EQ(nodes.entry(3, 5), 0);
  EXPECT_EQ(nodes.entry(6, 6), 9);
  EXPECT_EQ(nodes.entry(4, 6), -8);
}

TEST(NodeMatrixTest, SpringsRestInRigidMotionsButForTheHoldOnTheirEnds) {
  Nodes nodes;
  nodes.fill(3, 37, 2);
  const auto place = [](std::size_t n) { return node_at_place(static_cast<int>(n)); };
  nodes.matrix.fill_with_springs(place);
  const Mat A = nodes.matrix.matrix();
  Vec x = nullptr, y = nullptr;
  check_petsc(MatCreateVecs(A, &x, &y));
  const auto change_of = [&](const Vec3& v, const Vec3& spin) {
    {
      const NodeWriting to(x);
      for (std::size_t n = 0; n < nodes_per_block; ++n) to[n] = v + spin.cross(place(n).cast<Real>());
    }
    PetscReal change = 0;
    check_petsc(MatMult(A, x, y));
    check_petsc(VecAXPY(y, -1, x));
    check_petsc(VecNorm(y, NORM_INFINITY, &change));
    return change;
  };
  EXPECT_LT(change_of({1, 2, 3}, {-2, 1, 5}), 1e-14);
  // One end moves along the spring alone.
  {
    check_petsc(VecSet(x, 0));
    const NodeWriting to(x);
    to[3] = (place(37) - place(3)).cast<Real>();
  }
  check_petsc(MatMult(A, x, y));
  const Vec3 d = (place(37) - place(3)).cast<Real>();
  {
    const NodeReading f(y);
    EXPECT_LT((f[37] + d / d.squaredNorm()).norm(), 1e-14);
    EXPECT_LT((f[3] - d - d / d.squaredNorm()).norm(), 1e-14);
  }
  check_petsc(VecDestroy(&x));
  check_petsc(VecDestroy(&y));
}

}  // namespace
}  // namespace weft
