#include "weft/geometry/tet_mesh.hpp"

#include "geometry/words.hpp"
#include "weft/base/budget.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace weft {
namespace {

using Corners = std::array<std::int32_t, 3>;

/// A face by its corners in ascending order.
struct SortedFace {
  Corners corners;
  OuterFace face;
};

/// The faces of all tetrahedra; those that are the same stand together.
std::vector<SortedFace> sorted_faces(const TetMesh& mesh) {
  std::vector<SortedFace> faces;
  faces.reserve(4 * static_cast<std::size_t>(mesh.count()));
  for (std::int64_t t = 0; t < mesh.count(); ++t)
    for (int f = 0; f < 4; ++f) {
      const auto& of_face = tet_faces[static_cast<std::size_t>(f)];
      const auto tet = mesh.tet(t);
      Corners corners{tet[of_face[0]], tet[of_face[1]], tet[of_face[2]]};
      std::ranges::sort(corners);
      faces.push_back({corners, {t, f}});
    }
  std::ranges::stable_sort(faces, {}, &SortedFace::corners);
  return faces;
}

std::string corners_in_words(const TetMesh& mesh, std::int64_t t) {
  return fmt::format("tetrahedron {} (counted from 0) of the points {}", t, fmt::join(mesh.tet(t).first(4), ", "));
}

}  // namespace

std::array<int, 3> cubes_of_block(const Box& box, Real size) {
  std::array<int, 3> cubes{};
  for (int a = 0; a < 3; ++a) {
    const Real count = std::max(1.0, std::ceil((box.upper[a] - box.lower[a]) / size * (1 - 1e-9)));
    require_countable("this block", count, "cubes along an edge");
    cubes[static_cast<std::size_t>(a)] = static_cast<int>(count);
  }
  return cubes;
}

TetMesh block_of_tets(const Box& box, Real size) {
  const auto [nx, ny, nz] = cubes_of_block(box, size);
  const Vec3i count(nx, ny, nz);
  const Vec3 cube = (box.upper - box.lower).cwiseQuotient(count.cast<Real>());
  TetMesh mesh;
  const auto number = [&](const Vec3i& i) { return i[0] + (nx + 1) * (i[1] + (ny + 1) * i[2]); };
  for (int k = 0; k <= nz; ++k)
    for (int j = 0; j <= ny; ++j)
      for (int i = 0; i <= nx; ++i) mesh.points.push_back(box.lower + Vec3(i, j, k).cwiseProduct(cube));
  constexpr std::array<std::array<int, 3>, 6> ways{{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}};
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i) {
        // Along the axes from one corner to the opposite one, in each order; mirrored where the place is odd.
        const Vec3i place(i, j, k);
        const bool is_odd = (i + j + k) % 2 == 1;
        for (const auto& way : ways) {
          Vec3i at = place;
          for (int a = 0; a < 3; ++a) at[a] += place[a] % 2;
          std::array<std::int32_t, 4> tet{number(at)};
          for (int step = 0; step < 3; ++step) {
            const int a = way[static_cast<std::size_t>(step)];
            at[a] += place[a] % 2 == 0 ? 1 : -1;
            tet[static_cast<std::size_t>(step) + 1] = number(at);
          }
          const bool is_even_way = &way < &ways[3];
          if (is_even_way == is_odd) std::swap(tet[2], tet[3]);
          mesh.nodes.insert(mesh.nodes.end(), tet.begin(), tet.end());
        }
      }
  return mesh;
}

