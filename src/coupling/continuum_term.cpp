#include "weft/coupling/continuum_term.hpp"

#include "weft/base/sums.hpp"

#include <array>

namespace weft {

/// dA/dH of every point, by row.
struct ContinuumTerm::Tangents : Linear {
  explicit Tangents(std::vector<Mat9>& from) : spare(from), of_point(std::move(from)) {}
  ~Tangents() override { spare = std::move(of_point); }

  std::vector<Mat9>& spare;
  std::vector<Mat9> of_point;
};

Real ContinuumTerm::energy(const Motion& motion) const {
  const TrialStep step = step_of(motion);
  const std::span<const Vec3> load = points_.forces();
  energy_.resize(points_.points().owned());
  gather(transfer_, bins_, places(), motion.u.block(0), [&](ChunkRows rows, const ChunkMotion& moved) {
    std::array<Real, most_rows_in_chunk> energy;
    trial_.trial_energy(rows, step, moved.C, std::span(energy.data(), rows.size()));
    for (std::size_t k = 0; k < rows.size(); ++k)
      energy_[rows[k]] = energy[k] - (load.empty() ? 0 : load[rows[k]].dot(moved.v[k]));
  });
  // In visiting order, which does not depend on where rows stand.
  const auto order = bins_.order();
  return ordered_sum(order.size(), Real(0), [&](std::size_t k) { return energy_[order[k]]; });
}

void ContinuumTerm::add_force(const Motion& motion, Load& force) const {
  const TrialStep step = step_of(motion);
  pass_through(
      transfer_, bins_, places(), motion.u.block(0),
      [&](ChunkRows rows, const ChunkMotion& moved, const ChunkForces& forces) {
        trial_.trial_response(rows, step, moved.C, forces.A);
      },
      force.block(0));
  if (const std::span<const Vec3> load = points_.forces(); !load.empty())
    push(transfer_, bins_, places(), load, {}, force.block(0));
}

std::unique_ptr<Linear> ContinuumTerm::tangents_at(const Motion& motion, bool definite) const {
  const TrialStep step = step_of(motion);
  auto linear = std::make_unique<Tangents>(spare_);
  linear->of_point.resize(points_.points().owned());
  gather(transfer_, bins_, places(), motion.u.block(0), [&](ChunkRows rows, const ChunkMotion& moved) {
    std::array<Mat9, most_rows_in_chunk> tangent;
    trial_.trial_tangent(rows, step, moved.C, definite, std::span(tangent.data(), rows.size()));
    for (std::size_t k = 0; k < rows.size(); ++k) linear->of_point[rows[k]] = tangent[k];
  });
  return linear;
}

void ContinuumTerm::add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const {
  const auto& tangent = static_cast<const Tangents&>(linear).of_point;
  pass_through(
      transfer_, bins_, places(), du.block(0),
      [&](ChunkRows rows, const ChunkMotion& moved, const ChunkForces& forces) {
        for (std::size_t k = 0; k < rows.size(); ++k) forces.A[k] = change_by(tangent[rows[k]], moved.C[k]);
      },
      change.block(0));
}

/// The points of one cell have the same n nodes and are one element: with the gradients G_p of the nodes, three to a
/// row, and H_p = M_p G_p^T, of which each row takes the components r of a force and the n displacements u_j,
///   K_(ir)(js) = sum_p sum_k G_p(i, k) H_p(k, (r, j, s)).
void ContinuumTerm::add_tangent(const Linear& linear, Tangent& tangent) const {
  const auto& of_point = static_cast<const Tangents&>(linear).of_point;
  using Rows = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Rows G, H, K;  // of the points of a cell that have been seen
  Eigen::Index points = 0;
  std::vector<std::int32_t> nodes, freedoms;
  const auto close_cell = [&] {
    if (points == 0) return;
    const auto n = static_cast<Eigen::Index>(nodes.size());
    freedoms.clear();
    for (const std::int32_t node : nodes)
      for (int r = 0; r < 3; ++r) freedoms.push_back(node + r);
    K.noalias() = G.topRows(3 * points).transpose() * H.topRows(3 * points);
    tangent.add(freedoms, {K.data(), static_cast<std::size_t>(9 * n * n)});
    points = 0;
  };
  for_each_point(transfer_, bins_, places(), [&](std::uint32_t p, const PointNodes& its) {
    if (its.at != nodes) {
      close_cell();
      nodes = its.at;
    }
    const auto n = static_cast<Eigen::Index>(nodes.size());
    if (G.cols() != n || G.rows() < 3 * (points + 1)) {
      G.conservativeResize(3 * (2 * points + 8), n);
      H.conservativeResize(3 * (2 * points + 8), 9 * n);
    }
    const Mat9& M = of_point[p];
    for (Eigen::Index j = 0; j < n; ++j) {
      const Vec3& g = its.G[static_cast<std::size_t>(j)];
      G.block<3, 1>(3 * points, j) = g;
      const Eigen::Matrix<Real, 9, 3> half =
          M.leftCols<3>() * g[0] + M.middleCols<3>(3) * g[1] + M.rightCols<3>() * g[2];
      for (int k = 0; k < 3; ++k)
        for (int r = 0; r < 3; ++r) H.block<1, 3>(3 * points + k, 3 * (n * r + j)) = half.row(3 * k + r);
    }
    ++points;
  });
  close_cell();
}

void ContinuumTerm::add_diagonal_blocks(const Linear& linear, std::size_t block, std::span<Real> matrices) const {
  if (block == 0) add_node_blocks(transfer_, bins_, places(), static_cast<const Tangents&>(linear).of_point, matrices);
}

}  // namespace weft
