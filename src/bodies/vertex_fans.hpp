#pragma once
// Fans: elements around a vertex that hang together, found by the rank that keeps the id of the vertex.

#include "weft/bodies/mesh_edit.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/parallel/directory.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace weft {

/// The elements of a vertex that hang together, and the id that the vertex has for them.
struct Fan {
  std::int32_t vertex;
  std::int64_t element;  ///< The first of its elements,
  int rank;              ///< and the rank that has it.
  Real mass = 0;         ///< Of its elements at the vertex [kg].
};

/// Fans of vertices, at the ranks that keep their ids; those of a vertex in the order of their first elements.
using FansOfVertices = std::map<std::int32_t, std::vector<Fan>>;

/// What becomes of a vertex on the rank that owns it: the vertex itself is the first of its copies.
struct VertexCopy {
  std::int32_t vertex;  ///< Before.
  std::int32_t id;      ///< From now on; -1: no element has it.
  Real share;           ///< Of its mass.
};

/// What the ranks learn of their vertices.
struct SplitVertices {
  FansOfVertices fans;             ///< Of vertices that this rank keeps.
  std::vector<std::int32_t> ids;   ///< Of each use; -1: the element has left.
  std::vector<VertexCopy> copies;  ///< Of owned vertices, by vertex and id.
  std::int64_t new_vertices = 0;   ///< On all ranks.
};

/// Splits vertices whose elements, all of which name them in `uses`, do not hang together. Elements hang together at a
/// vertex by a side: triangles that share an edge there, and all segments. The fan of the smallest element keeps the
/// id; further ones get those from `ids.count` on, in the order of vertex and smallest element, whatever the ranks.
/// ids: all ids of vertices and who keeps them. owned: vertices that this rank owns. Collective.
SplitVertices split_vertices(const Comm& comm, const Runs& ids, std::span<const VertexUse> uses,
                             std::span<const std::int32_t> owned);

/// The fans of vertices at rest, some of which were split: of each use the vertex at rest and its present id.
/// Collective.
FansOfVertices fans_at_rest(const Comm& comm, const Runs& ids, std::span<const VertexUse> uses,
                            std::span<const std::int32_t> present);

}  // namespace weft
