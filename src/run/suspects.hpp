#pragma once
// Which points a failed step is blamed on.

#include "weft/output/checkpoint.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/scene/scene.hpp"
#include "weft/transfer/bins.hpp"
#include "weft/transfer/transfer.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// How a point is suspect.
enum class Suspicion : std::int32_t {
  none = 0,
  motion = 1,  ///< The refused step would have moved or deformed it too much.
  state = 2,   ///< It holds numbers that are not finite already.
};

/// For the frame of a failed run: a Suspicion for each point.
struct Suspect : Field<std::int32_t> {
  static constexpr Label label{"suspect", "1", Keep::shown};
};

/// The suspicions of the rows of one table of a body.
struct SuspectTable {
  std::string name;  ///< Of the body, or its part.
  Table* table;
  std::vector<Suspicion> marks;  ///< For each owned row.
};

/// All tables of all bodies.
using Suspicions = std::vector<SuspectTable>;

/// All tables of all bodies, which make up the state of a scene.
std::vector<CheckpointPart> tables_of(const Scene& scene);

/// The rows whose state holds numbers that are not finite. Not collective.
Suspicions suspect_states(std::span<const CheckpointPart> tables);
Suspicions suspect_states(const Scene& scene);

/// Adds the points of a set that the nodes' velocities would deform by more than time.max_strain in dt, or within reach
/// of `node` [m], the node that moves too fast (nowhere if it is not finite). Not collective.
void suspect_motions(const Scene& scene, const TransferSettings& transfer, PointSet& points, const Bins& bins,
                     const NodeField& velocity, Real dt, const Vec3& node, Suspicions& suspicions);

/// What is suspected of a table's rows; nothing if it is not among them.
std::span<const Suspicion> suspicions_of(const Table& table, const Suspicions& suspicions);

/// How many points are suspect, the ids, positions and velocities of five of them, and the likely cause; empty if there
/// are none. The same on every rank. Collective.
std::string accuse(const Comm& comm, const Suspicions& suspicions);

}  // namespace weft
