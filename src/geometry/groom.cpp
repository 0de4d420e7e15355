// Strands from the root to the tip: a middle line that leaves the surface, and waves about it.

#include "weft/geometry/groom.hpp"

#include "weft/base/budget.hpp"
#include "weft/base/check.hpp"
#include "weft/base/random.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace weft {
namespace {

constexpr Real pi = std::numbers::pi;

// Streams of random numbers of a seed.
constexpr std::uint32_t shape_stream = 0, root_stream = 1;

/// Places of a surface, all of its area alike.
class Roots {
 public:
  Roots(const GroomSurface& surface, std::uint32_t seed, int strands)
      : surface_(surface), seed_(seed), strands_(strands) {
    const std::vector<Vec3>& x = surface.mesh.points;
    for (const auto& triangle : triangles_of(surface.mesh)) {
      const std::array<Vec3, 3> corners{x[triangle[0]], x[triangle[1]], x[triangle[2]]};
      const Vec3 middle = (corners[0] + corners[1] + corners[2]) / 3;
      Real radius = 0;
      for (const Vec3& corner : corners) radius = std::max(radius, (corner - middle).norm());
      if (surface.where != nullptr && surface.where->misses_ball(middle, radius)) continue;
      const Real area = (corners[1] - corners[0]).cross(corners[2] - corners[0]).norm() / 2;
      if (!(area > 0)) continue;
      corners_.push_back(corners);
      areas_.push_back((areas_.empty() ? 0 : areas_.back()) + area);
    }
    require_some(!corners_.empty());
  }

  /// Where a strand leaves the surface, and the normal there. Strands in turn are spread evenly; those that would stand
  /// elsewhere than they shall get any position.
  std::pair<Vec3, Vec3> of(std::int64_t strand) const {
    constexpr int most_tries = 10000;
    Random random(seed_, root_stream, static_cast<std::uint64_t>(strand));
    for (int tries = 0; tries < most_tries; ++tries) {
      const Vec3 u = random.uniform3();
      const Real place = tries == 0 ? (static_cast<Real>(strand) + u[0]) / strands_ : u[0];
      const auto found = std::ranges::upper_bound(areas_, place * areas_.back());
      const auto& [a, b, c] = corners_[std::min(static_cast<std::size_t>(found - areas_.begin()), areas_.size() - 1)];
      const Real root = std::sqrt(u[1]);
      const Vec3 on_face = (1 - root) * a + root * (1 - u[2]) * b + root * u[2] * c;
      const auto at = on_surface(on_face, (b - a).cross(c - a).normalized());
      if (surface_.where == nullptr || surface_.where->contains(at.first)) return at;
    }
    require_some(false);
    return {};
  }

 private:
  void require_some(bool is_there) const {
    require(is_there, ExitCode::geometry,
            surface_.where != nullptr ? "groom: no surface is in \"where\", where strands could grow"
                                      : "groom: the surface has no area, where strands could grow");
  }
  std::pair<Vec3, Vec3> on_surface(Vec3 x, Vec3 normal) const {
    if (surface_.solid == nullptr) return {x, normal};
    constexpr int steps = 4;  // those of a smooth surface converge with the square
    for (int k = 0; k < steps; ++k) {
      const Surface near = surface_.solid->surface(x);
      x -= near.distance * near.normal;
      normal = near.normal;
    }
    return {x, normal};
  }

  const GroomSurface& surface_;
  std::uint32_t seed_;
  int strands_;
  std::vector<std::array<Vec3, 3>> corners_;
  std::vector<Real> areas_;  ///< Up to the end of each triangle [m^2].
};

/// What is drawn for a strand; always as many numbers.
struct Drawn {
  Real length, lie, azimuth;
  std::array<Real, 2> size, phase;  ///< Of wave and curl.
};

Drawn draw(const Groom& groom, std::int64_t strand) {
  Random random(groom.seed, shape_stream, static_cast<std::uint64_t>(strand));
  const auto about = [&](Real spread) { return spread * (2 * random.uniform() - 1); };
  Drawn drawn{};
  drawn.length = groom.length * (1 + about(groom.length_spread));
  drawn.lie = std::clamp(groom.lie + about(groom.lie_spread), 0.0, pi / 2);
  drawn.azimuth = 2 * pi * random.uniform();
  for (std::size_t k = 0; k < 2; ++k) {
    const std::optional<Ripple>& ripple = k == 0 ? groom.wave : groom.curl;
    drawn.size[k] = 1 + about(ripple ? ripple->spread : 0);
    drawn.phase[k] = 2 * pi * random.uniform();
  }
  return drawn;
}

Vec3 across(const Vec3& axis, Real angle) {
  const Vec3 u = axis.unitOrthogonal();
  return std::cos(angle) * u + std::sin(angle) * axis.cross(u);
}

/// Points of the middle line a step apart, and of the strand about it.
class Grower {
 public:
  Grower(const Groom& groom, const Shape* solid) : groom_(groom), solid_(solid) {
    step_ = std::min(groom.spacing, groom.length / 8) / 4;
    for (const std::optional<Ripple>& ripple : {groom.wave, groom.curl})
      if (ripple) step_ = std::min(step_, ripple->length * (1 - ripple->spread) / 24);
    if (groom.droop) step_ = std::min(step_, *groom.droop / 16);
    require(groom.length / step_ < most_steps, ExitCode::geometry,
            fmt::format("groom: a strand of {:.3g} m would be traced in {:.2g} steps. Make spacing, and the lengths of "
                        "waves and curls, larger.",
                        groom.length, groom.length / step_));
  }

