#pragma once
// Grips: what handles take hold of on a body whose mesh is divided among ranks.

#include "weft/bodies/handle.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace weft {

/// Vertices of one element with up to three weights each, and what else a handle has to know of them. It goes where the
/// element goes.
struct Grip {
  struct Vertex {
    std::int32_t number;  ///< In the whole mesh.
    std::array<Real, 3> weights;
  };
  std::int64_t element;
  std::array<Real, 7> values;
  std::vector<Vertex> vertices;
  std::int64_t order = 0;          ///< Of the grips of a list, on all ranks.
  std::vector<std::int32_t> rows;  ///< Of the vertices, on the rank that has the element.

  /// sum_k w_k x_k with one of the weights.
  Vec3 sum(std::span<const Vec3> x, std::size_t weight = 0) const {
    Vec3 sum = Vec3::Zero();
    for (std::size_t k = 0; k < rows.size(); ++k) sum += vertices[k].weights[weight] * x[rows[k]];
    return sum;
  }
};

/// The order of a list; copies of a grip stand by element.
inline bool precedes(const Grip& a, const Grip& b) {
  return a.order != b.order ? a.order < b.order : a.element < b.element;
}

/// A weighted sum over vertices.
Grip grip_of(std::int64_t element, const Stencil& sum);

/// A sum over vertices that is held, the second weights those of an edge; `held_sum_of` has it over rows.
Grip grip_of(const HeldSum& sum);
HeldAim aim_of(const Grip& grip);
HeldSum held_sum_of(const Grip& grip);

/// The end of a strand.
Grip grip_of(std::int64_t element, const SegmentEnd& end);
/// Its points are rows.
SegmentEnd segment_end_of(const Grip& grip);

/// A sample that carries a load, with a value of its own; the weights are those of position, d1 and d2.
Grip grip_of(const Sample& sample, Real value);
inline Real value_of(const Grip& grip) { return grip.values[0]; }

/// A force on a vertex.
Grip grip_of(std::int64_t element, std::int32_t vertex, const Vec3& force);
Vec3 force_of(const Grip& grip);

/// Sends grips to ranks; they are in order afterwards. Collective.
std::vector<Grip> send_grips(const Comm& comm, std::span<const Grip> grips, std::span<const int> to);

}  // namespace weft
