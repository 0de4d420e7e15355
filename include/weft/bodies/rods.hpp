#pragma once
// Discrete elastic rods: straight segments, which stretch, and joints between them, which bend and twist. Knows neither
// grid nor ranks. [docs/theory/strands.md]

#include "weft/bodies/incidence.hpp"
#include "weft/bodies/mesh_stiffness.hpp"
#include "weft/bodies/rod_joint.hpp"
#include "weft/bodies/trial.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

struct RodSegment {
  std::array<std::int32_t, 2> rows;  ///< Of its vertices.
  Real length;                       ///< At rest [m].
  Real natural_stretch = 1;          ///< Over this length, without tension.
};

/// Two segments that follow one another, and how they are without moment.
struct RodJointAtRest {
  std::array<std::int32_t, 2> segments;
  Real natural1, natural2;  ///< Integrated curvatures [1].
  Real natural_twist;       ///< [rad].
};

/// Where segments were when the step began: state, a row for each segment.
struct RodState {
  std::span<const Vec3> tangent, director;
  std::span<const Real> twist;  ///< Of the joint at the first vertex of a segment [rad].
};

/// Strains of a joint, over its length.
struct RodStrain {
  Real curvature;  ///< [1/m]
  Real twist;      ///< [rad/m]
};

/// The rods of a body on one rank. Energies are
///   sum_segments EA / 2 (|e| / l - s')^2 l,
///   sum_joints (B1 (k1 - k1')^2 + B2 (k2 - k2')^2 + GJ (m - m')^2) / (2 lb),   lb = (l_before + l_after) / 2,
/// primes naming natural values. Turns are angles times the polar radius of gyration. Results do not depend on the
/// number of threads.
class Rods {
 public:
  Rods(const RodSection& section, std::vector<RodSegment> segments, std::vector<RodJointAtRest> joints,
       std::size_t vertices);

  const std::vector<RodSegment>& segments() const { return segments_; }
  const RodSection& section() const { return section_; }
  std::size_t bytes() const;

  /// Natural values become those of a shape, and stiffness is per h [s]: a section of viscosities in place of moduli
  /// then has the forces of damping at the end of a step that begins there [Bergou et al. 2010].
  void resist_changes_of(const TrialShape& start, const RodState& from, Real h);

  /// [J]
  Real energy(const TrialShape& at, const RodState& from) const;
  /// Adds the forces on vertices and turns [N].
  void add_force(const TrialShape& at, const RodState& from, const TrialForces& to) const;
  /// Appends the derivative, a part for each segment and each joint.
  void add_stiffness(const TrialShape& at, const RodState& from, bool definite, MeshStiffness& stiffness) const;

  /// Frames and twists where segments have gone [same rows as of the state].
  void move(const TrialShape& at, const RodState& from, std::span<Vec3> tangent, std::span<Vec3> director,
            std::span<Real> twist) const;

  /// Bound of the frequencies of the free rods, segment by segment and joint by joint, with the twist that their state
  /// has, or without any for an empty one [rad/s].
  Real frequency(std::span<const Vec3> x, std::span<const Real> twist) const;
  /// Means over the joints at the ends of segment s.
  RodStrain strain(std::size_t s, std::span<const Vec3> x, const RodState& at) const;

  Real mass(std::size_t s) const { return section_.mass_per_length * segments_[s].length; }

 private:
  Vec3 edge(std::int32_t segment, std::span<const Vec3> x) const {
    const auto& rows = segments_[static_cast<std::size_t>(segment)].rows;
    return x[rows[1]] - x[rows[0]];
  }
  Real turn(std::int32_t segment, const TrialShape& at) const { return at.turns[segment] / section_.gyration; }
  Real length(const RodJointAtRest& joint) const {
    return (segments_[joint.segments[0]].length + segments_[joint.segments[1]].length) / 2;
  }
  RodJoint state_of(const RodJointAtRest& joint, const RodState& from) const;
  JointStiffness stiffness_of(const RodJointAtRest& joint) const;

  RodSection section_;
  Real scale_ = 1;  ///< Of all stiffness.
  std::vector<RodSegment> segments_;
  std::vector<RodJointAtRest> joints_;
  std::vector<std::array<std::int32_t, 2>> joints_of_;  ///< Of each segment the joint before and that after it; -1.
  Incidence incidence_;                                 ///< Of vertices to ends of segments.
  mutable std::vector<JointEnergy> of_joints_;          ///< Work.
  mutable std::vector<Vec3> of_edges_;                  ///< Work: derivative of the energy by edges [N].
};

}  // namespace weft
