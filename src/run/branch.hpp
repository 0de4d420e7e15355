#pragma once
// From a balanced state that is not stable to another one at the same load, over the branch that forks off.

#include "weft/solve/equilibrium.hpp"

namespace weft {

struct Nudge {
  const FreedomValues& mode;  ///< Of the state; its largest component is 1.
  Real size;                  ///< Of the first displacement along the mode [m].
  Real time_scale;            ///< Of the loads [s].
};

/// The first state of the branch is a nudge away along the mode, at whatever load; from there the branch is followed
/// until it passes the load at the start. branch: follows the arc. motion: in, the state; out, the first one of the
/// branch beyond its load. False if there is none. Collective.
bool follow_branch(Equilibrium& branch, const Nudge& nudge, Motion& motion);

}  // namespace weft
