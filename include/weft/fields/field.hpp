#pragma once
// Field keys: a quantity carried by points or elements is declared once, with name, unit and purpose. Checkpoint,
// migration, frames and comparison read only these declarations.

#include "weft/base/types.hpp"
#include "weft/math/symmetric.hpp"

#include <string>
#include <string_view>
#include <type_traits>

namespace weft {

/// What becomes of a field: `state` is checkpointed and moves with its row, `shown` is recomputed for output,
/// `work` is scratch that nobody outside the step sees.
enum class Keep { state, shown, work };

struct Label {
  std::string_view name;
  std::string_view unit;
  Keep keep = Keep::state;
};

enum class ScalarKind { real, id, integer };  ///< double, std::uint64_t, std::int32_t

/// How one row of a column looks: rows x cols scalars; a vector is 3x1, two vectors are 3x2, a tensor 3x3 (column-major
/// in memory), a symmetric tensor 6x1 (xx, yy, zz, yz, xz, xy).
struct RowShape {
  ScalarKind kind = ScalarKind::real;
  int rows = 1, cols = 1;
  int components() const { return rows * cols; }
  bool operator==(const RowShape&) const = default;
};

template <class T>
constexpr RowShape shape_of() {
  if constexpr (std::is_same_v<T, Real>) return {ScalarKind::real, 1, 1};
  else if constexpr (std::is_same_v<T, PointId>) return {ScalarKind::id, 1, 1};
  else if constexpr (std::is_same_v<T, std::int32_t>) return {ScalarKind::integer, 1, 1};
  else if constexpr (std::is_same_v<T, Vec3>) return {ScalarKind::real, 3, 1};
  else if constexpr (std::is_same_v<T, Symmetric3<Real>>) return {ScalarKind::real, 6, 1};
  else if constexpr (std::is_same_v<T, Mat32>) return {ScalarKind::real, 3, 2};
  else {
    static_assert(std::is_same_v<T, Mat3>, "a field holds Real, PointId, int32, Vec3, Mat32, Mat3 or Symmetric3<Real>");
    return {ScalarKind::real, 3, 3};
  }
}

/// A field key derives from Field<its value> and has `static constexpr Label label`.
template <class T>
struct Field {
  using Value = T;
};

template <class F>
concept FieldKey = requires {
  typename F::Value;
  { F::label } -> std::convertible_to<Label>;
};

// Keys that every species shares.
struct Position : Field<Vec3> {
  static constexpr Label label{"position", "m"};
};
struct Velocity : Field<Vec3> {
  static constexpr Label label{"velocity", "m/s"};
};
/// Velocity gradient seen by the point at its last gather, before any damping: C~ of docs/theory/transfer.md (2.4).
struct Affine : Field<Mat3> {
  static constexpr Label label{"velocity_gradient", "1/s"};
};
struct Mass : Field<Real> {
  static constexpr Label label{"mass", "kg"};
};
struct Id : Field<PointId> {
  static constexpr Label label{"id", "1"};
};
struct ElasticF : Field<Mat3> {
  static constexpr Label label{"elastic_deformation", "1"};
};

}  // namespace weft
