#include "weft/output/export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "output/descriptor.hpp"
#include "weft/base/check.hpp"
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
  const RowType type = shape.type;
  const auto count = static_cast<std::size_t>(shape.rows);
  std::vector<Vec3> vectors(count);
  if (type.number == Number::float64) {
    file.read_rows(data_set, type, 0, count, vectors.data());
  } else {
    std::vector<float> numbers(3 * count);
    file.read_rows(data_set, type, 0, count, numbers.data());
    for (std::size_t r = 0; r < count; ++r) vectors[r] = Vec3(numbers[3 * r], numbers[3 * r + 1], numbers[3 * r + 2]);
  }
  return vectors;
}

SurfaceMesh read_surface(const HdfFile& file, CellKind kind) {
  SurfaceMesh mesh;
  mesh.points = read_vectors(file, "/VTKHDF/Points");
  const auto count = static_cast<std::size_t>(file.shape("/VTKHDF/Connectivity").rows);
  std::vector<std::int64_t> cells(count);
  file.read_rows("/VTKHDF/Connectivity", {Number::int64}, 0, count, cells.data());
  mesh.corners.assign(cells.begin(), cells.end());
  for (std::size_t end = 0; end < count;)
    mesh.offsets.push_back(static_cast<std::int64_t>(end += static_cast<std::size_t>(corners(kind))));
  return mesh;
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

void export_frame(const Job& job, const ExportOptions& options) {
  const HdfFile file(job.file, ExitCode::file_system);
  const fs::path to = options.folder / fmt::format("{}.{}", job.file.stem().string(), ending(options.format));
  SurfaceMesh mesh;
  if (job.summary.kind == CellKind::vertex) {
    const std::vector<Vec3> points = read_vectors(file, "/VTKHDF/Points");
    std::vector<Vec3> velocities;
    if (file.has("/VTKHDF/PointData/velocity")) velocities = read_vectors(file, "/VTKHDF/PointData/velocity");
    const PointHeap heap{points, velocities, options.spacing(job.name)};
    const SkinFineness fineness{heap.spacing / options.voxels_per_spacing, options.smoothing};
    if (options.format == ExportFormat::vdb) {
      const fs::path unfinished = to.string() + ".tmp";
      create_unfinished(unfinished).close();
      write_vdb(unfinished, heap, fineness);
      put_in_place(unfinished, to, Flush::later);
      return;
    }
    mesh = skin_of(heap, fineness);
  } else {
    mesh = read_surface(file, job.summary.kind);
  }
  write_text_atomically(to, options.format == ExportFormat::obj ? obj_text(mesh) : ply_bytes(mesh), Flush::later);
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
