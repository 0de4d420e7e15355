#include "weft/transfer/transfer.hpp"

#include <omp.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "transfer/stencil_kernel.hpp"
#include "weft/base/check.hpp"
#include "weft/transfer/dispatch.hpp"

namespace weft {
namespace {

using MatricesOfChunk = std::array<Mat3, most_rows_in_chunk>;

/// C = (1 - nu) C~ + nu rigid(C~)  [docs/theory/transfer.md (2.5)].
template <class Kernel>
[[gnu::noinline]] void find_damped(Real nu, const Stencils<Kernel>& stencils, ChunkRows rows, std::span<const Mat3> C,
                                   MatricesOfChunk& damped_C) {
  for (std::size_t k = 0; k < rows.size(); k += Pack::size) {
    const Matrix3<Pack> of_points = load(C, PackRows::of(rows, k));
    const Matrix3<Pack> damped =
        Pack(1 - nu) * of_points + Pack(nu) * rigid_part(of_points, stencils.inertia_of_pack(k));
    store(damped, PackRows::range(k, k + Pack::size), std::span(damped_C));  // idle lanes too: there is room
  }
}

/// The velocity gradients that the points of a chunk carry to nodes.
class CarriedSlopes {
 public:
  template <class Kernel>
  [[gnu::always_inline]] CarriedSlopes(const TransferSettings& settings, const Stencils<Kernel>& stencils,
                                       ChunkRows rows, std::span<const Mat3> C)
      : C_(C), is_damped_(settings.rpic_damping != 0) {
    if (is_damped_) find_damped(settings.rpic_damping, stencils, rows, C, damped_);
  }
  /// Of point k of the chunk, row p: nine reals, with room for one more.
  [[gnu::always_inline]] const Real* at(std::size_t k, std::uint32_t p) const {
    return (is_damped_ ? damped_[k] : C_[p]).data();
  }

 private:
  std::span<const Mat3> C_;
  bool is_damped_;
  MatricesOfChunk damped_;
};

/// A node's share is w (m, m v + dt f + m C d) - dt A G, d being its offset from the point: with moving least squares
/// a multiple of w d in both.
template <bool pushed, class Kernel, class Next>
[[gnu::noinline]] void scatter_chunk(const TransferSettings& settings, const Stencils<Kernel>& stencils, ChunkRows rows,
                                     Next next, ScatterPoints points, const Mat3* A, Real dt, Tile& tile) {
  const Real dx = settings.dx, pull = -dt * Stencils<Kernel>::per_tilt(dx);
  const CarriedSlopes slopes(settings, stencils, rows, points.C);
  scatter_chunk(stencils, tile, [&](std::size_t k) __attribute__((always_inline)) {
    fetch_for_a_point(next);
    const std::uint32_t p = rows[k];
    const Real m = points.m[p];
    const Vec3& v = points.v[p];
    PointShare share;
    share.value = m * Real4{1, v.x(), v.y(), v.z()};
    if constexpr (pushed) {
      const Vec3& f = points.f[p];
      share.value += dt * Real4{0, f.x(), f.y(), f.z()};
    }
    const Real* const C = slopes.at(k, p);
    const auto momentum = [&](int first) { return (m * dx) * load4(C + first); };
    const auto force = [&](int first) { return pull * load4(A[k].data() + first); };
    if constexpr (Stencils<Kernel>::is_mls) {
      share.tilt = columns([&](int first) { return momentum(first) + force(first); });
    } else {
      // Of the linear kernel w (i - t) is a multiple of its gradient too, along each axis another.
      share.tilt = columns(force);
      const Columns4 spin = columns(momentum);
      const Vec3 D = stencils.inertia(k);
      for (int axis = 0; axis < 3; ++axis) share.tilt.of[axis] += D[axis] * spin.of[axis];
    }
    return share;
  });
}

/// The columns of m C d, d being the offset of a node from a point, as a share's tilt. C: nine reals, with room for one
/// more.
template <class Kernel>
[[gnu::always_inline]] inline Columns4 spin_of(const Stencils<Kernel>& stencils, std::size_t k, Real m_dx,
                                               const Real* C) {
  Columns4 spin = columns([&](int first) { return m_dx * load4(C + first); });
  if constexpr (!Stencils<Kernel>::is_mls) {
    const Vec3 D = stencils.inertia(k);
    for (int axis = 0; axis < 3; ++axis) spin.of[axis] *= D[axis];
  }
  return spin;
}

/// In two parts: to one tile mass and momentum, to the other the impulses dt (w f - A G).
template <class Kernel, class Next>
[[gnu::noinline]] void scatter_chunk_in_parts(const TransferSettings& settings, const Stencils<Kernel>& stencils,
                                              ChunkRows rows, Next next, ScatterPoints points, const Mat3* A, Real dt,
                                              Tile& carried, Tile& pushed) {
  const Real dx = settings.dx, pull = -dt * Stencils<Kernel>::per_tilt(dx);
  const CarriedSlopes slopes(settings, stencils, rows, points.C);
  scatter_chunk(stencils, carried, [&](std::size_t k) __attribute__((always_inline)) {
    fetch_for_a_point(next);
    const std::uint32_t p = rows[k];
    const Real m = points.m[p];
    const Vec3& v = points.v[p];
    return PointShare{m * Real4{1, v.x(), v.y(), v.z()}, spin_of(stencils, k, m * dx, slopes.at(k, p))};
  });
  scatter_chunk(stencils, pushed, [&](std::size_t k) __attribute__((always_inline)) {
    const Vec3 f = points.f.empty() ? Vec3::Zero() : points.f[rows[k]];
    return PointShare{dt * Real4{0, f.x(), f.y(), f.z()},
                      columns([&](int first) { return pull * load4(A[k].data() + first); })};
  });
}

/// The same of points with mass and velocity alone.
template <class Kernel, class Next>
void scatter_chunk(const Stencils<Kernel>& stencils, ChunkRows rows, Next next, const ScatterPoints& points,
                   Tile& tile) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    fetch_for_a_point(next);
    const Vec3& v = points.v[rows[k]];
    give(stencils, k, points.m[rows[k]] * Real4{1, v.x(), v.y(), v.z()}, tile.at(stencils.place(k)));
  }
}

