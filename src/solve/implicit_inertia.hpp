#pragma once
// Inertia and gravity at the nodes of an implicit step.

#include "weft/base/sums.hpp"
#include "weft/grid/node_field.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/solve/implicit.hpp"

#include <vector>

namespace weft {

/// Of the owned nodes, in the unknowns x_i = sqrt(m_i) v_i. With inertia
///   r_i / sqrt(m_i) = x_i - sqrt(m_i) v*_i,  E = sum |x_i - sqrt(m_i) v*_i|^2 / 2,  v* = p / m + dt (g + Phi / m)
/// and without, in a step that ends in equilibrium,
///   r_i / sqrt(m_i) = -dt sqrt(m_i) g,       E = -sum dt sqrt(m_i) g . x_i.
class ImplicitInertia {
 public:
  /// counts: whether there is inertia, or gravity alone.
  ImplicitInertia(std::size_t nodes, bool counts)
      : counts_(counts), root_mass_(nodes), old_velocity_(nodes), free_velocity_(nodes) {}

  /// field: summed mass and momentum of the nodes, without forces. Collective.
  void begin_step(const Comm& comm, const ImplicitStep& step, const NodeField& field);

  bool counts() const { return counts_; }
  std::size_t nodes() const { return root_mass_.size(); }
  /// sqrt(m); 0 without mass.
  Real root_mass(std::size_t n) const { return root_mass_[n]; }
  Real mass(std::size_t n) const { return root_mass_[n] * root_mass_[n]; }
  std::span<const Real> root_masses() const { return root_mass_; }
  /// p / m, as the points carry it.
  const std::vector<Vec3>& old_velocity() const { return old_velocity_; }
  /// v*.
  const std::vector<Vec3>& free_velocity() const { return free_velocity_; }

  Vec3 impulse(std::size_t n, const Vec3& x) const {
    return counts_ ? Vec3(x - root_mass_[n] * free_velocity_[n]) : Vec3(-dt_ * root_mass_[n] * gravity_);
  }
  Real energy(std::size_t n, const Vec3& x) const {
    return counts_ ? 0.5 * (x - root_mass_[n] * free_velocity_[n]).squaredNorm()
                   : -dt_ * root_mass_[n] * gravity_.dot(x);
  }
  /// |m (v - p / m)|^2 / m of a node [J].
  Real change_of_momentum(std::size_t n, const Vec3& x) const {
    return (x - root_mass_[n] * old_velocity_[n]).squaredNorm();
  }
  /// sum m |dt (g + Phi / m)|^2 over all ranks [J].
  Real load_size() const { return load_size_; }
  /// Root of sum m v^2 and that, over all ranks, at the start of the step [sqrt(J)].
  Real motion_size() const { return motion_size_; }
  /// Norms of residuals beneath are round-off [sqrt(J)],
  Real noise() const { return noise_; }
  /// and so are differences of the elastic energy, however little of it there is [J].
  Real energy_noise() const { return energy_noise_; }

  /// Calls f(node) for all owned nodes with mass.
  template <class F>
  void for_each_node(F&& f) const {
#pragma omp parallel for schedule(static)
    for (std::size_t n = 0; n < nodes(); ++n)
      if (root_mass_[n] > 0) f(n);
  }
  /// Sum of f(node) over the same, on this rank.
  template <class F>
  Real sum_over_nodes(F&& f) const {
    return ordered_sum(nodes(), Real(0), [&](std::size_t n) { return root_mass_[n] > 0 ? f(n) : Real(0); });
  }

 private:
  const bool counts_;
  std::vector<Real> root_mass_;
  std::vector<Vec3> old_velocity_, free_velocity_;
  Vec3 gravity_ = Vec3::Zero();
  Real dt_ = 0, load_size_ = 0, motion_size_ = 0, noise_ = 0, energy_noise_ = 0;
};

}  // namespace weft
