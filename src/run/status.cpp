#include "weft/run/status.hpp"
#include "weft/base/read_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "run/declared.hpp"
#include "run/progress.hpp"
#include "weft/base/check.hpp"
#include "weft/output/checkpoint.hpp"
#include "weft/output/files.hpp"
#include "weft/output/lock.hpp"

namespace weft {

template <>
inline constexpr auto members<RunStatus> =
    std::tuple{Member{"state", "", &RunStatus::state},
               Member{"title", "", &RunStatus::title},
               Member{"step", "", &RunStatus::step},
               Member{"time", "s", &RunStatus::time},
               Member{"end", "s", &RunStatus::end},
               Member{"wall_seconds", "s", &RunStatus::wall_seconds},
               Member{"steps_per_second", "1/s", &RunStatus::steps_per_second},
               Member{"particle_steps_per_second", "1/s", &RunStatus::particle_steps_per_second},
               Member{"remaining_seconds", "s", &RunStatus::remaining_seconds},
               Member{"saved_step", "", &RunStatus::saved_step},
               Member{"reason", "", &RunStatus::reason},
               Member{"remark", "", &RunStatus::remark},
               Member{"exit_code", "", &RunStatus::exit_code}};

namespace {

using nlohmann::json;
using std::filesystem::path;

/// True if the run that wrote run.json is over, though that says that it goes on. Whoever holds the lock lives, also
/// one that is suspended or whose step takes long; without it, processes of this host tell, and of others their
/// silence.
bool is_over(const path& folder, const json& process, Real heartbeat_age) {
  if (is_locked(folder)) return false;
  const auto owner = owner_from(process.dump());
  return owner && is_on_this_host(*owner) ? !lives_here(*owner) : heartbeat_age > heartbeat_limit;
}

/// A path may hold bytes that are no text; JSON gets a replacement for each.
std::string text_of(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

json outlook_json(const Outlook& outlook) {
  json j = as_json(outlook.status);
  j["heartbeat_age"] = outlook.heartbeat_age;
  j["checkpoint"] = outlook.checkpoint ? json(outlook.checkpoint->string()) : json(nullptr);
  j["checkpoint_step"] = as_json(outlook.checkpoint_step);
  return j;
}

}  // namespace

void write_status(const path& folder, const RunStatus& status, const std::string& provenance) {
  json j = as_json(status);
  j["process"] = json::parse(owner_json(this_process()));
  j["provenance"] = json::parse(provenance);
  write_text_atomically(folder / "run.json", text_of(j, 2) + "\n",
                        status.state == "running" ? Flush::later : Flush::at_once);
}

Outlook look_at_run(const path& folder) {
  const path file = folder / "run.json";
  std::error_code error;
  require(std::filesystem::exists(file, error), ExitCode::file_system,
          fmt::format("{}: this folder holds no run: there is no run.json.", folder.string()));
  Outlook outlook;
  try {
    const json j = json::parse(read_text(file));
    from_json_to(j, outlook.status);
    const auto written = std::filesystem::last_write_time(file);
    outlook.heartbeat_age =
        std::chrono::duration<Real>(std::filesystem::file_time_type::clock::now() - written).count();
    if (outlook.status.state == "running" && is_over(folder, j.at("process"), outlook.heartbeat_age))
      outlook.status.state = "dead";
  } catch (const json::exception& damaged) {
    throw Error(ExitCode::file_system,
                fmt::format("{}: this does not say how a run stands ({}).", file.string(), damaged.what()));
  }
  const auto checkpoints = list_checkpoints(folder / "checkpoints");
  if (!checkpoints.empty()) {
    outlook.checkpoint = checkpoints.back();
    outlook.checkpoint_step = step_of_checkpoint(checkpoints.back());
  }
  return outlook;
}

std::string Outlook::text() const {
  std::string text = fmt::format("{:<12}{}\n", "state", status.state);
  if (status.reason)
    text += fmt::format("{:<12}{} (exit code {})\n", "reason", *status.reason, status.exit_code.value_or(0));
  if (status.remark) text += fmt::format("{:<12}{}\n", "remark", *status.remark);
  text += fmt::format("{:<12}{}\n{:<12}{:.6g} of {:.6g} s\n", "step", status.step, "time", status.time, status.end);
  text += fmt::format("{:<12}{}\n", "checkpoint", checkpoint ? checkpoint->string() : "none");
  text += fmt::format("{:<12}{:.3g} steps/s, {:.2f} M particle steps/s\n", "rate", status.steps_per_second,
                      status.particle_steps_per_second / 1e6);
  if (status.state == "running") {
    text +=
        fmt::format("{:<12}{}\n", "remaining", status.remaining_seconds ? as_clock(*status.remaining_seconds) : "-");
    text += fmt::format("{:<12}{:.0f} s ago\n", "heartbeat", heartbeat_age);
  }
  return text;
}

std::string Outlook::json() const { return text_of(outlook_json(*this), 2); }

std::string Outlook::value(const std::string& key) const {
  const nlohmann::json j = outlook_json(*this);
  std::vector<std::string> keys;
  for (const auto& [name, unused] : j.items()) keys.push_back(name);
  require(j.contains(key), ExitCode::deck,
          fmt::format("--print {}: there is no such key. Choose one of: {}.", key, fmt::join(keys, ", ")));
  const nlohmann::json& value = j[key];
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : text_of(value, -1);
}

StatusCode status_code(const RunStatus& status) {
  if (status.state == "finished") return StatusCode::finished;
  if (status.state == "running") return StatusCode::running;
  return status.state == "failed" ? StatusCode::failed : StatusCode::resumable;
}

}  // namespace weft
