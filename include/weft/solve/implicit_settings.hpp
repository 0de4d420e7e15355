#pragma once
// How implicit grid steps are solved.

#include "weft/base/kinds.hpp"
#include "weft/base/types.hpp"

#include <string>

namespace weft {

struct ImplicitSettings {
  bool minimise = true;   ///< Newton descends the energy, with symmetric matrices; else it looks at the residual alone.
  bool inertia = true;    ///< False: every step ends in equilibrium.
  Real tolerance = 1e-4;  ///< Of the unbalanced impulse, relative to those of forces, gravity or walls.
  int max_iterations = 30;  ///< Of Newton's method.
  Preconditioner preconditioner = Preconditioner::blocks;
  std::string petsc{};  ///< Options of PETSc for SNES, KSP and PC, as on its command line: "-ksp_type gmres".

  /// Whether Newton steps are judged by the residual as the preconditioner sees it: without an energy or inertia, the
  /// residual itself rises where stiff parts of a body follow a step of soft ones.
  bool judges_by_preconditioner() const { return !minimise && !inertia && preconditioner != Preconditioner::none; }
};

}  // namespace weft
