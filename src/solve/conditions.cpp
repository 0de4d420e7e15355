#include "weft/solve/conditions.hpp"

#include "weft/base/check.hpp"

#include <Eigen/SparseCholesky>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace weft {
namespace {

/// What is added to the diagonal of S, scaled to ones, before it is factored; iterations take it out again.
constexpr Real shift = 1e-12;
/// The same where there is no exact solution.
constexpr Real large_shift = 1e-6;
/// Iterations end at this part of the change.
constexpr Real tolerance = 1e-14;
/// What is missing of a change that can be brought about is less than this part of it, after at most so many
/// iterations.
constexpr Real reachable = 1e-9;
constexpr int most_iterations = 30;
/// Conditions on points that give way by less than this part of the most movable ones are left out.
constexpr Real least_mobility = 1e-20;

/// Numbers in the message for a part of a condition: condition, point, weight.
constexpr std::size_t part_width = 5;

}  // namespace

void Conditions::take(const ConstraintRows& rows, const PointNumbers& numbers) {
  WEFT_ENSURE(rows.freedom.size() % 3 == 0);
  own_count_ = rows.count();
  first_ = static_cast<std::size_t>(comm_.offset(static_cast<std::int64_t>(own_count_)));
  const auto own_parts = static_cast<std::int64_t>(rows.freedom.size() / 3);
  std::array<std::int64_t, 2> totals{static_cast<std::int64_t>(own_count_), own_parts};
  comm_.sum(totals);
  count_ = static_cast<std::size_t>(totals[0]);
  std::vector<Entry> entries;
  entries.reserve(rows.freedom.size() / 3);
  for (std::size_t c = 0; c < rows.count(); ++c)
    for (std::size_t e = rows.begin[c]; e < rows.begin[c + 1]; e += 3)
      entries.push_back({numbers.of_freedom(rows.freedom[e]),
                         {static_cast<std::uint32_t>(first_ + c), Vec3::Map(rows.weight.data() + e)}});
  if (comm_.size() > 1 && any()) entries = of_all_ranks(entries, static_cast<std::size_t>(totals[1]));
  sort_parts(entries);
  owned_from_ = numbers.first;
  first_owned_ = place_of(numbers.first);
  end_owned_ = place_of(numbers.first + static_cast<std::int64_t>(numbers.owned));
}

