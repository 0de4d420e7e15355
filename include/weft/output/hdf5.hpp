#pragma once
// HDF5 files, as little of them as Weft needs: groups, attributes, and data sets of rows. All ranks write one file
// together; reading is for one process. The only place of HDF5.

#include "weft/output/files.hpp"
#include "weft/output/write_mode.hpp"
#include "weft/parallel/comm.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>
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

/// Where the rows of a data set lie in a file, one after another.
struct PlacedRows {
  std::int64_t rows = 0;
  std::uint64_t row_bytes = 0;
  std::uint64_t offset = 0;  ///< Of the first row [byte]; 0 if there are no rows.
  std::uint64_t digest = 0;  ///< Of all rows (digest_of_rows); 0 if none was asked for.

  std::uint64_t bytes() const { return static_cast<std::uint64_t>(rows) * row_bytes; }
};

/// Every byte of a file: it is of a data set, or of the structure, which is HDF5's own.
struct FileLayout {
  std::uint64_t bytes = 0;
  std::uint64_t structure_digest = 0;  ///< XXH3-64 of the structure's bytes, in their order.
  std::map<std::string, PlacedRows> data_sets;
};

/// Bytes [begin, end) of a file.
struct Region {
  std::uint64_t begin, end;
};
/// Where the structure lies. Throws Error(code) naming `file` if data sets overlap or do not fit into the file.
std::vector<Region> structure_of(const FileLayout& layout, const std::filesystem::path& file, ExitCode code);

/// Whether the structure has its digest; read by this process alone. Throws Error(code) if the file cannot be read.
bool structure_is_whole(const std::filesystem::path& file, const FileLayout& layout, ExitCode code);

/// Reads every data set, each rank a share, and names those that do not have their digest. Throws Error(code) if the
/// file cannot be read. Collective.
std::vector<std::string> damaged_data_sets(const Comm& comm, const std::filesystem::path& file,
                                           const FileLayout& layout, ExitCode code);

/// The first row of rank `rank` when `rows` are cut into equal slices.
inline std::int64_t slice_begin(std::int64_t rows, int rank, int ranks) {
  return rows / ranks * rank + rows % ranks * rank / ranks;
}

/// Whether digests of rows are found on their way into a file; they take as long as the copy into it.
enum class Digests { of_rows, none };

class SparseMemory;

/// A new file: described first, then written by all ranks. The root writes the structure, and all ranks put their rows
/// to the offsets that it names, as the mode says. Only `write` is collective; all ranks describe the same.
class HdfWriter {
 public:
  explicit HdfWriter(const Comm& comm, const WriteMode& mode = {}) : comm_(comm), mode_(mode) {}

  /// A group; missing parents of groups and data sets are made.
  void add_group(const std::string& group) { groups_.push_back(group); }
  using Value = std::variant<std::string, std::int64_t, Real, std::vector<std::int64_t>>;
  /// Of a group or data set, "/" being the file's root.
  void set_attribute(const std::string& object, const std::string& name, Value value) {
    attributes_.push_back({object, name, std::move(value)});
  }

  /// Puts rows [first, first + count) of this rank's own rows to `to`. Several threads ask at once.
  using Produce = std::function<void(std::size_t first, std::size_t count, std::byte* to)>;
  /// A data set made of `own_rows` rows of each rank, in rank order. Rows are asked for in portions while they are
  /// written, so that what is computed on the way into the file never exists as a whole.
  void add_rows(const std::string& data_set, RowType type, std::size_t own_rows, Produce produce);
  /// The same from rows that lie in memory, one after another, until the file is written.
  void add_rows(const std::string& data_set, RowType type, std::size_t own_rows, const void* rows);
  struct Named {
    std::string name;
    RowType type;
  };
  /// Puts rows [first, first + count) of each of several data sets to to[0], to[1], ... Several threads ask at once.
  using ProduceTogether = std::function<void(std::size_t first, std::size_t count, std::span<std::byte* const> to)>;
  /// Data sets whose rows are asked for together, portion by portion.
  void add_together(std::vector<Named> data_sets, std::size_t own_rows, ProduceTogether produce);

  /// Where the rows of data sets come from that are made together.
  struct Source {
    std::size_t first_set, sets;  ///< Of all data sets, in the order added.
    std::size_t row_bytes;        ///< In all of them together.
    std::size_t own_rows;
    ProduceTogether produce;
  };

  /// Afterwards the file (replaced if it was there) is complete, and on the disk when `flush` says. The space is
  /// reserved at once where the file system can do that. Throws Error(file_system) on all ranks. Collective.
  FileLayout write(const std::filesystem::path& path, Digests digests = Digests::of_rows,
                   Flush flush = Flush::at_once) const;

 private:
  struct Attribute {
    std::string object, name;
    Value value;
  };
  void make_structure(FileLayout& layout, SparseMemory& memory, const std::filesystem::path& path) const;

  void require_whole(const FileLayout& layout, const std::filesystem::path& path) const;

  Comm comm_;
  WriteMode mode_;
  std::vector<std::string> groups_;
  std::vector<Attribute> attributes_;
  std::vector<Named> data_sets_;
  std::vector<Source> sources_;
};

struct DataSetShape {
  RowType type;
  std::int64_t rows;
};

class HdfBytes;

/// A file opened for reading, by this process alone. Every failure is thrown as Error(code) and names file and object.
class HdfFile {
 public:
  HdfFile(const std::filesystem::path& path, ExitCode code);
  HdfFile(const HdfFile&) = delete;
  HdfFile& operator=(const HdfFile&) = delete;
  ~HdfFile();

  bool has(const std::string& object) const;
  /// Names of what lies directly in a group, sorted.
  std::vector<std::string> children(const std::string& group) const;
  bool has_attribute(const std::string& object, const std::string& name) const;
  std::string text_attribute(const std::string& object, const std::string& name) const;
  std::int64_t integer_attribute(const std::string& object, const std::string& name) const;
  Real real_attribute(const std::string& object, const std::string& name) const;
  std::vector<std::int64_t> integers_attribute(const std::string& object, const std::string& name) const;

  DataSetShape shape(const std::string& data_set) const;
  /// Rows [first, first + count).
  void read_rows(const std::string& data_set, RowType type, std::int64_t first, std::size_t count, void* to) const;

 private:
  /// Throws with HDF5's reason unless `success`.
  void demand(bool success, const std::string& what) const;
  std::vector<std::byte> attribute_bytes(const std::string& object, const std::string& name, Number number) const;

  std::filesystem::path path_;
  ExitCode code_;
  std::unique_ptr<HdfBytes> bytes_;
  std::int64_t file_;  ///< HDF5's handle.
};

/// Name and version of the library.
std::string hdf5_library();

}  // namespace weft
