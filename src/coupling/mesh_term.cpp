#include "weft/coupling/mesh_term.hpp"

#include "weft/math/block_rows.hpp"

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
  u_samples_.resize(H_.size());
  gather(transfer_, vertices_, places(), displacement.block(0), [&](ChunkRows rows, const ChunkMotion& moved) {
    for (std::size_t k = 0; k < rows.size(); ++k) u_[rows[k]] = moved.v[k];
  });
  gather(transfer_, samples_, sample_places(), displacement.block(0), [&](ChunkRows rows, const ChunkMotion& moved) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      H_[rows[k]] = moved.C[k];
      u_samples_[rows[k]] = moved.v[k];
    }
  });
}

void MeshTerm::move(const Motion& motion) const {
  feel(motion.u);
  const auto x = places();
  x_.resize(x.size());
  for (std::size_t r = 0; r < x.size(); ++r) x_[r] = x[r] + u_[r];
}

void MeshTerm::load() const {
  const auto loads = body_.forces();
  f_.assign(loads.begin(), loads.end());
  f_samples_.clear();
  if (gravity_.isZero(0)) return;
  f_samples_.resize(H_.size());
  body_.weigh_samples(gravity_, f_, f_samples_);
  for (Vec3& f : f_samples_) f = -f;
}

void MeshTerm::push_back(Load& force) const {
  push(transfer_, vertices_, places(), f_, {}, force.block(0));
  push(transfer_, samples_, sample_places(), f_samples_, A_, force.block(0));
}

Real MeshTerm::energy(const Motion& motion) const {
  move(motion);
  load();
  Real of_loads = 0;
  for (std::size_t r = 0; r < u_.size(); ++r) of_loads += f_[r].dot(u_[r]);
  for (std::size_t q = 0; q < f_samples_.size(); ++q) of_loads += f_samples_[q].dot(u_samples_[q]);
  return trial_.trial_energy(x_, H_) - of_loads;
}

