#pragma once
// A driver with which HDF5 writes a file into memory: no disk can fail under it, and what was never written takes no
// room, however long the file is. (HDF5's own driver for files in memory holds every byte.)

#include <hdf5.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace weft {

/// The bytes that were written; all others are zero.
class SparseMemory {
 public:
  void write(const void* from, std::size_t count, std::uint64_t offset);
  void read(void* to, std::size_t count, std::uint64_t offset) const;
  void clear();
  /// How long the file is.
  std::uint64_t length = 0;

 private:
  static constexpr std::size_t page_bytes = 4096;
  std::map<std::uint64_t, std::array<std::byte, page_bytes>> pages_;  ///< By number.
};

/// Files opened with these access properties are in `memory`, which must outlive them.
void use_memory(hid_t access_properties, SparseMemory& memory);

}  // namespace weft
