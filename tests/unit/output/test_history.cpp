// The history of a run is complete up to the step it stands at, and has no row beyond.

#include "weft/base/log.hpp"
#include "weft/base/read_text.hpp"
#include "weft/output/history.hpp"

#include "unit/output/scratch.hpp"
#include "weft/output/files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <array>
#include <csignal>
#include <limits>

namespace weft {
namespace {

using test::ScratchFolder;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

const std::vector<HistoryColumn> columns{{"step", "1"}, {"time", "s"}, {"particles", ""}};

std::string content(const Comm& comm, const fs::path& file) {
  comm.barrier();
  return comm.broadcast(comm.is_root() ? read_text(file) : "");
}

void put(const Comm& comm, const fs::path& file, const std::string& text) {
  if (comm.is_root()) write_text_atomically(file, text);
  comm.barrier();
}

TEST(HistoryTest, RowsFollowTheHeaderAndReadBackAsTheNumbersTheyWere) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  const fs::path file = folder.path() / "diagnostics.csv";
  put(comm, file, "an older run\n");
  History history(comm, file, columns);
  EXPECT_EQ(content(comm, file), "step,time [s],particles\n");
  history.append(std::array<Real, 3>{0, 0, 1e6});
  EXPECT_EQ(content(comm, file), "step,time [s],particles\n0,0,1000000\n");  // there at once
  history.append(std::array<Real, 3>{1234567890123, 0.1, std::numeric_limits<Real>::quiet_NaN()});
  EXPECT_EQ(content(comm, file), "step,time [s],particles\n0,0,1000000\n1234567890123,0.1,nan\n");
  const Real third = 1.0 / 3;
  history.append(std::array<Real, 3>{2, third, third});
  const std::string text = content(comm, file);
  EXPECT_EQ(std::stod(text.substr(text.rfind(',') + 1)), third);
}

TEST(HistoryTest, ResumingCutsBackToTheStepAndGoesOn) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  const fs::path file = folder.path() / "diagnostics.csv";
  const std::string head = "step,time [s],particles\n0,0,5\n10,0.1,5\n20,0.2,5\n";
  for (const std::string tail :
       {"", "30,0.3,5\n", "30,0.3,5\n40,0.4,5\n", "30,0.3,5\n40,0", "30,0.3\n", "3", "25,0.2,junk\n"}) {
    put(comm, file, head + tail);
    History history(comm, file, columns, 25);
    EXPECT_EQ(content(comm, file), head) << tail;
    history.append(std::array<Real, 3>{26, 0.26, 5});
    EXPECT_EQ(content(comm, file), head + "26,0.26,5\n") << tail;
  }
}

TEST(HistoryTest, AWholeLastRowThatIsNoneIsLeftOutWithAWord) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  const fs::path file = folder.path() / "diagnostics.csv";
  for (const auto& [row, is_told] : {std::pair{"10,junk,5\n", true}, {"10,0.1,", false}, {"30,0.3,5\n", false}}) {
    put(comm, file, std::string("step,time [s],particles\n0,0,5\n") + row);
    log_to_terminal(comm.is_root());
    testing::internal::CaptureStderr();
    const History history(comm, file, columns, 25);
    const std::string said = testing::internal::GetCapturedStderr();
    log_to_terminal(false);
    EXPECT_EQ(said.find("diagnostics.csv:3: this is not a row of 3 numbers") != std::string::npos,
              is_told && comm.is_root())
        << row << said;
  }
}

TEST(HistoryTest, RowsWithNumbersThatAreNotFiniteStay) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  const fs::path file = folder.path() / "diagnostics.csv";
  const std::string rows = "step,time [s],particles\n0,nan,inf\n1,-inf,-nan\n2,1e-300,-5\n";
  put(comm, file, rows);
  const History history(comm, file, columns, 25);
  EXPECT_EQ(content(comm, file), rows);
}

TEST(HistoryTest, ResumingWithoutAFileStartsOne) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  const fs::path file = folder.path() / "diagnostics.csv";
  const History history(comm, file, columns, 25);
  EXPECT_EQ(content(comm, file), "step,time [s],particles\n");
}

TEST(HistoryTest, OtherColumnsAndForeignRowsAreRefusedAndStayUntouched) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  const fs::path file = folder.path() / "diagnostics.csv";
  for (const std::string text :
       {"step,time [s]\n0,0\n", "step,time [ms],particles\n0,0,5\n", "", "step,time [s],particles\nzero,0,5\n1,1,5\n",
        "step,time [s],particles\n0,0,5\n1,junk,5\n2,2,5\n", "step,time [s],particles\n0,0,5\n1,1 1,5\n2,2,5\n",
        "step,time [s],particles\n0,0,5\n1,1,\n2,2,5\n", "step,time [s],particles\n0,0,5\n1,1,5 \n2,2,5\n",
        "step,time [s],particles\n0,0,5\n2,2,5\n1,1,5\n3,3,5\n"}) {
    put(comm, file, text);
    try {
      const History history(comm, file, columns, 25);
      ADD_FAILURE() << "nothing was thrown for " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::file_system);
      EXPECT_THAT(error.what(), HasSubstr("diagnostics.csv"));
    }
    EXPECT_EQ(content(comm, file), text);
  }
}

TEST(HistoryTest, ARowThatCannotBeWrittenIsAnErrorEverywhereAndComesWithTheNext) {
  const Comm comm = Comm::world();
  const ScratchFolder folder(comm);
  History history(comm, folder.path() / "diagnostics.csv", columns);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit unlimited{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
  const rlimit small{26, unlimited.rlim_max};  // the header and two bytes: as if the disk were full
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(history.append(std::array<Real, 3>{1, 2, 3}), Error);
  EXPECT_THROW(history.append(std::array<Real, 3>{2, 2, 3}), Error);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
  history.append(std::array<Real, 3>{3, 2, 3});
  const std::string rows = "step,time [s],particles\n1,2,3\n2,2,3\n3,2,3\n";
  EXPECT_EQ(content(comm, folder.path() / "diagnostics.csv"), rows);

  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(history.append(std::array<Real, 3>{4, 2, 3}), Error);
  EXPECT_THROW(history.flush(), Error);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
  history.flush();
  EXPECT_EQ(content(comm, folder.path() / "diagnostics.csv"), rows + "4,2,3\n");
}

}  // namespace
}  // namespace weft
