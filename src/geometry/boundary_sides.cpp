// The boundary of the material of a control mesh: lines of points across it, and its sides between corners.

#include "geometry/surroundings.hpp"
#include "weft/base/check.hpp"
#include "weft/geometry/control_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace weft {

std::vector<std::vector<EdgeLine>> edge_lines(const ControlMesh& mesh) {
  WEFT_ENSURE(mesh.sides() == 4);
  const Edges edges(mesh.faces);
  const Stars stars(mesh.faces, mesh.points.size());
  const auto is_material = [&](std::int32_t f) { return f < mesh.material_faces; };
  const auto regular = [&](std::int32_t p) { return stars.of(p).size() == 4; };
  const auto after = [&](const Edges::Place& place, int steps) {  // the point some corners after the edge's first
    return mesh.faces[place.face][(place.corner + steps) % 4];
  };
  // The edge that goes straight on from q where p -> q comes in, at a point of four edges.
  const auto straight_on = [&](std::int32_t p, std::int32_t q) {
    return after(edges.find(after(edges.find(p, q), 2), q), 2);
  };
  const auto on_boundary = [&](std::int32_t p, std::int32_t q) {
    const auto in = edges.find(p, q), out = edges.find(q, p);
    return in.face != none && out.face != none && is_material(in.face) && !is_material(out.face);
  };
  // The line through q of the edge p -> q that runs along the boundary, material on its left.
  const auto line_at_end = [&](std::int32_t p, std::int32_t q) {
    return EdgeLine{after(edges.find(q, p), 3), q, after(edges.find(p, q), 2)};
  };
  const auto line_at_start = [&](std::int32_t p, std::int32_t q) {
    return EdgeLine{after(edges.find(q, p), 2), p, after(edges.find(p, q), 3)};
  };

  std::vector<std::vector<EdgeLine>> sides;
  std::vector<bool> done(mesh.points.size(), false);  // the boundary edge that leaves this point stands in a side
  for (const bool from_ends : {true, false})          // what is left after the open runs are closed ones
    for (std::int64_t f = 0; f < mesh.material_faces; ++f)
      for (int c = 0; c < 4; ++c) {
        std::int32_t p = mesh.faces[f][c], q = mesh.faces[f][(c + 1) % 4];
        if (!on_boundary(p, q) || done[p]) continue;
        // The edge before p -> q in the same straight run; it may be none of the boundary.
        const std::int32_t before = regular(p) ? straight_on(q, p) : none;
        if (from_ends && before != none && on_boundary(before, p)) continue;
        std::vector<EdgeLine>& side = sides.emplace_back();
        if (from_ends && before != none) side.push_back(line_at_start(before, p));
        if (regular(p)) side.push_back(line_at_start(p, q));
        while (!done[p] && on_boundary(p, q)) {
          done[p] = true;
          if (!regular(q)) break;
          const std::int32_t next = straight_on(p, q);
          if (done[q] && on_boundary(q, next)) break;  // a closed run is back at its start
          side.push_back(line_at_end(p, q));
          p = std::exchange(q, next);
        }
        if (regular(p) && !on_boundary(p, q)) side.push_back(line_at_end(p, q));
      }
  return sides;
}

namespace {

/// The boundary of the material as closed runs of points, each in the direction of the faces inside.
std::vector<std::vector<std::int32_t>> boundary_loops(const Boundary& boundary) {
  std::vector<std::vector<std::int32_t>> loops;
  std::vector<bool> done(boundary.after.size(), false);
  for (std::size_t start = 0; start < done.size(); ++start) {
    if (boundary.after[start] == none || done[start]) continue;
    auto& loop = loops.emplace_back();
    for (auto p = static_cast<std::int32_t>(start); !done[p]; p = boundary.after[p]) {
      done[p] = true;
      loop.push_back(p);
    }
  }
  return loops;
}

/// Sides of a boundary that ends at corners, or one of all its points if there is none.
std::vector<BoundarySide> cut_at(std::vector<std::int32_t> loop, const std::vector<bool>& is_corner) {
  const auto first = std::find_if(loop.begin(), loop.end(), [&](std::int32_t p) { return is_corner[p]; });
  if (first == loop.end()) return {{{}, std::move(loop), true}};
  std::rotate(loop.begin(), first, loop.end());
  loop.push_back(loop.front());
  std::vector<BoundarySide> sides;
  for (std::size_t k = 0; k + 1 < loop.size(); ++k) {
    if (is_corner[loop[k]]) sides.push_back({{}, {loop[k]}, false});
    sides.back().points.push_back(loop[k + 1]);
  }
  return sides;
}

}  // namespace

