#include "weft/solve/conditions.hpp"

#include "weft/base/check.hpp"
#include "weft/solve/conjugate_gradients.hpp"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace weft {
namespace {

/// What is added to the diagonal of S, scaled to ones, before it is factored; iterations take it out again.
constexpr Real shift = 1e-9;
/// The same where there is no exact solution.
constexpr Real large_shift = 1e-6;
/// Iterations end at this part of the change.
constexpr Real tolerance = 1e-14;
/// What is missing of a change that can be brought about is less than this part of it, after at most so many
/// iterations.
constexpr Real reachable = 1e-7;
constexpr int most_iterations = 40;
/// Conditions along which points give way by less than this part of what they do across are left out: round-off is all
/// that walls leave there.
constexpr Real least_mobility = 1e-10;

/// Of S, scaled to ones on the diagonal: less is round-off, as between axes that are normal to one another.
constexpr Real negligible = 1e-15;

/// Numbers in the message for a part of a bundle: its conditions, the point, the weights.
constexpr std::size_t part_width = 12;
constexpr std::uint32_t most_in_bundle = 3;
/// Numbers are sorted by counting while they spread over no more than so many for each of them.
constexpr std::size_t most_counted = 8;

/// How many conditions from c on are a bundle.
std::uint32_t bundle_at(const ConstraintRows& rows, std::size_t c) {
  const auto freedoms = [&](std::size_t of) {
    return std::span(rows.freedom).subspan(rows.begin[of], rows.begin[of + 1] - rows.begin[of]);
  };
  std::uint32_t count = 1;
  while (count < most_in_bundle && c + count < rows.count() && std::ranges::equal(freedoms(c), freedoms(c + count)))
    ++count;
  return count;
}

/// Which number comes when in their order; equal ones as they stand.
std::vector<std::uint32_t> order_of(std::span<const std::int64_t> numbers) {
  std::vector<std::uint32_t> order(numbers.size());
  const auto [least, most] = std::ranges::minmax(numbers);
  if (const auto range = static_cast<std::size_t>(most - least) + 1; range <= most_counted * numbers.size()) {
    std::vector<std::uint32_t> place(range + 1, 0);
    for (const std::int64_t n : numbers) ++place[static_cast<std::size_t>(n - least) + 1];
    for (std::size_t n = 1; n < place.size(); ++n) place[n] += place[n - 1];
    for (std::uint32_t e = 0; e < numbers.size(); ++e) order[place[static_cast<std::size_t>(numbers[e] - least)]++] = e;
  } else {  // a few of many nodes
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t e) { return numbers[e]; });
  }
  return order;
}

}  // namespace

void Conditions::take(const ConstraintRows& rows, const PointNumbers& numbers) {
  WEFT_ENSURE(rows.freedom.size() % 3 == 0);
  own_count_ = rows.count();
  first_ = static_cast<std::size_t>(comm_.offset(static_cast<std::int64_t>(own_count_)));
  count_ = static_cast<std::size_t>(comm_.sum(static_cast<std::int64_t>(own_count_)));
  std::vector<Entry> entries;
  entries.reserve(rows.freedom.size() / 3);
  for (std::size_t c = 0; c < rows.count();) {
    const std::uint32_t bundled = bundle_at(rows, c);
    append_bundle(rows, c, bundled, numbers, entries);
    c += bundled;
  }
  if (comm_.size() > 1 && any()) entries = of_all_ranks(entries);
  sort_parts(entries);
  owned_from_ = numbers.first;
  first_owned_ = place_of(numbers.first);
  end_owned_ = place_of(numbers.first + static_cast<std::int64_t>(numbers.owned));
}

void Conditions::append_bundle(const ConstraintRows& rows, std::size_t c, std::uint32_t count,
                               const PointNumbers& numbers, std::vector<Entry>& entries) const {
  const std::size_t parts = (rows.begin[c + 1] - rows.begin[c]) / 3;
  for (std::size_t k = 0; k < parts; ++k) {
    Entry entry{numbers.of_freedom(rows.freedom[rows.begin[c] + 3 * k]),
                {static_cast<std::uint32_t>(first_ + c), count, Mat3::Zero()}};
    for (std::uint32_t i = 0; i < count; ++i)
      entry.part.weights.col(i) = Vec3::Map(rows.weight.data() + rows.begin[c + i] + 3 * k);
    entries.push_back(entry);
  }
}

