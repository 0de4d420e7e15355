#pragma once
// Nets of springs with holds and loads, for tests of equilibrium and of its stability.

#include "support/springs.hpp"
#include "weft/motion/constraint.hpp"
#include "weft/motion/dead_load.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace weft::test {

inline const Amplitude ramp{{{0, 0}, {1, 1}}};

/// Points of a net held where a function of time puts them, each in the axes that are asked for.
class Held : public Constraints {
 public:
  Held(const Freedoms& freedoms, const DealtNet& net) : freedoms_(freedoms), net_(net) {}
  /// Holds component `axis` of a point at speed * time until it lets go; on its owner.
  void hold(std::int32_t point, int axis, Real speed = 0, Real until = std::numeric_limits<Real>::infinity()) {
    const auto row = net_.row_of_point.find(point);
    if (row == net_.row_of_point.end() || row->second >= static_cast<std::int32_t>(net_.forest.owned())) return;
    held_.push_back({freedoms_.at(0, row->second) + axis, speed, until});
  }
  void append(Real time, ConstraintRows& rows) const override {
    for (const auto& [freedom, speed, until] : held_) {
      if (time > until) continue;
      rows.add(freedom, 1);
      rows.close(speed * time);
    }
  }

 private:
  const Freedoms& freedoms_;
  const DealtNet& net_;
  struct OfFreedom {
    std::int32_t freedom;
    Real speed, until;
  };
  std::vector<OfFreedom> held_;
};

/// Everything that an analysis of a net needs.
struct Analysis {
  Comm comm = Comm::world();
  SpringNet net;
  DealtNet dealt{comm, net};
  Freedoms freedoms{{{"net", 3, &dealt.forest}}};
  SpringTerm springs{net, dealt};
  Held held{freedoms, dealt};
  Motion motion{freedoms};

  explicit Analysis(SpringNet n) : net(std::move(n)) {}

  DeadLoad load(const std::map<std::int32_t, Vec3>& forces, const Amplitude& amplitude = ramp) const {
    std::vector<Vec3> on_rows(dealt.point_of_row.size(), Vec3::Zero());
    for (std::size_t r = 0; r < dealt.forest.owned(); ++r) {
      const auto it = forces.find(dealt.point_of_row[r]);
      if (it != forces.end()) on_rows[r] = it->second;
    }
    return {0, std::move(on_rows), amplitude};
  }
  /// Displacement of a point, everywhere.
  Vec3 u(std::int32_t point) const {
    Vec3 u = Vec3::Zero();
    const auto row = dealt.row_of_point.find(point);
    if (row != dealt.row_of_point.end() && row->second < static_cast<std::int32_t>(dealt.forest.owned()))
      u = motion.u.points(0)[row->second];
    comm.sum(std::span(u.data(), 3));
    return u;
  }
};

/// Two bars that lean on one another: the apex of height h snaps through when pushed down.
inline constexpr Real half_span = 2, height = 0.5, stiffness = 1000;
inline SpringNet truss() {
  return {{{-half_span, 0, 0}, {0, height, 0}, {half_span, 0, 0}}, {{0, 1}, {1, 2}}, stiffness};
}
/// The force that holds the apex when it has come down by w: each bar pushes with EA (1 - l / l0).
inline Real truss_force(Real w) {
  const Real l0 = std::hypot(half_span, height), l = std::hypot(half_span, height - w);
  return 2 * stiffness * (1 - l / l0) * (height - w) / l;
}
inline void hold_feet(Held& held) {
  for (const std::int32_t foot : {0, 2})
    for (int axis = 0; axis < 3; ++axis) held.hold(foot, axis);
  held.hold(1, 2);
}

}  // namespace weft::test
