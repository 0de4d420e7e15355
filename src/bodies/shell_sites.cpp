#include "bodies/shell_sites.hpp"

#include "bodies/shell_fields.hpp"
#include "bodies/shell_kernel.hpp"
#include "bodies/stencils.hpp"
#include "weft/base/check.hpp"
#include "weft/math/quadrature.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace weft {

std::vector<int> boundary_numbers(const ControlMesh& mesh) {
  std::set<std::pair<std::int32_t, std::int32_t>> edges;
  for (std::int64_t f = 0; f < mesh.material_faces; ++f)
    for (int c = 0; c < mesh.sides(); ++c) edges.insert({mesh.faces[f][c], mesh.faces[f][(c + 1) % mesh.sides()]});
  std::vector<std::array<std::int32_t, 2>> boundary;
  for (const auto& [p, q] : edges)
    if (!edges.contains({q, p})) boundary.push_back({p, q});
  return boundary_numbers(boundary, mesh.points.size());
}

namespace {

/// Edges of the outer row, as its faces run along them.
std::set<std::pair<std::int32_t, std::int32_t>> outer_edges(const ControlMesh& mesh) {
  std::set<std::pair<std::int32_t, std::int32_t>> outside;
  for (std::size_t f = static_cast<std::size_t>(mesh.material_faces); f < mesh.faces.size(); ++f)
    for (int c = 0; c < mesh.sides(); ++c) outside.insert({mesh.faces[f][c], mesh.faces[f][(c + 1) % mesh.sides()]});
  return outside;
}

/// The limit surface at a point of the boundary: two tangents, how they change along an edge, and the normal. The
/// direction of the edge in these tangents, and that of the side which meets it there in a regular pattern.
struct Rim {
  std::array<Stencil, 2> tangents, turns;
  Vec2 along, other_side;
  Stencil place;
  Vec3 normal;
  std::int64_t face;  ///< To which it belongs.
};

/// At the vertices of the boundary, from the first face of each, and at both ends of its edges.
class Rims {
 public:
  Rims(const ControlMesh& mesh, std::span<const int> boundary_of, std::span<const std::int64_t> element) {
    const std::vector<Vec2> corners = corner_places(mesh.sides());
    const auto outside = outer_edges(mesh);
    std::vector<int> faces_at(mesh.points.size(), 0);
    for (std::int64_t f = 0; f < mesh.material_faces; ++f)
      for (const std::int32_t p : mesh.faces[f]) ++faces_at[p];
    for (int c = 0; c < mesh.sides(); ++c) {
      const int d = (c + 1) % mesh.sides(), before = (c + mesh.sides() - 1) % mesh.sides(),
                after = (d + 1) % mesh.sides();
      std::vector<std::int64_t> at_vertex, at_edge, at_from_two, at_to_two;
      for (std::int64_t f = 0; f < mesh.material_faces; ++f) {
        const std::int32_t p = mesh.faces[f][c], q = mesh.faces[f][d];
        if (boundary_of[p] >= 0 && element[p] == f) at_vertex.push_back(f);
        if (!outside.contains({q, p})) continue;
        at_edge.push_back(f);
        if (mesh.sides() == 3 && faces_at[p] == 2) at_from_two.push_back(f);
        if (mesh.sides() == 3 && faces_at[q] == 2) at_to_two.push_back(f);
      }
      const Vec2 along = corners[d] - corners[c];
      const auto from = [&](const auto& face) { return std::pair(face[c], face[d]); };
      const auto to = [&](const auto& face) { return std::pair(face[d], face[c]); };
      add(rims_, mesh, at_vertex, {corners[c], along, corners[before] - corners[c]},
          [&](const auto& face) { return std::pair(face[c], face[c]); });
      add(rims_, mesh, at_edge, {corners[c], along, corners[before] - corners[c]}, from);
      add(rims_, mesh, at_edge, {corners[d], along, corners[after] - corners[d]}, to);
      add(middles_, mesh, at_edge, {(corners[c] + corners[d]) / 2, along, {}}, from);
      // Between two triangles the other side lies beyond the second.
      add(rims_, mesh, at_from_two, {corners[c], along, corners[before] - corners[d]}, from);
      add(rims_, mesh, at_to_two, {corners[d], along, corners[after] - corners[c]}, to);
    }
  }

  const Rim& at(std::int32_t vertex) const { return rims_.at({vertex, vertex}); }
  /// Whether a boundary edge joins two points.
  bool has_edge(std::int32_t p, std::int32_t q) const { return p != q && rims_.contains({p, q}); }
  /// In the middle of the boundary edge from p to q, material on the left.
  const Rim& amid(std::int32_t p, std::int32_t q) const { return middles_.at({p, q}); }
  /// At the end p of the boundary edge to q.
  const Rim& at_end(std::int32_t p, std::int32_t q) const { return rims_.at({p, q}); }

