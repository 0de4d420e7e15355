#pragma once
// Memory of arrays that may be large.

#include <cstddef>
#include <limits>
#include <memory>
#include <new>

namespace weft {

/// Of a cache line: what memory brings at once.
inline constexpr std::size_t line_bytes = 64;

/// Begins with a cache line, so that no vector register that is a divisor of one lies on two. From 2 MiB on it consists
/// of pages of that size where the system has them: a core knows the addresses of some thousand pages, and the passes
/// of a step turn between more of 4 KiB than that. Nothing is touched. Throws std::bad_alloc.
std::byte* allocate_lines(std::size_t bytes);
void free_lines(std::byte* lines);

struct FreeLines {
  void operator()(std::byte* lines) const { free_lines(lines); }
};
using Lines = std::unique_ptr<std::byte[], FreeLines>;

/// The same for standard containers.
template <class T>
struct LinesAllocator {
  using value_type = T;
  LinesAllocator() = default;
  template <class U>
  LinesAllocator(const LinesAllocator<U>&) {}  // NOLINT(google-explicit-constructor): as containers expect
  T* allocate(std::size_t count) {
    static_assert(alignof(T) <= line_bytes);
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    return reinterpret_cast<T*>(allocate_lines(count * sizeof(T)));
  }
  void deallocate(T* lines, std::size_t) { free_lines(reinterpret_cast<std::byte*>(lines)); }
  friend bool operator==(const LinesAllocator&, const LinesAllocator&) { return true; }
};

}  // namespace weft
