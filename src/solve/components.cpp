#include "solve/components.hpp"

#include "weft/parallel/directory.hpp"

#include <algorithm>
#include <numeric>

namespace weft {
namespace {

/// Joins the points of this rank that a tangent joins.
class Joiner final : public Tangent {
 public:
  explicit Joiner(const Points3& points) : points_(points), parent_(points.local()) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  using Tangent::add;
  void add(std::span<const std::int32_t> rows, std::span<const std::int32_t> columns, std::span<const Real>) override {
    for (const auto freedoms : {rows, columns})
      for (const std::int32_t freedom : freedoms)
        if (points_.point_of(freedom) >= 0) join(point_of(rows.front()), point_of(freedom));
  }
  std::size_t root_of(std::size_t point) {
    while (parent_[point] != point) point = parent_[point] = parent_[parent_[point]];
    return point;
  }

 private:
  std::size_t point_of(std::int32_t freedom) const { return static_cast<std::size_t>(points_.point_of(freedom)); }
  void join(std::size_t a, std::size_t b) {
    a = root_of(a), b = root_of(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

  const Points3& points_;
  std::vector<std::size_t> parent_;
};

}  // namespace

Components::Components(const Comm& comm, const Freedoms& freedoms, std::span<const Term* const> terms,
                       const Motion& motion)
    : unknowns_(comm, freedoms), points_(unknowns_) {
  const auto owned = static_cast<std::int64_t>(points_.owned());
  const std::int64_t all = comm.sum(owned), first = comm.offset(owned);
  FreedomValues number(freedoms);  // whole numbers below 2^53 travel exactly
  for (std::size_t n = 0; n < points_.owned(); ++n)
    number.all()[static_cast<std::size_t>(points_.freedom_of_owned(n))] =
        static_cast<Real>(first + static_cast<std::int64_t>(n));
  number.update_ghosts();
  std::vector<std::int64_t> numbers;
  for (std::size_t p = 0; p < points_.local(); ++p)
    numbers.push_back(static_cast<std::int64_t>(number.all()[static_cast<std::size_t>(points_.freedom(p))]));
  const std::vector<std::int32_t> label = labels(comm, numbers, all, terms, motion);

  // A component is called by its least point, and counted by the rank that owns it.
  std::vector<std::int64_t> least;
  for (std::size_t p = 0; p < points_.local(); ++p)
    if (label[p] == numbers[p] && numbers[p] >= first && numbers[p] < first + owned) least.push_back(numbers[p]);
  std::vector<std::int32_t> count(least.size());
  std::iota(count.begin(), count.end(),
            static_cast<std::int32_t>(comm.offset(static_cast<std::int64_t>(least.size()))));
  count_ = static_cast<std::size_t>(comm.sum(static_cast<std::int64_t>(least.size())));
  Directory components(comm, all);
  components.tell(least, count);
  component_ = components.ask(std::vector<std::int64_t>(label.begin(), label.end()));
}

/// The least number of a point in the component of each local point: what a rank knows of a point, all that have it
/// learn.
std::vector<std::int32_t> Components::labels(const Comm& comm, std::span<const std::int64_t> numbers, std::int64_t all,
                                             std::span<const Term* const> terms, const Motion& motion) const {
  Joiner joined(points_);
  for (const Term* term : terms) term->add_tangent(*term->linearise(motion), joined);
  std::vector<std::int32_t> label(numbers.begin(), numbers.end());
  Directory known(comm, all);
  for (bool changes = true; comm.any(changes);) {
    std::vector<std::int32_t> least(label);
    for (std::size_t p = 0; p < label.size(); ++p) {
      std::int32_t& of_root = least[joined.root_of(p)];
      of_root = std::min(of_root, label[p]);
    }
    for (std::size_t p = 0; p < label.size(); ++p) least[p] = least[joined.root_of(p)];
    known.tell(numbers, least);
    least = known.ask(numbers);
    changes = least != label;
    label = std::move(least);
  }
  return label;
}

}  // namespace weft
