#pragma once
// Bodies that begin in colliders, and materials that begin in one another.

#include "weft/parallel/comm.hpp"
#include "weft/scene/scene.hpp"

#include <string>
#include <vector>

namespace weft {

/// A sentence for each body and collider that acts at surfaces, if the body begins deep in it; what handles hold, or
/// what is led, passes colliders. And one for each two continua that fill the same place. Bodies have their points.
/// Collective.
std::vector<std::string> starts_inside(const Comm& comm, const Scene& scene);

}  // namespace weft
