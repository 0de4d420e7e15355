#include "run/stages/followers.hpp"

namespace weft {

void find_means(const BlockMap& map, const NodeField& sums, Real factor, NodeField& means) {
  const auto reals = static_cast<std::ptrdiff_t>(map.owned()) * NodeField::row;
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t k = 0; k < reals; k += NodeField::width) {
    const Real mass = sums.block(0)[k];
    const Vec3 sum = Eigen::Map<const Vec3>(sums.block(0) + k + 1);
    Eigen::Map<Eigen::Matrix<Real, NodeField::width, 1>> of_node(means.block(0) + k);
    of_node.setZero();
    if (mass > 0) of_node.head<3>() = factor / mass * sum;
  }
}

}  // namespace weft