 private:
  struct Place {
    Vec2 at, along, across;
  };

  template <class Key>
  static void add(std::map<std::pair<std::int32_t, std::int32_t>, Rim>& rims, const ControlMesh& mesh,
                  std::span<const std::int64_t> faces, const Place& place, Key&& key) {
    const Vec2& along = place.along;
    const LimitBasis basis = limit_basis(mesh, faces, std::array{place.at});
    for (std::int64_t e = 0; e < basis.faces(); ++e) {
      const std::int64_t face = faces[static_cast<std::size_t>(e)];
      Rim& rim = rims[key(mesh.faces[static_cast<std::size_t>(face)])] = {};
      const auto points = basis.points_of(e);
      for (std::size_t a = 0; a < points.size(); ++a) {
        const BasisWeights& w = basis.row(e, 0)[a];
        add(rim.place, points[a], w.value);
        add(rim.tangents[0], points[a], w.d1);
        add(rim.tangents[1], points[a], w.d2);
        add(rim.turns[0], points[a], along[0] * w.d11 + along[1] * w.d12);
        add(rim.turns[1], points[a], along[0] * w.d12 + along[1] * w.d22);
      }
      const SurfaceJet<Real> q = jet_at(basis, e, 0, mesh.points);
      rim.normal = unit_normal<Real>(q.col(0), q.col(1));
      rim.face = face;
      rim.along = along;
      rim.other_side = place.across;
    }
  }
  static void add(Stencil& to, std::int32_t row, Real weight) {
    if (weight == 0) return;
    to.rows.push_back(row);
    to.weights.push_back(weight);
  }

  std::map<std::pair<std::int32_t, std::int32_t>, Rim> rims_, middles_;
};

/// What sites are made of.
struct Surroundings {
  const ControlMesh& mesh;
  std::vector<int> boundary_of;
  std::vector<std::int64_t> element;  ///< Of each point the first face that it is a corner of.
  std::vector<Vec3> limit;
  std::map<std::int32_t, Stencil> limit_of;  ///< Of the vertices that are asked for and those of the boundary.
  std::vector<int> valence;

  Surroundings(const ControlMesh& control, const ElementRange& range)
      : mesh(control),
        boundary_of(boundary_numbers(control)),
        element(control.points.size(), -1),
        valence(control.points.size(), 0) {
    std::vector<bool> exists;
    limit = limit_points(mesh, exists);
    for (std::int64_t f = mesh.material_faces - 1; f >= 0; --f)
      for (const std::int32_t p : mesh.faces[f]) element[p] = f;
    std::map<std::int32_t, std::map<std::int32_t, Real>> weights;
    const LimitMask mask(mesh.sides(), 0);
    for (std::size_t f = 0; f < mesh.faces.size(); ++f)
      for (int c = 0; c < mesh.sides(); ++c) {
        const auto face = mesh.faces[f];
        ++valence[face[c]];
        if (element[face[c]] < 0 || (!range.has(element[face[c]]) && boundary_of[face[c]] < 0)) continue;
        const auto add = [&](std::int32_t point, Real weight) {
          mesh.for_each_free(point, [&](std::int32_t p, Real w) { weights[face[c]][p] += weight * w; });
        };
        add(face[(c + 1) % mesh.sides()], mask.edge);
        if (mesh.sides() == 4) add(face[(c + 2) % 4], mask.corner);
      }
    for (auto& [vertex, around] : weights) {
      const LimitMask its(mesh.sides(), valence[vertex]);
      around[vertex] += its.own;
      Stencil& stencil = limit_of[vertex];
      for (const auto& [point, weight] : around) {
        stencil.rows.push_back(point);
        stencil.weights.push_back(weight / its.sum);
      }
    }
  }

