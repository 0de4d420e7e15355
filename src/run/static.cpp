#include "weft/run/static.hpp"

#include "weft/base/log.hpp"
#include "weft/base/timer.hpp"
#include "weft/deck/read.hpp"
#include "weft/output/checkpoint.hpp"
#include "weft/output/files.hpp"
#include "weft/output/frame.hpp"
#include "weft/output/history.hpp"
#include "weft/output/lock.hpp"
#include "weft/run/progress.hpp"
#include "weft/run/provenance.hpp"
#include "weft/run/resume.hpp"
#include "weft/run/schedule.hpp"
#include "weft/run/status.hpp"
#include "weft/run/watchdog.hpp"
#include "weft/scene/static_scene.hpp"
#include "weft/solve/equilibrium.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace weft {
namespace {

/// Newton steps that a step along the arc should take: fewer, and the next one is longer.
constexpr Real comfortable_iterations = 5;

struct Displacement : Field<Vec3> {
  static constexpr Label label{"displacement", "m", Keep::shown};
};

/// Where an analysis is on its way, besides the state of its bodies. All of it goes into a checkpoint.
struct PathState {
  std::int64_t step = 0;
  Real time = 0;                ///< [s].
  std::int64_t next_frame = 0;  ///< Frame k is due at k * time.frame_interval.
  Real last_time = 0;           ///< Length of the last step [s].
  Real dt = 0;                  ///< Of the next step in time [s].
  PathMeasure measure{0, 0};    ///< Along the arc; zero before the second step.
  Real length = 0;              ///< Of the next step along the arc.
};

std::string to_text(const PathState& s) {
  return nlohmann::json{
      {"step", s.step},           {"time", s.time}, {"next_frame", s.next_frame},
      {"last_time", s.last_time}, {"dt", s.dt},     {"measure", {s.measure.displacement, s.measure.time}},
      {"length", s.length}}
      .dump();
}

PathState path_state_from(const std::string& text) {
  try {
    const auto j = nlohmann::json::parse(text);
    return {j.at("step"),      j.at("time"), j.at("next_frame"),
            j.at("last_time"), j.at("dt"),   {j.at("measure").at(0), j.at("measure").at(1)},
            j.at("length")};
  } catch (const nlohmann::json::exception& problem) {
    throw Error(ExitCode::checkpoint,
                std::string("the state of the analysis in the checkpoint cannot be read: ") + problem.what());
  }
}

bool is_slack(const StaticScene& scene) {
  return std::any_of(scene.bodies.begin(), scene.bodies.end(), [](const auto& body) { return body->is_slack(); });
}

EquilibriumSettings settings_of(const StaticScene& scene) {
  const Deck& deck = scene.deck;
  return {
      .size = scene.size,
      .time_scale = deck.time.end,
      .tolerance = deck.solve.tolerance.value_or(1e-8),
      .max_iterations = deck.solve.max_iterations,
      .follow_arc = deck.loading.path == LoadPath::arc,
      .flows = std::any_of(scene.bodies.begin(), scene.bodies.end(), [](const auto& body) { return body->flows(); }),
      .slack = is_slack(scene),
      .elastic_terms = scene.elastic_terms,
      .petsc = deck.solve.petsc};
}

template <class T>
std::vector<const T*> pointers(const auto& owners) {
  std::vector<const T*> all;
  for (const auto& owner : owners) all.push_back(owner.get());
  return all;
}

std::vector<CheckpointPart> parts_of(StaticScene& scene) {
  std::vector<CheckpointPart> parts;
  for (const auto& body : scene.bodies)
    for (const BodyPart& part : body->parts()) parts.push_back({part.name, part.table});
  return parts;
}

void add_vector(std::vector<HistoryColumn>& columns, const std::string& name, const std::string& unit) {
  for (const char* axis : {"x", "y", "z"}) columns.push_back({name + "_" + axis, unit});
}

std::vector<HistoryColumn> curve_columns(const StaticScene& scene) {
  std::vector<HistoryColumn> columns{
      {"step", ""}, {"time", "s"}, {"elastic_energy", "J"}, {"newton_steps", ""}, {"unbalanced_force", "N"}};
  for (const StaticHandle& handle : scene.handles) {
    add_vector(columns, "displacement_" + handle.name, "m");
    add_vector(columns, "force_" + handle.name, "N");
    if (handle.hold) add_vector(columns, "torque_" + handle.name, "N m");
  }
  for (const StaticProbe& probe : scene.probes) columns.push_back({probe.name, probe.unit});
  return columns;
}

/// Values at the points of a drawing, from those of the rows.
std::vector<Vec3> drawn(const Drawing& drawing, std::span<const Vec3> rows) {
  std::vector<Vec3> values;
  for (const Stencil& point : drawing.points) values.push_back(point.of(rows));
  return values;
}

class StaticRun {
 public:
  StaticRun(const Comm& comm, const Deck& deck, const RunOptions& options, Requests& requests)
      : comm_(comm),
        deck_(deck),
        options_(options),
        scene_(build_static_scene(comm, deck)),
        equilibrium_(comm, *scene_->freedoms, pointers<Term>(scene_->terms), pointers<Constraints>(scene_->holds),
                     settings_of(*scene_)),
        motion_(*scene_->freedoms),
        last_{FreedomValues(*scene_->freedoms), 0},
        end_(options.until.value_or(deck.time.end)),
        last_step_(options.steps.value_or(std::numeric_limits<std::int64_t>::max())),
        schedule_(comm, deck.output.checkpoint, options, requests) {
    for (const auto& body : scene_->bodies) {
      body->forget_sites();
      drawings_.push_back(body->drawing());
    }
    state_.dt = deck.time.end / deck.loading.steps;
  }

