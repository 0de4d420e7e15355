// Files are whole or not there, and an output folder is not taken from a run that is in it.

#include "weft/base/read_text.hpp"
#include "weft/output/files.hpp"

#include "output/digest.hpp"
#include "unit/output/scratch.hpp"
#include "weft/output/hdf5.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <cstring>
#include <functional>
#include <limits>

namespace weft {
namespace {

using test::ScratchFolder;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::file_system) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(FilesTest, TextsComeBackAndReplaceOlderOnes) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  if (comm.is_root()) {
    const fs::path file = folder.path() / "spaces and \xc3\xa4.txt";
    for (const std::string& text : {std::string("first"), std::string(), std::string("a\0b\n", 4)}) {
      write_text_atomically(file, text);
      EXPECT_EQ(read_text(file), text);
      EXPECT_FALSE(fs::exists(file.string() + ".tmp"));
    }
    EXPECT_THAT(error_of([&] { read_text(folder.path() / "missing"); }), HasSubstr("no such file"));
    EXPECT_THAT(error_of([&] { read_text(folder.path()); }), HasSubstr("cannot be read"));
    EXPECT_THAT(error_of([&] { write_text_atomically(folder.path() / "no" / "file", "x"); }), HasSubstr("no/file"));
  }
  comm.barrier();
}

TEST(FilesTest, AFolderTakesThePlaceOfAnotherWithItsContent) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  if (comm.is_root()) {
    for (const char* name : {"old", "new"}) {
      fs::create_directory(folder.path() / name);
      write_text_atomically(folder.path() / name / name, name);
    }
    put_in_place(folder.path() / "new", folder.path() / "old");
    EXPECT_FALSE(fs::exists(folder.path() / "new"));
    EXPECT_EQ(read_text(folder.path() / "old" / "new"), "new");
    EXPECT_FALSE(fs::exists(folder.path() / "old" / "old"));
  }
  comm.barrier();
}

TEST(FilesTest, ARunIsRefusedKeptOrReplacedAsAsked) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  const fs::path output = folder.path() / "deep" / "out";
  EXPECT_FALSE(holds_run(output));
  comm.barrier();
  prepare_output_folder(comm, output, ExistingRun::refuse);
  EXPECT_TRUE(fs::is_directory(output / "frames"));
  EXPECT_TRUE(fs::is_directory(output / "checkpoints"));
  EXPECT_FALSE(holds_run(output));  // empty folders are no run
  comm.barrier();
  if (comm.is_root())
    for (const char* file : {"run.json", "frames/a_000000.hdf", "notes.txt", "frames/notes.hdf", "checkpoints/notes"})
      write_text_atomically(output / file, "{\"provenance\": {}}");
  comm.barrier();
  EXPECT_TRUE(holds_run(output));
  const std::string text = error_of([&] { prepare_output_folder(comm, output, ExistingRun::refuse); });
  EXPECT_THAT(text, HasSubstr("--resume auto"));
  EXPECT_THAT(text, HasSubstr("--force"));
  prepare_output_folder(comm, output, ExistingRun::resume);
  EXPECT_TRUE(fs::exists(output / "run.json"));
  comm.barrier();
  prepare_output_folder(comm, output, ExistingRun::replace);
  EXPECT_FALSE(fs::exists(output / "run.json"));
  EXPECT_FALSE(fs::exists(output / "frames" / "a_000000.hdf"));
  for (const char* not_ours : {"notes.txt", "frames/notes.hdf", "checkpoints/notes"})
    EXPECT_TRUE(fs::exists(output / not_ours)) << not_ours;
}

TEST(FilesTest, AFolderThatNoRunLeftIsNotReplaced) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  const std::vector<std::string> files{"log.txt", "frames/a_000000.hdf", "checkpoints/step_000000000001/state.h5"};
  for (const char* said : {"", "{\"state\": \"running\"}", "not JSON"}) {
    if (comm.is_root()) {
      for (const std::string& file : files) {
        fs::create_directories((folder.path() / file).parent_path());
        write_text_atomically(folder.path() / file, "mine");
      }
      if (*said != '\0') write_text_atomically(folder.path() / "run.json", said);
    }
    comm.barrier();
    const std::string text = error_of([&] { prepare_output_folder(comm, folder.path(), ExistingRun::replace); });
    EXPECT_THAT(text, HasSubstr("nothing is deleted"));
    EXPECT_THAT(text, HasSubstr("log.txt"));
    comm.barrier();
    for (const std::string& file : files) EXPECT_TRUE(fs::exists(folder.path() / file)) << file;
  }
}