TetMesh with_middles(TetMesh mesh) {
  if (mesh.nodes_each == 10) return mesh;
  TetMesh finer{std::move(mesh.points), 10, {}, std::move(mesh.groups), std::move(mesh.given)};
  const std::optional<PointsBetween> coarse = finer.given;
  std::map<std::array<std::int32_t, 2>, std::int32_t> middle_of;
  for (std::int64_t t = 0; t < mesh.count(); ++t) {
    const auto tet = mesh.tet(t);
    finer.nodes.insert(finer.nodes.end(), tet.begin(), tet.end());
    for (const auto& [a, b] : tet_edges) {
      const std::int32_t p = tet[a], q = tet[b];
      const auto [middle, is_new] =
          middle_of.try_emplace({std::min(p, q), std::max(p, q)}, static_cast<std::int32_t>(finer.points.size()));
      if (is_new) {
        finer.points.push_back((finer.points[p] + finer.points[q]) / 2);
        if (coarse) finer.given->add(*coarse, std::array{p, q});
      }
      finer.nodes.push_back(middle->second);
    }
  }
  for (auto& [name, members] : finer.groups)  // with both ends of its edge a node amid it is in the group
    for (const auto& [edge, middle] : middle_of)
      if (members.points.contains(edge[0]) && members.points.contains(edge[1])) members.points.insert(middle);
  return finer;
}

TetMesh placed(TetMesh mesh, const Placement& placement) {
  for (Vec3& p : mesh.points) p = placement(p);
  return mesh;
}

Real volume_of(const TetMesh& mesh) {
  Real volume = 0;
  for (std::int64_t t = 0; t < mesh.count(); ++t) {
    const auto tet = mesh.tet(t);
    volume += six_volumes(mesh.points[tet[0]], mesh.points[tet[1]], mesh.points[tet[2]], mesh.points[tet[3]]) / 6;
  }
  return volume;
}

std::vector<OuterFace> outer_faces(const TetMesh& mesh) {
  const std::vector<SortedFace> faces = sorted_faces(mesh);
  std::vector<OuterFace> outer;
  for (std::size_t k = 0; k < faces.size(); ++k) {
    const bool as_before = k > 0 && faces[k - 1].corners == faces[k].corners;
    const bool as_after = k + 1 < faces.size() && faces[k + 1].corners == faces[k].corners;
    if (!as_before && !as_after) outer.push_back(faces[k].face);
  }
  std::ranges::sort(outer, {}, [](const OuterFace& face) { return std::pair(face.tet, face.face); });
  return outer;
}

