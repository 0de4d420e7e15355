#include "weft/solve/conditions.hpp"

#include "weft/base/check.hpp"

#include <Eigen/SparseCholesky>

#include <algorithm>
#include <cmath>
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
  const auto [least, most] = std::minmax_element(entries.begin(), entries.end(),
                                                 [](const Entry& a, const Entry& b) { return a.number < b.number; });
  const std::int64_t from = least->number;
  std::vector<std::uint32_t> place(static_cast<std::size_t>(most->number - from) + 2, 0);
  for (const Entry& entry : entries) ++place[static_cast<std::size_t>(entry.number - from) + 1];
  for (std::size_t n = 1; n < place.size(); ++n) place[n] += place[n - 1];
  std::vector<std::uint32_t> order(entries.size());
  for (std::uint32_t e = 0; e < entries.size(); ++e)
    order[place[static_cast<std::size_t>(entries[e].number - from)]++] = e;
  parts_.reserve(entries.size());
  for (const std::uint32_t e : order) {
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

std::vector<Real> Conditions::gathered(std::span<const Real> own) const {
  WEFT_ENSURE(own.size() == own_count_);
  std::vector<Real> all(count_, 0.0);
  std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(first_));
  if (comm_.size() > 1 && any()) comm_.sum(all);
  return all;
}

// --- The Schur complement --------------------------------------------------------------------------------------------

namespace {

using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
using Sparse = Eigen::SparseMatrix<Real, Eigen::ColMajor, int>;
using Factor = Eigen::SimplicialLDLT<Sparse>;

/// The lower triangle of a symmetric matrix, column by column.
struct Triangle {
  std::vector<int> outer{0}, inner;
  std::vector<Real> values;

  Eigen::Map<const Sparse> matrix() const {
    const auto n = static_cast<Eigen::Index>(outer.size()) - 1;
    return {n, n, static_cast<Eigen::Index>(inner.size()), outer.data(), inner.data(), values.data()};
  }
};

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

struct SchurComplement::Factors {
  Triangle S;              ///< Scaled to ones on the diagonal.
  std::vector<Real> most;  ///< What S_cc would be if points gave way in all directions as they do most.
  Vector scale;            ///< 1 / sqrt(S_cc); 0 for what cannot be moved.
  Factor nearly_exact;
  mutable std::optional<Factor> soft;  ///< Made when it is first needed.

  std::vector<int> outer, inner;  ///< The pattern that these factors were begun for.

