#pragma once
// Recording a run: diagnostics and probes as a table that grows, frames for pictures.

#include "weft/output/frame.hpp"
#include "weft/output/history.hpp"
#include "weft/run/step.hpp"
#include "weft/run/totals.hpp"

#include <filesystem>
#include <map>
#include <vector>

namespace weft {

/// How fast the run goes, for a row of the history and for the progress line.
struct Pace {
  Real wall_seconds = 0;  ///< Since the program started.
  Real particle_steps_per_second = 0;
  Real imbalance = 1;
  Real memory_bytes = 0;  ///< Resident, all ranks together.
};

/// Throws Error(deck) if output.fields or a probe names a field that no body, or not that body, has. Not collective.
void check_field_names(const Scene& scene);

/// Finds the point that each `nearest` probe follows, among the points at rest at the start. Collective.
std::vector<PointId> find_probe_points(const Comm& comm, const Scene& scene);

class Recorder {
 public:
  /// Starts new files in `folder`, or, if `resumed`, takes up those that state left off. Collective.
  Recorder(const Comm& comm, const std::filesystem::path& folder, const Scene& scene, const RunState& state,
           bool resumed);

  /// The numbers of a row of diagnostics.csv after a step that its report tells of. Collective.
  std::vector<Real> history_row(const Scene& scene, const RunState& state, const StepReport& last_step,
                                const Totals& totals, const Pace& pace) const;
  /// diagnostics.csv, which such rows are appended to.
  History& history() { return history_; }
  /// Writes frame state.next_frame of every body, the colliders and, if asked for, the grid. Collective.
  void write_frame(const Scene& scene, const RunState& state, const Stepper& stepper);
  /// Writes a frame of every body with the field `suspect` into the folder `crash`, numbered by the step; what an
  /// earlier crash left there goes. Collective.
  void write_crash(const Scene& scene, const RunState& state, const Suspicions& suspicions) const;

 private:
  FrameSeries& series(const std::string& name);

  Comm comm_;
  std::filesystem::path folder_;
  bool double_precision_;
  std::optional<std::int64_t> last_frame_;  ///< Of the run that is resumed.
  History history_;
  std::map<std::string, FrameSeries> series_;
  Box view_;  ///< What pictures of unbounded colliders cover.
};

/// Bytes of one frame of the whole scene. Collective.
std::uint64_t scene_frame_bytes(const Comm& comm, const Scene& scene);

}  // namespace weft
