#pragma once
// Where the deck puts shapes, meshes and curves.

#include "weft/deck/deck.hpp"
#include "weft/geometry/mesh.hpp"
#include "weft/geometry/rigid_motion.hpp"

namespace weft {

/// Of anything that is scaled, turned and moved.
template <class D>
Placement placement_of(const D& deck) {
  Placement placement{deck.scale, Mat3::Identity(), deck.translate};
  if (deck.rotate) placement.rotation = rotation_matrix(deck.rotate->axis.normalized() * deck.rotate->angle);
  return placement;
}

}  // namespace weft
