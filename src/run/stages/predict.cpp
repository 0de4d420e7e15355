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
    const std::vector<Vec3> received = gathered(step, s, step.layers[step.sets[s].layer].nodes.get<NodeVelocity>());
    any = repeats->wants_another_pass(step.dt(), step.passes, received) || any;
  }
  return step.comm.any(any);
}

}  // namespace weft
