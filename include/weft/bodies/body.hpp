#pragma once
// A body: points that carry material through the grid, and what the step asks of them. Bodies know nothing of the grid,
// of solvers or of files.

#include "weft/fields/table.hpp"

#include <string>

namespace weft {

// What the step keeps for each point between its phases.
/// dE/dH_p: derivative of the body's energy by the displacement gradient of the step.
struct EnergyGradient : Field<Mat3> {
  static constexpr Label label{"energy_gradient", "J", Keep::work};
};
struct GatheredVelocity : Field<Vec3> {
  static constexpr Label label{"gathered_velocity", "m/s", Keep::work};
};
struct GatheredAffine : Field<Mat3> {
  static constexpr Label label{"gathered_velocity_gradient", "1/s", Keep::work};
};

/// How far a body lets an explicit step go.
struct StepLimit {
  Real wave_speed = 0;  ///< Of the fastest elastic wave [m/s].
  Real viscosity = 0;   ///< Largest kinematic viscosity [m^2/s].
  Real speed = 0;       ///< Of the fastest point [m/s].
};

/// A step is a transaction: until `commit` nothing but work columns changes.
class Body {
 public:
  explicit Body(std::string name) : name_(std::move(name)) {}
  virtual ~Body() = default;

  const std::string& name() const { return name_; }
  Table& points() { return points_; }
  const Table& points() const { return points_; }

  /// Gives new rows the state of undeformed material; position, velocity, affine, rest volume and id are set already.
  virtual void rest(std::size_t first_row) = 0;
  /// Writes EnergyGradient for the state at the start of the step. dt: size of the step [s].
  virtual void respond(Real dt) = 0;
  /// Accepts the step: moves points by the gathered velocity, deforms them by dt times the gathered gradient, lets the
  /// material flow. dt: size of the step [s].
  virtual void commit(Real dt) = 0;
  virtual StepLimit limit() const = 0;
  /// Stored elastic energy of the owned points [J].
  virtual Real elastic_energy() const = 0;
  /// Quantities for frames and probes that are computed from the state, in columns of their own; rows as in points().
  virtual Table observe() const = 0;

 protected:
  Table points_;

 private:
  std::string name_;
};

}  // namespace weft
