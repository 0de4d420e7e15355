#pragma once
// Points on triangles of a surface.

#include "weft/base/types.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace weft {

/// Into how many parts an edge of a triangle of this area [m^2] is divided, so that the squares of it are as many
/// points as `density` [1/m^2] asks for.
inline int parts_of_edge(Real density, Real area) {
  return std::max(1, static_cast<int>(std::ceil(std::sqrt(density * area) - 1e-9)));
}

/// Barycentric coordinates of the middles of n^2 equal parts of a triangle: their mean is that of the triangle.
inline std::vector<Vec3> middles_of_parts(int n) {
  std::vector<Vec3> middles;
  for (int i = 0; i < n; ++i)
    for (int j = 0; i + j < n; ++j) {
      middles.emplace_back(3 * i + 1, 3 * j + 1, 3 * (n - i - j) - 2);
      if (i + j + 1 < n) middles.emplace_back(3 * i + 2, 3 * j + 2, 3 * (n - i - j) - 4);
    }
  for (Vec3& middle : middles) middle /= 3 * n;
  return middles;
}

}  // namespace weft
