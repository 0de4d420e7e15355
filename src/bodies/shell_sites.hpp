#pragma once
// Where handles and loads can take hold of a shell.

#include "weft/bodies/meshed.hpp"
#include "weft/bodies/shell.hpp"

namespace weft {

/// Of the boundary of the material.
std::vector<int> boundary_numbers(const ControlMesh& mesh);

/// The limit surface at the vertices of the material whose element is in a range, and all lines across its boundary.
Sites sites_of(const ControlMesh& mesh, const ElementRange& range);

/// The point of the limit surface of some faces that is nearest to x [m]; none has element -1.
Site nearest_site(const ControlMesh& mesh, std::span<const std::int64_t> faces, const Vec3& x);

/// The quadrature points of some faces, and those along their boundary edges. row_of_point: of each control point of
/// the mesh; rest: of the rows.
std::vector<Sample> surface_samples(const ShellDescription& shell, std::span<const std::int64_t> faces,
                                    std::span<const std::int32_t> row_of_point, std::span<const Vec3> rest);
std::vector<Sample> side_samples(const ControlMesh& mesh, std::span<const std::int64_t> of_faces,
                                 std::span<const std::int32_t> row_of_point, std::span<const Vec3> rest);

}  // namespace weft
