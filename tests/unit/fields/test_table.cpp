// Tables: columns of equal length that are added, resized, reordered and looked at.

#include "weft/fields/rows_ahead.hpp"
#include "weft/fields/table.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

struct Kind : Field<std::int32_t> {
  static constexpr Label label{"kind", "1"};
};
struct Pressure : Field<Real> {
  static constexpr Label label{"pressure", "Pa", Keep::shown};
};
struct Strain : Field<Symmetric3<Real>> {
  static constexpr Label label{"strain", "1"};
};
struct Scratch : Field<Vec3> {
  static constexpr Label label{"scratch", "1", Keep::work};
};

Table five_rows() {
  Table table = Table::with<Id, Position, ElasticF, Strain, Kind, Pressure, Scratch>();
  table.resize(5);
  for (int r = 0; r < 5; ++r) {
    table.get<Id>()[r] = 10 + r;
    table.get<Position>()[r] = Vec3(r, 2 * r, 3 * r);
    table.get<ElasticF>()[r] = Mat3::Identity() * r;
    table.get<Strain>()[r] = {1.0 * r, 2.0 * r, 3.0 * r, 4.0 * r, 5.0 * r, 6.0 * r};
    table.get<Kind>()[r] = -r;
    table.get<Pressure>()[r] = 0.5 * r;
    table.get<Scratch>()[r] = Vec3(-r, 0, r);
  }
  return table;
}

void expect_row(const Table& table, std::size_t row, int was) {
  EXPECT_EQ(table.get<Id>()[row], 10U + was);
  EXPECT_EQ(table.get<Position>()[row], Vec3(was, 2 * was, 3 * was));
  EXPECT_EQ(table.get<ElasticF>()[row], Mat3(Mat3::Identity() * was));
  EXPECT_EQ(table.get<Strain>()[row],
            (Symmetric3<Real>{1.0 * was, 2.0 * was, 3.0 * was, 4.0 * was, 5.0 * was, 6.0 * was}));
  EXPECT_EQ(table.get<Kind>()[row], -was);
  EXPECT_EQ(table.get<Pressure>()[row], 0.5 * was);
  EXPECT_EQ(table.get<Scratch>()[row], Vec3(-was, 0, was));
}

TEST(TableTest, StartsEmpty) {
  const Table table = Table::with<Id, Position>();
  EXPECT_EQ(table.rows(), 0U);
  EXPECT_EQ(table.owned(), 0U);
  EXPECT_EQ(table.ghosts(), 0U);
  EXPECT_TRUE(table.get<Id>().empty());
  EXPECT_TRUE(table.has<Position>());
  EXPECT_FALSE(table.has<Velocity>());
}

TEST(TableTest, EveryColumnHoldsWhatWasWritten) {
  const Table table = five_rows();
  for (int r = 0; r < 5; ++r) expect_row(table, r, r);
}

TEST(TableTest, AColumnAddedLaterIsZeroForExistingRows) {
  Table table = five_rows();
  table.add<Velocity>();
  ASSERT_EQ(table.get<Velocity>().size(), 5U);
  for (const Vec3& v : table.get<Velocity>()) EXPECT_EQ(v, Vec3(0, 0, 0));
  expect_row(table, 3, 3);
}

TEST(TableTest, ResizeKeepsOldRowsAndClearsNewOnes) {
  Table table = five_rows();
  table.resize(2);
  EXPECT_EQ(table.rows(), 2U);
  table.resize(4);
  expect_row(table, 0, 0);
  expect_row(table, 1, 1);
  for (std::size_t r = 2; r < 4; ++r) {  // not what stood there before
    EXPECT_EQ(table.get<Id>()[r], 0U);
    EXPECT_EQ(table.get<Position>()[r], Vec3(0, 0, 0));
    EXPECT_EQ(table.get<Kind>()[r], 0);
  }
}

