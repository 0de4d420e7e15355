// The implicit grid step, with bodies as Terms of the motion of the nodes.

#include <algorithm>

#include "run/stages/context.hpp"
#include "run/stages/limits.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/coupling/continuum_term.hpp"
#include "weft/coupling/faint_nodes.hpp"
#include "weft/coupling/grid_carrier.hpp"
#include "weft/coupling/mesh_term.hpp"
#include "weft/coupling/wall_term.hpp"
#include "weft/solve/implicit.hpp"

namespace weft {
namespace {

class ImplicitAdvance final : public GridAdvance {
 public:
  ImplicitAdvance(const StepContext& step, std::size_t layer) : settings_(step.settings.implicit), layer_(layer) {
    for (std::size_t s = 0; s < step.sets.size(); ++s) {
      Body& body = *step.scene.bodies[step.sets[s].body];
      if (step.sets[s].layer != layer) continue;
      if (step.sets[s].points == &body || (step.sets[s].follows != nullptr && body.roles().trial != nullptr))
        add_term(step, body, s);
    }
    if (step.layers[layer].handles.any()) holds_ = std::make_unique<GridHolds>(step.scene, layer, step.bins_of_body);
  }

  bool takes_forces() const override { return false; }
  void prepare(StepContext&, GridLayer&) override {}
  void shorten(StepContext&, GridLayer&) override {}
  void blocks_changed() override { grid_.reset(); }

  AdvanceReport advance(StepContext& step, GridLayer& layer) override {
    const Real dt = step.dt(), end = step.state.time + dt;
    layer.handles.load_alone(settings_.inertia ? step.state.time : end, end, dt);  // at rest forces balance at the end
    const auto timing = step.timers.measure("solve");
    if (holds_) holds_->begin_step(layer.map(), layer.nodes.get<NodeInertia>(), step.state.time, dt);
    if (!grid_) grid_ = make_grid(step, layer);
    const Real speed = wave_speed(step, layer);
    find_faint_nodes(step, layer, speed);
    ImplicitReport found =
        grid_->advance({dt, step.state.time, step.scene.dx, step.settings.gravity, speed, step.is_asked_to_stop,
                        layer.is_loaded ? &layer.nodes.get<NodeMemory>() : nullptr, step.passes > 0},
                       step.scene.walls, layer.nodes, layer.given.by_walls);
    if (layer.contacts.any()) {
      layer.map().forest().update_ghosts(layer.nodes.get<NodeVelocity>().view());
      layer.given.contact_energy = layer.contacts.count(layer.nodes.get<NodeVelocity>().block(0), dt, dt,
                                                        settings_.minimise, layer.given.by_walls);
    }
    if (holds_) holds_->add_impulses(end, dt, found.of_conditions, layer.given.by_handles);
    return {found.converged ? "" : found.failure, found.newton, found.krylov, std::move(found.residuals)};
  }

 private:
  void add_term(const StepContext& step, Body& body, std::size_t s) {
    const Roles roles = body.roles();
    const TransferSettings& transfer = step.scene.layers[layer_].transfer;
    const bool in_loop = step.settings.flows_in_loop[step.sets[s].body];
    if (roles.trial == nullptr) {
      const Vec3 gravity = settings_.inertia ? Vec3(Vec3::Zero()) : step.settings.gravity;
      auto carrier = std::make_unique<GridCarrier>(*roles.mesh, step.bins[s], step.bins[s + 1], transfer);
      terms_.push_back(std::make_unique<MeshTerm>(*roles.mesh, std::move(carrier), Parts{.in_loop = in_loop}, gravity));
    } else {
      terms_.push_back(
          std::make_unique<ContinuumTerm>(*step.sets[s].points, *roles.trial, step.bins[s], transfer, in_loop));
      continua_.push_back(s);
    }
  }

  std::unique_ptr<ImplicitGrid> make_grid(const StepContext& step, const GridLayer& layer) {
    std::vector<const Term*> terms;
    for (const auto& term : terms_) terms.push_back(term.get());
    if (!wall_term_) {
      const auto& walls = step.scene.walls;
      const bool has_friction = std::ranges::any_of(walls, [](const Wall& wall) { return wall.friction > 0; });
      wall_term_ = std::make_unique<WallTerm>(layer.contacts, has_friction, settings_.minimise);
    }
    terms.push_back(wall_term_.get());
    terms.push_back(&faint_nodes_);
    std::vector<const Constraints*> constraints;
    if (holds_) constraints.push_back(holds_.get());
    return std::make_unique<ImplicitGrid>(step.comm, layer.map(), std::move(terms), std::move(constraints), settings_);
  }

  /// In steps in which inertia does not hold them.
  void find_faint_nodes(const StepContext& step, const GridLayer& layer, Real wave_speed) {
    constexpr Real short_way = 3;  // of a wave in a step, in grid spacings
    faint_nodes_.clear();
    if (settings_.inertia && step.dt() * wave_speed < short_way * step.scene.dx) return;
    std::vector<FaintNodes::Points> points;
    for (const std::size_t s : continua_) {
      const Table& table = std::as_const(*step.sets[s].points).points();
      points.push_back({&step.bins[s], table.get<Position>(), table.get<Mass>()});
    }
    faint_nodes_.begin_step(points, layer.settings.transfer, layer.map(), layer.nodes.get<NodeInertia>(), wave_speed);
  }

  /// Of the fastest wave in any body. Along a mesh the grid's bound and that of the mesh by itself hold, as for
  /// explicit steps.
  static Real wave_speed(const StepContext& step, const GridLayer& layer) {
    const Real per_frequency = wave_number(layer.settings.transfer.kernel) * step.scene.dx / vibration_number;
    Real fastest = 0;
    for (std::size_t b = 0; b < step.state.limits.size(); ++b) {
      if (step.scene.on_layer[b] != layer.number) continue;
      const StepLimit& limit = step.state.limits[b];
      fastest = std::max({fastest, limit.wave_speed, std::min(limit.mesh_speed, limit.vibration() * per_frequency)});
    }
    return fastest;
  }

  const ImplicitSettings& settings_;
  std::unique_ptr<GridHolds> holds_;
  std::size_t layer_;
  std::unique_ptr<WallTerm> wall_term_;
  std::vector<std::size_t> continua_;  ///< Sets of points.
  FaintNodes faint_nodes_;
  std::vector<std::unique_ptr<Term>> terms_;  ///< One for each body of the layer.
  std::unique_ptr<ImplicitGrid> grid_;        ///< For the present blocks; none if there was no step on them.
};

}  // namespace

std::unique_ptr<GridAdvance> make_implicit_advance(const StepContext& step, std::size_t layer) {
  return std::make_unique<ImplicitAdvance>(step, layer);
}

}  // namespace weft
