#include "output/row_writers.hpp"

#include "output/descriptor.hpp"
#include "output/digest.hpp"
#include "output/hdf5_handle.hpp"
#include "weft/base/check.hpp"
#include "weft/parallel/file_hints.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <optional>

namespace weft {

namespace {

/// Rows [begin, begin + count) of this rank's own.
struct Portion {
  const HdfWriter::Source* source;
  std::size_t begin, count;
};

/// Cuts rows [begin, begin + count) of a source into portions for threads.
void cut(const HdfWriter::Source& source, std::size_t begin, std::size_t count, std::vector<Portion>& portions) {
  const std::size_t most = std::max<std::size_t>(portion_bytes / source.row_bytes, 1), end = begin + count;
  for (; begin < end; begin += most) portions.push_back({&source, begin, std::min(most, end - begin)});
}

/// The disk begins early with pieces of this size: it is asked for each of them [byte].
constexpr std::size_t least_early_bytes = portion_bytes / 4;

/// Does something with each portion, on all threads. `work(portion, buffer)`: the buffer belongs to the thread. The
/// first exception is thrown when all threads are done.
template <class Work>
void for_each_portion(const std::vector<Portion>& portions, const Work& work) {
  std::exception_ptr failure;
  std::atomic<bool> has_failed = false;
#pragma omp parallel
  {
    std::vector<std::byte> buffer;
#pragma omp for schedule(dynamic)
    for (std::size_t k = 0; k < portions.size(); ++k) try {
        if (!has_failed) work(portions[k], buffer);
      } catch (...) {
        if (!has_failed.exchange(true)) failure = std::current_exception();
      }
  }
  if (failure) std::rethrow_exception(failure);
}

/// Where `count` rows of each data set lie in a buffer, one data set after another.
std::vector<std::byte*> places(std::span<const HdfWriter::Named> data_sets, std::size_t count, std::byte* buffer) {
  std::vector<std::byte*> to;
  for (const HdfWriter::Named& set : data_sets) {
    to.push_back(buffer);
    buffer += count * set.type.bytes();
  }
  return to;
}

}  // namespace

void RowsOfFile::make(const HdfWriter::Source& source, std::size_t begin, std::size_t count,
                      std::span<std::byte* const> to) const {
  source.produce(begin, count, to);
  if (digests.empty()) return;
  for (std::size_t k = 0; k < source.sets; ++k) {
    const std::size_t s = source.first_set + k;
    const std::uint64_t row = static_cast<std::uint64_t>(first[s]) + begin;
    const std::uint64_t digest = digest_of_rows(to[k], count, data_sets[s].type.bytes(), row);
#pragma omp atomic
    digests[s] += digest;
  }
}

// --- Each rank by itself ---------------------------------------------------------------------------------------------

void write_directly(const Comm& comm, const RowsOfFile& rows) {
  comm.agree([&] {
    std::vector<Portion> portions;
    for (const HdfWriter::Source& source : rows.sources) cut(source, 0, source.own_rows, portions);
    if (portions.empty() && !comm.is_root())
      return;  // the root flushes the structure, too, which it wrote and closed before
    Descriptor file(rows.path, O_WRONLY | O_NOFOLLOW);
    // Some threads make rows while others copy theirs into the file.
    for_each_portion(portions, [&](const Portion& portion, std::vector<std::byte>& buffer) {
      const auto& [source, begin, count] = portion;
      buffer.resize(std::max(buffer.size(), count * source->row_bytes));
      const std::vector<std::byte*> to = places(rows.made_by(*source), count, buffer.data());
      rows.make(*source, begin, count, to);
      for (std::size_t k = 0; k < source->sets; ++k) {
        const std::size_t s = source->first_set + k, bytes = rows.data_sets[s].type.bytes();
        const std::uint64_t offset = rows.layout.data_sets.at(rows.data_sets[s].name).offset +
                                     (static_cast<std::uint64_t>(rows.first[s]) + begin) * bytes;
        file.write(to[k], count * bytes, offset);
        if (count * bytes >= least_early_bytes) file.start_flush(count * bytes, offset);
      }
    });
    if (rows.flush == Flush::at_once) file.flush();
    file.close();
  });
}

// --- All ranks together ----------------------------------------------------------------------------------------------

namespace {

/// Rows of a rank that are made and given to MPI-IO at a time [byte].
constexpr std::size_t round_bytes = std::size_t{16} << 20;

/// A file with structure, opened by all ranks to write rows together. What fails on one rank does not keep it from
/// taking part in what follows, so that the others need not wait for it. Members are collective but for `failure`.
class SharedFile {
 public:
  SharedFile(const Comm& comm, const std::filesystem::path& path, const WriteMode& mode)
      : path_(path), rank_(comm.rank()) {
    FileHints hints;
    hints.set("collective_buffering", "true");
    hints.set("romio_cb_write", "enable");  // ROMIO would let each rank write, since rows of ranks do not interleave
    if (mode.cb_nodes > 0) hints.set("cb_nodes", std::to_string(std::min(mode.cb_nodes, comm.size())));
    if (mode.cb_buffer_size > 0) hints.set("cb_buffer_size", std::to_string(mode.cb_buffer_size));
    const HdfHandle access = newest_layout();
    H5Pset_fapl_mpio(access, comm.handle(), hints.handle());
    H5Pset_all_coll_metadata_ops(access, true);
    file_ = H5Fopen(path.c_str(), H5F_ACC_RDWR, access);
    if (file_ < 0) note("cannot be opened");
    H5Pset_dxpl_mpio(together_, H5FD_MPIO_COLLECTIVE);
  }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  ~SharedFile() { close(); }

