#pragma once
// Send: values of any plain kind go to ranks that only the senders know of.

#include "weft/parallel/comm.hpp"

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace weft {

/// `count` values of `bytes` bytes each; value k goes to rank to[k]. Returns those for this rank, its own among them,
/// by source rank and of each in the order given. Collective.
std::vector<std::byte> send_bytes(const Comm& comm, const std::byte* values, std::size_t bytes,
                                  std::span<const int> to);

/// The same for values that are what their bytes are: numbers, vectors of fixed size, and structs of them.
template <class T>
std::vector<T> send(const Comm& comm, const std::vector<T>& values, std::span<const int> to) {
  static_assert(std::is_trivially_destructible_v<T>, "what a value points to would stay behind");
  const std::vector<std::byte> bytes =
      send_bytes(comm, reinterpret_cast<const std::byte*>(values.data()), sizeof(T), to);
  std::vector<T> arrived(bytes.size() / sizeof(T));
  if (!arrived.empty()) std::memcpy(static_cast<void*>(arrived.data()), bytes.data(), bytes.size());
  return arrived;
}

}  // namespace weft
