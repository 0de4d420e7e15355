#pragma once
// Discrete elastic rods: straight segments, which stretch, and joints between them, which bend and twist. Knows neither
// grid nor ranks. [docs/theory/strands.md]

#include "weft/bodies/mesh_stiffness.hpp"
#include "weft/bodies/rod_joint.hpp"
#include "weft/bodies/trial.hpp"
#include "weft/bodies/turned_joint.hpp"
#include "weft/math/pack_rows.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace weft {

struct RodSegment {
  std::array<std::int32_t, 2> rows;  ///< Of its vertices.
  Real length;                       ///< At rest [m].
  Real size = 1;                     ///< Of its section, over that of the rods.
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

/// What takes the place of the frequency, whose square is given, where damping goes by the velocities before at this
/// rate [1/s]: symplectic Euler is stable up to two over it.
template <class T>
T damped_frequency(const T& square, const T& rate) {
  using std::sqrt;
  return (rate + sqrt(rate * rate + 4 * square)) / 2;
}

/// The rods of a body on one rank. Energies are
///   sum_segments EA / 2 (|e| / l - s')^2 l,
///   sum_joints (B1 (k1 - k1')^2 + B2 (k2 - k2')^2 + GJ (m - m')^2) / (2 lb),   lb = (l_before + l_after) / 2,
/// primes naming natural values. Turns are angles times the polar radius of gyration. Segments of size q have q^2 EA,
/// and joints half of either segment, one behind the other: lb = (l_before / q_before^4 + l_after / q_after^4) / 2.
/// Results do not depend on the number of threads.
class Rods {
 public:
  /// joints: ascending by their second segment; both share a vertex.
  Rods(const RodSection& section, const std::vector<RodSegment>& segments, const std::vector<RodJointAtRest>& joints);
  /// Of another section, the rest alike.
  Rods(const RodSection& section, const Rods& like);

  std::size_t size() const { return chain_->length.size(); }
  const RodSection& section() const { return section_; }
  /// Of a segment.
  RodSection section(std::size_t s) const { return section_.scaled(size_of(s)); }
  /// Of the vertices of a segment.
  std::array<std::int32_t, 2> rows(std::size_t s) const {
    return {static_cast<std::int32_t>(chain_->begin[s]), static_cast<std::int32_t>(chain_->end[s])};
  }
  /// At rest [m].
  Real length(std::size_t s) const { return chain_->length[s]; }
  Real mass(std::size_t s) const { return section(s).mass_per_length * length(s); }
  /// What rods of another section share with these counts there as well.
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

  /// Frames and twists where segments have gone [same rows as of the state, and may be the same].
  void move(const TrialShape& at, const RodState& from, std::span<Vec3> tangent, std::span<Vec3> director,
            std::span<Real> twist) const;

  /// Turns where the energy, with that of damping and clamps, is least, vertices as they are; `turns` is the guess and
  /// what is found, as lengths. damping: like these rods, or null. clamps: of rows of segments.
  void balance_turns(std::span<const Vec3> x, const RodState& from, const Rods* damping,
                     std::span<const TurnLink> clamps, std::span<Real> turns) const;

  /// Bound of the frequencies of the free rods, segment by segment and joint by joint, with the twist that their state
  /// has, or without any for an empty one [rad/s]; of vertices alone unless turns have inertia. With viscosities, in a
  /// section, substeps are stable up to two over this.
  Real frequency(std::span<const Vec3> x, std::span<const Real> twist, bool turns_have_inertia,
                 const std::optional<RodSection>& viscosities = std::nullopt) const;
  /// Of each segment, means over the joints at its ends.
  std::vector<RodStrain> strains(std::span<const Vec3> x, const RodState& at) const;

 private:
  struct Work;
  /// Segments, and their joints, that share no vertex with others.
  struct Tile {
    std::size_t first, end, first_joint, end_joint;
  };
  /// How segments follow one another.
  struct Chain {
    std::vector<std::uint32_t> begin, end;  ///< Rows of the vertices of segments.
    std::vector<Real> length;
    std::vector<Real> size;           ///< Of sections of segments; empty: 1.
    std::vector<std::uint32_t> e, f;  ///< Segments of joints.
    std::vector<std::uint32_t> ends;  ///< Segments that have no joint before or none after them.
    std::vector<Tile> tiles;
    std::size_t largest_tile = 0;

    Chain(const std::vector<RodSegment>& segments, const std::vector<RodJointAtRest>& joints);
    void make_tiles();
  };

  template <class OfTile>
  void visit(OfTile&& of_tile) const;
  void find_edges(const Tile& tile, std::span<const Vec3> x, Work& work) const;
  void find_shapes(const Tile& tile, const TrialShape& at, const RodState& from, Work& work) const;
  template <class OfJoints>
  void visit_joints(const Tile& tile, const RodState& from, const TrialShape& at, const Work& work,
                    OfJoints&& of_joints) const;
  void find_forces(const Tile& tile, const TrialShape& at, const RodState& from, const TrialForces& to,
                   Work& work) const;
  Real energy_of(const Tile& tile, const TrialShape& at, const RodState& from, Work& work) const;
  void stretch_stiffness(std::size_t s, const TrialShape& at, bool definite, MeshStiffness::Part part) const;
  void find_joint_stiffness(const Tile& tile, const TrialShape& at, const RodState& from, bool definite, Work& work,
                            std::size_t first, MeshStiffness& stiffness) const;
  void find_turned_joints(const Tile& tile, const TrialShape& at, const RodState& from, const Work& work,
                          std::vector<TurnLink>& links) const;
  void bound_joints(const Tile& tile, const RodSection& section, std::span<const Real> twist, bool turns_have_inertia,
                    Work& work) const;
  std::size_t end_of_strand(const Tile& tile, std::size_t first) const;
  void find_row_sums(const Tile& tile, const RodSection& section, const Work& work, std::vector<Pack>& over_mass) const;
  RodJoint state_of(std::size_t joint, const RodState& from) const;
  Vec3 edge(std::size_t s, std::span<const Vec3> x) const { return x[chain_->end[s]] - x[chain_->begin[s]]; }

  Real size_of(std::size_t s) const { return chain_->size.empty() ? 1 : chain_->size[s]; }
  Pack per_size(const Pack& a, const PackRows& rows) const;
  Pack times_area(const Pack& a, const PackRows& rows) const;
  Pack compliant_length(const PackRows& rows) const;

  RodSection section_;
  Real scale_ = 1;  ///< Of all stiffness.
  std::shared_ptr<const Chain> chain_;
  std::vector<Vec3> natural_;          ///< Of joints: curvatures [1] and twist [rad].
  std::vector<Real> natural_stretch_;  ///< Of segments over their length; empty: 1.
};

}  // namespace weft
