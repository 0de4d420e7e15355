#pragma once
// Bodies of a deck.

#include "weft/base/types.hpp"
#include "weft/deck/carried.hpp"
#include "weft/deck/fibers.hpp"
#include "weft/deck/location.hpp"
#include "weft/deck/motion.hpp"
#include "weft/deck/shapes.hpp"
#include "weft/deck/shells.hpp"
#include "weft/deck/solids.hpp"

#include <optional>
#include <string>
#include <variant>

namespace weft {

struct ContinuumDeck : LayeredDeck {
  std::string name;
  std::string material;
  std::optional<ShapeDeck> shape;  ///< May be left out if a source feeds the body.
  int particles_per_cell;
  Sampling sampling;
  Vec3 velocity;  ///< Initial [m/s].
  Vec3 spin;      ///< Initial angular velocity about the body's centre of mass [rad/s].
  std::uint32_t seed;
  std::optional<BlendDeck> blend;  ///< Else it takes over all.
  DeckLocation location;
};

// How heavy a rigid body is; the deck gives exactly one of these keys.
struct DensityDeck {
  Real density;  ///< [kg/m^3].
};
struct MassDeck {
  Real mass;  ///< [kg].
};

// What ties a rigid body to the world; the deck gives exactly one of these keys.
struct BallJointDeck {
  Vec3 point;    ///< [m].
  Real damping;  ///< [N m s].
};
struct HingeDeck {
  Vec3 point, axis;
  Real damping, torque;       ///< [N m s], [N m].
  std::optional<Real> speed;  ///< [rad/s].
};
struct SliderDeck {
  Vec3 axis;
  Real damping, force;        ///< [N s/m], [N].
  std::optional<Real> speed;  ///< [m/s].
};
struct JointDeck {
  std::variant<BallJointDeck, HingeDeck, SliderDeck, MotionDeck> form;
};

/// Entries of the tensor of inertia [kg m^2].
struct InertiaDeck {
  Vec3 moments;   ///< xx, yy, zz.
  Vec3 products;  ///< xy, yz, zx: of xy minus the integral of x y dm.
};

struct RigidDeck : LayeredDeck {
  std::string name;
  std::variant<DensityDeck, MassDeck> weight;
  std::optional<Vec3> center;          ///< Of mass, at rest [m]; else the middle of the volume.
  std::optional<InertiaDeck> inertia;  ///< About it; else that of the volume about its middle.
  TetMeshDeck mesh;
  std::optional<SolidContactDeck> contact;  ///< Without, four points.
  std::optional<JointDeck> joint;
  std::optional<bool> meets_grid;  ///< Else true.
  Vec3 velocity;                   ///< Initial [m/s].
  Vec3 spin;                       ///< Initial angular velocity about the body's centre of mass [rad/s].
  DeckLocation location;
};

/// The deck key `kind` chooses; more kinds join with their issues.
using BodyDeck = std::variant<ContinuumDeck, ShellDeck, MembraneDeck, FiberDeck, StrandDeck, SolidDeck, RigidDeck>;

}  // namespace weft
