#pragma once
// The time that laws take within the transfers.

#include "weft/base/timer.hpp"

#include <omp.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace weft {

/// How long threads spend within pieces of work that take a few microseconds each. Every seventh piece is timed: a look
/// at the clock is not free either, and bins have often eight chunks, of which the first finds the caches cold.
class LawClock {
 public:
  template <class F>
  void measure(std::size_t rows, F&& work) {
    Share& mine = shares_[static_cast<std::size_t>(omp_get_thread_num())];
    if (mine.pieces++ % pieces_to_one_timed != 0) return work();
    const double began = wall_seconds();
    work();
    const double seconds = wall_seconds() - began, count = static_cast<double>(rows);
    // A piece during which another process ran says nothing of the six that were not timed.
    mine.rows += count;
    mine.longest = std::min(mine.longest, slowest_to_fastest * seconds / count);
    mine.seconds = std::min(mine.seconds + std::min(seconds, mine.longest * count), mine.longest * mine.rows);
  }
  /// On average over the threads.
  double seconds() const {
    double sum = 0;
    for (const Share& share : shares_) sum += share.seconds;
    return pieces_to_one_timed * sum / static_cast<double>(shares_.size());
  }

 private:
  static constexpr int pieces_to_one_timed = 7;
  static constexpr double slowest_to_fastest = 10;             ///< Of rows, when nothing comes in between.
  struct alignas(64) Share {                                   // a cache line of its own
    double seconds = 0, rows = 0;                              ///< Of the pieces that were timed.
    double longest = std::numeric_limits<double>::infinity();  ///< A row is not taken to last longer than this [s].
    long pieces = 0;
  };
  std::vector<Share> shares_ = std::vector<Share>(static_cast<std::size_t>(omp_get_max_threads()));
};

}  // namespace weft
