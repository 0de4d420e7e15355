#pragma once
// Clamps of strands: ends of segments in frames that move rigidly.

#include "bodies/rod_kernel.hpp"
#include "bodies/rods.hpp"
#include "bodies/segment_fields.hpp"
#include "weft/bodies/handle.hpp"
#include "weft/fields/table.hpp"
#include "weft/motion/motion.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace weft {

/// The joint of a clamp's frame and a segment, over half of its length:
///   lb = l / 2, without natural curvature and twist.
class StrandClamp final : public Clamp {
 public:
  struct End {
    SegmentEnd at;         ///< Over rows.
    std::int32_t segment;  ///< Row.
    Real share;            ///< Of the twist of the joint at its other vertex; 0: there is none.
    Real gyration;         ///< Polar radius of gyration of the segment [m].
    JointStiffness stiffness;
    std::optional<JointStiffness> viscosity;  ///< In place of stiffness.
    std::optional<JointStiffness> damping{};  ///< Of the substep, if that is known.
  };
  StrandClamp(const Freedoms& freedoms, std::size_t vertices, std::size_t turns, std::vector<End> ends,
              const RigidMotion& motion, Real until, std::span<const Vec3> positions, const Table& segments,
              bool turns_have_inertia = true)
      : freedoms_(freedoms),
        vertices_(vertices),
        turns_(turns),
        ends_(std::move(ends)),
        motion_(motion),
        until_(until),
        positions_(positions),
        segments_(segments),
        turns_have_inertia_(turns_have_inertia) {}

  void begin_substep(Real h, const Motion& start) override {
    for (End& end : ends_) {
      if (!end.viscosity) continue;
      const JointShape<Real> shape = joint_of(end, start).shape();
      const Real natural1 = shape.limited() * shape.k1, natural2 = shape.limited() * shape.k2;
      const Real rate = share_in_fold(natural1, natural2) / h;
      end.damping = JointStiffness{end.viscosity->bend1 * rate,
                                   end.viscosity->bend2 * rate,
                                   end.viscosity->twist * rate,
                                   natural1,
                                   natural2,
                                   shape.twist};
    }
  }

  Real energy(const Motion& motion) const override {
    Real sum = 0;
    if (!holds_at(motion.time)) return sum;
    for (const End& end : ends_)
      for (const Joined& joined : joints_of(end, motion)) sum += joined.energy().value;
    return sum;
  }
  Real elastic_energy(const Motion& motion) const override {
    Real sum = 0;
    if (!holds_at(motion.time)) return sum;
    for (const End& end : ends_) sum += joint_of(end, motion).energy().value;
    return sum;
  }
  void add_force(const Motion& motion, Load& force) const override {
    if (!holds_at(motion.time)) return;
    for (const End& end : ends_) {
      const auto [by_edge, by_turn] = derivative(end, motion);
      force.points(vertices_)[end.at.points[0]] += by_edge;
      force.points(vertices_)[end.at.points[1]] -= by_edge;
      force.block(turns_)[end.segment] -= by_turn / end.gyration;
    }
  }
  std::unique_ptr<Linear> linearise(const Motion& motion) const override { return linear_at(motion, false); }
  std::unique_ptr<Linear> linearise_definite(const Motion& motion) const override { return linear_at(motion, true); }
  void add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const override {
    const auto u = du.points(vertices_);
    for (std::size_t k = 0; k < ends_.size(); ++k) {
      const auto& [points, tangent, director, is_last] = ends_[k].at;
      Vec7 of_end;
      of_end << u[points[0]], u[points[1]], du.block(turns_)[ends_[k].segment];
      const Vec7 forces = static_cast<const AtEnds&>(linear).stiffness[k] * of_end;
      change.points(vertices_)[points[0]] -= forces.head<3>();
      change.points(vertices_)[points[1]] -= forces.segment<3>(3);
      change.block(turns_)[ends_[k].segment] -= forces[6];
    }
  }
  void add_tangent(const Linear& linear, Tangent& tangent) const override {
    for (std::size_t k = 0; k < ends_.size(); ++k) {
      std::vector<std::int32_t> numbers;
      for (const std::int32_t point : ends_[k].at.points)
        for (int c = 0; c < 3; ++c) numbers.push_back(freedoms_.at(vertices_, static_cast<std::size_t>(point)) + c);
      numbers.push_back(freedoms_.at(turns_, static_cast<std::size_t>(ends_[k].segment)));
      const Mat7& stiffness = static_cast<const AtEnds&>(linear).stiffness[k];  // symmetric
      tangent.add(numbers, {stiffness.data(), static_cast<std::size_t>(stiffness.size())});
    }
  }

