// HDF5 files over the C interface: structure made in memory, rows written by all ranks, reading by one process.

#include "weft/output/hdf5.hpp"

#include "output/byte_driver.hpp"
#include "output/descriptor.hpp"
#include "output/digest.hpp"
#include "output/hdf5_handle.hpp"
#include "output/row_writers.hpp"
#include "weft/base/check.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <numeric>

namespace weft {

namespace {

constexpr Number all_numbers[] = {Number::float32, Number::float64, Number::int32,
                                  Number::int64,   Number::uint64,  Number::uint8};

/// How groups and data sets are made: without the time, so that equal content gives equal files.
HdfHandle without_times(hid_t kind) {
  HdfHandle creation(H5Pcreate(kind), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  return creation;
}

/// Makes a group and what it lies in.
bool make_group(hid_t file, const std::string& group) {
  const HdfHandle creation = without_times(H5P_GROUP_CREATE);
  for (std::size_t end = 0; end != std::string::npos;) {
    end = group.find('/', end + 1);
    const std::string part = group.substr(0, end);
    if (H5Lexists(file, part.c_str(), H5P_DEFAULT) > 0) continue;
    if (!HdfHandle(H5Gcreate2(file, part.c_str(), H5P_DEFAULT, creation, H5P_DEFAULT), H5Gclose).valid()) return false;
  }
  return true;
}

bool make_attribute(hid_t file, const std::string& object, const std::string& name, hid_t type, hid_t space,
                    const void* values) {
  const HdfHandle owner(H5Oopen(file, object.c_str(), H5P_DEFAULT), H5Oclose);
  const HdfHandle attribute(H5Acreate2(owner, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute.valid() && H5Awrite(attribute, type, values) >= 0;
}

bool make_attribute(hid_t file, const std::string& object, const std::string& name, const HdfWriter::Value& value) {
  const HdfHandle scalar(H5Screate(H5S_SCALAR), H5Sclose);
  if (const auto* text = std::get_if<std::string>(&value)) {
    const HdfHandle type(H5Tcopy(H5T_C_S1), H5Tclose);
    // A string type may not be empty; the padding says where the text ends.
    H5Tset_size(type, std::max<std::size_t>(text->size(), 1));
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    return make_attribute(file, object, name, type, scalar, text->c_str());
  }
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) {
    const hsize_t extent = integers->size();
    const HdfHandle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
    return make_attribute(file, object, name, type_of(Number::int64), space, integers->data());
  }
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return make_attribute(file, object, name, type_of(Number::int64), scalar, integer);
  return make_attribute(file, object, name, type_of(Number::float64), scalar, &std::get<Real>(value));
}

/// Numbers in a row that can be meant; a tensor has nine.
constexpr hsize_t most_components = 1 << 16;

/// Whether rows that a file announces can lie in its bytes: room is made only for such.
bool extent_fits(const DataSetShape& shape, std::uint64_t file_bytes) {
  return shape.rows >= 0 && static_cast<std::uint64_t>(shape.rows) <= file_bytes / shape.type.bytes();
}

/// Makes a data set whose rows have their offset in the file, though nothing stands there yet.
bool make_data_set(hid_t file, const std::string& name, RowType type, PlacedRows& rows) {
  const std::size_t folder = name.rfind('/');
  if (folder > 0 && !make_group(file, name.substr(0, folder))) return false;
  const HdfHandle creation = without_times(H5P_DATASET_CREATE);
  H5Pset_layout(creation, H5D_CONTIGUOUS);
  H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  const HdfHandle space = extent_of(type, static_cast<hsize_t>(rows.rows));
  const HdfHandle set(H5Dcreate2(file, name.c_str(), type_of(type.number), space, H5P_DEFAULT, creation, H5P_DEFAULT),
                      H5Dclose);
  if (!set.valid()) return false;
  if (rows.rows == 0) return true;
  const haddr_t offset = H5Dget_offset(set);
  rows.offset = offset;
  return offset != HADDR_UNDEF;
}

}  // namespace

std::string hdf5_reason() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned level, const H5E_error2_t* error, void* out) -> herr_t {
        if (level == 0 && error->desc) *static_cast<std::string*>(out) = error->desc;
        return 0;
      },
      &text);
  return text.empty() ? "no reason given" : text;
}