  /// Rows [first, first + count) of a data set.
  void write(const HdfWriter::Named& set, std::uint64_t first, std::size_t count, const std::byte* from) {
    if (file_ < 0) return;
    const HdfHandle id(H5Dopen2(file_, set.name.c_str(), H5P_DEFAULT), H5Dclose);
    const HdfHandle space(H5Dget_space(id), H5Sclose), memory = extent_of(set.type, std::max<hsize_t>(count, 1));
    const hsize_t start[2] = {first, 0}, size[2] = {count, static_cast<hsize_t>(set.type.components)};
    if (count > 0) H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, size, nullptr);
    else H5Sselect_none(space), H5Sselect_none(memory);
    if (H5Dwrite(id, type_of(set.type.number), memory, space, together_, from) < 0)
      note(fmt::format("rows of {} cannot be written", set.name));
  }

  void close() {
    if (file_ >= 0 && H5Fclose(std::exchange(file_, H5I_INVALID_HID)) < 0) note("cannot be closed");
  }

  const std::optional<std::string>& failure() const { return failure_; }

 private:
  /// Keeps the first failure and says it at once: this rank may never be heard otherwise.
  void note(const std::string& what) {
    if (failure_) return;
    failure_ = fmt::format("{}: {} by all ranks together (HDF5: {}).", path_.string(), what, hdf5_reason());
    fmt::print(stderr, "error: rank {}: {}\n", rank_, *failure_);
  }

  std::filesystem::path path_;
  int rank_;
  hid_t file_ = H5I_INVALID_HID;
  HdfHandle together_{H5Pcreate(H5P_DATASET_XFER), H5Pclose};
  std::optional<std::string> failure_;
};

/// Makes rows [begin, begin + count) of a source on all threads, the data sets of the source at `to`.
void make_on_all_threads(const RowsOfFile& rows, const HdfWriter::Source& source, std::size_t begin, std::size_t count,
                         const std::vector<std::byte*>& to) {
  std::vector<Portion> portions;
  cut(source, begin, count, portions);
  for_each_portion(portions, [&](const Portion& portion, std::vector<std::byte>&) {
    std::vector<std::byte*> here = to;
    for (std::size_t k = 0; k < here.size(); ++k)
      here[k] += (portion.begin - begin) * rows.made_by(source)[k].type.bytes();
    rows.make(source, portion.begin, portion.count, here);
  });
}

/// Rows of a source that a rank gives in one round.
std::size_t rows_of_round(const HdfWriter::Source& source) {
  return std::max<std::size_t>(round_bytes / source.row_bytes, 1);
}

/// Rounds in which the rank with most rows of each source has given all. Collective.
std::vector<Real> rounds_of(const Comm& comm, std::span<const HdfWriter::Source> sources) {
  std::vector<Real> rounds;
  for (const HdfWriter::Source& source : sources) {
    const std::size_t own = (source.own_rows + rows_of_round(source) - 1) / rows_of_round(source);
    rounds.push_back(static_cast<Real>(own));
  }
  comm.max(rounds);
  return rounds;
}

}  // namespace

void write_collectively(const Comm& comm, const RowsOfFile& rows, const WriteMode& mode) {
  // A rank that cannot open the file at all says so before the others wait for it.
  std::optional<Descriptor> to_flush;
  comm.agree([&] { to_flush.emplace(rows.path, O_WRONLY | O_NOFOLLOW); });
  const std::vector<Real> rounds = rounds_of(comm, rows.sources);
  SharedFile file(comm, rows.path, mode);
  std::exception_ptr not_made;
  std::vector<std::byte> buffer;
  for (std::size_t k = 0; k < rows.sources.size(); ++k) {
    const HdfWriter::Source& source = rows.sources[k];
    for (std::size_t round = 0; round < static_cast<std::size_t>(rounds[k]); ++round) {
      const std::size_t begin = std::min(round * rows_of_round(source), source.own_rows);
      const std::size_t count = std::min(rows_of_round(source), source.own_rows - begin);
      buffer.resize(std::max(buffer.size(), count * source.row_bytes));
      const std::vector<std::byte*> to = places(rows.made_by(source), count, buffer.data());
      try {
        if (!not_made) make_on_all_threads(rows, source, begin, count, to);
      } catch (...) {
        not_made = std::current_exception();
      }
      for (std::size_t s = 0; s < source.sets; ++s)
        file.write(rows.made_by(source)[s], static_cast<std::uint64_t>(rows.first[source.first_set + s]) + begin, count,
                   to[s]);
    }
  }
  file.close();
  comm.agree([&] {
    if (not_made) std::rethrow_exception(not_made);
    require(!file.failure(), ExitCode::file_system, file.failure().value_or(""));
    if (rows.flush == Flush::at_once) to_flush->flush();
    to_flush->close();
  });
}

}  // namespace weft
