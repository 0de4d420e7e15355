// Two segments.

#include "weft/coupling/segment_pair.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace weft {
namespace {

/// Squares of sines below this are of parallel segments.
constexpr Real least_sine_squared = 1e-10;
/// How near segments must come to cross, over their lengths.
constexpr Real touch = 1e-6;
constexpr int bisections = 60;

/// The share of a segment that is nearest to a point.
Real nearest_share(const EndVectors& ends, const Vec3& x) {
  const Vec3 e = ends[1] - ends[0];
  const Real length_squared = e.squaredNorm();
  return length_squared > 0 ? std::clamp<Real>(e.dot(x - ends[0]) / length_squared, 0, 1) : 0;
}

/// The nearest of the four pairs of an end and the other segment.
ClosestPoints closest_at_ends(const EndVectors& first, const EndVectors& second) {
  ClosestPoints closest{{0, 0}, Vec3::Zero()};
  Real least = std::numeric_limits<Real>::infinity();
  const auto take = [&](Real a, Real b) {
    const Vec3 between = at_share(first, a) - at_share(second, b);
    if (!(between.squaredNorm() < least)) return;
    least = between.squaredNorm();
    closest = {{a, b}, between};
  };
  for (const std::size_t end : {0u, 1u}) {
    take(static_cast<Real>(end), nearest_share(second, first[end]));
    take(nearest_share(first, second[end]), static_cast<Real>(end));
  }
  return closest;
}

/// c3 t^3 + c2 t^2 + c1 t + c0.
struct Cubic {
  Real c3, c2, c1, c0;

  Real operator()(Real t) const { return ((c3 * t + c2) * t + c1) * t + c0; }
  /// A root between t0 and t1, where signs differ.
  Real root_between(Real t0, Real t1) const {
    const bool rises = (*this)(t0) < 0;
    for (int k = 0; k < bisections; ++k) {
      const Real middle = (t0 + t1) / 2;
      (((*this)(middle) < 0) == rises ? t0 : t1) = middle;
    }
    return (t0 + t1) / 2;
  }
  /// Where it turns within (0, 1), ascending, between 0 and 1.
  std::array<Real, 4> monotone_parts() const {
    std::array<Real, 4> at{0, 1, 1, 1};
    const Real a = 3 * c3, b = c2, c = c1, root = b * b - a * c;
    if (root <= 0) return at;
    const Real q = -(b + std::copysign(std::sqrt(root), b));
    Real low = q / a, high = c / q;
    if (!(low < high)) std::swap(low, high);
    std::size_t next = 1;
    for (const Real t : {low, high})
      if (t > 0 && t < 1) at[next++] = t;
    return at;
  }
};

Real box_product(const Vec3& a, const Vec3& b, const Vec3& c) { return a.cross(b).dot(c); }

/// When the four ends lie in a plane.
Cubic coplanar_times(const EndVectors& x, const EndVectors& u, const EndVectors& y, const EndVectors& w) {
  const Vec3 x21 = x[1] - x[0], x31 = y[0] - x[0], x41 = y[1] - x[0];
  const Vec3 u21 = u[1] - u[0], u31 = w[0] - u[0], u41 = w[1] - u[0];
  return {
      box_product(u21, u31, u41), box_product(x21, u31, u41) + box_product(u21, x31, u41) + box_product(u21, u31, x41),
      box_product(u21, x31, x41) + box_product(x21, u31, x41) + box_product(x21, x31, u41), box_product(x21, x31, x41)};
}

}  // namespace

ClosestPoints closest_points(const EndVectors& first, const EndVectors& second) {
  const Vec3 e = first[1] - first[0], f = second[1] - second[0], r = first[0] - second[0];
  const Real ee = e.squaredNorm(), ff = f.squaredNorm(), ef = e.dot(f), er = e.dot(r), fr = f.dot(r);
  const Real sine_squared = ee * ff - ef * ef;  // times both squared lengths
  if (!(sine_squared > least_sine_squared * ee * ff)) return closest_at_ends(first, second);
  Real a = std::clamp<Real>((ef * fr - er * ff) / sine_squared, 0, 1);
  const Real on_line = (ef * a + fr) / ff;
  const Real b = std::clamp<Real>(on_line, 0, 1);
  if (b != on_line) a = std::clamp<Real>((ef * b - er) / ee, 0, 1);
  return {{a, b}, at_share(first, a) - at_share(second, b)};
}

std::optional<Crossing> first_crossing(const EndVectors& first, const EndVectors& u, const EndVectors& second,
                                       const EndVectors& w) {
  const Cubic cubic = coplanar_times(first, u, second, w);
  const std::array<Real, 4> at = cubic.monotone_parts();
  for (std::size_t k = 0; k + 1 < at.size(); ++k) {
    if (!(at[k] < at[k + 1]) || (cubic(at[k]) < 0) == (cubic(at[k + 1]) < 0)) continue;
    const Real t = cubic.root_between(at[k], at[k + 1]);
    const auto moved = [t](const EndVectors& x, const EndVectors& by) {
      return EndVectors{x[0] + t * by[0], x[1] + t * by[1]};
    };
    const EndVectors x = moved(first, u), y = moved(second, w);
    const ClosestPoints closest = closest_points(x, y);
    const Vec3 e = x[1] - x[0], f = y[1] - y[0], across = e.cross(f);
    if (closest.between.norm() > touch * (e.norm() + f.norm()) || across.isZero(0)) continue;
    const Vec3 normal = across.normalized();
    const Real before = normal.dot(at_share(first, closest.share[0]) - at_share(second, closest.share[1]));
    if (before == 0) continue;
    return Crossing{closest.share, before > 0 ? normal : Vec3(-normal)};
  }
  return {};
}

}  // namespace weft