std::vector<BoundarySide> boundary_sides(const ControlMesh& mesh) {
  FaceList material = mesh.faces;
  material.resize(static_cast<std::size_t>(mesh.material_faces));
  const Edges inside_edges(material), all_edges(mesh.faces);
  const Stars inside(material, mesh.points.size()), all(mesh.faces, mesh.points.size());
  const Boundary boundary(material, inside_edges, mesh.points.size());
  const auto is_regular = [&](std::int32_t p) { return all.of(p).size() == (mesh.sides() == 4 ? 4u : 6u); };
  const auto leaves = [&](std::int32_t p) {  // whether the line along the boundary does not go on along it
    const Edges::Place in = all_edges.find(boundary.before[p], p);
    const Edges::Place out = all_edges.find(mesh.faces[in.face][(in.corner + 2) % 4], p);
    return mesh.faces[out.face][(out.corner + 2) % 4] != boundary.after[p];
  };
  std::vector<bool> is_corner(mesh.points.size(), false);
  bool all_regular = mesh.sides() == 4;
  const auto loops = boundary_loops(boundary);
  for (const auto& loop : loops)
    for (const std::int32_t p : loop) {
      const bool by_pattern = mesh.sides() == 4 && is_regular(p);
      all_regular = all_regular && by_pattern;
      is_corner[p] = by_pattern ? leaves(p) : is_sharp(material, inside.of(p), mesh.points);
    }
  std::vector<BoundarySide> sides;
  const auto runs = mesh.sides() == 4 ? edge_lines(mesh) : std::vector<std::vector<EdgeLine>>();
  if (all_regular) {
    for (const auto& lines : runs) sides.push_back({lines, {}, false});
    return sides;
  }
  const auto run_along = [&](std::int32_t p, std::int32_t q) {
    return std::find_if(runs.begin(), runs.end(), [&](const auto& lines) {
      for (std::size_t k = 1; k < lines.size(); ++k)
        if (lines[k - 1].boundary == p && lines[k].boundary == q) return true;
      return false;
    });
  };
  for (const auto& loop : loops)
    for (BoundarySide& side : cut_at(loop, is_corner)) {
      if (mesh.sides() == 4 && std::all_of(side.points.begin(), side.points.end(), is_regular))
        if (const auto run = run_along(side.points[0], side.points[1]); run != runs.end()) side = {*run, {}, false};
      sides.push_back(std::move(side));
    }
  return sides;
}

Real irregular_share(const ControlMesh& mesh) {
  FaceList material = mesh.faces;
  material.resize(static_cast<std::size_t>(mesh.material_faces));
  const Stars stars(material, mesh.points.size());
  const Boundary boundary(material, Edges(material), mesh.points.size());
  Real inside = 0, irregular = 0;
  for (std::size_t p = 0; p < mesh.points.size(); ++p) {
    if (stars.of(p).empty() || boundary.after[p] != none) continue;
    inside += 1;
    irregular += stars.of(p).size() != (mesh.sides() == 4 ? 4u : 6u);
  }
  return inside > 0 ? irregular / inside : 0;
}

