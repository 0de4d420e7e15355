#include "solve/static_problem.hpp"

#include "parallel/call.hpp"
#include "weft/base/check.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

namespace weft {
namespace {

/// The zero block of the saddle point system is made slightly negative, which keeps it regular where conditions depend
/// on one another; the solution is not changed, for Newton's residual knows nothing of it.
constexpr Real regularisation = 1e-9;
/// Conditions are met if what is missing of them, squared, is this part of the square of the unbalanced forces.
constexpr Real met = 1e-12;
/// Of the time scale: for differences.
constexpr Real time_step = 1e-4;

/// A scalar that each rank adds to, as a norm needs it.
Real norm_of(const Comm& comm, std::span<const Real> values) {
  Real sum = 0;
  for (const Real x : values) sum += x * x;
  return std::sqrt(comm.sum(sum));
}

/// Puts what Terms add into a matrix of unknowns.
class MatrixAdder final : public Tangent {
 public:
  MatrixAdder(const Unknowns& unknowns, Entries& to) : unknowns_(unknowns), to_(to) {}
  void add(std::span<const std::int32_t> rows, std::span<const std::int32_t> columns,
           std::span<const Real> k) override {
    list(rows, rows_);
    if (rows.data() == columns.data()) return to_.add(rows_, rows_, k);
    list(columns, columns_);
    to_.add(rows_, columns_, k);
  }

 private:
  void list(std::span<const std::int32_t> freedoms, std::vector<PetscInt>& numbers) const {
    numbers.clear();
    for (const std::int32_t i : freedoms) numbers.push_back(unknowns_.number(i));
  }

  const Unknowns& unknowns_;
  Entries& to_;
  std::vector<PetscInt> rows_, columns_;
};

/// Sums what Terms add to the diagonal, and passes it on.
class DiagonalAdder final : public Tangent {
 public:
  DiagonalAdder(std::span<Real> values, Tangent* next) : values_(values), next_(next) {}
  void add(std::span<const std::int32_t> rows, std::span<const std::int32_t> columns,
           std::span<const Real> k) override {
    const bool is_square = rows.data() == columns.data();
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = is_square ? i : 0; j < (is_square ? i + 1 : columns.size()); ++j)
        if (rows[i] == columns[j]) values_[static_cast<std::size_t>(rows[i])] += k[i * columns.size() + j];
    if (next_ != nullptr) next_->add(rows, columns, k);
  }

 private:
  std::span<Real> values_;
  Tangent* next_;
};

/// Notes which unknowns of a rank, from `begin` on, are added to together.
class CliqueEntries final : public Entries {
 public:
  using Entries::add;
  CliqueEntries(PetscInt begin, std::size_t count) : begin_(begin), count_(count) {}
  void add(std::span<const PetscInt> rows, std::span<const PetscInt> columns, std::span<const PetscScalar>) override {
    note(rows);
    if (!std::ranges::equal(rows, columns)) note(columns);
    cliques.close();
  }

  Cliques cliques;

 private:
  void note(std::span<const PetscInt> numbers) {
    for (const PetscInt number : numbers) {
      WEFT_ENSURE(number >= begin_ && static_cast<std::size_t>(number - begin_) < count_);
      cliques.unknown.push_back(number - begin_);
    }
  }
  PetscInt begin_;
  std::size_t count_;
};

/// The conditions of this rank at a time; writes where each Constraints starts among them, and their number.
ConstraintRows rows_at(std::span<const Constraints* const> constraints, Real time, std::vector<std::size_t>& first) {
  ConstraintRows rows;
  first.clear();
  for (const Constraints* c : constraints) {
    first.push_back(rows.count());
    c->append(time, rows);
  }
  first.push_back(rows.count());
  return rows;
}

}  // namespace

