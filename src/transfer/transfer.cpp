#include "weft/transfer/transfer.hpp"

#include <cmath>
#include <limits>

#include "transfer/stencil_kernel.hpp"
#include "weft/transfer/dispatch.hpp"

namespace weft {
namespace {

/// C = (1 - nu) C~ + nu rigid(C~)  [docs/theory.md (2.5)].
Mat3 damped(const Mat3& C, Real nu, const Vec3& inertia) { return (1 - nu) * C + nu * rigid_part(C, inertia); }

/// A node's share is w (m, m v + dt f + m C d) - dt A G, d being its offset from the point: with moving least squares
/// a multiple of w d in both.
template <class Kernel, bool pushed>
void scatter_chunk(const TransferSettings& settings, const Stencils<Kernel>& stencils, ChunkRows rows,
                   const ScatterPoints& points, const Mat3* A, Real dt, Tile& tile) {
  const Real dx = settings.dx, pull = -dt * (Stencils<Kernel>::is_mls ? Real(Kernel::inverse_inertia) : 1) / dx;
  scatter_chunk(
      stencils, tile, [&](std::size_t k) __attribute__((always_inline)) {
        const std::uint32_t p = rows[k];
        const Real m = points.m[p];
        const Vec3& v = points.v[p];
        PointShare share;
        share.value = m * Real4{1, v.x(), v.y(), v.z()};
        if constexpr (pushed) {
          const Vec3& f = points.f[p];
          share.value += dt * Real4{0, f.x(), f.y(), f.z()};
        }
        Mat3 damped_C;
        const bool is_damped = settings.rpic_damping != 0;
        if (is_damped) damped_C = damped(points.C[p], settings.rpic_damping, stencils.inertia(k));
        const Real* C = is_damped ? damped_C.data() : points.C[p].data();
        const auto momentum = [&](int first) { return (m * dx) * load4(C + first); };
        const auto force = [&](int first) { return pull * load4(A[k].data() + first); };
        if constexpr (Stencils<Kernel>::is_mls) {
          share.tilt = columns([&](int first) { return momentum(first) + force(first); });
        } else {
          share.tilt = columns(momentum);
          share.push = columns(force);
        }
        return share;
      });
}

/// Bound of the gathered |C~|^2 of the points in a tile. Along each axis the gradient operator of every kernel is an
/// average, with weights that are not negative, of differences between neighbouring nodes over dx, and a difference
/// counts only if both nodes have mass: what has none is no neighbour of a point. (But the linear kernel's gradient
/// sees the nodes of the cell even where their weight is zero.) Of each axis and component the largest difference is
/// taken by itself. Not finite if a velocity is not.
template <class Kernel>
Real gradient_bound(const Tile& tile, Real dx) {
  constexpr int edge = Tile::edge;
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
        Tile tile;
        Stencils<Kernel> stencils;
        std::array<Mat3, most_rows_in_chunk + 1> A;  // registers are loaded over a row's end
#pragma omp for schedule(dynamic)
        for (std::ptrdiff_t b = 0; b < static_cast<std::ptrdiff_t>(chosen.size()); ++b) {
          const Bin& bin = bins.bins()[chosen[b]];
          tile.clear();
          for (const ChunkRows rows : chunks_of(bins, bin)) {
            respond(rows, {std::span(A.data(), rows.size())});
            stencils.find(rows, points.x, origin_of(bin), settings.dx);
            if (points.f.empty()) scatter_chunk<Kernel, false>(settings, stencils, rows, points, A.data(), dt, tile);
            else scatter_chunk<Kernel, true>(settings, stencils, rows, points, A.data(), dt, tile);
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
      Tile tile;
      Stencils<Kernel> stencils;
      ChunkBuffer chunk;
#pragma omp for schedule(dynamic)
      for (std::ptrdiff_t b = 0; b < static_cast<std::ptrdiff_t>(all.size()); ++b) {
        tile.load_from(velocity, all[b]);
        for (const ChunkRows rows : chunks_of(bins, all[b])) {
          stencils.find(rows, x, origin_of(all[b]), settings.dx);
          gather_chunk(stencils, tile, settings.dx, chunk);
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
      Tile tile;
      Stencils<Kernel> stencils;
      ChunkBuffer chunk;
#pragma omp for schedule(dynamic)
      for (std::size_t b = 0; b < all.size(); ++b) {
        tile.load_from(velocity, all[b]);
        if (gradient_bound<Kernel>(tile, settings.dx) <= bound * bound) continue;
        Steepest here;
        for (const ChunkRows rows : chunks_of(bins, all[b])) {
          stencils.find(rows, x, origin_of(all[b]), settings.dx);
          gather_chunk(stencils, tile, settings.dx, chunk);
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
