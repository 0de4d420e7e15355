#pragma once
// A mesh among ranks: every element on one of them, its points owned or ghosts there.

#include "weft/fields/table.hpp"
#include "weft/geometry/shape.hpp"
#include "weft/parallel/forest.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace weft {

/// The part of a mesh that a rank holds: elements, and rows for all points that they need.
struct MeshPiece {
  std::vector<std::int64_t> elements;  ///< Their numbers, ascending.
  std::vector<std::int32_t> points;    ///< Point of each row: owned rows first, both kinds ascending.
  std::size_t owned = 0;
  std::vector<RemoteRow> originals;  ///< Of the ghost rows, in their order.
};

/// The row of a point in a piece, or -1.
std::int32_t row_in(const MeshPiece& piece, std::int32_t point);

/// The row in a piece of each of `points` points, -1: none.
std::vector<std::int32_t> rows_of(const MeshPiece& piece, std::size_t points);

/// The points that an element needs.
using PointsOfElement = std::function<std::span<const std::int32_t>(std::int64_t)>;

/// The pieces of all ranks, given the rank of each element. A point belongs to the lowest rank whose elements need it;
/// points that no element needs have no row. The same on every rank.
std::vector<MeshPiece> divide_mesh(std::span<const int> rank_of_element, const PointsOfElement& points_of,
                                   std::size_t points, int ranks);

/// Ranks of elements with these middles [m]: runs of a space-filling curve through them, as equal in number as can be.
std::vector<int> equal_runs(std::span<const Vec3> middles, int ranks);

/// Copies the state of rows that stand on any rank, as read from a checkpoint, to the owned rows of a table with the
/// same columns. Row i belongs to what has number i / each, which lives on home[i / each]. False, and nothing copied,
/// unless these are the rows of the table. Collective.
bool take_rows(const Comm& comm, Table from, std::span<const int> home, PointId each, Table& to);

}  // namespace weft
