#pragma once
// The catalogue: which deck struct becomes which object. One line for each.

#include "weft/base/budget.hpp"
#include "weft/bodies/continuum.hpp"
#include "weft/bodies/mesh_source.hpp"
#include "weft/deck/deck.hpp"
#include "weft/geometry/mesh.hpp"
#include "weft/geometry/rigid_motion.hpp"
#include "weft/grid/walls.hpp"
#include "weft/materials/fiber.hpp"
#include "weft/materials/surface_contact.hpp"
#include "weft/motion/dead_load.hpp"
#include "weft/parallel/comm.hpp"

#include <memory>
#include <span>
#include <string>

namespace weft {

/// Throws Error(deck) if the law is not one of continua.
AnyLaw make_law(const LawDeck& law);
/// Young's modulus [Pa] and Poisson's ratio [1], whichever pair the deck gives.
YoungDeck young_of(const StiffnessDeck& stiffness);
RigidMotion make_motion(const MotionDeck& motion);
/// Without keys in proportion to time, 1 at `end` [s], as far as a load path may go.
Amplitude make_amplitude(const std::vector<AmplitudeKeyDeck>& keys, Real end);
/// The material of a body, which the deck has.
const MaterialDeck& material_of(const Deck& deck, const BodyDeck& body);
/// "1.2 kg in 0.0012 m^3", of the body with this number and mass [kg].
std::string mass_in_words(const Deck& deck, std::size_t body, Real mass);
/// Without a stiffness that resists sliding, friction takes a tenth of the stiffness, and the log says so; owner: the
/// material or body there.
SurfaceContact::Constants contact_of(const SheetContactDeck& deck, const std::string& owner);
/// The same of fibers, by a tenth of Young's modulus of the contact around them.
Fiber::Constants constants_of(const FiberLawDeck& deck, const std::string& owner);
/// Memory that is left on the fullest rank, of its share of its machine. Collective.
Budget budget_of(const Comm& comm);
/// Throws Error(geometry) if a mesh divided across x along into faces of so many bytes cannot fit into the smallest
/// machine while the scene is built. Collective.
void require_room_for_mesh(const Comm& comm, int across, int along, Real face_bytes);
/// The file's bytes, read by the root alone. Throws Error(geometry). Collective.
std::string load_everywhere(const Comm& comm, const std::string& file);
/// The surface of a sheet at rest, at its position: read as its file has it, or divided across x along. Throws
/// Error(geometry). Collective.
SurfaceMesh make_surface(const Comm& comm, const SurfaceDeck& deck);
/// The mesh of a file, in the file's units and position.
SurfaceMesh make_surface(const Comm& comm, const MeshDeck& deck);
/// A body without points, and its mesh if it has one, of whose elements the body has the rank's first share.
struct MadeBody {
  std::unique_ptr<Body> body;
  std::unique_ptr<MeshSource> mesh;
};
/// body: of the deck; walls: of its colliders, on which hair may grow. Throws Error(deck) naming its location if its
/// material's law is for bodies of other kinds, and Error(geometry) if its mesh cannot be used. Collective.
MadeBody make_body(const Comm& comm, const Deck& deck, const BodyDeck& body, std::span<const Wall> walls);
/// [1/s]: the velocity gradient of a rotation.
Mat3 spin_matrix(const Vec3& spin);

/// The solid that a deck describes, at its position. Meshes are read by the root, become level sets with voxels of a
/// quarter of dx, and must be closed. Throws Error(geometry) naming the location in the deck. Collective.
std::shared_ptr<const Shape> make_shape(const Comm& comm, const ShapeDeck& shape, bool hollow, Real dx);

}  // namespace weft
