#include "weft/motion/inertia.hpp"

namespace weft {

void Inertia::begin(Real dt, std::span<const Real> free) {
  dt_ = dt;
  free_.assign(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(width_ * masses_.size()));
}

Real Inertia::energy(const Motion& motion) const {
  const auto u = motion.u.block(block_);
  Real sum = 0;
  for (std::size_t k = 0; k < free_.size(); ++k) sum += mass(k) * (u[k] - free_[k]) * (u[k] - free_[k]);
  return sum / (2 * dt_ * dt_);
}

void Inertia::add_force(const Motion& motion, Load& force) const {
  const auto u = motion.u.block(block_);
  const auto f = force.block(block_);
  for (std::size_t k = 0; k < free_.size(); ++k) f[k] -= mass(k) / (dt_ * dt_) * (u[k] - free_[k]);
}

void Inertia::add_force_change(const Linear&, const FreedomValues& du, Load& change) const {
  const auto u = du.block(block_);
  const auto f = change.block(block_);
  for (std::size_t k = 0; k < free_.size(); ++k) f[k] -= mass(k) / (dt_ * dt_) * u[k];
}

void Inertia::add_tangent(const Linear&, Tangent& tangent) const {
  for (std::size_t k = 0; k < width_ * masses_.size(); ++k) {
    const std::int32_t freedom = freedoms_.at(block_, 0) + static_cast<std::int32_t>(k);
    const Real stiffness = mass(k) / (dt_ * dt_);
    tangent.add(std::span(&freedom, 1), std::span(&stiffness, 1));
  }
}

}  // namespace weft
