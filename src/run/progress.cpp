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

std::string in_words(const StepReport& last) {
  std::string words = fmt::format("dt = {:.2e} s ({})", last.size.dt, last.size.limited_by);
  if (last.newton > 0) words += fmt::format("  {} Newton, {} Krylov", last.newton, last.krylov);
  return words;
}

Progress::Progress(const RunClock& start, Real end_time, bool advances_evenly)
    : start_time_(start.time),
      end_time_(end_time),
      advances_evenly_(advances_evenly),
      first_step_(start.step),
      last_step_(start.step),
      started_(wall_seconds()),
      last_shown_(started_) {}

Real Progress::remaining(const RunClock& now) const {
  const Real done = now.time - start_time_;
  return advances_evenly_ && done > 0 ? seconds() * (end_time_ - now.time) / done
                                      : std::numeric_limits<Real>::infinity();
}

void Progress::count(const RunClock& now, Real points) {
  particle_steps_ += points * static_cast<Real>(now.step - last_step_);
  last_step_ = now.step;
}

bool Progress::is_due() const {
  return wall_seconds() - last_shown_ >= (log_is_interactive() ? seconds_between_live_lines : seconds_between_lines);
}

void Progress::show(const RunClock& now, const std::string& last_step) {
  last_shown_ = wall_seconds();
  const std::string line = fmt::format("step {}  t = {:.4g}/{:.4g} s  {}  remaining {}", now.step, now.time, end_time_,
                                       last_step, as_clock(remaining(now)));
  if (log_is_interactive()) log_live_line(line);
  else log_info(line);
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
  else if (share_of({"solve"}) > 0.5) text += "Advice: nothing stands out; the solves set the pace.";
  else text += "Advice: nothing stands out; the particle work itself sets the pace.";
  return text;
}

}  // namespace weft
