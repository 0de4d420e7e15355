// Limit surfaces by OpenSubdiv: bases at points of faces, and meshes to draw.

#include "weft/geometry/subdivision.hpp"

#include "weft/base/check.hpp"

#include <opensubdiv/bfr/refinerSurfaceFactory.h>
#include <opensubdiv/bfr/surface.h>
#include <opensubdiv/far/topologyDescriptor.h>
#include <opensubdiv/far/topologyRefinerFactory.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace weft {

namespace {

namespace Bfr = OpenSubdiv::Bfr;
namespace Far = OpenSubdiv::Far;
namespace Sdc = OpenSubdiv::Sdc;

/// The topology of some faces of a mesh, numbered anew.
struct Topology {
  FaceList faces;
  std::vector<std::int32_t> points;  ///< Numbers in the mesh, ascending.
};

Topology topology_of(const ControlMesh& mesh, std::span<const std::int64_t> faces) {
  Topology part{FaceList(mesh.sides()), {}};
  for (const std::int64_t f : faces) part.faces.push_back(mesh.faces[f]);
  part.points.assign(part.faces.corners().begin(), part.faces.corners().end());
  std::sort(part.points.begin(), part.points.end());
  part.points.erase(std::unique(part.points.begin(), part.points.end()), part.points.end());
  for (std::int32_t& p : part.faces.corners())
    p = static_cast<std::int32_t>(std::lower_bound(part.points.begin(), part.points.end(), p) - part.points.begin());
  return part;
}

std::unique_ptr<Far::TopologyRefiner> refiner_of(const Topology& part) {
  const std::vector<int> sizes(part.faces.size(), part.faces.sides());
  Far::TopologyDescriptor descriptor;
  descriptor.numVertices = static_cast<int>(part.points.size());
  descriptor.numFaces = static_cast<int>(part.faces.size());
  descriptor.numVertsPerFace = sizes.data();
  descriptor.vertIndicesPerFace = part.faces.corners().data();
  Sdc::Options options;
  options.SetVtxBoundaryInterpolation(Sdc::Options::VTX_BOUNDARY_EDGE_AND_CORNER);
  const Sdc::SchemeType scheme = part.faces.sides() == 3 ? Sdc::SCHEME_LOOP : Sdc::SCHEME_CATMARK;
  using Factory = Far::TopologyRefinerFactory<Far::TopologyDescriptor>;
  std::unique_ptr<Far::TopologyRefiner> refiner(Factory::Create(descriptor, Factory::Options(scheme, options)));
  WEFT_ENSURE(refiner != nullptr);
  return refiner;
}

/// How often faces must be divided around an irregular corner until no sample lies in a part that still has it: there
/// the limit surface is only approximated.
int isolation_level(int sides, std::span<const Vec2> at) {
  constexpr int deepest = 6;
  Real nearest = 1;
  for (const Vec2& t : at)
    nearest = std::min(nearest, sides == 4 ? t.cwiseMin(Vec2::Ones() - t).maxCoeff()
                                           : std::min(t.sum(), (Vec2::Ones() - t).minCoeff()));
  for (int level = 3; level < deepest; ++level)
    if (std::ldexp(1.0, -level) < nearest) return level;
  return deepest;
}

void add(BasisWeights& sum, Real factor, const BasisWeights& w) {
  sum.value += factor * w.value;
  sum.d1 += factor * w.d1;
  sum.d2 += factor * w.d2;
  sum.d11 += factor * w.d11;
  sum.d12 += factor * w.d12;
  sum.d22 += factor * w.d22;
}

/// Gives what led points of a face weigh to those that lead them, which are points of it too.
/// weights: a row of as many as points for each sample.
void give_to_leaders(const ControlMesh& mesh, std::vector<std::int32_t>& points, std::vector<BasisWeights>& weights) {
  const auto first = static_cast<std::int32_t>(mesh.free_points());
  std::vector<std::int32_t> free;
  std::ranges::copy_if(points, std::back_inserter(free), [&](std::int32_t p) { return p < first; });
  if (free.size() == points.size()) return;
  const std::size_t samples = weights.size() / points.size();
  std::vector<BasisWeights> led(samples * free.size(), BasisWeights{});
  for (std::size_t a = 0; a < points.size(); ++a)
    mesh.for_each_free(points[a], [&](std::int32_t p, Real factor) {
      const auto to = static_cast<std::size_t>(std::ranges::find(free, p) - free.begin());
      WEFT_ENSURE(to < free.size());
      for (std::size_t s = 0; s < samples; ++s) add(led[s * free.size() + to], factor, weights[s * points.size() + a]);
    });
  points = std::move(free);
  weights = std::move(led);
}

/// Tables of weights, each kept once.
class Tables {
 public:
  /// Where the table stands among all; it is added if no other is the same to the bit.
  std::int64_t place_of(std::span<const BasisWeights> table, std::vector<BasisWeights>& all) {
    const std::string_view bits(reinterpret_cast<const char*>(table.data()), table.size_bytes());
    std::vector<std::int64_t>& alike = by_hash_[std::hash<std::string_view>()(bits)];
    for (const std::int64_t first : alike)
      if (first + std::ssize(table) <= std::ssize(all) && std::memcmp(&all[first], table.data(), bits.size()) == 0)
        return first;
    alike.push_back(std::ssize(all));
    all.insert(all.end(), table.begin(), table.end());
    return alike.back();
  }