StaticProblem::StaticProblem(const Comm& comm, const Freedoms& freedoms, std::vector<const Term*> terms,
                             std::vector<const Constraints*> constraints, const EquilibriumSettings& settings,
                             Real time)
    : comm_(comm),
      settings_(settings),
      terms_(std::move(terms)),
      constraints_(std::move(constraints)),
      pattern_(rows_at(constraints_, time, first_row_)),
      conditions_(first_row_.back()),
      unknowns_(comm, freedoms, conditions_ + (settings.follow_arc && comm.is_root() ? 1 : 0)),
      path_(comm, settings.time_scale),
      total_(freedoms),
      force_(freedoms),
      multipliers_(conditions_, 0.0) {
  const std::size_t elastic = settings.slack ? settings.elastic_terms : 0;
  softened_.reserve(elastic);
  for (std::size_t t = 0; t < elastic; ++t) {
    softened_.emplace_back(*terms_[t], softness_);
    terms_[t] = &softened_.back();
  }
  const auto last = static_cast<Real>(unknowns_.begin() + static_cast<PetscInt>(unknowns_.count()) - 1);
  if (settings.follow_arc) time_index_ = static_cast<PetscInt>(comm.max(comm.is_root() ? last : 0.0));
  freedom_count_ = static_cast<Real>(comm.sum(static_cast<std::int64_t>(unknowns_.owned().size())));
  list_bodies();
}

/// Blocks of the same name are of one body.
void StaticProblem::list_bodies() {
  const Freedoms& freedoms = unknowns_.freedoms();
  std::vector<std::string_view> names;
  std::vector<Real> counts;
  for (std::size_t block = 0; block < freedoms.block_count(); ++block) {
    const FreedomBlock& its = freedoms.block(block);
    const auto body = static_cast<std::size_t>(std::ranges::find(names, its.name) - names.begin());
    if (body == names.size()) names.emplace_back(its.name), counts.push_back(0);
    body_of_block_.push_back(body);
    counts[body] += static_cast<Real>(its.forest->owned()) * its.width;
  }
  comm_.sum(counts);
  for (const Real count : counts) bodies_.push_back({.freedoms = count});
}

bool StaticProblem::symmetric() const { return !settings_.follow_arc && terms_are_symmetric(); }

bool StaticProblem::terms_are_symmetric() const {
  return std::all_of(terms_.begin(), terms_.end(), [](const Term* t) { return t->symmetric(); });
}

// --- Between unknowns and the motion ---------------------------------------------------------------------------------

void StaticProblem::begin(Motion& motion, Vec x) {
  motion_ = &motion;
  set_unknowns(motion, x);
}

void StaticProblem::find_scale(Vec x) {
  if (k0_ != 0) return;
  linearise(x);
  measure_stiffness(nullptr);
}

void StaticProblem::forget() {
  k0_ = 0;
  std::ranges::fill(multipliers_, 0);
}

void StaticProblem::set_unknowns(const Motion& motion, Vec x) const {
  PetscScalar* values = nullptr;
  check_petsc(VecGetArray(x, &values));
  const std::vector<std::int32_t>& owned = unknowns_.owned();
  for (std::size_t i = 0; i < owned.size(); ++i) values[i] = motion.u.all()[owned[i]];
  std::copy(multipliers_.begin(), multipliers_.end(), values + owned.size());
  if (settings_.follow_arc && comm_.is_root()) values[unknowns_.count() - 1] = motion.time / path_.time_scale();
  check_petsc(VecRestoreArray(x, &values));
}

void StaticProblem::look_at(Vec x) {
  linears_.clear();
  const PetscScalar* values = nullptr;
  check_petsc(VecGetArrayRead(x, &values));
  const std::vector<std::int32_t>& owned = unknowns_.owned();
  for (std::size_t i = 0; i < owned.size(); ++i) motion_->u.all()[owned[i]] = values[i];
  motion_->u.update_ghosts();
  motion_->time = path_.goal_time();
  if (settings_.follow_arc)
    motion_->time = path_.time_scale() * comm_.sum(comm_.is_root() ? values[unknowns_.count() - 1] : 0.0);
  const auto multipliers = multipliers_in(values);
  looked_at_.assign(multipliers.begin(), multipliers.end());
  has_looked_ = true;
  check_petsc(VecRestoreArrayRead(x, &values));
  conditions_at(motion_->time);
}

void StaticProblem::keep_multipliers(Vec x) {
  look_at(x);
  multipliers_ = looked_at_;
}

std::vector<Real> StaticProblem::forces_of(std::size_t c) const {
  std::vector<Real> forces;
  for (std::size_t i = first_row_[c]; i < first_row_[c + 1]; ++i) forces.push_back(k0_ * multipliers_[i]);
  return forces;
}

void StaticProblem::conditions_at(Real time) {
  rows_.clear();
  for (const Constraints* c : constraints_) c->append(time, rows_);
  WEFT_ENSURE(rows_.count() == conditions_);
}

