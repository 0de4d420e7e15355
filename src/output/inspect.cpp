// Looking into files that a run left.

#include "weft/output/inspect.hpp"

#include "output/saved_state.hpp"
#include "weft/base/check.hpp"
#include "weft/output/checkpoint.hpp"
#include "weft/output/files.hpp"
#include "weft/output/frame.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>

namespace weft {

namespace fs = std::filesystem;

namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();
/// The magnitude that a field has at least, as a share of what its unit measures here: below lies round-off.
constexpr Real least_share = 1e-6;

/// A checkpoint that this process alone looks into: its rows, and what HDF5 says of them.
struct Opened {
  SavedState saved;
  HdfFile file;

  explicit Opened(const fs::path& checkpoint)
      : saved(Comm(MPI_COMM_SELF), checkpoint), file(state_file(checkpoint), ExitCode::checkpoint) {}
};

/// Fields of a saved part, sorted by name.
std::vector<std::string> fields_of(const Opened& opened, const std::string& part) {
  return opened.file.children(table_group(part));
}

/// A whole saved field, every number as a real.
struct Values {
  bool are_reals = false;  ///< In the file; other fields count, or name, something.
  int components = 0;
  std::vector<Real> numbers;
};

Values load(const Opened& opened, const std::string& data_set) {
  const DataSetShape shape = opened.file.shape(data_set);
  const std::string bytes = opened.saved.read_bytes(data_set, shape.type);
  Values values{shape.type.number == Number::float64, shape.type.components,
                std::vector<Real>(bytes.size() / bytes_of(shape.type.number))};
  const auto convert = [&]<class T>(T number) {
    for (std::size_t i = 0; i < values.numbers.size(); ++i) {
      std::memcpy(&number, bytes.data() + i * sizeof(T), sizeof(T));
      values.numbers[i] = static_cast<Real>(number);
    }
  };
  switch (shape.type.number) {
    case Number::uint64:
      convert(std::uint64_t{});
      break;
    case Number::int32:
      convert(std::int32_t{});
      break;
    default:
      require(shape.type.number == Number::float64, ExitCode::checkpoint,
              fmt::format("Data set {} holds numbers of a kind that cannot be compared.", data_set));
      convert(Real{});
  }
  return values;
}

/// Ids of a part, or row numbers where it has none.
std::vector<PointId> load_ids(const SavedState& saved, const SavedPart& part) {
  std::vector<PointId> ids(static_cast<std::size_t>(part.rows));
  const std::string data_set = field_data_set(part.name, Id::label.name);
  if (!saved.has(data_set)) std::iota(ids.begin(), ids.end(), PointId{0});
  else saved.read_all(data_set, {Number::uint64}, 0, ids.size(), ids.data());
  return ids;
}

/// Row numbers in the order of ids.
std::vector<std::size_t> by_id(const std::vector<PointId>& ids) {
  std::vector<std::size_t> rows(ids.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t i, std::size_t j) { return ids[i] < ids[j]; });
  return rows;
}

/// Rows of a and b that carry the same id.
struct Matched {
  std::vector<std::pair<std::size_t, std::size_t>> rows;
  std::int64_t only_in_a = 0, only_in_b = 0;
};

Matched match(const std::vector<PointId>& a, const std::vector<PointId>& b) {
  const std::vector<std::size_t> order_a = by_id(a), order_b = by_id(b);
  Matched matched;
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const PointId id_a = a[order_a[i]], id_b = b[order_b[j]];
    if (id_a == id_b) matched.rows.emplace_back(order_a[i++], order_b[j++]);
    else if (id_a < id_b) ++i, ++matched.only_in_a;
    else ++j, ++matched.only_in_b;
  }
  matched.only_in_a += static_cast<std::int64_t>(a.size() - i);
  matched.only_in_b += static_cast<std::int64_t>(b.size() - j);
  return matched;
}

/// Equal bits, equal infinities and two NaNs do not differ; a finite and another number differ infinitely.
Real difference(Real a, Real b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  return std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) : infinity;
}

/// What units measure in two states: the largest magnitude of a field that has this unit, of any body.
using Scales = std::map<std::string, Real>;

