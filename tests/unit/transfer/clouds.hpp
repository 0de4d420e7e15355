#pragma once
// Clouds of points for tests of the transfers, the grid under them, and plain sums over all points by the definition.

#include "weft/transfer/transfer.hpp"

#include "support/random_matrices.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

namespace weft::test {

struct Cloud {
  std::vector<Vec3> x, v;
  std::vector<Mat3> C, A;
  std::vector<Real> m;
  std::vector<PointId> id;

  std::size_t size() const { return x.size(); }
  ScatterPoints points() const { return {x, v, C, m}; }
  Respond respond() const {
    return [this](ChunkRows rows, const ChunkForces& forces) {
      for (std::size_t k = 0; k < rows.size(); ++k) forces.A[k] = A[rows[k]];
    };
  }

  /// The rows named by `order`.
  Cloud picked(std::span<const std::uint32_t> order) const {
    Cloud cloud;
    for (const std::uint32_t p : order) {
      cloud.x.push_back(x[p]);
      cloud.v.push_back(v[p]);
      cloud.C.push_back(C[p]);
      cloud.A.push_back(A[p]);
      cloud.m.push_back(m[p]);
      cloud.id.push_back(id[p]);
    }
    return cloud;
  }
};

/// Points around the origin, several blocks wide: one in four exactly on a node, on a face between blocks or half-way
/// between nodes along each axis, the others anywhere; velocities near 1, C near 1/dx, A near m (m/s) dx/dt at dt = 1.
inline Cloud random_cloud(std::size_t count, Real dx, std::uint32_t seed) {
  MatrixSource source(seed);
  Cloud cloud;
  for (std::size_t p = 0; p < count; ++p) {
    Vec3 x = 9 * dx * source.vector();
    for (int axis = 0; axis < 3; ++axis) {
      const Real kind = source.uniform(0, 12);
      if (kind < 1) x[axis] = std::round(x[axis] / dx) * dx;
      else if (kind < 2) x[axis] = 4 * std::round(x[axis] / (4 * dx)) * dx;
      else if (kind < 3) x[axis] = (std::floor(x[axis] / dx) + 0.5) * dx;
    }
    cloud.x.push_back(x);
    cloud.v.push_back(source.vector());
    cloud.C.push_back(source.matrix() / dx);
    cloud.A.push_back(source.matrix() * dx);
    cloud.m.push_back(source.uniform(0.1, 1));
    cloud.id.push_back(1000 + 7 * p);
  }
  return cloud;
}

/// One layer of blocks under the points of this rank.
struct Ground {
  TransferSettings settings;
  Comm comm;
  Cloud own;
  Bins bins;
  BlockMap map;
  NodeField field{"field", "1"};

  Ground(const TransferSettings& transfer, const Comm& ranks, const Cuts& cuts, Cloud cloud)
      : settings(transfer), comm(ranks), own(std::move(cloud)) {
    bins.sort(settings.dx, own.x, own.id);
    map = BlockMap(comm, cuts, touched_blocks({&bins, 1}));
    bins.number(map);
    field.reset(map.size());
  }

  void scatter_points(Real dt) {
    field.reset(map.size());
    scatter(settings, bins, own.points(), own.respond(), dt, field);
    map.forest().sum_to_owners(field.view());
  }

  struct Gathered {
    std::vector<Vec3> v;
    std::vector<Mat3> C;
  };
  Gathered gather_points() const {
    Gathered gathered{std::vector<Vec3>(own.size()), std::vector<Mat3>(own.size())};
    gather(settings, bins, own.x, field, [&](ChunkRows rows, const ChunkMotion& motion) {
      EXPECT_EQ(motion.v.size(), rows.size());
      for (std::size_t k = 0; k < rows.size(); ++k) {
        gathered.v[rows[k]] = motion.v[k];
        gathered.C[rows[k]] = motion.C[k];
      }
    });
    return gathered;
  }

