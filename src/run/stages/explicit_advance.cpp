// The explicit grid step with the handles of the scene.

#include "run/stages/context.hpp"
#include "weft/solve/explicit.hpp"

namespace weft {
namespace {

class ExplicitAdvance final : public GridAdvance {
 public:
  bool takes_forces() const override { return true; }

  void prepare(StepContext& step) override {
    const auto timing = step.timers.measure("elements");
    for (const auto& body : step.scene.bodies)
      if (body->roles().meets_grid) body->prepare();
    step.handles.load(step.state.time);
    if (!step.scene.handles.empty()) step.handles.settle(step.state.cuts, step.state.time);
  }

  AdvanceReport advance(StepContext& step, GridLayer& layer) override {
    const auto timing = step.timers.measure("grid");
    const Scene& scene = step.scene;
    const Real dt = step.dt(), dx = layer.transfer.dx;
    AdvanceReport report;
    advance_explicit({dt, step.state.last_dt, step.state.time, dx, step.settings.gravity, scene.light_mass,
                      step.settings.cfl * dx / dt},
                     step.map, scene.walls, layer.nodes, step.given.by_walls);
    if (layer.contacts.any())
      report.contact_energy = layer.contacts.solve(step.state.last_dt, step.map, layer.nodes, step.given.by_walls);
    if (!scene.handles.empty()) step.handles.hold(dt, step.state.time, step.map, layer.nodes, step.given.by_handles);
    return report;
  }
};

}  // namespace

std::unique_ptr<GridAdvance> make_explicit_advance() { return std::make_unique<ExplicitAdvance>(); }

}  // namespace weft
