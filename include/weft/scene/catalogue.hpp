#pragma once
// The catalogue: which deck struct becomes which object. One line for each.

#include "weft/bodies/continuum.hpp"
#include "weft/deck/deck.hpp"
#include "weft/geometry/shape.hpp"
#include "weft/parallel/comm.hpp"

#include <memory>

namespace weft {

AnyLaw make_law(const LawDeck& law);
std::unique_ptr<Body> make_body(const ContinuumDeck& body, const MaterialDeck& material);

/// The solid that a deck describes, in its place. Meshes are read by the root, become level sets with voxels of a
/// quarter of dx, and must be closed. Throws Error(geometry) naming the place in the deck. Collective.
std::shared_ptr<const Shape> make_shape(const Comm& comm, const ShapeDeck& shape, bool hollow, Real dx);

}  // namespace weft