hid_t type_of(Number number) {
  switch (number) {
    case Number::float32:
      return H5T_NATIVE_FLOAT;
    case Number::float64:
      return H5T_NATIVE_DOUBLE;
    case Number::int32:
      return H5T_NATIVE_INT32;
    case Number::int64:
      return H5T_NATIVE_INT64;
    case Number::uint64:
      return H5T_NATIVE_UINT64;
    case Number::uint8:
      return H5T_NATIVE_UINT8;
  }
  return H5I_INVALID_HID;
}

HdfHandle newest_layout() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // its reports come as our errors, not on the terminal
  HdfHandle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  return access;
}

HdfHandle extent_of(RowType type, hsize_t rows) {
  const hsize_t extent[2] = {rows, static_cast<hsize_t>(type.components)};
  return {H5Screate_simple(type.components == 1 ? 1 : 2, extent, nullptr), H5Sclose};
}

std::size_t bytes_of(Number number) {
  switch (number) {
    case Number::uint8:
      return 1;
    case Number::float32:
    case Number::int32:
      return 4;
    default:
      return 8;
  }
}

std::vector<Region> structure_of(const FileLayout& layout, const std::filesystem::path& file, ExitCode code) {
  std::vector<Region> taken;
  bool fits = true;
  for (const auto& [name, rows] : layout.data_sets) {
    fits = fits && rows.rows >= 0 && rows.offset <= layout.bytes && rows.row_bytes > 0 &&
           static_cast<std::uint64_t>(rows.rows) <= (layout.bytes - rows.offset) / rows.row_bytes;
    if (fits && rows.rows > 0) taken.push_back({rows.offset, rows.offset + rows.bytes()});
  }
  std::sort(taken.begin(), taken.end(), [](const Region& a, const Region& b) { return a.begin < b.begin; });
  std::vector<Region> structure;
  std::uint64_t end = 0;
  for (const Region& region : taken) {
    fits = fits && region.begin >= end;
    if (region.begin > end) structure.push_back({end, region.begin});
    end = region.end;
  }
  if (end < layout.bytes) structure.push_back({end, layout.bytes});
  require(fits, code, fmt::format("{}: its data sets do not fit beside one another.", file.string()));
  return structure;
}

/// Bytes that a rank reads at a time when it only looks whether they are whole.
constexpr std::uint64_t piece_bytes = std::uint64_t{4} << 20;

bool structure_is_whole(const std::filesystem::path& path, const FileLayout& layout, ExitCode code) {
  const Descriptor file(path, O_RDONLY, code);
  RunningDigest digest;
  std::vector<char> piece;
  for (const Region& region : structure_of(layout, path, code))
    for (std::uint64_t begin = region.begin; begin < region.end; begin += piece.size()) {
      piece.resize(std::min(piece_bytes, region.end - begin));
      file.read(piece.data(), piece.size(), begin);
      digest.add(piece.data(), piece.size());
    }
  return digest.value() == layout.structure_digest;
}

std::vector<std::string> damaged_data_sets(const Comm& comm, const std::filesystem::path& path,
                                           const FileLayout& layout, ExitCode code) {
  std::vector<std::uint64_t> digests;
  comm.agree([&] {
    const Descriptor file(path, O_RDONLY, code);
    std::vector<char> piece;
    for (const auto& [name, rows] : layout.data_sets) {
      std::uint64_t& digest = digests.emplace_back(0);
      const auto portion = static_cast<std::int64_t>(std::max<std::uint64_t>(piece_bytes / rows.row_bytes, 1));
      const std::int64_t end = slice_begin(rows.rows, comm.rank() + 1, comm.size());
      for (std::int64_t row = slice_begin(rows.rows, comm.rank(), comm.size()); row < end; row += portion) {
        const auto count = static_cast<std::size_t>(std::min(portion, end - row)),
                   first = static_cast<std::size_t>(row);
        piece.resize(count * rows.row_bytes);
        file.read(piece.data(), piece.size(), rows.offset + first * rows.row_bytes);
        digest += digest_of_rows(piece.data(), count, rows.row_bytes, first);
      }
    }
  });
  comm.sum(digests);
  std::vector<std::string> damaged;
  std::size_t next = 0;
  for (const auto& [name, rows] : layout.data_sets)
    if (digests[next++] != rows.digest)
      damaged.push_back(fmt::format("{}: data set {} does not hold what was written to it: its digest differs.",
                                    path.string(), name));
  return damaged;
}

