// Shells of triangles: the outer row, what is held at it, plates and the roof of Scordelis and Lo.

#include "support/shell_models.hpp"
#include "support/triangle_meshes.hpp"
#include "weft/base/random.hpp"
#include "weft/bodies/handle.hpp"
#include "weft/geometry/primitives.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numbers>

namespace weft {
namespace {

using namespace test;
constexpr Real pi = std::numbers::pi;

/// Holds the sites of a problem that a box has, as a handle does.
void hold(LinearProblem& p, const HandleSettings& settings, const Vec3& lower, const Vec3& upper) {
  const auto box = make_box(lower, upper);
  std::vector<Site> chosen = sites_in(sites_of(p.mesh, {0, p.mesh.material_faces}), {.shape = box.get()});
  ASSERT_FALSE(chosen.empty());
  if (settings.hold == Hold::symmetry) {
    std::erase_if(chosen, [](const Site& site) { return site.slope.rows.empty() && !site.amid; });
    turn_slopes(chosen, settings.mirror, p.mesh.points, "test");
  }
  for (const HeldSum& sum : held_sums(chosen, settings, p.mesh.points)) {
    const Vec3 along = sum.direction({}, sum.edge.of(p.mesh.points));
    Conditions::Row row;
    for (std::size_t k = 0; k < sum.stencil.rows.size(); ++k)
      for (int c = 0; c < 3; ++c)
        if (along[c] != 0) row[3 * sum.stencil.rows[k] + c] += sum.stencil.weights[k] * along[c];
    p.conditions.add(row);
  }
}

/// Deflection of the middle of a unit square plate over q / D, in all or, with two planes of symmetry, a quarter.
Real plate(const SurfaceMesh& mesh, bool clamped, bool quarter = false) {
  const Real E = 1e6, nu = 0.3, t = 0.01, D = E * t * t * t / (12 * (1 - nu * nu));
  LinearProblem p(elastic_shell(control_mesh(mesh, "plate"), E, nu, t));
  for (const int c : {0, 1})
    for (const bool far : {false, true}) {
      Vec3 lower(-1, -1, -1), upper(2, 2, 1);
      (far ? lower : upper)[c] = far ? 1 - 1e-3 : 1e-3;
      if (quarter && !far) hold(p, {.hold = Hold::symmetry, .mirror = Vec3::Unit(c), .motion = {}}, lower, upper);
      else hold(p, {.hold = clamped ? Hold::clamp : Hold::place, .motion = {}}, lower, upper);
    }
  p.add_area_load({0, 0, 1});
  p.solve();
  return p.displacement(quarter ? Vec3(0, 0, 0) : Vec3(0.5, 0.5, 0))[2] * D / (quarter ? 16 : 1);
}

constexpr Real supported = 0.004062352661, clamped = 0.001265319087;

TEST(TriangleShells, TheLimitOfAStraightSideIsStraightAndAllOfIt) {
  const SurfaceMesh mesh = nested(irregular_square());
  const ShellDescription shell = elastic_shell(control_mesh(mesh, "square"), 1, 0.3, 0.01);
  const Sites sites = sites_of(shell.mesh, {0, shell.mesh.material_faces});
  ASSERT_EQ(sites.sides.size(), 4u);
  for (const auto& side : sites.sides)
    for (const Site& site : side) {
      const Real off = std::min(
          {std::abs(site.where[0]), std::abs(site.where[1]), std::abs(1 - site.where[0]), std::abs(1 - site.where[1])});
      EXPECT_LT(off, 1e-14);
      EXPECT_NEAR(site.normal[2], 1, 1e-12);
    }
  std::vector<std::int64_t> faces(static_cast<std::size_t>(shell.mesh.material_faces));
  std::iota(faces.begin(), faces.end(), 0);
  std::vector<std::int32_t> rows(shell.mesh.free_points());
  std::iota(rows.begin(), rows.end(), 0);
  Real length = 0, area = 0;
  for (const Sample& sample : side_samples(shell.mesh, faces, rows, shell.mesh.points)) length += sample.measure;
  for (const Sample& sample : surface_samples(shell, faces, rows, shell.mesh.points)) area += sample.measure;
  EXPECT_NEAR(length, 4, 1e-2);  // points of a line are not evenly spaced, and the rule has three in each edge
  EXPECT_NEAR(area, 1, 1e-3);
}

TEST(TriangleShells, ASideIsChosenWhollyByItsVerticesThoughItsLimitWavers) {
  constexpr int n = 4;
  SurfaceMesh mesh;  // diagonals take turns
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i <= n; ++i) mesh.points.emplace_back(Real(i) / n, Real(j) / n, 0);
  const auto at = [&](int i, int j) { return j * (n + 1) + i; };
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const std::array<int, 4> c{at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)};
      const int k = (i + j) % 2;
      mesh.add_face({c[k], c[k + 1], c[k + 2]});
      mesh.add_face({c[k], c[k + 2], c[(k + 3) % 4]});
    }
  const ControlMesh square = control_mesh(mesh, "square", MeshPoints::surface);
  std::vector<std::int64_t> faces(static_cast<std::size_t>(square.material_faces));
  std::iota(faces.begin(), faces.end(), 0);
  std::vector<std::int32_t> rows(square.free_points());
  std::iota(rows.begin(), rows.end(), 0);
  const auto box = make_box({-1, 0.999, -1}, {2, 1.001, 1});
  Real length = 0, off = 0;
  for (const Sample& sample : side_samples(square, faces, rows, square.points))
    if (Selection{.shape = box.get()}.has(sample)) {
      length += sample.measure;
      off = std::max(off, std::abs(sample.where[1] - 1));
    }
  EXPECT_NEAR(length, 1, 1e-3);
  EXPECT_GT(off, 1e-3);  // beyond what the box has
}

