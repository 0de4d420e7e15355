#pragma once
// The scene: everything that a deck describes, built; a plain struct that the step works on.

#include "weft/bodies/body.hpp"
#include "weft/bodies/follower_load.hpp"
#include "weft/bodies/handle.hpp"
#include "weft/bodies/mesh_source.hpp"
#include "weft/bodies/source.hpp"
#include "weft/deck/deck.hpp"
#include "weft/grid/walls.hpp"
#include "weft/motion/dead_load.hpp"
#include "weft/scene/handle_extent.hpp"
#include "weft/scene/step_settings.hpp"
#include "weft/transfer/transfer.hpp"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace weft {

/// A source and the body that receives its points.
struct BodySource {
  std::string name;
  std::size_t body;  ///< Number in Scene::bodies.
  Source source;
  Real from, until;  ///< Open between these times [s].
};

/// Vertices of a body that are recorded together, as a list of grips (MeshBody::watch).
struct Watched {
  std::size_t list;
  std::int64_t vertices;  ///< On all ranks.
};

/// A point of a meshed body whose displacement or position is recorded.
struct PointProbe {
  std::string name, unit;
  std::size_t body;
  Watched point;
  int axis;
  bool displacement;  ///< Else the position.
  Real distance;      ///< From the point that was asked for [m].
};

/// A point of a body that a probe follows through steps in time.
struct FollowedPoint {
  std::string name;  ///< Of the probe.
  std::size_t body;
  Vec3 start;            ///< The point of the body is the nearest one to it at the start [m].
  std::string location;  ///< In the deck.
};

/// A handle on a body. What it holds or loads of a mesh is in grips that the body keeps track of (MeshBody::watch); the
/// points of a continuum say themselves what handles act on them (HandledBy).
struct GridHandle {
  std::string name;
  std::size_t body;
  std::size_t list;  ///< Of grips, or its number among the handles of a continuum.

  /// Each grip is a HeldSum.
  struct Hold {
    RigidMotion motion;
    Real until;                       ///< Then the part is let go [s].
    std::vector<Vec3> axes;           ///< Of a continuum: the directions in which it is held, at rest; unit.
    std::optional<std::size_t> ends;  ///< A list of grips as well: ends of strands that are clamped.

    /// Whether a step holds that begins, or ends, at a time.
    bool holds_from(Real time) const { return until > (1 + same_time) * time; }
    bool holds_to(Real time) const { return time <= (1 + same_time) * until; }
  };
  /// Forces that keep their direction [N]; each grip is one on a vertex.
  struct Dead {
    Amplitude amplitude;
  };
  /// A load that turns with the surface; each grip is a sample of it with its follower_measure.
  struct Following {
    Follower kind;
    Real magnitude;
    Amplitude amplitude;
  };
  /// Forces on the points of a continuum that keep their direction: `total` [N] in equal parts, and an acceleration
  /// [m/s^2].
  struct OnPoints {
    Vec3 total, acceleration;
    Amplitude amplitude;
  };
  std::variant<Hold, Dead, Following, OnPoints> action;
  HandleExtent extent;          ///< As the body was at rest.
  std::optional<Watched> part;  ///< Its vertices, on a body with freedoms of its own.

  const Hold* hold() const { return std::get_if<Hold>(&action); }
};

/// A grid layer: bodies on it share its nodes.
struct SceneLayer {
  std::string name;
  TransferSettings transfer;
  bool has_contact_points;     ///< On the surface of one body with freedoms of its own, which is alone on it.
  Real restitution = 0;        ///< Of that body on walls.
  bool has_followers = false;  ///< Points that follow such bodies, by their surface or their vertices.
  bool keeps_motion = false;   ///< Points of continua on it keep a part of theirs.
  bool meets_itself = false;   ///< Such a body has contact where it folds.
  bool is_thin = false;        ///< Of sheets and fibers alone, beside other layers.
  bool has_strength = false;   ///< A body on it is no liquid.
  Real light_mass = 0;         ///< See ExplicitStep.
};

struct Scene {
  Deck deck;
  Real dx = 0;                        ///< Grid spacing, of all layers [m].
  std::vector<SceneLayer> layers;     ///< That named materials first.
  std::vector<Real> friction;         ///< Of each pair of layers, a row for each.
  std::vector<std::size_t> on_layer;  ///< Number of each body's layer; of bodies that do not meet the grid 0.
  std::vector<std::unique_ptr<Body>> bodies;
  /// Of each body its mesh, or none; no entries any more when the bodies have their points.
  std::vector<std::unique_ptr<MeshSource>> meshes;
  std::vector<PointId> first_free_id;  ///< For each body: ids from here on are unused at the start.
  std::vector<BodySource> sources;
  std::vector<Wall> walls;
  std::vector<GridHandle> handles;
  std::vector<std::size_t> joints;             ///< The rigid bodies that have one.
  std::optional<Box> bounds;                   ///< Points that leave it are removed.
  Real size = 0;                               ///< Of the box around all meshes at rest [m].
  std::vector<PointProbe> probes;              ///< Of a static analysis.
  std::vector<FollowedPoint> followed_points;  ///< Of probes in steps of time.
  StepSettings step;

  SceneLayer& layer_of(std::size_t body) { return layers[on_layer[body]]; }
  const SceneLayer& layer_of(std::size_t body) const { return layers[on_layer[body]]; }
  /// Whether a handle acts on nodes of the grid; else on the body's own freedoms.
  bool is_on_grid(const GridHandle& handle) const { return bodies[handle.body]->roles().is_carried_by_grid; }
  /// Whether it acts on nodes of this layer.
  bool is_on_layer(const GridHandle& handle, std::size_t layer) const {
    return is_on_grid(handle) && on_layer[handle.body] == layer;
  }
  /// The mesh that a handle acts on; null for a continuum.
  MeshBody* mesh_of(const GridHandle& handle) const { return bodies[handle.body]->roles().mesh; }
  /// All points of this rank that are matter.
  std::int64_t points() const {
    std::int64_t sum = 0;
    for (const auto& body : bodies)
      for (const PointSet* set : body->sets())
        if (set->is_matter()) sum += static_cast<std::int64_t>(set->points().owned());
    return sum;
  }
};

}  // namespace weft
