#pragma once
// Bodies with a mesh: vertices that move with the grid or by themselves, elements between them, and quadrature points
// of elements where contact with the grid is felt. What the elements are is for the bodies derived from this one.

#include "weft/bodies/body.hpp"
#include "weft/bodies/contact_points.hpp"
#include "weft/bodies/grip.hpp"
#include "weft/bodies/mesh_edit.hpp"
#include "weft/bodies/mesh_piece.hpp"
#include "weft/bodies/mesh_source.hpp"
#include "weft/bodies/trial.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace weft {

struct GripAnchors;
struct VertexCopy;

/// Force of the elements on a vertex that the grid moves; on ghosts the part of this rank's elements.
struct ElementForce : Field<Vec3> {
  static constexpr Label label{"element_force", "N", Keep::work};
};
/// The elastic director of a quadrature point across a surface: state.
struct Director : Field<Vec3> {
  static constexpr Label label{"director", "1"};
};
/// dE/dH of a quadrature point.
struct EnergyDerivative : Field<Mat3> {
  static constexpr Label label{"energy_derivative", "J", Keep::work};
};

// Columns of vertices that move by themselves.
struct RestPosition : Field<Vec3> {
  static constexpr Label label{"rest_position", "m"};
};
/// Of elements that turn about themselves: how fast material moves at their polar radius of gyration, where all of
/// their mass may stand.
struct TurnVelocity : Field<Real> {
  static constexpr Label label{"turn_velocity", "m/s"};
};

/// A segment of a strand, as others meet it; numbers are those in the whole body.
struct StrandSegment {
  std::int64_t number, strand;
  std::array<std::int32_t, 2> rows;  ///< Of its vertices.
  Real length;                       ///< At rest [m].
};

/// Quadrature points: they get the velocity and its gradient from the grid, but their position from the mesh.
class QuadraturePoints final : public PointSet {
 public:
  QuadraturePoints();
  void respond(ChunkRows rows, const ChunkForces& forces) const override;
  StepLimit commit(ChunkRows rows, Real dt, const ChunkMotion& motion) override;
  StepLimit limit(ChunkRows) const override { return {}; }
};

/// Its own points are the vertices: rows [owned, ghost] of this rank's piece, each with the number of its vertex as id.
/// Ghosts have no mass. Those of a body on the grid move as their owners do, so that a step needs no exchange between
/// vertices. Rows of elements, such as quadrature points, have numbers that tell the element as ids and stand in its
/// order. A body with freedoms of its own has no quadrature points; it may have contact points, which follow its
/// vertices.
///
/// A rank has nothing of other ranks' elements and vertices but ghosts. What an element is at rest travels with it.
///
/// Elements may leave a mesh (allow_edits). Their quadrature points, and vertices without elements, then are dust, a
/// third set of points. A vertex whose elements do not hang together is split into copies with ids of their own.
class MeshBody : public Body, public TrialMesh {
 public:
  std::vector<PointSet*> sets() override;
  Roles roles() override {
    return {.is_carried_by_grid = carrier_ == Carrier::grid,
            .contact_points = contact_.get(),
            .mesh = this,
            .trial_mesh = this};
  }
  std::vector<BodyPart> parts() override;
  void share(const Comm& comm, const RankOfPlace& rank_of_place) override;
  /// Cuts a body with freedoms of its own into pieces of about as many vertices, along a space-filling curve through
  /// them at rest: nothing moves them nearer to others. Collective.
  void share_evenly(const Comm& comm);

  void let_touch_walls() override;

  void prepare() override;
  std::span<const Vec3> forces() const override {
    return carrier_ == Carrier::grid ? points_.get<ElementForce>() : std::span<const Vec3>();
  }
  StepLimit finish(Real dt) override;
  StepLimit limit(ChunkRows rows) const override;
  StepLimit limit_from(std::size_t first_row) override;
  /// Of a body with freedoms of its own, but for what the grid has found of its contact points.
  StepLimit limit_by_itself();
  Real elastic_energy() const override;

