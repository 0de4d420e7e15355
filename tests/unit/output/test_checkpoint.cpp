// Checkpoints come back as they were, on any number of ranks, and no damage goes unseen.

#include "weft/base/read_text.hpp"
#include "weft/output/checkpoint.hpp"

#include "output/digest.hpp"
#include "output/saved_state.hpp"
#include "unit/output/scratch.hpp"
#include "weft/output/files.hpp"
#include "weft/output/inspect.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <algorithm>
#include <csignal>
#include <fstream>
#include <functional>

namespace weft {
namespace {

using test::ScratchFolder;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

CheckpointHeader header_of_step(std::int64_t step) {
  CheckpointHeader header;
  header.step = step;
  header.time = 0.1 * static_cast<Real>(step);
  header.state = "{\"next_frame\": 3}";
  header.resolved_deck = "weft: 1\ntitle: \"A deck\"\n";
  header.provenance = "{\"version\": \"test\"}";
  header.cuts = {17, 1u << 31, std::uint64_t{1} << 63};
  return header;
}

class CheckpointTest : public test::ForEachWriter {
 protected:
  static fs::path write(const Comm& comm, const fs::path& folder, std::int64_t step, Table& table, int keep = 3) {
    const CheckpointPart part{"sand", &table};
    return write_checkpoint(comm, folder, header_of_step(step), std::span(&part, 1), {keep, GetParam()});
  }
};
INSTANTIATE_TEST_SUITE_P(, CheckpointTest, test::all_writers, test::name_of_writer);

/// The bytes of every saved column, row by row.
std::string saved_bytes(Table& table) {
  std::string bytes;
  for (const ColumnView& column : table.columns(Keep::state))
    bytes.append(reinterpret_cast<const char*>(column.data), table.owned() * column.row_bytes);
  return bytes;
}

/// Changes a file on the root while `look` runs on all ranks, then puts it back.
void with_changed_file(const Comm& comm, const fs::path& file, const std::function<void(std::string&)>& change,
                       const std::function<void()>& look) {
  std::string original;
  const auto put = [&](const std::string& content) {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
  };
  if (comm.is_root()) {
    original = read_text(file);
    std::string changed = original;
    change(changed);
    put(changed);
  }
  comm.barrier();
  look();
  comm.barrier();
  if (comm.is_root()) put(original);
  comm.barrier();
}

std::string error_of(const std::function<void()>& work, ExitCode code) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST_P(CheckpointTest, SameRanksGetTheirRowsBackBitForBitInTheSameOrder) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, test::uneven_rows(comm, 40));
  const std::string bytes = saved_bytes(table);
  table.resize(table.rows() + 2, table.rows());  // ghosts are not saved
  const fs::path path = write(comm, folder.path(), 12000, table);
  EXPECT_EQ(path.filename(), "step_000000012000");

  Table read = test::body_with(comm, 5);  // whatever stood there before goes
  read_part(comm, path, "sand", read);
  EXPECT_EQ(read.owned(), test::uneven_rows(comm, 40));
  EXPECT_EQ(read.ghosts(), 0u);
  EXPECT_TRUE(saved_bytes(read) == bytes);
  for (const Real value : read.get<test::Pressure>()) EXPECT_EQ(value, 0);
  for (const Real value : read.get<test::Scratch>()) EXPECT_EQ(value, 0);
}

TEST_P(CheckpointTest, TheHeaderComesBackOnEveryRank) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, 3);
  CheckpointHeader written = header_of_step(7);
  written.state.assign(200000, 'x');  // larger than an HDF5 attribute may be
  written.provenance.clear();
  const CheckpointPart part{"sand", &table};
  const fs::path path = write_checkpoint(comm, folder.path(), written, std::span(&part, 1), {1, GetParam()});
  const CheckpointHeader read = read_header(comm, path);
  EXPECT_EQ(read.step, 7);
  EXPECT_EQ(read.time, written.time);
  EXPECT_TRUE(read.state == written.state);
  EXPECT_EQ(read.resolved_deck, written.resolved_deck);
  EXPECT_EQ(read.provenance, "");
  EXPECT_EQ(read.cuts, written.cuts);
  const auto parts = read_manifest(comm, path).parts;
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].name, "sand");
  EXPECT_EQ(parts[0].rows, 3 * comm.size());
}