void HdfWriter::add_together(std::vector<Named> data_sets, std::size_t own_rows, ProduceTogether produce) {
  const std::size_t row_bytes = std::transform_reduce(data_sets.begin(), data_sets.end(), std::size_t{0}, std::plus{},
                                                      [](const Named& set) { return set.type.bytes(); });
  sources_.push_back({data_sets_.size(), data_sets.size(), row_bytes, own_rows, std::move(produce)});
  std::move(data_sets.begin(), data_sets.end(), std::back_inserter(data_sets_));
}

void HdfWriter::add_rows(const std::string& data_set, RowType type, std::size_t own_rows, Produce produce) {
  add_together({{data_set, type}}, own_rows,
               [produce = std::move(produce)](std::size_t first, std::size_t count, std::span<std::byte* const> to) {
                 produce(first, count, to[0]);
               });
}

void HdfWriter::add_rows(const std::string& data_set, RowType type, std::size_t own_rows, const void* rows) {
  add_rows(data_set, type, own_rows, [=](std::size_t first, std::size_t count, std::byte* to) {
    std::memcpy(to, static_cast<const std::byte*>(rows) + first * type.bytes(), count * type.bytes());
  });
}

/// Lets HDF5 lay out the whole file in memory, without rows. For the root.
void HdfWriter::make_structure(FileLayout& layout, SparseMemory& memory, const std::filesystem::path& path) const {
  {
    const auto demand = [&](bool success, const std::string& what) {
      require(success, ExitCode::file_system,
              fmt::format("{}: {} cannot be made (HDF5: {}).", path.string(), what, success ? "" : hdf5_reason()));
    };
    const HdfHandle access = newest_layout();
    if (mode_.alignment > 0) H5Pset_alignment(access, mode_.alignment, mode_.alignment);
    use_bytes(access, memory);
    const HdfHandle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, without_times(H5P_FILE_CREATE), access), H5Fclose);
    demand(file.valid(), "a file in memory");
    for (const std::string& group : groups_) demand(make_group(file, group), "group " + group);
    for (const Named& set : data_sets_)
      demand(make_data_set(file, set.name, set.type, layout.data_sets.at(set.name)), "data set " + set.name);
    for (const Attribute& a : attributes_)
      demand(make_attribute(file, a.object, a.name, a.value), fmt::format("attribute {} of {}", a.name, a.object));
  }  // HDF5 has written everything when it has closed the file
  layout.bytes = memory.length();
  RunningDigest digest;
  std::string piece;
  for (const Region& region : structure_of(layout, path, ExitCode::file_system))
    for (std::uint64_t begin = region.begin; begin < region.end; begin += piece.size()) {
      piece.resize(std::min<std::uint64_t>(portion_bytes, region.end - begin));
      memory.read(piece.data(), piece.size(), begin);
      digest.add(piece.data(), piece.size());
    }
  layout.structure_digest = digest.value();
}

/// MPI-IO may keep failures to itself: files that nobody reads back later are read back at once.
void HdfWriter::require_whole(const FileLayout& layout, const std::filesystem::path& path) const {
  comm_.agree([&] {
    require(!comm_.is_root() || structure_is_whole(path, layout, ExitCode::file_system), ExitCode::file_system,
            fmt::format("{}: the structure of the file does not read back as it was written. Check the disk.",
                        path.string()));
  });
  const std::vector<std::string> damaged = damaged_data_sets(comm_, path, layout, ExitCode::file_system);
  require(damaged.empty(), ExitCode::file_system, damaged.empty() ? "" : damaged[0] + " Check the disk.");
}

