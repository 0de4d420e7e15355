#pragma once
// Bodies that begin in colliders.

#include "weft/parallel/comm.hpp"
#include "weft/scene/scene.hpp"

#include <string>
#include <vector>

namespace weft {

/// A sentence for each body and collider that acts at surfaces, if the body begins deep in it; what handles hold, or
/// what is led, passes colliders. Bodies have their points. Collective.
std::vector<std::string> starts_in_walls(const Comm& comm, const Scene& scene);

}  // namespace weft
