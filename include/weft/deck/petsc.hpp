#pragma once
// Options for PETSc that a deck may hold: those that touch no file and no network.

#include <string>
#include <string_view>

namespace weft {

/// Why options for PETSc, as on its command line, are not taken; empty if they are. Options of solvers and
/// preconditioners pass, with numbers and plain words; monitors and views pass without value and write to the terminal.
std::string complaint_about_petsc(std::string_view options);

}  // namespace weft
