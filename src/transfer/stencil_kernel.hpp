#pragma once
// The kernel of a chunk of points, dimension by dimension, and the tile of nodes that the points of one bin share.
//
//     w_ip = wx wy wz,   G_ip = (gx wy wz, wx gy wz, wx wy gz)
//
// What belongs to a point is found for a pack of points at once, one point in each lane. What belongs to a node is one
// register of four reals. So the loops over the nodes of a point read the former number by number, which costs nothing
// (a load that spreads the number comes with the multiplication), and the latter as they stand:
//
//     stencils  w[axis][i]      | p0 p1 p2 p3 p4 p5 p6 p7 ... |
//     tile      node[x][y][z]   | m p_x p_y p_z |   or   | v_x v_y v_z 1 |
//
// With moving least squares g_i = w_i (i - t) / (D dx), t being the place of the point after its first node and D dx^2
// its moment of inertia. So no g is needed: sums of i w_i a_i along an axis are running sums of w_i a_i, and what a
// point gives to its nodes changes by the same vector from one to the next. The products wx wy of the lines along z are
// found for packs as well, so that a node takes one multiply-add.
//
// A quadratic kernel has 27 nodes. Scatter takes 46 multiplications or multiply-adds of registers and 26 additions,
// gather 42 and 25; a core does two of either a cycle. [tests/benchmarks/DIARY.md]

#include <ranges>

#include "weft/fields/chunk.hpp"
#include "weft/fields/rows_ahead.hpp"
#include "weft/grid/node_field.hpp"
#include "weft/math/kernels.hpp"
#include "weft/math/pack_rows.hpp"
#include "weft/math/real4.hpp"
#include "weft/transfer/bins.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace weft {

/// First node of a bin's block [dx].
inline Real4 origin_of(const Bin& bin) {
  const Vec3i node = bin.block * block_width;
  return Real4{Real(node.x()), Real(node.y()), Real(node.z()), 0};
}

/// Nodes along the edge of a tile, and how far apart stand those that are neighbours along x and along y. Two places
/// are left free beside each plane: many cores take addresses for the same that differ by 4096 bytes, and let what
/// reads one wait for what wrote the other.
inline constexpr int tile_edge = 2 * block_width, tile_along_y = tile_edge, tile_along_x = tile_edge * tile_along_y + 2,
                     tile_places = tile_edge * tile_along_x;

/// Runs of four nodes along z in a tile: of each half along z a bit for every line of nodes, numbered 8 x + y.
struct TileRuns {
  std::array<std::uint64_t, 2> of_half{};

  static constexpr TileRuns all() { return {{~std::uint64_t{0}, ~std::uint64_t{0}}}; }

