#pragma once
// Handles: selections of a body that are held still or moved, as constraints on its own freedoms, with their reactions.

#include "weft/base/kinds.hpp"
#include "weft/bodies/meshed.hpp"
#include "weft/bodies/turned_joint.hpp"
#include "weft/geometry/rigid_motion.hpp"
#include "weft/geometry/shape.hpp"
#include "weft/motion/constraint.hpp"
#include "weft/motion/term.hpp"

#include <array>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weft {

/// Times that differ by less than this part of them are one: a multiple of an interval and a decimal rarely are alike.
inline constexpr Real same_time = 1e-12;

/// What of a body a handle acts on: all that satisfies what is given here; all of the body without any.
struct Selection {
  const Shape* shape = nullptr;                      ///< Holds the position at rest; not owned.
  std::optional<std::set<std::int32_t>> vertices{};  ///< Numbers of control points.
  std::optional<std::set<std::int64_t>> faces{};     ///< Numbers of faces, for samples.
  std::optional<int> boundary{};                     ///< Number of a closed line of boundary edges.

  bool has(const Site& site) const;
  bool has(const Sample& sample) const;
};

/// The sites that a handle on a selection holds. Of a side those selected that have a neighbour there, so that a side
/// that only touches the selection with its end stays free; what lies beyond the end of a side goes with its neighbour.
/// Selected vertices that no such site is at.
std::vector<Site> sites_in(const Sites& sites, const Selection& selection);

/// The vertices that are selected.
std::vector<Site> vertices_in(const Sites& sites, const Selection& selection);

/// Turns the slopes of sites to the direction along the surface that is closest to the normal of a plane of symmetry
/// (unit), and adds their edges. Sides whose lines all stand square on the plane keep theirs, without edges.
/// Throws Error(deck), its text starting with `place`, if the surface does not cross the plane there.
void turn_slopes(std::vector<Site>& sites, const Vec3& mirror, std::span<const Vec3> positions,
                 const std::string& place);

struct Reaction {
  Vec3 force = Vec3::Zero();   ///< [N].
  Vec3 torque = Vec3::Zero();  ///< About the handle's centre [N m].
};

/// How sites are held.
struct HandleSettings {
  Hold hold;
  std::array<bool, 3> axes = {true, true, true};  ///< Which components of the position are prescribed.
  Vec3 mirror = Vec3::Zero();                     ///< Normal of the plane of symmetry; unit.
  RigidMotion motion;
};

/// Where a rigid motion takes a weighted sum of positions: a position or a difference of positions, along one
/// direction.
struct HeldAim {
  Real rest;   ///< The sum at rest, along the direction [m].
  Real total;  ///< Sum of its weights: 1 for a position, 0 for a difference.
  Vec3 axis;   ///< Unit, at rest; turns with the handle.

  /// The axis, or the normal of an edge that lies across it, unless that is zero; unit.
  Vec3 direction(const RigidState& state, const Vec3& edge) const {
    const Vec3 turned = state.rotation * axis;
    return edge.isZero(0) ? turned : turned.cross(edge).normalized();
  }
  Real goal(const Vec3& direction, const RigidState& state) const {
    return rest + total * direction.dot(state.translation);
  }
};

/// Keeps direction . sum_k w_k x_k at its aim.
struct HeldSum : HeldAim {
  Stencil stencil;
  Stencil edge;          ///< Tangent of an edge that the direction follows, over the same rows; or nothing.
  std::int64_t element;  ///< As of the site.
};

/// What is to be held of some sites whose stencils go over `positions`, which are now at rest.
std::vector<HeldSum> held_sums(std::span<const Site> sites, const HandleSettings& settings,
                               const VertexValues& positions);

/// Keeps ends of segments in frames that move rigidly, each by a joint over half of its length.
class Clamp : public Term {
 public:
  /// As MeshBody::begin_substep.
  virtual void begin_substep(Real h, const Motion& start) = 0;
  /// What it does to the body on this rank.
  virtual Reaction reaction(const Motion& motion) const = 0;
  /// Of its joints on this rank, without what damping adds to `energy` [J].
  virtual Real elastic_energy(const Motion& motion) const = 0;
  /// How its frames turn from one time to another, by less than half a turn: axis times angle [rad].
  virtual Vec3 turned(Real begin, Real end) const = 0;
  /// Appends its joints as turns of segments, which are rows, see them.
  virtual void add_turned_joints(const Motion& motion, std::vector<TurnLink>& to) const = 0;
  /// Adds row sums of a bound of its stiffness, to each component of a row of points [N/m].
  virtual void add_row_sums(const Motion& motion, Load& sums) const = 0;
  /// How fast its frames turn at most between two times [rad/s].
  virtual Real most_spin(Real begin, Real end) const = 0;
};

/// Keeps weighted sums over control points where a rigid motion puts them.
class Handle : public Constraints {
 public:
  /// freedoms.block(b) has the control points of the body; sums: of this rank, over rows. positions: theirs, kept up to
  /// date by the body, rows as in the block. until: when the handle lets go [s].
  Handle(const Freedoms& freedoms, std::size_t b, std::vector<HeldSum> sums, const RigidMotion& motion,
         std::span<const Vec3> positions, Real until = std::numeric_limits<Real>::infinity());

  /// Whether it holds in a step that begins, or ends, at a time.
  bool holds_to(Real time) const { return time <= (1 + same_time) * until_; }

  void append(Real time, ConstraintRows& rows) const override;
  /// What the handle does to the body on this rank, from the force along each condition; u: since positions were
  /// committed. about: the point that the torque is taken about [m].
  Reaction reaction(std::span<const Real> forces, const Motion& motion, const Vec3& about) const;
  /// Where the centre of the handle is at a time [m].
  Vec3 center(Real time) const { return motion_.at(time).center; }
  std::size_t conditions() const { return conditions_.size(); }

 private:
  const Freedoms& freedoms_;
  std::size_t block_;
  RigidMotion motion_;
  Real until_;
  std::span<const Vec3> positions_;
  std::vector<HeldSum> conditions_;
};

}  // namespace weft
