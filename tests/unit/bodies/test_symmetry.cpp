// Planes of symmetry that mesh lines meet at any angle: a part of a plate deflects as the whole.

#include "weft/bodies/handle.hpp"

#include "support/shell_models.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numbers>

namespace weft {
namespace {

using namespace test;
constexpr Real pi = std::numbers::pi;

/// Holds the sites of all sides that satisfy `where`.
template <class Where>
void hold(LinearProblem& p, HandleSettings settings, Where&& where) {
  std::vector<Site> chosen;
  for (const auto& side : sites_of(p.mesh, {0, p.mesh.material_faces}).sides)
    if (std::all_of(side.begin(), side.end(), [&](const Site& site) { return site.at_end || where(site.where); }))
      chosen.insert(chosen.end(), side.begin(), side.end());
  ASSERT_FALSE(chosen.empty());
  if (settings.hold == Hold::symmetry) turn_slopes(chosen, settings.mirror, p.mesh.points, "test");
  for (const HeldSum& sum : held_sums(chosen, settings, p.mesh.points)) {
    const Vec3 along = sum.direction({}, sum.edge.of(p.mesh.points));
    Conditions::Row row;
    for (std::size_t k = 0; k < sum.stencil.rows.size(); ++k)
      for (int c = 0; c < 3; ++c)
        if (along[c] != 0) row[3 * sum.stencil.rows[k] + c] += sum.stencil.weights[k] * along[c];
    p.conditions.add(row);
  }
}

/// A quarter of the unit square about its middle, whose lines meet both planes of symmetry off the normal by an angle
/// that is `angle` in the middle of each plane and falls to 0 at its ends, if `curved` as the square of that.
SurfaceMap quarter(Real angle, bool curved) {
  return [=](Real s, Real t) {
    const auto shift = [&](Real across, Real along) {
      const Real bump = 4 * along * (1 - along);
      return std::tan(angle) * across * (1 - across) * (curved ? bump * bump : bump);
    };
    return Vec3((s + shift(t, s)) / 2, (t - shift(s, t)) / 2, 0);
  };
}

/// Deflection of the middle of a clamped square plate over q / D, from a quarter of it.
Real clamped_quarter(int n, const SurfaceMap& map) {
  const Real E = 1e6, nu = 0.3, t = 0.01, D = E * t * t * t / (12 * (1 - nu * nu));
  LinearProblem p(elastic_shell(patch(n, n, map), E, nu, t));
  for (const int c : {0, 1}) {
    hold(p, {.hold = Hold::symmetry, .mirror = Vec3::Unit(c), .motion = {}},
         [&](const Vec3& x) { return std::abs(x[c]) < 1e-2 / n; });
    hold(p, {.hold = Hold::clamp, .motion = {}}, [&](const Vec3& x) { return std::abs(x[c] - 0.5) < 1e-2 / n; });
  }
  p.add_area_load({0, 0, 1});
  p.solve();
  return p.displacement({0, 0, 0})[2] * D;
}

TEST(Symmetry, AQuarterOfAPlateDeflectsAsTheWholeAtAnyAngleOfItsLines) {
  const Real whole = 0.001265319087;
  for (const bool curved : {false, true})
    for (const Real degrees : {0.0, 3.0, 15.0, 31.0}) {
      const SurfaceMap map = quarter(degrees * pi / 180, curved);
      const Real coarse = std::abs(clamped_quarter(8, map) / whole - 1),
                 fine = std::abs(clamped_quarter(16, map) / whole - 1);
      std::printf("%4.0f degrees%s  8: %.2e  16: %.2e\n", degrees, curved ? ", curved" : "", coarse, fine);
      EXPECT_LT(coarse, 5e-3) << degrees;
      EXPECT_LT(fine, 1e-3) << degrees;
    }
}

}  // namespace
}  // namespace weft