/// True if each row is the one after that before.
bool follow(ChunkRows rows) {
  bool all = true;
  for (std::size_t k = 1; k < rows.size(); ++k) all &= rows[k] == rows[0] + k;
  return all;
}

/// How many bins a thread takes at a time: neighbours share nodes, which it then finds in its cache, but there must be
/// enough for threads to end together.
int bins_at_once(std::size_t bins) {
  const int for_each_thread = static_cast<int>(bins) / omp_get_max_threads();
  return std::clamp(for_each_thread / 32, 1, 8);
}

/// The largest squared differences between nodes that are neighbours along x, y and z, of each component by itself
/// [m^2/s^2], and the sum of all values, which is not finite if one of them is not: a maximum may lose such.
struct Differences {
  std::array<Real4, 3> most{};
  Real4 sum{};

  template <class Kernel>
  void include(int axis, const Real4& a, const Real4& b) {
    const Real4 d = a - b;
    Real4 size2 = d * d;
    // What has no mass is no neighbour of a point, but a linear gradient sees nodes of the cell whose weight is zero.
    if constexpr (Kernel::inverse_inertia != 0) size2 *= a[3] * b[3];
    most[axis] = most[axis] > size2 ? most[axis] : size2;
  }
  void include(const Differences& more) {
    for (int axis = 0; axis < 3; ++axis) most[axis] = most[axis] > more.most[axis] ? most[axis] : more.most[axis];
    sum += more.sum;
  }
};

/// How far apart stand nodes of a block that are neighbours along each axis.
constexpr std::array<int, 3> along{block_width * block_width, block_width, 1};

/// Between the nodes of one block.
template <class Kernel>
Differences differences_within(const Real* block) {
  Differences found;
  const auto node = [block](int place) { return load4(block + NodeField::width * place); };
  for (int place = 0; place < nodes_per_block; ++place) {
    const Real4 here = node(place);
    found.sum += here;
    for (int axis = 0; axis < 3; ++axis)
      if (place / along[axis] % block_width > 0) found.include<Kernel>(axis, here, node(place - along[axis]));
  }
  return found;
}