  /// Calls visit(node, position, values) for the nodes of the blocks that this rank owns.
  template <class Visit>
  void for_each_node(Visit&& visit) {
    for (int b = 0; b < map.owned(); ++b)
      for (int place = 0; place < nodes_per_block; ++place) {
        const Vec3i node = map.first_node(b) + node_at_place(place);
        visit(node, Vec3(node.cast<Real>() * settings.dx), field.block(b) + place * NodeField::width);
      }
  }
  /// The nodes' velocities become u(node, position), ghosts included.
  template <class Velocity>
  void set_velocity(Velocity&& u) {
    field.reset(map.size());
    for_each_node([&](const Vec3i& node, const Vec3& x, Real* value) { Vec3::Map(value) = u(node, x); });
    map.forest().update_ghosts(field.view());
  }
};

/// All points on this rank, whatever others do.
inline Ground serial_ground(const TransferSettings& settings, const Cloud& cloud) {
  return {settings, Comm(MPI_COMM_SELF), Cuts{}, cloud};
}

/// The points of a cloud that every rank knows, each with the owner of its block.
inline Ground shared_ground(const TransferSettings& settings, const Cloud& cloud) {
  const Comm comm = Comm::world();
  Bins bins;
  bins.sort(settings.dx, cloud.x, cloud.id);
  std::vector<BlockWork> work;
  if (comm.is_root())
    for (const Bin& bin : bins.bins()) work.push_back({bin.key, bin.end - bin.begin});
  const Cuts cuts = balanced_cuts(comm, work);
  std::vector<std::uint32_t> mine;
  for (const Bin& bin : bins.bins())
    if (cuts.owner(bin.key) == comm.rank())
      mine.insert(mine.end(), bins.order().begin() + bin.begin, bins.order().begin() + bin.end);
  return {settings, comm, cuts, cloud.picked(mine)};
}

// The definition, written once more and plainly. Coordinates in units of dx.

/// Weight of a node at distance r from a point.
inline Real weight(KernelKind kernel, Real r) {
  const Real a = std::abs(r);
  switch (kernel) {
    case KernelKind::linear:
      return a < 1 ? 1 - a : 0;
    case KernelKind::quadratic:
      return a < 0.5 ? 0.75 - a * a : a < 1.5 ? 0.5 * (1.5 - a) * (1.5 - a) : 0;
    case KernelKind::cubic:
      return a < 1 ? 2.0 / 3 - a * a + 0.5 * a * a * a : a < 2 ? std::pow(2 - a, 3) / 6 : 0;
  }
  return 0;
}
/// The factor of G along its own axis; r = node - point. At a node the hat's slope is taken towards larger x.
inline Real gradient_factor(KernelKind kernel, Real r) {
  switch (kernel) {
    case KernelKind::linear:
      return r > -1 && r <= 0 ? -1 : r > 0 && r <= 1 ? 1 : 0;
    case KernelKind::quadratic:
      return 4 * r * weight(kernel, r);
    case KernelKind::cubic:
      return 3 * r * weight(kernel, r);
  }
  return 0;
}
/// D_p / dx^2 along one axis, summed.
inline Real inertia_along(KernelKind kernel, Real x) {
  Real sum = 0;
  for (int i = static_cast<int>(std::floor(x)) - 3; i <= static_cast<int>(std::floor(x)) + 3; ++i)
    sum += weight(kernel, i - x) * (i - x) * (i - x);
  return sum;
}
inline Vec3 inertia_of(const TransferSettings& settings, const Vec3& x) {
  Vec3 inertia;
  for (int axis = 0; axis < 3; ++axis)
    inertia[axis] = settings.dx * settings.dx * inertia_along(settings.kernel, x[axis] / settings.dx);
  return inertia;
}

using Node = std::array<int, 3>;
using NodeSums = std::map<Node, Eigen::Vector4d>;

/// Mass and momentum of every node, point by point: C is taken as it stands.
inline NodeSums plain_scatter(const TransferSettings& settings, const Cloud& cloud, Real dt) {
  NodeSums nodes;
  const Real per_dx = 1 / settings.dx;
  for (std::size_t p = 0; p < cloud.size(); ++p) {
    const Vec3 x = cloud.x[p] * per_dx;
    const Vec3i near = x.array().floor().cast<int>();
    for (int i = -2; i <= 3; ++i)
      for (int j = -2; j <= 3; ++j)
        for (int k = -2; k <= 3; ++k) {
          const Vec3i node = near + Vec3i(i, j, k);
          const Vec3 r = node.cast<Real>() - x;
          Vec3 w, g;
          for (int axis = 0; axis < 3; ++axis) {
            w[axis] = weight(settings.kernel, r[axis]);
            g[axis] = gradient_factor(settings.kernel, r[axis]) * per_dx;
          }
          const Vec3 G(g[0] * w[1] * w[2], w[0] * g[1] * w[2], w[0] * w[1] * g[2]);
          if (w.prod() == 0 && G.norm() == 0) continue;
          const Vec3 momentum =
              w.prod() * cloud.m[p] * (cloud.v[p] + cloud.C[p] * r * settings.dx) - dt * cloud.A[p] * G;
          Eigen::Vector4d& sum = nodes.try_emplace({node[0], node[1], node[2]}, Eigen::Vector4d::Zero()).first->second;
          sum[0] += w.prod() * cloud.m[p];
          sum.tail<3>() += momentum;
        }
  }
  return nodes;
}

/// eps(M) = (M32 - M23, M13 - M31, M21 - M12): the angular momentum of an affine velocity. [docs/theory/transfer.md, 2]
inline Vec3 axial(const Mat3& M) { return {M(2, 1) - M(1, 2), M(0, 2) - M(2, 0), M(1, 0) - M(0, 1)}; }

/// Runs work with 1, 2 and 3 threads.
template <class Work>
void with_threads(Work&& work) {
  const int before = omp_get_max_threads();
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    work(threads);
  }
  omp_set_num_threads(before);
}

/// A shuffled order of `count` rows.
inline std::vector<std::uint32_t> shuffled(std::size_t count, std::uint32_t seed) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  Random random(seed, 9, 0);
  for (std::size_t k = count; k > 1; --k)
    std::swap(order[k - 1], order[static_cast<std::size_t>(random.uniform() * static_cast<Real>(k))]);
  return order;
}

inline std::string name_of(const ::testing::TestParamInfo<KernelKind>& kernel) {
  constexpr const char* names[] = {"Linear", "Quadratic", "Cubic"};
  return names[static_cast<int>(kernel.param)];
}

}  // namespace weft::test
