#include "weft/run/status.hpp"
#include "weft/base/read_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "weft/base/check.hpp"
#include "weft/output/checkpoint.hpp"
#include "weft/output/files.hpp"
#include "weft/run/progress.hpp"

namespace weft {
namespace {

using nlohmann::json;
using std::filesystem::path;

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

json as_json(const RunStatus& status) {
  json j{{"state", status.state},
         {"title", status.title},
         {"step", status.step},
         {"time", status.time},
         {"end", status.end},
         {"wall_seconds", status.wall_seconds},
         {"steps_per_second", status.steps_per_second},
         {"particle_steps_per_second", status.particle_steps_per_second},
         {"remaining_seconds", nullptr}};
  if (status.remaining_seconds) j["remaining_seconds"] = *status.remaining_seconds;
  if (status.state == "failed") j["reason"] = status.reason, j["exit_code"] = status.exit_code;
  return j;
}

RunStatus status_from(const json& j) {
  RunStatus status;
  status.state = j.at("state");
  status.title = j.at("title");
  status.step = j.at("step");
  status.time = j.at("time");
  status.end = j.at("end");
  status.wall_seconds = j.at("wall_seconds");
  status.steps_per_second = j.at("steps_per_second");
  status.particle_steps_per_second = j.at("particle_steps_per_second");
  if (!j.at("remaining_seconds").is_null()) status.remaining_seconds = j.at("remaining_seconds").get<Real>();
  status.reason = j.value("reason", "");
  status.exit_code = j.value("exit_code", 0);
  return status;
}

/// True for a process that has ended and whose parent has not asked for its exit code yet ("zombie"). Where nobody
/// asks, as in containers without an init, it stays so.
bool has_ended(pid_t id) {
  std::ifstream file(fmt::format("/proc/{}/stat", id));
  std::string text;
  std::getline(file, text);
  const auto state = text.rfind(") ");  // the name before may hold anything
  return state != std::string::npos && text.substr(state + 2, 1) == "Z";
}

/// True if the process that wrote run.json is known to be gone: it ran on this machine, and there is none any more.
bool is_gone(const json& process) {
  const pid_t id = process.at("id");
  return process.at("host") == host_name() && ((kill(id, 0) != 0 && errno == ESRCH) || has_ended(id));
}

/// A path may hold bytes that are no text; JSON gets a replacement for each.
std::string text_of(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

json outlook_json(const Outlook& outlook) {
  json j = as_json(outlook.status);
  j["heartbeat_age"] = outlook.heartbeat_age;
  j["checkpoint"] = outlook.checkpoint ? json(outlook.checkpoint->string()) : json(nullptr);
  j["checkpoint_step"] = outlook.checkpoint_step ? json(*outlook.checkpoint_step) : json(nullptr);
  return j;
}

}  // namespace

void write_status(const path& folder, const RunStatus& status, const std::string& provenance) {
  json j = as_json(status);
  j["process"] = {{"host", host_name()}, {"id", getpid()}};
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
    outlook.status = status_from(j);
    const auto written = std::filesystem::last_write_time(file);
    outlook.heartbeat_age =
        std::chrono::duration<Real>(std::filesystem::file_time_type::clock::now() - written).count();
    if (outlook.status.state == "running" && (outlook.heartbeat_age > heartbeat_limit || is_gone(j.at("process"))))
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
  if (!status.reason.empty())
    text += fmt::format("{:<12}{} (exit code {})\n", "reason", status.reason, status.exit_code);
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
