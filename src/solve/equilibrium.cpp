#include "weft/solve/equilibrium.hpp"

#include "parallel/call.hpp"
#include "solve/petsc_options.hpp"
#include "weft/base/check.hpp"

#include <petscsnes.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace weft {
namespace {

/// The zero block of the saddle point system is made slightly negative, which keeps it regular where conditions depend
/// on one another; the solution is not changed, for Newton's residual knows nothing of it.
constexpr Real regularisation = 1e-9;

/// Attempts at a balance. First full Newton steps: thin shells pass through states of large membrane force, which a
/// line search would avoid at the cost of many tiny steps. Where metal flows forces have kinks, though, over which full
/// steps jump to and fro: there steps are damped by the error that is left [Nowak & Weimann 1991]. Then with a drag, in
/// units of the typical stiffness, that fades as the forces balance: slack cables and sheets have no stiffness across
/// to begin with [Kelley & Keyes 1998, pseudo-transient continuation].
struct Attempt {
  SNESLineSearchType search_with_flow;
  Real drag;
  bool descends = false;
  bool softens = false;
};
constexpr std::array attempts = {Attempt{SNESLINESEARCHNLEQERR, 0.0}, Attempt{SNESLINESEARCHNLEQERR, 1e-4},
                                 Attempt{SNESLINESEARCHBASIC, 1e-2}};
/// Sheets and fibers that hang freely swing through large turns, and buckle where they are pressed; a full step then
/// leads anywhere. Before the attempts above they descend: matrices without negative eigenvalues, as stretched sheets
/// and fibers have them anyway, a drag, and no step farther than the forces work along it. Every step with its whole
/// length lowers the drag, a short one raises it [Levenberg 1944], so that near a balance these are Newton's steps.
constexpr std::array slack_attempts = {Attempt{SNESLINESEARCHSHELL, 1e-4, true},
                                       Attempt{SNESLINESEARCHSHELL, 1e-4, true, true}, attempts[0], attempts[1],
                                       attempts[2]};
/// Factors of the drag.
constexpr Real less_drag = 0.2, more_drag = 5, least_drag = 1e-10, most_drag = 1e3;
constexpr int descent_patience = 3;
constexpr Real soft_tolerance = 1e-2;
/// How often a step is shortened, and how much of the slope may be left at its end, rising, where it is not.
constexpr int most_cuts = 20;
constexpr Real slope_left = 0.5;

/// A step along the arc that is this many times as long as planned went far to the side, to another branch: the way
/// there turned by the angle of this secant.
constexpr Real longest_secant = 2;

/// Percentage by which MUMPS may need more space than it expects: the zero block makes it choose other pivots.
constexpr const char* mumps_space = "mat_mumps_icntl_14";

/// A scalar that each rank adds to, as a norm needs it.
Real norm_of(const Comm& comm, std::span<const Real> values) {
  Real sum = 0;
  for (const Real x : values) sum += x * x;
  return std::sqrt(comm.sum(sum));
}

const char* words_for(SNESConvergedReason reason) {
  switch (reason) {
    case SNES_DIVERGED_MAX_IT:
      return "the forces do not balance within solve.max_iterations";
    case SNES_DIVERGED_LINEAR_SOLVE:
      return "the stiffness is singular: something can move without force, or PETSc's solver gave up";
    case SNES_DIVERGED_FNORM_NAN:
    case SNES_DIVERGED_FUNCTION_DOMAIN:
      return "an element inverts or a force is not finite";
    case SNES_DIVERGED_LINE_SEARCH:
      return "no step along Newton's direction makes the forces smaller";
    default:
      return "Newton's method diverges";
  }
}

}  // namespace

/// The unknowns x of this rank: owned freedoms u, the multipliers of its conditions in units of k0 (so that all of the
/// residual is in N and the matrix is evenly scaled), and on the root, if the arc is followed, t / time_scale.
struct Equilibrium::Solver {
  /// The plane that the next state lies in: slope . (u - u of the start) + time_slope (t - t of the start) = length.
  struct Plane {
    Motion start;
    FreedomValues slope;  ///< [1/m].
    Real time_slope;      ///< [1/s].
    Real length;
  };

