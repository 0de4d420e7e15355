#pragma once
// Bending of sheets and fibers, apart from contact: energies of the angles between neighbouring elements.

#include "weft/base/plane.hpp"
#include "weft/base/types.hpp"
#include "weft/bodies/fold_table.hpp"
#include "weft/bodies/incidence.hpp"
#include "weft/bodies/mesh_stiffness.hpp"
#include "weft/math/pack_rows.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// Bending of a plate: rigidity D [N m] = E thickness^3 / (12 (1 - nu^2)).
struct PlateRigidity {
  Real rigidity;
  Real poisson_ratio;  ///< In (-1, 1).
};

template <class T>
struct FoldLaw {
  Matrix3<T> stiffness;  ///< Of the angles [J]; zero rows for edges without a neighbour.
  Vector3<T> rest;       ///< Angles at rest [rad]; any for edges without a neighbour.
};
/// Of the shares that a triangle has in the folds at its edges,
///   share_k = sum_j own(k, j) theta_j + sum_m beyond(k, m) theta_(k, m),
/// with the folds theta_j of its own edges and those of the two other edges of its neighbour k.
template <class T>
struct ShareLaw {
  Matrix3<T> stiffness;  ///< Of the shares [J]; zero rows for edges without a neighbour.
  Vector3<T> rest;       ///< Shares at rest [rad].
  Matrix3<T> own;
  Eigen::Matrix<T, 3, 2> beyond;
};
template <class T>
struct BendLaw {
  T stiffness;  ///< B / l [J].
};

/// A triangle among neighbours that mirror it, with which it has equal parts in their folds. Edge k lies opposite
/// corner k; theta_k is the angle by which the surface folds there. With the outward edge normals t_k (as long as the
/// edge l_k) of the triangle at rest, its curvature is
///   sum_k (theta_k - rest_k) / (2 area l_k) t_k t_k^T   [Grinspun et al. 2006]
/// and its energy that of Kirchhoff's plate, a quadratic form of the angles. Edges without a neighbour fold freely.
/// [docs/theory/sheets.md, 10.5]
struct FoldedTriangle : FoldLaw<Real> {
  template <class T>
  using Law = FoldLaw<T>;
  using AtRest = FoldedTriangle;
  static constexpr int corners = 6, neighbors = 3, folds = 3;
  std::array<std::int32_t, corners> rows;  ///< Its corners, and those beyond its edges; -1 where there is none.
  std::array<Real, corners> weights;       ///< By which it has shares in the masses of its corners.
};

/// A triangle among any others: two layers of neighbours tell which part of a fold is whose.
/// [docs/theory/sheets.md, 10.5]
struct FoldedPatch : ShareLaw<Real> {
  template <class T>
  using Law = ShareLaw<T>;
  struct AtRest;
  static constexpr int corners = 12, neighbors = 9, folds = 9;
  /// Its corners, those beyond its edges, and for edge k, from a to b and with d beyond, those beyond the edges from a
  /// to d (6 + 2 k) and from d to b (7 + 2 k); -1 where there is none.
  std::array<std::int32_t, corners> rows;
  std::array<Real, corners> weights;  ///< As of a triangle.
};
struct FoldedPatch::AtRest {
  std::array<std::int32_t, corners> rows;
  std::array<Vec2, corners> flat;  ///< Unfolded into the plane of the triangle [m].
  std::array<Real, 9> angle;       ///< Of the folds of its own edges, and of those beyond as in `rows` [rad].
  PlateRigidity plate;
};

/// An inner vertex of a fiber, straight at rest: energy B/(2 l) |kb|^2 with the curvature binormal kb of its two
/// segments [Bergou et al. 2008] and l half their length; continued linearly in the cosine of the turn beyond 160
/// degrees, so that it stays finite. [docs/theory/sheets.md, 10.5]
struct BentVertex : BendLaw<Real> {
  template <class T>
  using Law = BendLaw<T>;
  using AtRest = BentVertex;
  static constexpr int corners = 3, neighbors = 1, folds = 0;
  std::array<std::int32_t, corners> rows;                 ///< The vertex is the middle one.
  std::array<Real, corners> weights = {0.25, 0.5, 0.25};  ///< As of a triangle.
};

