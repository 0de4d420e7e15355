#pragma once
// Sums over rows whose bits do not depend on the number of threads: fixed chunks, added in order.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weft {

/// f(0) + f(1) + ... + f(count - 1), starting from `zero`; the order of additions depends on count alone.
template <class T, class F>
T ordered_sum(std::size_t count, T zero, F&& f) {
  constexpr std::size_t chunk = 4096;
  const std::size_t chunks = (count + chunk - 1) / chunk;
  std::vector<T> partial(chunks, zero);
#pragma omp parallel for schedule(static)
  for (std::size_t c = 0; c < chunks; ++c) {
    T sum = zero;
    const std::size_t end = std::min(count, (c + 1) * chunk);
    for (std::size_t r = c * chunk; r < end; ++r) sum += f(r);
    partial[c] = sum;
  }
  T sum = zero;
  for (const T& s : partial) sum += s;
  return sum;
}

}  // namespace weft
