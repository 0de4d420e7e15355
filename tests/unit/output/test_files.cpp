// Files are whole or not there, and an output folder is not taken from a run that is in it.

#include "weft/output/files.hpp"

#include "unit/output/scratch.hpp"
#include "weft/output/hdf5.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
    for (const char* file : {"run.json", "frames/a.hdf", "notes.txt"}) write_text_atomically(output / file, "{}");
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
  EXPECT_FALSE(fs::exists(output / "frames" / "a.hdf"));
  EXPECT_TRUE(fs::exists(output / "notes.txt"));  // not ours
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

TEST(HdfFileTest, FailuresNameFileAndDataSetOnEveryRank) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  const fs::path path = folder.path() / "a.h5";
  EXPECT_THAT(error_of([&] { HdfFile::open(comm, path, ExitCode::file_system); }), HasSubstr("a.h5"));
  EXPECT_THAT(error_of([&] { HdfFile::create(comm, folder.path() / "no" / "a.h5", ExitCode::file_system, 0); }),
              HasSubstr("no/a.h5"));
  {
    HdfFile file = HdfFile::create(comm, path, ExitCode::file_system, 1000);
    const std::int64_t value = comm.rank();
    file.write_rows("/some/ranks", {Number::int64}, 1, RowLayout::checked, &value);
    EXPECT_THAT(error_of([&] { file.write_rows("/some/ranks", {Number::int64}, 1, RowLayout::checked, &value); }),
                HasSubstr("/some/ranks"));
    file.close();
  }
  const HdfFile file = HdfFile::open(comm, path, ExitCode::file_system);
  EXPECT_TRUE(file.has("/some/ranks"));
  EXPECT_FALSE(file.has("/some/others"));
  EXPECT_FALSE(file.has("/none/ranks"));
  EXPECT_THAT(file.children("/some"), ::testing::ElementsAre("ranks"));
  EXPECT_EQ(file.shape("/some/ranks").rows, comm.size());
  std::int64_t value = -1;
  file.read_rows("/some/ranks", {Number::int64}, comm.size() - 1 - comm.rank(), 1, &value);
  EXPECT_EQ(value, comm.size() - 1 - comm.rank());
  // One rank asks for too much: all learn of it.
  const std::string text =
      error_of([&] { file.read_rows("/some/ranks", {Number::int64}, comm.is_root() ? comm.size() : 0, 1, &value); });
  EXPECT_THAT(text, HasSubstr("/some/ranks"));
  EXPECT_THAT(error_of([&] { file.read_rows("/none", {Number::int64}, 0, 0, nullptr); }), HasSubstr("/none"));
  EXPECT_THAT(error_of([&] { file.text_attribute("/some/ranks", "unit"); }), HasSubstr("unit"));
}

}  // namespace
}  // namespace weft
