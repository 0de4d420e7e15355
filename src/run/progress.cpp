#include "run/progress.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <span>
#include <string_view>

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

/// Rows of the table: the phases, and what is left of the wall time.
constexpr auto rows = [] {
  std::array<const char*, phases.size() + 1> all{};
  std::copy(phases.begin(), phases.end(), all.begin());
  all.back() = "other";
  return all;
}();

/// One sentence on the mean time of each row [s].
std::string advice_on(const Comm& comm, std::span<const Real> mean, Real all, Real imbalance) {
  const auto share_of = [&](std::string_view name) {
    const auto row = std::find(rows.begin(), rows.end(), name);
    return all > 0 ? mean[static_cast<std::size_t>(row - rows.begin())] / all : 0;
  };
  const auto largest = static_cast<std::size_t>(std::max_element(mean.begin(), mean.end()) - mean.begin());
  const std::string row =
      fmt::format("\"{}\" takes the largest part ({:.0f} %)", rows[largest], 100 * mean[largest] / all);
  if (share_of("record") + share_of("checkpoint") > 0.2)
    return "Advice: output takes much of the time; a longer time.frame_interval or output.checkpoint.every_wall would "
           "help. " +
           row + ".";
  if (imbalance > 1.3)
    return "Advice: the work is spread unevenly; a smaller balance.every or fewer ranks would help. " + row + ".";
  if (comm.size() > 1 && share_of("exchange") + share_of("activate") > 0.3)
    return "Advice: ranks spend much of their time talking; fewer ranks (or more threads for each) would do as well. " +
           row + ".";
  return "Advice: nothing stands out; " + row + ".";
}

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

std::int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
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
  std::array<Real, rows.size()> least, mean, most;
  Real all = timers.elapsed(), other = all;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    least[i] = seconds_in(timers, phases[i]);
    other -= least[i];
  }
  least.back() = other;
  mean = most = least;
  comm.min(least);
  comm.sum(mean);
  comm.max(most);
  all = comm.sum(all) / comm.size();
  for (Real& m : mean) m /= comm.size();

  std::string text = fmt::format("{:<12}{:>10}{:>10}{:>10}{:>9}{:>18}\n", "phase", "min [s]", "mean [s]", "max [s]",
                                 "share", "ns/particle step");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (most[i] == 0) continue;
    const Real per_step = particle_steps > 0 ? mean[i] * comm.size() / particle_steps * 1e9 : 0;
    text += fmt::format("{:<12}{:>10.2f}{:>10.2f}{:>10.2f}{:>8.1f}%{:>18.1f}\n", rows[i], least[i], mean[i], most[i],
                        100 * mean[i] / all, per_step);
  }
  return text + fmt::format("{:<12}{:>10}{:>10.2f}\n", "all", "", all) + advice_on(comm, mean, all, imbalance);
}

}  // namespace weft