/// The difference of a field, not yet relative, whose magnitude joins those of its unit.
FieldDifference compare(const std::string& body, const std::string& field, const std::string& unit, const Values& a,
                        const Values& b, const Matched& matched, Scales& scales) {
  Real absolute = 0, magnitude = 0;
  const auto components = static_cast<std::size_t>(a.components);
  for (const auto& [row_a, row_b] : matched.rows)
    for (std::size_t c = 0; c < components; ++c) {
      const Real x = a.numbers[row_a * components + c], y = b.numbers[row_b * components + c];
      absolute = std::max(absolute, difference(x, y));
      for (const Real value : {x, y})
        if (std::isfinite(value)) magnitude = std::max(magnitude, std::abs(value));
    }
  if (a.are_reals) scales[unit] = std::max(scales[unit], magnitude);
  return {body, field, unit, absolute, magnitude, 0};
}

/// Relates each difference to the magnitude of its field, or to what would be round-off for its unit, if that is more.
/// Velocities are measured by the size of the scene over its time [s], too, their gradients by a velocity over the
/// distance of that many points, and numbers without a unit by 1.
void relate(std::vector<FieldDifference>& fields, Scales scales, Real time, std::size_t points) {
  const auto at_least = [&](const char* unit, Real scale) { scales[unit] = std::max(scales[unit], scale); };
  at_least("1", 1);
  if (time > 0) at_least("m/s", scales["m"] / time), at_least("1/s", 1 / time);
  if (scales["m"] > 0) at_least("1/s", scales["m/s"] * std::cbrt(static_cast<Real>(points)) / scales["m"]);
  for (FieldDifference& field : fields) {
    const Real magnitude = std::max(field.magnitude, least_share * scales[field.unit]);
    field.relative = field.absolute == 0 ? 0 : magnitude == 0 ? infinity : field.absolute / magnitude;
  }
}

/// Names in both lists; those in one only become sentences.
std::vector<std::string> in_both(std::vector<std::string> a, std::vector<std::string> b, const std::string& what,
                                 std::vector<std::string>& unmatched) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  std::vector<std::string> both, only;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only));
  for (const std::string& name : only) unmatched.push_back(fmt::format("Only A has {} {}.", what, name));
  only.clear();
  std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(only));
  for (const std::string& name : only) unmatched.push_back(fmt::format("Only B has {} {}.", what, name));
  return both;
}

std::vector<std::string> part_names(const SavedState& saved) {
  std::vector<std::string> names;
  for (const SavedPart& part : saved.manifest().parts) names.push_back(part.name);
  return names;
}

SavedPart part_of(const SavedState& saved, const std::string& name) {
  const auto& parts = saved.manifest().parts;
  return *std::find_if(parts.begin(), parts.end(), [&](const SavedPart& part) { return part.name == name; });
}

std::string shape_text(int rows, int columns) {
  if (rows * columns == 1) return "scalar";
  return columns == 1 ? fmt::format("vector of {}", rows) : fmt::format("tensor {}x{}", rows, columns);
}

std::string describe_checkpoint(const fs::path& checkpoint) {
  const Opened opened(checkpoint);
  const SavedState& saved = opened.saved;
  const CheckpointHeader header = read_header(Comm(MPI_COMM_SELF), checkpoint);
  std::string text = fmt::format("checkpoint {}\nstep {}, time {} s, {} bytes\n", checkpoint.string(), header.step,
                                 header.time, saved.manifest().state.bytes);
  for (const SavedPart& part : saved.manifest().parts) {
    text += fmt::format("\n{}: {} rows, written by {} ranks\n", part.name, part.rows,
                        saved.rows_of(rank_rows_data_set(part.name)));
    for (const std::string& field : fields_of(opened, part.name)) {
      const std::string data_set = field_data_set(part.name, field);
      const std::vector<std::int64_t> shape = opened.file.integers_attribute(data_set, "shape");
      require(shape.size() == 2, ExitCode::checkpoint, fmt::format("Data set {} has no shape.", data_set));
      text += fmt::format("  {:<24} {:<12} [{}]\n", field,
                          shape_text(static_cast<int>(shape[0]), static_cast<int>(shape[1])),
                          opened.file.text_attribute(data_set, "unit"));
    }
  }
  return text + "\nprovenance\n" + header.provenance + "\n";
}

