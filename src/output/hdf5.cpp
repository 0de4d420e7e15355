// HDF5 files over the C interface: structure made in memory, rows written by all ranks, reading by one process.

#include "weft/output/hdf5.hpp"

#include "output/byte_driver.hpp"
#include "output/descriptor.hpp"
#include "output/digest.hpp"
#include "weft/base/check.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

namespace weft {

namespace {

/// Memory that a thread spends on one portion of rows on their way into the file: it stays in the nearer caches between
/// being made and being copied [byte].
constexpr std::size_t portion_bytes = std::size_t{1} << 20;

/// An HDF5 handle that is closed at the end of its scope.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }
  bool valid() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// HDF5's own report of the last failure: its most specific line.
std::string reason() {
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

constexpr Number all_numbers[] = {Number::float32, Number::float64, Number::int32,
                                  Number::int64,   Number::uint64,  Number::uint8};

Handle newest_layout() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // its reports come as our errors, not on the terminal
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  return access;
}

/// The extent [rows] or [rows x components].
Handle extent_of(RowType type, hsize_t rows) {
  const hsize_t extent[2] = {rows, static_cast<hsize_t>(type.components)};
  return {H5Screate_simple(type.components == 1 ? 1 : 2, extent, nullptr), H5Sclose};
}

bool make_group(hid_t file, const std::string& group) {
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links, 1);
  return Handle(H5Gcreate2(file, group.c_str(), links, H5P_DEFAULT, H5P_DEFAULT), H5Gclose).valid();
}

bool make_attribute(hid_t file, const std::string& object, const std::string& name, hid_t type, hid_t space,
                    const void* values) {
  const Handle owner(H5Oopen(file, object.c_str(), H5P_DEFAULT), H5Oclose);
  const Handle attribute(H5Acreate2(owner, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute.valid() && H5Awrite(attribute, type, values) >= 0;
}

bool make_attribute(hid_t file, const std::string& object, const std::string& name, const HdfWriter::Value& value) {
  const Handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
  if (const auto* text = std::get_if<std::string>(&value)) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    // A string type may not be empty; the padding says where the text ends.
    H5Tset_size(type, std::max<std::size_t>(text->size(), 1));
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    return make_attribute(file, object, name, type, scalar, text->c_str());
  }
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) {
    const hsize_t extent = integers->size();
    const Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
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

/// Makes a data set whose rows have their place in the file, though nothing stands there yet.
bool make_data_set(hid_t file, const std::string& name, RowType type, PlacedRows& rows) {
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links, 1);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_layout(creation, H5D_CONTIGUOUS);
  H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  const Handle space = extent_of(type, static_cast<hsize_t>(rows.rows));
  const Handle set(H5Dcreate2(file, name.c_str(), type_of(type.number), space, links, creation, H5P_DEFAULT), H5Dclose);
  if (!set.valid()) return false;
  if (rows.rows == 0) return true;
  const haddr_t offset = H5Dget_offset(set);
  rows.offset = offset;
  return offset != HADDR_UNDEF;
}

}  // namespace

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
void HdfWriter::make_structure(FileLayout& layout, std::vector<std::string>& pieces,
                               const std::filesystem::path& path) const {
  SparseMemory memory;
  {
    const auto demand = [&](bool success, const std::string& what) {
      require(success, ExitCode::file_system,
              fmt::format("{}: {} cannot be made (HDF5: {}).", path.string(), what, success ? "" : reason()));
    };
    const Handle access = newest_layout();
    use_bytes(access, memory);
    const Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
    demand(file.valid(), "a file in memory");
    for (const std::string& group : groups_) demand(make_group(file, group), "group " + group);
    for (const Named& set : data_sets_)
      demand(make_data_set(file, set.name, set.type, layout.data_sets.at(set.name)), "data set " + set.name);
    for (const Attribute& a : attributes_)
      demand(make_attribute(file, a.object, a.name, a.value), fmt::format("attribute {} of {}", a.name, a.object));
  }  // HDF5 has written everything when it has closed the file
  layout.bytes = memory.length();
  RunningDigest digest;
  for (const Region& region : structure_of(layout, path, ExitCode::file_system)) {
    std::string& piece = pieces.emplace_back(region.end - region.begin, '\0');
    memory.read(piece.data(), piece.size(), region.begin);
    digest.add(piece.data(), piece.size());
  }
  layout.structure_digest = digest.value();
}

std::vector<HdfWriter::Portion> HdfWriter::portions() const {
  std::vector<Portion> portions;
  for (const Source& source : sources_) {
    const std::size_t most = std::max<std::size_t>(portion_bytes / source.row_bytes, 1);
    for (std::size_t begin = 0; begin < source.own_rows; begin += most)
      portions.push_back({&source, begin, std::min(most, source.own_rows - begin)});
  }
  return portions;
}

/// Puts this rank's rows, of which those of data set s begin with row first[s] of all, to their places, and adds up
/// their digests if there is room for them.
void HdfWriter::write_own_rows(const FileLayout& layout, std::span<const std::int64_t> first,
                               std::span<std::uint64_t> digests, const std::filesystem::path& path) const {
  const std::vector<Portion> portions = this->portions();
  if (portions.empty() && !comm_.is_root())
    return;  // the root flushes the structure, too, which it wrote and closed before
  Descriptor file(path, O_WRONLY | O_NOFOLLOW);
  const auto write_portion = [&](const Portion& portion, std::vector<std::byte>& buffer) {
    const auto& [source, begin, count] = portion;
    buffer.resize(std::max(buffer.size(), count * source->row_bytes));
    const auto sets = std::span(data_sets_).subspan(source->first_set, source->sets);
    std::vector<std::byte*> to{buffer.data()};
    for (const Named& set : sets) to.push_back(to.back() + count * set.type.bytes());
    source->produce(begin, count, std::span(to).first(sets.size()));
    for (std::size_t k = 0; k < sets.size(); ++k) {
      const std::size_t s = source->first_set + k, bytes = sets[k].type.bytes();
      const std::uint64_t row = static_cast<std::uint64_t>(first[s]) + begin;
      if (!digests.empty()) {
        const std::uint64_t digest = digest_of_rows(to[k], count, bytes, row);
#pragma omp atomic
        digests[s] += digest;
      }
      const std::uint64_t offset = layout.data_sets.at(sets[k].name).offset + row * bytes;
      file.write(to[k], count * bytes, offset);
      file.start_flush(count * bytes, offset);
    }
  };
  // Some threads make rows while others copy theirs into the file.
  std::exception_ptr failure;
  std::atomic<bool> has_failed = false;
#pragma omp parallel
  {
    std::vector<std::byte> buffer;
#pragma omp for schedule(dynamic)
    for (std::size_t k = 0; k < portions.size(); ++k) try {
        if (!has_failed) write_portion(portions[k], buffer);
      } catch (...) {
        if (!has_failed.exchange(true)) failure = std::current_exception();
      }
  }
  if (failure) std::rethrow_exception(failure);
  file.flush();
  file.close();
}

FileLayout HdfWriter::write(const std::filesystem::path& path, Digests kind) const {
  FileLayout layout;
  std::vector<std::int64_t> first;
  for (const Source& source : sources_) {
    const auto own = static_cast<std::int64_t>(source.own_rows), before = comm_.offset(own), all = comm_.sum(own);
    for (const Named& set : std::span(data_sets_).subspan(source.first_set, source.sets)) {
      first.push_back(before);
      layout.data_sets[set.name] = {all, set.type.bytes(), 0, 0};
    }
  }
  std::vector<std::string> pieces;
  comm_.agree([&] {
    if (comm_.is_root()) make_structure(layout, pieces, path);
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
    std::size_t piece = 0;
    for (const Region& region : structure_of(layout, path, ExitCode::file_system)) {
      file.write(pieces[piece].data(), pieces[piece].size(), region.begin);
      ++piece;
    }
    file.close();
  });
  std::vector<std::uint64_t> digests(kind == Digests::of_rows ? data_sets_.size() : 0, 0);
  comm_.agree([&] { write_own_rows(layout, first, digests, path); });
  comm_.sum(digests);
  for (std::size_t s = 0; s < digests.size(); ++s) layout.data_sets.at(data_sets_[s].name).digest = digests[s];
  return layout;
}

HdfFile::HdfFile(const std::filesystem::path& path, ExitCode code)
    : path_(path), code_(code), bytes_(std::make_unique<FileToRead>(path, code)) {
  const Handle access = newest_layout();
  use_bytes(access, *bytes_);
  file_ = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
  demand(file_ >= 0, "the file cannot be opened");
}

HdfFile::~HdfFile() { H5Fclose(file_); }

void HdfFile::demand(bool success, const std::string& what) const {
  if (success) return;
  throw Error(code_, fmt::format("{}: {} (HDF5: {}). {}", path_.string(), what, reason(), bytes_->failure));
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
  const Handle id(H5Gopen2(file_, group.c_str(), H5P_DEFAULT), H5Gclose);
  const bool listed = id.valid() && H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names) >= 0;
  demand(listed, fmt::format("group {} cannot be listed", group));
  return names;
}

bool HdfFile::has_attribute(const std::string& object, const std::string& name) const {
  return H5Aexists_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

std::string HdfFile::text_attribute(const std::string& object, const std::string& name) const {
  const Handle attribute(H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const Handle type(attribute.valid() ? H5Aget_type(attribute) : H5I_INVALID_HID, H5Tclose);
  std::string text;
  const Handle space(attribute.valid() ? H5Aget_space(attribute) : H5I_INVALID_HID, H5Sclose);
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
  const Handle attribute(H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const Handle space(attribute.valid() ? H5Aget_space(attribute) : H5I_INVALID_HID, H5Sclose);
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
  const Handle set(H5Dopen2(file_, data_set.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle space(set.valid() ? H5Dget_space(set) : H5I_INVALID_HID, H5Sclose);
  const Handle type(set.valid() ? H5Dget_type(set) : H5I_INVALID_HID, H5Tclose);
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
  const Handle set(H5Dopen2(file_, data_set.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle file_space(H5Dget_space(set), H5Sclose), memory_space = extent_of(type, count);
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