bool StaticProblem::fits(Real time) const {
  std::vector<std::size_t> first;
  const ConstraintRows rows = rows_at(constraints_, time, first);
  return !comm_.any(first != first_row_ || rows.begin != pattern_.begin || rows.freedom != pattern_.freedom);
}

// --- Residual --------------------------------------------------------------------------------------------------------

/// Minus all forces on the owned freedoms, those of the constraints included, and k0 times the gap of each condition
/// (both [N]), for the present motion, time and rows.
void StaticProblem::find_unbalanced(std::span<const PetscScalar> multipliers, std::span<PetscScalar> out) {
  total_.set_zero();
  force_.set_zero();
  reference_ = 0;
  for (Balance& body : bodies_) body.reference = 0;
  const auto square = [](Real f) { return f * f; };
  const auto include = [&] {
    force_.sum_to_owners();
    const std::vector<Real> squares = sums_by_body(force_, square);
    reference_ = std::max(reference_, std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0)));
    for (std::size_t b = 0; b < bodies_.size(); ++b)
      bodies_[b].reference = std::max(bodies_[b].reference, std::sqrt(squares[b]));
    const auto force = force_.all(), total = total_.all();
    for (std::size_t k = 0; k < force.size(); ++k) total[k] += std::exchange(force[k], 0);
  };
  for (const Term* term : terms_) {
    term->add_force(*motion_, force_);
    include();
  }
  const std::vector<std::int32_t>& owned = unknowns_.owned();
  largest_gap_ = 0;
  for (std::size_t c = 0; c < conditions_; ++c) {
    Real gap = -rows_.target[c];
    for (std::size_t k = rows_.begin[c]; k < rows_.begin[c + 1]; ++k) {
      gap += rows_.weight[k] * motion_->u.all()[rows_.freedom[k]];
      force_.all()[rows_.freedom[k]] += rows_.weight[k] * k0_ * multipliers[c];
    }
    out[owned.size() + c] = -k0_ * gap;
    largest_gap_ = std::max(largest_gap_, std::abs(gap));
  }
  largest_gap_ = comm_.max(largest_gap_);
  include();
  const std::vector<Real> squares = sums_by_body(total_, square);
  for (std::size_t b = 0; b < bodies_.size(); ++b) bodies_[b].unbalanced = std::sqrt(squares[b]);
  for (std::size_t i = 0; i < owned.size(); ++i) out[i] = -total_.all()[owned[i]];
}

/// The sum of amount(value) over the freedoms of each body. Ghosts are zero, or their amount is.
template <class Amount>
std::vector<Real> StaticProblem::sums_by_body(const FreedomValues& values, const Amount& amount) const {
  std::vector<Real> sums(bodies_.size(), 0.0);
  for (std::size_t block = 0; block < body_of_block_.size(); ++block)
    for (const Real value : values.block(block)) sums[body_of_block_[block]] += amount(value);
  comm_.sum(sums);
  return sums;
}

bool StaticProblem::parts_are_met(Real tolerance, int iteration) const {
  const auto is_balanced = [&](const Balance& body) {
    const Real its_noise = noise(iteration) > 0 ? round_off(body.stiffness, body.freedoms) : 0;
    return body.unbalanced <= tolerance * body.reference + its_noise;
  };
  return conditions_are_met() && std::ranges::all_of(bodies_, is_balanced);
}

bool StaticProblem::residual(Vec x, Vec out) {
  look_at(x);
  PetscScalar* values = nullptr;
  check_petsc(VecGetArray(out, &values));
  find_unbalanced(looked_at_, {values, unknowns_.count()});
  if (settings_.follow_arc) {
    const Real gap = path_.gap(*motion_, unknowns_);
    if (comm_.is_root()) values[unknowns_.count() - 1] = k0_ * settings_.size * gap;
  }
  Real sum = 0;
  for (std::size_t i = 0; i < unknowns_.count(); ++i) sum += values[i];
  check_petsc(VecRestoreArray(out, &values));
  return std::isfinite(comm_.sum(sum));
}

