#include "weft/output/export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "output/descriptor.hpp"
#include "weft/base/check.hpp"
#include "weft/base/log.hpp"
#include "weft/geometry/curves.hpp"
#include "weft/geometry/mesh_writer.hpp"
#include "weft/geometry/subdivision.hpp"
#include "weft/geometry/tet_mesh.hpp"
#include "weft/output/files.hpp"
#include "weft/output/frame.hpp"
#include "weft/output/hdf5.hpp"

namespace weft {

namespace fs = std::filesystem;

namespace {

/// Rows of three reals, whatever their precision in the file.
std::vector<Vec3> read_vectors(const HdfFile& file, const std::string& data_set) {
  const DataSetShape shape = file.shape(data_set);
  const auto count = static_cast<std::size_t>(shape.rows);
  std::vector<Vec3> vectors(count);
  if (shape.type.number == Number::float64) {
    file.read_rows(data_set, {Number::float64, 3}, 0, count, vectors.data());
  } else {
    std::vector<float> numbers(3 * count);
    file.read_rows(data_set, {Number::float32, 3}, 0, count, numbers.data());
    for (std::size_t r = 0; r < count; ++r) vectors[r] = Vec3(numbers[3 * r], numbers[3 * r + 1], numbers[3 * r + 2]);
  }
  return vectors;
}

/// As read_vectors, one for each point of the frame.
std::vector<Vec3> read_point_vectors(const HdfFile& file, const fs::path& path, const std::string& data_set,
                                     std::int64_t points) {
  std::vector<Vec3> vectors = read_vectors(file, data_set);
  require(static_cast<std::int64_t>(vectors.size()) == points, ExitCode::file_system,
          fmt::format("{}: data set {} has {} rows for {} points.", path.string(), data_set, vectors.size(), points));
  return vectors;
}

SurfaceMesh read_surface(const HdfFile& file, const fs::path& path, CellKind kind) {
  SurfaceMesh mesh;
  mesh.points = read_vectors(file, "/VTKHDF/Points");
  const auto count = static_cast<std::size_t>(file.shape("/VTKHDF/Connectivity").rows);
  std::vector<std::int64_t> cells(count);
  file.read_rows("/VTKHDF/Connectivity", {Number::int64}, 0, count, cells.data());
  const auto of_a_cell = static_cast<std::size_t>(corners(kind));
  const bool fits = count % of_a_cell == 0 && std::ranges::all_of(cells, [&](std::int64_t point) {
                      return 0 <= point && point < static_cast<std::int64_t>(mesh.points.size());
                    });
  require(fits, ExitCode::file_system,
          fmt::format("{}: its cells do not fit its {} points.", path.string(), mesh.points.size()));
  mesh.corners.assign(cells.begin(), cells.end());
  for (std::size_t end = of_a_cell; end <= count; end += of_a_cell)
    mesh.offsets.push_back(static_cast<std::int64_t>(end));
  return mesh;
}

using Triangle = std::array<std::int32_t, 3>;

/// The same for all orders that go round the triangle alike.
Triangle from_smallest(Triangle t) {
  std::rotate(t.begin(), std::min_element(t.begin(), t.end()), t.end());
  return t;
}

/// A frame of a sheet with the points and faces of the sheet at rest. Copies of points that were split follow them.
struct Sheet {
  SurfaceMesh mesh;
  std::vector<std::int32_t> row;  ///< Of each point in the frame; -1: no triangle uses it.
};

/// Who the points of a frame are.
struct Identities {
  std::vector<std::int64_t> id;
  std::vector<std::int64_t> at_rest;  ///< Of which they are copies; empty if the sheet cannot tear.
};

/// Of rows of a frame the point of the sheet at rest, and the point of the mesh that is made.
struct PointsOfRows {
  std::vector<std::int32_t> at_rest, made;
};

/// The triangles of a frame by their corners at rest, from the smallest; the same corners in the mesh that is made.
using Drawings = std::map<Triangle, Triangle>;

void add_face_of(const SurfaceMesh& from, std::int64_t f, std::span<const std::int32_t> at_rest,
                 std::span<const std::int32_t> made, SurfaceMesh& to) {
  to.add_face(made);
  if (!from.group.empty()) to.group.push_back(from.group[f]);
  if (from.texture.empty()) return;
  const auto face = from.face(f);
  for (const std::int32_t corner : at_rest)
    to.texture.push_back(from.texture[from.offsets[f] + (std::ranges::find(face, corner) - face.begin())]);
}

/// The corners of a face in the mesh that is made; none if one of its triangles is not there, or two of them have
/// different copies of a corner.
std::vector<std::int32_t> made_face(std::span<const std::int32_t> face, std::span<const Triangle> triangles,
                                    const Drawings& there) {
  std::map<std::int32_t, std::int32_t> made;
  for (const Triangle& t : triangles) {
    const auto drawn = there.find(from_smallest(t));
    if (drawn == there.end()) return {};
    for (std::size_t k = 0; k < 3; ++k)
      if (made.try_emplace(drawn->first[k], drawn->second[k]).first->second != drawn->second[k]) return {};
  }
  std::vector<std::int32_t> corners;
  for (const std::int32_t point : face) corners.push_back(made.at(point));
  return corners;
}

/// Faces of which all triangles are in the frame, and the triangles that are left of others.
void take_faces(const SurfaceMesh& rest, std::span<const Triangle> triangles, const Drawings& there, SurfaceMesh& to) {
  auto next = triangles.begin();
  for (std::int64_t f = 0; f < rest.face_count(); ++f) {
    const std::span<const Triangle> own(next, rest.face(f).size() - 2);
    next += static_cast<std::ptrdiff_t>(own.size());
    if (const auto whole = made_face(rest.face(f), own, there); !whole.empty()) {
      add_face_of(rest, f, rest.face(f), whole, to);
      continue;
    }
    for (const Triangle& t : own)
      if (const auto made = made_face(t, std::span(&t, 1), there); !made.empty()) add_face_of(rest, f, t, made, to);
  }
}

/// None if a triangle of the frame is not one of those at rest.
std::optional<Drawings> drawings_of(const SurfaceMesh& drawn, std::span<const Triangle> triangles,
                                    const PointsOfRows& points) {
  std::set<Triangle> known;
  for (const Triangle& t : triangles) known.insert(from_smallest(t));
  Drawings there;
  for (std::int64_t f = 0; f < drawn.face_count(); ++f) {
    const auto face = drawn.face(f);
    Triangle at_rest, made;
    for (std::size_t k = 0; k < 3; ++k) {
      at_rest[k] = points.at_rest[face[k]];
      made[k] = points.made[face[k]];
    }
    std::ranges::rotate(made, made.begin() + (std::ranges::min_element(at_rest) - at_rest.begin()));
    if (!known.contains(from_smallest(at_rest))) return std::nullopt;
    there[from_smallest(at_rest)] = made;
  }
  return there;
}

/// The points of the frame in the sheet, copies after those at rest by id; none if they are not of this sheet.
std::optional<PointsOfRows> take_points(std::span<const Vec3> drawn, const Identities& who, const UsedPoints& used,
                                        Sheet& sheet) {
  const bool can_tear = !who.at_rest.empty();
  if (!can_tear && drawn.size() != used.points.size()) return std::nullopt;
  PointsOfRows points;
  std::map<std::int64_t, std::size_t> copies;  // rows by id
  for (std::size_t r = 0; r < drawn.size(); ++r) {
    const std::int64_t vertex = (can_tear ? who.at_rest : who.id)[r];
    if (vertex < 0 || static_cast<std::size_t>(vertex) >= used.points.size()) return std::nullopt;
    const std::int32_t point = used.points[vertex];
    points.at_rest.push_back(point);
    points.made.push_back(point);
    const bool is_new = who.id[r] == vertex ? std::exchange(sheet.row[point], static_cast<std::int32_t>(r)) < 0
                                            : copies.emplace(who.id[r], r).second;
    if (!is_new) return std::nullopt;  // an id stands there twice
  }
  for (const auto& [id, r] : copies) {
    points.made[r] = static_cast<std::int32_t>(sheet.row.size());
    sheet.row.push_back(static_cast<std::int32_t>(r));
    sheet.mesh.points.emplace_back();
  }
  for (std::size_t r = 0; r < drawn.size(); ++r) sheet.mesh.points[points.made[r]] = drawn[r];
  return points;
}

/// None if the frame is not one of this sheet.
std::optional<Sheet> sheet_of(const SurfaceMesh& rest, const SurfaceMesh& drawn, const Identities& who) {
  const std::vector<Triangle> triangles = triangles_of(rest);  // of a polygon two fewer than it has corners
  Sheet sheet{{rest.points, {}, {0}, rest.groups, {}, rest.group_points, {}},
              std::vector<std::int32_t>(rest.points.size(), -1)};
  const auto points = take_points(drawn.points, who, used_points(triangles, rest.points.size()), sheet);
  if (!points) return std::nullopt;
  const auto there = drawings_of(drawn, triangles, *points);
  if (!there) return std::nullopt;
  take_faces(rest, triangles, *there, sheet.mesh);
  return sheet;
}

struct Drawn {
  SurfaceMesh mesh;
  std::vector<Vec3> velocities;  ///< Of its points, or empty.
};

/// What a frame shows of a body, in the form of this sheet; none if it is another's.
std::optional<Drawn> in_form_of(const SurfaceMesh& rest, const Drawn& drawn, const Identities& who) {
  std::optional<Sheet> sheet = sheet_of(rest, drawn.mesh, who);
  if (!sheet) return std::nullopt;
  std::vector<Vec3> velocities;
  if (!drawn.velocities.empty())
    for (const std::int32_t row : sheet->row)
      velocities.push_back(row < 0 ? Vec3(Vec3::Zero()) : drawn.velocities[static_cast<std::size_t>(row)]);
  return Drawn{std::move(sheet->mesh), std::move(velocities)};
}

/// The same of a frame that numbers no points: that of a collider, whose points and faces are in the order of its mesh.
std::optional<Drawn> in_form_of(const FormAtRest& form, const Drawn& drawn) {
  const auto* rest = std::get_if<SurfaceMesh>(&form);
  if (!rest || rest->points.size() != drawn.mesh.points.size()) return std::nullopt;
  std::span<const std::int32_t> left = drawn.mesh.corners;
  for (std::int64_t f = 0; f < rest->face_count(); ++f) {
    const auto face = rest->face(f);
    const std::size_t own = 3 * (face.size() - 2);  // corners of its triangles
    const auto is_of_face = [&](std::int32_t p) { return std::ranges::count(face, p) > 0; };
    if (left.size() < own || !std::ranges::all_of(left.first(own), is_of_face)) return std::nullopt;
    left = left.subspan(own);
  }
  if (!left.empty()) return std::nullopt;
  Drawn whole{*rest, drawn.velocities};
  whole.mesh.points = drawn.mesh.points;
  return whole;
}

/// As many parts along an edge as make so many points of a face; 0: none do.
int parts_for(int sides, std::int64_t points) {
  std::int64_t n = 1;
  const auto points_with = [&] { return sides == 4 ? (n + 1) * (n + 1) : (n + 1) * (n + 2) / 2; };
  while (points_with() < points) ++n;
  return points_with() == points ? static_cast<int>(n) : 0;
}

/// As above of a shell, whose drawn faces are joined: where they meet, a point is where the first of them has it.
std::optional<Drawn> in_form_of(const ControlMesh& rest, const Drawn& drawn, const Identities& who) {
  const auto points = static_cast<std::int64_t>(drawn.mesh.points.size()), faces = rest.material_faces;
  const int n = faces > 0 && points % faces == 0 ? parts_for(rest.sides(), points / faces) : 0;
  if (n == 0) return std::nullopt;
  std::vector<std::int64_t> row(static_cast<std::size_t>(points), -1);  // by id
  for (std::int64_t r = 0; r < points; ++r) {
    const std::int64_t id = who.id[static_cast<std::size_t>(r)];
    if (id < 0 || id >= points || std::exchange(row[static_cast<std::size_t>(id)], r) >= 0) return std::nullopt;
  }
  DrawnLimit limit = drawn_limit(rest, n);
  Drawn joined{std::move(limit.mesh), {}};
  if (!drawn.velocities.empty()) joined.velocities.resize(joined.mesh.points.size());
  for (std::size_t id = row.size(); id-- > 0;) {
    const auto point = static_cast<std::size_t>(limit.number[id]), r = static_cast<std::size_t>(row[id]);
    joined.mesh.points[point] = drawn.mesh.points[r];
    if (!drawn.velocities.empty()) joined.velocities[point] = drawn.velocities[r];
  }
  return joined;
}

std::string_view ending(ExportFormat format) {
  constexpr std::array<std::string_view, 5> endings{"obj", "ply", "vdb", "hair", "bcc"};
  return endings[static_cast<std::size_t>(format)];
}

bool is_solid(CellKind kind) { return kind == CellKind::tetrahedron || kind == CellKind::quadratic_tetrahedron; }

bool is_of_curves(ExportFormat format) { return format == ExportFormat::hair || format == ExportFormat::bcc; }

bool has_form(CellKind kind, ExportFormat format) {
  if (kind == CellKind::line) return format == ExportFormat::obj || is_of_curves(format);
  if (is_of_curves(format)) return false;
  return kind == CellKind::vertex || ((kind == CellKind::triangle || is_solid(kind)) && format != ExportFormat::vdb);
}

/// number: of each point at rest. Segments follow one another by it, on whatever ranks they were drawn.
Curves curves_of(const SurfaceMesh& lines, const std::vector<std::int64_t>& number) {
  std::vector<std::array<std::int32_t, 2>> segments;
  for (std::int64_t f = 0; f < lines.face_count(); ++f) segments.push_back({lines.face(f)[0], lines.face(f)[1]});
  std::ranges::sort(segments, {}, [&](const auto& segment) { return number[segment[0]]; });
  Curves curves;
  for (std::size_t at = 0, end = 0; at < segments.size(); at = end) {
    std::vector<Vec3> points{lines.points[segments[at][0]]};
    for (end = at; end < segments.size() && (end == at || segments[end][0] == segments[end - 1][1]); ++end)
      points.push_back(lines.points[segments[end][1]]);
    const bool is_closed = segments[end - 1][1] == segments[at][0];
    if (is_closed) points.pop_back();
    curves.add(points, is_closed);
  }
  return curves;
}

/// A frame file that can be exported.
struct Job {
  fs::path file;
  std::string name;
  FrameSummary summary;
};

std::vector<Job> jobs_in(const fs::path& frames, const ExportOptions& options) {
  std::vector<Job> jobs;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(frames, error)) {
    if (entry.path().extension() != ".hdf") continue;
    const FrameSummary summary = read_frame_summary(entry.path());
    const std::string stem = entry.path().stem().string(), name = stem.substr(0, stem.rfind('_'));
    if (!has_form(summary.kind, options.format)) continue;
    if (summary.kind == CellKind::vertex && !options.spacing(name)) continue;
    jobs.push_back({entry.path(), name, summary});
  }
  require(!error, ExitCode::file_system, fmt::format("{}: {}.", frames.string(), error.message()));
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.file < b.file; });
  return jobs;
}

