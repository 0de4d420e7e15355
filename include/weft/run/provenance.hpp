#pragma once
// Where a result comes from: versions of the program and of what it stands on.

#include <string>

namespace weft {

/// "0.1.0".
std::string version();
/// Version with the commit it was built from, compiler and flags; one line each when `verbose`.
std::string version_text(bool verbose);
/// The same as a JSON object, with the number of ranks and threads.
std::string provenance_json(int ranks);

}  // namespace weft
