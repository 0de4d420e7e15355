// Frames hold what was drawn, as VTKHDF 1.0 wants it, and their indexes always fit the files.

#include "weft/base/read_text.hpp"
#include "weft/output/frame.hpp"

#include "unit/output/scratch.hpp"
#include "weft/output/files.hpp"
#include "weft/output/hdf5.hpp"
#include "weft/output/inspect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>
#include <nlohmann/json.hpp>

#include <sys/resource.h>
#include <csignal>
#include <cstring>
#include <functional>

namespace weft {
namespace {

using test::ScratchFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::vector<ColumnView> drawn_columns(Table& table) {
  return {table.column("id"),       table.column("velocity"), table.column("velocity_gradient"),
          table.column("pressure"), table.column("region"),   table.column("strain")};
}

void write_points(FrameSeries& series, const FrameMoment& moment, Table& table) {
  const std::vector<ColumnView> fields = drawn_columns(table);
  FrameMesh mesh;
  mesh.points = table.get<Position>().first(table.owned());
  mesh.point_fields = fields;
  series.write(moment, mesh);
}

/// A whole data set, read by the calling rank alone.
template <class T>
std::vector<T> all_of(const HdfFile& file, const std::string& data_set, RowType type) {
  const std::int64_t rows = file.shape(data_set).rows;
  std::vector<T> values(static_cast<std::size_t>(rows * type.components));
  file.read_rows(data_set, type, 0, static_cast<std::size_t>(rows), values.data());
  return values;
}

std::vector<std::string> files_in(const Comm& comm, const fs::path& folder) {
  comm.barrier();
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  comm.barrier();
  return names;
}

std::vector<std::string> indexed_files(const fs::path& series) {
  std::vector<std::string> names;
  const nlohmann::json index = nlohmann::json::parse(read_text(series));
  for (const auto& file : index.at("files")) names.push_back(file.at("name"));
  return names;
}

void expect_frame_of_ids(const fs::path& path, std::int64_t points) {
  const HdfFile file(path, ExitCode::file_system);
  EXPECT_EQ(file.text_attribute("/VTKHDF", "Type"), "UnstructuredGrid");
  EXPECT_THAT(file.integers_attribute("/VTKHDF", "Version"), ElementsAre(1, 0));
  const RowType one{Number::int64};
  for (const char* size : {"NumberOfPoints", "NumberOfCells", "NumberOfConnectivityIds"})
    EXPECT_THAT(all_of<std::int64_t>(file, std::string("/VTKHDF/") + size, one), ElementsAre(points));
  EXPECT_EQ(file.text_attribute("/VTKHDF/PointData/velocity", "unit"), "m/s");

  const auto ids = all_of<std::int64_t>(file, "/VTKHDF/PointData/id", one);
  const auto x = all_of<float>(file, "/VTKHDF/Points", {Number::float32, 3});
  const auto gradient = all_of<float>(file, "/VTKHDF/PointData/velocity_gradient", {Number::float32, 9});
  const auto pressure = all_of<float>(file, "/VTKHDF/PointData/pressure", {Number::float32});
  const auto strain = all_of<float>(file, "/VTKHDF/PointData/strain", {Number::float32, 6});
  const auto region = all_of<std::int32_t>(file, "/VTKHDF/PointData/region", {Number::int32});
  const auto cells = all_of<std::int64_t>(file, "/VTKHDF/Connectivity", one);
  const auto offsets = all_of<std::int64_t>(file, "/VTKHDF/Offsets", one);
  const auto types = all_of<std::uint8_t>(file, "/VTKHDF/Types", {Number::uint8});
  const auto n = static_cast<std::size_t>(points);
  ASSERT_EQ(ids.size(), n);
  ASSERT_EQ(offsets.size(), n + 1);
  for (std::size_t p = 0; p < n; ++p) {
    const auto id = static_cast<PointId>(ids[p]);
    for (int c = 0; c < 3; ++c) EXPECT_EQ(x[3 * p + c], static_cast<float>(test::number_of(id, 0, c)));
    for (int row = 0; row < 3; ++row)
      for (int column = 0; column < 3; ++column)  // in memory a tensor lies column by column
        EXPECT_EQ(gradient[9 * p + 3 * row + column], static_cast<float>(test::number_of(id, 2, 3 * column + row)));
    for (int drawn = 0; const int c : {0, 1, 2, 5, 3, 4})  // VTK: xx, yy, zz, xy, yz, xz; in memory yz, xz, xy
      EXPECT_EQ(strain[6 * p + static_cast<std::size_t>(drawn++)], static_cast<float>(test::number_of(id, 6, c)));
    EXPECT_EQ(pressure[p], static_cast<float>(test::number_of(id, 4, 0)));
    EXPECT_EQ(region[p], static_cast<std::int32_t>(id % 1000) - 500);
    EXPECT_EQ(cells[p], static_cast<std::int64_t>(p));
    EXPECT_EQ(offsets[p], static_cast<std::int64_t>(p));
    EXPECT_EQ(types[p], 1);
  }
  EXPECT_EQ(offsets[n], points);
}

class FrameTest : public test::ForEachWriter {};
INSTANTIATE_TEST_SUITE_P(, FrameTest, test::all_writers, test::name_of_writer);

TEST_P(FrameTest, FieldsThatAreComputedWhileTheyAreWrittenAreThoseThatLieInMemory) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, test::uneven_rows(comm, 50000));  // several portions
  const std::vector<ColumnView> fields{table.column("id"), table.column("velocity")};
  FrameMesh mesh;
  mesh.points = table.get<Position>().first(table.owned());
  mesh.point_fields = fields;
  mesh.computed.columns = {table.column("velocity_gradient"), table.column("pressure"), table.column("region"),
                           table.column("strain")};
  mesh.computed.rows = [&table](std::size_t first, std::size_t count) {
    EXPECT_LE(first + count, table.owned());
    Table some = test::empty_body();
    some.resize(count);
    for (const ColumnView& column : some.columns())
      std::memcpy(column.data, table.column(column.label.name).row(first), count * column.row_bytes);
    return some;
  };
  const int threads_before = omp_get_max_threads();
  omp_set_num_threads(3);
  FrameSeries(comm, folder.path(), "sand", {false, GetParam()}).write({7, 140, 0.25}, mesh);
  omp_set_num_threads(threads_before);
  expect_frame_of_ids(folder.path() / "sand_000007.hdf", comm.sum(static_cast<std::int64_t>(table.owned())));
}

