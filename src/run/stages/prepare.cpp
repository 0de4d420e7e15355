// Prepare: what the tries of a step have in common.

#include "run/stages/stages.hpp"
#include "weft/run/totals.hpp"

namespace weft {

void prepare(StepContext& step, bool weigh) {
  if (!step.settings.is_implicit && (weigh || step.dt() == step.left)) {
    const auto timing = step.timers.measure("record");
    step.report.potential_before = totals_of(step.comm, step.scene).potential();
  }
  for (GridLayer& layer : step.layers) layer.advance->prepare(step);
  step.given = {std::vector<Vec3>(step.scene.walls.size()), std::vector<HandleImpulse>(step.scene.handles.size())};
}

}  // namespace weft
