// A parallel HDF5 file over the C interface.

#include "weft/output/hdf5.hpp"

#include "weft/base/check.hpp"
#include "weft/output/files.hpp"
#include "weft/parallel/file_hints.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft {

namespace {

/// Memory that a rank spends on one portion of a data set on its way into the file [byte].
constexpr std::size_t portion_bytes = std::size_t{32} << 20;
/// Bytes that share one checksum. Large enough for the file system, small enough that few ranks meet in one.
constexpr std::size_t block_bytes = std::size_t{1} << 20;

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

Handle shared_access(const Comm& comm) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // its reports come as our errors, not on the terminal
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  const FileHints hints;
  H5Pset_fapl_mpio(access, comm.handle(), hints.handle());
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  return access;
}

/// The extent [rows] or [rows x components].
Handle extent_of(RowType type, hsize_t rows) {
  const hsize_t extent[2] = {rows, static_cast<hsize_t>(type.components)};
  return {H5Screate_simple(type.components == 1 ? 1 : 2, extent, nullptr), H5Sclose};
}

/// Chooses rows [first, first + count) of a space; none if count is 0.
bool select_rows(hid_t space, RowType type, hsize_t first, hsize_t count) {
  if (count == 0) return H5Sselect_none(space) >= 0;
  const hsize_t start[2] = {first, 0}, size[2] = {count, static_cast<hsize_t>(type.components)};
  return H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, size, nullptr) >= 0;
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

