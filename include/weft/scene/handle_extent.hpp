#pragma once
// How much of a body a handle acts on, and its load, in numbers that a user can compare with a drawing.

#include "weft/base/types.hpp"
#include "weft/bodies/meshed.hpp"
#include "weft/parallel/comm.hpp"

#include <span>
#include <string>

namespace weft {

/// What a handle acts on, and its load at rest and full size; the same on all ranks.
struct HandleExtent {
  int dimension = 0;           ///< 1: the part is of the boundary, 2: of the surface, 3: of the volume, 0: of none.
  Real part = 0, whole = 0;    ///< Length [m], area [m^2] or volume [m^3] of the part, and of the whole.
  Real slopes = 0;             ///< Number of vertices whose slope is held too.
  Vec3 force = Vec3::Zero();   ///< [N].
  Vec3 moment = Vec3::Zero();  ///< About the middle [N m].
  Vec3 middle = Vec3::Zero();  ///< Of the part [m].
};

/// ", 0.5 m of 2 m of the boundary, force [0, 0, -1] N and moment [0, 0, 0] N m about [0, 0, 0] m".
std::string in_words(const HandleExtent& extent);

/// The sums of an extent on this rank.
class ExtentSum {
 public:
  /// A vertex of the part, with the force on it [N].
  void add(const Site& site, const Vec3& force = Vec3::Zero());
  /// A quadrature point of the part, with force [N] and moment [N m] on it.
  void add(const Sample& sample, const Vec3& force, const Vec3& moment = Vec3::Zero());
  /// A point of mass m [kg], with the force on it [N].
  void add(const Vec3& x, Real m, const Vec3& force);
  /// Parts are measured against these, of the boundary or of the surface.
  void measure(int dimension, std::span<const Sample> part, std::span<const Sample> whole);
  void measure(int dimension, Real part, Real whole);
  void count_slope() { sum_.slopes += 1; }

  /// Over all ranks. Collective.
  HandleExtent total(const Comm& comm) const;

 private:
  HandleExtent sum_;  ///< Its middle is a sum of positions with weights, its moment about the origin.
  Real weight_ = 0;
};

}  // namespace weft