  void go();

 private:
  bool has_ended() const;
  bool is_over() const { return has_ended() || state_.step >= last_step_; }
  EquilibriumReport step_in_time();
  EquilibriumReport step_along_arc();
  EquilibriumReport step_back_to_end();
  void commit();
  void record(const EquilibriumReport& report);
  void draw();
  void resume(const std::filesystem::path& checkpoint);
  void save();
  void tell(const std::string& word, const std::optional<Error>& failure = std::nullopt);
  [[noreturn]] void give_up(const EquilibriumReport& report);

  const Comm comm_;
  const Deck deck_;
  const RunOptions options_;
  std::unique_ptr<StaticScene> scene_;
  Equilibrium equilibrium_;
  Motion motion_;
  Increment last_;
  PathState state_;
  Real end_;
  std::int64_t last_step_;
  std::vector<Drawing> drawings_;
  std::optional<History> curve_;
  std::map<std::string, FrameSeries> series_;
  bool resumed_ = false;
  std::int64_t saved_step_ = -1;
  Schedule schedule_;
};

void StaticRun::go() {
  const FolderLock lock(comm_, options_.output);
  if (const auto checkpoint = checkpoint_to_resume(comm_, options_)) resume(*checkpoint);
  prepare_output_folder(comm_, options_.output, existing_run(comm_, options_, resumed_));
  if (!resumed_) tell("running");  // first of all files: run.json says whose the others are
  comm_.agree([&] {
    if (!comm_.is_root()) return;
    log_to_file((options_.output / "log.txt").string());
    write_text_atomically(options_.output / "resolved.yaml", resolved_yaml(deck_));
  });
  curve_.emplace(comm_, options_.output / "load_displacement.csv", curve_columns(*scene_),
                 resumed_ ? std::optional(state_.step) : std::nullopt);
  for (const auto& body : scene_->bodies)
    series_.try_emplace(body->name(), comm_, options_.output / "frames", body->name(), deck_.output.double_precision,
                        resumed_ ? std::optional(state_.next_frame - 1) : std::nullopt);
  tell("running");
  for (const auto& body : scene_->bodies)
    log_info(fmt::format("{}: {}, {} ranks", body->name(), body->census(), comm_.size()));
  Watchdog watchdog(deck_.time.watchdog, comm_.rank(), options_.output / "log.txt");
  try {
    if (!resumed_) {
      record({});
      draw();
    }
    bool stop = false;
    while (!stop && !is_over()) {
      schedule_.step_began();
      const EquilibriumReport report =
          deck_.loading.path == LoadPath::time || state_.step == 0 ? step_in_time() : step_along_arc();
      commit();
      log_info(fmt::format("step {}: t = {:.6g} s, {} Newton steps, unbalanced {:.2g} N", state_.step, state_.time,
                           report.iterations, report.unbalanced_force));
      record(report);
      const bool frame_due =
          deck_.loading.path == LoadPath::arc ||
          state_.time >= static_cast<Real>(state_.next_frame) * deck_.time.frame_interval * (1 - 1e-9) || has_ended();
      if (frame_due) draw();
      schedule_.step_ended();
      const Schedule::Due due = schedule_.due(state_.step);
      stop = due.stop;
      if (due.checkpoint || stop || is_over()) save();
      if (due.word || due.checkpoint) tell("running");
      watchdog.beat();
    }
    tell(has_ended() ? "finished" : "stopped");
  } catch (const Error& error) {
    try {
      tell("failed", error);
    } catch (const Error& also) {
      log_error(also.what());
    }
    throw;
  }
}

bool StaticRun::has_ended() const {
  const bool by_steps = deck_.loading.path == LoadPath::arc && state_.step >= deck_.loading.max_steps;
  return state_.time >= end_ * (1 - 1e-12) || by_steps;
}

/// The last balanced state is kept, and said to be the last.
void StaticRun::give_up(const EquilibriumReport& report) {
  if (saved_step_ != state_.step) save();
  throw Error(
      ExitCode::numerics,
      fmt::format("step {} after t = {:.6g} s: {}. The last balanced state is kept as a checkpoint. Smaller steps "
                  "(loading.steps), more of time.max_retries, or, if the load has a limit here, \"path: arc\" under "
                  "loading may help; also see that handles leave nothing free to move.{}",
                  state_.step + 1, state_.time, report.failure,
                  is_slack(*scene_) ? " Sheets and fibers that go slack fold as finely as their mesh lets them: give "
                                      "them bending (\"bending\", \"bending_modulus\")."
                                    : ""));
}

/// Balance at the next time; the step is halved where none is found, and grows again to its full size.
EquilibriumReport StaticRun::step_in_time() {
  const Real full = deck_.time.end / deck_.loading.steps;
  const Motion start = motion_;
  EquilibriumReport report;
  // Gravity acts in full from the start: how slack bodies fell to their first balance says nothing of the next.
  const bool goes_on = last_.time > 0 && !(state_.step == 1 && is_slack(*scene_));
  for (int cut = 0; cut <= deck_.time.max_retries; ++cut) {
    motion_ = start;
    // The balance probably goes on as it went; not from one full step to the next, though, where directions change.
    Real time = state_.time + state_.dt;
    const Real next_stop = std::min(end_, (std::floor(state_.time / full * (1 + 1e-12) + 1e-9) + 1) * full);
    if (time > next_stop * (1 - 1e-9)) time = next_stop;
    if (goes_on)
      for (std::size_t k = 0; k < last_.u.all().size(); ++k)
        motion_.u.all()[k] = last_.u.all()[k] * (time - state_.time) / last_.time;
    report = equilibrium_.at_time(motion_, time);
    if (!report.converged && goes_on) {
      motion_ = start;
      report = equilibrium_.at_time(motion_, time);
    }
    if (report.converged) {
      if (report.iterations <= 2 * comfortable_iterations) state_.dt = std::min(full, 2 * state_.dt);
      return report;
    }
    log_warning(fmt::format("step {} was taken again with half the load: {}", state_.step + 1, report.failure));
    state_.dt /= 2;
  }
  motion_ = start;
  give_up(report);
}

/// The path goes past the end: the balance at the end itself is near the same share of the way.
EquilibriumReport StaticRun::step_back_to_end() {
  const Real share = (end_ - state_.time) / (motion_.time - state_.time);
  for (Real& x : motion_.u.all()) x *= share;
  return equilibrium_.at_time(motion_, end_);
}

/// The next state of the path; the step is halved where none is found.
EquilibriumReport StaticRun::step_along_arc() {
  const Motion start = motion_;
  EquilibriumReport report;
  if (state_.measure.displacement == 0) {
    // The first step, which was one in time, is the unit of both.
    state_.measure = {1, std::abs(last_.time)};
    const Real displacement = std::sqrt(std::max(0.0, std::pow(equilibrium_.length_of(last_, state_.measure), 2) - 1));
    state_.measure.displacement = displacement > 0 ? displacement : scene_->size;
    state_.length = std::sqrt(2.0);
  }
  for (int cut = 0; cut <= deck_.time.max_retries; ++cut) {
    motion_ = start;
    report = equilibrium_.along_arc(motion_, last_, state_.measure, state_.length);
    if (report.converged && motion_.time > end_) report = step_back_to_end();
    if (report.converged) {
      const Real change = std::sqrt(comfortable_iterations / std::max(1, report.iterations));
      state_.length = std::min(state_.length * std::clamp(change, 0.5, 1.5), deck_.loading.max_growth * std::sqrt(2.0));
      return report;
    }
    log_warning(fmt::format("step {} was taken again with half the length: {}", state_.step + 1, report.failure));
    state_.length /= 2;
  }
  motion_ = start;
  give_up(report);
}

/// The bodies go where the motion took them.
void StaticRun::commit() {
  last_.u = motion_.u;
  state_.last_time = last_.time = motion_.time - state_.time;
  for (std::size_t b = 0; b < scene_->bodies.size(); ++b) {
    StaticBody& body = *scene_->bodies[b];
    Table& points = body.points();
    const auto u = motion_.u.points(b);
    for (std::size_t r = 0; r < points.rows(); ++r) points.get<Position>()[r] += u[r];
    std::copy(u.begin(), u.end(), points.get<LastDisplacement>().begin());
    body.commit();
  }
  motion_.u.set_zero();
  state_.time = motion_.time;
  ++state_.step;
}

void StaticRun::record(const EquilibriumReport& report) {
  Real energy = 0;
  for (std::size_t t = 0; t < scene_->elastic_terms; ++t) energy += scene_->terms[t]->energy(motion_);
  std::vector<Real> row{Real(state_.step), state_.time, comm_.sum(energy), Real(report.iterations),
                        report.unbalanced_force};
  const auto add = [&](const Vec3& v) { row.insert(row.end(), {v.x(), v.y(), v.z()}); };
  std::vector<std::vector<Vec3>> displacements;
  for (const auto& body : scene_->bodies) {
    const Table& points = std::as_const(*body).points();
    auto& u = displacements.emplace_back(points.rows());
    for (std::size_t r = 0; r < u.size(); ++r) u[r] = points.get<Position>()[r] - points.get<RestPosition>()[r];
  }
  for (const StaticHandle& handle : scene_->handles) {
    add(mean_over(comm_, handle.part, displacements[handle.body]));
    if (handle.hold) {
      Reaction reaction = handle.hold->reaction(equilibrium_.constraint_forces(handle.number), motion_,
                                                handle.hold->center(state_.time));
      comm_.sum(std::span(reaction.force.data(), 3));
      comm_.sum(std::span(reaction.torque.data(), 3));
      add(reaction.force);
      add(reaction.torque);
    } else {
      Load force(*scene_->freedoms);
      handle.load->add_force(motion_, force);
      Vec3 sum = Vec3::Zero();
      for (const Vec3& f : force.points(handle.body)) sum += f;
      comm_.sum(std::span(sum.data(), 3));
      add(sum);
    }
  }
  for (const StaticProbe& probe : scene_->probes) {
    const Table& points = std::as_const(*scene_->bodies[probe.vertex.body]).points();
    row.push_back(mean_over(comm_, probe.vertex,
                            probe.displacement ? std::span<const Vec3>(displacements[probe.vertex.body])
                                               : points.get<Position>())[probe.axis]);
  }
  curve_->append(row);
}

void StaticRun::draw() {
  for (std::size_t b = 0; b < scene_->bodies.size(); ++b) {
    const StaticBody& body = *scene_->bodies[b];
    const auto places = drawn(drawings_[b], body.points().get<Position>());
    const auto rest = drawn(drawings_[b], body.points().get<RestPosition>());
    Table shown = Table::with<Displacement>();
    shown.resize(places.size());
    for (std::size_t p = 0; p < places.size(); ++p) shown.get<Displacement>()[p] = places[p] - rest[p];
    Table of_cells = body.cell_fields();
    const std::vector<ColumnView> fields = shown.columns(), cell_fields = of_cells.columns();
    const CellKind kind = drawings_[b].corners == 2 ? CellKind::line : CellKind::triangle;
    series_.at(body.name())
        .write({state_.next_frame, state_.step, state_.time}, {kind, places, drawings_[b].cells, fields, cell_fields});
  }
  ++state_.next_frame;
}

void StaticRun::resume(const std::filesystem::path& checkpoint) {
  const CheckpointHeader header = read_header(comm_, checkpoint);
  require_same_physics(header, deck_, checkpoint);
  state_ = path_state_from(header.state);
  state_.dt = std::min(state_.dt, deck_.time.end / deck_.loading.steps);
  motion_.time = state_.time;
  last_.time = state_.last_time;
  for (std::size_t b = 0; b < scene_->bodies.size(); ++b) {
    StaticBody& body = *scene_->bodies[b];
    body.take_over([&](const std::string& part, Table& rows) { read_part(comm_, checkpoint, part, rows); });
    const auto last = std::as_const(body).points().get<LastDisplacement>();
    std::copy(last.begin(), last.end(), last_.u.points(b).begin());
  }
  saved_step_ = state_.step;
  resumed_ = true;
  // Reactions are no state; with them the first step along the arc takes as many iterations as in an unbroken run, on
  // which the length of the next depends.
  if (deck_.loading.path == LoadPath::arc && state_.step > 0) {
    equilibrium_.at_time(motion_, state_.time);
    motion_.u.set_zero();
  }
  log_info(fmt::format("Resuming from {} at step {}, t = {:.6g} s.", checkpoint.string(), state_.step, state_.time));
}

void StaticRun::save() {
  schedule_.checkpoint_began();
  const std::vector<std::uint64_t> cuts(static_cast<std::size_t>(comm_.size() - 1), 0);  // there is no grid
  const CheckpointHeader header{
      state_.step, state_.time, to_text(state_), resolved_yaml(deck_), provenance_json(comm_.size()), cuts};
  write_checkpoint(comm_, options_.output / "checkpoints", header, parts_of(*scene_), deck_.output.checkpoint.keep);
  saved_step_ = state_.step;
  schedule_.checkpoint_ended();
}

void StaticRun::tell(const std::string& word, const std::optional<Error>& failure) {
  schedule_.said_how_it_stands();
  RunStatus status;
  status.state = word;
  status.title = deck_.title;
  status.step = state_.step;
  status.time = state_.time;
  status.end = end_;
  status.wall_seconds = schedule_.seconds();
  if (saved_step_ >= 0) status.saved_step = saved_step_;
  if (failure) status.reason = failure->what(), status.exit_code = static_cast<int>(failure->code());
  comm_.agree([&] {
    if (!comm_.is_root()) return;
    write_status(options_.output, status, provenance_json(comm_.size()));
    const std::optional<std::string> trouble = log_file_trouble();
    require(!trouble, ExitCode::file_system, trouble.value_or(""));
  });
}

}  // namespace

