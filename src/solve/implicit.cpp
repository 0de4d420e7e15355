#include "weft/solve/implicit.hpp"

#include "solve/krylov_solve.hpp"
#include "solve/line_search.hpp"

namespace weft {
namespace {

const char* words_for(NewtonEnd end) {
  switch (end) {
    case NewtonEnd::converged:
      return "";
    case NewtonEnd::too_many_steps:
      return "the impulses do not balance within solve.max_iterations";
    case NewtonEnd::no_linear_solution:
      return "PETSc's linear solver gave up";
    case NewtonEnd::not_finite:
      return "a force is not finite";
    case NewtonEnd::no_step:
      return "no step along Newton's direction brings the solution nearer";
    case NewtonEnd::diverged:
      break;
  }
  return "Newton's method diverges";
}

/// Where no length of a step comes nearer, a step that is shorter than this part of x counts as the end.
constexpr Real shortest_step = 1e-8;

}  // namespace

/// A GridProblem with what solves it.
struct ImplicitGrid::Solver {
  const ImplicitSettings settings;
  PetscDatabase options;
  GridProblem problem;
  GridPreconditioner preconditioner;
  KrylovSolve linear;
  Vec x, work;
  Newton newton;
  std::unique_ptr<StepSearch> search;

  Solver(const Comm& comm, const BlockMap& map, std::vector<const Term*> terms, std::vector<const Constraints*> held,
         ImplicitSettings its)
      : settings(std::move(its)),
        options(comm, settings.petsc, options_of_matrix_preconditioners(settings.minimise)),
        problem(comm, map, std::move(terms), std::move(held), settings),
        preconditioner(comm, map, problem, settings),
        linear(comm, problem, preconditioner, settings),
        x(problem.create_vector()),
        work(problem.create_vector()),
        newton(comm, options, problem, linear, shortest_step) {
    if (settings.minimise) search = std::make_unique<EnergySearch>(problem, linear, problem.drag());
    else search = std::make_unique<ResidualSearch>(problem, [this](Vec r) { return size_of(r); }, problem.drag());
  }

  ~Solver() {
    check_petsc(VecDestroy(&x));
    check_petsc(VecDestroy(&work));
  }

  /// |r|, or without inertia |P r|, P being the preconditioner of the last linear system: with a good one that is the
  /// length of the step that would mend r [Deuflhard 1974]. A strip that sags by a full step is stretched a little,
  /// which multiplies |r| by thirty and is mended by a step of a hundredth.
  Real size_of(Vec r) {
    const bool by_preconditioner = settings.judges_by_preconditioner();
    Real size = 0;
    if (by_preconditioner) preconditioner.apply(r, work);
    check_petsc(VecNorm(by_preconditioner ? work : r, NORM_2, &size));
    return size;
  }

  ImplicitReport advance(const ImplicitStep& step, std::span<const Wall> walls, Layer& layer,
                         std::span<Impulse> by_walls) {
    problem.begin_step(step, walls, layer.get<NodeInertia>());
    preconditioner.begin_step();
    if (!step.is_another) problem.guess(x, work);
    NewtonReport found = newton.solve(x, *search, {settings.tolerance, settings.max_iterations, step.is_asked_to_stop});

    ImplicitReport report;
    report.converged = found.end == NewtonEnd::converged;
    report.newton = found.newton;
    report.krylov = found.krylov;
    report.failure = words_for(found.end);
    report.residuals = std::move(found.residuals);
    problem.finish_step(x, layer, by_walls, report);
    return report;
  }
};

ImplicitGrid::ImplicitGrid(const Comm& comm, const BlockMap& map, std::vector<const Term*> terms,
                           std::vector<const Constraints*> constraints, ImplicitSettings settings)
    : solver_(std::make_unique<Solver>(comm, map, std::move(terms), std::move(constraints), std::move(settings))) {}

ImplicitGrid::~ImplicitGrid() = default;

ImplicitReport ImplicitGrid::advance(const ImplicitStep& step, std::span<const Wall> walls, Layer& layer,
                                     std::span<Impulse> by_walls) {
  return solver_->advance(step, walls, layer, by_walls);
}

}  // namespace weft
