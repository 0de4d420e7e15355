// Sheets and fibers at rest, and the kinds of elements that exist.

#include "bodies/codimensional_kernel.hpp"

#include "weft/base/check.hpp"

#include <fmt/format.h>

#include <type_traits>

namespace weft {

int divisions_for(Real longest, Real spacing) {
  return std::max(1, static_cast<int>(std::ceil(longest / spacing * (1 - 1e-9))));
}

template <class S>
std::vector<ElementAtRest<SheetKind<S>>> sheet_at_rest(std::span<const std::array<std::int32_t, 3>> triangles,
                                                       std::span<const Vec3> rest, const Vec3& warp, Real thickness,
                                                       Real spacing) {
  std::vector<ElementAtRest<SheetKind<S>>> elements;
  elements.reserve(triangles.size());
  for (std::size_t e = 0; e < triangles.size(); ++e) {
    const auto& [i, j, k] = triangles[e];
    Mat32 edges;
    edges << rest[j] - rest[i], rest[k] - rest[i];
    const Vec3 a = edges.col(0), b = edges.col(1), cross = a.cross(b);
    const Real area = 0.5 * cross.norm(), longest = std::max({a.norm(), b.norm(), (a - b).norm()});
    require(area > 1e-10 * longest * longest, ExitCode::geometry,
            fmt::format("triangle {} of a sheet has no area: its corners lie on a line; remove it from the mesh", e));
    const Vec3 n = cross.normalized();
    const Vec3 along = warp.isZero() ? Vec3(std::abs(n.x()) < 0.99 ? Vec3::UnitX() : Vec3::UnitY()) : warp;
    const Vec3 in_plane = along - n.dot(along) * n;
    const bool is_across = in_plane.norm() <= 1e-6 * along.norm();
    require(!is_across || !std::is_same_v<S, WovenSheet>, ExitCode::geometry,
            fmt::format("the warp is a direction across triangle {} of a sheet; give it one that lies in it", e));
    Mat32 frame;
    frame.col(0) = (is_across ? a : in_plane).normalized();
    frame.col(1) = n.cross(Vec3(frame.col(0)));
    const Matrix2<Real> inverse = Matrix2<Real>(frame.transpose() * edges).inverse();
    ElementAtRest<SheetKind<S>> element;
    element.rows = triangles[e];
    element.gradients << -inverse.colwise().sum(), inverse;
    element.volume = area * thickness;
    element.divisions = divisions_for(longest, spacing);
    elements.push_back(element);
  }
  return elements;
}

std::vector<ElementAtRest<FiberKind>> fiber_at_rest(std::span<const std::array<std::int32_t, 2>> segments,
                                                    std::span<const Vec3> rest, Real section, Real spacing) {
  std::vector<ElementAtRest<FiberKind>> elements;
  for (std::size_t e = 0; e < segments.size(); ++e) {
    const Real length = (rest[segments[e][1]] - rest[segments[e][0]]).norm();
    require(length > 0, ExitCode::geometry,
            fmt::format("a segment of a fiber at [{:.4g}, {:.4g}, {:.4g}] has no length: remove the repeated point",
                        rest[segments[e][0]].x(), rest[segments[e][0]].y(), rest[segments[e][0]].z()));
    elements.push_back({segments[e], {-1 / length, 1 / length}, length * section, divisions_for(length, spacing)});
  }
  return elements;
}

template class CodimensionalElements<SheetKind<CorotatedSheet>>;
template class CodimensionalElements<SheetKind<WovenSheet>>;
template class CodimensionalElements<FiberKind>;

template std::vector<ElementAtRest<SheetKind<CorotatedSheet>>> sheet_at_rest<CorotatedSheet>(
    std::span<const std::array<std::int32_t, 3>>, std::span<const Vec3>, const Vec3&, Real, Real);
template std::vector<ElementAtRest<SheetKind<WovenSheet>>> sheet_at_rest<WovenSheet>(
    std::span<const std::array<std::int32_t, 3>>, std::span<const Vec3>, const Vec3&, Real, Real);

}  // namespace weft