 private:
  std::unordered_map<std::size_t, std::vector<std::int64_t>> by_hash_;
};

}  // namespace

std::vector<Vec2> corner_places(int sides) {
  if (sides == 3) return {Vec2(0, 0), Vec2(1, 0), Vec2(0, 1)};
  return {Vec2(0, 0), Vec2(1, 0), Vec2(1, 1), Vec2(0, 1)};
}

LimitBasis limit_basis(const ControlMesh& mesh, std::span<const std::int64_t> faces, std::span<const Vec2> at) {
  LimitBasis basis;
  basis.samples = static_cast<int>(at.size());
  if (faces.empty()) return basis;
  const std::vector<std::int64_t> around = faces_around(mesh, faces);
  const Topology part = topology_of(mesh, around);
  const auto refiner = refiner_of(part);
  Bfr::SurfaceFactory::Options options;
  options.SetApproxLevelSmooth(isolation_level(mesh.sides(), at));
  const Bfr::RefinerSurfaceFactory<> factory(*refiner, options);

  Bfr::Surface<Real> surface;
  std::vector<int> points;
  std::vector<std::int32_t> controls;
  std::array<std::vector<Real>, 6> w;
  std::vector<BasisWeights> weights;
  Tables tables;
  for (const std::int64_t f : faces) {
    const auto at_face = std::lower_bound(around.begin(), around.end(), f) - around.begin();
    const bool exists = factory.InitVertexSurface(static_cast<int>(at_face), &surface);
    WEFT_ENSURE(exists);
    points.resize(surface.GetNumControlPoints());
    surface.GetControlPointIndices(points.data());
    for (auto& column : w) column.resize(points.size());
    controls.clear();
    for (const int p : points) controls.push_back(part.points[static_cast<std::size_t>(p)]);
    weights.clear();
    for (const Vec2& t : at) {
      surface.EvaluateStencil(t.data(), w[0].data(), w[1].data(), w[2].data(), w[3].data(), w[4].data(), w[5].data());
      for (std::size_t a = 0; a < points.size(); ++a)
        weights.push_back({w[0][a], w[1][a], w[2][a], w[3][a], w[4][a], w[5][a]});
    }
    give_to_leaders(mesh, controls, weights);
    basis.points.insert(basis.points.end(), controls.begin(), controls.end());
    basis.offsets.push_back(static_cast<std::int64_t>(basis.points.size()));
    basis.first_weight.push_back(tables.place_of(weights, basis.weights));
  }
  return basis;
}

DrawnFace::DrawnFace(int sides, int n) : parts(sides), sides_(sides), n_(n) {
  const auto width = [&](int j) { return sides == 4 ? n : n - j; };  // squares or pairs of triangles at height j
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i <= width(j); ++i) points.emplace_back(Real(i) / n, Real(j) / n);
  int a = 0;
  for (int j = 0; j < n; ++j, ++a)
    for (int i = 0; i < width(j); ++i, ++a) {
      const int b = a + 1, d = a + width(j) + 1, c = d + 1;
      if (sides == 4) {
        parts.push_back({a, b, c, d});
        cells.push_back({a, b, c});
        cells.push_back({a, c, d});
        middles.emplace_back((i + 0.5) / n, (j + 0.5) / n);
        continue;
      }
      parts.push_back({a, b, d});
      cells.push_back({a, b, d});
      middles.emplace_back((i + 1.0 / 3) / n, (j + 1.0 / 3) / n);
      if (i + 1 == width(j)) continue;
      parts.push_back({b, c, d});
      cells.push_back({b, c, d});
      middles.emplace_back((i + 2.0 / 3) / n, (j + 2.0 / 3) / n);
    }
}

std::vector<int> DrawnFace::side(int c) const {
  const std::vector<Vec2> corners = corner_places(sides_);
  const auto corner = [&](int k) -> Eigen::Vector2i { return n_ * corners[k % sides_].cast<int>(); };
  std::vector<int> side;
  for (int k = 0; k <= n_; ++k) {
    const Eigen::Vector2i at = corner(c) + k * (corner(c + 1) - corner(c)) / n_;
    const int j = at[1], shorter = sides_ == 4 ? 0 : j * (j - 1) / 2;  // than n + 1 points each: the rows below
    side.push_back(j * (n_ + 1) - shorter + at[0]);
  }
  return side;
}