  const Comm comm;
  const Freedoms& freedoms;
  const std::vector<const Term*> terms;
  const std::vector<const Constraints*> constraints;
  const EquilibriumSettings settings;

  std::vector<std::int32_t> owned;     ///< Local numbers of the owned freedoms.
  std::vector<PetscInt> global;        ///< Number in x of every local freedom.
  std::vector<std::size_t> first_row;  ///< Of each Constraints among the conditions of this rank.
  std::size_t conditions = 0;
  PetscInt begin = 0, time_index = -1;  ///< Numbers in x: first of this rank, and of the time.

  Vec x = nullptr, r = nullptr;
  Mat J = nullptr;
  SNES snes = nullptr;
  PetscDatabase options;

  std::vector<PetscScalar> multipliers;  ///< Of the last solved state.
  Real k0 = 0;                           ///< Typical stiffness [N/m]; 0: not known yet.
  // Of the solve that is going on.
  Motion* motion = nullptr;
  ConstraintRows rows;
  Real goal_time = 0;
  std::optional<Plane> plane;  ///< If the arc is followed, instead of goal_time.
  Real drag = 0;               ///< Added to the diagonal of K in units of k0.
  bool descends = false;
  bool exact = false;        ///< A descent goes by the exact matrix.
  Real softness = 1;         ///< Factor of the elastic terms.
  Real last_unbalanced = 0;  ///< [N].
  Real reference = 0;        ///< Largest force that is balanced in the present iterate [N].

  Solver(const Comm& c, const Freedoms& f, std::vector<const Term*> t, std::vector<const Constraints*> con,
         EquilibriumSettings s)
      : comm(c),
        freedoms(f),
        terms(std::move(t)),
        constraints(std::move(con)),
        settings(std::move(s)),
        options(c, settings.petsc, {{mumps_space, "200"}}) {
    number_unknowns();
    create_matrix();
    create_solver();
  }

  ~Solver() {
    check_petsc(SNESDestroy(&snes));
    check_petsc(MatDestroy(&J));
    check_petsc(VecDestroy(&r));
    check_petsc(VecDestroy(&x));
  }

  PetscInt condition_index(std::size_t c) const { return begin + static_cast<PetscInt>(owned.size() + c); }
  PetscInt unknowns_here() const {
    return static_cast<PetscInt>(owned.size() + conditions) + (settings.follow_arc && comm.is_root() ? 1 : 0);
  }

  void number_unknowns() {
    for (std::size_t b = 0; b < freedoms.block_count(); ++b) {
      const auto end = freedoms.at(b, freedoms.block(b).forest->owned());
      for (auto k = freedoms.at(b, 0); k < end; ++k) owned.push_back(k);
    }
    for (const Constraints* c : constraints) {
      first_row.push_back(rows.count());
      c->append(0, rows);
    }
    first_row.push_back(rows.count());
    conditions = rows.count();
    multipliers.assign(conditions, 0.0);

    begin = static_cast<PetscInt>(comm.offset(unknowns_here()));
    FreedomValues numbers(freedoms);  // whole numbers below 2^53 travel exactly
    for (std::size_t i = 0; i < owned.size(); ++i)
      numbers.all()[owned[i]] = static_cast<Real>(begin + static_cast<PetscInt>(i));
    numbers.update_ghosts();
    for (const Real number : numbers.all()) global.push_back(static_cast<PetscInt>(number));
    if (settings.follow_arc)
      time_index =
          static_cast<PetscInt>(comm.max(comm.is_root() ? static_cast<Real>(begin + unknowns_here() - 1) : 0.0));

    check_petsc(VecCreateMPI(comm.handle(), unknowns_here(), PETSC_DETERMINE, &x));
    check_petsc(VecDuplicate(x, &r));
  }

