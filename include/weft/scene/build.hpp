#pragma once
// From a deck to a scene.

#include "weft/parallel/comm.hpp"
#include "weft/scene/scene.hpp"

namespace weft {

/// Builds everything that the deck names: laws, walls, sources, and bodies without points. Throws Error(geometry) if a
/// shape or mesh cannot be used, naming its location in the deck. Collective.
Scene build_scene(const Comm& comm, const Deck& deck);

/// Fills the bodies with particles at rest in their material, moving as the deck says; every rank makes an equal share
/// of the cells, wherever they are. Throws Error(geometry) if a body that no source feeds stays empty. Collective.
void fill_bodies(const Comm& comm, Scene& scene);

/// When bodies have their points, made or read: frees Scene::meshes and sets SceneLayer::light_mass. Collective.
void end_building(const Comm& comm, Scene& scene);

}  // namespace weft
