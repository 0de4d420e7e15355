#pragma once
// What limits steps.

#include "run/state.hpp"
#include "weft/base/kinds.hpp"
#include "weft/parallel/comm.hpp"

#include <algorithm>
#include <span>

namespace weft {

/// Fraction of the time an elastic wave takes over dx that an explicit step may last (docs/theory/step.md, 4).
Real wave_number(KernelKind kernel);

/// Limit of an explicit step with viscosity nu, in dx^2 / nu: 1/6 for diffusion in three dimensions, twice as fast for
/// the compression that 2 eta sym(L) also resists.
inline constexpr Real diffusion_number = 1.0 / 12;

/// Limit of an explicit step with a mesh of frequency omega, in 1 / omega: symplectic Euler is stable up to 2.
inline constexpr Real vibration_number = 1.8;
/// By how much the fastest mode at rest may turn in a substep of a body that moves by itself [rad]: 0.4 without
/// damping, where nothing ends what errors feed, so that each mode is to be resolved; up to 1.2 with a fiftieth of
/// critical damping, which ends it. [docs/theory/own.md, 13.1]
inline Real turn_of_substep(Real damping_ratio) { return std::min<Real>(0.4 + 40 * damping_ratio, 1.2); }

/// The longest substep of such a body [s], omega bounding its frequencies now and at rest [rad/s]. Where it has
/// stiffened it is a third of that, a ninth, ...: an undamped step that follows each change of omega would not be
/// symplectic.
inline Real own_substep(Real omega, Real omega_at_rest, Real damping_ratio) {
  const Real turn = turn_of_substep(damping_ratio), most_turn = std::max<Real>(1.2, turn * 4 / 3);
  Real h = turn / omega_at_rest;
  while (omega * h > most_turn) h /= 3;
  return h;
}

/// A step is refused when a node moves this many times further than the deck's CFL number allows.
inline constexpr Real cfl_slack = 2;

/// The limits, how far points drifted and whatever else is the larger of all ranks, in one message. Collective.
void agree_on_limits(const Comm& comm, RunState& state, std::span<Real> others = {});

}  // namespace weft
