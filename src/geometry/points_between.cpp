#include "weft/geometry/points_between.hpp"

#include <algorithm>
#include <numeric>

namespace weft {

PointsBetween::PointsBetween(std::size_t count) : begin_(count + 1), given_(count) {
  std::iota(begin_.begin(), begin_.end(), std::size_t(0));
  std::iota(given_.begin(), given_.end(), std::int32_t(0));
}

std::span<const std::int32_t> PointsBetween::of(std::size_t point) const {
  if (point >= size()) return {};
  return std::span(given_).subspan(begin_[point], begin_[point + 1] - begin_[point]);
}

void PointsBetween::add(std::span<const std::int32_t> given) {
  given_.insert(given_.end(), given.begin(), given.end());
  begin_.push_back(given_.size());
}

void PointsBetween::add(const PointsBetween& coarse, std::span<const std::int32_t> points) {
  std::set<std::int32_t> given;
  bool all_have = true;
  for (const std::int32_t point : points) {
    const auto its = coarse.of(static_cast<std::size_t>(point));
    all_have = all_have && !its.empty();
    given.insert(its.begin(), its.end());
  }
  if (!all_have) given.clear();
  add(std::vector(given.begin(), given.end()));
}

PointsBetween PointsBetween::by(const PointsBetween& coarse) const {
  PointsBetween all;
  for (std::size_t p = 0; p < size(); ++p) all.add(coarse, of(p));
  return all;
}

PointsBetween PointsBetween::numbered(std::span<const std::int32_t> number) const {
  const std::int32_t last = number.empty() ? -1 : std::ranges::max(number);
  std::vector<std::size_t> old(static_cast<std::size_t>(last + 1), size());
  for (std::size_t p = 0; p < number.size(); ++p)
    if (number[p] >= 0) old[static_cast<std::size_t>(number[p])] = p;
  PointsBetween kept;
  for (const std::size_t p : old) kept.add(of(p));
  return kept;
}

std::set<std::int32_t> PointsBetween::given() const {
  std::set<std::int32_t> points;
  for (std::size_t p = 0; p < size(); ++p)
    if (const auto its = of(p); its.size() == 1) points.insert(its[0]);
  return points;
}

std::set<std::int32_t> PointsBetween::among(const std::set<std::int32_t>& listed) const {
  std::set<std::int32_t> points;
  for (std::size_t p = 0; p < size(); ++p)
    if (const auto given = of(p);
        !given.empty() && std::ranges::all_of(given, [&](std::int32_t k) { return listed.contains(k); }))
      points.insert(points.end(), static_cast<std::int32_t>(p));
  return points;
}

}  // namespace weft
