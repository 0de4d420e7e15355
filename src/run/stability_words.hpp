#pragma once
// What stability means for a user: which body moves where, and what may be done.

#include "weft/parallel/comm.hpp"
#include "weft/scene/scene.hpp"
#include "weft/solve/stability.hpp"

#include <span>
#include <string>

namespace weft {

/// How a state that is not stable would move: "2 independent motions ...". Blocks of freedoms are the bodies of the
/// scene, which are where they committed last. Collective.
std::string in_words(const Comm& comm, const Scene& scene, const Stability& stability);

/// A sentence for each kind of mechanism and body; empty without any.
std::string in_words(const Scene& scene, std::span<const FreeComponent> components);

}  // namespace weft