TEST(TriangleShells, PlatesOfRegularTrianglesConverge) {
  for (const bool is_clamped : {false, true})
    for (const bool quarter : {false, true}) {
      const auto error = [&](int n) {
        const Real exact = is_clamped ? clamped : supported;
        return std::abs(plate(cut_squares(n, n, rectangle(1, 1)), is_clamped, quarter) / exact - 1);
      };
      const Real coarse = error(8), fine = error(16), order = std::log2(coarse / fine);
      std::printf("%-9s %s  8: %.2e  16: %.2e  order %.1f\n", is_clamped ? "clamped" : "supported",
                  quarter ? "quarter" : "whole  ", coarse, fine, order);
      EXPECT_LT(fine, 5e-4);
      EXPECT_GT(order, 1.8);
    }
}

TEST(TriangleShells, PlatesOfIrregularTrianglesConvergeAsTheyAreDivided) {
  for (const bool is_clamped : {false, true})
    for (const bool quarter : {false, true}) {
      SurfaceMesh mesh = nested(nested(irregular_square()));  // 12 to 16 edges on a side
      const auto error = [&] {
        return std::abs(plate(mesh, is_clamped, quarter) / (is_clamped ? clamped : supported) - 1);
      };
      const Real coarse = error();
      mesh = nested(mesh);
      const Real fine = error();
      std::printf("irregular %-9s %s  16: %.2e  32: %.2e\n", is_clamped ? "clamped" : "supported",
                  quarter ? "quarter" : "whole  ", coarse, fine);
      EXPECT_LT(fine, 5e-3);
      EXPECT_LT(fine, 0.8 * coarse);
    }
}

/// The unit square in triangles of which none is like another: points inside lie off their places in a grid by up to
/// 0.15 of its spacing each way, and squares are cut along either diagonal.
SurfaceMesh made_anew(int n) {
  const SurfaceMesh grid = cut_squares(n, n, rectangle(1, 1));
  SurfaceMesh mesh;
  Random random(1, 0, static_cast<PointId>(n));
  for (const Vec3& p : grid.points) {
    const Vec3 off = random.uniform3() - Vec3::Constant(0.5);
    const bool inside = (p.head<2>().array() > 1e-9).all() && (p.head<2>().array() < 1 - 1e-9).all();
    const bool is_middle = (p - Vec3(0.5, 0.5, 0)).norm() < 1e-9;
    mesh.points.push_back(inside && !is_middle ? Vec3(p + 0.3 / n * Vec3(off[0], off[1], 0)) : p);
  }
  for (std::int64_t f = 0; f < grid.face_count(); f += 2) {
    const std::int32_t a = grid.face(f)[0], b = grid.face(f)[1], d = grid.face(f)[2], c = grid.face(f + 1)[0];
    const bool turned = random.uniform3()[0] < 0.3;
    mesh.add_face({a, b, turned ? c : d});
    mesh.add_face({c, d, turned ? a : b});
  }
  return mesh;
}

enum class Cut { none, falling, rising };

