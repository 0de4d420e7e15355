#pragma once
// Contact of grid layers, at the nodes where several of them have mass.
//
// At such a node layer a meets layer b along n, from a to b. An impulse l acts on a, -l on b; it makes the end of the
// relative velocity that it can, pushing only, and with Coulomb friction:
//     u = v_a - v_b - c n,   l' = l - u m_a m_b / (m_a + m_b)
//     l_n = max(0, -n . l'),   l_t = the part of l' across n, |l_t| <= friction l_n,   l = l_t - l_n n (K.5)
// where c = max(0, d - d_0) / dt lets two surfaces come as near as d_0; d is the sum of the distances of the node from
// both, and c = 0 where a layer has no surface. This is done for each pair in turn, several times where three layers
// meet. Both momenta of the layers together stay as they are, since the impulses of a node are opposite, and kinetic
// energy does not grow.
//
// Bodies with freedoms of their own know of contact only what their contact points tell them, and in the next step they
// move before the grid is asked. Their points remember the force f_q of contact. Nodes that touch have it as Phi_i,
// which loads the body's own motion in its place; nodes take dt Phi back before they exchange. So whatever points
// remember, impulses are opposite; and at rest a body carries what lies on it without a relative velocity.
// [docs/theory/layers.md]

#include "weft/grid/node_field.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weft {

/// Of a layer at its nodes: a weight, and the weight times the normal out of its material; the weight is mass, whose
/// gradient is the normal, or the area of the surface.
struct NodeNormal : NodeKey {
  static constexpr Label label{"normal", "kg or m^2", Keep::work};
};
/// Of a layer of contact points: their mass, and what they remember, Phi [N]. Of an implicit layer: mass, and what
/// loads its solve.
struct NodeMemory : NodeKey {
  static constexpr Label label{"memory", "kg, N", Keep::work};
};
/// Of a layer of contact points: how far a node takes what they remember, from near 0 where nothing touches to 1.
struct NodeTouch : NodeKey {
  static constexpr Label label{"touch", "1", Keep::work};
};
/// Of a layer of contact points: the area of the surface, and the area times n (n . x) of normals and places, which are
/// those of its planes [m^3].
struct NodeOffset : NodeKey {
  static constexpr Label label{"offset", "m^2, m^3", Keep::work};
};
/// The area, and the area times n_x n_x, n_y n_y, n_z n_z.
struct NodeFacing : NodeKey {
  static constexpr Label label{"facing", "m^2", Keep::work};
};
/// The area, and the area times n_y n_z, n_z n_x, n_x n_y.
struct NodeFacingAcross : NodeKey {
  static constexpr Label label{"facing_across", "m^2", Keep::work};
};
/// Of a surface with thin parts: the area, and the area times t n_x n_x, t n_y n_y, t n_z n_z of the thickness t behind
/// it,
struct NodeThickness : NodeKey {
  static constexpr Label label{"thickness", "m^2, m^3", Keep::work};
};
/// and the area times t n_y n_z, t n_z n_x, t n_x n_y.
struct NodeThicknessAcross : NodeKey {
  static constexpr Label label{"thickness_across", "m^2, m^3", Keep::work};
};
/// The area, and the area times where it was at rest [m^3], of a side.
struct NodeAtRest : NodeKey {
  static constexpr Label label{"at_rest", "m^2, m^3", Keep::work};
};
/// Of a surface: c and d, so that c + d . y of a point that was at y at rest is on the near side.
struct NodeSplit : NodeKey {
  static constexpr Label label{"split", "1", Keep::work};
};
/// Of a layer of contact points beside a rigid one, or of thin bodies: their mass, and its first moment [kg m].
struct NodeMiddle : NodeKey {
  static constexpr Label label{"middle", "kg, kg m", Keep::work};
};
/// Of a layer of thin bodies: their mass, and the mass times x_x x_x, x_y x_y, x_z x_z,
struct NodeSquares : NodeKey {
  static constexpr Label label{"squares", "kg, kg m^2", Keep::work};
};
/// and the mass times x_y x_z, x_z x_x, x_x x_y.
struct NodeProducts : NodeKey {
  static constexpr Label label{"products", "kg, kg m^2", Keep::work};
};
/// Of a layer of a rigid body: the place on the body that a node moves [m].
struct NodePlace : NodeKey {
  static constexpr Label label{"place", "m", Keep::work};
};
/// What a rigid body got from its nodes where it rebounds [m/s].
struct NodeRebound : NodeKey {
  static constexpr Label label{"rebound", "m/s", Keep::work};
};
/// Of a layer of contact points, or an implicit one: the change of velocity by other layers [m/s].
struct NodeMeeting : NodeKey {
  static constexpr Label label{"meeting", "m/s", Keep::work};
};
/// Of a layer of contact points, or of points that keep a part of their motion: the velocity that these give to the
/// nodes [m/s].
struct NodeGiven : NodeKey {
  static constexpr Label label{"given", "m/s", Keep::work};
};
/// Once these have their velocities, the change of it [m/s].
struct NodeChange : NodeKey {
  static constexpr Label label{"change", "m/s", Keep::work};
};

