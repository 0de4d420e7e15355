#include "weft/bodies/shell_sites.hpp"

#include "bodies/shell_kernel.hpp"
#include "weft/base/check.hpp"
#include "weft/math/quadrature.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace weft {
std::vector<int> boundary_numbers(const ControlMesh& mesh) {
  const auto material = std::span(mesh.faces).first(static_cast<std::size_t>(mesh.material_faces));
  std::set<std::pair<std::int32_t, std::int32_t>> edges;
  for (const Quad& face : material)
    for (int c = 0; c < 4; ++c) edges.insert({face[c], face[(c + 1) % 4]});
  std::vector<std::array<std::int32_t, 2>> boundary;
  for (const auto& [p, q] : edges)
    if (!edges.contains({q, p})) boundary.push_back({p, q});
  return boundary_numbers(boundary, mesh.points.size());
}

namespace {

/// The limit surface at a point of the boundary: two tangents, how they change along an edge, and the normal.
struct Rim {
  std::array<Stencil, 2> tangents, turns;
  Vec2 other_side;  ///< The direction of the side that meets the edge at right angles in a regular pattern.
  Vec3 normal;
  std::int64_t face;  ///< To which it belongs.
};

/// At the vertices of the boundary, from the first face of each, and at both ends of its edges.
class Rims {
 public:
  Rims(const ControlMesh& mesh, std::span<const int> boundary_of, std::span<const std::int64_t> element) {
    const std::array corners = {Vec2(0, 0), Vec2(1, 0), Vec2(1, 1), Vec2(0, 1)};
    std::set<std::pair<std::int32_t, std::int32_t>> outside;  // edges of the outer row, as its faces run along them
    for (std::size_t f = static_cast<std::size_t>(mesh.material_faces); f < mesh.faces.size(); ++f)
      for (int c = 0; c < 4; ++c) outside.insert({mesh.faces[f][c], mesh.faces[f][(c + 1) % 4]});
    for (int c = 0; c < 4; ++c) {
      const int d = (c + 1) % 4;
      std::vector<std::int64_t> at_vertex, at_edge;
      for (std::int64_t f = 0; f < mesh.material_faces; ++f) {
        const std::int32_t p = mesh.faces[f][c], q = mesh.faces[f][d];
        if (boundary_of[p] >= 0 && element[p] == f) at_vertex.push_back(f);
        if (outside.contains({q, p})) at_edge.push_back(f);
      }
      const Vec2 along = corners[d] - corners[c], across = corners[(c + 3) % 4] - corners[c];
      add(mesh, at_vertex, {corners[c], along, across}, [&](const auto& face) { return std::pair(face[c], face[c]); });
      add(mesh, at_edge, {corners[c], along, across}, [&](const auto& face) { return std::pair(face[c], face[d]); });
      add(mesh, at_edge, {corners[d], along, across}, [&](const auto& face) { return std::pair(face[d], face[c]); });
    }
  }

  const Rim& at(std::int32_t vertex) const { return rims_.at({vertex, vertex}); }
  /// Whether a boundary edge joins two points.
  bool has_edge(std::int32_t p, std::int32_t q) const { return p != q && rims_.contains({p, q}); }
  /// At the end p of the boundary edge to q.
  const Rim& at_end(std::int32_t p, std::int32_t q) const { return rims_.at({p, q}); }

 private:
  struct Place {
    Vec2 at, along, across;
  };

  template <class Key>
  void add(const ControlMesh& mesh, std::span<const std::int64_t> faces, const Place& place, Key&& key) {
    const Vec2& along = place.along;
    const LimitBasis basis = limit_basis(mesh, faces, std::array{place.at});
    for (std::int64_t e = 0; e < basis.faces(); ++e) {
      const std::int64_t face = faces[static_cast<std::size_t>(e)];
      Rim& rim = rims_[key(mesh.faces[static_cast<std::size_t>(face)])];
      const auto points = basis.points_of(e);
      for (std::size_t a = 0; a < points.size(); ++a) {
        const BasisWeights& w = basis.row(e, 0)[a];
        add(rim.tangents[0], points[a], w.d1);
        add(rim.tangents[1], points[a], w.d2);
        add(rim.turns[0], points[a], along[0] * w.d11 + along[1] * w.d12);
        add(rim.turns[1], points[a], along[0] * w.d12 + along[1] * w.d22);
      }
      const SurfaceJet<Real> q = jet_at(basis, e, 0, mesh.points);
      rim.normal = unit_normal<Real>(q.col(0), q.col(1));
      rim.face = face;
      rim.other_side = place.across;
    }
  }
  static void add(Stencil& to, std::int32_t row, Real weight) {
    if (weight == 0) return;
    to.rows.push_back(row);
    to.weights.push_back(weight);
  }

