#include "solve/unit_factors.hpp"

#include "weft/base/check.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft {
namespace {

constexpr std::size_t units_in_turn = 4;

/// The cliques of each unknown.
struct CliquesOf {
  std::vector<std::size_t> begin;
  std::vector<std::uint32_t> clique;

  CliquesOf(std::size_t unknowns, const Cliques& cliques) : begin(unknowns + 1, 0), clique(cliques.unknown.size()) {
    for (const std::int32_t i : cliques.unknown) ++begin[static_cast<std::size_t>(i) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (std::size_t c = 0; c < cliques.count(); ++c)
      for (const std::int32_t i : cliques.of(c))
        clique[next[static_cast<std::size_t>(i)]++] = static_cast<std::uint32_t>(c);
  }
  std::span<const std::uint32_t> of(std::size_t i) const {
    return std::span(clique).subspan(begin[i], begin[i + 1] - begin[i]);
  }
  std::size_t degree(std::size_t i) const { return begin[i + 1] - begin[i]; }
};

}  // namespace

UnitFactors::UnitFactors(std::size_t unknowns, std::size_t multipliers, const Cliques& cliques, bool symmetric)
    : symmetric_(symmetric), place_(unknowns), work_(unknowns) {
  order(unknowns - multipliers, cliques);
  place_multipliers(unknowns - multipliers, cliques);
  for (std::size_t p = 0; p < unknowns; ++p) place_[ordered_[p]] = static_cast<std::uint32_t>(p);
  lay_out(cliques);
}

/// Units from an unknown of few cliques on: behind each unknown those that its cliques join, of few cliques first.
void UnitFactors::order(std::size_t free, const Cliques& cliques) {
  const CliquesOf its(place_.size(), cliques);
  const auto by_degree = [&](std::uint32_t i, std::uint32_t j) { return its.degree(i) < its.degree(j); };
  std::vector<std::uint32_t> starts(free);
  std::iota(starts.begin(), starts.end(), 0U);
  std::ranges::stable_sort(starts, by_degree);
  std::vector<bool> is_ordered(free, false), is_seen(cliques.count(), false);
  for (const std::uint32_t start : starts) {
    if (is_ordered[start]) continue;
    first_.push_back(ordered_.size());
    is_ordered[start] = true;
    ordered_.push_back(start);
    for (std::size_t p = first_.back(); p < ordered_.size(); ++p)
      for (const std::uint32_t c : its.of(ordered_[p])) {
        if (is_seen[c]) continue;
        is_seen[c] = true;
        const auto old = static_cast<std::ptrdiff_t>(ordered_.size());
        for (const std::int32_t i : cliques.of(c)) {
          const auto at = static_cast<std::size_t>(i);
          if (at >= free || is_ordered[at]) continue;
          is_ordered[at] = true;
          ordered_.push_back(static_cast<std::uint32_t>(i));
        }
        std::stable_sort(ordered_.begin() + old, ordered_.end(), by_degree);
      }
  }
  first_.push_back(ordered_.size());
}

void UnitFactors::place_multipliers(std::size_t free, const Cliques& cliques) {
  if (free == place_.size()) return;
  for (std::size_t p = 0; p < free; ++p) place_[ordered_[p]] = static_cast<std::uint32_t>(p);
  std::vector<std::size_t> behind(place_.size() - free, 0);
  for (std::size_t c = 0; c < cliques.count(); ++c) {
    std::size_t last = 0;
    for (const std::int32_t i : cliques.of(c))
      if (static_cast<std::size_t>(i) < free) last = std::max<std::size_t>(last, place_[static_cast<std::size_t>(i)]);
    for (const std::int32_t i : cliques.of(c))
      if (static_cast<std::size_t>(i) >= free)
        behind[static_cast<std::size_t>(i) - free] = std::max(behind[static_cast<std::size_t>(i) - free], last);
  }
  std::vector<std::uint32_t> multipliers(behind.size());
  std::iota(multipliers.begin(), multipliers.end(), 0U);
  std::ranges::stable_sort(multipliers, {}, [&](std::uint32_t m) { return behind[m]; });
  std::vector<std::uint32_t> all;
  auto next = multipliers.begin();
  std::size_t unit = 0;
  for (std::size_t p = 0; p < free; ++p) {
    if (first_[unit] == p) first_[unit++] = all.size();
    all.push_back(ordered_[p]);
    for (; next != multipliers.end() && behind[*next] == p; ++next)
      all.push_back(static_cast<std::uint32_t>(free) + *next);
  }
  first_.back() = all.size();
  ordered_ = std::move(all);
}

void UnitFactors::lay_out(const Cliques& cliques) {
  std::vector<std::size_t> last(place_.size());
  std::iota(last.begin(), last.end(), std::size_t(0));
  for (std::size_t c = 0; c < cliques.count(); ++c) {
    std::size_t its_last = 0;
    for (const std::int32_t i : cliques.of(c))
      its_last = std::max<std::size_t>(its_last, place_[static_cast<std::size_t>(i)]);
    for (const std::int32_t i : cliques.of(c)) {
      std::size_t& to = last[place_[static_cast<std::size_t>(i)]];
      to = std::max(to, its_last);
    }
  }
  begin_.assign(1, 0);
  for (std::size_t p = 0; p < last.size(); ++p) {
    if (p > 0 && last[p - 1] >= p) last[p] = std::max(last[p], last[p - 1]);  // elimination fills what lies between
    begin_.push_back(begin_.back() + last[p] - p);
  }
  diagonal_.resize(place_.size());
  upper_.resize(begin_.back());
  if (!symmetric_) lower_.resize(begin_.back());
}

void UnitFactors::set_zero() {
  for (std::vector<Real>* values : {&diagonal_, &lower_, &upper_}) std::ranges::fill(*values, 0);
}

bool UnitFactors::factor() {
  bool has_pivots = true;
#pragma omp parallel for schedule(static) reduction(&& : has_pivots)
  for (std::size_t unit = 0; unit < units(); ++unit) has_pivots = factor_unit(unit) && has_pivots;
  return has_pivots;
}

/// Step by step A_ik -= L_ij U_jk, with U_j = A_j and L_j = A_j / U_jj, or U_j / U_jj of a symmetric matrix.
bool UnitFactors::factor_unit(std::size_t unit) {
  for (std::size_t j = first_[unit]; j < first_[unit + 1]; ++j) {
    if (!std::isnormal(diagonal_[j])) return false;
    diagonal_[j] = 1 / diagonal_[j];
    const std::size_t n = begin_[j + 1] - begin_[j];
    const Real* const U = upper_.data() + begin_[j];
    Real* const L = symmetric_ ? nullptr : lower_.data() + begin_[j];
    for (std::size_t i = 0; L != nullptr && i < n; ++i) L[i] *= diagonal_[j];
    for (std::size_t i = 0; i < n; ++i) {
      const Real u = U[i], l = L != nullptr ? L[i] : u * diagonal_[j];
      diagonal_[j + 1 + i] -= l * u;
      Real* const row = upper_.data() + begin_[j + 1 + i];
#pragma omp simd
      for (std::size_t k = 0; k < n - i - 1; ++k) row[k] -= l * U[i + 1 + k];
      if (L == nullptr) continue;
      Real* const column = lower_.data() + begin_[j + 1 + i];
#pragma omp simd
      for (std::size_t k = 0; k < n - i - 1; ++k) column[k] -= u * L[i + 1 + k];
    }
  }
  return true;
}

/// Units of a group take turns, place by place: a unit alone would wait for each of its sums.
void UnitFactors::solve(std::span<const Real> right, std::span<Real> x) const {
#pragma omp parallel for schedule(static)
  for (std::size_t group = 0; group < units(); group += units_in_turn) {
    const std::size_t end = std::min(units(), group + units_in_turn);
    for (std::size_t p = first_[group]; p < first_[end]; ++p) work_[p] = right[ordered_[p]];
    std::size_t longest = 0;
    for (std::size_t unit = group; unit < end; ++unit) longest = std::max(longest, first_[unit + 1] - first_[unit]);
    for (std::size_t s = 0; s < longest; ++s)
      for (std::size_t unit = group; unit < end; ++unit)
        if (first_[unit] + s < first_[unit + 1]) go_forward(first_[unit] + s);
    for (std::size_t s = 0; s < longest; ++s)
      for (std::size_t unit = group; unit < end; ++unit)
        if (first_[unit] + s < first_[unit + 1]) go_back(first_[unit + 1] - 1 - s);
    for (std::size_t p = first_[group]; p < first_[end]; ++p) x[ordered_[p]] = work_[p];
  }
}

/// y_i -= L_ij y_j, L_ij = U_ji / U_jj of a symmetric matrix
void UnitFactors::go_forward(std::size_t j) const {
  const Real* const L = (symmetric_ ? upper_ : lower_).data() + begin_[j];
  Real* const behind = work_.data() + j + 1;
  const Real y = symmetric_ ? work_[j] * diagonal_[j] : work_[j];
#pragma omp simd
  for (std::size_t i = 0; i < begin_[j + 1] - begin_[j]; ++i) behind[i] -= L[i] * y;
}

/// x_j = (y_j - sum_k U_jk x_k) / U_jj
void UnitFactors::go_back(std::size_t j) const {
  const Real* const U = upper_.data() + begin_[j];
  const Real* const behind = work_.data() + j + 1;
  Real sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t k = 0; k < begin_[j + 1] - begin_[j]; ++k) sum += U[k] * behind[k];
  work_[j] = (work_[j] - sum) * diagonal_[j];
}

}  // namespace weft
