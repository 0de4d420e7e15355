// The Hilbert curve by Skilling's transform, and cuts of it by parallel search, eight parts at a time.

#include "weft/parallel/curve.hpp"

#include "weft/base/check.hpp"

#include <algorithm>
#include <array>

namespace weft {
namespace {

constexpr int bits = 21;
constexpr int parts = 8;  ///< Of a bracket, in each round of the search for cuts: the octants of a cube.
/// Where block 0 stands: binary 101...0100, at a third or two thirds of every cube of the curve. Scenes like to begin
/// at 0, and on the border of large cubes their outermost layer of blocks would go to ranks from all over the curve.
constexpr std::int32_t centre = 0x155554;
static_assert(centre + max_block_coordinate < 1 << bits && centre % 4 == 0);  // cubes of 2x2x2 blocks stay such
constexpr BlockKey end_of_curve = BlockKey{1} << (3 * bits);

using Axes = std::array<std::uint32_t, 3>;

// [Skilling 2004, Programming the Hilbert curve, AIP Conf. Proc. 707, 381]. The "transpose" holds bit 3j+2-i of the
// offset on the curve as bit j of word i.

Axes transpose_of(Axes x) {
  for (std::uint32_t q = 1U << (bits - 1); q > 1; q >>= 1) {
    const std::uint32_t low = q - 1;
    for (std::uint32_t& xi : x) {
      const std::uint32_t swapped = xi & q ? 0 : (x[0] ^ xi) & low;
      if (xi & q) x[0] ^= low;
      x[0] ^= swapped;
      xi ^= swapped;
    }
  }
  x[1] ^= x[0];
  x[2] ^= x[1];
  std::uint32_t flips = 0;
  for (std::uint32_t q = 1U << (bits - 1); q > 1; q >>= 1)
    if (x[2] & q) flips ^= q - 1;
  for (std::uint32_t& xi : x) xi ^= flips;
  return x;
}

Axes axes_of(Axes x) {
  const std::uint32_t gray = x[2] >> 1;
  x[2] ^= x[1];
  x[1] ^= x[0];
  x[0] ^= gray;
  for (std::uint32_t q = 2; q != 1U << bits; q <<= 1) {
    const std::uint32_t low = q - 1;
    for (int i = 2; i >= 0; --i) {
      const std::uint32_t swapped = x[i] & q ? 0 : (x[0] ^ x[i]) & low;
      if (x[i] & q) x[0] ^= low;
      x[0] ^= swapped;
      x[i] ^= swapped;
    }
  }
  return x;
}

/// Bit j of x at bit 3j, and back.
std::uint64_t spread(std::uint64_t x) {
  x = (x | x << 32) & 0x001f00000000ffff;
  x = (x | x << 16) & 0x001f0000ff0000ff;
  x = (x | x << 8) & 0x100f00f00f00f00f;
  x = (x | x << 4) & 0x10c30c30c30c30c3;
  return (x | x << 2) & 0x1249249249249249;
}

std::uint32_t collect(std::uint64_t x) {
  x &= 0x1249249249249249;
  x = (x | x >> 2) & 0x10c30c30c30c30c3;
  x = (x | x >> 4) & 0x100f00f00f00f00f;
  x = (x | x >> 8) & 0x001f0000ff0000ff;
  x = (x | x >> 16) & 0x001f00000000ffff;
  return static_cast<std::uint32_t>((x | x >> 32) & 0x1fffff);
}

/// The work of one rank, ordered along the curve.
class OwnWork {
 public:
  explicit OwnWork(std::span<const BlockWork> work) : blocks_(work.begin(), work.end()) {
    std::sort(blocks_.begin(), blocks_.end(), [](const BlockWork& a, const BlockWork& b) { return a.key < b.key; });
    before_.reserve(blocks_.size() + 1);
    before_.push_back(0);
    for (const BlockWork& block : blocks_) {
      WEFT_ENSURE(block.work >= 0 && block.key < end_of_curve);
      before_.push_back(before_.back() + block.work);
    }
  }