/// Each rank writes its parts between zeros; the sum over ranks has all of them.
std::vector<Conditions::Entry> Conditions::of_all_ranks(std::span<const Entry> own) const {
  const auto own_count = static_cast<std::int64_t>(own.size());
  const auto total = static_cast<std::size_t>(comm_.sum(own_count));
  std::vector<Real> all(part_width * total, 0.0);
  Real* to = all.data() + part_width * static_cast<std::size_t>(comm_.offset(own_count));
  for (const auto& [number, part] : own) {
    *to++ = static_cast<Real>(part.first);
    *to++ = static_cast<Real>(part.count);
    *to++ = static_cast<Real>(number);
    to = std::copy_n(part.weights.data(), 9, to);
  }
  comm_.sum(all);
  std::vector<Entry> entries;
  entries.reserve(total);
  for (std::size_t i = 0; i < all.size(); i += part_width)
    entries.push_back({static_cast<std::int64_t>(all[i + 2]),
                       {static_cast<std::uint32_t>(all[i]), static_cast<std::uint32_t>(all[i + 1]),
                        Mat3(Mat3::Map(all.data() + i + 3))}});
  return entries;
}

/// Sorts by point, and parts of a point by condition, as they come.
void Conditions::sort_parts(std::span<const Entry> entries) {
  points_.clear();
  parts_.clear();
  if (entries.empty()) return;
  std::vector<std::int64_t> numbers;
  numbers.reserve(entries.size());
  for (const Entry& entry : entries) numbers.push_back(entry.number);
  parts_.reserve(entries.size());
  for (const std::uint32_t e : order_of(numbers)) {
    const auto& [number, part] = entries[e];
    if (points_.empty() || points_.back().number != number) points_.push_back({number, parts_.size(), 0});
    if (parts_.size() > points_.back().begin && parts_.back().first == part.first)
      parts_.back().weights += part.weights;
    else parts_.push_back(part);
    points_.back().end = parts_.size();
  }
}

/// Of the first point with this number or a larger one.
std::size_t Conditions::place_of(std::int64_t number) const {
  const auto found = std::lower_bound(points_.begin(), points_.end(), number,
                                      [](const Point& point, std::int64_t n) { return point.number < n; });
  return static_cast<std::size_t>(found - points_.begin());
}

std::vector<Real> Conditions::from_all_ranks(std::span<const Real> own) const {
  WEFT_ENSURE(own.size() == own_count_);
  std::vector<Real> all(count_, 0.0);
  std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(first_));
  if (comm_.size() > 1 && any()) comm_.sum(all);
  return all;
}

// --- The Schur complement --------------------------------------------------------------------------------------------

namespace {

using Sparse = Eigen::SparseMatrix<Real, Eigen::ColMajor, int>;
using Factor = Eigen::SimplicialLDLT<Sparse>;

}  // namespace

/// Where bundles have their parts.
struct SchurComplement::BundleParts {
  struct At {
    std::uint32_t point, part;
  };
  std::vector<std::uint32_t> size;  ///< Of the bundle that begins with a condition; 0 for others.
  std::vector<std::size_t> begin;   ///< In `all`, of the same bundle.
  std::vector<At> all;
};

/// The lower triangle of a matrix, column by column.
struct SchurComplement::Triangle {
  std::vector<int> outer{0}, inner;
  std::vector<Real> values;

  Eigen::Map<const Sparse> matrix() const {
    const auto n = static_cast<Eigen::Index>(outer.size()) - 1;
    return {n, n, static_cast<Eigen::Index>(inner.size()), outer.data(), inner.data(), values.data()};
  }
  Real& diagonal(Eigen::Index c) { return values[static_cast<std::size_t>(outer[static_cast<std::size_t>(c)])]; }
  void append_columns(std::span<const std::uint32_t> rows, std::span<const std::uint32_t> sizes, std::span<Mat3> sums);
  void scale(const RealVector& by);
  void drop_round_off();
};

struct SchurComplement::Factors {
  Triangle S;        ///< Scaled to ones on the diagonal.
  RealVector scale;  ///< 1 / sqrt(S_cc); 0 for what cannot be moved.
  bool is_rigid = true;
  Factor symmetric;                    ///< Of S and a shift, where conditions are rigid.
  mutable std::optional<Factor> soft;  ///< Of a larger shift; made when it is first needed.
  std::optional<Eigen::SparseLU<Sparse>> unsymmetric;

  std::vector<int> outer, inner;  ///< The pattern that `symmetric` was begun for.

  Sparse shifted(Real by) const;
  void factor(Real shifted_by);
  bool iterate(const RealVector& change, RealVector& lambda) const;
  RealVector solve_rigid(const RealVector& change) const;
  RealVector solve_compliant(const RealVector& change) const;
};

SchurComplement::SchurComplement(const Conditions& conditions)
    : conditions_(conditions), factors_(std::make_unique<Factors>()) {}

SchurComplement::~SchurComplement() = default;

