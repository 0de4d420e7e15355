#include "app/walltime.hpp"

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "weft/base/check.hpp"

namespace weft {

Real wall_limit_from(const std::string& text) {
  if (text == "slurm") {
    const char* end = std::getenv("SLURM_JOB_END_TIME");
    require(
        end != nullptr, ExitCode::deck,
        "--walltime slurm: SLURM_JOB_END_TIME is not set; either this is no Slurm job, or Slurm is older than 22.05. "
        "Give the time as HH:MM:SS.");
    return static_cast<Real>(std::strtoll(end, nullptr, 10) - std::time(nullptr));
  }
  int hours = 0, minutes = 0, seconds = 0, read = 0;
  const bool fits = std::sscanf(text.c_str(), "%d:%2d:%2d%n", &hours, &minutes, &seconds, &read) == 3 &&
                    read == static_cast<int>(text.size()) && hours >= 0 && minutes >= 0 && minutes < 60 &&
                    seconds >= 0 && seconds < 60;
  require(fits, ExitCode::deck, "--walltime " + text + ": expected HH:MM:SS or slurm.");
  return hours * 3600.0 + minutes * 60.0 + seconds;
}

}  // namespace weft