  std::map<std::pair<std::int32_t, std::int32_t>, Rim> rims_;
};

/// All lines across the boundary.
void add_sides(const ControlMesh& mesh, std::span<const int> boundary_of, std::span<const std::int64_t> element,
               std::span<const Vec3> limit, std::vector<std::vector<Site>>& sides) {
  const Rims rims(mesh, boundary_of, element);
  for (const std::vector<EdgeLine>& lines : edge_lines(mesh)) {
    std::vector<Site>& side = sides.emplace_back();
    const std::size_t n = lines.size();
    const auto is_beyond = [&](std::size_t i, std::size_t next) {
      const std::int32_t p = lines[i].boundary, q = lines[next].boundary;
      return boundary_of[p] < 0 || (boundary_of[q] >= 0 && !rims.has_edge(p, q));
    };
    const bool beyond_first = n > 2 && is_beyond(0, 1), beyond_last = n > 2 && is_beyond(n - 1, n - 2);
    for (std::size_t i = 0; i < n; ++i) {
      const auto& [outer, boundary, inner] = lines[i];
      Site site;
      site.point = boundary;
      site.at_end = boundary_of[boundary] < 0 || (beyond_first && i == 0) || (beyond_last && i == n - 1);
      const std::int32_t vertex = site.at_end ? lines[i == 0 ? 1 : i - 1].boundary : boundary;
      const bool at_first = beyond_first && i < 2, at_last = beyond_last && i + 2 >= n;
      const Rim& rim = at_first  ? rims.at_end(lines[1].boundary, lines[2].boundary)
                       : at_last ? rims.at_end(lines[n - 2].boundary, lines[n - 3].boundary)
                                 : rims.at(vertex);
      site.boundary = boundary_of[vertex];
      site.where = limit[vertex];
      site.normal = rims.at(vertex).normal;
      site.element = rim.face;
      site.place = {{outer, boundary, inner}, {1.0 / 6, 4.0 / 6, 1.0 / 6}};
      site.slope = {{outer, inner}, {-0.5, 0.5}};
      site.tangents = rim.tangents;
      if (at_first || at_last) site.other_side = rim.other_side;
      if (site.at_end) site.turns = rim.turns;
      side.push_back(std::move(site));
    }
  }
}

}  // namespace

Sites sites_of(const ControlMesh& mesh, const ElementRange& range) {
  const std::vector<int> boundary_of = boundary_numbers(mesh);
  std::vector<bool> exists;
  const std::vector<Vec3> limit = limit_points(mesh, exists);
  std::vector<std::int64_t> element(mesh.points.size(), -1);  // of each point the first face that it is a corner of
  for (std::int64_t f = mesh.material_faces - 1; f >= 0; --f)
    for (const std::int32_t p : mesh.faces[f]) element[p] = f;

  // The limit of a vertex of n edges: (n^2 P + 4 sum of neighbours + sum of far corners) / (n (n + 5))
  // [Halstead et al. 1993].
  Sites sites;
  std::map<std::int32_t, std::map<std::int32_t, Real>> weights;
  std::map<std::int32_t, int> valence;
  for (const Quad& face : mesh.faces)
    for (int c = 0; c < 4; ++c) {
      if (!range.has(element[face[c]])) continue;
      weights[face[c]][face[(c + 1) % 4]] += 4;
      weights[face[c]][face[(c + 2) % 4]] += 1;
      ++valence[face[c]];
    }
  for (auto& [vertex, around] : weights) {
    const Real n = valence[vertex];
    around[vertex] += n * n;
    Site site;
    site.point = vertex;
    site.element = element[vertex];
    site.boundary = boundary_of[vertex];
    site.where = limit[vertex];
    for (const auto& [point, weight] : around) {
      site.place.rows.push_back(point);
      site.place.weights.push_back(weight / (n * (n + 5)));
    }
    sites.vertices.push_back(std::move(site));
  }

  add_sides(mesh, boundary_of, element, limit, sites.sides);
  return sites;
}

