// Limit surfaces by OpenSubdiv: bases at points of faces, and meshes to draw.

#include "weft/geometry/subdivision.hpp"

#include "weft/base/check.hpp"

#include <opensubdiv/bfr/refinerSurfaceFactory.h>
#include <opensubdiv/bfr/surface.h>
#include <opensubdiv/far/topologyDescriptor.h>
#include <opensubdiv/far/topologyRefinerFactory.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>

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
  std::array<std::vector<Real>, 6> w;
  for (const std::int64_t f : faces) {
    const auto at_face = std::lower_bound(around.begin(), around.end(), f) - around.begin();
    const bool exists = factory.InitVertexSurface(static_cast<int>(at_face), &surface);
    WEFT_ENSURE(exists);
    points.resize(surface.GetNumControlPoints());
    surface.GetControlPointIndices(points.data());
    for (auto& column : w) column.resize(points.size());
    for (const int p : points) basis.points.push_back(part.points[static_cast<std::size_t>(p)]);
    basis.offsets.push_back(static_cast<std::int64_t>(basis.points.size()));
    for (const Vec2& t : at) {
      surface.EvaluateStencil(t.data(), w[0].data(), w[1].data(), w[2].data(), w[3].data(), w[4].data(), w[5].data());
      for (std::size_t a = 0; a < points.size(); ++a)
        basis.weights.push_back({w[0][a], w[1][a], w[2][a], w[3][a], w[4][a], w[5][a]});
    }
  }
  return basis;
}

DrawnLimit drawn_limit(const ControlMesh& mesh, int divisions) {
  WEFT_ENSURE(mesh.sides() == 4);
  const int n = divisions;
  std::vector<Vec2> at;
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i <= n; ++i) at.emplace_back(static_cast<Real>(i) / n, static_cast<Real>(j) / n);
  std::vector<std::int64_t> faces(mesh.material_faces);
  for (std::size_t f = 0; f < faces.size(); ++f) faces[f] = static_cast<std::int64_t>(f);
  const LimitBasis basis = limit_basis(mesh, faces, at);

  DrawnLimit drawn;
  drawn.mesh.groups = mesh.groups;
  // Points at corners and on edges belong to several faces and are made by the first of them.
  std::vector<std::int32_t> at_corner(mesh.points.size(), -1);
  std::unordered_map<std::uint64_t, std::int32_t>
      on_edge;  // the first of the n - 1 points from the lower to the higher end
  const auto make_point = [&](std::int64_t f, int s) {
    Vec3 x = Vec3::Zero();
    const auto control = basis.points_of(f);
    const auto row = basis.row(f, s);
    for (std::size_t a = 0; a < control.size(); ++a) {
      if (row[a].value == 0) continue;
      x += row[a].value * mesh.points[control[a]];
      drawn.control.push_back(control[a]);
      drawn.weight.push_back(row[a].value);
    }
    drawn.offsets.push_back(static_cast<std::int64_t>(drawn.control.size()));
    drawn.mesh.points.push_back(x);
    return static_cast<std::int32_t>(drawn.mesh.points.size() - 1);
  };
  std::vector<std::int32_t> number(at.size());
  for (std::int64_t f = 0; f < mesh.material_faces; ++f) {
    const auto face = mesh.faces[f];
    const auto sample = [&](int i, int j) { return j * (n + 1) + i; };
    const std::array<std::array<int, 2>, 4> corner = {{{0, 0}, {n, 0}, {n, n}, {0, n}}};
    for (int c = 0; c < 4; ++c) {
      const std::int32_t p = face[c], q = face[(c + 1) % 4];
      const int s = sample(corner[c][0], corner[c][1]);
      if (at_corner[p] < 0) at_corner[p] = make_point(f, s);
      number[s] = at_corner[p];
      const auto place = [&](int k) {  // the k-th sample of this side, from p
        const auto& from = corner[c];
        const auto& to = corner[(c + 1) % 4];
        return sample(from[0] + k * (to[0] - from[0]) / n, from[1] + k * (to[1] - from[1]) / n);
      };
      const auto key = static_cast<std::uint64_t>(std::min(p, q)) << 32 | static_cast<std::uint32_t>(std::max(p, q));
      const auto [first, is_new] = on_edge.try_emplace(key, static_cast<std::int32_t>(drawn.mesh.points.size()));
      for (int k = 1; k < n; ++k) {
        const int from_p = p < q ? k : n - k;
        if (is_new) make_point(f, place(from_p));
        number[place(from_p)] = first->second + k - 1;
      }
    }
    for (int j = 1; j < n; ++j)
      for (int i = 1; i < n; ++i) number[sample(i, j)] = make_point(f, sample(i, j));
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        drawn.mesh.add_face(
            {number[sample(i, j)], number[sample(i + 1, j)], number[sample(i + 1, j + 1)], number[sample(i, j + 1)]});
        if (!mesh.group.empty()) drawn.mesh.group.push_back(mesh.group[f]);
      }
  }
  return drawn;
}

}  // namespace weft
