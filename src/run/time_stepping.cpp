#include "run/time_stepping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "run/edit.hpp"
#include "run/progress.hpp"
#include "run/resume.hpp"
#include "run/starts_inside.hpp"
#include "weft/base/log.hpp"
#include "weft/bodies/continuum.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/scene/advice.hpp"
#include "weft/scene/build.hpp"
#include "weft/scene/catalogue.hpp"

namespace weft {

TimeStepping::TimeStepping(const Comm& comm, const Deck& deck, const RunEnd& end, Timers& timers)
    : comm_(comm), end_(end), timers_(timers), scene_(build_scene(comm, deck)), stepper_(comm, scene_, state_, timers) {
  check_field_names(comm, scene_);
  columns_ = diagnostics_columns(comm, scene_);
}

namespace {

/// Before the first step. Collective.
Real mass_of(const Comm& comm, Body& body) {
  Real mass = 0;
  for (const PointSet* set : body.sets())
    if (set->is_matter()) {
      const auto m = set->points().get<Mass>();
      mass = std::accumulate(m.begin(), m.begin() + static_cast<std::ptrdiff_t>(set->points().owned()), mass);
    }
  return comm.sum(mass);
}

/// How many points of a continuum a handle acts on. Collective.
std::int64_t points_of(const Comm& comm, const Body& body, const GridHandle& handle) {
  const auto by = body.points().get<HandledBy>();
  return comm.sum(static_cast<std::int64_t>(
      std::count_if(by.begin(), by.end(), [&](PointId bits) { return is_handled(bits, handle.list); })));
}

/// A line for each layer that has bodies, with its friction on others.
std::string layers_in_words(const Scene& scene) {
  const std::size_t count = scene.layers.size();
  std::string text;
  for (std::size_t l = 0; l < count; ++l) {
    std::string bodies, friction;
    for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
      const Roles roles = scene.bodies[b]->roles();
      const bool meets_grid = roles.is_carried_by_grid || roles.contact_points != nullptr;
      if (meets_grid && scene.on_layer[b] == l) bodies += " " + scene.bodies[b]->name();
    }
    for (std::size_t other = 0; other < count; ++other)
      if (const Real mu = scene.friction[l * count + other]; mu > 0)
        friction += fmt::format("{} {} on {}", friction.empty() ? "; friction" : ",", mu, scene.layers[other].name);
    if (!bodies.empty()) text += fmt::format("layer {}:{}{}\n", scene.layers[l].name, bodies, friction);
  }
  return text;
}

const char* what_moves(const Scene& scene, std::size_t body) {
  const Roles roles = scene.bodies[body]->roles();
  if (roles.is_carried_by_grid) return "particles";
  if (roles.rigid != nullptr)
    return roles.contact_points != nullptr ? "points that move as a rigid body, which meets the grid by contact points"
                                           : "points that move as a rigid body; nothing touches it";
  if (scene.step.impulses[body]) return "vertices that move by themselves, and meet strands by impulses";
  return roles.contact_points != nullptr ? "vertices that move by themselves, and meet the grid by contact points"
                                         : "vertices that move by themselves; nothing touches it";
}

}  // namespace

