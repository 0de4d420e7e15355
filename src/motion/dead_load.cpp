#include "weft/motion/dead_load.hpp"

#include "weft/base/check.hpp"

#include <algorithm>

namespace weft {

Real Amplitude::at(Real time) const {
  WEFT_ENSURE(!keys.empty());
  const auto later = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.time > time; });
  if (later == keys.begin()) return keys.front().factor;
  if (later == keys.end()) return keys.back().factor;
  const auto before = later - 1;
  return before->factor + (later->factor - before->factor) * (time - before->time) / (later->time - before->time);
}

Real Amplitude::mean(Real from, Real to) const {
  if (from == to) return at(from);
  if (from > to) return mean(to, from);
  Real sum = 0;
  Key last{from, at(from)};
  for (const Key& key : keys) {
    if (key.time <= from || key.time > to) continue;
    sum += (key.time - last.time) * (last.factor + key.factor) / 2;
    last = key;
  }
  sum += (to - last.time) * (last.factor + at(to)) / 2;
  return sum / (to - from);
}

Real load_factor(const Amplitude& amplitude, const Motion& motion) {
  return amplitude.mean(motion.time, motion.time + motion.load_span);
}

Real DeadLoad::energy(const Motion& motion) const {
  const auto u = motion.u.points(block_);
  Real sum = 0;
  for (std::size_t i = 0; i < forces_.size(); ++i) sum -= forces_[i].dot(u[i]);
  return load_factor(amplitude_, motion) * sum;
}

void DeadLoad::add_force(const Motion& motion, Load& force) const {
  const Real factor = load_factor(amplitude_, motion);
  const auto f = force.points(block_);
  for (std::size_t i = 0; i < forces_.size(); ++i) f[i] += factor * forces_[i];
}

}  // namespace weft