TEST_P(CheckpointTest, FewerRanksGetEqualSlicesOfAllRows) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, test::uneven_rows(comm, 40));
  const std::int64_t total = comm.sum(static_cast<std::int64_t>(table.owned()));
  const fs::path path = write(comm, folder.path(), 1, table);
  for (int readers = 1; readers < comm.size(); ++readers) {
    MPI_Comm handle;
    MPI_Comm_split(comm.handle(), comm.rank() < readers ? 0 : 1, comm.rank(), &handle);
    if (comm.rank() < readers) {
      const Comm few(handle);
      Table read = test::empty_body();
      read_part(few, path, "sand", read);
      const auto own = static_cast<std::int64_t>(read.owned());
      EXPECT_LE(std::abs(own - total / readers), 1);
      EXPECT_EQ(few.sum(own), total);
      std::int64_t right = 0, sum_of_ids = 0;
      for (std::size_t r = 0; r < read.owned(); ++r) {
        right += test::is_row_of_id(read, r);
        sum_of_ids += static_cast<std::int64_t>(read.get<Id>()[r]);
      }
      EXPECT_EQ(right, own);
      EXPECT_EQ(few.sum(sum_of_ids), total * (total - 1) / 2);  // each id once
    }
    MPI_Comm_free(&handle);
  }
}

TEST_P(CheckpointTest, MoreRanksThanWroteAndMoreThanRowsWork) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  fs::path path = folder.path() / "step_000000000004";
  if (comm.is_root()) {
    const Comm alone(MPI_COMM_SELF);
    Table table = test::body_with(alone, 5);
    EXPECT_EQ(write(alone, folder.path(), 4, table), path);
  }
  comm.barrier();
  Table read = test::empty_body();
  read_part(comm, path, "sand", read);
  EXPECT_EQ(comm.sum(static_cast<std::int64_t>(read.owned())), 5);
  for (std::size_t r = 0; r < read.owned(); ++r) EXPECT_TRUE(test::is_row_of_id(read, r));
}

TEST_P(CheckpointTest, ABodyWithoutRowsAndARunWithoutBodiesWork) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table nothing = test::empty_body();
  const fs::path path = write(comm, folder.path(), 0, nothing);
  EXPECT_THAT(verify_checkpoint(comm, path), ::testing::IsEmpty());
  Table read = test::body_with(comm, 2);
  read_part(comm, path, "sand", read);
  EXPECT_EQ(read.rows(), 0u);
  const fs::path bare = write_checkpoint(comm, folder.path(), header_of_step(1), {}, {3, GetParam()});
  EXPECT_THAT(verify_checkpoint(comm, bare), ::testing::IsEmpty());
}

TEST_P(CheckpointTest, RowsThatDoNotFitIntoOnePortionOfWritingComeBack) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  // 72 bytes a row for the velocity gradient: many portions on the last rank.
  Table table = Table::with<Affine, Id>();
  table.resize(comm.rank() == comm.size() - 1 ? 500000 : 1001);
  for (std::size_t r = 0; r < table.rows(); ++r) {
    table.get<Id>()[r] = r;
    table.get<Affine>()[r].setConstant(test::number_of(r, comm.rank(), 0));
  }
  const std::string bytes = saved_bytes(table);
  const fs::path path = write(comm, folder.path(), 1, table);
  read_part(comm, path, "sand", table);
  EXPECT_TRUE(saved_bytes(table) == bytes);
}

/// Looks at a checkpoint with many changes costs most of the time of this room's tests where ranks share cores: all are
/// tried on one rank, some on more. tests/end_to_end/test_faults.py --full tries thousands.
std::size_t changes(const Comm& comm) { return comm.size() == 1 ? 200 : 20; }

