// Options for PETSc that a deck may hold.

#include "weft/deck/petsc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

namespace weft {
namespace {

/// Where one solver is part of another, its options begin with these.
constexpr std::array outer = {"sub_", "mg_levels_", "mg_coarse_", "mg_coarse_sub_", "redundant_", "inner_", "esteig_"};

/// Options that write to the terminal, and to a file or socket that their value names: they may have none.
constexpr std::array without_value = {"ksp_monitor",
                                      "ksp_monitor_short",
                                      "ksp_monitor_true_residual",
                                      "ksp_monitor_singular_value",
                                      "ksp_converged_reason",
                                      "ksp_view",
                                      "ksp_view_singularvalues",
                                      "ksp_view_eigenvalues",
                                      "snes_monitor",
                                      "snes_monitor_short",
                                      "snes_converged_reason",
                                      "snes_view",
                                      "snes_linesearch_monitor",
                                      "pc_view"};

/// Options with a number or a word, or none.
constexpr std::array with_value = {"ksp_type",
                                   "ksp_rtol",
                                   "ksp_atol",
                                   "ksp_divtol",
                                   "ksp_max_it",
                                   "ksp_norm_type",
                                   "ksp_pc_side",
                                   "ksp_initial_guess_nonzero",
                                   "ksp_check_norm_iteration",
                                   "ksp_converged_maxits",
                                   "ksp_diagonal_scale",
                                   "ksp_diagonal_scale_fix",
                                   "ksp_error_if_not_converged",
                                   "ksp_lag_norm",
                                   "ksp_min_it",
                                   "ksp_reuse_preconditioner",
                                   "ksp_richardson_scale",
                                   "ksp_richardson_self_scale",
                                   "ksp_bcgsl_ell",
                                   "ksp_lgmres_augment",
                                   "ksp_gcr_restart",
                                   "ksp_minres_radius",
                                   "snes_type",
                                   "snes_rtol",
                                   "snes_atol",
                                   "snes_stol",
                                   "snes_max_it",
                                   "snes_max_funcs",
                                   "snes_lag_jacobian",
                                   "snes_lag_preconditioner",
                                   "pc_type",
                                   "pc_use_amat"};

/// Beginnings of the options of one method, none of which names a file.
constexpr std::array methods = {
    "ksp_gmres_",     "ksp_fgmres_",      "ksp_chebyshev_", "ksp_cg_",       "ksp_pipe",      "ksp_fcg_",
    "snes_ksp_ew",    "snes_linesearch_", "snes_mf",        "snes_trust",    "snes_ngmres_",  "snes_ncg_",
    "snes_qn_",       "pc_asm_",          "pc_bjacobi_",    "pc_composite_", "pc_eisenstat_", "pc_factor_",
    "pc_fieldsplit_", "pc_gamg_",         "pc_gasm_",       "pc_hypre_",     "pc_jacobi_",    "pc_mg_",
    "pc_ml_",         "pc_pbjacobi_",     "pc_redundant_",  "pc_sor_",       "pc_spai_",      "pc_vpbjacobi_",
    "mat_coarsen_",   "mat_mumps_icntl_", "mat_mumps_cntl_"};

/// Words in a name that write or read something. MUMPS keeps factors in files by its 22nd integer, and reads or writes
/// a matrix by name.
constexpr std::array never = {"view", "monitor", "print",          "log",    "file",   "debug", "ooc",
                              "save", "load",    "mumps_icntl_22", "socket", "output", "shell", "help"};

/// Kinds of solvers and viewers that are programs of somebody else, or talk to one.
constexpr std::array foreign = {"python", "matlab", "socket", "draw", "saws"};

/// "-" and a letter; a number may be negative.
bool is_name(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0;
}

bool is_plain(const std::string& word) {
  return std::ranges::all_of(word, [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-' || c == '+' || c == '.' || c == ',');
  });
}

template <class List>
bool among(const List& list, std::string_view name) {
  return std::ranges::any_of(list, [&](const char* one) { return name == one; });
}

/// The name of the inner solver's own option: mg_levels_2_ksp_type becomes ksp_type.
std::string_view innermost(std::string_view name) {
  for (const std::string_view prefix : outer) {
    if (!name.starts_with(prefix)) continue;
    std::string_view rest = name.substr(prefix.size());
    const std::string_view after_number = rest.substr(std::min(rest.find_first_not_of("0123456789_"), rest.size()));
    for (const std::string_view inner : {rest, after_number})
      for (const char* room : {"ksp_", "pc_", "mat_", "sub_", "mg_", "esteig_", "redundant_"})
        if (inner.starts_with(room)) return innermost(inner);
  }
  return name;
}

enum class Grade { refused, without_value, with_value };

Grade grade_of(std::string_view name) {
  name = innermost(name);
  if (among(without_value, name)) return Grade::without_value;
  if (among(with_value, name)) return Grade::with_value;
  const bool is_risky =
      std::ranges::any_of(never, [&](const char* word) { return name.find(word) != std::string_view::npos; });
  const bool is_of_method = std::ranges::any_of(methods, [&](const char* begin) { return name.starts_with(begin); });
  return is_of_method && !is_risky ? Grade::with_value : Grade::refused;
}

}  // namespace

std::string complaint_about_petsc(std::string_view options) {
  const auto is_strange = [](unsigned char c) { return c < 0x20 || c >= 0x7F; };
  if (std::ranges::any_of(options, is_strange)) return "options for PETSc are plain words with spaces between them.";
  std::istringstream words{std::string(options)};
  Grade grade = Grade::refused;
  std::string name;
  for (std::string word; words >> word;) {
    if (!is_plain(word) || among(foreign, word))
      return fmt::format("\"{}\" is neither an option of PETSc that may be given, nor a number or plain word.", word);
    if (is_name(word)) {
      name = word;
      grade = grade_of(std::string_view(name).substr(1));
      if (grade == Grade::refused)
        return fmt::format(
            "{} is not among the options that may be given: those of PETSc's SNES, KSP and PC that touch "
            "no file and no network. See docs/running.md.",
            name);
    } else if (grade != Grade::with_value) {
      return name.empty() ? fmt::format("\"{}\" stands before the first option.", word)
                          : fmt::format("{} writes to the terminal and takes no value here, found \"{}\".", name, word);
    }
  }
  return {};
}

}  // namespace weft
