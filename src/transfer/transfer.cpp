#include "weft/transfer/transfer.hpp"

#include <cmath>
#include <limits>

#include "transfer/stencil_kernel.hpp"
#include "weft/transfer/dispatch.hpp"

namespace weft {
namespace {

/// The columns of a m - b dt as momentum parts of a node: (0, q_x, q_y, q_z).
struct Columns4 {
  Real4 of[3];

  Columns4(Real a, const Mat3& M, Real b, const Mat3& N) {
    const Real4 zero{};
    const auto part = [&](int first) { return a * load4(M.data() + first) - b * load4(N.data() + first); };
    of[0] = __builtin_shufflevector(part(0), zero, 4, 0, 1, 2);
    of[1] = __builtin_shufflevector(part(3), zero, 4, 0, 1, 2);
    of[2] = __builtin_shufflevector(part(5), zero, 4, 1, 2, 3);
  }
};

/// C = (1 - nu) C~ + nu rigid(C~)  [docs/theory.md (2.5)].
Mat3 damped(const Mat3& C, Real nu, const Vec3& inertia) { return (1 - nu) * C + nu * rigid_part(C, inertia); }

/// A node's share is w (m, m v + dt f + m C d) - dt A G, d being its offset from the point. It splits into sums of
/// products along the three dimensions: share = wz (wy X + wx Y) + wx wy Z.
template <class Kernel, bool pushed>
void scatter_chunk(const TransferSettings& settings, const Real4& origin, ChunkRows rows, const ScatterPoints& points,
                   const Mat3* A, Real dt, Tile<Kernel>& tile) {
  constexpr int n = Kernel::nodes;
  const Real dx = settings.dx;
  for_each_stencil<Kernel>(
      rows, points.x, origin, dx, [&](std::size_t k, const auto& s) __attribute__((always_inline)) {
        const std::uint32_t p = rows[k];
        const Real m = points.m[p];
        const Vec3& v = points.v[p];
        Real4 own = m * Real4{1, v.x(), v.y(), v.z()};
        if constexpr (pushed) {
          const Vec3& f = points.f[p];
          own += dt * Real4{0, f.x(), f.y(), f.z()};
        }
        Mat3 damped_C;
        const bool is_damped = settings.rpic_damping != 0;
        if (is_damped) damped_C = damped(points.C[p], settings.rpic_damping, s.inertia());
        const Mat3& C = is_damped ? damped_C : points.C[p];

        Real4 X[n], Y[n], Z[n];
        if constexpr (Stencils<Kernel>::is_mls) {
          // d w = D g: momentum and force are multiples of the same vector.
          const Columns4 Q(m * (dx * dx / Kernel::inverse_inertia), C, dt, A[k]);
          for (int i = 0; i < n; ++i) {
            X[i] = s.w(i, 0) * own + s.g(i, 0) * Q.of[0];
            Y[i] = s.g(i, 1) * Q.of[1];
            Z[i] = s.g(i, 2) * Q.of[2];
          }
        } else {
          const Columns4 momentum(m, C, 0, C), force(0, C, dt, A[k]);
          for (int i = 0; i < n; ++i) {
            X[i] = s.w(i, 0) * own + s.moment(i, 0) * momentum.of[0] + s.g(i, 0) * force.of[0];
            Y[i] = s.moment(i, 1) * momentum.of[1] + s.g(i, 1) * force.of[1];
            Z[i] = s.moment(i, 2) * momentum.of[2] + s.g(i, 2) * force.of[2];
          }
        }
        Real4* first = tile.first_of(s);
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) {
            const Real4 xy = s.w(j, 1) * X[i] + s.w(i, 0) * Y[j];
            const Real wxy = s.w(i, 0) * s.w(j, 1);
            Real4* row = first + i * Tile<Kernel>::along_x + j * Tile<Kernel>::along_y;
            for (int l = 0; l < n; ++l) row[l] = row[l] + s.w(l, 2) * xy + wxy * Z[l];
          }
      });
}

/// What a chunk receives; one row more than a chunk has, so that a vector register may be stored over a row's end.
struct ChunkBuffer {
  std::array<Vec3, most_rows_in_chunk + 1> v;
  std::array<Mat3, most_rows_in_chunk + 1> C;

