#include "scene/hold_agreement.hpp"

#include "weft/base/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

/// Of directions, and of positions over the size of the scene.
constexpr Real round_off = 1e-9;
/// Times at which two holds are compared, evenly until one lets go.
constexpr int looks = 8;

}  // namespace

void HoldAgreement::add(const HandleDeck& handle, std::span<const Site> sites, const HandleSettings& settings,
                        Real until, const VertexValues& positions) {
  for (const Site& site : sites)
    for (const HeldSum& sum : held_sums(std::span(&site, 1), settings, positions)) {
      if (sum.total == 0) continue;  // a slope
      std::vector<Prescribed>& of_point = by_point_[{handle.body, site.point}];
      const Prescribed here{handle.name, settings.motion, until, sum.stencil.of(positions), sum.axis};
      for (const Prescribed& other : of_point) require_agreement(handle, here, other);
      of_point.push_back(here);
    }
}

void HoldAgreement::require_agreement(const HandleDeck& handle, const Prescribed& one, const Prescribed& other) const {
  if ((one.rest - other.rest).norm() > round_off * size_) return;
  const Real end = std::min({deck_.time.end, one.until, other.until});
  Real gap = 0, at = 0;  // the largest, and when
  for (int look = 1; look <= looks; ++look) {
    const Real time = end * look / looks;
    const RigidState here = one.motion.at(time), there = other.motion.at(time);
    const Vec3 axis = here.rotation * one.axis;
    if (std::abs(axis.dot(there.rotation * other.axis)) <= 1 - round_off) continue;
    const Real apart = std::abs(axis.dot(here.to_world(one.rest) - there.to_world(other.rest)));
    if (apart > gap) gap = apart, at = time;
  }
  require(gap <= round_off * size_, ExitCode::deck,
          fmt::format("{}: handles {} and {} hold the same vertex of body {} and lead it to places {:.3g} m apart at "
                      "{:.3g} s. Let one of them hold other axes, or less of the body.",
                      handle.location.text, other.handle, one.handle, handle.body, gap, at));
}

}  // namespace weft
