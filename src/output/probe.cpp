// Probes: exact measures of a distributed table.

#include "weft/output/probe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace weft {

namespace {

constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();
constexpr Real infinity = std::numeric_limits<Real>::infinity();

/// What follows the name of a field for component c of a row: nothing, _x, or _xy (row, column).
std::string suffix(RowShape shape, int c) {
  constexpr char axes[] = "xyz";
  if (shape.components() == 1) return "";
  if (shape == shape_of<Symmetric3<Real>>())
    return std::array{"_xx", "_yy", "_zz", "_yz", "_xz", "_xy"}[static_cast<std::size_t>(c)];
  const char row = axes[c % shape.rows];
  if (shape.cols == 1) return {'_', row};
  return {'_', row, axes[c / shape.rows]};
}

/// Unsigned integers in the order of the reals, so that selection can go digit by digit.
std::uint64_t order_key(Real x) {
  const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);  // -0 becomes +0
  return bits >> 63 ? ~bits : bits | (std::uint64_t{1} << 63);
}
Real from_order_key(std::uint64_t key) {
  return std::bit_cast<Real>(key >> 63 ? key & ~(std::uint64_t{1} << 63) : ~key);
}

/// The value at offset k (from 0) of all ranks' sorted values: radix selection, eight bits at a time.
Real select(const Comm& comm, std::span<const Real> values, std::int64_t k) {
  std::uint64_t key = 0, decided = 0;  // the digits found so far, and which bits they are
  for (int shift = 56; shift >= 0; shift -= 8) {
    std::array<std::int64_t, 256> counts{};
    for (const Real value : values) {
      const std::uint64_t other = order_key(value);
      if ((other & decided) == key) ++counts[(other >> shift) & 255];
    }
    comm.sum(std::span<std::int64_t>(counts));
    std::uint64_t digit = 0;
    for (; k >= counts[digit]; ++digit) k -= counts[digit];
    key |= digit << shift;
    decided |= std::uint64_t{255} << shift;
  }
  return from_order_key(key);
}

}  // namespace

ScalarField::ScalarField(Table& table, const std::string& name) : owned_(table.owned()) {
  for (const ColumnView& column : table.columns())
    for (int c = 0; c < column.shape.components(); ++c)
      if (name == std::string(column.label.name) + suffix(column.shape, c)) {
        column_ = column;
        component_ = c;
        unit_ = column.label.unit;
        return;
      }
  throw Error(ExitCode::deck, fmt::format("There is no field \"{}\" that is one number for each point. Choose one of: "
                                          "{}.",
                                          name, fmt::join(scalar_names(table), ", ")));
}

Real ScalarField::operator()(std::size_t row) const {
  const auto read = [&]<class T>(T value) {
    std::memcpy(&value, column_.row(row) + static_cast<std::size_t>(component_) * sizeof(T), sizeof(T));
    return static_cast<Real>(value);
  };
  switch (column_.shape.kind) {
    case ScalarKind::id:
      return read(PointId{});
    case ScalarKind::integer:
      return read(std::int32_t{});
    default:
      return read(Real{});
  }
}

std::vector<Real> ScalarField::values() const {
  std::vector<Real> all(owned_);
  for (std::size_t r = 0; r < owned_; ++r) all[r] = (*this)(r);
  return all;
}

std::vector<std::string> scalar_names(Table& table) {
  std::vector<std::string> names;
  for (const ColumnView& column : table.columns())
    for (int c = 0; c < column.shape.components(); ++c)
      names.push_back(std::string(column.label.name) + suffix(column.shape, c));
  return names;
}

Vec3 centre_of_mass(const Comm& comm, Table& table) {
  const auto mass = table.get<Mass>();
  const auto position = table.get<Position>();
  std::array<Real, 4> sums{};
  for (std::size_t p = 0; p < table.owned(); ++p) {
    for (int a = 0; a < 3; ++a) sums[static_cast<std::size_t>(a)] += mass[p] * position[p][a];
    sums[3] += mass[p];
  }
  comm.sum(std::span<Real>(sums));
  if (!(sums[3] > 0)) return Vec3::Constant(nan);
  return Vec3(sums[0], sums[1], sums[2]) / sums[3];
}

Extent extent(const Comm& comm, Table& table) {
  Extent box{Vec3::Constant(infinity), Vec3::Constant(-infinity)};
  for (const Vec3& x : table.get<Position>().first(table.owned())) {
    box.lower = box.lower.cwiseMin(x);
    box.upper = box.upper.cwiseMax(x);
  }
  comm.min(std::span<Real>(box.lower.data(), 3));
  comm.max(std::span<Real>(box.upper.data(), 3));
  if ((box.lower.array() > box.upper.array()).any()) return {Vec3::Constant(nan), Vec3::Constant(nan)};
  return box;
}

Real quantile(const Comm& comm, std::span<const Real> values, Real q) {
  WEFT_ENSURE(q >= 0 && q <= 1);
  bool any_nan = false;
  for (const Real value : values) any_nan = any_nan || std::isnan(value);
  const std::int64_t count = comm.sum(static_cast<std::int64_t>(values.size()));
  if (comm.any(any_nan) || count == 0) return nan;

  const Real place = q * static_cast<Real>(count - 1);
  const Real fraction = place - std::floor(place);
  const auto k = static_cast<std::int64_t>(place);
  const Real below = select(comm, values, k);
  if (fraction == 0) return below;
  const Real above = select(comm, values, k + 1);
  // From the nearer end, so that q = 1 is met exactly.
  return fraction < 0.5 ? below + (above - below) * fraction : above - (above - below) * (1 - fraction);
}

std::optional<NearestRow> nearest_row(const Comm& comm, Table& table, const Vec3& point) {
  const auto position = table.get<Position>();
  const auto id = table.get<Id>();
  Real squared_distance = infinity;
  PointId nearest = std::numeric_limits<PointId>::max();
  for (std::size_t p = 0; p < table.owned(); ++p) {
    const Real d = (position[p] - point).squaredNorm();
    if (d < squared_distance || (d == squared_distance && id[p] < nearest)) squared_distance = d, nearest = id[p];
  }
  const Real least = comm.min(squared_distance);
  if (!(least < infinity)) return std::nullopt;
  // An id has more digits than a real: the smallest upper half first, then the smallest lower half with it.
  const bool mine = squared_distance == least;
  const Real high = comm.min(mine ? static_cast<Real>(nearest >> 32) : infinity);
  const bool mine_high = mine && static_cast<Real>(nearest >> 32) == high;
  const Real low = comm.min(mine_high ? static_cast<Real>(nearest & 0xffffffffu) : infinity);
  return NearestRow{(static_cast<PointId>(high) << 32) | static_cast<PointId>(low), std::sqrt(least)};
}

std::optional<Real> value_at(const Comm& comm, const Table& table, PointId id, const ScalarField& scalar) {
  const auto ids = table.get<Id>();
  std::array<Real, 2> found{};  // value, how many
  for (std::size_t p = 0; p < table.owned(); ++p)
    if (ids[p] == id) found = {scalar(p), 1};
  comm.sum(std::span<Real>(found));
  if (found[1] == 0) return std::nullopt;
  return found[0];
}

}  // namespace weft
