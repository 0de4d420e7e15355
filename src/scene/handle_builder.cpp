#include "scene/handle_builder.hpp"

#include "scene/point_handles.hpp"
#include "weft/base/check.hpp"
#include "weft/deck/layers.hpp"
#include "weft/scene/catalogue.hpp"
#include "weft/scene/shells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace weft {

std::size_t body_named(const Scene& scene, const std::string& name) {
  const auto found =
      std::find_if(scene.bodies.begin(), scene.bodies.end(), [&](const auto& body) { return body->name() == name; });
  WEFT_ENSURE(found != scene.bodies.end());
  return static_cast<std::size_t>(found - scene.bodies.begin());
}

void HandleBuilder::begin(const HandleDeck& deck) {
  deck_ = &deck;
  handle_ = {deck.name, body_named(scene_, deck.body), 0, {}, {}, {}};
  extent_ = {};
  mesh_ = scene_.meshes[handle_.body].get();
  if (mesh_ != nullptr) share_ = first_share(comm_, *mesh_);
  grips_.clear();
  forces_.clear();
}

void HandleBuilder::add(const HandleDeck& deck) {
  begin(deck);
  if (mesh_ == nullptr) {
    scene_.handles.push_back(handle_of_points(scene_, deck, handle_.body));
    return;
  }
  const bool on_grid = mesh_->carrier() == Carrier::grid;
  selection_.emplace(comm_, deck, *mesh_, on_grid ? scene_.deck.domain.dx : voxel_size_for(mesh_->bounds()));
  std::visit([this](const auto& action) { take(action); }, deck.action);
  finish(on_grid ? std::vector<Site>() : selection_->vertices(mesh_->sites(share_)));
}

/// vertices: of the part, on a body with freedoms of its own.
void HandleBuilder::finish(std::span<const Site> vertices) {
  MeshBody& body = *scene_.bodies[handle_.body]->roles().mesh;
  handle_.list = body.watch(comm_, std::move(grips_));
  handle_.extent = extent_.total(comm_);
  if (mesh_->carrier() == Carrier::own) handle_.part = watch_sites(comm_, body, vertices);
  scene_.handles.push_back(std::move(handle_));
}

void HandleBuilder::add_roots(const StrandDeck& strand, const Wall& wall) {
  HandleDeck deck;
  deck.name = roots_name(strand);
  deck.body = strand.name;
  deck.location = strand.roots->location;
  begin(deck);
  const RigidState start = wall.shape.at(0);
  require(
      start.rotation.isIdentity(0) && start.translation.isZero(0), ExitCode::deck,
      fmt::format("{}: the motion of {} begins elsewhere than the collider is drawn, and would tear the roots away. "
                  "Let it begin without shift and turn.",
                  deck.location.text, wall.name));
  std::vector<Site> sites = mesh_->sites(share_).vertices;
  std::erase_if(sites, [&](const Site& site) {
    return !site.end || site.end->is_last || wall.shape.surface(start, site.where).distance > strand.roots->depth;
  });
  require(comm_.any(!sites.empty()), ExitCode::geometry,
          fmt::format("{}: no strand begins in {}, or nearer to it than depth = {:.3g} m. Move the strands, or the "
                      "collider.",
                      deck.location.text, wall.name, strand.roots->depth));
  hold(sites, {.hold = Hold::clamp, .axes = {true, true, true}, .motion = wall.shape.motion()},
       std::numeric_limits<Real>::infinity());
  finish(sites);
}

void HandleBuilder::take(const HoldDeck& deck) {
  const HandleSettings settings = hold_settings(deck);
  std::vector<Site> sites = selection_->held(comm_, mesh_->sites(share_), deck);
  if (deck.keep == Hold::symmetry)
    turn_slopes(sites, settings.mirror, mesh_->rest_positions().held(), deck_->location.text);
  std::erase_if(sites, [&](const Site& site) { return !share_.has(site.element); });
  if (deck_->vertices.empty()) {
    const std::vector<Sample> all = mesh_->side_samples(share_);
    extent_.measure(1, selection_->inside(all, "boundary edge"), all);
  }
  hold(sites, settings, deck.until);
}

void HandleBuilder::hold(const std::vector<Site>& sites, const HandleSettings& settings, Real until) {
  for (const Site& site : sites) {
    if (site.at_end || site.amid) continue;
    extent_.add(site);
    if (settings.hold != Hold::place && (!site.slope.rows.empty() || site.end)) extent_.count_slope();
  }
  for (const HeldSum& sum : held_sums(sites, settings, mesh_->rest_positions())) grips_.push_back(grip_of(sum));
  GridHandle::Hold hold{settings.motion, until, {}, {}};
  std::vector<Grip> ends;
  comm_.agree([&] {
    for (const Site& site : sites) {
      if (settings.hold != Hold::clamp || !site.end) continue;
      require_free_end(site);
      ends.push_back(grip_of(site.element, *site.end));
    }
  });
  if (comm_.any(!ends.empty())) hold.ends = scene_.bodies[handle_.body]->roles().mesh->watch(comm_, std::move(ends));
  handle_.action = std::move(hold);
  comm_.agree([&] { agreement_.add(*deck_, sites, settings, until, mesh_->rest_positions()); });
}