TEST_P(CheckpointTest, EveryFlippedBitIsSeen) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, test::uneven_rows(comm, 100));
  const fs::path path = write(comm, folder.path(), 3, table);
  ASSERT_THAT(verify_checkpoint(comm, path), ::testing::IsEmpty());
  const auto size = static_cast<std::size_t>(fs::file_size(state_file(path)));
  const std::size_t all = changes(comm), half = all / 2;
  std::size_t silent = 0, named = 0;
  for (std::size_t k = 0; k < all; ++k) {
    const std::size_t place = k < half ? (k * 41) % 2048 : (k - half) * size / half + k % 7;
    with_changed_file(
        comm, state_file(path), [&](std::string& bytes) { bytes[std::min(place, size - 1)] ^= char(1 << (k % 8)); },
        [&] {
          const std::vector<std::string> problems = verify_checkpoint(comm, path);
          silent += problems.empty();
          named += problems.size() == 1 && problems[0].find("/tables/sand/") != std::string::npos;
        });
  }
  EXPECT_EQ(silent, 0u);
  EXPECT_GT(named, half / 2);  // most of the second half lies in the data of a field
  EXPECT_THAT(verify_checkpoint(comm, path), ::testing::IsEmpty());
}

TEST_P(CheckpointTest, EveryFlippedBitOfTheManifestIsSeen) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, 4);
  const fs::path path = write(comm, folder.path(), 3, table);
  const auto size = static_cast<std::size_t>(fs::file_size(manifest_file(path)));
  const std::size_t all = changes(comm);
  for (std::size_t k = 0; k < all; ++k)
    with_changed_file(
        comm, manifest_file(path), [&](std::string& bytes) { bytes[k * size / all] ^= char(1 << (k % 8)); },
        [&] { EXPECT_THAT(verify_checkpoint(comm, path), ::testing::SizeIs(1)) << k; });
}

TEST_P(CheckpointTest, ADamagedFieldIsRefusedByNameWhenRead) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, 60);
  const fs::path path = write(comm, folder.path(), 3, table);
  // The first row's bits of the global first rank, found in the file as they lie in memory.
  const Real sought = test::number_of(59, 1, 0);
  with_changed_file(
      comm, state_file(path),
      [&](std::string& bytes) {
        const std::string pattern(reinterpret_cast<const char*>(&sought), sizeof sought);
        const std::size_t place = bytes.find(pattern);
        ASSERT_NE(place, std::string::npos);
        bytes[place] ^= 1;
      },
      [&] {
        Table read = test::empty_body();
        const std::string text = error_of([&] { read_part(comm, path, "sand", read); }, ExitCode::checkpoint);
        EXPECT_THAT(text, HasSubstr("state.h5"));
        EXPECT_THAT(text, HasSubstr("/tables/sand/velocity"));
        const auto problems = verify_checkpoint(comm, path);
        ASSERT_EQ(problems.size(), 1u);
        EXPECT_THAT(problems[0], HasSubstr("/tables/sand/velocity"));
      });
}

TEST_P(CheckpointTest, ACutOffOrEmptyOrMissingFileIsRefused) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, 30);
  const fs::path path = write(comm, folder.path(), 3, table);
  for (const fs::path& file : {state_file(path), manifest_file(path)}) {
    const auto size = static_cast<std::size_t>(fs::file_size(file));
    const std::size_t all = changes(comm) / 3;
    for (std::size_t k = 0; k < all; ++k)  // k = 0: nothing is left
      with_changed_file(
          comm, file, [&](std::string& bytes) { bytes.resize(k * size / all); },
          [&] {
            const auto problems = verify_checkpoint(comm, path);
            ASSERT_EQ(problems.size(), 1u) << k;
            EXPECT_THAT(problems[0], HasSubstr(file.filename().string()));
          });
    if (comm.is_root()) fs::rename(file, folder.path() / "aside");
    comm.barrier();
    const auto problems = verify_checkpoint(comm, path);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_THAT(problems[0], HasSubstr(file.filename().string()));
    EXPECT_THAT(error_of([&] { read_header(comm, path); }, ExitCode::checkpoint), HasSubstr(file.filename().string()));
    comm.barrier();
    if (comm.is_root()) fs::rename(folder.path() / "aside", file);
    comm.barrier();
  }
  EXPECT_THAT(verify_checkpoint(comm, path), ::testing::IsEmpty());
  EXPECT_THAT(verify_checkpoint(comm, folder.path() / "step_000000000099"), ::testing::SizeIs(1));
}