FileLayout HdfWriter::write(const std::filesystem::path& path, Digests kind, Flush flush) const {
  FileLayout layout;
  std::vector<std::int64_t> first;
  for (const Source& source : sources_) {
    const auto own = static_cast<std::int64_t>(source.own_rows), before = comm_.offset(own), all = comm_.sum(own);
    for (const Named& set : std::span(data_sets_).subspan(source.first_set, source.sets)) {
      first.push_back(before);
      layout.data_sets[set.name] = {all, set.type.bytes(), 0, 0};
    }
  }
  SparseMemory structure;
  comm_.agree([&] {
    if (comm_.is_root()) make_structure(layout, structure, path);
  });
  // What the root alone knows so far: the others add zeros.
  std::vector<std::uint64_t> known{layout.bytes, layout.structure_digest};
  for (const auto& [name, rows] : layout.data_sets) known.push_back(rows.offset);
  comm_.sum(known);
  layout.bytes = known[0];
  layout.structure_digest = known[1];
  std::size_t next = 2;
  for (auto& [name, rows] : layout.data_sets) rows.offset = known[next++];

  comm_.agree([&] {
    if (!comm_.is_root()) return;
    Descriptor file = create_unfinished(path);
    file.reserve(layout.bytes);
    structure.copy_to(file);
    file.close();
  });
  const bool with_digests = kind == Digests::of_rows || mode_.collective;
  std::vector<std::uint64_t> digests(with_digests ? data_sets_.size() : 0, 0);
  const RowsOfFile rows{path, layout, data_sets_, sources_, first, digests, flush};
  if (mode_.collective) write_collectively(comm_, rows, mode_);
  else write_directly(comm_, rows);
  comm_.sum(digests);
  for (std::size_t s = 0; s < digests.size(); ++s) layout.data_sets.at(data_sets_[s].name).digest = digests[s];
  if (mode_.collective && kind == Digests::none) require_whole(layout, path);
  return layout;
}

HdfFile::HdfFile(const std::filesystem::path& path, ExitCode code)
    : path_(path), code_(code), bytes_(std::make_unique<FileToRead>(path, code)) {
  const HdfHandle access = newest_layout();
  use_bytes(access, *bytes_);
  file_ = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
  demand(file_ >= 0, "the file cannot be opened");
}

HdfFile::~HdfFile() { H5Fclose(file_); }

void HdfFile::demand(bool success, const std::string& what) const {
  if (success) return;
  throw Error(code_, fmt::format("{}: {} (HDF5: {}). {}", path_.string(), what, hdf5_reason(), bytes_->failure));
}

bool HdfFile::has(const std::string& object) const {
  // HDF5 asks for every step of the path by itself.
  for (std::size_t end = object.find('/', 1);; end = object.find('/', end + 1)) {
    const std::string part = object.substr(0, end);
    if (part != "/" && H5Lexists(file_, part.c_str(), H5P_DEFAULT) <= 0) return false;
    if (end == std::string::npos) return true;
  }
}

std::vector<std::string> HdfFile::children(const std::string& group) const {
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->push_back(name);
    return 0;
  };
  const HdfHandle id(H5Gopen2(file_, group.c_str(), H5P_DEFAULT), H5Gclose);
  const bool listed = id.valid() && H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names) >= 0;
  demand(listed, fmt::format("group {} cannot be listed", group));
  return names;
}

