#pragma once
// Inertia of freedoms in a step of backward Euler.

#include "weft/motion/term.hpp"

#include <vector>

namespace weft {

/// The energy sum m_i |u_i - u*_i|^2 / (2 dt^2) of the rows of a block, u* being where they go without forces.
class Inertia final : public Term {
 public:
  /// masses: of the owned rows of block b [kg].
  Inertia(const Freedoms& freedoms, std::size_t b, std::vector<Real> masses)
      : freedoms_(freedoms),
        block_(b),
        width_(static_cast<std::size_t>(freedoms.block(b).width)),
        masses_(std::move(masses)) {}

  /// Before each solve. free: displacements u* of the rows, one after another [m].
  void begin(Real dt, std::span<const Real> free);

  Real energy(const Motion& motion) const override;
  void add_force(const Motion& motion, Load& force) const override;
  std::unique_ptr<Linear> linearise(const Motion&) const override { return std::make_unique<Linear>(); }
  void add_force_change(const Linear&, const FreedomValues& du, Load& change) const override;
  void add_tangent(const Linear&, Tangent& tangent) const override;

 private:
  /// Of a freedom of the block [kg].
  Real mass(std::size_t freedom) const { return masses_[freedom / width_]; }

  const Freedoms& freedoms_;
  std::size_t block_;
  std::size_t width_;
  std::vector<Real> masses_;
  std::vector<Real> free_;
  Real dt_ = 1;
};

}  // namespace weft
