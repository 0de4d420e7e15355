// Folds found once: angles and forces by packs, sums over incidence.

#include "weft/bodies/fold_table.hpp"

#include "bodies/bending_kernel.hpp"

#include <algorithm>

namespace weft {
namespace {

/// The number of each fold that elements list, those of one edge alike, in the order of their first; -1 for none.
/// Returns rows of the numbered ones.
std::vector<FoldRows> number_folds(std::span<const FoldRows> folds, std::vector<std::int32_t>& number) {
  struct Listed {
    std::int32_t from, to, place;
    auto operator<=>(const Listed&) const = default;
  };
  std::vector<Listed> listed;
  listed.reserve(folds.size());
  for (std::size_t i = 0; i < folds.size(); ++i)
    if (const auto [from, to] = std::minmax(folds[i][0], folds[i][1]); from >= 0)
      listed.push_back({from, to, static_cast<std::int32_t>(i)});
  std::ranges::sort(listed);
  std::vector<std::int32_t> first(folds.size(), -1);  // that lists the same edge
  for (std::size_t k = 0; k < listed.size(); ++k) {
    const bool again = k > 0 && listed[k - 1].from == listed[k].from && listed[k - 1].to == listed[k].to;
    first[listed[k].place] = again ? first[listed[k - 1].place] : listed[k].place;
  }
  std::vector<FoldRows> rows;
  number.assign(folds.size(), -1);
  for (std::size_t i = 0; i < folds.size(); ++i) {
    if (first[i] < 0) continue;
    if (first[i] == static_cast<std::int32_t>(i)) {
      number[i] = static_cast<std::int32_t>(rows.size());
      rows.push_back(folds[i]);
    } else {
      number[i] = number[first[i]];
    }
  }
  return rows;
}

/// The fold of a pack.
[[gnu::flatten]] Pack angle_of(std::span<const Vec3> x, const std::array<PackRows, 4>& rows) {
  return Fold<Pack>(load(x, rows[0]), load(x, rows[1]), load(x, rows[2]), load(x, rows[3])).angle();
}
[[gnu::flatten]] Corners<Pack, 4> gradient_of(std::span<const Vec3> x, const std::array<PackRows, 4>& rows) {
  return Fold<Pack>(load(x, rows[0]), load(x, rows[1]), load(x, rows[2]), load(x, rows[3])).gradient();
}

/// The lanes of pack k take row(i) of i = k size, k size + 1, ..; idle ones repeat the last.
template <class Row>
PackRows pack_rows(std::size_t k, std::size_t count, Row&& row) {
  const PackRows all = PackRows::range(k * Pack::size, count);
  std::array<std::uint32_t, Pack::size> rows;
  for (std::size_t lane = 0; lane < rows.size(); ++lane) rows[lane] = static_cast<std::uint32_t>(row(all.row[lane]));
  return PackRows::of(rows, all.count);
}

std::size_t packs_for(std::size_t count) { return (count + Pack::size - 1) / Pack::size; }

}  // namespace

FoldTable::FoldTable(std::span<const FoldRows> folds, int of_element, std::size_t rows) {
  const auto each = static_cast<std::size_t>(of_element);
  const std::size_t elements = folds.size() / each;
  std::vector<std::int32_t> number;
  const std::vector<FoldRows> of_folds = number_folds(folds, number);
  count_ = of_folds.size();
  for (std::size_t k = 0; k < packs_for(count_); ++k) {
    FoldPack& pack = packs_.emplace_back();
    for (std::size_t c = 0; c < 4; ++c)
      pack.rows[c] = pack_rows(k, count_, [&](std::size_t fold) { return of_folds[fold][c]; });
  }
  for (std::size_t k = 0; k < packs_for(elements); ++k)
    for (std::size_t j = 0; j < each; ++j)
      numbers_.push_back(
          pack_rows(k, elements, [&](std::size_t e) { return std::max(number[each * e + j], std::int32_t(0)); }));
  elements_ = Incidence(number, count_);
  std::vector<std::int32_t> corners;
  for (const FoldRows& fold : of_folds) corners.insert(corners.end(), fold.begin(), fold.end());
  corners_ = Incidence(corners, rows);
  moments_.assign(each, std::vector<Real>(elements));
  of_fold_.resize(count_);
  for (auto& of_corner : forces_) of_corner.resize(count_);
}

std::span<const Real> FoldTable::find_angles(std::span<const Vec3> x) const {
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < packs_.size(); ++k)
    store(angle_of(x, packs_[k].rows), PackRows::range(k * Pack::size, count_), std::span(of_fold_));
  return of_fold_;
}

void FoldTable::respond(std::span<const Vec3> x, std::span<Vec3> f) const {
  const std::size_t each = moments_.size();
  std::ranges::fill(of_fold_, 0.0);
  elements_.add(std::span(of_fold_), [&](std::int32_t listed) {
    const auto place = static_cast<std::size_t>(listed);
    return moments_[place % each][place / each];
  });
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < packs_.size(); ++k) {
    const PackRows folds = PackRows::range(k * Pack::size, count_);
    const Pack moment = load(std::span<const Real>(of_fold_), folds);
    const Corners<Pack, 4> gradient = gradient_of(x, packs_[k].rows);
    for (std::size_t c = 0; c < 4; ++c) store(Vector3<Pack>(-moment * gradient[c]), folds, std::span(forces_[c]));
  }
  corners_.add(f, [&](std::int32_t corner) -> const Vec3& {
    return forces_[static_cast<std::size_t>(corner % 4)][static_cast<std::size_t>(corner / 4)];
  });
}

std::size_t FoldTable::bytes() const {
  return packs_.capacity() * sizeof(FoldPack) + numbers_.capacity() * sizeof(PackRows) + elements_.bytes() +
         corners_.bytes() + count_ * (sizeof(Real) + 4 * sizeof(Vec3)) +
         (moments_.empty() ? 0 : moments_.size() * moments_[0].size() * sizeof(Real));
}

}  // namespace weft
