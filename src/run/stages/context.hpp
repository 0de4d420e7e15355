#pragma once
// What the stages of a step share.

#include "run/body_motion.hpp"
#include "run/exact_holds.hpp"
#include "run/handles.hpp"
#include "run/held_positions.hpp"
#include "run/rigid_body_motion.hpp"
#include "run/stages/accelerated_passes.hpp"
#include "run/stages/grid_advance.hpp"
#include "run/state.hpp"
#include "run/step.hpp"
#include "run/strand_impulses.hpp"
#include "run/suspects.hpp"
#include "weft/base/interrupted.hpp"
#include "weft/base/timer.hpp"
#include "weft/bodies/roles.hpp"
#include "weft/coupling/layer_contact.hpp"
#include "weft/coupling/wall_contacts.hpp"
#include "weft/grid/node_field.hpp"
#include "weft/scene/scene.hpp"
#include "weft/transfer/transfer.hpp"

#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace weft {

/// A set of points that the step visits.
struct VisitedSet {
  PointSet* points;
  std::size_t body;               ///< Number in Scene::bodies.
  std::size_t layer;              ///< Number in StepContext::layers.
  bool is_of_mesh;                ///< Its rows stay where they are, on this rank too.
  bool is_predicted;              ///< It scatters its TentativeVelocity.
  bool is_corrected;              ///< Its velocities change between gather and commit.
  HeldVertices* held = nullptr;   ///< Those of these that handles correct then, if no other does.
  BodyMotion* follows = nullptr;  ///< It is of contact points, which follow a body with freedoms of its own.
  bool keeps_motion = false;      ///< Its points keep a part of their motion.
  bool has_surface = false;       ///< These lie on the surface of the body; else they are its vertices.
  bool is_binned = false;         ///< Its bins hold the points as they stand.
  Real half_axis = 0;             ///< Of its ellipsoids at rest, at least the largest, where walls act on them [m].
};

/// A grid layer: bodies on the same layer share its nodes, layers meet where nodes of both have mass. Blocks that no
/// point of a layer touches cost it nothing. A surface has a second one, its far side, with the same blocks: where
/// nodes see faces and what faces away from these, it takes the latter.
struct GridLayer {
  const std::size_t number;
  const SceneLayer& settings;
  std::size_t first_set = 0, end_of_sets = 0;  ///< Numbers in StepContext::sets.
  Layer nodes{};
  std::unique_ptr<GridAdvance> advance{};
  WallContacts contacts{};
  Handles handles;
  RigidBodyMotion* rigid = nullptr;  ///< Of its body, if that keeps its shape,
  RigidVelocity start{}, moves{};    ///< as the step began, and as it was predicted,
  Real scale = 1;                    ///< by which the masses of its contact points are larger,
  Real scattered_scale = 1;          ///< as its nodes have them.
  bool leaves_wall = false;          ///< The body rebounds from a wall, as it was predicted.
  GridLayer* far = nullptr;          ///< Its far side, and
  const GridLayer* near = nullptr;   ///< of that its near one.
  bool has_two_sides = false;        ///< In this step; else its far side takes no part.
  bool split_by_normals = false;     ///< While it is found what was where at rest, by which it is split.
  std::vector<char> split{};         ///< Of each block, whether any of its nodes has two sides.
  bool is_repeated = false;          ///< Its bodies may scatter several times in a try.
  bool repeats_contact = false;      ///< Its nodes remember more of contact with each pass of a try.
  bool is_loaded = false;            ///< What contact gives loads its implicit solve, as NodeMemory says.
  std::optional<NodeField> alone{};  ///< Of a layer that is not, beside one that is: velocities before layers meet.
  NodeField first_memory{"first_memory", "N"};  ///< Of its body, if that repeats contact: as the try began.
  NodeField pull{"pull", "m/s^2"};              ///< What its memory, or a part of it, does to owned and ghost nodes.
  std::vector<int> in_contact{};                ///< Owned blocks that remember anything, or may in this try.
  Given given{};                                ///< To its bodies, in this try.

  std::shared_ptr<const BlockMap> blocks = std::make_shared<BlockMap>();  ///< Of both sides.
  std::vector<BlockKey> touched{};  ///< Blocks of the map that points of this rank touch.
  bool map_is_stale = true;         ///< For the points of this rank.
  bool needs_map = false;           ///< The map is to be made anew; the same on every rank.

  const BlockMap& map() const { return *blocks; }
  bool takes_passes() const { return is_repeated || repeats_contact; }
  /// It and its far side, if that takes part.
  std::vector<GridLayer*> sides() { return has_two_sides ? std::vector{this, far} : std::vector{this}; }
};

/// A body that takes part in the passes of a try.
struct RepeatingBody {
  Repeats* repeats;
  std::size_t set;  ///< Of its own points.
};

/// Why a try cannot be accepted: the quantity that exceeds its bound most.
struct Fault : Refusal {
  Vec3 node = Vec3::Constant(std::numeric_limits<Real>::quiet_NaN());  ///< A node that moves too fast [m], if one does.
};

