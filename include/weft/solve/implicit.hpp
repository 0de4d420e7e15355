#pragma once
// The implicit grid step: backward Euler for the momentum of the nodes of one layer, walls included, by Newton and
// Krylov methods of PETSc (SNES, KSP). Knows Terms, nodes and walls; nothing of bodies.

#include "weft/base/interrupted.hpp"
#include "weft/grid/node_field.hpp"
#include "weft/grid/walls.hpp"
#include "weft/motion/constraint.hpp"
#include "weft/motion/term.hpp"
#include "weft/solve/implicit_settings.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weft {

struct ImplicitStep {
  Real dt;          ///< [s].
  Real time;        ///< At the start of the step [s].
  Real dx;          ///< [m].
  Vec3 gravity;     ///< [m/s^2].
  Real wave_speed;  ///< Of the fastest wave in any body [m/s].
  StopQuestion is_asked_to_stop{};
  const NodeField* loads = nullptr;  ///< NodeMemory: forces on nodes from other layers over the step; null: none.
  bool is_another = false;           ///< Of the same step as the last call, with other loads: goes on from its end.
};

struct ImplicitReport {
  bool converged = false;
  int newton = 0, krylov = 0;   ///< Iterations.
  std::string failure;          ///< In words; empty if converged.
  std::vector<Real> residuals;  ///< Before the first and after each Newton step [sqrt(J)].
  /// What each condition on this rank gave along its weights, in the order of the constraints [N s].
  std::vector<Real> of_conditions;
};

/// Steps on one map; vectors, operator and solver are kept from step to step. Map, Terms and constraints are not owned;
/// block 0 of the motions that Terms are given is the grid, and constraints are on its freedoms, with the three
/// components of a node one after another. All members are collective.
class ImplicitGrid {
 public:
  /// Throws Error(deck) if PETSc cannot set up what an option asks for.
  ImplicitGrid(const Comm& comm, const BlockMap& map, std::vector<const Term*> terms,
               std::vector<const Constraints*> constraints, ImplicitSettings settings);
  ~ImplicitGrid();
  ImplicitGrid(const ImplicitGrid&) = delete;
  ImplicitGrid& operator=(const ImplicitGrid&) = delete;

  /// From summed mass and momentum (without forces) to the velocity of every owned node at the end of the step; ghosts
  /// wait for their owners. Nodes without mass are at rest. by_walls grows by what each wall gave on this rank.
  /// If the report says that it did not converge, velocities are of no use. Throws Interrupted.
  ImplicitReport advance(const ImplicitStep& step, std::span<const Wall> walls, Layer& layer,
                         std::span<Impulse> by_walls);

 private:
  struct Solver;
  std::unique_ptr<Solver> solver_;
};

}  // namespace weft
