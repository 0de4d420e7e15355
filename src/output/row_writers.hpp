#pragma once
// The two ways in which rows get to their offsets in a file that has its structure already.

#include "weft/output/hdf5.hpp"

#include <cstdint>
#include <filesystem>
#include <span>

namespace weft {

/// The rows of a file as this rank makes them.
struct RowsOfFile {
  std::filesystem::path path;
  const FileLayout& layout;
  std::span<const HdfWriter::Named> data_sets;
  std::span<const HdfWriter::Source> sources;
  std::span<const std::int64_t> first;  ///< This rank's first row of each data set, among all of it.
  std::span<std::uint64_t> digests;     ///< Of this rank's rows of each data set; empty: not asked for.
  Flush flush;

  std::span<const HdfWriter::Named> made_by(const HdfWriter::Source& source) const {
    return data_sets.subspan(source.first_set, source.sets);
  }
  /// Puts rows [begin, begin + count) of the source's k-th data set to to[k] and adds up their digests. Several threads
  /// may ask at once.
  void make(const HdfWriter::Source& source, std::size_t begin, std::size_t count,
            std::span<std::byte* const> to) const;
};

/// Memory that a thread spends on one portion of rows on their way into the file: it stays in the nearer caches between
/// being made and being copied [byte].
inline constexpr std::size_t portion_bytes = std::size_t{1} << 20;

/// Each rank writes its rows by plain POSIX calls and flushes them if they are to be. Throws Error(file_system) on all
/// ranks if one fails; nobody waits for another while it writes. Collective.
void write_directly(const Comm& comm, const RowsOfFile& rows);

/// All ranks write together, by collective transfers of HDF5 over MPI-IO, and flush likewise. Throws
/// Error(file_system) on all ranks if a rank learns of a failure and MPI-IO comes to an end. It may not end: then the
/// rank that failed has said so on stderr, and the others wait for ever. It may also keep the failure to itself, as
/// Open MPI does: the caller has to read the rows back. Collective.
void write_collectively(const Comm& comm, const RowsOfFile& rows, const WriteMode& mode);

}  // namespace weft
