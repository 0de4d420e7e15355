#pragma once
// Elements of solids: linear and quadratic tetrahedra, whose stress is that of the shape at rest. Knows neither grid
// nor ranks.

#include "weft/bodies/incidence.hpp"
#include "weft/bodies/mesh_stiffness.hpp"
#include "weft/materials/law.hpp"
#include "weft/math/pack.hpp"
#include "weft/math/pack_rows.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// Interpolation in a tetrahedron with 4 or 10 nodes, and its rule of quadrature.
template <int nodes>
struct TetBasis {
  static_assert(nodes == 4 || nodes == 10);
  using Values = Eigen::Matrix<Real, nodes, 1>;
  using Gradients = Eigen::Matrix<Real, nodes, 3>;
  static constexpr int gauss_points = nodes == 4 ? 1 : 4;  ///< Of equal weights; exact for the degree 1, or 2.

  /// Barycentric coordinates of a Gauss point.
  static Eigen::Vector4d gauss_point(int q);
  /// Of the nodes, at barycentric coordinates; and by the last three of these, the first being one less their sum.
  static Values values(const Eigen::Vector4d& at);
  static Gradients derivatives(const Eigen::Vector4d& at);
  /// Parts of the mass of an element that its nodes have: in proportion to the diagonal of the consistent mass.
  static Values mass_shares();
};

/// A tetrahedron at rest.
template <int nodes>
struct TetAtRest {
  std::array<std::int32_t, nodes> rows;  ///< Of its vertices.
  std::array<Vec3, nodes> rest;          ///< Their positions [m].
  int divisions = 0;                     ///< It has divisions^3 quadrature points for the grid, spread evenly.

  /// Volumes of the Gauss points [m^3] and gradients of the interpolation there [1/m].
  struct AtGaussPoint {
    Real volume;
    typename TetBasis<nodes>::Gradients gradients;
  };
  AtGaussPoint at_gauss_point(int q) const;
  Real volume() const;
};

/// Barycentric coordinates of the centres of n^3 tetrahedra of equal volumes that a tetrahedron is cut into.
std::vector<Eigen::Vector4d> centres_of_divided_tet(int n);

/// The fastest waves of a solid, which limit explicit steps.
struct SolidSpeeds {
  Real wave = 0;       ///< In the current configuration [m/s].
  Real frequency = 0;  ///< Bound of the frequencies of the free mesh, element by element [rad/s].
};

/// The elements of a body on one rank; spans over vertices have `rows` entries. With the deformation gradient at Gauss
/// point q, F = sum_a x_a g_a^T, forces are f_a = -sum_q V_q P(F) g_a. Results do not depend on the number of threads.
/// [docs/theory/solids.md]
template <SolidLaw L, int nodes>
class SolidElements {
 public:
  using Element = TetAtRest<nodes>;
  using Basis = TetBasis<nodes>;
  static constexpr int gauss_points = Basis::gauss_points;

  /// density: at rest [kg/m^3].
  SolidElements(const typename L::Constants& constants, Real density, std::vector<Element> elements, std::size_t rows);

  const std::vector<Element>& elements() const { return elements_; }
  std::size_t bytes() const;

  /// [J]
  Real energy(std::span<const Vec3> x) const;
  /// Adds -dE/dx to f [N].
  void add_force(std::span<const Vec3> x, std::span<Vec3> f) const;
  /// Adds what takes from the vertices, with velocities v, the motion within elements [kg m/s]. With their parts m_a of
  /// the mass of an element and the velocity V and spin Omega of the rigid motion that has its momenta,
  ///   m_a (V + Omega x (x_a - c) - v_a).                                                                       (14.2)
  /// Both momenta stay, and any share of it up to all lowers the kinetic energy.
  void add_loss_within(std::span<const Vec3> x, std::span<const Vec3> v, std::span<Vec3> momentum) const;
  /// Appends the derivative, a part for each Gauss point; projected: a positive semidefinite one in place of the exact
  /// one.
  void add_stiffness(std::span<const Vec3> x, bool projected, MeshStiffness& stiffness) const;
  /// Positions that were asked for last are not looked at again: the end of a try is the state that the step accepts.
  SolidSpeeds speeds(std::span<const Vec3> x) const;

  /// Mass of element e [kg] that its vertices have together; quadrature points have the rest in equal parts.
  Real mass_of_vertices(std::size_t e) const;
  Real mass_of_point(std::size_t e) const;
  /// Adds each vertex's share of the mass of its elements and writes that of each quadrature point [kg].
  void add_mass(std::span<Real> of_vertices, std::span<Real> of_points) const;
  /// Where the quadrature points are [m].
  void place(std::span<const Vec3> x, std::span<Vec3> places) const;
  /// Adds a force at a quadrature point [N] to those of its vertices.
  void add_force(std::size_t point, const Vec3& force, std::span<Vec3> f) const;

  /// Mean over the Gauss points of element e.
  struct State {
    Real volume_ratio;  ///< [1]
    Mat3 cauchy;        ///< [Pa]
  };
  State state(std::size_t e, std::span<const Vec3> x) const;

 private:
  /// A Gauss point of as many elements as packs have lanes.
  struct GaussPack {
    Eigen::Matrix<Pack, nodes - 1, 3> gradients;  ///< Of all nodes but the first [1/m].
    Pack volume;                                  ///< [m^3].
    Pack spread;                                  ///< Of a stiffness to its part of the bound of omega^2 [m/kg].
  };
  struct TetPack {
    PackRows elements;
    std::array<PackRows, nodes> rows;
    Pack mass;  ///< That their vertices have together [kg].
    std::array<GaussPack, gauss_points> at;
  };
  struct Point {
    std::int32_t element;
    typename Basis::Values weights;
  };

  /// The largest of a pack: stiffness to waves [Pa], and bound of omega^2 [1/s^2].
  struct Bounds {
    Real stiffness, square;
  };

  void make_packs();
  /// Writes those of a pack on its vertices [N].
  void find_forces(const TetPack& pack, std::span<const Vec3> x) const;
  void find_loss(const TetPack& pack, std::span<const Vec3> x, std::span<const Vec3> v) const;
  /// Adds what elements have on their nodes.
  void gather_forces(std::span<Vec3> f) const;
  Bounds bounds(const TetPack& pack, std::span<const Vec3> x) const;
  static void store_gradients(const GaussPack& at, int lane, MeshStiffness::Part part);
  /// x_a - x_0 of all nodes but the first, as columns.
  static Eigen::Matrix<Pack, 3, nodes - 1> sides(const TetPack& pack, std::span<const Vec3> x);
  Mat3 deformation(const Element& element, const typename Basis::Gradients& gradients, std::span<const Vec3> x) const;
  Real mass(std::size_t e) const { return density_ * elements_[e].volume(); }

  typename L::Constants constants_;
  Real density_;  ///< [kg/m^3]
  std::vector<Element> elements_;
  std::vector<Point> points_;
  std::vector<TetPack> packs_;
  Incidence incidence_;
  mutable std::vector<Vec3> last_x_;  ///< That the speeds were found for [m].
  mutable SolidSpeeds last_speeds_;
  mutable std::vector<Vec3> forces_;  ///< Work: of each element on its nodes, one element after another.
};

}  // namespace weft
