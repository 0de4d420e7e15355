#include "run/totals.hpp"

#include "weft/base/sums.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/math/pack_rows.hpp"

#include <array>

namespace weft {
namespace {

using Sums = Eigen::Array<Real, 12, 1>;  // in the order of Totals
/// The same of several points side by side.
struct PackedSums {
  std::array<Pack, 12> of;

  PackedSums& operator+=(const PackedSums& more) {
    for (std::size_t k = 0; k < of.size(); ++k) of[k] += more.of[k];
    return *this;
  }
};

/// The angular momentum that points carry in their affine velocity: m eps(C D), D = dx^2 inertia
/// [docs/theory/transfer.md, 2].
Vector3<Pack> own_rotation(const Pack& mass, const Matrix3<Pack>& C, const Vector3<Pack>& D) {
  const auto M = [&](int i, int j) -> Pack { return mass * C(i, j) * D[j]; };
  return {M(2, 1) - M(1, 2), M(0, 2) - M(2, 0), M(1, 0) - M(0, 1)};
}

/// Diagonal of D of each point.
Vector3<Pack> inertia_of(const TransferSettings& transfer, const Vector3<Pack>& x) {
  if (transfer.kernel != KernelKind::linear)  // the same everywhere
    return moment_of_inertia(transfer, Vec3::Zero()).cast<Pack>();
  Vector3<Pack> D;
  for (int lane = 0; lane < Pack::size; ++lane) {
    const Vec3 of_lane = moment_of_inertia(transfer, {x[0][lane], x[1][lane], x[2][lane]});
    for (int axis = 0; axis < 3; ++axis) D[axis].set(lane, of_lane[axis]);
  }
  return D;
}

/// The sums of the points of some rows.
PackedSums sums_of(const TransferSettings& transfer, const Vec3& g, const Table& points, const PackRows& rows) {
  const Pack m = without_idle(load(points.get<Mass>(), rows), rows);
  const Vector3<Pack> x = load(points.get<Position>(), rows), v = load(points.get<Velocity>(), rows);
  const Vector3<Pack> momentum = m * v;
  Vector3<Pack> angular = x.cross(momentum);
  Pack affine = 0;             // tr(C D C^T)
  if (points.has<Affine>()) {  // the grid moves them
    const Matrix3<Pack> C = load(points.get<Affine>(), rows);
    const Vector3<Pack> D = inertia_of(transfer, x);
    angular += own_rotation(m, C, D);
    for (int axis = 0; axis < 3; ++axis) affine += D[axis] * C.col(axis).squaredNorm();
  }
  return {{without_idle(1, rows), m, momentum[0], momentum[1], momentum[2], angular[0], angular[1], angular[2],
           momentum.dot(v) / 2, m * affine / 2, 0, -m * (g[0] * x[0] + g[1] * x[1] + g[2] * x[2])}};
}

}  // namespace

Totals totals_of(const Comm& comm, const Scene& scene) {
  Sums sums = Sums::Zero();
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    const auto& body = scene.bodies[b];
    const TransferSettings& transfer = scene.layer_of(b).transfer;
    for (const PointSet* set : body->sets()) {
      if (!set->is_matter()) continue;
      const Table& points = set->points();
      const std::size_t packs = (points.owned() + Pack::size - 1) / Pack::size;
      const PackedSums of_set = ordered_sum(packs, PackedSums{}, [&](std::size_t k) __attribute__((flatten)) {
        return sums_of(transfer, scene.step.gravity, points, PackRows::range(k * Pack::size, points.owned()));
      });
      for (std::size_t k = 0; k < of_set.of.size(); ++k)
        sums[static_cast<Eigen::Index>(k)] += sum_of_lanes(of_set.of[k]);
    }
    if (MeshBody* mesh = body->roles().mesh; mesh != nullptr && mesh->turning() != nullptr) {
      const auto m = mesh->turning()->get<Mass>(), v = mesh->turning()->get<TurnVelocity>();
      for (std::size_t r = 0; r < m.size(); ++r) sums[8] += m[r] * v[r] * v[r] / 2;
      sums.segment<3>(5) += mesh->angular_momentum_of_turns().array();
    }
    sums[10] += body->elastic_energy();
  }
  comm.sum(std::span(sums.data(), sums.size()));
  return {sums[0],  sums[1], sums.segment<3>(2).matrix(), sums.segment<3>(5).matrix(), sums[8], sums[9],
          sums[10], sums[11]};
}

Box box_of_points(const Comm& comm, const Scene& scene) {
  Box box;
  for (const auto& body : scene.bodies)
    for (const Vec3& x : body->points().get<Position>()) box.include(x);
  comm.min(std::span(box.lower.data(), 3));
  comm.max(std::span(box.upper.data(), 3));
  return box;
}

}  // namespace weft
