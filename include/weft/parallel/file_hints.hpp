#pragma once
// What MPI is told about files that all ranks write together.

#include <mpi.h>

namespace weft {

/// Hints for MPI-IO, alive as long as this object.
class FileHints {
 public:
  FileHints();
  ~FileHints();
  FileHints(const FileHints&) = delete;
  FileHints& operator=(const FileHints&) = delete;
  MPI_Info handle() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

}  // namespace weft
