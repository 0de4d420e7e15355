#pragma once
// How fast checkpoints and frames are written into a folder, by each writer.

#include "weft/deck/deck.hpp"
#include "weft/parallel/comm.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace weft {

/// Medians of wall time that a run waits for a file: written, flushed and, for checkpoints, read back [s].
struct WriteTimes {
  std::string writer;  ///< The word of `output.writer`.
  Real checkpoint, frame;
};

struct BenchWriteResult {
  int ranks, tries;
  std::int64_t points;
  Real checkpoint_bytes, frame_bytes;  ///< On the disk; a frame of all bodies.
  std::vector<WriteTimes> writers;
};

/// Writes the start of the deck's scene several times with each writer, and the deck's hints, into a new folder below
/// `folder`, and deletes that folder. A writer that hangs is ended by the watchdog. Throws Error. Collective.
BenchWriteResult bench_write(const Comm& comm, const Deck& deck, const std::filesystem::path& folder);

std::string as_text(const BenchWriteResult& result);
std::string as_json(const BenchWriteResult& result);

}  // namespace weft
