#pragma once
// What a deck says about writing, as the room `output` takes it.

#include "weft/deck/deck.hpp"
#include "weft/output/frame.hpp"
#include "weft/output/write_mode.hpp"

namespace weft {

inline WriteMode write_mode(const OutputDeck& deck) {
  return {.collective = deck.writer == FileWriter::collective,
          .cb_nodes = deck.hints.cb_nodes,
          .cb_buffer_size = static_cast<std::uint64_t>(deck.hints.cb_buffer_size),
          .alignment = static_cast<std::uint64_t>(deck.hints.alignment)};
}

inline FrameFormat frame_format(const OutputDeck& deck) {
  return {.double_precision = deck.double_precision, .mode = write_mode(deck)};
}

/// What to say if a run hangs while ranks write a file.
inline const char* advice_on_hanging_files(const OutputDeck& deck) {
  if (deck.writer != FileWriter::collective) return "";
  return "All ranks were writing a file together (output.writer: collective). When the disk of one rank fails "
         "meanwhile, the others may wait for ever; lines above may say what failed. Checkpoints that are there are "
         "whole: mend the disk and go on with --resume auto. With output.writer: direct such runs end with the reason.";
}

}  // namespace weft
