#pragma once
// A field on the nodes of the active blocks: a row for each block, in it 64 nodes of four reals side by side.

#include "weft/base/memory.hpp"
#include "weft/fields/table.hpp"
#include "weft/grid/block_map.hpp"

namespace weft {

/// Four reals for each node, so that a node is one vector register and a block one message row.
class NodeField {
 public:
  static constexpr int width = 4;
  static constexpr int row = nodes_per_block * width;

  NodeField(std::string_view name, std::string_view unit) : label_{name, unit, Keep::work} {}

  /// All zero, on this many blocks.
  void reset(int blocks) {
    resize(blocks);
    const auto count = static_cast<std::ptrdiff_t>(values_.size());
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t k = 0; k < count; ++k) values_[k] = 0;
  }
  /// On this many blocks; values are left as they were where there were some.
  void resize(int blocks) { values_.resize(static_cast<std::size_t>(blocks) * row); }

  Real* block(int b) { return values_.data() + static_cast<std::size_t>(b) * row; }
  const Real* block(int b) const { return values_.data() + static_cast<std::size_t>(b) * row; }
  int blocks() const { return static_cast<int>(values_.size() / row); }

  ColumnView view() {
    return {label_,
            {ScalarKind::real, width, nodes_per_block},
            row * sizeof(Real),
            values_.size() / row,
            reinterpret_cast<std::byte*>(values_.data())};
  }
  std::size_t bytes() const { return values_.capacity() * sizeof(Real); }

 private:
  Label label_;
  std::vector<Real, LinesAllocator<Real>> values_;
};

/// What the bodies of one layer share: bodies on the same layer meet, bodies on different layers do not see each other.
struct Layer {
  NodeField inertia{"mass_and_momentum", "kg, kg m/s"};  ///< m, m v_x, m v_y, m v_z; forces times dt included.
  NodeField velocity{"velocity",
                     "m/s"};  ///< v_x, v_y, v_z after forces, gravity and walls; 1 if the node has mass, else 0.

  /// Ready for a scatter on this many blocks: no inertia; velocities are for `advance` to write.
  void reset(int blocks) {
    inertia.reset(blocks);
    velocity.resize(blocks);
  }
};

}  // namespace weft
