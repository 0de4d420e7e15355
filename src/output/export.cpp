#include "weft/output/export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

#include "output/descriptor.hpp"
#include "weft/base/check.hpp"
#include "weft/base/log.hpp"
#include "weft/geometry/mesh_writer.hpp"
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

/// A frame of a sheet with the points and faces of the sheet at rest.
struct Sheet {
  SurfaceMesh mesh;
  std::vector<std::int32_t> row;  ///< Of each point in the frame; -1: no triangle uses it.
};

void add_face_of(const SurfaceMesh& from, std::int64_t f, std::span<const std::int32_t> corners, SurfaceMesh& to) {
  to.add_face(corners);
  if (!from.group.empty()) to.group.push_back(from.group[f]);
  if (from.texture.empty()) return;
  const auto face = from.face(f);
  for (const std::int32_t corner : corners)
    to.texture.push_back(from.texture[from.offsets[f] + (std::ranges::find(face, corner) - face.begin())]);
}

/// Faces of which all triangles are in the frame, and the triangles that are left of others.
void take_faces(const SurfaceMesh& rest, std::span<const Triangle> triangles, const std::set<Triangle>& there,
                SurfaceMesh& to) {
  auto next = triangles.begin();
  for (std::int64_t f = 0; f < rest.face_count(); ++f) {
    const std::span<const Triangle> own(next, rest.face(f).size() - 2);
    next += static_cast<std::ptrdiff_t>(own.size());
    const auto is_there = [&](const Triangle& t) { return there.contains(from_smallest(t)); };
    if (std::ranges::all_of(own, is_there)) add_face_of(rest, f, rest.face(f), to);
    else
      for (const Triangle& t : own)
        if (is_there(t)) add_face_of(rest, f, t, to);
  }
}

/// None if the frame is not one of this sheet. ids: of the points of the frame.
std::optional<Sheet> in_form_of(const SurfaceMesh& rest, const SurfaceMesh& drawn, std::span<const std::int64_t> ids) {
  const std::vector<Triangle> triangles = triangles_of(rest);  // of a polygon two fewer than it has corners
  const UsedPoints used = used_points(triangles, rest.points.size());
  if (ids.size() != used.points.size()) return std::nullopt;
  Sheet sheet{{rest.points, {}, {0}, rest.groups, {}, rest.group_points, {}},
              std::vector<std::int32_t>(rest.points.size(), -1)};
  for (std::size_t r = 0; r < ids.size(); ++r) {
    if (ids[r] < 0 || static_cast<std::size_t>(ids[r]) >= ids.size()) return std::nullopt;
    const std::int32_t point = used.points[ids[r]];
    sheet.row[point] = static_cast<std::int32_t>(r);
    sheet.mesh.points[point] = drawn.points[r];
  }
  for (const std::int32_t point : used.points)
    if (sheet.row[point] < 0) return std::nullopt;  // an id stands there twice
  const auto point_of = [&](std::int32_t r) { return used.points[ids[r]]; };
  std::set<Triangle> there;
  for (std::int64_t f = 0; f < drawn.face_count(); ++f) {
    const auto face = drawn.face(f);
    there.insert(from_smallest({point_of(face[0]), point_of(face[1]), point_of(face[2])}));
  }
  take_faces(rest, triangles, there, sheet.mesh);
  return sheet;
}

const char* ending(ExportFormat format) {
  return format == ExportFormat::obj ? "obj" : format == ExportFormat::ply ? "ply" : "vdb";
}

/// A frame file that can be exported.
struct Job {
  fs::path file;
  std::string name;
  FrameSummary summary;
};

