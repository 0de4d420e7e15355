#include "solve/implicit_inertia.hpp"

#include <array>
#include <cmath>

namespace weft {

void ImplicitInertia::begin_step(const Comm& comm, const ImplicitStep& step, const NodeField& field) {
  dt_ = step.dt;
  gravity_ = step.gravity;
  const Vec3 fall = step.dt * step.gravity;
#pragma omp parallel for schedule(static)
  for (std::size_t n = 0; n < nodes(); ++n) {
    const Real* node = field.block(0) + NodeField::width * n;
    root_mass_[n] = node[0] > 0 ? std::sqrt(node[0]) : 0;
    old_velocity_[n] = node[0] > 0 ? Vec3(Eigen::Map<const Vec3>(node + 1) / node[0]) : Vec3::Zero();
    free_velocity_[n] = old_velocity_[n] + fall;
    if (step.loads != nullptr && node[0] > 0)
      free_velocity_[n] += step.dt / node[0] * Vec3::Map(step.loads->block(0) + NodeField::width * n + 1);
  }
  std::array<Real, 3> sums{
      sum_over_nodes([&](std::size_t n) { return mass(n); }),
      sum_over_nodes([&](std::size_t n) { return mass(n) * old_velocity_[n].squaredNorm(); }),
      sum_over_nodes([&](std::size_t n) { return mass(n) * (free_velocity_[n] - old_velocity_[n]).squaredNorm(); })};
  comm.sum(sums);
  load_size_ = step.loads != nullptr ? sums[2] : sums[0] * fall.squaredNorm();
  motion_size_ = std::sqrt(sums[1] + load_size_);
  energy_noise_ = 1e-16 * sums[0] * step.wave_speed * step.wave_speed;
  noise_ = 1e-13 * std::sqrt(sums[0]) * step.dt * step.wave_speed * step.wave_speed / step.dx + 1e-14 * motion_size_;
}

}  // namespace weft
