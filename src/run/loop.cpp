#include "weft/run/loop.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "weft/base/check.hpp"
#include "weft/base/log.hpp"
#include "weft/deck/read.hpp"
#include "weft/output/checkpoint.hpp"
#include "weft/output/files.hpp"
#include "weft/output/lock.hpp"
#include "weft/run/edit.hpp"
#include "weft/run/progress.hpp"
#include "weft/run/provenance.hpp"
#include "weft/run/record.hpp"
#include "weft/run/resume.hpp"
#include "weft/run/schedule.hpp"
#include "weft/run/static.hpp"
#include "weft/run/status.hpp"
#include "weft/run/watchdog.hpp"
#include "weft/scene/advice.hpp"
#include "weft/scene/build.hpp"

namespace weft {
namespace {

using std::filesystem::path;

/// How fast checkpoints are taken to be written until one was timed [byte/s], and how long one takes at least [s].
constexpr double careful_rate = 1e8, least_checkpoint_time = 1;

std::vector<CheckpointPart> parts_of(Scene& scene) {
  std::vector<CheckpointPart> parts;
  for (auto& body : scene.bodies)
    for (const auto& [name, table] : body->parts()) parts.push_back({name, table});
  return parts;
}

/// One run from start to end: owns the scene, its state and its records.
class Run {
 public:
  Run(const Comm& comm, const Deck& deck, const RunOptions& options, Requests& requests);

  void go();

 private:
  void start();
  void start_anew();
  void resume(const path& checkpoint);
  void one_step();
  void record_row();
  void record_frame();
  void write_checkpoint_now();
  void finish();
  void keep_last_good_state();
  /// Says in run.json how the run stands.
  void tell(const std::string& state_word, const std::optional<Error>& failure = std::nullopt);
  /// Runs `write`, which is collective. What its failure means is the deck's choice: the end of the run, or a warning
  /// until it works again.
  template <class Write>
  void try_to(const char* what, const Write& write);
  Real next_frame_time() const;
  Real next_stop() const;

