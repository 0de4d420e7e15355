#pragma once
// The matrix of an implicit step, node by node: what multigrid and direct preconditioners are made from.

#include "solve/unknowns.hpp"
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
/// of messages change a bit. Construction, `begin_step`, `list` and both ways to fill it are collective.
class NodeMatrix : public Tangent {
 public:
  /// Nodes are the points of a solve. Neither argument is owned.
  NodeMatrix(const Comm& comm, const Unknowns& unknowns, const Points3& points);
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
  /// Takes note of the blocks that were added to, and of the owned nodes that have mass; where these are others than
  /// before, lists the entries of the matrix, which stays the same one, anew and returns true.
  bool list(const std::function<bool(std::size_t)>& has_mass);
  void fill(const std::function<Node(std::size_t)>& node);
  /// Springs between all nodes with mass that share a block of K, as if each of their ends were held a little:
  ///   A_ij = -e e^T / |X_i - X_j|^2,   e along X_i - X_j,   A_ii = I - sum_j A_ij
  /// which rests in rigid motions as the bodies do, and comes from the list alone. place: position of every local node,
  /// in dx.
  void fill_with_springs(const std::function<Vec3i(std::size_t)>& place);
  Mat matrix() const { return A_; }
  /// In this step.
  bool is_filled() const { return is_filled_; }

 private:
  void create();
  bool has_other_blocks(const std::function<bool(std::size_t)>& has_mass);
  void list_entries();
  template <class Stiffness>
  void put(const std::function<Node(std::size_t)>& node, Stiffness&& stiffness);

  const Comm comm_;
  const Points3& points_;
  const Freedoms diagonal_freedoms_;
  const std::size_t nodes_;  ///< Owned.
  BlockRows K_;              ///< By local number of nodes, owned and ghost.
  FreedomValues left_, right_;
  std::vector<PetscInt> number_;  ///< Of every local node among the block rows of the matrix.
  /// Of each owned node whether it has mass; of each row of K the number of blocks, and their columns.
  std::vector<std::int32_t> listed_, listed_before_;
  std::vector<PetscScalar> values_;  ///< Of the entries in the order of the list.
  Mat A_ = nullptr;
  bool is_listed_ = false, is_filled_ = false;
};

}  // namespace weft
