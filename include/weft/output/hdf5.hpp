#pragma once
// A parallel HDF5 file, as little of it as Weft needs: groups, attributes, and data sets of rows that all ranks write
// and read together. The only place of HDF5.

#include "weft/parallel/comm.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// A number as it lies in the file and in memory.
enum class Number { float32, float64, int32, int64, uint64, uint8 };
std::size_t bytes_of(Number number);

/// One row of a data set: `components` numbers. Data sets have dimensions [rows], or [rows x components].
struct RowType {
  Number number;
  int components = 1;
  std::size_t bytes() const { return bytes_of(number) * static_cast<std::size_t>(components); }
  bool operator==(const RowType&) const = default;
};

/// Plain bytes, or blocks that carry a checksum each (fletcher32), so that damage is an error when read.
enum class RowLayout { plain, checked };

struct DataSetShape {
  RowType type;
  std::int64_t rows;  ///< Of all ranks.
};

/// An open file. Every member is collective; every failure is thrown as Error(code) on all ranks, and names file and
/// data set. The newest file layout is used, whose own bookkeeping carries checksums.
class HdfFile {
 public:
  /// A new file that will take about `bytes` [byte]; replaces an old one. The space is reserved at once: a disk that is
  /// full is an error here, on all ranks, and not in the middle of writing, where a rank could wait for ever.
  static HdfFile create(const Comm& comm, const std::filesystem::path& path, ExitCode code, std::uint64_t bytes);
  /// An existing file, for reading only.
  static HdfFile open(const Comm& comm, const std::filesystem::path& path, ExitCode code);
  HdfFile(HdfFile&& other) noexcept;
  HdfFile(const HdfFile&) = delete;
  HdfFile& operator=(const HdfFile&) = delete;
  /// Closes the file without a word if `close` was not called (an error is under way).
  ~HdfFile();

  /// Afterwards everything is handed to the operating system.
  void close();

  /// A new group; missing parents are made. Attributes below belong to a group or data set, "/" being the file's root.
  void make_group(const std::string& group);
  bool has(const std::string& object) const;
  /// Names of what lies directly in a group, sorted.
  std::vector<std::string> children(const std::string& group) const;

  void set_attribute(const std::string& object, const std::string& name, const std::string& text);
  void set_attribute(const std::string& object, const std::string& name, std::int64_t value);
  void set_attribute(const std::string& object, const std::string& name, Real value);
  void set_attribute(const std::string& object, const std::string& name, std::span<const std::int64_t> values);
  bool has_attribute(const std::string& object, const std::string& name) const;
  std::string text_attribute(const std::string& object, const std::string& name) const;
  std::int64_t integer_attribute(const std::string& object, const std::string& name) const;
  Real real_attribute(const std::string& object, const std::string& name) const;
  std::vector<std::int64_t> integers_attribute(const std::string& object, const std::string& name) const;

  /// Puts rows [first, first + count) of this rank's own rows to `to`.
  using Produce = std::function<void(std::size_t first, std::size_t count, std::byte* to)>;
  /// A new data set made of `own_rows` rows of each rank, in rank order. Rows are asked for in portions, so that what
  /// is computed on the way into the file never exists as a whole.
  void write_rows(const std::string& data_set, RowType type, std::size_t own_rows, RowLayout layout,
                  const Produce& produce);
  /// The same from rows that lie in memory, one after another.
  void write_rows(const std::string& data_set, RowType type, std::size_t own_rows, RowLayout layout, const void* rows);

  DataSetShape shape(const std::string& data_set) const;
  /// Rows [first, first + count) of the whole data set, a different range on each rank if need be.
  void read_rows(const std::string& data_set, RowType type, std::int64_t first, std::size_t count, void* to) const;

 private:
  HdfFile(const Comm& comm, const std::filesystem::path& path, ExitCode code, std::int64_t file)
      : comm_(comm), path_(path), code_(code), file_(file) {}

  /// Every rank throws if one of them did not succeed.
  void agree(bool success, const std::string& what) const;
  std::vector<std::byte> attribute_bytes(const std::string& object, const std::string& name, Number number) const;
  void write_attribute(const std::string& object, const std::string& name, Number number, std::size_t count,
                       const void* values, bool scalar);

  Comm comm_;
  std::filesystem::path path_;
  ExitCode code_;
  std::int64_t file_;  ///< HDF5's handle; negative when closed.
  bool created_ = false;
};

/// Name and version of the library.
std::string hdf5_library();

}  // namespace weft
