#pragma once
// Contact points of solids: how many there are on a face, and the mass of each.

#include "bodies/surface_points.hpp"
#include "weft/geometry/tet_mesh.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

struct OuterTriangle {
  std::int64_t element;
  Triangle vertices;
};
/// The triangles of the outer faces; of faces with six nodes the four between these.
std::vector<OuterTriangle> triangles_of(const TetMesh& mesh, std::span<const OuterFace> outer);

/// A contact point at rest; of a face, or a vertex.
struct SolidContactPoint {
  std::int64_t element;
  Triangle vertices;   ///< Of the triangle that it is in.
  Vec3 weights;        ///< Of these.
  Real mass;           ///< [kg]
  Real share;          ///< Of the triangle's area; 0 for a vertex, which is a corner of it.
  Vec3 place;          ///< [m]
  Real thickness = 0;  ///< Behind it [m].
};

/// The contact points of a solid, by element: each outer face, or each quarter of one with six nodes, has n^2 points of
/// equal mass, as many as `density` [1/m^2] asks for; vertices of these have what is left of their own mass, so that
/// sum_q b_pq m_q = m_p. vertex_mass: [kg]; thick: behind them no more is asked for [m].
std::vector<SolidContactPoint> contact_points_of(const TetMesh& mesh, std::span<const OuterFace> outer,
                                                 std::span<const Real> vertex_mass, Real density, Real thick);

}  // namespace weft
