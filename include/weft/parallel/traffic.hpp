#pragma once
// What this process sends to others, counted where it is sent.

#include <cstdint>

namespace weft {

/// Messages to other ranks and the bytes in them, without what MPI adds of its own.
struct Sent {
  std::int64_t messages = 0, bytes = 0;

  void add(std::int64_t more_messages, std::int64_t more_bytes) {
    messages += more_messages;
    bytes += more_bytes;
  }
};

/// Since the start of the process.
struct Traffic {
  Sent ghosts;                  ///< Rows between owners and ghosts, both ways.
  Sent shipped;                 ///< Rows that change their rank.
  Sent asked;                   ///< Who owns what: when blocks come and go, and before rows are shipped.
  std::int64_t reductions = 0;  ///< Sums, maxima and the like over all ranks.
};

/// The counts of this process. Communication is the business of one thread, and so is this.
Traffic& traffic();

}  // namespace weft