  bool symmetric() const {
    return !settings.follow_arc &&
           std::all_of(terms.begin(), terms.end(), [](const Term* t) { return t->symmetric(); });
  }

  void create_matrix() {
    // One assembly into a matrix that only counts tells which entries there are.
    Motion rest(freedoms);
    motion = &rest;
    Mat pattern = nullptr;
    const PetscInt n = unknowns_here();
    check_petsc(MatCreate(comm.handle(), &pattern));
    check_petsc(MatSetType(pattern, MATPREALLOCATOR));
    check_petsc(MatSetSizes(pattern, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
    check_petsc(MatSetUp(pattern));
    k0 = 1;
    assemble(pattern);
    k0 = 0;
    check_petsc(MatCreate(comm.handle(), &J));
    check_petsc(MatSetType(J, MATAIJ));
    check_petsc(MatSetSizes(J, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
    check_petsc(MatPreallocatorPreallocate(pattern, PETSC_TRUE, J));
    check_petsc(MatDestroy(&pattern));
    if (symmetric()) check_petsc(MatSetOption(J, MAT_SYMMETRIC, PETSC_TRUE));
    if (symmetric()) check_petsc(MatSetOption(J, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
    motion = nullptr;
  }

  void create_solver() {
    check_petsc(SNESCreate(comm.handle(), &snes));
    check_petsc(SNESSetFunction(
        snes, r, [](SNES s, Vec at, Vec out, void* self) { return static_cast<Solver*>(self)->residual(s, at, out); },
        this));
    check_petsc(SNESSetJacobian(
        snes, J, J,
        [](SNES, Vec at, Mat, Mat out, void* self) { return static_cast<Solver*>(self)->jacobian(at, out); }, this));
    check_petsc(SNESSetConvergenceTest(
        snes,
        [](SNES, PetscInt it, PetscReal, PetscReal, PetscReal f, SNESConvergedReason* reason, void* self) {
          return static_cast<Solver*>(self)->judge(it, f, reason);
        },
        this, nullptr));
    check_petsc(SNESSetType(snes, SNESNEWTONLS));
    KSP ksp = nullptr;
    PC pc = nullptr;
    check_petsc(SNESGetKSP(snes, &ksp));
    check_petsc(KSPGetPC(ksp, &pc));
    check_petsc(KSPSetType(ksp, KSPPREONLY));
    check_petsc(PCSetType(pc, symmetric() ? PCCHOLESKY : PCLU));
    check_petsc(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
    set_options();
  }

  /// Lets the user's options change the solver.
  void set_options() {
    options.apply([&] {
      PetscErrorCode code = SNESSetFromOptions(snes);
      KSP ksp = nullptr;
      check_petsc(SNESGetKSP(snes, &ksp));
      PC pc = nullptr;
      check_petsc(KSPGetPC(ksp, &pc));
      if (code == 0) code = KSPSetFromOptions(ksp);
      return code;
    });
  }

  /// How far to go along Newton's direction, unless the user's options say.
  void search_by(SNESLineSearchType type) {
    SNESLineSearch search = nullptr;
    check_petsc(SNESGetLineSearch(snes, &search));
    check_petsc(SNESLineSearchSetType(search, type));
    check_petsc(SNESLineSearchShellSetUserFunc(
        search,
        [](SNESLineSearch line, void* self) -> PetscErrorCode { return static_cast<Solver*>(self)->descend(line), 0; },
        this));
    options.apply([&] { return SNESLineSearchSetFromOptions(search); });
  }

  /// Sum of products over the displacements, or over the conditions.
  Real product(Vec a, Vec b, bool of_displacements) const {
    const PetscScalar *in_a = nullptr, *in_b = nullptr;
    check_petsc(VecGetArrayRead(a, &in_a));
    check_petsc(VecGetArrayRead(b, &in_b));
    const std::size_t first = of_displacements ? 0 : owned.size();
    const std::size_t last = of_displacements ? owned.size() : owned.size() + conditions;
    Real sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += in_a[i] * in_b[i];
    check_petsc(VecRestoreArrayRead(a, &in_a));
    check_petsc(VecRestoreArrayRead(b, &in_b));
    return comm.sum(sum);
  }

  /// Takes x to x - length y. The forces -r do the work length r . y along a short step; where conditions hold those of
  /// the constraints do none. The step is as long as they do not work against its end more than half as much as they
  /// drive its beginning. No energy is asked for, since a pressure has none.
  void descend(SNESLineSearch line) {
    Vec at = nullptr, f = nullptr, y = nullptr, trial = nullptr, trial_f = nullptr;
    check_petsc(SNESLineSearchGetVecs(line, &at, &f, &y, &trial, &trial_f));
    const Real slope = product(f, y, true);
    const bool conditions_hold = product(f, f, false) <= 1e-12 * product(f, f, true);
    if (exact && !(slope > 0)) {  // leads nowhere
      exact = false;
      check_petsc(SNESLineSearchComputeNorms(line));
      return;
    }
    Real length = 1;
    for (int cut = 0; cut <= most_cuts; ++cut) {
      check_petsc(VecWAXPY(trial, -length, y, at));
      const bool finite = evaluate(trial, trial_f);
      const Real slope_at_end = finite ? product(trial_f, y, true) : 0;
      if (finite && (!conditions_hold || slope_at_end >= -slope_left * slope)) break;
      length *= finite ? std::clamp(slope / (slope - slope_at_end), 0.1, 0.5) : 0.1;
    }
    drag = std::clamp(drag * (length == 1 ? less_drag : more_drag), least_drag, most_drag);
    exact = length == 1;
    check_petsc(VecCopy(trial, at));
    check_petsc(VecCopy(trial_f, f));
    check_petsc(SNESLineSearchComputeNorms(line));
  }

  // --- From unknowns to the motion ---------------------------------------------------------------------------------

  /// Takes over displacements, time and conditions from x.
  void look_at(Vec at) {
    const PetscScalar* values = nullptr;
    check_petsc(VecGetArrayRead(at, &values));
    for (std::size_t i = 0; i < owned.size(); ++i) motion->u.all()[owned[i]] = values[i];
    motion->u.update_ghosts();
    motion->time = goal_time;
    if (settings.follow_arc)
      motion->time = settings.time_scale * comm.sum(comm.is_root() ? values[unknowns_here() - 1] : 0.0);
    check_petsc(VecRestoreArrayRead(at, &values));
    conditions_at(motion->time);
  }

  void conditions_at(Real time) {
    rows = {};
    for (const Constraints* c : constraints) c->append(time, rows);
    WEFT_ENSURE(rows.count() == conditions);
  }

  Real factor_of(std::size_t term) const { return term < settings.elastic_terms ? softness : 1; }

  // --- Residual ----------------------------------------------------------------------------------------------------

  /// Minus all forces on the owned freedoms, those of the constraints included, and k0 times the gap of each condition
  /// (both [N]), for the present motion, time and rows.
  void unbalanced(const PetscScalar* multiplier, std::span<PetscScalar> out) {
    Load total(freedoms);
    reference = 0;
    const auto include = [&](Load& force) {
      force.sum_to_owners();
      reference = std::max(reference, norm_of(comm, force.all()));
      for (std::size_t k = 0; k < total.all().size(); ++k) total.all()[k] += force.all()[k];
    };
    for (std::size_t t = 0; t < terms.size(); ++t) {
      Load force(freedoms);
      terms[t]->add_force(*motion, force);
      for (Real& f : force.all()) f *= factor_of(t);
      include(force);
    }
    Load held(freedoms);
    for (std::size_t c = 0; c < conditions; ++c) {
      Real gap = -rows.target[c];
      for (std::size_t k = rows.begin[c]; k < rows.begin[c + 1]; ++k) {
        gap += rows.weight[k] * motion->u.all()[rows.freedom[k]];
        held.all()[rows.freedom[k]] += rows.weight[k] * k0 * multiplier[c];
      }
      out[owned.size() + c] = -k0 * gap;
    }
    include(held);
    for (std::size_t i = 0; i < owned.size(); ++i) out[i] = -total.all()[owned[i]];
  }

  PetscErrorCode residual(SNES s, Vec at, Vec out) {
    if (!evaluate(at, out)) check_petsc(SNESSetFunctionDomainError(s));
    return 0;
  }

  /// False if it is not finite.
  bool evaluate(Vec at, Vec out) {
    look_at(at);
    const PetscScalar* in = nullptr;
    PetscScalar* values = nullptr;
    check_petsc(VecGetArrayRead(at, &in));
    check_petsc(VecGetArray(out, &values));
    unbalanced(in + owned.size(), {values, static_cast<std::size_t>(unknowns_here())});
    if (settings.follow_arc) {
      const Real gap = plane ? distance_to_plane() : (motion->time - goal_time) / settings.time_scale;
      if (comm.is_root()) values[unknowns_here() - 1] = k0 * settings.size * gap;
    }
    Real sum = 0;
    for (PetscInt i = 0; i < unknowns_here(); ++i) sum += values[i];
    check_petsc(VecRestoreArray(out, &values));
    check_petsc(VecRestoreArrayRead(at, &in));
    return std::isfinite(comm.sum(sum));
  }

  /// How far the present motion is beyond the plane, in its measure.
  Real distance_to_plane() const {
    Real along = 0;
    for (const auto k : owned) along += plane->slope.all()[k] * (motion->u.all()[k] - plane->start.u.all()[k]);
    return comm.sum(along) + plane->time_slope * (motion->time - plane->start.time) - plane->length;
  }

  // --- Its derivative ----------------------------------------------------------------------------------------------

  PetscErrorCode jacobian(Vec at, Mat out) {
    look_at(at);
    check_petsc(MatZeroEntries(out));
    assemble(out, at);
    return 0;
  }

  /// K, and -k0 times the weights of the conditions beside and below it; with the arc a column of the derivative by
  /// time and a row of the plane.
  void assemble(Mat out, Vec at = nullptr) {
    struct Adder : Tangent {
      const std::vector<PetscInt>& global;
      Mat matrix;
      Real factor = 1;
      std::vector<PetscInt> rows, columns;
      std::vector<Real> scaled;
      Adder(const std::vector<PetscInt>& g, Mat m) : global(g), matrix(m) {}
      void add(std::span<const std::int32_t> r, std::span<const std::int32_t> c, std::span<const Real> k) override {
        rows.clear();
        columns.clear();
        for (const std::int32_t i : r) rows.push_back(global[i]);
        for (const std::int32_t i : c) columns.push_back(global[i]);
        scaled.assign(k.begin(), k.end());
        for (Real& value : scaled) value *= factor;
        check_petsc(MatSetValues(matrix, static_cast<PetscInt>(rows.size()), rows.data(),
                                 static_cast<PetscInt>(columns.size()), columns.data(), scaled.data(), ADD_VALUES));
      }
    } adder(global, out);
    for (std::size_t t = 0; t < terms.size(); ++t) {
      adder.factor = factor_of(t);
      terms[t]->add_tangent(
          *(descends && !exact ? terms[t]->linearise_definite(*motion) : terms[t]->linearise(*motion)), adder);
    }

    const auto add = [&](PetscInt i, PetscInt j, Real value) {
      check_petsc(MatSetValue(out, i, j, value, ADD_VALUES));
    };
    for (const auto k : owned) add(global[k], global[k], drag * softness * k0);
    for (std::size_t c = 0; c < conditions; ++c) {
      const PetscInt row = condition_index(c);
      for (std::size_t k = rows.begin[c]; k < rows.begin[c + 1]; ++k) {
        add(row, global[rows.freedom[k]], -k0 * rows.weight[k]);
        add(global[rows.freedom[k]], row, -k0 * rows.weight[k]);
      }
      add(row, row, -regularisation * k0);
    }
    if (settings.follow_arc) add_time(add, at);
    check_petsc(MatAssemblyBegin(out, MAT_FINAL_ASSEMBLY));
    check_petsc(MatAssemblyEnd(out, MAT_FINAL_ASSEMBLY));
  }

  template <class Add>
  void add_time(const Add& add, Vec at) {
    // Loads and handles are given as functions of time; a central difference is exact for what is linear in it.
    std::vector<PetscScalar> change(static_cast<std::size_t>(unknowns_here()), 0.0);
    if (at != nullptr) {
      const PetscScalar* in = nullptr;
      check_petsc(VecGetArrayRead(at, &in));
      const Real now = motion->time, step = 1e-4;
      std::vector<PetscScalar> later(change), earlier(change);
      const auto unbalanced_at = [&](Real time, std::vector<PetscScalar>& values) {
        motion->time = time;
        conditions_at(time);
        unbalanced(in + owned.size(), values);
      };
      unbalanced_at(now + step * settings.time_scale, later);
      unbalanced_at(now - step * settings.time_scale, earlier);
      unbalanced_at(now, change);
      for (std::size_t i = 0; i < change.size(); ++i) change[i] = (later[i] - earlier[i]) / (2 * step);
      check_petsc(VecRestoreArrayRead(at, &in));
    }
    for (std::size_t i = 0; i < owned.size() + conditions; ++i)
      add(begin + static_cast<PetscInt>(i), time_index, change[i]);

    const Real scale = k0 * settings.size;
    for (const auto k : owned) add(time_index, global[k], plane ? scale * plane->slope.all()[k] : 0);
    if (comm.is_root()) add(time_index, time_index, scale * (plane ? settings.time_scale * plane->time_slope : 1.0));
  }

  // --- Newton ------------------------------------------------------------------------------------------------------

  /// Below this, forces are round-off [N].
  Real noise() const {
    const Real count = static_cast<Real>(comm.sum(static_cast<std::int64_t>(owned.size())));
    return 1e-15 * k0 * settings.size * std::sqrt(count);
  }

  /// Loads that are smaller than round-off of stiff bodies move them nevertheless, by one step; what is slack has no
  /// stiffness for it.
  Real noise_after(PetscInt iteration) const { return iteration > 0 || settings.slack ? noise() : 0; }

  PetscErrorCode judge(PetscInt iteration, Real unbalanced_norm, SNESConvergedReason* reason) {
    *reason = SNES_CONVERGED_ITERATING;
    // Switched evolution relaxation [Mulder & van Leer 1985].
    if (iteration > 0 && !descends) drag *= std::clamp(unbalanced_norm / last_unbalanced, 0.1, 2.0);
    last_unbalanced = unbalanced_norm;
    if (!std::isfinite(unbalanced_norm)) *reason = SNES_DIVERGED_FNORM_NAN;
    else if (unbalanced_norm <=
             (softness < 1 ? soft_tolerance : settings.tolerance) * reference + noise_after(iteration))
      *reason = SNES_CONVERGED_FNORM_RELATIVE;
    else if (iteration >= (descends ? descent_patience : 1) * settings.max_iterations) *reason = SNES_DIVERGED_MAX_IT;
    return 0;
  }

  /// Mean of the diagonal of K.
  void measure_stiffness() {
    k0 = 1;
    assemble(J, x);
    check_petsc(MatGetDiagonal(J, r));
    const PetscScalar* diagonal = nullptr;
    check_petsc(VecGetArrayRead(r, &diagonal));
    Real sum = 0;
    for (std::size_t i = 0; i < owned.size(); ++i) sum += std::abs(diagonal[i]);
    check_petsc(VecRestoreArrayRead(r, &diagonal));
    const auto count = comm.sum(static_cast<std::int64_t>(owned.size()));
    k0 = comm.sum(sum) / static_cast<Real>(std::max<std::int64_t>(count, 1));
    if (!(k0 > 0) || !std::isfinite(k0)) k0 = 1;
    check_petsc(MatZeroEntries(J));
  }

  void start_from(Motion& m) {
    motion = &m;
    set_unknowns(m);
    if (k0 != 0) return;
    look_at(x);
    measure_stiffness();
  }

  /// How a balanced motion goes on along its path, a length of 1 across the present plane; none if that is not known.
  std::optional<Increment> tangent(const Motion& at) {
    Motion m = at;
    start_from(m);
    drag = 0;
    check_petsc(MatZeroEntries(J));
    look_at(x);
    assemble(J, x);
    check_petsc(VecSet(r, 0));
    if (comm.is_root()) check_petsc(VecSetValue(r, time_index, k0 * settings.size, INSERT_VALUES));
    check_petsc(VecAssemblyBegin(r));
    check_petsc(VecAssemblyEnd(r));
    KSP ksp = nullptr;
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    check_petsc(SNESGetKSP(snes, &ksp));
    check_petsc(KSPSetOperators(ksp, J, J));
    check_petsc(KSPSolve(ksp, r, x));
    check_petsc(KSPGetConvergedReason(ksp, &reason));
    if (reason < 0) {
      forget_factors();
      motion = nullptr;
      return {};
    }
    look_at(x);
    motion = nullptr;
    return Increment{m.u, m.time};
  }

  EquilibriumReport solve(Motion& m) {
    start_from(m);
    EquilibriumReport report;
    const Motion guess = m;
    std::span<const Attempt> all = attempts;
    if (settings.slack) all = slack_attempts;
    else if (plane) all = all.first(1);  // a shorter step is a better remedy than a drag, which may leave the path
    for (const Attempt& attempt : all) {
      m = guess;
      set_unknowns(m);
      drag = attempt.drag;
      descends = attempt.descends;
      exact = false;
      check_petsc(SNESSetTolerances(snes, PETSC_DEFAULT, PETSC_DEFAULT, 0, PETSC_MAX_INT, PETSC_MAX_INT));
      search_by(settings.flows || descends ? attempt.search_with_flow : SNESLINESEARCHBASIC);
      report.converged = true;
      softness = attempt.softens ? softness_to_begin_with() : 1;
      for (; report.converged && softness < 1; softness = std::min(1.0, 10 * softness)) iterate(report);
      softness = 1;
      if (report.converged) iterate(report);
      if (report.converged) break;
    }
    descends = false;
    if (report.converged) accept();
    motion = nullptr;
    return report;
  }

  /// With which loads stretch by about as much as the bodies are large.
  Real softness_to_begin_with() {
    softness = 0;
    look_at(x);
    std::vector<PetscScalar> forces(static_cast<std::size_t>(unknowns_here()), 0.0);
    unbalanced(forces.data() + owned.size(), forces);
    const Real count = static_cast<Real>(comm.sum(static_cast<std::int64_t>(owned.size())));
    return std::min(
        1.0, 10 * norm_of(comm, std::span(forces).first(owned.size())) * std::sqrt(count) / (k0 * settings.size));
  }

  void iterate(EquilibriumReport& report) {
    options.solve([&] { return SNESSolve(snes, nullptr, x); });
    SNESConvergedReason reason = SNES_CONVERGED_ITERATING;
    PetscInt iterations = 0;
    check_petsc(SNESGetConvergedReason(snes, &reason));
    check_petsc(SNESGetIterationNumber(snes, &iterations));
    check_petsc(SNESGetFunctionNorm(snes, &report.unbalanced_force));
    report.iterations += iterations;
    if (reason == SNES_DIVERGED_LINEAR_SOLVE) forget_factors();
    report.converged = reason > 0;
    report.failure = report.converged ? "" : words_for(reason);
  }

  /// A factorisation that failed would otherwise be taken for the last word.
  void forget_factors() {
    KSP ksp = nullptr;
    PC pc = nullptr;
    check_petsc(SNESGetKSP(snes, &ksp));
    check_petsc(KSPGetPC(ksp, &pc));
    check_petsc(PCReset(pc));
  }

  void accept() {
    look_at(x);
    const PetscScalar* values = nullptr;
    check_petsc(VecGetArrayRead(x, &values));
    std::copy_n(values + owned.size(), conditions, multipliers.begin());
    check_petsc(VecRestoreArrayRead(x, &values));
  }

  /// x from the guess, and the multipliers of the last solved state.
  void set_unknowns(const Motion& m) {
    PetscScalar* values = nullptr;
    check_petsc(VecGetArray(x, &values));
    for (std::size_t i = 0; i < owned.size(); ++i) values[i] = m.u.all()[owned[i]];
    std::copy(multipliers.begin(), multipliers.end(), values + owned.size());
    if (settings.follow_arc && comm.is_root()) values[unknowns_here() - 1] = m.time / settings.time_scale;
    check_petsc(VecRestoreArray(x, &values));
  }
};

Equilibrium::Equilibrium(const Comm& comm, const Freedoms& freedoms, std::vector<const Term*> terms,
                         std::vector<const Constraints*> constraints, EquilibriumSettings settings)
    : solver_(std::make_unique<Solver>(comm, freedoms, std::move(terms), std::move(constraints), std::move(settings))) {
}

Equilibrium::~Equilibrium() = default;

EquilibriumReport Equilibrium::at_time(Motion& motion, Real time) {
  solver_->goal_time = motion.time = time;
  solver_->plane.reset();
  return solver_->solve(motion);
}

EquilibriumReport Equilibrium::along_arc(Motion& motion, const Increment& last, const PathMeasure& measure,
                                         Real length) {
  WEFT_ENSURE(solver_->settings.follow_arc);
  const Motion start = motion;
  const auto look_along = [&](const Increment& way) {
    const Real way_length = length_of(way, measure);
    WEFT_ENSURE(way_length > 0);
    FreedomValues slope = way.u;
    for (Real& x : slope.all()) x /= measure.displacement * measure.displacement * way_length;
    solver_->plane.emplace(
        Solver::Plane{start, std::move(slope), way.time / (measure.time * measure.time * way_length), length});
    return length / way_length;
  };
  Increment way = last;
  Real share = look_along(way);
  // Where metal flows the tangent depends on where the path goes.
  if (!solver_->settings.flows)
    if (std::optional<Increment> tangent = solver_->tangent(start)) {
      way = *std::move(tangent);
      share = look_along(way);
    }
  // The guess goes straight on.
  for (std::size_t k = 0; k < way.u.all().size(); ++k) motion.u.all()[k] += share * way.u.all()[k];
  motion.time += share * way.time;
  const std::vector<PetscScalar> multipliers = solver_->multipliers;
  EquilibriumReport report = solver_->solve(motion);
  Increment gone{motion.u, motion.time - start.time};
  for (std::size_t k = 0; k < gone.u.all().size(); ++k) gone.u.all()[k] -= start.u.all()[k];
  if (report.converged && length_of(gone, measure) > longest_secant * length) {
    report.converged = false;
    report.failure = "the balance that was found is not the next one along the path";
    solver_->multipliers = multipliers;
  }
  return report;
}

Real Equilibrium::length_of(const Increment& increment, const PathMeasure& measure) const {
  Real sum = 0;
  for (const auto k : solver_->owned) sum += increment.u.all()[k] * increment.u.all()[k];
  return std::hypot(std::sqrt(solver_->comm.sum(sum)) / measure.displacement, increment.time / measure.time);
}

std::vector<Real> Equilibrium::constraint_forces(std::size_t c) const {
  const Solver& s = *solver_;
  std::vector<Real> forces;
  for (std::size_t i = s.first_row[c]; i < s.first_row[c + 1]; ++i) forces.push_back(s.k0 * s.multipliers[i]);
  return forces;
}

}  // namespace weft