TEST(FilesTest, WhatOthersPutUnderAnUnfinishedNameIsNotFollowed) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  const fs::path victim = folder.path() / "victim", text = folder.path() / "text", frame = folder.path() / "frame.hdf";
  if (comm.is_root()) {
    write_text_atomically(victim, "mine");
    fs::create_symlink(victim, text.string() + ".tmp");
    fs::create_symlink(victim, frame);
    EXPECT_THAT(error_of([&] { write_text_atomically(text, "x"); }), HasSubstr("no plain file"));
    EXPECT_TRUE(fs::is_symlink(text.string() + ".tmp"));
    EXPECT_FALSE(fs::exists(text));
    // What a killed run left is replaced, not written through: another name of the file keeps its content.
    fs::remove(text.string() + ".tmp");
    fs::create_hard_link(victim, text.string() + ".tmp");
    write_text_atomically(text, "x");
    EXPECT_EQ(read_text(text), "x");
  }
  comm.barrier();
  HdfWriter writer(comm);
  EXPECT_THAT(error_of([&] { writer.write(frame); }), HasSubstr("no plain file"));
  EXPECT_EQ(read_text(victim), "mine");
  comm.barrier();
}

TEST(FilesTest, APlaceThatCannotBeWrittenIsRefusedWithTheCure) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  if (comm.is_root()) write_text_atomically(folder.path() / "file", "x");
  comm.barrier();
  EXPECT_THAT(error_of([&] { prepare_output_folder(comm, folder.path() / "file", ExistingRun::refuse); }),
              HasSubstr("--output"));
  EXPECT_THAT(error_of([&] { prepare_output_folder(comm, folder.path() / "file" / "out", ExistingRun::refuse); }),
              HasSubstr("file/out"));
  // Nobody may make folders there, the superuser neither.
  error_of([&] { prepare_output_folder(comm, "/proc/weft_out", ExistingRun::refuse); });
}

TEST(FilesTest, TooLittleSpaceIsSeenBeforehand) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  require_free_space(comm, folder.path(), 1, "a frame");
  const std::string text = error_of(
      [&] { require_free_space(comm, folder.path(), std::numeric_limits<std::uint64_t>::max(), "a checkpoint"); });
  EXPECT_THAT(text, HasSubstr("a checkpoint needs"));
  EXPECT_GT(free_bytes(folder.path()), 0u);
}

/// One number of each rank.
void add_ranks(HdfWriter& writer, const std::string& data_set, const std::int64_t& rank) {
  writer.add_rows(data_set, {Number::int64}, 1, &rank);
}

class HdfWriterTest : public test::ForEachWriter {};
INSTANTIATE_TEST_SUITE_P(, HdfWriterTest, test::all_writers, test::name_of_writer);

TEST_P(HdfWriterTest, EachRankFindsWhatAllRanksWrote) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  const fs::path path = folder.path() / "a.h5";
  const std::int64_t rank = comm.rank();
  HdfWriter writer(comm, GetParam());
  add_ranks(writer, "/some/ranks", rank);
  writer.add_rows("/some/nothing", {Number::float32, 3}, 0, nullptr);
  writer.add_group("/empty/group");
  writer.set_attribute("/some/ranks", "unit", "");
  writer.set_attribute("/some/ranks", "half", 0.5);
  writer.set_attribute("/", "many", std::vector<std::int64_t>{3, 1, 2});
  const FileLayout layout = writer.write(path);
  EXPECT_EQ(layout.bytes, fs::file_size(path));
  EXPECT_EQ(layout.data_sets.at("/some/ranks").rows, comm.size());

  const HdfFile file(path, ExitCode::file_system);
  EXPECT_TRUE(file.has("/some/ranks"));
  EXPECT_FALSE(file.has("/some/others"));
  EXPECT_FALSE(file.has("/none/ranks"));
  EXPECT_TRUE(file.has("/empty/group"));
  EXPECT_THAT(file.children("/some"), ::testing::ElementsAre("nothing", "ranks"));
  EXPECT_EQ(file.shape("/some/ranks").rows, comm.size());
  EXPECT_EQ(file.shape("/some/nothing").rows, 0);
  EXPECT_EQ(file.text_attribute("/some/ranks", "unit"), "");
  EXPECT_EQ(file.real_attribute("/some/ranks", "half"), 0.5);
  EXPECT_THAT(file.integers_attribute("/", "many"), ::testing::ElementsAre(3, 1, 2));
  std::int64_t value = -1;
  file.read_rows("/some/ranks", {Number::int64}, comm.size() - 1 - comm.rank(), 1, &value);
  EXPECT_EQ(value, comm.size() - 1 - comm.rank());
}

TEST(WritersTest, MakeTheSameFileToTheByte) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  const std::size_t own = test::uneven_rows(comm, 100'000);
  std::vector<Real> numbers(3 * own);
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = test::number_of(k, comm.rank(), 0);
  std::vector<std::string> files;
  for (const bool collective : {false, true}) {
    const fs::path path = folder.path() / (collective ? "collective.h5" : "direct.h5");
    HdfWriter writer(comm, {.collective = collective, .cb_nodes = 2, .cb_buffer_size = 1 << 20, .alignment = 1 << 16});
    writer.add_rows("/vectors", {Number::float64, 3}, own, numbers.data());
    writer.add_rows("/once", {Number::float64}, comm.is_root() ? 1 : 0, numbers.data());
    writer.add_rows("/last", {Number::float64}, own, numbers.data());
    const FileLayout layout = writer.write(path);
    EXPECT_EQ(layout.data_sets.at("/vectors").offset % (1 << 16), 0u);
    EXPECT_EQ(layout.data_sets.at("/last").offset % (1 << 16), 0u);
    files.push_back(read_text(path));
  }
  EXPECT_TRUE(files[0] == files[1]);
}

