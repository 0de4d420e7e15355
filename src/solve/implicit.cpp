#include "weft/solve/implicit.hpp"

#include "parallel/call.hpp"
#include "solve/holds.hpp"
#include "solve/matrix_preconditioner.hpp"
#include "solve/node_matrix.hpp"
#include "solve/petsc_options.hpp"
#include "weft/base/check.hpp"
#include "weft/base/sums.hpp"
#include "weft/math/svd.hpp"

#include <petscsnes.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace weft {
namespace {

/// Of Newton's linear systems: the first is solved to this, later ones as the residual falls [Eisenstat & Walker 1996],
/// but none to less than this part of what is still to go.
constexpr Real first_forcing = 1e-2, last_forcing = 0.3;
/// Halvings of a Newton step, and the share of the decrease along the slope that a step must reach [Armijo 1966].
constexpr int most_halvings = 12;
constexpr Real sufficient_decrease = 1e-4;
/// Differences of energies beneath this fraction of them are round-off.
constexpr Real energy_noise = 1e-12;
/// Those beneath this many times as much may be; then slopes decide [Hager & Zhang 2005].
constexpr Real energy_doubt = 1e4;
/// Directions in which a wall leaves less of a change than this count as held.
constexpr Real held = 1e-6;
constexpr int most_krylov_steps = 2000;
/// A preconditioner made from the matrix of nodes is kept within a step until a linear system takes more steps than
/// this.
constexpr int most_steps_with_old_matrix = 15;

const char* words_for(SNESConvergedReason reason) {
  switch (reason) {
    case SNES_DIVERGED_MAX_IT:
      return "the impulses do not balance within solve.max_iterations";
    case SNES_DIVERGED_LINEAR_SOLVE:
      return "PETSc's linear solver gave up";
    case SNES_DIVERGED_FNORM_NAN:
    case SNES_DIVERGED_FUNCTION_DOMAIN:
      return "a force is not finite";
    case SNES_DIVERGED_LINE_SEARCH:
      return "no step along Newton's direction brings the solution nearer";
    default:
      return "Newton's method diverges";
  }
}

/// A node in walls, as the linearised conditions see it. With y = v - r / k, the velocity at which the free impulse r
/// would leave it, the condition is v = W(y), W being the walls one after another.
struct WallNode {
  std::size_t node;        ///< block * nodes_per_block + place.
  std::size_t begin, end;  ///< Its contacts.
  Mat3 slope;              ///< dW/dy.
  // For symmetric systems, from the symmetric part of dW/dy without the coupling of friction to pressure:
  Mat3 free;     ///< Projection on the directions that are not held.
  Mat3 drag;     ///< k (1 - theta) / theta along those, of a change of which friction leaves theta.
  Mat3 inverse;  ///< 1 / theta along those.
};

/// Unknowns as a vector for each node.
struct Reading {
  explicit Reading(Vec vector) : v(vector) { check_petsc(VecGetArrayRead(v, &values)); }
  ~Reading() { check_petsc(VecRestoreArrayRead(v, &values)); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  Eigen::Map<const Vec3> operator[](std::size_t n) const { return Eigen::Map<const Vec3>(values + 3 * n); }
  Vec v;
  const PetscScalar* values = nullptr;
};
struct Writing {
  explicit Writing(Vec vector) : v(vector) { check_petsc(VecGetArray(v, &values)); }
  ~Writing() { check_petsc(VecRestoreArray(v, &values)); }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  Eigen::Map<Vec3> operator[](std::size_t n) const { return Eigen::Map<Vec3>(values + 3 * n); }
  Vec v;
  PetscScalar* values = nullptr;
};

template <class T>
T& self_of(void* context) {
  return *static_cast<T*>(context);
}

}  // namespace

/// The unknowns are x_i = sqrt(m_i) v_i, so that norms are square roots of energies and light nodes are no worse than
/// others. With free impulses
///     r_i = a m_i (v_i - v*_i) - (1 - a) dt m_i g - dt f_i(u = dt v)         v* = p / m + dt g;  a = 1, quasi-static 0
/// which are the derivative of the energy
///     E(v) = a |v - v*|_M^2 / 2 - (1 - a) dt g . M v + sum of the Terms' energies at u = dt v
/// the conditions are, at every node,
///     N_i = k_i (v_i - W_i(v_i - r_i / k_i)) = 0
/// where W_i stands for the walls at the node and is the identity elsewhere (N_i = r_i). At a solution r_i is the
/// impulse that the walls give. k_i = k m_i is any positive mass; a guess of the diagonal of dr/dv serves best.
/// Newton's method on N is semismooth [Qi & Sun 1993]:  (W' dr/dv + k (I - W')) dv = -N.
///
/// Where dr/dv is symmetric, so is the system that Newton solves for the directions that the walls leave free, once
/// what they hold is eliminated and the dependence of friction on pressure is left to the iteration; that friction
/// then is a potential too, and steps are measured by the energy.
struct ImplicitGrid::Solver {
  const Comm comm;
  const BlockMap& map;
  const std::vector<const Term*> terms;
  const ImplicitSettings settings;
  const std::size_t nodes;  ///< Owned, with and without mass.
  const Freedoms freedoms, block_freedoms;
  const PetscDatabase options;