std::string TimeStepping::forecast() {
  std::vector<std::string> advice = advice_on(comm_, scene_);
  std::vector<std::string> sites;  // of meshes, while they are whole
  for (std::size_t b = 0; b < scene_.meshes.size(); ++b) {
    const MeshSource* mesh = scene_.meshes[b].get();
    std::string& text = sites.emplace_back();
    if (mesh == nullptr) continue;
    const bool is_rigid = scene_.bodies[b]->roles().rigid != nullptr;
    MeshBody* body = scene_.bodies[b]->roles().mesh;
    if (is_rigid || (body != nullptr && body->turning() != nullptr)) text = mesh->census();
    if (is_rigid) continue;
    const std::string of_sites = in_words(comm_, mesh->sites(first_share(comm_, *mesh)));
    text += (text.empty() || of_sites.empty() ? "" : ", ") + of_sites;
  }
  state_ = start_scene(comm_, scene_);
  std::ranges::move(starts_inside(comm_, scene_), std::back_inserter(advice));
  stepper_.bring_home(true);
  find_limits(comm_, scene_, state_);

  std::string text;
  for (std::size_t b = 0; b < scene_.bodies.size(); ++b) {
    Body& body = *scene_.bodies[b];
    std::int64_t points = 0;
    for (const PointSet* set : body.sets()) points += static_cast<std::int64_t>(set->points().owned());
    text += fmt::format("body {}: {} {}{}{}; {}\n", body.name(), comm_.sum(points), what_moves(scene_, b),
                        sites[b].empty() ? "" : ", ", sites[b], mass_in_words(scene_.deck, b, mass_of(comm_, body)));
  }
  if (scene_.layers.size() > 1) text += layers_in_words(scene_);
  for (const GridHandle& handle : scene_.handles) {
    const Body& body = *scene_.bodies[handle.body];
    const bool is_mesh = scene_.mesh_of(handle) != nullptr;
    text += fmt::format("handle {}: {} {}{}\n", handle.name,
                        is_mesh ? body.vertices_in(comm_, handle.list) : points_of(comm_, body, handle),
                        is_mesh ? "vertices" : "particles", in_words(handle.extent));
  }
  for (const BodySource& source : scene_.sources)
    text += fmt::format("source {}: feeds {}\n", source.name, scene_.bodies[source.body]->name());
  std::vector<NearestRow> followed = find_probe_points(comm_, scene_);
  for (std::size_t k = 0; k < followed.size(); ++k)
    text +=
        fmt::format("probe {}: follows a point {:.3g} m away\n", scene_.followed_points[k].name, followed[k].distance);
  StepSize size = size_of_step(comm_, scene_, state_, scene_.deck.time.frame_interval);
  const std::string of_a_step = forecast_of_a_step(size);
  text += forecast_of_sizes(size) + of_a_step;
  for (const std::string& each : advice) text += "warning: " + each + "\n";
  return text;
}

/// What a step finds, its size if that is smaller, and the highest memory so far and in it, which needs more than the
/// scene at rest.
std::string TimeStepping::forecast_of_a_step(StepSize& size) {
  std::string refused, pairs, substeps;
  try {
    const StepReport report = stepper_.take(scene_.deck.time.frame_interval);
    if (report.size.dt < size.dt) size = report.size;
    if (report.impulses.pairs > 0)
      pairs = fmt::format(
          "warning: {} pairs of segments of strands begin nearer than the distance of their impulses, and stay so "
          "until they are pressed together. Expected: curves further apart, or a smaller distance.\n",
          report.impulses.pairs);
    for (std::size_t b = 0; b < scene_.bodies.size(); ++b)
      if (report.substeps[b] > 0)
        substeps += fmt::format("{} {} of {}", substeps.empty() ? "substeps:" : ",", report.substeps[b],
                                scene_.bodies[b]->name());
  } catch (const Error& error) {
    if (error.code() != ExitCode::numerics) throw;
    refused = fmt::format("warning: the first step fails: {}\n", error.what());
  }
  return (substeps.empty() ? "" : substeps + "\n") +
         fmt::format("memory: {:.3g} GB at most on the fullest rank, measured over the set-up and a step\n",
                     comm_.max(static_cast<Real>(peak_bytes())) * 1e-9) +
         refused + pairs;
}

std::string TimeStepping::forecast_of_sizes(StepSize size) {
  const Deck& deck = scene_.deck;
  const std::int64_t points = comm_.sum(scene_.points());
  const Real most = comm_.max(static_cast<Real>(scene_.points()));
  if (deck.time.frame_interval < size.dt) size = {deck.time.frame_interval, "output"};
  const Real steps = std::ceil(deck.time.end / size.dt);
  const Real frames = std::floor(deck.time.end / deck.time.frame_interval + 1e-9) + 1;
  const Real frame_size = static_cast<Real>(frame_bytes());
  const Real checkpoint_size = static_cast<Real>(checkpoint_bytes(comm_, tables()));
  const Real imbalance = stepper_.imbalance();
  return fmt::format(
      "particles: {} on {} ranks, at most {} on one (imbalance {:.2f})\n"
      "dt: {:.3g} s at the start, limited by {}\n"
      "steps: about {} to {} s\n"
      "output: {} frames of {:.3g} GB and {} checkpoints of {:.3g} GB, {:.3g} GB in all\n",
      points, comm_.size(), static_cast<std::int64_t>(most), imbalance, size.dt, size.limited_by,
      static_cast<std::int64_t>(steps), deck.time.end, static_cast<std::int64_t>(frames), frame_size * 1e-9,
      deck.output.checkpoint.keep, checkpoint_size * 1e-9,
      (frames * frame_size + deck.output.checkpoint.keep * checkpoint_size) * 1e-9);
}

