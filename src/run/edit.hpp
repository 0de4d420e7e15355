#pragma once
// Edit: the one place where points come and go.

#include "run/state.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/scene/scene.hpp"

namespace weft {

/// Fills the scene with the points it starts with and makes the state that goes with them. Sources have emitted what
/// entered them, points outside the bounds are removed. Points are not at home yet. Collective.
RunState start_scene(const Comm& comm, Scene& scene);

}  // namespace weft