/// What is left where neighbours have left the mesh (rows of -1): the edge to one takes the angle of least energy.
FoldedTriangle left_of(FoldedTriangle triangle);
FoldedPatch left_of(const FoldedPatch::AtRest& patch);
inline BentVertex left_of(const BentVertex& vertex) { return vertex; }

/// As many bending elements as a pack has lanes, one after the other.
template <class Stencil>
struct BendingPack {
  std::array<PackRows, Stencil::corners> rows;  ///< In place of a neighbour that is not there, the corner opposite.
  std::array<Pack, Stencil::corners> weights;
  typename Stencil::template Law<Pack> law;
};

/// The bending elements of a body on one rank; spans over vertices have `rows` entries. Results do not depend on the
/// number of threads.
template <class Stencil>
class BendingElements {
 public:
  BendingElements(std::span<const Stencil> stencils, std::size_t rows);

  /// [J]
  Real energy(std::span<const Vec3> x) const;
  /// Adds -dE/dx to f [N].
  void respond(std::span<const Vec3> x, std::span<Vec3> f) const;
  /// Appends the second derivative, a part for each stencil; projected: without the curvature of the angles, positive
  /// semidefinite.
  void add_stiffness(std::span<const Vec3> x, bool projected, MeshStiffness& stiffness) const;
  /// Adds to each vertex the weights by which stencils share in its mass.
  void add_weights(std::span<Real> sums) const;
  /// A bound of the square of the frequencies of all motions about x [1/s^2]: the largest of a stencil with its shares
  /// of the masses of its corners. mass: of each vertex, over the sum of weights there [kg].
  Real fastest(std::span<const Vec3> x, std::span<const Real> mass) const;

  std::size_t bytes() const;

 private:
  /// of(pack, its corners, the rows of its stencils) for each pack.
  template <class Of>
  void for_packs(std::span<const Vec3> x, Of&& of) const;
  /// of(pack, angles of its folds, its number, the rows of its stencils) for each pack.
  template <class Of>
  void for_folds(std::span<const Vec3> x, Of&& of) const;

  std::vector<std::array<std::int32_t, Stencil::corners>> rows_;  ///< Of stencils.
  std::vector<BendingPack<Stencil>> packs_;
  FoldTable folds_;      ///< Of sheets.
  Incidence incidence_;  ///< Of corners of fibers.
  // Work.
  mutable std::vector<Real> of_stencils_;
  mutable std::array<std::vector<Vec3>, Stencil::corners> forces_;  ///< Of corners of fibers.
};

using SheetBending = BendingElements<FoldedTriangle>;
using PatchBending = BendingElements<FoldedPatch>;
using FiberBending = BendingElements<BentVertex>;

/// The directed edges of a mesh whose edges belong to at most two triangles of matching orientation. Throws
/// Error(geometry) for other meshes.
class TriangleEdges {
 public:
  TriangleEdges() = default;
  explicit TriangleEdges(std::span<const std::array<std::int32_t, 3>> triangles);

  /// The corner k of triangle e, as 3 e + k, opposite the edge that runs from one point to the other; -1 if none does.
  std::int32_t opposite(std::int32_t from, std::int32_t to) const;
  bool empty() const { return edges_.empty(); }

 private:
  std::vector<std::array<std::int32_t, 3>> edges_;  ///< From, to, corner; sorted.
};
/// The triangle of these corners and those beyond its edges, -1 for none.
FoldedTriangle fold_at_rest(const std::array<std::int32_t, 6>& rows, std::span<const Vec3> rest,
                            const PlateRigidity& plate);
/// As FoldedPatch::rows.
FoldedPatch::AtRest patch_at_rest(const std::array<std::int32_t, 12>& rows, std::span<const Vec3> rest,
                                  const PlateRigidity& plate);
/// Whether an even curvature gives both triangles at every edge the same part of its fold, to a thousandth, so that
/// FoldedTriangle converges.
bool folds_are_even(std::span<const std::array<std::int32_t, 3>> triangles, const TriangleEdges& edges,
                    std::span<const Vec3> rest);
/// The inner vertices of fibers whose vertices are listed in order; rigidity B [N m^2] = E pi r^4 / 4 of a round fiber.
/// A fiber whose first vertex is also its last is closed.
std::vector<BentVertex> bends_at_rest(std::span<const std::vector<std::int32_t>> fibers, std::span<const Vec3> rest,
                                      Real rigidity);

}  // namespace weft
