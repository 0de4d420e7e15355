#pragma once
// Linear conditions on the motion of points, and the impulses that meet them.

#include "weft/motion/constraint.hpp"
#include "weft/parallel/comm.hpp"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace weft {

/// Numbers of points over all ranks; those of a rank follow one another.
struct PointNumbers {
  std::int64_t first;                                    ///< Of the owned points of this rank.
  std::size_t owned;                                     ///< How many there are.
  std::function<std::int64_t(std::int32_t)> of_freedom;  ///< Number of the point that a freedom, owned or ghost, is of.
};

/// Conditions W y = values on vectors y of points. Every rank knows all conditions, rank after rank in their order, and
/// applies them to the points that it owns; so there is no exchange of ghosts. Up to three that follow one another on
/// the same points, as the three axes of a pin, are a bundle and cost little more than one.
class Conditions {
 public:
  explicit Conditions(const Comm& comm) : comm_(comm) {}

  /// rows: of this rank, with the three freedoms of a point one after another. Collective.
  void take(const ConstraintRows& rows, const PointNumbers& numbers);

  /// On all ranks.
  std::size_t count() const { return count_; }
  bool any() const { return count_ > 0; }
  /// The part of values of all conditions that belongs to this rank's.
  std::span<const Real> own(std::span<const Real> of_all) const { return of_all.subspan(first_, own_count_); }
  /// Values of all conditions, from those of this rank's. Collective.
  std::vector<Real> from_all_ranks(std::span<const Real> own) const;

  /// W y, y(n) being the vector of an owned point. Collective.
  template <class AtPoint>
  std::vector<Real> sums(AtPoint&& y) const {
    std::vector<Real> sums(count_, 0.0);
    for_each_point([&](std::size_t n, std::span<const Part> parts) {
      const Vec3 value = y(n);
      for (const Part& part : parts)
        for (std::uint32_t c = 0; c < part.count; ++c) sums[part.first + c] += part.weights.col(c).dot(value);
    });
    if (any()) comm_.sum(sums);
    return sums;
  }
  /// Calls visit(n, W^T lambda) for every owned point that a condition is on.
  template <class Visit>
  void spread(std::span<const Real> lambda, Visit&& visit) const {
    for_each_point([&](std::size_t n, std::span<const Part> parts) {
      Vec3 sum = Vec3::Zero();
      for (const Part& part : parts)
        for (std::uint32_t c = 0; c < part.count; ++c) sum += lambda[part.first + c] * part.weights.col(c);
      visit(n, sum);
    });
  }
  /// Calls visit(n) for the same points.
  template <class Visit>
  void for_each_owned(Visit&& visit) const {
    for_each_point([&](std::size_t n, std::span<const Part>) { visit(n); });
  }

 private:
  friend class SchurComplement;
  /// What a bundle has at a point.
  struct Part {
    std::uint32_t first, count;  ///< Its conditions.
    Mat3 weights;                ///< A column for each of them; the others are zero.
  };
  struct Entry {
    std::int64_t number;  ///< Of the point.
    Part part;
  };
  struct Point {
    std::int64_t number;     ///< Over all ranks.
    std::size_t begin, end;  ///< Of its parts.
  };
  template <class Visit>
  void for_each_point(Visit&& visit) const {
    for (std::size_t p = first_owned_; p < end_owned_; ++p)
      visit(static_cast<std::size_t>(points_[p].number - owned_from_),
            std::span(parts_).subspan(points_[p].begin, points_[p].end - points_[p].begin));
  }
  bool owns(std::size_t place) const { return first_owned_ <= place && place < end_owned_; }
  std::size_t place_of(std::int64_t number) const;
  void append_bundle(const ConstraintRows& rows, std::size_t c, std::uint32_t count, const PointNumbers& numbers,
                     std::vector<Entry>& entries) const;
  std::vector<Entry> of_all_ranks(std::span<const Entry> own) const;
  void sort_parts(std::span<const Entry> entries);

  const Comm comm_;
  std::size_t count_ = 0, first_ = 0, own_count_ = 0;
  std::vector<Point> points_;                    ///< That conditions are on, of all ranks, by number.
  std::vector<Part> parts_;                      ///< Of points, one after another, those of a point by condition.
  std::size_t first_owned_ = 0, end_owned_ = 0;  ///< Among `points_`.
  std::int64_t owned_from_ = 0;
};

/// S = W A W^T + C, where A says how points give way to impulses, and what it takes to bring about changes of W y:
///   S lambda = change
/// Conditions are rigid, C = 0, or have compliances C. Of rigid ones lambda is found to round-off where there is one;
/// where conditions depend on one another, one that is not much longer than the shortest. Where points cannot give way
/// as asked (walls hold them), the change comes as near as it can. Every rank factors all of S, so that bits repeat.
class SchurComplement {
 public:
  explicit SchurComplement(const Conditions& conditions);
  ~SchurComplement();

  /// Of rigid conditions. A(n): symmetric, not negative, of each owned point that a condition is on. Collective.
  template <class AtPoint>
  void factor(AtPoint&& A) {
    take_mobility(A);
    factor_rigid();
  }
  /// Of conditions with compliances: positive, of all of them in the unit of S, 0 for those that no point hears of.
  /// is_symmetric: whether A is. Collective.
  template <class AtPoint>
  void factor(AtPoint&& A, std::span<const Real> compliance, bool is_symmetric) {
    take_mobility(A);
    factor_compliant(compliance, is_symmetric);
  }
  /// change: of all conditions, the same on all ranks, and so is the result.
  std::vector<Real> solve(std::span<const Real> change) const;

 private:
  struct BundleParts;
  struct Triangle;
  struct Factors;
  template <class AtPoint>
  void take_mobility(AtPoint&& A) {
    mobility_.clear();
    conditions_.for_each_owned([&](std::size_t n) { mobility_.push_back(A(n)); });
  }
  BundleParts parts_of_bundles() const;
  Triangle sum_up(const BundleParts& bundles) const;
  std::vector<Real> most_given(const BundleParts& bundles) const;
  void factor_rigid();
  void factor_compliant(std::span<const Real> compliance, bool is_symmetric);

  const Conditions& conditions_;
  std::vector<Mat3> mobility_;  ///< Of the owned points.
  std::unique_ptr<Factors> factors_;
};

}  // namespace weft
