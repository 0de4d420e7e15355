#pragma once
// The kernel of a pack of points, dimension by dimension, and the tile of nodes that the points of one block share.
//
//     w_ip = wx wy wz,   G_ip = (gx wy wz, wx gy wz, wx wy gz)
//
// What belongs to a point is found for a pack of points at once, one point in each lane. What belongs to a node is one
// register of four reals. So the loops over the nodes of a point read the former number by number, which costs nothing
// (a load that spreads the number comes with the multiplication), and the latter as they stand:
//
//     stencils  w[i][axis]      | p0 p1 p2 p3 p4 p5 p6 p7 |
//     tile      node[x][y][z]   | m p_x p_y p_z |   or   | v_x v_y v_z 1 |
//
// A quadratic kernel has 27 nodes. Scatter needs 54 multiply-adds for their rows and 18 for the columns of rows, gather
// 93 in all; a core does two a cycle. [docs/performance.md]

#include <ranges>

#include "weft/fields/chunk.hpp"
#include "weft/math/kernels.hpp"
#include "weft/math/pack_rows.hpp"
#include "weft/math/real4.hpp"
#include "weft/transfer/bins.hpp"

#include <array>
#include <memory>

namespace weft {

template <class Kernel>
struct Tile;

/// Weights w and gradient factors g of a pack of points, for the nodes first + i along each axis.
template <class Kernel>
class alignas(sizeof(Pack)) Stencils {
 public:
  Stencils() = default;  ///< Of no points.
  static constexpr int n = Kernel::nodes;
  /// G = w D^-1 (x_i - x_p), with a D that is the same for all points. Else G = grad w.
  static constexpr bool is_mls = Kernel::inverse_inertia != 0;

  /// origin: first node of the points' block [dx].
  Stencils(std::span<const Vec3> x, const PackRows& rows, const Real4& origin, Real dx, Real per_dx)
      : count_(rows.count) {
    const Vector3<Pack> at = load(x, rows);
    Pack place = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const Pack scaled = at[axis] * per_dx, start = scaled - Kernel::offset, cut = truncated(start);
      // The tile is known: rounding, which may also make the difference negative, must not carry a point beyond it.
      const Pack first =
          min(max(select(cut > start, cut - 1, cut) - origin[axis], Pack(0)), Pack(Tile<Kernel>::edge - n));
      const Pack t = scaled - (first + origin[axis]);
      put(first, corner_[axis]);
      put(t, t_[axis]);
      place = place * Pack(Tile<Kernel>::edge) + first;
      Pack weights[n];
      Kernel::weights(t, weights);
      for (int i = 0; i < n; ++i) {
        put(weights[i], w_[i][axis]);
        const Pack moment = weights[i] * ((Real(i) - t) * dx);
        if constexpr (is_mls) put(moment * (Kernel::inverse_inertia * per_dx * per_dx), g_[i][axis]);
        else put(moment, moment_[i][axis]);
      }
      if constexpr (!is_mls) {
        Pack gradients[n];
        Kernel::gradients(t, gradients);
        for (int i = 0; i < n; ++i) put(gradients[i] * per_dx, g_[i][axis]);
      }
    }
    for (int lane = 0; lane < Pack::size; ++lane) place_[lane] = static_cast<int>(place[lane]);
  }

  /// The stencil of one point of the pack.
  struct One {
    const Stencils& all;
    int lane;

    Real w(int i, int axis) const { return all.w_[i][axis][lane]; }                              ///< [1].
    Real g(int i, int axis) const { return all.g_[i][axis][lane]; }                              ///< [1/m].
    Real moment(int i, int axis) const requires(!is_mls) { return all.moment_[i][axis][lane]; }  ///< w (x_i - x_p) [m].
    /// The first node, counted from the first node of the block.
    Vec3i corner() const {
      return {static_cast<int>(all.corner_[0][lane]), static_cast<int>(all.corner_[1][lane]),
              static_cast<int>(all.corner_[2][lane])};
    }
    /// Its place in a tile.
    int place() const { return all.place_[lane]; }
    /// Diagonal of D_p / dx^2 [1].
    Vec3 inertia() const {
      if constexpr (is_mls) {
        return Vec3::Constant(1 / Real(Kernel::inverse_inertia));
      } else {
        const auto along = [this](int axis) { return all.t_[axis][lane] * (1 - all.t_[axis][lane]); };
        return {along(0), along(1), along(2)};
      }
    }
  };
  One operator[](int lane) const { return {*this, lane}; }
  int count() const { return count_; }

 private:
  using Lanes = Real[Pack::size];
  static void put(const Pack& a, Lanes& lanes) { std::memcpy(lanes, &a.v, sizeof(a.v)); }

  Lanes w_[n][3], g_[n][3];
  Lanes moment_[is_mls ? 1 : n][3];
  Lanes t_[3];  ///< Place of the point after its first node [dx].
  Lanes corner_[3];
  int place_[Pack::size];
  int count_;
};

/// The stencils of a chunk. All are found before the first is used: a loop over nodes waits for a number that was
/// written in a pack just before it is read by itself.
template <class Kernel>
class ChunkStencils {
 public:
  void find(ChunkRows rows, std::span<const Vec3> x, const Real4& origin, Real dx) {
    count_ = 0;
    for (std::size_t first = 0; first < rows.size(); first += Pack::size)
      std::construct_at(&packs_[count_++], x, PackRows::of(rows, first), origin, dx, 1 / dx);
  }
  /// Calls visit(entry, stencil) for the points of the chunk, in order.
  template <class F>
  [[gnu::always_inline]] void for_each(F&& visit) const {
    for (std::size_t pack = 0; pack < count_; ++pack)
      for (int lane = 0; lane < packs_[pack].count(); ++lane) visit(pack * Pack::size + lane, packs_[pack][lane]);
  }

