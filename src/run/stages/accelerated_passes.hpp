#pragma once
// Passes of contact come to their end sooner if each goes on in the direction of the one before.
//
// A pass takes what nodes remember, Phi, and finds the change of their velocities that contact still asks for, z. It is
// a step of projected gradients to Phi + m z / dt. With x_k for what pass k found, the next one takes
//     Phi = x_k + (t_k - 1) / t_{k+1} (x_k - x_{k-1}),   t_{k+1} = (1 + sqrt(1 + 4 t_k^2)) / 2               (17.4)
// [Nesterov 1983]; where z points back along x_k - x_{k-1}, t starts again from 1 [O'Donoghue & Candes 2015]. The
// factor of x_k - x_{k-1} stays below a bound. Motions of which a pass takes a share below ((1 - bound) / (1 +
// bound))^2 approach their end from one side then, so passes that stop before it leave a force behind what it should
// be, not ahead.

#include "weft/grid/node_field.hpp"
#include "weft/parallel/comm.hpp"

#include <span>
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

  /// A try begins, with that bound.
  void begin(Real most_momentum);
  /// The layers are the same, and in the same order, in all passes of a try. Collective.
  void go_on(const Comm& comm, Real dt, std::span<const Nodes> layers);

 private:
  std::vector<Vec3> found_;  ///< x_k of the owned nodes of all layers [N].
  int passes_ = 0;
  Real t_ = 1, most_momentum_ = 1;
};

}  // namespace weft
