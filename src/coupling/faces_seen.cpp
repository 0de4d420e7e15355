#include "coupling/faces_seen.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>
#include <utility>

#include "weft/math/svd.hpp"

namespace weft {
namespace {

using Complex = std::complex<Real>;

/// A face has this share of the surface at least, and is as flat as this.
constexpr Real least_share = 1e-3, least_flat = 0.1;
/// Moments of two normals have so much variance at least, and so long roots.
constexpr Real least_variance = 1e-6, least_root = 0.5;
/// Two normals of which the cosine is below the first are those of both sides of a plate, above the second those of one
/// rounded face. Both are one, the less flat the more they differ from it.
constexpr Real opposite = -0.95, alike = 0.5;
/// Round-off does not choose between answers that explain a surface alike.
constexpr Real same = 1e-6;
/// Moments have many answers of three faces. One with a face before the mass counts though it explains less by this,
/// unless faces make such angles that their cosines are below the second.
constexpr Real nearly_same = 0.02, square = 0.02;
/// Both sides of a plate are seen where others are across it as nearly as the first, and the lesser one has this share:
/// beyond round-off.
constexpr Real least_square_plate = 0.995, least_far_share = 1e-6;
/// They explain so much of the surface with these: what leans looks like sides of plates.
constexpr Real least_explained_by_plate = 0.95;
/// Directions are refined by so many of Newton's steps, none of which is as long as the first [rad], to one that makes
/// at least the cosine with where they began.
constexpr int steps_of_refinement = 5;
constexpr Real farthest_refinement = 0.5, least_like = 0.8;

/// 1 for 1, hardly anything for what is not near it.
Real nearness_to_one(Real ratio) { return std::pow(std::min(ratio, 1 / ratio), 20); }

Real dot(const Complex& a, const Complex& b) { return (a * std::conj(b)).real(); }

/// 1 where what faces along n is all along it.
Real nearness_to_axis(const Mat3& facing, const Vec3& n) {
  const Vec3 faces = facing * n;
  return std::pow(n.dot(faces) / faces.norm(), 20);
}

/// The two directions of a measure on the circle, of which these are the moments of order 0, 1 and 2; none: there is
/// one direction. [Prony's method]
std::optional<std::pair<Complex, Complex>> two_directions(Real all, const Complex& first, const Complex& second) {
  const Real variance = all * all - std::norm(first);
  if (!(variance > least_variance * all * all)) return {};
  const Complex product = (first * first - all * second) / variance;
  const Complex middle = (first + product * std::conj(first)) / (2 * all);
  const Complex apart = std::sqrt(middle * middle - product);
  if (std::min(std::abs(middle + apart), std::abs(middle - apart)) < least_root) return {};
  return std::pair(middle + apart, middle - apart);
}

/// n, and two axes across before it.
Mat3 frame_of(const Vec3& n) {
  Mat3 frame;
  frame.col(0) = n.unitOrthogonal();
  frame.col(1) = n.cross(frame.col(0));
  frame.col(2) = n;
  return frame;
}

/// The faces if there is one along n, or both sides of a plate, and beside it two at most, which all make an angle of
/// this cosine with it.
FacesSeen faces_about(const SurfaceMoments& moments, Real farthest, const Vec3& n, Real lean) {
  FacesSeen found;
  // Of the body behind a face that has all others across it; else 0.
  const auto thickness_behind = [&](const Vec3& normal) {
    const Real thick = normal.dot(moments.thickness * normal);
    const bool is_square =
        lean == 0 && thick > 0 &&
        nearness_to_axis(moments.facing, normal) * nearness_to_axis(moments.thickness, normal) > least_square_plate;
    return is_square ? thick / normal.dot(moments.facing * normal) : 0;
  };
  const auto include = [&](const Vec3& normal, Real share, Real height, Real flat) {
    if (share > least_share && flat > least_flat && std::abs(height) < farthest)
      found.include({normal, share, height, flat, thickness_behind(normal)});
  };
  // Both sides, where so much faces along a direction either way, and so much more that way than the other.
  const auto include_plate = [&](const Vec3& along, Real faces, Real more) {
    const Vec3 normal = more < 0 ? Vec3(-along) : along;
    const Real thickness = thickness_behind(normal), far_share = (faces - std::abs(more)) / 2;
    if (thickness == 0 || far_share < least_far_share) return false;
    const Real height = (-normal.dot(moments.offset) - far_share * thickness) / faces;
    include(normal, faces - far_share, height, 1);
    include(-normal, far_share, -height - thickness, 1);
    return true;
  };
  // Moments of directions across n.
  const Mat3 frame = frame_of(n), F = frame.transpose() * moments.facing * frame;
  const Vec3 N = frame.transpose() * moments.mean, O = frame.transpose() * moments.offset;
  const Real sine = std::sqrt(1 - lean * lean), all = (F(0, 0) + F(1, 1)) / (sine * sine);
  const Complex first = Complex(N[0], N[1]) / sine, heights = -Complex(O[0], O[1]) / sine;
  const Complex second = Complex(F(0, 0) - F(1, 1), 2 * F(0, 1)) / (sine * sine);
  const auto normal_of = [&](const Complex& direction) {
    return Vec3(frame * Vec3(sine * direction.real(), sine * direction.imag(), lean));
  };
  Real beside = 0;  // shares times heights
  const auto include_beside = [&](const Complex& direction, Real share, Real height, Real flat) {
    beside += share * height;
    include(normal_of(direction), share, height, flat);
  };
  const auto two = two_directions(all, first, second);
  const Complex a = two ? two->first / std::abs(two->first) : 0, b = two ? two->second / std::abs(two->second) : 0;
  const Real cosine = dot(a, b);
  if (two && cosine < alike && cosine > opposite) {
    const auto include_one = [&](const Complex& direction, const Complex& other, Real root) {
      const Complex dual = (direction - cosine * other) / (1 - cosine * cosine);
      const Real share = dot(dual, first);
      include_beside(direction, share, dot(dual, heights) / share, nearness_to_one(root));
    };
    include_one(a, b, std::abs(two->first));
    include_one(b, a, std::abs(two->second));
  } else if (const Real share = std::abs(first);
             !(two && cosine < alike && include_plate(normal_of(a), all, dot(a, first))) && share > least_share) {
    const Complex direction = first / share;
    const Real faces = (all + dot(direction * direction, second)) / 2;
    include_beside(direction, share, dot(direction, heights) / faces, nearness_to_one(faces / share));
  }
  const Real faces = F(2, 2) - lean * lean * all, share = N[2] - lean * all;
  if (faces > least_share && !include_plate(n, faces, share) && share > 0)
    include(n, share, (-O[2] - lean * beside) / faces, nearness_to_one(faces / share));
  return found;
}

/// The cosine that all others make with n, if there is a face along it.
Real lean_from(const SurfaceMoments& moments, const Vec3& n) {
  const Real along = n.dot(moments.mean);
  return (along - n.dot(moments.facing * n)) / (1 - along);
}

/// The direction near n along which there is a face with others beside it that make one angle with it: F n - c N is
/// along n. By Newton's method; n itself if there is none.
Vec3 refined(const SurfaceMoments& moments, const Vec3& n) {
  const auto& [N, F, offset, thickness] = moments;
  Vec3 d = n;
  for (int step = 0; step < steps_of_refinement; ++step) {
    const Real lean = lean_from(moments, d);
    const Vec3 Fd = F * d, w = Fd - lean * N, of_lean = (N - 2 * Fd + lean * N) / (1 - d.dot(N));
    const Eigen::Matrix<Real, 3, 2> across = frame_of(d).leftCols<2>();
    const auto N2 = (across.transpose() * N).eval();
    const auto change = (across.transpose() * F * across - N2 * (across.transpose() * of_lean).transpose() -
                         d.dot(w) * Eigen::Matrix<Real, 2, 2>::Identity())
                            .eval();
    const auto by = (-change.inverse() * (across.transpose() * w)).eval();
    if (!(by.norm() < farthest_refinement)) return n;
    d = (d + across * by).normalized();
  }
  return d.dot(n) > least_like ? d : n;
}

/// Whether these are more than chance: of three faces and more only those at right angles, and opposite ones.
bool is_certain(const FacesSeen& seen) {
  const auto faces = seen.all();
  for (std::size_t i = 0; faces.size() > 2 && i < faces.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (const Real cosine = std::abs(faces[i].normal.dot(faces[j].normal)); cosine > square && cosine < 1 - square)
        return false;
  return true;
}

}  // namespace

FacesSeen faces_seen(const SurfaceMoments& moments, Real farthest, const Vec3& towards) {
  const auto& [mean, facing, offset, thickness] = moments;
  FacesSeen best;
  const bool knows_thickness = !thickness.isZero(0);
  const SurfaceMoments without_thickness{mean, facing, offset, Mat3::Zero()};
  const auto try_about = [&](const Vec3& n) {
    FacesSeen found = faces_about(moments, farthest, n, 0);
    if (knows_thickness && found.explained() < least_explained_by_plate)
      found = faces_about(without_thickness, farthest, n, 0);
    if (found.explained() > best.explained() * (1 + same)) best = found;
  };
  if (mean.norm() > least_share) try_about(mean.normalized());
  const auto try_axes = [&](const Mat3& of) {
    const SymmetricEigen axes = symmetric_eigen(of);
    for (Eigen::Index k = 0; k < 3; ++k) {
      const Vec3 axis = axes.Q.col(k);
      try_about(axis.dot(mean) < 0 ? Vec3(-axis) : axis);
    }
  };
  try_axes(facing);
  if (knows_thickness) try_axes(thickness);
  if (towards.isZero(0) || towards.dot(mean) > 1 - least_share) return best;
  FacesSeen before;
  for (const Vec3& d : {towards, refined(moments, towards)}) {
    const Real lean = lean_from(moments, d);
    const FacesSeen found = lean > opposite && lean < alike ? faces_about(moments, farthest, d, lean) : FacesSeen();
    const bool has_it = std::ranges::any_of(found.all(), [&](const Face& face) { return face.normal == d; });
    if (has_it && found.explained() > before.explained() * (1 + same)) before = found;
  }
  return before.explained() > best.explained() * (1 + (is_certain(best) ? same : -nearly_same)) ? before : best;
}

}  // namespace weft
