// The end of a job in which MPI or PETSc reported an error.

#include "parallel/call.hpp"

#include <cstdio>

namespace weft {
namespace {

[[noreturn]] void end_job(const char* library, const char* text, const std::source_location& place) {
  std::fprintf(stderr, "weft: %s error: %s (%s:%d, %s)\n", library, text, place.file_name(),
               static_cast<int>(place.line()), place.function_name());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

}  // namespace

void check_mpi(int code, std::source_location place) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "unknown";
  int length = 0;
  MPI_Error_string(code, text, &length);
  end_job("MPI", text, place);
}

void check_petsc(PetscErrorCode code, std::source_location place) {
  if (code == 0) return;
  const char* text = nullptr;
  PetscErrorMessage(code, &text, nullptr);
  end_job("PETSc", text ? text : "unknown", place);
}

int int_count(std::size_t count, std::source_location place) {
  if (count > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    end_job("MPI", "more than 2^31 - 1 rows on one rank; use more ranks", place);
  return static_cast<int>(count);
}

}  // namespace weft
