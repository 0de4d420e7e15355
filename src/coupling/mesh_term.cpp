#include "weft/coupling/mesh_term.hpp"

namespace weft {

struct MeshTerm::Stiffness : Linear {
  explicit Stiffness(MeshStiffness& from) : spare(from), of_mesh(std::move(from)) { of_mesh.clear(); }
  ~Stiffness() override { spare = std::move(of_mesh); }

  MeshStiffness& spare;
  MeshStiffness of_mesh;
};

void MeshTerm::feel(const FreedomValues& displacement) const {
  u_.resize(body_.points().rows());
  H_.resize(body_.samples().rows());
  gather(transfer_, vertices_, places(), displacement.block(0), [&](ChunkRows rows, const ChunkMotion& moved) {
    for (std::size_t k = 0; k < rows.size(); ++k) u_[rows[k]] = moved.v[k];
  });
  gather(transfer_, samples_, sample_places(), displacement.block(0), [&](ChunkRows rows, const ChunkMotion& moved) {
    for (std::size_t k = 0; k < rows.size(); ++k) H_[rows[k]] = moved.C[k];
  });
}

void MeshTerm::move(const Motion& motion) const {
  feel(motion.u);
  const auto x = places();
  x_.resize(x.size());
  for (std::size_t r = 0; r < x.size(); ++r) x_[r] = x[r] + u_[r];
}

void MeshTerm::push_back(Load& force) const {
  push(transfer_, vertices_, places(), f_, {}, force.block(0));
  push(transfer_, samples_, sample_places(), {}, A_, force.block(0));
}

Real MeshTerm::energy(const Motion& motion) const {
  move(motion);
  const auto loads = body_.forces();
  Real of_loads = 0;
  for (std::size_t r = 0; r < u_.size(); ++r) of_loads += loads[r].dot(u_[r]);
  return trial_.trial_energy(x_, H_) - of_loads;
}

void MeshTerm::add_force(const Motion& motion, Load& force) const {
  move(motion);
  const auto loads = body_.forces();
  f_.assign(loads.begin(), loads.end());
  A_.assign(H_.size(), Mat3::Zero());
  trial_.trial_response(in_loop_, x_, H_, f_, A_);
  push_back(force);
}

std::unique_ptr<Linear> MeshTerm::stiffness_at(const Motion& motion, bool definite) const {
  move(motion);
  auto linear = std::make_unique<Stiffness>(spare_);
  trial_.add_stiffness(in_loop_, x_, H_, definite, linear->of_mesh);
  linear->of_mesh.close(x_.size());
  return linear;
}

void MeshTerm::add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const {
  feel(du);
  f_.assign(u_.size(), Vec3::Zero());
  A_.assign(H_.size(), Mat3::Zero());
  static_cast<const Stiffness&>(linear).of_mesh.multiply(u_, H_, f_, A_);
  // A grows with dE/dH, forces are minus the derivative: both as `multiply` and `push` have them.
  push_back(change);
}

/// The parts of a stiffness with the nodes that they reach: c_k = sum_i W_ik u_i.
class MeshTerm::PartsAtNodes {
 public:
  explicit PartsAtNodes(const MeshTerm& term)
      : of_vertex_(term.body_.points().rows()), of_sample_(term.body_.samples().rows()) {
    for_each_point(term.transfer_, term.vertices_, term.places(),
                   [&](std::uint32_t row, const PointNodes& nodes) { of_vertex_[row] = nodes; });
    for_each_point(term.transfer_, term.samples_, term.sample_places(),
                   [&](std::uint32_t row, const PointNodes& nodes) { of_sample_[row] = nodes; });
  }

