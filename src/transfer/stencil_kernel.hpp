#pragma once
// The kernel of one point, dimension by dimension, and the tile of nodes that the points of one block share.

#include "weft/math/kernels.hpp"
#include "weft/math/real4.hpp"
#include "weft/transfer/bins.hpp"

namespace weft {

/// Weights w, offsets d = x_i - x_p and gradient factors g in each dimension: w_ip = wx wy wz and
/// G_ip = (gx wy wz, wx gy wz, wx wy gz).
template <class Kernel>
struct Stencil {
  static constexpr int n = Kernel::nodes;
  Real w[3][n];  ///< [1].
  Real d[3][n];  ///< [m].
  Real g[3][n];  ///< [1/m].
  Vec3 inertia;  ///< Diagonal of D_p / dx^2 [1].

  /// base: the first node, as binned. (Found again here it could differ by rounding, and the tile is made for the bin.)
  Stencil(const Vec3& x, const Vec3i& base, Real dx) {
    const Real per_dx = 1 / dx;
    for (int axis = 0; axis < 3; ++axis) {
      const Real t = x[axis] * per_dx - base[axis];
      Kernel::weights(t, w[axis]);
      for (int i = 0; i < n; ++i) d[axis][i] = (i - t) * dx;
      if constexpr (Kernel::inverse_inertia == 0) {
        Kernel::gradients(t, g[axis]);
        for (int i = 0; i < n; ++i) g[axis][i] *= per_dx;
        inertia[axis] = t * (1 - t);
      } else {
        for (int i = 0; i < n; ++i) g[axis][i] = w[axis][i] * d[axis][i] * (Kernel::inverse_inertia * per_dx * per_dx);
        inertia[axis] = 1 / Real(Kernel::inverse_inertia);
      }
    }
  }
};

/// The nodes that the points of one block reach: the block and a margin towards +x, +y, +z.
template <class Kernel>
struct Tile {
  static constexpr int edge = block_width + Kernel::nodes - 1;
  Real4 node[edge][edge][edge];

  void clear() { std::memset(node, 0, sizeof(node)); }

  /// Calls f(tile row, block number, place in block, run): runs of nodes that are contiguous along z in both.
  template <class F>
  void for_each_run(const Bin& bin, F&& f) {
    for (int o = 0; o < 8; ++o) {
      if (bin.numbers[o] < 0) continue;
      const Vec3i from = octant_offset(o) * block_width;
      const Vec3i size = (Vec3i::Constant(edge) - from).cwiseMin(block_width);
      for (int x = 0; x < size.x(); ++x)
        for (int y = 0; y < size.y(); ++y)
          f(&node[from.x() + x][from.y() + y][from.z()], bin.numbers[o], (x * block_width + y) * block_width, size.z());
    }
  }

  void add_to(NodeField& field, const Bin& bin) {
    for_each_run(bin, [&](Real4* tile, int block, int place, int run) {
      Real* to = field.block(block) + place * NodeField::width;
      for (int z = 0; z < run; ++z, to += NodeField::width) store4(to, load4(to) + tile[z]);
    });
  }

  void load_from(const NodeField& field, const Bin& bin) {
    for_each_run(bin, [&](Real4* tile, int block, int place, int run) {
      const Real* from = field.block(block) + place * NodeField::width;
      for (int z = 0; z < run; ++z, from += NodeField::width) tile[z] = load4(from);
    });
  }
};

}  // namespace weft
