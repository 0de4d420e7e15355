#pragma once
// How thick a body is behind points on its surface.

#include "weft/base/types.hpp"

#include <span>
#include <vector>

namespace weft {

/// From each point against its normal to where the surface faces the other way, by the points nearest to that line: at
/// most `most` [m], and that where there are none. normals: unit, out of the body; spacing: of the points, at most [m].
std::vector<Real> thickness_behind(std::span<const Vec3> points, std::span<const Vec3> normals, Real spacing,
                                   Real most);

}  // namespace weft
