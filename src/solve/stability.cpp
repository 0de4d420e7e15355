#include "solve/stability.hpp"

#include "parallel/call.hpp"
#include "solve/lanczos.hpp"
#include "weft/base/random.hpp"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

/// In units of the typical stiffness.
constexpr Real shift = 1e-13;
/// Without factors: what counts as negative of a matrix whose diagonal is one.
constexpr Real negative_beyond = 1e-9;
/// The most unstable of so many motions is looked for.
constexpr std::int64_t most_modes = 8;
/// Components whose ratio is beyond this are alike but for round-off.
constexpr Real same_size = 1 - 1e-6;
/// The projection of products is as exact as conditions that depend on one another let it be.
constexpr LanczosGoal by_factors{1, 1e-6, 100}, by_products{1, 1e-3, 300, 1e-7};

}  // namespace

TangentSignature::TangentSignature(const Comm& comm, StaticProblem& problem, Vec x, Factors factors)
    : comm_(comm),
      problem_(problem),
      x_(x),
      right_(problem.create_vector()),
      solution_(problem.create_vector()),
      owned_(problem.unknowns().owned().size()),
      factors_(factors) {
  const Drag drag = problem.drag();
  problem.drag().value = factors != Factors::none ? shift : 0;
  problem.assemble_at_fixed_time();
  problem.drag() = drag;
  Mat copy = nullptr;
  check_petsc(MatDuplicate(problem.matrix(), MAT_COPY_VALUES, &copy));
  if (problem.terms_are_symmetric()) check_petsc(MatSetOption(copy, MAT_SYMMETRIC, PETSC_TRUE));
  tangent_.emplace(comm, copy, factors);
}

TangentSignature::~TangentSignature() {
  check_petsc(VecDestroy(&right_));
  check_petsc(VecDestroy(&solution_));
}

Stability TangentSignature::look(const Foresight& foresight) {
  Stability found;
  if (factors_ == Factors::none) {
    look_by_products(found);
  } else if (tangent_->is_factored()) {
    look_by_factors(found);
    if (foresight.before) found.behind = increment(*foresight.before, 1);
    if (foresight.after) found.ahead = increment(*foresight.after, -1);
  }
  return found;
}

/// The lowest eigenvalues of the inverse belong to the negative ones of the tangent, the highest of these to the most
/// negative.
void TangentSignature::look_by_factors(Stability& found) {
  found.count = Stability::Count::exact;
  found.negative = std::max<std::int64_t>(0, tangent_->negative() - problem_.condition_count());
  if (found.negative == 0) return;
  const WeightedOperator inverse{[this](std::span<const Real> in, std::span<Real> out) {
                                   set(right_, in);
                                   tangent_->solve(right_, solution_);
                                   get(solution_, out);
                                 },
                                 std::vector<Real>(owned_, 1.0)};
  std::vector<Real> start(owned_);
  inverse.apply(random_values(), start);
  LanczosGoal goal = by_factors;
  goal.wanted = static_cast<std::size_t>(std::min(found.negative, most_modes));
  const LanczosResult motions = lowest_eigenvalues(comm_, inverse, std::move(start), goal);
  for (std::size_t k = motions.vectors.size(); k-- > 0;)
    if (motions.values[k] < 0) {
      found.lowest = 1 / (motions.values[k] * problem_.typical_stiffness()) - shift;
      found.mode = mode_of(motions.vectors[k]);
      return;
    }
}

/// Eigenvalues of D^-1 K on what conditions leave, D the diagonal of K; those of a Krylov space lie between the
/// eigenvalues [Parlett 1980, section 10.1], so that no more of them are negative.
void TangentSignature::look_by_products(Stability& found) {
  std::vector<Real> diagonal(owned_);
  check_petsc(MatGetDiagonal(tangent_->matrix(), right_));
  get(right_, diagonal);
  for (Real& d : diagonal) d = std::max(std::abs(d), 1e-6 * problem_.typical_stiffness());
  const SymmetricFactor left(comm_, problem_.with_diagonal(diagonal), Factors::of_all_ranks);
  if (!left.is_factored()) return;
  const WeightedOperator scaled{[this, &left](std::span<const Real> in, std::span<Real> out) {
                                  set(solution_, in);
                                  check_petsc(MatMult(tangent_->matrix(), solution_, right_));
                                  get(right_, out);
                                  set(right_, out);
                                  left.solve(right_, solution_);
                                  get(solution_, out);
                                },
                                diagonal};
  std::vector<Real> start(owned_);
  scaled.apply(random_values(), start);
  const LanczosResult motions = lowest_eigenvalues(comm_, scaled, std::move(start), by_products);
  found.count = Stability::Count::at_least;
  found.negative =
      std::count_if(motions.values.begin(), motions.values.end(), [](Real v) { return v < -negative_beyond; });
  if (found.negative == 0) return;
  found.lowest = motions.values.front();
  found.mode = mode_of(motions.vectors.front());
}

/// The change of displacements that balances the loads and holds of another time, if the tangent stays: as the solution
/// of Newton's system has it, times a sign.
std::optional<FreedomValues> TangentSignature::increment(Real time, Real sign) {
  const Real now = problem_.path().goal_time();
  problem_.path().aim_at(time);
  const bool is_finite = problem_.residual(x_, right_);
  problem_.path().aim_at(now);
  if (!is_finite) return {};
  tangent_->solve(right_, solution_);
  std::vector<Real> u(owned_);
  get(solution_, u);
  return as_motion(u, sign);
}

std::vector<Real> TangentSignature::random_values() const {
  std::vector<Real> values(owned_);
  for (std::size_t i = 0; i < owned_; ++i)
    values[i] = Random(0, 0, static_cast<std::uint64_t>(problem_.unknowns().begin()) + i).uniform() - 0.5;
  return values;
}

/// Everything else is zero.
void TangentSignature::set(Vec vector, std::span<const Real> displacements) const {
  PetscScalar* values = nullptr;
  check_petsc(VecSet(vector, 0));
  check_petsc(VecGetArray(vector, &values));
  std::copy(displacements.begin(), displacements.end(), values);
  check_petsc(VecRestoreArray(vector, &values));
}

void TangentSignature::get(Vec vector, std::span<Real> displacements) const {
  const PetscScalar* values = nullptr;
  check_petsc(VecGetArrayRead(vector, &values));
  std::copy_n(values, displacements.size(), displacements.begin());
  check_petsc(VecRestoreArrayRead(vector, &values));
}

FreedomValues TangentSignature::as_motion(std::span<const Real> displacements, Real scale) const {
  FreedomValues motion(problem_.unknowns().freedoms());
  const auto& owned = problem_.unknowns().owned();
  for (std::size_t i = 0; i < owned.size(); ++i) motion.all()[owned[i]] = scale * displacements[i];
  motion.update_ghosts();
  return motion;
}

/// Of two opposite ones that whose largest component is positive.
FreedomValues TangentSignature::mode_of(const std::vector<Real>& values) const {
  Real highest = 0, lowest = 0;
  for (const Real v : values) highest = std::max(highest, v), lowest = std::min(lowest, v);
  highest = comm_.max(highest);
  lowest = comm_.min(lowest);
  return as_motion(values, 1 / (highest >= -same_size * lowest ? highest : lowest));
}

}  // namespace weft
