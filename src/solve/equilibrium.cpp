#include "weft/solve/equilibrium.hpp"

#include "solve/free_components.hpp"
#include "solve/stability.hpp"
#include "solve/static_problem.hpp"
#include "weft/base/check.hpp"
#include "weft/solve/silence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace weft {
namespace {

/// Attempts at a balance. First full Newton steps: thin shells pass through states of large membrane force, which a
/// line search would avoid at the cost of many tiny steps. Where metal flows forces have kinks, though, over which full
/// steps jump to and fro: there steps are damped by the error that is left. Then with a drag, in units of the typical
/// stiffness, that fades as the forces balance: slack cables and sheets have no stiffness across to begin with
/// [Kelley & Keyes 1998, pseudo-transient continuation].
struct Attempt {
  bool damps_flow;
  Real drag;
  bool descends = false;
  bool softens = false;
};
constexpr std::array attempts = {Attempt{true, 0.0}, Attempt{true, 1e-4}, Attempt{false, 1e-2}};
/// Sheets and fibers that hang freely swing through large turns, and buckle where they are pressed; a full step then
/// leads anywhere. Before the attempts above they descend: matrices without negative eigenvalues, as stretched sheets
/// and fibers have them anyway, a drag, and no step farther than the forces work along it.
constexpr std::array slack_attempts = {Attempt{false, 1e-4, true}, Attempt{false, 1e-4, true, true}, attempts[0],
                                       attempts[1], attempts[2]};
constexpr int descent_patience = 3;
/// Unknowns for which each rank factors all of the matrix by itself.
constexpr std::int64_t most_factored_alone = 100000;
/// Steps of the chord method, each of which has to leave no more than this share of the unbalanced forces.
constexpr int most_chords = 15;
constexpr Real slowest_chord = 0.5;
/// Of a balance of softened bodies, and by how much they become harder afterwards.
constexpr Real soft_tolerance = 1e-2, hardening = 10;

/// A step along the arc that is this many times as long as planned went far to the side, to another branch: the way
/// there turned by the angle of this secant.
constexpr Real longest_secant = 2;

const char* words_for(NewtonEnd end) {
  switch (end) {
    case NewtonEnd::converged:
      return "";
    case NewtonEnd::too_many_steps:
      return "the forces do not balance within solve.max_iterations";
    case NewtonEnd::no_linear_solution:
      return "the stiffness is singular: something can move without force, or PETSc's solver gave up";
    case NewtonEnd::not_finite:
      return "an element inverts or a force is not finite";
    case NewtonEnd::no_step:
      return "no step along Newton's direction makes the forces smaller";
    case NewtonEnd::diverged:
      break;
  }
  return "Newton's method diverges";
}

Real length_over(const Comm& comm, const Unknowns& unknowns, const Increment& increment, const PathMeasure& measure) {
  Real sum = 0;
  for (const auto k : unknowns.owned()) sum += increment.u.all()[k] * increment.u.all()[k];
  return std::hypot(std::sqrt(comm.sum(sum)) / measure.displacement, increment.time / measure.time);
}

}  // namespace

struct Equilibrium::Given {
  const Comm comm;
  const Freedoms& freedoms;
  const std::vector<const Term*> terms;
  const std::vector<const Constraints*> constraints;
  const EquilibriumSettings settings;
};

/// A StaticProblem with what solves it, for the conditions that there are at a time.
struct Equilibrium::Solver {
  const Given& given;
  const EquilibriumSettings& settings = given.settings;
  const Comm& comm = given.comm;
  PetscDatabase options;
  StaticProblem problem;
  std::unique_ptr<DirectSolve> linear;
  Newton newton;
  FullSteps full, damped;
  WorkDescent descent;
  Vec x, work, step;

  Solver(const Given& g, Real time)
      : given(g),
        options(comm, settings.petsc, mumps_options()),
        problem(comm, given.freedoms, given.terms, given.constraints, settings, time),
        linear(linear_solve()),
        newton(comm, options, problem, *linear, 0),
        full(false, problem.drag()),
        damped(true, problem.drag()),
        descent(
            problem, [this](Vec r) { return problem.conditions_hold(r); }, problem.drag()),
        x(problem.create_vector()),
        work(problem.create_vector()),
        step(problem.create_vector()) {}

  ~Solver() {
    check_petsc(VecDestroy(&x));
    check_petsc(VecDestroy(&work));
    check_petsc(VecDestroy(&step));
  }

  bool each_rank_factors() const { return comm.size() > 1 && problem.unknowns_of_all() <= most_factored_alone; }

