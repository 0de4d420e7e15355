#include "solve/holds.hpp"

#include <cmath>

namespace weft {
namespace {

/// The second takes away what large multipliers of nearly equal conditions left of a gap by round-off.
constexpr int passes = 2;

}  // namespace

Holds::Holds(const Comm& comm, const Unknowns& unknowns, const Points3& points, const ImplicitInertia& inertia,
             std::vector<const Constraints*> constraints)
    : comm_(comm),
      unknowns_(unknowns),
      points_(points),
      inertia_(inertia),
      constraints_(std::move(constraints)),
      conditions_(comm) {}

void Holds::begin_step(Real time, Real dt) {
  if (constraints_.empty()) return;
  dt_ = dt;
  rows_.clear();
  for (const Constraints* constraints : constraints_) constraints->append(time, rows_);
  conditions_.take(rows_, {.first = unknowns_.begin() / 3, .owned = points_.owned(), .of_freedom = [&](auto freedom) {
                             return static_cast<std::int64_t>(unknowns_.number(freedom)) / 3;
                           }});
  goal_ = conditions_.gathered(rows_.target);
  for (Real& d : goal_) d /= dt;
  lambda_.assign(conditions_.count(), 0);
}

void Holds::meet(Vec x) const {
  const NodeWriting at(x);
  add_to_meet([&](std::size_t n) { return Vec3(at[n]); }, 1, at);
}

void Holds::make_meeting(Vec x, Vec dx) const {
  const NodeReading at(x);
  const NodeWriting step(dx);
  add_to_meet([&](std::size_t n) { return Vec3(at[n] - step[n]); }, -1, step);
}

/// What is missing of B y, y(n) of owned nodes, comes from sign F B^T lambda added to a vector that y goes by.
template <class AtNode>
void Holds::add_to_meet(const AtNode& y, Real sign, const NodeWriting& to) const {
  for (int pass = 0; pass < passes; ++pass) {
    std::vector<Real> change = seen(y);
    for (std::size_t c = 0; c < change.size(); ++c) change[c] = goal_[c] - change[c];
    add(sign, along_free(schur_.solve(change)), to);
  }
}

Real Holds::answer(std::vector<Vec3>& r) {
  lambda_.assign(conditions_.count(), 0);
  for (int pass = 0; pass < passes; ++pass) {
    const std::vector<Real> more = multipliers_of([&](std::size_t n) { return r[n]; });
    spread(more, [&](std::size_t n, const Vec3& sum, std::size_t) { r[n] -= sum; });
    for (std::size_t c = 0; c < lambda_.size(); ++c) lambda_[c] += more[c];
  }
  Real size = 0;
  spread(lambda_, [&](std::size_t, const Vec3& sum, std::size_t) { size += sum.squaredNorm(); });
  return size;
}

std::vector<Real> Holds::impulses() const {
  const std::span<const Real> own = conditions_.own(lambda_);
  return {own.begin(), own.end()};
}

void Holds::release(const NodeWriting& r) const {
  const std::vector<Real> lambda = multipliers_of([&](std::size_t n) { return Vec3(r[n]); });
  spread(lambda, [&](std::size_t n, const Vec3& sum, std::size_t) { r[n] -= sum; });
}

void Holds::add(Real factor, const Parts& parts, const NodeWriting& to) const {
  std::size_t i = 0;
  conditions_.for_each_owned([&](std::size_t n) { to[n] += factor * parts[i++]; });
}

void Holds::release_by_guess(std::vector<Vec3>& r) const {
  std::size_t k = 0;
  const std::vector<Real> lambda = of_guess_.solve(seen([&](std::size_t n) { return Vec3(guess_[k++] * r[n]); }));
  spread(lambda, [&](std::size_t n, const Vec3& sum, std::size_t i) { r[n] -= free_[i] * sum; });
}

void Holds::add_tangent(Real kappa, Tangent& tangent) const {
  const std::vector<Real> squares = conditions_.squares([&](std::size_t n) { return inverse_mass(n); });
  const std::span<const Real> own = conditions_.own(squares);
  std::vector<Real> k;
  for (std::size_t c = 0; c < rows_.count(); ++c) {
    const std::size_t first = rows_.begin[c], count = rows_.begin[c + 1] - first;
    const Real factor = own[c] > 0 ? kappa / (own[c] * dt_ * dt_) : 0;
    k.resize(count * count);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < count; ++j)
        k[i * count + j] = factor * rows_.weight[first + i] * rows_.weight[first + j];
    tangent.add(std::span(rows_.freedom).subspan(first, count), k);
  }
}

}  // namespace weft
