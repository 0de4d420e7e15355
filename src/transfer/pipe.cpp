#include "weft/transfer/pipe.hpp"

#include "transfer/stencil_kernel.hpp"
#include "weft/transfer/dispatch.hpp"

#include <algorithm>
#include <array>

namespace weft {
namespace {

/// Gives the nodes w_ip f - A_p G_ip, A and f being what these return for an entry of the chunk.
template <class Kernel, class Force, class Matrix>
void push_chunk(const Stencils<Kernel>& stencils, Real dx, const Force& force, const Matrix& matrix, Tile& tile) {
  const Real pull = -Stencils<Kernel>::per_tilt(dx);
  scatter_chunk(stencils, tile, [&](std::size_t k) {
    const Vec3 f = force(k);
    const Mat3 A = pull * matrix(k);
    const auto column = [&A](int axis) { return Real4{A(0, axis), A(1, axis), A(2, axis), 0}; };
    return PointShare{{f.x(), f.y(), f.z(), 0}, {{column(0), column(1), column(2)}}};
  });
}

/// B_rs = sum_kl M_(rk)(sl) G_k G_l: what a point adds to the block of one of its nodes.
Mat3 contracted(const Mat9& M, const Vec3& G) {
  const Eigen::Matrix<Real, 9, 3> half = M.leftCols<3>() * G[0] + M.middleCols<3>(3) * G[1] + M.rightCols<3>() * G[2];
  return half.topRows<3>() * G[0] + half.middleRows<3>(3) * G[1] + half.bottomRows<3>() * G[2];
}

/// A node by its place in a tile.
Vec3i node_at(int place) {
  const int in_plane = place % tile_along_x;
  return {place / tile_along_x, in_plane / tile_along_y, in_plane % tile_along_y};
}
/// The octant of the tile that it stands in.
int octant_of(const Vec3i& node) { return (node.x() >> 2) << 2 | (node.y() >> 2) << 1 | (node.z() >> 2); }
/// The number of the first real of the node at a place in the tile of a bin.
std::int32_t number_of(const Bin& bin, int place) {
  const Vec3i node = node_at(place);
  return bin.numbers[octant_of(node)] * NodeField::row + NodeField::width * place_in_block(node);
}

}  // namespace

void pass_through(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x,
                  std::span<const Real> motion, const React& react, std::span<Real> force) {
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    // Cubes of one colour share no node, and colours follow one another: every node is added to in a fixed order.
    for (int colour = 0; colour < 8; ++colour) {
      const auto cubes = bins.of_colour(colour);
#pragma omp parallel
      {
        Tile moved, pushed;
        Stencils<Kernel> stencils;
        ChunkBuffer chunk;
        std::array<Mat3, most_rows_in_chunk> A;
#pragma omp for schedule(dynamic)
        for (std::size_t c = 0; c < cubes.size(); ++c)
          for (const Bin& bin : bins.of_cube(cubes[c])) {
            moved.forget();
            pushed.clear();
            for (const ChunkRows rows : chunks_of(bins, bin)) {
              stencils.find(rows, x, origin_of(bin), settings.dx);
              moved.load_from(motion.data(), bin, reached(stencils, bin));
              gather_chunk(stencils, moved, settings.dx, chunk.value_of(rows), chunk.slope_of(rows));
              react(rows, chunk.motion(rows), {std::span(A.data(), rows.size())});
              pushed.reach(reached(stencils, bin));
              push_chunk(
                  stencils, settings.dx, [](std::size_t) -> Vec3 { return Vec3::Zero(); },
                  [&A](std::size_t k) -> const Mat3& { return A[k]; }, pushed);
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
      const auto cubes = bins.of_colour(colour);
#pragma omp parallel
      {
        Tile pushed;
        Stencils<Kernel> stencils;
#pragma omp for schedule(dynamic)
        for (std::size_t c = 0; c < cubes.size(); ++c)
          for (const Bin& bin : bins.of_cube(cubes[c])) {
            pushed.clear();
            for (const ChunkRows rows : chunks_of(bins, bin)) {
              stencils.find(rows, x, origin_of(bin), settings.dx);
              pushed.reach(reached(stencils, bin));
              push_chunk(
                  stencils, settings.dx,
                  [&f, rows](std::size_t k) -> Vec3 { return f.empty() ? Vec3::Zero() : f[rows[k]]; },
                  [&A, rows](std::size_t k) -> Mat3 { return A.empty() ? Mat3::Zero() : A[rows[k]]; }, pushed);
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
      Tile moved;
      Stencils<Kernel> stencils;
      ChunkBuffer chunk;
#pragma omp for schedule(dynamic)
      for (std::ptrdiff_t b = 0; b < static_cast<std::ptrdiff_t>(all.size()); ++b) {
        moved.forget();
        for (const ChunkRows rows : chunks_of(bins, all[b])) {
          stencils.find(rows, x, origin_of(all[b]), settings.dx);
          moved.load_from(motion.data(), all[b], reached(stencils, all[b]));
          gather_chunk(stencils, moved, settings.dx, chunk.value_of(rows), chunk.slope_of(rows));
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
    constexpr int n = Kernel::nodes;
    for (int colour = 0; colour < 8; ++colour) {
      const auto cubes = bins.of_colour(colour);
#pragma omp parallel
      {
        std::vector<Mat3> tile(tile_places);
        Stencils<Kernel> stencils;
#pragma omp for schedule(dynamic)
        for (std::size_t c = 0; c < cubes.size(); ++c)
          for (const Bin& bin : bins.of_cube(cubes[c])) {
            std::fill(tile.begin(), tile.end(), Mat3::Zero());
            for (const ChunkRows rows : chunks_of(bins, bin)) {
              stencils.find(rows, x, origin_of(bin), settings.dx);
              for (std::size_t k = 0; k < rows.size(); ++k)
                for (int i = 0; i < n; ++i)
                  for (int j = 0; j < n; ++j)
                    for (int l = 0; l < n; ++l)
                      tile[stencils.place(k) + i * tile_along_x + j * tile_along_y + l] +=
                          contracted(tangents[rows[k]], stencils.gradient_operator(k, i, j, l, settings.dx));
            }
            for (int place = 0; place < tile_places; ++place) {
              const Vec3i node = node_at(place);
              if (node.y() == tile_edge) continue;  // between planes
              const int number = bin.numbers[octant_of(node)];
              Real* to = blocks.data() + static_cast<std::size_t>(number) * node_blocks_row + 9 * place_in_block(node);
              for (int e = 0; e < 9; ++e) to[e] += tile[place](e / 3, e % 3);
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
    Stencils<Kernel> stencils;
    std::vector<std::pair<int, std::uint32_t>> cells;  // of each point of a bin: its first node's place, its row
    std::vector<std::uint32_t> rows;
    for (const Bin& bin : bins.bins()) {
      cells.clear();
      for (const ChunkRows chunk : chunks_of(bins, bin)) {
        stencils.find(chunk, x, origin_of(bin), settings.dx);
        for (std::size_t k = 0; k < chunk.size(); ++k) cells.emplace_back(stencils.place(k), chunk[k]);
      }
      std::stable_sort(cells.begin(), cells.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      rows.clear();
      for (const auto& [place, row] : cells) rows.push_back(row);
      for (const ChunkRows chunk : chunks_of(rows)) {
        stencils.find(chunk, x, origin_of(bin), settings.dx);
        for (std::size_t k = 0; k < chunk.size(); ++k) {
          nodes.at.clear();
          nodes.w.clear();
          nodes.G.clear();
          for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
              for (int l = 0; l < n; ++l) {
                nodes.at.push_back(number_of(bin, stencils.place(k) + i * tile_along_x + j * tile_along_y + l));
                nodes.w.push_back(stencils.weight(k, i, j, l));
                nodes.G.push_back(stencils.gradient_operator(k, i, j, l, settings.dx));
              }
          visit(chunk[k], nodes);
        }
      }
    }
  });
}

void find_weights(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x, PointWeights& weights) {
  with_kernel(settings.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    constexpr int n = Kernel::nodes;
    weights.of_each = n * n * n;
    weights.at.resize(weights.of_each * x.size());
    weights.w.resize(weights.of_each * x.size());
    Stencils<Kernel> stencils;
    for (const Bin& bin : bins.bins())
      for (const ChunkRows rows : chunks_of(bins, bin)) {
        stencils.find(rows, x, origin_of(bin), settings.dx);
        for (std::size_t k = 0; k < rows.size(); ++k) {
          std::size_t entry = weights.of_each * rows[k];
          for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
              for (int l = 0; l < n; ++l, ++entry) {
                weights.at[entry] = number_of(bin, stencils.place(k) + i * tile_along_x + j * tile_along_y + l);
                weights.w[entry] = stencils.weight(k, i, j, l);
              }
        }
      }
  });
}

}  // namespace weft
