#include "solve/holds.hpp"

#include "parallel/call.hpp"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

/// Held places give way by this share of what they would without a hold.
constexpr Real softness = 1e-5;

}  // namespace

Holds::Holds(const Comm& comm, const Unknowns& unknowns, const Points3& points,
             std::vector<const Constraints*> constraints)
    : comm_(comm),
      unknowns_(unknowns),
      points_(points),
      diagonal_freedoms_(unknowns.freedoms().diagonal()),
      constraints_(std::move(constraints)),
      nodes_(points.owned()),
      spread_(unknowns.freedoms()),
      blocks_(diagonal_freedoms_) {}

Holds::~Holds() { clear(); }

void Holds::clear() {
  for (Mat* m : {&B_, &GB_, &GB_transposed_, &S_}) check_petsc(MatDestroy(m));
  for (Vec* v : {&right_, &solution_, &released_}) check_petsc(VecDestroy(v));
  check_petsc(KSPDestroy(&ksp_));
}

namespace {

Mat sparse(const Comm& comm, PetscInt rows, PetscInt columns, const ConstraintRows& pattern) {
  PetscInt most = 1;
  for (std::size_t c = 0; c < pattern.count(); ++c)
    most = std::max(most, static_cast<PetscInt>(pattern.begin[c + 1] - pattern.begin[c]));
  Mat matrix = nullptr;
  check_petsc(MatCreateAIJ(comm.handle(), rows, columns, PETSC_DETERMINE, PETSC_DETERMINE, most, nullptr, most, nullptr,
                           &matrix));
  return matrix;
}

/// Rows b_c = value / norm_c.
void fill(Mat matrix, const ConstraintRows& rows, std::span<const PetscInt> columns, std::span<const Real> per_norm,
          std::span<const Real> values) {
  PetscInt first = 0;
  check_petsc(MatZeroEntries(matrix));
  check_petsc(MatGetOwnershipRange(matrix, &first, nullptr));
  for (std::size_t c = 0; c < rows.count(); ++c) {
    const PetscInt row = first + static_cast<PetscInt>(c);
    for (std::size_t e = rows.begin[c]; e < rows.begin[c + 1]; ++e) {
      const PetscScalar value = values[e] * per_norm[c];
      check_petsc(MatSetValues(matrix, 1, &row, 1, &columns[e], &value, ADD_VALUES));
    }
  }
  check_petsc(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  check_petsc(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
}

}  // namespace

void Holds::begin_step(Real time, Real dt, Real k, std::span<const Real> root_mass) {
  const std::vector<std::size_t> begin_before = std::move(rows_.begin);
  rows_ = {};
  for (const Constraints* constraints : constraints_) constraints->append(time, rows_);
  count_ = constraints_.empty() ? 0 : comm_.sum(static_cast<std::int64_t>(rows_.count()));
  if (!any()) return clear();
  dt_ = dt;
  kappa_ = k / softness;
  root_mass_.assign(root_mass.begin(), root_mass.end());

  spread_.set_zero();
  for (std::size_t n = 0; n < nodes_; ++n)
    spread_.all()[points_.freedom_of_owned(n)] = root_mass[n] > 0 ? std::pow(root_mass[n], -2) : 0;
  spread_.update_ghosts();
  per_norm_.assign(rows_.count(), 0);
  for (std::size_t c = 0; c < rows_.count(); ++c) {
    Real square = 0;
    for (std::size_t e = rows_.begin[c]; e < rows_.begin[c + 1]; ++e) {
      const Real inverse_mass = spread_.all()[points_.freedom(points_.point_of(rows_.freedom[e]))];
      square += rows_.weight[e] * rows_.weight[e] * inverse_mass;
    }
    if (square > 0) per_norm_[c] = 1 / std::sqrt(square);
  }
  const std::vector<PetscInt> columns_before = std::move(columns_);
  columns_.clear();
  for (const std::int32_t freedom : rows_.freedom) columns_.push_back(unknowns_.number(freedom));
  if (comm_.any(B_ == nullptr || rows_.begin != begin_before || columns_ != columns_before)) {
    clear();
    create();
  }
  fill(B_, rows_, columns_, per_norm_, rows_.weight);
}

/// Places for B, and for a matrix of the same pattern.
void Holds::create() {
  const auto rows = static_cast<PetscInt>(rows_.count()), columns = static_cast<PetscInt>(3 * nodes_);
  B_ = sparse(comm_, rows, columns, rows_);
  GB_ = sparse(comm_, rows, columns, rows_);
  check_petsc(VecCreateMPI(comm_.handle(), rows, PETSC_DETERMINE, &right_));
  for (Vec* v : {&solution_, &released_}) check_petsc(VecDuplicate(right_, v));
}

Real Holds::miss(std::size_t c, std::span<const Real> u) const {
  Real sum = 0;
  for (std::size_t e = rows_.begin[c]; e < rows_.begin[c + 1]; ++e) sum += rows_.weight[e] * u[rows_.freedom[e]];
  return sum;
}

Real Holds::energy(const Motion& motion) const {
  Real sum = 0;
  for (std::size_t c = 0; c < rows_.count(); ++c)
    sum += std::pow((miss(c, motion.u.all()) - rows_.target[c]) * per_norm_[c] / dt_, 2);
  return 0.5 * kappa_ * sum;
}

std::vector<Real> Holds::impulses(const Motion& motion) const {
  std::vector<Real> impulses(rows_.count());
  for (std::size_t c = 0; c < rows_.count(); ++c)
    impulses[c] = -kappa_ * (miss(c, motion.u.all()) - rows_.target[c]) * per_norm_[c] * per_norm_[c] / dt_;
  return impulses;
}

void Holds::add_force(const Motion& motion, Load& force) const {
  const std::vector<Real> impulse = impulses(motion);
  for (std::size_t c = 0; c < rows_.count(); ++c)
    for (std::size_t e = rows_.begin[c]; e < rows_.begin[c + 1]; ++e)
      force.all()[rows_.freedom[e]] += rows_.weight[e] * impulse[c] / dt_;
}

void Holds::add_force_change(const FreedomValues& du, Load& change) const {
  for (std::size_t c = 0; c < rows_.count(); ++c) {
    const Real impulse = -kappa_ * miss(c, du.all()) * per_norm_[c] * per_norm_[c] / dt_;
    for (std::size_t e = rows_.begin[c]; e < rows_.begin[c + 1]; ++e)
      change.all()[rows_.freedom[e]] += rows_.weight[e] * impulse / dt_;
  }
}

void Holds::factor(std::span<const Mat3> G) {
  blocks_.set_zero();
  for (std::size_t n = 0; n < nodes_; ++n)
    if (root_mass_[n] > 0)
      Eigen::Map<Mat3>(blocks_.all().data() + 9 * points_.at(n)) = G[n] / (root_mass_[n] * root_mass_[n]);
  blocks_.update_ghosts();
  // Row c has G b_c; the three components of a node's weight stand one after another.
  std::vector<Real> values(rows_.weight.size(), 0);
  for (std::size_t e = 0; e < values.size(); e += 3) {
    const Vec3 w(rows_.weight[e], rows_.weight[e + 1], rows_.weight[e + 2]);
    const Eigen::Map<const Mat3> block(std::as_const(blocks_).all().data() + 9 * points_.point_of(rows_.freedom[e]));
    Eigen::Map<Vec3>(values.data() + e) = block * w;
  }
  fill(GB_, rows_, columns_, per_norm_, values);
  const MatReuse reuse = S_ == nullptr ? MAT_INITIAL_MATRIX : MAT_REUSE_MATRIX;
  check_petsc(MatTranspose(GB_, reuse, &GB_transposed_));
  check_petsc(MatMatMult(B_, GB_transposed_, reuse, PETSC_DEFAULT, &S_));
  check_petsc(MatShift(S_, 1 / kappa_));
  if (ksp_ == nullptr) {
    check_petsc(KSPCreate(comm_.handle(), &ksp_));
    check_petsc(KSPSetType(ksp_, KSPPREONLY));
    PC pc = nullptr;
    check_petsc(KSPGetPC(ksp_, &pc));
    check_petsc(PCSetType(pc, PCREDUNDANT));  // LU of all on each rank: parallel MUMPS does not repeat its bits
  }
  check_petsc(KSPSetOperators(ksp_, S_, S_));
}

template <class AtNode>
void Holds::solve_for(AtNode&& y) {
  spread_.set_zero();
  for (std::size_t n = 0; n < nodes_; ++n)
    if (root_mass_[n] > 0) Eigen::Map<Vec3>(spread_.all().data() + points_.freedom_of_owned(n)) = y(n) / root_mass_[n];
  spread_.update_ghosts();
  PetscScalar* values = nullptr;
  check_petsc(VecGetArray(right_, &values));
  for (std::size_t c = 0; c < rows_.count(); ++c) values[c] = miss(c, spread_.all()) * per_norm_[c];
  check_petsc(VecRestoreArray(right_, &values));
  check_petsc(KSPSolve(ksp_, right_, solution_));
}

template <class Add>
void Holds::spread_solution(Add&& add) {
  spread_.set_zero();
  const PetscScalar* values = nullptr;
  check_petsc(VecGetArrayRead(solution_, &values));
  for (std::size_t c = 0; c < rows_.count(); ++c)
    for (std::size_t e = rows_.begin[c]; e < rows_.begin[c + 1]; ++e)
      spread_.all()[rows_.freedom[e]] += rows_.weight[e] * per_norm_[c] * values[c];
  check_petsc(VecRestoreArrayRead(solution_, &values));
  spread_.sum_to_owners();
  for (std::size_t n = 0; n < nodes_; ++n)
    if (root_mass_[n] > 0)
      add(n, Vec3(Eigen::Map<const Vec3>(spread_.all().data() + points_.freedom_of_owned(n)) / root_mass_[n]));
}

void Holds::correct(std::span<const Mat3> G, std::span<const Vec3> y, std::span<Vec3> z) {
  solve_for([&](std::size_t n) { return y[n]; });
  spread_solution([&](std::size_t n, const Vec3& part) { z[n] -= G[n] * part; });
}

void Holds::release(std::span<const Mat3> G, std::span<Vec3> r) {
  solve_for([&](std::size_t n) { return Vec3(G[n] * r[n]); });
  spread_solution([&](std::size_t n, const Vec3& part) { r[n] -= part; });
  check_petsc(KSPSolve(ksp_, solution_, released_));
}

void Holds::restore(std::span<const Mat3> G, std::span<Vec3> z) {
  solve_for([&](std::size_t n) { return z[n]; });
  check_petsc(VecAXPY(solution_, -1 / kappa_, released_));
  spread_solution([&](std::size_t n, const Vec3& part) { z[n] -= G[n] * part; });
}

void Holds::add_tangent(Tangent& tangent) const {
  std::vector<Real> k;
  for (std::size_t c = 0; c < rows_.count(); ++c) {
    const std::size_t first = rows_.begin[c], count = rows_.begin[c + 1] - first;
    k.resize(count * count);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < count; ++j)
        k[i * count + j] = kappa_ * std::pow(per_norm_[c] / dt_, 2) * rows_.weight[first + i] * rows_.weight[first + j];
    tangent.add(std::span(rows_.freedom).subspan(first, count), k);
  }
}

}  // namespace weft
