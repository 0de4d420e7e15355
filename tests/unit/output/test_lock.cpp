// One run at a time writes into an output folder, and a lock outlives neither its run nor its process.

#include "weft/output/lock.hpp"

#include "weft/base/read_text.hpp"

#include "unit/output/scratch.hpp"
#include "weft/output/files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace weft {
namespace {

using test::ScratchFolder;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string refusal(const Comm& comm, const fs::path& folder) {
  try {
    const FolderLock lock(comm, folder);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::file_system) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

/// Leaves the lock of an owner that is gone, `age` ago.
void leave_lock(const Comm& comm, const fs::path& folder, const Owner& owner, std::chrono::seconds age) {
  if (comm.is_root()) {
    write_text_atomically(folder / "run.lock", owner_json(owner));
    fs::last_write_time(folder / "run.lock", fs::file_time_type::clock::now() - age);
  }
  comm.barrier();
}

TEST(LockTest, ASecondRunIsRefusedByNameAndTheFirstLeavesNothing) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  const fs::path output = folder.path() / "deep" / "out";
  {
    const FolderLock lock(comm, output);
    const std::string text = refusal(comm, output);
    EXPECT_THAT(text, HasSubstr(comm.broadcast(this_process().text())));
    EXPECT_THAT(text, HasSubstr("--output"));
    EXPECT_TRUE(is_locked(output));
    comm.barrier();
  }
  comm.barrier();
  EXPECT_FALSE(is_locked(output));
  EXPECT_FALSE(fs::exists(output.parent_path()));  // both were made by the lock
  comm.barrier();
  {
    const FolderLock lock(comm, folder.path());
  }
  comm.barrier();
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(LockTest, WhatADeadProcessLeftIsTakenOver) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  Owner dead = this_process();
  dead.process = 1'999'999'999;
  leave_lock(comm, folder.path(), dead, std::chrono::seconds(0));
  EXPECT_FALSE(is_locked(folder.path()));
  comm.barrier();
  const FolderLock lock(comm, folder.path());
  EXPECT_TRUE(lives_here(*owner_from(read_text(folder.path() / "run.lock"))));
  comm.barrier();
}

TEST(LockTest, ARunOnAnotherHostLivesAsLongAsItGivesSigns) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  const Owner elsewhere{"elsewhere", 7, 0, "42"};
  leave_lock(comm, folder.path(), elsewhere, std::chrono::seconds(61));
  {
    const FolderLock lock(comm, folder.path());
  }
  comm.barrier();

  leave_lock(comm, folder.path(), elsewhere, std::chrono::seconds(0));
  std::atomic<bool> ends{false};
  std::thread run([&] {
    while (!ends && comm.is_root()) {
      write_text_atomically(folder.path() / "run.json", "{}", Flush::later);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  EXPECT_THAT(refusal(comm, folder.path()), HasSubstr("process 7 on elsewhere, job 42"));
  ends = true;
  run.join();
  EXPECT_TRUE(fs::exists(folder.path() / "run.lock"));  // it is not ours
  comm.barrier();
}

TEST(LockTest, AProcessIsItselfOnlyOnItsHostAndSinceItsStart) {
  Owner owner = this_process();
  EXPECT_TRUE(lives_here(owner));
  EXPECT_TRUE(lives_here(*owner_from(owner_json(owner))));
  owner.started += 1;
  EXPECT_FALSE(lives_here(owner));
  owner.started = 0;  // unknown
  EXPECT_TRUE(lives_here(owner));
  owner.host += "x";
  EXPECT_FALSE(lives_here(owner));
  EXPECT_FALSE(owner_from("{}"));
  EXPECT_FALSE(owner_from("half of"));
}

}  // namespace
}  // namespace weft
