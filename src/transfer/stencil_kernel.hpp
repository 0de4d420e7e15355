#pragma once
// The kernel of a chunk of points, dimension by dimension, and the tile of nodes that the points of one bin share.
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
// With moving least squares g_i = w_i (i - t) / (D dx), t being the place of the point after its first node and D dx^2
// its moment of inertia. So no g is needed: sums of i w_i a_i along an axis are running sums of w_i a_i, and what a
// point gives to its nodes changes by the same vector from one to the next.
//
// A quadratic kernel has 27 nodes. Scatter takes 64 multiplications or multiply-adds of registers and 26 additions,
// gather 60 and 13; a core does two of the former a cycle, and additions beside them. [docs/performance.md]

#include <ranges>

#include "weft/fields/chunk.hpp"
#include "weft/math/kernels.hpp"
#include "weft/math/pack_rows.hpp"
#include "weft/math/real4.hpp"
#include "weft/transfer/bins.hpp"

#include <array>

namespace weft {

/// First node of a bin's block [dx].
inline Real4 origin_of(const Bin& bin) {
  const Vec3i node = bin.block * block_width;
  return Real4{Real(node.x()), Real(node.y()), Real(node.z()), 0};
}

/// Nodes along the edge of a tile, and how far apart stand those that are neighbours along x and along y.
inline constexpr int tile_edge = 2 * block_width, tile_along_x = tile_edge * tile_edge, tile_along_y = tile_edge;

/// The kernels of the points of a chunk: weights of the nodes first + i along each axis.
template <class Kernel>
class Stencils {
 public:
  static constexpr int n = Kernel::nodes;
  /// G = w D^-1 (x_i - x_p), with a D that is the same for all points. Else G = grad w.
  static constexpr bool is_mls = Kernel::inverse_inertia != 0;
  /// What sums of tilts are multiplied by to become slopes, and matrices to become what pushes a node: 1 / (D dx) for
  /// moving least squares, else 1 / dx [1/m].
  static Real per_tilt(Real dx) { return (is_mls ? Real(Kernel::inverse_inertia) : 1) / dx; }

  /// origin: first node of the bin's block [dx].
  void find(ChunkRows rows, std::span<const Vec3> x, const Real4& origin, Real dx) {
    size_ = rows.size();
    per_dx_ = 1 / dx;
    for (std::size_t k = 0; k < size_; k += Pack::size) {
      const Vector3<Pack> at = load(x, PackRows::of(rows, k));
      Pack place = 0;
      for (int axis = 0; axis < 3; ++axis) {
        const Pack scaled = at[axis] * per_dx_, start = scaled - Kernel::offset, cut = truncated(start);
        // The tile is known: rounding, which may also make the difference negative, must not carry a point beyond it.
        const Pack first =
            min(max(select(cut > start, cut - 1, cut) - origin[axis], Pack(0)), Pack(tile_edge - Kernel::nodes));
        const Pack t = scaled - (first + origin[axis]);
        place = place * Pack(tile_edge) + first;
        Pack weights[n];
        Kernel::weights(t, weights);
        std::memcpy(&t_[axis][k], &t.v, sizeof(t.v));
        for (int i = 0; i < n; ++i) std::memcpy(&w_[i][axis][k], &weights[i].v, sizeof(t.v));
      }
      for (int lane = 0; lane < Pack::size; ++lane) place_[k + lane] = static_cast<int>(place[lane]);
    }
  }

  std::size_t size() const { return size_; }
  // Of entry k:
  /// The place of the first node in a tile; the others stand at i * along_x + j * along_y + l.
  int place(std::size_t k) const { return place_[k]; }
  /// The place of the point after its first node [dx].
  Real t(std::size_t k, int axis) const { return t_[axis][k]; }
  /// Weight [1].
  Real w(std::size_t k, int i, int axis) const { return w_[i][axis][k]; }
  /// Gradient factor [1/m].
  Real g(std::size_t k, int i, int axis) const {
    if constexpr (is_mls) return w_[i][axis][k] * (i - t_[axis][k]) * (Kernel::inverse_inertia * per_dx_);
    else return i == 0 ? -per_dx_ : per_dx_;
  }
  /// Diagonal of D_p / dx^2 [1].
  Vec3 inertia(std::size_t k) const {
    if constexpr (is_mls) {
      return Vec3::Constant(1 / Real(Kernel::inverse_inertia));
    } else {
      const auto along = [this, k](int axis) { return t_[axis][k] * (1 - t_[axis][k]); };
      return {along(0), along(1), along(2)};
    }
  }