namespace {

/// A point of a face: rows, weights and place. `along` and `inside` are signed coordinates: 1 is u, -2 is minus v.
Sample sample_of(std::span<const std::int32_t> rows, std::span<const BasisWeights> weights, int along, int inside,
                 std::span<const Vec3> rest) {
  const auto derivative = [](const BasisWeights& w, int coordinate) {
    return (coordinate < 0 ? -1 : 1) * (std::abs(coordinate) == 1 ? w.d1 : w.d2);
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
  const FaceRule rule(shell.in_plane);
  LimitBasis basis = limit_basis(shell.mesh, faces, rule.at);
  for (std::int32_t& p : basis.points) p = row_of_point[p];
  std::vector<Sample> samples;
  for (std::int64_t e = 0; e < basis.faces(); ++e)
    for (int s = 0; s < basis.samples; ++s) {
      Sample& sample = samples.emplace_back(sample_of(basis.points_of(e), basis.row(e, s), 1, 2, rest));
      sample.face = faces[static_cast<std::size_t>(e)];
      sample.measure = rule.weight[s] * area_of(SurfacePoint<Real>(jet_at(basis, e, s, rest)));
      sample.mass = shell.density * shell.thickness[sample.face] * sample.measure;
    }
  return samples;
}

std::vector<Sample> side_samples(const ControlMesh& mesh, std::span<const std::int64_t> of_faces,
                                 std::span<const std::int32_t> row_of_point, std::span<const Vec3> rest) {
  std::set<std::pair<std::int32_t, std::int32_t>> outside;  // edges of the outer row, as its faces run along them
  for (std::size_t f = static_cast<std::size_t>(mesh.material_faces); f < mesh.faces.size(); ++f)
    for (int c = 0; c < 4; ++c) outside.insert({mesh.faces[f][c], mesh.faces[f][(c + 1) % 4]});
  const std::vector<int> boundary_of = boundary_numbers(mesh);

  struct Edge {
    int along, inside;
    Vec2 from, to;
  };
  const std::array<Edge, 4> edges{{{1, 2, {0, 0}, {1, 0}},  // counter-clockwise: material on the left
                                   {2, -1, {1, 0}, {1, 1}},
                                   {-1, -2, {1, 1}, {0, 1}},
                                   {-2, 1, {0, 1}, {0, 0}}}};
  const Quadrature rule = gauss(3);
  std::vector<Sample> samples;
  for (int c = 0; c < 4; ++c) {
    std::vector<std::int64_t> faces;
    for (const std::int64_t f : of_faces)
      if (outside.contains({mesh.faces[f][(c + 1) % 4], mesh.faces[f][c]})) faces.push_back(f);
    std::vector<Vec2> at;
    for (const Real t : rule.at) at.emplace_back((1 - t) * edges[c].from + t * edges[c].to);
    const LimitBasis basis = limit_basis(mesh, faces, at);
    for (std::int64_t e = 0; e < basis.faces(); ++e) {
      std::vector<std::int32_t> rows;
      for (const std::int32_t point : basis.points_of(e)) rows.push_back(row_of_point[point]);
      for (int s = 0; s < basis.samples; ++s) {
        Sample sample = sample_of(rows, basis.row(e, s), edges[c].along, edges[c].inside, rest);
        Vec3 along = Vec3::Zero();
        for (std::size_t k = 0; k < rows.size(); ++k) along += sample.d1[k] * rest[rows[k]];
        sample.measure = rule.weight[s] * along.norm();
        sample.face = faces[static_cast<std::size_t>(e)];
        sample.boundary = boundary_of[mesh.faces[sample.face][c]];
        samples.push_back(std::move(sample));
      }
    }
  }
  return samples;
}

}  // namespace weft
