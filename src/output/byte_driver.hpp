#pragma once
// A driver through which HDF5 sees bytes of ours instead of a file that it opens by itself: closing never fails (HDF5
// crashes at the end of the program if it does), and errors tell what the system said.

#include "output/descriptor.hpp"

#include <hdf5.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace weft {

/// What HDF5 takes for a file. Reading and writing may throw Error, which HDF5 passes on as a failure of its own.
class HdfBytes {
 public:
  virtual ~HdfBytes() = default;
  virtual void read(void* to, std::size_t count, std::uint64_t offset) const = 0;
  virtual void write(const void* from, std::size_t count, std::uint64_t offset) = 0;
  virtual std::uint64_t length() const = 0;
  virtual void set_length(std::uint64_t length) = 0;

  std::string failure;  ///< The text of the last Error.
};

/// A file in memory: only what was written takes room, however long the file is; all other bytes are zero. (HDF5's own
/// driver for files in memory holds every byte.)
class SparseMemory final : public HdfBytes {
 public:
  void read(void* to, std::size_t count, std::uint64_t offset) const override;
  void write(const void* from, std::size_t count, std::uint64_t offset) override;
  std::uint64_t length() const override { return length_; }
  void set_length(std::uint64_t length) override { length_ = length; }

  /// Writes what was written here into a file as long as this one, in which all else is zero.
  void copy_to(const Descriptor& file) const;

 private:
  static constexpr std::size_t page_bytes = 4096;
  std::map<std::uint64_t, std::array<std::byte, page_bytes>> pages_;  ///< By number.
  std::uint64_t length_ = 0;
};

/// A file on the disk, for reading.
class FileToRead final : public HdfBytes {
 public:
  FileToRead(const std::filesystem::path& path, ExitCode code);
  void read(void* to, std::size_t count, std::uint64_t offset) const override { file_.read(to, count, offset); }
  void write(const void*, std::size_t, std::uint64_t) override {}
  std::uint64_t length() const override { return length_; }
  void set_length(std::uint64_t) override {}

 private:
  Descriptor file_;
  std::uint64_t length_;
};

/// Files opened with these access properties are `bytes`, which must outlive them.
void use_bytes(hid_t access_properties, HdfBytes& bytes);

}  // namespace weft
