#include "run/stages/accelerated_passes.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft {
namespace {

/// What least squares add, ridge |z_k|^2 sum_j s_j^2: passes that hardly change z do not say where to go.
constexpr Real ridge = 1e-5;
/// How far shares go beyond x_k at most, over the way of a pass: beyond a change of what touches or slips they mislead.
constexpr Real longest = 30;
/// Shares are whole multiples of one over this.
constexpr Real parts = 64;

template <class Visit>
void for_each_node(std::span<const AcceleratedPasses::Nodes> layers, const Visit& visit) {
  std::size_t i = 0;
  for (const AcceleratedPasses::Nodes& layer : layers)
    for (const int b : layer.blocks)
      for (int place = 0; place < nodes_per_block; ++place)
        visit(i++, layer, b * std::ptrdiff_t{NodeField::row} + place * NodeField::width);
}

}  // namespace

void AcceleratedPasses::keep(Real dt, std::span<const Nodes> layers) {
  Pass pass;
  mass_.clear();
  for_each_node(layers, [&](std::size_t, const Nodes& layer, std::ptrdiff_t k) {
    const Real m = layer.inertia->block(0)[k];
    const Vec3 z = Vec3::Map(layer.change->block(0) + k);
    mass_.push_back(m);
    pass.change.push_back(z);
    pass.sum.push_back(Vec3::Map(layer.memory->block(0) + k + 1) + m / dt * z);
  });
  passes_.push_front(std::move(pass));
  if (passes_.size() > window + 1) passes_.pop_back();
}

std::pair<AcceleratedPasses::Shares, Real> AcceleratedPasses::find_shares(const Comm& comm, Real dt) const {
  constexpr std::size_t columns = window + 1;  // z_k, and the steps to it
  const std::size_t steps = passes_.size() - 1;
  // Products of steps of z, then those of x as changes of velocity.
  std::array<Real, 2 * columns * columns> products{};
  for (std::size_t i = 0; i < passes_[0].change.size(); ++i) {
    if (mass_[i] == 0) continue;
    std::array<Vec3, columns> of_z{passes_[0].change[i]}, of_x{Vec3::Zero()};
    for (std::size_t j = 1; j <= steps; ++j) {
      of_z[j] = passes_[j - 1].change[i] - passes_[j].change[i];
      of_x[j] = dt / mass_[i] * (passes_[j - 1].sum[i] - passes_[j].sum[i]);
    }
    for (std::size_t a = 0; a <= steps; ++a)
      for (std::size_t b = 0; b <= steps; ++b) {
        products[columns * a + b] += mass_[i] * of_z[a].dot(of_z[b]);
        products[columns * (columns + a) + b] += mass_[i] * of_x[a].dot(of_x[b]);
      }
  }
  comm.sum(std::span(products));
  using Matrix = Eigen::Matrix<Real, columns, columns>;
  const auto n = static_cast<Eigen::Index>(steps);
  const Eigen::Map<const Matrix> all(products.data()), ways(products.data() + columns * columns);
  const Real left = all(0, 0);
  Eigen::MatrixXd A = all.block(1, 1, n, n);
  A.diagonal().array() += ridge * left;
  Shares shares{};
  if (steps > 0 && left > 0) {
    Eigen::VectorXd exact = A.ldlt().solve(all.block(1, 0, n, 1));
    const Real way = exact.dot(ways.block(1, 1, n, n) * exact), most = longest * longest * left;
    if (way > most) exact *= std::sqrt(most / way);
    std::ranges::transform(exact, shares.begin(), [](Real share) { return std::round(parts * share) / parts; });
  }
  return {shares, left};
}

std::vector<Vec3> AcceleratedPasses::extrapolate(const Shares& shares) const {
  std::vector<Vec3> next = passes_[0].sum;
  for (std::size_t j = 0; j + 1 < passes_.size(); ++j)
    for (std::size_t i = 0; i < next.size(); ++i) next[i] -= shares[j] * (passes_[j].sum[i] - passes_[j + 1].sum[i]);
  return next;
}

void AcceleratedPasses::go_on(const Comm& comm, Real dt, std::span<const Nodes> layers, bool is_last) {
  keep(dt, layers);
  const auto [shares, left] = find_shares(comm, dt);
  if (is_last || left > left_before_) passes_.resize(1);
  left_before_ = left;
  const std::vector<Vec3> next = extrapolate(shares);
  for_each_node(layers, [&](std::size_t i, const Nodes& layer, std::ptrdiff_t k) {
    layer.memory->block(0)[k] = layer.inertia->block(0)[k];
    Vec3::Map(layer.memory->block(0) + k + 1) = next[i];
  });
}

}  // namespace weft
