#pragma once
// Checkpoints: all state of a run in one folder, `step_000000012000/` with `state.h5` and `manifest.json`, written by
// all ranks, checked to the last bit before anyone trusts it.

#include "weft/fields/table.hpp"
#include "weft/output/write_mode.hpp"
#include "weft/parallel/comm.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// The layout that this program writes and reads.
inline constexpr int checkpoint_format = 15;

/// One table of a checkpoint: a body's points, say. Only owned rows and columns with Keep::state are saved.
struct CheckpointPart {
  std::string name;
  Table* table;
};

/// What a checkpoint holds besides tables. The texts are opaque here. The same on every rank.
struct CheckpointHeader {
  std::int64_t step = 0;
  Real time = 0;              ///< [s].
  std::string state;          ///< JSON: next outputs, dt, sources, colliders, ... of the run.
  std::string resolved_deck;  ///< YAML.
  std::string provenance;     ///< JSON.
  std::vector<std::uint64_t> cuts;
};

/// How checkpoints are written, and how many of the newest stay.
struct CheckpointPolicy {
  int keep = 1;
  WriteMode mode{};
};

/// Writes checkpoint `header.step` into `folder` (the `checkpoints` of a run) under a temporary name, flushes it, reads
/// it back and verifies it, and only then gives it its name and deletes what is superseded: all but the newest
/// `policy.keep` up to this step, any of a later step (a future that this run has left), and leftovers of killed
/// writes. Returns its path. Throws Error(file_system), the older checkpoints untouched. Collective.
std::filesystem::path write_checkpoint(const Comm& comm, const std::filesystem::path& folder,
                                       const CheckpointHeader& header, std::span<const CheckpointPart> parts,
                                       const CheckpointPolicy& policy);

/// Deletes what writes that were killed left in `folder`. Not collective.
void discard_leftovers(const std::filesystem::path& folder);

/// Throws Error(checkpoint). Collective.
CheckpointHeader read_header(const Comm& comm, const std::filesystem::path& checkpoint);

/// Fills `table` (whose columns say what is expected) with this rank's share of part `name`: the writer's rows in the
/// writer's order if as many ranks wrote, else equal slices. All rows are owned; columns that are not state are zero.
/// Throws Error(checkpoint), also if the saved columns are not those of the table. Collective.
void read_part(const Comm& comm, const std::filesystem::path& checkpoint, const std::string& name, Table& table);

/// Everything that is wrong with a checkpoint, each problem naming its file and data set; empty: whole. Reads every
/// byte. The same on every rank. Throws nothing for damage. Collective.
std::vector<std::string> verify_checkpoint(const Comm& comm, const std::filesystem::path& checkpoint);

struct FoundCheckpoint {
  std::optional<std::filesystem::path> path;  ///< None: no whole checkpoint there.
  std::vector<std::string> passed_over;       ///< Why newer ones were not taken: a sentence for each.
};
/// The newest whole checkpoint in `folder` (which may not exist). The same on every rank. Collective.
FoundCheckpoint find_checkpoint(const Comm& comm, const std::filesystem::path& folder);

/// All checkpoints in `folder` by name, oldest first, whole or not. Not collective: looks at the disk.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& folder);

/// The step in a checkpoint's name.
std::int64_t step_of_checkpoint(const std::filesystem::path& checkpoint);

/// Bytes that a checkpoint of these tables takes on the disk, within a few per cent. Collective.
std::uint64_t checkpoint_bytes(const Comm& comm, std::span<const CheckpointPart> parts);

}  // namespace weft
