#include "solve/node_matrix.hpp"

#include "parallel/call.hpp"
#include "weft/grid/node_field.hpp"

#include <algorithm>

namespace weft {
namespace {

std::size_t local_nodes(const Freedoms& freedoms) { return freedoms.size() / NodeField::width; }
Eigen::Map<const Mat3> block_of(const FreedomValues& values, std::size_t node) {
  return Eigen::Map<const Mat3>(values.all().data() + 9 * node);
}

}  // namespace

NodeMatrix::NodeMatrix(const Comm& comm, const Freedoms& freedoms, std::size_t nodes)
    : comm_(comm),
      freedoms_(freedoms),
      block_freedoms_({{"node blocks", 9 * nodes_per_block, freedoms.block(0).forest}}),
      nodes_(nodes),
      left_(block_freedoms_),
      right_(block_freedoms_) {
  FreedomValues numbers(freedoms);  // whole numbers below 2^53 travel exactly
  const auto first = static_cast<Real>(comm.offset(static_cast<std::int64_t>(nodes)));
  for (std::size_t n = 0; n < nodes; ++n) numbers.block(0)[NodeField::width * n] = first + static_cast<Real>(n);
  numbers.update_ghosts();
  for (std::size_t n = 0; n < local_nodes(freedoms); ++n)
    number_.push_back(static_cast<PetscInt>(std::as_const(numbers).all()[NodeField::width * n]));
}

NodeMatrix::~NodeMatrix() { check_petsc(MatDestroy(&A_)); }

void NodeMatrix::begin_step() {
  K_.reset(local_nodes(freedoms_));
  check_petsc(MatDestroy(&A_));
}

void NodeMatrix::add(std::span<const std::int32_t> rows, std::span<const std::int32_t> columns,
                     std::span<const Real> k) {
  for (std::size_t i = 0; i < rows.size(); i += 3)
    for (std::size_t j = 0; j < columns.size(); j += 3) {
      BlockRows::Block& block =
          K_.at(static_cast<std::size_t>(rows[i] / NodeField::width), columns[j] / NodeField::width);
      for (std::size_t r = 0; r < 3; ++r)
        block.row(static_cast<Eigen::Index>(r)) +=
            Eigen::Map<const Eigen::Matrix<Real, 1, 3>>(k.data() + (i + r) * columns.size() + j);
    }
}

/// Room for as many entries as there can be: other ranks add to rows of this one.
void NodeMatrix::create() {
  FreedomValues counts(freedoms_);
  for (std::size_t n = 0; n < K_.rows(); ++n)
    counts.all()[NodeField::width * n] = static_cast<Real>(K_.columns(n).size());
  counts.sum_to_owners();
  const auto owned = static_cast<PetscInt>(3 * nodes_);
  std::vector<PetscInt> here(3 * nodes_), elsewhere(3 * nodes_);
  for (std::size_t n = 0; n < nodes_; ++n) {
    const auto most = 3 * (1 + static_cast<PetscInt>(std::as_const(counts).all()[NodeField::width * n]));
    for (std::size_t r = 0; r < 3; ++r) {
      here[3 * n + r] = std::min(most, owned);
      elsewhere[3 * n + r] = comm_.size() > 1 ? most : 0;
    }
  }
  check_petsc(MatCreate(comm_.handle(), &A_));
  check_petsc(MatSetType(A_, MATAIJ));
  check_petsc(MatSetSizes(A_, owned, owned, PETSC_DETERMINE, PETSC_DETERMINE));
  check_petsc(MatSetBlockSize(A_, 3));
  check_petsc(MatSeqAIJSetPreallocation(A_, 0, here.data()));
  check_petsc(MatMPIAIJSetPreallocation(A_, 0, here.data(), 0, elsewhere.data()));
  check_petsc(MatSetOption(A_, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
}

void NodeMatrix::assemble(const std::function<Node(std::size_t)>& node) {
  if (A_ == nullptr) create();
  check_petsc(MatZeroEntries(A_));
  for (std::size_t n = 0; n < nodes_; ++n) {
    const Node its = node(n);
    Mat3::Map(left_.block(0).data() + 9 * n) = its.left;
    Mat3::Map(right_.block(0).data() + 9 * n) = its.right;
    const BlockRows::Block diagonal = its.diagonal;
    check_petsc(MatSetValuesBlocked(A_, 1, &number_[n], 1, &number_[n], diagonal.data(), ADD_VALUES));
  }
  left_.update_ghosts();
  right_.update_ghosts();
  for (std::size_t n = 0; n < K_.rows(); ++n) {
    const auto to = K_.columns(n);
    const auto blocks = K_.blocks(n);
    if (to.empty()) continue;
    columns_.clear();
    values_.resize(9 * to.size());
    for (std::size_t j = 0; j < to.size(); ++j) {
      const auto column = static_cast<std::size_t>(to[j]);
      columns_.push_back(number_[column]);
      const Mat3 block = block_of(left_, n) * blocks[j] * block_of(right_, column);
      for (int r = 0; r < 3; ++r)
        for (int s = 0; s < 3; ++s)
          values_[static_cast<std::size_t>(r) * 3 * to.size() + 3 * j + static_cast<std::size_t>(s)] = block(r, s);
    }
    check_petsc(MatSetValuesBlocked(A_, 1, &number_[n], static_cast<PetscInt>(to.size()), columns_.data(),
                                    values_.data(), ADD_VALUES));
  }
  check_petsc(MatAssemblyBegin(A_, MAT_FINAL_ASSEMBLY));
  check_petsc(MatAssemblyEnd(A_, MAT_FINAL_ASSEMBLY));
}

}  // namespace weft
