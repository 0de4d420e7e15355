#pragma once
// Inertia of points in a step of backward Euler.

#include "weft/motion/term.hpp"

#include <vector>

namespace weft {

/// The energy sum m_i |u_i - u*_i|^2 / (2 dt^2) of a block of points, u* being where they go without forces.
class Inertia final : public Term {
 public:
  /// masses: of the owned rows of block b [kg].
  Inertia(const Freedoms& freedoms, std::size_t b, std::vector<Real> masses)
      : freedoms_(freedoms), block_(b), masses_(std::move(masses)), free_(masses_.size(), Vec3::Zero()) {}

  /// Before each solve. free: displacements u* of the rows [m].
  void begin(Real dt, std::span<const Vec3> free);

  Real energy(const Motion& motion) const override;
  void add_force(const Motion& motion, Load& force) const override;
  std::unique_ptr<Linear> linearise(const Motion&) const override { return std::make_unique<Linear>(); }
  void add_force_change(const Linear&, const FreedomValues& du, Load& change) const override;
  void add_tangent(const Linear&, Tangent& tangent) const override;

 private:
  const Freedoms& freedoms_;
  std::size_t block_;
  std::vector<Real> masses_;
  std::vector<Vec3> free_;
  Real dt_ = 1;
};

}  // namespace weft
