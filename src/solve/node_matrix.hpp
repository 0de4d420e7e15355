#pragma once
// The matrix of an implicit step, node by node: what multigrid and direct preconditioners are made from.

#include "weft/math/block_rows.hpp"
#include "weft/motion/term.hpp"
#include "weft/parallel/comm.hpp"

#include <petscmat.h>

#include <functional>
#include <span>
#include <vector>

namespace weft {

/// In the unknowns x_i = sqrt(m_i) v_i the matrix has the blocks
///   A_ij = L_i K_ij R_j + delta_ij D_i
/// where K = -d(force)/d(u) is what Terms add. Nodes without mass have ones on the diagonal. Terms add on one thread,
/// and PETSc adds what ranks give to an entry in the order of its list of entries, so neither threads nor the arrival
/// of messages change a bit. Construction, `begin_step` and `assemble` are collective.
class NodeMatrix : public Tangent {
 public:
  /// `nodes` of this rank; block 0 of the freedoms is the grid.
  NodeMatrix(const Comm& comm, const Freedoms& freedoms, std::size_t nodes);
  ~NodeMatrix() override;
  NodeMatrix(const NodeMatrix&) = delete;
  NodeMatrix& operator=(const NodeMatrix&) = delete;

  /// Which blocks there are is open again.
  void begin_step();
  /// All of K so far is forgotten.
  void begin_adding() { K_.set_zero(); }
  using Tangent::add;
  void add(std::span<const std::int32_t> rows, std::span<const std::int32_t> columns, std::span<const Real> k) override;
  /// Of an owned node: its factors on the left and on the right, zero without mass, and its diagonal.
  struct Node {
    Mat3 left, right, diagonal;
  };
  /// Fills the matrix, which stays the same one. Returns whether there are other blocks than when it was filled last;
  /// its entries are then listed anew.
  bool assemble(const std::function<Node(std::size_t)>& node);
  /// Null until it was assembled in this step.
  Mat matrix() const { return is_filled_ ? A_ : nullptr; }

 private:
  void create();
  bool has_other_blocks();
  void list_entries();

  const Comm comm_;
  const Freedoms& freedoms_;
  const Freedoms block_freedoms_;
  const std::size_t nodes_;
  BlockRows K_;  ///< By local number of nodes, owned and ghost.
  FreedomValues left_, right_;
  std::vector<PetscInt> number_;                      ///< Of every local node among the block rows of the matrix.
  std::vector<std::int32_t> listed_, listed_before_;  ///< Of each row of K the number of blocks, and their columns.
  std::vector<PetscScalar> values_;                   ///< Of the entries in the order of the list.
  Mat A_ = nullptr;
  bool is_listed_ = false, is_filled_ = false;
};

}  // namespace weft
