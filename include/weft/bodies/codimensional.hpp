#pragma once
// Elements of sheets and fibers: tangents that follow the vertices of a mesh, directors that follow the grid. Knows
// neither grid nor ranks.

#include "weft/bodies/incidence.hpp"
#include "weft/bodies/mesh_stiffness.hpp"
#include "weft/bodies/trial.hpp"
#include "weft/materials/fiber.hpp"
#include "weft/materials/sheet.hpp"
#include "weft/materials/surface_contact.hpp"
#include "weft/math/pack.hpp"
#include "weft/math/pack_rows.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// Triangles: a law in the plane and contact across it.
template <SheetLaw S>
struct SheetKind {
  static constexpr int corners = 3, tangents = 2;
  template <class T>
  using TangentsOf = Matrix32<T>;
  template <class T>
  using DirectorsOf = Vector3<T>;
  struct Constants {
    typename S::Constants sheet;
    SurfaceContact::Constants contact;
  };
  using Manifold = S;
  using Contact = SurfaceContact;
  using Free = S;  ///< All that an element resists which touches nothing.
  static const typename S::Constants& manifold(const Constants& k) { return k.sheet; }
  static const SurfaceContact::Constants& contact(const Constants& k) { return k.contact; }
  static const typename S::Constants& free(const Constants& k) { return k.sheet; }
};

/// The law of fibers has all in one; nothing is left for the elements themselves.
struct NoManifold {
  struct Constants {};
  static Real energy(const Constants&, const Vec3&) { return 0; }
  template <class T>
  static Vector3<T> stress(const Constants&, const Vector3<T>&) {
    return Vector3<T>::Zero();
  }
  template <class T>
  static auto stress_differential(const Constants&, const Vector3<T>&) {
    return [](const Vector3<T>&) -> Vector3<T> { return Vector3<T>::Zero(); };
  }
  template <class T>
  static auto projected_differential(const Constants& k, const Vector3<T>& d) {
    return stress_differential(k, d);
  }
  template <class T>
  static T stiffness(const Constants&, const Vector3<T>&) {
    return T(0);
  }
};

/// Segments.
struct FiberKind {
  static constexpr int corners = 2, tangents = 1;
  template <class T>
  using TangentsOf = Vector3<T>;
  template <class T>
  using DirectorsOf = Matrix32<T>;
  using Constants = Fiber::Constants;
  using Manifold = NoManifold;
  using Contact = Fiber;
  using Free = FreeFiber;
  static NoManifold::Constants manifold(const Constants&) { return {}; }
  static const Fiber::Constants& contact(const Constants& k) { return k; }
  static const Fiber::Constants& free(const Constants& k) { return k; }
};

/// An element at rest. Its tangents are sum_a x_a gradients_a: the images of unit vectors of its own frame.
template <class K>
struct ElementAtRest {
  std::array<std::int32_t, K::corners> rows;               ///< Of its vertices.
  Eigen::Matrix<Real, K::corners, K::tangents> gradients;  ///< Of the linear interpolation [1/m].
  Real volume;                                             ///< [m^3].
  int divisions = 1;  ///< It has divisions^tangents quadrature points, spread evenly; none of them with 0.
};

/// Elements with as many quadrature points each, which are visited together: one in each lane of packs.
template <class K>
struct ElementPack {
  PackRows elements;
  std::array<PackRows, K::corners> rows;                       ///< Of their vertices.
  Eigen::Matrix<Pack, K::corners - 1, K::tangents> gradients;  ///< Of all corners but the first [1/m].
  Pack volume;                                                 ///< [m^3].
  Pack spread;                                                 ///< Of a stiffness to the bound of omega^2 [m/kg].
  std::vector<PackRows> points;                                ///< First, second, ... of all.
};

/// The fastest waves, which limit explicit steps as those of a continuum do.
struct ElementSpeeds {
  Real across = 0;  ///< Of the directors [m/s].
  Real along = 0;   ///< In the manifold [m/s]; where elements are coarser than the grid, `frequency` allows more.
  Real frequency =
      0;  ///< Bound of the frequencies of the free mesh, element by element [rad/s]; docs/theory/sheets.md (10.14).
};

/// The elements of a body on one rank. All spans over vertices have `rows` entries, those over points one for each
/// quadrature point. Positions x are those that forces are asked for; N are the elastic directors at the start of the
/// step, which are state; H is the displacement gradient of the step at the points. Results do not depend on the number
/// of threads.
template <class K>
class CodimensionalElements {
 public:
  using Element = ElementAtRest<K>;
  using Weights = Eigen::Matrix<Real, K::corners, 1>;  ///< Of the corners at a quadrature point, sum one.
  using Tangents = typename K::template TangentsOf<Real>;
  using Directors = typename K::template DirectorsOf<Real>;

  CodimensionalElements(const typename K::Constants& constants, Real density, std::vector<Element> elements,
                        std::size_t rows);

  const std::vector<Element>& elements() const& { return elements_; }
  std::vector<Element> elements() && { return std::move(elements_); }
  std::size_t bytes() const;
  /// The element of each quadrature point, where a director lives.
  std::span<const std::int32_t> element_of_points() const { return element_of_points_; }
  const Weights& weights_at(std::size_t point) const {
    const auto e = static_cast<std::size_t>(element_of_points_[point]);
    return weights_[static_cast<std::size_t>(elements_[e].divisions)][point - first_point(e)];
  }
  /// Directors that are unit and perpendicular to the elements at x: contact without stress.
  void rest(std::span<const Vec3> x, std::span<Directors> N) const;
  /// Where the points are [m].
  void place(std::span<const Vec3> x, std::span<Vec3> places) const;
  /// Adds a force at a point [N] to those of its vertices.
  void add_force(std::size_t point, const Vec3& force, std::span<Vec3> f) const;
  static Tangents tangents(const Element& element, std::span<const Vec3> x);
  /// The points of element e begin here and end before those of the next.
  std::size_t first_point(std::size_t e) const { return static_cast<std::size_t>(first_point_[e]); }