void keep_only(std::vector<Job>& jobs, const std::vector<std::string>& only, const fs::path& frames) {
  std::map<std::string, int> names;
  for (const Job& job : jobs) ++names[job.name];
  std::vector<std::string> known;
  for (const auto& [name, count] : names) known.push_back(name);
  require(!known.empty(), ExitCode::file_system,
          fmt::format("{}: there are no frames of a body or a surface here that can be exported so.", frames.string()));
  for (const std::string& name : only)
    require(names.contains(name), ExitCode::deck,
            fmt::format("{} has no frames of \"{}\" that can be exported so (to obj: all; to ply: points, triangles, "
                        "tetrahedra; to vdb: points; to hair and bcc: lines). There are: {}.",
                        frames.string(), name, fmt::join(known, ", ")));
  if (!only.empty()) std::erase_if(jobs, [&](const Job& job) { return !std::ranges::count(only, job.name); });
}

/// The outer faces of cells that are tetrahedra, over the points that they use; those with six nodes as four triangles.
Drawn skin_of(const Drawn& solid, int nodes_each) {
  const TetMesh tets{solid.mesh.points, nodes_each, solid.mesh.corners};
  constexpr std::array<std::array<std::size_t, 3>, 4> quarters{{{0, 3, 5}, {3, 1, 4}, {5, 4, 2}, {3, 4, 5}}};
  std::vector<std::array<std::int32_t, 3>> triangles;
  for (const auto& [tet, number] : outer_faces(tets)) {
    const auto node = [&, nodes = tets.tet(tet), &face = tet_faces[static_cast<std::size_t>(number)]](std::size_t k) {
      return nodes[static_cast<std::size_t>(face[k])];
    };
    if (nodes_each == 4) triangles.push_back({node(0), node(1), node(2)});
    else
      for (const auto& [a, b, c] : quarters) triangles.push_back({node(a), node(b), node(c)});
  }
  const UsedPoints used = used_points(triangles, tets.points.size());
  Drawn skin;
  for (const std::int32_t point : used.points) {
    skin.mesh.points.push_back(tets.points[point]);
    if (!solid.velocities.empty()) skin.velocities.push_back(solid.velocities[point]);
  }
  for (const auto& [a, b, c] : triangles) skin.mesh.add_face({used.number[a], used.number[b], used.number[c]});
  return skin;
}

