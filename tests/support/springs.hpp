#pragma once
// A net of springs dealt to the ranks: the simplest Term with large rotations, for tests of solvers.

#include "weft/motion/term.hpp"
#include "weft/parallel/comm.hpp"

#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace weft::test {

using Bar = std::array<std::int32_t, 2>;

/// A straight spring between two points; energy EA L (l / L - 1)^2 / 2.
struct SpringNet {
  std::vector<Vec3> points;  ///< [m].
  std::vector<Bar> bars;
  Real stiffness;  ///< E A [N].
};

/// The rows that this rank has of a net: point i belongs to rank i size / n, a bar to the rank of its first point.
struct DealtNet {
  std::vector<std::int32_t> point_of_row;  ///< Owned, then ghost.
  std::map<std::int32_t, std::int32_t> row_of_point;
  std::vector<Bar> bars;  ///< Of this rank, by row.
  Forest forest;

  DealtNet(const Comm& comm, const SpringNet& net) {
    const auto count = static_cast<std::int64_t>(net.points.size());
    const auto first = [&](int rank) { return (count * rank + comm.size() - 1) / comm.size(); };
    const auto owner = [&](std::int32_t i) {
      return static_cast<int>(i * static_cast<std::int64_t>(comm.size()) / count);
    };
    for (auto i = first(comm.rank()); i < first(comm.rank() + 1); ++i) add(static_cast<std::int32_t>(i));
    const std::size_t owned = point_of_row.size();
    std::vector<RemoteRow> originals;
    for (const Bar& bar : net.bars) {
      if (owner(bar[0]) != comm.rank()) continue;
      for (const std::int32_t i : bar)
        if (add(i)) originals.push_back({owner(i), static_cast<std::int32_t>(i - first(owner(i)))});
      bars.push_back({row_of_point[bar[0]], row_of_point[bar[1]]});
    }
    forest = Forest(comm, owned, originals);
  }

 private:
  bool add(std::int32_t i) {
    if (!row_of_point.try_emplace(i, static_cast<std::int32_t>(point_of_row.size())).second) return false;
    point_of_row.push_back(i);
    return true;
  }
};

class SpringTerm : public Term {
 public:
  SpringTerm(const SpringNet& net, const DealtNet& dealt) : stiffness_(net.stiffness), bars_(dealt.bars) {
    for (const std::int32_t i : dealt.point_of_row) positions_.push_back(net.points[i]);
    for (const Bar& bar : bars_) lengths_.push_back((positions_[bar[1]] - positions_[bar[0]]).norm());
  }

  Real energy(const Motion& motion) const override {
    Real sum = 0;
    for (std::size_t e = 0; e < bars_.size(); ++e) {
      const Real strain = arm(motion, e).norm() / lengths_[e] - 1;
      sum += 0.5 * stiffness_ * lengths_[e] * strain * strain;
    }
    return sum;
  }

  void add_force(const Motion& motion, Load& force) const override {
    for (std::size_t e = 0; e < bars_.size(); ++e) {
      const Vec3 d = arm(motion, e);
      const Vec3 pull = stiffness_ * (d.norm() / lengths_[e] - 1) * d.normalized();
      force.points(0)[bars_[e][0]] += pull;
      force.points(0)[bars_[e][1]] -= pull;
    }
  }

  struct Arms : Linear {
    const Freedoms* freedoms;
    std::vector<Mat3> k;  ///< d(pull)/d(arm) of each bar.
  };

  std::unique_ptr<Linear> linearise(const Motion& motion) const override {
    auto linear = std::make_unique<Arms>();
    linear->freedoms = &motion.u.freedoms();
    for (std::size_t e = 0; e < bars_.size(); ++e) {
      const Vec3 d = arm(motion, e), t = d.normalized();
      const Real pull = stiffness_ * (d.norm() / lengths_[e] - 1);
      const Mat3 along = t * t.transpose();
      linear->k.push_back(stiffness_ / lengths_[e] * along + pull / d.norm() * (Mat3::Identity() - along));
    }
    return linear;
  }

  void add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const override {
    const auto& at = static_cast<const Arms&>(linear);
    for (std::size_t e = 0; e < bars_.size(); ++e) {
      const Vec3 pull = at.k[e] * (du.points(0)[bars_[e][1]] - du.points(0)[bars_[e][0]]);
      change.points(0)[bars_[e][0]] += pull;
      change.points(0)[bars_[e][1]] -= pull;
    }
  }

  void add_tangent(const Linear& linear, Tangent& tangent) const override {
    const auto& at = static_cast<const Arms&>(linear);
    for (std::size_t e = 0; e < bars_.size(); ++e) {
      Eigen::Matrix<Real, 6, 6, Eigen::RowMajor> k;
      k << at.k[e], -at.k[e], -at.k[e], at.k[e];
      std::array<std::int32_t, 6> at_freedoms;
      for (int a = 0; a < 6; ++a) at_freedoms[a] = at.freedoms->at(0, bars_[e][a / 3]) + a % 3;
      tangent.add(at_freedoms, std::span(k.data(), 36));
    }
  }

 private:
  Vec3 arm(const Motion& motion, std::size_t e) const {
    const auto u = motion.u.points(0);
    const auto [a, b] = bars_[e];
    return positions_[b] + u[b] - positions_[a] - u[a];
  }

  Real stiffness_;
  std::vector<Bar> bars_;
  std::vector<Vec3> positions_;
  std::vector<Real> lengths_;
};

}  // namespace weft::test
