#include "solve/node_matrix.hpp"

#include "parallel/call.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft {
namespace {

Eigen::Map<const Mat3> block_of(const FreedomValues& values, std::size_t node) {
  return Eigen::Map<const Mat3>(values.all().data() + 9 * node);
}

}  // namespace

NodeMatrix::NodeMatrix(const Comm& comm, const Unknowns& unknowns, const Points3& points)
    : comm_(comm),
      points_(points),
      diagonal_freedoms_(unknowns.freedoms().diagonal()),
      nodes_(points.owned()),
      left_(diagonal_freedoms_),
      right_(diagonal_freedoms_) {
  for (std::size_t n = 0; n < points.local(); ++n) number_.push_back(unknowns.number(points.freedom(n)) / 3);
}

NodeMatrix::~NodeMatrix() { check_petsc(MatDestroy(&A_)); }

void NodeMatrix::begin_step() {
  K_.reset(points_.local());
  is_filled_ = false;
}

void NodeMatrix::add(std::span<const std::int32_t> rows, std::span<const std::int32_t> columns,
                     std::span<const Real> k) {
  for (std::size_t i = 0; i < rows.size(); i += 3)
    for (std::size_t j = 0; j < columns.size(); j += 3) {
      BlockRows::Block& block =
          K_.at(static_cast<std::size_t>(points_.point_of(rows[i])), points_.point_of(columns[j]));
      for (std::size_t r = 0; r < 3; ++r)
        block.row(static_cast<Eigen::Index>(r)) +=
            Eigen::Map<const Eigen::Matrix<Real, 1, 3>>(k.data() + (i + r) * columns.size() + j);
    }
}

void NodeMatrix::create() {
  const auto owned = static_cast<PetscInt>(3 * nodes_);
  check_petsc(MatCreate(comm_.handle(), &A_));
  check_petsc(MatSetType(A_, MATAIJ));
  check_petsc(MatSetSizes(A_, owned, owned, PETSC_DETERMINE, PETSC_DETERMINE));
  check_petsc(MatSetBlockSize(A_, 3));
}

/// Whether K has other blocks or nodes have mass than were listed last; takes note of them.
bool NodeMatrix::has_other_blocks(const std::function<bool(std::size_t)>& has_mass) {
  listed_before_.clear();
  std::swap(listed_, listed_before_);
  for (std::size_t n = 0; n < nodes_; ++n) listed_.push_back(has_mass(n) ? 1 : 0);
  for (std::size_t n = 0; n < K_.rows(); ++n) {
    const auto columns = K_.columns(n);
    listed_.push_back(static_cast<std::int32_t>(columns.size()));
    listed_.insert(listed_.end(), columns.begin(), columns.end());
  }
  return !std::exchange(is_listed_, true) || listed_ != listed_before_;
}

/// The diagonal blocks of owned nodes, then those of K, which may belong to other ranks.
void NodeMatrix::list_entries() {
  std::vector<PetscInt> rows, columns;
  rows.reserve(values_.size());
  columns.reserve(values_.size());
  const auto list_block = [&](PetscInt i, PetscInt j) {
    for (PetscInt r = 0; r < 3; ++r)
      for (PetscInt s = 0; s < 3; ++s) {
        rows.push_back(3 * i + r);
        columns.push_back(3 * j + s);
      }
  };
  for (std::size_t n = 0; n < nodes_; ++n) list_block(number_[points_.at(n)], number_[points_.at(n)]);
  for (std::size_t n = 0; n < K_.rows(); ++n)
    for (const std::int32_t column : K_.columns(n)) list_block(number_[n], number_[static_cast<std::size_t>(column)]);
  check_petsc(MatSetPreallocationCOO(A_, static_cast<PetscCount>(rows.size()), rows.data(), columns.data()));
}

bool NodeMatrix::list(const std::function<bool(std::size_t)>& has_mass) {
  if (A_ == nullptr) create();
  const bool is_other = comm_.any(has_other_blocks(has_mass));
  if (is_other) {
    values_.resize(9 * (nodes_ + K_.count_of_blocks()));
    list_entries();
  }
  return is_other;
}

/// stiffness(row, k): the k-th block of a row.
template <class Stiffness>
void NodeMatrix::put(const std::function<Node(std::size_t)>& node, Stiffness&& stiffness) {
  PetscScalar* value = values_.data();
  const auto put_block = [&value](const BlockRows::Block& block) { value = std::copy_n(block.data(), 9, value); };
  for (std::size_t n = 0; n < nodes_; ++n) {
    const Node its = node(n);
    Mat3::Map(left_.all().data() + 9 * points_.at(n)) = its.left;
    Mat3::Map(right_.all().data() + 9 * points_.at(n)) = its.right;
    put_block(its.diagonal);
  }
  left_.update_ghosts();
  right_.update_ghosts();
  for (std::size_t n = 0; n < K_.rows(); ++n) {
    const auto columns = K_.columns(n);
    for (std::size_t k = 0; k < columns.size(); ++k)
      put_block(block_of(left_, n) * stiffness(n, k) * block_of(right_, static_cast<std::size_t>(columns[k])));
  }
  check_petsc(MatSetValuesCOO(A_, values_.data(), INSERT_VALUES));
}

void NodeMatrix::fill(const std::function<Node(std::size_t)>& node) {
  put(node, [this](std::size_t n, std::size_t k) -> const BlockRows::Block& { return K_.blocks(n)[k]; });
  is_filled_ = true;
}

void NodeMatrix::fill_with_springs(const std::function<Vec3i(std::size_t)>& place) {
  const auto spring = [&](std::size_t n, std::size_t other) -> Mat3 {
    const Vec3 d = (place(n) - place(other)).cast<Real>();
    return d * d.transpose() / std::pow(d.squaredNorm(), 2);
  };
  put(
      [this](std::size_t n) -> Node {
        const Mat3 its = Real(listed_[n]) * Mat3::Identity();
        return {its, its, Mat3::Identity()};
      },
      [&](std::size_t n, std::size_t k) -> BlockRows::Block {
        const auto columns = K_.columns(n);
        const auto column = static_cast<std::size_t>(columns[k]);
        if (column != n) return -spring(n, column);
        Mat3 sum = Mat3::Zero();
        for (const std::int32_t j : columns) {
          const auto other = static_cast<std::size_t>(j);
          if (other != n && !block_of(left_, other).isZero(0)) sum += spring(n, other);
        }
        return sum;
      });
}

}  // namespace weft
