// Activate: the blocks near points, with their owners and ghosts.

#include "run/stages/stages.hpp"

namespace weft {

void activate(StepContext& step) {
  const auto timing = step.timers.measure("activate");
  const bool is_new = step.needs_map;
  if (is_new) {
    for (GridLayer& layer : step.layers) layer.advance->blocks_changed();
    step.map = BlockMap(step.comm, step.state.cuts, step.touched);
    step.map_is_stale = step.needs_map = false;
  }
  for (Bins& bins : step.bins)
    if (is_new || !bins.is_numbered()) bins.number(step.map);
}

}  // namespace weft
