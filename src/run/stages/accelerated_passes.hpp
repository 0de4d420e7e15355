#pragma once
// Passes of contact come to their end sooner if each goes on from what several before it found.
//
// A pass takes what nodes remember, Phi_k, and finds the change of their velocities that contact still asks for, z_k.
// It is a step of projected gradients to x_k = Phi_k + m z_k / dt. The next one takes [Anderson 1965]
//     Phi_{k+1} = x_k - sum_j s_j (x_{k-j+1} - x_{k-j}),   j = 1 .. window,                                     (17.4)
// with the shares s that make |z_k - sum_j s_j (z_{k-j+1} - z_{k-j})|^2 least, |z|^2 = sum_i m_i z_i . z_i. They go
// beyond x_k by 30 times the way of a pass at most, or a change of what touches or slips in between is missed. Where z
// grew since the pass before, as it does where other nodes begin to touch or to slip, the next one takes x_k itself,
// and the passes before are forgotten. Shares are rounded to 1/64, since least squares amplify the round-off of sums
// over ranks.

#include "weft/grid/node_field.hpp"
#include "weft/parallel/comm.hpp"

#include <array>
#include <deque>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace weft {

/// Of the nodes of all layers whose bodies repeat contact, in one try.
class AcceleratedPasses {
 public:
  /// A layer after a pass. On other owned blocks than these z and Phi are zero.
  struct Nodes {
    std::span<const int> blocks;
    const NodeField* inertia;  ///< Masses first.
    const NodeField* change;   ///< z [m/s].
    NodeField* memory;         ///< A mass and Phi [kg, N]: in, what loaded the pass; out, what loads the next.
  };

  /// A try begins.
  void begin() { *this = {}; }
  /// The layers are the same, and in the same order, in all passes of a try. is_last: the next pass is the last one,
  /// and takes x_k itself. Collective.
  void go_on(const Comm& comm, Real dt, std::span<const Nodes> layers, bool is_last);

 private:
  static constexpr std::size_t window = 3;
  using Shares = std::array<Real, window>;

  /// What a pass found, of the owned nodes of all layers.
  struct Pass {
    std::vector<Vec3> change;  ///< z_k [m/s].
    std::vector<Vec3> sum;     ///< x_k [N].
  };

  void keep(Real dt, std::span<const Nodes> layers);
  /// s_j of the passes that are kept, and |z_k|^2 [J]. Collective.
  std::pair<Shares, Real> find_shares(const Comm& comm, Real dt) const;
  std::vector<Vec3> extrapolate(const Shares& shares) const;

  std::vector<Real> mass_;                                    ///< Of the nodes, in the last pass [kg].
  std::deque<Pass> passes_;                                   ///< The newest first.
  Real left_before_ = std::numeric_limits<Real>::infinity();  ///< |z|^2 of the pass before [J].
};

}  // namespace weft
