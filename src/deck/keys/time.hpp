#pragma once
// Key tables of space, time and what goes between points and grid.

#include "deck/table.hpp"
#include "weft/deck/deck.hpp"

namespace weft::deck {

template <>
inline constexpr std::array words<Scheme> = {
    Word{Scheme::explicit_euler, "explicit", "symplectic Euler; dt is limited by the speed of sound"},
    Word{Scheme::implicit_euler, "implicit", "backward Euler; dt is limited by time.cfl and time.max_dt alone"},
    Word{Scheme::equilibrium, "static", "balance of forces in meshed bodies, without grid and inertia"}};

template <>
inline constexpr std::array words<KernelKind> = {Word{KernelKind::linear, "linear", "2 nodes in each direction"},
                                                 Word{KernelKind::quadratic, "quadratic", "3 nodes in each direction"},
                                                 Word{KernelKind::cubic, "cubic", "4 nodes in each direction"}};

template <>
inline constexpr auto keys<BoundsDeck> =
    table("bounds", "A box; points of bodies without a mesh that leave it are removed from the simulation.",
          Key{"lower", "m", anything, required, "Lowest corner.", &BoundsDeck::lower},
          Key{"upper", "m", anything, required, "Highest corner.", &BoundsDeck::upper});

template <>
inline constexpr auto keys<DomainDeck> = table(
    "domain", "Space. The grid has no edges: it exists wherever there is material.",
    Key{"dx", "m", above(0).or_none(), "none", "Grid spacing; needed unless time.scheme is static.", &DomainDeck::dx},
    Key{"gravity", "m/s^2", anything, "[0, -9.81, 0]", "Acceleration of everything.", &DomainDeck::gravity},
    Key{"bounds", absent, "Where material without a mesh is kept; without bounds, everywhere.", &DomainDeck::bounds});

template <>
inline constexpr auto keys<TimeDeck> = table(
    "time", "How far and in which steps.", Key{"end", "s", above(0), required, "End of the run.", &TimeDeck::end},
    Key{"frame_interval", "s", above(0), required, "Simulated time from frame to frame.", &TimeDeck::frame_interval},
    Key{"cfl", "1", above(0).at_most(1), "0.3", "Largest travel of a point in one step, in grid spacings.",
        &TimeDeck::cfl},
    Key{"max_dt", "s", above(0).or_none(), "none", "Largest time step.", &TimeDeck::max_dt},
    Key{"max_strain", "1", above(0).at_most(1), "0.5",
        "Largest strain increment |dt grad v| of a point in one step; beyond it the step is taken again with half the "
        "dt.",
        &TimeDeck::max_strain},
    Key{"max_retries", "1", at_least(0).at_most(100), "8", "Halvings of dt in one step before the run gives up.",
        &TimeDeck::max_retries},
    Key{"scheme", "explicit", "Time integration.", &TimeDeck::scheme},
    Key{"watchdog", "s", above(0).or_none(), "30 min",
        "Wall-clock time without a step or a file after which the run ends with exit code 7 and the stack of every "
        "thread; none: never.",
        &TimeDeck::watchdog});

template <>
inline constexpr auto keys<TransferDeck> =
    table("transfer", "How points and grid exchange motion (APIC).",
          Key{"kernel", "quadratic", "B-spline between points and nodes.", &TransferDeck::kernel},
          Key{"rpic_damping", "1", at_least(0).at_most(1), "0",
              "Share of the non-rotational affine motion that is dropped in each step: 0 is APIC, 1 is RPIC.",
              &TransferDeck::rpic_damping});

}  // namespace weft::deck
