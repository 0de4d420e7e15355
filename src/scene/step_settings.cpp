#include "weft/scene/step_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "weft/base/check.hpp"
#include "weft/base/error.hpp"
#include "weft/bodies/body.hpp"
#include "weft/bodies/trial.hpp"
#include "weft/deck/layers.hpp"
#include "weft/grid/walls.hpp"
#include "weft/scene/catalogue.hpp"

namespace weft {
namespace {

/// Contact of meshes that lags sticks, but slip in the loop has no energy, without which a quasi-static step needs
/// `direct`.
bool flows_in_loop(const SolveDeck& deck, const Roles& roles) {
  if (deck.plasticity) return *deck.plasticity == Plasticity::in_loop;
  return roles.trial != nullptr ? roles.trial->flows_in_loop() : deck.inertia;
}

bool has_energy(const Roles& roles, bool in_loop) {
  WEFT_ENSURE(roles.trial != nullptr || roles.trial_mesh != nullptr);
  return roles.trial != nullptr ? roles.trial->has_trial_energy(in_loop) : roles.trial_mesh->has_trial_energy(in_loop);
}

void set_implicit(const SolveDeck& deck, std::span<const std::unique_ptr<Body>> bodies, std::span<const Wall> walls,
                  StepSettings& settings) {
  bool all_have_energy = true;
  std::string without_energy;
  for (const auto& body : bodies) {
    const Roles roles = body->roles();
    const bool in_loop = flows_in_loop(deck, roles);
    settings.flows_in_loop.push_back(in_loop);
    if ((!roles.is_carried_by_grid && roles.trial == nullptr) || has_energy(roles, in_loop)) continue;
    all_have_energy = false;
    without_energy = body->name();
  }
  require(all_have_energy || deck.solver != Solver::minimise, ExitCode::deck,
          fmt::format("{}: solver minimise: the flow of body {} in the loop is not the derivative of an energy, so "
                      "there is nothing to minimise. Use \"solver: residual\", or \"plasticity: lagged\".",
                      deck.location.text, without_energy));
  // Friction on colliders is not the derivative of an energy either; `minimise` takes its strength from the iterate
  // before; multigrid keeps to symmetric matrices, with which it repeats its bits after a stop.
  const bool has_friction = std::any_of(walls.begin(), walls.end(), [](const Wall& w) { return w.friction > 0; });
  settings.implicit = {
      .minimise = deck.solver ? *deck.solver == Solver::minimise
                              : all_have_energy && !(has_friction && deck.preconditioner != Preconditioner::multigrid),
      .inertia = deck.inertia,
      .tolerance = deck.tolerance.value_or(1e-4),
      .max_iterations = deck.max_iterations,
      .preconditioner = deck.preconditioner,
      .petsc = deck.petsc};
}

/// How a body moves if it does so by itself.
std::optional<StageSettings> stage_of(const Deck& deck, const BodyDeck& body) {
  const CarriedDeck* keys = carried(body);
  if (keys == nullptr || keys->carrier == Carrier::grid) return {};
  const StageDeck stage = keys->stage.value_or(StageDeck{StageScheme::explicit_euler, 0, 1e-8});
  const auto* strand = std::get_if<StrandDeck>(&body);
  const bool has_one_substep = strand != nullptr && acts_on_whole_steps(deck, *strand);
  return StageSettings{.is_implicit = stage.scheme == StageScheme::implicit_euler,
                       .substeps = has_one_substep ? 1 : stage.substeps,
                       .tolerance = stage.tolerance};
}

std::optional<BlendSettings> blend_settings(const BodyDeck& body) {
  const std::optional<BlendDeck> blend = blend_of(body);
  if (!blend) return {};
  if (const auto* by_step = std::get_if<PicShareDeck>(&blend->pic)) return BlendSettings{by_step->share, 0};
  return BlendSettings{{}, std::get<PicRateDeck>(blend->pic).rate};
}

std::optional<StrandImpulseSettings> impulses_of(const StrandDeck& strand) {
  if (!strand.impulses) return {};
  const auto& [distance, iterations, friction, averaging, swept] = *strand.impulses;
  return StrandImpulseSettings{distance, iterations, friction, averaging, swept};
}

/// What steps read of each body that is a strand; nothing of others.
void set_strands(const Deck& deck, StepSettings& settings) {
  for (const BodyDeck& body : deck.bodies) {
    const auto* strand = std::get_if<StrandDeck>(&body);
    const bool is_strand = strand != nullptr;
    settings.impulses.push_back(is_strand ? impulses_of(*strand) : std::nullopt);
    settings.stretch_limits.push_back(is_strand ? strand->stretch_limit : std::nullopt);
  }
}

/// Over the speed of what falls by dx.
constexpr Real slowest_hit_of_fall = 0.01;

/// Whether a body has a surface of contact points, which remember.
bool has_surface(const BodyDeck& body) { return has_contact_points(body) && !std::holds_alternative<StrandDeck>(body); }

/// Passes of contact, if a body makes several: solids of several substeps do where surfaces may meet.
std::optional<ContactPasses> contact_passes_of(const BodyDeck& body, bool surfaces_may_meet) {
  constexpr Real of_rigid_bodies = 3e-4, of_implicit_ones = 1e-3, of_substeps = 5e-4;
  if (const auto* rigid = std::get_if<RigidDeck>(&body))
    return ContactPasses{rigid->contact ? rigid->contact->tolerance.value_or(of_rigid_bodies) : of_rigid_bodies};
  const auto* solid = std::get_if<SolidDeck>(&body);
  if (solid == nullptr || solid->carrier == Carrier::grid) return {};
  if (solid->contact && solid->contact->tolerance) return ContactPasses{*solid->contact->tolerance};
  const StageDeck stage = solid->stage.value_or(StageDeck{StageScheme::explicit_euler, 0, 0});
  if (stage.scheme == StageScheme::implicit_euler) return ContactPasses{of_implicit_ones};
  if (stage.substeps != 1 && surfaces_may_meet) return ContactPasses{of_substeps, true};
  return {};
}

}  // namespace

StepSettings step_settings(const Deck& deck, std::span<const std::unique_ptr<Body>> bodies,
                           std::span<const Wall> walls) {
  StepSettings settings;
  settings.is_implicit = deck.time.scheme == Scheme::implicit_euler;
  settings.end = deck.time.end;
  settings.cfl = deck.time.cfl;
  settings.max_dt = deck.time.max_dt;
  settings.max_strain = deck.time.max_strain;
  settings.max_retries = deck.time.max_retries;
  settings.most_imbalance = deck.balance.threshold;
  settings.balance_every = deck.balance.every;
  settings.gravity = deck.domain.gravity;
  settings.slowest_hit = slowest_hit_of_fall * std::sqrt(2 * deck.domain.gravity.norm() * deck.domain.dx);
  std::ranges::transform(deck.bodies, std::back_inserter(settings.stages),
                         [&](const BodyDeck& body) { return stage_of(deck, body); });
  const bool meet_themselves = std::ranges::any_of(
      deck.layer_contact, [](const LayerContactDeck& pair) { return pair.between.front() == pair.between.back(); });
  const bool surfaces_may_meet = meet_themselves || std::ranges::count_if(deck.bodies, has_surface) > 1;
  std::ranges::transform(deck.bodies, std::back_inserter(settings.contact_passes),
                         [&](const BodyDeck& body) { return contact_passes_of(body, surfaces_may_meet); });
  std::ranges::transform(deck.bodies, std::back_inserter(settings.blends), blend_settings);
  set_strands(deck, settings);
  if (settings.is_implicit) set_implicit(deck.solve, bodies, walls, settings);
  return settings;
}

}  // namespace weft
