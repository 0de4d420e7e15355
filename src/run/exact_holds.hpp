#pragma once
// What is held of points, met to round-off by the impulses that do the least work.

#include "run/reactions.hpp"
#include "run/state.hpp"
#include "weft/motion/motion.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/scene/scene.hpp"
#include "weft/solve/conditions.hpp"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace weft {

/// For points of mass M that have come as far as u in a step, and go on with velocities v for h,
///   v' = v + M^-1 W^T lambda,   W (u + h v') = target,   W M^-1 W^T lambda = (target - W (u + h v)) / h
/// [docs/theory/handles.md, 10.9; docs/theory/own.md].
class ExactHolds {
 public:
  /// freedoms: the points are its first block. mass: of the owned ones [kg]. size: of the scene [m]. Collective.
  ExactHolds(const Comm& comm, const Freedoms& freedoms, std::vector<Real> mass, Real size);

  /// Changes the velocities of owned points, so that the conditions of all ranks hold after h. Returns the impulses
  /// along those of this rank [N s]. Collective.
  std::vector<Real> meet(const ConstraintRows& rows, Real h, std::span<const Vec3> u, std::span<Vec3> v);
  /// Takes from the forces on owned points what the conditions of all ranks do not let accelerate them. Returns the
  /// forces along those of this rank that it is balanced by [N]. Collective.
  std::vector<Real> bear(const ConstraintRows& rows, std::span<Vec3> forces);

 private:
  void take(const ConstraintRows& rows);
  /// Of this rank, from those of all.
  void add_own(const std::vector<Real>& lambda, std::vector<Real>& sums) const;

  const Comm comm_;
  std::vector<Real> mass_;
  std::vector<std::int64_t> numbers_;  ///< Of owned and ghost points among those of all ranks.
  Real size_;
  Conditions conditions_;
  SchurComplement schur_{conditions_};
  ConstraintRows held_;  ///< That `schur_` is of.
};

/// The holds on a body that the grid moves. Nodes meet them nearly, since they give way a little; then its vertices
/// meet them exactly. Scene and handles are not owned.
class HeldVertices {
 public:
  HeldVertices(const Comm& comm, const Scene& scene, std::size_t body) : comm_(comm), scene_(scene), body_(body) {}

  std::size_t body() const { return body_; }
  /// Follows the body where it is cut anew. Collective.
  void renew();
  /// Rows of the vertices that holds are on, ghosts among them, ascending.
  std::span<const std::uint32_t> rows() const { return piece_->rows; }
  bool has(std::uint32_t row) const { return piece_->is_held[row]; }
  /// The forces that elements of this rank have on vertices, those of all ranks with the owner, without the part that
  /// holds bear in a step of dt from `time`: what acts on a vertex that cannot give way moves no node. Collective.
  std::span<const Vec3> relieved(std::span<const Vec3> forces, Real time, Real dt);
  /// What vertices take of the impulses of other layers in the step, over their mass, row by row [m/s]; none: nothing.
  void bear(std::optional<std::vector<Vec3>> borne) { borne_ = std::move(borne); }
  /// Changes the velocities that these vertices take in a step of dt from `time`; adds what handles give. Collective.
  void correct(Real time, Real dt, std::span<Impulse> impulses);

 private:
  /// What there is while the body is cut as it is.
  struct Piece {
    Piece(const Comm& comm, const Scene& scene, const MeshBody& body, std::size_t number);

    std::uint64_t cut;
    Freedoms freedoms;
    std::vector<VertexHold> holds;
    std::vector<bool> is_held;  ///< Of each vertex.
    std::vector<std::uint32_t> rows;
    ExactHolds exact;
    Motion motion;
    Load forces;  ///< Of elements, without what holds bear.
  };

  /// What holds bear of the forces of elements in a step, along the conditions of this rank.
  struct OfElements {
    ConstraintRows rows;
    std::vector<Real> forces;  ///< [N].
    std::vector<Real> speeds;  ///< Of what is held, as the step begins [m/s].
  };

  MeshBody& mesh() const;
  /// The conditions at a time, at which the motion ends.
  ConstraintRows rows_at(Real time);
  void add(const OfElements& borne, Real dt, std::span<const Real> speeds_after, std::span<Impulse> impulses) const;

  const Comm comm_;
  const Scene& scene_;
  std::size_t body_;
  std::unique_ptr<Piece> piece_;
  std::optional<std::vector<Vec3>> borne_;
  std::optional<OfElements> of_elements_;  ///< From scatter to the correction.
};

}  // namespace weft
