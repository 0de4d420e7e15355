#include "weft/bodies/follower_load.hpp"

#include "weft/base/check.hpp"
#include "weft/math/dual.hpp"

namespace weft {

/// Derivatives of the forces (rows: position, a1, a2) by the two tangents (columns), for each sample.
struct FollowerLoad::Changes : Linear {
  std::vector<Eigen::Matrix<Real, 9, 6>> by_tangents;
  const Freedoms* freedoms = nullptr;
};

namespace {

/// Generalised forces of one sample: on its position and on its two tangents.
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

std::pair<Vec3, Vec3> FollowerLoad::tangents(const Grip& sample, std::span<const Vec3> u) const {
  return {sample.sum(positions_, 1) + sample.sum(u, 1), sample.sum(positions_, 2) + sample.sum(u, 2)};
}

void FollowerLoad::add_force(const Motion& motion, Load& force) const {
  const Real size = load_factor(amplitude_, motion) * magnitude_;
  const auto u = motion.u.points(block_);
  const auto out = force.points(block_);
  for (const Grip& sample : samples_) {
    const auto [a1, a2] = tangents(sample, u);
    const Forces<Real> f = forces_at<Real>(kind_, size * value_of(sample), a1, a2);
    for (std::size_t k = 0; k < sample.rows.size(); ++k) {
      const auto& [place, d1, d2] = sample.vertices[k].weights;
      out[sample.rows[k]] += place * f.place + d1 * f.a1 + d2 * f.a2;
    }
  }
}

std::unique_ptr<Linear> FollowerLoad::linearise(const Motion& motion) const {
  auto changes = std::make_unique<Changes>();
  changes->freedoms = &motion.u.freedoms();
  const Real size = load_factor(amplitude_, motion) * magnitude_;
  const auto u = motion.u.points(block_);
  for (const Grip& sample : samples_) {
    const auto [now1, now2] = tangents(sample, u);
    auto& D = changes->by_tangents.emplace_back();
    for (int direction = 0; direction < 6; ++direction) {
      Vector3<Dual> a1 = now1.cast<Dual>(), a2 = now2.cast<Dual>();
      (direction < 3 ? a1 : a2)[direction % 3].slope = 1;
      const Forces<Dual> f = forces_at<Dual>(kind_, size * value_of(sample), a1, a2);
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
    const Grip& sample = samples_[s];
    Eigen::Matrix<Real, 6, 1> d;
    d.head<3>() = sample.sum(du.points(block_), 1);
    d.tail<3>() = sample.sum(du.points(block_), 2);
    const Eigen::Matrix<Real, 9, 1> f = at.by_tangents[s] * d;
    for (std::size_t k = 0; k < sample.rows.size(); ++k) {
      const auto& [place, d1, d2] = sample.vertices[k].weights;
      out[sample.rows[k]] += place * f.head<3>() + d1 * f.segment<3>(3) + d2 * f.tail<3>();
    }
  }
}

void FollowerLoad::add_tangent(const Linear& linear, Tangent& tangent) const {
  const auto& at = static_cast<const Changes&>(linear);
  std::vector<std::int32_t> freedoms;
  std::vector<Real> matrix;
  for (std::size_t s = 0; s < samples_.size(); ++s) {
    const Grip& sample = samples_[s];
    const auto& D = at.by_tangents[s];
    const std::size_t n = sample.rows.size();
    freedoms.clear();
    for (const std::int32_t row : sample.rows)
      for (int a = 0; a < 3; ++a) freedoms.push_back(at.freedoms->at(block_, static_cast<std::size_t>(row)) + a);
    matrix.assign(9 * n * n, 0.0);
    for (std::size_t j = 0; j < n; ++j) {
      const auto& of_j = sample.vertices[j].weights;
      const Eigen::Matrix<Real, 9, 3> by_j = of_j[1] * D.leftCols<3>() + of_j[2] * D.rightCols<3>();
      for (std::size_t i = 0; i < n; ++i) {
        const auto& [place, d1, d2] = sample.vertices[i].weights;
        const Mat3 K = -(place * by_j.topRows<3>() + d1 * by_j.middleRows<3>(3) + d2 * by_j.bottomRows<3>());
        for (int a = 0; a < 3; ++a)
          for (int c = 0; c < 3; ++c) matrix[(3 * i + a) * 3 * n + 3 * j + c] = K(a, c);
      }
    }
    tangent.add(freedoms, matrix);
  }
}

}  // namespace weft