  Vec x = nullptr, residual_vector = nullptr, saved_rhs = nullptr, held_part = nullptr, held_product = nullptr;
  Mat J = nullptr;
  SNES snes = nullptr;
  KSP ksp = nullptr;
  bool options_are_known = false;
  // With a matrix of nodes:
  std::optional<NodeMatrix> matrix;
  std::optional<MatrixPreconditioner> of_matrix;
  Vec released = nullptr;

  // Of the step that is taken.
  ImplicitStep step{};
  std::span<const Wall> walls;
  Motion motion;
  Load force;
  FreedomValues change;
  FreedomValues node_blocks;
  Holds holds;
  std::vector<Real> root_mass;      ///< sqrt(m_i); 0 without mass.
  std::vector<Vec3> old_velocity;   ///< p / m, as the points carry it.
  std::vector<Vec3> free_velocity;  ///< v*.
  std::vector<WallContact> contacts;
  std::vector<WallNode> wall_nodes;
  Real k = 1;             ///< k_i / m_i.
  Real gravity_size = 0;  ///< sum m |dt g|^2 [J].
  Real noise = 0;         ///< Residuals beneath are round-off [sqrt(J)].
  // Of the iteration.
  std::vector<Vec3> impulse;    ///< r_i / sqrt(m_i), where the residual was looked at last.
  Real reference = 0;           ///< Size of the impulses that balance there [sqrt(J)].
  std::vector<Real> residuals;  ///< Before each Newton step [sqrt(J)].
  bool matrix_is_definite = false;
  bool definite = false;  ///< The exact matrices of this step have a direction of negative curvature.
  std::vector<std::unique_ptr<Linear>> linears;
  std::vector<Mat3> inverse_blocks;
  std::vector<Mat3> hold_blocks;    ///< inverse_blocks, of what walls leave.
  std::vector<Vec3> before, after;  ///< Work of the preconditioner, by node.
  std::vector<Real> grip;           ///< Of each contact: impulse of friction where Newton's method stands [N s].

  Solver(const Comm& c, const BlockMap& m, std::vector<const Term*> t, std::vector<const Constraints*> held,
         ImplicitSettings s)
      : comm(c),
        map(m),
        terms(std::move(t)),
        settings(std::move(s)),
        nodes(static_cast<std::size_t>(m.owned()) * nodes_per_block),
        freedoms({{"grid", NodeField::row, &m.forest()}}),
        block_freedoms({{"node blocks", 9 * nodes_per_block, &m.forest()}}),
        options(c, settings.petsc),
        motion(freedoms),
        force(freedoms),
        change(freedoms),
        node_blocks(block_freedoms),
        holds(c, freedoms, std::move(held), nodes),
        root_mass(nodes),
        old_velocity(nodes),
        free_velocity(nodes),
        impulse(nodes),
        inverse_blocks(nodes) {
    if (settings.preconditioner == Preconditioner::multigrid || settings.preconditioner == Preconditioner::direct) {
      matrix.emplace(comm, freedoms, nodes);
      of_matrix.emplace(comm, settings.preconditioner, settings.minimise);
    }
    create_vectors();
    create_solver();
  }

  ~Solver() {
    check_petsc(SNESDestroy(&snes));
    check_petsc(VecDestroy(&released));
    check_petsc(MatDestroy(&J));
    for (Vec* v : {&x, &residual_vector, &saved_rhs, &held_part, &held_product}) check_petsc(VecDestroy(v));
  }

  // --- Set-up ------------------------------------------------------------------------------------------------------

  void create_vectors() {
    const PetscInt n = 3 * static_cast<PetscInt>(nodes);
    check_petsc(VecCreateMPI(comm.handle(), n, PETSC_DETERMINE, &x));
    for (Vec* v : {&residual_vector, &saved_rhs, &held_part, &held_product}) check_petsc(VecDuplicate(x, v));
    check_petsc(MatCreateShell(comm.handle(), n, n, PETSC_DETERMINE, PETSC_DETERMINE, this, &J));
    const auto multiply = [](Mat matrix, Vec in, Vec out) -> PetscErrorCode {
      void* context = nullptr;
      check_petsc(MatShellGetContext(matrix, &context));
      self_of<Solver>(context).multiply(in, out);
      return 0;
    };
    check_petsc(MatShellSetOperation(J, MATOP_MULT, reinterpret_cast<void (*)()>(+multiply)));
  }

