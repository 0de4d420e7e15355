#include "weft/run/totals.hpp"

#include "weft/base/sums.hpp"

namespace weft {
namespace {

using Sums = Eigen::Array<Real, 12, 1>;  // in the order of Totals

/// The angular momentum that a point carries in its affine velocity: m eps(C D), D = dx^2 inertia [docs/theory.md, 2].
Vec3 own_rotation(Real mass, const Mat3& C, const Vec3& D) {
  const Mat3 M = mass * C * D.asDiagonal();
  return {M(2, 1) - M(1, 2), M(0, 2) - M(2, 0), M(1, 0) - M(0, 1)};
}

}  // namespace

Totals totals_of(const Comm& comm, const Scene& scene) {
  Sums sums = Sums::Zero();
  for (const auto& body : scene.bodies) {
    for (const PointSet* set : body->sets()) {
      const Table& points = set->points();
      const auto m = points.get<Mass>();
      const auto x = points.get<Position>(), v = points.get<Velocity>();
      const auto C = points.get<Affine>();
      sums += ordered_sum(points.owned(), Sums(Sums::Zero()), [&](std::size_t p) {
        const Vec3 momentum = m[p] * v[p];
        const Vec3 D = moment_of_inertia(scene.transfer, x[p]);
        Sums s;
        s << 1, m[p], momentum, x[p].cross(momentum) + own_rotation(m[p], C[p], D), momentum.dot(v[p]) / 2,
            m[p] * (C[p] * D.asDiagonal() * C[p].transpose()).trace() / 2, 0,
            -m[p] * scene.deck.domain.gravity.dot(x[p]);
        return s;
      });
    }
    sums[10] += body->elastic_energy();
  }
  comm.sum(std::span(sums.data(), sums.size()));
  return {sums[0],  sums[1], sums.segment<3>(2).matrix(), sums.segment<3>(5).matrix(), sums[8], sums[9],
          sums[10], sums[11]};
}

}  // namespace weft
