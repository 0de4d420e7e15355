#include "rounded_edges.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace weft {
namespace {

/// A corner of a plate has three planes, and the far side.
constexpr int most_planes = 4;
/// Planes of curved faces are looked for again.
constexpr int most_looks = 8;
/// Where a point lacks less than this part of R to its depth it is there.
constexpr Real precision = 1e-3;
/// Cosines of normals that are the same, and that are opposite.
constexpr Real same = 1 - 1e-6, opposite = -0.9;
/// Determinant of the scalar products of normals that are not independent.
constexpr Real singular = 1e-9;

/// Planes that bound the solid near a point, few.
struct Planes {
  std::array<Surface, most_planes> of;  ///< Distance of the point, and normal.
  int count = 0;

  /// Takes the place of one that faces the same way; no more than there is room for.
  void add(const Surface& plane) {
    for (int k = 0; k < count; ++k)
      if (of[k].normal.dot(plane.normal) > same) {
        if (plane.distance > of[k].distance) of[k] = plane;
        return;
      }
    if (count < most_planes) of[count++] = plane;
  }
};

/// The largest R with which the edge between two faces recedes by no more than `deepest`, R (1 / sin(a / 2) - 1) for
/// the angle a in the solid. The faces of a plate have no edge: half its thickness, and a little less for round-off.
Real largest_radius(const Surface& a, const Surface& b, Real deepest) {
  const Real cosine = a.normal.dot(b.normal);
  const Real sine = std::sqrt(std::max(Real(0), (1 + cosine) / 2));  // of half the angle in the solid
  const Real wedge = sine < 1 ? deepest * sine / (1 - sine) : std::numeric_limits<Real>::infinity();
  if (cosine > opposite) return wedge;
  return std::max(wedge, Real(0.49) * -(a.distance + b.distance));
}

/// The shortest d with n_k . d >= distance_k + R for all planes: of the sets of planes that may hold it, the one with
/// multipliers >= 0 and without a plane that is not met. Zero if there is none.
Vec3 shortest_way(const Planes& planes, Real R) {
  for (unsigned held = 1; held < 1u << planes.count; ++held) {
    const int number = std::popcount(held);
    if (number > 3) continue;
    Mat3 N = Mat3::Zero(), gram = Mat3::Identity();
    Vec3 b = Vec3::Zero();
    for (int k = 0, column = 0; k < planes.count; ++k)
      if (held >> k & 1u) {
        N.col(column) = planes.of[k].normal;
        b[column++] = planes.of[k].distance + R;
      }
    gram.topLeftCorner(number, number) = (N.transpose() * N).topLeftCorner(number, number);
    if (!(gram.determinant() > singular)) continue;
    const Vec3 multipliers = gram.inverse() * b, d = N * multipliers;
    if ((multipliers.array() < 0).any()) continue;
    const auto is_met = [&](const Surface& plane) {
      return plane.normal.dot(d) >= plane.distance + R - precision * precision * R;
    };
    if (std::all_of(planes.of.begin(), planes.of.begin() + planes.count, is_met)) return d;
  }
  return Vec3::Zero();
}

}  // namespace

Surface rounded(const Vec3& x, const Surface& face, const RoundedEdges& edges) {
  Real R = edges.radius;
  if (!(face.distance > -R)) return face;
  Planes planes;
  planes.add(face);
  Vec3 way = (face.distance + R) * face.normal;
  for (int look = 0; look < most_looks; ++look) {
    const Faces over = edges.faces_over(x - way, (1 - precision) * R);
    if (over.count == 0) {
      if (look == 0) return face;
      break;
    }
    for (const Surface& seen : over) {
      const Surface plane{seen.distance + seen.normal.dot(way), seen.normal};
      for (int k = 0; k < planes.count; ++k) R = std::min(R, largest_radius(planes.of[k], plane, edges.deepest));
      planes.add(plane);
    }
    way = shortest_way(planes, R);
    if (!(way.squaredNorm() > 0)) return face;
  }
  const Real length = way.norm();
  return {length - R, way / length};
}

}  // namespace weft
