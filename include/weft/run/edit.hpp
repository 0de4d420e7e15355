#pragma once
// Edit: the one place where points come and go.

#include "weft/parallel/comm.hpp"
#include "weft/run/state.hpp"
#include "weft/scene/scene.hpp"

namespace weft {

/// Fills the scene with the points it starts with and makes the state that goes with them. Points are not at home yet.
/// Collective.
RunState start_scene(const Comm& comm, Scene& scene);

/// At the start and after each step: sources emit what entered them up to state.time, points outside the bounds are
/// removed. state.limits takes in the new points of this rank. Collective.
void edit_points(const Comm& comm, Scene& scene, RunState& state);

}  // namespace weft