/// Between the nodes of a block and those of its neighbour towards +axis.
template <class Kernel, int axis>
void include_across(const Real* block, const Real* neighbour, Differences& found) {
  constexpr int one = along[(axis + 1) % 3], other = along[(axis + 2) % 3], last = (block_width - 1) * along[axis];
#pragma GCC unroll 4
  for (int i = 0; i < block_width; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < block_width; ++j) {
      const int place = i * one + j * other;
      found.include<Kernel>(axis, load4(neighbour + NodeField::width * place),
                            load4(block + NodeField::width * (place + last)));
    }
}

/// Bound of the gathered |C~|^2 of the points of a bin. Along each axis the gradient operator of every kernel is an
/// average, with weights that are not negative, of differences between neighbouring nodes over dx, and a difference
/// counts only if both nodes have mass. Of each axis and component the largest difference is taken by itself. Not
/// finite if a velocity is not.
template <class Kernel>
Real gradient_bound(const Bin& bin, const NodeField& velocity, std::span<const Differences> by_block, Real dx) {
  Differences found;
  for (int o = 0; o < 8; ++o) {
    found.include(by_block[bin.numbers[o]]);
    const auto across = [&]<int axis>() {
      if (const int towards = o | (4 >> axis); towards != o)
        include_across<Kernel, axis>(velocity.block(bin.numbers[o]), velocity.block(bin.numbers[towards]), found);
    };
    across.template operator()<0>();
    across.template operator()<1>();
    across.template operator()<2>();
  }
  const Real4 most = found.most[0] + found.most[1] + found.most[2];
  const Real not_finite = 0 * (found.sum[0] + found.sum[1] + found.sum[2]);  // zero or not a number
  return (most[0] + most[1] + most[2]) / (dx * dx) + not_finite;
}

}  // namespace

Vec3 moment_of_inertia(const TransferSettings& settings, const Vec3& x) {
  return with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    if constexpr (Kernel::inverse_inertia != 0) {
      return Vec3(Vec3::Constant(settings.dx * settings.dx / Kernel::inverse_inertia));
    } else {
      const Vec3 scaled = x / settings.dx;
      const auto along = [&](Real at) {
        const Real t = at - Kernel::base(at);
        return settings.dx * settings.dx * t * (1 - t);
      };
      return Vec3(along(scaled.x()), along(scaled.y()), along(scaled.z()));
    }
  });
}

namespace {

/// Calls visit(bin, rows, stencils, tiles) for each chunk, to add to the tiles of its bin, and then add(tiles, bin),
/// which adds these to nodes, `nodes` among them.
template <class Kernel, int tiles_of_bin, class Visit, class Add>
void scatter_tiles(Real dx, const Bins& bins, std::span<const Vec3> x, const Visit& visit, const Add& add) {
  // Cubes of one colour share no node, and colours follow one another: every node is added to in a fixed order.
#pragma omp parallel
  {
    Tile tiles[tiles_of_bin];
    Stencils<Kernel> stencils;
    for (int colour = 0; colour < 8; ++colour) {
      const auto cubes = bins.of_colour(colour);
      if (cubes.empty()) continue;
#pragma omp for schedule(dynamic)
      for (std::size_t c = 0; c < cubes.size(); ++c)
        for (const Bin& bin : bins.of_cube(cubes[c])) {
          for (Tile& tile : tiles) tile.clear();
          for (const ChunkRows rows : chunks_of(bins, bin)) {
            stencils.find(rows, x, origin_of(bin), dx);
            const TileRuns runs = reached(stencils, bin);
            for (Tile& tile : tiles) tile.reach(runs);
            visit(bin, rows, stencils, tiles);
          }
          add(tiles, bin);
        }
    }
  }
}
/// The same of one tile, which is added to a field.
template <class Kernel, class Visit>
void scatter_tiles(Real dx, const Bins& bins, std::span<const Vec3> x, NodeField& nodes, const Visit& visit) {
  scatter_tiles<Kernel, 1>(
      dx, bins, x,
      [&](const Bin&, ChunkRows rows, const Stencils<Kernel>& stencils, Tile* tile) { visit(rows, stencils, *tile); },
      [&](Tile* tile, const Bin& bin) { tile->add_to(nodes, bin); });
}

}  // namespace