/// A frame of triangles, in the form of the body at rest if it shows one, or the surface of tetrahedra.
Drawn read_drawn(const HdfFile& file, const Job& job, const std::optional<FormAtRest>& rest) {
  constexpr const char *velocity = "/VTKHDF/PointData/velocity", *id = "/VTKHDF/PointData/id",
                       *at_rest = "/VTKHDF/PointData/vertex_at_rest";
  Drawn drawn{read_surface(file, job.file, job.summary.kind), {}};
  if (file.has(velocity)) drawn.velocities = read_point_vectors(file, job.file, velocity, job.summary.points);
  if (is_solid(job.summary.kind)) return skin_of(drawn, corners(job.summary.kind));
  if (!rest) return drawn;
  if (!file.has(id)) return in_form_of(*rest, drawn).value_or(drawn);
  Identities who{std::vector<std::int64_t>(drawn.mesh.points.size()), {}};
  file.read_rows(id, {Number::int64}, 0, who.id.size(), who.id.data());
  if (file.has(at_rest)) {
    who.at_rest.resize(who.id.size());
    file.read_rows(at_rest, {Number::int64}, 0, who.at_rest.size(), who.at_rest.data());
  }
  std::optional<Drawn> formed = std::visit([&](const auto& form) { return in_form_of(form, drawn, who); }, *rest);
  if (!formed) {
    log_warning(fmt::format("{}: its mesh is not that of the deck any more; faces are written as they were drawn.",
                            job.file.string()));
    return drawn;
  }
  return std::move(*formed);
}

