#pragma once
// The state of a run besides its points: the clock and what has been counted so far. All of it goes into a checkpoint.

#include "weft/base/impulse.hpp"
#include "weft/base/types.hpp"
#include "weft/bodies/body.hpp"
#include "weft/parallel/curve.hpp"

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// The clock of a run.
struct RunClock {
  std::int64_t step = 0;
  Real time = 0;                ///< [s].
  std::int64_t next_frame = 0;  ///< Frame k is due at k * time.frame_interval.
};

struct RunState : RunClock {
  Real last_dt = 0;                                          ///< Of the step before, 0 at the start [s].
  Real recovery_dt = std::numeric_limits<Real>::infinity();  ///< After a refused step dt grows from here [s].
  std::vector<StepLimit> limits;        ///< For each body, of all its points; empty before the first step.
  std::vector<Real> drift;              ///< For each body: how far points may be from where they were binned [m].
  std::vector<Impulse> wall_impulse;    ///< Of each collider on the material since the start.
  std::vector<Impulse> handle_impulse;  ///< Of each handle since `handles_since`; all its work.
  std::vector<Impulse> joint_impulse;   ///< Of each joint likewise.
  Real handles_since = 0;               ///< Time of the last row of the diagnostics [s].
  std::vector<PointId> next_id;         ///< For each body: the id of the next point or vertex.
  std::vector<std::int64_t> removed_elements;  ///< For each body: elements that have left its mesh.
  std::vector<Real> emitted_until;             ///< For each source [s]; -infinity before it opens.
  std::vector<PointId> probe_points;           ///< For each `nearest` probe: the point it follows.
  std::optional<Real> energy_taken;            ///< By impulses and stretch limits of strands since the start [J].
  std::int64_t removed_points = 0;             ///< Left the domain since the start.
  std::int64_t newton_steps = 0;               ///< Of implicit steps since the start, refused ones included.
  std::int64_t krylov_steps = 0;
  Cuts cuts;  ///< Saved as numbers beside this text.

  /// Of all colliders on the material since the start [J].
  Real wall_work() const;
  /// Of colliders, handles, loads and joints since the start [J].
  Real work() const;
};

/// All but the cuts as JSON, exact to the last bit, and back. Throws Error(checkpoint) if the text is not such.
std::string to_text(const RunState& state);
RunState state_from_text(const std::string& text);

/// How many of each a scene has.
struct SceneCounts {
  std::size_t bodies = 0, colliders = 0, handles = 0, joints = 0, sources = 0, nearest_probes = 0;
};
/// Throws Error(checkpoint) unless each list of the state has the length that the scene asks for, and the counters and
/// times are possible.
void require_fits(const RunState& state, const SceneCounts& scene);

}  // namespace weft
