// Rigid motion in time: steady, or monotone cubics through keyframes.

#include "weft/geometry/rigid_motion.hpp"

#include "weft/base/check.hpp"
#include "weft/geometry/mesh.hpp"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

namespace weft {

namespace {

/// Slope at a key between two secants that keeps the cubics on both sides monotone: their weighted harmonic mean, or
/// zero where they differ in sign. [Fritsch and Butland 1984]
Real monotone_slope(Real step_before, Real step_after, Real secant_before, Real secant_after) {
  if (secant_before * secant_after <= 0) return 0;
  const Real w1 = 2 * step_after + step_before, w2 = step_after + 2 * step_before;
  return (w1 + w2) / (w1 / secant_before + w2 / secant_after);
}

Vec3 monotone_slope(Real step_before, Real step_after, const Vec3& secant_before, const Vec3& secant_after) {
  Vec3 slope;
  for (int a = 0; a < 3; ++a) slope[a] = monotone_slope(step_before, step_after, secant_before[a], secant_after[a]);
  return slope;
}

struct ValueAndRate {
  Vec3 value, rate;
};

/// Cubic from (value p, slope m) at s = 0 to (q, n) at s = 1, with s = (t - start) / step and slopes in time.
ValueAndRate hermite(Real s, Real step, const Vec3& p, const Vec3& m, const Vec3& q, const Vec3& n) {
  const Real s2 = s * s, s3 = s2 * s;
  return {(2 * s3 - 3 * s2 + 1) * p + (s3 - 2 * s2 + s) * step * m + (3 * s2 - 2 * s3) * q + (s3 - s2) * step * n,
          (6 * s2 - 6 * s) / step * (p - q) + (3 * s2 - 4 * s + 1) * m + (3 * s2 - 2 * s) * n};
}

/// Angular velocity in world axes of exp([r]) when r changes at `rate`: the left Jacobian of SO(3) times rate,
/// rate + (1 - cos a) / a^2 r x rate + (a - sin a) / a^3 r x (r x rate),  a = |r|.
Vec3 angular_velocity(const Vec3& r, const Vec3& rate) {
  const Real a = r.norm();
  // Below 1e-3 rad the series are exact to round-off (next terms are a^4 / 720 and a^4 / 5040).
  const Real b = a < 1e-3 ? 0.5 - a * a / 24 : 2 * std::pow(std::sin(0.5 * a) / a, 2);
  const Real c = a < 1e-3 ? 1.0 / 6 - a * a / 120 : (a - std::sin(a)) / (a * a * a);
  return rate + b * r.cross(rate) + c * r.cross(r.cross(rate));
}

/// The state of a body turned by R about its centre, which moved from `center` by `shift`.
RigidState state_of(const Mat3& R, const Vec3& center, const Vec3& shift, const Vec3& velocity, const Vec3& spin) {
  return {R, center + shift - R * center, center + shift, velocity, spin};
}

}  // namespace

RigidMotion RigidMotion::steady(const Vec3& velocity, const Vec3& spin, const Vec3& center) {
  require(velocity.allFinite() && spin.allFinite() && center.allFinite(), ExitCode::geometry,
          "The velocity, spin and center of a motion must be finite.");
  RigidMotion motion;
  motion.velocity_ = velocity;
  motion.spin_ = spin;
  motion.center_ = center;
  return motion;
}

RigidMotion RigidMotion::keyed(std::vector<Keyframe> keys, const Vec3& center) {
  require(!keys.empty(), ExitCode::geometry, "A motion by keyframes needs at least one keyframe.");
  for (const Keyframe& key : keys)
    require(std::isfinite(key.time) && key.translation.allFinite() && key.rotation_vector.allFinite(),
            ExitCode::geometry, "The numbers of a keyframe must be finite.");
  for (std::size_t k = 1; k < keys.size(); ++k)
    require(keys[k - 1].time < keys[k].time, ExitCode::geometry, "Keyframes must increase in time.");

  RigidMotion motion;
  motion.center_ = center;
  motion.slopes_.assign(keys.size(), Keyframe{0, Vec3::Zero(), Vec3::Zero()});
  for (std::size_t k = 1; k + 1 < keys.size(); ++k) {
    const Real before = keys[k].time - keys[k - 1].time, after = keys[k + 1].time - keys[k].time;
    const auto slope = [&](Vec3 Keyframe::* part) {
      return monotone_slope(before, after, Vec3((keys[k].*part - keys[k - 1].*part) / before),
                            Vec3((keys[k + 1].*part - keys[k].*part) / after));
    };
    motion.slopes_[k] = {keys[k].time, slope(&Keyframe::translation), slope(&Keyframe::rotation_vector)};
  }
  motion.keys_ = std::move(keys);
  return motion;
}

RigidState RigidMotion::at(Real time) const {
  if (keys_.empty()) return state_of(rotation_matrix(time * spin_), center_, time * velocity_, velocity_, spin_);

  const auto later =
      std::upper_bound(keys_.begin(), keys_.end(), time, [](Real t, const Keyframe& key) { return t < key.time; });
  if (later == keys_.begin() || later == keys_.end()) {
    const Keyframe& key = later == keys_.begin() ? keys_.front() : keys_.back();
    return state_of(rotation_matrix(key.rotation_vector), center_, key.translation, Vec3::Zero(), Vec3::Zero());
  }
  const auto k = static_cast<std::size_t>(later - keys_.begin()) - 1;
  const Real step = keys_[k + 1].time - keys_[k].time, s = (time - keys_[k].time) / step;
  const auto between = [&](Vec3 Keyframe::* part) {
    return hermite(s, step, keys_[k].*part, slopes_[k].*part, keys_[k + 1].*part, slopes_[k + 1].*part);
  };
  const ValueAndRate shift = between(&Keyframe::translation), turn = between(&Keyframe::rotation_vector);
  return state_of(rotation_matrix(turn.value), center_, shift.value, shift.rate,
                  angular_velocity(turn.value, turn.rate));
}

/// The rate of a cubic is in the hull of its slopes and of 3 (q - p) / step - m - n. Spin is no faster than the
/// rotation vector.
Real RigidMotion::most_spin(Real begin, Real end) const {
  Real most = spin_.norm();
  for (std::size_t k = 1; k < keys_.size(); ++k) {
    if (keys_[k].time <= begin || keys_[k - 1].time >= end) continue;
    const Vec3 secant = (keys_[k].rotation_vector - keys_[k - 1].rotation_vector) / (keys_[k].time - keys_[k - 1].time);
    const Vec3 &m = slopes_[k - 1].rotation_vector, &n = slopes_[k].rotation_vector;
    most = std::max({most, m.norm(), n.norm(), (3 * secant - m - n).norm()});
  }
  return most;
}

bool RigidMotion::moves() const {
  const auto differs = [&](const Keyframe& key) {
    return key.translation != keys_[0].translation || key.rotation_vector != keys_[0].rotation_vector;
  };
  return !velocity_.isZero(0) || !spin_.isZero(0) || std::any_of(keys_.begin(), keys_.end(), differs);
}

Surface MovingShape::surface(const RigidState& state, const Vec3& x) const {
  const Surface at_rest = rest_->surface(state.to_rest(x));
  return {at_rest.distance, state.rotation * at_rest.normal};
}

Normals MovingShape::holding(const RigidState& state, const Vec3& x, Real slack) const {
  Normals normals = rest_->holding(state.to_rest(x), Side::outside, slack);
  for (Vec3& n : normals) n = state.rotation * n;
  return normals;
}

Faces MovingShape::faces(const RigidState& state, const Vec3& x, Real reach, Side side) const {
  Faces faces = rest_->faces(state.to_rest(x), side, reach);
  for (auto& [distance, normal] : faces) normal = state.rotation * normal;
  return faces;
}

SurfaceMesh MovingShape::tessellate(const RigidState& state, const Box& view) const {
  const Box view_at_rest = image_of(view, [&](const Vec3& x) { return state.to_rest(x); });
  return placed(rest_->tessellate(view_at_rest), {1, state.rotation, state.translation});
}

}  // namespace weft