/// Each rank writes its parts between zeros; the sum over ranks has all of them.
std::vector<Conditions::Entry> Conditions::of_all_ranks(std::span<const Entry> own, std::size_t total) const {
  std::vector<Real> all(part_width * total, 0.0);
  Real* to = all.data() + part_width * static_cast<std::size_t>(comm_.offset(static_cast<std::int64_t>(own.size())));
  for (const Entry& entry : own) {
    *to++ = static_cast<Real>(entry.part.condition);
    *to++ = static_cast<Real>(entry.number);
    to = std::copy_n(entry.part.weight.data(), 3, to);
  }
  comm_.sum(all);
  std::vector<Entry> entries;
  entries.reserve(total);
  for (std::size_t i = 0; i < all.size(); i += part_width)
    entries.push_back({static_cast<std::int64_t>(all[i + 1]),
                       {static_cast<std::uint32_t>(all[i]), Vec3(all[i + 2], all[i + 3], all[i + 4])}});
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
    if (parts_.size() > points_.back().begin && parts_.back().condition == part.condition)
      parts_.back().weight += part.weight;
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

std::size_t Conditions::index_of(std::size_t n) const {
  return place_of(owned_from_ + static_cast<std::int64_t>(n)) - first_owned_;
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

struct SchurComplement::Factors {
  Triangle S;    ///< Scaled to ones on the diagonal.
  Vector scale;  ///< 1 / sqrt(S_cc); 0 for what cannot be moved.
  Factor nearly_exact;
  mutable std::optional<Factor> soft;  ///< Made when it is first needed.

  void scale_to_ones();
  void factor(Factor& of, Real its_shift) const;
  bool iterate(const Vector& change, Vector& lambda) const;
};

SchurComplement::SchurComplement(const Conditions& conditions)
    : conditions_(conditions), factors_(std::make_unique<Factors>()) {}

SchurComplement::~SchurComplement() = default;

/// Column by column, by the points that a condition shares with later ones; of each point its owner adds its part.
void SchurComplement::factor_all() {
  const std::span<const Conditions::Point> points = conditions_.points_;
  const std::span<const Conditions::Part> parts = conditions_.parts_;
  const std::size_t count = conditions_.count();
  // The points and parts of condition c are those from first[c] to first[c + 1].
  std::vector<std::size_t> first(count + 1, 0);
  for (const Conditions::Part& part : parts) ++first[part.condition + 1];
  for (std::size_t c = 0; c < count; ++c) first[c + 1] += first[c];
  std::vector<std::pair<std::uint32_t, std::uint32_t>> of_condition(parts.size());
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  for (std::uint32_t p = 0; p < points.size(); ++p)
    for (auto k = static_cast<std::uint32_t>(points[p].begin); k < points[p].end; ++k)
      of_condition[next[parts[k].condition]++] = {p, k};

  Triangle& S = factors_->S;
  S = {};
  std::vector<Real> sum(count, 0.0);
  std::vector<std::size_t> last(count, count);  // column that a row was in last
  for (std::size_t c = 0; c < count; ++c) {
    S.inner.push_back(static_cast<int>(c));
    last[c] = c;
    for (std::size_t i = first[c]; i < first[c + 1]; ++i) {
      const auto& [p, own_part] = of_condition[i];
      const bool owned = conditions_.first_owned_ <= p && p < conditions_.end_owned_;
      const Vec3 given =
          owned ? Vec3(mobility_[p - conditions_.first_owned_] * parts[own_part].weight) : Vec3(Vec3::Zero());
      for (std::size_t k = own_part; k < points[p].end; ++k) {
        const std::size_t row = parts[k].condition;
        if (std::exchange(last[row], c) != c) S.inner.push_back(static_cast<int>(row));
        sum[row] += given.dot(parts[k].weight);
      }
    }
    std::sort(S.inner.begin() + S.outer.back(), S.inner.end());
    for (auto k = static_cast<std::size_t>(S.outer.back()); k < S.inner.size(); ++k)
      S.values.push_back(std::exchange(sum[static_cast<std::size_t>(S.inner[k])], 0));
    S.outer.push_back(static_cast<int>(S.inner.size()));
  }
  if (conditions_.comm_.size() > 1 && count > 0) conditions_.comm_.sum(S.values);
  factors_->scale_to_ones();
  factors_->factor(factors_->nearly_exact, shift);
  factors_->soft.reset();
}

void SchurComplement::Factors::scale_to_ones() {
  const auto count = static_cast<Eigen::Index>(S.outer.size()) - 1;
  scale.setZero(count);
  Real largest = 0;
  for (Eigen::Index c = 0; c < count; ++c) largest = std::max(largest, S.values[S.outer[c]]);
  for (Eigen::Index c = 0; c < count; ++c)
    if (const Real diagonal = S.values[S.outer[c]]; diagonal > least_mobility * largest)
      scale[c] = 1 / std::sqrt(diagonal);
  for (Eigen::Index c = 0; c < count; ++c)
    for (int k = S.outer[c]; k < S.outer[c + 1]; ++k) S.values[k] *= scale[c] * scale[S.inner[k]];
}

void SchurComplement::Factors::factor(Factor& of, Real its_shift) const {
  Sparse shifted = S.matrix();
  for (Eigen::Index c = 0; c < shifted.cols(); ++c) shifted.valuePtr()[shifted.outerIndexPtr()[c]] += its_shift;
  of.compute(shifted);
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
    if (!f.soft) f.factor(f.soft.emplace(), large_shift);
    found = f.soft->solve(scaled);
  }
  Eigen::Map<Vector>(lambda.data(), f.scale.size()) = f.scale.cwiseProduct(found);
  return lambda;
}

}  // namespace weft