bool HdfFile::has_attribute(const std::string& object, const std::string& name) const {
  return H5Aexists_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

std::string HdfFile::text_attribute(const std::string& object, const std::string& name) const {
  const HdfHandle attribute(H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const HdfHandle type(attribute.valid() ? H5Aget_type(attribute) : H5I_INVALID_HID, H5Tclose);
  std::string text;
  const HdfHandle space(attribute.valid() ? H5Aget_space(attribute) : H5I_INVALID_HID, H5Sclose);
  bool read = type.valid() && H5Tget_class(type) == H5T_STRING && !H5Tis_variable_str(type) && space.valid() &&
              H5Sget_simple_extent_npoints(space) == 1;
  if (read) {
    text.resize(H5Tget_size(type));
    read = H5Aread(attribute, type, text.data()) >= 0;
  }
  demand(read, fmt::format("attribute {} of {} cannot be read", name, object));
  return text.substr(0, text.find('\0'));
}

std::vector<std::byte> HdfFile::attribute_bytes(const std::string& object, const std::string& name,
                                                Number number) const {
  const HdfHandle attribute(H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const HdfHandle space(attribute.valid() ? H5Aget_space(attribute) : H5I_INVALID_HID, H5Sclose);
  std::vector<std::byte> bytes;
  bool read = space.valid();
  if (read) {
    bytes.resize(static_cast<std::size_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(space), 0)) *
                 bytes_of(number));
    read = H5Aread(attribute, type_of(number), bytes.data()) >= 0;
  }
  demand(read, fmt::format("attribute {} of {} cannot be read", name, object));
  return bytes;
}

std::vector<std::int64_t> HdfFile::integers_attribute(const std::string& object, const std::string& name) const {
  const std::vector<std::byte> bytes = attribute_bytes(object, name, Number::int64);
  std::vector<std::int64_t> values(bytes.size() / sizeof(std::int64_t));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::int64_t HdfFile::integer_attribute(const std::string& object, const std::string& name) const {
  const std::vector<std::int64_t> values = integers_attribute(object, name);
  demand(values.size() == 1, fmt::format("attribute {} of {} is not one number", name, object));
  return values[0];
}

Real HdfFile::real_attribute(const std::string& object, const std::string& name) const {
  const std::vector<std::byte> bytes = attribute_bytes(object, name, Number::float64);
  demand(bytes.size() == sizeof(Real), fmt::format("attribute {} of {} is not one number", name, object));
  Real value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

DataSetShape HdfFile::shape(const std::string& data_set) const {
  const HdfHandle set(H5Dopen2(file_, data_set.c_str(), H5P_DEFAULT), H5Dclose);
  const HdfHandle space(set.valid() ? H5Dget_space(set) : H5I_INVALID_HID, H5Sclose);
  const HdfHandle type(set.valid() ? H5Dget_type(set) : H5I_INVALID_HID, H5Tclose);
  DataSetShape shape{{Number::uint8, 0}, 0};
  if (space.valid() && type.valid()) {
    const int dimensions = H5Sget_simple_extent_ndims(space);
    hsize_t extent[2] = {0, 1};
    if (dimensions == 1 || dimensions == 2) {
      H5Sget_simple_extent_dims(space, extent, nullptr);
      for (const Number number : all_numbers)
        if (extent[1] <= most_components && H5Tequal(type, type_of(number)) > 0)
          shape = {{number, static_cast<int>(extent[1])}, static_cast<std::int64_t>(extent[0])};
    }
  }
  demand(shape.type.components > 0, fmt::format("data set {} cannot be opened as rows of numbers", data_set));
  require(extent_fits(shape, bytes_->length()), code_,
          fmt::format("{}: data set {} announces {} rows of {} bytes, more than the file holds.", path_.string(),
                      data_set, shape.rows, shape.type.bytes()));
  return shape;
}

void HdfFile::read_rows(const std::string& data_set, RowType type, std::int64_t first, std::size_t count,
                        void* to) const {
  const DataSetShape found = shape(data_set);
  const bool fits = found.type == type && 0 <= first && first <= found.rows &&
                    count <= static_cast<std::uint64_t>(found.rows - first);
  require(fits, code_,
          fmt::format("{}: data set {} has {} rows of {} numbers, not what was expected of it.", path_.string(),
                      data_set, found.rows, found.type.components));
  if (count == 0) return;
  const HdfHandle set(H5Dopen2(file_, data_set.c_str(), H5P_DEFAULT), H5Dclose);
  const HdfHandle file_space(H5Dget_space(set), H5Sclose), memory_space = extent_of(type, count);
  const hsize_t start[2] = {static_cast<hsize_t>(first), 0};
  const hsize_t size[2] = {count, static_cast<hsize_t>(type.components)};
  const bool read = H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, nullptr, size, nullptr) >= 0 &&
                    H5Dread(set, type_of(type.number), memory_space, file_space, H5P_DEFAULT, to) >= 0;
  demand(read, fmt::format("data set {} cannot be read", data_set));
}

std::string hdf5_library() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("HDF5 {}.{}.{}", major, minor, release);
}

}  // namespace weft