  Carrier carrier() const { return carrier_; }
  const MeshCounts& counts() const { return counts_; }
  /// What all its elements resist, at a motion without slip.
  Parts parts_of_energy() const { return {.contact = carrier_ == Carrier::grid}; }
  /// Whether material flows, so that forces have kinks.
  virtual bool flows() const { return false; }
  /// Bound of the frequencies of its elements on this rank at trial positions [rad/s].
  virtual Real frequency_at(std::span<const Vec3> x) const {
    static_cast<void>(x);
    return 0;
  }
  /// A bound of its frequencies [rad/s] where what holds it adds this much to the square of undamped ones [1/s^2].
  virtual Real stiffened(Real frequency, Real square) const { return std::hypot(frequency, std::sqrt(square)); }
  /// How fast the fastest element with a direction of its own turns [rad/s], and how far the one that has turned most
  /// since its state was committed, with the vertices at x [rad]. On this rank.
  virtual Real fastest_turn(std::span<const Vec3> v) const {
    static_cast<void>(v);
    return 0;
  }
  virtual Real largest_turn(std::span<const Vec3> x) const {
    static_cast<void>(x);
    return 0;
  }
  /// A lower bound of the damping ratio of its fastest mode about trial positions, on this rank [1].
  virtual Real damping_ratio_at(std::span<const Vec3> x) const {
    static_cast<void>(x);
    return 0;
  }
  /// Whether the surface at a contact point, or at a vertex of what the grid carries, faces this way (unit), more or
  /// less. What comes from behind touches the surface elsewhere.
  virtual bool faces(std::size_t row, const Vec3& way) const {
    static_cast<void>(row), static_cast<void>(way);
    return true;
  }
  /// Whether nothing but tension is felt across it where nothing touches it.
  virtual bool is_slack() const { return false; }
  /// The numbers of the elements at rest on this rank, ascending.
  virtual std::vector<std::int64_t> elements() const = 0;
  /// The vertices that these need.
  const MeshPiece& piece() const { return piece_; }
  const Forest& forest() const { return forest_; }
  /// The rows of its elements if these turn about themselves, with Mass and TurnVelocity; null if their vertices say
  /// all. Such elements are in units that are whole, so none is a ghost.
  virtual Table* turning() { return nullptr; }
  /// Whether such elements turn without inertia, and so are where the energy is least, vertices as they are.
  virtual bool has_balanced_turns() const { return false; }
  /// Finds such turns of vertices at x, with what clamps add; the guess and what is found (TrialShape) [m].
  virtual void balance_turns(std::span<const Vec3> x, std::span<const TurnLink> clamps, std::span<Real> turns) const {
    static_cast<void>(x), static_cast<void>(clamps), static_cast<void>(turns);
  }
  /// Whether elements oppose changes of shape in time, as forces of the part `viscous`.
  virtual bool is_viscous() const { return false; }
  /// A substep of its own freedoms is to take h [s] from a shape; before that part is asked for.
  virtual void begin_substep(Real h, const TrialShape& start) { static_cast<void>(h), static_cast<void>(start); }
  /// Rate at which its elements lose the motion within them, in explicit substeps of its own freedoms [1/s].
  virtual Real damping() const { return 0; }
  /// Adds all of that motion of vertices at x with velocities v, of the elements of this rank, with the sign that takes
  /// it away [kg m/s].
  virtual void add_loss_within(std::span<const Vec3> x, std::span<const Vec3> v, std::span<Vec3> momentum) const {
    static_cast<void>(x), static_cast<void>(v), static_cast<void>(momentum);
  }
  const Forest& forest_of_turns() const { return forest_of_turns_; }
  /// The segments of strands on this rank, by number; strands are whole, so none of their vertices is a ghost.
  virtual std::vector<StrandSegment> strand_segments() const { return {}; }
  virtual Vec3 angular_momentum_of_turns() const { return Vec3::Zero(); }
  /// What clamps ends of its segments, by grips, to a rigid motion; only a body whose sites have ends can be asked.
  /// Vertices and turns are blocks of the freedoms.
  virtual std::unique_ptr<Clamp> clamp(const Freedoms& freedoms, std::size_t vertices, std::size_t turns,
                                       std::span<const Grip> ends, const RigidMotion& motion, Real until) const;
  /// Another number whenever rows have come or gone on this rank.
  std::uint64_t cut() const { return cut_; }
  Table& samples() { return samples_.points(); }
  const Table& samples() const { return samples_.points(); }
  const Table& dust() const { return dust_.points(); }
  /// Share of the mass of its vertex at rest that a row of vertices has.
  Real share_of_vertex(std::int32_t row) const;

