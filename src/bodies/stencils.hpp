#pragma once
// Sums of stencils.

#include "weft/bodies/meshed.hpp"

#include <map>

namespace weft {

class StencilSum {
 public:
  void add(const Vec2& factors, const std::array<Stencil, 2>& of) {
    for (std::size_t k = 0; k < 2; ++k)
      for (std::size_t i = 0; i < of[k].rows.size(); ++i)
        weights_[of[k].rows[i]] += factors[static_cast<Eigen::Index>(k)] * of[k].weights[i];
  }
  Stencil sum() const {
    Stencil sum;
    for (const auto& [row, weight] : weights_) {
      sum.rows.push_back(row);
      sum.weights.push_back(weight);
    }
    return sum;
  }

 private:
  std::map<std::int32_t, Real> weights_;
};

inline Eigen::Matrix<Real, 3, 2> columns_of(const std::array<Stencil, 2>& stencils, std::span<const Vec3> positions) {
  Eigen::Matrix<Real, 3, 2> a;
  for (std::size_t k = 0; k < 2; ++k) a.col(static_cast<Eigen::Index>(k)) = stencils[k].of(positions);
  return a;
}

/// (a^T a)^-1 of two tangents.
inline Mat2 inverse_metric(const Eigen::Matrix<Real, 3, 2>& a) {
  const Mat2 metric = a.transpose() * a;
  Mat2 adjugate;
  adjugate << metric(1, 1), -metric(0, 1), -metric(1, 0), metric(0, 0);
  return adjugate / (metric(0, 0) * metric(1, 1) - metric(0, 1) * metric(1, 0));
}

}  // namespace weft