void TimeStepping::start() {
  for (std::size_t b = 0; b < scene_.bodies.size(); ++b)
    if (!scene_.bodies[b]->roles().is_carried_by_grid)
      log_info(fmt::format("body {}: {}", scene_.bodies[b]->name(), what_moves(scene_, b)));
  for (const std::string& advice : advice_to_begin_with(comm_, scene_)) log_warning(advice);
  state_ = start_scene(comm_, scene_);
  for (const std::string& start : starts_inside(comm_, scene_)) log_warning(start);
  for (const NearestRow& point : find_probe_points(comm_, scene_)) state_.probe_points.push_back(point.id);
  stepper_.bring_home(true);
  rehearse(false);
  points_ = static_cast<Real>(comm_.sum(scene_.points()));
}

/// Refuses options that PETSc does not take before files are written. recut: the cuts are not of these ranks.
void TimeStepping::rehearse(bool recut) {
  if (!scene_.deck.solve.petsc.empty()) stepper_.rehearse(recut);
}

void TimeStepping::resume(const CheckpointHeader& header, const std::filesystem::path& checkpoint) {
  state_ = state_from_text(header.state);
  state_.cuts.at = header.cuts;
  require_fits(state_, counts_of(scene_));
  for (std::size_t b = 0; b < scene_.bodies.size(); ++b) {
    const auto& body = scene_.bodies[b];
    for (const auto& [name, table] : body->parts()) read_part(comm_, checkpoint, name, *table);
    if (MeshBody* mesh = body->roles().mesh)
      mesh->restore(comm_, static_cast<std::int64_t>(state_.next_id[b]), state_.removed_elements[b]);
    if (body->roles().is_carried_by_grid) body->share(comm_, [this](const Vec3&) { return comm_.rank(); });
    else body->roles().mesh->share_evenly(comm_);
  }
  end_building(comm_, scene_);
  other_ranks_ = static_cast<int>(header.cuts.size()) != comm_.size() - 1;
  if (other_ranks_) state_.cuts.at.assign(static_cast<std::size_t>(comm_.size() - 1), 0);
  rehearse(other_ranks_);
  points_ = static_cast<Real>(comm_.sum(scene_.points()));
}

void TimeStepping::open_frames(const std::filesystem::path& output, bool resumed) {
  output_ = output;
  recorder_.emplace(comm_, output, scene_, state_, resumed);
}

/// Deals the points out to these ranks.
void TimeStepping::get_ready() {
  if (other_ranks_) stepper_.bring_home(true);
}

void TimeStepping::take_step(Real next_frame_time) {
  if (state_.step % scene_.step.balance_every == 0) {
    const auto timing = timers_.measure("balance");
    imbalance_ = stepper_.balance();
  }
  const bool row_is_due = (state_.step + 1) % history_every() == 0 || state_.step + 1 == end_.step;
  last_step_ = stepper_.take(std::min(end_.time, next_frame_time), row_is_due);
  if (last_step_.retries > 0)
    log_warning(fmt::format("step {} was taken again with a smaller dt: {}", state_.step, last_step_.refused));
}

std::string TimeStepping::last_step_in_words(const Pace& pace) const {
  return fmt::format("{}  {}  {:.2f} M particle steps/s  imbalance {:.2f}", in_words(last_step_), size_in_words(),
                     pace.particle_steps_per_second / 1e6, pace.imbalance);
}

std::string TimeStepping::size_in_words() const {
  return fmt::format("{} particles", static_cast<std::int64_t>(points_));
}

std::vector<Real> TimeStepping::history_row(const Pace& pace) {
  const Totals totals = stepper_.totals();
  require(
      std::isfinite(totals.motion() + totals.potential()), ExitCode::numerics,
      fmt::format("the energy at step {}, t = {:.6g} s, is not a finite number: {} J of motion, {} J elastic, {} J of "
                  "gravity. Likely cause: a stiffness or velocity far too large, or a unit mistaken.",
                  state_.step, state_.time, totals.motion(), totals.elastic_energy, totals.gravitational_energy));
  points_ = totals.particles;
  std::vector<Real> row = columns_.row({scene_, state_, last_step_, totals, pace});
  for (std::vector<Impulse>* impulses : {&state_.handle_impulse, &state_.joint_impulse})
    for (Impulse& given : *impulses) given = {.work = given.work};
  state_.handles_since = state_.time;
  return row;
}

void TimeStepping::draw_crash(const Suspicions& broken) {
  recorder_->write_crash(scene_, state_, stepper_.suspicions().empty() ? broken : stepper_.suspicions());
  log_info(
      fmt::format("The state before the failed step is drawn in {}; the field `suspect` marks the particles to "
                  "blame.",
                  (output_ / "crash").string()));
}

}  // namespace weft
