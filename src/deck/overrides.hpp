#pragma once
// Overrides from the command line: "key.path=value" put into the tree of a deck before it is read.

#include "deck/yaml.hpp"

#include <string>

namespace weft::deck {

/// The value stands in the tree at the key path, replacing what was there; complains in the report if the path leads
/// nowhere. Unknown keys are put in and left to the reader of tables to complain about.
void apply_override(Node& root, const std::string& text, Report& report);

}  // namespace weft::deck
