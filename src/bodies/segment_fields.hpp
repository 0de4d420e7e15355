#pragma once
// State of the segments of strands.

#include "weft/fields/field.hpp"

namespace weft {

/// Of a segment, unit.
struct SegmentTangent : Field<Vec3> {
  static constexpr Label label{"tangent", "1"};
};
/// Of the first half axis of the section.
struct SegmentDirector : Field<Vec3> {
  static constexpr Label label{"section_director", "1"};
};
/// Of the joint at its first vertex.
struct JointTwist : Field<Real> {
  static constexpr Label label{"joint_twist", "rad"};
};

}  // namespace weft
