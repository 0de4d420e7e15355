#include "weft/bodies/rods.hpp"

#include "weft/base/sums.hpp"

#include <algorithm>

namespace weft {
namespace {

std::vector<std::int32_t> ends_of(std::span<const RodSegment> segments) {
  std::vector<std::int32_t> ends;
  for (const RodSegment& segment : segments) ends.insert(ends.end(), segment.rows.begin(), segment.rows.end());
  return ends;
}

}  // namespace

Rods::Rods(const RodSection& section, std::vector<RodSegment> segments, std::vector<RodJointAtRest> joints,
           std::size_t vertices)
    : section_(section),
      segments_(std::move(segments)),
      joints_(std::move(joints)),
      joints_of_(segments_.size(), {-1, -1}),
      incidence_(ends_of(segments_), vertices),
      of_joints_(joints_.size()),
      of_edges_(segments_.size()) {
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    joints_of_[joints_[j].segments[0]][1] = static_cast<std::int32_t>(j);
    joints_of_[joints_[j].segments[1]][0] = static_cast<std::int32_t>(j);
  }
}

std::size_t Rods::bytes() const {
  return segments_.capacity() * sizeof(RodSegment) +
         joints_.capacity() * (sizeof(RodJointAtRest) + sizeof(JointEnergy)) +
         joints_of_.capacity() * sizeof(joints_of_[0]) + of_edges_.capacity() * sizeof(Vec3) + incidence_.bytes();
}

RodJoint Rods::state_of(const RodJointAtRest& joint, const RodState& from) const {
  const auto [e, f] = joint.segments;
  return {{from.tangent[e], from.director[e]}, {from.tangent[f], from.director[f]}, from.twist[f]};
}

JointStiffness Rods::stiffness_of(const RodJointAtRest& joint) const {
  const Real lb = length(joint);
  return {scale_ * section_.bend1 / lb,
          scale_ * section_.bend2 / lb,
          scale_ * section_.twist / lb,
          joint.natural1,
          joint.natural2,
          joint.natural_twist};
}

void Rods::resist_changes_of(const TrialShape& start, const RodState& from, Real h) {
  scale_ = 1 / h;
#pragma omp parallel for schedule(static)
  for (std::size_t s = 0; s < segments_.size(); ++s)
    segments_[s].natural_stretch = edge(static_cast<std::int32_t>(s), start.x).norm() / segments_[s].length;
#pragma omp parallel for schedule(static)
  for (RodJointAtRest& joint : joints_) {
    const auto [e, f] = joint.segments;
    const JointShape<Real> shape(state_of(joint, from), edge(e, start.x), edge(f, start.x), turn(e, start),
                                 turn(f, start));
    joint.natural1 = shape.limited() * shape.k1;
    joint.natural2 = shape.limited() * shape.k2;
    joint.natural_twist = shape.twist;
  }
}

Real Rods::energy(const TrialShape& at, const RodState& from) const {
  const Real of_segments = ordered_sum(segments_.size(), Real(0), [&](std::size_t s) {
    const auto& [rows, l, natural] = segments_[s];
    const Real strain = edge(static_cast<std::int32_t>(s), at.x).norm() / l - natural;
    return scale_ * section_.stretch / 2 * strain * strain * l;
  });
  const Real of_joints = ordered_sum(joints_.size(), Real(0), [&](std::size_t j) {
    const auto [e, f] = joints_[j].segments;
    return joint_energy(state_of(joints_[j], from), stiffness_of(joints_[j]), edge(e, at.x), edge(f, at.x), turn(e, at),
                        turn(f, at))
        .value;
  });
  return of_segments + of_joints;
}

void Rods::add_force(const TrialShape& at, const RodState& from, const TrialForces& to) const {
#pragma omp parallel for schedule(static)
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const auto [e, f] = joints_[j].segments;
    of_joints_[j] = joint_energy(state_of(joints_[j], from), stiffness_of(joints_[j]), edge(e, at.x), edge(f, at.x),
                                 turn(e, at), turn(f, at));
  }
#pragma omp parallel for schedule(static)
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const Vec3 e = edge(static_cast<std::int32_t>(s), at.x);
    const auto& [rows, l, natural] = segments_[s];
    of_edges_[s] = scale_ * section_.stretch * (e.norm() / l - natural) * e.normalized();
    const auto [before, after] = joints_of_[s];
    if (before >= 0) {
      of_edges_[s] += of_joints_[before].gradient.segment<3>(3);
      to.turning[s] -= of_joints_[before].gradient[7] / section_.gyration;
    }
    if (after >= 0) {
      of_edges_[s] += of_joints_[after].gradient.head<3>();
      to.turning[s] -= of_joints_[after].gradient[6] / section_.gyration;
    }
  }
  incidence_.add(to.f, [&](std::int32_t end) -> Vec3 { return (end % 2 == 0 ? 1 : -1) * of_edges_[end / 2]; });
}

