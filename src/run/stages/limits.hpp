#pragma once
// What limits steps.

#include "run/state.hpp"
#include "weft/base/kinds.hpp"
#include "weft/parallel/comm.hpp"

#include <span>

namespace weft {

/// Fraction of the time an elastic wave takes over dx that an explicit step may last (docs/theory/step.md, 4).
Real wave_number(KernelKind kernel);

/// Limit of an explicit step with viscosity nu, in dx^2 / nu: 1/6 for diffusion in three dimensions, twice as fast for
/// the compression that 2 eta sym(L) also resists.
inline constexpr Real diffusion_number = 1.0 / 12;

/// Limit of an explicit step with a mesh of frequency omega, in 1 / omega: symplectic Euler is stable up to 2.
inline constexpr Real vibration_number = 1.8;
/// The longest substep of a body that moves by itself [s], omega bounding its frequencies now and at rest [rad/s]: 0.4
/// over that at rest, or a third of it, a ninth, ..., so that omega h is 1.2 at most. Nothing damps the modes that an
/// error feeds: each is to be resolved, and a step that follows each change of omega would not be symplectic.
inline Real own_substep(Real omega, Real omega_at_rest) {
  Real h = 0.4 / omega_at_rest;
  while (omega * h > 1.2) h /= 3;
  return h;
}

/// A step is refused when a node moves this many times further than the deck's CFL number allows.
inline constexpr Real cfl_slack = 2;

/// The limits, how far points drifted and whatever else is the larger of all ranks, in one message. Collective.
void agree_on_limits(const Comm& comm, RunState& state, std::span<Real> others = {});

}  // namespace weft