namespace {

/// The points around an inner point that the pattern goes on regularly from, in turn; empty for others.
std::vector<std::vector<std::int32_t>> regular_rings(const FaceList& material, std::size_t points) {
  const std::size_t regular = material.sides() == 4 ? 4 : 6;
  const Edges edges(material);
  const Stars stars(material, points);
  const Boundary boundary(material, edges, points);
  std::vector<std::vector<std::int32_t>> rings(points);
  for (std::size_t p = 0; p < points; ++p) {
    const auto star = stars.of(p);
    if (star.size() != regular || boundary.after[p] != none) continue;
    auto [f, c] = star.front();
    while (rings[p].size() < regular) {
      const auto face = material[f];
      rings[p].push_back(face[(c + 1) % face.size()]);
      const Edges::Place next = edges.find(static_cast<std::int32_t>(p), face[(c + face.size() - 1) % face.size()]);
      f = next.face, c = next.corner;
    }
  }
  return rings;
}

}  // namespace

Real pattern_unevenness(const ControlMesh& mesh) {
  FaceList material = mesh.faces;
  material.resize(static_cast<std::size_t>(mesh.material_faces));
  const auto rings = regular_rings(material, mesh.points.size());
  const auto beyond = [&](std::int32_t p, std::int32_t from) {
    const auto& ring = rings[p];
    const auto at = std::ranges::find(ring, from) - ring.begin();
    return ring.empty() ? none : ring[(at + ring.size() / 2) % ring.size()];
  };
  constexpr Real of_independent = 1 + 16 + 36 + 16 + 1;
  Real sum = 0, lines = 0;
  for (std::size_t p = 0; p < rings.size(); ++p) {
    const auto& ring = rings[p];
    const auto x = [&](std::int32_t q) -> const Vec3& { return mesh.points[static_cast<std::size_t>(q)]; };
    const auto here = static_cast<std::int32_t>(p);
    Vec3 normal = Vec3::Zero();
    for (std::size_t k = 0; k < ring.size(); ++k)
      normal += (x(ring[k]) - x(here)).cross(x(ring[(k + 1) % ring.size()]) - x(here));
    normal.normalize();
    for (std::size_t k = 0; k < ring.size() / 2; ++k) {
      const std::int32_t a = ring[k], b = ring[k + ring.size() / 2];
      const std::int32_t before = beyond(a, here), after = beyond(b, here);
      if (before == none || after == none) continue;
      const Vec3 off = x(before) - 4 * x(a) + 6 * x(here) - 4 * x(b) + x(after);
      sum += (off - off.dot(normal) * normal).squaredNorm() / (of_independent * (x(b) - x(a)).squaredNorm() / 4);
      lines += 1;
    }
  }
  return lines > 0 ? std::sqrt(sum / lines) : 0;
}

Real sharpest_fold(const ControlMesh& mesh) {
  FaceList material = mesh.faces;
  material.resize(static_cast<std::size_t>(mesh.material_faces));
  const auto normal = [&](std::size_t f) {
    const auto face = material[f];
    const Vec3& first = mesh.points[static_cast<std::size_t>(face[0])];
    Vec3 sum = Vec3::Zero();
    for (std::size_t c = 0; c < face.size(); ++c)
      sum += (mesh.points[static_cast<std::size_t>(face[c])] - first)
                 .cross(mesh.points[static_cast<std::size_t>(face[(c + 1) % face.size()])] - first);
    return sum;
  };
  const Edges edges(material);
  Real sharpest = 0;
  for (std::size_t f = 0; f < material.size(); ++f)
    for (std::size_t c = 0; c < material[f].size(); ++c) {
      const Edges::Place other = edges.find(material[f][(c + 1) % material[f].size()], material[f][c]);
      if (other.face == none || static_cast<std::size_t>(other.face) < f) continue;
      const Vec3 a = normal(f), b = normal(static_cast<std::size_t>(other.face));
      sharpest = std::max(sharpest, std::atan2(a.cross(b).norm(), a.dot(b)));
    }
  return sharpest;
}

}  // namespace weft
