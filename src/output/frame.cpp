// Frames: VTKHDF files with their two indexes.

#include "weft/output/frame.hpp"

#include "weft/base/check.hpp"
#include "weft/base/log.hpp"
#include "weft/output/files.hpp"
#include "weft/output/hdf5.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>

namespace weft {

namespace fs = std::filesystem;

namespace {

/// Names of the kinds of cells: in our attribute and in XDMF, and VTK's number.
struct CellNames {
  CellKind kind;
  const char* name;
  const char* xdmf;
  std::uint8_t vtk;
  int corners;
};
constexpr std::array<CellNames, 6> cell_names{
    {{CellKind::vertex, "vertex", "Polyvertex", 1, 1},
     {CellKind::line, "line", "Polyline", 3, 2},
     {CellKind::triangle, "triangle", "Triangle", 5, 3},
     {CellKind::hexahedron, "hexahedron", "Hexahedron", 12, 8},
     {CellKind::tetrahedron, "tetrahedron", "Tetrahedron", 10, 4},
     {CellKind::quadratic_tetrahedron, "quadratic_tetrahedron", "Tetrahedron_10", 24, 10}}};
const CellNames& names_of(CellKind kind) { return cell_names[static_cast<std::size_t>(kind)]; }

/// How numbers are drawn, and whether one of them was too large for that.
struct Precision {
  bool is_double;
  std::atomic<bool>& overflows;
};

/// How a row of a column lies in a frame.
RowType drawn_type(RowShape shape, bool double_precision) {
  switch (shape.kind) {
    case ScalarKind::id:
      return {Number::int64, shape.components()};
    case ScalarKind::integer:
      return {Number::int32, shape.components()};
    default:
      return {double_precision ? Number::float64 : Number::float32, shape.components()};
  }
}

/// Where component c of a row stands in a frame: VTK wants tensors row by row, and xx, yy, zz, xy, yz, xz of symmetric
/// ones.
int drawn_place(RowShape shape, int c) {
  if (shape == shape_of<Symmetric3<Real>>()) return std::array{0, 1, 2, 4, 5, 3}[static_cast<std::size_t>(c)];
  return shape.cols == 1 ? c : (c % shape.rows) * shape.cols + c / shape.rows;
}

/// Puts the reals of rows [first, first + count) to `to`. Returns whether one of them is finite but not as a T.
template <class T>
bool draw_reals(const Real* from, RowShape shape, std::size_t first, std::size_t count, std::byte* to) {
  const auto components = static_cast<std::size_t>(shape.components());
  from += first * components;
  bool overflows = false;
  const auto draw = [&](std::size_t here, std::size_t drawn) {
    const T value = static_cast<T>(from[here]);
    overflows |= !std::isfinite(value) && std::isfinite(from[here]);
    std::memcpy(to + drawn * sizeof(T), &value, sizeof(T));
  };
  if (shape.cols == 1 && shape != shape_of<Symmetric3<Real>>()) {  // all stand where they stood
    for (std::size_t k = 0; k < count * components; ++k) draw(k, k);
    return overflows;
  }
  for (std::size_t r = 0; r < count; ++r)
    for (std::size_t c = 0; c < components; ++c)
      draw(r * components + c, r * components + static_cast<std::size_t>(drawn_place(shape, static_cast<int>(c))));
  return overflows;
}

HdfWriter::Produce drawn_rows(const std::byte* data, RowShape shape, const Precision& precision) {
  return [=](std::size_t first, std::size_t count, std::byte* to) {
    const RowType type = drawn_type(shape, precision.is_double);
    const auto* reals = reinterpret_cast<const Real*>(data);
    if (shape.kind != ScalarKind::real) std::memcpy(to, data + first * type.bytes(), count * type.bytes());
    else if (precision.is_double) draw_reals<double>(reals, shape, first, count, to);
    else if (draw_reals<float>(reals, shape, first, count, to)) precision.overflows = true;
  };
}

/// Rows that are computed one number at a time.
template <class T, class Value>
HdfWriter::Produce computed_rows(const Value& value) {
  return [=](std::size_t first, std::size_t count, std::byte* to) {
    for (std::size_t r = 0; r < count; ++r) {
      const T number = value(first + r);
      std::memcpy(to + r * sizeof(T), &number, sizeof(T));
    }
  };
}

void add_fields(HdfWriter& file, const std::string& group, std::span<const ColumnView> fields, std::size_t rows,
                const Precision& precision) {
  file.add_group(group);
  for (const ColumnView& field : fields) {
    WEFT_ENSURE(field.rows >= rows);
    const std::string data_set = fmt::format("{}/{}", group, field.label.name);
    file.add_rows(data_set, drawn_type(field.shape, precision.is_double), rows,
                  drawn_rows(field.data, field.shape, precision));
    file.set_attribute(data_set, "unit", std::string(field.label.unit));
  }
}

void add_computed(HdfWriter& file, const std::string& group, const ComputedFields& fields, std::size_t rows,
                  const Precision& precision) {
  if (fields.columns.empty()) return;
  std::vector<HdfWriter::Named> data_sets;
  for (const ColumnView& field : fields.columns)
    data_sets.push_back({fmt::format("{}/{}", group, field.label.name), drawn_type(field.shape, precision.is_double)});
  file.add_together(data_sets, rows, [&fields, precision](std::size_t first, std::size_t count, auto to) {
    constexpr std::size_t at_once = 1024;  // what is computed stays in the caches
    for (std::size_t done = 0; done < count; done += at_once) {
      const std::size_t here = std::min(at_once, count - done);
      Table table = fields.rows(first + done, here);
      for (std::size_t k = 0; k < fields.columns.size(); ++k) {
        const ColumnView column = table.column(std::string(fields.columns[k].label.name));
        drawn_rows(column.data, column.shape, precision)(
            0, here, to[k] + done * drawn_type(column.shape, precision.is_double).bytes());
      }
    }
  });
  for (std::size_t k = 0; k < data_sets.size(); ++k)
    file.set_attribute(data_sets[k].name, "unit", std::string(fields.columns[k].label.unit));
}

void add_mesh(const Comm& comm, HdfWriter& file, const FrameMesh& mesh, const Precision& precision) {
  const CellNames& names = names_of(mesh.kind);
  const bool vertices = mesh.kind == CellKind::vertex;
  const auto corners = static_cast<std::size_t>(names.corners);
  const std::size_t points = mesh.points.size();
  WEFT_ENSURE(mesh.cells.size() % corners == 0);
  const std::size_t cells = vertices ? points : mesh.cells.size() / corners;
  const std::int64_t first_point = comm.offset(static_cast<std::int64_t>(points));
  const std::int64_t first_cell = comm.offset(static_cast<std::int64_t>(cells));

  // One partition: its sizes, then its arrays.
  const auto add_size = [&](const char* name, std::size_t own) {
    const std::int64_t all = comm.sum(static_cast<std::int64_t>(own));
    file.add_rows(fmt::format("/VTKHDF/{}", name), {Number::int64}, comm.is_root() ? 1 : 0,
                  computed_rows<std::int64_t>([all](std::size_t) { return all; }));
  };
  add_size("NumberOfPoints", points);
  add_size("NumberOfCells", cells);
  add_size("NumberOfConnectivityIds", cells * corners);

  file.add_rows(
      "/VTKHDF/Points", drawn_type({ScalarKind::real, 3, 1}, precision.is_double), points,
      drawn_rows(reinterpret_cast<const std::byte*>(mesh.points.data()), {ScalarKind::real, 3, 1}, precision));
  file.set_attribute("/VTKHDF/Points", "unit", std::string("m"));
  file.add_rows("/VTKHDF/Connectivity", {Number::int64}, cells * corners,
                computed_rows<std::int64_t>([=](std::size_t k) {
                  return (mesh.shared ? 0 : first_point) + (vertices ? static_cast<std::int64_t>(k) : mesh.cells[k]);
                }));
  const bool last = comm.rank() == comm.size() - 1;  // writes the end of the last cell
  file.add_rows("/VTKHDF/Offsets", {Number::int64}, cells + (last ? 1 : 0),
                computed_rows<std::int64_t>([=](std::size_t c) {
                  return (first_cell + static_cast<std::int64_t>(c)) * static_cast<std::int64_t>(corners);
                }));
  file.add_rows("/VTKHDF/Types", {Number::uint8}, cells,
                computed_rows<std::uint8_t>([type = names.vtk](std::size_t) { return type; }));
  add_fields(file, "/VTKHDF/PointData", mesh.point_fields, points, precision);
  add_computed(file, "/VTKHDF/PointData", mesh.computed, points, precision);
  add_fields(file, "/VTKHDF/CellData", mesh.cell_fields, cells, precision);
}

/// Returns whether a number was too large for the precision of the format.
bool write_frame(const Comm& comm, const fs::path& path, const FrameMoment& moment, const FrameMesh& mesh,
                 const FrameFormat& format) {
  std::atomic<bool> overflows = false;
  HdfWriter file(comm, format.mode);
  file.add_group("/VTKHDF");
  file.set_attribute("/VTKHDF", "Version", std::vector<std::int64_t>{1, 0});
  file.set_attribute("/VTKHDF", "Type", std::string("UnstructuredGrid"));
  file.set_attribute("/VTKHDF", "cell_kind", std::string(names_of(mesh.kind).name));
  file.set_attribute("/VTKHDF", "frame", moment.frame);
  file.set_attribute("/VTKHDF", "step", moment.step);
  file.set_attribute("/VTKHDF", "time", moment.time);
  add_mesh(comm, file, mesh, {format.double_precision, overflows});
  // Shown as annotations by ParaView.
  file.add_group("/VTKHDF/FieldData");
  const std::size_t once = comm.is_root() ? 1 : 0;
  file.add_rows("/VTKHDF/FieldData/TIME", {Number::float64}, once, &moment.time);
  file.add_rows("/VTKHDF/FieldData/CYCLE", {Number::int64}, once, &moment.step);
  file.write(path, Digests::none, Flush::later);  // nobody asks a frame for digests
  return comm.any(overflows);
}

std::vector<FrameField> read_fields(const HdfFile& file, const std::string& group) {
  std::vector<FrameField> fields;
  for (const std::string& name : file.children(group)) {
    const std::string data_set = fmt::format("{}/{}", group, name);
    const RowType type = file.shape(data_set).type;
    const bool real = type.number == Number::float32 || type.number == Number::float64;
    fields.push_back({name, file.text_attribute(data_set, "unit"), type.components, real ? "Float" : "Int",
                      static_cast<int>(bytes_of(type.number))});
  }
  return fields;
}

std::string file_name(const std::string& name, std::int64_t frame) { return fmt::format("{}_{:06d}.hdf", name, frame); }

/// The number of a frame file of this name; none if the file is something else.
std::optional<std::int64_t> frame_number(const std::string& file, const std::string& name) {
  constexpr std::string_view suffix = ".hdf";
  const std::size_t begin = name.size() + 1;
  if (!file.starts_with(name + '_') || !file.ends_with(suffix) || file.size() < begin + 6 + suffix.size())
    return std::nullopt;
  const std::string digits = file.substr(begin, file.size() - suffix.size() - begin);
  if (digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::stoll(digits);
}

/// One array of a frame for XDMF.
std::string data_item(const std::string& file, const std::string& data_set, std::int64_t rows,
                      const FrameField& field) {
  return fmt::format("<DataItem Format=\"HDF\" NumberType=\"{}\" Precision=\"{}\" Dimensions=\"{}{}\">{}:{}</DataItem>",
                     field.number, field.bytes, rows, field.components > 1 ? fmt::format(" {}", field.components) : "",
                     file, data_set);
}

std::string xdmf_fields(const std::string& file, const char* group, const char* center, std::int64_t rows,
                        const std::vector<FrameField>& fields) {
  std::string text;
  for (const FrameField& field : fields) {
    // XDMF knows a symmetric tensor too, in an order of its own.
    const char* type = field.components == 1   ? "Scalar"
                       : field.components == 3 ? "Vector"
                       : field.components == 9 ? "Tensor"
                                               : "Matrix";
    text +=
        fmt::format("        <Attribute Name=\"{}\" AttributeType=\"{}\" Center=\"{}\">{}</Attribute>\n", field.name,
                    type, center, data_item(file, fmt::format("/VTKHDF/{}/{}", group, field.name), rows, field));
  }
  return text;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  return out;
}

/// One time of an XDMF collection.
std::string xdmf_grid(const std::string& file_name, const FrameSummary& summary) {
  const CellNames& names = names_of(summary.kind);
  const std::string file = escaped(file_name);
  const FrameField connectivity{"", "", 1, "Int", 8}, points{"", "", 3, "Float", summary.point_bytes};
  return fmt::format(
             "      <Grid Name=\"{}\" GridType=\"Uniform\">\n"
             "        <Time Value=\"{}\"/>\n"
             "        <Topology TopologyType=\"{}\" NumberOfElements=\"{}\" NodesPerElement=\"{}\">{}</Topology>\n"
             "        <Geometry GeometryType=\"XYZ\">{}</Geometry>\n",
             file, summary.moment.time, names.xdmf, summary.cells, names.corners,
             data_item(file, "/VTKHDF/Connectivity", summary.cells * names.corners, connectivity),
             data_item(file, "/VTKHDF/Points", summary.points, points)) +
         xdmf_fields(file, "PointData", "Node", summary.points, summary.point_fields) +
         xdmf_fields(file, "CellData", "Cell", summary.cells, summary.cell_fields) + "      </Grid>\n";
}

}  // namespace

int corners(CellKind kind) { return names_of(kind).corners; }

CellKind cells_with(int corners) {
  const auto found = std::ranges::find(cell_names, corners, &CellNames::corners);
  WEFT_ENSURE(found != cell_names.end());
  return found->kind;
}

bool is_frame_file(const std::string& name) {
  const std::string whole = name.ends_with(".tmp") ? name.substr(0, name.size() - 4) : name;
  const std::size_t before_number = whole.rfind('_');
  return whole.ends_with(".hdf.series") || whole.ends_with(".xmf") ||
         (before_number != std::string::npos && frame_number(whole, whole.substr(0, before_number)));
}

FrameSummary read_frame_summary(const fs::path& path) {
  const HdfFile file(path, ExitCode::file_system);
  const bool frame = file.has("/VTKHDF") && file.has_attribute("/VTKHDF", "cell_kind");
  require(frame, ExitCode::file_system, fmt::format("{}: this is not a frame of Weft.", path.string()));
  const std::string kind = file.text_attribute("/VTKHDF", "cell_kind");
  const auto names = std::find_if(cell_names.begin(), cell_names.end(), [&](const auto& n) { return kind == n.name; });
  require(names != cell_names.end(), ExitCode::file_system,
          fmt::format("{}: the frame holds cells of the unknown kind \"{}\".", path.string(), kind));
  FrameSummary summary;
  summary.moment = {file.integer_attribute("/VTKHDF", "frame"), file.integer_attribute("/VTKHDF", "step"),
                    file.real_attribute("/VTKHDF", "time")};
  summary.kind = names->kind;
  const DataSetShape points = file.shape("/VTKHDF/Points");
  summary.points = points.rows;
  summary.point_bytes = static_cast<int>(bytes_of(points.type.number));
  summary.cells = file.shape("/VTKHDF/Types").rows;
  summary.point_fields = read_fields(file, "/VTKHDF/PointData");
  summary.cell_fields = read_fields(file, "/VTKHDF/CellData");
  return summary;
}

FrameSeries::FrameSeries(const Comm& comm, const fs::path& folder, const std::string& name, const FrameFormat& format,
                         std::optional<std::int64_t> last_frame)
    : comm_(comm), folder_(folder), name_(name), format_(format) {
  comm_.agree([&] {
    if (!comm_.is_root()) return;
    std::error_code error;
    std::vector<std::pair<std::int64_t, fs::path>> kept;
    std::vector<fs::path> later;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error))
      if (const auto frame = frame_number(entry.path().filename().string(), name_)) {
        if (last_frame && *frame <= *last_frame) kept.emplace_back(*frame, entry.path());
        else later.push_back(entry.path());
      }
    for (const fs::path& file : later)
      if (!error) fs::remove(file, error);
    require(!error, ExitCode::file_system,
            fmt::format("{}: old frames cannot be cleared away: {}.", folder_.string(), error.message()));
    std::sort(kept.begin(), kept.end());
    for (const auto& [frame, path] : kept) try {
        entries_.push_back({path.filename().string(), read_frame_summary(path)});
      } catch (const Error& damaged) {
        log_warning(fmt::format("A frame is left out of the index. {}", damaged.what()));
      }
    write_index(Flush::at_once);
  });
}

