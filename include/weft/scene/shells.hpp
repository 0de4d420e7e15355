#pragma once
// Shells of a deck: their control meshes, laws and thickness.

#include "weft/bodies/shell.hpp"
#include "weft/deck/deck.hpp"
#include "weft/geometry/mesh_groups.hpp"

#include <cstdint>
#include <string>

namespace weft {

/// The control mesh that a deck describes, at its position. Throws Error(geometry) if its file cannot be used.
/// Collective.
ControlMesh make_control_mesh(const Comm& comm, const ControlMeshDeck& deck);

/// What stands in for dx where shapes of meshes choose parts of a body with these control points [m].
Real voxel_size_for(const Box& bounds);

/// Groups of material faces and control points.
MeshGroups groups_of(const ControlMesh& mesh);

/// The group that the deck names. Throws Error(deck) if there is none of this name.
const GroupMembers& group_named(const MeshGroups& groups, const std::string& name, const std::string& place);

/// Throws Error(deck) if the material is none of a shell, Error(geometry) if the mesh cannot be used. Collective.
ShellDescription describe_shell(const Comm& comm, const ShellDeck& deck, const MaterialDeck& material);

}  // namespace weft
