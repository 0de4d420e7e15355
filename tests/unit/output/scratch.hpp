#pragma once
// What the tests of this room share: a folder that goes away again, and a body whose rows can be told by their ids.

#include "weft/fields/table.hpp"
#include "weft/output/write_mode.hpp"
#include "weft/parallel/comm.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <cmath>
#include <filesystem>
#include <string>

namespace weft::test {

struct Pressure : Field<Real> {
  static constexpr Label label{"pressure", "Pa", Keep::shown};
};
struct Scratch : Field<Real> {
  static constexpr Label label{"scratch", "1", Keep::work};
};
struct Region : Field<std::int32_t> {
  static constexpr Label label{"region", "1"};
};
struct Strain : Field<Symmetric3<Real>> {
  static constexpr Label label{"strain", "1"};
};

/// A test that each way of writing must pass. The alignment is small enough to move data sets of tests.
class ForEachWriter : public ::testing::TestWithParam<WriteMode> {};
inline const auto all_writers =
    ::testing::Values(WriteMode{}, WriteMode{.collective = true, .cb_nodes = 2, .alignment = 4096});
inline std::string name_of_writer(const ::testing::TestParamInfo<WriteMode>& info) {
  return info.param.collective ? "collective" : "direct";
}

/// An empty folder, the same for all ranks, deleted at the end of its scope. Collective.
class ScratchFolder {
 public:
  explicit ScratchFolder(const Comm& comm) : comm_(comm) {
    static int count = 0;
    path_ = comm.broadcast((std::filesystem::temp_directory_path() /
                            ("weft_output_" + std::to_string(getpid()) + "_" + std::to_string(count++)))
                               .string());
    if (comm.is_root()) std::filesystem::create_directories(path_);
    comm.barrier();
  }
  ~ScratchFolder() {
    comm_.barrier();
    std::error_code ignored;
    if (comm_.is_root()) std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  const Comm comm_;
  std::filesystem::path path_;
};

/// The number that component c of a row's field number `field` has: different for all, with all digits in use.
inline Real number_of(PointId id, int field, int c) {
  return std::sin(static_cast<Real>(id) * 1.37 + field * 0.71 + c * 0.113) * 3.7;
}

inline Table empty_body() {
  return Table::with<Position, Velocity, Affine, Mass, Id, Region, Strain, Pressure, Scratch>();
}

inline void fill_row(Table& table, std::size_t r, PointId id) {
  table.get<Id>()[r] = id;
  for (int c = 0; c < 3; ++c) {
    table.get<Position>()[r][c] = number_of(id, 0, c);
    table.get<Velocity>()[r][c] = number_of(id, 1, c);
  }
  for (int c = 0; c < 9; ++c) table.get<Affine>()[r].data()[c] = number_of(id, 2, c);
  table.get<Mass>()[r] = 2 + number_of(id, 3, 0) / 3.7;
  table.get<Region>()[r] = static_cast<std::int32_t>(id % 1000) - 500;
  const auto strain = [id](int c) { return number_of(id, 6, c); };
  table.get<Strain>()[r] = {strain(0), strain(1), strain(2), strain(3), strain(4), strain(5)};
  table.get<Pressure>()[r] = number_of(id, 4, 0);
  table.get<Scratch>()[r] = number_of(id, 5, 0);
}

/// True if all saved columns of row r are those of its id.
inline bool is_row_of_id(const Table& table, std::size_t r) {
  Table expected = empty_body();
  expected.resize(1);
  fill_row(expected, 0, table.get<Id>()[r]);
  return table.get<Position>()[r] == expected.get<Position>()[0] &&
         table.get<Velocity>()[r] == expected.get<Velocity>()[0] &&
         table.get<Affine>()[r] == expected.get<Affine>()[0] && table.get<Mass>()[r] == expected.get<Mass>()[0] &&
         table.get<Region>()[r] == expected.get<Region>()[0] && table.get<Strain>()[r] == expected.get<Strain>()[0];
}

/// A body of which this rank has `rows` rows, with ids that no other rank has and that do not ascend.
inline Table body_with(const Comm& comm, std::size_t rows, PointId first_id = 0) {
  Table table = empty_body();
  table.resize(rows);
  const auto before = static_cast<PointId>(comm.offset(static_cast<std::int64_t>(rows)));
  for (std::size_t r = 0; r < rows; ++r) fill_row(table, r, first_id + before + (rows - 1 - r));
  return table;
}

/// Uneven: every third rank has nothing.
inline std::size_t uneven_rows(const Comm& comm, std::size_t about) {
  return comm.rank() % 3 == 1 ? 0 : about + 7 * static_cast<std::size_t>(comm.rank());
}

}  // namespace weft::test
