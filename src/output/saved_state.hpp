#pragma once
// How a checkpoint lies on the disk: its manifest, the data sets of state.h5, and reading them with their digests.

#include "weft/fields/table.hpp"
#include "weft/output/checkpoint.hpp"
#include "weft/output/hdf5.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace weft {

/// What the manifest promises of one data set.
struct SavedRows {
  std::int64_t rows = 0;
  std::string digest;
};

/// The content of manifest.json, whose last member is the digest of all text before it.
struct Manifest {
  std::int64_t step = 0;
  Real time = 0;
  std::string deck_digest;  ///< Stands in state.h5 as well: shows files of two checkpoints mixed.
  std::uint64_t state_bytes = 0;
  std::string state_digest;      ///< Of the whole file state.h5.
  std::vector<SavedPart> parts;  ///< In the order written.
  std::map<std::string, SavedRows> data_sets;

  std::string text() const;
  /// Throws Error(checkpoint) naming `file` if the text was changed, or is of a newer layout.
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

/// A checkpoint opened for reading. Members are collective and throw Error(checkpoint), the same on every rank.
class SavedState {
 public:
  SavedState(const Comm& comm, const std::filesystem::path& checkpoint);

  const Manifest& manifest() const { return manifest_; }
  const HdfFile& file() const { return file_; }
  bool has(const std::string& data_set) const { return manifest_.data_sets.contains(data_set); }

  /// Reads this rank's rows [first, first + count), which together with those of the other ranks are all rows; throws
  /// if they are not what was written.
  void read_all(const std::string& data_set, RowType type, std::int64_t first, std::size_t count, void* to) const;
  /// The bytes of a data set, on every rank.
  std::string read_bytes(const std::string& data_set, RowType type) const;
  /// Throws if the data set is damaged.
  void check(const std::string& data_set) const;

 private:
  const SavedRows& promised(const std::string& data_set) const;

  Comm comm_;
  std::filesystem::path path_;
  Manifest manifest_;
  HdfFile file_;
};

/// Throws Error(checkpoint). Collective.
Manifest read_manifest(const Comm& comm, const std::filesystem::path& checkpoint);

/// The digest of a whole file, read by all ranks together. Throws Error(code). Collective.
std::string digest_of_file(const Comm& comm, const std::filesystem::path& file, ExitCode code);

/// The first row of rank `rank` when `rows` are cut into equal slices.
inline std::int64_t slice_begin(std::int64_t rows, int rank, int ranks) {
  return rows / ranks * rank + rows % ranks * rank / ranks;
}

}  // namespace weft
