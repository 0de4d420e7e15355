#pragma once
// The flat parts of a surface around a node, from the moments that the node knows. [docs/theory/layers.md, (16.4d)]

#include <array>
#include <span>

#include "weft/base/types.hpp"

namespace weft {

/// A flat part of a surface, as a node sees it.
struct Face {
  Vec3 normal;
  Real share;   ///< Of the surface around the node.
  Real height;  ///< Of the node above its plane [m].
  Real flat;    ///< 1: moments are those of planes; 0: they are not.
};

/// Three at most.
class FacesSeen {
 public:
  std::span<const Face> all() const { return std::span(faces_).first(count_); }
  void include(const Face& face) {
    faces_[count_++] = face;
    explained_ += face.share * face.flat;
  }
  /// How much of the surface these are [1].
  Real explained() const { return explained_; }

 private:
  std::array<Face, 3> faces_{};
  std::size_t count_ = 0;
  Real explained_ = 0;
};

/// The planes of which these are the moments; one of what is round, and of both sides of a plate, if one is seen far
/// more. Of several answers the one that explains most of the surface: a face along one direction, and two at most that
/// make one angle with it. The direction is the mean, an axis of F, across which the others are, or `towards`.
/// mean, facing and offset: the means of n, n n^T and n (n . y) over a surface with the normals n, y being from the
/// node to a place on it. farthest: of planes from the node [m]. towards: a face may be along it; zero: no direction.
FacesSeen faces_seen(const Vec3& mean, const Mat3& facing, const Vec3& offset, Real farthest, const Vec3& towards);

}  // namespace weft
