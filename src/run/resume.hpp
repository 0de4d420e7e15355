#pragma once
// Taking up a run that was stopped: which checkpoint, of which deck, in which folder.

#include "run/state.hpp"
#include "weft/output/checkpoint.hpp"
#include "weft/output/files.hpp"
#include "weft/run/loop.hpp"
#include "weft/run/provenance.hpp"
#include "weft/scene/scene.hpp"

namespace weft {

/// The checkpoint that --resume means; none if there is nothing to resume from. Throws Error(checkpoint) if there is no
/// whole one, and Error(deck) if one was named whose use would delete results, without --force. Collective.
std::optional<std::filesystem::path> checkpoint_to_resume(const Comm& comm, const RunOptions& options);

/// The fate of a run in the output folder, when this one, of a deck with these files, goes on from `checkpoint`, if
/// any; the root alone knows, and the others are told to refuse. Throws Error(deck) if the run there had no checkpoint
/// yet and another deck, without --force. Collective.
ExistingRun existing_run(const Comm& comm, const RunOptions& options,
                         const std::optional<std::filesystem::path>& checkpoint, const Deck& deck,
                         std::span<const DeckFile> files);

/// Throws Error(checkpoint) if the deck is not the one of the checkpoint but for what may change when a run is resumed,
/// or if one of its files has another content. files: of the deck, as they are now.
void require_same_physics(const CheckpointHeader& header, const Deck& deck, std::span<const DeckFile> files,
                          const std::filesystem::path& from);

/// What the state of a run in this scene has to have an entry for.
SceneCounts counts_of(const Scene& scene);

}  // namespace weft
