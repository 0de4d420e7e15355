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

Real DeadLoad::energy(const Motion& motion) const {
  const auto u = motion.u.points(block_);
  Real sum = 0;
  for (std::size_t i = 0; i < forces_.size(); ++i) sum -= forces_[i].dot(u[i]);
  return amplitude_.at(motion.time) * sum;
}

void DeadLoad::add_force(const Motion& motion, Load& force) const {
  const Real factor = amplitude_.at(motion.time);
  const auto f = force.points(block_);
  for (std::size_t i = 0; i < forces_.size(); ++i) f[i] += factor * forces_[i];
}

}  // namespace weft