  void create_solver() {
    check_petsc(SNESCreate(comm.handle(), &snes));
    check_petsc(SNESSetFunction(
        snes, residual_vector,
        [](SNES, Vec at, Vec out, void* self) -> PetscErrorCode { return self_of<Solver>(self).residual(at, out), 0; },
        this));
    check_petsc(SNESSetJacobian(
        snes, J, J,
        [](SNES, Vec at, Mat, Mat, void* self) -> PetscErrorCode { return self_of<Solver>(self).linearise(at), 0; },
        this));
    check_petsc(SNESSetConvergenceTest(
        snes,
        [](SNES, PetscInt it, PetscReal, PetscReal, PetscReal f, SNESConvergedReason* reason,
           void* self) -> PetscErrorCode { return self_of<Solver>(self).judge(it, f, reason), 0; },
        this, nullptr));
    check_petsc(SNESSetType(snes, SNESNEWTONLS));
    // Newton's method lives with a linear solution that is not as good as it should be.
    check_petsc(SNESSetMaxLinearSolveFailures(snes, settings.max_iterations + 1));
    SNESLineSearch line = nullptr;
    check_petsc(SNESGetLineSearch(snes, &line));
    check_petsc(SNESLineSearchSetType(line, SNESLINESEARCHSHELL));
    check_petsc(SNESLineSearchShellSetUserFunc(
        line, [](SNESLineSearch l, void* self) -> PetscErrorCode { return self_of<Solver>(self).search(l), 0; }, this));

    check_petsc(SNESGetKSP(snes, &ksp));
    check_petsc(KSPSetType(ksp, default_method()));
    check_petsc(KSPGMRESSetRestart(ksp, 60));
    PC pc = nullptr;
    check_petsc(KSPGetPC(ksp, &pc));
    if (settings.preconditioner == Preconditioner::none) {
      check_petsc(PCSetType(pc, PCNONE));
    } else {
      check_petsc(PCSetType(pc, PCSHELL));
      check_petsc(PCShellSetContext(pc, this));
      check_petsc(PCShellSetApply(pc, [](PC shell, Vec in, Vec out) -> PetscErrorCode {
        void* context = nullptr;
        check_petsc(PCShellGetContext(shell, &context));
        return self_of<Solver>(context).precondition(in, out), 0;
      }));
    }
    if (matrix) {
      check_petsc(PCSetOptionsPrefix(pc, "outer_"));  // what options say of a PC is meant for that of the matrix
      check_petsc(VecDuplicate(x, &released));
    }
    if (settings.minimise) {
      check_petsc(KSPSetPreSolve(
          ksp,
          [](KSP, Vec rhs, Vec, void* self) -> PetscErrorCode { return self_of<Solver>(self).eliminate_held(rhs), 0; },
          this));
      check_petsc(KSPSetPostSolve(
          ksp,
          [](KSP, Vec rhs, Vec, void* self) -> PetscErrorCode { return VecCopy(self_of<Solver>(self).saved_rhs, rhs); },
          this));
    }
    options.apply([&] {
      PetscErrorCode code = SNESSetFromOptions(snes);
      if (code == 0 && matrix) code = of_matrix->create();
      if (code != 0) return code;
      KSPType chosen = nullptr;
      check_petsc(KSPGetType(ksp, &chosen));
      if (std::string(chosen) == default_method()) {  // which norms and sides other methods know is their own affair
        if (!settings.minimise) check_petsc(KSPSetPCSide(ksp, PC_RIGHT));
        check_petsc(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
      }
      return PetscErrorCode(0);
    });
  }

  const char* default_method() const { return settings.minimise ? KSPCG : KSPGMRES; }

  // --- Between unknowns and nodes ----------------------------------------------------------------------------------

  /// Calls f(node) for all owned nodes with mass.
  template <class F>
  void for_each_node(F&& f) const {
#pragma omp parallel for schedule(static)
    for (std::size_t n = 0; n < nodes; ++n)
      if (root_mass[n] > 0) f(n);
  }
  /// Sum of f(node) over the owned nodes with mass.
  template <class F>
  Real sum_over_nodes(F&& f) const {
    return ordered_sum(nodes, Real(0), [&](std::size_t n) { return root_mass[n] > 0 ? f(n) : Real(0); });
  }

  /// The displacement dt x / sqrt(m) of the nodes, ghosts up to date; x(node) are the unknowns.
  template <class Unknowns>
  void displace(const Unknowns& unknowns, FreedomValues& u) const {
    const std::span<Real> to = u.block(0);
    for_each_node([&](std::size_t n) {
      Eigen::Map<Vec3>(to.data() + NodeField::width * n) = step.dt / root_mass[n] * unknowns(n);
    });
    u.update_ghosts();
  }

  void look_at(Vec at) {
    const Reading in(at);
    displace([&](std::size_t n) { return in[n]; }, motion.u);
    const std::span<const Real> u = std::as_const(motion).u.all();
    std::transform(u.begin(), u.end(), motion.rate.all().begin(), [&](Real v) { return motion.rate_per_u * v; });
  }

  Vec3 at_node(const FreedomValues& values, std::size_t n) const {
    return Eigen::Map<const Vec3>(values.block(0).data() + NodeField::width * n);
  }

  /// Velocity that the walls of a node leave to y.
  Vec3 walls_leave(const WallNode& node, Vec3 y) const {
    for (std::size_t c = node.begin; c < node.end; ++c) {
      const WallContact& contact = contacts[c];
      const Wall& wall = walls[contact.wall];
      y = velocity_at_wall(wall.condition, wall.friction, y, contact.velocity, contact.normal);
    }
    return y;
  }

  /// The velocity y of a node that the walls are asked about.
  Vec3 asked_velocity(const Reading& in, const WallNode& node) const {
    return (in[node.node] - impulse[node.node] / k) / root_mass[node.node];
  }

  // --- Residual and energy -----------------------------------------------------------------------------------------

  void residual(Vec at, Vec out) {
    look_at(at);
    force.set_zero();
    for (const Term* term : terms) term->add_force(motion, force);
    force.sum_to_owners();

    const Reading in(at);
    const Writing r(out);
    for_each_node([&](std::size_t n) {
      const Real root = root_mass[n];
      impulse[n] = settings.inertia ? Vec3(in[n] - root * free_velocity[n]) : Vec3(-step.dt * root * step.gravity);
      impulse[n] -= step.dt / root * at_node(force, n);
    });
    const auto size_of_forces = [&] {
      return sum_over_nodes([&](std::size_t n) { return (step.dt / root_mass[n] * at_node(force, n)).squaredNorm(); });
    };
    std::array<Real, 3> sizes{size_of_forces(), 0, 0};
    if (holds.any()) {
      force.set_zero();
      holds.add_force(motion, force);
      force.sum_to_owners();
      for_each_node([&](std::size_t n) { impulse[n] -= step.dt / root_mass[n] * at_node(force, n); });
      sizes[2] = size_of_forces();
    }
    for_each_node([&](std::size_t n) { r[n] = impulse[n]; });
    for (const WallNode& node : wall_nodes) {
      r[node.node] = k * (in[node.node] - root_mass[node.node] * walls_leave(node, asked_velocity(in, node)));
      sizes[1] += impulse[node.node].squaredNorm();
    }
    comm.sum(sizes);
    reference = std::sqrt(std::max({sizes[0], sizes[1], sizes[2], gravity_size}));
  }

  struct Energy {
    Real value;
    Real noise;  ///< What may be round-off of it.
  };
  /// With the potential of friction at its present strength. [J]
  Energy energy(Vec at) {
    look_at(at);
    const Reading in(at);
    std::array<Real, 3> parts{0, 0, 0};
    for (const Term* term : terms) parts[0] += term->energy(motion);
    if (holds.any()) parts[0] += holds.energy(motion);
    parts[1] = sum_over_nodes([&](std::size_t n) {
      const Real root = root_mass[n];
      return settings.inertia ? 0.5 * (in[n] - root * free_velocity[n]).squaredNorm()
                              : -step.dt * root * step.gravity.dot(in[n]);
    });
    for (const WallNode& node : wall_nodes)
      for (std::size_t c = node.begin; c < node.end; ++c) {
        const Vec3 slide = in[node.node] / root_mass[node.node] - contacts[c].velocity, n = contacts[c].normal;
        parts[2] += grip[c] * (slide - slide.dot(n) * n).norm();
      }
    comm.sum(parts);
    return {parts[0] + parts[1] + parts[2],
            energy_noise * (std::abs(parts[0]) + std::abs(parts[1]) + std::abs(parts[2]))};
  }

  // --- Newton's method ---------------------------------------------------------------------------------------------

  Real goal() const { return settings.tolerance * reference + noise; }

  void judge(PetscInt iteration, Real residual_norm, SNESConvergedReason* reason) {
    *reason = SNES_CONVERGED_ITERATING;
    residuals.push_back(residual_norm);
    if (!std::isfinite(residual_norm)) *reason = SNES_DIVERGED_FNORM_NAN;
    else if (residual_norm <= goal()) *reason = SNES_CONVERGED_FNORM_RELATIVE;
    else if (iteration >= settings.max_iterations) *reason = SNES_DIVERGED_MAX_IT;
    if (*reason != SNES_CONVERGED_ITERATING) return;

    Real forcing = first_forcing;
    if (iteration > 0) forcing = std::min(forcing, 0.9 * std::pow(residual_norm / residuals[residuals.size() - 2], 2));
    forcing = std::min(std::max(forcing, last_forcing * goal() / residual_norm), 0.5);
    check_petsc(KSPSetTolerances(ksp, forcing, PETSC_DEFAULT, PETSC_DEFAULT, most_krylov_steps));
  }

  /// Takes x to x - length y, with a length of one unless that leads away.
  void search(SNESLineSearch line) {
    Vec at = nullptr, f = nullptr, y = nullptr, trial = nullptr, trial_f = nullptr;
    check_petsc(SNESLineSearchGetVecs(line, &at, &f, &y, &trial, &trial_f));
    if (settings.minimise) search_by_energy(line, at, f, y, trial, trial_f);
    else search_by_residual(line, at, f, y, trial, trial_f);
    check_petsc(SNESLineSearchComputeNorms(line));
  }

  /// Where the exact matrices have negative curvature or lead nowhere, the next Newton step takes definite ones.
  void search_by_energy(SNESLineSearch line, Vec at, Vec f, Vec y, Vec trial, Vec trial_f) {
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    check_petsc(KSPGetConvergedReason(ksp, &reason));
    if (!definite && (reason == KSP_DIVERGED_INDEFINITE_MAT || reason == KSP_DIVERGED_INDEFINITE_PC)) {
      definite = true;
      return;
    }
    // What the walls dictate is done in full; the rest must descend.
    {
      const Writing from(at), part(y);
      for (const WallNode& node : wall_nodes) {
        const Vec3 rest = node.free * part[node.node];
        from[node.node] -= part[node.node] - rest;
        part[node.node] = rest;
      }
    }
    Real slope = 0, length = 1;
    check_petsc(VecDot(f, y, &slope));
    const Energy start = energy(at);
    bool descends = false;
    for (int halving = 0; !descends && halving <= most_halvings; ++halving, length /= 2) {
      check_petsc(VecWAXPY(trial, -length, y, at));
      const Energy end = energy(trial);
      descends = end.value <= start.value - sufficient_decrease * length * std::max(slope, 0.0) + end.noise;
      if (descends || !(slope > 0) || !(end.value <= start.value + energy_doubt * end.noise)) continue;
      Real slope_at_end = 0;
      residual(trial, trial_f);
      check_petsc(VecDot(trial_f, y, &slope_at_end));
      descends = slope_at_end >= -(1 - 2 * sufficient_decrease) * slope;
    }
    if (descends) check_petsc(VecCopy(trial, at));
    else if (definite) check_petsc(SNESLineSearchSetReason(line, SNES_LINESEARCH_FAILED_REDUCT));
    definite = definite || !descends;
    residual(at, f);
  }

  void search_by_residual(SNESLineSearch line, Vec at, Vec f, Vec y, Vec trial, Vec trial_f) {
    Real start = 0, end = 0, length = 1;
    check_petsc(VecNorm(f, NORM_2, &start));
    bool descends = false;
    for (int halving = 0; !descends && halving <= most_halvings; ++halving, length /= 2) {
      check_petsc(VecWAXPY(trial, -length, y, at));
      residual(trial, trial_f);
      check_petsc(VecNorm(trial_f, NORM_2, &end));
      descends = end <= (1 - sufficient_decrease * length) * start;
    }
    if (!descends) check_petsc(SNESLineSearchSetReason(line, SNES_LINESEARCH_FAILED_REDUCT));
    check_petsc(VecCopy(trial, at));
    check_petsc(VecCopy(trial_f, f));
  }

  // --- Linear systems ----------------------------------------------------------------------------------------------

  /// At the unknowns where the residual was looked at last.
  void linearise(Vec at) {
    look_at(at);
    linears.clear();
    node_blocks.set_zero();
    for (const Term* term : terms) {
      linears.push_back(definite ? term->linearise_definite(motion) : term->linearise(motion));
      if (needs_blocks()) term->add_node_blocks(*linears.back(), node_blocks.all());
    }
    node_blocks.sum_to_owners();
    linearise_walls(at);
    if (needs_blocks()) invert_blocks();
    if (matrix && is_matrix_old()) renew_matrix();
  }

  /// Multigrid knows nothing of holds: their stiffness would hide all else from its smoothers.
  bool holds_are_in_matrix() const { return settings.preconditioner == Preconditioner::direct; }
  bool needs_blocks() const {
    return settings.preconditioner == Preconditioner::blocks || (matrix && holds.any() && !holds_are_in_matrix());
  }

  /// Within a step the matrix changes little.
  bool is_matrix_old() const {
    if (matrix->matrix() == nullptr || definite != matrix_is_definite) return true;
    PetscInt last = 0;
    check_petsc(KSPGetIterationNumber(ksp, &last));
    return last > most_steps_with_old_matrix;
  }

  void renew_matrix() {
    matrix_is_definite = definite;
    matrix->begin_adding();
    for (std::size_t t = 0; t < terms.size(); ++t) terms[t]->add_tangent(*linears[t], *matrix);
    if (holds_are_in_matrix()) holds.add_tangent(*matrix);
    std::vector<const WallNode*> wall_at(nodes, nullptr);
    for (const WallNode& node : wall_nodes) wall_at[node.node] = &node;
    const bool is_new = matrix->matrix() == nullptr;
    const Mat3 I = Mat3::Identity(), inertia = settings.inertia ? I : Mat3(Mat3::Zero());
    matrix->assemble([&](std::size_t n) -> NodeMatrix::Node {
      if (!(root_mass[n] > 0)) return {Mat3::Zero(), Mat3::Zero(), I};
      const Real scale = step.dt / root_mass[n];
      if (wall_at[n] == nullptr) return {scale * I, scale * I, inertia};
      const auto& [node, begin, end, slope, free, drag, inverse] = *wall_at[n];
      if (!settings.minimise) return {scale * slope, scale * I, slope * inertia + k * (I - slope)};
      return {scale * free, scale * free, free * inertia * free + drag + k * (I - free)};
    });
    if (settings.minimise) check_petsc(MatSetOption(matrix->matrix(), MAT_SYMMETRIC, PETSC_TRUE));
    if (is_new) {
      if (settings.preconditioner == Preconditioner::multigrid) set_rigid_motions();
      check_petsc(of_matrix->create());
      of_matrix->set_matrix(matrix->matrix());
    }
    of_matrix->set_up();
  }

  /// Tells multigrid the six motions that cost no energy.
  void set_rigid_motions() {
    std::vector<Vec> modes(6);
    for (int mode = 0; mode < 6; ++mode) {
      check_petsc(VecDuplicate(x, &modes[static_cast<std::size_t>(mode)]));
      check_petsc(VecSet(modes[static_cast<std::size_t>(mode)], 0));
      const Writing to(modes[static_cast<std::size_t>(mode)]);
      const Vec3 e = Vec3::Unit(mode % 3);
      for_each_node([&](std::size_t n) {
        const int block = static_cast<int>(n) / nodes_per_block, place = static_cast<int>(n) % nodes_per_block;
        const Vec3 X = (map.first_node(block) + node_at_place(place)).cast<Real>();
        to[n] = root_mass[n] * (mode < 3 ? e : Vec3(e.cross(X)));
      });
      for (const WallNode& node : wall_nodes) to[node.node] = node.free * to[node.node];
    }
    set_near_null_space(matrix->matrix(), std::move(modes));
  }

  void linearise_walls(Vec at) {
    const Reading in(at);
    for (WallNode& node : wall_nodes) {
      const Mat3 I = Mat3::Identity();
      Vec3 y = asked_velocity(in, node);
      Mat3 symmetric = I;
      node.slope = I;
      for (std::size_t c = node.begin; c < node.end; ++c) {
        const auto& [block, place, w, velocity, n] = contacts[c];
        const Wall& wall = walls[w];
        const Mat3 slope = velocity_differential_at_wall(wall.condition, wall.friction, y, velocity, n);
        node.slope = slope * node.slope;
        const bool touches = !slope.isIdentity(0);
        if (touches) symmetric = slope * (I - n * n.transpose()) * symmetric;
        const Real mass = root_mass[node.node] * root_mass[node.node];
        grip[c] = touches ? wall.friction * k * mass * std::abs((y - velocity).dot(n)) : 0;
        y = velocity_at_wall(wall.condition, wall.friction, y, velocity, n);
      }
      const SymmetricEigen eigen = symmetric_eigen(0.5 * (symmetric + symmetric.transpose()));
      const auto along_free = [&](auto&& value) -> Mat3 {
        Vec3 values = Vec3::Zero();
        for (int i = 0; i < 3; ++i)
          if (eigen.values[i] > held) values[i] = value(eigen.values[i]);
        return eigen.Q * values.asDiagonal() * eigen.Q.transpose();
      };
      node.free = along_free([](Real) { return 1.0; });
      node.inverse = along_free([](Real theta) { return 1 / theta; });
      node.drag = along_free([this](Real theta) { return k * (1 - theta) / theta; });
    }
  }

  void invert_blocks() {
    const std::span<const Real> blocks = std::as_const(node_blocks).all();
    const Mat3 I = Mat3::Identity();
    for_each_node([&](std::size_t n) {
      using Block = Eigen::Matrix<Real, 3, 3, Eigen::RowMajor>;
      inverse_blocks[n] = std::pow(step.dt / root_mass[n], 2) * Eigen::Map<const Block>(blocks.data() + 9 * n);
      if (settings.inertia) inverse_blocks[n] += I;
    });
    for (const WallNode& node : wall_nodes) {
      const Mat3 D = inverse_blocks[node.node];
      inverse_blocks[node.node] = settings.minimise ? Mat3(node.free * D * node.free + node.drag + k * (I - node.free))
                                                    : Mat3(node.slope * D + k * (I - node.slope));
    }
    for_each_node([&](std::size_t n) { inverse_blocks[n] = Mat3(inverse_blocks[n].inverse()); });
    if (!holds.any()) return;
    hold_blocks = inverse_blocks;
    for (const WallNode& node : wall_nodes)
      hold_blocks[node.node] = inverse_blocks[node.node] * (settings.minimise ? node.free : node.slope);
    holds.factor(hold_blocks);
  }

  /// out = d(r/sqrt(m))/dx times the unknowns z(node).
  template <class Unknowns>
  void free_product(const Unknowns& z, const Writing& out) {
    displace(z, change);
    force.set_zero();
    for (std::size_t t = 0; t < terms.size(); ++t) terms[t]->add_force_change(*linears[t], change, force);
    if (holds.any()) holds.add_force_change(change, force);
    force.sum_to_owners();
    for_each_node([&](std::size_t n) {
      const Vec3 own = settings.inertia ? Vec3(z(n)) : Vec3::Zero();  // z may be read from out
      out[n] = own - step.dt / root_mass[n] * at_node(force, n);
    });
  }

  void multiply(Vec in_vector, Vec out_vector) {
    check_petsc(VecCopy(in_vector, out_vector));  // nodes without mass
    const Reading in(in_vector);
    const Writing out(out_vector);
    if (!settings.minimise) {
      free_product([&](std::size_t n) { return in[n]; }, out);
      for (const WallNode& node : wall_nodes)
        out[node.node] = node.slope * out[node.node] + k * (in[node.node] - node.slope * in[node.node]);
      return;
    }
    // The free directions and the held ones do not see each other.
    for (const WallNode& node : wall_nodes) out[node.node] = node.free * in[node.node];
    free_product([&](std::size_t n) { return Vec3(out[n]); }, out);
    for (const WallNode& node : wall_nodes) {
      const Vec3 z = node.free * in[node.node];
      out[node.node] = node.free * out[node.node] + node.drag * z + k * (in[node.node] - z);
    }
  }

  /// Turns the right side of W' K dx + k (I - W') dx = b into that of the symmetric system for the free directions.
  void eliminate_held(Vec rhs) {
    check_petsc(VecCopy(rhs, saved_rhs));
    check_petsc(VecSet(held_part, 0));
    bool moves = false;
    {
      const Writing b(rhs), h(held_part);
      for (const WallNode& node : wall_nodes) {
        h[node.node] = (b[node.node] - node.free * b[node.node]) / k;
        b[node.node] = node.inverse * b[node.node];
        moves = moves || !h[node.node].isZero(0);
      }
    }
    if (!comm.any(moves)) return;
    check_petsc(VecSet(held_product, 0));
    const Reading h(held_part);
    const Writing product(held_product), b(rhs);
    free_product([&](std::size_t n) { return h[n]; }, product);
    for (const WallNode& node : wall_nodes) product[node.node] = node.free * product[node.node] - k * h[node.node];
    for_each_node([&](std::size_t n) { b[n] -= product[n]; });
  }

  void precondition(Vec in_vector, Vec out_vector) {
    if (!matrix) return precondition_by_blocks(in_vector, out_vector);
    if (!holds.any() || holds_are_in_matrix()) return of_matrix->apply(in_vector, out_vector);
    check_petsc(VecCopy(in_vector, released));
    with_nodes_of(released, [&] { holds.release(hold_blocks, before); });
    of_matrix->apply(released, out_vector);
    with_nodes_of(out_vector, [&] { holds.restore(hold_blocks, before); });
  }

  /// Lets `change` change what nodes with mass have in the vector, in `before`.
  template <class F>
  void with_nodes_of(Vec vector, F&& change) {
    const Writing values(vector);
    for_each_node([&](std::size_t n) { before[n] = values[n]; });
    change();
    for_each_node([&](std::size_t n) { values[n] = before[n]; });
  }

  void precondition_by_blocks(Vec in_vector, Vec out_vector) {
    check_petsc(VecCopy(in_vector, out_vector));  // nodes without mass
    const Reading in(in_vector);
    const Writing out(out_vector);
    for_each_node([&](std::size_t n) { out[n] = inverse_blocks[n] * in[n]; });
    if (!holds.any()) return;
    for_each_node([&](std::size_t n) { before[n] = out[n]; });
    if (settings.minimise)
      for (const WallNode& node : wall_nodes) before[node.node] = node.free * before[node.node];
    after.assign(nodes, Vec3::Zero());
    holds.correct(hold_blocks, before, after);
    for_each_node([&](std::size_t n) { out[n] += after[n]; });
  }

  // --- The step ----------------------------------------------------------------------------------------------------

  void begin_step(const ImplicitStep& its_step, std::span<const Wall> its_walls, const NodeField& inertia) {
    step = its_step;
    walls = its_walls;
    motion.rate_per_u = 1 / step.dt;
    motion.time = step.time + step.dt;
    // Nodes that had mass in the last step may have none now.
    for (FreedomValues* values : {&motion.u, &change}) values->set_zero();
    const Vec3 fall = step.dt * step.gravity;
#pragma omp parallel for schedule(static)
    for (std::size_t n = 0; n < nodes; ++n) {
      const Real* node = inertia.block(0) + NodeField::width * n;
      root_mass[n] = node[0] > 0 ? std::sqrt(node[0]) : 0;
      old_velocity[n] = node[0] > 0 ? Vec3(Eigen::Map<const Vec3>(node + 1) / node[0]) : Vec3::Zero();
      free_velocity[n] = old_velocity[n] + fall;
    }
    contacts = contacts_during(walls, step.time, step.dt, step.dx, map, inertia);
    grip.assign(contacts.size(), 0);
    wall_nodes.clear();
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      const auto node = static_cast<std::size_t>(contacts[c].block * nodes_per_block + contacts[c].place);
      if (wall_nodes.empty() || wall_nodes.back().node != node) wall_nodes.push_back({node, c, c, {}, {}, {}, {}});
      wall_nodes.back().end = c + 1;
    }

    const Real stiffness = std::pow(2 * step.dt * step.wave_speed / step.dx, 2);
    k = settings.inertia ? 1 + stiffness : std::max(1.0, stiffness);
    const auto mass_of = [&](std::size_t n) { return root_mass[n] * root_mass[n]; };
    std::array<Real, 2> sums{sum_over_nodes(mass_of),
                             sum_over_nodes([&](std::size_t n) { return mass_of(n) * old_velocity[n].squaredNorm(); })};
    comm.sum(sums);
    gravity_size = sums[0] * fall.squaredNorm();
    holds.begin_step(step.time + step.dt, step.dt, k, root_mass);
    before.assign(nodes, Vec3::Zero());
    if (matrix) matrix->begin_step();
    noise = 1e-13 * std::sqrt(sums[0]) * step.dt * step.wave_speed * step.wave_speed / step.dx +
            1e-14 * std::sqrt(sums[1] + gravity_size);
  }

