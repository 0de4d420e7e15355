#include "weft/transfer/pipe.hpp"

#include "transfer/stencil_kernel.hpp"
#include "weft/transfer/dispatch.hpp"

#include <algorithm>
#include <array>

namespace weft {
namespace {

/// What reaches a chunk and what comes back; one row more than a chunk has, so that a vector register may be stored
/// over a row's end.
struct PipeBuffer {
  std::array<Vec3, most_rows_in_chunk + 1> u;
  std::array<Mat3, most_rows_in_chunk + 1> H;
  std::array<Mat3, most_rows_in_chunk> A;

  ChunkMotion motion(ChunkRows rows) const { return {{u.data(), rows.size()}, {H.data(), rows.size()}}; }
  ChunkForces forces(ChunkRows rows) { return {{A.data(), rows.size()}}; }
};

template <class Kernel>
void gather_chunk(const ChunkStencils<Kernel>& stencils, const Tile<Kernel>& tile, PipeBuffer& chunk) {
  stencils.for_each([&](std::size_t k, const auto& s) {
    const FieldAtPoint at = field_at(s, tile);
    // Fourth lanes spill into what is written next.
    store4(chunk.u[k].data(), at.value);
    for (int axis = 0; axis < 3; ++axis) store4(chunk.H[k].data() + 3 * axis, at.slope[axis]);
  });
}

/// Takes A_p G_ip from the nodes of the points.
template <class Kernel>
void scatter_chunk(const ChunkStencils<Kernel>& stencils, const PipeBuffer& chunk, Tile<Kernel>& tile) {
  constexpr int n = Kernel::nodes;
  stencils.for_each([&](std::size_t k, const auto& s) {
    const Mat3& A = chunk.A[k];
    const auto column = [&A](int axis) { return Real4{-A(0, axis), -A(1, axis), -A(2, axis), 0}; };
    const Real4 Ax = column(0), Ay = column(1), Az = column(2);
    // A G = wz (wy X + wx Y) + wx wy Z.
    Real4 X[n], Y[n], Z[n];
    for (int i = 0; i < n; ++i) {
      X[i] = s.g(i, 0) * Ax;
      Y[i] = s.g(i, 1) * Ay;
      Z[i] = s.g(i, 2) * Az;
    }
    Real4* first = tile.first_of(s);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const Real4 xy = s.w(j, 1) * X[i] + s.w(i, 0) * Y[j];
        const Real wxy = s.w(i, 0) * s.w(j, 1);
        Real4* row = first + i * Tile<Kernel>::along_x + j * Tile<Kernel>::along_y;
        for (int l = 0; l < n; ++l) row[l] += s.w(l, 2) * xy + wxy * Z[l];
      }
  });
}

/// Adds w_ip f_p to the nodes of a point.
template <class Kernel, class One>
void scatter_force(const One& s, const Vec3& f, Tile<Kernel>& tile) {
  constexpr int n = Kernel::nodes;
  const Real4 f4{f.x(), f.y(), f.z(), 0};
  Real4* first = tile.first_of(s);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const Real4 part = s.w(i, 0) * s.w(j, 1) * f4;
      Real4* row = first + i * Tile<Kernel>::along_x + j * Tile<Kernel>::along_y;
      for (int l = 0; l < n; ++l) row[l] += s.w(l, 2) * part;
    }
}

/// G_ip of node (i, j, l) of a stencil.
template <class One>
Vec3 gradient_operator(const One& s, int i, int j, int l) {
  return {s.g(i, 0) * s.w(j, 1) * s.w(l, 2), s.w(i, 0) * s.g(j, 1) * s.w(l, 2), s.w(i, 0) * s.w(j, 1) * s.g(l, 2)};
}

/// B_rs = sum_kl M_(rk)(sl) G_k G_l: what a point adds to the block of one of its nodes.
Mat3 contracted(const Mat9& M, const Vec3& G) {
  const Eigen::Matrix<Real, 9, 3> half = M.leftCols<3>() * G[0] + M.middleCols<3>(3) * G[1] + M.rightCols<3>() * G[2];
  return half.topRows<3>() * G[0] + half.middleRows<3>(3) * G[1] + half.bottomRows<3>() * G[2];
}

}  // namespace

void pass_through(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x,
                  std::span<const Real> motion, const React& react, std::span<Real> force) {
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    // Tiles of one colour do not overlap, and colours follow one another: every node is added to in a fixed order.
    for (int colour = 0; colour < 8; ++colour) {
      const auto chosen = bins.of_colour(colour);
#pragma omp parallel
      {
        Tile<Kernel> moved, pushed;
        ChunkStencils<Kernel> stencils;
        PipeBuffer chunk;
#pragma omp for schedule(dynamic)
        for (std::ptrdiff_t b = 0; b < static_cast<std::ptrdiff_t>(chosen.size()); ++b) {
          const Bin& bin = bins.bins()[chosen[b]];
          moved.load_from(motion.data(), bin);
          pushed.clear();
          for (const ChunkRows rows : chunks_of(bins, bin)) {
            stencils.find(rows, x, origin_of(bin), settings.dx);
            gather_chunk(stencils, moved, chunk);
            react(rows, chunk.motion(rows), chunk.forces(rows));
            scatter_chunk(stencils, chunk, pushed);
          }
          pushed.add_to(force.data(), bin);
        }
      }
    }
  });
}

