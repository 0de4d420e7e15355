#pragma once
// A body: points that carry material through the grid, and what the step asks of them. Bodies know nothing of the grid,
// of solvers or of files.

#include "weft/bodies/contact_extent.hpp"
#include "weft/bodies/roles.hpp"
#include "weft/fields/chunk.hpp"
#include "weft/fields/table.hpp"
#include "weft/parallel/forest.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace weft {

/// How far points let an explicit step go; zeros limit nothing.
struct StepLimit {
  Real wave_speed = 0;  ///< Of the fastest elastic wave [m/s].
  Real viscosity = 0;   ///< Largest kinematic viscosity [m^2/s].
  Real speed = 0;       ///< Of the fastest point [m/s].
  Real mesh_speed = 0;  ///< Of the fastest wave along a mesh [m/s]. It limits only steps that `vibration` limits too.
  Real frequency = 0;   ///< Bound of the frequencies of a mesh by itself but for what `bending` adds [rad/s].
  Real bending = 0;     ///< Bound of the frequencies of its bending alone [rad/s].
  /// Largest norm of the deformations by which the ellipsoids of points that touch walls are not what they were at rest
  /// [1]. Checkpoints do without; 0: not known.
  Real stretch = 0;

  /// Bound of all frequencies of a mesh by itself [rad/s]: omega^2 of a sum of energies is at most the sum of theirs.
  /// Of a whole body, since the two largest need not lie on the same rank.
  Real vibration() const { return std::hypot(frequency, bending); }
  /// The limit of these points and those together.
  void include(const StepLimit& those);
};

/// What walls gave to a point in the last step [N].
struct WallForce : Field<Vec3> {
  static constexpr Label label{"wall_force", "N"};
};

/// The faces of walls that gave something to a point in the last step, one bit for each.
struct WallFaces : Field<PointId> {
  static constexpr Label label{"wall_faces", "1"};
};

/// Points of one kind. The step visits them chunk by chunk, each chunk with `respond`, then each with `commit`; threads
/// work on different chunks at once. A step is a transaction: until `commit` nothing changes.
class PointSet {
 public:
  virtual ~PointSet() = default;

  Table& points() { return points_; }
  const Table& points() const { return points_; }

  /// Whether its points are matter: counted in totals, and judged and limiting when steps are taken. Points that only
  /// pass on the mass of others, such as those of contact, are not.
  virtual bool is_matter() const { return true; }
  /// Whether walls act on its points: it has the columns that contact needs.
  bool touches_walls() const { return points_.has<ContactExtent>(); }
  /// Adds these columns.
  void let_points_touch_walls() {
    points_.add<WallForce>();
    points_.add<WallFaces>();
    points_.add<ContactExtent>();
  }
  /// B n [m^2] of some points: B the tensor of the squared half axes of the ellipsoid that a point fills, n a unit
  /// vector for each.
  virtual void contact_extents_along(ChunkRows rows, std::span<const Vec3> n, std::span<Vec3> Bn) const;
  /// Whether that is the one at rest by the deformation of the material,
  virtual bool extent_deforms() const { return false; }
  /// and turns with the material. What does not must be a ball.
  virtual bool extent_turns() const { return false; }
  /// Whether the material flows as well, by which that does not deform.
  virtual bool extent_forgets_flow() const { return false; }
  /// Whether walls push at the end of that ellipsoid, or at the point: thin bodies feel no lever.
  virtual bool touches_at_surface() const { return false; }
  /// Forces on the points [N], one for each row; empty if there are none besides what `respond` gives.
  virtual std::span<const Vec3> forces() const { return {}; }
  /// Writes what a chunk does to the grid in its present state. Here: nothing, points have no stress.
  virtual void respond(ChunkRows rows, const ChunkForces& forces) const;
  /// Accepts the step for a chunk: moves its points, deforms them, lets the material flow. dt: size of the step [s];
  /// motion: what the points received, which stands in their Velocity and Affine already. Returns the chunk's limit in
  /// its new state. Here: points move.
  virtual StepLimit commit(ChunkRows rows, Real dt, const ChunkMotion& motion);
  /// The limit of a chunk in its present state: the same bits however the points are cut into chunks.
  virtual StepLimit limit(ChunkRows rows) const = 0;