 private:
  std::array<Stencils<Kernel>, most_rows_in_chunk / Pack::size> packs_;
  std::size_t count_ = 0;
};

/// Calls visit(entry, stencil) for any number of points, in order.
template <class Kernel, class F>
void for_each_stencil(std::span<const std::uint32_t> rows, std::span<const Vec3> x, const Real4& origin, Real dx,
                      F&& visit) {
  ChunkStencils<Kernel> stencils;
  for (std::size_t first = 0; first < rows.size(); first += most_rows_in_chunk) {
    stencils.find(rows.subspan(first, std::min(most_rows_in_chunk, rows.size() - first)), x, origin, dx);
    stencils.for_each([&](std::size_t k, const auto& s) __attribute__((always_inline)) { visit(first + k, s); });
  }
}

/// The nodes that the points of one bin reach: its block and the seven neighbours towards +x, +y, +z.
template <class Kernel>
struct Tile {
  static constexpr int edge = 2 * block_width;
  Real4 node[edge][edge][edge];

  void clear() { std::memset(node, 0, sizeof(node)); }

  /// How far apart nodes stand that are neighbours along x and along y.
  static constexpr int along_x = edge * edge, along_y = edge;
  /// The first node of a point; its others stand at i * along_x + j * along_y + l.
  Real4* first_of(const typename Stencils<Kernel>::One& s) { return &node[0][0][0] + s.place(); }
  const Real4* first_of(const typename Stencils<Kernel>::One& s) const { return &node[0][0][0] + s.place(); }

  /// Calls f(tile row, field row): runs of four nodes that are contiguous along z in both. rows: those of a NodeField,
  /// from the first block on.
  template <class R, class F>
  void for_each_run(R* rows, const Bin& bin, F&& f) {
    for (int o = 0; o < 8; ++o) {
      const Vec3i from = octant_offset(o) * block_width;
      R* field = rows + static_cast<std::size_t>(bin.numbers[o]) * NodeField::row;
      for (int x = 0; x < block_width; ++x)
        for (int y = 0; y < block_width; ++y, field += block_width * NodeField::width)
          f(&node[from.x() + x][from.y() + y][from.z()], field);
    }
  }

  void add_to(NodeField& field, const Bin& bin) { add_to(field.block(0), bin); }
  void load_from(const NodeField& field, const Bin& bin) { load_from(field.block(0), bin); }
  void add_to(Real* rows, const Bin& bin) {
    for_each_run(rows, bin, [](const Real4* tile, Real* to) {
      for (int z = 0; z < block_width; ++z, to += NodeField::width) store4(to, load4(to) + tile[z]);
    });
  }
  void load_from(const Real* rows, const Bin& bin) {
    for_each_run(rows, bin,
                 [](Real4* tile, const Real* from) { std::memcpy(tile, from, block_width * sizeof(Real4)); });
  }
};

/// A field and its derivatives along x, y and z at a point, in the first three lanes:
/// value = sum_i w_ip a_i, slope[k] = sum_i (G_ip)_k a_i.
struct FieldAtPoint {
  Real4 value, slope[3];
};

template <class Kernel>
FieldAtPoint field_at(const typename Stencils<Kernel>::One& s, const Tile<Kernel>& tile) {
  constexpr int n = Kernel::nodes;
  const Real4* first = tile.first_of(s);
  Real4 v{}, vx{}, vy{}, vz{};
  for (int i = 0; i < n; ++i) {
    Real4 vi{}, vyi{}, vzi{};
    for (int j = 0; j < n; ++j) {
      const Real4* row = first + i * Tile<Kernel>::along_x + j * Tile<Kernel>::along_y;
      Real4 vij{}, vzij{};
      for (int l = 0; l < n; ++l) {
        vij += s.w(l, 2) * row[l];
        vzij += s.g(l, 2) * row[l];
      }
      vi += s.w(j, 1) * vij;
      vyi += s.g(j, 1) * vij;
      vzi += s.w(j, 1) * vzij;
    }
    v += s.w(i, 0) * vi;
    vx += s.g(i, 0) * vi;
    vy += s.w(i, 0) * vyi;
    vz += s.w(i, 0) * vzi;
  }
  return {v, {vx, vy, vz}};
}

/// First node of a bin's block [dx].
inline Real4 origin_of(const Bin& bin) {
  const Vec3i node = bin.block * block_width;
  return Real4{Real(node.x()), Real(node.y()), Real(node.z()), 0};
}

/// The rows of a bin, chunk by chunk, in order.
inline auto chunks_of(const Bins& bins, const Bin& bin) {
  const auto rows = bins.order().subspan(bin.begin, bin.end - bin.begin);
  const std::size_t chunks = (rows.size() + most_rows_in_chunk - 1) / most_rows_in_chunk;
  return std::views::iota(std::size_t{0}, chunks) | std::views::transform([rows](std::size_t chunk) -> ChunkRows {
           const std::size_t first = chunk * most_rows_in_chunk;
           return rows.subspan(first, std::min(most_rows_in_chunk, rows.size() - first));
         });
}

}  // namespace weft
