#include "weft/coupling/wall_term.hpp"

namespace weft {

/// -d(force)/d(displacement) of each contact [N/m].
struct WallTerm::Slopes : Linear {
  std::vector<Mat3> of_contact;
};

Real WallTerm::energy(const Motion& motion) const {
  if (!has_energy_) return 0;
  const std::span<const Real> u = motion.u.block(0);
  Real sum = 0;
  for (std::size_t c = 0; c < contacts_.size(); ++c)
    sum += contacts_.press(c, contacts_.gathered(c, u.data()), is_lagged_).energy;
  return sum;
}

void WallTerm::add_force(const Motion& motion, Load& force) const {
  const std::span<const Real> u = motion.u.block(0);
  const std::span<Real> f = force.block(0);
  contacts_.for_each_in_turn([&](std::size_t c) {
    contacts_.add(c, contacts_.press(c, contacts_.gathered(c, u.data()), is_lagged_).force, f.data());
  });
}

std::unique_ptr<Linear> WallTerm::linearise(const Motion& motion) const {
  const std::span<const Real> u = motion.u.block(0);
  auto slopes = std::make_unique<Slopes>();
  slopes->of_contact.resize(contacts_.size());
#pragma omp parallel for schedule(static)
  for (std::size_t c = 0; c < contacts_.size(); ++c)
    slopes->of_contact[c] = contacts_.press(c, contacts_.gathered(c, u.data()), is_lagged_).slope;
  return slopes;
}

void WallTerm::add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const {
  const auto& slope = static_cast<const Slopes&>(linear).of_contact;
  const std::span<const Real> u = du.block(0);
  const std::span<Real> f = change.block(0);
  contacts_.for_each_in_turn(
      [&](std::size_t c) { contacts_.add(c, -slope[c] * contacts_.gathered(c, u.data()), f.data()); });
}

void WallTerm::add_tangent(const Linear& linear, Tangent& tangent) const {
  const auto& slope = static_cast<const Slopes&>(linear).of_contact;
  std::vector<std::int32_t> freedoms;
  Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> K;
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const auto nodes = contacts_.nodes_of(c);
    const auto W = contacts_.weights_of(c);
    const auto n = static_cast<Eigen::Index>(nodes.size());
    freedoms.clear();
    for (const std::int32_t node : nodes) freedoms.insert(freedoms.end(), {node, node + 1, node + 2});
    K.resize(3 * n, 3 * n);
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index j = 0; j < n; ++j)
        K.block<3, 3>(3 * i, 3 * j) = W[static_cast<std::size_t>(i)] * W[static_cast<std::size_t>(j)] * slope[c];
    tangent.add(freedoms, {K.data(), static_cast<std::size_t>(K.size())});
  }
}

void WallTerm::add_diagonal_blocks(const Linear& linear, std::size_t block, std::span<Real> matrices) const {
  if (block != 0) return;
  const auto& slope = static_cast<const Slopes&>(linear).of_contact;
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const auto nodes = contacts_.nodes_of(c);
    const auto W = contacts_.weights_of(c);
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      using Block = Eigen::Matrix<Real, 3, 3, Eigen::RowMajor>;
      Eigen::Map<Block>(matrices.data() + 9 * (nodes[k] / contacts_.width())) += W[k] * W[k] * slope[c];
    }
  }
}

}  // namespace weft
