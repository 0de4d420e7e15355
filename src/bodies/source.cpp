#include "weft/bodies/source.hpp"

#include <cmath>

#include "weft/base/check.hpp"
#include "weft/base/random.hpp"

namespace weft {

std::vector<Vec3> Source::emit(Real before, Real now) const {
  const std::optional<Box> bounds = shape_->bounds();
  WEFT_ENSURE(bounds);
  // Material coordinates X = x - velocity (t - from): lattice cell c holds one point, at a place of its own in the
  // cell.
  const Vec3 travelled_before = settings_.velocity * (before - settings_.from);
  const Vec3 travelled_now = settings_.velocity * (now - settings_.from);
  const bool opens = before < settings_.from;
  const Real h = settings_.spacing;
  const Vec3i first = ((bounds->lower - travelled_now) / h).array().floor().cast<int>();
  const Vec3i last = ((bounds->upper - travelled_now) / h).array().floor().cast<int>();

  std::vector<Vec3> entered;
  for (int i = first.x(); i <= last.x(); ++i)
    for (int j = first.y(); j <= last.y(); ++j)
      for (int k = first.z(); k <= last.z(); ++k) {
        const auto bits = [](int c) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(c) & 0x1fffff); };
        const std::uint64_t cell = bits(i) << 42 | bits(j) << 21 | bits(k);
        const Vec3 jitter = Random(settings_.seed, settings_.stream, cell).uniform3();
        const Vec3 X = (Vec3(i, j, k) + Vec3::Constant(0.25) + 0.5 * jitter) * h;
        if (!shape_->contains(X + travelled_now)) continue;
        if (!opens && shape_->contains(X + travelled_before)) continue;
        entered.push_back(X + travelled_now);
      }
  return entered;
}

}  // namespace weft
