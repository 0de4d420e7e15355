// Pairs of boxes that overlap.

#include "weft/coupling/pairs.hpp"

#include "weft/base/check.hpp"
#include "weft/math/pack.hpp"
#include "weft/parallel/curve.hpp"
#include "weft/parallel/send.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <numeric>
#include <tuple>

namespace weft {
namespace {

/// Places of cells as numbers that follow one another along x, then y, then z.
using CellNumber = std::uint64_t;
constexpr int bits_of_axis = 21;
constexpr CellNumber one_y = CellNumber{1} << bits_of_axis, one_z = one_y << bits_of_axis;
/// All that lies further away is in the outermost cells, whose neighbours have numbers too.
constexpr std::int32_t furthest_cell = (1 << (bits_of_axis - 1)) - 2;
/// Than the longest box is a cell, so that round-off makes none longer than a cell.
constexpr Real longer = 1.001;
/// Ranks meet in blocks of this many cells along an axis.
constexpr std::int32_t cells_of_block = 4;

CellNumber number_of(const Vec3i& cell) {
  const auto along = [&](int axis) { return one_y / 2 + static_cast<CellNumber>(cell[axis]); };
  return along(0) + one_y * along(1) + one_z * along(2);
}

Vec3i cell_of(const Vec3& x, const Vec3& edges) {
  const auto furthest = static_cast<Real>(furthest_cell);
  return (x.array() / edges.array()).floor().max(-furthest).min(furthest).matrix().cast<std::int32_t>();
}

Vec3i block_at(const Vec3& x, const Vec3& edges) {
  return cell_of(x, edges).unaryExpr(
      [](std::int32_t c) { return static_cast<std::int32_t>(std::floor(static_cast<Real>(c) / cells_of_block)); });
}

using Pairs = std::vector<std::array<std::int32_t, 2>>;

/// Boxes in the order of the cells of their lower corners. No box is longer than a cell, so what overlaps is in the
/// same or in neighbouring cells.
class BoxesByCell {
 public:
  BoxesByCell(std::span<const Box> boxes, const Vec3& edges) : cells_(boxes.size()) {
    std::vector<std::pair<CellNumber, std::int32_t>> order(boxes.size());
    for (std::size_t r = 0; r < boxes.size(); ++r)
      order[r] = {number_of(cell_of(boxes[r].lower, edges)), static_cast<std::int32_t>(r)};
    std::sort(order.begin(), order.end());
    for (const auto& [cell, row] : order) rows_.push_back(row);
    for (std::vector<Real>& of_side : sides_) of_side.resize(boxes.size() + Pack::size);  // packs end behind the last
    for (std::size_t k = 0; k < order.size(); ++k) {
      cells_[k] = order[k].first;
      const Box& box = boxes[static_cast<std::size_t>(order[k].second)];
      for (const int axis : {0, 1, 2}) {
        lower(axis)[k] = box.lower[axis];
        upper(axis)[k] = box.upper[axis];
      }
    }
  }

  /// Pairs of which one row at least is below `own`.
  Pairs pairs(std::size_t own) const {
    constexpr std::size_t chunk = 1024;
    const std::size_t chunks = (rows_.size() + chunk - 1) / chunk;
    std::vector<Pairs> of_chunks(chunks);
#pragma omp parallel for schedule(dynamic)
    for (std::size_t c = 0; c < chunks; ++c)
      search(c * chunk, std::min(rows_.size(), (c + 1) * chunk), static_cast<std::int32_t>(own), of_chunks[c]);
    Pairs all;
    for (const Pairs& of_chunk : of_chunks) all.insert(all.end(), of_chunk.begin(), of_chunk.end());
    return all;
  }

 private:
  /// Each box with those that follow: in its cell and the next one along x, and in rows of three cells further on.
  void search(std::size_t begin, std::size_t end, std::int32_t own, Pairs& found) const {
    constexpr std::array<CellNumber, 4> rows_of_cells{one_y, one_z - one_y, one_z, one_z + one_y};
    const auto place_of = [&](CellNumber cell) {
      return static_cast<std::size_t>(std::lower_bound(cells_.begin(), cells_.end(), cell) - cells_.begin());
    };
    // from where to where: ahead of those that follow, and the four rows
    std::array<std::array<std::size_t, 2>, 5> runs;
    runs[0] = {begin, place_of(cells_[begin] + 2)};
    for (std::size_t k = 0; k < 4; ++k)
      runs[k + 1] = {place_of(cells_[begin] + rows_of_cells[k] - 1), place_of(cells_[begin] + rows_of_cells[k] + 2)};
    const auto go_on = [&](std::size_t& place, CellNumber to) {
      while (place < cells_.size() && cells_[place] < to) ++place;
    };
    for (std::size_t i = begin; i < end; ++i) {
      runs[0][0] = i + 1;
      go_on(runs[0][1], cells_[i] + 2);
      for (std::size_t k = 0; k < 4; ++k) {
        go_on(runs[k + 1][0], cells_[i] + rows_of_cells[k] - 1);
        go_on(runs[k + 1][1], cells_[i] + rows_of_cells[k] + 2);
      }
      for (const auto& [first, last] : runs) test(i, first, last, own, found);
    }
  }

