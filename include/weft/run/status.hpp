#pragma once
// How a run stands: what it says of itself in run.json, and what can be told from outside.

#include "weft/base/types.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace weft {

/// The content of run.json: written when a run starts, every few seconds while it goes on, and when it ends.
struct RunStatus {
  std::string state;  ///< "running", "finished", "stopped" or "failed"; from outside also "dead".
  std::string title;
  std::int64_t step = 0;
  Real time = 0, end = 0;  ///< [s].
  Real wall_seconds = 0;   ///< Since this start of the program.
  Real steps_per_second = 0, particle_steps_per_second = 0;
  std::optional<Real> remaining_seconds;   ///< None before the first step.
  std::optional<std::int64_t> saved_step;  ///< Of the newest checkpoint that the run wrote or began from.
  std::optional<std::string> reason;       ///< Why the run failed.
  std::optional<std::string> remark;       ///< What a user of its results must know.
  std::optional<int> exit_code;            ///< Of a failed run.
};

/// Puts the status, where the program runs and its provenance into folder/run.json; on the disk once it has ended.
/// Throws Error(file_system). Not collective: for the root.
void write_status(const std::filesystem::path& folder, const RunStatus& status, const std::string& provenance);

/// A status with what only an onlooker can tell.
struct Outlook {
  RunStatus status;
  Real heartbeat_age = 0;                           ///< Seconds since the last sign of life.
  std::optional<std::filesystem::path> checkpoint;  ///< The newest one, not verified.
  std::optional<std::int64_t> checkpoint_step;      ///< Its step.

  /// For people, and as JSON; `key` is one of those of the JSON.
  std::string text() const;
  std::string json() const;
  /// The value of one key of the JSON as bare text. Throws Error(deck) naming the keys that there are.
  std::string value(const std::string& key) const;
};

/// Looks at the folder of a run. A run that says "running" is "dead" if nobody holds its lock, and its process is gone
/// from this host or, on another host, gave no sign of life for heartbeat_limit. Throws Error(file_system) if the
/// folder holds no run.
Outlook look_at_run(const std::filesystem::path& folder);

/// Exit codes of `weft status`, for scripts.
enum class StatusCode : int {
  finished = 0,
  resumable = 10,  ///< Stopped or dead: `--resume auto` goes on.
  running = 11,
  failed = 12,
};
StatusCode status_code(const RunStatus& status);

}  // namespace weft