  /// Adds each vertex's share of the mass of its elements and writes that of each point [kg]: an element's mass goes in
  /// equal parts to its vertices and points.
  void add_mass(std::span<Real> of_vertices, std::span<Real> of_points) const;
  /// Part of the mass of element e that each of its vertices and points gets [kg].
  Real mass_share(std::size_t e) const {
    return density_ * elements_[e].volume / (K::corners + static_cast<Real>(first_point_[e + 1] - first_point_[e]));
  }

  /// [J]
  Real energy(const Parts& parts, std::span<const Vec3> x, std::span<const Directors> N, std::span<const Mat3> H) const;
  /// Adds -dE/dx to f [N] and writes dE/dH to A [J]; in the loop after the directors slipped, which leaves no energy.
  /// An empty H is zero.
  void respond(const Parts& parts, std::span<const Vec3> x, std::span<const Directors> N, std::span<const Mat3> H,
               std::span<Vec3> f, std::span<Mat3> A) const;
  /// Appends the derivative of both, a part for each quadrature point, or for each element where contact is not asked
  /// for; projected: a positive semidefinite one in place of the exact one.
  void add_stiffness(const Parts& parts, std::span<const Vec3> x, std::span<const Directors> N, std::span<const Mat3> H,
                     bool projected, MeshStiffness& stiffness) const;
  /// Accepts a step of dt [s]: the directors deform by I + dt C and then slip, x being the new positions.
  void commit(std::span<const Vec3> x, Real dt, std::span<const Mat3> C, std::span<Directors> N) const;

  ElementSpeeds speeds(std::span<const Vec3> x, std::span<const Directors> N) const;
  /// Tangents and directors of a point side by side (docs/theory/sheets.md, 10.1).
  Mat3 deformation(std::size_t point, std::span<const Vec3> x, std::span<const Directors> N) const;

 private:
  using PackTangents = typename K::template TangentsOf<Pack>;
  using PackDirectors = typename K::template DirectorsOf<Pack>;
  using CornerForces = Eigen::Matrix<Real, 3, K::corners - 1>;

  void make_packs();
  ElementPack<K> pack_of(std::span<const std::int32_t> elements) const;
  PackTangents tangents(const ElementPack<K>& pack, std::span<const Vec3> x) const;
  Real point_volume(std::size_t e) const {
    return elements_[e].volume / static_cast<Real>(first_point_[e + 1] - first_point_[e]);
  }
  Real energy_in_contact(std::span<const Vec3> x, std::span<const Directors> N, std::span<const Mat3> H) const;
  using OwnStiffness = Eigen::Matrix<Pack, 3 * K::tangents, 3 * K::tangents>;
  void find_slip(std::span<const Vec3> x, std::span<const Directors> N, std::span<const Mat3> H) const;
  /// Fills the parts of a pack; first: that of the first element, or of the first quadrature point.
  void find_stiffness(const Parts& parts, const ElementPack<K>& pack, std::span<const Vec3> x, bool projected,
                      std::size_t first, MeshStiffness& stiffness) const;
  void find_stiffness_in_contact(const Parts& parts, const ElementPack<K>& pack, const TrialShape& at,
                                 std::span<const Directors> N, bool projected, std::size_t first,
                                 MeshStiffness& stiffness) const;
  /// What elements resist besides their quadrature points, by their tangents [J].
  OwnStiffness own_stiffness(const Parts& parts, const ElementPack<K>& pack, const PackTangents& F,
                             bool projected) const;
  void add_corner_forces(std::span<Vec3> f) const;

  typename K::Constants constants_;
  Real density_;  ///< [kg/m^3]
  std::vector<Element> elements_;
  std::vector<std::int64_t> first_point_;  ///< Element e has points [first_point_[e], first_point_[e + 1]).
  std::vector<std::int32_t> element_of_points_;
  std::vector<std::vector<Weights>> weights_;  ///< Of the points of an element, by its divisions.
  std::vector<ElementPack<K>> packs_;          ///< All elements.
  Incidence incidence_;
  mutable std::vector<CornerForces> forces_;  ///< Work: of each element on all its corners but the first [N];
  mutable std::vector<char> slips_;           ///< whether a quadrature point slips.
};

template <class S>
using SheetElements = CodimensionalElements<SheetKind<S>>;
using FiberElements = CodimensionalElements<FiberKind>;

/// Triangles of a sheet of the given thickness [m]. The first direction of each one's frame is `warp` in its plane, or
/// its first edge if warp is zero or across it. Divisions are such that points are no farther apart than `spacing` [m].
/// Throws Error(geometry) for a triangle without area.
template <class S>
std::vector<ElementAtRest<SheetKind<S>>> sheet_at_rest(std::span<const std::array<std::int32_t, 3>> triangles,
                                                       std::span<const Vec3> rest, const Vec3& warp, Real thickness,
                                                       Real spacing);
/// Divisions of an element with edges of at most `longest` [m], so that points are no farther apart than `spacing` [m].
int divisions_for(Real longest, Real spacing);
/// Segments of a fiber of the given section [m^2]. Throws Error(geometry) for a segment without length.
std::vector<ElementAtRest<FiberKind>> fiber_at_rest(std::span<const std::array<std::int32_t, 2>> segments,
                                                    std::span<const Vec3> rest, Real section, Real spacing);

}  // namespace weft
