#include "run/session.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

#include "run/resume.hpp"
#include "run/write_mode.hpp"
#include "weft/base/log.hpp"
#include "weft/deck/read.hpp"
#include "weft/output/files.hpp"
#include "weft/run/provenance.hpp"
#include "weft/run/status.hpp"

namespace weft {
namespace {

using std::filesystem::path;

/// How fast checkpoints are taken to be written until one was timed [byte/s], and how long one takes at least [s].
constexpr double careful_rate = 1e8, least_checkpoint_time = 1;

}  // namespace

RunEnd end_of(const Deck& deck, const RunOptions& options) {
  return {options.until.value_or(deck.time.end), options.steps.value_or(std::numeric_limits<std::int64_t>::max())};
}

Session::Session(const Comm& comm, const Deck& deck, const RunOptions& options, Requests& requests, Timers& timers,
                 std::unique_ptr<Analysis> analysis)
    : comm_(comm),
      deck_(deck),
      options_(options),
      timers_(timers),
      analysis_(std::move(analysis)),
      end_(end_of(deck, options)),
      schedule_(comm, deck.output.checkpoint, options, requests) {
  analysis_->heed([this] { return schedule_.is_asked_to_stop(); });
}

void Session::go() {
  log_info(fmt::format("{} on {}, {:%Y-%m-%d %H:%M:%S} UTC, {} ranks of {} threads\ncommand: {}\ndeck: {}",
                       version_text(false), this_process().host, fmt::gmtime(std::time(nullptr)), comm_.size(),
                       omp_get_max_threads(), options_.command, options_.deck_file));
  start();
  try {
    watchdog_.emplace(deck_.time.watchdog, comm_.rank(), options_.output / "log.txt");
    analysis_->get_ready();
    if (!resumed_) {
      record_row();
      record_frame();
      ++clock().next_frame;
    }
    while (stopped_by_.empty() && !analysis_->has_ended() && clock().step < end_.step) {
      if (!one_step()) break;
      const Schedule::Due due = schedule_.due(clock().step);
      if (due.stop != nullptr) stopped_by_ = due.stop;
      if (due.checkpoint) {
        try_to("a frame", [&] { flush_frames(); });
        try_to("a checkpoint", [&] { write_checkpoint_now(); });
      }
      if (due.word || checkpoint_step_ == clock().step) try_to("run.json", [&] { tell("running"); });
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

/// Everything before the first step. A file that cannot be written here ends the run, whatever the deck says.
void Session::start() {
  {
    const auto timing = timers_.measure("start");
    lock_.emplace(comm_, options_.output);
    files_ = files_of(comm_, deck_);
    const auto checkpoint = checkpoint_to_resume(comm_, options_);
    if (checkpoint) resume(*checkpoint);
    else analysis_->start();
    prepare_output_folder(comm_, options_.output, existing_run(comm_, options_, checkpoint, deck_, files_));
    const std::uint64_t bytes = checkpoint_bytes(comm_, analysis_->tables());
    schedule_.expect_checkpoint_time(std::max(least_checkpoint_time, static_cast<double>(bytes) / careful_rate));
    require_free_space(comm_, options_.output, bytes + analysis_->frame_bytes(), "a checkpoint and a frame");
    if (!resumed_) tell("running");  // first of all files: run.json says whose the others are
    comm_.agree([&] {
      if (!comm_.is_root()) return;
      discard_leftovers(options_.output / "checkpoints");
      log_to_file((options_.output / "log.txt").string());
      write_text_atomically(options_.output / "resolved.yaml", resolved_yaml(deck_));
    });
    history_.emplace(comm_, options_.output / analysis_->history_file(), analysis_->history_columns(),
                     resumed_ ? std::optional(clock().step) : std::nullopt);
    analysis_->open_frames(options_.output, resumed_);
    tell("running");
  }
  log_info(fmt::format("{}: {}, {} ranks, output in {}", deck_.title.empty() ? "untitled" : deck_.title,
                       analysis_->size_in_words(), comm_.size(), options_.output.string()));
  progress_.emplace(clock(), end_.time, analysis_->advances_evenly());
}

void Session::resume(const path& checkpoint) {
  const CheckpointHeader header = read_header(comm_, checkpoint);
  require_same_physics(header, deck_, files_, checkpoint);
  analysis_->resume(header, checkpoint);
  checkpoint_step_ = recorded_step_ = clock().step;
  resumed_ = true;
  // Frames go on being numbered in turn when the interval is another than before, but are due at its own multiples.
  const Real interval = deck_.time.frame_interval, ahead = next_frame_time() - clock().time;
  if (!(ahead > 0 && ahead <= (1 + 1e-9) * interval))
    frame_shift_ = static_cast<std::int64_t>(std::floor(clock().time / interval + 1e-9)) + 1 - clock().next_frame;
  log_info(fmt::format("Resuming from {} at step {}, t = {:.6g} s.", checkpoint.string(), clock().step, clock().time));
}

bool Session::one_step() {
  schedule_.step_began();
  try {
    analysis_->take_step(next_frame_time());
  } catch (const Interrupted&) {
    log_info(fmt::format("Step {} was broken off, since the run was asked to stop.", clock().step + 1));
    stopped_by_ = asked_to_stop;
    return false;
  }
  watchdog_->beat();
  progress_->count(clock(), analysis_->points());
  if (progress_->is_due()) progress_->show(clock(), analysis_->last_step_in_words(pace()));
  if (clock().step % analysis_->history_every() == 0) try_to(analysis_->history_file(), [&] { record_row(); });
  if (analysis_->frame_is_due(next_frame_time())) {
    try_to("a frame", [&] { record_frame(); });
    ++clock().next_frame;
  }
  schedule_.step_ended();
  return true;
}

/// There is no later try: a file that cannot be written now ends the run, whatever the deck says.
void Session::finish() {
  if (recorded_step_ != clock().step) record_row();
  else history_->flush();
  flush_frames();
  if (checkpoint_step_ != clock().step) write_checkpoint_now();
  const bool finished = analysis_->has_ended();
  tell(finished ? "finished" : "stopped");
  const std::string reason = finished ? "" : stopped_by_.empty() ? ": --steps asks for no more" : ": " + stopped_by_;
  log_info(fmt::format("{} at step {}, t = {:.6g} s, after {}{}.", finished ? "Finished" : "Stopped", clock().step,
                       clock().time, as_clock(timers_.elapsed()), reason));
  if (const std::string remark = analysis_->remark(); !remark.empty()) log_warning(remark + ".");
  log_info(closing_table(comm_, timers_, progress_->particle_steps(), analysis_->imbalance()));
}

/// As a frame that shows which points are to blame and, unless it is spoilt already, as a checkpoint.
void Session::keep_last_good_state() {
  const Suspicions broken = suspect_states(analysis_->tables());
  {
    const auto advice = watchdog_->advise(advice_on_hanging_files(deck_.output));
    analysis_->draw_crash(broken);
  }
  if (checkpoint_step_ != clock().step && accuse(comm_, broken).empty()) write_checkpoint_now();
}

template <class Write>
void Session::try_to(const char* what, const Write& write) {
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

/// When the next frame is due; a multiple of the interval that is the end but for rounding is the end.
Real Session::next_frame_time() const {
  const Real interval = deck_.time.frame_interval;
  const Real time = static_cast<Real>(clock().next_frame + frame_shift_) * interval;
  return std::abs(time - end_.time) < 1e-9 * interval ? end_.time : time;
}

Pace Session::pace() const {
  return {.wall_seconds = schedule_.seconds(),
          .particle_steps_per_second = progress_->rate(),
          .imbalance = analysis_->imbalance()};
}

void Session::record_row() {
  const auto timing = timers_.measure("record");
  Pace now = pace();
  now.memory_bytes = static_cast<Real>(comm_.sum(resident_bytes()));
  const std::vector<Real> row = analysis_->history_row(now);
  recorded_step_ = clock().step;
  history_->append(row);  // what cannot be written now is written with the next row
}

void Session::record_frame() {
  const auto timing = timers_.measure("record");
  const auto advice = watchdog_->advise(advice_on_hanging_files(deck_.output));
  analysis_->draw();
  watchdog_->beat();
}

/// Frames reach the disk before the checkpoint after which a run goes on: it would not draw them again.
void Session::flush_frames() {
  const auto timing = timers_.measure("record");
  const auto advice = watchdog_->advise(advice_on_hanging_files(deck_.output));
  analysis_->flush_frames();
  watchdog_->beat();
}

void Session::write_checkpoint_now() {
  const auto timing = timers_.measure("checkpoint");
  const auto advice = watchdog_->advise(advice_on_hanging_files(deck_.output));
  const std::vector<CheckpointPart> tables = analysis_->tables();
  const std::string broken = accuse(comm_, suspect_states(tables));
  require(broken.empty(), ExitCode::numerics,
          fmt::format("No checkpoint is made of the state at step {}: {}", clock().step, broken));
  schedule_.checkpoint_began();
  const CheckpointHeader header{.step = clock().step,
                                .time = clock().time,
                                .state = analysis_->state_text(),
                                .resolved_deck = resolved_yaml(deck_),
                                .provenance = provenance_json(comm_.size(), files_, options_.output),
                                .cuts = analysis_->cuts()};
  write_checkpoint(comm_, options_.output / "checkpoints", header, tables,
                   {.keep = deck_.output.checkpoint.keep, .mode = write_mode(deck_.output)});
  schedule_.checkpoint_ended();
  checkpoint_step_ = clock().step;
  watchdog_->beat();
}

void Session::tell(const std::string& state_word, const std::optional<Error>& failure) {
  schedule_.said_how_it_stands();
  RunStatus status;
  status.state = state_word;
  status.title = deck_.title;
  status.step = clock().step;
  status.time = clock().time;
  status.end = end_.time;
  status.wall_seconds = schedule_.seconds();
  if (progress_) {
    status.steps_per_second = progress_->steps_per_second();
    status.particle_steps_per_second = progress_->rate();
    if (const Real remaining = progress_->remaining(clock()); std::isfinite(remaining))
      status.remaining_seconds = remaining;
  }
  if (checkpoint_step_ >= 0) status.saved_step = checkpoint_step_;
  if (const std::string remark = analysis_->remark(); !remark.empty()) status.remark = remark;
  if (failure) status.reason = failure->what(), status.exit_code = static_cast<int>(failure->code());
  comm_.agree([&] {
    if (!comm_.is_root()) return;
    write_status(options_.output, status, provenance_json(comm_.size(), files_, options_.output));
    const std::optional<std::string> trouble = log_file_trouble();
    require(!trouble, ExitCode::file_system, trouble.value_or(""));
  });
}

}  // namespace weft
