#include "weft/bodies/meshed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "weft/geometry/shape.hpp"

namespace weft {

std::pair<Vec3, Vec3> tangents_of(const Sample& sample, std::span<const Vec3> x) {
  Vec3 a1 = Vec3::Zero(), a2 = Vec3::Zero();
  for (std::size_t k = 0; k < sample.rows.size(); ++k) {
    a1 += sample.d1[k] * x[sample.rows[k]];
    a2 += sample.d2[k] * x[sample.rows[k]];
  }
  return {a1, a2};
}

std::string in_words(const Comm& comm, const Sites& sites) {
  Box box;
  Real boundaries = 0;
  for (const Site& site : sites.vertices) {
    box.include(site.where);
    boundaries = std::max(boundaries, static_cast<Real>(site.boundary + 1));
  }
  boundaries = comm.max(boundaries);
  comm.min(std::span(box.lower.data(), 3));
  comm.max(std::span(box.upper.data(), 3));
  return fmt::format("{} {}, from [{:.6g}, {:.6g}, {:.6g}] to [{:.6g}, {:.6g}, {:.6g}]", static_cast<int>(boundaries),
                     boundaries == 1 ? "boundary" : "boundaries", box.lower.x(), box.lower.y(), box.lower.z(),
                     box.upper.x(), box.upper.y(), box.upper.z());
}

std::vector<int> boundary_numbers(std::span<const std::array<std::int32_t, 2>> boundary_edges, std::size_t points) {
  std::vector<std::int32_t> next(points, -1);
  for (const auto& [p, q] : boundary_edges) next[p] = q;
  std::vector<int> number(points, -1);
  int count = 0;
  for (std::size_t start = 0; start < points; ++start) {
    if (next[start] < 0 || number[start] >= 0) continue;
    for (auto p = static_cast<std::int32_t>(start); p >= 0 && number[p] < 0; p = next[p]) number[p] = count;
    ++count;
  }
  return number;
}

}  // namespace weft
