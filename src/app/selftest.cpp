#include "app/selftest.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <cmath>
#include <map>
#include <sstream>
#include <vector>

#include "weft/base/log.hpp"
#include "weft/base/read_text.hpp"
#include "weft/base/timer.hpp"
#include "weft/deck/read.hpp"
#include "weft/output/checkpoint.hpp"
#include "weft/output/files.hpp"
#include "weft/output/inspect.hpp"
#include "weft/run/loop.hpp"
#include "weft/run/provenance.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

/// A jelly and sand fall on a floor beside a ball that falls freely.
constexpr const char* scene = R"(
weft: 1
title: Self-test
domain: {dx: 0.05}
time: {end: 1, frame_interval: 0.05}
materials:
  jelly: {law: fixed_corotated, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3}
  sand: {law: drucker_prager, density: 2200, youngs_modulus: 1e5, poisson_ratio: 0.3}
bodies:
  - {name: block, kind: continuum, material: jelly, shape: {box: {lower: [0, 0.005, 0], upper: [0.3, 0.305, 0.3]}}, spin: [0, 2, 0]}
  - {name: heap, kind: continuum, material: sand, shape: {sphere: {center: [1, 0.155, 0.2], radius: 0.15}}}
  - {name: ball, kind: continuum, material: jelly, shape: {sphere: {center: [3, 9, 0], radius: 0.2}}}
colliders:
  - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}, friction: 0.4}
probes:
  - {name: centre, body: ball, centre_of_mass: {}}
output: {diagnostics_every: 1}
)";
constexpr std::int64_t steps = 40;
constexpr Real gravity = 9.81;  // the default of decks

void run_to(const Comm& comm, const fs::path& output, std::int64_t step) {
  RunOptions options;
  options.output = output;
  options.steps = step;
  options.resume = "auto";
  Requests nobody_asks;
  log_to_terminal(false);
  run(comm, parse_deck(scene, "self-test", "/"), options, nobody_asks);
  log_to_file("");
  log_to_terminal(comm.is_root());
}

/// The columns of a run's diagnostics by name, without units.
std::map<std::string, std::vector<Real>> diagnostics_of(const fs::path& output) {
  std::istringstream lines(read_text(output / "diagnostics.csv"));
  std::string line, cell;
  std::getline(lines, line);
  std::vector<std::string> names;
  for (std::istringstream cells(line); std::getline(cells, cell, ',');)
    names.push_back(cell.substr(0, cell.find(" [")));
  std::map<std::string, std::vector<Real>> columns;
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    for (const std::string& name : names)
      if (std::getline(cells, cell, ',')) columns[name].push_back(std::stod(cell));
  }
  return columns;
}

/// What must hold, and the largest relative error that was found.
struct Finding {
  const char* what;
  Real error, allowed;
};

/// What the diagnostics of every step say. Bounds are of round-off in sums over some thousand particles and 40 steps.
std::vector<Finding> findings_in(const fs::path& output) {
  auto d = diagnostics_of(output);
  const Real mass = d["mass"].at(0);
  Real mass_error = 0, momentum_error = 0, fall_error = 0;
  Real height = d["centre_y"].at(0);
  for (std::size_t n = 1; n < d["step"].size(); ++n) {
    const Real time = d["time"][n];
    mass_error = std::max(mass_error, std::abs(d["mass"][n] - mass) / mass);
    const Real given = -mass * gravity * time - d["impulse_floor_y"][n];
    momentum_error = std::max(momentum_error, std::abs(d["momentum_y"][n] - given) / (mass * gravity * time));
    height -= d["dt"][n] * gravity * time;  // symplectic Euler: moves with the velocity at the end of the step
    fall_error = std::max(fall_error, std::abs(d["centre_y"][n] - height) / height);
  }
  const bool complete = d["step"].size() == static_cast<std::size_t>(steps) + 1;
  return {{"every step is in the diagnostics", complete ? 0.0 : 1.0, 0},
          {"mass is kept", mass_error, 1e-13},
          {"momentum is what gravity and the floor gave", momentum_error, 1e-11},
          {"a free ball falls as Newton says", fall_error, 1e-12}};
}

/// A new or empty folder for the runs; true if it is new. Throws Error(file_system) for any other. Collective.
bool make_place(const Comm& comm, const fs::path& folder) {
  bool is_new = false;
  comm.agree([&] {
    if (!comm.is_root()) return;
    is_new = !make_output_folder(folder).empty();
    std::error_code ignored;
    require(is_new || fs::is_empty(folder, ignored), ExitCode::file_system,
            fmt::format("{} holds files. The self-test needs a new or empty folder: choose one with --output.",
                        folder.string()));
  });
  return is_new;
}

}  // namespace

int selftest(const Comm& comm, const fs::path& folder) {
  const double began = wall_seconds();
  const bool is_new = make_place(comm, folder);
  const fs::path whole = folder / "whole", halves = folder / "halves";
  run_to(comm, whole, steps);
  run_to(comm, halves, steps / 2);
  run_to(comm, halves, steps);
  const auto newest = [&](const fs::path& output) {
    const FoundCheckpoint found = find_checkpoint(comm, output / "checkpoints");
    require(found.path.has_value(), ExitCode::checkpoint,
            fmt::format("{}: there is no whole checkpoint.", output.string()));
    return *found.path;
  };
  const fs::path a = newest(whole), b = newest(halves);

  bool well = true;
  comm.agree([&] {
    if (!comm.is_root()) return;
    std::vector<Finding> findings = findings_in(whole);
    findings.push_back({"a run in two halves ends with the same bits", compare_checkpoints(a, b).largest(), 0});
    const bool readable = describe(whole / "frames" / "block_000000.hdf").find("velocity") != std::string::npos;
    findings.push_back({"frames can be read", readable ? 0.0 : 1.0, 0});
    fmt::print("{}\n{} ranks with {} threads each\n", version_text(false), comm.size(), omp_get_max_threads());
    for (const Finding& finding : findings) {
      const bool holds = finding.error <= finding.allowed;
      well = well && holds;
      fmt::print("{:<8}{} (error {:.1e}, allowed {:.0e})\n", holds ? "ok" : "FAILED", finding.what, finding.error,
                 finding.allowed);
    }
    if (well) {
      for (const fs::path& output : {whole, halves}) fs::remove_all(output);
      std::error_code ignored;  // others may use the folder by now
      if (is_new) fs::remove(folder, ignored);
    }
    fmt::print("{} after {:.1f} s.\n", well ? "All is well" : "Something is wrong; the runs are in " + folder.string(),
               wall_seconds() - began);
  });
  return comm.any(!well) ? static_cast<int>(ExitCode::failure) : 0;
}

}  // namespace weft