  /// A box with those of a run, a pack at a time.
  void test(std::size_t i, std::size_t first, std::size_t last, std::int32_t own, Pairs& found) const {
    const std::array<Pack, 3> low{lower(0)[i], lower(1)[i], lower(2)[i]};
    const std::array<Pack, 3> high{upper(0)[i], upper(1)[i], upper(2)[i]};
    for (std::size_t j = first; j < last; j += Pack::size) {
      const auto overlap = [&](int axis) {
        return Pack::load(&lower(axis)[j]) <= high[static_cast<std::size_t>(axis)] &&
               Pack::load(&upper(axis)[j]) >= low[static_cast<std::size_t>(axis)];
      };
      const PackMask hits = overlap(0) && overlap(1) && overlap(2);
      if (!any(hits)) continue;
      std::array<Real, Pack::size> is_hit;
      select(hits, Pack(1), Pack(0)).store(is_hit.data());
      for (std::size_t lane = 0; lane < std::min<std::size_t>(last - j, Pack::size); ++lane)
        if (is_hit[lane] > 0 && std::min(rows_[i], rows_[j + lane]) < own) found.push_back({rows_[i], rows_[j + lane]});
    }
  }

  std::vector<Real>& lower(int axis) { return sides_[static_cast<std::size_t>(axis)]; }
  std::vector<Real>& upper(int axis) { return sides_[static_cast<std::size_t>(axis) + 3]; }
  const std::vector<Real>& lower(int axis) const { return sides_[static_cast<std::size_t>(axis)]; }
  const std::vector<Real>& upper(int axis) const { return sides_[static_cast<std::size_t>(axis) + 3]; }

  std::vector<CellNumber> cells_;
  std::array<std::vector<Real>, 6> sides_;  ///< Of boxes: the lower ones along each axis, then the upper ones.
  std::vector<std::int32_t> rows_;
};

/// By ids, the lower one first.
void sort_by_ids(std::span<const std::int64_t> ids, Pairs& pairs) {
  std::vector<std::int32_t> row_at(ids.size()), place_of(ids.size());
  std::iota(row_at.begin(), row_at.end(), 0);
  std::ranges::sort(row_at, {}, [&](std::int32_t row) { return ids[static_cast<std::size_t>(row)]; });
  for (std::size_t k = 0; k < row_at.size(); ++k)
    place_of[static_cast<std::size_t>(row_at[k])] = static_cast<std::int32_t>(k);
  std::vector<std::size_t> end(ids.size() + 1);  // of the pairs of each place; at first how many they are
  for (auto& [a, b] : pairs) {
    std::tie(a, b) = std::minmax({place_of[static_cast<std::size_t>(a)], place_of[static_cast<std::size_t>(b)]});
    ++end[static_cast<std::size_t>(a) + 1];
  }
  std::partial_sum(end.begin(), end.end(), end.begin());
  std::vector<std::int32_t> others(pairs.size());
  for (const auto& [a, b] : pairs) others[end[static_cast<std::size_t>(a)]++] = b;
  std::size_t begin = 0;
  for (std::size_t place = 0; place < ids.size(); begin = end[place++]) {
    std::sort(others.begin() + static_cast<std::ptrdiff_t>(begin),
              others.begin() + static_cast<std::ptrdiff_t>(end[place]));
    for (std::size_t k = begin; k < end[place]; ++k)
      pairs[k] = {row_at[place], row_at[static_cast<std::size_t>(others[k])]};
  }
}

/// A block, and a rank that has boxes in it.
struct BlockUse {
  CellNumber block;
  std::int64_t rank;
  auto operator<=>(const BlockUse&) const = default;
};

/// A box as it is offered to another rank.
struct Offer {
  Box box;
  std::int64_t id;
  RemoteRow original;
};

/// Rows of boxes by the blocks that they meet.
class RowsByBlock {
 public:
  RowsByBlock(std::span<const Box> boxes, const Vec3& edges) {
    for (std::size_t r = 0; r < boxes.size(); ++r) {
      const Vec3i low = block_at(boxes[r].lower, edges), high = block_at(boxes[r].upper, edges);
      for (std::int32_t z = low.z(); z <= high.z(); ++z)
        for (std::int32_t y = low.y(); y <= high.y(); ++y)
          for (std::int32_t x = low.x(); x <= high.x(); ++x)
            entries_.push_back({number_of({x, y, z}), static_cast<std::int32_t>(r), {x, y, z}});
    }
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return std::pair(a.block, a.row) < std::pair(b.block, b.row); });
  }