TEST(TableTest, ResizeSetsOwnedAndGhostRows) {
  Table table = five_rows();
  table.resize(8, 5);
  EXPECT_EQ(table.rows(), 8U);
  EXPECT_EQ(table.owned(), 5U);
  EXPECT_EQ(table.ghosts(), 3U);
  EXPECT_EQ(table.get<Position>().size(), 8U);
  table.resize(6);
  EXPECT_EQ(table.owned(), 6U);
  EXPECT_EQ(table.ghosts(), 0U);
}

TEST(TableTest, ReorderPermutesDropsAndRepeatsRows) {
  Table table = five_rows();
  table.add<Mass>();  // a third column of its width
  for (int r = 0; r < 5; ++r) table.get<Mass>()[r] = 100 + r;
  table.resize(5, 3);
  const std::uint32_t order[] = {4, 0, 0, 2, 4, 1, 4};
  table.reorder(order);
  ASSERT_EQ(table.rows(), 7U);
  EXPECT_EQ(table.owned(), 7U);
  for (std::size_t r = 0; r < 7; ++r) {
    expect_row(table, r, static_cast<int>(order[r]));
    EXPECT_EQ(table.get<Mass>()[r], 100 + order[r]);
  }

  const std::uint32_t fewer[] = {6, 1};
  table.reorder(fewer);
  ASSERT_EQ(table.rows(), 2U);
  expect_row(table, 0, 4);
  expect_row(table, 1, 0);
  EXPECT_EQ(table.get<Mass>()[0], 104);
  EXPECT_EQ(table.get<Mass>()[1], 100);
  table.resize(3);  // rows that come after a reorder are zero, too
  EXPECT_EQ(table.get<Id>()[2], 0U);
  EXPECT_EQ(table.get<Position>()[2], Vec3(0, 0, 0));

  table.reorder({});
  EXPECT_EQ(table.rows(), 0U);
}

TEST(TableTest, ReorderMovesAllButWhatIsOverwritten) {
  Table table = five_rows();
  const std::uint32_t order[] = {3, 1, 4, 0, 2, 2};
  table.reorder(order, {Position::label.name, Pressure::label.name});
  ASSERT_EQ(table.rows(), 6U);
  ASSERT_EQ(table.get<Position>().size(), 6U);
  for (std::size_t r = 0; r < 6; ++r) {
    table.get<Position>()[r] = Vec3(order[r], 2 * order[r], 3 * order[r]);
    table.get<Pressure>()[r] = 0.5 * order[r];
  }
  for (std::size_t r = 0; r < 6; ++r) expect_row(table, r, static_cast<int>(order[r]));
  table.reorder(order);  // back to moving all
  for (std::size_t r = 0; r < 6; ++r) expect_row(table, r, static_cast<int>(order[order[r]]));
}

TEST(TableTest, ColumnsAreChosenByWhatBecomesOfThem) {
  Table table = five_rows();
  EXPECT_EQ(table.columns().size(), 7U);
  const auto names = [&](Keep keep) {
    std::vector<std::string_view> list;
    for (const ColumnView& column : table.columns(keep)) list.push_back(column.label.name);
    return list;
  };
  EXPECT_EQ(names(Keep::state),
            (std::vector<std::string_view>{"id", "position", "elastic_deformation", "strain", "kind"}));
  EXPECT_EQ(names(Keep::shown), std::vector<std::string_view>{"pressure"});
  EXPECT_EQ(names(Keep::work), std::vector<std::string_view>{"scratch"});
}

TEST(TableTest, AViewLooksAtTheColumnItself) {
  Table table = five_rows();
  const ColumnView view = table.column("position");
  EXPECT_EQ(view.label.name, "position");
  EXPECT_EQ(view.label.unit, "m");
  EXPECT_EQ(view.shape, (RowShape{ScalarKind::real, 3, 1}));
  EXPECT_EQ(view.row_bytes, 3 * sizeof(Real));
  EXPECT_EQ(view.rows, 5U);
  const Vec3 moved(-1, -2, -3);
  std::memcpy(view.row(2), moved.data(), view.row_bytes);
  EXPECT_EQ(table.get<Position>()[2], moved);
  EXPECT_EQ(table.get<Position>()[1], Vec3(1, 2, 3));
  EXPECT_EQ(table.get<Position>()[3], Vec3(3, 6, 9));
}

