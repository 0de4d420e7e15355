#pragma once
// Probes: exact measures of a distributed table. None depends on how the rows are spread over ranks, but for the
// round-off of sums.

#include "weft/fields/table.hpp"
#include "weft/parallel/comm.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// One number of each row of a table, by name: `pressure`, `position_x`, `elastic_deformation_yz`. Not owned; valid
/// until the table changes.
class ScalarField {
 public:
  /// Throws Error(deck) listing the names that would do.
  ScalarField(Table& table, const std::string& name);
  Real operator()(std::size_t row) const;
  const std::string& unit() const { return unit_; }
  /// Of the owned rows.
  std::vector<Real> values() const;

 private:
  ColumnView column_;
  std::size_t owned_;
  int component_ = 0;
  std::string unit_;
};

/// All names that ScalarField understands for this table, in the table's order.
std::vector<std::string> scalar_names(Table& table);

/// Mass-weighted mean position [m]; NaN if there is no mass. Needs `mass` and `position`. Collective.
Vec3 centre_of_mass(const Comm& comm, Table& table);

/// The smallest box around the owned positions [m].
struct Extent {
  Vec3 lower, upper;  ///< NaN if there are no rows.
};
/// Collective.
Extent extent(const Comm& comm, Table& table);

/// The value below which the fraction q in [0, 1] of all ranks' values lies, interpolated linearly between the two
/// nearest ranks of the sorted values (definition 7 of Hyndman and Fan 1996, numpy's default). Exact. NaN if any value
/// is NaN or there is none. Collective.
Real quantile(const Comm& comm, std::span<const Real> values, Real q);

struct NearestRow {
  PointId id;
  Real distance;  ///< [m].
};
/// The owned row nearest to `point` [m], that of the smallest id if several are; none in an empty table. Collective.
std::optional<NearestRow> nearest_row(const Comm& comm, Table& table, const Vec3& point);

/// What `scalar`, a field of as many rows as `table`, holds in the owned row with this id; none if there is no such
/// row. Collective.
std::optional<Real> value_at(const Comm& comm, const Table& table, PointId id, const ScalarField& scalar);

}  // namespace weft