SchurComplement::BundleParts SchurComplement::parts_of_bundles() const {
  const std::span<const Conditions::Point> points = conditions_.points_;
  const std::span<const Conditions::Part> parts = conditions_.parts_;
  BundleParts found;
  found.size.assign(conditions_.count(), 0);
  found.begin.assign(conditions_.count() + 1, 0);
  for (const Conditions::Part& part : parts) {
    found.size[part.first] = part.count;
    ++found.begin[part.first + 1];
  }
  for (std::size_t c = 0; c < conditions_.count(); ++c) found.begin[c + 1] += found.begin[c];
  std::vector<std::size_t> next(found.begin.begin(), found.begin.end() - 1);
  found.all.resize(parts.size());
  for (std::uint32_t p = 0; p < points.size(); ++p)
    for (auto k = static_cast<std::uint32_t>(points[p].begin); k < points[p].end; ++k)
      found.all[next[parts[k].first]++] = {p, k};
  return found;
}

/// W A W^T, bundle by bundle, by the points that it shares with later ones; of each point its owner adds its part.
SchurComplement::Triangle SchurComplement::sum_up(const BundleParts& bundles) const {
  const std::span<const Conditions::Part> parts = conditions_.parts_;
  const std::size_t count = conditions_.count();
  Triangle S;
  std::vector<Mat3> sum(count, Mat3::Zero());   // of a bundle's conditions (rows) with those of this one (columns)
  std::vector<std::size_t> last(count, count);  // bundle that shared a point with a bundle last
  std::vector<std::uint32_t> rows;
  for (std::size_t c = 0; c < count; c += std::max(bundles.size[c], 1u)) {
    rows.assign(1, static_cast<std::uint32_t>(c));
    last[c] = c;
    for (std::size_t i = bundles.begin[c]; i < bundles.begin[c + 1]; ++i) {
      const auto& [p, own_part] = bundles.all[i];
      for (std::size_t k = own_part; k < conditions_.points_[p].end; ++k)
        if (std::exchange(last[parts[k].first], c) != c) rows.push_back(parts[k].first);
      if (!conditions_.owns(p)) continue;
      const Mat3 given = mobility_[p - conditions_.first_owned_] * parts[own_part].weights;
      for (std::size_t k = own_part; k < conditions_.points_[p].end; ++k)
        sum[parts[k].first].noalias() += parts[k].weights.transpose() * given;
    }
    std::sort(rows.begin(), rows.end());
    S.append_columns(rows, bundles.size, sum);
  }
  if (conditions_.comm_.size() > 1 && count > 0) conditions_.comm_.sum(S.values);
  return S;
}

/// What S_cc would be if points gave way in all directions as they do most.
std::vector<Real> SchurComplement::most_given(const BundleParts& bundles) const {
  std::vector<Real> most(conditions_.count(), 0.0);
  for (std::size_t c = 0; c < most.size(); c += std::max(bundles.size[c], 1u))
    for (std::size_t i = bundles.begin[c]; i < bundles.begin[c + 1]; ++i)
      if (const auto& [p, part] = bundles.all[i]; conditions_.owns(p))
        for (std::uint32_t j = 0; j < bundles.size[c]; ++j)
          most[c + j] +=
              mobility_[p - conditions_.first_owned_].norm() * conditions_.parts_[part].weights.col(j).squaredNorm();
  if (conditions_.comm_.size() > 1 && !most.empty()) conditions_.comm_.sum(most);
  return most;
}

/// Of the bundle rows[0] with itself and later ones; clears the sums.
void SchurComplement::Triangle::append_columns(std::span<const std::uint32_t> rows,
                                               std::span<const std::uint32_t> sizes, std::span<Mat3> sums) {
  const auto size = [&](std::uint32_t row) { return std::max(sizes[row], 1u); };
  for (std::uint32_t column = 0; column < size(rows[0]); ++column) {
    for (const std::uint32_t row : rows)
      for (std::uint32_t i = row == rows[0] ? column : 0; i < size(row); ++i) {
        inner.push_back(static_cast<int>(row + i));
        values.push_back(sums[row](i, column));
      }
    outer.push_back(static_cast<int>(inner.size()));
  }
  for (const std::uint32_t row : rows) sums[row].setZero();
}

void SchurComplement::Triangle::scale(const RealVector& by) {
  for (Eigen::Index c = 0; c < by.size(); ++c)
    for (int k = outer[c]; k < outer[c + 1]; ++k) values[k] *= by[c] * by[inner[k]];
}

/// Axes that are normal to one another then have factors of their own.
void SchurComplement::Triangle::drop_round_off() {
  std::size_t kept = 0, k = 0;
  for (std::size_t c = 0; c + 1 < outer.size(); ++c) {
    for (const auto end = static_cast<std::size_t>(outer[c + 1]); k < end; ++k) {
      if (inner[k] != static_cast<int>(c) && std::abs(values[k]) <= negligible) continue;
      inner[kept] = inner[k];
      values[kept++] = values[k];
    }
    outer[c + 1] = static_cast<int>(kept);
  }
  inner.resize(kept);
  values.resize(kept);
}

