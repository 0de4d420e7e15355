#include "weft/transfer/bins.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "weft/base/check.hpp"
#include "weft/transfer/dispatch.hpp"

namespace weft {
namespace {

/// Sorts rows by id. Most of a bin stands in order already and what came in lately stands around it: the longest
/// ascending stretch stays, and the others are sorted and put in their places.
void sort_by_id(std::span<std::uint32_t> rows, std::span<const PointId> id, std::vector<std::uint32_t>& others) {
  const auto before = [id](std::uint32_t a, std::uint32_t b) { return id[a] < id[b]; };
  std::size_t first = 0, length = 0;
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin + 1;
    while (end < rows.size() && before(rows[end - 1], rows[end])) ++end;
    if (end - begin > length) first = begin, length = end - begin;
    begin = end;
  }
  if (length == rows.size()) return;

  others.assign(rows.begin(), rows.begin() + first);
  others.insert(others.end(), rows.begin() + first + length, rows.end());
  std::sort(others.begin(), others.end(), before);
  std::move(rows.begin() + first, rows.begin() + first + length, rows.begin());
  auto end = rows.begin() + length, to = rows.end();  // [begin, end) stands in order, [to, rows.end()) is done
  for (auto other = others.rbegin(); other != others.rend(); ++other) {
    const auto place = std::upper_bound(rows.begin(), end, *other, before);
    to = std::move_backward(place, end, to);
    end = place;
    *--to = *other;
  }
}

/// So many points' blocks are found in one loop over all their coordinates, which takes several of them at once.
constexpr std::ptrdiff_t points_at_once = 64;

/// The block of each point, coordinate by coordinate. False if a point is `limit` [dx] or more away from the origin, or
/// nowhere; its block then means nothing.
template <class Kernel>
bool find_blocks(std::span<const Vec3> x, Real per_dx, Real limit, std::int32_t* blocks) {
  const Real* coordinates = x.data()->data();
  int lost = 0;
  for (std::size_t k = 0; k < 3 * x.size(); ++k) {
    const Real scaled = coordinates[k] * per_dx;
    const bool is_near = std::abs(scaled) < limit;  // false if it is not a number
    lost |= is_near ? 0 : 1;
    blocks[k] = Kernel::base(is_near ? scaled : 0) >> 2;  // as in block_of_node
  }
  return lost == 0;
}

}  // namespace

BlockKey first_block(KernelKind kernel, Real dx, const Vec3& x) {
  return with_kernel(kernel, [&](auto k) {
    using Kernel = decltype(k);
    const Vec3 scaled = x * (1 / dx);
    return key_of(block_of_node({Kernel::base(scaled.x()), Kernel::base(scaled.y()), Kernel::base(scaled.z())}));
  });
}

void Bins::sort(KernelKind kernel, Real dx, std::span<const Vec3> x, std::span<const PointId> id) {
  find(kernel, dx, x);
  arrange(id);
}

void Bins::find(KernelKind kernel, Real dx, std::span<const Vec3> x) {
  find_runs(kernel, dx, x);
  make_bins();
}

/// Cuts the rows into runs within one block, and counts the points of each block, thread by thread.
void Bins::find_runs(KernelKind kernel, Real dx, std::span<const Vec3> x) {
  const auto count = static_cast<std::ptrdiff_t>(x.size());
  const int threads = omp_get_max_threads();
  found_.resize(static_cast<std::size_t>(threads));
  for (Found& f : found_) {
    f.blocks.clear();
    f.counts.clear();
    f.number.clear();
    f.runs.clear();
    f.lost = false;
  }
  with_kernel(kernel, [&](auto k) {
    using Kernel = decltype(k);
    // One block less than the curve holds: kernels start up to two nodes before their point.
    const Real per_dx = 1 / dx, limit = Real(max_block_coordinate - 1) * block_width;
#pragma omp parallel num_threads(threads)
    {
      Found& mine = found_[static_cast<std::size_t>(omp_get_thread_num())];
      const auto number_of = [&mine](const Vec3i& block) {
        const int next = static_cast<int>(mine.blocks.size());
        const int number = mine.number.find_or_add(block, next);
        if (number == next) {
          mine.blocks.push_back(block);
          mine.counts.push_back(0);
        }
        return number;
      };
      // A point that left its block interrupts a run, which then goes on: so the last two blocks are remembered.
      Vec3i block = Vec3i::Constant(std::numeric_limits<std::int32_t>::max()), block_before = block;
      int number_before = -1;
      Run run{-1, 0, 0};
      const auto close = [&mine, &run] {
        if (run.count == 0) return;
        mine.runs.push_back(run);
        mine.counts[run.block] += run.count;
      };
#pragma omp for schedule(static) nowait
      for (std::ptrdiff_t begin = 0; begin < count; begin += points_at_once) {
        const std::ptrdiff_t end = std::min(begin + points_at_once, count);
        std::int32_t blocks[3 * points_at_once];
        mine.lost |= !find_blocks<Kernel>(x.subspan(begin, end - begin), per_dx, limit, blocks);
        for (std::ptrdiff_t p = begin; p < end; ++p) {
          const std::int32_t* b = blocks + 3 * (p - begin);
          if (b[0] == block.x() && b[1] == block.y() && b[2] == block.z()) {
            ++run.count;
            continue;
          }
          close();
          const Vec3i here(b[0], b[1], b[2]);
          const int number = here == block_before ? number_before : number_of(here);
          block_before = block;
          number_before = run.block;
          block = here;
          run = {number, static_cast<std::uint32_t>(p), 1};
        }
      }
      close();
    }
  });
  for (const Found& f : found_)
    require(
        !f.lost, ExitCode::numerics,
        "a point left the largest possible domain or its position is not a number; give domain.bounds to remove points "
        "that leave, or reduce time.max_dt");
}