TEST_P(FrameTest, AParticleFrameHoldsEveryPointOnceWithItsFields) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, test::uneven_rows(comm, 30));
  const std::int64_t total = comm.sum(static_cast<std::int64_t>(table.owned()));
  table.resize(table.rows() + 3, table.rows());  // ghosts are not drawn
  FrameSeries series(comm, folder.path(), "sand", {false, GetParam()});
  write_points(series, {7, 140, 0.25}, table);
  EXPECT_THAT(files_in(comm, folder.path()), ElementsAre("sand.hdf.series", "sand.xmf", "sand_000007.hdf"));
  if (comm.is_root()) {
    expect_frame_of_ids(folder.path() / "sand_000007.hdf", total);
    const FrameSummary summary = read_frame_summary(folder.path() / "sand_000007.hdf");
    EXPECT_EQ(summary.moment.frame, 7);
    EXPECT_EQ(summary.moment.step, 140);
    EXPECT_EQ(summary.moment.time, 0.25);
    EXPECT_EQ(summary.points, total);
    EXPECT_EQ(summary.point_fields.size(), 6u);
    const std::string text = describe(folder.path() / "sand_000007.hdf");
    EXPECT_THAT(text, HasSubstr("frame 7, step 140, time 0.25 s"));
    EXPECT_THAT(text, ::testing::ContainsRegex("velocity_gradient +tensor 3x3 +\\[1/s\\]"));
    const std::string xdmf = read_text(folder.path() / "sand.xmf");
    EXPECT_THAT(xdmf, HasSubstr("sand_000007.hdf:/VTKHDF/Points"));
    EXPECT_THAT(xdmf, HasSubstr("<Time Value=\"0.25\"/>"));
  }
  comm.barrier();
}

