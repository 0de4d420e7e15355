#pragma once
// Conditions on the displacements of nodes in an implicit step: Newton's steps stay where these are met.

#include "solve/implicit_inertia.hpp"
#include "solve/node_vectors.hpp"
#include "solve/unknowns.hpp"
#include "weft/motion/constraint.hpp"
#include "weft/motion/term.hpp"
#include "weft/solve/conditions.hpp"

#include <vector>

namespace weft {

/// In the unknowns x_i = sqrt(m_i) v_i the conditions are B x = d with B = W M^{-1/2}. F being the directions that
/// walls leave free at each node,
///   H = F B^T S^+ B F,   S = B F B^T
/// is the projection on what conditions see of free motions, and F - H that on motions along which they stay met.
/// The impulses of the conditions are lambda = S^+ B F r for free impulses r (both over sqrt(m)), of which
/// r - B^T lambda is left. All members but the constructor and `any` are collective.
class Holds {
 public:
  Holds(const Comm& comm, const Unknowns& unknowns, const Points3& points, const ImplicitInertia& inertia,
        std::vector<const Constraints*> constraints);

  /// time: at the end of the step.
  void begin_step(Real time, Real dt);
  /// Whether there is a condition on any rank.
  bool any() const { return conditions_.any(); }
  /// F(n) of each owned node that has a condition.
  template <class AtNode>
  void set_free(AtNode&& F) {
    free_.clear();
    conditions_.for_each_owned([&](std::size_t n) { free_.push_back(F(n)); });
    std::size_t i = 0;
    schur_.factor([&](std::size_t n) { return Mat3(free_[i++] * inverse_mass(n)); });
  }
  /// F of an owned node that has a condition.
  const Mat3& free_at(std::size_t n) const { return free_[conditions_.index_of(n)]; }
  /// Whether `is(n)` of any owned node that has a condition, on any rank.
  template <class AtNode>
  bool any_node(AtNode&& is) const {
    bool found = false;
    conditions_.for_each_owned([&](std::size_t n) { found = found || is(n); });
    return comm_.any(found);
  }

  /// Moves x along F B^T to where conditions are met, as far as walls allow.
  void meet(Vec x) const;
  /// Changes a step x - dx so that it leads there.
  void make_meeting(Vec x, Vec dx) const;
  /// Takes B^T lambda from free impulses r and keeps lambda; returns |B^T lambda|^2 of this rank [J].
  Real answer(std::vector<Vec3>& r);
  /// Of each condition on this rank, as `answer` found it last [N s].
  std::vector<Real> impulses() const;
  /// Takes B^T S^+ B F r from r.
  void release(const NodeWriting& r) const;

  /// Vectors of the owned nodes that have a condition, one after another.
  using Parts = std::vector<Vec3>;
  /// H y, y(n) of owned nodes.
  template <class AtNode>
  Parts part_of(AtNode&& y) const {
    return along_free(multipliers_of(y));
  }
  /// Free motions that make up for what conditions see of h: -F B^T S^+ B h.
  template <class AtNode>
  Parts make_up_for(AtNode&& h) const {
    Parts parts = along_free(schur_.solve(seen(h)));
    for (Vec3& part : parts) part = -part;
    return parts;
  }
  void add(Real factor, const Parts& parts, const NodeWriting& to) const;

  /// For preconditioners that know nothing of conditions. G(n): symmetric, not negative, of each owned node that has a
  /// condition: a guess of how it gives way to impulses, within F. [1]
  template <class AtNode>
  void set_guess(AtNode&& G) {
    guess_.clear();
    conditions_.for_each_owned([&](std::size_t n) { guess_.push_back(G(n)); });
    std::size_t i = 0;
    of_guess_.factor([&](std::size_t n) { return Mat3(guess_[i++] * inverse_mass(n)); });
  }
  /// With S_G = B G B^T: G B^T S_G^+ B F z, without which conditions do not see the free motions of z.
  template <class AtNode>
  Parts guessed_part_of(AtNode&& z) const {
    std::size_t k = 0;
    const std::vector<Real> lambda = of_guess_.solve(seen([&](std::size_t n) { return Vec3(free_[k++] * z(n)); }));
    Parts parts;
    spread(lambda, [&](std::size_t, const Vec3& sum, std::size_t i) { parts.push_back(guess_[i] * sum); });
    return parts;
  }
  /// Takes F B^T S_G^+ B G r from r, by owned node.
  void release_by_guess(std::vector<Vec3>& r) const;
  /// kappa B^T B with rows of B of unit length, in terms of displacements, as Terms add theirs: what makes direct
  /// solvers know the conditions nearly.
  void add_tangent(Real kappa, Tangent& tangent) const;

 private:
  Real inverse_mass(std::size_t n) const { return inertia_.root_mass(n) > 0 ? 1 / inertia_.mass(n) : 0; }
  Real inverse_root(std::size_t n) const { return inertia_.root_mass(n) > 0 ? 1 / inertia_.root_mass(n) : 0; }
  /// B y, y(n) of owned nodes.
  template <class AtNode>
  std::vector<Real> seen(AtNode&& y) const {
    return conditions_.sums([&](std::size_t n) { return Vec3(inverse_root(n) * y(n)); });
  }
  /// Calls add(n, B^T lambda, i) for the i-th owned node that has a condition.
  template <class Add>
  void spread(std::span<const Real> lambda, Add&& add) const {
    std::size_t i = 0;
    conditions_.spread(lambda, [&](std::size_t n, const Vec3& sum) { add(n, Vec3(inverse_root(n) * sum), i++); });
  }
  /// S^+ B F y.
  template <class AtNode>
  std::vector<Real> multipliers_of(AtNode&& y) const {
    std::size_t i = 0;
    return schur_.solve(seen([&](std::size_t n) { return Vec3(free_[i++] * y(n)); }));
  }
  template <class AtNode>
  void add_to_meet(const AtNode& y, Real sign, const NodeWriting& to) const;
  /// F B^T lambda.
  Parts along_free(std::span<const Real> lambda) const {
    Parts parts;
    spread(lambda, [&](std::size_t, const Vec3& sum, std::size_t i) { parts.push_back(free_[i] * sum); });
    return parts;
  }

  const Comm comm_;
  const Unknowns& unknowns_;
  const Points3& points_;
  const ImplicitInertia& inertia_;
  const std::vector<const Constraints*> constraints_;
  ConstraintRows rows_;  ///< Of this rank.
  Conditions conditions_;
  SchurComplement schur_{conditions_}, of_guess_{conditions_};
  Real dt_ = 0;
  std::vector<Real> goal_;          ///< d, of all conditions.
  std::vector<Real> lambda_;        ///< Of all conditions, as `answer` found it.
  std::vector<Mat3> free_, guess_;  ///< F and G of the owned nodes that have a condition.
};

}  // namespace weft
