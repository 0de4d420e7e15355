#pragma once
// How checkpoints and frames get to the disk.

#include <cstdint>

namespace weft {

/// Who writes the rows of a file, and where they lie. Content and readers are the same for all modes.
struct WriteMode {
  bool collective = false;           ///< Few ranks write for all, over MPI-IO; else each rank writes its own rows.
  int cb_nodes = 0;                  ///< How many ranks write for all; 0: as MPI-IO chooses.
  std::uint64_t cb_buffer_size = 0;  ///< Of each of them [byte]; 0: as MPI-IO chooses.
  std::uint64_t alignment = 0;       ///< Data sets of at least this size begin at multiples of it [byte]; 0: anywhere.
};

}  // namespace weft
