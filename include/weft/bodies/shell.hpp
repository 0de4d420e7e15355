#pragma once
// The mechanics of a thin shell: a Kirchhoff-Love subdivision surface of laminae, as an energy of its control points.

#include "weft/bodies/face_packs.hpp"
#include "weft/bodies/mesh_piece.hpp"
#include "weft/bodies/mesh_stiffness.hpp"
#include "weft/geometry/subdivision.hpp"
#include "weft/materials/lamina_hencky.hpp"
#include "weft/materials/lamina_woven.hpp"
#include "weft/materials/law.hpp"
#include "weft/parallel/forest.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace weft {

// Columns of its laminae; a row for each lamina of each quadrature point, face by face.
/// Components (11, 22, 12) of the right plastic stretch in the material frame.
struct PlasticStretch : Field<Vec3> {
  static constexpr Label label{"plastic_stretch", "1"};
};

// Shown quantities of the middle surface.
struct MembraneStrain : Field<Real> {
  static constexpr Label label{"membrane_strain", "1", Keep::shown};  ///< Logarithmic, of largest size.
};
struct CurvatureChange : Field<Real> {
  static constexpr Label label{"curvature", "1/m", Keep::shown};  ///< Change of the principal one of largest size.
};

/// Where the laminae lie across the thickness.
struct ThicknessRule {
  enum class Kind {
    gauss,    ///< Gauss points.
    quarter,  ///< Two laminae a quarter of the thickness from the middle [Guo et al. 2018]: bending is 1/4 too soft.
  };
  Kind kind = Kind::gauss;
  int laminae = 2;  ///< For `quarter` always 2.
};

/// A law of laminae with its constants.
template <LaminaLaw L>
struct ChosenLamina {
  using Law = L;
  typename L::Constants constants;
};
using AnyLamina = std::variant<ChosenLamina<LaminaHencky>, ChosenLamina<LaminaWoven>>;

/// What a shell is, before it is divided among ranks.
struct ShellDescription {
  std::string name;
  ControlMesh mesh;  ///< In its rest shape.
  AnyLamina law;
  std::optional<LaminaYield> yield;  ///< Denting; for the Hencky law only.
  Real density;                      ///< [kg/m^3]
  std::vector<Real> thickness;       ///< Of each material face [m].
  /// Material axis 1, in space at rest; without it the direction in which the first texture coordinate grows along the
  /// surface while the second stays, or the first edge of the face where there is no texture.
  std::optional<Vec3> direction;
  int in_plane = 2;  ///< A quad has in_plane x in_plane Gauss points; a triangle 1, 3, 6, 16.
  ThicknessRule across;
};

struct ShellCage;

/// One lamina of a quadrature point.
template <class T>
struct LaminaOf {
  T height;                ///< Along the normal, from the middle surface [m].
  T volume;                ///< At rest, with all weights of quadrature [m^3].
  Matrix2<T> to_material;  ///< A with C = A^T g A: from the metric g to components in the orthonormal material frame.
};
/// Of each face of a pack.
using Lamina = LaminaOf<Pack>;

/// The second derivative of a shell's energy: by the tangents and second derivatives of its quadrature points, those of
/// each pack of faces one after the other.
template <class T>
using JetHessian = Eigen::Matrix<T, 15, 15>;
using JetHessians = std::vector<JetHessian<Pack>>;

/// A face, its control points, their weights at a point of it, and the mass that is there [kg].
using MassAtPoint = std::function<void(std::int64_t face, std::span<const std::int32_t> points,
                                       std::span<const BasisWeights> weights, Real mass)>;
/// Tells the mass of a shell face by face, at points that are enough for products of the weights.
void each_mass(const ShellDescription& shell, const MassAtPoint& tell);

/// Some faces of a shell. Energies, forces and matrices are theirs; whoever asks adds them up over ranks. `x` are the
/// positions of the control points [m], one for each row, ghosts up to date. No result depends on the number of
/// threads.
class ShellFaces {
 public:
  /// All material faces of a shell whose control points are the rows, a part of a larger one (ShellCage::as_shell);
  /// numbers: theirs in that.
  ShellFaces(const ShellDescription& part, std::vector<std::int64_t> numbers);