void push(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x, std::span<const Vec3> f,
          std::span<const Mat3> A, std::span<Real> force) {
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    for (int colour = 0; colour < 8; ++colour) {
      const auto chosen = bins.of_colour(colour);
#pragma omp parallel
      {
        Tile<Kernel> pushed;
        ChunkStencils<Kernel> stencils;
        PipeBuffer chunk;
#pragma omp for schedule(dynamic)
        for (std::ptrdiff_t b = 0; b < static_cast<std::ptrdiff_t>(chosen.size()); ++b) {
          const Bin& bin = bins.bins()[chosen[b]];
          pushed.clear();
          for (const ChunkRows rows : chunks_of(bins, bin)) {
            stencils.find(rows, x, origin_of(bin), settings.dx);
            stencils.for_each([&chunk, &pushed, &f, &A, rows](std::size_t k, const auto& s) {
              if (!f.empty()) scatter_force(s, f[rows[k]], pushed);
              if (!A.empty()) chunk.A[k] = A[rows[k]];
            });
            if (!A.empty()) scatter_chunk(stencils, chunk, pushed);
          }
          pushed.add_to(force.data(), bin);
        }
      }
    }
  });
}

void gather(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x, std::span<const Real> motion,
            const Receive& receive) {
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    const auto all = bins.bins();
#pragma omp parallel
    {
      Tile<Kernel> moved;
      ChunkStencils<Kernel> stencils;
      PipeBuffer chunk;
#pragma omp for schedule(dynamic)
      for (std::ptrdiff_t b = 0; b < static_cast<std::ptrdiff_t>(all.size()); ++b) {
        moved.load_from(motion.data(), all[b]);
        for (const ChunkRows rows : chunks_of(bins, all[b])) {
          stencils.find(rows, x, origin_of(all[b]), settings.dx);
          gather_chunk(stencils, moved, chunk);
          receive(rows, chunk.motion(rows));
        }
      }
    }
  });
}

void add_node_blocks(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x,
                     std::span<const Mat9> tangents, std::span<Real> blocks) {
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    constexpr int n = Kernel::nodes, edge = Tile<Kernel>::edge;
    for (int colour = 0; colour < 8; ++colour) {
      const auto chosen = bins.of_colour(colour);
#pragma omp parallel
      {
        std::vector<Mat3> tile(edge * edge * edge);
#pragma omp for schedule(dynamic)
        for (std::ptrdiff_t b = 0; b < static_cast<std::ptrdiff_t>(chosen.size()); ++b) {
          const Bin& bin = bins.bins()[chosen[b]];
          std::fill(tile.begin(), tile.end(), Mat3::Zero());
          for (const ChunkRows rows : chunks_of(bins, bin)) {
            for_each_stencil<Kernel>(rows, x, origin_of(bin), settings.dx,
                                     [&tile, &tangents, rows](std::size_t k, const auto& s) {
                                       for (int i = 0; i < n; ++i)
                                         for (int j = 0; j < n; ++j)
                                           for (int l = 0; l < n; ++l)
                                             tile[s.place() + (i * edge + j) * edge + l] +=
                                                 contracted(tangents[rows[k]], gradient_operator(s, i, j, l));
                                     });
          }
          for (int a = 0; a < edge; ++a)
            for (int c = 0; c < edge; ++c)
              for (int d = 0; d < edge; ++d) {
                const Vec3i node(a, c, d);
                const int octant = (a >> 2) << 2 | (c >> 2) << 1 | (d >> 2);
                if (bin.numbers[octant] < 0) continue;
                Real* to = blocks.data() + static_cast<std::size_t>(bin.numbers[octant]) * node_blocks_row +
                           9 * place_in_block(node);
                const Mat3& block = tile[(a * edge + c) * edge + d];
                for (int e = 0; e < 9; ++e) to[e] += block(e / 3, e % 3);
              }
        }
      }
    }
  });
}

void for_each_point(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x,
                    const std::function<void(std::uint32_t, const PointNodes&)>& visit) {
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    constexpr int n = Kernel::nodes;
    PointNodes nodes;
    std::vector<std::pair<int, std::uint32_t>> cells;  // of each point of a bin: its first node's place, its turn
    std::vector<std::uint32_t> rows;
    for (const Bin& bin : bins.bins()) {
      const auto in_bin = bins.order().subspan(bin.begin, bin.end - bin.begin);
      cells.clear();
      for_each_stencil<Kernel>(in_bin, x, origin_of(bin), settings.dx, [&](std::size_t k, const auto& s) {
        cells.emplace_back(s.place(), static_cast<std::uint32_t>(k));
      });
      std::sort(cells.begin(), cells.end());
      rows.clear();
      for (const auto& [place, turn] : cells) rows.push_back(in_bin[turn]);
      for_each_stencil<Kernel>(rows, x, origin_of(bin), settings.dx, [&](std::size_t k, const auto& s) {
        nodes.at.clear();
        nodes.w.clear();
        nodes.G.clear();
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j)
            for (int l = 0; l < n; ++l) {
              const Vec3i node = s.corner() + Vec3i(i, j, l);
              const int octant = (node.x() >> 2) << 2 | (node.y() >> 2) << 1 | (node.z() >> 2);
              nodes.at.push_back(bin.numbers[octant] * NodeField::row + NodeField::width * place_in_block(node));
              nodes.w.push_back(s.w(i, 0) * s.w(j, 1) * s.w(l, 2));
              nodes.G.push_back(gradient_operator(s, i, j, l));
            }
        visit(rows[k], nodes);
      });
    }
  });
}

}  // namespace weft
