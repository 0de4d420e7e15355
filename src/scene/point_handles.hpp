#pragma once
// Handles of continua: what the deck of one means for points, and the points that it chooses where they are at rest.

#include "weft/geometry/shape.hpp"
#include "weft/scene/scene.hpp"

namespace weft {

/// The handle of a deck on a body without a mesh, which gets the columns that it needs. Throws Error(deck) for what
/// points cannot do.
GridHandle handle_of_points(Scene& scene, const HandleDeck& deck, std::size_t body);

/// Writes which handles act on the points of a body, all at rest, of which each stands for `volume` [m^3] of the shape,
/// and how much that is. Throws Error(deck) if a handle acts on none, or if two prescribe one direction of a point.
/// Collective.
void choose_points(const Comm& comm, Scene& scene, std::size_t body, const Shape& shape, Real volume);

}  // namespace weft
