#include "solve/unit_solve.hpp"

namespace weft {
namespace {

class UnitEntries final : public Entries {
 public:
  using Entries::add;
  UnitEntries(UnitFactors& factors, PetscInt begin, bool symmetric)
      : factors_(factors), begin_(begin), symmetric_(symmetric) {}
  void add(std::span<const PetscInt> rows, std::span<const PetscInt> columns, std::span<const PetscScalar> k) override {
    places_.clear();
    for (const PetscInt j : columns) places_.push_back(factors_.place(j - begin_));
    if (symmetric_ && rows.data() == columns.data()) return factors_.add_square(places_, k);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::uint32_t row = factors_.place(rows[i] - begin_);
      const PetscScalar* values = k.data() + i * columns.size();
      for (std::size_t j = 0; j < columns.size(); ++j) factors_.add(row, places_[j], values[j]);
    }
  }

 private:
  UnitFactors& factors_;
  const PetscInt begin_;
  const bool symmetric_;
  std::vector<std::uint32_t> places_;
};

}  // namespace

UnitSolve::UnitSolve(const Comm& comm, UnitProblem& problem, const Shape& shape, const Cliques& cliques)
    : comm_(comm),
      problem_(problem),
      begin_(shape.begin),
      factors_(shape.unknowns, shape.multipliers, cliques, problem.symmetric()) {
  const auto n = static_cast<PetscInt>(shape.unknowns);
  check_petsc(MatCreateShell(comm.handle(), n, n, PETSC_DETERMINE, PETSC_DETERMINE, nullptr, &matrix_));
}

UnitSolve::~UnitSolve() { check_petsc(MatDestroy(&matrix_)); }

void UnitSolve::attach(KSP ksp) {
  PC pc = nullptr;
  check_petsc(KSPGetPC(ksp, &pc));
  check_petsc(KSPSetType(ksp, KSPPREONLY));
  check_petsc(PCSetType(pc, PCSHELL));
  check_petsc(PCShellSetContext(pc, this));
  check_petsc(PCShellSetApply(pc, [](PC its, Vec right, Vec solution) -> PetscErrorCode {
    void* self = nullptr;
    check_petsc(PCShellGetContext(its, static_cast<void*>(&self)));
    if (static_cast<UnitSolve*>(self)->solve(right, solution)) return PCSetFailedReason(its, PC_NOERROR);
    return PCSetFailedReason(its, PC_FACTOR_NUMERIC_ZEROPIVOT);
  }));
}

bool UnitSolve::factor() {
  factors_.set_zero();
  UnitEntries entries(factors_, begin_, problem_.symmetric());
  problem_.assemble(entries);
  is_factored_ = !comm_.any(!factors_.factor());
  return is_factored_;
}

bool UnitSolve::solve(Vec right, Vec solution) {
  if (!is_factored_) return false;
  const PetscScalar* in = nullptr;
  PetscScalar* out = nullptr;
  PetscInt n = 0;
  check_petsc(VecGetLocalSize(right, &n));
  check_petsc(VecGetArrayRead(right, &in));
  check_petsc(VecGetArray(solution, &out));
  factors_.solve({in, static_cast<std::size_t>(n)}, {out, static_cast<std::size_t>(n)});
  check_petsc(VecRestoreArray(solution, &out));
  check_petsc(VecRestoreArrayRead(right, &in));
  return true;
}

}  // namespace weft
