#pragma once
// The flat parts of a surface around a node, from the moments that the node knows. [docs/theory/layers.md, (16.4d)]

#include <array>
#include <span>

#include "weft/base/types.hpp"

namespace weft {

/// A flat part of a surface, as a node sees it.
struct Face {
  Vec3 normal;
  Real share;          ///< Of the surface around the node.
  Real height;         ///< Of the node above its plane [m].
  Real flat;           ///< 1: moments are those of planes; 0: they are not.
  Real thickness = 0;  ///< Of the body behind [m]; 0: it is not known.
};

/// Two beside one direction at most, one along it, and the other side of a plate.
class FacesSeen {
 public:
  std::span<const Face> all() const { return std::span(faces_).first(count_); }
  void include(const Face& face) {
    faces_[count_++] = face;
    explained_ += face.share * face.flat;
  }
  /// Whether these are both sides of what is thin, and others.
  bool has_plate() const {
    for (std::size_t k = 1; k < count_; ++k)
      if (faces_[k].normal == -faces_[k - 1].normal) return true;
    return false;
  }
  /// How much of the surface these are [1].
  Real explained() const { return explained_; }

 private:
  std::array<Face, 4> faces_{};
  std::size_t count_ = 0;
  Real explained_ = 0;
};

/// Means over a surface around a node, with the normals n, y being from the node to a place on it.
struct SurfaceMoments {
  Vec3 mean;       ///< Of n.
  Mat3 facing;     ///< Of n n^T.
  Vec3 offset;     ///< Of n (n . y) [m].
  Mat3 thickness;  ///< Of t n n^T, t being the thickness of the body behind [m]; zero: it is not known.
};

/// The planes of which these are the moments; one of what is round. Of several answers the one that explains most of
/// the surface: a face along one direction, with another side if the thickness is known, and two at most that make one
/// angle with it. The direction is the mean, an axis of F, across which the others are, or `towards`.
/// farthest: of planes from the node [m]. towards: a face may be along it; zero: no direction.
FacesSeen faces_seen(const SurfaceMoments& moments, Real farthest, const Vec3& towards);

}  // namespace weft
