#pragma once
// Vectors of PETSc that hold three numbers for each node, and where they are read and written as such.

#include "parallel/call.hpp"
#include "weft/base/types.hpp"

#include <petscvec.h>

namespace weft {

struct NodeReading {
  explicit NodeReading(Vec vector) : v(vector) { check_petsc(VecGetArrayRead(v, &values)); }
  ~NodeReading() { check_petsc(VecRestoreArrayRead(v, &values)); }
  NodeReading(const NodeReading&) = delete;
  NodeReading& operator=(const NodeReading&) = delete;
  Eigen::Map<const Vec3> operator[](std::size_t n) const { return Eigen::Map<const Vec3>(values + 3 * n); }

  Vec v;
  const PetscScalar* values = nullptr;
};

struct NodeWriting {
  explicit NodeWriting(Vec vector) : v(vector) { check_petsc(VecGetArray(v, &values)); }
  ~NodeWriting() { check_petsc(VecRestoreArray(v, &values)); }
  NodeWriting(const NodeWriting&) = delete;
  NodeWriting& operator=(const NodeWriting&) = delete;
  Eigen::Map<Vec3> operator[](std::size_t n) const { return Eigen::Map<Vec3>(values + 3 * n); }

  Vec v;
  PetscScalar* values = nullptr;
};

}  // namespace weft
