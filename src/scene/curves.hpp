#pragma once
// From the curves of a deck to those of which fibers and strands are made.

#include "weft/deck/deck.hpp"
#include "weft/geometry/curves.hpp"
#include "weft/grid/walls.hpp"
#include "weft/parallel/comm.hpp"

#include <span>

namespace weft {

/// This rank's part of some curves, and what is known of all.
struct DealtCurves {
  Curves curves;
  CurveNumbers numbers;
};

/// No rank makes or keeps the curves of others. dx: infinity for bodies without grid; walls: colliders, on which hair
/// may grow. Throws Error(deck) or Error(geometry) for curves that cannot be made, or do not fit into memory.
/// Collective.
DealtCurves make_curves(const Comm& comm, const CurvesDeck& deck, Real dx, std::span<const Wall> walls);

}  // namespace weft
