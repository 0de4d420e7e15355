#pragma once
// Linear systems of Newton's method whose unknowns fall into small units, each on one rank.

#include "solve/direct_solve.hpp"
#include "solve/entries.hpp"
#include "solve/unit_factors.hpp"
#include "weft/parallel/comm.hpp"

namespace weft {

/// A problem whose unknowns fall into units.
class UnitProblem {
 public:
  virtual ~UnitProblem() = default;
  /// Whether all its matrices are symmetric.
  virtual bool symmetric() const = 0;
  /// Adds the derivative where it was taken last.
  virtual void assemble(Entries& to) = 0;
};

/// By factors of each unit. PETSc sees a shell in place of a matrix.
class UnitSolve final : public DirectSolve {
 public:
  struct Shape {
    std::size_t unknowns, multipliers;  ///< Of this rank.
    PetscInt begin;                     ///< Number of its first unknown.
  };
  UnitSolve(const Comm& comm, UnitProblem& problem, const Shape& shape, const Cliques& cliques);
  ~UnitSolve() override;
  UnitSolve(const UnitSolve&) = delete;
  UnitSolve& operator=(const UnitSolve&) = delete;

  Mat matrix() const override { return matrix_; }
  void attach(KSP ksp) override;
  PetscErrorCode take_options() override { return 0; }
  PetscErrorCode set_up() override { return factor(), 0; }
  bool factor() override;
  bool solve(Vec right, Vec solution) override;
  void forget_factors() override { is_factored_ = false; }

 private:
  const Comm comm_;
  UnitProblem& problem_;
  const PetscInt begin_;
  UnitFactors factors_;
  Mat matrix_ = nullptr;
  bool is_factored_ = false;
};

}  // namespace weft
