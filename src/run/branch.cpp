#include "run/branch.hpp"

#include <algorithm>

namespace weft {
namespace {

/// Of the branch: its steps in units of the nudge, and how the next follows from the last. Where bodies hardly stretch,
/// a nudge must be small, since a mode is straight and the branch is not.
constexpr int most_steps = 100, most_tries = 4;
constexpr Real longest = 10, longer = 1.5, shorter = 0.5, smaller = 0.1;

Increment increment_between(const Motion& from, const Motion& to) {
  Increment way{to.u, to.time - from.time};
  for (std::size_t k = 0; k < way.u.all().size(); ++k) way.u.all()[k] -= from.u.all()[k];
  return way;
}

}  // namespace

bool follow_branch(Equilibrium& branch, const Nudge& nudge, Motion& motion) {
  const Motion start = motion;
  Increment way{nudge.mode, 0};
  for (Real& x : way.u.all()) x *= nudge.size;
  const PathMeasure measure{branch.length_of(way, {1, 1}), nudge.time_scale};
  Real length = 1;
  bool converged = branch.along_way(motion, way, measure, length).converged;
  for (int k = 1; k < most_tries && !converged; ++k) {
    motion = start;
    length *= smaller;
    converged = branch.along_way(motion, way, measure, length).converged;
  }
  if (!converged) return false;
  way = increment_between(start, motion);
  for (int step = 0; step < most_steps && motion.time < start.time; ++step) {
    const Motion last = motion;
    converged = branch.along_arc(motion, way, measure, length).converged;
    if (converged) way = increment_between(last, motion);
    else motion = last;
    length = converged ? std::min(longer * length, longest) : shorter * length;
  }
  return motion.time >= start.time;
}

}  // namespace weft
