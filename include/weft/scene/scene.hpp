#pragma once
// The scene: everything that a deck describes, built; a plain struct that the step works on.

#include "weft/bodies/body.hpp"
#include "weft/bodies/source.hpp"
#include "weft/deck/deck.hpp"
#include "weft/grid/walls.hpp"
#include "weft/motion/dead_load.hpp"
#include "weft/transfer/transfer.hpp"

#include <array>
#include <memory>
#include <optional>

namespace weft {

/// A source and the body that receives its points.
struct BodySource {
  std::string name;
  std::size_t body;  ///< Number in Scene::bodies.
  Source source;
  Real from, until;  ///< Open between these times [s].
};

/// A handle on a body with a mesh: holds its places or pulls at them.
struct GridHandle {
  std::string name;
  std::size_t body;
  std::size_t sites;   ///< Which of the body's watched places (MeshBody::watched).
  std::int64_t count;  ///< Of places on all ranks.
  struct Hold {
    std::array<bool, 3> axes;
    RigidMotion motion;
  };
  struct Force {
    Vec3 total;  ///< [N].
    Amplitude amplitude;
  };
  std::optional<Hold> hold;
  std::optional<Force> force;
};

struct Scene {
  Deck deck;
  TransferSettings transfer;
  std::vector<std::unique_ptr<Body>> bodies;
  std::vector<PointId> first_free_id;  ///< For each body: ids from here on are unused at the start.
  std::vector<BodySource> sources;
  std::vector<Wall> walls;
  std::vector<GridHandle> handles;
  std::optional<Box> bounds;  ///< Points that leave it are removed.
  Real light_mass = 0;        ///< See ExplicitStep.

  /// All points of this rank.
  std::int64_t points() const {
    std::int64_t sum = 0;
    for (const auto& body : bodies)
      for (const PointSet* set : body->sets()) sum += static_cast<std::int64_t>(set->points().owned());
    return sum;
  }
};

}  // namespace weft