  std::unique_ptr<DirectSolve> linear_solve() {
    if (!settings.has_units) return std::make_unique<FactoredSolve>(problem, each_rank_factors());
    const Unknowns& unknowns = problem.unknowns();
    return std::make_unique<UnitSolve>(comm, problem,
                                       UnitSolve::Shape{unknowns.count(), problem.conditions_here(), unknowns.begin()},
                                       problem.cliques());
  }

  /// At the plane a length ahead along a way, and at right angles to it.
  void aim_ahead(const Motion& start, const Increment& way, const PathMeasure& measure, Real length) {
    const Real way_length = length_over(comm, problem.unknowns(), way, measure);
    WEFT_ENSURE(way_length > 0);
    FreedomValues slope = way.u;
    for (Real& x : slope.all()) x /= measure.displacement * measure.displacement * way_length;
    problem.path().aim_at(
        PathRow::Plane{start, std::move(slope), way.time / (measure.time * measure.time * way_length), length});
  }

  /// How a balanced motion goes on along its path, a length of 1 across the present plane; none if that is not known.
  std::optional<Increment> tangent(const Motion& at) {
    Motion m = at;
    problem.begin(m, x);
    problem.find_scale(x);
    problem.drag().value = 0;
    problem.linearise(x);
    problem.set_path_direction(work);
    if (!linear->factor() || !linear->solve(work, x)) return {};
    problem.look_at(x);
    return Increment{m.u, m.time};
  }

  /// The problem looks at a state, its time held.
  void look_at(Motion& m) {
    problem.path().aim_at(m.time);
    problem.begin(m, x);
    problem.find_scale(x);
    problem.drag().value = 0;
    problem.be_definite(false);
    problem.linearise(x);
  }

  Factors factors() const {
    if (!linear->is_direct()) return Factors::none;
    return each_rank_factors() ? Factors::of_each_rank : Factors::of_all_ranks;
  }

  Stability examine(const Motion& at, const Foresight& foresight) {
    WEFT_ENSURE(!settings.has_units);
    Motion m = at;
    look_at(m);
    return TangentSignature(comm, problem, x, factors()).look(foresight);
  }

  std::vector<FreeComponent> free_components(const Motion& at, const std::vector<std::span<const Vec3>>& positions) {
    WEFT_ENSURE(!settings.has_units);
    Motion m = at;
    look_at(m);
    return find_free_components(comm, problem, positions);
  }

  std::span<const Attempt> attempts_at_balance() {
    if (settings.slack) return slack_attempts;
    // A shorter step along a path is a better remedy than a drag, which may leave it.
    return std::span(attempts).first(problem.path().has_plane() ? 1 : attempts.size());
  }

  EquilibriumReport solve(Motion& m, std::span<const Attempt> all) {
    problem.begin(m, x);
    problem.find_scale(x);
    const Motion guess = m;
    EquilibriumReport report;
    for (const Attempt& attempt : all) {
      m = guess;
      attempt_balance(attempt, m, report);
      if (report.converged) break;
    }
    problem.be_definite(false);
    if (report.converged) problem.keep_multipliers(x);
    return report;
  }

  EquilibriumReport solve_by_chords(Motion& m, bool anew, Real share) {
    problem.begin(m, x);
    problem.drag().value = 0;
    const Motion before = m;
    EquilibriumReport report;
    if (anew) problem.linearise(x);
    bool has_factors = !anew || linear->factor();
    problem.find_scale(x);
    Real first = 0, last = std::numeric_limits<Real>::infinity();
    for (report.iterations = 0; has_factors && report.iterations <= most_chords; ++report.iterations) {
      if (!problem.residual(x, work)) break;
      check_petsc(VecNorm(work, NORM_2, &report.unbalanced_force));
      if (report.iterations == 0) first = report.unbalanced_force;
      const Real goal = std::max(share * first, settings.tolerance * problem.reference() + problem.noise(1));
      report.converged = report.unbalanced_force <= goal && problem.conditions_are_met();
      if (report.converged || report.unbalanced_force > slowest_chord * last) break;
      last = report.unbalanced_force;
      options.solve([&] { return has_factors = linear->solve(work, step), PetscErrorCode(0); });
      if (has_factors) check_petsc(VecAXPY(x, -1, step));
    }
    if (report.converged) problem.keep_multipliers(x);
    else m = before;
    return report;
  }

  void attempt_balance(const Attempt& attempt, const Motion& guess, EquilibriumReport& report) {
    problem.set_unknowns(guess, x);
    problem.drag().value = attempt.drag;
    problem.be_definite(attempt.descends);
    Real& softness = problem.softness();
    softness = attempt.softens ? problem.softness_to_begin_with(x) : 1;
    report.converged = true;
    for (; report.converged && softness < 1; softness = std::min(1.0, hardening * softness))
      iterate(attempt, soft_tolerance, report);
    softness = 1;
    if (report.converged) iterate(attempt, settings.tolerance, report);
  }