void run_static(const Comm& comm, const Deck& deck, const RunOptions& options, Requests& requests) {
  StaticRun(comm, deck, options, requests).go();
}

std::string check_static(const Comm& comm, const Deck& deck) {
  const auto scene = build_static_scene(comm, deck);
  std::string text = resolved_yaml(deck) + "\n";
  std::int64_t freedoms = 0;
  for (const auto& body : scene->bodies) {
    freedoms += 3 * static_cast<std::int64_t>(body->rest().size());
    text += fmt::format("body {}: {}, {}\n", body->name(), body->census(), in_words(comm, body->sites()));
  }
  std::int64_t conditions = 0;
  for (const StaticHandle& handle : scene->handles) {
    const auto here = handle.hold ? static_cast<std::int64_t>(handle.hold->conditions()) : 0;
    const std::int64_t held = comm.sum(here);
    conditions += held;
    text += fmt::format("handle {}: {} vertices", handle.name, handle.part.count);
    text += handle.hold ? fmt::format(", {} conditions\n", held) : "\n";
  }
  text += fmt::format("unknowns: {} displacements and {} reactions\n", freedoms, conditions);
  text += fmt::format("steps: {}\n", deck.loading.path == LoadPath::time
                                         ? fmt::format("{} to {} s", deck.loading.steps, deck.time.end)
                                         : fmt::format("at most {} along the load path", deck.loading.max_steps));
  return text;
}

}  // namespace weft