  bool is_regular(std::int32_t p) const { return valence[p] == (mesh.sides() == 4 ? 4 : 6); }
};

/// Sites on lines across a side whose pattern is regular.
std::vector<Site> sites_on(const std::vector<EdgeLine>& lines, const Surroundings& around, const Rims& rims) {
  std::vector<Site> side;
  const std::size_t n = lines.size();
  const auto is_beyond = [&](std::size_t i, std::size_t next) {
    const std::int32_t p = lines[i].boundary, q = lines[next].boundary;
    return around.boundary_of[p] < 0 || (around.boundary_of[q] >= 0 && !rims.has_edge(p, q));
  };
  const bool beyond_first = n > 2 && is_beyond(0, 1), beyond_last = n > 2 && is_beyond(n - 1, n - 2);
  for (std::size_t i = 0; i < n; ++i) {
    const auto& [outer, boundary, inner] = lines[i];
    Site site;
    site.point = boundary;
    site.at_end = around.boundary_of[boundary] < 0 || (beyond_first && i == 0) || (beyond_last && i == n - 1);
    const std::int32_t vertex = site.at_end ? lines[i == 0 ? 1 : i - 1].boundary : boundary;
    const bool at_first = beyond_first && i < 2, at_last = beyond_last && i + 2 >= n;
    const Rim& rim = at_first  ? rims.at_end(lines[1].boundary, lines[2].boundary)
                     : at_last ? rims.at_end(lines[n - 2].boundary, lines[n - 3].boundary)
                               : rims.at(vertex);
    site.boundary = around.boundary_of[vertex];
    site.where = around.limit[vertex];
    site.normal = rims.at(vertex).normal;
    site.element = rim.face;
    site.place = {{outer, boundary, inner}, {1.0 / 6, 4.0 / 6, 1.0 / 6}};
    site.slope = {{outer, inner}, {-0.5, 0.5}};
    site.on_line = true;
    site.tangents = rim.tangents;
    if (at_first || at_last) site.other_side = rim.other_side;
    if (site.at_end) site.turns = rim.turns;
    side.push_back(std::move(site));
  }
  return side;
}

/// Sites at the vertices of any other side: the limit surface and its slope across the edge there. Beyond the ends, if
/// the pattern is regular there, what the slopes across both sides that meet have in common: its change along the edge.
std::vector<Site> sites_at(const BoundarySide& side, const Surroundings& around, const Rims& rims) {
  const std::size_t n = side.points.size();
  const auto site_at = [&](std::size_t i) {
    const std::int32_t vertex = side.points[i];
    const bool is_last = i + 1 == n && !side.closed, is_end = !side.closed && (i == 0 || is_last);
    const Rim& rim = rims.at_end(vertex, side.points[is_last ? i - 1 : (i + 1) % n]);
    Site site;
    site.point = vertex;
    site.boundary = around.boundary_of[vertex];
    site.where = around.limit[vertex];
    site.normal = rim.normal;
    site.element = rim.face;
    site.place = around.limit_of.at(vertex);
    site.tangents = rim.tangents;
    if (is_end && around.is_regular(vertex)) {
      site.other_side = rim.other_side;
      site.turns = rim.turns;
    }
    const Eigen::Matrix<Real, 3, 2> a = columns_of(rim.tangents, around.mesh.points);
    const Vec3 inwards = rim.normal.cross(a * rim.along);
    StencilSum slope;
    slope.add(inverse_metric(a) * (a.transpose() * inwards), rim.tangents);
    site.slope = slope.sum();
    return site;
  };
  const auto beyond = [&](Site site) {
    StencilSum turn;
    turn.add(site.other_side, site.turns);
    site.slope = turn.sum();
    site.place = {};
    site.at_end = true;
    return site;
  };
  std::vector<Site> sites;
  for (std::size_t i = 0; i < n; ++i) {
    Site site = site_at(i);
    const bool has_turn = !site.turns[0].rows.empty();
    Site at_vertex = site;
    at_vertex.turns = {};
    if (has_turn && i == 0) sites.push_back(beyond(site));
    sites.push_back(std::move(at_vertex));
    if (has_turn && i > 0) sites.push_back(beyond(std::move(site)));
  }
  return sites;
}

/// Sites amid the edges of such a side: of all with triangles, whose limit edge wavers between vertices that are held,
/// and with quads of those at its ends.
std::vector<Site> sites_amid(const BoundarySide& side, const Surroundings& around, const Rims& rims) {
  const bool all = around.mesh.sides() == 3;
  const std::size_t n = side.points.size(), edges = side.closed ? n : n - 1;
  std::vector<Site> sites;
  for (std::size_t i = 0; i < edges; ++i) {
    if (!all && (side.closed || (i > 0 && i + 1 < edges))) continue;
    const std::int32_t p = side.points[i], q = side.points[(i + 1) % n];
    const Rim& rim = rims.amid(p, q);
    Site site;
    site.point = p;
    site.to_point = q;
    site.amid = true;
    site.boundary = around.boundary_of[p];
    site.where = rim.place.of(around.mesh.points);
    site.normal = rim.normal;
    site.element = rim.face;
    site.place = rim.place;
    sites.push_back(std::move(site));
  }
  return sites;
}

}  // namespace

Sites sites_of(const ControlMesh& mesh, const ElementRange& range) {
  const Surroundings around(mesh, range);
  Sites sites;
  for (const auto& [vertex, place] : around.limit_of) {
    if (!range.has(around.element[vertex])) continue;
    Site site;
    site.point = vertex;
    site.element = around.element[vertex];
    site.boundary = around.boundary_of[vertex];
    site.where = around.limit[vertex];
    site.place = place;
    sites.vertices.push_back(std::move(site));
  }
  const Rims rims(mesh, around.boundary_of, around.element);
  for (const BoundarySide& side : boundary_sides(mesh)) {
    const bool by_lines = side.points.empty();
    sites.sides.push_back(by_lines ? sites_on(side.lines, around, rims) : sites_at(side, around, rims));
    sites.middles.push_back(by_lines ? std::vector<Site>() : sites_amid(side, around, rims));
  }
  return sites;
}

