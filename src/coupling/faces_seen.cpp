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

/// 1 for 1, hardly anything for what is not near it.
Real nearness_to_one(Real ratio) { return std::pow(std::min(ratio, 1 / ratio), 20); }

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

/// The moments of which faces are found.
struct Moments {
  Vec3 mean;
  Mat3 facing;
  Vec3 offset;
  Real farthest;

  /// The faces if there is one along n, and beside it two at most, which all make an angle of this cosine with it.
  FacesSeen about(const Vec3& n, Real lean) const;
};

FacesSeen Moments::about(const Vec3& n, Real lean) const {
  FacesSeen found;
  const auto include = [&](const Vec3& normal, Real share, Real height, Real flat) {
    if (share > least_share && flat > least_flat && std::abs(height) < farthest)
      found.include({normal, share, height, flat});
  };
  const auto dot = [](const Complex& a, const Complex& b) { return (a * std::conj(b)).real(); };
  // Moments of directions across n.
  const Mat3 frame = frame_of(n), F = frame.transpose() * facing * frame;
  const Vec3 N = frame.transpose() * mean, O = frame.transpose() * offset;
  const Real sine = std::sqrt(1 - lean * lean), all = (F(0, 0) + F(1, 1)) / (sine * sine);
  const Complex first = Complex(N[0], N[1]) / sine, heights = -Complex(O[0], O[1]) / sine;
  const Complex second = Complex(F(0, 0) - F(1, 1), 2 * F(0, 1)) / (sine * sine);
  Real beside = 0;  // shares times heights
  const auto include_beside = [&](const Complex& direction, Real share, Real height, Real flat) {
    beside += share * height;
    include(frame * Vec3(sine * direction.real(), sine * direction.imag(), lean), share, height, flat);
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
  } else if (const Real share = std::abs(first); share > least_share) {
    const Complex direction = first / share;
    const Real faces = (all + dot(direction * direction, second)) / 2;
    include_beside(direction, share, dot(direction, heights) / faces, nearness_to_one(faces / share));
  }
  const Real faces = F(2, 2) - lean * lean * all, share = N[2] - lean * all;
  if (faces > least_share && share > 0)
    include(n, share, (-O[2] - lean * beside) / faces, nearness_to_one(faces / share));
  return found;
}

/// Whether these are more than chance: of three faces only those of a corner with right angles.
bool is_certain(const FacesSeen& seen) {
  const auto faces = seen.all();
  for (std::size_t i = 0; faces.size() == 3 && i < 3; ++i)
    if (std::abs(faces[i].normal.dot(faces[(i + 1) % 3].normal)) > square) return false;
  return true;
}

}  // namespace

FacesSeen faces_seen(const Vec3& mean, const Mat3& facing, const Vec3& offset, Real farthest, const Vec3& towards) {
  const Moments moments{mean, facing, offset, farthest};
  FacesSeen best;
  const auto try_about = [&](const Vec3& n) {
    const FacesSeen found = moments.about(n, 0);
    if (found.explained() > best.explained() * (1 + same)) best = found;
  };
  if (mean.norm() > least_share) try_about(mean.normalized());
  const SymmetricEigen axes = symmetric_eigen(facing);
  for (Eigen::Index k = 0; k < 3; ++k) {
    const Vec3 axis = axes.Q.col(k);
    try_about(axis.dot(mean) < 0 ? Vec3(-axis) : axis);
  }
  if (const Real along = towards.dot(mean); !towards.isZero(0) && along < 1 - least_share) {
    const Real lean = (along - towards.dot(facing * towards)) / (1 - along);
    const FacesSeen found = lean > opposite && lean < alike ? moments.about(towards, lean) : FacesSeen();
    const bool has_it = std::ranges::any_of(found.all(), [&](const Face& face) { return face.normal == towards; });
    if (has_it && found.explained() > best.explained() * (1 + (is_certain(best) ? same : -nearly_same))) best = found;
  }
  return best;
}

}  // namespace weft