HdfFile HdfFile::create(const Comm& comm, const std::filesystem::path& path, ExitCode code, std::uint64_t bytes) {
  const Handle access = shared_access(comm);
  H5Pset_coll_metadata_write(access, true);
  HdfFile file(comm, path, code, H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
  file.agree(file.file_ >= 0, "the file cannot be created");
  file.created_ = true;
  comm.agree([&] {
    if (comm.is_root()) reserve_space(path, bytes);
  });
  return file;
}

HdfFile HdfFile::open(const Comm& comm, const std::filesystem::path& path, ExitCode code) {
  const Handle access = shared_access(comm);
  HdfFile file(comm, path, code, H5Fopen(path.c_str(), H5F_ACC_RDONLY, access));
  file.agree(file.file_ >= 0, "the file cannot be opened");
  return file;
}

HdfFile::HdfFile(HdfFile&& other) noexcept
    : comm_(other.comm_),
      path_(std::move(other.path_)),
      code_(other.code_),
      file_(std::exchange(other.file_, H5I_INVALID_HID)),
      created_(other.created_) {}

HdfFile::~HdfFile() {
  if (file_ < 0) return;
  if (created_) {
    // HDF5 crashes at the end of the program if closing fails. A full disk would make it fail, so the space that the
    // unfinished file took is given back first. Where even that is not enough the file stays open.
    std::error_code ignored;
    if (comm_.is_root()) std::filesystem::resize_file(path_, 0, ignored);
    comm_.barrier();
    if (comm_.any(H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0)) return;
  }
  H5Fclose(file_);
}

void HdfFile::close() {
  if (created_) agree(H5Fflush(file_, H5F_SCOPE_GLOBAL) >= 0, "the file cannot be completed");
  agree(H5Fclose(std::exchange(file_, H5I_INVALID_HID)) >= 0, "the file cannot be closed");
}

void HdfFile::agree(bool success, const std::string& what) const {
  const std::string text = success ? "" : fmt::format("{}: {} (HDF5: {}).", path_.string(), what, reason());
  comm_.agree([&] { require(success, code_, text); });
}

void HdfFile::make_group(const std::string& group) {
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links, 1);
  const Handle made(H5Gcreate2(file_, group.c_str(), links, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  agree(made.valid(), fmt::format("group {} cannot be made", group));
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
  agree(listed, fmt::format("group {} cannot be listed", group));
  return names;
}

void HdfFile::write_attribute(const std::string& object, const std::string& name, Number number, std::size_t count,
                              const void* values, bool scalar) {
  const hsize_t extent = count;
  const Handle space(scalar ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &extent, nullptr), H5Sclose);
  const Handle owner(H5Oopen(file_, object.c_str(), H5P_DEFAULT), H5Oclose);
  const Handle attribute(H5Acreate2(owner, name.c_str(), type_of(number), space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  agree(attribute.valid() && H5Awrite(attribute, type_of(number), values) >= 0,
        fmt::format("attribute {} of {} cannot be written", name, object));
}

void HdfFile::set_attribute(const std::string& object, const std::string& name, const std::string& text) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  // A string type may not be empty; the padding says where the text ends.
  H5Tset_size(type, std::max<std::size_t>(text.size(), 1));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle owner(H5Oopen(file_, object.c_str(), H5P_DEFAULT), H5Oclose);
  const Handle attribute(H5Acreate2(owner, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  agree(attribute.valid() && H5Awrite(attribute, type, text.c_str()) >= 0,
        fmt::format("attribute {} of {} cannot be written", name, object));
}

void HdfFile::set_attribute(const std::string& object, const std::string& name, std::int64_t value) {
  write_attribute(object, name, Number::int64, 1, &value, true);
}

void HdfFile::set_attribute(const std::string& object, const std::string& name, Real value) {
  write_attribute(object, name, Number::float64, 1, &value, true);
}

void HdfFile::set_attribute(const std::string& object, const std::string& name, std::span<const std::int64_t> values) {
  write_attribute(object, name, Number::int64, values.size(), values.data(), false);
}

bool HdfFile::has_attribute(const std::string& object, const std::string& name) const {
  return H5Aexists_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

std::string HdfFile::text_attribute(const std::string& object, const std::string& name) const {
  const Handle attribute(H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const Handle type(attribute.valid() ? H5Aget_type(attribute) : H5I_INVALID_HID, H5Tclose);
  std::string text;
  bool read = type.valid() && H5Tget_class(type) == H5T_STRING && !H5Tis_variable_str(type);
  if (read) {
    text.resize(H5Tget_size(type));
    read = H5Aread(attribute, type, text.data()) >= 0;
  }
  agree(read, fmt::format("attribute {} of {} cannot be read", name, object));
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
  agree(read, fmt::format("attribute {} of {} cannot be read", name, object));
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
  agree(values.size() == 1, fmt::format("attribute {} of {} is not one number", name, object));
  return values[0];
}

Real HdfFile::real_attribute(const std::string& object, const std::string& name) const {
  const std::vector<std::byte> bytes = attribute_bytes(object, name, Number::float64);
  agree(bytes.size() == sizeof(Real), fmt::format("attribute {} of {} is not one number", name, object));
  Real value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

void HdfFile::write_rows(const std::string& data_set, RowType type, std::size_t own_rows, RowLayout layout,
                         const Produce& produce) {
  const auto own = static_cast<std::int64_t>(own_rows);
  const auto first = static_cast<hsize_t>(comm_.offset(own));
  const auto total = static_cast<hsize_t>(comm_.sum(own));

  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links, 1);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  if (layout == RowLayout::checked && total > 0) {
    // Blocks are stored whole, so they share the rows evenly.
    const hsize_t blocks = (total * type.bytes() + block_bytes - 1) / block_bytes;
    const hsize_t rows = (total + blocks - 1) / blocks;
    const hsize_t block[2] = {rows, static_cast<hsize_t>(type.components)};
    H5Pset_chunk(creation, type.components == 1 ? 1 : 2, block);
    H5Pset_fletcher32(creation);
  }
  const Handle file_space = extent_of(type, total);
  const Handle set(H5Dcreate2(file_, data_set.c_str(), type_of(type.number), file_space, links, creation, H5P_DEFAULT),
                   H5Dclose);
  agree(set.valid(), fmt::format("data set {} cannot be made", data_set));

  const Handle transfer(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  const std::size_t portion = std::max<std::size_t>(portion_bytes / type.bytes(), 1);
  const auto own_portions = static_cast<Real>((own_rows + portion - 1) / portion);
  const auto portions = static_cast<std::int64_t>(comm_.max(own_portions));
  std::vector<std::byte> buffer(std::min(portion, own_rows) * type.bytes());
  // Collective writing of nothing at all fails in HDF5: a data set without rows has no portions.
  for (std::int64_t k = 0; k < portions; ++k) {
    const std::size_t begin = std::min(static_cast<std::size_t>(k) * portion, own_rows);
    const std::size_t count = std::min(portion, own_rows - begin);
    if (count > 0) produce(begin, count, buffer.data());
    const Handle memory_space = extent_of(type, std::max<hsize_t>(count, 1));
    const bool selected =
        select_rows(memory_space, type, 0, count) && select_rows(file_space, type, first + begin, count);
    const bool written =
        selected && H5Dwrite(set, type_of(type.number), memory_space, file_space, transfer, buffer.data()) >= 0;
    agree(written, fmt::format("data set {} cannot be written", data_set));
  }
}

void HdfFile::write_rows(const std::string& data_set, RowType type, std::size_t own_rows, RowLayout layout,
                         const void* rows) {
  write_rows(data_set, type, own_rows, layout, [&](std::size_t first, std::size_t count, std::byte* to) {
    std::memcpy(to, static_cast<const std::byte*>(rows) + first * type.bytes(), count * type.bytes());
  });
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
        if (H5Tequal(type, type_of(number)) > 0)
          shape = {{number, static_cast<int>(extent[1])}, static_cast<std::int64_t>(extent[0])};
    }
  }
  agree(shape.type.components > 0, fmt::format("data set {} cannot be opened as rows of numbers", data_set));
  return shape;
}

void HdfFile::read_rows(const std::string& data_set, RowType type, std::int64_t first, std::size_t count,
                        void* to) const {
  const DataSetShape found = shape(data_set);
  const bool fits = found.type == type && first >= 0 && first + static_cast<std::int64_t>(count) <= found.rows;
  comm_.agree([&] {
    require(fits, code_,
            fmt::format("{}: data set {} has {} rows of {} numbers, not what was expected of it.", path_.string(),
                        data_set, found.rows, found.type.components));
  });
  const Handle set(H5Dopen2(file_, data_set.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle file_space(H5Dget_space(set), H5Sclose);
  // Each rank reads by itself: where one meets damage, none waits for it inside HDF5.
  bool read = true;
  const std::size_t portion = std::max<std::size_t>(portion_bytes / type.bytes(), 1);
  for (std::size_t begin = 0; begin < count && read; begin += portion) {
    const std::size_t rows = std::min(portion, count - begin);
    const Handle memory_space = extent_of(type, rows);
    read = select_rows(file_space, type, static_cast<hsize_t>(first) + begin, rows) &&
           H5Dread(set, type_of(type.number), memory_space, file_space, H5P_DEFAULT,
                   static_cast<std::byte*>(to) + begin * type.bytes()) >= 0;
  }
  agree(read, fmt::format("data set {} cannot be read", data_set));
}

std::string hdf5_library() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("HDF5 {}.{}.{}", major, minor, release);
}

}  // namespace weft