TEST(TableTest, AnUnknownNameGivesAnEmptyView) { EXPECT_EQ(five_rows().column("temperature").row_bytes, 0U); }

TEST(TableTest, BytesCountsAllColumns) {
  // id 8, position 24, deformation 72, kind 4, pressure 8, scratch 24 bytes a row; capacity may be larger.
  EXPECT_GE(five_rows().bytes(), 5U * 140U);
}

TEST(TableTest, MovesWithAllItsRowsAndIsNeverCopied) {
  static_assert(!std::is_copy_constructible_v<Table>, "columns are large");
  Table table = five_rows();
  const Real* pressure = table.get<Pressure>().data();
  const Table moved = std::move(table);
  EXPECT_EQ(moved.rows(), 5U);
  EXPECT_EQ(moved.get<Pressure>().data(), pressure);
  for (int r = 0; r < 5; ++r) expect_row(moved, r, r);
}

TEST(TableTest, GrowsRowByRowWithoutLosingAny) {
  Table table = Table::with<Id, Position>();
  for (std::size_t r = 0; r < 1000; ++r) {
    table.resize(r + 1);
    EXPECT_EQ(table.get<Id>()[r], 0U);
    EXPECT_EQ(table.get<Position>()[r], Vec3::Zero());
    table.get<Id>()[r] = r;
    table.get<Position>()[r] = Vec3::Constant(static_cast<Real>(r));
  }
  table.resize(10);
  table.resize(1000);
  for (std::size_t r = 0; r < 1000; ++r) {
    EXPECT_EQ(table.get<Id>()[r], r < 10 ? r : 0);
    EXPECT_EQ(table.get<Position>()[r].x(), r < 10 ? static_cast<Real>(r) : 0);
  }
}

TEST(FieldTest, ShapesFollowFromTheValueType) {
  EXPECT_EQ(shape_of<Real>(), (RowShape{ScalarKind::real, 1, 1}));
  EXPECT_EQ(shape_of<Vec3>(), (RowShape{ScalarKind::real, 3, 1}));
  EXPECT_EQ(shape_of<Mat3>(), (RowShape{ScalarKind::real, 3, 3}));
  EXPECT_EQ(shape_of<PointId>(), (RowShape{ScalarKind::id, 1, 1}));
  EXPECT_EQ(shape_of<std::int32_t>(), (RowShape{ScalarKind::integer, 1, 1}));
  EXPECT_EQ(shape_of<Mat3>().components(), 9);
  EXPECT_EQ(shape_of<Symmetric3<Real>>(), (RowShape{ScalarKind::real, 6, 1}));
}

TEST(FieldTest, TensorsAreColumnMajorInMemory) {
  Table table = Table::with<ElasticF>();
  table.resize(1);
  Mat3 F;
  F << 1, 2, 3, 4, 5, 6, 7, 8, 9;
  table.get<ElasticF>()[0] = F;
  Real memory[9];
  std::memcpy(memory, table.column("elastic_deformation").data, sizeof(memory));
  for (int c = 0; c < 3; ++c)
    for (int r = 0; r < 3; ++r) EXPECT_EQ(memory[3 * c + r], F(r, c));
}

TEST(TableTest, MistakesInTheProgramAbort) {
  Table table = five_rows();
  EXPECT_DEATH(table.add<Id>(), "does not hold");        // a second column of this name
  EXPECT_DEATH(table.get<Velocity>(), "does not hold");  // no such column
  EXPECT_DEATH(table.resize(3, 4), "owned <= rows does not hold");
}