  bool any() const { return (of_half[0] | of_half[1]) != 0; }
  /// The runs in an octant, numbered in the same way.
  std::uint32_t in_octant(int o) const {
    return static_cast<std::uint32_t>(of_half[o & 1] >> (block_width * (tile_edge * (o >> 2) + (o >> 1 & 1))));
  }
  void include(const TileRuns& more) {
    for (int half = 0; half < 2; ++half) of_half[half] |= more.of_half[half];
  }
  TileRuns without(const TileRuns& others) const {
    return {{of_half[0] & ~others.of_half[0], of_half[1] & ~others.of_half[1]}};
  }
};

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

  /// origin: first node of the bin's block [dx]. off_middle: in each lane the largest distance so far, along an axis,
  /// from the middle of a bin [dx].
  void find(ChunkRows rows, std::span<const Vec3> x, const Real4& origin, Real dx, Pack* off_middle = nullptr) {
    resize(rows.size());
    for (std::size_t k = 0; k < size_; k += Pack::size) find(k, load(x, PackRows::of(rows, k)), origin, dx, off_middle);
  }

  /// Room for so many entries.
  void resize(std::size_t size) { size_ = size; }
  /// Entries k, k + 1, ... of a pack.
  [[gnu::always_inline]] void find(std::size_t k, const Vector3<Pack>& x, const Real4& origin, Real dx,
                                   Pack* off_middle = nullptr) {
    const Real per_dx = 1 / dx;
    Pack place = 0, line = 0, w[3][n];
#pragma GCC unroll 3
    for (int axis = 0; axis < 3; ++axis) {
      // The tile is known: neither rounding, which may also make the difference negative, nor a place that is not a
      // number (then the first argument of max) must carry a point beyond it.
      const Pack scaled = x[axis] * per_dx;
      const Pack first =
          min(max(Pack(0), floor(scaled - Kernel::offset) - origin[axis]), Pack(tile_edge - Kernel::nodes));
      if (off_middle) *off_middle = max(*off_middle, abs(scaled - (origin[axis] + bin_middle)));
      Pack t = scaled - (first + origin[axis]);
      // Beyond its cell by round-off, weights of both signs would cancel in the mass of a node. What is not a number
      // stays so, as first argument.
      if constexpr (Kernel::has_odd_tails) t = min(max(t, Pack(Kernel::offset)), Pack(Kernel::offset + 1));
      place += Pack(axis == 0 ? tile_along_x : axis == 1 ? tile_along_y : 1) * first;
      if (axis < 2) line += Pack(axis == 0 ? tile_edge : 1) * first;
      else first.store(&first_z_[k]);
      t.store(&t_[axis][k]);
      Kernel::weights(t, w[axis]);
    }
    for (int i = 0; i < n; ++i) {
      w[2][i].store(&w_[2][i][k]);
      if constexpr (is_mls) {
        for (int j = 0; j < n; ++j) (w[0][i] * w[1][j]).store(&line_[i][j][k]);
      } else {
        w[0][i].store(&w_[0][i][k]);
        w[1][i].store(&w_[1][i][k]);
      }
    }
    for (int lane = 0; lane < Pack::size; ++lane) place_[k + lane] = static_cast<int>(place[lane]);
    for (int lane = 0; lane < Pack::size; ++lane) first_line_[k + lane] = static_cast<int>(line[lane]);
  }

  std::size_t size() const { return size_; }
  // Of entry k:
  /// The place of the first node in a tile; the others stand at i * along_x + j * along_y + l.
  int place(std::size_t k) const { return place_[k]; }
  /// The runs of the nodes of all entries.
  TileRuns runs() const {
    std::uint64_t lines = 0;  // of an entry, from its first on
    for (int i = 0; i < n; ++i) lines |= ((std::uint64_t{1} << n) - 1) << (tile_edge * i);
    TileRuns runs;
    for (std::size_t k = 0; k < size_; ++k) {
      const std::uint64_t its = lines << first_line_[k];
      runs.of_half[0] |= first_z_[k] < block_width ? its : 0;
      runs.of_half[1] |= first_z_[k] + n > block_width ? its : 0;
    }
    return runs;
  }
  /// The place of the point after its first node [dx].
  Real t(std::size_t k, int axis) const { return t_[axis][k]; }
  /// Weight along an axis [1]; with moving least squares along z, and of the lines along z their wx wy.
  Real w(std::size_t k, int i, int axis) const { return w_[axis][i][k]; }
  Real line(std::size_t k, int i, int j) const { return line_[i][j][k]; }
  /// w_ip of a node [1].
  Real weight(std::size_t k, int i, int j, int l) const {
    return (is_mls ? line(k, i, j) : w(k, i, 0) * w(k, j, 1)) * w(k, l, 2);
  }
  /// G_ip of a node [1/m].
  Vec3 gradient_operator(std::size_t k, int i, int j, int l, Real dx) const {
    if constexpr (is_mls) {
      const Vec3 offset(i - t(k, 0), j - t(k, 1), l - t(k, 2));
      return per_tilt(dx) * weight(k, i, j, l) * offset;
    } else {
      const auto sign = [](int node) { return node == 0 ? -1 : 1; };
      const Real wx = w(k, i, 0), wy = w(k, j, 1), wz = w(k, l, 2);
      return per_tilt(dx) * Vec3(sign(i) * wy * wz, wx * sign(j) * wz, wx * wy * sign(l));
    }
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
  /// Of entries k, k + 1, ... of a pack.
  Vector3<Pack> inertia_of_pack(std::size_t k) const {
    if constexpr (is_mls) {
      return Vector3<Pack>::Constant(1 / Real(Kernel::inverse_inertia));
    } else {
      const auto along = [this, k](int axis) {
        const Pack t = Pack::load(&t_[axis][k]);
        return t * (1 - t);
      };
      return {along(0), along(1), along(2)};
    }
  }

 private:
  static_assert(most_rows_in_chunk % Pack::size == 0, "packs are found as a whole");
  using OfPoints = Real[most_rows_in_chunk];
  alignas(sizeof(Pack)) OfPoints w_[3][n];
  alignas(sizeof(Pack)) OfPoints line_[n][n];
  alignas(sizeof(Pack)) OfPoints t_[3];
  alignas(sizeof(Pack)) OfPoints first_z_;
  int place_[most_rows_in_chunk], first_line_[most_rows_in_chunk];
  std::size_t size_ = 0;
};