  void append_columns(std::span<const std::uint32_t> rows, std::span<const std::uint32_t> sizes, std::span<Mat3> sums);
  void scale_to_ones();
  void drop_round_off();
  Sparse shifted(Real by) const;
  void factor();
  bool iterate(const Vector& change, Vector& lambda) const;
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

/// Bundle by bundle, by the points that it shares with later ones; of each point its owner adds its part.
void SchurComplement::factor_all() {
  const std::span<const Conditions::Part> parts = conditions_.parts_;
  const std::size_t count = conditions_.count();
  const BundleParts bundles = parts_of_bundles();
  factors_->S = {};
  std::vector<Mat3> sum(count, Mat3::Zero());   // of a bundle's conditions (rows) with those of this one (columns)
  std::vector<std::size_t> last(count, count);  // bundle that shared a point with a bundle last
  std::vector<std::uint32_t> rows;
  std::vector<Real>& most = factors_->most;
  most.assign(count, 0);
  for (std::size_t c = 0; c < count; c += std::max(bundles.size[c], 1u)) {
    rows.assign(1, static_cast<std::uint32_t>(c));
    last[c] = c;
    for (std::size_t i = bundles.begin[c]; i < bundles.begin[c + 1]; ++i) {
      const auto& [p, own_part] = bundles.all[i];
      const bool owned = conditions_.first_owned_ <= p && p < conditions_.end_owned_;
      for (std::size_t k = own_part; k < conditions_.points_[p].end; ++k)
        if (std::exchange(last[parts[k].first], c) != c) rows.push_back(parts[k].first);
      if (!owned) continue;
      const Mat3& mobility = mobility_[p - conditions_.first_owned_];
      const Mat3 given = mobility * parts[own_part].weights;
      for (std::size_t k = own_part; k < conditions_.points_[p].end; ++k)
        sum[parts[k].first].noalias() += parts[k].weights.transpose() * given;
      for (std::uint32_t j = 0; j < bundles.size[c]; ++j)
        most[c + j] += mobility.norm() * parts[own_part].weights.col(j).squaredNorm();
    }
    std::sort(rows.begin(), rows.end());
    factors_->append_columns(rows, bundles.size, sum);
  }
  if (conditions_.comm_.size() > 1 && count > 0) {
    conditions_.comm_.sum(factors_->S.values);
    conditions_.comm_.sum(most);
  }
  factors_->scale_to_ones();
  factors_->drop_round_off();
  factors_->factor();
}

/// Of the bundle rows[0] with itself and later ones; clears the sums.
void SchurComplement::Factors::append_columns(std::span<const std::uint32_t> rows, std::span<const std::uint32_t> sizes,
                                              std::span<Mat3> sums) {
  const auto size = [&](std::uint32_t row) { return std::max(sizes[row], 1u); };
  for (std::uint32_t column = 0; column < size(rows[0]); ++column) {
    for (const std::uint32_t row : rows)
      for (std::uint32_t i = row == rows[0] ? column : 0; i < size(row); ++i) {
        S.inner.push_back(static_cast<int>(row + i));
        S.values.push_back(sums[row](i, column));
      }
    S.outer.push_back(static_cast<int>(S.inner.size()));
  }
  for (const std::uint32_t row : rows) sums[row].setZero();
}

void SchurComplement::Factors::scale_to_ones() {
  const auto count = static_cast<Eigen::Index>(S.outer.size()) - 1;
  scale.setZero(count);
  for (Eigen::Index c = 0; c < count; ++c)
    if (const Real diagonal = S.values[S.outer[c]]; diagonal > least_mobility * most[c])
      scale[c] = 1 / std::sqrt(diagonal);
  for (Eigen::Index c = 0; c < count; ++c)
    for (int k = S.outer[c]; k < S.outer[c + 1]; ++k) S.values[k] *= scale[c] * scale[S.inner[k]];
}

/// Axes that are normal to one another then have factors of their own.
void SchurComplement::Factors::drop_round_off() {
  std::size_t kept = 0, k = 0;
  for (std::size_t c = 0; c + 1 < S.outer.size(); ++c) {
    for (const auto end = static_cast<std::size_t>(S.outer[c + 1]); k < end; ++k) {
      if (S.inner[k] != static_cast<int>(c) && std::abs(S.values[k]) <= negligible) continue;
      S.inner[kept] = S.inner[k];
      S.values[kept++] = S.values[k];
    }
    S.outer[c + 1] = static_cast<int>(kept);
  }
  S.inner.resize(kept);
  S.values.resize(kept);
}

Sparse SchurComplement::Factors::shifted(Real by) const {
  Sparse sum = S.matrix();
  for (Eigen::Index c = 0; c < sum.cols(); ++c) sum.valuePtr()[sum.outerIndexPtr()[c]] += by;
  return sum;
}

void SchurComplement::Factors::factor() {
  const Sparse sum = shifted(shift);
  if (S.outer != outer || S.inner != inner) {
    nearly_exact.analyzePattern(sum);
    outer = S.outer;
    inner = S.inner;
  }
  nearly_exact.factorize(sum);
  soft.reset();
}

/// Conjugate gradients for S lambda = change from zero, preconditioned by the nearly exact factors. False if there is
/// no solution.
bool SchurComplement::Factors::iterate(const Vector& change, Vector& lambda) const {
  const auto matrix = S.matrix().selfadjointView<Eigen::Lower>();
  lambda.setZero(change.size());
  const Real size = change.norm();
  if (!(size > 0)) return true;
  Vector r = change, best = lambda;
  Real least = size;
  Vector z = nearly_exact.solve(r), p = z, S_p;
  Real r_z = r.dot(z);
  for (int k = 0; k < most_iterations && r.norm() > tolerance * size; ++k) {
    S_p = matrix * p;
    const Real p_S_p = p.dot(S_p);
    if (!(p_S_p > 0)) break;
    lambda += r_z / p_S_p * p;
    r -= r_z / p_S_p * S_p;
    if (r.norm() < least) {
      best = lambda;
      least = r.norm();
    }
    z = nearly_exact.solve(r);
    const Real r_z_before = std::exchange(r_z, r.dot(z));
    p = z + r_z / r_z_before * p;
  }
  lambda = best;
  return least <= reachable * size;
}

std::vector<Real> SchurComplement::solve(std::span<const Real> change) const {
  const Factors& f = *factors_;
  std::vector<Real> lambda(change.size());
  const Vector scaled = f.scale.cwiseProduct(Eigen::Map<const Vector>(change.data(), f.scale.size()));
  Vector found;
  if (!f.iterate(scaled, found)) {
    if (!f.soft) f.soft.emplace(f.shifted(large_shift));
    found = f.soft->solve(scaled);
  }
  Eigen::Map<Vector>(lambda.data(), f.scale.size()) = f.scale.cwiseProduct(found);
  return lambda;
}

}  // namespace weft