  /// Id (counted over all laminae of the mesh), PlasticStretch and PlasticStrain; no rows if the shell never yields.
  Table& laminae() { return laminae_; }
  const Table& laminae() const { return laminae_; }
  const std::vector<std::int64_t>& faces() const { return numbers_; }
  /// Memory of what is computed once and read in every step.
  std::size_t bytes() const;
  /// Laminae of a face.
  std::int64_t laminae_per_face() const { return basis().samples * across_; }
  /// Weights at the quadrature points; its points are rows.
  const LimitBasis& basis() const { return faces_.basis(); }
  bool yields() const { return yield_.has_value(); }
  /// False if the shell is thicker than twice its radius of curvature somewhere.
  bool is_thin() const;

  /// Elastic energy [J]; of a shell that yields, with the work of the flow that x would bring.
  Real energy(std::span<const Vec3> x) const;
  /// Adds minus the derivative of the energy [N].
  void add_force(std::span<const Vec3> x, std::span<Vec3> force) const;
  /// The exact second derivative.
  JetHessians linearise(std::span<const Vec3> x) const;
  /// Appends the same, a part for each quadrature point, face by face; projected: without its negative eigenvalues.
  void add_stiffness(std::span<const Vec3> x, bool projected, MeshStiffness& stiffness) const;
  /// Adds the change of the force as the control points move by dx.
  void add_force_change(const JetHessians& at, std::span<const Vec3> dx, std::span<Vec3> change) const;
  /// Adds the lumped mass [kg].
  void add_mass(std::span<Real> mass) const;
  /// Of each face [kg].
  std::span<const Real> mass_of_faces() const { return mass_of_face_; }

  /// [Pa]: no membrane wave at rest is faster than sqrt(stiffness / density).
  Real membrane_stiffness() const;
  /// Bound of how many times stiffer the shell is at x than at rest [1].
  Real stiffening(std::span<const Vec3> x) const;
  /// Largest plastic strain across the thickness at the quadrature point nearest to coordinates of face e of these.
  Real plastic_strain_near(std::int64_t e, const Vec2& at) const;

  /// Commits the flow that x brings; nothing changes in a shell that never yields.
  void flow(std::span<const Vec3> x);

 private:
  /// Tells f(L, constants) of the law.
  template <class F>
  decltype(auto) with_law(F&& f) const {
    return std::visit(
        [&](const auto& chosen) { return f(typename std::decay_t<decltype(chosen)>::Law{}, chosen.constants); }, law_);
  }
  struct Stacks;

  std::vector<std::int64_t> numbers_;
  AnyLamina law_;
  std::optional<LaminaYield> yield_;
  int across_;
  FacePacks faces_;
  std::vector<Vec2> places_;  ///< Of the quadrature points in each face.
  bool on_quads_;
  std::vector<Lamina> stack_;       ///< across_ laminae for each quadrature point of each pack.
  std::vector<Real> lumped_mass_;   ///< Of each control point [kg].
  std::vector<Real> mass_of_face_;  ///< [kg].
  Table laminae_;
};

/// One rank's share of a shell at rest, for what is asked of the whole before it is dealt out. Faces are divided into
/// runs of a space-filling curve through their middles, as equal in number as can be.
class ShellShare : public ShellFaces {
 public:
  /// Throws Error(geometry) if the shell is thicker than twice its radius of curvature somewhere. Collective, and so is
  /// the destructor.
  ShellShare(const Comm& comm, const ShellDescription& shell);

  const MeshPiece& piece() const { return piece_; }
  const Forest& forest() const { return forest_; }
  /// Control points at rest, one for each row [m].
  std::span<const Vec3> rest() const { return rest_; }
  /// Lumped mass at owned rows [kg].
  std::span<const Real> mass() const { return points_.get<Mass>().first(piece_.owned); }

  /// An estimate from below, within a few percent, of the largest eigenvalue [1/s^2] of M^-1 K with lumped masses:
  /// symplectic Euler is stable below 2 / sqrt of it. Collective.
  Real stiffest(std::span<const Vec3> x) const;

 private:
  ShellShare(const Comm& comm, const ShellDescription& shell, const ShellCage& cage);
  ShellShare(const Comm& comm, const ShellDescription& shell, const ShellCage& cage, MeshPiece piece);

  Comm comm_;
  MeshPiece piece_;
  Forest forest_;
  std::vector<Vec3> rest_;
  Table points_;  ///< Mass.
};

}  // namespace weft
