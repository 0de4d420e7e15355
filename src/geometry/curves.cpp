// Measures of curves, and their division into equal steps.

#include "weft/geometry/curves.hpp"

#include "weft/base/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace weft {

void Curves::add(std::span<const Vec3> curve, bool is_closed) {
  points.insert(points.end(), curve.begin(), curve.end());
  offsets.push_back(static_cast<std::int64_t>(points.size()));
  closed.push_back(is_closed);
  thickness.clear();
}

void Curves::append(const Curves& other) {
  const bool both = (thickness.size() == points.size()) && other.thickness.size() == other.points.size();
  const auto shift = static_cast<std::int64_t>(points.size());
  points.insert(points.end(), other.points.begin(), other.points.end());
  for (std::size_t c = 1; c < other.offsets.size(); ++c) offsets.push_back(other.offsets[c] + shift);
  closed.insert(closed.end(), other.closed.begin(), other.closed.end());
  if (both) thickness.insert(thickness.end(), other.thickness.begin(), other.thickness.end());
  else thickness.clear();
}

std::vector<std::vector<std::int32_t>> chains_of(const Curves& curves) {
  std::vector<std::vector<std::int32_t>> chains;
  for (std::int64_t c = 0; c < curves.count(); ++c) {
    std::vector<std::int32_t> chain;
    for (std::int64_t i = curves.offsets[c]; i < curves.offsets[c + 1]; ++i)
      chain.push_back(static_cast<std::int32_t>(i));
    if (curves.closed[c]) chain.push_back(chain.front());
    chains.push_back(std::move(chain));
  }
  return chains;
}

std::vector<std::array<std::int32_t, 2>> segments_of(const Curves& curves) {
  std::vector<std::array<std::int32_t, 2>> segments;
  for (const std::vector<std::int32_t>& chain : chains_of(curves))
    for (std::size_t i = 1; i < chain.size(); ++i) segments.push_back({chain[i - 1], chain[i]});
  return segments;
}

CurveNumbers CurveNumbers::of(const Curves& all) {
  CurveNumbers numbers{0, 0, 0, all.count(), static_cast<std::int64_t>(all.points.size()), 0, 0, bounds_of(all)};
  for (std::int64_t c = 0; c < all.count(); ++c) {
    const std::span<const Vec3> x = all.curve(c);
    for (std::size_t p = all.closed[static_cast<std::size_t>(c)] ? 0 : 1; p < x.size(); ++p) {
      numbers.longest_segment = std::max(numbers.longest_segment, (x[p] - x[p > 0 ? p - 1 : x.size() - 1]).norm());
      ++numbers.segments;
    }
  }
  return numbers;
}

Curves placed(Curves curves, const Placement& placement) {
  for (Vec3& x : curves.points) x = placement(x);
  for (Real& d : curves.thickness) d *= placement.scale;
  return curves;
}

Box bounds_of(const Curves& curves) {
  Box box;
  for (const Vec3& x : curves.points) box.include(x);
  return box;
}

Real length_of(const Curves& curves) {
  Real sum = 0;
  for (const auto& [a, b] : segments_of(curves)) sum += (curves.points[b] - curves.points[a]).norm();
  return sum;
}

constexpr Real most_points = 1e9;  ///< Of resampled curves.

Curves resampled(const Curves& curves, Real spacing) {
  Curves out;
  std::vector<Real> thickness;
  for (const std::vector<std::int32_t>& chain : chains_of(curves)) {
    std::vector<Real> along = {0};  // length up to each point of the chain
    for (std::size_t i = 1; i < chain.size(); ++i)
      along.push_back(along.back() + (curves.points[chain[i]] - curves.points[chain[i - 1]]).norm());
    const bool is_closed = chain.front() == chain.back();
    const Real pieces = std::max<Real>(is_closed ? 3 : 1, std::round(along.back() / spacing));
    require(static_cast<Real>(out.points.size()) + pieces < most_points, ExitCode::geometry,
            fmt::format("a spacing of {:g} m makes more than {:g} points of these curves; make it larger", spacing,
                        most_points));
    const int steps = static_cast<int>(pieces);
    std::vector<Vec3> points;
    std::size_t i = 0;
    for (int k = 0; k <= steps - (is_closed ? 1 : 0); ++k) {
      const Real s = along.back() * k / steps;
      while (i + 2 < along.size() && along[i + 1] < s) ++i;
      const Real part = along[i + 1] > along[i] ? std::min(1.0, (s - along[i]) / (along[i + 1] - along[i])) : 0;
      const std::int32_t a = chain[i], b = chain[i + 1];
      points.push_back((1 - part) * curves.points[a] + part * curves.points[b]);
      if (!curves.thickness.empty()) thickness.push_back((1 - part) * curves.thickness[a] + part * curves.thickness[b]);
    }
    out.add(points, is_closed);
  }
  out.thickness = std::move(thickness);
  return out;
}

std::vector<Real> tapered(const Curves& curves, Real first, Real taper) {
  std::vector<Real> thickness;
  thickness.reserve(curves.points.size());
  for (std::int64_t c = 0; c < curves.count(); ++c) {
    const std::span<const Vec3> points = curves.curve(c);
    std::vector<Real> along = {0};
    for (std::size_t p = 1; p < points.size(); ++p) along.push_back(along.back() + (points[p] - points[p - 1]).norm());
    for (const Real s : along) thickness.push_back(first * (1 + (taper - 1) * s / along.back()));
  }
  return thickness;
}

}  // namespace weft
