#include "weft/coupling/faint_nodes.hpp"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

/// Nodes are faint that have less than this part of the largest mass of a node that the same points see.
constexpr Real faint_share = 0.1;
/// k s of a node without mass, in units of m (c / dx)^2. A hundred times more held up all that flows in long steps.
constexpr Real stiffness_number = 1e-3;

}  // namespace

/// Takes the points of a body, cell after cell.
class FaintNodes::Finder {
 public:
  Finder(const BlockMap& map, const NodeField& mass, Real dx, Real stiffness_per_mass, std::vector<Cell>& found)
      : map_(map), mass_(mass), dx_(dx), stiffness_per_mass_(stiffness_per_mass), found_(found) {}

  void take(const Vec3& x, Real mass, const PointNodes& its) {
    if (its.at != nodes_) {
      close();
      begin(its.at);
    }
    if (faint_.empty()) return;
    mass_of_points_ += mass;
    for (std::size_t f = 0; f < faint_.size(); ++f) {
      const Vec3 offset = faint_[f].position - x;
      for (std::size_t j = 0; j < nodes_.size(); ++j)
        affine_(static_cast<Eigen::Index>(f), static_cast<Eigen::Index>(j)) += mass * (its.w[j] + offset.dot(its.G[j]));
    }
  }

  void close() {
    if (faint_.empty()) return;
    Matrix D = -affine_ / mass_of_points_;
    for (std::size_t f = 0; f < faint_.size(); ++f) {
      const auto row = static_cast<Eigen::Index>(f);
      D(row, faint_[f].number) += 1;
      D.row(row) *= std::sqrt(stiffness_per_mass_ * mass_of_points_ * faint_[f].share);
    }
    found_.push_back({std::move(nodes_), std::move(D)});
    nodes_.clear();
    faint_.clear();
  }

 private:
  struct Faint {
    Eigen::Index number;  ///< Among the nodes of the cell.
    Real share;           ///< s_i
    Vec3 position;
  };

  void begin(const std::vector<std::int32_t>& nodes) {
    nodes_ = nodes;
    faint_.clear();
    Real largest = 0;
    for (const std::int32_t at : nodes) largest = std::max(largest, mass_.block(0)[at]);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (const Real share = 1 - mass_.block(0)[nodes[i]] / (faint_share * largest); share > 0)
        faint_.push_back({static_cast<Eigen::Index>(i), share, position_of(nodes[i])});
    mass_of_points_ = 0;
    affine_.setZero(static_cast<Eigen::Index>(faint_.size()), static_cast<Eigen::Index>(nodes.size()));
  }

  Vec3 position_of(std::int32_t at) const {
    const int node = at / NodeField::width;
    return dx_ * (map_.first_node(node / nodes_per_block) + node_at_place(node % nodes_per_block)).cast<Real>();
  }

  const BlockMap& map_;
  const NodeField& mass_;
  const Real dx_, stiffness_per_mass_;
  std::vector<Cell>& found_;
  std::vector<std::int32_t> nodes_;  ///< Of the present cell.
  std::vector<Faint> faint_;
  Real mass_of_points_ = 0;
  Matrix affine_;  ///< sum_p m_p a_p(x_i) of its faint nodes, by the displacements of its nodes.
};

void FaintNodes::begin_step(std::span<const Points> continua, const TransferSettings& transfer, const BlockMap& map,
                            const NodeField& inertia, Real wave_speed) {
  cells_.clear();
  NodeField mass = inertia;
  map.forest().update_ghosts(mass.view());
  for (const auto& [bins, x, m] : continua) {
    Finder finder(map, mass, transfer.dx, stiffness_number * std::pow(wave_speed / transfer.dx, 2), cells_);
    for_each_point(transfer, *bins, x, [&](std::uint32_t p, const PointNodes& its) { finder.take(x[p], m[p], its); });
    finder.close();
  }
}

namespace {

/// Values of nodes, a row for each.
Eigen::Matrix<Real, Eigen::Dynamic, 3> gathered(std::span<const std::int32_t> nodes, const Real* values) {
  Eigen::Matrix<Real, Eigen::Dynamic, 3> rows(nodes.size(), 3);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    rows.row(static_cast<Eigen::Index>(i)) = Eigen::Map<const Vec3>(values + nodes[i]).transpose();
  return rows;
}

}  // namespace

Real FaintNodes::energy(const Motion& motion) const {
  Real sum = 0;
  for (const auto& [nodes, D] : cells_) sum += (D * gathered(nodes, motion.u.block(0).data())).squaredNorm() / 2;
  return sum;
}

void FaintNodes::add_force(const Motion& motion, Load& force) const { add_force_change(Linear{}, motion.u, force); }

void FaintNodes::add_force_change(const Linear&, const FreedomValues& du, Load& change) const {
  const Real* const from = du.block(0).data();
  Real* const to = change.block(0).data();
  for (const auto& [nodes, D] : cells_) {
    const Eigen::Matrix<Real, Eigen::Dynamic, 3> f = D.transpose() * (D * gathered(nodes, from));
    for (std::size_t i = 0; i < nodes.size(); ++i)
      Eigen::Map<Vec3>(to + nodes[i]) -= f.row(static_cast<Eigen::Index>(i)).transpose();
  }
}

void FaintNodes::add_tangent(const Linear&, Tangent& tangent) const {
  std::vector<std::int32_t> freedoms;
  Matrix K;
  for (const auto& [nodes, D] : cells_) {
    const Matrix of_component = D.transpose() * D;
    const Eigen::Index n = of_component.rows();
    freedoms.clear();
    for (const std::int32_t at : nodes) freedoms.insert(freedoms.end(), {at, at + 1, at + 2});
    K.setZero(3 * n, 3 * n);
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index j = 0; j < n; ++j) K.block<3, 3>(3 * i, 3 * j).diagonal().setConstant(of_component(i, j));
    tangent.add(freedoms, {K.data(), static_cast<std::size_t>(K.size())});
  }
}

void FaintNodes::add_diagonal_blocks(const Linear&, std::size_t block, std::span<Real> matrices) const {
  if (block != 0) return;
  using Block = Eigen::Matrix<Real, 3, 3, Eigen::RowMajor>;
  for (const auto& [nodes, D] : cells_)
    for (std::size_t i = 0; i < nodes.size(); ++i)
      Eigen::Map<Block>(matrices.data() + 9 * (nodes[i] / NodeField::width)).diagonal().array() +=
          D.col(static_cast<Eigen::Index>(i)).squaredNorm();
}

}  // namespace weft
