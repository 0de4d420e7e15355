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

/// 1 for 1, hardly anything for what is not near it.
Real nearness_to_one(Real ratio) { return std::pow(std::min(ratio, 1 / ratio), 20); }

/// The two directions of a measure on the circle, of which these are the moments of order 0, 1 and 2; none: there is
/// one direction. [Prony's method]
std::optional<std::pair<Complex, Complex>> two_directions(Real all, const Complex& first, Real second) {
  const Real variance = all * all - std::norm(first);
  if (!(variance > least_variance * all * all)) return {};
  const Complex product = (first * first - all * second) / variance;
  const Complex middle = (first + product * std::conj(first)) / (2 * all);
  const Complex apart = std::sqrt(middle * middle - product);
  if (std::min(std::abs(middle + apart), std::abs(middle - apart)) < least_root) return {};
  return std::pair(middle + apart, middle - apart);
}

}  // namespace

FacesSeen faces_seen(const Vec3& mean, const Mat3& facing, const Vec3& offset, Real farthest) {
  FacesSeen found;
  const auto include = [&](const Vec3& n, Real share, Real height, Real flat) {
    if (share > least_share && flat > least_flat && std::abs(height) < farthest)
      found.include({n, share, height, flat});
  };
  const auto include_alone = [&](const Vec3& n) {  // what faces n has no other faces across it
    const Real faces = n.dot(facing * n), share = n.dot(mean);
    if (faces > least_share && share > 0) include(n, share, -n.dot(offset) / faces, nearness_to_one(faces / share));
  };
  const SymmetricEigen axes = symmetric_eigen(facing);
  Eigen::Index least = 0;
  axes.values.minCoeff(&least);
  const Eigen::Index i = (least + 1) % 3, j = (least + 2) % 3;
  const Complex first(axes.Q.col(i).dot(mean), axes.Q.col(j).dot(mean));
  const auto direction = [&](const Complex& z) {
    return Vec3((z.real() * axes.Q.col(i) + z.imag() * axes.Q.col(j)) / std::abs(z));
  };
  const auto two = two_directions(axes.values[i] + axes.values[j], first, axes.values[i] - axes.values[j]);
  const Vec3 a = two ? direction(two->first) : Vec3(Vec3::Zero()),
             b = two ? direction(two->second) : Vec3(Vec3::Zero());
  const Real cosine = a.dot(b);
  if (!two || cosine > alike || cosine < opposite) {
    if (mean.norm() > least_share) include_alone(mean.normalized());
    return found;
  }
  const Real sine_squared = 1 - cosine * cosine;
  const auto include_beside = [&](const Vec3& n, const Vec3& other, Real root) {
    const Vec3 dual = (n - cosine * other) / sine_squared;
    const Real share = dual.dot(mean);
    include(n, share, -dual.dot(offset) / share, nearness_to_one(root));
  };
  const Vec3 last = axes.Q.col(least);  // no face unless both others are
  include_alone(last.dot(mean) < 0 ? Vec3(-last) : last);
  include_beside(a, b, std::abs(two->first));
  include_beside(b, a, std::abs(two->second));
  return found;
}

}  // namespace weft
