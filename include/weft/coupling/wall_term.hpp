#pragma once
// Contact with walls as a Term of the motion of nodes or vertices, for implicit steps.

#include "weft/coupling/wall_contacts.hpp"
#include "weft/motion/term.hpp"

namespace weft {

/// The springs of WallContacts: with the displacement d = sum_i W_i u_i - dt v_wall(x_c) of a contact along the wall,
///     f_n = -k (g + n . d) where that presses,   f_t = f_t before - k_t d_t, at most friction f_n (6.2)
/// They act on block 0 of the motion. Nothing is owned.
class WallTerm final : public Term {
 public:
  /// is_lagged: friction has the strength of the last step, and is the derivative of a potential.
  WallTerm(const WallContacts& contacts, bool has_friction, bool is_lagged)
      : contacts_(contacts), has_energy_(is_lagged || !has_friction), is_lagged_(is_lagged) {}

  bool has_energy() const override { return has_energy_; }
  bool is_reaction() const override { return true; }
  Real energy(const Motion& motion) const override;
  void add_force(const Motion& motion, Load& force) const override;
  std::unique_ptr<Linear> linearise(const Motion& motion) const override;
  void add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const override;
  void add_tangent(const Linear& linear, Tangent& tangent) const override;
  void add_diagonal_blocks(const Linear& linear, std::size_t block, std::span<Real> matrices) const override;

 private:
  struct Slopes;
  const WallContacts& contacts_;
  bool has_energy_, is_lagged_;
};

}  // namespace weft