void scatter(const TransferSettings& settings, const Bins& bins, const ScatterPoints& points, const Respond& respond,
             Real dt, NodeField& inertia, const RowsAhead& ahead) {
  WEFT_ENSURE(!points.C.empty() || points.f.empty());
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    const auto visit = [&](ChunkRows rows, const Stencils<Kernel>& stencils, Tile& tile) {
      MatricesOfChunk A;
      if (!points.C.empty()) respond(rows, {std::span(A.data(), rows.size())});
      with_next_rows(ahead, bins, rows, [&](auto next) {
        if (points.C.empty()) scatter_chunk(stencils, rows, next, points, tile);
        else if (points.f.empty()) scatter_chunk<false>(settings, stencils, rows, next, points, A.data(), dt, tile);
        else scatter_chunk<true>(settings, stencils, rows, next, points, A.data(), dt, tile);
      });
    };
    scatter_tiles<Kernel>(settings.dx, bins, points.x, inertia, visit);
  });
}

void scatter_apart(const TransferSettings& settings, const Bins& bins, const ScatterPoints& points,
                   const Respond& respond, Real dt, NodeField& inertia, NodeField& carried, const RowsAhead& ahead) {
  WEFT_ENSURE(points.C.size() == points.x.size() && (respond || points.f.empty()));
  MatricesOfChunk no_stress;
  no_stress.fill(Mat3::Zero());
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    const auto visit = [&](const Bin&, ChunkRows rows, const Stencils<Kernel>& stencils, Tile* tiles) {
      MatricesOfChunk A;
      if (respond) respond(rows, {std::span(A.data(), rows.size())});
      with_next_rows(ahead, bins, rows, [&](auto next) {
        if (respond) scatter_chunk_in_parts(settings, stencils, rows, next, points, A.data(), dt, tiles[0], tiles[1]);
        else scatter_chunk<false>(settings, stencils, rows, next, points, no_stress.data(), 0, tiles[0]);
      });
    };
    scatter_tiles<Kernel, 2>(settings.dx, bins, points.x, visit, [&](Tile* tiles, const Bin& bin) {
      tiles[0].add_to(carried, bin);
      tiles[0].add_to(inertia, bin);
      if (respond) tiles[1].add_to(inertia, bin);
    });
  });
}

void scatter_mass(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x, std::span<const Real> m,
                  NodeField& nodes) {
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    const Real pull = settings.dx * Stencils<Kernel>::per_tilt(settings.dx);
    const auto visit = [&](ChunkRows rows, const Stencils<Kernel>& stencils, Tile& tile) {
      scatter_chunk(stencils, tile, [&](std::size_t k) {
        const Real mass = m[rows[k]], g = pull * mass;
        return PointShare{{mass, 0, 0, 0}, {{{0, g, 0, 0}, {0, 0, g, 0}, {0, 0, 0, g}}}};
      });
    };
    scatter_tiles<Kernel>(settings.dx, bins, x, nodes, visit);
  });
}

namespace {

/// Calls visit(i, w_ip, share of the near side) for each node of entry k, whose point is marked by y; i: its place in a
/// tile after the first. shares: of the first.
template <class Kernel, class Visit>
[[gnu::always_inline]] inline void for_each_side(const Stencils<Kernel>& stencils, std::size_t k, const Vec3& y,
                                                 const Real4* shares, const Visit& visit) {
  constexpr int nodes = Kernel::nodes;
  const Real4 of_point{1, y.x(), y.y(), y.z()};
  for (int i = 0; i < nodes; ++i)
    for (int j = 0; j < nodes; ++j)
      for (int l = 0; l < nodes; ++l) {
        const int node = i * tile_along_x + j * tile_along_y + l;
        const Real4 share = shares[node] * of_point;
        visit(node, stencils.weight(k, i, j, l),
              std::clamp(share[0] + share[1] + share[2] + share[3], Real(0), Real(1)));
      }
}

/// Whether the points of a bin see nodes with two sides.
bool sees_two(const Bin& bin, const NodeSides& sides) {
  return std::ranges::any_of(bin.numbers, [&](int block) { return sides.split[static_cast<std::size_t>(block)] != 0; });
}

}  // namespace

