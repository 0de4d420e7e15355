// What MPI is told about files that all ranks write together.

#include "weft/parallel/file_hints.hpp"

namespace weft {

FileHints::FileHints() {
  MPI_Info_create(&info_);
  // Few ranks collect and write long runs. Data sieving (read, change, write back) races and fails on Lustre and NFS.
  MPI_Info_set(info_, "romio_cb_write", "enable");
  MPI_Info_set(info_, "romio_ds_write", "disable");
}

FileHints::~FileHints() { MPI_Info_free(&info_); }

}  // namespace weft
