#pragma once
// A shell as a Term of its own control points, and where handles and loads can take hold of it.

#include "weft/bodies/meshed.hpp"
#include "weft/bodies/shell.hpp"
#include "weft/motion/term.hpp"

namespace weft {

/// The elastic energy of a shell whose control points are block b of a motion.
class ShellTerm : public Term {
 public:
  /// The shell is not owned.
  ShellTerm(const Shell& shell, std::size_t b) : shell_(shell), block_(b) {}

  Real energy(const Motion& motion) const override;
  void add_force(const Motion& motion, Load& force) const override;
  std::unique_ptr<Linear> linearise(const Motion& motion) const override;
  void add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const override;
  void add_tangent(const Linear& linear, Tangent& tangent) const override;

  /// Where the control points are after a motion [m], one for each row.
  std::vector<Vec3> places(const Motion& motion) const;

 private:
  const Shell& shell_;
  std::size_t block_;
};

/// Of the boundary of the material.
std::vector<int> boundary_numbers(const ControlMesh& mesh);

/// The limit surface at the vertices of the material whose element is in a range, and all lines across its boundary.
Sites sites_of(const ControlMesh& mesh, const ElementRange& range);

/// The quadrature points of some faces, and those along their boundary edges. row_of_point: of each control point of
/// the mesh; rest: of the rows.
std::vector<Sample> surface_samples(const ShellDescription& shell, std::span<const std::int64_t> faces,
                                    std::span<const std::int32_t> row_of_point, std::span<const Vec3> rest);
std::vector<Sample> side_samples(const ControlMesh& mesh, std::span<const std::int64_t> of_faces,
                                 std::span<const std::int32_t> row_of_point, std::span<const Vec3> rest);

}  // namespace weft