/// The union of what the threads found, in curve order.
void Bins::make_bins() {
  std::vector<Bin> bins;
  BlockIndex place;
  for (Found& f : found_)
    for (std::size_t n = 0; n < f.blocks.size(); ++n) {
      const int next = static_cast<int>(bins.size());
      if (place.find_or_add(f.blocks[n], next) == next) bins.push_back({key_of(f.blocks[n]), f.blocks[n], 0, 0, {}});
    }
  std::sort(bins.begin(), bins.end(), [](const Bin& a, const Bin& b) { return a.key < b.key; });
  place.clear();
  for (std::size_t b = 0; b < bins.size(); ++b) place.find_or_add(bins[b].block, static_cast<int>(b));

  // All threads' counts become the places where each writes the rows of its runs.
  std::vector<std::uint32_t> filled(bins.size(), 0);
  for (const Found& f : found_)
    for (std::size_t n = 0; n < f.blocks.size(); ++n) filled[place.find(f.blocks[n])] += f.counts[n];
  std::uint32_t start = 0;
  for (std::size_t b = 0; b < bins.size(); ++b) {
    bins[b].begin = start;
    bins[b].end = start += filled[b];
    filled[b] = bins[b].begin;
  }
  runs_ = 0;
  for (Found& f : found_) {
    for (std::size_t n = 0; n < f.blocks.size(); ++n) {
      std::uint32_t& next = filled[place.find(f.blocks[n])];
      next += std::exchange(f.counts[n], next);
    }
    runs_ += f.runs.size();
  }
  // A run that the border between two threads' rows cuts counts once: what is done about disorder must not depend on
  // the number of threads.
  const Vec3i* block_before = nullptr;
  for (const Found& f : found_) {
    if (f.runs.empty()) continue;
    if (block_before != nullptr && *block_before == f.blocks[f.runs.front().block]) --runs_;
    block_before = &f.blocks[f.runs.back().block];
  }

  const bool same_blocks = std::equal(bins.begin(), bins.end(), bins_.begin(), bins_.end(),
                                      [](const Bin& a, const Bin& b) { return a.key == b.key; });
  if (same_blocks) {
    for (std::size_t b = 0; b < bins.size(); ++b) bins[b].numbers = bins_[b].numbers;
  } else {
    is_numbered_ = false;
    for (auto& colour : colours_) colour.clear();
    for (std::uint32_t b = 0; b < bins.size(); ++b) {
      const Vec3i& block = bins[b].block;
      colours_[((block.x() & 1) << 2) | ((block.y() & 1) << 1) | (block.z() & 1)].push_back(b);
    }
  }
  bins_ = std::move(bins);
}

void Bins::arrange(std::span<const PointId> id) {
  order_.resize(id.size());
#pragma omp parallel
  {
#pragma omp for schedule(static, 1)
    for (std::size_t f = 0; f < found_.size(); ++f)
      for (const Run& run : found_[f].runs) {
        std::uint32_t& next = found_[f].counts[run.block];
        std::iota(order_.begin() + next, order_.begin() + next + run.count, run.row);
        next += run.count;
      }
    // Only now is the order free of where rows stand and which thread saw them.
    std::vector<std::uint32_t> others;
#pragma omp for schedule(dynamic, 16)
    for (std::size_t b = 0; b < bins_.size(); ++b)
      sort_by_id(std::span(order_).subspan(bins_[b].begin, bins_[b].end - bins_[b].begin), id, others);
  }
}

std::vector<Leaver> Bins::leavers(const Cuts& cuts, int rank) const {
  std::vector<Leaver> leavers;
  std::vector<int> owner;
  for (const Found& f : found_) {
    owner.clear();
    for (const Vec3i& block : f.blocks) owner.push_back(cuts.owner(key_of(block)));
    for (const Run& run : f.runs)
      if (owner[run.block] != rank)
        for (std::uint32_t k = 0; k < run.count; ++k) leavers.push_back({run.row + k, owner[run.block]});
  }
  return leavers;
}

void Bins::rows_were_reordered() {
  std::iota(order_.begin(), order_.end(), 0u);
  runs_ = bins_.size();
}

void Bins::number(const BlockMap& map) {
  for (Bin& bin : bins_) {
    bin.numbers = map.octants(bin.block);
    for (const int number : bin.numbers) WEFT_ENSURE(number >= 0);
  }
  is_numbered_ = true;
}

Real Bins::disorder() const {
  const std::size_t breaks = runs_ - std::min(runs_, bins_.size());
  return bins_.empty() ? 0 : static_cast<Real>(breaks) / static_cast<Real>(bins_.back().end);
}

std::size_t Bins::bytes() const {
  std::size_t sum = bins_.capacity() * sizeof(Bin) + order_.capacity() * sizeof(std::uint32_t);
  for (const Found& f : found_)
    sum += f.blocks.capacity() * sizeof(Vec3i) + f.counts.capacity() * sizeof(std::uint32_t) + f.number.bytes() +
           f.runs.capacity() * sizeof(Run);
  return sum;
}

std::vector<BlockKey> touched_blocks(std::span<const Bins> bodies) {
  std::vector<BlockKey> keys;
  BlockIndex seen;
  for (const Bins& bins : bodies)
    for (const Bin& bin : bins.bins())
      for (int o = 0; o < 8; ++o) {
        const Vec3i block = bin.block + octant_offset(o);
        const int next = static_cast<int>(keys.size());
        if (seen.find_or_add(block, next) == next) keys.push_back(key_of(block));
      }
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace weft