const char* plural_of(CellKind kind) {
  switch (kind) {
    case CellKind::vertex:
      return "vertices";
    case CellKind::line:
      return "lines";
    case CellKind::triangle:
      return "triangles";
    case CellKind::hexahedron:
      return "hexahedra";
    case CellKind::tetrahedron:
    case CellKind::quadratic_tetrahedron:
      return "tetrahedra";
  }
  return "cells";
}

std::string describe_frame(const fs::path& file) {
  const FrameSummary frame = read_frame_summary(file);
  std::string text = fmt::format("frame {}\nframe {}, step {}, time {} s\n{} points ({} bytes a coordinate), {} {}\n",
                                 file.string(), frame.moment.frame, frame.moment.step, frame.moment.time, frame.points,
                                 frame.point_bytes, frame.cells, plural_of(frame.kind));
  const auto list = [&](const char* title, const std::vector<FrameField>& fields) {
    if (!fields.empty()) text += fmt::format("\n{}\n", title);
    for (const FrameField& field : fields)
      text += fmt::format("  {:<24} {:<12} [{}]\n", field.name,
                          field.components == 9 ? shape_text(3, 3) : shape_text(field.components, 1), field.unit);
  };
  list("fields at points", frame.point_fields);
  list("fields of cells", frame.cell_fields);
  return text;
}

}  // namespace

Real Comparison::largest() const {
  Real most = unmatched.empty() ? 0 : infinity;
  for (const BodyDifference& body : bodies)
    if (body.only_in_a + body.only_in_b > 0) most = infinity;
  for (const FieldDifference& field : fields) most = std::max(most, field.relative);
  return most;
}

std::string Comparison::text(Real tolerance) const {
  std::string out = fmt::format("{:<20} {:<24} {:>14} {:>14}  {}\n", "body", "field", "absolute", "relative", "unit");
  for (const FieldDifference& field : fields)
    out += fmt::format("{:<20} {:<24} {:>14.6g} {:>14.6g}  {:<6}{}\n", field.body, field.field, field.absolute,
                       field.relative, field.unit, field.relative > tolerance ? "  exceeds" : "");
  for (const BodyDifference& body : bodies)
    if (body.only_in_a + body.only_in_b > 0)
      out += fmt::format("{}: {} ids are only in A, {} only in B.\n", body.body, body.only_in_a, body.only_in_b);
  for (const std::string& sentence : unmatched) out += sentence + '\n';
  return out;
}

Comparison compare_checkpoints(const fs::path& path_a, const fs::path& path_b) {
  const Opened a(path_a), b(path_b);
  Comparison result;
  Scales scales;
  std::size_t points = 0;
  for (const std::string& body : in_both(part_names(a.saved), part_names(b.saved), "body", result.unmatched)) {
    const Matched matched = match(load_ids(a.saved, part_of(a.saved, body)), load_ids(b.saved, part_of(b.saved, body)));
    points += matched.rows.size();
    result.bodies.push_back({body, matched.only_in_a, matched.only_in_b});
    for (const std::string& field :
         in_both(fields_of(a, body), fields_of(b, body), fmt::format("in body {} the field", body), result.unmatched)) {
      const std::string data_set = field_data_set(body, field);
      const Values values_a = load(a, data_set), values_b = load(b, data_set);
      if (values_a.components != values_b.components)
        result.unmatched.push_back(fmt::format("In body {} the field {} has another shape in B.", body, field));
      else
        result.fields.push_back(
            compare(body, field, a.file.text_attribute(data_set, "unit"), values_a, values_b, matched, scales));
    }
  }
  relate(result.fields, std::move(scales), a.saved.manifest().time, points);
  return result;
}

std::string describe(const fs::path& path) {
  std::error_code ignored;
  require(fs::exists(path, ignored), ExitCode::file_system, fmt::format("{}: there is no such file.", path.string()));
  if (fs::is_directory(path, ignored)) return describe_checkpoint(path);
  const std::string name = path.filename().string();
  if (name == "state.h5" || name == "manifest.json") return describe_checkpoint(path.parent_path());
  return describe_frame(path);
}

}  // namespace weft
