#pragma once
// Long work that ends early because somebody asks for it.

#include <functional>

namespace weft {

/// Whether work that goes on is to be broken off; the same on every rank. Collective.
using StopQuestion = std::function<bool()>;

/// Thrown on all ranks alike by work that was broken off; what it worked on is as before.
struct Interrupted {};

}  // namespace weft
