#include "bodies/solid_elements.hpp"

#include "weft/geometry/tet_mesh.hpp"

#include <algorithm>

namespace weft {
namespace {

using Barycentric = Eigen::Vector4d;

}  // namespace

template <int nodes>
Barycentric TetBasis<nodes>::gauss_point(int q) {
  if constexpr (nodes == 4) return Barycentric::Constant(0.25);
  const Real near = (5 + 3 * std::sqrt(5.0)) / 20, far = (5 - std::sqrt(5.0)) / 20;
  Barycentric at = Barycentric::Constant(far);
  at[q] = near;
  return at;
}

template <int nodes>
auto TetBasis<nodes>::values(const Barycentric& at) -> Values {
  Values values;
  if constexpr (nodes == 4) {
    values = at;
  } else {
    for (int a = 0; a < 4; ++a) values[a] = at[a] * (2 * at[a] - 1);
    for (int e = 0; e < 6; ++e)
      values[4 + e] = 4 * at[tet_edges[static_cast<std::size_t>(e)][0]] * at[tet_edges[static_cast<std::size_t>(e)][1]];
  }
  return values;
}

template <int nodes>
auto TetBasis<nodes>::derivatives(const Barycentric& at) -> Gradients {
  Eigen::Matrix<Real, nodes, 4> by_all = Eigen::Matrix<Real, nodes, 4>::Zero();
  for (int a = 0; a < 4; ++a) by_all(a, a) = nodes == 4 ? 1 : 4 * at[a] - 1;
  if constexpr (nodes == 10)
    for (int e = 0; e < 6; ++e) {
      const auto [a, b] = tet_edges[static_cast<std::size_t>(e)];
      by_all(4 + e, a) = 4 * at[b];
      by_all(4 + e, b) = 4 * at[a];
    }
  return by_all.template rightCols<3>().colwise() - by_all.col(0);
}

template <int nodes>
auto TetBasis<nodes>::mass_shares() -> Values {
  Values shares;
  if constexpr (nodes == 4) shares.setConstant(0.25);
  else shares << Barycentric::Constant(1.0 / 36), Eigen::Matrix<Real, 6, 1>::Constant(4.0 / 27);
  return shares;
}

template <int nodes>
auto TetAtRest<nodes>::at_gauss_point(int q) const -> AtGaussPoint {
  using Basis = TetBasis<nodes>;
  const typename Basis::Gradients by_coordinates = Basis::derivatives(Basis::gauss_point(q));
  Mat3 tangents = Mat3::Zero();  // dX / dxi
  for (int a = 0; a < nodes; ++a) tangents += rest[static_cast<std::size_t>(a)] * by_coordinates.row(a);
  return {tangents.determinant() / (6 * Basis::gauss_points), by_coordinates * tangents.inverse()};
}

template <int nodes>
Real TetAtRest<nodes>::volume() const {
  Real volume = 0;
  for (int q = 0; q < TetBasis<nodes>::gauss_points; ++q) volume += at_gauss_point(q).volume;
  return volume;
}

/// The tetrahedron 0 <= y1 <= y2 <= y3 <= 1 in cubes of 1/n, each cut into six of its shape.
std::vector<Barycentric> centres_of_divided_tet(int n) {
  constexpr std::array<std::array<int, 3>, 6> ways{{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}};
  std::vector<Barycentric> centres;
  for (int k = 0; k < n; ++k)
    for (int j = 0; j <= k; ++j)
      for (int i = 0; i <= j; ++i)
        for (const auto& way : ways) {
          Vec3 y(i, j, k);
          for (int step = 0; step < 3; ++step) y[way[static_cast<std::size_t>(step)]] += 0.25 * (3 - step);
          y /= n;
          if (y[0] < y[1] && y[1] < y[2]) centres.emplace_back(1 - y[2], y[2] - y[1], y[1] - y[0], y[0]);
        }
  return centres;
}

template struct TetBasis<4>;
template struct TetBasis<10>;
template struct TetAtRest<4>;
template struct TetAtRest<10>;

}  // namespace weft