  /// Calls visit(nodes, W, K) for each part: numbers of the first of the four reals of nodes, each once; W has a row of
  /// `vectors` weights for each of them.
  template <class Visit>
  void for_each(const MeshStiffness& stiffness, Visit&& visit) {
    for (std::size_t k = 0; k < stiffness.size(); ++k) {
      const MeshStiffness::Part part = stiffness.part(k);
      nodes_.clear();
      W_.clear();
      vectors_ = static_cast<std::size_t>(part.w.rows());
      for (std::size_t r = 0; r < part.rows.size(); ++r) {
        const PointNodes& at = of_vertex_[static_cast<std::size_t>(part.rows[r])];
        for (std::size_t i = 0; i < at.at.size(); ++i) {
          Real* W = weights_of(at.at[i]);
          for (std::size_t v = 0; v < vectors_; ++v)
            W[v] += at.w[i] * part.w(static_cast<Eigen::Index>(v), static_cast<Eigen::Index>(r));
        }
      }
      if (part.sample >= 0) {
        const PointNodes& at = of_sample_[static_cast<std::size_t>(part.sample)];
        for (std::size_t i = 0; i < at.at.size(); ++i) {
          Real* W = weights_of(at.at[i]);
          for (std::size_t v = 0; v < vectors_; ++v) W[v] += at.G[i].dot(part.d.col(static_cast<Eigen::Index>(v)));
        }
      }
      visit(std::span<const std::int32_t>(nodes_), std::span<const Real>(W_), part.K);
      for (const std::int32_t node : nodes_) place_[static_cast<std::size_t>(node / NodeField::width)] = -1;
    }
  }

 private:
  Real* weights_of(std::int32_t node) {
    const auto n = static_cast<std::size_t>(node / NodeField::width);
    if (place_.size() <= n) place_.resize(n + 1, -1);
    if (place_[n] < 0) {
      place_[n] = static_cast<std::int32_t>(nodes_.size());
      nodes_.push_back(node);
      W_.resize(W_.size() + vectors_, 0.0);
    }
    return W_.data() + static_cast<std::size_t>(place_[n]) * vectors_;
  }

  std::vector<PointNodes> of_vertex_, of_sample_;
  std::vector<std::int32_t> place_;  ///< Of each node in nodes_; -1: not there.
  std::vector<std::int32_t> nodes_;
  std::vector<Real> W_;
  std::size_t vectors_ = 0;
};

void MeshTerm::add_tangent(const Linear& linear, Tangent& tangent) const {
  std::vector<std::int32_t> freedoms;
  std::vector<Real> k;
  PartsAtNodes(*this).for_each(
      static_cast<const Stiffness&>(linear).of_mesh,
      [&](std::span<const std::int32_t> nodes, std::span<const Real> weights, const MeshStiffness::Weights& K) {
        const auto n = static_cast<Eigen::Index>(nodes.size()), m = static_cast<Eigen::Index>(weights.size()) / n;
        const Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>> W(weights.data(), m, n);
        freedoms.clear();
        for (const std::int32_t node : nodes)
          for (int r = 0; r < 3; ++r) freedoms.push_back(node + r);
        k.assign(freedoms.size() * freedoms.size(), 0.0);
        Eigen::Map<Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> matrix(k.data(), 3 * n, 3 * n);
        for (int r = 0; r < 3; ++r)
          for (int s = 0; s < 3; ++s) {
            Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic> part(m, m);
            for (Eigen::Index a = 0; a < m; ++a)
              for (Eigen::Index b = 0; b < m; ++b) part(a, b) = K(3 * a + r, 3 * b + s);
            const Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic> at_nodes = W.transpose() * (part * W);
            for (Eigen::Index i = 0; i < n; ++i)
              for (Eigen::Index j = 0; j < n; ++j) matrix(3 * i + r, 3 * j + s) = at_nodes(i, j);
          }
        tangent.add(freedoms, k);
      });
}

void MeshTerm::add_node_blocks(const Linear& linear, std::span<Real> blocks) const {
  PartsAtNodes(*this).for_each(
      static_cast<const Stiffness&>(linear).of_mesh,
      [&](std::span<const std::int32_t> nodes, std::span<const Real> weights, const MeshStiffness::Weights& K) {
        const auto m = static_cast<Eigen::Index>(weights.size() / nodes.size());
        for (std::size_t i = 0; i < nodes.size(); ++i) {
          const Real* W = weights.data() + i * static_cast<std::size_t>(m);
          Mat3 block = Mat3::Zero();
          for (Eigen::Index a = 0; a < m; ++a)
            for (Eigen::Index b = 0; b < m; ++b) block += W[a] * W[b] * K.block<3, 3>(3 * a, 3 * b);
          Real* to = blocks.data() + 9 * (nodes[i] / NodeField::width);
          for (int e = 0; e < 9; ++e) to[e] += block(e / 3, e % 3);
        }
      });
}

}  // namespace weft