TEST_P(CheckpointTest, FilesOfTwoCheckpointsDoNotMix) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, 30);
  const fs::path a = write(comm, folder.path(), 10, table), b = write(comm, folder.path(), 20, table);
  if (comm.is_root()) {
    fs::rename(state_file(a), folder.path() / "aside");
    fs::rename(state_file(b), state_file(a));
    fs::rename(folder.path() / "aside", state_file(b));
  }
  comm.barrier();
  for (const fs::path& path : {a, b}) {
    const auto problems = verify_checkpoint(comm, path);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_THAT(problems[0], HasSubstr("belongs to another checkpoint"));
    EXPECT_THAT(error_of([&] { read_header(comm, path); }, ExitCode::checkpoint), HasSubstr("another checkpoint"));
  }
  EXPECT_FALSE(find_checkpoint(comm, folder.path()).path);
}

TEST_P(CheckpointTest, OtherLayoutsAreRefusedAsSuchAndPassedOver) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, 3);
  const fs::path whole = write(comm, folder.path(), 5, table), path = write(comm, folder.path(), 10, table);
  for (const auto& [layout, age] :
       {std::pair{checkpoint_format - 1, "an older Weft"}, {checkpoint_format + 1, "a newer Weft"}})
    with_changed_file(
        comm, manifest_file(path),
        [&, layout = layout](std::string& text) {
          const auto mark = [](int format) { return fmt::format("\"weft_checkpoint\": {}", format); };
          text.replace(text.find(mark(checkpoint_format)), mark(checkpoint_format).size(), mark(layout));
          const std::size_t digest = text.rfind(",\n  \"digest\"");
          text.replace(text.size() - 20, 16, digest_of_text(text.substr(0, digest)));
        },
        [&, age = age] {
          EXPECT_THAT(error_of([&] { read_header(comm, path); }, ExitCode::checkpoint), HasSubstr(age));
          const FoundCheckpoint found = find_checkpoint(comm, folder.path());
          ASSERT_TRUE(found.path);
          EXPECT_EQ(*found.path, whole);
          ASSERT_EQ(found.passed_over.size(), 1u);
          EXPECT_THAT(found.passed_over[0], HasSubstr(age));
        });
}

TEST_P(CheckpointTest, RowsThatDoNotAddUpAreRefusedThoughAllDigestsAreRight) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, 3);
  const fs::path path = write(comm, folder.path(), 1, table);
  const Manifest right = read_manifest(comm, path);
  const auto refused = [&](const std::function<void(Manifest&)>& forge) {
    Manifest forged = right;
    forge(forged);
    with_changed_file(
        comm, manifest_file(path), [&](std::string& text) { text = forged.text(); },
        [&] {
          Table read = test::empty_body();
          error_of([&] { read_part(comm, path, "sand", read); }, ExitCode::checkpoint);
          if (comm.is_root()) {
            error_of([&] { describe(path); }, ExitCode::checkpoint);
            error_of([&] { compare_checkpoints(path, path); }, ExitCode::checkpoint);
          }
        });
  };
  refused([](Manifest& m) { m.parts[0].rows += 5; });
  refused([](Manifest& m) { m.parts[0].rows = -1; });
  refused([](Manifest& m) { m.parts[0].rows = std::int64_t{1} << 60; });
  refused([](Manifest& m) {
    m.parts[0].rows = std::int64_t{1} << 60;
    m.state.data_sets.clear();
  });
}

TEST_P(CheckpointTest, OtherFieldsThanTheTablesAreRefused) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, 3);
  const fs::path path = write(comm, folder.path(), 10, table);
  Table other = Table::with<Position, ElasticF>();
  EXPECT_THAT(error_of([&] { read_part(comm, path, "sand", other); }, ExitCode::checkpoint),
              HasSubstr("elastic_deformation"));
  EXPECT_THAT(error_of([&] { read_part(comm, path, "mud", other); }, ExitCode::checkpoint), HasSubstr("\"mud\""));
}

TEST_P(CheckpointTest, TheNewestWholeOneIsFoundAndOthersArePassedOverWithAReason) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  EXPECT_FALSE(find_checkpoint(comm, folder.path() / "nowhere").path);
  Table table = test::body_with(comm, 20);
  const fs::path whole = write(comm, folder.path(), 100, table), newer = write(comm, folder.path(), 200, table);
  if (comm.is_root()) {
    fs::create_directory(folder.path() / "step_000000000300.tmp");  // left by a killed write
    fs::create_directory(folder.path() / "something_else");
    fs::resize_file(state_file(newer), fs::file_size(state_file(newer)) / 2);
  }
  comm.barrier();
  const FoundCheckpoint found = find_checkpoint(comm, folder.path());
  ASSERT_TRUE(found.path);
  EXPECT_EQ(*found.path, whole);
  ASSERT_EQ(found.passed_over.size(), 1u);
  EXPECT_THAT(found.passed_over[0], HasSubstr("step_000000000200"));
  EXPECT_THAT(found.passed_over[0], HasSubstr("bytes"));
}

