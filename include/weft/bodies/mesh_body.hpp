#pragma once
// Bodies with a mesh on the grid: vertices that move with it, elements between them, and quadrature points of elements
// where contact is felt. What the elements are is for the bodies derived from this one.

#include "weft/bodies/body.hpp"
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

/// A mesh at rest, the same on every rank.
struct RestMesh {
  std::vector<Vec3> x;                      ///< Places of the vertices [m].
  std::vector<std::int64_t> offsets = {0};  ///< Element e needs vertices [offsets[e], offsets[e + 1]).
  std::vector<std::int32_t> vertices;       ///< Every vertex is needed by an element.
  std::vector<std::int64_t> first_sample{
      0};  ///< Element e has quadrature points [first[e], first[e + 1]), one at least.
  std::vector<Real> vertex_mass, sample_mass;  ///< [kg].

  std::int64_t elements() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  std::span<const std::int32_t> vertices_of(std::int64_t e) const {
    return {vertices.data() + offsets[e], static_cast<std::size_t>(offsets[e + 1] - offsets[e])};
  }
  /// The element of a row that belongs to one; first: as first_sample.
  static std::int64_t element_of(std::span<const std::int64_t> first, PointId row);
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
/// Rows of quadrature points have their number in the whole mesh as id and stand in the order of elements.
class MeshBody : public Body {
 public:
  std::vector<PointSet*> sets() override { return {this, &samples_}; }
  bool has_mesh() const override { return true; }
  std::vector<BodyPart> parts() override;
  void rest(std::size_t) override { WEFT_ENSURE(false); }
  void share(const Comm& comm, const RankOfPlace& rank_of_place) override;

  void prepare() override;
  std::span<const Vec3> forces() const override { return points_.get<ElementForce>(); }
  void respond(ChunkRows rows, const ChunkForces& forces) const override;
  StepLimit commit(ChunkRows rows, Real dt, const ChunkMotion& motion) override;
  StepLimit finish(Real dt) override;
  StepLimit limit(ChunkRows rows) const override;
  StepLimit limit_from(std::size_t first_row) override;

  const RestMesh& mesh() const { return mesh_; }
  const MeshPiece& piece() const { return piece_; }
  const Forest& forest() const { return forest_; }
  Table& samples() { return samples_.points(); }
  const Table& samples() const { return samples_.points(); }

  /// Where handles can take hold at rest, stencils and rows over vertices; the same on every rank.
  virtual Sites sites() const = 0;
  /// Quadrature points of the surface and of its boundary; the mass of fibers is here too, without area.
  virtual std::vector<Sample> surface_samples() const = 0;
  virtual std::vector<Sample> side_samples() const { return {}; }
  /// The control mesh of a shell; none for other bodies.
  virtual const ControlMesh* control_mesh() const { return nullptr; }

  /// A set of vertices that this rank keeps track of.
  struct Watched {
    std::size_t number;              ///< In the list that was given.
    std::vector<std::int32_t> rows;  ///< Of its vertices, in their order.
  };
  /// Keeps track of sets of vertices; returns the number of the list for `watched`. Before `fill`.
  std::size_t watch(std::vector<std::vector<std::int32_t>> sets);
  /// Those on this rank, in their order, each on one that has all its vertices.
  const std::vector<Watched>& watched(std::size_t list) const { return watched_[list].here; }

  /// How many vertices the sets of a list have, on all ranks.
  std::size_t vertices_in(std::size_t list) const;

  /// Puts the mesh at rest on the ranks, moving as `velocity_gradient` about its centre of mass [1/s] and with
  /// `velocity` [m/s]; any share of it on each rank. Collective.
  void fill(const Comm& comm, const Vec3& velocity, const Mat3& velocity_gradient);

 protected:
  MeshBody(std::string name, RestMesh mesh);

  /// A table with rows for elements, ids as those of quadrature points; its state moves with the elements.
  struct ElementRows {
    Table* table;
    std::span<const std::int64_t> first;
    std::string part;  ///< Follows the body's name in checkpoints.
  };
  virtual std::vector<ElementRows> element_rows() { return {{&samples_.points(), mesh_.first_sample, "_contact"}}; }

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
  /// Whether it has left the mesh and moves as the grid does around it.
  virtual bool is_loose(std::size_t row) const {
    static_cast<void>(row);
    return false;
  }

  /// Rows of the vertices in this rank's piece by number; -1: none.
  std::vector<std::int32_t> row_of_vertex() const { return rows_of(piece_, mesh_.x.size()); }

 private:
  void adopt(const Comm& comm, std::span<const MeshPiece> pieces);
  void place_samples(Real dt);

  struct WatchedList {
    std::vector<std::vector<std::int32_t>> all;
    std::vector<Watched> here;
  };

  RestMesh mesh_;
  std::vector<WatchedList> watched_;
  MeshPiece piece_;
  Forest forest_;
  QuadraturePoints samples_;
};

}  // namespace weft
