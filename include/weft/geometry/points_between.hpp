#pragma once
// Points of a mesh by those of the file that it was made from.

#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace weft {

/// Of each point of a mesh those points of another that it lies between, ascending: itself where it is one of them,
/// several amid edges and faces that were divided, none elsewhere. Points beyond the last one that was added have none.
class PointsBetween {
 public:
  PointsBetween() = default;
  /// Each point of a mesh is one of the other, with the same number.
  explicit PointsBetween(std::size_t count);

  std::size_t size() const { return begin_.size() - 1; }
  std::span<const std::int32_t> of(std::size_t point) const;
  /// The next point. given: ascending.
  void add(std::span<const std::int32_t> given);
  /// The next point lies between some of a coarser mesh, whose points lie between those of `coarse`. It has none if one
  /// of them has none.
  void add(const PointsBetween& coarse, std::span<const std::int32_t> points);
  /// These points by those that the points of a coarser mesh lie between.
  PointsBetween by(const PointsBetween& coarse) const;
  /// As points are numbered anew; those with a negative number go.
  PointsBetween numbered(std::span<const std::int32_t> number) const;
  /// The points of the other mesh that are points of this one.
  std::set<std::int32_t> given() const;
  /// The points that lie between listed ones alone.
  std::set<std::int32_t> among(const std::set<std::int32_t>& listed) const;

 private:
  std::vector<std::size_t> begin_{0};
  std::vector<std::int32_t> given_;
};

}  // namespace weft