TEST_P(HdfWriterTest, TheLayoutNamesThePlaceOfEveryByte) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  const fs::path path = folder.path() / "a.h5";
  // Many portions on the last rank, for several threads; the digests are those of rows by their numbers among all.
  const std::size_t own = comm.rank() == comm.size() - 1 ? 5'000'000 : 1000 + static_cast<std::size_t>(comm.rank());
  const auto before = static_cast<std::uint64_t>(comm.offset(static_cast<std::int64_t>(own)));
  HdfWriter writer(comm, GetParam());
  writer.add_rows("/numbers", {Number::uint64}, own, [&](std::size_t first, std::size_t count, std::byte* to) {
    for (std::size_t r = 0; r < count; ++r) {
      const std::uint64_t number = 7 * (before + first + r);
      std::memcpy(to + r * sizeof number, &number, sizeof number);
    }
  });
  const int threads_before = omp_get_max_threads();
  omp_set_num_threads(3);
  const FileLayout layout = writer.write(path);
  omp_set_num_threads(threads_before);
  const PlacedRows& rows = layout.data_sets.at("/numbers");
  if (comm.is_root()) {
    const std::string bytes = read_text(path);
    std::vector<std::uint64_t> numbers(static_cast<std::size_t>(rows.rows));
    std::memcpy(numbers.data(), bytes.data() + rows.offset, rows.bytes());
    for (std::size_t r = 0; r < numbers.size(); ++r) ASSERT_EQ(numbers[r], 7 * r);
    EXPECT_EQ(digest_of_rows(numbers.data(), numbers.size(), sizeof(std::uint64_t), 0), rows.digest);
    RunningDigest structure;
    for (const Region& region : structure_of(layout, path, ExitCode::file_system))
      structure.add(bytes.data() + region.begin, region.end - region.begin);
    EXPECT_EQ(structure.value(), layout.structure_digest);
    FileLayout overlapping = layout;
    overlapping.data_sets["/more"] = {1, 8, rows.offset + 8, 0};
    EXPECT_THAT(error_of([&] { structure_of(overlapping, path, ExitCode::file_system); }), HasSubstr("a.h5"));
    overlapping.data_sets["/more"] = {1, 8, layout.bytes, 0};
    EXPECT_THAT(error_of([&] { structure_of(overlapping, path, ExitCode::file_system); }), HasSubstr("a.h5"));
  }
  comm.barrier();
}

TEST_P(HdfWriterTest, AFailureOfOneRankIsAnErrorOnAllAndNobodyWaits) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  const std::int64_t rank = comm.rank();
  {
    HdfWriter writer(comm, GetParam());
    add_ranks(writer, "/ranks", rank);
    EXPECT_THAT(error_of([&] { writer.write(folder.path() / "no" / "a.h5"); }), HasSubstr("no/a.h5"));
    add_ranks(writer, "/ranks", rank);
    EXPECT_THAT(error_of([&] { writer.write(folder.path() / "a.h5"); }), HasSubstr("/ranks"));  // twice the same
  }
  HdfWriter writer(comm, GetParam());
  writer.add_rows("/ranks", {Number::int64}, 1'000'000, [&](std::size_t, std::size_t, std::byte*) {
    if (comm.rank() == comm.size() - 1) throw Error(ExitCode::file_system, "the last rank's disk is gone");
  });
  const int threads_before = omp_get_max_threads();
  omp_set_num_threads(3);
  EXPECT_THAT(error_of([&] { writer.write(folder.path() / "a.h5"); }), HasSubstr("disk is gone"));
  omp_set_num_threads(threads_before);
}

TEST(HdfFileTest, FailuresNameFileAndDataSet) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  const fs::path path = folder.path() / "a.h5";
  EXPECT_THAT(error_of([&] { HdfFile(path, ExitCode::file_system); }), HasSubstr("a.h5"));
  const std::int64_t rank = comm.rank();
  HdfWriter writer(comm);
  add_ranks(writer, "/some/ranks", rank);
  writer.write(path);
  const HdfFile file(path, ExitCode::file_system);
  std::int64_t value = -1;
  EXPECT_THAT(error_of([&] { file.read_rows("/some/ranks", {Number::int64}, comm.size(), 1, &value); }),
              HasSubstr("/some/ranks"));
  EXPECT_THAT(error_of([&] { file.read_rows("/none", {Number::int64}, 0, 0, nullptr); }), HasSubstr("/none"));
  EXPECT_THAT(error_of([&] { file.text_attribute("/some/ranks", "unit"); }), HasSubstr("unit"));
}

}  // namespace
}  // namespace weft
