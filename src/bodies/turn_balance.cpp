#include "bodies/turn_balance.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace weft {
namespace {

constexpr int most_steps = 100, most_halvings = 10;
/// A last step of this size leaves its square [rad].
constexpr Real small_step = 1e-8;
/// No step goes farther [rad]: it would miss the least energy nearby.
constexpr Real longest_step = 0.5;
/// Of concave bending, as far as is needed: a strand that snaps else takes many small steps.
constexpr Real least_turned_over = 1.0 / 64;
/// Pivots that cancel to this share are zero.
constexpr Real round_off = 1e-11;

}  // namespace

void TurnBalance::begin(std::size_t segments) {
  links_.clear();
  turns_.assign(segments, 0);
}

std::span<const Real> TurnBalance::find() {
  linearise(0);
  for (int k = 0; k < most_steps; ++k) {
    for (Real turned_over = least_turned_over; !solve() && turned_over <= 1; turned_over *= 4) linearise(turned_over);
    Real longest = 0;
    for (const Real step : step_) longest = std::max(longest, std::abs(step));
    const Real share = std::min(1.0, longest_step / longest);
    for (std::size_t s = 0; s < turns_.size(); ++s) turns_[s] += step_[s] *= share;
    if (longest < small_step) break;
    const Real before = work();
    linearise(0);
    for (int half = 0; half < most_halvings && work() < -before / 2; ++half) {  // gone too far
      for (std::size_t s = 0; s < turns_.size(); ++s) turns_[s] -= step_[s] /= 2;
      linearise(0);
    }
  }
  return turns_;
}

/// What the moments do along the step.
Real TurnBalance::work() const { return -std::inner_product(gradient_.begin(), gradient_.end(), step_.begin(), 0.0); }

/// With phi = (theta_e + theta_f) / 2 and delta = theta_f - theta_e; turned_over: share of concave bending that
/// counts as convex.
void TurnBalance::linearise(Real turned_over) {
  for (std::vector<Real>* values : {&gradient_, &diagonal_, &beside_}) values->assign(turns_.size(), 0);
  for (const TurnLink& link : links_) {
    const auto e = static_cast<std::size_t>(link.e), f = static_cast<std::size_t>(link.f);
    const Real turn_e = link.e < 0 ? 0 : turns_[e], turn_f = link.f < 0 ? 0 : turns_[f];
    const TurnedSlopes slopes(link.joint, (turn_e + turn_f) / 2, turn_f - turn_e);
    const Real bend = (slopes.by_mean2 < 0 ? (1 - 2 * turned_over) * slopes.by_mean2 : slopes.by_mean2) / 4,
               twist = slopes.by_difference2;
    if (link.e >= 0) {
      gradient_[e] += slopes.by_mean / 2 - slopes.by_difference;
      diagonal_[e] += bend + twist;
    }
    if (link.f >= 0) {
      gradient_[f] += slopes.by_mean / 2 + slopes.by_difference;
      diagonal_[f] += bend + twist;
    }
    if (link.e >= 0 && link.f >= 0) beside_[e] += bend - twist;
  }
}

/// H step = -gradient, with H = L D L^T from the first segment on. Returns false where H is not definite.
bool TurnBalance::solve() {
  const std::size_t n = gradient_.size(), end = n - 1;
  pivot_ = diagonal_;
  last_.assign(n, 0);
  last_.front() = beside_[end];  // of a ring
  step_.resize(n);
  std::ranges::transform(gradient_, step_.begin(), std::negate());
  bool is_definite = true;
  for (std::size_t s = 0; s < n; ++s) {
    is_definite = is_definite && pivot_[s] >= -round_off * diagonal_[s];
    pivot_[s] = pivot_[s] > round_off * diagonal_[s] ? 1 / pivot_[s] : 0;
    if (s == end) break;
    if (s + 1 == end) last_[s] += beside_[s];
    else {
      const Real share = pivot_[s] * beside_[s];
      pivot_[s + 1] -= share * beside_[s];
      step_[s + 1] -= share * step_[s];
      last_[s + 1] = -share * last_[s];
    }
    const Real share = pivot_[s] * last_[s];
    pivot_[end] -= share * last_[s];
    step_[end] -= share * step_[s];
  }
  step_[end] *= pivot_[end];
  for (std::size_t s = end; s-- > 0;)
    step_[s] = pivot_[s] * (step_[s] - last_[s] * step_[end] - (s + 1 < end ? beside_[s] * step_[s + 1] : 0));
  return is_definite;
}

}  // namespace weft
