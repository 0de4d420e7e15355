// Runs GoogleTest on every rank of an MPI job; the job fails if any rank saw a failure.

#include "weft/base/log.hpp"
#include "weft/parallel/comm.hpp"

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  weft::ParallelSession session(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  const weft::Comm comm = weft::Comm::world();
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (!comm.is_root()) {
    // Other ranks speak only when something fails.
    class OnlyFailures : public ::testing::EmptyTestEventListener {
      void OnTestPartResult(const ::testing::TestPartResult& result) override {
        if (result.failed())
          std::fprintf(stderr, "rank %d: %s:%d: %s\n", weft::Comm::world().rank(), result.file_name(),
                       result.line_number(), result.message());
      }
    };
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new OnlyFailures);
  }
  const int failed_here = RUN_ALL_TESTS();
  return comm.any(failed_here != 0) ? 1 : 0;
}
