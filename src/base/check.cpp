#include "weft/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace weft {

void invariant_broken(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "weft: internal error: %s does not hold (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace weft
