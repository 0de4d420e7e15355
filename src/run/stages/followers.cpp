#include "run/stages/followers.hpp"

#include "weft/transfer/transfer.hpp"

#include <algorithm>
#include <utility>

namespace weft {

void scatter_followers(StepContext& step, GridLayer& layer) {
  NodeField& nodes = layer.nodes.get<NodeGiven>();
  nodes.reset(layer.map.size());
  for (std::size_t s = layer.first_set; s < layer.end_of_sets; ++s) {
    if (step.sets[s].follows == nullptr) continue;
    const Table& points = std::as_const(*step.sets[s].points).points();
    scatter(
        layer.settings.transfer, step.bins[s],
        {points.get<Position>(), points.get<TentativeVelocity>(), points.get<Affine>(), points.get<Mass>()},
        [](ChunkRows, const ChunkForces& of) { std::ranges::fill(of.A, Mat3(Mat3::Zero())); }, 0, nodes);
  }
}

void find_velocities(const BlockMap& map, const NodeField& inertia, NodeField& velocity) {
  const auto reals = static_cast<std::ptrdiff_t>(map.owned()) * NodeField::row;
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t k = 0; k < reals; k += NodeField::width) {
    const Real mass = inertia.block(0)[k];
    const Vec3 momentum = Eigen::Map<const Vec3>(inertia.block(0) + k + 1);
    Eigen::Map<Eigen::Matrix<Real, NodeField::width, 1>> of_node(velocity.block(0) + k);
    of_node.setZero();
    if (mass > 0) of_node.head<3>() = momentum / mass;
  }
}

}  // namespace weft