/// Sum of products over the displacements, or over the conditions.
Real StaticProblem::product(Vec a, Vec b, bool of_displacements) const {
  const PetscScalar *in_a = nullptr, *in_b = nullptr;
  check_petsc(VecGetArrayRead(a, &in_a));
  check_petsc(VecGetArrayRead(b, &in_b));
  const std::size_t displacements = unknowns_.owned().size();
  const std::size_t first = of_displacements ? 0 : displacements;
  const std::size_t last = of_displacements ? displacements : displacements + conditions_;
  Real sum = 0;
  for (std::size_t i = first; i < last; ++i) sum += in_a[i] * in_b[i];
  check_petsc(VecRestoreArrayRead(a, &in_a));
  check_petsc(VecRestoreArrayRead(b, &in_b));
  return comm_.sum(sum);
}

Real StaticProblem::slope(Vec r, Vec dx) const { return product(r, dx, true); }
bool StaticProblem::conditions_hold(Vec r) const { return product(r, r, false) <= met * product(r, r, true); }
/// Below this, forces are round-off [N].
Real StaticProblem::round_off(Real stiffness, Real freedoms) const {
  return 1e-15 * stiffness * settings_.size * std::sqrt(freedoms);
}

Real StaticProblem::softness_to_begin_with(Vec x) {
  softness_ = 0;
  look_at(x);
  std::vector<PetscScalar> forces(unknowns_.count(), 0.0);
  find_unbalanced(looked_at_, forces);
  const Real loads = norm_of(comm_, std::span(forces).first(unknowns_.owned().size()));
  const Real softness = 10 * loads * std::sqrt(freedom_count_) / (k0_ * settings_.size);
  constexpr Real round_off = 1e-12;  // of loads that there are not, by which nothing is soft
  return softness > round_off ? std::min(1.0, softness) : 1;
}

// --- Its derivative --------------------------------------------------------------------------------------------------

/// One assembly tells which entries there are.
void StaticProblem::assemble_pattern(Entries& to) {
  Motion rest(unknowns_.freedoms());
  motion_ = &rest;
  rows_ = pattern_;
  k0_ = 1;
  assemble_all(to, false);
  k0_ = 0;
  motion_ = nullptr;
}

Cliques StaticProblem::cliques() {
  CliqueEntries entries(unknowns_.begin(), unknowns_.count());
  assemble_pattern(entries);
  return std::move(entries.cliques);
}

