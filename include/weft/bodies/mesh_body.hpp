#pragma once
// Bodies with a mesh on the grid: vertices that move with it, elements between them, and quadrature points of elements
// where contact is felt. What the elements are is for the bodies derived from this one.

#include "weft/bodies/body.hpp"
#include "weft/bodies/grip.hpp"
#include "weft/bodies/mesh_piece.hpp"
#include "weft/bodies/meshed.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

struct ControlMesh;

/// Force of the elements on a vertex; on ghosts the part of this rank's elements.
struct ElementForce : Field<Vec3> {
  static constexpr Label label{"element_force", "N", Keep::work};
};
/// dE/dH of a quadrature point.
struct EnergyDerivative : Field<Mat3> {
  static constexpr Label label{"energy_derivative", "J", Keep::work};
};

/// How much there is of a mesh, on all ranks.
struct MeshCounts {
  std::int64_t vertices, elements;
  std::int64_t samples;  ///< Quadrature points of an element, at most; one at least.
};

/// Quadrature points: they get the velocity and its gradient from the grid, but their place from the mesh.
class QuadraturePoints final : public PointSet {
 public:
  QuadraturePoints();
  void respond(ChunkRows rows, const ChunkForces& forces) const override;
  StepLimit commit(ChunkRows rows, Real dt, const ChunkMotion& motion) override;
  StepLimit limit(ChunkRows) const override { return {}; }
};

/// Its own points are the vertices: rows [owned, ghost] of this rank's piece, each with the number of its vertex as id.
/// Ghosts have no mass, and move with the grid as their owners do, so that a step needs no exchange between vertices.
/// Rows of elements, such as quadrature points, have numbers that tell the element as ids and stand in its order.
///
/// While a scene is built every rank has the whole mesh; from `fill` or `share` on it has nothing of other ranks'
/// elements and vertices but ghosts. What an element is at rest travels with it.
class MeshBody : public Body {
 public:
  std::vector<PointSet*> sets() override { return {this, &samples_}; }
  std::vector<BodyPart> parts() override;
  void rest(std::size_t, Real) override { WEFT_ENSURE(false); }
  void share(const Comm& comm, const RankOfPlace& rank_of_place) override;

  void prepare() override;
  std::span<const Vec3> forces() const override { return points_.get<ElementForce>(); }
  void respond(ChunkRows rows, const ChunkForces& forces) const override;
  StepLimit commit(ChunkRows rows, Real dt, const ChunkMotion& motion) override;
  StepLimit finish(Real dt) override;
  StepLimit limit(ChunkRows rows) const override;
  StepLimit limit_from(std::size_t first_row) override;

  const MeshCounts& counts() const { return counts_; }
  const MeshPiece& piece() const { return piece_; }
  const Forest& forest() const { return forest_; }
  Table& samples() { return samples_.points(); }
  const Table& samples() const { return samples_.points(); }

  // --- Of the whole mesh, until it is dealt out ---------------------------------------------------------------------

  /// The vertices at rest [m].
  virtual std::span<const Vec3> rest_places() const = 0;
  /// Where handles can take hold at rest, stencils over vertices: at vertices whose element is in a range, and all
  /// sides.
  virtual Sites sites(const ElementRange& elements) const = 0;
  /// Quadrature points of the surface of some elements and of its boundary, rows over vertices; the mass of fibers is
  /// here too, without area.
  virtual std::vector<Sample> surface_samples(const ElementRange& elements) const = 0;
  virtual std::vector<Sample> side_samples(const ElementRange&) const { return {}; }
  /// The control mesh of a shell; none for other bodies.
  virtual const ControlMesh* control_mesh() const { return nullptr; }
  std::string sites_in_words(const Comm& comm) const override { return in_words(comm, sites(first_share(comm))); }
  /// The elements that a rank gets when the mesh is dealt out.
  ElementRange first_share(const Comm& comm) const;
  /// Keeps track of grips on the first share of each rank; returns the number of the list for `grips`. Collective.
  std::size_t watch(const Comm& comm, std::vector<Grip> grips);
  /// Puts the mesh at rest on the ranks, moving as `velocity_gradient` about its centre of mass [1/s] and with
  /// `velocity` [m/s]; any share of it on each rank. Collective.
  void fill(const Comm& comm, const Vec3& velocity, const Mat3& velocity_gradient);