/// Of a layer of bodies with holds: the mass of their vertices and points, and in the place of a first momentum that of
/// those whose positions handles prescribe [kg],
struct NodeLed : NodeKey {
  static constexpr Label label{"led", "kg, kg", Keep::work};
};
/// and what these take of the impulses of other layers, over their mass, for their handles to bear [m/s].
struct NodeBorne : NodeKey {
  static constexpr Label label{"borne", "m/s", Keep::work};
};

/// Velocities of a rigid body, over a step or now: velocity + gradient (x - centre).
struct RigidVelocity {
  Vec3 centre = Vec3::Zero(), velocity = Vec3::Zero();
  Mat3 gradient = Mat3::Zero();

  Vec3 at(const Vec3& x) const { return velocity + gradient * (x - centre); }
};

/// A layer as contact sees it. Not owned.
struct MeetingLayer {
  const BlockMap* map;
  Layer* nodes;
  bool has_contact_points;
  bool is_thin;                           ///< Of sheets and fibers alone.
  std::size_t layer;                      ///< Its number; that of a far side is the one of its near side.
  bool has_strength = true;               ///< A body on it is no liquid.
  bool is_far = false;                    ///< It is a far side,
  bool is_on = true;                      ///< and takes part in this step.
  bool has_two_sides = false;             ///< Both take part.
  bool meets_itself = false;              ///< Its two sides do.
  Real spread = 0;                        ///< Moment of inertia of the kernel [dx^2]; 0: it depends on the place.
  Real frequency = 0;                     ///< Of the fastest vibration of a body with contact points [rad/s].
  const RigidVelocity* moves = nullptr;   ///< Of a rigid body, as it was predicted; null: it deforms.
  const RigidVelocity* start = nullptr;   ///< Of a rigid body, as the step began.
  bool is_led = false;                    ///< Of a rigid body: nothing changes its motion.
  bool leaves_wall = false;               ///< It rebounds from a wall in this step.
  Real restitution = 0;                   ///< Of hits of a rigid body,
  Real slowest_hit = 0;                   ///< that are faster [m/s].
  const NodeField* remembered = nullptr;  ///< NodeMemory of a rigid body as the step began.

  bool is_implicit = false;  ///< A layer without contact points: forces of contact are in its solve.

  bool is_rigid() const { return start != nullptr; }
  /// Whether its nodes have NodeMemory, which has loaded their motion, and NodeMeeting.
  bool is_loaded() const { return has_contact_points || is_implicit; }
};

/// Finds NodeSplit of owned nodes of a surface, as yet by normals in place of y: what faces away from what most faces
/// is on the far side. (16.2a)
void split_by_normals(const BlockMap& map, Layer& nodes);
/// Of each block of a field NodeSplit, whether any of its nodes has two sides.
std::vector<char> blocks_with_two_sides(const NodeField& split);
/// The same by places, once these are known of both sides; far_at_rest: NodeAtRest of the far one. (16.2b)
void split_by_places(const BlockMap& map, Real dx, Layer& nodes, const NodeField& far_at_rest);

class LayerContact {
 public:
  /// friction: of each pair of layers, a row for each.
  LayerContact(std::size_t layers, std::vector<Real> friction) : layers_(layers), friction_(std::move(friction)) {}

  /// The maps of layers have changed: finds the blocks that several have. Collective.
  void find(std::span<const MeetingLayer> layers);
  /// Whether another layer has a block of a layer too, by its number on this rank; ghosts among them.
  const std::vector<bool>& is_shared(std::size_t layer) const { return is_shared_[layer]; }