void FrameSeries::write(const FrameMoment& moment, const FrameMesh& mesh) {
  const std::string file = file_name(name_, moment.frame);
  const fs::path unfinished = folder_ / (file + ".tmp");
  try {
    const bool overflows = write_frame(comm_, unfinished, moment, mesh, format_);
    if (overflows && !overflowed_)
      log_warning(
          fmt::format("{}: a number beyond 3.4e38 stands as inf in this frame, and may in later ones. "
                      "output.double_precision keeps it; a material may have got out of hand.",
                      file));
    overflowed_ = overflowed_ || overflows;
    comm_.agree([&] {
      if (!comm_.is_root()) return;
      const FrameSummary summary = read_frame_summary(unfinished);
      put_in_place(unfinished, folder_ / file, Flush::later);
      std::erase_if(entries_, [&](const Entry& entry) { return entry.summary.moment.frame >= moment.frame; });
      entries_.push_back({file, summary});
      write_index(Flush::later);
    });
    unflushed_.push_back(file);
  } catch (const Error&) {
    if (comm_.is_root()) discard_unfinished(unfinished);
    throw;
  }
}

void FrameSeries::flush() {
  if (unflushed_.empty()) return;
  comm_.agree([&] {
    for (const std::string& file : unflushed_) flush_to_disk(folder_ / file);
    if (comm_.is_root()) write_index(Flush::at_once);  // flushes the folder as well
  });
  unflushed_.clear();
}