void scatter_to_sides(const TransferSettings& settings, const Bins& bins, const ScatterPoints& points,
                      const NodeSides& sides, NodeField& near, NodeField& far) {
  WEFT_ENSURE(points.C.empty() && points.f.empty());
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    const auto visit = [&](const Bin& bin, ChunkRows rows, const Stencils<Kernel>& stencils, Tile* tiles) {
      if (!sees_two(bin, sides)) return scatter_chunk(stencils, rows, LinesAhead(), points, tiles[0]);
      Tile shares;
      shares.load_from(*sides.share, bin, reached(stencils, bin));
      for (std::size_t k = 0; k < rows.size(); ++k) {
        const Vec3& v = points.v[rows[k]];
        const Real4 value = points.m[rows[k]] * Real4{1, v.x(), v.y(), v.z()};
        const int first = stencils.place(k);
        Real4 *const of_near = tiles[0].at(first), *const of_far = tiles[1].at(first);
        for_each_side(stencils, k, sides.marks[rows[k]], shares.at(first), [&](int node, Real w, Real share) {
          of_near[node] += (w * share) * value;
          of_far[node] += (w * (1 - share)) * value;
        });
      }
    };
    scatter_tiles<Kernel, 2>(settings.dx, bins, points.x, visit, [&](Tile* tiles, const Bin& bin) {
      tiles[0].add_to(near, bin);
      if (sees_two(bin, sides)) tiles[1].add_to(far, bin);
    });
  });
}

namespace {

/// Whether a field of three reals is zero on each block.
std::vector<char> blocks_of_zeros(const NodeField& field) {
  std::vector<char> are_zero(static_cast<std::size_t>(field.blocks()));
#pragma omp parallel for schedule(static)
  for (int b = 0; b < field.blocks(); ++b) {
    const Real* const row = field.block(b);
    bool is_zero = true;
    for (int k = 0; k < NodeField::row; k += NodeField::width)
      is_zero &= row[k] == 0 && row[k + 1] == 0 && row[k + 2] == 0;
    are_zero[static_cast<std::size_t>(b)] = is_zero;
  }
  return are_zero;
}
bool sees_zeros(const Bin& bin, std::span<const char> are_zero) {
  return std::ranges::all_of(bin.numbers, [&](int block) { return are_zero[static_cast<std::size_t>(block)] != 0; });
}

}  // namespace

void gather_values(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x, const NodeField& field,
                   std::span<Vec3> values) {
  std::ranges::fill(values, Vec3::Zero());
  const std::vector<char> are_zero = blocks_of_zeros(field);
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    const auto all = bins.bins();
    const int bins_together = bins_at_once(all.size());
#pragma omp parallel
    {
      Tile tile;
      Stencils<Kernel> stencils;
#pragma omp for schedule(dynamic, bins_together) nowait
      for (std::ptrdiff_t b = 0; b < static_cast<std::ptrdiff_t>(all.size()); ++b) {
        if (sees_zeros(all[b], are_zero)) continue;
        tile.forget();
        for (const ChunkRows rows : chunks_of(bins, all[b])) {
          stencils.find(rows, x, origin_of(all[b]), settings.dx);
          tile.load_from(field, all[b], reached(stencils, all[b]));
          for (std::size_t k = 0; k < rows.size(); ++k)
            store3(values[rows[k]].data(), received(stencils, k, tile.at(stencils.place(k))).value);
        }
      }
    }
  });
}

void gather_values(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x,
                   const std::array<const NodeField*, 2>& fields, const ReceiveTwo& receive, const RowsAhead& ahead) {
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    const auto all = bins.bins();
    const int bins_together = bins_at_once(all.size());
#pragma omp parallel
    {
      std::array<Tile, 2> tiles;
      Stencils<Kernel> stencils;
      std::array<std::array<Vec3, most_rows_in_chunk>, 2> values;
#pragma omp for schedule(dynamic, bins_together) nowait
      for (std::ptrdiff_t b = 0; b < static_cast<std::ptrdiff_t>(all.size()); ++b) {
        for (Tile& tile : tiles) tile.forget();
        for (const ChunkRows rows : chunks_of(bins, all[b])) {
          stencils.find(rows, x, origin_of(all[b]), settings.dx);
          for (std::size_t f = 0; f < 2; ++f) tiles[f].load_from(*fields[f], all[b], reached(stencils, all[b]));
          with_next_rows(ahead, bins, rows, [&](auto next) {
            for (std::size_t k = 0; k < rows.size(); ++k) {
              fetch_for_a_point(next);
              for (std::size_t f = 0; f < 2; ++f)
                store3(values[f][k].data(), received(stencils, k, tiles[f].at(stencils.place(k))).value);
            }
          });
          receive(rows, std::span(values[0]).first(rows.size()), std::span(values[1]).first(rows.size()));
        }
      }
    }
  });
}