  /// Blocks that boxes of other ranks meet too, with these ranks. Each block asks the owner of its key.
  /// Collective.
  std::vector<BlockUse> shared(const Comm& comm) const {
    std::vector<BlockUse> uses;
    std::vector<BlockWork> work;
    for (std::size_t k = 0; k < entries_.size(); ++k) {
      if (k == 0 || entries_[k].block != entries_[k - 1].block) {
        uses.push_back({entries_[k].block, comm.rank()});
        work.push_back({key_of(entries_[k].place), 0});
      }
      ++work.back().work;
    }
    const Cuts cuts = balanced_cuts(comm, work);
    std::vector<int> keepers;
    for (const BlockWork& block : work) keepers.push_back(cuts.owner(block.key));
    return send_answers(comm, send(comm, uses, keepers));
  }

  /// Calls f(row) for each row in a block.
  template <class F>
  void for_each_row(CellNumber block, F&& f) const {
    auto at = std::lower_bound(entries_.begin(), entries_.end(), block,
                               [](const Entry& entry, CellNumber number) { return entry.block < number; });
    for (; at != entries_.end() && at->block == block; ++at) f(at->row);
  }

 private:
  struct Entry {
    CellNumber block;
    std::int32_t row;
    Vec3i place;
  };

  /// Of the uses that a keeper was told of, each rank learns who else uses its blocks.
  static std::vector<BlockUse> send_answers(const Comm& comm, std::vector<BlockUse> told) {
    std::sort(told.begin(), told.end());
    std::vector<BlockUse> answers;
    std::vector<int> to;
    for (auto first = told.begin(); first != told.end();) {
      const auto last = std::find_if(first, told.end(), [&](const BlockUse& use) { return use.block != first->block; });
      for (auto user = first; user != last; ++user)
        for (auto other = first; other != last; ++other)
          if (user != other) {
            answers.push_back(*other);
            to.push_back(static_cast<int>(user->rank));
          }
      first = last;
    }
    return send(comm, answers, to);
  }

  std::vector<Entry> entries_;
};

/// Boxes of other ranks in blocks that own boxes meet, by id. Collective.
std::vector<Offer> offers_of_others(const Comm& comm, std::span<const Box> boxes, std::span<const std::int64_t> ids,
                                    const Vec3& edges) {
  if (comm.size() == 1) return {};
  const RowsByBlock by_block(boxes, edges);
  std::vector<std::pair<int, std::int32_t>> wanted;  // rank, row
  for (const auto& [block, rank] : by_block.shared(comm))
    by_block.for_each_row(block, [&](std::int32_t row) { wanted.emplace_back(static_cast<int>(rank), row); });
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::vector<Offer> offers;
  std::vector<int> to;
  for (const auto& [rank, row] : wanted) {
    const auto r = static_cast<std::size_t>(row);
    offers.push_back({boxes[r], ids[r], {comm.rank(), row}});
    to.push_back(rank);
  }
  std::vector<Offer> arrived = send(comm, offers, to);
  std::ranges::sort(arrived, {}, &Offer::id);
  return arrived;
}

}  // namespace

BoxPairs find_pairs(const Comm& comm, std::span<const Box> boxes, std::span<const std::int64_t> ids) {
  WEFT_ENSURE(boxes.size() == ids.size());
  std::array<Real, 3> longest{};
  for (const Box& box : boxes)
    for (const int axis : {0, 1, 2}) {
      Real& along = longest[static_cast<std::size_t>(axis)];
      along = std::max(along, box.upper[axis] - box.lower[axis]);
    }
  comm.max(std::span(longest));
  Vec3 edges;
  for (const int axis : {0, 1, 2}) {
    const Real along = longest[static_cast<std::size_t>(axis)];
    edges[axis] = along > 0 ? longer * along : 1;  // of points any will do
  }

  const std::vector<Offer> offers = offers_of_others(comm, boxes, ids, edges);
  std::vector<Box> all(boxes.begin(), boxes.end());
  for (const Offer& offer : offers) all.push_back(offer.box);
  Pairs pairs = BoxesByCell(all, edges).pairs(boxes.size());

  // Of what was offered, only what is in a pair has a row.
  std::vector<std::int32_t> row(offers.size(), -1);
  const auto own = static_cast<std::int32_t>(boxes.size());
  for (const auto& pair : pairs)
    for (const std::int32_t r : pair)
      if (r >= own) row[static_cast<std::size_t>(r - own)] = 0;
  BoxPairs found{{ids.begin(), ids.end()}, {}, {}};
  std::vector<RemoteRow> originals;
  for (std::size_t k = 0; k < offers.size(); ++k) {
    if (row[k] < 0) continue;
    row[k] = static_cast<std::int32_t>(found.ids.size());
    found.ids.push_back(offers[k].id);
    originals.push_back(offers[k].original);
  }
  found.forest = Forest(comm, boxes.size(), originals);
  for (auto& [a, b] : pairs) {
    if (a >= own) a = row[static_cast<std::size_t>(a - own)];
    if (b >= own) b = row[static_cast<std::size_t>(b - own)];
  }
  sort_by_ids(found.ids, pairs);
  found.pairs = std::move(pairs);
  return found;
}

}  // namespace weft
