#pragma once
// The memory that a scene may take, asked for before anything of it is made.

#include "weft/base/types.hpp"

#include <string>

namespace weft {

/// Addresses that this process may use (`ulimit -v`) [byte]; infinite without a limit.
Real address_space();
/// What this process can have at most [byte]: the memory of the machine, of its control group, or its addresses.
Real memory_of_machine();
/// What is left of it for one of `sharers` processes alike, besides what this one holds already [byte].
Real memory_left(int sharers);

/// Things that are to be made.
struct Demand {
  std::string what;    ///< Names them in messages: "a weave of 3 x 4 yarns".
  Real count;          ///< Of `things`.
  const char* things;  ///< "points".
  Real bytes;          ///< That each of them takes at least.
};

/// Memory that may be spent.
class Budget {
 public:
  explicit Budget(Real bytes) : bytes_(bytes) {}

  /// Throws Error(geometry) with count, memory and `cure`, a sentence, if the things cannot fit.
  void require_room(const Demand& demand, const std::string& cure) const;
  /// The same, and what they take is spent.
  void spend(const Demand& demand, const std::string& cure);

 private:
  Real bytes_;
};

/// Throws Error(geometry) naming `what` if so many things cannot be numbered: their indices have 32 bits.
void require_countable(const std::string& what, Real count, const char* things);

/// The mistake that most often makes a shape or mesh too large.
inline constexpr const char* unit_hint =
    "Are its lengths in millimetres? Then \"scale: 0.001\" makes metres of them. If not, enlarge domain.dx or use more "
    "machines.";

}  // namespace weft
