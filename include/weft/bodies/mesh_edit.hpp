#pragma once
// Edits of a mesh that has been dealt out: elements leave it, and vertices are split at which elements do not hang
// together.

#include "weft/bodies/body.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace weft {

/// The vertex at rest of which a vertex is a copy, mostly itself.
struct VertexAtRest : Field<PointId> {
  static constexpr Label label{"vertex_at_rest", "1"};
};
/// Share of the mass of its vertex at rest that a vertex has: below 1 after splits.
struct VertexShare : Field<Real> {
  static constexpr Label label{"vertex_share", "1"};
};

/// A vertex that an element names: as a corner of its own, or as one of a neighbour that its bending looks at.
struct VertexUse {
  std::int64_t element;  ///< Whose corner it is.
  std::int32_t vertex;   ///< -1: there is no such neighbour, or it has left.
  Real mass;             ///< Of the element at this corner [kg]; 0 if its bending only looks at it.
  std::array<std::int32_t, 2> others = {-1, -1};  ///< The other corners of the element; -1 for none.
};

/// What an edit did on all ranks but where it says otherwise.
struct Edited {
  std::int64_t removed_elements = 0;
  std::int64_t new_vertices = 0;
  std::vector<PointId> lost_vertices;    ///< They have no element and are dust now; those of this rank.
  std::vector<std::int64_t> lost_grips;  ///< Of each list (MeshBody::watch): their element or vertex has left.
};

/// Mass that has left a mesh: points without forces that move with the grid.
class Dust final : public PointSet {
 public:
  Dust();
  StepLimit limit(ChunkRows rows) const override;
  StepLimit limit_of_all() const;

  /// Takes rows of another set, whose ids become first_id + id; rows stand by ascending id afterwards.
  void take(const Table& from, std::span<const std::uint32_t> rows, PointId first_id);
};

}  // namespace weft
