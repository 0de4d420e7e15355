#include "run/stages/pass_mixing.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <utility>

namespace weft {
namespace {

/// Passes that a new one builds on.
constexpr std::size_t most_passes = 8;
/// Differences that depend on others but for this share are left to round-off, and shorter ones than this share of z,
/// squared.
constexpr Real ridge = 1e-6, least_length = 1e-20;
/// Where contact opens or slips, passes before it mislead: |z|^2 grows by more than this.
constexpr Real most_growth = 4;

template <class Visit>
void for_each_node(std::span<const PassMixing::Nodes> layers, const Visit& visit) {
  std::size_t i = 0;
  for (const PassMixing::Nodes& layer : layers)
    for (std::ptrdiff_t k = 0; k < static_cast<std::ptrdiff_t>(layer.owned) * NodeField::row; k += NodeField::width)
      visit(i++, layer, k);
}

}  // namespace

void PassMixing::begin() {
  passes_.clear();
  last_size_ = 0;
}

void PassMixing::mix(const Comm& comm, Real dt, std::span<const Nodes> layers) {
  std::vector<Real> mass;
  Pass now;
  for_each_node(layers, [&](std::size_t, const Nodes& layer, std::ptrdiff_t k) {
    mass.push_back(layer.inertia->block(0)[k]);
    now.memory.emplace_back(Eigen::Map<const Vec3>(layer.memory->block(0) + k + 1));
    now.change.emplace_back(Eigen::Map<const Vec3>(layer.change->block(0) + k));
  });
  const auto product = [&](const auto& a, const auto& b) {
    Real sum = 0;
    for (std::size_t i = 0; i < mass.size(); ++i) sum += mass[i] * a(i).dot(b(i));
    return sum;
  };
  const auto newer = [&](std::size_t j) -> const Pass& { return j + 1 < passes_.size() ? passes_[j + 1] : now; };
  const auto latest = [&](std::size_t i) -> const Vec3& { return now.change[i]; };
  const auto difference = [&](std::size_t j) {
    return
        [&older = passes_[j].change, &later = newer(j).change](std::size_t i) -> Vec3 { return later[i] - older[i]; };
  };
  const std::size_t n = passes_.size();
  const auto rows = static_cast<Eigen::Index>(n);
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(rows + 1, rows + 1);  // of differences, and in the last row with z
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j)
      sums(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = product(difference(i), difference(j));
    sums(rows, static_cast<Eigen::Index>(i)) = product(latest, difference(i));
  }
  sums(rows, rows) = product(latest, latest);
  comm.sum(std::span(sums.data(), static_cast<std::size_t>(sums.size())));
  const Real size = sums(rows, rows);
  std::vector<Real> gamma(n, 0);
  const bool goes_on = n > 0 && size <= most_growth * last_size_;
  if (goes_on && sums.diagonal().head(rows).maxCoeff() > 0) {
    // Of differences of length 1.
    const Eigen::VectorXd lengths = sums.diagonal().head(rows).cwiseMax(least_length * sums(rows, rows)).cwiseSqrt();
    const Eigen::MatrixXd products = sums.topLeftCorner(rows, rows).selfadjointView<Eigen::Lower>();
    Eigen::MatrixXd squares = lengths.cwiseInverse().asDiagonal() * products * lengths.cwiseInverse().asDiagonal();
    squares.diagonal().array() += ridge;
    const Eigen::VectorXd along = sums.row(rows).head(rows).transpose().cwiseQuotient(lengths);
    Eigen::Map<Eigen::VectorXd>(gamma.data(), rows) = squares.ldlt().solve(along).cwiseQuotient(lengths);
  }
  if (!goes_on && n > 0) {  // back to the pass before, from which a plain step is safe
    now = std::move(passes_.back());
    passes_.clear();
    gamma.clear();
  } else {
    last_size_ = size;
  }
  for_each_node(layers, [&](std::size_t i, const Nodes& layer, std::ptrdiff_t k) {
    Vec3 next = now.memory[i] + mass[i] / dt * now.change[i];
    for (std::size_t j = 0; j < gamma.size(); ++j)
      next -= gamma[j] *
              (newer(j).memory[i] - passes_[j].memory[i] + mass[i] / dt * (newer(j).change[i] - passes_[j].change[i]));
    layer.memory->block(0)[k] = mass[i];
    Eigen::Map<Vec3>(layer.memory->block(0) + k + 1) = next;
  });
  passes_.push_back(std::move(now));
  if (passes_.size() > most_passes) passes_.erase(passes_.begin());
}

}  // namespace weft
