// Fuzz target of what reads frames (`weft info`, `weft export`, a resumed series). The input lays out a file in good
// HDF5: three bytes for each data set, its kind of numbers, width and rows, then what the numbers are. Whatever it
// holds is described and exported, or refused with Error(file_system). (Bytes that are no HDF5 are that library's to
// refuse.)

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "weft/base/error.hpp"
#include "weft/output/export.hpp"
#include "weft/output/frame.hpp"
#include "weft/output/hdf5.hpp"
#include "weft/output/inspect.hpp"

using namespace weft;
namespace fs = std::filesystem;

namespace {

/// A folder of its own, for as long as the program runs.
class Place {
 public:
  Place() : session_(argc_, argv_), alone_(MPI_COMM_SELF) {
    folder_ = fs::temp_directory_path() / ("weft_fuzz_frame_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  ~Place() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  const Comm& comm() const { return alone_; }
  const fs::path& folder() const { return folder_; }

 private:
  int argc_ = 0;
  char** argv_ = nullptr;
  ParallelSession session_;
  Comm alone_;
  fs::path folder_;
};

/// Bytes of the input, one after another, then zeros.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  std::uint8_t next() { return at_ < size_ ? data_[at_++] : 0; }

 private:
  const std::uint8_t* data_;
  std::size_t size_, at_ = 0;
};

constexpr Number numbers[] = {Number::float32, Number::float64, Number::int32,
                              Number::int64,   Number::uint64,  Number::uint8};

/// The first byte leaves most data sets as they are in a good frame of triangles or points.
void add(HdfWriter& file, const std::string& name, RowType good, std::size_t rows, Input& input) {
  const std::uint8_t changes = input.next();
  if (changes & 1) good.number = numbers[input.next() % std::size(numbers)];
  if (changes & 2) good.components = 1 + input.next() % 12;
  if (changes & 4) rows = input.next() % 32;
  if (changes & 8) return;
  const auto first = static_cast<std::int64_t>(static_cast<std::int8_t>(input.next()));
  file.add_rows(name, good, rows, [=](std::size_t begin, std::size_t count, std::byte* to) {
    std::memset(to, 0, count * good.bytes());
    if (good.number != Number::int64) return;
    for (std::size_t k = 0; k < count * static_cast<std::size_t>(good.components); ++k) {
      const std::int64_t value = (first + static_cast<std::int64_t>(begin + k)) % 12;
      std::memcpy(to + k * sizeof value, &value, sizeof value);
    }
  });
  if (name.find("Data/") != std::string::npos && !(changes & 16)) file.set_attribute(name, "unit", std::string("m/s"));
}

void write(const Comm& comm, const fs::path& path, Input& input) {
  HdfWriter file(comm);
  const std::uint8_t changes = input.next();
  file.add_group("/VTKHDF");
  if (!(changes & 1)) file.add_group("/VTKHDF/PointData");
  if (!(changes & 2)) file.add_group("/VTKHDF/CellData");
  constexpr const char* kinds[] = {"triangle", "vertex", "line", "hexahedron", "sphere"};
  if (changes & 4) file.set_attribute("/VTKHDF", "cell_kind", std::vector<std::int64_t>{1, 2});
  else file.set_attribute("/VTKHDF", "cell_kind", std::string(kinds[input.next() % 5]));
  if (!(changes & 8)) file.set_attribute("/VTKHDF", "frame", std::int64_t{input.next()});
  if (changes & 16) file.set_attribute("/VTKHDF", "step", std::vector<std::int64_t>{1, 2, 3});
  else file.set_attribute("/VTKHDF", "step", std::int64_t{1});
  if (changes & 32) file.set_attribute("/VTKHDF", "time", std::string("soon"));
  else file.set_attribute("/VTKHDF", "time", 0.5);
  add(file, "/VTKHDF/Points", {Number::float32, 3}, 12, input);
  add(file, "/VTKHDF/Connectivity", {Number::int64}, 12, input);
  add(file, "/VTKHDF/Types", {Number::uint8}, 4, input);
  if (changes & 64) add(file, "/VTKHDF/PointData/velocity", {Number::float32, 3}, 12, input);
  if (changes & 128) add(file, "/VTKHDF/CellData/thickness", {Number::float64}, 4, input);
  if (input.next() & 1) add(file, "/VTKHDF/PointData/id", {Number::int64}, 12, input);
  file.write(path, Digests::none);
}

/// Four triangles, or two of them as a quad, over as many points as a good frame has.
SurfaceMesh sheet_at_rest(bool with_quad) {
  SurfaceMesh mesh;
  for (int p = 0; p < 12; ++p) mesh.points.emplace_back(p % 4, p / 4, 0);
  const std::vector<std::vector<std::int32_t>> faces =
      with_quad ? std::vector<std::vector<std::int32_t>>{{0, 1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {9, 10, 11}}
                : std::vector<std::vector<std::int32_t>>{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}};
  for (const auto& face : faces) mesh.add_face(face);
  return mesh;
}

/// Three quads in a row, of which a good frame has all corners.
ControlMesh shell_at_rest() {
  SurfaceMesh mesh;
  for (int p = 0; p < 8; ++p) mesh.points.emplace_back(p % 4, p / 4, 0);
  for (int f = 0; f < 3; ++f) mesh.add_face({f, f + 1, f + 5, f + 4});
  return control_mesh(mesh, "strip");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Place place;
  Input input(data, size);
  const fs::path path = place.folder() / "cloth_000000.hdf";
  try {
    write(place.comm(), path, input);
  } catch (const Error&) {
    return 0;  // an attribute of a group that is missing
  }
  try {
    (void)describe(path);
    ExportOptions options;
    options.format = input.next() % 2 ? ExportFormat::ply : ExportFormat::obj;
    options.folder = place.folder() / "made";
    options.spacing = [](const std::string&) { return 0.1; };
    const std::uint8_t of_sheet = input.next();
    if (of_sheet & 1)
      options.rest = [=](const std::string&) -> std::optional<FormAtRest> {
        if (of_sheet & 4) return shell_at_rest();
        return sheet_at_rest((of_sheet & 2) != 0);
      };
    export_frames(place.comm(), place.folder(), options);
  } catch (const Error& error) {
    if (error.code() != ExitCode::file_system) std::abort();
  }
  FrameSeries(place.comm(), place.folder(), "cloth", {}, 1);
  return 0;
}
