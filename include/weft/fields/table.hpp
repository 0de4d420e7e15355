#pragma once
// A table: columns of equal length, one per field key. Rows are ordered [owned, ghost].

#include "weft/base/check.hpp"
#include "weft/base/memory.hpp"
#include "weft/fields/field.hpp"

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace weft {

/// An untyped look at one column (not owned); what exchange, files and comparison work on.
struct ColumnView {
  Label label;
  RowShape shape;
  std::size_t row_bytes = 0;
  std::size_t rows = 0;
  std::byte* data = nullptr;

  std::byte* row(std::size_t r) const { return data + r * row_bytes; }
};

/// Bytes that keep what stood in them while they grow, and do not touch what is new: to touch fresh memory costs more
/// than to write it.
class Buffer {
 public:
  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  std::size_t capacity() const { return capacity_; }
  void resize(std::size_t bytes);
  /// What stood in them may be lost.
  void renew(std::size_t bytes);

 private:
  Lines bytes_;
  std::size_t size_ = 0, capacity_ = 0;
};

class Table {
 public:
  Table() = default;

  /// A table with these columns and no rows.
  template <FieldKey... F>
  static Table with() {
    Table table;
    (table.add<F>(), ...);
    return table;
  }

  /// Adds a column (zero-filled for existing rows). A name may stand only once.
  template <FieldKey F>
  void add() {
    add(F::label, shape_of<typename F::Value>(), sizeof(typename F::Value));
  }

  template <FieldKey F>
  bool has() const {
    return find(F::label.name) >= 0;
  }

  /// The values of one field, owned rows first.
  template <FieldKey F>
  std::span<typename F::Value> get() {
    Column& column = columns_[index<F>()];
    return {reinterpret_cast<typename F::Value*>(column.bytes.data()), rows_};
  }
  template <FieldKey F>
  std::span<const typename F::Value> get() const {
    const Column& column = columns_[index<F>()];
    return {reinterpret_cast<const typename F::Value*>(column.bytes.data()), rows_};
  }

  std::size_t rows() const { return rows_; }
  std::size_t owned() const { return owned_; }
  std::size_t ghosts() const { return rows_ - owned_; }

  /// Changes the number of rows; new rows are zero. Every row is owned afterwards unless `owned` says otherwise.
  void resize(std::size_t rows) { resize(rows, rows); }
  void resize(std::size_t rows, std::size_t owned);

  /// Row r becomes what row order[r] was; order may be shorter than the table (rows are dropped) and may repeat.
  /// All rows count as owned afterwards. What stood in the columns `overwritten` is lost: whoever writes all their rows
  /// next saves that they are moved.
  void reorder(std::span<const std::uint32_t> order, std::initializer_list<std::string_view> overwritten = {});

  /// Views of all columns whose keep is one of those asked for.
  std::vector<ColumnView> columns();
  std::vector<ColumnView> columns(Keep keep);
  /// The view of a column by name; row_bytes is 0 if there is none.
  ColumnView column(std::string_view name);

  std::size_t bytes() const;

 private:
  struct Column {
    Label label;
    RowShape shape;
    std::size_t row_bytes;
    Buffer bytes;
  };

  void add(Label label, RowShape shape, std::size_t row_bytes);
  int find(std::string_view name) const;
  /// Clears rows [first, end of the table).
  void zero_from(Column& column, std::size_t first);
  ColumnView view(Column& column);

  template <FieldKey F>
  int index() const {
    // A key's own name is found by its address alone; chunks look up columns often.
    for (std::size_t c = 0; c < names_.size(); ++c)
      if (names_[c].data() == F::label.name.data()) return static_cast<int>(c);
    const int i = find(F::label.name);
    WEFT_ENSURE(i >= 0);
    return i;
  }

  std::vector<Column> columns_;
  std::vector<std::string_view> names_;  ///< Of the columns.
  Buffer spare_;                         ///< For reorder: as wide as the widest column and as the narrowest in turn.
  bool spare_is_narrow_ = false;         ///< It is the narrowest's turn.
  std::size_t rows_ = 0, owned_ = 0;
};

}  // namespace weft