TEST_P(FrameTest, DoublePrecisionKeepsEveryDigit) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, 4);
  FrameSeries series(comm, folder.path(), "sand", {true, GetParam()});
  write_points(series, {0, 0, 0}, table);
  if (comm.is_root()) {
    const HdfFile file(folder.path() / "sand_000000.hdf", ExitCode::file_system);
    const auto ids = all_of<std::int64_t>(file, "/VTKHDF/PointData/id", {Number::int64});
    const auto x = all_of<Real>(file, "/VTKHDF/Points", {Number::float64, 3});
    for (std::size_t p = 0; p < ids.size(); ++p)
      EXPECT_EQ(x[3 * p], test::number_of(static_cast<PointId>(ids[p]), 0, 0));
  }
  comm.barrier();
}

TEST_P(FrameTest, CellsOfEachRankNameItsOwnPoints) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  // Each rank but the second has rank + 1 triangles with corners of their own, listed backwards.
  const std::int64_t own = comm.rank() == 1 ? 0 : comm.rank() + 1;
  std::vector<Vec3> points;
  std::vector<std::int64_t> cells;
  Table areas = Table::with<Mass>();
  areas.resize(static_cast<std::size_t>(own));
  for (std::int64_t t = 0; t < own; ++t) {
    for (int c = 0; c < 3; ++c) points.emplace_back(comm.rank(), static_cast<Real>(t), c);
    for (int c = 2; c >= 0; --c) cells.push_back(3 * t + c);
    areas.get<Mass>()[static_cast<std::size_t>(t)] = 100.0 * comm.rank() + static_cast<Real>(t);
  }
  const ColumnView area = areas.column("mass");
  FrameMesh mesh{CellKind::triangle, points, cells, {}, std::span(&area, 1)};
  FrameSeries series(comm, folder.path(), "cup", {false, GetParam()});
  series.write({0, 0, 0}, mesh);
  if (comm.is_root()) {
    const HdfFile file(folder.path() / "cup_000000.hdf", ExitCode::file_system);
    const auto x = all_of<float>(file, "/VTKHDF/Points", {Number::float32, 3});
    const auto connectivity = all_of<std::int64_t>(file, "/VTKHDF/Connectivity", {Number::int64});
    const auto offsets = all_of<std::int64_t>(file, "/VTKHDF/Offsets", {Number::int64});
    const auto types = all_of<std::uint8_t>(file, "/VTKHDF/Types", {Number::uint8});
    const auto of_cell = all_of<float>(file, "/VTKHDF/CellData/mass", {Number::float32});
    const std::size_t triangles = x.size() / 9;
    ASSERT_EQ(connectivity.size(), 3 * triangles);
    ASSERT_EQ(types.size(), triangles);
    ASSERT_EQ(offsets.size(), triangles + 1);
    for (std::size_t t = 0; t < triangles; ++t) {
      EXPECT_EQ(types[t], 5);
      EXPECT_EQ(offsets[t], static_cast<std::int64_t>(3 * t));
      for (std::size_t c = 0; c < 3; ++c) {
        const float* corner = &x[3 * static_cast<std::size_t>(connectivity[3 * t + c])];
        EXPECT_EQ(100 * corner[0] + corner[1], of_cell[t]);  // made of the points of its rank and number
        EXPECT_EQ(corner[2], static_cast<float>(2 - c));
      }
    }
  }
  comm.barrier();
}

TEST_P(FrameTest, AnObjectWithoutPointsHasItsFrameButNoXdmfGrid) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table nothing = test::empty_body(), something = test::body_with(comm, 2);
  FrameSeries series(comm, folder.path(), "tap", {false, GetParam()});
  write_points(series, {0, 0, 0}, nothing);
  write_points(series, {1, 10, 0.5}, something);
  if (comm.is_root()) {
    expect_frame_of_ids(folder.path() / "tap_000000.hdf", 0);
    EXPECT_THAT(indexed_files(folder.path() / "tap.hdf.series"), ElementsAre("tap_000000.hdf", "tap_000001.hdf"));
    const std::string xdmf = read_text(folder.path() / "tap.xmf");
    EXPECT_THAT(xdmf, ::testing::Not(HasSubstr("tap_000000.hdf")));
    EXPECT_THAT(xdmf, HasSubstr("tap_000001.hdf"));
  }
  comm.barrier();
}