/// A rectangle of squares, some of which are cut in two triangles along either diagonal, as `cut(i, j)` tells.
template <class Which>
SurfaceMesh mixed(int across, int along, const SurfaceMap& map, Which&& cut) {
  const SurfaceMesh grid = cut_squares(across, along, map);
  SurfaceMesh mesh;
  mesh.points = grid.points;
  for (std::int64_t f = 0; f < grid.face_count(); f += 2) {
    const std::int32_t a = grid.face(f)[0], b = grid.face(f)[1], d = grid.face(f)[2], c = grid.face(f + 1)[0];
    const Cut how = cut(static_cast<int>(f) / 2 % across, static_cast<int>(f) / 2 / across);
    if (how == Cut::none) {
      mesh.add_face({a, b, c, d});
      continue;
    }
    mesh.add_face({a, b, how == Cut::rising ? c : d});
    mesh.add_face({c, d, how == Cut::rising ? a : b});
  }
  return mesh;
}

Cut every_second(int i, int j) { return (i + j) % 2 == 0 ? Cut::falling : Cut::none; }
Cut at_random(int i, int j) {
  const Vec3 x = Random(2, 0, static_cast<PointId>(100 * i + j)).uniform3();
  return x[0] < 0.5 ? Cut::none : x[1] < 0.5 ? Cut::falling : Cut::rising;
}
Cut strip(int, int j) { return j == 0 ? Cut::rising : Cut::none; }

/// The other side of the surface up, and points and faces in another order.
SurfaceMesh turned(const SurfaceMesh& mesh) {
  const auto points = static_cast<std::int32_t>(mesh.points.size());
  const auto number = [&](std::int32_t p) { return (7 * p + 3) % points; };  // 7 divides none of the tests' counts
  SurfaceMesh other;
  other.points.resize(mesh.points.size());
  for (std::int32_t p = 0; p < points; ++p) other.points[number(p)] = mesh.points[p];
  for (std::int64_t f = mesh.face_count() - 1; f >= 0; --f) {
    std::vector<std::int32_t> face(mesh.face(f).rbegin(), mesh.face(f).rend());
    for (std::int32_t& p : face) p = number(p);
    other.add_face(face);
  }
  return other;
}

/// Tip deflection of a cantilever of 10 x 1 over that of a beam, whose tip bears a load all along its edge.
Real cantilever(const SurfaceMesh& mesh, MeshPoints meaning) {
  const Real E = 1e6, t = 0.1;
  const ShellDescription shell = elastic_shell(control_mesh(mesh, "cantilever", meaning), E, 0, t);
  LinearProblem p(shell);
  hold(p, {.hold = Hold::clamp, .motion = {}}, {-1, -1, -1}, {1e-3, 2, 1});
  std::vector<std::int64_t> faces(static_cast<std::size_t>(p.mesh.material_faces));
  std::iota(faces.begin(), faces.end(), 0);
  std::vector<std::int32_t> rows(p.mesh.free_points());
  std::iota(rows.begin(), rows.end(), 0);
  Real boundary = 0, tip = 0;
  Vec3 moment = Vec3::Zero();
  for (const Sample& sample : side_samples(p.mesh, faces, rows, p.mesh.points)) {
    boundary += sample.measure;
    const Vec3& x = sample.where;
    EXPECT_LT(std::min({std::abs(x[0]), std::abs(x[0] - 10), std::abs(x[1]), std::abs(x[1] - 1)}), 1e-9);
    if (x[0] < 10 - 1e-3) continue;
    tip += sample.measure;
    moment += sample.measure * x;
    for (std::size_t k = 0; k < sample.rows.size(); ++k)
      p.load[3 * sample.rows[k] + 2] += sample.measure * sample.value[k];
  }
  EXPECT_NEAR(boundary, 22, 1e-9);
  EXPECT_NEAR(tip, 1, 1e-9);
  EXPECT_NEAR(moment[1], 0.5, 0.01);
  p.solve();
  return p.displacement({10, 0.5, 0})[2] / (1000 / (3 * E * t * t * t / 12));
}

TEST(TriangleShells, CantileversOfSquaresAndTrianglesAreHeldAndLoadedAllAlong) {
  const auto beam = [](Real s, Real t) { return Vec3(10 * s, t, 0); };
  using Which = Cut (*)(int, int);
  for (const auto& [name, cut] : std::initializer_list<std::pair<const char*, Which>>{
           {"every second", every_second}, {"random", at_random}, {"strip", strip}})
    for (const int rows : {4, 5})
      for (const MeshPoints meaning : {MeshPoints::control, MeshPoints::surface}) {
        const SurfaceMesh mesh = mixed(10 * rows, rows, beam, cut);
        const Real error = cantilever(mesh, meaning) - 1;
        std::printf("cantilever, %s, %d rows: %.2e\n", name, rows, error);
        EXPECT_LT(std::abs(error), 0.01);
        EXPECT_NEAR(cantilever(turned(mesh), meaning) - 1, error, 1e-3);
      }
}

