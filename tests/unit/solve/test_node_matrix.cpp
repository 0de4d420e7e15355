// The matrix of an implicit step, on every rank count.

#include "solve/node_matrix.hpp"

#include "parallel/call.hpp"
#include "weft/grid/node_field.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

/// Of one block of nodes on each rank, without neighbours.
struct Nodes {
  const Comm comm = Comm::world();
  const Forest forest{comm, 1, {}};
  const Freedoms freedoms{{{"grid", NodeField::row, &forest}}};
  NodeMatrix matrix{comm, freedoms, nodes_per_block};

  /// A step with the stiffness k between the nodes i and j of every rank, ones on the diagonal. The matrix's name.
  PetscObjectId fill(std::int32_t i, std::int32_t j, Real k) {
    matrix.begin_step();
    EXPECT_EQ(matrix.matrix(), nullptr);
    matrix.begin_adding();
    std::vector<std::int32_t> freedoms_of_two;
    for (const std::int32_t node : {i, j})
      for (std::int32_t axis = 0; axis < 3; ++axis) freedoms_of_two.push_back(NodeField::width * node + axis);
    Eigen::Matrix<Real, 6, 6, Eigen::RowMajor> stiffness;
    stiffness << k * Mat3::Identity(), -k * Mat3::Identity(), -k * Mat3::Identity(), k * Mat3::Identity();
    matrix.add(freedoms_of_two, {stiffness.data(), 36});
    matrix.assemble([](std::size_t) -> NodeMatrix::Node {
      return {Mat3::Identity(), Mat3::Identity(), Mat3::Identity()};
    });
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

}  // namespace
}  // namespace weft
