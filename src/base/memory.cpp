#include "weft/base/memory.hpp"

#include <cstdint>
#include <cstdlib>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace weft {
namespace {

constexpr std::size_t large_page = std::size_t{2} << 20;  // [byte]

}  // namespace

std::byte* allocate_lines(std::size_t bytes) {
  const std::size_t unit = bytes < large_page ? line_bytes : large_page;
  void* memory = nullptr;
  if (bytes > PTRDIFF_MAX - line_bytes ||
      posix_memalign(&memory, unit, (bytes + line_bytes - 1) / line_bytes * line_bytes) != 0)
    throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  // What is left over keeps small pages: a large one would be touched as a whole. A system that refuses is as it was.
  if (unit == large_page) madvise(memory, bytes / large_page * large_page, MADV_HUGEPAGE);
#endif
  return static_cast<std::byte*>(memory);
}

void free_lines(std::byte* lines) { std::free(lines); }

}  // namespace weft
