#pragma once
// A closed mesh as a solid shape, by a narrow band of distances around its surface.

#include "weft/geometry/mesh.hpp"
#include "weft/geometry/shape.hpp"

namespace weft {

/// How finely and how far from the surface distances are stored [m].
struct LevelSetBand {
  Real voxel;  ///< Edge of a voxel; enlarged where the band would need more than about 2e6 voxels.
  Real width;  ///< Distances up to this are known on both sides; at least three voxels.
};

/// The solid that a closed mesh encloses (see `require_closed`). Inside is where the mesh winds around the point at
/// least once: parts may overlap, and an inner surface that is turned inward makes a cavity.
///
/// Inside or outside is exact everywhere. The distance is exact within two voxels of the surface. Further out, up to
/// the width of the band, it is interpolated: to voxel^2 / (4 distance to the nearest centre of curvature), and to half
/// a voxel where two parts of the surface are equally near. Beyond the band outside, the distance is at least the width
/// of the band, and beyond the band inside at most minus that width; the normal there only points roughly outward. The
/// result does not depend on threads.
std::unique_ptr<Shape> make_level_set(SurfaceMesh mesh, const LevelSetBand& band);

}  // namespace weft