TEST_P(FrameTest, AResumedSeriesForgetsLaterFramesAndGoesOn) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, 3);
  {
    FrameSeries series(comm, folder.path(), "sand", {false, GetParam()}),
        other(comm, folder.path(), "sand_000001", {false, GetParam()});
    for (std::int64_t frame = 0; frame < 4; ++frame)
      write_points(series, {frame, 10 * frame, 0.1 * static_cast<Real>(frame)}, table);
    write_points(other, {9, 90, 0.9}, table);  // a name that looks like a frame of the first
  }
  if (comm.is_root()) {
    write_text_atomically(folder.path() / "sand_000000.hdf", "damaged");  // must not keep the run from going on
    fs::remove(folder.path() / "sand.hdf.series");
    fs::remove(folder.path() / "sand.xmf");
  }
  comm.barrier();
  FrameSeries series(comm, folder.path(), "sand", {false, GetParam()}, 2);
  if (comm.is_root()) {
    EXPECT_THAT(indexed_files(folder.path() / "sand.hdf.series"), ElementsAre("sand_000001.hdf", "sand_000002.hdf"));
  }
  write_points(series, {3, 33, 0.31}, table);
  EXPECT_THAT(files_in(comm, folder.path()),
              ElementsAre("sand.hdf.series", "sand.xmf", "sand_000000.hdf", "sand_000001.hdf", "sand_000001.hdf.series",
                          "sand_000001.xmf", "sand_000001_000009.hdf", "sand_000002.hdf", "sand_000003.hdf"));
  if (comm.is_root()) {
    const nlohmann::json index = nlohmann::json::parse(read_text(folder.path() / "sand.hdf.series"));
    EXPECT_EQ(index.at("files").size(), 3u);
    EXPECT_EQ(index.at("files")[2].at("time"), 0.31);
  }
  FrameSeries(comm, folder.path(), "sand", {}, -1);
  EXPECT_THAT(files_in(comm, folder.path()),
              ElementsAre("sand_000001.hdf.series", "sand_000001.xmf", "sand_000001_000009.hdf"));
}

TEST_P(FrameTest, AFrameThatFindsNoRoomIsAnErrorEverywhereAndLeavesTheIndexAlone) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, 10000);
  FrameSeries series(comm, folder.path(), "sand", {false, GetParam()});
  write_points(series, {0, 0, 0}, table);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit unlimited{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
  const rlimit small{100000, unlimited.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  try {
    write_points(series, {1, 1, 1}, table);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::file_system);
    EXPECT_THAT(error.what(), HasSubstr("sand_000001.hdf"));
    EXPECT_THAT(error.what(), HasSubstr("no room"));
  }
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
  EXPECT_THAT(files_in(comm, folder.path()), ElementsAre("sand.hdf.series", "sand.xmf", "sand_000000.hdf"));
  write_points(series, {1, 1, 1}, table);
  EXPECT_EQ(files_in(comm, folder.path()).size(), 4u);
}

TEST_P(FrameTest, TheEstimateOfItsSizeIsClose) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, 20000);
  FrameSeries series(comm, folder.path(), "sand", {false, GetParam()});
  write_points(series, {0, 0, 0}, table);
  const std::int64_t points = 20000 * comm.size();
  const auto fields = drawn_columns(table);
  const auto estimate = static_cast<Real>(frame_bytes(CellKind::vertex, points, points, fields, false));
  EXPECT_NEAR(static_cast<Real>(fs::file_size(folder.path() / "sand_000000.hdf")) / estimate, 1, 0.05);
}

TEST_P(FrameTest, SomethingElseIsNotTakenForAFrame) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  if (comm.is_root()) {
    write_text_atomically(folder.path() / "a.hdf", "no frame at all");
    EXPECT_THROW(read_frame_summary(folder.path() / "a.hdf"), Error);
    EXPECT_THROW(describe(folder.path() / "a.hdf"), Error);
    EXPECT_THROW(describe(folder.path() / "missing.hdf"), Error);
    HdfWriter(Comm(MPI_COMM_SELF)).write(folder.path() / "b.hdf");
    EXPECT_THROW(read_frame_summary(folder.path() / "b.hdf"), Error);
  }
  comm.barrier();
}

}  // namespace
}  // namespace weft
