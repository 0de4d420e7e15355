#include "weft/transfer/bins.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "weft/base/check.hpp"
#include "weft/math/kernels.hpp"

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

/// floor(x / dx - bin_start) / 4 rounded down. False if x is `limit` [dx] or more away, or nowhere; the block then
/// means nothing.
inline bool find_block(Real x, Real per_dx, Real limit, std::int32_t& block) {
  const Real scaled = x * per_dx;
  const bool is_near = std::abs(scaled) < limit;  // false if it is not a number
  block = floor_to_int(is_near ? scaled - bin_start : 0) >> 2;
  return is_near;
}

constexpr BlockCode no_block = ~BlockCode{0};  // codes have 63 bits

/// One block less than the curve holds: tiles reach one further.
constexpr Real farthest = Real(max_block_coordinate - 1) * block_width;

/// From so many bins on, cubes of eight blocks leave enough of each colour for threads to share.
constexpr std::size_t least_bins_for_cubes = 1024;

}  // namespace

BlockKey home_block(Real dx, const Vec3& x) {
  Vec3i block;
  for (int axis = 0; axis < 3; ++axis) find_block(x[axis], 1 / dx, farthest, block[axis]);
  return key_of(block);
}

void find_homes(Real dx, std::span<const Vec3> x, std::span<BlockCode> home) {
  WEFT_ENSURE(home.size() == x.size());
  const auto count = static_cast<std::ptrdiff_t>(x.size());
  const Real per_dx = 1 / dx;
  int lost = 0;
  // All coordinates of some points in one loop, which takes several of them at once.
  constexpr std::ptrdiff_t points_at_once = 64;
#pragma omp parallel for schedule(static) reduction(| : lost)
  for (std::ptrdiff_t begin = 0; begin < count; begin += points_at_once) {
    const std::ptrdiff_t here = std::min(points_at_once, count - begin);
    const Real* coordinates = x[begin].data();
    std::int32_t blocks[3 * points_at_once];
    for (std::ptrdiff_t k = 0; k < 3 * here; ++k)
      lost |= find_block(coordinates[k], per_dx, farthest, blocks[k]) ? 0 : 1;
    for (std::ptrdiff_t k = 0; k < here; ++k)
      home[begin + k] = code_of(blocks[3 * k], blocks[3 * k + 1], blocks[3 * k + 2]);
  }
  require(lost == 0, ExitCode::numerics,
          "a point left the largest possible domain or its position is not a number; give domain.bounds to remove "
          "points that leave, or reduce time.max_dt");
}

void Bins::sort(Real dx, std::span<const Vec3> x, std::span<const PointId> id) {
  find(dx, x);
  arrange(id);
}

void Bins::find(Real dx, std::span<const Vec3> x) {
  homes_.resize(x.size());
  find_homes(dx, x, homes_);
  find(homes_);
}

void Bins::find(std::span<const BlockCode> home) {
  find_runs(home);
  make_bins();
}

/// Cuts the rows into runs within one block, and counts the points of each block, thread by thread.
void Bins::find_runs(std::span<const BlockCode> home) {
  const auto count = static_cast<std::ptrdiff_t>(home.size());
  const int threads = omp_get_max_threads();
  found_.resize(static_cast<std::size_t>(threads));
  for (Found& f : found_) {
    f.blocks.clear();
    f.counts.clear();
    f.number.clear();
    f.runs.clear();
  }
#pragma omp parallel num_threads(threads)
  {
    Found& mine = found_[static_cast<std::size_t>(omp_get_thread_num())];
    const auto number_of = [&mine](BlockCode code) {
      const Vec3i block = block_of_code(code);
      const int next = static_cast<int>(mine.blocks.size());
      const int number = mine.number.find_or_add(block, next);
      if (number == next) {
        mine.blocks.push_back(block);
        mine.counts.push_back(0);
      }
      return number;
    };
    // A point that left its block interrupts a run, which then goes on: so the last two blocks are remembered.
    BlockCode code = no_block, code_before = no_block;
    int number_before = -1;
    Run run{-1, 0, 0};
    const auto close = [&mine, &run] {
      if (run.count == 0) return;
      mine.runs.push_back(run);
      mine.counts[run.block] += run.count;
    };
#pragma omp for schedule(static) nowait
    for (std::ptrdiff_t p = 0; p < count; ++p) {
      if (home[p] == code) {
        ++run.count;
        continue;
      }
      close();
      const int number = home[p] == code_before ? number_before : number_of(home[p]);
      code_before = code;
      number_before = run.block;
      code = home[p];
      run = {number, static_cast<std::uint32_t>(p), 1};
    }
    close();
  }
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
  }
  bins_ = std::move(bins);
  if (same_blocks) return;
  is_numbered_ = false;
  make_cubes();
}

/// The curve leaves an aligned cube of blocks only when it has been to all of them. A thread that adds the tiles of a
/// cube in this order finds their nodes in its cache and reads rows that follow one another.
void Bins::make_cubes() {
  for (auto& colour : colours_) colour.clear();
  const int edge_bits = bins_.size() < least_bins_for_cubes ? 0 : 1;  // cubes of one block or of eight
  const auto cube_of = [&](std::uint32_t b) { return bins_[b].key >> (3 * edge_bits); };
  const auto is_odd = [edge_bits](int coordinate) { return (coordinate >> edge_bits) & 1; };
  const auto count = static_cast<std::uint32_t>(bins_.size());
  for (std::uint32_t begin = 0, end = 0; begin < count; begin = end) {
    while (end < count && cube_of(end) == cube_of(begin)) ++end;
    const Vec3i& block = bins_[begin].block;
    colours_[is_odd(block.x()) << 2 | is_odd(block.y()) << 1 | is_odd(block.z())].push_back({begin, end});
  }
  // Threads take the largest first, so that they end a colour together.
  const auto points_of = [this](BinRange cube) { return bins_[cube.end - 1].end - bins_[cube.begin].begin; };
  for (auto& colour : colours_)
    std::sort(colour.begin(), colour.end(), [&](BinRange a, BinRange b) { return points_of(a) > points_of(b); });
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

Bins Bins::near(const std::vector<bool>& wanted) const {
  Bins near;
  for (const Bin& bin : bins_) {
    if (std::none_of(bin.numbers.begin(), bin.numbers.end(),
                     [&](int number) { return wanted[static_cast<std::size_t>(number)]; }))
      continue;
    const auto begin = static_cast<std::uint32_t>(near.order_.size());
    near.order_.insert(near.order_.end(), order_.begin() + bin.begin, order_.begin() + bin.end);
    Bin& copy = near.bins_.emplace_back(bin);
    copy.begin = begin;
    copy.end = static_cast<std::uint32_t>(near.order_.size());
  }
  near.is_numbered_ = true;
  near.make_cubes();
  return near;
}

Real Bins::disorder() const {
  const std::size_t breaks = runs_ - std::min(runs_, bins_.size());
  return bins_.empty() ? 0 : static_cast<Real>(breaks) / static_cast<Real>(bins_.back().end);
}

std::size_t Bins::bytes() const {
  std::size_t sum = bins_.capacity() * sizeof(Bin) + order_.capacity() * sizeof(std::uint32_t) +
                    homes_.capacity() * sizeof(BlockCode);
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