namespace {

/// Of the corners of a face at a point in it: (bi)linear.
std::vector<Real> weights_of_corners(int sides, const Vec2& t) {
  const Real u = t[0], v = t[1];
  if (sides == 3) return {1 - u - v, u, v};
  return {(1 - u) * (1 - v), u * (1 - v), u * v, (1 - u) * v};
}

/// Numbers the points of drawn faces, each once, and adds them to the mesh without their positions.
class Welder {
 public:
  Welder(const ControlMesh& mesh, const DrawnFace& drawn, SurfaceMesh& to)
      : mesh_(mesh), drawn_(drawn), to_(to), at_corner_(mesh.points.size(), -1) {
    for (const auto& points : mesh.group_points) listed_.emplace_back(points.begin(), points.end());
    to.group_points.resize(listed_.size());
    for (std::int64_t f = 0; f < mesh.material_faces; ++f)
      for (const std::int32_t p : mesh.faces[f]) at_corner_[p] = 0;
    for (std::size_t p = 0; p < at_corner_.size(); ++p)
      if (at_corner_[p] == 0) at_corner_[p] = add_between(std::array{static_cast<std::int32_t>(p)});
  }

  /// Of the drawn points of a face.
  std::vector<std::int32_t> numbers(std::int64_t f) {
    const auto face = mesh_.faces[f];
    std::vector<std::int32_t> number(drawn_.points.size(), -1);
    for (int c = 0; c < mesh_.sides(); ++c) {
      const std::int32_t p = face[c], q = face[(c + 1) % mesh_.sides()];
      const std::vector<int> side = drawn_.side(c);
      const auto [edge, is_new] = on_edge_.try_emplace(std::minmax(p, q));
      if (is_new)
        for (std::size_t k = 2; k < side.size(); ++k) edge->second.push_back(add_between(std::array{p, q}));
      number[side.front()] = at_corner_[p];
      for (std::size_t k = 1; k + 1 < side.size(); ++k)
        number[side[k]] = is_new ? edge->second[k - 1] : edge->second[side.size() - 2 - k];
    }
    for (std::int32_t& each : number)
      if (each < 0) each = add_between(face);
    return number;
  }

 private:
  /// A point between some of the control mesh.
  std::int32_t add_between(std::span<const std::int32_t> corners) {
    const auto number = static_cast<std::int32_t>(to_.points.size());
    to_.points.emplace_back(Vec3::Zero());
    for (std::size_t g = 0; g < listed_.size(); ++g)
      if (std::ranges::all_of(corners, [&](std::int32_t p) { return listed_[g].contains(p); }))
        to_.group_points[g].push_back(number);
    return number;
  }

  const ControlMesh& mesh_;
  const DrawnFace& drawn_;
  SurfaceMesh& to_;
  std::vector<std::int32_t> at_corner_;
  /// Between the ends of each edge, from the end where its first face comes to it.
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::int32_t>> on_edge_;
  std::vector<std::set<std::int32_t>> listed_;
};

}  // namespace

DrawnLimit drawn_limit(const ControlMesh& mesh, int n) {
  const DrawnFace drawn(mesh.sides(), n);
  std::vector<std::int64_t> faces(static_cast<std::size_t>(mesh.material_faces));
  std::iota(faces.begin(), faces.end(), 0);
  const LimitBasis basis = limit_basis(mesh, faces, drawn.points);

  DrawnLimit limit;
  limit.mesh.groups = mesh.groups;
  Welder welder(mesh, drawn, limit.mesh);
  for (const std::int64_t f : faces) {
    const std::vector<std::int32_t> number = welder.numbers(f);
    for (int s = 0; s < basis.samples; ++s) {
      Vec3 x = Vec3::Zero();
      for (std::int64_t a = 0; a < basis.points_in(f); ++a)
        x += basis.row(f, s)[a].value * mesh.points[basis.points_of(f)[a]];
      limit.mesh.points[number[s]] = x;
    }
    for (std::size_t part = 0; part < drawn.parts.size(); ++part) {
      std::vector<std::int32_t> corners;
      for (const std::int32_t s : std::as_const(drawn.parts)[part]) {
        corners.push_back(number[s]);
        if (mesh.texture.empty()) continue;
        Vec2& texture = limit.mesh.texture.emplace_back(Vec2::Zero());
        for (int c = 0; c < mesh.sides(); ++c)
          texture += weights_of_corners(mesh.sides(), drawn.points[s])[c] * mesh.texture[f][c];
      }
      limit.mesh.add_face(corners);
      if (!mesh.group.empty()) limit.mesh.group.push_back(mesh.group[f]);
    }
    limit.number.insert(limit.number.end(), number.begin(), number.end());
  }
  return limit;
}

}  // namespace weft
