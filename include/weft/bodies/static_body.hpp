#pragma once
// Meshed bodies without grid: their control points are the unknowns of an equilibrium.

#include "weft/bodies/body.hpp"
#include "weft/bodies/membrane.hpp"
#include "weft/bodies/meshed.hpp"
#include "weft/bodies/shell.hpp"
#include "weft/motion/term.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft {

/// Displacement of the control points in the step before; the path goes on in its direction.
struct LastDisplacement : Field<Vec3> {
  static constexpr Label label{"last_displacement", "m"};
};

/// How this rank's part of a body is drawn: points that follow its control points, and cells of them.
struct Drawing {
  int corners;  ///< Of each cell.
  std::vector<Stencil> points;
  std::vector<std::int64_t> cells;
};

/// A body whose control points are divided among ranks once and for all; rows are [owned, ghost].
class StaticBody {
 public:
  virtual ~StaticBody() = default;

  virtual const std::string& name() const = 0;
  virtual const Forest& forest() const = 0;
  /// Id (number of the control point), Position, RestPosition and LastDisplacement at least.
  virtual Table& points() = 0;
  const Table& points() const { return const_cast<StaticBody*>(this)->points(); }

  /// All control points at rest, the same on every rank [m].
  virtual const std::vector<Vec3>& rest() const = 0;
  /// Row of each control point on this rank, -1: none.
  const std::vector<std::int32_t>& row_of_point() const { return row_of_point_; }
  /// Where handles can take hold, stencils over control points; the same on every rank.
  const Sites& sites() const { return sites_; }
  /// Quadrature points of the surface and of its boundary on this rank, over rows.
  const std::vector<Sample>& surface() const { return surface_; }
  const std::vector<Sample>& sides() const { return side_samples_; }
  /// Frees sites and samples, which serve to choose parts of the body alone.
  void forget_sites() { sites_ = {}, surface_ = {}, side_samples_ = {}; }
  /// The control mesh of a shell; none for other bodies.
  virtual const ControlMesh* control_mesh() const { return nullptr; }
  /// How many of what the body is made of, in words.
  virtual std::string census() const = 0;

  /// Its elastic energy, as block b of a motion. The body outlives it.
  virtual std::unique_ptr<Term> term(std::size_t b) const = 0;
  /// Whether material flows, so that forces have kinks.
  virtual bool flows() const { return false; }
  /// Whether nothing but tension is felt across it.
  virtual bool is_slack() const { return false; }
  /// The control points have moved: material flows.
  virtual void commit() {}

  /// Tables that checkpoints hold.
  virtual std::vector<BodyPart> parts() { return {{name(), &points()}}; }
  /// Fills a table with the rows of a part, any share of them on each rank.
  using ReadPart = std::function<void(const std::string& part, Table& rows)>;
  /// Throws Error(checkpoint) if the rows are not those of this body. Collective.
  virtual void take_over(const ReadPart& read) = 0;

  virtual Drawing drawing() const = 0;
  /// Quantities of the cells of the drawing.
  virtual Table cell_fields() const { return {}; }

 protected:
  std::vector<std::int32_t> row_of_point_;
  Sites sites_;
  std::vector<Sample> surface_, side_samples_;
};

/// Bodies at rest. All are collective, and so are their destructors. Throw Error(geometry) as those with a grid.
std::unique_ptr<StaticBody> make_static_shell(const Comm& comm, const ShellDescription& shell);
/// Sheets and fibers have no contact here, and so no directors; they do not tear.
std::unique_ptr<StaticBody> make_static_membrane(const Comm& comm, const MembraneDescription& membrane);
std::unique_ptr<StaticBody> make_static_fibers(const Comm& comm, const FiberDescription& fibers);

}  // namespace weft
