#pragma once
// Rigid bodies of a deck.

#include "weft/bodies/mesh_source.hpp"
#include "weft/deck/deck.hpp"
#include "weft/parallel/comm.hpp"

#include <memory>

namespace weft {

/// Throws Error(geometry) for surfaces that enclose nothing, Error(deck) for an inertia of no body and for motions that
/// begin elsewhere. Collective.
std::unique_ptr<MeshSource> make_rigid_mesh(const Comm& comm, const RigidDeck& deck, Real dx);

}  // namespace weft