/// Rows chunk by chunk, in order; all but the last are full.
inline auto chunks_of(std::span<const std::uint32_t> rows) {
  const std::size_t chunks = (rows.size() + most_rows_in_chunk - 1) / most_rows_in_chunk;
  return std::views::iota(std::size_t{0}, chunks) | std::views::transform([=](std::size_t chunk) -> ChunkRows {
           const std::size_t first = chunk * most_rows_in_chunk;
           return rows.subspan(first, std::min(most_rows_in_chunk, rows.size() - first));
         });
}
/// Those of a bin.
inline auto chunks_of(const Bins& bins, const Bin& bin) {
  return chunks_of(bins.order().subspan(bin.begin, bin.end - bin.begin));
}

/// Rows that do not lie next to one another, one for each point.
struct RowsApart {
  std::span<const RowsAhead::Column> columns;
  const std::uint32_t *row, *end;
};
/// Three lines hold the vectors and matrices of a row with its deformation gradient (192 bytes).
[[gnu::always_inline]] inline void fetch_for_a_point(LinesAhead& next) {
#pragma GCC unroll 3
  for (int line = 0; line < 3; ++line) next.fetch();
}
[[gnu::always_inline]] inline void fetch_for_a_point(RowsApart& next) {
  if (next.row == next.end) return;
  for (const auto& [data, row_bytes] : next.columns) {
    __builtin_prefetch(data + *next.row * row_bytes);
    if (row_bytes > line_bytes / 2) __builtin_prefetch(data + (*next.row + 1) * row_bytes - 1);
  }
  ++next.row;
}
/// Calls visit(next) with the rows of the next chunk. The loops over nodes, which need no memory, fetch them meanwhile,
/// some lines for each point: memory does not get more orders at once than it can take.
template <class Visit>
void with_next_rows(const RowsAhead& ahead, const Bins& bins, ChunkRows chunk, const Visit& visit) {
  const ChunkRows next = bins.after(chunk);
  if (next.empty() || ahead.columns().empty()) visit(LinesAhead());
  else if (next.back() - next.front() < 2 * most_rows_in_chunk)
    visit(LinesAhead(ahead.columns(), next.front(), next.back() - next.front() + 1));
  else visit(RowsApart{ahead.columns(), next.data(), next.data() + next.size()});
}

/// The nodes that the points of one bin reach: its block and the seven neighbours towards +x, +y, +z. Only runs that
/// points reach are cleared, read and added; all others are zero, or stay unread.
class Tile {
 public:
  Tile() { std::memset(node_, 0, sizeof(node_)); }

  Real4* at(int place) { return one_address(node_ + place); }
  const Real4* at(int place) const { return one_address(node_ + place); }