 private:
  using OfPoints = Real[most_rows_in_chunk];
  alignas(sizeof(Pack)) OfPoints w_[n][3];
  alignas(sizeof(Pack)) OfPoints t_[3];
  int place_[most_rows_in_chunk];
  std::size_t size_ = 0;
  Real per_dx_ = 0;
};

/// Rows chunk by chunk, in order.
inline auto chunks_of(std::span<const std::uint32_t> rows) {
  const std::size_t chunks = (rows.size() + most_rows_in_chunk - 1) / most_rows_in_chunk;
  return std::views::iota(std::size_t{0}, chunks) | std::views::transform([rows](std::size_t chunk) -> ChunkRows {
           const std::size_t first = chunk * most_rows_in_chunk;
           return rows.subspan(first, std::min(most_rows_in_chunk, rows.size() - first));
         });
}
/// Those of a bin.
inline auto chunks_of(const Bins& bins, const Bin& bin) {
  return chunks_of(bins.order().subspan(bin.begin, bin.end - bin.begin));
}

/// Fetches the rows of the next chunk, some lines of memory for each point of this one, of several columns: memory then
/// works while nodes are summed, and does not get more orders at once than it can take. Changes no number.
class NextChunk {
 public:
  /// Of this chunk; rows that lie apart are left alone.
  void find(const RowsAhead& ahead, const Bins& bins, ChunkRows chunk) {
    const ChunkRows next = bins.after(chunk);
    entries_ = chunk.size();
    if (next.empty() || next.back() - next.front() >= 2 * most_rows_in_chunk) lines_.clear();
    else ahead.find(next.front(), next.back() - next.front() + 1, lines_);
  }
  /// At entry k of this chunk.
  [[gnu::always_inline]] void fetch(std::size_t k) const {
    for (std::size_t i = k; i < lines_.size(); i += entries_) __builtin_prefetch(lines_[i]);
  }

 private:
  RowsAhead::Lines lines_;
  std::size_t entries_ = 1;
};

/// The nodes that the points of one bin reach: its block and the seven neighbours towards +x, +y, +z.
struct Tile {
  static constexpr int edge = tile_edge;
  Real4 node[edge][edge][edge];

  void clear() { std::memset(node, 0, sizeof(node)); }

  Real4* at(int place) { return &node[0][0][0] + place; }
  const Real4* at(int place) const { return &node[0][0][0] + place; }

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

// --- Nodes to points
// ------------------------------------------------------------------------------------------------------

/// What a chunk receives of a field a_i: values sum_i w_ip a_i and slopes sum_i a_i G_ip^T. One row more than a chunk
/// has, so that a vector register may be stored over a row's end.
struct ChunkBuffer {
  std::array<Vec3, most_rows_in_chunk + 1> value;
  std::array<Mat3, most_rows_in_chunk + 1> slope;

