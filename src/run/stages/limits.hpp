#pragma once
// What limits steps.

#include "weft/base/kinds.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/run/state.hpp"

#include <span>

namespace weft {

/// Fraction of the time an elastic wave takes over dx that an explicit step may last (docs/theory/step.md, 4).
Real wave_number(KernelKind kernel);

/// Limit of an explicit step with viscosity nu, in dx^2 / nu: 1/6 for diffusion in three dimensions, twice as fast for
/// the compression that 2 eta sym(L) also resists.
inline constexpr Real diffusion_number = 1.0 / 12;

/// Limit of an explicit step with a mesh of frequency omega, in 1 / omega: symplectic Euler is stable up to 2.
inline constexpr Real vibration_number = 1.8;
/// The same of substeps of a body that moves by itself. A mode with omega h = sqrt(2), or sqrt(3), is at the same place
/// after four, or three, substeps: forces that are not linear then feed it, and nothing damps it.
inline constexpr Real own_vibration_number = 1.4;

/// A step is refused when a node moves this many times further than the deck's CFL number allows.
inline constexpr Real cfl_slack = 2;

/// The limits, how far points drifted and whatever else is the larger of all ranks, in one message. Collective.
void agree_on_limits(const Comm& comm, RunState& state, std::span<Real> others = {});

}  // namespace weft
