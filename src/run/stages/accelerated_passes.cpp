#include "run/stages/accelerated_passes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft {
namespace {

template <class Visit>
void for_each_node(std::span<const AcceleratedPasses::Nodes> layers, const Visit& visit) {
  std::size_t i = 0;
  for (const AcceleratedPasses::Nodes& layer : layers)
    for (const int b : layer.blocks)
      for (int place = 0; place < nodes_per_block; ++place)
        visit(i++, layer, b * std::ptrdiff_t{NodeField::row} + place * NodeField::width);
}

}  // namespace

void AcceleratedPasses::begin(Real most_momentum) {
  most_momentum_ = most_momentum;
  found_.clear();
  passes_ = 0;
  t_ = 1;
}

void AcceleratedPasses::go_on(const Comm& comm, Real dt, std::span<const Nodes> layers) {
  const std::vector<Vec3> before = std::exchange(found_, {});
  const bool is_first = passes_++ == 0;
  Real along = 0;  // of z with x_k - x_{k-1} [W]
  for_each_node(layers, [&](std::size_t i, const Nodes& layer, std::ptrdiff_t k) {
    const Vec3 z = Eigen::Map<const Vec3>(layer.change->block(0) + k);
    const Vec3 phi = Eigen::Map<const Vec3>(layer.memory->block(0) + k + 1);
    found_.emplace_back(phi + layer.inertia->block(0)[k] / dt * z);
    if (!is_first) along += z.dot(found_[i] - before[i]);
  });
  if (comm.sum(along) < 0) t_ = 1;
  const Real next = (1 + std::sqrt(1 + 4 * t_ * t_)) / 2,
             beta = is_first ? 0 : std::min(most_momentum_, (t_ - 1) / next);
  t_ = next;
  for_each_node(layers, [&](std::size_t i, const Nodes& layer, std::ptrdiff_t k) {
    Vec3 phi = found_[i];
    if (!is_first) phi += beta * (found_[i] - before[i]);
    layer.memory->block(0)[k] = layer.inertia->block(0)[k];
    Eigen::Map<Vec3>(layer.memory->block(0) + k + 1) = phi;
  });
}

}  // namespace weft
