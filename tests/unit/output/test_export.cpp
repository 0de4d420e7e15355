// Frames exported for artists' tools, read back.

#include "unit/output/scratch.hpp"
#include "weft/base/error.hpp"
#include "weft/geometry/mesh_reader.hpp"
#include "weft/output/export.hpp"
#include "weft/output/frame.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

using std::filesystem::exists;
using std::filesystem::path;

/// Two frames of a block of points with a velocity, the first of which is empty, and one of a triangle.
class ExportTest : public testing::Test {
 protected:
  void SetUp() override {
    const path frames = folder_.path() / "frames";
    if (comm_.is_root()) std::filesystem::create_directories(frames);
    comm_.barrier();
    Table table = Table::with<Position, Velocity, Id>();
    FrameSeries block(comm_, frames, "block", false), wall(comm_, frames, "collider_wall", true);
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
        table.get<Position>()[r] =
            Vec3(0.05 + 0.1 * Real(r % 6), 0.05 + 0.1 * Real(r / 6 % 6), 0.05 + 0.1 * Real(r / 36));
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
      return load_mesh((folder_.path() / "made" / (name + ending)).string());
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

TEST_F(ExportTest, AFolderWithoutFramesIsAnError) {
  EXPECT_THROW(export_frames(comm_, folder_.path(), {.folder = folder_.path() / "made"}), Error);
}

}  // namespace
}  // namespace weft
