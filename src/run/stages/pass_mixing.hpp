#pragma once
// Passes of contact with bodies that answer as a whole come to their end sooner if each builds on several before it.
//
// A pass takes what nodes remember, Phi, and finds the change of their velocities that contact still asks for, z. The
// next one would remember Phi + m z / dt. With the last few of both, gamma makes |z - dZ gamma| smallest in the norm of
// the masses m, and the next memory is
//     Phi + m z / dt - (dPhi + m dZ / dt) gamma                                                              (16.8)
// [Anderson 1965; Walker & Ni 2011, (2.1)], dPhi and dZ being the differences from pass to pass.

#include "weft/grid/node_field.hpp"
#include "weft/parallel/comm.hpp"

#include <span>
#include <vector>

namespace weft {

/// Of the nodes of all layers that are mixed, in one try.
class PassMixing {
 public:
  /// A layer after a pass. Of each field the first `owned` blocks count.
  struct Nodes {
    int owned;
    const NodeField* inertia;  ///< Masses first.
    const NodeField* change;   ///< z [m/s].
    NodeField* memory;         ///< A mass and Phi [kg, N]: in, what loaded the pass; out, what loads the next.
  };

  /// A try begins.
  void begin();
  /// The layers are the same, and in the same order, in all passes of a try. Collective.
  void mix(const Comm& comm, Real dt, std::span<const Nodes> layers);

 private:
  /// Three values for each owned node of all layers.
  using Values = std::vector<Vec3>;
  struct Pass {
    Values memory, change;
  };

  std::vector<Pass> passes_;  ///< The latest last.
  Real last_size_ = 0;        ///< |z|^2 of the latest [kg m^2/s^2].
};

}  // namespace weft