  /// Of two guesses the better one: nodes go on as they did, or fall freely; walls act on either.
  void guess() {
    const auto set = [&](const std::vector<Vec3>& velocity) {
      check_petsc(VecSet(x, 0));
      {
        const Writing to(x);
        for_each_node([&](std::size_t n) { to[n] = root_mass[n] * velocity[n]; });
        for (const WallNode& node : wall_nodes)
          to[node.node] = root_mass[node.node] * walls_leave(node, velocity[node.node]);
      }
      Real size = 0;
      residual(x, residual_vector);
      check_petsc(VecNorm(residual_vector, NORM_2, &size));
      return size;
    };
    const Real going_on = set(old_velocity);
    if (!(set(free_velocity) < going_on)) set(old_velocity);
  }

  ImplicitReport advance(const ImplicitStep& its_step, std::span<const Wall> its_walls, Layer& layer,
                         std::span<Vec3> wall_impulse) {
    begin_step(its_step, its_walls, layer.inertia);
    check_petsc(VecSet(residual_vector, 0));
    guess();
    residuals.clear();
    definite = false;
    options.apply([&] { return SNESSolve(snes, nullptr, x); });
    if (!options_are_known) options.require_known();
    options_are_known = true;

    ImplicitReport report;
    SNESConvergedReason reason = SNES_CONVERGED_ITERATING;
    PetscInt newton = 0, krylov = 0;
    check_petsc(SNESGetConvergedReason(snes, &reason));
    check_petsc(SNESGetIterationNumber(snes, &newton));
    check_petsc(SNESGetLinearSolveIterations(snes, &krylov));
    report.converged = reason > 0;
    report.newton = newton;
    report.krylov = krylov;
    if (!report.converged) report.failure = words_for(reason);
    report.residuals = residuals;
    linears.clear();
    look_at(x);
    if (holds.any()) report.of_conditions = holds.impulses(motion);
    report.wall_work = finish_step(layer, wall_impulse);
    return report;
  }