/// An end has one direction: two clamps would join it to two frames, each with the stiffness of half a segment.
void HandleBuilder::require_free_end(const Site& site) {
  const auto [taken, is_first] = clamped_.try_emplace({handle_.body, site.element, site.end->is_last}, deck_->name);
  require(is_first, ExitCode::deck,
          fmt::format("{}: {} and {} both clamp the end of a strand of {} at [{:.4g}, {:.4g}, {:.4g}]. Let one of them "
                      "choose other strands, or hold it with \"keep: place\".",
                      deck_->location.text, taken->second, deck_->name, deck_->body, site.where.x(), site.where.y(),
                      site.where.z()));
}

void HandleBuilder::take(const ForceDeck& deck) {
  const std::vector<Site> sites = selection_->vertices(mesh_->sites(share_));
  const std::int64_t count = comm_.sum(static_cast<std::int64_t>(sites.size()));
  selection_->require_any(count, "vertex");
  const Vec3 force = deck.total / static_cast<Real>(count);
  for (const Site& site : sites) {
    extent_.add(site, force);
    add_force(site.element, site.place.rows, site.place.weights, force);
  }
  keep_forces(deck.amplitude);
}

void HandleBuilder::take(const EdgeForceDeck& deck) {
  for (const Sample& s : sides()) add_force(s, s.measure * deck.per_length);
  keep_forces(deck.amplitude);
}

void HandleBuilder::take(const TractionDeck& deck) {
  for (const Sample& s : surface()) add_force(s, s.measure * deck.per_area);
  keep_forces(deck.amplitude);
}

void HandleBuilder::take(const GravityDeck& deck) {
  for (const Sample& s : some(selection_->inside(mesh_->surface_samples(share_), "element"), "element"))
    add_force(s, s.mass * deck.acceleration);
  keep_forces(deck.amplitude);
}

void HandleBuilder::take(const EdgeMomentDeck& deck) {
  selection_->require_slope();
  follow(Follower::edge_moment, deck.per_length, sides(), deck.amplitude);
}

std::vector<Sample> HandleBuilder::surface() {
  const std::vector<Sample> all = mesh_->surface_samples(share_);
  const std::vector<Sample> chosen = some(selection_->faces(all), "face");
  extent_.measure(2, chosen, all);
  return chosen;
}

std::vector<Sample> HandleBuilder::sides() {
  const std::vector<Sample> all = mesh_->side_samples(share_);
  const std::vector<Sample> chosen = some(selection_->inside(all, "boundary edge"), "boundary edge");
  extent_.measure(1, chosen, all);
  return chosen;
}

std::vector<Sample> HandleBuilder::some(std::vector<Sample> samples, const char* what) const {
  selection_->require_any(comm_.sum(static_cast<std::int64_t>(samples.size())), what);
  return samples;
}

void HandleBuilder::add_force(std::int64_t element, std::span<const std::int32_t> vertices,
                              std::span<const Real> weights, const Vec3& force) {
  for (std::size_t k = 0; k < vertices.size(); ++k)
    forces_.try_emplace(vertices[k], element, Vec3::Zero()).first->second.second += weights[k] * force;
}

void HandleBuilder::add_force(const Sample& sample, const Vec3& force) {
  extent_.add(sample, force);
  add_force(sample.element, sample.rows, sample.value, force);
}

void HandleBuilder::keep_forces(const std::vector<AmplitudeKeyDeck>& keys) {
  for (const auto& [vertex, at] : forces_) grips_.push_back(grip_of(at.first, vertex, at.second));
  handle_.action = GridHandle::Dead{make_amplitude(keys, scene_.deck.time.end)};
}

void HandleBuilder::follow(Follower kind, Real magnitude, const std::vector<Sample>& samples,
                           const std::vector<AmplitudeKeyDeck>& keys) {
  const std::span<const Vec3> rest = mesh_->rest_positions().held();
  for (const Sample& sample : samples) {
    const auto [a1, a2] = tangents_of(sample, rest);
    const Vec3 load = magnitude * sample.measure * (kind == Follower::pressure ? Vec3(a1.cross(a2)) : a1).normalized();
    if (kind == Follower::pressure) extent_.add(sample, load);
    else extent_.add(sample, Vec3::Zero(), load);
    grips_.push_back(grip_of(sample, follower_measure(kind, sample, rest)));
  }
  handle_.action = GridHandle::Following{kind, magnitude, make_amplitude(keys, scene_.deck.time.end)};
}

Watched watch_sites(const Comm& comm, MeshBody& body, std::span<const Site> sites) {
  std::vector<Grip> grips;
  for (const Site& site : sites) grips.push_back(grip_of(site.element, site.place));
  const std::int64_t count = comm.sum(static_cast<std::int64_t>(grips.size()));
  return {body.watch(comm, std::move(grips)), count};
}

}  // namespace weft
