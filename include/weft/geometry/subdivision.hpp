#pragma once
// Limit surfaces of control meshes: weights of the control points at points of the surface, and meshes to draw.

#include "weft/geometry/control_mesh.hpp"

#include <span>
#include <vector>

namespace weft {

/// What one control point adds to a point of the limit surface: x = sum_a value_a P_a, and the derivatives of x by the
/// coordinates (u, v) of the face, in [0, 1]^2 for quads and in u, v, 1 - u - v >= 0 for triangles; u runs from the
/// face's corner 0 to corner 1, v from corner 0 to its last.
struct BasisWeights {
  Real value, d1, d2, d11, d12, d22;
};

/// Weights at the same `samples` points of each of several faces, flat. Row (e, s) has one entry for each control point
/// of face e, in the order of points_of(e).
struct LimitBasis {
  int samples = 0;
  std::vector<std::int64_t> offsets = {0};  ///< Face e has control points points[offsets[e] .. offsets[e + 1]).
  std::vector<std::int32_t> points;
  std::vector<BasisWeights> weights;

  std::size_t bytes() const {
    return offsets.capacity() * sizeof(std::int64_t) + points.capacity() * sizeof(std::int32_t) +
           weights.capacity() * sizeof(BasisWeights);
  }
  std::int64_t faces() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  std::int64_t points_in(std::int64_t e) const { return offsets[e + 1] - offsets[e]; }
  std::span<const std::int32_t> points_of(std::int64_t e) const {
    return {points.data() + offsets[e], static_cast<std::size_t>(points_in(e))};
  }
  std::span<const BasisWeights> row(std::int64_t e, int s) const {
    return {weights.data() + samples * offsets[e] + s * points_in(e), static_cast<std::size_t>(points_in(e))};
  }
};

/// Coordinates of the corners of a face.
std::vector<Vec2> corner_places(int sides);

/// The weights at `at` in each of `faces` (numbers of material faces). They are those of the true limit to round-off,
/// except within 2^-6 of a corner where other than four edges meet, or six of triangles (there the second derivatives
/// of the limit surface have no value anyway).
LimitBasis limit_basis(const ControlMesh& mesh, std::span<const std::int64_t> faces, std::span<const Vec2> at);

/// The limit surface of a material of quads as a mesh of quads, each face divided divisions x divisions times: its
/// topology, and the weights by which its points follow the control points.
struct DrawnLimit {
  SurfaceMesh mesh;                         ///< Its points are those of the control mesh at hand when it was made.
  std::vector<std::int64_t> offsets = {0};  ///< Point k follows entries [offsets[k], offsets[k + 1]) of the two below.
  std::vector<std::int32_t> control;
  std::vector<Real> weight;
};
DrawnLimit drawn_limit(const ControlMesh& mesh, int divisions);

}  // namespace weft
