#include "weft/transfer/transfer.hpp"

#include "transfer/stencil_kernel.hpp"
#include "weft/transfer/dispatch.hpp"

namespace weft {
namespace {

/// A column of a matrix as the momentum part of a node: (0, a_x, a_y, a_z).
Real4 as_momentum(const Vec3& a) { return Real4{0, a.x(), a.y(), a.z()}; }

/// C = (1 - nu) C~ + nu rigid(C~)  [docs/theory.md (2.5)].
Mat3 damped(const Mat3& C, Real nu, const Vec3& inertia) {
  if (nu == 0) return C;
  return (1 - nu) * C + nu * rigid_part(C, inertia);
}

template <class Kernel>
void scatter_bin(const TransferSettings& settings, const Bin& bin, const Bins& bins, const ScatterPoints& points,
                 Real dt, Tile<Kernel>& tile) {
  constexpr int n = Kernel::nodes;
  const Vec3i origin = bin.block * block_width;
  for (std::uint32_t k = bin.begin; k < bin.end; ++k) {
    const std::uint32_t p = bins.order()[k];
    const Vec3i corner = bins.node_in_block(p);
    const Stencil<Kernel> s(points.x[p], origin + corner, settings.dx);
    const Real m = points.m[p];
    const Mat3 mC = m * damped(points.C[p], settings.rpic_damping, s.inertia);
    const Mat3 impulse = -dt * points.A[p];

    // A node's share is w (m, m v + mC d) + impulse G. It splits into sums of products along the three dimensions:
    // share = wz (wy X + wx Y) + wx wy Z.
    const Vec3 mv = m * points.v[p];
    const Real4 own{m, mv.x(), mv.y(), mv.z()};
    Real4 X[n], Y[n], Z[n];
    for (int i = 0; i < n; ++i) {
      X[i] = s.w[0][i] * (own + s.d[0][i] * as_momentum(mC.col(0))) + s.g[0][i] * as_momentum(impulse.col(0));
      Y[i] = s.w[1][i] * s.d[1][i] * as_momentum(mC.col(1)) + s.g[1][i] * as_momentum(impulse.col(1));
      Z[i] = s.w[2][i] * s.d[2][i] * as_momentum(mC.col(2)) + s.g[2][i] * as_momentum(impulse.col(2));
    }
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const Real4 xy = s.w[1][j] * X[i] + s.w[0][i] * Y[j];
        const Real wxy = s.w[0][i] * s.w[1][j];
        Real4* row = &tile.node[corner.x() + i][corner.y() + j][corner.z()];
        for (int l = 0; l < n; ++l) row[l] += s.w[2][l] * xy + wxy * Z[l];
      }
  }
}

template <class Kernel>
void gather_bin(const TransferSettings& settings, const Bin& bin, const Bins& bins, const GatherPoints& points,
                const Tile<Kernel>& tile) {
  constexpr int n = Kernel::nodes;
  const Vec3i origin = bin.block * block_width;
  for (std::uint32_t k = bin.begin; k < bin.end; ++k) {
    const std::uint32_t p = bins.order()[k];
    const Vec3i corner = bins.node_in_block(p);
    const Stencil<Kernel> s(points.x[p], origin + corner, settings.dx);
    Real4 v{}, dx{}, dy{}, dz{};  // velocity and its derivatives
    for (int i = 0; i < n; ++i) {
      Real4 vi{}, dyi{}, dzi{};
      for (int j = 0; j < n; ++j) {
        const Real4* row = &tile.node[corner.x() + i][corner.y() + j][corner.z()];
        Real4 vij{}, dzij{};
        for (int l = 0; l < n; ++l) {
          vij += s.w[2][l] * row[l];
          dzij += s.g[2][l] * row[l];
        }
        vi += s.w[1][j] * vij;
        dyi += s.g[1][j] * vij;
        dzi += s.w[1][j] * dzij;
      }
      v += s.w[0][i] * vi;
      dx += s.g[0][i] * vi;
      dy += s.w[0][i] * dyi;
      dz += s.w[0][i] * dzi;
    }
    points.v[p] = Vec3(v[0], v[1], v[2]);
    points.C[p] << dx[0], dy[0], dz[0], dx[1], dy[1], dz[1], dx[2], dy[2], dz[2];
  }
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
    const Vec3 scaled = x / settings.dx;
    const Vec3i base(Kernel::base(scaled.x()), Kernel::base(scaled.y()), Kernel::base(scaled.z()));
    return Vec3(settings.dx * settings.dx * Stencil<Kernel>(x, base, settings.dx).inertia);
  });
}

void scatter(const TransferSettings& settings, const Bins& bins, const ScatterPoints& points, Real dt,
             NodeField& inertia) {
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    // Tiles of one colour do not overlap, and colours follow one another: every node is added to in a fixed order.
    for (int colour = 0; colour < 8; ++colour) {
      const auto chosen = bins.of_colour(colour);
#pragma omp parallel
      {
        Tile<Kernel> tile;
#pragma omp for schedule(dynamic)
        for (std::ptrdiff_t b = 0; b < static_cast<std::ptrdiff_t>(chosen.size()); ++b) {
          const Bin& bin = bins.bins()[chosen[b]];
          tile.clear();
          scatter_bin(settings, bin, bins, points, dt, tile);
          tile.add_to(inertia, bin);
        }
      }
    }
  });
}

void gather(const TransferSettings& settings, const Bins& bins, const NodeField& velocity, const GatherPoints& points) {
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    const auto all = bins.bins();
#pragma omp parallel
    {
      Tile<Kernel> tile;
      tile.clear();
#pragma omp for schedule(dynamic)
      for (std::ptrdiff_t b = 0; b < static_cast<std::ptrdiff_t>(all.size()); ++b) {
        tile.load_from(velocity, all[b]);
        gather_bin(settings, all[b], bins, points, tile);
      }
    }
  });
}

}  // namespace weft