/// Scene and state are not owned. Layers with their maps, and bins, stay from step to step.
struct StepContext {
  StepContext(const Comm& comm, Scene& scene, RunState& state, Timers& timers);

  Comm comm;
  Scene& scene;
  const StepSettings& settings;  ///< Of the scene.
  RunState& state;
  Timers& timers;

  std::vector<VisitedSet> sets;                          ///< Layer by layer.
  std::vector<Bins> bins;                                ///< One for each set.
  std::vector<const Bins*> bins_of_body;                 ///< Of its own points; null where it does not meet the grid.
  std::vector<std::unique_ptr<BodyMotion>> own_motions;  ///< Of bodies that the grid does not move.
  std::vector<Predicts*> predicting;                     ///< Bodies that scatter what they predict.
  std::vector<RepeatingBody> repeating;
  std::unique_ptr<StrandImpulses> strand_impulses;  ///< Of those own motions that have any; else null.
  std::vector<Corrects*> correcting;                ///< Each once.
  std::vector<std::unique_ptr<HeldVertices>> held;  ///< Of meshes that the grid moves and handles hold.
  std::vector<HeldPositions> held_positions;        ///< Of each body.
  std::vector<std::size_t> led_bodies;              ///< Continua that handles hold.

  std::vector<GridLayer> layers;  ///< Those of the scene, then far sides.
  LayerContact layer_contact;
  std::vector<bool> handles_that_lost;  ///< Of each handle: the log has said that it lets go of what left its body.
  StopQuestion is_asked_to_stop;
  std::size_t bytes_when_trimmed = 0;  ///< Of points, when freed memory was last given back.

  // Of the present step.
  Real stop = 0;  ///< Time that the step may not pass [s].
  Real left = 0;  ///< Until then [s].
  StepReport report;
  Given given;
  int passes = 0;                 ///< Made in this try,
  int first_pass = 0;             ///< before bodies that hit one another rebound.
  AcceleratedPasses accelerated;  ///< Of these.
  bool is_found = false;          ///< This try has a motion; the same on every rank.
  Fault fault;                    ///< Of this try, on this rank.
  Suspicions suspicions;

  Real dt() const { return report.size.dt; }
  const TransferSettings& transfer_of(const VisitedSet& set) const { return layers[set.layer].settings.transfer; }
  /// Whether a layer takes part in this step, and in this pass of a try.
  static bool is_on(const GridLayer& layer) { return layer.near == nullptr || layer.near->has_two_sides; }
  bool is_due(const GridLayer& layer) const {
    const bool is_as_scattered = layer.rigid != nullptr && layer.scale == layer.scattered_scale;
    return is_on(layer) && (passes == 0 || (layer.takes_passes() && !is_as_scattered));
  }
  /// Whether layers may meet.
  bool has_layers() const { return layers.size() > 1; }
  /// Whether handles may prescribe positions of a set: vertices, or points of a continuum.
  bool carries_what_handles_lead(const VisitedSet& set) const;
  std::vector<MeetingLayer> meeting_layers();
  /// Of the scene, with what clamps hold elastically. Collective.
  Totals totals() const;

 private:
  void add_body(std::size_t b);
  void add_own_motion(std::size_t b, const Roles& roles);
  void add_carried_by_grid(std::size_t b, const Roles& roles);
  void add_fields_of_thin_parts();
  void add_far_sides();
  void add_fields_of_holds();
  void add_fields_of_rigid_bodies();
  void add_fields_of_implicit_layers();
};

/// Of a set on a surface.
NodeSides sides_of(const StepContext& step, const VisitedSet& set);

/// Adds mass and momentum of some points of a set, which have no gradients, to a field of its layer.
template <BlockKeyed F>
void scatter_points(StepContext& step, const VisitedSet& set, const Bins& bins, const ScatterPoints& points,
                    const RowsAhead& ahead = {}) {
  GridLayer& layer = step.layers[set.layer];
  if (layer.has_two_sides)
    scatter_to_sides(step.transfer_of(set), bins, points, sides_of(step, set), layer.nodes.get<F>(),
                     layer.far->nodes.get<F>());
  else scatter(step.transfer_of(set), bins, points, {}, 0, layer.nodes.get<F>(), ahead);
}

/// What a field of three reals at nodes, and on the far side if the layer has one, is at the points of a set.
std::vector<Vec3> gathered(const StepContext& step, std::size_t s, const NodeField& field, const NodeField* far);
template <BlockKeyed F>
std::vector<Vec3> gathered(const StepContext& step, std::size_t s) {
  const GridLayer& layer = step.layers[step.sets[s].layer];
  return gathered(step, s, layer.nodes.get<F>(), layer.has_two_sides ? &layer.far->nodes.get<F>() : nullptr);
}

/// Brings the rows of chosen sets into visiting order where they are far from it; what stood in the columns
/// `overwritten` is lost.
void reorder_rows(StepContext& step, const std::function<bool(const VisitedSet&)>& is_chosen,
                  std::initializer_list<std::string_view> overwritten);

}  // namespace weft