  void iterate(const Attempt& attempt, Real tolerance, EquilibriumReport& report) {
    StepSearch* search = &full;
    if (attempt.descends) search = &descent;
    else if (attempt.damps_flow && settings.flows) search = &damped;
    const NewtonReport found = newton.solve(
        x, *search,
        {tolerance, (attempt.descends ? descent_patience : 1) * settings.max_iterations, settings.is_asked_to_stop});
    report.iterations += found.newton;
    report.unbalanced_force = found.residual;
    if (found.end == NewtonEnd::no_linear_solution) linear->forget_factors();
    report.converged = found.end == NewtonEnd::converged;
    report.failure = words_for(found.end);
  }
};

Equilibrium::Equilibrium(const Comm& comm, const Freedoms& freedoms, std::vector<const Term*> terms,
                         std::vector<const Constraints*> constraints, EquilibriumSettings settings)
    : given_(std::make_unique<Given>(
          Given{comm, freedoms, std::move(terms), std::move(constraints), std::move(settings)})),
      solver_(std::make_unique<Solver>(*given_, 0)) {}

Equilibrium::~Equilibrium() = default;

void Equilibrium::prepare(Real time) {
  if (!solver_->problem.fits(time)) solver_ = std::make_unique<Solver>(*given_, time);
}

void Equilibrium::forget() { solver_->problem.forget(); }

void Equilibrium::rehearse(Motion motion, Real time) {
  EquilibriumSettings brief = given_->settings;
  brief.max_iterations = 1;
  brief.is_asked_to_stop = {};
  const Given given{given_->comm, given_->freedoms, given_->terms, given_->constraints, std::move(brief)};
  Solver solver(given, time);
  motion.time = time;
  solver.problem.path().aim_at(time);
  in_silence([&] { solver.solve(motion, solver.attempts_at_balance().first(1)); });
}

EquilibriumReport Equilibrium::at_time(Motion& motion, Real time) {
  prepare(time);
  motion.time = time;
  solver_->problem.path().aim_at(time);
  return solver_->solve(motion, solver_->attempts_at_balance());
}

EquilibriumReport Equilibrium::by_chords(Motion& motion, Real time, bool anew, Real share) {
  prepare(time);
  motion.time = time;
  solver_->problem.path().aim_at(time);
  return solver_->solve_by_chords(motion, anew, share);
}

Stability Equilibrium::examine(const Motion& at, const Foresight& foresight) {
  WEFT_ENSURE(!given_->settings.follow_arc || !(foresight.before || foresight.after));
  prepare(at.time);
  return solver_->examine(at, foresight);
}

std::vector<FreeComponent> Equilibrium::free_components(const Motion& at,
                                                        const std::vector<std::span<const Vec3>>& positions) {
  prepare(at.time);
  return solver_->free_components(at, positions);
}

EquilibriumReport Equilibrium::along_arc(Motion& motion, const Increment& last, const PathMeasure& measure,
                                         Real length) {
  prepare(motion.time);
  // Where metal flows the tangent depends on where the path goes.
  if (!solver_->settings.flows) {
    solver_->aim_ahead(motion, last, measure, length);
    if (const std::optional<Increment> tangent = solver_->tangent(motion))
      return along_way(motion, *tangent, measure, length);
  }
  return along_way(motion, last, measure, length);
}

EquilibriumReport Equilibrium::along_way(Motion& motion, const Increment& way, const PathMeasure& measure,
                                         Real length) {
  WEFT_ENSURE(given_->settings.follow_arc);
  prepare(motion.time);
  const Motion start = motion;
  solver_->aim_ahead(start, way, measure, length);
  // The guess goes straight on.
  const Real share = length / length_of(way, measure);
  for (std::size_t k = 0; k < way.u.all().size(); ++k) motion.u.all()[k] += share * way.u.all()[k];
  motion.time += share * way.time;
  const std::vector<PetscScalar> multipliers = solver_->problem.multipliers();
  EquilibriumReport report = solver_->solve(motion, solver_->attempts_at_balance());
  Increment gone{motion.u, motion.time - start.time};
  for (std::size_t k = 0; k < gone.u.all().size(); ++k) gone.u.all()[k] -= start.u.all()[k];
  if (report.converged && length_of(gone, measure) > longest_secant * length) {
    report.converged = false;
    report.failure = "the balance that was found is not the next one along the path";
    solver_->problem.multipliers() = multipliers;
  }
  return report;
}

Real Equilibrium::length_of(const Increment& increment, const PathMeasure& measure) const {
  return length_over(solver_->comm, solver_->problem.unknowns(), increment, measure);
}

std::vector<Real> Equilibrium::constraint_forces(std::size_t c) const { return solver_->problem.forces_of(c); }

}  // namespace weft
