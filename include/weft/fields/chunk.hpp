#pragma once
// A chunk: a few points worked on together, and what passes between them and the grid. Bodies and transfers meet here.

#include "weft/base/types.hpp"

#include <span>

namespace weft {

/// Rows of a table of points that are neighbours in space; at most `most_rows_in_chunk`, so that what is computed for
/// them stays in the nearest cache, of 32 KiB on many machines, beside a tile of nodes of 17.
using ChunkRows = std::span<const std::uint32_t>;
inline constexpr std::size_t most_rows_in_chunk = 32;

// Entry k of a span below belongs to row rows[k] of the chunk.

/// What points do to the grid.
struct ChunkForces {
  std::span<Mat3> A;  ///< dE/dH_p [J]: derivative of the energy by the displacement gradient of the step.
};

/// What the grid does to points.
struct ChunkMotion {
  std::span<const Vec3> v;  ///< [m/s].
  std::span<const Mat3> C;  ///< Velocity gradient C~ [1/s].
};

}  // namespace weft