namespace {

/// Points that are known to hang together, by the lowest of them.
class Joined {
 public:
  explicit Joined(std::size_t points) : lowest_(points) { std::iota(lowest_.begin(), lowest_.end(), 0); }
  std::int32_t lowest(std::int32_t p) {
    while (lowest_[p] != p) p = lowest_[p] = lowest_[lowest_[p]];
    return p;
  }
  void join(std::int32_t p, std::int32_t q) {
    const std::int32_t a = lowest(p), b = lowest(q);
    lowest_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::int32_t> lowest_;
};

}  // namespace

int pieces_of(const TetMesh& mesh) {
  Joined points(mesh.points.size());
  for (std::int64_t t = 0; t < mesh.count(); ++t)
    for (const std::int32_t p : mesh.tet(t)) points.join(p, mesh.tet(t)[0]);
  int pieces = 0;
  for (std::size_t p = 0; p < mesh.points.size(); ++p)
    if (const auto number = static_cast<std::int32_t>(p); points.lowest(number) == number) ++pieces;
  return pieces;
}

std::vector<int> surface_numbers(const TetMesh& mesh, std::span<const OuterFace> outer) {
  Joined joined(mesh.points.size());
  std::vector<bool> is_outer(mesh.points.size(), false);
  const std::size_t face_nodes = mesh.nodes_each == 4 ? 3 : 6;
  for (const OuterFace& face : outer)
    for (const int node : std::span(tet_faces[static_cast<std::size_t>(face.face)]).first(face_nodes)) {
      const std::int32_t p = mesh.tet(face.tet)[node], q = mesh.tet(face.tet)[tet_faces[face.face][0]];
      is_outer[p] = true;
      joined.join(p, q);
    }
  std::vector<int> number(mesh.points.size(), -1);
  int count = 0;
  for (std::size_t p = 0; p < number.size(); ++p) {
    const std::int32_t first = joined.lowest(static_cast<std::int32_t>(p));
    if (is_outer[p]) number[p] = static_cast<std::size_t>(first) == p ? count++ : number[first];
  }
  return number;
}

void require_sound(const TetMesh& mesh, const std::string& name) {
  const auto require_none = [&](std::int64_t count, std::int64_t first, const char* what, const char* cure) {
    if (count > 0)
      fail(fmt::format("{}: {} of {} tetrahedra {}, first {}. {}", name, count, mesh.count(), what,
                       corners_in_words(mesh, first), cure));
  };
  const auto count_if = [&](auto&& is_wrong) {
    std::pair<std::int64_t, std::int64_t> found{0, -1};
    for (std::int64_t t = 0; t < mesh.count(); ++t)
      if (is_wrong(mesh.tet(t))) {
        if (found.first++ == 0) found.second = t;
      }
    return found;
  };
  if (mesh.count() == 0) fail(name + ": the mesh has no tetrahedra.");

  const auto points = static_cast<std::int32_t>(mesh.points.size());
  const auto stray = count_if(
      [&](auto tet) { return std::ranges::any_of(tet, [&](std::int32_t p) { return p < 0 || p >= points; }); });
  require_none(stray.first, stray.second, "name points that are not there", "Mesh the body anew.");
  const auto repeated = count_if([](auto tet) {
    std::vector<std::int32_t> nodes(tet.begin(), tet.end());
    std::ranges::sort(nodes);
    return std::ranges::adjacent_find(nodes) != nodes.end();
  });
  require_none(repeated.first, repeated.second, "have a node twice", "Mesh the body anew.");

  // Of the cube of its longest edge.
  constexpr Real least_volume = 1e-9;
  const auto relative_volume = [&](auto tet) {
    Real longest = 0;
    for (const auto& [a, b] : tet_edges)
      longest = std::max(longest, (mesh.points[tet[a]] - mesh.points[tet[b]]).norm());
    const Real volume = six_volumes(mesh.points[tet[0]], mesh.points[tet[1]], mesh.points[tet[2]], mesh.points[tet[3]]);
    return longest > 0 ? volume / (longest * longest * longest) : 0;
  };
  const auto flat = count_if([&](auto tet) { return !(std::abs(relative_volume(tet)) > least_volume); });
  require_none(flat.first, flat.second, "are flat", "Improve the mesh, in Gmsh by \"Optimize 3D\".");
  const auto inverted = count_if([&](auto tet) { return relative_volume(tet) < 0; });
  require_none(inverted.first, inverted.second, "are inverted",
               "The fourth corner is on the side from which the first three run counter-clockwise.");

  const std::vector<SortedFace> faces = sorted_faces(mesh);
  std::map<std::array<std::int32_t, 4>, std::int64_t> known;
  for (std::int64_t t = 0; t < mesh.count(); ++t) {
    const auto tet = mesh.tet(t);
    std::array<std::int32_t, 4> corners{tet[0], tet[1], tet[2], tet[3]};
    std::ranges::sort(corners);
    const auto [same, is_new] = known.try_emplace(corners, t);
    if (!is_new) fail(fmt::format("{}: {} is there twice, as {} too.", name, corners_in_words(mesh, t), same->second));
  }
  for (std::size_t k = 2; k < faces.size(); ++k)
    if (faces[k].corners == faces[k - 2].corners)
      fail(
          fmt::format("{}: the face of the points {} belongs to three tetrahedra or more, such as {}. Two at most can "
                      "meet there: remove what overlaps.",
                      name, fmt::join(faces[k].corners, ", "), faces[k].face.tet));

  std::vector<bool> is_used(mesh.points.size(), false);
  for (const std::int32_t p : mesh.nodes) is_used[static_cast<std::size_t>(p)] = true;
  const auto unused = std::ranges::find(is_used, false);
  if (unused != is_used.end())
    fail(fmt::format("{}: {} of {} points belong to no tetrahedron, first {} (counted from 0).", name,
                     std::ranges::count(is_used, false), mesh.points.size(), unused - is_used.begin()));
}

}  // namespace weft