void Rods::add_stiffness(const TrialShape& at, const RodState& from, bool definite, MeshStiffness& stiffness) const {
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    // EA (t t^T / l + (1 / l - s' / |e|) (1 - t t^T)); the second part pulls a pressed segment aside
    const Vec3 e = edge(static_cast<std::int32_t>(s), at.x), t = e.normalized();
    const Real across = 1 / segments_[s].length - segments_[s].natural_stretch / e.norm();
    stiffness.add(1, segments_[s].rows, -1);
    MeshStiffness::Part part = stiffness.part(stiffness.size() - 1);
    part.w << -1, 1;
    part.K = scale_ * section_.stretch *
             (t * t.transpose() / segments_[s].length +
              (definite ? std::max(across, 0.0) : across) * (Mat3::Identity() - t * t.transpose()));
  }
  for (const RodJointAtRest& joint : joints_) {
    const auto [e, f] = joint.segments;
    const auto &first = segments_[e].rows, &second = segments_[f].rows;
    stiffness.add(2, std::array{first[0], first[1], second[1]}, -1, joint.segments);
    MeshStiffness::Part part = stiffness.part(stiffness.size() - 1);
    part.w << -1, 1, 0, 0, -1, 1;
    Vec8 scale = Vec8::Ones();
    scale.tail<2>().setConstant(1 / section_.gyration);
    part.K = scale.asDiagonal() *
             joint_hessian(state_of(joint, from), stiffness_of(joint), edge(e, at.x), edge(f, at.x), turn(e, at),
                           turn(f, at), definite) *
             scale.asDiagonal();
  }
}

void Rods::move(const TrialShape& at, const RodState& from, std::span<Vec3> tangent, std::span<Vec3> director,
                std::span<Real> twist) const {
#pragma omp parallel for schedule(static)
  for (const RodJointAtRest& joint : joints_) {
    const auto [e, f] = joint.segments;
    twist[f] = JointShape<Real>(state_of(joint, from), edge(e, at.x), edge(f, at.x), turn(e, at), turn(f, at)).twist;
  }
#pragma omp parallel for schedule(static)
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const auto segment = static_cast<std::int32_t>(s);
    const Vec3 t = edge(segment, at.x).normalized();
    const Real angle = turn(segment, at);
    const Vec3 u = turned(transported(from.director[s], from.tangent[s], t), t, std::cos(angle), std::sin(angle));
    tangent[s] = t;
    director[s] = (u - u.dot(t) * t).normalized();
  }
}

/// Row sums of a bound of the stiffness over masses [docs/theory/strands.md].
Real Rods::frequency(std::span<const Vec3> x, std::span<const Real> twist) const {
  std::vector<Real> mass_of(x.size(), 0), springs(x.size(), 0), of_turns(segments_.size(), 0);
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const Real l = segments_[s].length;
    const Real k =
        section_.stretch * std::max(1 / l, std::abs(1 / l - 1 / edge(static_cast<std::int32_t>(s), x).norm()));
    for (const std::int32_t row : segments_[s].rows) {
      mass_of[row] += mass(s) / 2;
      springs[row] += 2 * k;
    }
  }
  for (const RodJointAtRest& joint : joints_) {
    const auto [e, f] = joint.segments;
    const Vec3 edge_e = edge(e, x), edge_f = edge(f, x);
    const Real least = 8 / (largest_exact_curvature * largest_exact_curvature + 4);
    const Real chi = std::max(least, 1 + edge_e.normalized().dot(edge_f.normalized()));
    const Real curvature = std::sqrt(std::max(0.0, 8 / chi - 4)), natural = std::hypot(joint.natural1, joint.natural2);
    const JointStiffness stiffness = stiffness_of(joint);
    const Real moment = twist.empty() ? 0 : stiffness.twist * std::abs(twist[f] - joint.natural_twist);
    /// Norms of derivatives by the three vertices and the turns, and the sum of their products.
    const auto add = [&](Real factor, Real by_e, Real by_f, Real by_turn) {
      const Real sum = factor * (2 * by_e + 2 * by_f + 2 * by_turn);
      springs[segments_[e].rows[0]] += sum * by_e;
      springs[segments_[e].rows[1]] += sum * (by_e + by_f);
      springs[segments_[f].rows[1]] += sum * by_f;
      of_turns[e] += sum * by_turn;
      of_turns[f] += sum * by_turn;
    };
    const Real by_e = 1 / edge_e.norm(), by_f = 1 / edge_f.norm(), by_turn = 1 / section_.gyration;
    const Real bend = std::max(stiffness.bend1, stiffness.bend2) * (1 + 2 * (curvature + natural));
    add(bend + moment, 2 / chi * by_e, 2 / chi * by_f, curvature / 2 * by_turn);
    add(stiffness.twist, curvature / 2 * by_e, curvature / 2 * by_f, by_turn);
  }
  Real most = 0;
  for (std::size_t r = 0; r < x.size(); ++r) most = std::max(most, springs[r] / mass_of[r]);
  for (std::size_t s = 0; s < segments_.size(); ++s) most = std::max(most, of_turns[s] / mass(s));
  return std::sqrt(most);
}

RodStrain Rods::strain(std::size_t s, std::span<const Vec3> x, const RodState& at) const {
  RodStrain sum{0, 0};
  int joints = 0;
  for (const std::int32_t j : joints_of_[s]) {
    if (j < 0) continue;
    const auto [e, f] = joints_[j].segments;
    const JointShape<Real> shape(state_of(joints_[j], at), edge(e, x), edge(f, x), 0, 0);
    sum.curvature += std::hypot(shape.k1, shape.k2) / length(joints_[j]);
    sum.twist += shape.twist / length(joints_[j]);
    ++joints;
  }
  return {sum.curvature / std::max(joints, 1), sum.twist / std::max(joints, 1)};
}

}  // namespace weft