  ChunkMotion motion(ChunkRows rows) const { return {{value.data(), rows.size()}, {slope.data(), rows.size()}}; }
};

/// Sums over the nodes along one axis: of w_i a_i, and what the slope follows from, the sum of i w_i a_i for moving
/// least squares and the difference of a_i for the linear kernel.
struct SumsAlong {
  Real4 value, tilt;
};
/// w(i), a(i): of node i.
template <class Kernel, class W, class A>
[[gnu::always_inline]] inline SumsAlong sums_along(const W& w, const A& a) {
  if constexpr (!Stencils<Kernel>::is_mls) {
    return {w(0) * a(0) + w(1) * a(1), a(1) - a(0)};
  } else {
    // sum_i i b_i = (b_1 + b_2 + ...) + (b_2 + ...) + ...
    constexpr int last = Kernel::nodes - 1;
    Real4 beyond = w(last) * a(last), tilt = beyond;
    for (int i = last - 1; i > 0; --i) {
      beyond += w(i) * a(i);
      tilt += beyond;
    }
    return {w(0) * a(0) + beyond, tilt};
  }
}
template <class Kernel, class W>
[[gnu::always_inline]] inline Real4 sum_along(const W& w, const Real4 (&a)[Kernel::nodes]) {
  Real4 sum = w(0) * a[0];
  for (int i = 1; i < Kernel::nodes; ++i) sum += w(i) * a[i];
  return sum;
}

/// sum_i w_ip a_i and sum_i a_i G_ip^T of every entry, dimension by dimension: z, y, x.
template <class Kernel>
void gather_chunk(const Stencils<Kernel>& stencils, const Tile& tile, Real dx, ChunkBuffer& chunk,
                  const NextChunk& next = {}) {
  constexpr int n = Kernel::nodes;
  constexpr bool is_mls = Stencils<Kernel>::is_mls;
  const Real scale = Stencils<Kernel>::per_tilt(dx);
  for (std::size_t k = 0; k < stencils.size(); ++k) {
    next.fetch(k);
    const auto w = [&stencils, k](int axis) { return [&stencils, k, axis](int i) { return stencils.w(k, i, axis); }; };
    const auto in = [](const Real4(&a)[n]) { return [&a](int i) { return a[i]; }; };
    const Real4* first = tile.at(stencils.place(k));
    Real4 value[n], tilt_y[n], tilt_z[n];  // of the planes of nodes across x
    for (int i = 0; i < n; ++i) {
      Real4 row_value[n], row_tilt[n];  // of the rows along z
      for (int j = 0; j < n; ++j) {
        const Real4* row = first + i * tile_along_x + j * tile_along_y;
        const SumsAlong sums = sums_along<Kernel>(w(2), [row](int l) { return row[l]; });
        row_value[j] = sums.value;
        row_tilt[j] = sums.tilt;
      }
      const SumsAlong sums = sums_along<Kernel>(w(1), in(row_value));
      value[i] = sums.value;
      tilt_y[i] = sums.tilt;
      tilt_z[i] = sum_along<Kernel>(w(1), row_tilt);
    }
    const SumsAlong all = sums_along<Kernel>(w(0), in(value));
    Real4 slope[3] = {all.tilt, sum_along<Kernel>(w(0), tilt_y), sum_along<Kernel>(w(0), tilt_z)};
    // Fourth lanes spill into what is written next.
    store4(chunk.value[k].data(), all.value);
    for (int axis = 0; axis < 3; ++axis) {
      if constexpr (is_mls) slope[axis] -= stencils.t(k, axis) * all.value;
      store4(chunk.slope[k].data() + 3 * axis, scale * slope[axis]);
    }
  }
}

// --- Points to nodes
// ------------------------------------------------------------------------------------------------------

/// The columns of a matrix as momentum parts of a node: (0, q_x, q_y, q_z).
struct Columns4 {
  Real4 of[3];
};
/// numbers(first): numbers first ... first + 3 of the matrix, column by column.
template <class F>
[[gnu::always_inline]] inline Columns4 columns(F&& numbers) {
  const Real4 zero{};
  return {__builtin_shufflevector(numbers(0), zero, 4, 0, 1, 2), __builtin_shufflevector(numbers(3), zero, 4, 0, 1, 2),
          __builtin_shufflevector(numbers(5), zero, 4, 1, 2, 3)};
}

/// What a point gives to node i of its kernel, i - t being its offset [dx]: w_ip (value + sum_a (i_a - t_a) tilt_a)
/// with moving least squares, w_ip value + dx sum_a G_ip,a tilt_a for the linear kernel.
struct PointShare {
  Real4 value;
  Columns4 tilt;
};

/// The share of node i along one axis. value: of node 0 at first; it goes on to that of the next node.
template <class Kernel>
[[gnu::always_inline]] inline Real4 next_share(int i, Real w, Real4& value, const Real4& tilt) {
  const Real4 share = w * value;
  if constexpr (Stencils<Kernel>::is_mls) {
    if (i + 1 < Kernel::nodes) value += tilt;
    return share;
  } else {
    return i == 0 ? share - tilt : share + tilt;
  }
}

/// give(k): the PointShare of entry k.
template <class Kernel, class Give>
void scatter_chunk(const Stencils<Kernel>& stencils, Tile& tile, Give&& give) {
  constexpr int n = Kernel::nodes;
  for (std::size_t k = 0; k < stencils.size(); ++k) {
    const PointShare share = give(k);
    const Real4(&tilt)[3] = share.tilt.of;
    Real4* first = tile.at(stencils.place(k));
    Real4 value = share.value;
    if constexpr (Stencils<Kernel>::is_mls)
      for (int axis = 0; axis < 3; ++axis) value -= stencils.t(k, axis) * tilt[axis];
    for (int i = 0; i < n; ++i) {
      const Real wx = stencils.w(k, i, 0);
      Real4 plane = next_share<Kernel>(i, wx, value, tilt[0]);  // what is left is to weigh along y and z
      const Real4 tilt_y = wx * tilt[1], tilt_z = wx * tilt[2];
      for (int j = 0; j < n; ++j) {
        const Real wy = stencils.w(k, j, 1);
        Real4 line = next_share<Kernel>(j, wy, plane, tilt_y);
        const Real4 tilt_of_line = wy * tilt_z;
        Real4* row = first + i * tile_along_x + j * tile_along_y;
        for (int l = 0; l < n; ++l) row[l] += next_share<Kernel>(l, stencils.w(k, l, 2), line, tilt_of_line);
      }
    }
  }
}

}  // namespace weft
