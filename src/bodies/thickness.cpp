#include "bodies/thickness.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>

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

}  // namespace

std::vector<Real> thickness_behind(std::span<const Vec3> points, std::span<const Vec3> normals, Real spacing,
                                   Real most) {
  std::map<Cell, std::vector<std::size_t>> in_cell;
  for (std::size_t p = 0; p < points.size(); ++p) in_cell[cell_at(points[p], spacing)].push_back(p);
  std::vector<Real> thickness(points.size(), most);
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
