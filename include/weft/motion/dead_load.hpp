#pragma once
// Dead loads: forces on points that keep their direction, as functions of time.

#include "weft/motion/term.hpp"

#include <vector>

namespace weft {

/// A factor over time: linear between keys, and constant before the first and after the last.
struct Amplitude {
  struct Key {
    Real time;    ///< [s]
    Real factor;  ///< [1]
  };
  std::vector<Key> keys;  ///< By time, at least one.

  Real at(Real time) const;
  /// Between two times, so that the impulse of a step is exact whatever its length; or at the time, if they are one.
  Real mean(Real from, Real to) const;
};

/// Of loads in a motion.
Real load_factor(const Amplitude& amplitude, const Motion& motion);

/// The energy -factor(t) sum f_i . u_i of a block of points.
class DeadLoad : public Term {
 public:
  /// forces: one for each row of block b [N], owned and ghost; parts of one force may stand on several ranks.
  DeadLoad(std::size_t b, std::vector<Vec3> forces, Amplitude amplitude)
      : block_(b), forces_(std::move(forces)), amplitude_(std::move(amplitude)) {}

  /// Other forces from now on.
  void set_forces(std::vector<Vec3> forces) { forces_ = std::move(forces); }

  Real energy(const Motion& motion) const override;
  void add_force(const Motion& motion, Load& force) const override;
  std::unique_ptr<Linear> linearise(const Motion&) const override { return std::make_unique<Linear>(); }
  void add_force_change(const Linear&, const FreedomValues&, Load&) const override {}
  void add_tangent(const Linear&, Tangent&) const override {}

 private:
  std::size_t block_;
  std::vector<Vec3> forces_;
  Amplitude amplitude_;
};

}  // namespace weft