  /// Puts the mesh at rest on the ranks, moving as `velocity_gradient` about its centre of mass [1/s] and with
  /// `velocity` [m/s]; any share of it on each rank. rest: of the vertices of these elements [m]. Collective.
  void fill(const Comm& comm, const VertexValues& rest, const Vec3& velocity, const Mat3& velocity_gradient);
  /// Keeps track of grips on this rank's elements; returns the number of the list for `grips`. Collective.
  std::size_t watch(const Comm& comm, std::vector<Grip> grips);
  /// The grips of a list on this rank, in order.
  const std::vector<Grip>& grips(std::size_t list) const { return grips_[list]; }
  std::int64_t vertices_in(const Comm& comm, std::size_t list) const override;

  /// Whether elements of this rank are to leave the mesh since the last step.
  bool wants_edit() const { return !leaving_elements().empty(); }
  /// Removes the elements that want to leave and splits the vertices whose elements then do not hang together. Mass and
  /// momentum stay. A grip on a vertex becomes one on each copy; one on an element that leaves is dropped. Collective.
  Edited edit(const Comm& comm);
  /// Vertices have ids below this one.
  std::int64_t next_vertex() const { return next_vertex_; }
  std::int64_t removed_elements() const { return removed_elements_; }
  /// The tables have the rows of a mesh that was edited, on any rank: gives the elements at rest, still those of the
  /// first share of each rank, their present vertices. `share` is next. Throws Error(checkpoint). Collective.
  void restore(const Comm& comm, std::int64_t next_vertex, std::int64_t removed_elements);

  /// Values at the quadrature points, of values at vertices, ghosts among them.
  virtual void sample(std::span<const Vec3> of_vertices, std::span<Vec3> of_samples) const = 0;
  /// Weight of the quadrature points that are part of the mesh, zero of others [N]; adds it to the forces f of the
  /// vertices that carry them.
  void weigh_samples(const Vec3& gravity, std::span<Vec3> f, std::span<Vec3> of_samples) const;
  /// Adds the weight of the elements of a body without quadrature points to the forces f on its vertices [N].
  virtual void weigh_elements(const Vec3& gravity, std::span<Vec3> f) const = 0;
  /// Elements and contact points of a body with freedoms of its own follow the vertices, which have moved, and turn:
  /// material flows.
  void follow_vertices(std::span<const Real> turns = {});
  /// Null without any.
  PointSet* contact_points() { return contact_.get(); }
  const PointSet* contact_points() const { return contact_.get(); }
  /// The vertices that each contact point is made of, by row; empty where each is the vertex of the same row.
  virtual std::span<const ContactStencil> contact_stencils() const { return {}; }
  virtual bool contact_points_are_vertices() const { return false; }
  /// Of either.
  ContactStencil contact_stencil(std::uint32_t row) const;
  /// Contact points have their own masses times a factor.
  void scale_contact_points(Real factor);
  /// Contact points have the tentative velocities of vertices with velocities v [m/s].
  void predict_contact_points(std::span<const Vec3> v);
  /// Adds a force on a contact point, or forces on all, to those on vertices [N].
  void add_contact_force(std::size_t row, const Vec3& force, std::span<Vec3> f) const;
  void add_contact_forces(std::span<const Vec3> of_points, std::span<Vec3> f) const;

  std::size_t bytes_of_mesh() const override;

 protected:
  MeshBody(std::string name, Carrier carrier, const MeshCounts& counts);
  /// Others than those of a surface; for the constructor of a body.
  void meet_by(std::unique_ptr<PointSet> contact) { contact_ = std::move(contact); }
  /// Elements may leave. uses: of each element in `vertex_uses`.
  void allow_edits(int uses);

  /// A table with rows for elements; its state moves with them. Rows of element e have ids [each * e, each * (e + 1)),
  /// not all of which need exist.
  struct ElementRows {
    Table* table;
    std::int64_t each;
    std::string part;  ///< Follows the body's name in checkpoints.
  };
  virtual std::vector<ElementRows> element_rows();

  // What elements are at rest, and whom it goes to.
  /// The vertices that they need, ascending.
  virtual std::vector<std::int32_t> needed_vertices() const = 0;
  /// One vertex of each of these elements.
  virtual std::vector<std::int64_t> first_vertices() const = 0;
  /// The first element of the unit that an element belongs to: all of a unit go to the rank of its first.
  virtual std::int64_t unit_of(std::int64_t element) const { return element; }
  /// Sends each to a rank. Collective.
  virtual void send_elements(const Comm& comm, std::span<const int> to) = 0;
  virtual std::size_t bytes_of_elements() const = 0;
  /// How many quadrature points, or rows of another table of elements, each element has.
  virtual std::vector<std::int64_t> rows_of_elements(const Table& table) const = 0;
  /// Adds the mass of the elements to that of vertices and quadrature points [kg].
  virtual void add_mass(std::span<Real> of_vertices, std::span<Real> of_samples) const = 0;