  void add_turned_joints(const Motion& motion, std::vector<TurnLink>& to) const override {
    if (!holds_at(motion.time)) return;
    for (const End& end : ends_)
      for (const Joined& joined : joints_of(end, motion)) {
        const auto turned = TurnedJoint::of(joined.shape(), joined.stiffness);
        if (end.at.is_last) to.push_back({end.segment, -1, turned});
        else to.push_back({-1, end.segment, turned});
      }
  }

  /// As those of joints, of which one segment is free and its vertex that is not held [docs/theory/strands.md, 15.6].
  void add_row_sums(const Motion& motion, Load& sums) const override {
    if (!holds_at(motion.time)) return;
    for (const End& end : ends_) {
      const Joined joined = joint_of(end, motion);
      const JointShape<Real> shape = joined.shape();
      const BendingBound<Real> bound(shape.te, shape.tf, 0);
      const Real per_length = 1 / edge(end, motion).norm(), per_turn = turns_have_inertia_ ? 1 / end.gyration : 0;
      const auto add = [&](Real factor, Real by_edge, Real by_turn) {
        const Real sum = factor * (by_edge + by_turn);
        sums.points(vertices_)[end.at.points[end.at.is_last ? 0 : 1]].array() += sum * by_edge;
        sums.block(turns_)[end.segment] += sum * by_turn;
      };
      const Real moment = end.stiffness.twist * std::abs(shape.twist);
      const auto [softer, stiffer] = std::minmax(end.stiffness.bend1, end.stiffness.bend2);
      add(stiffer * bound.factor + moment, 2 / bound.chi * per_length,
          std::sqrt(1 - softer / stiffer) * bound.curvature / 2 * per_turn);
      add(end.stiffness.twist, bound.curvature / 2 * per_length, per_turn);
    }
  }
  Real most_spin(Real begin, Real end) const override { return motion_.most_spin(begin, std::min(end, until_)); }
  Vec3 turned(Real begin, Real end) const override {
    const Eigen::AngleAxis<Real> turn(Mat3(motion_.at(end).rotation * motion_.at(begin).rotation.transpose()));
    return turn.angle() * turn.axis();
  }

  Reaction reaction(const Motion& motion) const override {
    Reaction sum;
    if (!holds_at(motion.time)) return sum;
    for (const End& end : ends_) {
      const auto [by_edge, by_turn] = derivative(end, motion);
      const Vec3 e = edge(end, motion);
      sum.torque -= e.cross(by_edge) + by_turn * e.normalized();
    }
    return sum;
  }

 private:
  using Vec7 = Eigen::Matrix<Real, 7, 1>;
  using Mat7 = Eigen::Matrix<Real, 7, 7>;
  struct AtEnds : Linear {
    std::vector<Mat7> stiffness;
  };
  /// A joint with the clamp's frame in place of one of its segments.
  struct Joined {
    RodJoint joint;
    JointStiffness stiffness;
    Vec3 e, f;
    Real turn_e, turn_f;

    JointShape<Real> shape() const { return {joint, e, f, turn_e, turn_f}; }
    JointEnergy energy() const { return joint_energy(joint, stiffness, e, f, turn_e, turn_f); }
    Mat8 hessian(bool definite) const { return joint_hessian(joint, stiffness, e, f, turn_e, turn_f, definite); }
  };
  struct Derivative {
    Vec3 by_edge;
    Real by_turn;
  };

