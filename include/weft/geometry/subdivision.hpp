#pragma once
// Limit surfaces of control meshes: weights of the control points at points of the surface, and meshes to draw.

#include "weft/geometry/control_mesh.hpp"

#include <array>
#include <span>
#include <vector>

namespace weft {

/// What one control point adds to a point of the limit surface: x = sum_a value_a P_a, and the derivatives of x by the
/// coordinates (u, v) of the face, in [0, 1]^2 for quads and in u, v, 1 - u - v >= 0 for triangles; u runs from the
/// face's corner 0 to corner 1, v from corner 0 to its last.
template <class T>
struct BasisWeightsOf {
  T value, d1, d2, d11, d12, d22;
};
using BasisWeights = BasisWeightsOf<Real>;

/// Weights at the same `samples` points of each of several faces, flat. Row (e, s) has one entry for each control point
/// of face e, in the order of points_of(e). Faces around which the mesh looks alike share their weights.
struct LimitBasis {
  int samples = 0;
  std::vector<std::int64_t> offsets = {0};  ///< Face e has control points points[offsets[e] .. offsets[e + 1]).
  std::vector<std::int32_t> points;
  std::vector<std::int64_t> first_weight;  ///< Of each face in weights.
  std::vector<BasisWeights> weights;

  std::size_t bytes() const {
    return (offsets.capacity() + first_weight.capacity()) * sizeof(std::int64_t) +
           points.capacity() * sizeof(std::int32_t) + weights.capacity() * sizeof(BasisWeights);
  }
  std::int64_t faces() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  std::int64_t points_in(std::int64_t e) const { return offsets[e + 1] - offsets[e]; }
  std::span<const std::int32_t> points_of(std::int64_t e) const {
    return {points.data() + offsets[e], static_cast<std::size_t>(points_in(e))};
  }
  std::span<const BasisWeights> row(std::int64_t e, int s) const {
    return {weights.data() + first_weight[e] + s * points_in(e), static_cast<std::size_t>(points_in(e))};
  }
};

/// Coordinates of the corners of a face.
std::vector<Vec2> corner_places(int sides);

/// The weights at `at` in each of `faces` (numbers of material faces). They are those of the true limit to round-off,
/// except within 2^-6 of a corner where other than four edges meet, or six of triangles (there the second derivatives
/// of the limit surface have no value anyway).
LimitBasis limit_basis(const ControlMesh& mesh, std::span<const std::int64_t> faces, std::span<const Vec2> at);

/// How a face is drawn: n x n equal squares, each of two triangles, or n x n equal triangles; row by row.
struct DrawnFace {
  std::vector<Vec2> points;
  FaceList parts;  ///< The squares or triangles.
  std::vector<std::array<int, 3>> cells;
  std::vector<Vec2> middles;  ///< Of the squares or triangles.
  DrawnFace(int sides, int n);
  /// Cells of each middle.
  int cells_each() const { return static_cast<int>(cells.size() / middles.size()); }
  /// The points from corner c to the next, both among them.
  std::vector<int> side(int c) const;

 private:
  int sides_, n_;
};

/// The limit surface of the material as one mesh whose faces are the parts of drawn ones. Its points are first the
/// corners of the control mesh in their order, then those on edges and within faces. Texture coordinates are
/// interpolated; parts have the group of their face, and points that of all corners between which they lie.
struct DrawnLimit {
  SurfaceMesh mesh;
  std::vector<std::int32_t> number;  ///< Of the points of each drawn face, face by face.
};
DrawnLimit drawn_limit(const ControlMesh& mesh, int n);

}  // namespace weft