  // To add points to nodes:
  /// Points are about to add to these runs.
  void reach(const TileRuns& runs) { runs_.include(runs); }
  void add_to(NodeField& field, const Bin& bin) const { add_to(field.block(0), bin); }
  void add_to(Real* rows, const Bin& bin) const {
    for_each_run(runs_, bin, rows, [&](int place, std::ptrdiff_t at) {
      Real* to = rows + at;
      for (int z = 0; z < block_width; ++z, to += NodeField::width) store4(to, load4(to) + node_[place + z]);
    });
  }
  void clear() {
    for (int half = 0; half < 2; ++half)
      for (std::uint64_t lines = runs_.of_half[half]; lines != 0; lines &= lines - 1) {
        const int line = std::countr_zero(lines);
        const int place = line / tile_edge * tile_along_x + line % tile_edge * tile_along_y + block_width * half;
        std::memset(node_ + place, 0, block_width * sizeof(Real4));
      }
    runs_ = {};
  }

  // To read nodes:
  /// Nothing is read of a bin yet.
  void forget() { runs_ = {}; }
  /// Reads what of these runs is not read yet.
  void load_from(const NodeField& field, const Bin& bin, const TileRuns& runs) { load_from(field.block(0), bin, runs); }
  void load_from(const Real* rows, const Bin& bin, const TileRuns& runs) {
    const TileRuns missing = runs.without(runs_);
    if (!missing.any()) return;
    for_each_run(missing, bin, rows, [&](int place, std::ptrdiff_t at) {
      std::memcpy(node_ + place, rows + at, block_width * sizeof(Real4));
    });
    runs_.include(missing);
  }

 private:
  /// In a register as it stands: from a sum that they see through, compilers make the address of every node anew.
  template <class T>
  [[gnu::always_inline]] static T* one_address(T* node) {
    asm("" : "+r"(node));
    return node;
  }

  /// Calls f(place in the tile, first number in the rows of a NodeField) for each run. All of the next octant is
  /// ordered meanwhile, line by line, as memory likes it best: what this bin does not reach, the next one does.
  template <class F>
  static void for_each_run(const TileRuns& runs, const Bin& bin, const Real* rows, F&& f) {
    const auto block = [&](int o) { return static_cast<std::ptrdiff_t>(bin.numbers[o]) * NodeField::row; };
    for (int o = 0; o < 8; ++o) {
      const std::uint32_t lines = runs.in_octant(o);
      const Vec3i from = octant_offset(o) * block_width;
      std::ptrdiff_t at = block(o);
      const Real* next = rows + block(std::min(o + 1, 7));
      for (int x = 0; x < block_width; ++x)
        for (int y = 0; y < block_width; ++y, at += run, next += run) {
          __builtin_prefetch(next);
          __builtin_prefetch(next + run / 2);
          if (lines >> (tile_edge * x + y) & 1)
            f((from.x() + x) * tile_along_x + (from.y() + y) * tile_along_y + from.z(), at);
        }
    }
  }

  static constexpr int run = block_width * NodeField::width;

  Real4 node_[tile_places];
  TileRuns runs_;
};

/// What the points of a chunk reach of their tile, or all of it where they are many: then looking does not pay.
template <class Kernel>
TileRuns reached(const Stencils<Kernel>& stencils, const Bin& bin) {
  constexpr std::uint32_t most = 2 * most_rows_in_chunk;
  return bin.end - bin.begin <= most ? stencils.runs() : TileRuns::all();
}

// --- Nodes to points
// ------------------------------------------------------------------------------------------------------

/// Room for what a chunk receives of a field a_i: values sum_i w_ip a_i and slopes sum_i a_i G_ip^T.
struct ChunkBuffer {
  std::array<Vec3, most_rows_in_chunk> value;
  std::array<Mat3, most_rows_in_chunk> slope;