void MeshTerm::add_force(const Motion& motion, Load& force) const {
  move(motion);
  load();
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
  f_samples_.clear();
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

namespace {

/// A stiffness summed by what its parts look at: a row for each vertex, which counts for u_r, and then three for each
/// quadrature point, which count for the columns of its H.
BlockRows summed_by_rows(const MeshStiffness& stiffness, std::size_t vertices, std::size_t samples) {
  using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
  BlockRows K;
  K.reset(vertices + 3 * samples);
  std::vector<std::int32_t> rows;
  Matrix W, KW;
  for (std::size_t k = 0; k < stiffness.size(); ++k) {
    const MeshStiffness::Part part = stiffness.part(k);
    rows.assign(part.rows.begin(), part.rows.end());
    const Eigen::Index m = part.w.rows(), count = part.w.cols() + (part.sample >= 0 ? 3 : 0);
    W.resize(m, count);
    W.leftCols(part.w.cols()) = part.w;
    if (part.sample >= 0) {
      W.rightCols<3>() = part.d.transpose();
      for (int axis = 0; axis < 3; ++axis)
        rows.push_back(static_cast<std::int32_t>(vertices) + 3 * static_cast<std::int32_t>(part.sample) + axis);
    }
    KW.setZero(3 * m, 3 * count);
    for (Eigen::Index a = 0; a < m; ++a)
      for (Eigen::Index b = 0; b < m; ++b)
        for (Eigen::Index s = 0; s < count; ++s)
          KW.block<3, 3>(3 * a, 3 * s) += W(b, s) * part.K.block<3, 3>(3 * a, 3 * b);
    for (Eigen::Index r = 0; r < count; ++r)
      for (Eigen::Index s = 0; s < count; ++s) {
        BlockRows::Block& block =
            K.at(static_cast<std::size_t>(rows[static_cast<std::size_t>(r)]), rows[static_cast<std::size_t>(s)]);
        for (Eigen::Index a = 0; a < m; ++a) block += W(a, r) * KW.block<3, 3>(3 * a, 3 * s);
      }
  }
  return K;
}

}  // namespace

/// With rows that move by weights of nodes, c_a = sum_i w_ai u_i, and their matrix K:
///   K_ij = sum_a w_ai T_aj,   T_aj = sum_b K_ab w_bj
/// of which a vertex brings one row a and a quadrature point three, which share their nodes i.
void MeshTerm::add_tangent(const Linear& linear, Tangent& tangent) const {
  std::vector<PointNodes> of_vertex(body_.points().rows()), of_sample(body_.samples().rows());
  for_each_point(transfer_, vertices_, places(),
                 [&](std::uint32_t row, const PointNodes& nodes) { of_vertex[row] = nodes; });
  for_each_point(transfer_, samples_, sample_places(),
                 [&](std::uint32_t row, const PointNodes& nodes) { of_sample[row] = nodes; });
  const std::size_t vertices = of_vertex.size();
  const BlockRows K = summed_by_rows(static_cast<const Stiffness&>(linear).of_mesh, vertices, of_sample.size());
  const auto nodes_of = [&](std::size_t row) -> const PointNodes& {
    return row < vertices ? of_vertex[row] : of_sample[(row - vertices) / 3];
  };
  const auto weight = [&](std::size_t row, std::size_t i) {
    return row < vertices ? of_vertex[row].w[i]
                          : of_sample[(row - vertices) / 3].G[i][static_cast<Eigen::Index>((row - vertices) % 3)];
  };

  std::vector<std::int32_t> place, columns, row_freedoms, column_freedoms;
  std::vector<BlockRows::Block> T;  // rows of one point side by side for each node of `columns`
  std::vector<Real> k;
  for (std::size_t first = 0, count = 0; first < K.rows(); first += count) {
    count = first < vertices ? 1 : 3;
    columns.clear();
    T.clear();
    for (std::size_t a = 0; a < count; ++a) {
      const auto others = K.columns(first + a);
      for (std::size_t b = 0; b < others.size(); ++b) {
        const auto other = static_cast<std::size_t>(others[b]);
        const PointNodes& its = nodes_of(other);
        for (std::size_t j = 0; j < its.at.size(); ++j) {
          const auto node = static_cast<std::size_t>(its.at[j] / NodeField::width);
          if (place.size() <= node) place.resize(node + 1, -1);
          if (place[node] < 0) {
            place[node] = static_cast<std::int32_t>(columns.size());
            columns.push_back(its.at[j]);
            T.resize(T.size() + count, BlockRows::Block::Zero());
          }
          T[static_cast<std::size_t>(place[node]) * count + a] += weight(other, j) * K.blocks(first + a)[b];
        }
      }
    }
    if (columns.empty()) continue;
    const PointNodes& its = nodes_of(first);
    row_freedoms.clear();
    column_freedoms.clear();
    for (const std::int32_t node : its.at)
      for (int r = 0; r < 3; ++r) row_freedoms.push_back(node + r);
    for (const std::int32_t node : columns)
      for (int s = 0; s < 3; ++s) column_freedoms.push_back(node + s);
    k.resize(row_freedoms.size() * column_freedoms.size());
    for (std::size_t i = 0; i < its.at.size(); ++i)
      for (std::size_t j = 0; j < columns.size(); ++j) {
        BlockRows::Block block = BlockRows::Block::Zero();
        for (std::size_t a = 0; a < count; ++a) block += weight(first + a, i) * T[j * count + a];
        for (std::size_t r = 0; r < 3; ++r)
          for (std::size_t s = 0; s < 3; ++s)
            k[(3 * i + r) * column_freedoms.size() + 3 * j + s] =
                block(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(s));
      }
    tangent.add(row_freedoms, column_freedoms, k);
    for (const std::int32_t node : columns) place[static_cast<std::size_t>(node / NodeField::width)] = -1;
  }
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
