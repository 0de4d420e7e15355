// Predict and repeat: motions of bodies before the grid moves them.

#include <algorithm>

#include "run/stages/stages.hpp"

namespace weft {

bool predict(StepContext& step) {
  step.fault = {};
  step.passes = 0;
  step.is_found = true;
  if (step.predicting.empty()) return true;
  const auto timing = step.timers.measure("predict");
  for (Predicts* body : step.predicting)
    if (const Refusal refusal = body->predict(step.dt()); refusal.excess > step.fault.excess)
      step.fault = {refusal, step.fault.node};
  step.is_found = step.comm.max(step.fault.excess) <= 1;
  if (!step.is_found)  // nodes have no motion for which points could be blamed
    for (GridLayer& layer : step.layers) layer.nodes.get<NodeVelocity>().reset(layer.map.size());
  return step.is_found;
}

bool repeat(StepContext& step) {
  ++step.passes;
  if (step.repeating.empty()) return false;
  const auto timing = step.timers.measure("predict");
  bool any = false;
  for (const auto& [repeats, s] : step.repeating) {
    const Table& points = std::as_const(*step.sets[s].points).points();
    std::vector<Vec3> received(points.rows());
    const GridLayer& layer = step.layers[step.sets[s].layer];
    gather(layer.settings.transfer, step.bins[s], points.get<Position>(), layer.nodes.get<NodeVelocity>(),
           [&](ChunkRows rows, const ChunkMotion& motion) {
             for (std::size_t k = 0; k < rows.size(); ++k) received[rows[k]] = motion.v[k];
           });
    any = repeats->wants_another_pass(step.dt(), step.passes, received) || any;
  }
  return step.comm.any(any);
}

}  // namespace weft
