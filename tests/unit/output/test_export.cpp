// Frames exported for artists' tools, read back.

#include "unit/output/scratch.hpp"
#include "weft/base/error.hpp"
#include "weft/base/read_text.hpp"
#include "weft/geometry/mesh_reader.hpp"
#include "weft/output/export.hpp"
#include "weft/output/frame.hpp"
#include "weft/output/hdf5.hpp"
#include "weft/output/inspect.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace weft {
namespace {

using std::filesystem::exists;
using std::filesystem::path;

SurfaceMesh load(const path& file) {
  return read_mesh(file.filename().string(), read_text(file.string(), ExitCode::geometry));
}

/// Two frames of a block of points with a velocity, the first of which is empty, and one of a triangle.
class ExportTest : public testing::Test {
 protected:
  void SetUp() override {
    const path frames = folder_.path() / "frames";
    if (comm_.is_root()) std::filesystem::create_directories(frames);
    comm_.barrier();
    Table table = Table::with<Position, Velocity, Id>();
    FrameSeries block(comm_, frames, "block", {}), wall(comm_, frames, "collider_wall", {.double_precision = true});
    const auto draw = [&](std::int64_t frame) {
      const std::vector<ColumnView> fields{table.column(Velocity::label.name), table.column(Id::label.name)};
      FrameMesh mesh;
      mesh.points = table.get<Position>().first(table.owned());
      mesh.point_fields = fields;
      block.write({frame, frame, 0.1 * Real(frame)}, mesh);
    };
    draw(0);
    if (comm_.is_root()) {
      table.resize(6 * 6 * 6);
      for (std::size_t r = 0; r < table.owned(); ++r) {
        const std::size_t along = r % 6, across = r / 6 % 6, up = r / 36;
        table.get<Position>()[r] = Vec3(0.05 + 0.1 * Real(along), 0.05 + 0.1 * Real(across), 0.05 + 0.1 * Real(up));
        table.get<Velocity>()[r] = Vec3(1, 0, 0);
        table.get<Id>()[r] = r;
      }
    }
    draw(7);
    const std::vector<Vec3> corners{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const std::vector<std::int64_t> cell{0, 1, 2};
    FrameMesh triangle;
    triangle.kind = CellKind::triangle;
    if (comm_.is_root()) triangle.points = corners, triangle.cells = cell;
    wall.write({0, 0, 0}, triangle);
  }

  std::int64_t run(ExportOptions options) {
    options.folder = folder_.path() / "made";
    options.spacing = [](const std::string&) { return 0.1; };
    return export_frames(comm_, folder_.path() / "frames", options);
  }

  const Comm comm_ = Comm::world();
  test::ScratchFolder folder_{comm_};
};

TEST_F(ExportTest, PointsBecomeASkinAndSurfacesStayWhatTheyAre) {
  for (const auto& [format, ending] : {std::pair{ExportFormat::obj, ".obj"}, {ExportFormat::ply, ".ply"}}) {
    EXPECT_EQ(run({.format = format}), 3);
    const auto read = [&, ending = ending](const std::string& name) {
      return load(folder_.path() / "made" / (name + ending));
    };
    EXPECT_TRUE(exists(folder_.path() / "made" / (std::string("block_000000") + ending)));  // without a face
    const Real volume = volume_of(read("block_000007"));
    EXPECT_GT(volume, 0.75 * 0.216);  // its edges are rounded and its faces dimpled (see skin_of)
    EXPECT_LT(volume, 0.216);
    const SurfaceMesh wall = read("collider_wall_000000");
    EXPECT_EQ(wall.points, (std::vector<Vec3>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}));
    EXPECT_EQ(wall.corners, (std::vector<std::int32_t>{0, 1, 2}));
    comm_.barrier();
  }
}

TEST_F(ExportTest, VolumesAreWrittenForPointsOnly) {
  EXPECT_EQ(run({.format = ExportFormat::vdb}), 2);
  EXPECT_TRUE(exists(folder_.path() / "made" / "block_000007.vdb"));
  EXPECT_FALSE(exists(folder_.path() / "made" / "collider_wall_000000.vdb"));
}

TEST_F(ExportTest, OnlyWhatIsAskedForIsWrittenAndAnUnknownNameIsAnError) {
  EXPECT_EQ(run({.format = ExportFormat::obj, .only = {"collider_wall"}}), 1);
  try {
    run({.format = ExportFormat::obj, .only = {"blok"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::deck);
    EXPECT_NE(std::string(error.what()).find("block, collider_wall"), std::string::npos);
  }
}

/// Two quads and a triangle side by side, whose first point nothing uses, with groups and texture coordinates.
SurfaceMesh banner() {
  const std::string text =
      "v 9 9 9\nv 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nv 1 1 0\nv 2 1 0\nv 3 0 0\n"
      "vt 0 0\nvt 0.5 0\nvt 1 0\nvt 0 1\nvt 0.5 1\nvt 1 1\n"
      "g left\nf 2/1 3/2 6/5 5/4\ng right\nf 3/2 4/3 7/6 6/5\nf 4/3 8/1 7/6\np 4 8\n";
  return read_mesh("banner.obj", text);
}

/// Frames of the banner, moved up by one, whose points come in the order of their use, turned round.
TEST(SheetExportTest, PointsFacesTextureGroupsAndVelocitiesAreThoseOfTheMesh) {
  const Comm comm = Comm::world();
  const test::ScratchFolder folder(comm);
  if (!comm.is_root()) return;
  const SurfaceMesh rest = banner();
  auto triangles = triangles_of(rest);
  const UsedPoints used = used_points(triangles, rest.points.size());
  const auto count = static_cast<std::int64_t>(used.points.size());
  const auto draw = [&](std::int64_t frame, std::span<const std::array<std::int32_t, 3>> drawn) {
    Table table = Table::with<Position, Velocity, Id>();
    table.resize(used.points.size());
    for (std::int64_t r = 0; r < count; ++r) {
      table.get<Id>()[r] = static_cast<PointId>(count - 1 - r);
      table.get<Position>()[r] = rest.points[used.points[count - 1 - r]] + Vec3(0, 0, 1);
      table.get<Velocity>()[r] = Vec3(Real(used.points[count - 1 - r]), 0, 0);
    }
    std::vector<std::int64_t> cells;
    for (const auto& triangle : drawn)
      for (const std::int32_t corner : triangle) cells.push_back(count - 1 - used.number[corner]);
    const std::vector<ColumnView> fields{table.column(Id::label.name), table.column(Velocity::label.name)};
    FrameSeries(Comm(MPI_COMM_SELF), folder.path(), "banner", {.double_precision = true}, frame - 1)
        .write({frame, frame, 0}, {CellKind::triangle, table.get<Position>(), cells, fields});
  };
  draw(0, triangles);
  std::swap(triangles[0], triangles[2]);
  draw(1, std::span(triangles).subspan(1));  // of the second quad one triangle is torn
  ExportOptions options{.folder = folder.path() / "made"};
  options.rest = [&](const std::string&) { return rest; };
  for (const ExportFormat format : {ExportFormat::obj, ExportFormat::ply}) {
    options.format = format;
    export_frames(Comm(MPI_COMM_SELF), folder.path(), options);
    const std::string ending = format == ExportFormat::obj ? ".obj" : ".ply";
    const SurfaceMesh whole = load(options.folder / ("banner_000000" + ending));
    ASSERT_EQ(whole.points.size(), rest.points.size());
    for (std::size_t p = 1; p < rest.points.size(); ++p)
      EXPECT_EQ(whole.points[p], Vec3(rest.points[p] + Vec3(0, 0, 1)));
    EXPECT_EQ(whole.corners, rest.corners);
    EXPECT_EQ(whole.offsets, rest.offsets);
    if (format == ExportFormat::obj) {
      EXPECT_EQ(whole.texture, rest.texture);
      EXPECT_EQ(whole.groups, rest.groups);
      EXPECT_EQ(whole.group, rest.group);
      EXPECT_EQ(whole.group_points, rest.group_points);
    } else {
      EXPECT_NE(read_text(options.folder / "banner_000000.ply").find("property float vx"), std::string::npos);
    }
    const SurfaceMesh torn = load(options.folder / ("banner_000001" + ending));
    EXPECT_EQ(torn.offsets, (std::vector<std::int64_t>{0, 4, 7, 10}));
    EXPECT_EQ(torn.points.size(), rest.points.size());
  }
  options.rest = [&](const std::string&) {  // somebody changed the file meanwhile: as it was drawn
    SurfaceMesh other = rest;
    other.add_face({0, 1, 2});
    other.texture.clear();
    other.group.clear();
    return other;
  };
  export_frames(Comm(MPI_COMM_SELF), folder.path(), options);
  EXPECT_EQ(load(options.folder / "banner_000000.ply").face_count(), 5);
}

struct VertexAtRest : Field<PointId> {
  static constexpr Label label{"vertex_at_rest", "1"};
};

TEST(SheetExportTest, CopiesOfPointsFollowThoseAtRestAndPointsWithoutTrianglesStayThere) {
  const Comm comm = Comm::world();
  const test::ScratchFolder folder(comm);
  if (!comm.is_root()) return;
  const SurfaceMesh rest = banner();
  const auto triangles = triangles_of(rest);
  const UsedPoints used = used_points(triangles, rest.points.size());
  const auto count = static_cast<std::int64_t>(used.points.size());
  const std::int64_t lost = used.number[7];  // of the last triangle, which has torn
  // A corner of the right quad alone is a copy of what it shared with the left one, and lies before all others.
  const std::int32_t split = rest.face(1)[0];
  ASSERT_EQ(std::ranges::count(rest.face(0), split), 1);
  Table table = Table::with<Position, Id, VertexAtRest>();
  table.resize(static_cast<std::size_t>(count));  // one more and one less
  std::vector<std::int64_t> row(used.points.size(), -1);
  table.get<Id>()[0] = static_cast<PointId>(count + 3);
  table.get<VertexAtRest>()[0] = static_cast<PointId>(used.number[split]);
  table.get<Position>()[0] = Vec3(5, 5, 5);
  for (std::int64_t v = 0, r = 1; v < count; ++v) {
    if (v == lost) continue;
    row[v] = r;
    table.get<Id>()[r] = table.get<VertexAtRest>()[r] = static_cast<PointId>(v);
    table.get<Position>()[r++] = rest.points[used.points[v]] + Vec3(0, 0, 1);
  }
  std::vector<std::int64_t> cells;
  for (std::size_t t = 0; t < 4; ++t)
    for (const std::int32_t corner : triangles[t])
      cells.push_back(t >= 2 && corner == split ? 0 : row[used.number[corner]]);
  const std::vector<ColumnView> fields{table.column(Id::label.name), table.column(VertexAtRest::label.name)};
  FrameSeries(Comm(MPI_COMM_SELF), folder.path(), "banner", {.double_precision = true}, -1)
      .write({0, 0, 0}, {CellKind::triangle, table.get<Position>(), cells, fields});
  ExportOptions options{.format = ExportFormat::obj, .folder = folder.path() / "made"};
  options.rest = [&](const std::string&) { return rest; };
  export_frames(Comm(MPI_COMM_SELF), folder.path(), options);
  const SurfaceMesh made = load(options.folder / "banner_000000.obj");
  ASSERT_EQ(made.points.size(), rest.points.size() + 1);
  EXPECT_EQ(made.points.back(), Vec3(5, 5, 5));
  EXPECT_EQ(made.points[split], Vec3(rest.points[split] + Vec3(0, 0, 1)));
  EXPECT_EQ(made.points[7], rest.points[7]);
  ASSERT_EQ(made.face_count(), 2);
  EXPECT_TRUE(std::ranges::equal(made.face(0), rest.face(0)));
  std::vector<std::int32_t> right(rest.face(1).begin(), rest.face(1).end());
  right[0] = static_cast<std::int32_t>(rest.points.size());
  EXPECT_TRUE(std::ranges::equal(made.face(1), right));
  EXPECT_TRUE(std::ranges::equal(made.texture, std::span(rest.texture).first(8)));
}

/// A frame of four points and one cell whose data sets are of any width, length and kind of numbers.
struct ForgedFrame {
  const char* kind = "triangle";
  RowType points{Number::float32, 3}, connectivity{Number::int64}, velocity{Number::float32, 3};
  std::size_t corners = 3, velocities = 4;
  std::int64_t largest = 3;  ///< Point that the cell names.

  void write(const path& file) const {
    HdfWriter out{Comm(MPI_COMM_SELF)};
    out.add_group("/VTKHDF/PointData");
    out.add_group("/VTKHDF/CellData");
    out.set_attribute("/VTKHDF", "cell_kind", std::string(kind));
    for (const char* name : {"frame", "step"}) out.set_attribute("/VTKHDF", name, std::int64_t{0});
    out.set_attribute("/VTKHDF", "time", 0.0);
    const auto add = [&](const char* name, RowType type, std::size_t rows, std::int64_t value) {
      out.add_rows(name, type, rows, [=](std::size_t, std::size_t count, std::byte* to) {
        std::memset(to, 0, count * type.bytes());
        if (type.number == Number::int64) std::memcpy(to, &value, sizeof value);
      });
    };
    add("/VTKHDF/Points", points, 4, 0);
    add("/VTKHDF/Connectivity", connectivity, corners, largest);
    add("/VTKHDF/Types", {Number::uint8}, 1, 0);
    add("/VTKHDF/PointData/velocity", velocity, velocities, 0);
    out.set_attribute("/VTKHDF/PointData/velocity", "unit", std::string("m/s"));
    out.write(file, Digests::none);
  }
};

TEST(ForgedFrameTest, WhatDoesNotFitIsRefusedBeforeItIsRead) {
  const Comm comm = Comm::world();
  const test::ScratchFolder folder(comm);
  if (!comm.is_root()) return;
  const auto exports = [&](const ForgedFrame& frame) {
    frame.write(folder.path() / "cloth_000000.hdf");
    EXPECT_NE(describe(folder.path() / "cloth_000000.hdf").find("4 points"), std::string::npos);
    try {
      export_frames(Comm(MPI_COMM_SELF), folder.path(),
                    {.format = ExportFormat::obj, .folder = folder.path() / "made", .spacing = [](const std::string&) {
                       return 0.1;
                     }});
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::file_system);
      return false;
    }
  };
  EXPECT_TRUE(exports({}));
  EXPECT_FALSE(exports({.points = {Number::float32, 2}}));
  EXPECT_FALSE(exports({.points = {Number::float64, 9}}));
  EXPECT_FALSE(exports({.points = {Number::int64, 3}}));
  EXPECT_FALSE(exports({.connectivity = {Number::float64}}));
  EXPECT_FALSE(exports({.corners = 4}));
  EXPECT_FALSE(exports({.largest = 4}));
  EXPECT_FALSE(exports({.largest = -1}));
  EXPECT_TRUE(exports({.kind = "vertex"}));
  EXPECT_FALSE(exports({.kind = "vertex", .velocity = {Number::float32, 9}}));
  EXPECT_FALSE(exports({.kind = "vertex", .velocity = {Number::float64, 1}}));
  EXPECT_FALSE(exports({.kind = "vertex", .velocity = {Number::int64, 3}}));
  EXPECT_FALSE(exports({.kind = "vertex", .velocities = 3}));
}

TEST(ForgedFrameTest, InfoNamesTheCellsOfEachKind) {
  const Comm comm = Comm::world();
  const test::ScratchFolder folder(comm);
  if (!comm.is_root()) return;
  for (const auto& [kind, name] : {std::pair{"vertex", "1 vertices"},
                                   {"line", "1 lines"},
                                   {"triangle", "1 triangles"},
                                   {"hexahedron", "1 hexahedra"}}) {
    ForgedFrame{.kind = kind}.write(folder.path() / "any.hdf");
    EXPECT_NE(describe(folder.path() / "any.hdf").find(name), std::string::npos) << kind;
  }
}

TEST_F(ExportTest, AFolderWithoutFramesIsAnError) {
  EXPECT_THROW(export_frames(comm_, folder_.path(), {.folder = folder_.path() / "made"}), Error);
}

}  // namespace
}  // namespace weft
