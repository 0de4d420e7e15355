#pragma once
// Tetrahedra of a deck.

#include "weft/deck/deck.hpp"
#include "weft/geometry/tet_mesh.hpp"
#include "weft/parallel/comm.hpp"

#include <optional>

namespace weft {

/// From a file, a block or a shape, at their position. order: what the deck asks for. Throws Error(geometry) for meshes
/// that cannot be used or do not fit, Error(deck) for a file of another order. Collective.
TetMesh make_tets(const Comm& comm, const TetMeshDeck& of, std::optional<int> order, const DeckLocation& location);

}  // namespace weft
