#pragma once
// How a checkpoint lies on the disk: its manifest, the data sets of state.h5, and reading them with their digests.

#include "weft/fields/table.hpp"
#include "weft/output/checkpoint.hpp"
#include "weft/output/hdf5.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace weft {

/// A table that was saved: its name, and its rows on all ranks.
struct SavedPart {
  std::string name;
  std::int64_t rows;
};

/// The content of manifest.json, whose last member is the digest of all text before it.
struct Manifest {
  std::int64_t step = 0;
  Real time = 0;
  FileLayout state;              ///< Of state.h5: where each of its bytes belongs, and the digests of all.
  std::vector<SavedPart> parts;  ///< In the order written.

  std::string text() const;
  /// Throws Error(checkpoint) naming `file` if the text was changed, or is of another layout.
  static Manifest parse(const std::string& text, const std::filesystem::path& file);
};

/// Files of a checkpoint.
std::filesystem::path state_file(const std::filesystem::path& checkpoint);
std::filesystem::path manifest_file(const std::filesystem::path& checkpoint);

/// Where things lie in state.h5.
std::string table_group(const std::string& part);  ///< Holds a data set for each field.
std::string field_data_set(const std::string& part, std::string_view field);
std::string rank_rows_data_set(const std::string& part);  ///< Rows that each writing rank had.
inline constexpr const char* header_group = "/header";

RowType row_type(const ColumnView& column);

/// A checkpoint opened for reading, whose state.h5 has the structure that its manifest promises, and as many rows in
/// each field of a part as the part has. Rows are read from where the manifest says they lie, without HDF5. Members are
/// collective and throw Error(checkpoint), the same on every rank.
class SavedState {
 public:
  SavedState(const Comm& comm, const std::filesystem::path& checkpoint);

  const Manifest& manifest() const { return manifest_; }
  bool has(const std::string& data_set) const { return manifest_.state.data_sets.contains(data_set); }
  std::int64_t rows_of(const std::string& data_set) const { return promised(data_set).rows; }

  /// Rows [first, first + count) of a data set, a different range on each rank if need be; not checked.
  void read(const std::string& data_set, RowType type, std::int64_t first, std::size_t count, void* to) const;
  /// Reads this rank's rows, which together with those of the other ranks are all rows; throws if they are not what was
  /// written.
  void read_all(const std::string& data_set, RowType type, std::int64_t first, std::size_t count, void* to) const;
  /// All rows as bytes, on every rank.
  std::string read_bytes(const std::string& data_set, RowType type) const;

  /// Reads every data set, each rank its share, and names those that do not hold what was written.
  std::vector<std::string> damaged_data_sets() const;

 private:
  void require_rows_of_parts() const;
  const PlacedRows& promised(const std::string& data_set) const;
  std::string damage(const std::string& data_set) const;

  const Comm comm_;
  std::filesystem::path file_;
  Manifest manifest_;
};

/// Throws Error(checkpoint). Collective.
Manifest read_manifest(const Comm& comm, const std::filesystem::path& checkpoint);

}  // namespace weft
