#pragma once
// The kernel of one point, dimension by dimension, and the tile of nodes that the points of one block share.

#include "weft/fields/chunk.hpp"
#include "weft/math/kernels.hpp"
#include "weft/math/real4.hpp"
#include "weft/transfer/bins.hpp"

namespace weft {

/// Weights w, offsets d = x_i - x_p and gradient factors g of the nodes first + i along each axis: w_ip = wx wy wz and
/// G_ip = (gx wy wz, wx gy wz, wx wy gz). The lanes of a Real4 are the axes.
template <class Kernel>
struct Stencil {
  static constexpr int n = Kernel::nodes;
  Real w[n][4];  ///< [1].
  Real d[n][4];  ///< [m].
  Real g[n][4];  ///< [1/m].
  Real4 t;       ///< Place of the point after its first node [dx].
  Vec3i corner;  ///< The first node, counted from the first node of the block.

  /// origin: first node of the point's block [dx].
  Stencil(const Vec3& x, const Real4& origin, Real dx, Real per_dx) {
    const Real4 scaled = Real4{x.x(), x.y(), x.z(), 0} * per_dx - origin;
    // The block is known: rounding, which may also make the difference negative, must not carry the point beyond the
    // tile.
    const Int4 first = clamped(truncated(scaled - Kernel::offset), 0, block_width - 1);
    corner = {first[0], first[1], first[2]};
    t = scaled - as_reals(first);
    Real4 weights[n];
    Kernel::weights(t, weights);
    for (int i = 0; i < n; ++i) {
      const Real4 offset = (Real(i) - t) * dx;
      store4(w[i], weights[i]);
      store4(d[i], offset);
      if constexpr (Kernel::inverse_inertia != 0)
        store4(g[i], weights[i] * offset * (Kernel::inverse_inertia * per_dx * per_dx));
    }
    if constexpr (Kernel::inverse_inertia == 0) {
      Real4 gradients[n];
      Kernel::gradients(t, gradients);
      for (int i = 0; i < n; ++i) store4(g[i], gradients[i] * per_dx);
    }
  }

  /// Diagonal of D_p / dx^2 [1].
  Vec3 inertia() const {
    if constexpr (Kernel::inverse_inertia != 0) return Vec3::Constant(1 / Real(Kernel::inverse_inertia));
    else return Vec3(t[0] * (1 - t[0]), t[1] * (1 - t[1]), t[2] * (1 - t[2]));
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
      const Vec3i from = octant_offset(o) * block_width;
      const Vec3i size = (Vec3i::Constant(edge) - from).cwiseMin(block_width);
      for (int x = 0; x < size.x(); ++x)
        for (int y = 0; y < size.y(); ++y)
          f(&node[from.x() + x][from.y() + y][from.z()], bin.numbers[o], (x * block_width + y) * block_width, size.z());
    }
  }

  void add_to(NodeField& field, const Bin& bin) { add_to(field.block(0), bin); }
  void load_from(const NodeField& field, const Bin& bin) { load_from(field.block(0), bin); }
  /// Rows as those of a NodeField, from the first block on.
  void add_to(Real* rows, const Bin& bin) {
    for_each_run(bin, [&](Real4* tile, int block, int place, int run) {
      Real* to = rows + static_cast<std::size_t>(block) * NodeField::row + place * NodeField::width;
      for (int z = 0; z < run; ++z, to += NodeField::width) store4(to, load4(to) + tile[z]);
    });
  }

  void load_from(const Real* rows, const Bin& bin) {
    for_each_run(bin, [&](Real4* tile, int block, int place, int run) {
      const Real* from = rows + static_cast<std::size_t>(block) * NodeField::row + place * NodeField::width;
      for (int z = 0; z < run; ++z, from += NodeField::width) tile[z] = load4(from);
    });
  }
};

/// A field and its derivatives along x, y and z at a point, in the first three lanes:
/// value = sum_i w_ip a_i, slope[k] = sum_i (G_ip)_k a_i.
struct FieldAtPoint {
  Real4 value, slope[3];
};

template <class Kernel>
FieldAtPoint field_at(const Stencil<Kernel>& s, const Tile<Kernel>& tile) {
  constexpr int n = Kernel::nodes;
  Real4 v{}, vx{}, vy{}, vz{};
  for (int i = 0; i < n; ++i) {
    Real4 vi{}, vyi{}, vzi{};
    for (int j = 0; j < n; ++j) {
      const Real4* row = &tile.node[s.corner.x() + i][s.corner.y() + j][s.corner.z()];
      Real4 vij{}, vzij{};
      for (int l = 0; l < n; ++l) {
        vij += s.w[l][2] * row[l];
        vzij += s.g[l][2] * row[l];
      }
      vi += s.w[j][1] * vij;
      vyi += s.g[j][1] * vij;
      vzi += s.w[j][1] * vzij;
    }
    v += s.w[i][0] * vi;
    vx += s.g[i][0] * vi;
    vy += s.w[i][0] * vyi;
    vz += s.w[i][0] * vzi;
  }
  return {v, {vx, vy, vz}};
}

/// First node of a bin's block [dx].
inline Real4 origin_of(const Bin& bin) {
  const Vec3i node = bin.block * block_width;
  return Real4{Real(node.x()), Real(node.y()), Real(node.z()), 0};
}

/// Calls visit(rows) for the chunks of a bin, in order.
template <class F>
void for_each_chunk(const Bins& bins, const Bin& bin, F&& visit) {
  for (std::uint32_t begin = bin.begin; begin < bin.end; begin += most_rows_in_chunk)
    visit(bins.order().subspan(begin, std::min<std::size_t>(most_rows_in_chunk, bin.end - begin)));
}

}  // namespace weft
