#include "weft/transfer/bins.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "weft/base/check.hpp"
#include "weft/transfer/dispatch.hpp"

namespace weft {
namespace {

constexpr std::uint32_t no_bin = ~0u;

/// The blocks that one thread met among its points, in the order of first sight, with the points at each node.
struct Found {
  std::vector<Vec3i> blocks;
  std::vector<std::array<std::uint32_t, nodes_per_block>> counts;
  std::unordered_map<BlockKey, std::uint32_t> number;
  bool lost = false;

  std::uint32_t number_of(const Vec3i& block) {
    const auto [it, is_new] = number.try_emplace(key_of(block), static_cast<std::uint32_t>(blocks.size()));
    if (is_new) {
      blocks.push_back(block);
      counts.emplace_back().fill(0);
    }
    return it->second;
  }
};

/// Octants that a kernel of `reach` nodes touches from the node at `place`.
std::uint8_t octants_from(int place, int reach) {
  const Vec3i node = node_at_place(place);
  std::uint8_t octants = 0;
  for (int o = 0; o < 8; ++o) {
    const Vec3i offset = octant_offset(o);
    bool touched = true;
    for (int d = 0; d < 3; ++d) touched = touched && (offset[d] == 0 || node[d] + reach > block_width);
    if (touched) octants |= static_cast<std::uint8_t>(1u << o);
  }
  return octants;
}

}  // namespace

void Bins::sort(KernelKind kernel, Real dx, std::span<const Vec3> x, std::span<const PointId> id) {
  const auto count = static_cast<std::ptrdiff_t>(x.size());
  bin_of_point_.resize(x.size());
  place_of_point_.resize(x.size());
  order_.resize(x.size());
  const int threads = omp_get_max_threads();
  std::vector<Found> found(threads);

  const int reach = with_kernel(kernel, [](auto k) { return decltype(k)::nodes; });
  with_kernel(kernel, [&](auto k) {
    using Kernel = decltype(k);
    // One block less than the curve holds: kernels start up to two nodes before their point.
    const Real per_dx = 1 / dx, limit = Real(max_block_coordinate - 1) * block_width;
#pragma omp parallel num_threads(threads)
    {
      Found& mine = found[omp_get_thread_num()];
      Vec3i last_block = Vec3i::Constant(std::numeric_limits<std::int32_t>::max());
      std::uint32_t last_bin = no_bin;
#pragma omp for schedule(static)
      for (std::ptrdiff_t p = 0; p < count; ++p) {
        const Vec3 scaled = x[p] * per_dx;
        if (!(scaled.array().abs() < limit).all()) {  // also if one is not a number
          mine.lost = true;
          continue;
        }
        const Vec3i base(Kernel::base(scaled.x()), Kernel::base(scaled.y()), Kernel::base(scaled.z()));
        const Vec3i block = block_of_node(base);
        if (block != last_block) {
          last_block = block;
          last_bin = mine.number_of(block);
        }
        const int place = place_in_block(base);
        bin_of_point_[p] = last_bin;
        place_of_point_[p] = static_cast<std::uint8_t>(place);
        ++mine.counts[last_bin][place];
      }
    }
  });
  for (const Found& f : found)
    require(
        !f.lost, ExitCode::numerics,
        "a point left the largest possible domain or its position is not a number; give domain.bounds to remove points "
        "that leave, or reduce time.max_dt");

  // The union of what the threads found, in curve order.
  bins_.clear();
  for (const Found& f : found)
    for (const auto& [key, n] : f.number) bins_.push_back({key, f.blocks[n], 0, 0, 0, {}});
  std::sort(bins_.begin(), bins_.end(), [](const Bin& a, const Bin& b) { return a.key < b.key; });
  bins_.erase(std::unique(bins_.begin(), bins_.end(), [](const Bin& a, const Bin& b) { return a.key == b.key; }),
              bins_.end());

  // Where each thread writes its points of each node: all threads' counts become starts.
  std::uint32_t start = 0;
  std::vector<std::uint32_t> node_starts;
  node_starts.reserve(bins_.size() * nodes_per_block + 1);
  for (Bin& bin : bins_) {
    bin.begin = start;
    for (int place = 0; place < nodes_per_block; ++place) {
      node_starts.push_back(start);
      for (Found& f : found) {
        const auto it = f.number.find(bin.key);
        if (it == f.number.end()) continue;
        std::uint32_t& n = f.counts[it->second][place];
        start += std::exchange(n, start);
      }
      if (start > node_starts.back()) bin.octants |= octants_from(place, reach);
    }
    bin.end = start;
  }
  node_starts.push_back(start);

#pragma omp parallel num_threads(threads)
  {
    Found& mine = found[omp_get_thread_num()];
#pragma omp for schedule(static)
    for (std::ptrdiff_t p = 0; p < count; ++p)
      order_[mine.counts[bin_of_point_[p]][place_of_point_[p]]++] = static_cast<std::uint32_t>(p);
      // Only now is the order free of where rows stand and which thread saw them: by id at each node.
#pragma omp for schedule(static)
    for (std::ptrdiff_t n = 0; n < static_cast<std::ptrdiff_t>(node_starts.size()) - 1; ++n)
      std::sort(order_.begin() + node_starts[n], order_.begin() + node_starts[n + 1],
                [&](std::uint32_t a, std::uint32_t b) { return id[a] < id[b]; });
  }

  for (auto& colour : colours_) colour.clear();
  for (std::uint32_t b = 0; b < bins_.size(); ++b) {
    const Vec3i& block = bins_[b].block;
    colours_[((block.x() & 1) << 2) | ((block.y() & 1) << 1) | (block.z() & 1)].push_back(b);
  }
}

void Bins::number(const BlockMap& map) {
  for (Bin& bin : bins_)
    for (int o = 0; o < 8; ++o) {
      bin.numbers[o] = (bin.octants >> o) & 1 ? map.find(key_of(bin.block + octant_offset(o))) : -1;
      WEFT_ASSUME(bin.numbers[o] >= 0 || !((bin.octants >> o) & 1));
    }
}

void Bins::append_touched(std::vector<BlockKey>& keys) const {
  for (const Bin& bin : bins_)
    for (int o = 0; o < 8; ++o)
      if ((bin.octants >> o) & 1) keys.push_back(key_of(bin.block + octant_offset(o)));
}

bool Bins::in_order() const {
  for (std::uint32_t p = 0; p < order_.size(); ++p)
    if (order_[p] != p) return false;
  return true;
}

std::size_t Bins::bytes() const {
  return bins_.capacity() * sizeof(Bin) + order_.capacity() * sizeof(std::uint32_t) +
         bin_of_point_.capacity() * sizeof(std::uint32_t) + place_of_point_.capacity();
}

}  // namespace weft