namespace {

/// A point of a face: rows, weights and position. `along` and `inside`: directions in its coordinates.
Sample sample_of(std::span<const std::int32_t> rows, std::span<const BasisWeights> weights, const Vec2& along,
                 const Vec2& inside, std::span<const Vec3> rest) {
  const auto derivative = [](const BasisWeights& w, const Vec2& direction) {
    return direction[0] * w.d1 + direction[1] * w.d2;
  };
  Sample sample;
  sample.rows.assign(rows.begin(), rows.end());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    sample.value.push_back(weights[k].value);
    sample.d1.push_back(derivative(weights[k], along));
    sample.d2.push_back(derivative(weights[k], inside));
    sample.where += weights[k].value * rest[rows[k]];
  }
  return sample;
}

}  // namespace

std::vector<Sample> surface_samples(const ShellDescription& shell, std::span<const std::int64_t> faces,
                                    std::span<const std::int32_t> row_of_point, std::span<const Vec3> rest) {
  const FaceRule rule(shell.mesh.sides(), shell.in_plane);
  LimitBasis basis = limit_basis(shell.mesh, faces, rule.at);
  for (std::int32_t& p : basis.points) p = row_of_point[p];
  std::vector<Sample> samples;
  for (std::int64_t e = 0; e < basis.faces(); ++e)
    for (int s = 0; s < basis.samples; ++s) {
      Sample& sample =
          samples.emplace_back(sample_of(basis.points_of(e), basis.row(e, s), Vec2::UnitX(), Vec2::UnitY(), rest));
      sample.face = sample.element = faces[static_cast<std::size_t>(e)];
      sample.measure = rule.weight[s] * area_of(SurfacePoint<Real>(jet_at(basis, e, s, rest)));
      sample.mass = shell.density * shell.thickness[sample.face] * sample.measure;
    }
  return samples;
}

std::vector<Sample> side_samples(const ControlMesh& mesh, std::span<const std::int64_t> of_faces,
                                 std::span<const std::int32_t> row_of_point, std::span<const Vec3> rest) {
  const auto outside = outer_edges(mesh);
  const std::vector<int> boundary_of = boundary_numbers(mesh);
  const std::vector<Vec2> corners = corner_places(mesh.sides());
  const Quadrature rule = gauss(3);
  std::vector<Sample> samples;
  for (int c = 0; c < mesh.sides(); ++c) {
    const int d = (c + 1) % mesh.sides();
    const Vec2 &from = corners[c], &to = corners[d];
    const Vec2 inside = corners[(d + 1) % mesh.sides()] - (mesh.sides() == 4 ? to : from);
    std::vector<std::int64_t> faces;
    for (const std::int64_t f : of_faces)
      if (outside.contains({mesh.faces[f][d], mesh.faces[f][c]})) faces.push_back(f);
    std::vector<Vec2> at;
    for (const Real t : rule.at) at.emplace_back((1 - t) * from + t * to);
    const int inner = static_cast<int>(at.size());
    at.insert(at.end(), {from, to});
    const LimitBasis basis = limit_basis(mesh, faces, at);
    for (std::int64_t e = 0; e < basis.faces(); ++e) {
      std::vector<std::int32_t> rows;
      for (const std::int32_t point : basis.points_of(e)) rows.push_back(row_of_point[point]);
      const auto sample_at = [&](int s) { return sample_of(rows, basis.row(e, s), to - from, inside, rest); };
      const std::array<Vec3, 2> ends{sample_at(inner).where, sample_at(inner + 1).where};
      Vec3 sum = Vec3::Zero();  // of tangents
      for (int s = 0; s < inner; ++s) {
        Sample& sample = samples.emplace_back(sample_at(s));
        Vec3 along = Vec3::Zero();
        for (std::size_t k = 0; k < rows.size(); ++k) along += sample.d1[k] * rest[rows[k]];
        sample.measure = rule.weight[s] * along.norm();
        sample.face = sample.element = faces[static_cast<std::size_t>(e)];
        sample.boundary = boundary_of[mesh.faces[sample.face][c]];
        sample.ends = ends;
        sum += rule.weight[s] * along;
      }
      // Tangents of an edge sum up to its chord; at extraordinary points they grow or fade too fast for the rule.
      const Real chord = (ends[1] - ends[0]).norm();
      for (int s = 0; s < inner; ++s) samples[samples.size() - 1 - s].measure *= chord / sum.norm();
    }
  }
  return samples;
}

}  // namespace weft