  std::int64_t total() const { return before_.back(); }

  /// Work of all blocks with smaller keys.
  std::int64_t before(BlockKey key) const {
    const auto at = std::lower_bound(blocks_.begin(), blocks_.end(), key,
                                     [](const BlockWork& block, BlockKey k) { return block.key < k; });
    return before_[at - blocks_.begin()];
  }

 private:
  std::vector<BlockWork> blocks_;
  std::vector<std::int64_t> before_;
};

/// A cut lies in (low, high]: the work before `low` is less than asked for, that before `high` is not.
struct Bracket {
  std::int64_t target;
  BlockKey low = 0, high = end_of_curve;
  std::int64_t before_low = 0, before_high = 0;

  /// The key where part p of the bracket begins.
  BlockKey start_of(int p) const { return low + (high - low) / parts * static_cast<BlockKey>(p); }
};

}  // namespace

BlockKey key_of(const Vec3i& block) {
  WEFT_ASSUME(block.cwiseAbs().maxCoeff() <= max_block_coordinate);
  const Axes x =
      transpose_of({static_cast<std::uint32_t>(block[0] + centre), static_cast<std::uint32_t>(block[1] + centre),
                    static_cast<std::uint32_t>(block[2] + centre)});
  return spread(x[0]) << 2 | spread(x[1]) << 1 | spread(x[2]);
}

Vec3i block_of(BlockKey key) {
  WEFT_ASSUME(key < end_of_curve);
  const Axes x = axes_of({collect(key >> 2), collect(key >> 1), collect(key)});
  return {static_cast<std::int32_t>(x[0]) - centre, static_cast<std::int32_t>(x[1]) - centre,
          static_cast<std::int32_t>(x[2]) - centre};
}

int Cuts::owner(BlockKey key) const {
  return static_cast<int>(std::upper_bound(at.begin(), at.end(), key) - at.begin());
}

Cuts balanced_cuts(const Comm& comm, std::span<const BlockWork> work) {
  const OwnWork own(work);
  const std::int64_t total = comm.sum(own.total());
  const std::int64_t ranks = comm.size();

  std::vector<Bracket> brackets;
  for (std::int64_t r = 1; r < ranks; ++r) {
    const std::int64_t share = total / ranks * r + total % ranks * r / ranks;  // r/P of the total, without overflow
    brackets.push_back({.target = std::max<std::int64_t>(share, 1), .before_high = total});
  }

  // All cuts at once, an octant of a cube at a time; the ends come to lie next to each other on both sides of one
  // block.
  std::vector<std::int64_t> before(brackets.size() * (parts - 1));
  for (int bit = 0; bit < bits; ++bit) {
    auto sum = before.begin();
    for (const Bracket& cut : brackets)
      for (int p = 1; p < parts; ++p) *sum++ = own.before(cut.start_of(p));
    comm.sum(std::span(before));
    for (std::size_t c = 0; c < brackets.size(); ++c) {
      const Bracket whole = brackets[c];
      Bracket& cut = brackets[c];
      for (int p = 1; p < parts; ++p) {
        const std::int64_t work = before[c * (parts - 1) + static_cast<std::size_t>(p) - 1];
        if (work >= whole.target) {
          cut.high = whole.start_of(p);
          cut.before_high = work;
          break;
        }
        cut.low = whole.start_of(p);
        cut.before_low = work;
      }
    }
  }

  // The block between goes to the side that brings the cut nearer to its share.
  Cuts cuts;
  for (const Bracket& cut : brackets)
    cuts.at.push_back(cut.target - cut.before_low < cut.before_high - cut.target ? cut.low : cut.high);
  return cuts;
}

Real imbalance(const Comm& comm, std::int64_t own_work) {
  const std::int64_t total = comm.sum(own_work);
  const Real most = comm.max(static_cast<Real>(own_work));
  return total == 0 ? 1.0 : most * comm.size() / static_cast<Real>(total);
}

}  // namespace weft
