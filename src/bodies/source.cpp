#include "weft/bodies/source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "weft/base/check.hpp"
#include "weft/base/random.hpp"
#include "weft/geometry/sampling.hpp"

namespace weft {
namespace {

/// Steps towards a surface are at least this part of the lattice spacing; a shorter way through the shape may be
/// missed.
constexpr Real least_step = 1e-3;
constexpr Real never = std::numeric_limits<Real>::infinity();

/// When the point that passes `start` at time `from` with this velocity is in the shape first, if that is before
/// `until`; else some later time or never. Depends on `until` in nothing but this.
Real entry_time(const Shape& shape, const Box& bounds, const Vec3& start, const Vec3& velocity, Real from, Real until,
                Real spacing) {
  Real time = from, leaves = until;
  for (int axis = 0; axis < 3; ++axis) {
    if (velocity[axis] == 0) {
      if (start[axis] < bounds.lower[axis] || start[axis] > bounds.upper[axis]) return never;
      continue;
    }
    const Real a = from + (bounds.lower[axis] - start[axis]) / velocity[axis];
    const Real b = from + (bounds.upper[axis] - start[axis]) / velocity[axis];
    time = std::max(time, std::min(a, b));
    leaves = std::min(leaves, std::max(a, b));
  }
  // No surface is nearer than the distance, so that the point may go so far.
  const Real speed = velocity.norm();
  while (time <= leaves) {
    const Real distance = shape.surface(start + (time - from) * velocity).distance;
    if (distance <= 0) return time;
    if (speed == 0) break;
    time += std::max(distance, least_step * spacing) / speed;
  }
  return never;
}

}  // namespace

std::vector<Vec3> Source::emit(Real before, Real now) const {
  const std::optional<Box> bounds = shape_->bounds();
  WEFT_ENSURE(bounds);
  const auto& [velocity, from, h, seed, stream] = settings_;
  // Material coordinates X = x - velocity (t - from): lattice cell c holds one point, at a position of its own in the
  // cell. Those that can have entered lie in the box now, or did so at the last look, or on the way.
  const Vec3 travelled = velocity * (now - from), travelled_before = velocity * (std::max(before, from) - from);
  const Vec3 farthest = travelled.cwiseMax(travelled_before), nearest = travelled.cwiseMin(travelled_before);
  const Vec3i first = ((bounds->lower - farthest) / h).array().floor().cast<int>();
  const Vec3i last = ((bounds->upper - nearest) / h).array().floor().cast<int>();

  // What enters is in the shape somewhere on the way since the last look, which a ball about the swept cells holds.
  const Vec3 middle = 0.5 * (travelled + travelled_before);
  const Real swept = 0.5 * (travelled - travelled_before).norm() + h;  // h: distances to meshes are not exact
  const auto misses = [&](const Vec3i& lowest, const Vec3i& size) {
    const Vec3 half = 0.5 * h * size.cast<Real>();
    return shape_->misses_ball(h * lowest.cast<Real>() + half + middle, half.norm() + swept);
  };
  std::vector<std::pair<std::array<int, 3>, Vec3>> entered;  // by cell
  halve_cells(first, last - first + Vec3i::Ones(), misses, [&](const Vec3i& lowest, const Vec3i& size) {
    for (int i = lowest.x(); i < lowest.x() + size.x(); ++i)
      for (int j = lowest.y(); j < lowest.y() + size.y(); ++j)
        for (int k = lowest.z(); k < lowest.z() + size.z(); ++k) {
          const auto bits = [](int c) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(c) & 0x1fffff); };
          const std::uint64_t cell = bits(i) << 42 | bits(j) << 21 | bits(k);
          const Vec3 jitter = Random(seed, stream, cell).uniform3();
          const Vec3 X = (Vec3(i, j, k) + Vec3::Constant(0.25) + 0.5 * jitter) * h;
          const Real entry = entry_time(*shape_, *bounds, X, velocity, from, now, h);
          if (before < entry && entry <= now) entered.push_back({{i, j, k}, X + travelled});
        }
  });
  std::ranges::sort(entered, {}, [](const auto& point) { return point.first; });
  std::vector<Vec3> positions;
  for (const auto& [cell, position] : entered) positions.push_back(position);
  return positions;
}

}  // namespace weft