void FrameSeries::write_index(Flush flush) const {
  const fs::path series = folder_ / (name_ + ".hdf.series"), xdmf = folder_ / (name_ + ".xmf");
  if (entries_.empty()) {  // readers take an index of nothing for an error
    std::error_code ignored;
    fs::remove(series, ignored);
    fs::remove(xdmf, ignored);
    return;
  }
  nlohmann::json files = nlohmann::json::array();
  std::string grids;
  for (const auto& [file, summary] : entries_) {
    files.push_back({{"name", file}, {"time", summary.moment.time}});
    if (summary.points > 0) grids += xdmf_grid(file, summary);  // XDMF readers fail on empty grids
  }
  const nlohmann::json index{{"file-series-version", "1.0"}, {"files", files}};
  write_text_atomically(series, index.dump(1) + '\n', flush);
  write_text_atomically(xdmf,
                        fmt::format("<?xml version=\"1.0\"?>\n"
                                    "<Xdmf Version=\"2.2\">\n"
                                    "  <Domain>\n"
                                    "    <Grid Name=\"{}\" GridType=\"Collection\" CollectionType=\"Temporal\">\n"
                                    "{}"
                                    "    </Grid>\n"
                                    "  </Domain>\n"
                                    "</Xdmf>\n",
                                    escaped(name_), grids),
                        flush);
}

std::uint64_t frame_bytes(CellKind kind, std::int64_t points, std::int64_t cells,
                          std::span<const ColumnView> point_fields, bool double_precision) {
  const std::size_t position = drawn_type({ScalarKind::real, 3, 1}, double_precision).bytes();
  std::size_t of_point = position;
  for (const ColumnView& field : point_fields) of_point += drawn_type(field.shape, double_precision).bytes();
  const std::size_t of_cell = 8 * static_cast<std::size_t>(corners(kind)) + 8 + 1;  // connectivity, offset, type
  constexpr std::uint64_t bookkeeping = 8 << 10;
  return static_cast<std::uint64_t>(points) * of_point + static_cast<std::uint64_t>(cells) * of_cell + bookkeeping;
}

}  // namespace weft
