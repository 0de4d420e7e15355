#pragma once
// What preconditions the linear systems of an implicit step: blocks of nodes, or what is made from their matrix.

#include "solve/grid_problem.hpp"
#include "solve/matrix_preconditioner.hpp"
#include "solve/node_matrix.hpp"

#include <optional>
#include <vector>

namespace weft {

/// Multigrid knows nothing of holds: their stiffness would hide all else from its smoothers, so it gets a matrix
/// without them and is corrected for them. All members are collective.
class GridPreconditioner {
 public:
  GridPreconditioner(const Comm& comm, const BlockMap& map, GridProblem& problem, const ImplicitSettings& settings);
  ~GridPreconditioner();
  GridPreconditioner(const GridPreconditioner&) = delete;
  GridPreconditioner& operator=(const GridPreconditioner&) = delete;

  /// Lets PETSc's options be looked at; the code is theirs.
  PetscErrorCode create() { return of_matrix_ ? of_matrix_->create() : PetscErrorCode(0); }
  void begin_step();
  /// For the derivative that the problem has now. last: steps of the last linear system; within a step of time what was
  /// made from a matrix is kept until they become many. The code is that of PETSc's options.
  PetscErrorCode set_up(bool definite, PetscInt last);
  void apply(Vec in, Vec out);

 private:
  bool is_multigrid() const { return settings_.preconditioner == Preconditioner::multigrid; }
  bool holds_are_in_matrix() const { return settings_.preconditioner == Preconditioner::direct; }
  bool is_matrix_old(bool definite, PetscInt last) const;
  PetscErrorCode renew_matrix();
  PetscErrorCode begin_pattern();
  void note_symmetry();
  void set_rigid_motions();
  void invert_blocks();
  void apply_blocks(Vec in, Vec out);
  template <class F>
  void with_nodes_of(Vec vector, F&& change);

  const Comm comm_;
  const BlockMap& map_;
  GridProblem& problem_;
  const ImplicitSettings& settings_;
  std::vector<Mat3> inverse_blocks_;
  std::vector<Mat3> hold_blocks_;     ///< inverse_blocks_, of what walls leave.
  std::vector<Vec3> before_, after_;  ///< Work, by node.
  std::optional<NodeMatrix> matrix_;
  std::optional<MatrixPreconditioner> of_matrix_;
  Vec momentum_ = nullptr;  ///< Work of `apply` by multigrid; made when it is first needed.
  bool matrix_is_definite_ = false;
  std::vector<const WallNode*> wall_at_;  ///< Of each node; null: none.
};

}  // namespace weft
