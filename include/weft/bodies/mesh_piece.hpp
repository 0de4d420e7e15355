#pragma once
// A mesh among ranks: every element on one of them, its points owned or ghosts there. No rank knows the whole.

#include "weft/fields/table.hpp"
#include "weft/geometry/shape.hpp"
#include "weft/parallel/directory.hpp"
#include "weft/parallel/forest.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// Rows of a rank for all points of a mesh that its elements need.
struct MeshPiece {
  std::vector<std::int32_t> points;  ///< Point of each row: owned rows first, both kinds ascending.
  std::size_t owned = 0;
  std::vector<RemoteRow> originals;  ///< Of the ghost rows, in their order.
};

/// The row of a point in a piece, or -1.
std::int32_t row_in(const MeshPiece& piece, std::int32_t point);

/// Memory of the entries [bytes].
template <class T>
std::size_t bytes_of(const std::vector<T>& values) {
  return values.capacity() * sizeof(T);
}

/// Ascending, each once.
template <class T>
void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Who owns each of `points` points: the lowest rank that needs it. needed: what this rank needs, ascending.
/// Collective.
Directory owners_of_points(const Comm& comm, std::span<const std::int32_t> needed, std::size_t points);

/// The piece of this rank, which needs these points, ascending. Collective.
MeshPiece piece_of(const Comm& comm, std::span<const std::int32_t> needed, const Directory& owners);

/// Those of the elements with these middles [m] that go to a rank, ascending: a run of a space-filling curve through
/// them, of runs as equal in number as can be.
std::vector<std::int64_t> equal_run(std::span<const Vec3> middles, const Comm& comm);

}  // namespace weft
