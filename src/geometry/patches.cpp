// Control meshes made by rule; their limit surfaces interpolate a map to fourth order.

#include "weft/geometry/patches.hpp"

#include "weft/base/check.hpp"

#include <algorithm>
#include <cmath>

namespace weft {

namespace {

ControlMesh lattice(int across, int along) {
  ControlMesh mesh;
  for (int j = 0; j <= along; ++j)
    for (int i = 0; i <= across; ++i)
      mesh.points.emplace_back(static_cast<Real>(i) / across, static_cast<Real>(j) / along, 0);
  const auto at = [&](int i, int j) { return j * (across + 1) + i; };
  for (int j = 0; j < along; ++j)
    for (int i = 0; i < across; ++i) mesh.faces.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)});
  mesh.material_faces = static_cast<std::int64_t>(mesh.faces.size());
  return mesh;
}

/// Gives every material face the plane's coordinates of its corners as texture.
void add_texture(ControlMesh& mesh) {
  mesh.texture.resize(mesh.material_faces);
  for (std::int64_t f = 0; f < mesh.material_faces; ++f)
    for (int c = 0; c < 4; ++c) mesh.texture[f][c] = mesh.points[mesh.faces[f][c]].head<2>();
}

/// The mesh of the plane, with its outer row, moved to the map.
ControlMesh mapped(ControlMesh plane, const SurfaceMap& map) {
  // A second row around the first, so that limit points exist in the first.
  ControlMesh wide = plane;
  wide.material_faces = static_cast<std::int64_t>(wide.faces.size());
  wide = with_outer_row(std::move(wide));
  const auto on_map = [&](const Vec3& p) { return map(p[0], p[1]); };
  std::vector<bool> exists;
  const std::vector<Vec3> limit_in_plane = limit_points(wide, exists);
  std::transform(wide.points.begin(), wide.points.end(), wide.points.begin(), on_map);
  // The limit of X = x(p) misses x(limit of p) by the second derivatives; correcting X by this gives fourth order.
  const std::vector<Vec3> limit = limit_points(wide, exists);
  for (std::size_t p = 0; p < plane.points.size(); ++p)
    plane.points[p] = wide.points[p] + on_map(limit_in_plane[p]) - limit[p];
  return plane;
}

/// The edge between faces f and g turns: the six points around both, from one end of the edge, are joined first to
/// fourth instead.
void turn_edge(ControlMesh& mesh, std::size_t f, std::size_t g) {
  std::array<std::int32_t, 4> a, b;
  std::ranges::copy(mesh.faces[f], a.begin());
  std::ranges::copy(mesh.faces[g], b.begin());
  for (int c = 0; c < 4; ++c)
    for (int d = 0; d < 4; ++d)
      if (a[c] == b[(d + 1) % 4] && a[(c + 1) % 4] == b[d]) {
        const std::array<std::int32_t, 6> ring = {a[(c + 1) % 4], a[(c + 2) % 4], a[(c + 3) % 4],
                                                  a[c],           b[(d + 2) % 4], b[(d + 3) % 4]};
        std::ranges::copy(std::array{ring[1], ring[2], ring[3], ring[4]}, mesh.faces[f].begin());
        std::ranges::copy(std::array{ring[4], ring[5], ring[0], ring[1]}, mesh.faces[g].begin());
        return;
      }
}

/// Points further than `margin` from the rim of [0, 1]^2 move to the mean of their neighbours, again and again. Near
/// the rim the lattice stays as it is, so that lines meet the boundary at right angles.
void smooth(ControlMesh& mesh, const Vec2& margin) {
  for (int round = 0; round < 100; ++round) {
    std::vector<Vec3> sum(mesh.points.size(), Vec3::Zero());
    std::vector<Real> count(mesh.points.size(), 0);
    for (std::size_t f = 0; f < mesh.faces.size(); ++f)
      for (int c = 0; c < 4; ++c) {
        const auto face = mesh.faces[f];
        sum[face[c]] += mesh.points[face[(c + 1) % 4]];
        count[face[c]] += 1;
      }
    for (std::size_t p = 0; p < mesh.points.size(); ++p) {
      const Vec2 x = mesh.points[p].head<2>();
      if ((x.array() > margin.array()).all() && (x.array() < 1 - margin.array()).all())
        mesh.points[p] = sum[p] / count[p];
    }
  }
}

}  // namespace

