#pragma once
// Calls into MPI and PETSc whose return code is always looked at: an error there ends the whole job, with its location.

#include <petscsys.h>

#include <cstdint>
#include <limits>
#include <source_location>

namespace weft {

/// Ends the job on all ranks with the library's text and the location of the call, unless `code` is success.
void check_mpi(int code, std::source_location place = std::source_location::current());
void check_petsc(PetscErrorCode code, std::source_location place = std::source_location::current());

/// A row count as MPI and this PETSc take it; ends the job if it does not fit.
int int_count(std::size_t count, std::source_location place = std::source_location::current());

/// An MPI type of `count` elements of a basic type. It must stay flat: PetscSF cannot add nested types.
class FlatType {
 public:
  FlatType(std::size_t count, MPI_Datatype basic) {
    check_mpi(MPI_Type_contiguous(int_count(count), basic, &type_));
    check_mpi(MPI_Type_commit(&type_));
  }
  ~FlatType() { MPI_Type_free(&type_); }
  FlatType(const FlatType&) = delete;
  FlatType& operator=(const FlatType&) = delete;

  operator MPI_Datatype() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace weft