  /// Surfaces have one side where no other one is, which could meet the second; and where material without a surface
  /// has mass: grains on both would be held by neither.
  void keep_whole(std::span<const MeetingLayer> layers) const;
  /// Owned nodes have what layers know of one another: finds where surfaces face one another, and how near they are.
  void look(std::span<const MeetingLayer> layers, Real dx);
  /// Sets those of layers, with their far sides, of which a node has a surface that meets another one.
  void mark_surfaces_that_meet(std::span<Real> layers) const;
  /// Finds NodeTouch of owned nodes of a layer. (16.6b)
  void mark_touch(std::size_t layer, NodeField& touch) const;
  /// NodeTouch of owned nodes of a surface, times the mass that implicit layers have there; 0 where it meets surfaces
  /// as well. (16.9)
  void weigh_touch(std::span<const MeetingLayer> layers, std::size_t layer, NodeField& touch) const;
  /// Adds the opposite of NodeMemory of a surface to that of implicit layers, by their mass. (16.9)
  void oppose_memory(std::span<const MeetingLayer> layers, std::size_t layer) const;
  /// Owned blocks of a layer on which nodes may change in an exchange, by their numbers.
  std::vector<int> blocks_that_meet(std::size_t layer) const;
  /// Finds which pairs of rigid bodies hit one another in a step of dt [s], and at which nodes. Collective.
  void find_hits(const Comm& comm, std::span<const MeetingLayer> layers, Real dt);
  bool any_hits() const { return any_hits_; }
  /// Changes the velocities of owned nodes, which are those of each layer alone, in a step of dt [s].
  void exchange(std::span<const MeetingLayer> layers, Real dt);
  /// Bodies that hit one another have pressed: from now on exchanges give their rebound as well. Whether any do, on any
  /// rank.
  bool let_rebound(std::span<const MeetingLayer> layers);

 private:
  /// A block of this rank that several layers have: its number for each, -1 for those without it.
  using SharedBlock = std::vector<int>;

  /// A layer at a node.
  struct Side {
    std::size_t layer;
    int block;  ///< Of the layer.
  };
  /// How two layers meet at a node in a step: rigid bodies that hit one another press, then rebound, and what they do
  /// not yet touch waits for the next step.
  enum class Meeting { contact, hit, rebound, later };
  /// Two layers that face one another at a node.
  struct Pair {
    std::array<std::size_t, 2> sides;  ///< Numbers there.
    Vec3 normal;                       ///< From the first to the second.
    Real gap;                          ///< They may close it [m].
    Real nearer;                       ///< They are nearer than they should be by so much [m],
    bool has_surfaces;                 ///< and part as two surfaces do, or as a mass comes out of one.
    Meeting meeting = Meeting::contact;
    Vec3 normal_of_hit = Vec3::Zero();  ///< That of all nodes that are hit.
    Real restitution = 0;               ///< Of a hit: what rebounds, of what presses.
    Real pressed = 0;                   ///< Along the normal, at least, as bodies rebound [N s].
  };
  struct Node {
    int place;
    std::size_t first_side, sides, first_pair, pairs;  ///< Of Meetings, and how many.
  };
  /// Of a shared block.
  struct Meetings {
    std::vector<Node> nodes;
    std::vector<Side> sides;
    std::vector<Pair> pairs;
  };
  struct Work;

  void look_at(std::span<const MeetingLayer> layers, const SharedBlock& block, int place, Real dx,
               Meetings& found) const;
  static bool is_hit(const Pair& pair) { return pair.meeting == Meeting::hit || pair.meeting == Meeting::rebound; }
  /// Of each pair that meets at a node: visit(side, place of the node, pair).
  template <class Visit>
  void for_each_side(const Visit& visit) const;
  struct Approach;
  std::optional<Approach> approach(std::span<const MeetingLayer> layers, const Meetings& meetings, const Node& node,
                                   const Pair& pair, Real dt) const;
  /// Of pairs of rigid bodies that may rebound: visit(pair, approach).
  template <class Visit>
  void for_each_approach(std::span<const MeetingLayer> layers, Real dt, const Visit& visit);
  static Real closing(const MeetingLayer& a, const MeetingLayer& b, const Pair& pair, Real dt);
  void meet(std::span<const MeetingLayer> layers, Meetings& meetings, const Node& node, Real dt, Work& work) const;
  Real friction_of(std::size_t a, std::size_t b) const { return friction_[a * layers_ + b]; }

  std::size_t layers_;
  std::vector<Real> friction_;
  std::vector<SharedBlock> shared_;
  Real dx_ = 0;
  bool any_hits_ = false, are_pressing_ = false;  ///< Of bodies that hit one another, on any rank.
  std::vector<Meetings> meetings_;                ///< Of each.
  std::vector<std::vector<bool>> is_shared_;
};

/// The impulse on a that ends the relative velocity u as far as contact can; before: what it is to be added to.
/// normal: from a to b, unit; closing: the velocity along it that stays [m/s]. reduced_mass: m_a m_b / (m_a + m_b)
/// [kg]. least: l_n of bodies that rebound [N s].
Vec3 contact_impulse(const Vec3& before, const Vec3& u, const Vec3& normal, Real closing, Real reduced_mass,
                     Real friction, Real least = 0);

}  // namespace weft
