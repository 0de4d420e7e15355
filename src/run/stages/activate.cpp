// Activate: the blocks near points, with their owners and ghosts.

#include "run/stages/stages.hpp"

namespace weft {

void activate(StepContext& step) {
  const auto timing = step.timers.measure("activate");
  bool any_is_new = false;
  for (GridLayer& layer : step.layers) {
    if (layer.near != nullptr) {
      layer.blocks = layer.near->blocks;
      continue;
    }
    const bool is_new = layer.needs_map;
    any_is_new = any_is_new || is_new;
    if (is_new) {
      layer.advance->blocks_changed();
      layer.blocks = std::make_shared<BlockMap>(step.comm, step.state.cuts, layer.touched);
      layer.map_is_stale = layer.needs_map = false;
    }
    for (std::size_t s = layer.first_set; s < layer.end_of_sets; ++s)
      if (is_new || !step.bins[s].is_numbered()) step.bins[s].number(layer.map());
  }
  if (any_is_new && step.has_layers()) step.layer_contact.find(step.meeting_layers());
}

}  // namespace weft
