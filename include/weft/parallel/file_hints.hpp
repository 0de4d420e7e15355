#pragma once
// Hints to the library by which all ranks write one file together (MPI-IO).

#include <mpi.h>

#include <string>

namespace weft {

/// Keys and their values; a library passes over keys that it does not know.
class FileHints {
 public:
  FileHints();
  ~FileHints();
  FileHints(const FileHints&) = delete;
  FileHints& operator=(const FileHints&) = delete;

  void set(const std::string& key, const std::string& value);
  MPI_Info handle() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

}  // namespace weft