  std::vector<Vec3> grow(std::int64_t strand, const Vec3& root, const Vec3& normal) const {
    const Drawn drawn = draw(groom_, strand);
    Vec3 x = root, d = std::cos(drawn.lie) * normal + std::sin(drawn.lie) * side(normal, drawn.azimuth);
    Vec3 u = across(d, drawn.azimuth);
    const int steps = std::max(1, static_cast<int>(std::ceil(drawn.length / step_)));
    const Real h = drawn.length / steps;
    std::vector<Vec3> strand_points{root};
    for (int k = 1; k <= steps; ++k) {
      const Vec3 before = d;
      if (groom_.droop) d = (d + h / *groom_.droop * (*groom_.toward - groom_.toward->dot(d) * d)).normalized();
      x += h * d;
      keep_out(x, &d, k * h);
      u = Eigen::Quaterniond::FromTwoVectors(before, d) * u;
      Vec3 place = x + ripple(drawn, k * h, u, d.cross(u));
      keep_out(place, nullptr, k * h);
      strand_points.push_back(place);
    }
    return strand_points;
  }

 private:
  static constexpr Real most_steps = 1e6;

  /// Unit, across the normal.
  Vec3 side(const Vec3& normal, Real azimuth) const {
    if (groom_.toward) {
      const Vec3 t = *groom_.toward - groom_.toward->dot(normal) * normal;
      if (t.norm() > 1e-3) return t.normalized();
    }
    return across(normal, azimuth);
  }
  /// From the middle line at s along it; grows from the root on over one turn.
  Vec3 ripple(const Drawn& drawn, Real s, const Vec3& u, const Vec3& w) const {
    Vec3 sum = Vec3::Zero();
    for (std::size_t k = 0; k < 2; ++k) {
      const std::optional<Ripple>& of = k == 0 ? groom_.wave : groom_.curl;
      if (!of) continue;
      const Real turns = s / (of->length * drawn.size[k]), angle = 2 * pi * turns + drawn.phase[k];
      sum += std::min(1.0, turns) * of->radius * drawn.size[k] *
             (std::cos(angle) * u + (k == 0 ? 0 : std::sin(angle)) * w);
    }
    return sum;
  }
  /// Moves a point that is too near to the solid away from it; d, if there is one, then leads no nearer. s: along the
  /// strand.
  void keep_out(Vec3& x, Vec3* d, Real s) const {
    if (solid_ == nullptr) return;
    const auto [distance, normal] = solid_->surface(x);
    const Real least = std::min(groom_.clearance, s / 2);
    if (distance >= least) return;
    x += (least - distance) * normal;
    if (d == nullptr || d->dot(normal) >= 0) return;
    const Vec3 along = *d - d->dot(normal) * normal;
    *d = along.norm() > 1e-6 ? along.normalized() : normal.unitOrthogonal();
  }

  Groom groom_;
  const Shape* solid_;
  Real step_;
};

}  // namespace

Real points_of(const Groom& groom) {
  Real length = groom.length * (1 + groom.length_spread);
  for (const std::optional<Ripple>& ripple : {groom.wave, groom.curl})
    if (ripple) length *= std::hypot(1, 2 * pi * ripple->radius / ripple->length);
  return groom.strands * (std::max(1.0, length / groom.spacing) + 1);
}

Curves groom(const Groom& groom, const GroomSurface& surface, const CurvePart& part) {
  Groom of = groom;
  if (of.toward) of.toward->normalize();
  require_countable("groom", points_of(of), "points");
  const Roots roots(surface, of.seed, of.strands);
  const Grower grower(of, surface.solid);
  Curves curves;
  for (std::int64_t k = part.begin(of.strands); k < part.end(of.strands); ++k) {
    const auto [root, normal] = roots.of(k);
    Curves fine;
    fine.add(grower.grow(k, root, normal));
    curves.append(resampled(fine, of.spacing));
  }
  return curves;
}

}  // namespace weft
