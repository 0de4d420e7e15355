#pragma once
// Checks in three grades: `require` for what users give us, `WEFT_ENSURE` for what we promise ourselves,
// `WEFT_ASSUME` for hot loops (debug builds only).

#include "weft/base/error.hpp"

#include <string>

namespace weft {

/// Throws Error(code, text) unless condition holds. For anything that comes from outside.
inline void require(bool condition, ExitCode code, const std::string& text) {
  if (!condition) throw Error(code, text);
}

/// Prints the broken invariant with its location and aborts: going on would compute nonsense.
[[noreturn]] void invariant_broken(const char* condition, const char* file, int line);

}  // namespace weft

#define WEFT_ENSURE(condition) \
  ((condition) ? static_cast<void>(0) : ::weft::invariant_broken(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#define WEFT_ASSUME(condition) static_cast<void>(0)
#else
#define WEFT_ASSUME(condition) WEFT_ENSURE(condition)
#endif
