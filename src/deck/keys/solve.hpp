#pragma once
// Key tables of static analyses and implicit steps.

#include "deck/table.hpp"
#include "weft/deck/deck.hpp"

namespace weft::deck {

template <>
inline constexpr std::array words<LoadPath> = {
    Word{LoadPath::time, "time", "from 0 to time.end in equal steps, which are halved where the balance is not found"},
    Word{LoadPath::arc, "arc", "along the load path: loads rise and fall again as the body snaps through"}};

template <>
inline constexpr std::array words<OnUnstable> = {
    Word{OnUnstable::warn, "warn", "the log says so, and the analysis goes on"},
    Word{OnUnstable::stop, "stop", "the analysis ends with code 4 and keeps the last stable state"},
    Word{OnUnstable::nudge, "nudge", "the state is pushed along its softest motion, and a stable one is sought there"}};

template <>
inline constexpr std::array words<Plasticity> = {
    Word{Plasticity::lagged, "lagged", "materials are elastic within the solve and flow after it"},
    Word{Plasticity::in_loop, "in_loop", "what flows during the step counts in the balance at its end"}};

template <>
inline constexpr std::array words<Solver> = {
    Word{Solver::minimise, "minimise", "Newton's method descends the energy; symmetric systems (MINRES)"},
    Word{Solver::residual, "residual", "Newton's method makes the residual smaller; systems of any kind (GMRES)"}};

template <>
inline constexpr std::array words<Preconditioner> = {
    Word{Preconditioner::none, "none", "none, or what solve.petsc names"},
    Word{Preconditioner::blocks, "blocks", "the 3x3 block of each node"},
    Word{Preconditioner::multigrid, "multigrid", "algebraic multigrid (PETSc's GAMG) on the matrix of all nodes"},
    Word{Preconditioner::direct, "direct", "that matrix factored (MUMPS), by each rank for itself"}};

template <>
inline constexpr auto keys<LoadingDeck> =
    table("loading", "How a static analysis goes through its loads and motions; time orders them.",
          Key{"path", "time", "What the steps follow.", &LoadingDeck::path},
          Key{"steps", "1", at_least(1), "10",
              "Parts that time.end is divided in; with path arc the first step is one.", &LoadingDeck::steps},
          Key{"max_steps", "1", at_least(1), "500",
              "Steps of path arc before the analysis ends, if it does not reach time.end.", &LoadingDeck::max_steps},
          Key{"max_growth", "1", at_least(1), "4", "Longest step of path arc, in lengths of the first.",
              &LoadingDeck::max_growth},
          Key{"unstable", "warn", "What follows a balanced state that is not stable under its loads.",
              &LoadingDeck::unstable},
          Key{"nudge", "1", above(0).below(1), "0.01",
              "Largest displacement of a nudge, in parts of the size of all meshes.", &LoadingDeck::nudge});

template <>
inline constexpr auto keys<SolveDeck> = table(
    "solve", "How balanced states and implicit steps are found: Newton's method.",
    Key{"tolerance", "1", above(0).below(1), absent,
        "Unbalanced force, relative to loads and reactions; 1e-8 for static, 1e-4 for implicit schemes.",
        &SolveDeck::tolerance},
    Key{"max_iterations", "1", at_least(1), "30", "Newton steps of one attempt.", &SolveDeck::max_iterations},
    Key{"petsc", "\"\"",
        "Options for PETSc's SNES, KSP and PC, as on its command line: \"-ksp_type gmres -pc_type asm\"; those that "
        "touch a file or the network are refused. Without, a direct solver (MUMPS) for static schemes.",
        &SolveDeck::petsc},
    Key{"plasticity", absent,
        "Of implicit steps: when materials flow and contact on sheets, fibers and shells slips. Without, in the loop "
        "for "
        "all laws whose flow changes their stress, and for contact where there is inertia.",
        &SolveDeck::plasticity},
    Key{"solver", absent,
        "Of implicit steps. Without, minimise where all that moves has an energy and no collider has friction (or "
        "multigrid is asked for), else "
        "residual.",
        &SolveDeck::solver},
    Key{"preconditioner", "blocks", "Of the linear systems of implicit steps.", &SolveDeck::preconditioner},
    Key{"inertia", "true",
        "Of implicit steps: false lets every step end in equilibrium (quasi-static). Rigid bodies, and solids and "
        "strands with \"carrier: own\", cannot meet the grid then.",
        &SolveDeck::inertia});

}  // namespace weft::deck