TEST_P(CheckpointTest, TheNewestAreKeptAndWhatIsSupersededGoes) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  const fs::path checkpoints = folder.path() / "checkpoints";  // made when needed
  Table table = test::body_with(comm, 5);
  const auto steps = [&] {
    comm.barrier();
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(checkpoints))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    comm.barrier();
    return names;
  };
  for (const std::int64_t step : {100, 200, 300, 400}) write(comm, checkpoints, step, table, 2);
  EXPECT_THAT(steps(), ::testing::ElementsAre("step_000000000300", "step_000000000400"));
  // The run went back to 300: 400 belongs to a future that is no more. A killed write left something as well.
  if (comm.is_root()) fs::create_directory(checkpoints / "step_000000000350.tmp");
  write(comm, checkpoints, 310, table, 3);
  EXPECT_THAT(steps(), ::testing::ElementsAre("step_000000000300", "step_000000000310"));
  // The same step again replaces the old one.
  table.resize(1);
  const fs::path again = write(comm, checkpoints, 310, table, 3);
  EXPECT_THAT(steps(), ::testing::ElementsAre("step_000000000300", "step_000000000310"));
  EXPECT_EQ(read_manifest(comm, again).parts[0].rows, comm.size());
}

TEST_P(CheckpointTest, AFailedWriteIsAnErrorEverywhereAndLeavesTheOlderOneAlone) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, 20000);
  const fs::path older = write(comm, folder.path(), 1, table, 1);
  // The system lets no file grow beyond this: as if the disk were full.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit unlimited{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{3000}, rlim_t{100000}, rlim_t{1500000}, rlim_t{2500000}}) {
    const rlimit small{bytes, unlimited.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string text = error_of([&] { write(comm, folder.path(), 2, table, 1); }, ExitCode::file_system);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
    EXPECT_THAT(text, HasSubstr("step_000000000002"));
    comm.barrier();
    EXPECT_EQ(list_checkpoints(folder.path()).size(), 1u);
    EXPECT_FALSE(fs::exists(folder.path() / "step_000000000002.tmp"));
    EXPECT_THAT(verify_checkpoint(comm, older), ::testing::IsEmpty());
  }
  const fs::path next = write(comm, folder.path(), 2, table, 1);
  EXPECT_THAT(verify_checkpoint(comm, next), ::testing::IsEmpty());
}

TEST_P(CheckpointTest, ComparisonGoesByIdAndTellsEachFieldsDifference) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, 25);
  const fs::path a = write(comm, folder.path(), 1, table);
  // The same body, its rows in another order, one velocity changed, one row gone.
  std::vector<std::uint32_t> order(table.rows());
  for (std::uint32_t r = 0; r < order.size(); ++r) order[r] = static_cast<std::uint32_t>(order.size()) - 1 - r;
  table.reorder(order);
  const fs::path same = write(comm, folder.path(), 2, table);
  if (comm.is_root()) {
    table.get<Velocity>()[3][1] += 0.5;
    table.resize(table.rows() - 1);
  }
  const fs::path b = write(comm, folder.path(), 3, table);
  if (comm.is_root()) {
    const Comparison equal = compare_checkpoints(a, same);
    EXPECT_EQ(equal.largest(), 0);
    EXPECT_EQ(equal.fields.size(), 7u);
    const Comparison other = compare_checkpoints(a, b);
    ASSERT_EQ(other.bodies.size(), 1u);
    EXPECT_EQ(other.bodies[0].only_in_a, 1);
    EXPECT_EQ(other.bodies[0].only_in_b, 0);
    EXPECT_TRUE(std::isinf(other.largest()));
    for (const FieldDifference& field : other.fields) {
      EXPECT_NEAR(field.absolute, field.field == "velocity" ? 0.5 : 0.0, 1e-15);
      EXPECT_EQ(field.relative > 0, field.field == "velocity");
      if (field.field == "velocity") {
        EXPECT_EQ(field.unit, "m/s");
        EXPECT_GT(field.relative, 0.5 / 4.2);  // magnitudes stay below 3.7 + 0.5
        EXPECT_LT(field.relative, 0.5 / 3.0);
      }
    }
    EXPECT_THAT(other.text(0), HasSubstr("1 ids are only in A"));
    EXPECT_THAT(other.text(0.01), ::testing::ContainsRegex("velocity .*exceeds"));
    EXPECT_THAT(other.text(0.2), ::testing::Not(HasSubstr("exceeds")));
  }
  comm.barrier();
}

