// Shells of triangles: the outer row, what is held at it, plates and the roof of Scordelis and Lo.

#include "support/shell_models.hpp"
#include "support/triangle_meshes.hpp"
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
    std::erase_if(chosen, [](const Site& site) { return site.slope.rows.empty(); });
    turn_slopes(chosen, settings.mirror, p.mesh.points, "test");
  }
  for (const HeldSum& sum : held_sums(chosen, settings, p.mesh.points)) {
    Conditions::Row row;
    for (std::size_t k = 0; k < sum.stencil.rows.size(); ++k)
      for (int c = 0; c < 3; ++c)
        if (sum.axis[c] != 0) row[3 * sum.stencil.rows[k] + c] += sum.stencil.weights[k] * sum.axis[c];
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

TEST(TriangleShells, RegularPlates) {
  for (const bool is_clamped : {false, true})
    for (const bool quarter : {false, true}) {
      for (const int n : {4, 8, 16})
        std::printf("%s %s %d: %.6f\n", is_clamped ? "clamped" : "supported", quarter ? "quarter" : "whole", n,
                    plate(cut_squares(n, n, rectangle(1, 1)), is_clamped, quarter) / (is_clamped ? clamped : supported));
    }
}

TEST(TriangleShells, IrregularPlates) {
  SurfaceMesh mesh = irregular_square();
  for (int level = 0; level < 4; ++level) {
    for (const bool is_clamped : {false, true})
      std::printf("irregular %s level %d: %.6f quarter %.6f\n", is_clamped ? "clamped" : "supported", level,
                  plate(mesh, is_clamped) / (is_clamped ? clamped : supported),
                  plate(mesh, is_clamped, true) / (is_clamped ? clamped : supported));
    mesh = nested(mesh);
  }
}

/// Vertical displacement of the middle of the free edge.
Real scordelis_lo(int n) {
  const Real R = 25, angle = 40 * pi / 180;
  LinearProblem p(elastic_shell(
      control_mesh(cut_squares(n, n, cylinder(R, 25, 0, angle)), "roof", MeshPoints::surface), 4.32e8, 0, 0.25));
  hold(p, {.hold = Hold::place, .axes = {true, false, true}, .motion = {}}, {-1, -0.1, -1}, {20, 0.1, 30});
  hold(p, {.hold = Hold::symmetry, .mirror = Vec3::UnitY(), .motion = {}}, {-1, 24.9, -1}, {20, 25.1, 30});
  hold(p, {.hold = Hold::symmetry, .mirror = Vec3::UnitX(), .motion = {}}, {-0.1, -1, -1}, {0.1, 26, 30});
  p.add_area_load({0, 0, -90});
  p.solve();
  return p.displacement({R * std::sin(angle), 25, R * std::cos(angle)})[2];
}

TEST(TriangleShells, RoofOfScordelisAndLo) {
  for (const int n : {8, 16}) std::printf("roof %d: %.6f\n", n, scordelis_lo(n) / -0.3005924566);
}

}  // namespace
}  // namespace weft