void gather_from_sides(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x,
                       const NodeSides& sides, const NodeField& near, const NodeField& far, std::span<Vec3> values) {
  std::ranges::fill(values, Vec3::Zero());
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    const auto all = bins.bins();
#pragma omp parallel
    {
      Tile of_near, of_far, shares;
      Stencils<Kernel> stencils;
#pragma omp for schedule(dynamic) nowait
      for (std::size_t b = 0; b < all.size(); ++b) {
        for (Tile* tile : {&of_near, &of_far, &shares}) tile->forget();
        for (const ChunkRows rows : chunks_of(bins, all[b])) {
          stencils.find(rows, x, origin_of(all[b]), settings.dx);
          const TileRuns runs = reached(stencils, all[b]);
          of_near.load_from(near, all[b], runs);
          if (!sees_two(all[b], sides)) {
            for (std::size_t k = 0; k < rows.size(); ++k)
              store3(values[rows[k]].data(), received(stencils, k, of_near.at(stencils.place(k))).value);
            continue;
          }
          of_far.load_from(far, all[b], runs);
          shares.load_from(*sides.share, all[b], runs);
          for (std::size_t k = 0; k < rows.size(); ++k) {
            const int first = stencils.place(k);
            const Real4 *const first_near = of_near.at(first), *const first_far = of_far.at(first);
            Real4 sum{};
            for_each_side(stencils, k, sides.marks[rows[k]], shares.at(first), [&](int node, Real w, Real share) {
              sum += (w * share) * first_near[node] + (w * (1 - share)) * first_far[node];
            });
            store3(values[rows[k]].data(), sum);
          }
        }
      }
    }
  });
}

Real gather(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x, const NodeField& velocity,
            const Receive& receive, const MotionColumns& columns, const RowsAhead& ahead) {
  Real farthest = bin_middle - bin_start;
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    const auto all = bins.bins();
    const int bins_together = bins_at_once(all.size());
#pragma omp parallel
    {
      Tile tile;
      Stencils<Kernel> stencils;
      ChunkBuffer chunk;
      Pack off_middle = 0;
#pragma omp for schedule(dynamic, bins_together) nowait
      for (std::ptrdiff_t b = 0; b < static_cast<std::ptrdiff_t>(all.size()); ++b) {
        tile.forget();
        for (const ChunkRows rows : chunks_of(bins, all[b])) {
          stencils.find(rows, x, origin_of(all[b]), settings.dx, &off_middle);
          tile.load_from(velocity, all[b], reached(stencils, all[b]));
          // Rows that follow one another receive at once, others through the buffer.
          const bool at_once = !columns.v.empty() && follow(rows);
          const std::size_t first = at_once ? rows.front() : 0;
          const std::span<Vec3> v = at_once ? columns.v.subspan(first, rows.size()) : chunk.value_of(rows);
          const std::span<Mat3> C = at_once ? columns.C.subspan(first, rows.size()) : chunk.slope_of(rows);
          with_next_rows(ahead, bins, rows, [&](auto next) { gather_chunk(stencils, tile, settings.dx, v, C, next); });
          if (!at_once && !columns.v.empty())
            for (std::size_t k = 0; k < rows.size(); ++k) {
              columns.v[rows[k]] = v[k];
              columns.C[rows[k]] = C[k];
            }
          receive(rows, {v, C});
        }
      }
#pragma omp critical
      farthest = std::max(farthest, largest(off_middle));
    }
  });
  return (farthest - (bin_middle - bin_start)) * settings.dx;
}

