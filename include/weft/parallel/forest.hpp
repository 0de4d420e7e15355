#pragma once
// Forest: who copies whom. The one exchange of ghost rows, over PETSc's star forest.

#include "weft/fields/table.hpp"
#include "weft/parallel/comm.hpp"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace weft {

/// Where the original of a ghost row lives.
struct RemoteRow {
  int rank;
  std::int32_t row;
};

/// Each ghost row is a copy of one owned row of some rank. Rows of a column are ordered [owned, ghost]; ghost g copies
/// originals[g]. Built by grid/block_map (row = a block of nodes), and by bodies with a mesh (row = a vertex).
class Forest {
 public:
  /// No graph yet: only to be assigned to.
  Forest();
  /// Collective, and so is the destructor.
  Forest(const Comm& comm, std::size_t owned, std::span<const RemoteRow> originals);
  ~Forest();
  Forest(Forest&&) noexcept;
  Forest& operator=(Forest&&) noexcept;

  std::size_t owned() const;
  std::size_t ghosts() const;
  /// Owned rows with ghosts on any rank, ascending.
  std::span<const std::size_t> lent() const;
  /// How many ranks hold ghosts of this rank's rows, or originals of its ghosts.
  int neighbours() const;

  /// Owner to ghosts: every ghost row becomes a copy of its original. Row width: any multiple of 8 bytes. Collective.
  void update_ghosts(const ColumnView& column) const;
  /// Ghosts add into their owner (reals only), then are zero. Equal rank counts give equal bits. Collective.
  void sum_to_owners(const ColumnView& column) const;
  /// The same for several columns, whose rows travel side by side in one message to each neighbour. Collective.
  void update_ghosts(std::span<const ColumnView> columns) const;
  void sum_to_owners(std::span<const ColumnView> columns) const;

 private:
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

/// Asks other ranks where rows live: for each (owner rank, key) the owner answers with the row that `row_of(key)` gives
/// (-1: unknown, which the caller must treat as an error). Only ranks that are asked take part pairwise. Collective.
std::vector<std::int32_t> ask_rows(const Comm& comm, std::span<const int> owner, std::span<const std::uint64_t> key,
                                   const std::function<std::int32_t(std::uint64_t)>& row_of);

}  // namespace weft