  /// The elements of the piece at rest: state of the rows of elements, which are new.
  virtual void rest_elements() = 0;
  /// Elements that turn about themselves begin to do so as a rigid body would [rad/s].
  virtual void spin_elements(const Vec3& angular_velocity) { static_cast<void>(angular_velocity); }
  /// This rank got another piece, its tables filled: makes elements for it.
  virtual void take_piece() = 0;
  /// Elements follow the vertices, which have moved for dt [s]; C: velocity gradient at the quadrature points.
  virtual void commit_elements(Real dt, std::span<const Mat3> C) = 0;
  /// Elements have turned about themselves (TrialShape) [m]; vertices have moved.
  virtual void turn_elements(std::span<const Real> turns) { static_cast<void>(turns); }
  virtual StepLimit limit_of_elements() = 0;
  /// Adds a force at a quadrature point [N] to those of the vertices that carry it.
  virtual void add_force_at_sample(std::size_t row, const Vec3& force, std::span<Vec3> f) const = 0;

  // Of a body with contact points.
  /// Where its points are [m], with their areas [m^2], normals, positions at rest and the thickness behind them [m];
  /// these are empty without a surface.
  struct ContactPlaces {
    std::span<Vec3> x, areas, normals, at_rest;
    std::span<Real> thickness;
  };
  /// Of vertices at their positions.
  virtual void place_contact_points(const ContactPlaces& places) const { static_cast<void>(places); }
  virtual void weigh_contact_points(std::span<Real> mass) const { static_cast<void>(mass); }

  // Where its surface is.
  /// Half the thickness at a quadrature point [m].
  virtual Real half_thickness(std::size_t sample) const = 0;
  /// The same at vertices; none if they do not lie on the body.
  virtual std::optional<Real> half_thickness_at_vertices() const = 0;

  // Edits of the elements at rest on this rank.
  /// The numbers of those that want to leave, ascending.
  virtual std::span<const std::int64_t> leaving_elements() const { return {}; }
  /// Some leave; numbers ascending.
  virtual void remove_elements(std::span<const std::int64_t> numbers) { static_cast<void>(numbers); }
  /// The vertices that they name, element after element: its corners, then what its bending looks at; as many for each.
  virtual std::vector<VertexUse> vertex_uses() const { return {}; }
  /// They have other ids now; -1: a neighbour has left.
  virtual void rename_vertices(std::span<const std::int32_t> ids) { static_cast<void>(ids); }

  /// The row of a vertex that this rank has.
  std::int32_t row_of(std::int32_t vertex) const;

 private:
  void require_rows_of_mesh(const Comm& comm);
  void require_possible_rows(const Comm& comm) const;
  void require_whole(const Comm& comm, bool fits) const;
  void write_uses();
  std::vector<std::int32_t> read_uses();
  std::vector<std::uint8_t> touched_vertices(std::span<const std::int64_t> leaving);
  void remove_rows(std::span<const std::int64_t> leaving);
  void split_rows(std::span<const VertexCopy> copies, Edited& edited);
  void anchor_grips(const Comm& comm, const GripAnchors& anchors, Edited& edited);
  void regroup(const Comm& comm);
  Directory homes_of_units(const Comm& comm, const RankOfPlace& rank_of_place) const;
  Directory homes_of_elements(const Comm& comm, const RankOfPlace& rank_of_place) const;
  void make_rows_of_elements();
  void set_in_motion(const Comm& comm, const Vec3& velocity, const Mat3& velocity_gradient);
  void set_contact_extents();
  void place_contact();
  void carry_contact_points(std::span<const Vec3> v, std::span<Vec3> of_points) const;
  void adopt(const Comm& comm);

  Carrier carrier_;
  MeshCounts counts_;  ///< At rest.
  std::vector<std::vector<Grip>> grips_;
  MeshPiece piece_;
  Forest forest_, forest_of_turns_;
  std::uint64_t cut_ = 0;
  QuadraturePoints samples_;
  std::unique_ptr<PointSet> contact_;  ///< Null without any.

  // Of a mesh that may be edited.
  bool may_be_edited_ = false;
  std::int64_t next_vertex_;
  std::int64_t removed_elements_ = 0;
  Table uses_;  ///< The vertices that each element names, in the order of `vertex_uses`.
  Dust dust_;
};

}  // namespace weft
