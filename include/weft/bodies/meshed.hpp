#pragma once
// What a meshed body offers to handles and loads: positions that can be prescribed, and points at which to integrate.

#include "weft/base/plane.hpp"
#include "weft/base/types.hpp"
#include "weft/parallel/comm.hpp"

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// Elements with numbers in [begin, end).
struct ElementRange {
  std::int64_t begin, end;
  bool has(std::int64_t element) const { return begin <= element && element < end; }
};

/// Vectors of the vertices of a mesh, by their numbers: of all of them, or of the run that a rank holds.
class VertexValues {
 public:
  explicit VertexValues(std::span<const Vec3> held, std::int64_t first) : held_(held), first_(first) {}
  template <class All>
    requires std::convertible_to<const All&, std::span<const Vec3>>
  VertexValues(const All& all) : held_(all) {}

  const Vec3& operator[](std::int64_t vertex) const { return held_[static_cast<std::size_t>(vertex - first_)]; }
  std::span<const Vec3> held() const { return held_; }

 private:
  std::span<const Vec3> held_;
  std::int64_t first_ = 0;
};

/// A weighted sum over rows of a body's control points.
struct Stencil {
  std::vector<std::int32_t> rows;
  std::vector<Real> weights;

  Vec3 of(const VertexValues& values) const {
    Vec3 sum = Vec3::Zero();
    for (std::size_t k = 0; k < rows.size(); ++k) sum += weights[k] * values[rows[k]];
    return sum;
  }
};

/// The end of a strand, which a clamp can take hold of.
struct SegmentEnd {
  std::array<std::int32_t, 2> points;  ///< Of the last segment, in the order along the strand.
  Vec3 tangent, director;              ///< Of this segment at rest, unit.
  bool is_last;                        ///< The end is its second point.
};

/// Where the material can be held; stencils go over all control points of the body. On a boundary also its slope and
/// curvature across: the first and second difference of the control points on a line across it, for each face.
struct Site {
  Stencil place;   ///< Weights sum to one; empty where the slope alone is held.
  Stencil slope;   ///< Towards the inside [m per face], weights sum to zero; empty inside the body and for bodies
                   ///< without bending.
  Stencil edge{};  ///< In a plane of symmetry, over the rows of the slope: the tangent in the plane [m]. Empty: lines
                   ///< hold the slope along all of the edge.
  std::array<Stencil, 2> tangents{};  ///< Of the limit surface at the vertex, any two [m], where there is a slope.
  std::array<Stencil, 2> turns{};     ///< Beyond the end of a side: how those of the last vertex change along its edge.
  Vec2 other_side = Vec2::Zero();     ///< At and beyond the end of a side, in those tangents: the direction of the side
                                      ///< that meets this one there.
  Vec3 where = Vec3::Zero();          ///< At rest, for selection [m].
  Vec3 normal = Vec3::Zero();         ///< Of the surface at rest, unit; zero if there is none.
  std::int32_t point = -1;            ///< The control point that it is at.
  std::int32_t to_point = -1;         ///< If it is amid an edge, the second one; -1.
  std::int64_t element = -1;          ///< One that needs all points of the stencils: the first one at the point.
  int boundary = -1;                  ///< Number of the closed line of boundary edges that it is on; -1: none.
  std::optional<SegmentEnd> end{};    ///< Of a strand.
  bool amid = false;     ///< In the middle of an edge between two vertices: its position is held along the surface.
  bool on_line = false;  ///< Place and slope are those of a line of control points, which hold along all the edge.
  bool at_end = false;   ///< Beyond the end of a side: belongs to it but lies not on the material.
};

/// Sites of a body.
struct Sites {
  std::vector<Site> vertices;              ///< Those of the boundary too, without slope.
  std::vector<std::vector<Site>> sides;    ///< Straight runs of the boundary, each in the order along it.
  std::vector<std::vector<Site>> middles;  ///< For each of them those amid some of its edges.
};

/// "2 boundaries, from [0, 0, 0] to [1, 1, 0]", of the sites on all ranks. Collective.
std::string in_words(const Comm& comm, const Sites& sites);

/// A quadrature point of a surface on this rank, or of a side of it; for a side d1 is along it, with the material on
/// the left, and d2 to the inside.
struct Sample {
  std::vector<std::int32_t> rows;
  std::vector<Real> value, d1, d2;  ///< Weights of the rows for the position and for two tangents.
  Real measure = 0;                 ///< Area [m^2] or length [m] at rest.
  Real mass = 0;                    ///< [kg]; 0 on a side.
  Vec3 where = Vec3::Zero();        ///< At rest, for selection [m].
  /// Of a side, of the edge that it is on: selections that have both have all of the edge.
  std::optional<std::array<Vec3, 2>> ends{};
  std::int64_t face = -1;     ///< Of the mesh, for selection.
  std::int64_t element = -1;  ///< One that has all the rows.
  int boundary = -1;          ///< As of a Site; of a side, and of a face of a solid.
};

/// The two tangents of a sample whose rows are at x.
std::pair<Vec3, Vec3> tangents_of(const Sample& sample, std::span<const Vec3> x);

/// For each of `points` vertices the number of the closed line of boundary edges that it is on, -1: none. Lines are
/// numbered from 0 by their lowest vertex.
std::vector<int> boundary_numbers(std::span<const std::array<std::int32_t, 2>> boundary_edges, std::size_t points);

}  // namespace weft
