#pragma once
// Control meshes made by rule: rectangles mapped to any smooth surface, with or without irregular points, and tubes.

#include "weft/geometry/control_mesh.hpp"

#include <functional>

namespace weft {

/// A smooth surface over the plane: point [m] of the coordinates. It is asked for a little beyond [0, 1]^2 as well.
using SurfaceMap = std::function<Vec3(Real s, Real t)>;

/// across x along faces over [0, 1]^2, the first coordinate running fastest; texture coordinates are (s, t). The limit
/// surface meets the map at the corners of faces to the fourth order of their size.
ControlMesh patch(int across, int along, const SurfaceMap& map);

/// As `patch`, with pairs of points where three and five edges meet: some edges of the regular pattern of
/// (across / 2) x (along / 2) faces are turned, the pattern is smoothed and every face divided in four. Both numbers
/// are even and at least 12.
ControlMesh irregular_patch(int across, int along, const SurfaceMap& map);

/// A closed band: the map has period 1 in s. The seam lies at s = 0.
ControlMesh tube(int around, int along, const SurfaceMap& map);

// Maps for `patch` and `tube`; angles in radians.

/// The rectangle [0, width] x [0, height] of the plane z = 0; its normal is +z.
SurfaceMap rectangle(Real width, Real height);
/// Part of a cylinder about the y axis: s runs over angles from `from` to `to`, measured from +z towards +x, and t
/// over y in [0, length]; its normal points outwards if from < to.
SurfaceMap cylinder(Real radius, Real length, Real from, Real to);
/// Part of a sphere about the origin: s runs over longitudes about z, from +x towards +y, and t over latitudes.
SurfaceMap sphere(Real radius, const Vec2& longitudes, const Vec2& latitudes);
/// Part of a flat ring about the origin in the plane z = 0: s runs over radii, t over angles from +x towards +y.
SurfaceMap annulus(const Vec2& radii, const Vec2& angles);

}  // namespace weft
