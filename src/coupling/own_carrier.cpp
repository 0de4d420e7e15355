#include "weft/coupling/own_carrier.hpp"

namespace weft {

void OwnCarrier::gather(const FreedomValues& displacement, MeshMotion& to) const {
  to.u = displacement.points(block_);
  if (turns_) to.turns = displacement.block(*turns_);
}

std::optional<TrialForces> OwnCarrier::place_of_forces(Load& force) const {
  return TrialForces{force.points(block_), {}, turns_ ? force.block(*turns_) : std::span<Real>()};
}

void OwnCarrier::scatter(const MeshForces& from, Load& to) const {
  const auto f = to.points(block_);
  for (std::size_t r = 0; r < f.size(); ++r) f[r] += from.f[r];
  if (!turns_) return;
  const auto turning = to.block(*turns_);
  for (std::size_t t = 0; t < from.turning.size(); ++t) turning[t] += from.turning[t];
}

/// K_ab = sum_kl w_ka K_kl w_lb of each part; turns see themselves.
void OwnCarrier::add_tangent(const MeshStiffness& stiffness, Tangent& tangent) const {
  std::vector<std::int32_t> numbers;
  Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic> products;
  Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> matrix;
  for (std::size_t k = 0; k < stiffness.size(); ++k) {
    const MeshStiffness::Part part = stiffness.part(k);
    const Eigen::Index vectors = part.w.rows(), rows = part.w.cols();
    const auto turns = static_cast<Eigen::Index>(part.turns.size());
    products.setZero(3 * vectors + turns, 3 * rows + turns);  // sum_l K_kl w_lb
    for (Eigen::Index b = 0; b < rows; ++b)
      for (Eigen::Index l = 0; l < vectors; ++l)
        products.middleCols<3>(3 * b) += part.w(l, b) * part.K.middleCols<3>(3 * l);
    products.rightCols(turns) = part.K.rightCols(turns);
    matrix.setZero(3 * rows + turns, 3 * rows + turns);
    for (Eigen::Index a = 0; a < rows; ++a)
      for (Eigen::Index l = 0; l < vectors; ++l)
        matrix.middleRows<3>(3 * a) += part.w(l, a) * products.middleRows<3>(3 * l);
    matrix.bottomRows(turns) = products.bottomRows(turns);
    numbers.clear();
    for (const std::int32_t row : part.rows)
      for (int i = 0; i < 3; ++i) numbers.push_back(freedoms_.at(block_, static_cast<std::size_t>(row)) + i);
    for (const std::int32_t turn : part.turns) numbers.push_back(freedoms_.at(*turns_, static_cast<std::size_t>(turn)));
    tangent.add(numbers, {matrix.data(), static_cast<std::size_t>(matrix.size())});
  }
}

void OwnCarrier::add_diagonal_blocks(const MeshStiffness& stiffness, std::size_t block,
                                     std::span<Real> matrices) const {
  if (block != block_) return;
  for (std::size_t k = 0; k < stiffness.size(); ++k) {
    const MeshStiffness::Part part = stiffness.part(k);
    for (Eigen::Index a = 0; a < part.w.cols(); ++a) {
      Mat3 of_vertex = Mat3::Zero();
      for (Eigen::Index l = 0; l < part.w.rows(); ++l)
        for (Eigen::Index m = 0; m < part.w.rows(); ++m)
          of_vertex += part.w(l, a) * part.w(m, a) * part.K.block<3, 3>(3 * l, 3 * m);
      Real* to = matrices.data() + 9 * part.rows[static_cast<std::size_t>(a)];
      for (int e = 0; e < 9; ++e) to[e] += of_vertex(e / 3, e % 3);
    }
  }
}

}  // namespace weft