  ChunkMotion motion(ChunkRows rows) const { return {{v.data(), rows.size()}, {C.data(), rows.size()}}; }
};

template <class Kernel>
void gather_chunk(const TransferSettings& settings, const Real4& origin, ChunkRows rows, std::span<const Vec3> x,
                  const Tile<Kernel>& tile, ChunkBuffer& chunk) {
  for_each_stencil<Kernel>(
      rows, x, origin, settings.dx, [&](std::size_t k, const auto& s) __attribute__((always_inline)) {
        const FieldAtPoint at = field_at(s, tile);
        // Fourth lanes spill into what is written next.
        store4(chunk.v[k].data(), at.value);
        for (int axis = 0; axis < 3; ++axis) store4(chunk.C[k].data() + 3 * axis, at.slope[axis]);
      });
}

/// Bound of the gathered |C~|^2 of the points in a tile. Along each axis the gradient operator of every kernel is an
/// average, with weights that are not negative, of differences between neighbouring nodes over dx, and a difference
/// counts only if both nodes have mass: what has none is no neighbour of a point. (But the linear kernel's gradient
/// sees the nodes of the cell even where their weight is zero.) Of each axis and component the largest difference is
/// taken by itself. Not finite if a velocity is not.
template <class Kernel>
Real gradient_bound(const Tile<Kernel>& tile, Real dx) {
  constexpr int edge = Tile<Kernel>::edge;
  constexpr bool empty_nodes_count = Kernel::inverse_inertia == 0;
  const auto include = [](Real4& most, const Real4& a, const Real4& b) {
    const Real4 d = a - b;
    Real4 size2 = d * d;
    if constexpr (!empty_nodes_count) size2 *= a[3] * b[3];
    most = most > size2 ? most : size2;
  };
  Real4 most_x{}, most_y{}, most_z{}, all{};
  for (int i = 0; i < edge; ++i)
    for (int j = 0; j < edge; ++j)
      for (int l = 0; l < edge; ++l) {
        const Real4& here = tile.node[i][j][l];
        all += here;
        if (i > 0) include(most_x, here, tile.node[i - 1][j][l]);
        if (j > 0) include(most_y, here, tile.node[i][j - 1][l]);
        if (l > 0) include(most_z, here, tile.node[i][j][l - 1]);
      }
  const Real4 most = most_x + most_y + most_z;
  const Real not_finite = 0 * (all[0] + all[1] + all[2]);  // zero or not a number; a maximum may lose such
  return (most[0] + most[1] + most[2]) / (dx * dx) + not_finite;
}

}  // namespace

Mat3 rigid_part(const Mat3& C, const Vec3& inertia) {
  Mat3 rigid = Mat3::Zero();
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < a; ++b) {
      // The angular momentum of the pair is C_ab D_b - C_ba D_a; a rotation of rate r carries r (D_a + D_b).
      const Real sum = inertia[a] + inertia[b];
      const Real rate = sum > 0 ? (C(a, b) * inertia[b] - C(b, a) * inertia[a]) / sum : (C(a, b) - C(b, a)) / 2;
      rigid(a, b) = rate;
      rigid(b, a) = -rate;
    }
  return rigid;
}

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

void scatter(const TransferSettings& settings, const Bins& bins, const ScatterPoints& points, const Respond& respond,
             Real dt, NodeField& inertia) {
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    // Tiles of one colour do not overlap, and colours follow one another: every node is added to in a fixed order.
    for (int colour = 0; colour < 8; ++colour) {
      const auto chosen = bins.of_colour(colour);
#pragma omp parallel
      {
        Tile<Kernel> tile;
        std::array<Mat3, most_rows_in_chunk> A;
#pragma omp for schedule(dynamic)
        for (std::ptrdiff_t b = 0; b < static_cast<std::ptrdiff_t>(chosen.size()); ++b) {
          const Bin& bin = bins.bins()[chosen[b]];
          tile.clear();
          for (const ChunkRows rows : chunks_of(bins, bin)) {
            respond(rows, {std::span(A.data(), rows.size())});
            if (points.f.empty())
              scatter_chunk<Kernel, false>(settings, origin_of(bin), rows, points, A.data(), dt, tile);
            else scatter_chunk<Kernel, true>(settings, origin_of(bin), rows, points, A.data(), dt, tile);
          }
          tile.add_to(inertia, bin);
        }
      }
    }
  });
}

void gather(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x, const NodeField& velocity,
            const Receive& receive) {
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    const auto all = bins.bins();
#pragma omp parallel
    {
      Tile<Kernel> tile;
      ChunkBuffer chunk;
#pragma omp for schedule(dynamic)
      for (std::ptrdiff_t b = 0; b < static_cast<std::ptrdiff_t>(all.size()); ++b) {
        tile.load_from(velocity, all[b]);
        for (const ChunkRows rows : chunks_of(bins, all[b])) {
          gather_chunk(settings, origin_of(all[b]), rows, x, tile, chunk);
          receive(rows, chunk.motion(rows));
        }
      }
    }
  });
}

Steepest steepest_above(Real bound, const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x,
                        const NodeField& velocity) {
  Steepest steepest;
  std::size_t first = 0;  // bin of the steepest
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    const auto all = bins.bins();
#pragma omp parallel
    {
      Tile<Kernel> tile;
      ChunkBuffer chunk;
#pragma omp for schedule(dynamic)
      for (std::size_t b = 0; b < all.size(); ++b) {
        tile.load_from(velocity, all[b]);
        if (gradient_bound(tile, settings.dx) <= bound * bound) continue;
        Steepest here;
        for (const ChunkRows rows : chunks_of(bins, all[b])) {
          gather_chunk(settings, origin_of(all[b]), rows, x, tile, chunk);
          for (std::size_t k = 0; k < rows.size(); ++k) {
            const Real norm = chunk.C[k].norm();
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