TEST_P(CheckpointTest, RoundOffOfVelocityGradientsIsRelatedToVelocitiesOverTheDistanceOfPoints) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, 1000);
  // A micrometre wide, it moves as one; velocities of 1 m/s divided by distances leave 1e-10 / s.
  const auto rigid = [&](Real round_off) {
    for (std::size_t r = 0; r < table.rows(); ++r) {
      table.get<Position>()[r] = 1e-6 * Vec3::Random();
      table.get<Velocity>()[r] = Vec3::UnitX();
      table.get<Affine>()[r] = Mat3::Constant(round_off);
    }
  };
  rigid(1e-10);
  const fs::path a = write(comm, folder.path(), 1, table);
  rigid(-1e-10);
  const fs::path b = write(comm, folder.path(), 2, table);
  if (comm.is_root()) {
    const Comparison difference = compare_checkpoints(a, b);
    const auto gradient =
        std::ranges::find(difference.fields, std::string("velocity_gradient"), &FieldDifference::field);
    ASSERT_NE(gradient, difference.fields.end());
    EXPECT_LT(gradient->relative, 1e-9);
  }
  comm.barrier();
}

TEST_P(CheckpointTest, RoundOffIsRelatedToWhatItsUnitMeasures) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, 25);
  // Both bodies at rest but for round-off, of another sign; strain as well.
  const auto rest = [&](Real round_off) {
    for (std::size_t r = 0; r < table.rows(); ++r) {
      table.get<Velocity>()[r] = Vec3::Constant(round_off);
      table.get<test::Strain>()[r] = {round_off, 0, 0, 0, 0, 0};
    }
  };
  rest(1e-16);
  const fs::path a = write(comm, folder.path(), 1, table);
  rest(-1e-16);
  const fs::path b = write(comm, folder.path(), 2, table);
  rest(1e-3);
  const fs::path c = write(comm, folder.path(), 3, table);
  if (comm.is_root()) {
    const Real round_off = compare_checkpoints(a, b).largest();
    EXPECT_GT(round_off, 0);
    EXPECT_LT(round_off, 1e-9);
    EXPECT_GT(compare_checkpoints(a, c).largest(), 0.99);  // small, but no round-off
  }
  comm.barrier();
}

TEST_P(CheckpointTest, DescriptionNamesBodiesFieldsUnitsAndCounts) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, 25);
  const fs::path path = write(comm, folder.path(), 12, table);
  if (comm.is_root()) {
    const std::string text = describe(path);
    EXPECT_THAT(text, HasSubstr("step 12, time 1.2"));
    EXPECT_THAT(text, HasSubstr("sand: " + std::to_string(25 * comm.size()) + " rows"));
    EXPECT_THAT(text, ::testing::ContainsRegex("velocity +vector of 3 +\\[m/s\\]"));
    EXPECT_THAT(text, ::testing::ContainsRegex("velocity_gradient +tensor 3x3 +\\[1/s\\]"));
    EXPECT_THAT(text, HasSubstr("\"version\": \"test\""));
    EXPECT_EQ(describe(state_file(path)), text);
  }
  comm.barrier();
}

TEST_P(CheckpointTest, TheEstimateOfItsSizeIsClose) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Table table = test::body_with(comm, 20000);
  const fs::path path = write(comm, folder.path(), 12, table);
  const CheckpointPart part{"sand", &table};
  const auto estimate = static_cast<Real>(checkpoint_bytes(comm, std::span(&part, 1)));
  EXPECT_NEAR(static_cast<Real>(fs::file_size(state_file(path))) / estimate, 1, 0.05);
}

}  // namespace
}  // namespace weft
