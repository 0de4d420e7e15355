#pragma once
// Fields on the active blocks: a row for each block, in it what its 64 nodes, or 64 cells, have side by side.

#include "weft/base/memory.hpp"
#include "weft/fields/table.hpp"
#include "weft/grid/block_map.hpp"

#include <concepts>
#include <memory>
#include <string_view>
#include <vector>

namespace weft {

/// Values on blocks, of whatever width.
class BlockValues {
 public:
  virtual ~BlockValues() = default;

  /// All zero, on this many blocks.
  void reset(int blocks) {
    resize(blocks);
    const auto count = static_cast<std::ptrdiff_t>(values_.size());
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t k = 0; k < count; ++k) values_[k] = 0;
  }
  /// On this many blocks; values are left as they were where there were some. Memory grows by an eighth beyond what is
  /// asked for, not twofold: nodes of thin bodies take more of it than their points.
  void resize(int blocks) {
    const std::size_t count = static_cast<std::size_t>(blocks) * row_reals();
    if (count > values_.capacity()) values_.reserve(values_.empty() ? count : count + count / 8);
    values_.resize(count);
  }

  int blocks() const { return static_cast<int>(values_.size() / row_reals()); }
  const Label& label() const { return label_; }
  ColumnView view() {
    return {label_,
            {ScalarKind::real, width_, nodes_per_block},
            row_reals() * sizeof(Real),
            values_.size() / row_reals(),
            reinterpret_cast<std::byte*>(values_.data())};
  }
  std::size_t bytes() const { return values_.capacity() * sizeof(Real); }

 protected:
  BlockValues(const Label& label, int width) : label_(label), width_(width) {}

  std::vector<Real, LinesAllocator<Real>> values_;

 private:
  std::size_t row_reals() const { return static_cast<std::size_t>(width_) * nodes_per_block; }

  Label label_;
  int width_;
};

/// So many reals for each node or cell of a block.
template <int reals>
class BlockField final : public BlockValues {
 public:
  static constexpr int width = reals;
  static constexpr int row = nodes_per_block * width;

  explicit BlockField(const Label& label) : BlockValues(label, width) {}
  BlockField(std::string_view name, std::string_view unit) : BlockField(Label{name, unit, Keep::work}) {}

  Real* block(int b) { return values_.data() + static_cast<std::size_t>(b) * row; }
  const Real* block(int b) const { return values_.data() + static_cast<std::size_t>(b) * row; }
};

/// Four reals for each node, so that a node is one vector register and a block one message row.
using NodeField = BlockField<4>;
/// A number for each cell.
using CellField = BlockField<1>;

/// A key of a field on blocks derives from NodeKey or CellKey and has `static constexpr Label label`.
struct NodeKey {
  using Values = NodeField;
};
struct CellKey {
  using Values = CellField;
};
template <class F>
concept BlockKeyed = std::derived_from<typename F::Values, BlockValues> && requires {
  { F::label } -> std::convertible_to<Label>;
};

/// m, m v_x, m v_y, m v_z of a node; forces times dt included.
struct NodeInertia : NodeKey {
  static constexpr Label label{"mass_and_momentum", "kg, kg m/s", Keep::work};
};
/// v_x, v_y, v_z of a node after forces, gravity and walls; 1 if the node has mass, else 0.
struct NodeVelocity : NodeKey {
  static constexpr Label label{"velocity", "m/s", Keep::work};
};

/// The fields of a grid layer, each under its key.
class Layer {
 public:
  Layer() {
    add<NodeInertia>();
    add<NodeVelocity>();
  }

  /// Adds a field. A key may stand only once.
  template <BlockKeyed F>
  void add() {
    WEFT_ENSURE(find(F::label.name) == nullptr);
    fields_.push_back(std::make_unique<typename F::Values>(F::label));
  }
  template <BlockKeyed F>
  bool has() const {
    return find(F::label.name) != nullptr;
  }
  template <BlockKeyed F>
  typename F::Values& get() {
    return static_cast<typename F::Values&>(*found(F::label.name));
  }
  template <BlockKeyed F>
  const typename F::Values& get() const {
    return static_cast<const typename F::Values&>(*found(F::label.name));
  }

  /// Ready for a scatter on this many blocks: no inertia; other values are for later stages to write.
  void reset(int blocks) {
    for (const auto& field : fields_) field->resize(blocks);
    get<NodeInertia>().reset(blocks);
  }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& field : fields_) sum += field->bytes();
    return sum;
  }

 private:
  BlockValues* find(std::string_view name) const {
    for (const auto& field : fields_)
      if (field->label().name == name) return field.get();
    return nullptr;
  }
  BlockValues* found(std::string_view name) const {
    BlockValues* const field = find(name);
    WEFT_ENSURE(field != nullptr);
    return field;
  }

  std::vector<std::unique_ptr<BlockValues>> fields_;
};

}  // namespace weft
