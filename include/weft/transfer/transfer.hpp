#pragma once
// Scatter (points to nodes) and gather (nodes to points): one operator and its transpose, for all species.
//
// With weights w_ip and the gradient operator G_ip of the kernel (docs/theory/transfer.md, 2),
//     scatter   m_i  = sum_p w_ip m_p
//               p_i  = sum_p w_ip m_p (v_p + C_p (x_i - x_p)) + dt (w_ip f_p - A_p G_ip)
//     gather    v_p  = sum_i w_ip v_i         C~_p = sum_i v_i G_ip^T
// where f_p is a force on the point [N], A_p = dE/dH_p [J] and H_p = dt C~_p: forces are minus the derivative of the
// same energy that the gathered displacements and gradients change. G_ip = w_ip D^{-1} (x_i - x_p) for quadratic and
// cubic kernels (moving least squares), grad w_ip for the linear one, whose D is singular at nodes.
//
// Points are visited chunk by chunk: what a body computes for a chunk passes through a buffer of the visiting thread
// and is never stored for all points; what a chunk receives is written to the columns that the caller names, else it
// passes through a buffer too. The rows of the next chunk are fetched meanwhile.

#include "weft/base/kinds.hpp"
#include "weft/fields/chunk.hpp"
#include "weft/fields/rows_ahead.hpp"
#include "weft/grid/node_field.hpp"
#include "weft/math/scalar.hpp"
#include "weft/transfer/bins.hpp"

#include <array>
#include <functional>

namespace weft {

struct TransferSettings {
  KernelKind kernel = KernelKind::quadratic;
  Real dx = 0;            ///< Grid spacing [m].
  Real rpic_damping = 0;  ///< nu of docs/theory/transfer.md (2.5): 0 is APIC, 1 leaves only the rigid part of C.
};

/// What points give to the nodes; all spans over the same rows.
struct ScatterPoints {
  std::span<const Vec3> x;       ///< [m].
  std::span<const Vec3> v;       ///< [m/s].
  std::span<const Mat3> C;       ///< Undamped velocity gradient [1/s]; empty: the points have mass and velocity alone.
  std::span<const Real> m;       ///< [kg].
  std::span<const Vec3> f = {};  ///< Forces on the points [N]; empty if there are none.
};

/// Writes the forces of a chunk. Called by several threads at once, for different chunks.
using Respond = std::function<void(ChunkRows, const ChunkForces&)>;
/// Takes what a chunk receives; it may move its points. Called by several threads at once, for different chunks.
using Receive = std::function<void(ChunkRows, const ChunkMotion&)>;

/// Adds the points' mass, momentum and dt * force to `inertia` (owned and ghost blocks). The order of additions depends
/// on the points alone, so the number of threads changes no bit. respond: not asked of points without gradients. ahead:
/// of all that is read for a chunk.
void scatter(const TransferSettings& settings, const Bins& bins, const ScatterPoints& points, const Respond& respond,
             Real dt, NodeField& inertia, const RowsAhead& ahead = {});

/// The same of points with gradients; and adds their mass and momentum, without forces and what they respond, to
/// `carried` as well. respond: may be empty, of points without forces.
void scatter_apart(const TransferSettings& settings, const Bins& bins, const ScatterPoints& points,
                   const Respond& respond, Real dt, NodeField& inertia, NodeField& carried,
                   const RowsAhead& ahead = {});

/// Adds sum_p w_ip m_p and, as the three other reals of a node, dx sum_p m_p G_ip [kg].
void scatter_mass(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x, std::span<const Real> m,
                  NodeField& nodes);

/// Nodes with two sides: a point that is marked by y gives the share c + d . y, between 0 and 1, of what it has to the
/// near one, and the rest to the far one.
struct NodeSides {
  const NodeField* share;       ///< c, d_x, d_y, d_z of owned and ghost nodes.
  std::span<const char> split;  ///< Of each block, whether any of its nodes leaves something to the far side.
  std::span<const Vec3> marks;  ///< Of the points.
};

/// As scatter of points with mass and velocity alone, by the shares of two sides.
void scatter_to_sides(const TransferSettings& settings, const Bins& bins, const ScatterPoints& points,
                      const NodeSides& sides, NodeField& near, NodeField& far);

/// Its transpose, as gather_values.
void gather_from_sides(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x,
                       const NodeSides& sides, const NodeField& near, const NodeField& far, std::span<Vec3> values);

/// Where gather leaves what points receive, over the same rows as x.
struct MotionColumns {
  std::span<Vec3> v;  ///< [m/s].
  std::span<Mat3> C;  ///< [1/s].
};

/// Hands every chunk its motion in the field `velocity` (owned and ghost blocks), once it stands in the columns, if
/// there are any. ahead: of all that is read and written for a chunk. Returns how far beyond where it was binned any
/// point stood along an axis at x [m].
Real gather(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x, const NodeField& velocity,
            const Receive& receive, const MotionColumns& columns = {}, const RowsAhead& ahead = {});

/// values[p] = sum_i w_ip a_i of a field of three reals at nodes, over the same rows as x; zero for points in no bin.
/// Bins in whose blocks the field is zero are left out.
void gather_values(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x, const NodeField& field,
                   std::span<Vec3> values);

/// Takes what a chunk receives of two fields, value by value. Called by several threads at once, for different chunks.
using ReceiveTwo = std::function<void(ChunkRows, std::span<const Vec3>, std::span<const Vec3>)>;

/// Hands every chunk sum_i w_ip a_i of two fields of three reals at nodes.
void gather_values(const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x,
                   const std::array<const NodeField*, 2>& fields, const ReceiveTwo& receive,
                   const RowsAhead& ahead = {});

/// The point with the largest gathered gradient.
struct Steepest {
  Real norm = 0;          ///< Its |C~| (Frobenius) [1/s]; infinity if it is not finite.
  std::uint32_t row = 0;  ///< The first in visiting order if several are equal.
};

/// Between which values the velocities of each block lie: one look at all nodes of a layer, which mostly shows that
/// nothing there is too fast or too steep.
class VelocityRanges {
 public:
  /// velocity: of owned and ghost blocks.
  VelocityRanges(const TransferSettings& settings, const NodeField& velocity);
  /// No node of the first so many blocks is faster [m/s]. Not finite if a velocity is not.
  Real largest(int blocks) const;
  /// No point of a bin has a larger |C~|^2 [1/s^2]: along each axis the gradient is an average of differences over dx.
  /// Not finite if a velocity is not.
  Real steepest2(const Bin& bin) const;

