#include "weft/bodies/follower_load.hpp"

#include "weft/base/check.hpp"
#include "weft/math/dual.hpp"

namespace weft {

/// Derivatives of the forces (rows: place, a1, a2) by the two tangents (columns), for each sample.
struct FollowerLoad::Changes : Linear {
  std::vector<Eigen::Matrix<Real, 9, 6>> by_tangents;
  const Freedoms* freedoms = nullptr;
};

namespace {

/// Generalised forces of one sample: on its place and on its two tangents.
template <class T>
struct Forces {
  Vector3<T> place, a1, a2;
};

template <class T>
Forces<T> forces_at(Follower kind, Real size, const Vector3<T>& a1, const Vector3<T>& a2) {
  const Vector3<T> zero = Vector3<T>::Zero(), normal = a1.cross(a2);
  if (kind == Follower::pressure) return {T(size) * normal, zero, zero};
  // The work of a moment m about the unit vector t along a1 is m times the angle by which the normal n turns about t;
  // with dn = -(n . da_g) a^g that is -(n . da_g)(a^g . (t x n)), and a^1 = a2 x n / |a1 x a2|, a^2 = n x a1 / |a1 x
  // a2|.
  using std::sqrt;
  const T area = sqrt(normal.squaredNorm());
  const Vector3<T> n = normal / area, m = (a1 / sqrt(a1.squaredNorm())).cross(n);
  return {zero, T(-size) * (a2.cross(n).dot(m) / area) * n, T(-size) * (n.cross(a1).dot(m) / area) * n};
}

}  // namespace

FollowerForces follower_forces(Follower kind, Real size, const Vec3& a1, const Vec3& a2) {
  const Forces<Real> f = forces_at<Real>(kind, size, a1, a2);
  return {f.place, f.a1, f.a2};
}

Real follower_measure(Follower kind, const Sample& sample, std::span<const Vec3> rest) {
  if (kind == Follower::edge_moment) return sample.measure;
  const auto [a1, a2] = tangents_of(sample, rest);
  return sample.measure / a1.cross(a2).norm();
}

FollowerLoad::FollowerLoad(Follower kind, Real magnitude, Amplitude amplitude, std::size_t b,
                           std::vector<Sample> samples, std::span<const Vec3> positions)
    : kind_(kind),
      magnitude_(magnitude),
      amplitude_(std::move(amplitude)),
      block_(b),
      samples_(std::move(samples)),
      positions_(positions) {
  for (const Sample& sample : samples_) measure_.push_back(follower_measure(kind_, sample, positions_));
}

void FollowerLoad::add_force(const Motion& motion, Load& force) const {
  const Real factor = amplitude_.at(motion.time);
  const auto u = motion.u.points(block_);
  const auto out = force.points(block_);
  for (std::size_t s = 0; s < samples_.size(); ++s) {
    const Sample& sample = samples_[s];
    const auto [A1, A2] = tangents_of(sample, positions_);
    const auto [u1, u2] = tangents_of(sample, u);
    const Forces<Real> f = forces_at<Real>(kind_, factor * magnitude_ * measure_[s], A1 + u1, A2 + u2);
    for (std::size_t k = 0; k < sample.rows.size(); ++k)
      out[sample.rows[k]] += sample.value[k] * f.place + sample.d1[k] * f.a1 + sample.d2[k] * f.a2;
  }
}

std::unique_ptr<Linear> FollowerLoad::linearise(const Motion& motion) const {
  auto changes = std::make_unique<Changes>();
  changes->freedoms = &motion.u.freedoms();
  const Real factor = amplitude_.at(motion.time);
  const auto u = motion.u.points(block_);
  for (std::size_t s = 0; s < samples_.size(); ++s) {
    const auto [A1, A2] = tangents_of(samples_[s], positions_);
    const auto [u1, u2] = tangents_of(samples_[s], u);
    auto& D = changes->by_tangents.emplace_back();
    for (int direction = 0; direction < 6; ++direction) {
      Vector3<Dual> a1 = (A1 + u1).cast<Dual>(), a2 = (A2 + u2).cast<Dual>();
      (direction < 3 ? a1 : a2)[direction % 3].slope = 1;
      const Forces<Dual> f = forces_at<Dual>(kind_, factor * magnitude_ * measure_[s], a1, a2);
      for (int a = 0; a < 3; ++a) {
        D(a, direction) = f.place[a].slope;
        D(3 + a, direction) = f.a1[a].slope;
        D(6 + a, direction) = f.a2[a].slope;
      }
    }
  }
  return changes;
}

void FollowerLoad::add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const {
  const auto& at = static_cast<const Changes&>(linear);
  const auto out = change.points(block_);
  for (std::size_t s = 0; s < samples_.size(); ++s) {
    const Sample& sample = samples_[s];
    const auto [d1, d2] = tangents_of(sample, du.points(block_));
    Eigen::Matrix<Real, 6, 1> d;
    d << d1, d2;
    const Eigen::Matrix<Real, 9, 1> f = at.by_tangents[s] * d;
    for (std::size_t k = 0; k < sample.rows.size(); ++k)
      out[sample.rows[k]] +=
          sample.value[k] * f.head<3>() + sample.d1[k] * f.segment<3>(3) + sample.d2[k] * f.tail<3>();
  }
}

void FollowerLoad::add_tangent(const Linear& linear, Tangent& tangent) const {
  const auto& at = static_cast<const Changes&>(linear);
  std::vector<std::int32_t> freedoms;
  std::vector<Real> matrix;
  for (std::size_t s = 0; s < samples_.size(); ++s) {
    const Sample& sample = samples_[s];
    const auto& D = at.by_tangents[s];
    const std::size_t n = sample.rows.size();
    freedoms.clear();
    for (const std::int32_t row : sample.rows)
      for (int a = 0; a < 3; ++a) freedoms.push_back(at.freedoms->at(block_, static_cast<std::size_t>(row)) + a);
    matrix.assign(9 * n * n, 0.0);
    for (std::size_t j = 0; j < n; ++j) {
      const Eigen::Matrix<Real, 9, 3> by_j = sample.d1[j] * D.leftCols<3>() + sample.d2[j] * D.rightCols<3>();
      for (std::size_t i = 0; i < n; ++i) {
        const Mat3 K = -(sample.value[i] * by_j.topRows<3>() + sample.d1[i] * by_j.middleRows<3>(3) +
                         sample.d2[i] * by_j.bottomRows<3>());
        for (int a = 0; a < 3; ++a)
          for (int c = 0; c < 3; ++c) matrix[(3 * i + a) * 3 * n + 3 * j + c] = K(a, c);
      }
    }
    tangent.add(freedoms, matrix);
  }
}

}  // namespace weft
