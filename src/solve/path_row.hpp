#pragma once
// The last row of a static problem that follows its load path: the time is an unknown too.

#include "solve/unknowns.hpp"

#include <optional>

namespace weft {

/// Where the next state is to lie: at a time, or in a plane ahead along the path,
///   slope . (u - u of the start) + time_slope (t - t of the start) = length          [Keller 1977; Riks 1979].
class PathRow {
 public:
  struct Plane {
    Motion start;
    FreedomValues slope;  ///< [1/m].
    Real time_slope;      ///< [1/s].
    Real length;          ///< [1].
  };

  /// time_scale [s]: of which the unknown is a multiple.
  PathRow(const Comm& comm, Real time_scale) : comm_(comm), time_scale_(time_scale) {}

  void aim_at(Real time) {
    goal_time_ = time;
    plane_.reset();
  }
  void aim_at(Plane plane) { plane_.emplace(std::move(plane)); }
  bool has_plane() const { return plane_.has_value(); }
  Real goal_time() const { return goal_time_; }
  Real time_scale() const { return time_scale_; }

  /// How far a motion is beyond the goal [1]. Collective.
  Real gap(const Motion& motion, const Unknowns& unknowns) const {
    if (!plane_) return (motion.time - goal_time_) / time_scale_;
    Real along = 0;
    for (const auto k : unknowns.owned())
      along += plane_->slope.all()[k] * (motion.u.all()[k] - plane_->start.u.all()[k]);
    return comm_.sum(along) + plane_->time_slope * (motion.time - plane_->start.time) - plane_->length;
  }
  /// Derivative of the gap by a freedom [1/m] and by the unknown of the time [1].
  Real slope(std::int32_t freedom) const { return plane_ ? plane_->slope.all()[freedom] : 0; }
  Real time_slope() const { return plane_ ? time_scale_ * plane_->time_slope : 1.0; }

 private:
  const Comm comm_;
  const Real time_scale_;
  Real goal_time_ = 0;
  std::optional<Plane> plane_;
};

}  // namespace weft
