#pragma once
// Contact points: by which a body with freedoms of its own meets the grid.

#include "weft/bodies/body.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace weft {

/// The normal out of the body, of the length of the area that a contact point stands for [m^2].
struct SurfaceArea : Field<Vec3> {
  static constexpr Label label{"surface_area", "m^2", Keep::work};
};
/// The unit normal out of the body; of a vertex that of one of its faces.
struct SurfaceNormal : Field<Vec3> {
  static constexpr Label label{"surface_normal", "1", Keep::work};
};
/// Where it is on the body at rest [m].
struct SurfaceAtRest : Field<Vec3> {
  static constexpr Label label{"surface_at_rest", "m", Keep::work};
};
/// How thick the body is behind it at rest, at most as thick as its description asks for [m].
struct SurfaceThickness : Field<Real> {
  static constexpr Real most_of_thin = 3;  ///< Nodes see through thinner parts [dx].
  static constexpr Label label{"surface_thickness", "m", Keep::work};
};
/// What bodies on other layers gave to a contact point in the last step [N].
struct ContactForce : Field<Vec3> {
  static constexpr Label label{"contact_force", "N"};
};

/// The vertices that a contact point is made of, by rows of its body, and their weights: those of a triangle, or the
/// four of a rigid body.
struct ContactStencil {
  std::array<std::int32_t, 4> rows;
  std::array<Real, 4> weights;

  Vec3 of(std::span<const Vec3> values) const {
    return weights[0] * values[rows[0]] + weights[1] * values[rows[1]] + weights[2] * values[rows[2]] +
           weights[3] * values[rows[3]];
  }
};

/// Points with mass that the vertices of a body lend them: together they scatter the momentum of these. With the
/// weights b_pq of vertex p, sum_q b_pq m_q is the mass of a vertex that takes part. [Han 2020, 6.1.3; METHODS K.1,
/// K.2] Those on a surface know its areas, and remember what other layers gave them; those that are vertices have the
/// velocities that they scatter as their own until the step is accepted.
class ContactPoints final : public PointSet {
 public:
  explicit ContactPoints(bool have_surface) {
    points_ = Table::with<Id, Position, Velocity, Affine, Mass>();
    if (!have_surface) return;
    points_.add<TentativeVelocity>();
    points_.add<SurfaceArea>();
    points_.add<SurfaceNormal>();
    points_.add<SurfaceAtRest>();
    points_.add<SurfaceThickness>();
    points_.add<ContactForce>();
  }
  bool is_matter() const override { return false; }
  StepLimit commit(ChunkRows, Real, const ChunkMotion&) override { return {}; }
  StepLimit limit(ChunkRows) const override { return {}; }
};

}  // namespace weft
