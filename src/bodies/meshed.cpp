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

std::string in_words(const Sites& sites) {
  Box box;
  int boundaries = 0;
  for (const Site& site : sites.vertices) {
    box.include(site.where);
    boundaries = std::max(boundaries, site.boundary + 1);
  }
  return fmt::format("{} boundaries, from [{:.6g}, {:.6g}, {:.6g}] to [{:.6g}, {:.6g}, {:.6g}]", boundaries,
                     box.lower.x(), box.lower.y(), box.lower.z(), box.upper.x(), box.upper.y(), box.upper.z());
}

Sites sites_of_vertices(std::span<const Vec3> rest) {
  Sites sites;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    Site site;
    site.point = static_cast<std::int32_t>(i);
    site.place = {{site.point}, {1}};
    site.where = rest[i];
    sites.vertices.push_back(std::move(site));
  }
  return sites;
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