std::vector<Job> jobs_in(const fs::path& frames, ExportFormat format) {
  std::vector<Job> jobs;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(frames, error)) {
    if (entry.path().extension() != ".hdf") continue;
    const FrameSummary summary = read_frame_summary(entry.path());
    const std::string stem = entry.path().stem().string();
    const bool points = summary.kind == CellKind::vertex, surface = summary.kind == CellKind::triangle;
    if (points || (surface && format != ExportFormat::vdb))
      jobs.push_back({entry.path(), stem.substr(0, stem.rfind('_')), summary});
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
          fmt::format("{}: there are no frames of a body or a surface here.", frames.string()));
  for (const std::string& name : only)
    require(
        names.contains(name), ExitCode::deck,
        fmt::format("{} has no frames of \"{}\" that can be exported so (points or triangles; to vdb, points). There "
                    "are: {}.",
                    frames.string(), name, fmt::join(known, ", ")));
  if (!only.empty()) std::erase_if(jobs, [&](const Job& job) { return !std::ranges::count(only, job.name); });
}

struct Drawn {
  SurfaceMesh mesh;
  std::vector<Vec3> velocities;  ///< Of its points, or empty.
};

/// A frame of triangles, in the form of the sheet at rest if it shows one.
Drawn read_drawn(const HdfFile& file, const Job& job, const ExportOptions& options) {
  constexpr const char *velocity = "/VTKHDF/PointData/velocity", *id = "/VTKHDF/PointData/id";
  Drawn drawn{read_surface(file, job.file, job.summary.kind), {}};
  if (file.has(velocity)) drawn.velocities = read_point_vectors(file, job.file, velocity, job.summary.points);
  const std::optional<SurfaceMesh> rest = options.sheet ? options.sheet(job.name) : std::nullopt;
  if (!rest) return drawn;
  std::vector<std::int64_t> ids(drawn.mesh.points.size());
  std::iota(ids.begin(), ids.end(), 0);
  if (file.has(id)) file.read_rows(id, {Number::int64}, 0, ids.size(), ids.data());
  std::optional<Sheet> sheet = in_form_of(*rest, drawn.mesh, ids);
  if (!sheet) {
    log_warning(fmt::format("{}: its mesh is not that of the deck any more; faces are written as they were drawn.",
                            job.file.string()));
    return drawn;
  }
  std::vector<Vec3> velocities;
  if (!drawn.velocities.empty())
    for (const std::int32_t row : sheet->row)
      velocities.push_back(row < 0 ? Vec3(Vec3::Zero()) : drawn.velocities[static_cast<std::size_t>(row)]);
  return {std::move(sheet->mesh), std::move(velocities)};
}

void export_frame(const Job& job, const ExportOptions& options) {
  const HdfFile file(job.file, ExitCode::file_system);
  const fs::path to = options.folder / fmt::format("{}.{}", job.file.stem().string(), ending(options.format));
  Drawn drawn;
  if (job.summary.kind == CellKind::vertex) {
    const std::vector<Vec3> points = read_vectors(file, "/VTKHDF/Points");
    std::vector<Vec3> velocities;
    if (file.has("/VTKHDF/PointData/velocity"))
      velocities = read_point_vectors(file, job.file, "/VTKHDF/PointData/velocity", job.summary.points);
    const PointHeap heap{points, velocities, options.spacing(job.name)};
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
    drawn = read_drawn(file, job, options);
  }
  const bool is_obj = options.format == ExportFormat::obj;
  write_text_atomically(to, is_obj ? obj_text(drawn.mesh) : ply_bytes(drawn.mesh, drawn.velocities), Flush::later);
}

}  // namespace

std::int64_t export_frames(const Comm& comm, const fs::path& frames, const ExportOptions& options) {
  std::vector<Job> jobs;
  comm.agree([&] {
    jobs = jobs_in(frames, options.format);
    keep_only(jobs, options.only, frames);
    std::error_code error;
    fs::create_directories(options.folder, error);
    require(!error, ExitCode::file_system,
            fmt::format("{}: cannot be made: {}.", options.folder.string(), error.message()));
  });
  comm.agree([&] {
    for (std::size_t j = static_cast<std::size_t>(comm.rank()); j < jobs.size();
         j += static_cast<std::size_t>(comm.size()))
      export_frame(jobs[j], options);
  });
  return static_cast<std::int64_t>(jobs.size());
}

}  // namespace weft
