// The point of the limit surface of a shell that is nearest to a position.

#include "bodies/shell_fields.hpp"
#include "bodies/shell_kernel.hpp"
#include "bodies/shell_sites.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace weft {
namespace {

constexpr int samples_per_edge = 4;          // of a face that may be nearest
constexpr std::size_t faces_at_once = 1000;  // whose weights are found together
constexpr int most_iterations = 50;
constexpr Real round_off = 1 + 1e-14;  // of distances, whose differences say less than steps
constexpr Real small_step = 1e-12;     // of a face

/// A face and how near it may be [m].
struct NearFace {
  std::int64_t face;
  Real sampled;  ///< The distance of its nearest sample,
  Real least;    ///< and that less the distance of neighbouring samples.
  Vec2 at;       ///< Of this sample.
};

/// Of the faces of a basis at the points that are drawn.
NearFace near_face(const LimitBasis& basis, std::int64_t e, const DrawnFace& drawn, std::span<const Vec3> rest,
                   const Vec3& x) {
  std::vector<Vec3> places;
  for (int s = 0; s < basis.samples; ++s) places.push_back(place_at(basis, e, s, rest));
  Real longest = 0;
  for (const auto& [a, b, c] : drawn.cells)
    longest = std::max({longest, (places[a] - places[b]).norm(), (places[b] - places[c]).norm()});
  const auto nearest = std::ranges::min_element(places, {}, [&](const Vec3& place) { return (place - x).norm(); });
  const Real sampled = (*nearest - x).norm();
  return {-1, sampled, sampled - longest, drawn.points[static_cast<std::size_t>(nearest - places.begin())]};
}

/// The coordinates of a face that are nearest to these.
Vec2 inside(int sides, Vec2 t) {
  t = t.cwiseMax(0);
  if (sides == 4) return t.cwiseMin(1);
  return t.sum() > 1 ? Vec2((t - Vec2::Constant((t.sum() - 1) / 2)).cwiseMax(0).cwiseMin(1)) : t;
}

/// The way to the nearest point of a face, or of the line along d.
struct Way {
  Vec2 d;                 ///< Zero for all of the face.
  Vec2 tried;             ///< Where the distance is to be looked at next.
  Vec2 t = Vec2::Zero();  ///< The nearest point so far,
  Real distance = std::numeric_limits<Real>::infinity();
  Vec2 step = Vec2::Zero();  ///< and the step from there.
};

/// Newton's step for the least |x - x(t)|^2 / 2: its second derivative is a_i . a_j - (x - x(t)) . a_ij, and where that
/// is not positive, without the last part. jet: of the surface at t; gap: x - x(t).
Vec2 step_to(const SurfaceJet<Real>& jet, const Vec3& gap, const Vec2& d) {
  const Eigen::Matrix<Real, 3, 2> a = jet.leftCols<2>();
  const Vec2 slope = a.transpose() * gap;
  const Mat2 metric = a.transpose() * a;
  Mat2 bend;
  bend << gap.dot(jet.col(2)), gap.dot(jet.col(3)), gap.dot(jet.col(3)), gap.dot(jet.col(4));
  Mat2 second = metric - bend;
  if (!d.isZero(0)) {
    const Real along = d.dot(second * d);
    return d * (d.dot(slope) / (along > 0 ? along : d.dot(metric * d)));
  }
  if (!(second.determinant() > 0 && second.trace() > 0)) second = metric;
  return second.inverse() * slope;
}

/// Newton's method within a face and along each of its edges, all at once; steps that lead further away are halved.
Site nearest_of_face(const ControlMesh& mesh, const NearFace& near, const Vec3& x) {
  const std::vector<Vec2> corners = corner_places(mesh.sides());
  std::vector<Way> ways{{Vec2::Zero(), near.at}};
  for (std::size_t c = 0; c < corners.size(); ++c) {
    const Vec2 d = corners[(c + 1) % corners.size()] - corners[c];
    ways.push_back({d, corners[c] + std::clamp((near.at - corners[c]).dot(d) / d.squaredNorm(), 0.0, 1.0) * d});
  }
  Site nearest;
  nearest.element = near.face;
  Real least = std::numeric_limits<Real>::infinity(), longest = 1;
  for (int k = 0; k < most_iterations && longest > small_step; ++k) {
    std::vector<Vec2> at;
    for (const Way& way : ways) at.push_back(way.tried);
    const LimitBasis basis = limit_basis(mesh, std::span(&near.face, 1), at);
    longest = 0;
    for (std::size_t w = 0; w < ways.size(); ++w) {
      const int s = static_cast<int>(w);
      const Vec3 place = place_at(basis, 0, s, mesh.points), gap = x - place;
      if (gap.norm() <= round_off * least) {
        least = gap.norm();
        nearest.where = place;
        nearest.place = {{basis.points_of(0).begin(), basis.points_of(0).end()}, {}};
        for (const BasisWeights& weight : basis.row(0, s)) nearest.place.weights.push_back(weight.value);
      }
      Way& way = ways[w];
      if (gap.norm() <= round_off * way.distance) {
        way.t = way.tried;
        way.distance = gap.norm();
        way.step = step_to(jet_at(basis, 0, s, mesh.points), gap, way.d);
      } else {
        way.step /= 2;
      }
      way.tried = inside(mesh.sides(), way.t + way.step);
      longest = std::max(longest, (way.tried - way.t).norm());
    }
  }
  return nearest;
}

}  // namespace

Site nearest_site(const ControlMesh& mesh, std::span<const std::int64_t> faces, const Vec3& x) {
  const DrawnFace drawn(mesh.sides(), samples_per_edge);
  std::vector<NearFace> candidates;
  Real bound = std::numeric_limits<Real>::infinity();
  for (std::size_t first = 0; first < faces.size(); first += faces_at_once) {
    const auto some = faces.subspan(first, std::min(faces_at_once, faces.size() - first));
    const LimitBasis basis = limit_basis(mesh, some, drawn.points);
    for (std::size_t e = 0; e < some.size(); ++e) {
      candidates.push_back(near_face(basis, static_cast<std::int64_t>(e), drawn, mesh.points, x));
      candidates.back().face = some[e];
      bound = std::min(bound, candidates.back().sampled);
    }
  }
  Site nearest;
  Real least = std::numeric_limits<Real>::infinity();
  for (const NearFace& near : candidates) {
    if (near.least > bound) continue;
    Site site = nearest_of_face(mesh, near, x);
    if (!((site.where - x).norm() < least)) continue;
    least = (site.where - x).norm();
    nearest = std::move(site);
  }
  return nearest;
}

}  // namespace weft