/// A rectangle of 10 x 1 whose half with larger x has squares of half the size. Squares where the halves meet are
/// pentagons, one corner of which hangs on a straight side.
SurfaceMesh half_refined(int rows) {
  SurfaceMesh mesh;
  std::map<std::pair<int, int>, std::int32_t> known;  // by half a square
  const auto point = [&](int i, int j) {
    const auto [found, is_new] = known.try_emplace({i, j}, static_cast<std::int32_t>(mesh.points.size()));
    if (is_new) mesh.points.emplace_back(0.5 * i / rows, 0.5 * j / rows, 0);
    return found->second;
  };
  const int middle = 10 * rows;
  for (int j = 0; j < 2 * rows; j += 2)
    for (int i = 0; i < 2 * middle; i += 2) {
      if (i + 2 < middle) mesh.add_face({point(i, j), point(i + 2, j), point(i + 2, j + 2), point(i, j + 2)});
      else if (i + 2 == middle)
        mesh.add_face({point(i, j), point(i + 2, j), point(i + 2, j + 1), point(i + 2, j + 2), point(i, j + 2)});
      else
        for (const int a : {i, i + 1})
          for (const int b : {j, j + 1})
            mesh.add_face({point(a, b), point(a + 1, b), point(a + 1, b + 1), point(a, b + 1)});
    }
  return mesh;
}

TEST(TriangleShells, CantileversOfPentagonsWithHangingCornersBendAsBeams) {
  for (const MeshPoints meaning : {MeshPoints::control, MeshPoints::surface}) {
    const Real coarse = cantilever(half_refined(2), meaning) - 1, fine = cantilever(half_refined(4), meaning) - 1;
    std::printf("cantilever, half refined: %.2e, %.2e\n", coarse, fine);
    EXPECT_LT(std::abs(fine), 5e-3);
    EXPECT_LT(std::abs(fine), std::abs(coarse));
  }
}

TEST(TriangleShells, PlatesOfSquaresAndTrianglesAreDividedAndHeldAllAlong) {
  for (const bool is_clamped : {false, true})
    for (const int n : {4, 8, 16}) {
      const Real error =
          plate(mixed(n, n, rectangle(1, 1), every_second), is_clamped) / (is_clamped ? clamped : supported) - 1;
      std::printf("mixed %-9s %2d: %.2e\n", is_clamped ? "clamped" : "supported", n, error);
      EXPECT_LT(std::abs(error), n < 16 ? 0.1 : 0.05);
    }
}

/// Points inside move to the mean of their neighbours, again and again.
SurfaceMesh smoothed(SurfaceMesh mesh, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    std::vector<Vec3> sum(mesh.points.size(), Vec3::Zero());
    std::vector<Real> count(mesh.points.size(), 0);
    for (std::int64_t f = 0; f < mesh.face_count(); ++f)
      for (int c = 0; c < 3; ++c) {
        sum[mesh.face(f)[c]] += mesh.points[mesh.face(f)[(c + 1) % 3]];
        count[mesh.face(f)[c]] += 1;
      }
    for (std::size_t p = 0; p < mesh.points.size(); ++p) {
      const auto x = mesh.points[p].head<2>().array();
      const bool is_middle = (mesh.points[p] - Vec3(0.5, 0.5, 0)).norm() < 1e-9;
      if ((x > 1e-9).all() && (x < 1 - 1e-9).all() && !is_middle) mesh.points[p] = sum[p] / count[p];
    }
  }
  return mesh;
}

TEST(TriangleShells, PlatesOfTrianglesMadeAnewAreTooStiffAsFarAsTheirPatternIsRough) {
  // The map from the pattern of triangles to the plate bends within every face, so that no parabola is met exactly.
  for (const bool is_clamped : {false, true})
    for (const int n : {8, 16, 32})
      for (const int rounds : {0, 20}) {
        const Real error = plate(smoothed(made_anew(n), rounds), is_clamped) / (is_clamped ? clamped : supported) - 1;
        std::printf("made anew %-9s %2d, smoothed %2d times: %.2e\n", is_clamped ? "clamped" : "supported", n, rounds,
                    error);
        EXPECT_LT(std::abs(error), 0.08);
      }
}

