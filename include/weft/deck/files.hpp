#pragma once
// The files that a deck names: meshes and curves.

#include "weft/deck/deck.hpp"

#include <functional>
#include <string>

namespace weft {

/// Calls visit(key, path) for each file, in the order of the deck; key: its path in the deck, entries of lists by name,
/// as "bodies.cloth.mesh.file.path". The path may be changed.
void for_each_file(Deck& deck, const std::function<void(const std::string& key, std::string& path)>& visit);

}  // namespace weft
