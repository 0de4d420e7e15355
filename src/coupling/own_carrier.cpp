#include "weft/coupling/own_carrier.hpp"

namespace weft {
namespace {

/// K_ab = sum_kl w_ka K_kl w_lb of a part; turns see themselves. Sizes of parts that are known here need no loops.
template <int vectors, int rows, int turns>
class OfVertices {
  static constexpr bool is_known = vectors != Eigen::Dynamic;
  static constexpr int seen = is_known ? 3 * vectors + turns : Eigen::Dynamic,
                       moved = is_known ? 3 * rows + turns : Eigen::Dynamic;

 public:
  static bool takes(const MeshStiffness::Part& part) {
    return !is_known || (part.w.rows() == vectors && part.w.cols() == rows && part.turns.size() == turns);
  }
  /// Row by row.
  std::span<const Real> of(const MeshStiffness::Part& part) {
    const Eigen::Map<const Eigen::Matrix<Real, seen, seen>> K(part.K.data(), part.K.rows(), part.K.cols());
    const Eigen::Map<const Eigen::Matrix<Real, vectors, rows>> w(part.w.data(), part.w.rows(), part.w.cols());
    const Eigen::Index its_turns = K.cols() - 3 * w.rows();
    products_.setZero(K.rows(), 3 * w.cols() + its_turns);  // sum_l K_kl w_lb
    for (Eigen::Index b = 0; b < w.cols(); ++b)
      for (Eigen::Index l = 0; l < w.rows(); ++l)
        products_.template middleCols<3>(3 * b) += w(l, b) * K.template middleCols<3>(3 * l);
    products_.rightCols(its_turns) = K.rightCols(its_turns);
    matrix_.setZero(products_.cols(), products_.cols());
    for (Eigen::Index a = 0; a < w.cols(); ++a)
      for (Eigen::Index l = 0; l < w.rows(); ++l)
        matrix_.template middleRows<3>(3 * a) += w(l, a) * products_.template middleRows<3>(3 * l);
    matrix_.bottomRows(its_turns) = products_.bottomRows(its_turns);
    return {matrix_.data(), static_cast<std::size_t>(matrix_.size())};
  }

 private:
  Eigen::Matrix<Real, seen, moved> products_;
  Eigen::Matrix<Real, moved, moved, Eigen::RowMajor> matrix_;
};
using OfSegment = OfVertices<1, 2, 0>;
using OfJoint = OfVertices<2, 3, 2>;
using OfAny = OfVertices<Eigen::Dynamic, Eigen::Dynamic, Eigen::Dynamic>;

}  // namespace

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

void OwnCarrier::add_tangent(const MeshStiffness& stiffness, Tangent& tangent) const {
  std::vector<std::int32_t> numbers;
  OfSegment of_segment;
  OfJoint of_joint;
  OfAny of_any;
  for (std::size_t k = 0; k < stiffness.size(); ++k) {
    const MeshStiffness::Part part = stiffness.part(k);
    numbers.clear();
    for (const std::int32_t row : part.rows)
      for (int i = 0; i < 3; ++i) numbers.push_back(freedoms_.at(block_, static_cast<std::size_t>(row)) + i);
    for (const std::int32_t turn : part.turns) numbers.push_back(freedoms_.at(*turns_, static_cast<std::size_t>(turn)));
    if (OfSegment::takes(part)) tangent.add(numbers, of_segment.of(part));
    else if (OfJoint::takes(part)) tangent.add(numbers, of_joint.of(part));
    else tangent.add(numbers, of_any.of(part));
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