  const Comm comm_;
  const Deck deck_;
  const RunOptions options_;
  std::optional<FolderLock> lock_;  ///< While this run writes into the folder.
  Timers timers_;
  Scene scene_;
  RunState state_;
  Stepper stepper_;
  Real end_;
  std::int64_t last_step_;
  bool resumed_ = false, other_ranks_ = false;  ///< From a checkpoint; of another number of ranks.
  std::int64_t frame_shift_ = 0;                ///< Frame k is due at (k + shift) time.frame_interval.
  std::optional<Recorder> recorder_;
  std::optional<Progress> progress_;
  StepReport last_report_;
  Real particles_ = 0, imbalance_ = 1;
  std::int64_t recorded_step_ = -1, checkpoint_step_ = -1;
  std::int64_t first_step_ = 0;
  Schedule schedule_;
  std::set<std::string> failing_;  ///< What could not be written when it was last tried.
  std::optional<Watchdog> watchdog_;
};

Run::Run(const Comm& comm, const Deck& deck, const RunOptions& options, Requests& requests)
    : comm_(comm),
      deck_(deck),
      options_(options),
      scene_(build_scene(comm, deck)),
      stepper_(comm, scene_, state_, timers_),
      end_(options.until.value_or(deck.time.end)),
      last_step_(options.steps.value_or(std::numeric_limits<std::int64_t>::max())),
      schedule_(comm, deck.output.checkpoint, options, requests) {
  check_field_names(scene_);
}

void Run::start_anew() {
  state_ = start_scene(comm_, scene_);
  state_.probe_points = find_probe_points(comm_, scene_);
  stepper_.settle(true);
}

void Run::resume(const path& checkpoint) {
  const CheckpointHeader header = read_header(comm_, checkpoint);
  require_same_physics(header, deck_, checkpoint);
  state_ = state_from_text(header.state);
  state_.cuts.at = header.cuts;
  for (auto& body : scene_.bodies) {
    for (const auto& [name, table] : body->parts()) read_part(comm_, checkpoint, name, *table);
    body->share(comm_, [this](const Vec3&) { return comm_.rank(); });
  }
  find_light_mass(comm_, scene_);
  other_ranks_ = static_cast<int>(header.cuts.size()) != comm_.size() - 1;
  if (other_ranks_) state_.cuts.at.assign(static_cast<std::size_t>(comm_.size() - 1), 0);
  checkpoint_step_ = recorded_step_ = state_.step;
  resumed_ = true;
  // Frames go on being numbered in turn when the interval is another than before, but are due at its own multiples.
  const Real interval = deck_.time.frame_interval, ahead = next_frame_time() - state_.time;
  if (!(ahead > 0 && ahead <= (1 + 1e-9) * interval))
    frame_shift_ = static_cast<std::int64_t>(std::floor(state_.time / interval + 1e-9)) + 1 - state_.next_frame;
  log_info(fmt::format("Resuming from {} at step {}, t = {:.6g} s.", checkpoint.string(), state_.step, state_.time));
}

/// Everything before the first step. What cannot be written here ends the run, whatever the deck says.
void Run::start() {
  {
    const auto timing = timers_.measure("start");
    lock_.emplace(comm_, options_.output);
    const auto checkpoint = checkpoint_to_resume(comm_, options_);
    if (checkpoint) resume(*checkpoint);
    else start_anew();
    prepare_output_folder(comm_, options_.output, existing_run(comm_, options_, resumed_));
    const std::uint64_t bytes = checkpoint_bytes(comm_, parts_of(scene_));
    schedule_.expect_checkpoint_time(std::max(least_checkpoint_time, static_cast<double>(bytes) / careful_rate));
    require_free_space(comm_, options_.output, bytes + scene_frame_bytes(comm_, scene_), "a checkpoint and a frame");
    if (!resumed_) tell("running");  // first of all files: run.json says whose the others are
    comm_.agree([&] {
      if (!comm_.is_root()) return;
      discard_leftovers(options_.output / "checkpoints");
      log_to_file((options_.output / "log.txt").string());
      write_text_atomically(options_.output / "resolved.yaml", resolved_yaml(deck_));
    });
    recorder_.emplace(comm_, options_.output, scene_, state_, resumed_);
    tell("running");
  }
  const Totals totals = totals_of(comm_, scene_);
  particles_ = totals.particles;
  log_info(fmt::format("{}: {} particles, {} ranks, output in {}", deck_.title.empty() ? "untitled" : deck_.title,
                       static_cast<std::int64_t>(particles_), comm_.size(), options_.output.string()));
  first_step_ = state_.step;
  progress_.emplace(state_, end_);
}

void Run::go() {
  start();
  try {
    watchdog_.emplace(deck_.time.watchdog, comm_.rank(), options_.output / "log.txt");
    if (other_ranks_) stepper_.settle(true);  // here, where a state that cannot be dealt out is drawn as a crash
    if (!resumed_) {
      record_row();
      record_frame();
      ++state_.next_frame;
    }
    bool stop = false;
    while (!stop && state_.time < end_ && state_.step < last_step_) {
      one_step();
      const Schedule::Due due = schedule_.due(state_.step);
      stop = due.stop;
      if (due.checkpoint) try_to("a checkpoint", [&] { write_checkpoint_now(); });
      if (due.word || checkpoint_step_ == state_.step) try_to("run.json", [&] { tell("running"); });
    }
    finish();
  } catch (const Error& error) {
    const auto attempt = [](const auto& write) {
      try {
        write();
      } catch (const Error& also) {
        log_error(also.what());
      }
    };
    if (error.code() == ExitCode::numerics) attempt([&] { keep_last_good_state(); });
    attempt([&] { tell("failed", error); });
    throw;
  }
}

/// There is no later try: what cannot be written now ends the run with an error, whatever the deck says.
void Run::finish() {
  if (recorded_step_ != state_.step) record_row();
  else recorder_->history().flush();
  if (checkpoint_step_ != state_.step) write_checkpoint_now();
  const bool finished = state_.time >= end_;
  tell(finished ? "finished" : "stopped");
  log_info(fmt::format("{} at step {}, t = {:.6g} s, after {}.", finished ? "Finished" : "Stopped", state_.step,
                       state_.time, as_clock(schedule_.seconds())));
  log_info(closing_table(comm_, timers_, progress_->particle_steps(), imbalance_));
}

/// As a frame that shows which points are to blame and, unless it is spoilt already, as a checkpoint.
void Run::keep_last_good_state() {
  const Suspicions broken = suspect_states(scene_);
  recorder_->write_crash(scene_, state_, stepper_.suspicions().empty() ? broken : stepper_.suspicions());
  log_info(
      fmt::format("The state before the failed step is drawn in {}; the field `suspect` marks the particles to "
                  "blame.",
                  (options_.output / "crash").string()));
  if (checkpoint_step_ != state_.step && accuse(comm_, broken).empty()) write_checkpoint_now();
}

template <class Write>
void Run::try_to(const char* what, const Write& write) {
  try {
    write();
  } catch (const Error& error) {
    if (error.code() != ExitCode::file_system || deck_.output.on_io_error == OnIoError::stop) throw;
    if (failing_.insert(what).second)
      log_warning(
          fmt::format("{} The run goes on without {} and tries again when it is due next "
                      "(output.on_io_error: continue).",
                      error.what(), what));
    return;
  }
  if (failing_.erase(what) > 0) log_info(fmt::format("{} can be written again.", what));
}

void Run::one_step() {
  schedule_.step_began();
  if (state_.step % deck_.balance.every == 0) {
    const auto timing = timers_.measure("balance");
    imbalance_ = stepper_.balance();
  }
  const bool row_is_due = (state_.step + 1) % deck_.output.diagnostics_every == 0 || state_.step + 1 == last_step_;
  last_report_ = stepper_.take(next_stop(), row_is_due);
  if (last_report_.retries > 0)
    log_warning(fmt::format("step {} was taken again with a smaller dt: {}", state_.step, last_report_.refused));
  watchdog_->beat();
  progress_->show(state_, last_report_, particles_, imbalance_);
  if (state_.step % deck_.output.diagnostics_every == 0) try_to("diagnostics.csv", [&] { record_row(); });
  if (state_.time >= next_frame_time()) {
    try_to("a frame", [&] { record_frame(); });
    ++state_.next_frame;
  }
  schedule_.step_ended();
}

/// The next moment that a step may not jump over.
Real Run::next_stop() const { return std::min(end_, next_frame_time()); }

/// When the next frame is due; a multiple of the interval that is the end but for rounding is the end.
Real Run::next_frame_time() const {
  const Real interval = deck_.time.frame_interval;
  const Real time = static_cast<Real>(state_.next_frame + frame_shift_) * interval;
  return std::abs(time - end_) < 1e-9 * interval ? end_ : time;
}

void Run::record_row() {
  const auto timing = timers_.measure("record");
  const Totals totals = totals_of(comm_, scene_);
  particles_ = totals.particles;
  const auto memory = static_cast<Real>(comm_.sum(resident_bytes()));
  const auto row = recorder_->history_row(scene_, state_, last_report_, totals,
                                          {schedule_.seconds(), progress_->rate(), imbalance_, memory});
  recorded_step_ = state_.step;
  for (HandleImpulse& given : state_.handle_impulse) given = {.work = given.work};
  state_.handles_since = state_.time;
  recorder_->history().append(row);  // what cannot be written now is written with the next row
}

void Run::record_frame() {
  const auto timing = timers_.measure("record");
  recorder_->write_frame(scene_, state_, stepper_);
  watchdog_->beat();
}

void Run::write_checkpoint_now() {
  const auto timing = timers_.measure("checkpoint");
  const std::string broken = accuse(comm_, suspect_states(scene_));
  require(broken.empty(), ExitCode::numerics,
          fmt::format("No checkpoint is made of the state at step {}: {}", state_.step, broken));
  schedule_.checkpoint_began();
  const CheckpointHeader header{
      state_.step, state_.time, to_text(state_), resolved_yaml(deck_), provenance_json(comm_.size()), state_.cuts.at};
  write_checkpoint(comm_, options_.output / "checkpoints", header, parts_of(scene_), deck_.output.checkpoint.keep);
  schedule_.checkpoint_ended();
  checkpoint_step_ = state_.step;
  watchdog_->beat();
}

void Run::tell(const std::string& state_word, const std::optional<Error>& failure) {
  schedule_.said_how_it_stands();
  RunStatus status;
  status.state = state_word;
  status.title = deck_.title;
  status.step = state_.step;
  status.time = state_.time;
  status.end = end_;
  status.wall_seconds = schedule_.seconds();
  if (progress_) {
    status.steps_per_second = static_cast<Real>(state_.step - first_step_) / std::max(progress_->seconds(), 1e-9);
    status.particle_steps_per_second = progress_->rate();
    if (const Real remaining = progress_->remaining(state_); std::isfinite(remaining))
      status.remaining_seconds = remaining;
  }
  if (checkpoint_step_ >= 0) status.saved_step = checkpoint_step_;
  if (failure) status.reason = failure->what(), status.exit_code = static_cast<int>(failure->code());
  comm_.agree([&] {
    if (!comm_.is_root()) return;
    write_status(options_.output, status, provenance_json(comm_.size()));
    const std::optional<std::string> trouble = log_file_trouble();
    require(!trouble, ExitCode::file_system, trouble.value_or(""));
  });
}

}  // namespace

void run(const Comm& comm, const Deck& its_deck, const RunOptions& options, Requests& requests) {
  Deck deck = its_deck;
  deck.solve.petsc = profile_petsc(deck.solve.petsc);
  if (deck.time.scheme == Scheme::equilibrium) return run_static(comm, deck, options, requests);
  Run(comm, deck, options, requests).go();
}

std::string check(const Comm& comm, const Deck& deck) {
  if (deck.time.scheme == Scheme::equilibrium) return check_static(comm, deck);
  Timers timers;
  Scene scene = build_scene(comm, deck);
  check_field_names(scene);
  const std::vector<std::string> advice = advice_on(scene);
  std::vector<std::string> places;  // of meshes, while they are whole
  for (const auto& body : scene.bodies) {
    const auto* mesh = dynamic_cast<const MeshBody*>(body.get());
    places.push_back(mesh == nullptr ? "" : ", " + in_words(comm, mesh->sites(mesh->first_share(comm))));
  }
  RunState state = start_scene(comm, scene);
  Stepper stepper(comm, scene, state, timers);
  stepper.settle(true);
  find_limits(comm, scene, state);

  std::string text = resolved_yaml(deck) + "\n";
  std::size_t table_bytes = 0;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    const auto& body = scene.bodies[b];
    std::int64_t points = 0;
    for (const PointSet* set : body->sets()) points += static_cast<std::int64_t>(set->points().owned());
    text += fmt::format("body {}: {} particles{}\n", body->name(), comm.sum(points), places[b]);
    for (const auto& [name, table] : body->parts()) table_bytes += table->bytes();
    if (const auto* mesh = dynamic_cast<const MeshBody*>(body.get())) table_bytes += mesh->bytes_of_mesh();
  }
  for (const GridHandle& handle : scene.handles) {
    const auto& body = dynamic_cast<const MeshBody&>(*scene.bodies[handle.body]);
    text += fmt::format("handle {}: {} vertices\n", handle.name, body.vertices_in(comm, handle.list));
  }
  for (const BodySource& source : scene.sources) text += fmt::format("source {}: feeds {}\n", source.name, source.body);
  const Real points = static_cast<Real>(comm.sum(scene.points()));
  const Real most = comm.max(static_cast<Real>(scene.points()));
  const Real memory = comm.max(static_cast<Real>(table_bytes + stepper.bytes()));
  const StepSize size = size_of_step(scene, state);
  const Real steps = std::ceil(deck.time.end / size.dt);
  const Real frames = std::floor(deck.time.end / deck.time.frame_interval + 1e-9) + 1;
  const Real frame_size = static_cast<Real>(scene_frame_bytes(comm, scene));
  const Real checkpoint_size = static_cast<Real>(checkpoint_bytes(comm, parts_of(scene)));
  const Real imbalance = stepper.imbalance();
  text += fmt::format(
      "particles: {} on {} ranks, at most {} on one (imbalance {:.2f})\n"
      "memory: about {:.3g} MB of particles, meshes and grid on the fullest rank\n"
      "dt: {:.3g} s at the start, limited by {}\n"
      "steps: about {} to {} s\n"
      "output: {} frames of {:.3g} MB and {} checkpoints of {:.3g} MB, {:.3g} MB in all\n",
      static_cast<std::int64_t>(points), comm.size(), static_cast<std::int64_t>(most), imbalance, memory / 1e6, size.dt,
      size.limited_by, static_cast<std::int64_t>(steps), deck.time.end, static_cast<std::int64_t>(frames),
      frame_size / 1e6, deck.output.checkpoint.keep, checkpoint_size / 1e6,
      (frames * frame_size + deck.output.checkpoint.keep * checkpoint_size) / 1e6);
  for (const std::string& each : advice) text += "warning: " + each + "\n";
  return text;
}

}  // namespace weft
