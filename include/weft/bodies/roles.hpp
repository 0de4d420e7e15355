#pragma once
// What bodies take part in. A body says it once, by its Roles; the step asks no body for its type.

#include "weft/fields/field.hpp"

#include <cstddef>
#include <limits>
#include <span>
#include <string>

namespace weft {

class MeshBody;
class PointBody;
class PointSet;
class RigidFrame;
class TrialBody;
class TrialMesh;

/// How large a step may be and why.
struct DtLimit {
  Real dt = std::numeric_limits<Real>::infinity();  ///< [s].
  std::string reason;                               ///< "waves in jelly", "speed of sand".
};

/// Why a step cannot be taken with its dt.
struct Refusal {
  Real excess = 0;   ///< A quantity over its bound; above 1 the step is refused.
  std::string text;  ///< The quantity and the bound in words.
};

/// The velocity that scatter takes instead of Velocity, for the sets of a body that predicts.
struct TentativeVelocity : Field<Vec3> {
  static constexpr Label label{"tentative_velocity", "m/s", Keep::work};
};

/// A body with a motion of its own before the grid moves it. Until the step is accepted its state stays as it was.
class Predicts {
 public:
  virtual ~Predicts() = default;
  /// Largest dt of its own motion from its present state, the same on every rank.
  virtual DtLimit limit() const { return {}; }
  /// In each try, before scatter: writes the TentativeVelocity of its points after dt [s]. A refusal on any rank makes
  /// all ranks try a smaller dt. Collective.
  virtual Refusal predict(Real dt) = 0;
  /// When the nodes have their last velocities in a try of dt [s]: whether its own freedoms may move so. Collective.
  virtual Refusal judge(Real dt) const = 0;
};

/// A body whose tentative velocities depend on what the grid makes of them, as those of contact do.
class Repeats {
 public:
  virtual ~Repeats() = default;
  /// After each pass of scatter and advance. passes: made in this try; received: the velocity that the nodes have for
  /// each row of its own points [m/s]. Returns whether it changed its TentativeVelocity and wants another pass, which
  /// all ranks then make. Collective.
  virtual bool wants_another_pass(Real dt, int passes, std::span<const Vec3> received) = 0;
};

/// Changes the gathered velocities of bodies before their points move, and cannot refuse. Bodies that change each
/// other's velocities share one, which is called once in a step.
class Corrects {
 public:
  virtual ~Corrects() = default;
  /// After gather: changes Velocity and Affine of points, which are still where the step began. Collective.
  virtual void correct(Real dt) = 0;
};

/// The parts of a body that stages call, none of them owned; null where it does not take part.
struct Roles {
  bool is_carried_by_grid = true;      ///< Its points scatter and gather; else it moves by itself,
  PointSet* contact_points = nullptr;  ///< and meets the grid by these, if there are any.
  const RigidFrame* rigid = nullptr;   ///< It moves as one, by this,
  MeshBody* mesh = nullptr;            ///< Its points stay with their elements,
  PointBody* points = nullptr;         ///< or come and go one by one.
  TrialBody* trial = nullptr;          ///< It takes part in implicit steps by its points,
  TrialMesh* trial_mesh = nullptr;     ///< or by its elements.
  Predicts* predicts = nullptr;
  Repeats* repeats = nullptr;
  Corrects* corrects = nullptr;
};

}  // namespace weft