/// Regular triangles whose limit meets the map to fourth order, at the outer row too.
ControlMesh mapped(int n, const SurfaceMap& map) {
  ControlMesh mesh = control_mesh(cut_squares(n, n, rectangle(1, 1)), "plane");
  const Real h = 1.0 / n;
  for (Vec3& p : mesh.points) {
    const Real s = p[0], t = p[1];
    Vec3 sum = Vec3::Zero();
    for (const auto& [a, b] : {std::pair{1, 0}, {0, 1}, {-1, 1}, {-1, 0}, {0, -1}, {1, -1}})
      sum += map(s + a * h, t + b * h);
    p = 1.5 * map(s, t) - sum / 12;
  }
  return mesh;
}

/// Vertical displacement of the middle of the free edge.
Real scordelis_lo(int n, bool exact) {
  const Real R = 25, angle = 40 * pi / 180;
  const SurfaceMap map = cylinder(R, 25, 0, angle);
  LinearProblem p(elastic_shell(
      exact ? mapped(n, map) : control_mesh(cut_squares(n, n, map), "roof", MeshPoints::surface), 4.32e8, 0, 0.25));
  hold(p, {.hold = Hold::place, .axes = {true, false, true}, .motion = {}}, {-1, -0.1, -1}, {20, 0.1, 30});
  hold(p, {.hold = Hold::symmetry, .mirror = Vec3::UnitY(), .motion = {}}, {-1, 24.9, -1}, {20, 25.1, 30});
  hold(p, {.hold = Hold::symmetry, .mirror = Vec3::UnitX(), .motion = {}}, {-0.1, -1, -1}, {0.1, 26, 30});
  p.add_area_load({0, 0, -90});
  p.solve();
  return p.displacement({R * std::sin(angle), 25, R * std::cos(angle)})[2];
}

TEST(TriangleShells, RoofOfScordelisAndLo) {
  for (const bool exact : {true, false}) {
    const auto error = [&](int n) { return std::abs(scordelis_lo(n, exact) / -0.3005924566 - 1); };
    const Real coarse = error(8), fine = error(16), order = std::log2(coarse / fine);
    std::printf("roof %s  8: %.2e  16: %.2e  order %.1f\n", exact ? "by its map      " : "through points", coarse, fine,
                order);
    EXPECT_LT(fine, 5e-3);
    EXPECT_GT(order, 1.8);
  }
}

/// Displacement along the force on a hemisphere with a hole of 18 degrees, R / t = 250, by a quarter.
Real pinched_hemisphere(int n, bool triangles) {
  const Real R = 10;
  const SurfaceMap map = [&](Real s, Real t) {
    const Real around = s * pi / 2, up = t * 72 * pi / 180;
    return Vec3(R * std::cos(up) * std::cos(around), R * std::cos(up) * std::sin(around), R * std::sin(up));
  };
  LinearProblem p(elastic_shell(
      triangles ? control_mesh(cut_squares(n, n, map), "hemisphere", MeshPoints::surface) : patch(n, n, map), 6.825e7,
      0.3, 0.04));
  hold(p, {.hold = Hold::symmetry, .mirror = Vec3::UnitY(), .motion = {}}, {-1, -1e-3, -1}, {11, 1e-3, 11});
  hold(p, {.hold = Hold::symmetry, .mirror = Vec3::UnitX(), .motion = {}}, {-1e-3, -1, -1}, {1e-3, 11, 11});
  const Vec3 a(R, 0, 0), b(0, R, 0);
  Conditions::Row height;
  for (const auto& [point, weight] : p.point_at(a)) height[3 * point + 2] += weight;
  p.conditions.add(height);
  p.add_point_load(a, Vec3::UnitX());
  p.add_point_load(b, -Vec3::UnitY());
  p.solve();
  return p.displacement(a).x();
}

// MacNeal and Harder 1985: 0.0940; Belytschko et al. 1985: 0.0935. In-plane slopes held at each vertex would leave 0.64
// of it with 16 triangles a side.
TEST(TriangleShells, QuarterOfAPinchedHemisphere) {
  for (const bool triangles : {false, true}) {
    const Real coarse = pinched_hemisphere(8, triangles) / 0.0935, fine = pinched_hemisphere(16, triangles) / 0.0935;
    std::printf("hemisphere %s  8: %.4f  16: %.4f\n", triangles ? "triangles" : "quads", coarse, fine);
    EXPECT_NEAR(coarse, 1, triangles ? 0.2 : 0.05);
    EXPECT_NEAR(fine, 1, 0.015);
  }
}

}  // namespace
}  // namespace weft