 protected:
  Table points_;
};

/// A table that belongs to a body, and the name of its part of a checkpoint.
struct BodyPart {
  std::string name;
  Table* table;
};

/// How a body is drawn: cells over the rows of its points, ghosts among them, or over points of the picture alone.
struct Picture {
  int corners = 1;                  ///< Of each cell; 1: every owned point is a cell.
  std::vector<std::int64_t> cells;  ///< Rows or numbers of `points`, cell after cell.
  Table fields;                     ///< Shown quantities, a row for each cell.
  const Forest* forest = nullptr;   ///< Of the points, if cells name ghosts. Not owned.
  std::vector<Vec3> points = {};    ///< [m]; none if cells are over rows.
  std::vector<Vec3> rest = {};      ///< The same at rest, of bodies that move by themselves [m].
  Table point_fields = {};          ///< Id and shown quantities, a row for each of `points`.
};

/// The rank that is to have what lies at a position.
using RankOfPlace = std::function<int(const Vec3&)>;

/// A body is its first set of points, and may have more: the vertices of a mesh, then the quadrature points of its
/// elements. Points of a body with a mesh stay with their elements on one rank; only `share` moves them to another.
class Body : public PointSet {
 public:
  explicit Body(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  /// What it takes part in; the same at all times.
  virtual Roles roles() { return {}; }
  /// All sets of points; this body first.
  virtual std::vector<PointSet*> sets() { return {this}; }
  /// Its own points are what checkpoints, frames and probes are made of.
  bool is_matter() const final { return true; }
  /// Its points lie where it is drawn. Else, as control points of a shell do not, its picture has points.
  virtual bool is_drawn_by_its_points() const { return true; }
  /// All tables that make up the state.
  virtual std::vector<BodyPart> parts() { return {{name_, &points_}}; }

  /// Makes ready for walls that act on points. Before the body has any.
  virtual void let_touch_walls() {
    for (PointSet* set : sets()) set->let_points_touch_walls();
  }
  /// Cuts the mesh among ranks: each element goes to the one of its position. Rows may stand on any rank before, each
  /// once. Collective.
  virtual void share(const Comm&, const RankOfPlace&) {}
  /// Before the step, once for all points: finds the forces of elements that points hand to the grid.
  virtual void prepare() {}
  /// After the step, when all chunks are committed; returns what limits the next one besides chunks.
  virtual StepLimit finish(Real dt) {
    static_cast<void>(dt);
    return {};
  }
  /// The limit of all owned points from this row on.
  virtual StepLimit limit_from(std::size_t first_row);
  /// Stored elastic energy of this rank's part [J].
  virtual Real elastic_energy() const = 0;
  /// Quantities for frames and probes that are computed from the state of the owned rows [first, first + count), in
  /// columns of their own. Several threads ask at once.
  virtual Table observe(std::size_t first, std::size_t count) const {
    static_cast<void>(first);
    Table nothing;
    nothing.resize(count);
    return nothing;
  }
  /// Of all owned rows.
  Table observe() const { return observe(0, points().owned()); }
  virtual Picture picture() const { return {}; }

  // --- Of a mesh; nothing without one -------------------------------------------------------------------------------
  /// How many vertices the grips of a list have (MeshBody::watch), on all ranks. Collective.
  virtual std::int64_t vertices_in(const Comm&, std::size_t list) const {
    static_cast<void>(list);
    return 0;
  }
  /// Memory of this rank besides the tables [bytes].
  virtual std::size_t bytes_of_mesh() const { return 0; }

 private:
  std::string name_;
};

/// A body of free points, which come and go one by one.
class PointBody : public Body {
 public:
  using Body::Body;

  /// Gives new rows the state of undeformed material, `volume` [m^3] in each; position, velocity, affine and id are set
  /// already.
  virtual void rest(std::size_t first_row, Real volume) = 0;
};

}  // namespace weft