ControlMesh patch(int across, int along, const SurfaceMap& map) {
  WEFT_ENSURE(across >= 1 && along >= 1);
  ControlMesh plane = with_outer_row(lattice(across, along));
  add_texture(plane);
  return mapped(std::move(plane), map);
}

ControlMesh irregular_patch(int across, int along, const SurfaceMap& map) {
  WEFT_ENSURE(across >= 12 && along >= 12 && across % 2 == 0 && along % 2 == 0);
  const int m = across / 2, n = along / 2;
  ControlMesh plane = lattice(m, n);
  // Turned edges at the quarters of the rectangle, two faces away from each other and from the boundary at least.
  const auto face = [&](int i, int j) { return static_cast<std::size_t>(j * m + i); };
  turn_edge(plane, face(m / 4, n / 4), face(m / 4 + 1, n / 4));
  turn_edge(plane, face(m - 1 - m / 4, n - 1 - n / 4), face(m - 1 - m / 4, n - 2 - n / 4));
  smooth(plane, Vec2(1.5 / m, 1.5 / n));
  plane = refined(with_outer_row(std::move(plane)));
  add_texture(plane);
  return mapped(std::move(plane), map);
}

ControlMesh tube(int around, int along, const SurfaceMap& map) {
  WEFT_ENSURE(around >= 3 && along >= 1);
  const auto X = [&](int i, int j) { return map(static_cast<Real>(i) / around, static_cast<Real>(j) / along); };
  // Product of (-1, 8, -1) / 6 in both directions: the limit points of these interpolate X to fourth order.
  const auto P = [&](int i, int j) {
    Vec3 sum = Vec3::Zero();
    for (int a = -1; a <= 1; ++a)
      for (int b = -1; b <= 1; ++b) sum += (a == 0 ? 8 : -1) * (b == 0 ? 8 : -1) * X(i + a, j + b) / 36;
    return sum;
  };
  ControlMesh mesh;
  for (int j = 0; j <= along; ++j)
    for (int i = 0; i < around; ++i) mesh.points.push_back(P(i, j));
  for (const int j : {-1, along + 1})
    for (int i = 0; i < around; ++i) mesh.points.push_back(P(i, j));
  const auto at = [&](int i, int j) {
    return (j == -1 ? along + 1 : j == along + 1 ? along + 2 : j) * around + i % around;
  };
  const auto add_row = [&](int j) {
    for (int i = 0; i < around; ++i) mesh.faces.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)});
  };
  for (int j = 0; j < along; ++j) {
    add_row(j);
    for (int i = 0; i < around; ++i) {
      const auto corner = [&](int a, int b) {
        return Vec2(static_cast<Real>(i + a) / around, static_cast<Real>(j + b) / along);
      };
      mesh.texture.push_back({corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)});
    }
  }
  mesh.material_faces = static_cast<std::int64_t>(mesh.faces.size());
  add_row(-1);
  add_row(along);
  return mesh;
}

SurfaceMap rectangle(Real width, Real height) {
  return [=](Real s, Real t) { return Vec3(width * s, height * t, 0); };
}

SurfaceMap cylinder(Real radius, Real length, Real from, Real to) {
  return [=](Real s, Real t) {
    const Real angle = from + s * (to - from);
    return Vec3(radius * std::sin(angle), length * t, radius * std::cos(angle));
  };
}

SurfaceMap sphere(Real radius, const Vec2& longitudes, const Vec2& latitudes) {
  return [=](Real s, Real t) {
    const Real longitude = longitudes[0] + s * (longitudes[1] - longitudes[0]);
    const Real latitude = latitudes[0] + t * (latitudes[1] - latitudes[0]);
    return Vec3(radius * std::cos(latitude) * std::cos(longitude), radius * std::cos(latitude) * std::sin(longitude),
                radius * std::sin(latitude));
  };
}

SurfaceMap annulus(const Vec2& radii, const Vec2& angles) {
  return [=](Real s, Real t) {
    const Real r = radii[0] + s * (radii[1] - radii[0]), angle = angles[0] + t * (angles[1] - angles[0]);
    return Vec3(r * std::cos(angle), r * std::sin(angle), 0);
  };
}

}  // namespace weft
