#pragma once
// The scene: everything that a deck describes, built; a plain struct that the step works on.

#include "weft/bodies/body.hpp"
#include "weft/bodies/source.hpp"
#include "weft/deck/deck.hpp"
#include "weft/grid/walls.hpp"
#include "weft/transfer/transfer.hpp"

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

struct Scene {
  Deck deck;
  TransferSettings transfer;
  std::vector<std::unique_ptr<Body>> bodies;
  std::vector<PointId> first_free_id;  ///< For each body: ids from here on are unused at the start.
  std::vector<BodySource> sources;
  std::vector<Wall> walls;
  std::optional<Box> bounds;  ///< Points that leave it are removed.
  Real light_mass = 0;        ///< See ExplicitStep.

  /// All points of this rank.
  std::int64_t points() const {
    std::int64_t sum = 0;
    for (const auto& body : bodies) sum += static_cast<std::int64_t>(body->points().owned());
    return sum;
  }
};

}  // namespace weft
