#pragma once
// What surrounds the points and edges of meshes of faces of any size.

#include "weft/geometry/mesh.hpp"

#include <Eigen/Geometry>
#include <Eigen/SparseCore>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {

inline constexpr std::int32_t none = -1;

/// Which face runs along an edge from one point to another, and at which of its corners; faces of any size.
class Edges {
 public:
  struct Place {
    std::int32_t face = none, corner = 0;
  };

  template <class Faces>
  explicit Edges(const Faces& faces) {
    for (std::size_t f = 0; f < faces.size(); ++f)
      for (std::size_t c = 0; c < faces[f].size(); ++c)
        places_[key(faces[f][c], faces[f][(c + 1) % faces[f].size()])] = {static_cast<std::int32_t>(f),
                                                                          static_cast<std::int32_t>(c)};
  }

  Place find(std::int32_t from, std::int32_t to) const {
    const auto found = places_.find(key(from, to));
    return found == places_.end() ? Place{} : found->second;
  }
  bool has(std::int32_t from, std::int32_t to) const { return find(from, to).face != none; }

 private:
  static std::uint64_t key(std::int32_t from, std::int32_t to) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(from)) << 32 | static_cast<std::uint32_t>(to);
  }
  std::unordered_map<std::uint64_t, Place> places_;
};

/// Faces around each point, in order of their numbers: `incident[offsets[p] .. offsets[p + 1])`, as face and corner.
template <class Faces>
struct Stars {
  std::vector<std::size_t> offsets;
  std::vector<std::pair<std::int32_t, std::int32_t>> incident;

  Stars(const Faces& faces, std::size_t points) : offsets(points + 1, 0) {
    for (std::size_t f = 0; f < faces.size(); ++f)
      for (const std::int32_t p : faces[f]) ++offsets[p + 1];
    for (std::size_t p = 0; p < points; ++p) offsets[p + 1] += offsets[p];
    incident.resize(offsets.back());
    std::vector<std::size_t> next(offsets.begin(), offsets.end() - 1);
    for (std::size_t f = 0; f < faces.size(); ++f)
      for (std::size_t c = 0; c < faces[f].size(); ++c)
        incident[next[faces[f][c]]++] = {static_cast<std::int32_t>(f), static_cast<std::int32_t>(c)};
  }
  std::span<const std::pair<std::int32_t, std::int32_t>> of(std::size_t p) const {
    return {incident.data() + offsets[p], offsets[p + 1] - offsets[p]};
  }
};

/// The boundary edges before and after each boundary point, in the direction of the faces inside.
struct Boundary {
  std::vector<std::int32_t> before, after;

  template <class Faces>
  Boundary(const Faces& faces, const Edges& edges, std::size_t points) : before(points, none), after(points, none) {
    for (std::size_t f = 0; f < faces.size(); ++f) {
      const auto& face = faces[f];
      for (std::size_t c = 0; c < face.size(); ++c) {
        const std::int32_t p = face[c], q = face[(c + 1) % face.size()];
        if (edges.has(q, p)) continue;
        after[p] = q;
        before[q] = p;
      }
    }
  }
};

/// The angle that the faces around a point span, in radians. star: of Stars.
template <class Faces>
Real angle_at(const Faces& faces, std::span<const std::pair<std::int32_t, std::int32_t>> star,
              std::span<const Vec3> places) {
  Real sum = 0;
  for (const auto& [f, c] : star) {
    const auto& face = faces[static_cast<std::size_t>(f)];
    const std::size_t n = face.size(), k = static_cast<std::size_t>(c);
    const auto x = [&](std::size_t corner) -> const Vec3& {
      return places[static_cast<std::size_t>(face[corner % n])];
    };
    const Vec3 forth = x(k + 1) - x(k), back = x(k + n - 1) - x(k);
    sum += std::atan2(forth.cross(back).norm(), forth.dot(back));
  }
  return sum;
}

/// Whether a side of the boundary ends at a point: the material spans less than 135 or more than 225 degrees there, or
/// is one triangle.
template <class Faces>
bool is_sharp(const Faces& faces, std::span<const std::pair<std::int32_t, std::int32_t>> star,
              std::span<const Vec3> places) {
  constexpr Real straight = std::numbers::pi;
  return (star.size() == 1 && faces[0].size() == 3) ||
         std::abs(angle_at(faces, star, places) - straight) > straight / 4;
}

/// A point as a sum of others: its weights by their numbers. What follows takes points by their positions or as such
/// sums.
using PointSum = Eigen::SparseVector<Real>;

inline Vec3 zero_like(const Vec3&) { return Vec3::Zero(); }
inline PointSum zero_like(const PointSum& sum) { return PointSum(sum.size()); }

/// How the outer row goes on from the material: as the mirror image of the first inner row, or along the cubics through
/// four rows (parabolas or lines, where there are fewer).
enum class Beyond { mirror, cubic };

}  // namespace weft