void SchurComplement::factor_rigid() {
  const BundleParts bundles = parts_of_bundles();
  const std::vector<Real> most = most_given(bundles);
  Factors& f = *factors_;
  f.S = sum_up(bundles);
  f.scale.setZero(static_cast<Eigen::Index>(most.size()));
  for (Eigen::Index c = 0; c < f.scale.size(); ++c)
    if (const Real diagonal = f.S.diagonal(c); diagonal > least_mobility * most[c])
      f.scale[c] = 1 / std::sqrt(diagonal);
  f.S.scale(f.scale);
  f.S.drop_round_off();
  f.is_rigid = true;
  f.factor(shift);
}

void SchurComplement::factor_compliant(std::span<const Real> compliance, bool is_symmetric) {
  const BundleParts bundles = parts_of_bundles();
  Factors& f = *factors_;
  f.S = sum_up(bundles);
  f.scale.setZero(static_cast<Eigen::Index>(compliance.size()));
  for (Eigen::Index c = 0; c < f.scale.size(); ++c) {
    f.S.diagonal(c) += compliance[c];
    if (compliance[c] > 0) f.scale[c] = 1 / std::sqrt(std::max(f.S.diagonal(c), compliance[c]));
  }
  f.S.scale(f.scale);
  f.is_rigid = false;
  f.unsymmetric.reset();
  if (is_symmetric) return f.factor(0);
  for (Mat3& mobility : mobility_) mobility.transposeInPlace();
  Triangle above = sum_up(bundles);  // transposed; its diagonal is that of S
  above.scale(f.scale);
  const Sparse strictly_above = Sparse(above.matrix().triangularView<Eigen::StrictlyLower>()).transpose();
  f.unsymmetric.emplace(Sparse(f.S.matrix() + strictly_above));
}

Sparse SchurComplement::Factors::shifted(Real by) const {
  Sparse sum = S.matrix();
  for (Eigen::Index c = 0; c < sum.cols(); ++c) sum.valuePtr()[sum.outerIndexPtr()[c]] += by;
  return sum;
}

void SchurComplement::Factors::factor(Real shifted_by) {
  const Sparse sum = shifted(shifted_by);
  if (S.outer != outer || S.inner != inner) {
    symmetric.analyzePattern(sum);
    outer = S.outer;
    inner = S.inner;
  }
  symmetric.factorize(sum);
  soft.reset();
}

/// From zero, preconditioned by the nearly exact factors. False if there is no solution.
bool SchurComplement::Factors::iterate(const RealVector& change, RealVector& lambda) const {
  const auto matrix = S.matrix().selfadjointView<Eigen::Lower>();
  lambda.setZero(change.size());
  const Real size = change.norm();
  if (!(size > 0)) return true;
  RealVector x, r = change;
  Real least = size;
  conjugate_gradients(
      x, r, tolerance * size, most_iterations, [&](const RealVector& p, RealVector& S_p) { S_p = matrix * p; },
      [&](const RealVector& left, RealVector& z) { z = symmetric.solve(left); },
      [](const RealVector& p, const RealVector& S_p) { return p.dot(S_p); },
      [](const RealVector& left, const RealVector& z) { return std::pair(left.dot(z), left.squaredNorm()); },
      [&](const RealVector& now, Real length) {
        if (!(length < least)) return;
        lambda = now;
        least = length;
      });
  return least <= reachable * size;
}

RealVector SchurComplement::Factors::solve_rigid(const RealVector& change) const {
  RealVector found;
  if (iterate(change, found)) return found;
  if (!soft) soft.emplace(shifted(large_shift));
  return soft->solve(change);
}

/// Where S has no factors, as if conditions had nothing to do with one another.
RealVector SchurComplement::Factors::solve_compliant(const RealVector& change) const {
  if (unsymmetric) return unsymmetric->info() == Eigen::Success ? RealVector(unsymmetric->solve(change)) : change;
  return symmetric.info() == Eigen::Success ? RealVector(symmetric.solve(change)) : change;
}

std::vector<Real> SchurComplement::solve(std::span<const Real> change) const {
  const Factors& f = *factors_;
  std::vector<Real> lambda(change.size());
  const RealVector scaled = f.scale.cwiseProduct(Eigen::Map<const RealVector>(change.data(), f.scale.size()));
  const RealVector found = f.is_rigid ? f.solve_rigid(scaled) : f.solve_compliant(scaled);
  Eigen::Map<RealVector>(lambda.data(), f.scale.size()) = f.scale.cwiseProduct(found);
  return lambda;
}

}  // namespace weft
