#include "solve/holds.hpp"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

/// Held positions give way by this share of what they would without a hold.
constexpr Real softness = 1e-5;

}  // namespace

Holds::Holds(const Comm& comm, const Unknowns& unknowns, const Points3& points,
             std::vector<const Constraints*> constraints)
    : unknowns_(unknowns),
      points_(points),
      constraints_(std::move(constraints)),
      nodes_(points.owned()),
      inverse_mass_(unknowns.freedoms()),
      conditions_(comm) {}

void Holds::begin_step(Real time, Real dt, Real k, std::span<const Real> root_mass) {
  if (constraints_.empty()) return;
  rows_.clear();
  for (const Constraints* constraints : constraints_) constraints->append(time, rows_);
  const auto number = [this](std::int32_t freedom) { return std::int64_t{unknowns_.number(freedom) / 3}; };
  conditions_.take(rows_, {unknowns_.begin() / 3, nodes_, number});
  if (!any()) return;
  dt_ = dt;
  kappa_ = k / softness;
  root_mass_.assign(root_mass.begin(), root_mass.end());

  inverse_mass_.set_zero();
  for (std::size_t n = 0; n < nodes_; ++n)
    inverse_mass_.all()[points_.freedom_of_owned(n)] = root_mass[n] > 0 ? std::pow(root_mass[n], -2) : 0;
  inverse_mass_.update_ghosts();
  stiffness_.assign(rows_.count(), 0);
  std::vector<Real> compliance(rows_.count(), 0);
  for (std::size_t c = 0; c < rows_.count(); ++c) {
    Real square = 0;
    for (std::size_t e = rows_.begin[c]; e < rows_.begin[c + 1]; ++e)
      square +=
          rows_.weight[e] * rows_.weight[e] * inverse_mass_.all()[points_.freedom(points_.point_of(rows_.freedom[e]))];
    if (!(square > 0)) continue;
    stiffness_[c] = kappa_ / square;
    compliance[c] = square / kappa_;
  }
  compliance_ = conditions_.from_all_ranks(compliance);
}

Real Holds::miss(std::size_t c, std::span<const Real> u) const {
  Real sum = 0;
  for (std::size_t e = rows_.begin[c]; e < rows_.begin[c + 1]; ++e) sum += rows_.weight[e] * u[rows_.freedom[e]];
  return sum;
}

Real Holds::energy(const Motion& motion) const {
  Real sum = 0;
  for (std::size_t c = 0; c < rows_.count(); ++c)
    sum += stiffness_[c] * std::pow((miss(c, motion.u.all()) - rows_.target[c]) / dt_, 2);
  return 0.5 * sum;
}

std::vector<Real> Holds::impulses(const Motion& motion) const {
  std::vector<Real> impulses(rows_.count());
  for (std::size_t c = 0; c < rows_.count(); ++c)
    impulses[c] = -stiffness_[c] * (miss(c, motion.u.all()) - rows_.target[c]) / dt_;
  return impulses;
}

void Holds::add_force(const Motion& motion, Load& force) const {
  const std::vector<Real> impulse = impulses(motion);
  for (std::size_t c = 0; c < rows_.count(); ++c)
    for (std::size_t e = rows_.begin[c]; e < rows_.begin[c + 1]; ++e)
      force.all()[rows_.freedom[e]] += rows_.weight[e] * impulse[c] / dt_;
}

void Holds::add_force_change(const FreedomValues& du, Load& change) const {
  for (std::size_t c = 0; c < rows_.count(); ++c) {
    const Real impulse = -stiffness_[c] * miss(c, du.all()) / dt_;
    for (std::size_t e = rows_.begin[c]; e < rows_.begin[c + 1]; ++e)
      change.all()[rows_.freedom[e]] += rows_.weight[e] * impulse / dt_;
  }
}

void Holds::factor(std::span<const Mat3> G, bool is_symmetric) {
  const auto mobility = [&](std::size_t n) -> Mat3 {
    return root_mass_[n] > 0 ? Mat3(G[n] / (root_mass_[n] * root_mass_[n])) : Mat3::Zero();
  };
  schur_.factor(mobility, compliance_, is_symmetric);
}

template <class AtNode>
std::vector<Real> Holds::solve_for(AtNode&& y) const {
  return schur_.solve(conditions_.sums(
      [&](std::size_t n) -> Vec3 { return root_mass_[n] > 0 ? Vec3(y(n) / root_mass_[n]) : Vec3::Zero(); }));
}

template <class Add>
void Holds::spread(std::span<const Real> lambda, Add&& add) const {
  conditions_.spread(lambda, [&](std::size_t n, const Vec3& part) {
    if (root_mass_[n] > 0) add(n, Vec3(part / root_mass_[n]));
  });
}

void Holds::correct(std::span<const Mat3> G, std::span<const Vec3> y, std::span<Vec3> z) const {
  const std::vector<Real> lambda = solve_for([&](std::size_t n) { return y[n]; });
  spread(lambda, [&](std::size_t n, const Vec3& part) { z[n] -= G[n] * part; });
}

void Holds::release(std::span<const Mat3> G, std::span<Vec3> r) {
  released_ = solve_for([&](std::size_t n) { return Vec3(G[n] * r[n]); });
  spread(released_, [&](std::size_t n, const Vec3& part) { r[n] -= part; });
  for (std::size_t c = 0; c < released_.size(); ++c) released_[c] *= compliance_[c];
  released_ = schur_.solve(released_);
}

void Holds::restore(std::span<const Mat3> G, std::span<Vec3> z) const {
  std::vector<Real> lambda = solve_for([&](std::size_t n) { return z[n]; });
  for (std::size_t c = 0; c < lambda.size(); ++c) lambda[c] -= released_[c];
  spread(lambda, [&](std::size_t n, const Vec3& part) { z[n] -= G[n] * part; });
}

void Holds::add_tangent(Tangent& tangent) const {
  std::vector<Real> k;
  for (std::size_t c = 0; c < rows_.count(); ++c) {
    const std::size_t first = rows_.begin[c], count = rows_.begin[c + 1] - first;
    k.resize(count * count);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < count; ++j)
        k[i * count + j] = stiffness_[c] / (dt_ * dt_) * rows_.weight[first + i] * rows_.weight[first + j];
    tangent.add(std::span(rows_.freedom).subspan(first, count), k);
  }
}

}  // namespace weft
