// Fuzz target of the deck reader: any text is refused with Error(deck), or is a deck that survives writing and reading.

#include "weft/base/error.hpp"
#include "weft/deck/read.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Deck deck;
  try {
    deck = parse_deck(text, "fuzzed.yaml", "/nowhere");
  } catch (const Error& error) {
    if (error.code() != ExitCode::deck || !std::string(error.what()).starts_with("fuzzed.yaml:")) std::abort();
    return 0;
  }
  // What was accepted has a resolved form that means the same.
  const std::string resolved = resolved_yaml(deck);
  if (resolved_yaml(parse_deck(resolved, "resolved.yaml", "/nowhere")) != resolved) std::abort();
  return 0;
}