 private:
  struct Range {
    std::array<Real, 4> lower, upper;  ///< Of nodes that count; the fourth has no meaning.
    std::array<Real, 4> square;        ///< The largest, of each component.
    bool is_finite;
  };
  Real dx_;
  std::vector<Range> by_block_;
};

/// Looks for a gradient above `bound` [1/s] without moving anything: exact if there is one, zero if ranges or
/// differences between neighbouring nodes show that there is none. Depends on neither threads nor the order of rows.
Steepest steepest_above(Real bound, const TransferSettings& settings, const Bins& bins, std::span<const Vec3> x,
                        const NodeField& velocity, const VelocityRanges& ranges);

/// Diagonal of D_p = sum_i w_ip (x_i - x_p) (x_i - x_p)^T [m^2].
Vec3 moment_of_inertia(const TransferSettings& settings, const Vec3& x);

/// The rigid part of an affine velocity: the rotation that carries the same angular momentum about the point.
/// inertia: diagonal of D_p / dx^2 [1]. Equals the skew part of C where D_p is a multiple of the identity.
template <class T>
Matrix3<T> rigid_part(const Matrix3<T>& C, const Vector3<std::type_identity_t<T>>& inertia) {
  Matrix3<T> rigid = Matrix3<T>::Zero();
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < a; ++b) {
      // The angular momentum of the pair is C_ab D_b - C_ba D_a; a rotation of rate r carries r (D_a + D_b).
      const T sum = inertia[a] + inertia[b];
      const T rate =
          select(sum > 0, T((C(a, b) * inertia[b] - C(b, a) * inertia[a]) / sum), T((C(a, b) - C(b, a)) / 2));
      rigid(a, b) = rate;
      rigid(b, a) = -rate;
    }
  return rigid;
}

}  // namespace weft
