#include "weft/geometry/polyhedron.hpp"

#include <Eigen/LU>

namespace weft {

Moments moments_of(std::span<const Vec3> points, std::span<const std::array<std::int32_t, 3>> triangles) {
  if (triangles.empty()) return {0, Vec3::Zero(), Mat3::Zero()};
  const Vec3& origin = points[static_cast<std::size_t>(triangles.front()[0])];  // near, for the digits' sake
  Real volume = 0;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
  for (const auto& triangle : triangles) {
    Mat3 edges;
    for (int k = 0; k < 3; ++k)
      edges.col(k) = points[static_cast<std::size_t>(triangle[static_cast<std::size_t>(k)])] - origin;
    const Real V = edges.determinant() / 6;
    const Vec3 s = edges.rowwise().sum();
    volume += V;
    first += V / 4 * s;
    second += V / 20 * (edges * edges.transpose() + s * s.transpose());
  }
  const Vec3 centre = volume > 0 ? Vec3(first / volume) : Vec3(Vec3::Zero());
  return {volume, origin + centre, second - volume * centre * centre.transpose()};
}

}  // namespace weft