  std::span<Vec3> value_of(ChunkRows rows) { return {value.data(), rows.size()}; }
  std::span<Mat3> slope_of(ChunkRows rows) { return {slope.data(), rows.size()}; }
  ChunkMotion motion(ChunkRows rows) { return {value_of(rows), slope_of(rows)}; }
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

/// Of the field on a point's nodes: sum_i w_ip a_i, and what the slope is a multiple of.
struct Received {
  Real4 value, tilt[3];
};
/// first: node of the tile. With moving least squares, by planes across z.
template <class Kernel>
[[gnu::always_inline]] inline Received received(const Stencils<Kernel>& stencils, std::size_t k, const Real4* first) {
  constexpr int n = Kernel::nodes;
  const auto in = [](const Real4(&a)[n]) { return [&a](int i) { return a[i]; }; };
  const auto w = [&stencils, k](int axis) { return [&stencils, k, axis](int i) { return stencils.w(k, i, axis); }; };
  if constexpr (Stencils<Kernel>::is_mls) {
    const auto one = [](int) { return Real(1); };
    Real4 value[n], tilt_x[n], tilt_y[n];
    for (int l = 0; l < n; ++l) {
      Real4 rows[n];  // along y
      for (int i = 0; i < n; ++i) {
        const SumsAlong row = sums_along<Kernel>([&](int j) { return stencils.line(k, i, j); },
                                                 [&](int j) { return first[i * tile_along_x + j * tile_along_y + l]; });
        rows[i] = row.value;
        tilt_y[l] = i == 0 ? row.tilt : tilt_y[l] + row.tilt;
      }
      const SumsAlong plane = sums_along<Kernel>(one, in(rows));
      value[l] = plane.value;
      tilt_x[l] = plane.tilt;
    }
    const SumsAlong all = sums_along<Kernel>(w(2), in(value));
    const Real4 tilt[3] = {sum_along<Kernel>(w(2), tilt_x), sum_along<Kernel>(w(2), tilt_y), all.tilt};
    const auto about_point = [&](int axis) { return tilt[axis] - stencils.t(k, axis) * all.value; };
    return {all.value, {about_point(0), about_point(1), about_point(2)}};
  } else {
    Real4 value[n], tilt_y[n], tilt_z[n];  // of the planes across x
    for (int i = 0; i < n; ++i) {
      Real4 row_value[n], row_tilt[n];  // of the rows along z
      for (int j = 0; j < n; ++j) {
        const SumsAlong row =
            sums_along<Kernel>(w(2), [&](int l) { return first[i * tile_along_x + j * tile_along_y + l]; });
        row_value[j] = row.value;
        row_tilt[j] = row.tilt;
      }
      const SumsAlong plane = sums_along<Kernel>(w(1), in(row_value));
      value[i] = plane.value;
      tilt_y[i] = plane.tilt;
      tilt_z[i] = sum_along<Kernel>(w(1), row_tilt);
    }
    const SumsAlong all = sums_along<Kernel>(w(0), in(value));
    return {all.value, {all.tilt, sum_along<Kernel>(w(0), tilt_y), sum_along<Kernel>(w(0), tilt_z)}};
  }
}

/// sum_i w_ip a_i and sum_i a_i G_ip^T of every entry.
template <class Kernel, class Next = LinesAhead>
void gather_chunk(const Stencils<Kernel>& stencils, const Tile& tile, Real dx, std::span<Vec3> value,
                  std::span<Mat3> slope, Next next = {}) {
  const Real scale = Stencils<Kernel>::per_tilt(dx);
  for (std::size_t k = 0; k < stencils.size(); ++k) {
    fetch_for_a_point(next);
    const Received sums = received(stencils, k, tile.at(stencils.place(k)));
    store3(value[k].data(), sums.value);
    // The fourth lanes of these spill into the next column.
    store4(slope[k].data(), scale * sums.tilt[0]);
    store4(slope[k].data() + 3, scale * sums.tilt[1]);
    store3(slope[k].data() + 6, scale * sums.tilt[2]);
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

/// The value as it is at the first node: value - t tilt with moving least squares.
template <class Kernel>
[[gnu::always_inline]] inline PointShare at_first_node(const Stencils<Kernel>& stencils, std::size_t k,
                                                       PointShare share) {
  if constexpr (Stencils<Kernel>::is_mls)
    for (int axis = 0; axis < 3; ++axis) share.value -= stencils.t(k, axis) * share.tilt.of[axis];
  return share;
}

/// Adds to the nodes of a point its share; first: node of the tile. With moving least squares
///     wx wy (wz (value + l tilt_z) + i (wz tilt_x) + j (wz tilt_y)),
/// where what is multiplied by wz is found once for each plane across z.
template <class Kernel>
[[gnu::always_inline]] inline void give(const Stencils<Kernel>& stencils, std::size_t k, const PointShare& share,
                                        Real4* first) {
  constexpr int n = Kernel::nodes;
  const Real4(&tilt)[3] = share.tilt.of;
  if constexpr (Stencils<Kernel>::is_mls) {
    Real4 corner = share.value, of_plane[n], along_x[n], along_y[n];
    for (int l = 0; l < n; ++l, corner += tilt[2]) {
      const Real wz = stencils.w(k, l, 2);
      of_plane[l] = wz * corner;
      along_x[l] = wz * tilt[0];
      along_y[l] = wz * tilt[1];
    }
    for (int i = 0; i < n; ++i) {
      Real4 line[n];
      for (int l = 0; l < n; ++l) line[l] = i == 0 ? of_plane[l] : of_plane[l] += along_x[l];
      for (int j = 0; j < n; ++j) {
        Real4* nodes = first + i * tile_along_x + j * tile_along_y;
        const Real wx_wy = stencils.line(k, i, j);
        for (int l = 0; l < n; ++l) nodes[l] += wx_wy * (j == 0 ? line[l] : line[l] += along_y[l]);
      }
    }
  } else {
    const auto sign = [](int node) { return node == 0 ? -1 : 1; };
    for (int i = 0; i < n; ++i) {
      const Real wx = stencils.w(k, i, 0);
      const Real4 plane = wx * share.value + sign(i) * tilt[0];
      const Real4 tilt_y = wx * tilt[1], tilt_z = wx * tilt[2];
      for (int j = 0; j < n; ++j) {
        const Real wy = stencils.w(k, j, 1);
        const Real4 line = wy * plane + sign(j) * tilt_y, tilt_of_line = wy * tilt_z;
        Real4* nodes = first + i * tile_along_x + j * tile_along_y;
        for (int l = 0; l < n; ++l) nodes[l] += stencils.w(k, l, 2) * line + sign(l) * tilt_of_line;
      }
    }
  }
}

/// Of a share without tilts: w_ip value.
template <class Kernel>
[[gnu::always_inline]] inline void give(const Stencils<Kernel>& stencils, std::size_t k, const Real4& value,
                                        Real4* first) {
  constexpr int n = Kernel::nodes;
  Real4 line[n];
  for (int l = 0; l < n; ++l) line[l] = stencils.w(k, l, 2) * value;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      Real4* nodes = first + i * tile_along_x + j * tile_along_y;
      const Real wx_wy = Stencils<Kernel>::is_mls ? stencils.line(k, i, j) : stencils.w(k, i, 0) * stencils.w(k, j, 1);
      for (int l = 0; l < n; ++l) nodes[l] += wx_wy * line[l];
    }
}

/// share(k): the PointShare of entry k. Shares are found for some points before the first is given: cores look ahead
/// about as far as the nodes of one point, and what is added to them shall be at hand by then.
template <class Kernel, class Share>
void scatter_chunk(const Stencils<Kernel>& stencils, Tile& tile, Share&& share) {
  constexpr std::size_t at_once = 8;
  PointShare shares[at_once];
  for (std::size_t begin = 0; begin < stencils.size(); begin += at_once) {
    const std::size_t here = std::min(at_once, stencils.size() - begin);
    for (std::size_t k = 0; k < here; ++k) shares[k] = at_first_node(stencils, begin + k, share(begin + k));
    for (std::size_t k = 0; k < here; ++k) give(stencils, begin + k, shares[k], tile.at(stencils.place(begin + k)));
  }
}

}  // namespace weft
