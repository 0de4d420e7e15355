// The explicit grid step with the handles of the scene.

#include "run/stages/context.hpp"
#include "weft/solve/explicit.hpp"

namespace weft {
namespace {

class ExplicitAdvance final : public GridAdvance {
 public:
  bool takes_forces() const override { return true; }

  void prepare(StepContext& step, GridLayer& layer) override {
    const auto timing = step.timers.measure("elements");
    const Scene& scene = step.scene;
    for (std::size_t b = 0; b < scene.bodies.size(); ++b)
      if (scene.on_layer[b] == layer.number && scene.bodies[b]->roles().is_carried_by_grid) scene.bodies[b]->prepare();
    layer.handles.load(step.state.time, step.state.time + step.dt());
    if (layer.handles.any()) layer.handles.find(step.state.cuts, step.state.time);
  }

  void shorten(StepContext& step, GridLayer& layer) override {
    layer.handles.load_again(step.state.time, step.state.time + step.dt());
  }

  AdvanceReport advance(StepContext& step, GridLayer& layer) override {
    const auto timing = step.timers.measure("grid");
    const Scene& scene = step.scene;
    const Real dt = step.dt(), dx = scene.dx;
    if (layer.contacts.any()) layer.contacts.add_shared_impulses(layer.nodes);
    // Gravity has moved bodies with freedoms of their own already.
    const Vec3 gravity = layer.settings.has_contact_points ? Vec3(Vec3::Zero()) : step.settings.gravity;
    advance_explicit(
        {dt, step.state.last_dt, step.state.time, dx, gravity, layer.settings.light_mass, step.settings.cfl * dx / dt},
        layer.map(), scene.walls, layer.nodes, layer.given.by_walls);
    if (layer.handles.any()) layer.handles.hold(dt, step.state.time, layer.map(), layer.nodes, layer.given.by_handles);
    if (layer.contacts.any()) layer.contacts.solve(ground_of(layer.map(), layer.nodes));
    return {};
  }
};

}  // namespace

std::unique_ptr<GridAdvance> make_explicit_advance() { return std::make_unique<ExplicitAdvance>(); }

}  // namespace weft
