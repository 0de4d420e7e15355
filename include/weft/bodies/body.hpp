#pragma once
// A body: points that carry material through the grid, and what the step asks of them. Bodies know nothing of the grid,
// of solvers or of files.

#include "weft/fields/chunk.hpp"
#include "weft/fields/table.hpp"

#include <string>

namespace weft {

/// How far points let an explicit step go; zeros limit nothing.
struct StepLimit {
  Real wave_speed = 0;  ///< Of the fastest elastic wave [m/s].
  Real viscosity = 0;   ///< Largest kinematic viscosity [m^2/s].
  Real speed = 0;       ///< Of the fastest point [m/s].

  /// The limit of these points and those together.
  void include(const StepLimit& those);
};

/// The step visits the points chunk by chunk, each chunk with `respond`, then each with `commit`; threads work on
/// different chunks at once. A step is a transaction: until `commit` nothing changes.
class Body {
 public:
  explicit Body(std::string name) : name_(std::move(name)) {}
  virtual ~Body() = default;

  const std::string& name() const { return name_; }
  Table& points() { return points_; }
  const Table& points() const { return points_; }

  /// Gives new rows the state of undeformed material; position, velocity, affine, rest volume and id are set already.
  virtual void rest(std::size_t first_row) = 0;
  /// Writes the forces of a chunk in its present state.
  virtual void respond(ChunkRows rows, const ChunkForces& forces) const = 0;
  /// Accepts the step for a chunk: moves its points, deforms them, lets the material flow. dt: size of the step [s].
  virtual void commit(ChunkRows rows, Real dt, const ChunkMotion& motion) = 0;
  /// The limit of a chunk in its present state: the same bits however the points are cut into chunks.
  virtual StepLimit limit(ChunkRows rows) const = 0;
  /// The limit of all owned points from this row on.
  StepLimit limit_from(std::size_t first_row) const;
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
