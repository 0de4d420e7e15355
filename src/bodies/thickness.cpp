#include "bodies/thickness.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace weft {
namespace {

/// Of two sides of a part the normals make less than this cosine.
constexpr Real most_alike = -0.5;

using Cell = std::array<std::int64_t, 3>;

Cell cell_at(const Vec3& x, Real width) {
  Cell cell{};
  for (int k = 0; k < 3; ++k) cell[static_cast<std::size_t>(k)] = static_cast<std::int64_t>(std::floor(x[k] / width));
  return cell;
}

/// Which way a face looks: the largest component of its normal, and its sign.
int side_of(const Vec3& normal) {
  int axis = 0;
  normal.cwiseAbs().maxCoeff(&axis);
  return 2 * axis + (normal[axis] > 0 ? 1 : 0);
}

/// The rows of points by cells of this width. Of points much nearer to one another, as fine meshes have them, one
/// speaks for those that look the same way: else each would be looked at by all others of its tube.
std::map<Cell, std::vector<std::size_t>> points_in_cells(std::span<const Vec3> points, std::span<const Vec3> normals,
                                                         Real width) {
  constexpr Real part = 1. / 3;
  std::map<Cell, std::vector<std::size_t>> in_cell;
  std::set<std::pair<Cell, int>> seen;
  for (std::size_t p = 0; p < points.size(); ++p)
    if (seen.emplace(cell_at(points[p], part * width), side_of(normals[p])).second)
      in_cell[cell_at(points[p], width)].push_back(p);
  return in_cell;
}

}  // namespace

std::vector<Real> thickness_behind(std::span<const Vec3> points, std::span<const Vec3> normals, Real spacing,
                                   Real most) {
  const auto in_cell = points_in_cells(points, normals, spacing);
  std::vector<Real> thickness(points.size(), most);
#pragma omp parallel for schedule(static)
  for (std::size_t q = 0; q < points.size(); ++q) {
    const auto look_at = [&](std::size_t p) {
      const Vec3 apart = points[q] - points[p];
      const Real depth = apart.dot(normals[q]);
      const bool is_behind = depth > 0 && normals[q].dot(normals[p]) < most_alike;
      if (is_behind && apart.squaredNorm() - depth * depth < spacing * spacing)
        thickness[q] = std::min(thickness[q], depth);
    };
    for (Real depth = 0; depth < thickness[q] + spacing; depth += spacing) {
      const Cell at = cell_at(points[q] - depth * normals[q], spacing);
      for (std::int64_t i = -1; i <= 1; ++i)
        for (std::int64_t j = -1; j <= 1; ++j)
          for (std::int64_t k = -1; k <= 1; ++k)
            if (const auto found = in_cell.find({at[0] + i, at[1] + j, at[2] + k}); found != in_cell.end())
              std::ranges::for_each(found->second, look_at);
    }
  }
  return thickness;
}

}  // namespace weft
