#include "weft/motion/inertia.hpp"

#include <algorithm>

namespace weft {

void Inertia::begin(Real dt, std::span<const Vec3> free) {
  dt_ = dt;
  std::copy_n(free.begin(), free_.size(), free_.begin());
}

Real Inertia::energy(const Motion& motion) const {
  const auto u = motion.u.points(block_);
  Real sum = 0;
  for (std::size_t i = 0; i < masses_.size(); ++i) sum += masses_[i] * (u[i] - free_[i]).squaredNorm();
  return sum / (2 * dt_ * dt_);
}

void Inertia::add_force(const Motion& motion, Load& force) const {
  const auto u = motion.u.points(block_);
  const auto f = force.points(block_);
  for (std::size_t i = 0; i < masses_.size(); ++i) f[i] -= masses_[i] / (dt_ * dt_) * (u[i] - free_[i]);
}

void Inertia::add_force_change(const Linear&, const FreedomValues& du, Load& change) const {
  const auto u = du.points(block_);
  const auto f = change.points(block_);
  for (std::size_t i = 0; i < masses_.size(); ++i) f[i] -= masses_[i] / (dt_ * dt_) * u[i];
}

void Inertia::add_tangent(const Linear&, Tangent& tangent) const {
  for (std::size_t i = 0; i < masses_.size(); ++i)
    for (std::int32_t a = 0; a < 3; ++a) {
      const std::int32_t freedom = freedoms_.at(block_, i) + a;
      const Real k = masses_[i] / (dt_ * dt_);
      tangent.add(std::span(&freedom, 1), std::span(&k, 1));
    }
}

}  // namespace weft
