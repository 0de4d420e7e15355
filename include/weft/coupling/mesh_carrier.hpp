#pragma once
// Carriers of meshes: how a motion reaches the vertices and quadrature points of a body, and how forces go back.

#include "weft/bodies/mesh_stiffness.hpp"
#include "weft/bodies/trial.hpp"
#include "weft/motion/term.hpp"

#include <optional>
#include <span>
#include <vector>

namespace weft {

/// What reaches a mesh of a motion, by row.
struct MeshMotion {
  std::span<const Vec3> u;      ///< Displacements of the vertices [m]; of the motion itself, or gathered.
  std::vector<Vec3> u_samples;  ///< Of the quadrature points [m].
  std::vector<Mat3> H;          ///< Their gradients there [1].
  std::span<const Real> turns;  ///< Of elements that turn about themselves (TrialShape), of the motion itself [m].
  std::vector<Vec3> gathered;   ///< What u refers to where vertices have no freedoms of their own.
};

/// What a mesh opposes to a motion, by row.
struct MeshForces {
  std::vector<Vec3> f;          ///< On vertices [N].
  std::vector<Vec3> f_samples;  ///< On quadrature points [N]; empty if there are none.
  std::vector<Mat3> A;          ///< dE/dH at quadrature points [J].
  std::vector<Real> turning;    ///< On turns [N].
};

/// Gathers and scatters for one body. `scatter` is the transpose of `gather`, and the tangent that of a mesh seen
/// through both.
class MeshCarrier {
 public:
  virtual ~MeshCarrier() = default;

  /// What is gathered holds as long as the displacement.
  virtual void gather(const FreedomValues& displacement, MeshMotion& to) const = 0;
  /// Where forces of vertices and turns add to those on the freedoms themselves; none where they have to be scattered.
  virtual std::optional<TrialForces> place_of_forces(Load& force) const {
    static_cast<void>(force);
    return {};
  }
  virtual void scatter(const MeshForces& from, Load& to) const = 0;
  /// As Term::add_tangent.
  virtual void add_tangent(const MeshStiffness& stiffness, Tangent& tangent) const = 0;
  /// As Term::add_diagonal_blocks.
  virtual void add_diagonal_blocks(const MeshStiffness& stiffness, std::size_t block,
                                   std::span<Real> matrices) const = 0;
};

}  // namespace weft
