#include "weft/run/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "weft/base/log.hpp"

namespace weft {
namespace {

constexpr double seconds_between_lines = 30, seconds_between_live_lines = 0.25;

/// Phases in the order of the table; every rank sums the same ones.
constexpr auto phases = [] {
  std::array<const char*, step_phases.size() + 2> all{"start"};
  std::copy(step_phases.begin(), step_phases.end(), all.begin() + 1);
  all.back() = "checkpoint";
  return all;
}();

double seconds_in(const Timers& timers, const std::string& name) {
  for (const auto& phase : timers.phases())
    if (phase.name == name) return phase.seconds;
  return 0;
}

}  // namespace

std::string as_clock(Real seconds) {
  if (!std::isfinite(seconds)) return "--:--:--";
  const auto s = static_cast<std::int64_t>(std::ceil(seconds));
  return fmt::format("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::int64_t resident_bytes() {
  std::int64_t total = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &total, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident * sysconf(_SC_PAGESIZE);
}

Progress::Progress(const RunState& start, Real end_time)
    : start_time_(start.time),
      end_time_(end_time),
      last_step_(start.step),
      started_(wall_seconds()),
      last_shown_(started_) {}

Real Progress::seconds() const { return wall_seconds() - started_; }

Real Progress::remaining(const RunState& state) const {
  const Real done = state.time - start_time_;
  return done > 0 ? seconds() * (end_time_ - state.time) / done : std::numeric_limits<Real>::infinity();
}

std::string Progress::line(const RunState& state, const StepReport& last, Real particles, Real imbalance) const {
  const std::string solve =
      last.newton > 0 ? fmt::format("{} Newton, {} Krylov  ", last.newton, last.krylov) : std::string();
  return fmt::format(
      "step {}  t = {:.4g}/{:.4g} s  dt = {:.2e} s ({})  {}{} particles  {:.2f} M particle steps/s  imbalance {:.2f}  "
      "remaining {}",
      state.step, state.time, end_time_, last.size.dt, last.size.limited_by, solve,
      static_cast<std::int64_t>(particles), rate() / 1e6, imbalance, as_clock(remaining(state)));
}

void Progress::show(const RunState& state, const StepReport& last, Real particles, Real imbalance) {
  particle_steps_ += particles * static_cast<Real>(state.step - last_step_);
  last_step_ = state.step;
  const double now = wall_seconds(), pause = log_is_interactive() ? seconds_between_live_lines : seconds_between_lines;
  if (now - last_shown_ < pause) return;
  last_shown_ = now;
  if (log_is_interactive()) log_live_line(line(state, last, particles, imbalance));
  else log_info(line(state, last, particles, imbalance));
}

std::string closing_table(const Comm& comm, const Timers& timers, Real particle_steps, Real imbalance) {
  std::array<Real, phases.size()> least, mean, most;
  for (std::size_t i = 0; i < phases.size(); ++i) least[i] = mean[i] = most[i] = seconds_in(timers, phases[i]);
  comm.min(least);
  comm.sum(mean);
  comm.max(most);
  Real total = 0;
  for (Real& m : mean) total += m /= comm.size();

  std::string text = fmt::format("{:<12}{:>10}{:>10}{:>10}{:>9}{:>18}\n", "phase", "min [s]", "mean [s]", "max [s]",
                                 "share", "ns/particle step");
  const auto share_of = [&](std::initializer_list<const char*> names) {
    Real sum = 0;
    for (std::size_t i = 0; i < phases.size(); ++i)
      if (std::find_if(names.begin(), names.end(), [&](const char* n) { return std::string(n) == phases[i]; }) !=
          names.end())
        sum += mean[i];
    return total > 0 ? sum / total : 0;
  };
  for (std::size_t i = 0; i < phases.size(); ++i) {
    if (most[i] == 0) continue;
    const Real per_step = particle_steps > 0 ? mean[i] * comm.size() / particle_steps * 1e9 : 0;
    text += fmt::format("{:<12}{:>10.2f}{:>10.2f}{:>10.2f}{:>8.1f}%{:>18.1f}\n", phases[i], least[i], mean[i], most[i],
                        100 * mean[i] / total, per_step);
  }
  text += fmt::format("{:<12}{:>10}{:>10.2f}\n", "all", "", total);
  if (share_of({"record", "checkpoint"}) > 0.2)
    text +=
        "Advice: output takes much of the time; a longer time.frame_interval or output.checkpoint.every_wall would "
        "help.";
  else if (imbalance > 1.3)
    text += "Advice: the work is spread unevenly; a smaller balance.every or fewer ranks would help.";
  else if (comm.size() > 1 && share_of({"exchange", "activate"}) > 0.3)
    text += "Advice: ranks spend much of their time talking; fewer ranks (or more threads for each) would do as well.";
  else text += "Advice: nothing stands out; the particle work itself sets the pace.";
  return text;
}

}  // namespace weft
