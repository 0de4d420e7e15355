#pragma once
// Equilibrium: the motion in which all forces balance, under constraints; Newton by PETSc's SNES on the assembled
// tangent.

#include "weft/base/interrupted.hpp"
#include "weft/motion/constraint.hpp"
#include "weft/motion/term.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/solve/stability.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct EquilibriumSettings {
  Real size = 1;          ///< Of the bodies [m]: tells round-off from motion.
  Real time_scale = 1;    ///< Over which loads and handles change [s].
  Real tolerance = 1e-8;  ///< Of the unbalanced force, relative to loads and reactions.
  int max_iterations = 30;
  bool follow_arc = false;        ///< `along_arc` will be used.
  bool flows = false;             ///< Something yields: forces have kinks.
  bool slack = false;             ///< Something has no stiffness across where it is not stretched: sheets, fibers.
  std::size_t elastic_terms = 0;  ///< The first so many terms, which are made softer to find a first shape if `slack`.
  bool has_units = false;         ///< Freedoms fall into small units, each on one rank, as strands are.
  std::string petsc{};            ///< Options of PETSc for SNES, KSP and PC, as on its command line: "-ksp_type gmres".
  StopQuestion is_asked_to_stop{};
};

struct EquilibriumReport {
  bool converged = false;
  int iterations = 0;         ///< Newton steps, those of a failed first attempt included.
  Real unbalanced_force = 0;  ///< Norm over all freedoms and conditions [N].
  std::string failure;        ///< In words; empty if converged.
};

/// The way from one balanced state to the next.
struct Increment {
  FreedomValues u;  ///< [m].
  Real time;        ///< [s].
};

/// What is as far as what, along a load path: a displacement of this norm over all freedoms [m] and a time [s].
struct PathMeasure {
  Real displacement, time;
};

/// One problem, solved for many times or along its load path; vectors, matrix and solver are kept as long as the
/// conditions keep their number, order and freedoms. What they ask is met to 1e-10 of the size of the bodies. Terms and
/// constraints are not owned. Searches throw Interrupted; there is no next one then. All members are collective.
class Equilibrium {
 public:
  /// Throws Error(deck) if PETSc cannot set up what an option asks for.
  Equilibrium(const Comm& comm, const Freedoms& freedoms, std::vector<const Term*> terms,
              std::vector<const Constraints*> constraints, EquilibriumSettings settings);
  ~Equilibrium();
  Equilibrium(const Equilibrium&) = delete;
  Equilibrium& operator=(const Equilibrium&) = delete;

  /// Forgets all but the layout of what is solved: the next balance is found as if it were the first.
  void forget();
  /// Begins to solve for the balance at a given time and forgets it. Throws Error(deck) if PETSc does not take an
  /// option.
  void rehearse(Motion motion, Real time);
  /// Balance at a given time. motion: in, a first guess; out, the balanced motion with its time. If the report says
  /// that it did not converge, the motion is of no use, here and below.
  EquilibriumReport at_time(Motion& motion, Real time);
  /// The same by the chord method [Kelley 1995]: all steps by the factors of one matrix, anew that of the guess, else
  /// the one that was factored last. It ends as `at_time` does, or once the unbalanced forces are this share of those
  /// of the guess. If it did not converge, the motion is the guess.
  EquilibriumReport by_chords(Motion& motion, Real time, bool anew, Real share = 0);
  /// Goes on along the path of balanced states, on which loads may fall as well as rise: the time is an unknown too,
  /// and the new state lies in the plane that is `length` [1] ahead, in the measure given, along the last increment and
  /// at right angles to it [Keller 1977; Riks 1979]. motion: in, the state to start from; out, the next one.
  EquilibriumReport along_arc(Motion& motion, const Increment& last, const PathMeasure& measure, Real length);
  /// The same a length along a way that need not be that of the path, as from one branch of it to another.
  EquilibriumReport along_way(Motion& motion, const Increment& way, const PathMeasure& measure, Real length);
  /// How stable a balanced state is under its loads, the time held. foresight: none where the path is followed.
  Stability examine(const Motion& at, const Foresight& foresight);
  /// Components that have free rigid motions in a state. positions: of each block those of its rows when bodies
  /// last committed [m].
  std::vector<FreeComponent> free_components(const Motion& at, const std::vector<std::span<const Vec3>>& positions);
  /// Length of an increment in a measure [1].
  Real length_of(const Increment& increment, const PathMeasure& measure) const;

  /// Forces that the constraints exert in the last solved state: for the conditions of constraints[c] on this rank, in
  /// their order, the force [N] along each; it acts on freedom k as weight_k times that.
  std::vector<Real> constraint_forces(std::size_t c) const;

 private:
  struct Given;
  struct Solver;
  /// For the conditions that there are at a time.
  void prepare(Real time);

  std::unique_ptr<const Given> given_;
  std::unique_ptr<Solver> solver_;
};

}  // namespace weft