  // --- Afterwards ---------------------------------------------------------------------------------------------------

  /// Weight of the quadrature points that are part of the mesh, zero of others [N]; adds it to the forces f of the
  /// vertices that carry them.
  void weigh_samples(const Vec3& gravity, std::span<Vec3> f, std::span<Vec3> of_samples) const;

  /// The grips of a list on this rank, in order.
  const std::vector<Grip>& grips(std::size_t list) const { return grips_[list]; }
  /// Memory of the mesh on this rank besides its tables [bytes]: elements at rest, what is computed from them, grips,
  /// and the whole while it is there.
  std::size_t bytes_of_mesh() const override;
  std::int64_t vertices_in(const Comm& comm, std::size_t list) const override;

 protected:
  MeshBody(std::string name, const MeshCounts& counts);

  /// A table with rows for elements; its state moves with them. Rows of element e have ids [each * e, each * (e + 1)),
  /// not all of which need exist.
  struct ElementRows {
    Table* table;
    std::int64_t each;
    std::string part;  ///< Follows the body's name in checkpoints.
  };
  virtual std::vector<ElementRows> element_rows() { return {{&samples_.points(), counts_.samples, "_contact"}}; }

  // What elements are at rest, and whom it goes to.
  /// Takes these elements out of the whole mesh.
  virtual void take_share(const ElementRange& elements) = 0;
  virtual void forget_whole() = 0;
  /// The numbers of the elements at rest on this rank, ascending.
  virtual std::vector<std::int64_t> elements() const = 0;
  /// The vertices that they need, ascending.
  virtual std::vector<std::int32_t> needed_vertices() const = 0;
  /// Sends each to a rank. Collective.
  virtual void send_elements(const Comm& comm, std::span<const int> to) = 0;
  virtual std::size_t bytes_of_elements() const = 0;
  /// How many rows of a table each element has.
  virtual std::vector<std::int64_t> rows_of_elements(const Table& table) const = 0;
  /// Adds the mass of the elements to that of vertices and quadrature points [kg].
  virtual void add_mass(std::span<Real> of_vertices, std::span<Real> of_samples) const = 0;

  /// The elements of the piece at rest: state of the rows of elements, which are new.
  virtual void rest_elements() = 0;
  /// This rank got another piece, its tables filled: makes elements for it.
  virtual void take_piece() = 0;
  /// Writes the force on every vertex and dE/dH of every quadrature point at the present places.
  virtual void respond_elements(std::span<Vec3> f, std::span<Mat3> A) = 0;
  /// Elements follow the vertices, which have moved; H: gradient of the displacement at the quadrature points.
  virtual void commit_elements(std::span<const Mat3> H) = 0;
  virtual StepLimit limit_of_elements() = 0;
  /// Where a quadrature point is [m].
  virtual Vec3 place_of_sample(std::size_t row) const = 0;
  /// Adds a force at a quadrature point [N] to those of the vertices that carry it.
  virtual void add_force_at_sample(std::size_t row, const Vec3& force, std::span<Vec3> f) const = 0;
  /// Whether it has left the mesh and moves as the grid does around it.
  virtual bool is_loose(std::size_t row) const {
    static_cast<void>(row);
    return false;
  }

  /// The row of a vertex that this rank has.
  std::int32_t row_of(std::int32_t vertex) const;

 private:
  void require_rows_of_mesh(const Comm& comm) const;
  void adopt(const Comm& comm);
  void place_samples(Real dt);

  MeshCounts counts_;
  bool is_dealt_ = false;
  std::vector<std::vector<Grip>> grips_;
  MeshPiece piece_;
  Forest forest_;
  QuadraturePoints samples_;
};

}  // namespace weft
