#pragma once
// Factors L D L^T of a symmetric matrix, and its inertia.

#include "weft/parallel/comm.hpp"

#include <petscmat.h>

#include <cstdint>

namespace weft {

/// Whose factors: those of all ranks together do not repeat their bits.
enum class Factors { none, of_each_rank, of_all_ranks };

/// By MUMPS; the matrix need not be definite.
class SymmetricFactor {
 public:
  /// Takes the symmetric part of a matrix, which it owns or destroys, and factors it if wanted. Collective, as all
  /// members are.
  SymmetricFactor(const Comm& comm, Mat matrix, Factors factors);
  ~SymmetricFactor();
  SymmetricFactor(const SymmetricFactor&) = delete;
  SymmetricFactor& operator=(const SymmetricFactor&) = delete;

  /// Whether there are factors: the matrix may be singular, or memory may lack.
  bool is_factored() const { return is_factored_; }
  /// Negative eigenvalues, by Sylvester's law of inertia.
  std::int64_t negative() const { return negative_; }
  /// The symmetric part, and its factors.
  Mat matrix() const { return matrix_; }
  void solve(Vec right, Vec solution) const;

 private:
  void take_symmetric_part();
  void gather(const Comm& comm);
  PetscErrorCode factor(Mat matrix);

  Mat matrix_, factor_ = nullptr;
  // Of factors of each rank.
  Mat all_ = nullptr;            ///< The matrix,
  VecScatter to_all_ = nullptr;  ///< and what gathers
  Vec all_values_ = nullptr;     ///< a vector.
  bool is_factored_ = false;
  std::int64_t negative_ = 0;
};

}  // namespace weft
