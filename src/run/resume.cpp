#include "run/resume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "weft/base/check.hpp"
#include "weft/base/log.hpp"
#include "weft/base/read_text.hpp"
#include "weft/deck/files.hpp"
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
Deck physics_of(Deck deck, const Deck& reference) {
  deck.title = reference.title;
  const TimeDeck time = deck.time;
  deck.time = reference.time;
  deck.time.scheme = time.scheme;
  if (time.scheme == Scheme::equilibrium || has_load_by_end(deck)) deck.time.end = time.end;
  deck.loading = reference.loading;
  deck.solve.petsc = reference.solve.petsc;
  deck.output = reference.output;
  deck.balance = reference.balance;
  for_each_file(deck, [](const std::string&, std::string& path) { path.clear(); });  // digests count, not paths
  return deck;
}

/// The first of these files with another content than it had: "KEY: FILE is not the file that WHAT", with both digests.
std::optional<std::string> changed_file(const std::vector<DeckFile>& then, std::span<const DeckFile> now,
                                        const char* what) {
  for (const DeckFile& file : now) {
    const auto old = std::find_if(then.begin(), then.end(), [&](const DeckFile& f) { return f.key == file.key; });
    if (old != then.end() && old->digest != file.digest)
      return fmt::format("{}: {} is not the file that {}: its digest (XXH3) is {}, and was {}", file.key, file.path,
                         what, file.digest, old->digest);
  }
  return std::nullopt;
}

/// The first key of physics that changed: "KEY is A, and was B".
std::optional<std::string> changed_key(const Deck& then, const Deck& now) {
  const auto difference = first_difference(physics_of(then, now), physics_of(now, now));
  if (!difference) return std::nullopt;
  return fmt::format("{} is {}, and was {}", difference->key, difference->values[1], difference->values[0]);
}

/// Throws Error(deck) if the run in this folder, which has no checkpoint, was of another deck: its frames and rows
/// would go.
void require_same_run(const path& folder, const Deck& deck, std::span<const DeckFile> files) {
  const path resolved = folder / "resolved.yaml";
  std::error_code ignored;
  if (!std::filesystem::exists(resolved, ignored)) return;  // written before the first frame and row
  std::optional<std::string> change;
  try {
    const Deck then = parse_saved_deck(read_text(resolved), resolved.string(), folder.string());
    change = changed_file(files_of_run(folder), files, "it began with");
    if (!change) change = changed_key(then, deck);
  } catch (const Error& error) {
    change = fmt::format("its deck cannot be read ({})", error.what());
  }
  require(!change, ExitCode::deck,
          fmt::format("{}: the run there has no checkpoint and belongs to a different deck: {}. Add --force to replace "
                      "that run, or choose another folder with --output.",
                      folder.string(), change.value_or("")));
}

/// True if no run in this folder got as far as its first checkpoint, so that nothing is lost when it starts again.
/// Throws Error(checkpoint) if it had one that is gone, and Error(deck) if it was another run.
bool has_nothing_to_lose(const path& folder, const Deck& deck, std::span<const DeckFile> files) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder / "run.json", ignored)) return true;
  const RunStatus status = look_at_run(folder).status;
  require(!status.saved_step, ExitCode::checkpoint,
          fmt::format("{}: the run wrote or began from a checkpoint at step {}, but {} holds none. Put it there to go "
                      "on, start again with --force to replace this run, or choose another folder with --output.",
                      folder.string(), status.saved_step.value_or(0), (folder / "checkpoints").string()));
  if (status.state == "finished" || status.state == "stopped") return false;
  require_same_run(folder, deck, files);
  return true;
}

/// True if the checkpoint is one of this output folder, however it is spelled or linked to.
bool is_of_run(const path& checkpoint, const path& output) {
  const auto all = list_checkpoints(output / "checkpoints");
  return std::any_of(all.begin(), all.end(), [&](const path& its) {
    std::error_code ignored;
    return std::filesystem::equivalent(its, checkpoint, ignored);
  });
}

/// Throws Error(deck) if going on from a checkpoint that was named would cost what a run left in the output folder:
/// all of another run, or what this one computed since.
void require_nothing_is_lost(const path& checkpoint, const path& output) {
  const char* cure = "Add --force to do so, or choose another folder with --output.";
  if (!is_of_run(checkpoint, output)) {
    require(!holds_run(output), ExitCode::deck,
            fmt::format("{} is no checkpoint of the run in {}: going on from it there replaces that run. {}",
                        checkpoint.string(), output.string(), cure));
    return;
  }
  const auto all = list_checkpoints(output / "checkpoints");
  require(all.empty() || std::filesystem::equivalent(all.back(), checkpoint), ExitCode::deck,
          fmt::format("{} is older than {}: going on from it deletes the newer checkpoints, frames and rows of this "
                      "run. {}",
                      checkpoint.string(), all.empty() ? "" : all.back().string(), cure));
}

}  // namespace

std::optional<path> checkpoint_to_resume(const Comm& comm, const RunOptions& options) {
  if (!options.resume) return std::nullopt;
  if (*options.resume != "auto") {
    const auto problems = verify_checkpoint(comm, *options.resume);
    require(problems.empty(), ExitCode::checkpoint, problems.empty() ? "" : problems.front());
    comm.agree([&] {
      if (comm.is_root() && !options.force) require_nothing_is_lost(*options.resume, options.output);
    });
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

ExistingRun existing_run(const Comm& comm, const RunOptions& options, const std::optional<path>& checkpoint,
                         const Deck& deck, std::span<const DeckFile> files) {
  ExistingRun policy = ExistingRun::refuse;
  // When others looked at the folder, the root might be changing it already.
  comm.agree([&] {
    if (!comm.is_root()) return;
    if (checkpoint && is_of_run(*checkpoint, options.output)) policy = ExistingRun::resume;
    // A job script must be able to go on where a run was killed before its first checkpoint.
    else if (options.force || (options.resume && has_nothing_to_lose(options.output, deck, files)))
      policy = ExistingRun::replace;
  });
  return policy;
}

void require_same_physics(const CheckpointHeader& header, const Deck& deck, std::span<const DeckFile> files,
                          const path& from) {
  const Deck saved = parse_saved_deck(header.resolved_deck, from.string() + " (its deck)", from.string());
  const auto file = changed_file(files_in(header.provenance), files, "this checkpoint was computed with");
  require(!file, ExitCode::checkpoint,
          fmt::format("{}: {}. Put the old file in its place.", from.string(), file.value_or("")));
  const auto key = changed_key(saved, deck);
  if (!key) return;
  throw Error(
      ExitCode::checkpoint,
      fmt::format("{}: this checkpoint belongs to a different deck: {}. When a run is resumed, only title, time but "
                  "its scheme, "
                  "output, balance and solve.petsc may change{}.",
                  from.string(), *key,
                  deck.time.scheme == Scheme::equilibrium ? "; in a static analysis also loading, but not time.end"
                  : has_load_by_end(deck) ? "; not time.end, to which loads without amplitude are in proportion"
                                          : ""));
}

SceneCounts counts_of(const Scene& scene) {
  return {scene.bodies.size(), scene.walls.size(),   scene.handles.size(),
          scene.joints.size(), scene.sources.size(), scene.followed_points.size()};
}

}  // namespace weft
