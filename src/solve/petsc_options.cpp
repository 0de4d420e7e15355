#include "solve/petsc_options.hpp"

#include "weft/base/check.hpp"
#include "weft/solve/silence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <utility>

namespace weft {

void in_silence(const std::function<void()>& f) {
  struct Silence {  // monitors and views print by this function
    decltype(PetscVFPrintf) before =
        std::exchange(PetscVFPrintf, [](FILE*, const char*, va_list) -> PetscErrorCode { return 0; });
    ~Silence() { PetscVFPrintf = before; }
  } silence;
  f();
}

PetscOptionList mumps_options() {
  PetscOptionList options;
  for (const char* prefix : {"", "redundant_"})
    for (const auto& [number, value] : {std::pair{6, 0}, {7, 5}, {8, 7}, {12, 1}, {14, 200}})
      options.emplace_back(fmt::format("{}mat_mumps_icntl_{}", prefix, number), fmt::format("{}", value));
  return options;
}

PetscDatabase::PetscDatabase(const Comm& comm, std::string text, PetscOptionList ours)
    : comm_(comm), text_(std::move(text)), ours_(std::move(ours)) {
  check_petsc(PetscOptionsCreate(&options_));
  check_petsc(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  for (const auto& [name, value] : ours_)
    check_petsc(PetscOptionsSetValue(options_, fmt::format("-{}", name).c_str(), value.c_str()));
  is_text_bad_ = PetscOptionsInsertString(options_, text_.c_str()) != 0;
  check_petsc(PetscPopErrorHandler());
}

PetscDatabase::~PetscDatabase() { check_petsc(PetscOptionsDestroy(&options_)); }

bool PetscDatabase::fails(const std::function<PetscErrorCode()>& calls) const {
  check_petsc(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  check_petsc(PetscOptionsPush(options_));
  const PetscErrorCode code = is_text_bad_ ? PETSC_ERR_ARG_WRONG : calls();
  check_petsc(PetscOptionsPop());
  check_petsc(PetscPopErrorHandler());
  return comm_.any(code != 0);
}

void PetscDatabase::apply(const std::function<PetscErrorCode()>& calls) const {
  const bool failed = fails(calls);
  require(!failed || !text_.empty(), ExitCode::failure, "PETSc failed, and without options from the deck.");
  require(!failed, ExitCode::deck,
          fmt::format("solve.petsc: PETSc cannot take the options \"{}\": a value is wrong or names something that "
                      "this PETSc was built without.",
                      text_));
}

void PetscDatabase::solve(const std::function<PetscErrorCode()>& calls) {
  if (has_solved_) {
    require(!fails(calls), ExitCode::numerics,
            "PETSc gave up in the middle of a solve that had worked with the same options before; often it ran out of "
            "memory. Fewer ranks on a node, or solve.preconditioner: blocks, take less.");
    return;
  }
  apply(calls);
  require_known();
  has_solved_ = true;
}

void PetscDatabase::require_known() const {
  PetscInt left = 0;
  char **names = nullptr, **values = nullptr;
  check_petsc(PetscOptionsLeftGet(options_, &left, &names, &values));
  std::string unknown;
  for (PetscInt i = 0; i < left; ++i)
    if (std::none_of(ours_.begin(), ours_.end(), [&](const auto& our) { return our.first == names[i]; }))
      unknown = names[i];
  check_petsc(PetscOptionsLeftRestore(options_, &left, &names, &values));
  require(unknown.empty(), ExitCode::deck,
          fmt::format("solve.petsc: PETSc's SNES, KSP and PC know no option -{} here. See the manual pages of PETSc; "
                      "options of a method count only if that method is chosen.",
                      unknown));
}

}  // namespace weft
