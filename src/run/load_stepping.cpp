#include "run/load_stepping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "run/progress.hpp"
#include "run/record.hpp"
#include "run/state_members.hpp"
#include "run/write_mode.hpp"
#include "weft/base/log.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/output/files.hpp"
#include "weft/scene/build.hpp"
#include "weft/scene/catalogue.hpp"

namespace weft {

namespace {

/// Newton steps that a step along the arc should take: fewer, and the next one is longer.
constexpr Real comfortable_iterations = 5;

MeshBody& body_of(const Scene& scene, std::size_t b) { return *scene.bodies[b]->roles().mesh; }

bool is_slack(const Scene& scene) {
  return std::any_of(scene.bodies.begin(), scene.bodies.end(),
                     [](const auto& body) { return body->roles().mesh->is_slack(); });
}

/// The mean of values of rows over what is watched, the same on every rank. Collective.
Vec3 mean_over(const Comm& comm, const MeshBody& body, const Watched& watched, std::span<const Vec3> values) {
  Vec3 sum = Vec3::Zero();
  for (const Grip& grip : body.grips(watched.list)) sum += grip.sum(values);
  comm.sum(std::span(sum.data(), 3));
  return sum / static_cast<Real>(std::max<std::int64_t>(watched.vertices, 1));
}

Columns<LoadMoment> curve_columns(const Comm& comm, const Scene& scene) {
  const auto state = [](const LoadMoment& moment) -> const RunClock& { return moment.state; };
  Columns<LoadMoment> columns;
  columns.add(member_of<RunClock>(&RunClock::step), state);
  columns.add(member_of<RunClock>(&RunClock::time), state);
  columns.add("elastic_energy", "J", [](const LoadMoment& moment) { return moment.elastic_energy; });
  columns.add("newton_steps", "", [](const LoadMoment& moment) { return moment.last_step.iterations; });
  columns.add("negative_modes", "", [](const LoadMoment& moment) {
    return moment.state.negative_modes ? static_cast<Real>(*moment.state.negative_modes)
                                       : std::numeric_limits<Real>::quiet_NaN();
  });
  columns.add("unbalanced_force", "N", [](const LoadMoment& moment) { return moment.last_step.unbalanced_force; });
  for (std::size_t h = 0; h < scene.handles.size(); ++h) {
    const GridHandle& handle = scene.handles[h];
    columns.add("displacement_" + handle.name, "m", [comm, &scene, &handle](const LoadMoment& moment) {
      return mean_over(comm, body_of(scene, handle.body), *handle.part, moment.displacements[handle.body]);
    });
    columns.add("force_" + handle.name, "N", [h](const LoadMoment& moment) { return moment.reactions[h].force; });
    if (handle.hold() != nullptr)
      columns.add("torque_" + handle.name, "N m", [h](const LoadMoment& moment) { return moment.reactions[h].torque; });
  }
  for (const PointProbe& probe : scene.probes)
    columns.add(probe.name, probe.unit, [comm, &scene, &probe](const LoadMoment& moment) {
      const MeshBody& body = body_of(scene, probe.body);
      const std::span<const Vec3> values =
          probe.displacement ? std::span<const Vec3>(moment.displacements[probe.body]) : body.points().get<Position>();
      return mean_over(comm, body, probe.point, values)[probe.axis];
    });
  return columns;
}

}  // namespace

LoadStepping::LoadStepping(const Comm& comm, const Deck& deck, const RunEnd& end, Timers& timers)
    : comm_(comm), end_(end), timers_(timers), scene_(build_scene(comm, deck)), columns_(curve_columns(comm, scene_)) {
  for (const auto& mesh : scene_.meshes)
    size_in_words_ += fmt::format("{}{} of {}", size_in_words_.empty() ? "" : "; ", mesh->name(), mesh->census());
  for (const auto& body : scene_.bodies) {
    body->points().add<LastDisplacement>();
    if (Table* turning = body->roles().mesh->turning(); turning != nullptr) turning->add<LastTurn>();
  }
}

std::string LoadStepping::forecast() {
  std::string text;
  for (std::size_t b = 0; b < scene_.meshes.size(); ++b) {
    const MeshSource& mesh = *scene_.meshes[b];
    const ElementRange share = first_share(comm_, mesh);
    Real mass = 0;
    for (const Sample& sample : mesh.surface_samples(share)) mass += sample.mass;
    text += fmt::format("body {}: {}, {}; {}\n", mesh.name(), mesh.census(), in_words(comm_, mesh.sites(share)),
                        mass_in_words(scene_.deck, b, comm_.sum(mass)));
  }
  std::int64_t conditions = 0;
  for (const GridHandle& handle : scene_.handles) {
    text += fmt::format("handle {}: {} vertices{}", handle.name, handle.part->vertices, in_words(handle.extent));
    if (handle.hold() != nullptr) {
      const auto here = static_cast<std::int64_t>(body_of(scene_, handle.body).grips(handle.list).size());
      const std::int64_t held = comm_.sum(here);
      conditions += held;
      text += fmt::format(", {} conditions", held);
    }
    text += "\n";
  }
  std::int64_t turns = 0;
  for (std::size_t b = 0; b < scene_.bodies.size(); ++b)
    if (body_of(scene_, b).turning() != nullptr) turns += scene_.meshes[b]->counts().elements;
  for (const PointProbe& probe : scene_.probes)
    text += fmt::format("probe {}: follows a point of the body {:.3g} m away\n", probe.name, probe.distance);
  text += fmt::format("unknowns: {} displacements{} and {} reactions\n", 3 * static_cast<std::int64_t>(points()),
                      turns > 0 ? fmt::format(", {} turns", turns) : "", conditions);
  text += fmt::format("memory: {:.3g} GB at most on the fullest rank, measured over the set-up; solves take more\n",
                      comm_.max(static_cast<Real>(peak_bytes())) * 1e-9);
  text += fmt::format("steps: {}\n", follows_arc() ? fmt::format("at most {} along the load path", loading().max_steps)
                                                   : fmt::format("{} to {} s", loading().steps, scene_.deck.time.end));
  return text;
}

EquilibriumSettings LoadStepping::settings() const {
  const Deck& deck = scene_.deck;
  return {.size = scene_.size,
          .time_scale = deck.time.end,
          .tolerance = deck.solve.tolerance.value_or(1e-8),
          .max_iterations = deck.solve.max_iterations,
          .follow_arc = deck.loading.path == LoadPath::arc,
          .flows = std::any_of(scene_.bodies.begin(), scene_.bodies.end(),
                               [](const auto& body) { return body->roles().mesh->flows(); }),
          .slack = is_slack(scene_),
          .elastic_terms = scene_.bodies.size(),
          .petsc = deck.solve.petsc,
          .is_asked_to_stop = is_asked_to_stop_};
}

/// When the bodies have their pieces for good.
void LoadStepping::set_up() {
  std::vector<std::size_t> all(scene_.bodies.size());
  std::iota(all.begin(), all.end(), 0);
  system_.emplace(scene_, all, scene_.deck.domain.gravity);
  equilibrium_.emplace(comm_, system_->freedoms, system_->all_terms(), system_->all_holds(), settings());
  motion_.emplace(system_->freedoms);
  last_.emplace(Increment{FreedomValues(system_->freedoms), 0});
}

/// Refuses options that PETSc does not take before files are written.
void LoadStepping::rehearse() {
  if (scene_.deck.solve.petsc.empty()) return;
  try {
    equilibrium_->rehearse(*motion_, state_.time + state_.dt);
  } catch (const Error& error) {
    if (error.code() == ExitCode::deck) throw;
  }
}

void LoadStepping::start() {
  fill_bodies(comm_, scene_);
  set_up();
  state_.dt = full_step();
  rehearse();
}

void LoadStepping::resume(const CheckpointHeader& header, const std::filesystem::path& checkpoint) {
  for (const auto& body : scene_.bodies) {
    for (const auto& [name, table] : body->parts()) read_part(comm_, checkpoint, name, *table);
    body->roles().mesh->share_evenly(comm_);
  }
  end_building(comm_, scene_);
  set_up();
  state_ = path_state_from_text(header.state);
  state_.dt = std::min(state_.dt, full_step());
  motion_->time = state_.time;
  last_->time = state_.last_time;
  for (std::size_t b = 0; b < scene_.bodies.size(); ++b) {
    const auto last = std::as_const(body_of(scene_, b)).points().get<LastDisplacement>();
    std::copy(last.begin(), last.end(), last_->u.points(b).begin());
    if (const auto turns = system_->turns[b])
      std::ranges::copy(body_of(scene_, b).turning()->get<LastTurn>(), last_->u.block(*turns).begin());
  }
  rehearse();
}

void LoadStepping::open_frames(const std::filesystem::path& output, bool resumed) {
  output_ = output;
  frames_.emplace(comm_, output / "frames", frame_format(scene_.deck.output),
                  resumed ? std::optional(state_.next_frame - 1) : std::nullopt);
  // What came after this state goes now, not with the next frame, which may never be written.
  for (const auto& body : scene_.bodies) frames_->of(body->name());
}

/// Reactions are no state; with them the first step along the arc takes as many iterations as in an unbroken run, on
/// which the length of the next depends.
void LoadStepping::get_ready() {
  if (!follows_arc() || state_.step == 0) return;
  try {
    equilibrium_->at_time(*motion_, state_.time);
  } catch (const Interrupted&) {
    motion_->time = state_.time;  // the step that needs the reactions will be broken off, too
  }
  motion_->u.set_zero();
}

bool LoadStepping::has_ended() const {
  const bool by_steps = follows_arc() && state_.step >= loading().max_steps;
  return state_.time >= end_.time * (1 - 1e-12) || by_steps;
}

void LoadStepping::take_step(Real) {
  const auto timing = timers_.measure("solve");
  const PathState before = state_;
  const Motion start = *motion_;
  stability_.reset();
  was_nudged_ = false;
  try {
    last_report_ = !follows_arc() || state_.step == 0 ? step_in_time() : step_along_arc();
    judge(start);
  } catch (...) {  // also Interrupted
    state_ = before;
    *motion_ = start;
    throw;
  }
  commit();
}

void LoadStepping::give_up(const EquilibriumReport& report) {
  const std::string free = mechanisms(*motion_);
  throw Error(
      ExitCode::numerics,
      fmt::format("step {} after t = {:.6g} s: {}. The last balanced state is kept as a checkpoint. Smaller steps "
                  "(loading.steps), more of time.max_retries, or, if the load has a limit here, \"path: arc\" under "
                  "loading may help{}{}",
                  state_.step + 1, state_.time, report.failure,
                  free.empty() ? "; also see that handles leave nothing free to move." : ". " + free,
                  is_slack(scene_) ? " Sheets and fibers that go slack fold as finely as their mesh lets them: give "
                                     "them bending (\"bending\", \"bending_modulus\")."
                                   : ""));
}

/// Balance at the next time; the step is halved where none is found, and grows again to its full size.
EquilibriumReport LoadStepping::step_in_time() {
  const Real full = full_step();
  const Motion start = *motion_;
  EquilibriumReport report;
  // Gravity acts in full from the start: how slack bodies fell to their first balance says nothing of the next.
  const bool goes_on = last_->time > 0 && !(state_.step == 1 && is_slack(scene_));
  const int max_retries = scene_.deck.time.max_retries;
  for (int cut = 0; cut <= max_retries; ++cut) {
    *motion_ = start;
    // The balance probably goes on as it went; not from one full step to the next, though, where directions change.
    Real time = state_.time + state_.dt;
    const Real next_stop = std::min(end_.time, (std::floor(state_.time / full * (1 + 1e-12) + 1e-9) + 1) * full);
    if (time > next_stop * (1 - 1e-9)) time = next_stop;
    if (goes_on)
      for (std::size_t k = 0; k < last_->u.all().size(); ++k)
        motion_->u.all()[k] = last_->u.all()[k] * (time - state_.time) / last_->time;
    report = equilibrium_->at_time(*motion_, time);
    if (!report.converged && goes_on) {
      *motion_ = start;
      report = equilibrium_->at_time(*motion_, time);
    }
    const bool may_stay = !report.converged || examine(report);
    if (!may_stay) {
      report.converged = false;
      report.failure = "the state is not stable under its loads, and a nudge found no stable one";
    }
    if (report.converged) {
      if (report.iterations <= 2 * comfortable_iterations) state_.dt = std::min(full, 2 * state_.dt);
      return report;
    }
    if (!may_stay && state_.dt < std::ldexp(full, -max_retries)) break;  // or steps would creep up to the fork
    log_warning(fmt::format("step {} was taken again with half the load: {}", state_.step + 1, report.failure));
    state_.dt /= 2;
  }
  *motion_ = start;
  give_up(report);
}

/// The path goes past the end: the balance at the end itself is near the same share of the way.
EquilibriumReport LoadStepping::step_back_to_end() {
  const Real share = (end_.time - state_.time) / (motion_->time - state_.time);
  for (Real& x : motion_->u.all()) x *= share;
  return equilibrium_->at_time(*motion_, end_.time);
}

/// The next state of the path; the step is halved where none is found.
EquilibriumReport LoadStepping::step_along_arc() {
  const Motion start = *motion_;
  EquilibriumReport report;
  if (state_.measure.displacement == 0) {
    // The first step, which was one in time, is the unit of both.
    state_.measure = {1, std::abs(last_->time)};
    const Real displacement =
        std::sqrt(std::max(0.0, std::pow(equilibrium_->length_of(*last_, state_.measure), 2) - 1));
    state_.measure.displacement = displacement > 0 ? displacement : scene_.size;
    state_.length = std::sqrt(2.0);
  }
  const int max_retries = scene_.deck.time.max_retries;
  for (int cut = 0; cut <= max_retries; ++cut) {
    *motion_ = start;
    report = equilibrium_->along_arc(*motion_, *last_, state_.measure, state_.length);
    if (report.converged && motion_->time > end_.time) report = step_back_to_end();
    if (report.converged) {
      examine(report);
      const Real change = std::sqrt(comfortable_iterations / std::max(1, report.iterations));
      state_.length = std::min(state_.length * std::clamp(change, 0.5, 1.5), loading().max_growth * std::sqrt(2.0));
      return report;
    }
    log_warning(fmt::format("step {} was taken again with half the length: {}", state_.step + 1, report.failure));
    state_.length /= 2;
  }
  *motion_ = start;
  give_up(report);
}

/// The bodies go where the motion took them.
void LoadStepping::commit() {
  last_->u = motion_->u;
  state_.last_time = last_->time = motion_->time - state_.time;
  for (std::size_t b = 0; b < scene_.bodies.size(); ++b) {
    MeshBody& body = body_of(scene_, b);
    Table& points = body.points();
    const auto u = motion_->u.points(b);
    for (std::size_t r = 0; r < points.rows(); ++r) points.get<Position>()[r] += u[r];
    std::copy(u.begin(), u.end(), points.get<LastDisplacement>().begin());
    std::span<Real> turns;
    if (const auto block = system_->turns[b]) {
      turns = motion_->u.block(*block);
      std::ranges::copy(turns, body.turning()->get<LastTurn>().begin());
    }
    body.follow_vertices(turns);
  }
  motion_->u.set_zero();
  state_.time = motion_->time;
  ++state_.step;
}

std::string LoadStepping::last_step_in_words(const Pace&) const {
  return fmt::format("dt = {:.2e} s  {} Newton steps, unbalanced {:.2g} N", last_->time, last_report_.iterations,
                     last_report_.unbalanced_force);
}

Real LoadStepping::points() const {
  Real sum = 0;
  for (std::size_t b = 0; b < scene_.bodies.size(); ++b) sum += static_cast<Real>(body_of(scene_, b).counts().vertices);
  return sum;
}

std::string LoadStepping::size_in_words() const { return size_in_words_; }

std::vector<CheckpointPart> LoadStepping::tables() {
  std::vector<CheckpointPart> tables;
  for (const auto& body : scene_.bodies)
    for (const auto& [name, table] : body->parts()) tables.push_back({name, table});
  return tables;
}

std::string LoadStepping::state_text() const { return to_text(state_); }

/// There is no grid.
std::vector<std::uint64_t> LoadStepping::cuts() const {
  return std::vector<std::uint64_t>(static_cast<std::size_t>(comm_.size() - 1), 0);
}

/// Of a load, which acts on the body alike, the force alone.
Reaction LoadStepping::reaction_of(std::size_t handle) const {
  Reaction reaction;
  const OwnSystem::Action& action = system_->of_handle[handle];
  if (action.hold != nullptr) {
    reaction = action.hold->reaction(equilibrium_->constraint_forces(action.number), *motion_,
                                     action.hold->center(state_.time));
    if (action.clamp != nullptr) reaction.torque += action.clamp->reaction(*motion_).torque;
  } else {
    Load force(system_->freedoms);
    action.load->add_force(*motion_, force);
    for (const Vec3& f : force.points(action.block)) reaction.force += f;
  }
  comm_.sum(std::span(reaction.force.data(), 3));
  comm_.sum(std::span(reaction.torque.data(), 3));
  return reaction;
}

std::vector<Real> LoadStepping::history_row(const Pace&) {
  Real energy = 0;
  std::vector<std::vector<Vec3>> displacements;
  for (std::size_t b = 0; b < scene_.bodies.size(); ++b) {
    const MeshBody& body = body_of(scene_, b);
    energy += body.elastic_energy();
    const auto x = body.points().get<Position>(), rest = body.points().get<RestPosition>();
    auto& u = displacements.emplace_back(x.size());
    for (std::size_t r = 0; r < u.size(); ++r) u[r] = x[r] - rest[r];
  }
  for (const OwnSystem::Action& action : system_->of_handle)
    if (action.clamp != nullptr) energy += action.clamp->energy(*motion_);
  std::vector<Reaction> reactions;
  for (std::size_t h = 0; h < scene_.handles.size(); ++h) reactions.push_back(reaction_of(h));
  return columns_.row({state_, last_report_, comm_.sum(energy), displacements, reactions});
}

/// Every state of a load path is drawn, and of loads in time those of the interval and the last.
bool LoadStepping::frame_is_due(Real next_frame_time) const {
  return follows_arc() || state_.time >= next_frame_time * (1 - 1e-9) || has_ended();
}

void LoadStepping::draw_into(Frames& frames, std::int64_t frame) {
  for (std::size_t b = 0; b < scene_.bodies.size(); ++b) {
    MeshBody& body = *scene_.bodies[b]->roles().mesh;
    Picture picture = body.picture();
    const bool is_of_rows = body.is_drawn_by_its_points();
    const std::span<const Vec3> x = is_of_rows
                                        ? std::as_const(body.points()).get<Position>().first(body.points().owned())
                                        : std::span(picture.points);
    Table shown = displacements_of(body, picture, is_of_rows);
    if (stability_ && stability_->mode) add_mode(b, is_of_rows, shown);
    std::vector<ColumnView> fields = identity_of(is_of_rows ? body.points() : picture.point_fields);
    std::ranges::copy(shown.columns(), std::back_inserter(fields));
    const std::vector<ColumnView> cell_fields = picture.fields.columns();
    if (picture.forest != nullptr) share_points(comm_, picture);
    frames.of(body.name())
        .write({frame, state_.step, state_.time},
               {cells_with(picture.corners), x, picture.cells, fields, cell_fields, picture.forest != nullptr});
  }
}

void LoadStepping::draw_crash(const Suspicions&) {
  const std::filesystem::path folder = output_ / "crash";
  make_folder(comm_, folder);
  Frames crash(comm_, folder, frame_format(scene_.deck.output));
  draw_into(crash, state_.step);
  crash.flush();
  log_info(fmt::format("The last balanced state is drawn in {}.", folder.string()));
}

std::uint64_t LoadStepping::frame_bytes() {
  Table shown = Table::with<Id, Displacement>();
  const std::vector<ColumnView> fields = shown.columns();
  std::uint64_t sum = 0;
  for (std::size_t b = 0; b < scene_.bodies.size(); ++b) {
    const MeshBody& body = body_of(scene_, b);
    const Picture picture = body.picture();
    const bool is_of_rows = body.is_drawn_by_its_points();
    const std::size_t points = is_of_rows ? body.points().owned() : picture.points.size();
    sum += weft::frame_bytes(cells_with(picture.corners), comm_.sum(static_cast<std::int64_t>(points)),
                             comm_.sum(static_cast<std::int64_t>(picture.cells.size()) / picture.corners), fields,
                             scene_.deck.output.double_precision);
  }
  return sum;
}

}  // namespace weft
