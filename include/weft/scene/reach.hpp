#pragma once
// How far points reach when they come into the scene.

#include <cstddef>

#include "weft/scene/scene.hpp"

namespace weft {

/// Lets a point reach as far as the faces are; where they meet at another than a right angle the nearest one counts.
/// Points that forget directions reach as far as the nearest face to all sides.
void set_reach(PointSet& set, std::size_t p, Faces faces);

/// Points, from the first one on, that begin nearer to a wall than they are large, or in it, stay at their depth:
/// nothing pushes them out. Walls are where they are at this time.
void fit_to_walls(const Scene& scene, Real time, PointSet& set, std::size_t first);

}  // namespace weft
