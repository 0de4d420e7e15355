#pragma once
// The scene of a static analysis: meshed bodies, what holds and loads them, and what is watched.

#include "weft/bodies/handle.hpp"
#include "weft/bodies/static_body.hpp"
#include "weft/deck/deck.hpp"
#include "weft/motion/dead_load.hpp"
#include "weft/parallel/comm.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weft {

/// A mean of vertices of one body; its value is the same on every rank once summed.
struct Watched {
  std::size_t body;
  std::vector<Stencil> stencils;  ///< Of this rank, over rows.
  std::int64_t count = 0;         ///< On all ranks.
};

struct StaticHandle {
  std::string name;
  std::size_t body;
  const Handle* hold = nullptr;  ///< In StaticScene::holds, or none.
  std::size_t number = 0;        ///< There.
  const Term* load = nullptr;    ///< In StaticScene::terms, or none.
  Watched part;                  ///< Its vertices.
};

struct StaticProbe {
  std::string name, unit;
  Watched vertex;
  int axis;
  bool displacement;  ///< Else the position.
};

struct StaticScene {
  Deck deck;
  std::vector<std::unique_ptr<StaticBody>> bodies;
  std::unique_ptr<Freedoms> freedoms;  ///< A block for each body.
  std::vector<std::unique_ptr<Term>> terms;
  std::size_t elastic_terms = 0;  ///< The first so many terms: one for each body.
  std::vector<std::unique_ptr<Handle>> holds;
  std::vector<StaticHandle> handles;
  std::vector<StaticProbe> probes;
  Real size = 0;  ///< Of the box around all bodies [m].
};

/// Builds everything that a static deck names. Throws Error(geometry) if a mesh cannot be used, Error(deck) if a handle
/// takes hold of nothing. Collective.
std::unique_ptr<StaticScene> build_static_scene(const Comm& comm, const Deck& deck);

/// The mean of u or of positions over what is watched, the same on every rank. Collective.
Vec3 mean_over(const Comm& comm, const Watched& watched, std::span<const Vec3> values);

}  // namespace weft