Mat StaticProblem::matrix() {
  if (matrix_) return matrix_->matrix();
  matrix_.emplace(comm_, unknowns_.begin(), unknowns_.count());
  assemble_pattern(*matrix_);
  matrix_->lay_out();
  if (symmetric()) check_petsc(MatSetOption(matrix_->matrix(), MAT_SYMMETRIC, PETSC_TRUE));
  if (symmetric()) check_petsc(MatSetOption(matrix_->matrix(), MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  return matrix_->matrix();
}

void StaticProblem::assemble() {
  matrix_->begin();
  assemble_all(*matrix_, false);
  matrix_->finish();
}

void StaticProblem::assemble(Entries& to) {
  WEFT_ENSURE(!settings_.follow_arc);
  assemble_terms(to);
  if (drag_.value != 0) assemble_drag(to);
}

void StaticProblem::assemble_at_fixed_time() {
  matrix_->begin();
  assemble_all(*matrix_, true);
  matrix_->finish();
}

Mat StaticProblem::with_diagonal(std::span<const Real> diagonal) const {
  ListedMatrix matrix(comm_, unknowns_.begin(), unknowns_.count());
  const auto add_all = [&] {
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      const PetscInt at = unknowns_.begin() + static_cast<PetscInt>(i);
      matrix.add(at, at, diagonal[i]);
    }
    assemble_conditions(matrix);
    if (settings_.follow_arc && comm_.is_root()) matrix.add(time_index_, time_index_, k0_);
  };
  add_all();
  matrix.lay_out();
  matrix.begin();
  add_all();
  matrix.finish();
  check_petsc(MatSetOption(matrix.matrix(), MAT_SYMMETRIC, PETSC_TRUE));
  return matrix.release();
}

void StaticProblem::linearise(Vec x) {
  look_at(x);
  linearise_terms();
}

void StaticProblem::linearise_terms() {
  for (const Term* term : terms_)
    linears_.push_back(is_definite() ? term->linearise_definite(*motion_) : term->linearise(*motion_));
}

/// All that there may be, with or without a drag.
void StaticProblem::assemble_all(Entries& to, bool at_fixed_time) {
  assemble_terms(to);
  assemble_drag(to);
  if (settings_.follow_arc) assemble_path(to, at_fixed_time);
}

void StaticProblem::assemble_terms(Entries& to) {
  if (linears_.empty()) linearise_terms();
  MatrixAdder adder(unknowns_, to);
  if (k0_ == 0) measure_stiffness(&adder);
  else add_tangents(adder);
  linears_.clear();
  assemble_conditions(to);
}

void StaticProblem::assemble_drag(Entries& to) const {
  for (const auto k : unknowns_.owned())
    to.add(unknowns_.number(k), unknowns_.number(k), drag_.value * softness_ * k0_);
}

void StaticProblem::assemble_conditions(Entries& to) const {
  std::vector<PetscInt> freedoms;
  std::vector<PetscScalar> weights;
  for (std::size_t c = 0; c < conditions_; ++c) {
    const PetscInt row = condition_index(c);
    freedoms.clear();
    weights.clear();
    for (std::size_t k = rows_.begin[c]; k < rows_.begin[c + 1]; ++k) {
      freedoms.push_back(unknowns_.number(rows_.freedom[k]));
      weights.push_back(-k0_ * rows_.weight[k]);
    }
    to.add(std::span(&row, 1), freedoms, weights);
    to.add(freedoms, std::span(&row, 1), weights);
    to.add(row, row, -regularisation * k0_);
  }
}

/// The derivative of the residual by time. Loads and handles are given as functions of time; a central difference is
/// exact for what is linear in it.
std::vector<PetscScalar> StaticProblem::change_in_time() {
  const Real now = motion_->time, step = time_step;
  std::vector<PetscScalar> change(unknowns_.count(), 0.0), later(change), earlier(change);
  const auto find_at = [&](Real time, std::vector<PetscScalar>& values) {
    motion_->time = time;
    conditions_at(time);
    find_unbalanced(looked_at_, values);
  };
  find_at(now + step * path_.time_scale(), later);
  find_at(now - step * path_.time_scale(), earlier);
  find_at(now, change);
  for (std::size_t i = 0; i < change.size(); ++i) change[i] = (later[i] - earlier[i]) / (2 * step);
  return change;
}

/// A time that is fixed is an unknown apart from all others.
void StaticProblem::assemble_path(Entries& to, bool at_fixed_time) {
  const std::vector<PetscScalar> change =
      has_looked_ && !at_fixed_time ? change_in_time() : std::vector<PetscScalar>(unknowns_.count());
  for (std::size_t i = 0; i < unknowns_.owned().size() + conditions_; ++i)
    to.add(unknowns_.begin() + static_cast<PetscInt>(i), time_index_, change[i]);

  const Real scale = at_fixed_time ? 0 : k0_ * settings_.size;
  for (const auto k : unknowns_.owned()) to.add(time_index_, unknowns_.number(k), scale * path_.slope(k));
  if (comm_.is_root()) to.add(time_index_, time_index_, at_fixed_time ? k0_ : scale * path_.time_slope());
}

void StaticProblem::add_tangents(Tangent& to) {
  for (std::size_t t = 0; t < terms_.size(); ++t) terms_[t]->add_tangent(*linears_[t], to);
}

/// k0: the mean of the diagonal of K, which may go on to a matrix.
void StaticProblem::measure_stiffness(Tangent* next) {
  FreedomValues diagonal(unknowns_.freedoms());
  DiagonalAdder adder(diagonal.all(), next);
  add_tangents(adder);
  diagonal.sum_to_owners();
  const std::vector<Real> sums = sums_by_body(diagonal, [](Real entry) { return std::abs(entry); });
  k0_ = std::accumulate(sums.begin(), sums.end(), 0.0) / std::max(freedom_count_, 1.0);
  for (std::size_t b = 0; b < bodies_.size(); ++b) bodies_[b].stiffness = sums[b] / std::max(bodies_[b].freedoms, 1.0);
  if (!(k0_ > 0) || !std::isfinite(k0_)) k0_ = 1;
}

void StaticProblem::set_path_direction(Vec right) const {
  check_petsc(VecSet(right, 0));
  if (comm_.is_root()) check_petsc(VecSetValue(right, time_index_, k0_ * settings_.size, INSERT_VALUES));
  check_petsc(VecAssemblyBegin(right));
  check_petsc(VecAssemblyEnd(right));
}

}  // namespace weft