VelocityRanges::VelocityRanges(const TransferSettings& settings, const NodeField& velocity)
    : dx_(settings.dx), by_block_(static_cast<std::size_t>(velocity.blocks())) {
  with_kernel(settings.kernel, [&](auto kernel) {
    constexpr bool all_count = decltype(kernel)::inverse_inertia == 0;  // as in Differences
    constexpr Real far = std::numeric_limits<Real>::infinity();
    const Real4 above = Real4{} + far;
#pragma omp parallel for schedule(static)
    for (std::size_t b = 0; b < by_block_.size(); ++b) {
      const Real* const block = velocity.block(static_cast<int>(b));
      Real4 lower = above, upper = -above, square{}, sum{};
      for (int place = 0; place < nodes_per_block; ++place) {
        const Real4 v = load4(block + NodeField::width * place);
        Real4 beyond{};
        if constexpr (!all_count) beyond = Real4{v[3], v[3], v[3], v[3]} > 0 ? Real4{} : above;
        lower = lower < v + beyond ? lower : v + beyond;
        upper = upper > v - beyond ? upper : v - beyond;
        square = square > v * v ? square : v * v;
        sum += v;
      }
      const auto numbers = [](const Real4& v) { return std::bit_cast<std::array<Real, 4>>(v); };
      by_block_[b] = {numbers(lower), numbers(upper), numbers(square), std::isfinite(sum[0] + sum[1] + sum[2])};
    }
  });
}

Real VelocityRanges::largest(int blocks) const {
  Real most = 0;
  for (const Range& range : std::span(by_block_).first(static_cast<std::size_t>(blocks))) {
    if (!range.is_finite) return std::numeric_limits<Real>::infinity();
    most = std::max(most, range.square[0] + range.square[1] + range.square[2]);
  }
  return std::sqrt(most);
}

Real VelocityRanges::steepest2(const Bin& bin) const {
  constexpr Real far = std::numeric_limits<Real>::infinity();
  Real4 lower = Real4{} + far, upper = -lower;
  for (const std::int32_t number : bin.numbers) {
    const Range& range = by_block_[static_cast<std::size_t>(number)];
    if (!range.is_finite) return far;
    const Real4 low = load4(range.lower.data()), high = load4(range.upper.data());
    lower = lower < low ? lower : low;
    upper = upper > high ? upper : high;
  }
  const Real4 apart = upper > lower ? (upper - lower) / dx_ : Real4{};
  return 3 * (apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2]);
}

Steepest steepest_above(Real bound, const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x,
                        const NodeField& velocity, const VelocityRanges& ranges) {
  const auto is_doubtful = [&](const Bin& bin) { return !(ranges.steepest2(bin) <= bound * bound); };
  if (std::ranges::none_of(bins.bins(), is_doubtful)) return {};
  Steepest steepest;
  std::size_t first = 0;  // bin of the steepest
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    const auto all = bins.bins();
    const int at_once = bins_at_once(all.size());
    std::vector<Differences> by_block(static_cast<std::size_t>(velocity.blocks()));
#pragma omp parallel
    {
#pragma omp for schedule(static)
      for (std::size_t b = 0; b < by_block.size(); ++b)
        by_block[b] = differences_within<Kernel>(velocity.block(static_cast<int>(b)));
      Tile tile;
      Stencils<Kernel> stencils;
      ChunkBuffer chunk;
#pragma omp for schedule(dynamic, at_once)
      for (std::size_t b = 0; b < all.size(); ++b) {
        if (!is_doubtful(all[b]) || gradient_bound<Kernel>(all[b], velocity, by_block, settings.dx) <= bound * bound)
          continue;
        tile.forget();
        Steepest here;
        for (const ChunkRows rows : chunks_of(bins, all[b])) {
          stencils.find(rows, x, origin_of(all[b]), settings.dx);
          tile.load_from(velocity, all[b], reached(stencils, all[b]));
          gather_chunk(stencils, tile, settings.dx, chunk.value_of(rows), chunk.slope_of(rows));
          for (std::size_t k = 0; k < rows.size(); ++k) {
            const Real norm = chunk.slope[k].norm();
            if (norm > here.norm) here = {norm, rows[k]};
            else if (!std::isfinite(norm) && std::isfinite(here.norm))
              here = {std::numeric_limits<Real>::infinity(), rows[k]};
          }
        }
        if (!(here.norm > bound)) continue;
#pragma omp critical
        if (here.norm > steepest.norm || (here.norm == steepest.norm && b < first)) {
          steepest = here;
          first = b;
        }
      }
    }
  });
  return steepest;
}

}  // namespace weft