/// Bodies at rest by name, each asked for once.
using Forms = std::map<std::string, std::optional<FormAtRest>>;

/// The curves of a frame of lines.
Curves read_curves_of(const HdfFile& file, const Job& job) {
  constexpr const char *id = "/VTKHDF/PointData/id", *at_rest = "/VTKHDF/PointData/vertex_at_rest";
  const SurfaceMesh lines = read_surface(file, job.file, CellKind::line);
  std::vector<std::int64_t> number(lines.points.size());
  std::iota(number.begin(), number.end(), 0);
  if (const char* known = file.has(at_rest) ? at_rest : id; file.has(known))
    file.read_rows(known, {Number::int64}, 0, number.size(), number.data());
  return curves_of(lines, number);
}

std::string bytes_of(const Curves& curves, const ExportOptions& options, const std::string& name) {
  if (options.format == ExportFormat::hair) return hair_bytes(curves, options.thickness ? options.thickness(name) : 0);
  return options.format == ExportFormat::bcc ? bcc_bytes(curves, options.up) : obj_text(curves);
}

void export_frame(const Job& job, const ExportOptions& options, Forms& forms) {
  const HdfFile file(job.file, ExitCode::file_system);
  const fs::path to = options.folder / fmt::format("{}.{}", job.file.stem().string(), ending(options.format));
  Drawn drawn;
  if (job.summary.kind == CellKind::line) {
    write_text_atomically(to, bytes_of(read_curves_of(file, job), options, job.name), Flush::later);
    return;
  }
  if (job.summary.kind == CellKind::vertex) {
    const std::vector<Vec3> points = read_vectors(file, "/VTKHDF/Points");
    std::vector<Vec3> velocities;
    if (file.has("/VTKHDF/PointData/velocity"))
      velocities = read_point_vectors(file, job.file, "/VTKHDF/PointData/velocity", job.summary.points);
    const PointHeap heap{points, velocities, *options.spacing(job.name)};
    const SkinFineness fineness{heap.spacing / options.voxels_per_spacing, options.smoothing};
    if (options.format == ExportFormat::vdb) {
      const fs::path unfinished = to.string() + ".tmp";
      create_unfinished(unfinished).close();
      write_vdb(unfinished, heap, fineness);
      put_in_place(unfinished, to, Flush::later);
      return;
    }
    drawn.mesh = skin_of(heap, fineness);
  } else {
    const auto [form, is_new] = forms.try_emplace(job.name);
    if (is_new && options.rest) form->second = options.rest(job.name);
    drawn = read_drawn(file, job, form->second);
  }
  const bool is_obj = options.format == ExportFormat::obj;
  write_text_atomically(to, is_obj ? obj_text(drawn.mesh) : ply_bytes(drawn.mesh, drawn.velocities), Flush::later);
}

}  // namespace

std::int64_t export_frames(const Comm& comm, const fs::path& frames, const ExportOptions& options) {
  std::vector<Job> jobs;
  comm.agree([&] {
    jobs = jobs_in(frames, options);
    keep_only(jobs, options.only, frames);
    std::error_code error;
    fs::create_directories(options.folder, error);
    require(!error, ExitCode::file_system,
            fmt::format("{}: cannot be made: {}.", options.folder.string(), error.message()));
  });
  comm.agree([&] {
    Forms forms;
    for (std::size_t j = static_cast<std::size_t>(comm.rank()); j < jobs.size();
         j += static_cast<std::size_t>(comm.size()))
      export_frame(jobs[j], options, forms);
  });
  return static_cast<std::int64_t>(jobs.size());
}

}  // namespace weft
