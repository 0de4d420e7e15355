#pragma once
// The catalogue: which deck struct becomes which object. One line for each.

#include "weft/bodies/continuum.hpp"
#include "weft/deck/deck.hpp"
#include "weft/geometry/rigid_motion.hpp"
#include "weft/parallel/comm.hpp"

#include <memory>
#include <string>

namespace weft {

/// Throws Error(deck) unless the deck names only what its scheme can do: static analyses are of meshed bodies, held and
/// loaded by handles; steps in time are of continua.
void require_fits_scheme(const Deck& deck);

AnyLaw make_law(const LawDeck& law);
/// Young's modulus [Pa] and Poisson's ratio [1], whichever pair the deck gives.
YoungDeck young_of(const StiffnessDeck& stiffness);
RigidMotion make_motion(const MotionDeck& motion);
/// The file's bytes, read by the root alone. Throws Error(geometry). Collective.
std::string load_everywhere(const Comm& comm, const std::string& file);
std::unique_ptr<Body> make_body(const ContinuumDeck& body, const MaterialDeck& material);

/// The solid that a deck describes, in its place. Meshes are read by the root, become level sets with voxels of a
/// quarter of dx, and must be closed. Throws Error(geometry) naming the place in the deck. Collective.
std::shared_ptr<const Shape> make_shape(const Comm& comm, const ShapeDeck& shape, bool hollow, Real dx);

}  // namespace weft