  /// Returns the work of the walls.
  Real finish_step(Layer& layer, std::span<Vec3> wall_impulse) {
    const Reading in(x);
#pragma omp parallel for schedule(static)
    for (std::size_t n = 0; n < nodes; ++n) {
      Real* node = layer.velocity.block(0) + NodeField::width * n;
      Vec3::Map(node) = root_mass[n] > 0 ? Vec3(in[n] / root_mass[n]) : Vec3::Zero();
      node[3] = root_mass[n] > 0 ? 1 : 0;
    }
    Real work = 0;
    for (const WallNode& node : wall_nodes) {
      Vec3 y = asked_velocity(in, node);
      const Real mass = k * root_mass[node.node] * root_mass[node.node];
      for (std::size_t c = node.begin; c < node.end; ++c) {
        const Vec3 before = y;
        const Wall& wall = walls[contacts[c].wall];
        y = velocity_at_wall(wall.condition, wall.friction, before, contacts[c].velocity, contacts[c].normal);
        wall_impulse[contacts[c].wall] += mass * (before - y);
        work += mass * (y - before).dot(contacts[c].velocity);
      }
      Eigen::Map<Vec3>(layer.velocity.block(0) + NodeField::width * node.node) = y;
    }
    return work;
  }
};

ImplicitGrid::ImplicitGrid(const Comm& comm, const BlockMap& map, std::vector<const Term*> terms,
                           std::vector<const Constraints*> constraints, ImplicitSettings settings)
    : solver_(std::make_unique<Solver>(comm, map, std::move(terms), std::move(constraints), std::move(settings))) {}

ImplicitGrid::~ImplicitGrid() = default;

ImplicitReport ImplicitGrid::advance(const ImplicitStep& step, std::span<const Wall> walls, Layer& layer,
                                     std::span<Vec3> wall_impulse) {
  return solver_->advance(step, walls, layer, wall_impulse);
}

}  // namespace weft