TEST(TableTest, RowsOfATableLargerThanCachesAreReorderedAsOthersAre) {
  constexpr std::size_t rows = 400'011, kept = 380'003;  // 68 MB, no multiple of what is copied at once
  Table table = Table::with<Id, Position, Affine, ElasticF, Kind>();
  table.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    table.get<Id>()[r] = r;
    table.get<Position>()[r] = Vec3(Real(r), 0.5, -Real(r));
    table.get<Affine>()[r].setConstant(Real(r) + 0.25);
    table.get<ElasticF>()[r].setConstant(-Real(r));
    table.get<Kind>()[r] = static_cast<std::int32_t>(r);
  }
  std::vector<std::uint32_t> order(kept);
  for (std::size_t r = 0; r < kept; ++r) order[r] = static_cast<std::uint32_t>(7919 * r % rows);
  table.reorder(order);
  ASSERT_EQ(table.rows(), kept);
  for (std::size_t r = 0; r < kept; ++r) {
    const Real was = order[r];
    ASSERT_EQ(table.get<Id>()[r], order[r]);
    ASSERT_EQ(table.get<Position>()[r], Vec3(was, 0.5, -was));
    ASSERT_TRUE((table.get<Affine>()[r].array() == was + 0.25).all());
    ASSERT_TRUE((table.get<ElasticF>()[r].array() == -was).all());
    ASSERT_EQ(table.get<Kind>()[r], static_cast<std::int32_t>(order[r]));
  }
}

TEST(TableTest, ColumnsChangePlacesThereAndBackWithoutMoreMemory) {
  constexpr std::size_t rows = 1009;
  Table table = Table::with<Kind, Id, Position, Affine, ElasticF>();
  table.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    table.get<Id>()[r] = r;
    table.get<Position>()[r] = Vec3(Real(r), 0.5, -Real(r));
    table.get<Affine>()[r].setConstant(Real(r) + 0.25);
    table.get<ElasticF>()[r].setConstant(-Real(r));
    table.get<Kind>()[r] = static_cast<std::int32_t>(r);
  }
  std::vector<std::uint32_t> order(rows);
  for (std::size_t r = 0; r < rows; ++r) order[r] = static_cast<std::uint32_t>(31 * r % rows);
  std::size_t bytes = 0;
  for (int pass = 1; pass <= 5; ++pass) {
    if (pass == 2) {  // between the way there and back rows come and go
      table.resize(3 * rows);
      table.resize(rows);
    }
    table.reorder(order);
    if (pass <= 2) bytes = table.bytes();
    EXPECT_EQ(table.bytes(), bytes);
    ASSERT_EQ(table.rows(), rows);
    for (std::size_t r = 0; r < rows; ++r) {
      std::size_t id = r;  // what stands in row r now
      for (int k = 0; k < pass; ++k) id = 31 * id % rows;
      const Real was = static_cast<Real>(id);
      ASSERT_EQ(table.get<Id>()[r], id);
      ASSERT_EQ(table.get<Position>()[r], Vec3(was, 0.5, -was));
      ASSERT_TRUE((table.get<Affine>()[r].array() == was + 0.25).all());
      ASSERT_TRUE((table.get<ElasticF>()[r].array() == -was).all());
      ASSERT_EQ(table.get<Kind>()[r], static_cast<std::int32_t>(id));
    }
  }
}

TEST(TableTest, LinesAheadCoverTheVectorsAndMatricesOfALargeState) {
  Table table = five_rows();
  EXPECT_TRUE(RowsAhead(table).columns().empty());
  EXPECT_EQ(LinesAhead(RowsAhead(table).columns(), 1, 3).next(), nullptr);

  table.resize(RowsAhead::near_enough / (sizeof(Vec3) + sizeof(Mat3)) + 1);
  const RowsAhead ahead(table);
  LinesAhead lines(ahead.columns(), 1, 3);
  for (const char* name : {"position", "elastic_deformation", "strain"}) {
    const ColumnView column = table.column(name);
    for (const std::byte* at = column.row(1); at < column.row(4); at += 64) EXPECT_EQ(lines.next(), at) << name;
  }
  for (int more = 0; more < 3; ++more) EXPECT_EQ(lines.next(), nullptr);
}

}  // namespace
}  // namespace weft
