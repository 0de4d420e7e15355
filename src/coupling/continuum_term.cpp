#include "weft/coupling/continuum_term.hpp"

#include "weft/base/sums.hpp"

#include <array>

namespace weft {

FreedomBlock grid_freedoms(const BlockMap& map) { return {"grid", NodeField::row, &map.forest()}; }

/// dA/dH of every point, by row.
struct ContinuumTerm::Tangents : Linear {
  explicit Tangents(std::vector<Mat9>& from) : spare(from), of_point(std::move(from)) {}
  ~Tangents() override { spare = std::move(of_point); }

  std::vector<Mat9>& spare;
  std::vector<Mat9> of_point;
};

Real ContinuumTerm::energy(const Motion& motion) const {
  const TrialStep step = step_of(motion);
  energy_.resize(body_.points().owned());
  gather(transfer_, bins_, places(), motion.u.block(0), [&](ChunkRows rows, const ChunkMotion& moved) {
    std::array<Real, most_rows_in_chunk> energy;
    trial_.trial_energy(rows, step, moved.C, std::span(energy.data(), rows.size()));
    for (std::size_t k = 0; k < rows.size(); ++k) energy_[rows[k]] = energy[k];
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
}

std::unique_ptr<Linear> ContinuumTerm::tangents_at(const Motion& motion, bool definite) const {
  const TrialStep step = step_of(motion);
  auto linear = std::make_unique<Tangents>(spare_);
  linear->of_point.resize(body_.points().owned());
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

void ContinuumTerm::add_tangent(const Linear& linear, Tangent& tangent) const {
  const auto& of_point = static_cast<const Tangents&>(linear).of_point;
  std::vector<std::int32_t> freedoms;
  std::vector<Real> k;
  for_each_point(transfer_, bins_, places(), [&](std::uint32_t p, const PointNodes& nodes) {
    const std::size_t n = nodes.at.size(), width = 3 * n;
    freedoms.clear();
    for (const std::int32_t at : nodes.at)
      for (int r = 0; r < 3; ++r) freedoms.push_back(at + r);
    k.resize(width * width);
    for (std::size_t j = 0; j < n; ++j) {
      const Eigen::Matrix<Real, 9, 3> half = of_point[p].leftCols<3>() * nodes.G[j][0] +
                                             of_point[p].middleCols<3>(3) * nodes.G[j][1] +
                                             of_point[p].rightCols<3>() * nodes.G[j][2];
      for (std::size_t i = 0; i < n; ++i) {
        const Mat3 block = half.topRows<3>() * nodes.G[i][0] + half.middleRows<3>(3) * nodes.G[i][1] +
                           half.bottomRows<3>() * nodes.G[i][2];
        for (std::size_t r = 0; r < 3; ++r)
          for (std::size_t s = 0; s < 3; ++s)
            k[(3 * i + r) * width + 3 * j + s] = block(static_cast<int>(r), static_cast<int>(s));
      }
    }
    tangent.add(freedoms, k);
  });
}

void ContinuumTerm::add_node_blocks(const Linear& linear, std::span<Real> blocks) const {
  weft::add_node_blocks(transfer_, bins_, places(), static_cast<const Tangents&>(linear).of_point, blocks);
}

}  // namespace weft