  bool holds_at(Real time) const { return time <= (1 + same_time) * until_; }
  Vec3 edge(const End& end, const Motion& motion) const {
    const auto u = motion.u.points(vertices_);
    const auto [a, b] = end.at.points;
    return positions_[b] + u[b] - positions_[a] - u[a];
  }
  Joined joint_of(const End& end, const Motion& motion) const {
    const Mat3 R = motion_.at(motion.time).rotation;
    const auto segment = static_cast<std::size_t>(end.segment);
    const RodFrame clamp{R * end.at.tangent, R * end.at.director};
    const RodFrame own{segments_.get<SegmentTangent>()[segment], segments_.get<SegmentDirector>()[segment]};
    const Real turn = motion.u.block(turns_)[segment] / end.gyration;
    // Frames tell the twist but for full turns, and the other joint of the segment about how much it is.
    const auto between = [&](const RodFrame& e, const RodFrame& f, Real turned_more) {
      const Real angle = angle_between(transported(e.director, e.tangent, f.tangent), f.director, f.tangent);
      const Real expected = expected_twist(end, motion) - turned_more;
      return RodJoint{e, f, expected + std::remainder(angle - expected, 2 * std::numbers::pi)};
    };
    if (end.at.is_last) return {between(own, clamp, -turn), end.stiffness, edge(end, motion), clamp.tangent, turn, 0};
    return {between(clamp, own, turn), end.stiffness, clamp.tangent, edge(end, motion), 0, turn};
  }
  Real expected_twist(const End& end, const Motion& motion) const {
    if (end.share == 0) return 0;
    const std::size_t f = static_cast<std::size_t>(end.segment) + (end.at.is_last ? 0 : 1);
    const auto turns = motion.u.block(turns_);
    return end.share * (segments_.get<JointTwist>()[f] + (turns[f] - turns[f - 1]) / end.gyration);
  }
  /// The elastic one, and that of damping.
  std::vector<Joined> joints_of(const End& end, const Motion& motion) const {
    std::vector<Joined> joints{joint_of(end, motion)};
    if (!end.damping) return joints;
    joints.push_back(joints.front());
    joints.back().stiffness = *end.damping;
    return joints;
  }
  /// Of the energy by the edge and the turn of the segment.
  Derivative derivative(const End& end, const Motion& motion) const {
    Vec8 gradient = Vec8::Zero();
    for (const Joined& joined : joints_of(end, motion)) gradient += joined.energy().gradient;
    if (end.at.is_last) return {gradient.head<3>(), gradient[6]};
    return {gradient.segment<3>(3), gradient[7]};
  }
  std::unique_ptr<Linear> linear_at(const Motion& motion, bool definite) const {
    auto linear = std::make_unique<AtEnds>();
    for (const End& end : ends_) {
      Mat7& to = linear->stiffness.emplace_back(Mat7::Zero());
      if (!holds_at(motion.time)) continue;
      Mat8 hessian = Mat8::Zero();
      for (const Joined& joined : joints_of(end, motion)) hessian += joined.hessian(definite);
      const int at = end.at.is_last ? 0 : 3, turn = end.at.is_last ? 6 : 7;
      const Mat3 by_edges = hessian.block<3, 3>(at, at);
      const Vec3 mixed = hessian.block<3, 1>(at, turn) / end.gyration;
      to.block<3, 3>(0, 0) = to.block<3, 3>(3, 3) = by_edges;
      to.block<3, 3>(0, 3) = to.block<3, 3>(3, 0) = -by_edges;
      to.block<3, 1>(0, 6) = -mixed;
      to.block<3, 1>(3, 6) = mixed;
      to.row(6) = to.col(6).transpose().eval();
      to(6, 6) = hessian(turn, turn) / (end.gyration * end.gyration);
    }
    return linear;
  }

  const Freedoms& freedoms_;
  std::size_t vertices_, turns_;
  std::vector<End> ends_;
  RigidMotion motion_;
  Real until_;
  std::span<const Vec3> positions_;
  const Table& segments_;
  bool turns_have_inertia_;
};

}  // namespace weft
