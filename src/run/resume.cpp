#include "weft/run/resume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "weft/base/log.hpp"
#include "weft/deck/read.hpp"
#include "weft/run/status.hpp"

namespace weft {
namespace {

using std::filesystem::path;

/// Whether a load grows in proportion to time.end, for want of an amplitude.
bool has_load_by_end(const Deck& deck) {
  return std::any_of(deck.handles.begin(), deck.handles.end(), [](const HandleDeck& handle) {
    return std::visit(
        [](const auto& action) {
          if constexpr (requires { action.amplitude; }) return action.amplitude.empty();
          return false;
        },
        handle.action);
  });
}

/// The deck without what may change when a run is resumed.
std::string physics_of(Deck deck, const Deck& reference) {
  deck.title = reference.title;
  const TimeDeck time = deck.time;
  deck.time = reference.time;
  deck.time.scheme = time.scheme;
  if (time.scheme == Scheme::equilibrium || has_load_by_end(deck)) deck.time.end = time.end;
  deck.loading = reference.loading;
  deck.solve.petsc = reference.solve.petsc;
  deck.output = reference.output;
  deck.balance = reference.balance;
  return resolved_yaml(deck);
}

/// True if no run in this folder got as far as its first checkpoint, so that nothing is lost when it starts again.
/// Throws Error(checkpoint) if it had one that is gone.
bool has_nothing_to_lose(const path& folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder / "run.json", ignored)) return true;
  const RunStatus status = look_at_run(folder).status;
  require(!status.saved_step, ExitCode::checkpoint,
          fmt::format("{}: the run wrote a checkpoint at step {}, but {} holds none. Put it back to go on, start again "
                      "with --force to replace this run, or choose another folder with --output.",
                      folder.string(), status.saved_step.value_or(0), (folder / "checkpoints").string()));
  return status.state != "finished" && status.state != "stopped";
}

}  // namespace

std::optional<path> checkpoint_to_resume(const Comm& comm, const RunOptions& options) {
  if (!options.resume) return std::nullopt;
  if (*options.resume != "auto") {
    const auto problems = verify_checkpoint(comm, *options.resume);
    require(problems.empty(), ExitCode::checkpoint, problems.empty() ? "" : problems.front());
    return *options.resume;
  }
  const FoundCheckpoint found = find_checkpoint(comm, options.output / "checkpoints");
  for (const std::string& reason : found.passed_over) log_warning(reason);
  if (found.path) return found.path;
  require(found.passed_over.empty(), ExitCode::checkpoint,
          fmt::format("{}: no whole checkpoint is left to resume from. Start again with --force to replace this run.",
                      options.output.string()));
  log_info(fmt::format("{} holds no checkpoint yet: the run starts at the beginning.", options.output.string()));
  return std::nullopt;
}

ExistingRun existing_run(const Comm& comm, const RunOptions& options, bool resumed) {
  ExistingRun policy = ExistingRun::refuse;
  // When others looked at the folder, the root might be changing it already.
  comm.agree([&] {
    if (!comm.is_root()) return;
    if (resumed) policy = ExistingRun::resume;
    // A job script must be able to go on where a run was killed before its first checkpoint.
    else if (options.force || (options.resume && has_nothing_to_lose(options.output))) policy = ExistingRun::replace;
  });
  return policy;
}

void require_same_physics(const CheckpointHeader& header, const Deck& deck, const path& from) {
  const Deck saved = parse_deck(header.resolved_deck, from.string() + " (its deck)", from.string());
  require(physics_of(saved, deck) == physics_of(deck, deck), ExitCode::checkpoint,
          fmt::format("{}: this checkpoint belongs to a different deck. When a run is resumed, only title, time, "
                      "output, balance and solve.petsc may change{}.",
                      from.string(),
                      deck.time.scheme == Scheme::equilibrium ? "; in a static analysis also loading, but not time.end"
                      : has_load_by_end(deck) ? "; not time.end, to which loads without amplitude are in proportion"
                                              : ""));
}

SceneCounts counts_of(const Scene& scene) {
  const auto& probes = scene.deck.probes;
  const auto nearest = std::count_if(probes.begin(), probes.end(), [](const ProbeDeck& probe) {
    return std::holds_alternative<NearestProbe>(probe.measure);
  });
  return {scene.bodies.size(), scene.walls.size(), scene.handles.size(), scene.sources.size(),
          static_cast<std::size_t>(nearest)};
}

}  // namespace weft
