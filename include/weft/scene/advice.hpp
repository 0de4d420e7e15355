#pragma once
// What a deck may ask for but hardly means: lengths that do not suit the grid, keys without effect.

#include "weft/scene/scene.hpp"

#include <string>
#include <vector>

namespace weft {

/// A sentence for each such thing, with its location in the deck: colliders thinner than two grid spacings, contact
/// points of shells that lie too far apart, and faces of shells that the grid does not tell apart. The same on every
/// rank. Of a scene without points, whose meshes are not dealt out yet. Collective.
std::vector<std::string> advice_on(const Comm& comm, const Scene& scene);

/// Of these those that a run begins with: colliders near bodies with freedoms of their own, which they will not stop,
/// and options for PETSc where nothing is solved. Collective.
std::vector<std::string> advice_to_begin_with(const Comm& comm, const Scene& scene);

}  // namespace weft
