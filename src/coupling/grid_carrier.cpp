#include "weft/coupling/grid_carrier.hpp"

#include "weft/math/block_rows.hpp"

namespace weft {

/// Work of the assembly, kept for its memory.
struct GridCarrier::Assembly {
  std::vector<PointNodes> of_vertex, of_sample;
  std::vector<std::int32_t> place;  ///< Of each node among those of the present part or row; -1: not there.
  std::vector<std::int32_t> nodes;
  // Of `add_diagonal_blocks`: of each node a row of weights.
  std::vector<Real> W;
  // Of `add_tangent`.
  BlockRows K;
  std::vector<BlockRows::Block> T;  ///< Rows of one point side by side for each node of `nodes`.
  std::vector<std::int32_t> rows, row_freedoms, column_freedoms;
  std::vector<Real> k;
  Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic> weights, products;

  void find_nodes(const GridCarrier& carrier);
  template <class Visit>
  void for_each_part(const MeshStiffness& stiffness, Visit&& visit);
  void sum_by_rows(const MeshStiffness& stiffness);
  void add_rows(Tangent& tangent);
  /// The index of a node, which may be a new one, and whether it is.
  std::pair<std::size_t, bool> place_of(std::int32_t node);
  void forget_places();
};

GridCarrier::GridCarrier(const MeshBody& body, const Bins& vertices, const Bins& samples,
                         const TransferSettings& transfer)
    : body_(body),
      vertices_(vertices),
      samples_(samples),
      transfer_(transfer),
      assembly_(std::make_unique<Assembly>()) {}

GridCarrier::~GridCarrier() = default;

void GridCarrier::gather(const FreedomValues& displacement, MeshMotion& to) const {
  to.gathered.resize(body_.points().rows());
  to.H.resize(body_.samples().rows());
  to.u_samples.resize(to.H.size());
  weft::gather(transfer_, vertices_, positions(), displacement.block(0), [&](ChunkRows rows, const ChunkMotion& moved) {
    for (std::size_t k = 0; k < rows.size(); ++k) to.gathered[rows[k]] = moved.v[k];
  });
  to.u = to.gathered;
  weft::gather(transfer_, samples_, sample_positions(), displacement.block(0),
               [&](ChunkRows rows, const ChunkMotion& moved) {
                 for (std::size_t k = 0; k < rows.size(); ++k) {
                   to.H[rows[k]] = moved.C[k];
                   to.u_samples[rows[k]] = moved.v[k];
                 }
               });
}

void GridCarrier::scatter(const MeshForces& from, Load& to) const {
  push(transfer_, vertices_, positions(), from.f, {}, to.block(0));
  push(transfer_, samples_, sample_positions(), from.f_samples, from.A, to.block(0));
}

void GridCarrier::Assembly::find_nodes(const GridCarrier& carrier) {
  of_vertex.resize(carrier.body_.points().rows());
  of_sample.resize(carrier.body_.samples().rows());
  for_each_point(carrier.transfer_, carrier.vertices_, carrier.positions(),
                 [&](std::uint32_t row, const PointNodes& its) { of_vertex[row] = its; });
  for_each_point(carrier.transfer_, carrier.samples_, carrier.sample_positions(),
                 [&](std::uint32_t row, const PointNodes& its) { of_sample[row] = its; });
}

std::pair<std::size_t, bool> GridCarrier::Assembly::place_of(std::int32_t node) {
  const auto n = static_cast<std::size_t>(node / NodeField::width);
  if (place.size() <= n) place.resize(n + 1, -1);
  const bool is_new = place[n] < 0;
  if (is_new) {
    place[n] = static_cast<std::int32_t>(nodes.size());
    nodes.push_back(node);
  }
  return {static_cast<std::size_t>(place[n]), is_new};
}

void GridCarrier::Assembly::forget_places() {
  for (const std::int32_t node : nodes) place[static_cast<std::size_t>(node / NodeField::width)] = -1;
  nodes.clear();
}

/// The parts of a stiffness with the nodes that they reach, c_k = sum_i W_ik u_i: calls visit(nodes, W, K) for each,
/// with numbers of the first of the four reals of nodes, each once; W has a row of weights of the vectors for each.
template <class Visit>
void GridCarrier::Assembly::for_each_part(const MeshStiffness& stiffness, Visit&& visit) {
  for (std::size_t k = 0; k < stiffness.size(); ++k) {
    const MeshStiffness::Part part = stiffness.part(k);
    const auto vectors = static_cast<std::size_t>(part.w.rows());
    W.clear();
    const auto weights_of = [&](std::int32_t node) {
      const auto [n, is_new] = place_of(node);
      if (is_new) W.resize(W.size() + vectors, 0.0);
      return W.data() + n * vectors;
    };
    for (std::size_t r = 0; r < part.rows.size(); ++r) {
      const PointNodes& at = of_vertex[static_cast<std::size_t>(part.rows[r])];
      for (std::size_t i = 0; i < at.at.size(); ++i) {
        Real* its = weights_of(at.at[i]);
        for (std::size_t v = 0; v < vectors; ++v)
          its[v] += at.w[i] * part.w(static_cast<Eigen::Index>(v), static_cast<Eigen::Index>(r));
      }
    }
    if (part.sample >= 0) {
      const PointNodes& at = of_sample[static_cast<std::size_t>(part.sample)];
      for (std::size_t i = 0; i < at.at.size(); ++i) {
        Real* its = weights_of(at.at[i]);
        for (std::size_t v = 0; v < vectors; ++v) its[v] += at.G[i].dot(part.d.col(static_cast<Eigen::Index>(v)));
      }
    }
    visit(std::span<const std::int32_t>(nodes), std::span<const Real>(W), part.K);
    forget_places();
  }
}

/// The stiffness summed by what its parts look at: a row for each vertex, which counts for u_r, and then three for each
/// quadrature point, which count for the columns of its H.
void GridCarrier::Assembly::sum_by_rows(const MeshStiffness& stiffness) {
  const std::size_t vertices = of_vertex.size();
  K.reset(vertices + 3 * of_sample.size());
  for (std::size_t n = 0; n < stiffness.size(); ++n) {
    const MeshStiffness::Part part = stiffness.part(n);
    rows.assign(part.rows.begin(), part.rows.end());
    const Eigen::Index m = part.w.rows(), count = part.w.cols() + (part.sample >= 0 ? 3 : 0);
    weights.resize(m, count);
    weights.leftCols(part.w.cols()) = part.w;
    if (part.sample >= 0) {
      weights.rightCols<3>() = part.d.transpose();
      for (int axis = 0; axis < 3; ++axis)
        rows.push_back(static_cast<std::int32_t>(vertices) + 3 * static_cast<std::int32_t>(part.sample) + axis);
    }
    products.setZero(3 * m, 3 * count);
    for (Eigen::Index a = 0; a < m; ++a)
      for (Eigen::Index b = 0; b < m; ++b)
        for (Eigen::Index s = 0; s < count; ++s)
          products.block<3, 3>(3 * a, 3 * s) += weights(b, s) * part.K.block<3, 3>(3 * a, 3 * b);
    for (Eigen::Index r = 0; r < count; ++r)
      for (Eigen::Index s = 0; s < count; ++s) {
        BlockRows::Block& block =
            K.at(static_cast<std::size_t>(rows[static_cast<std::size_t>(r)]), rows[static_cast<std::size_t>(s)]);
        for (Eigen::Index a = 0; a < m; ++a) block += weights(a, r) * products.block<3, 3>(3 * a, 3 * s);
      }
  }
}

/// With rows that move by weights of nodes, c_a = sum_i w_ai u_i, and their matrix K:
///   K_ij = sum_a w_ai T_aj,   T_aj = sum_b K_ab w_bj
/// of which a vertex brings one row a and a quadrature point three, which share their nodes i.
void GridCarrier::Assembly::add_rows(Tangent& tangent) {
  const std::size_t vertices = of_vertex.size();
  const auto nodes_of = [&](std::size_t row) -> const PointNodes& {
    return row < vertices ? of_vertex[row] : of_sample[(row - vertices) / 3];
  };
  const auto weight = [&](std::size_t row, std::size_t i) {
    return row < vertices ? of_vertex[row].w[i]
                          : of_sample[(row - vertices) / 3].G[i][static_cast<Eigen::Index>((row - vertices) % 3)];
  };
  for (std::size_t first = 0, count = 0; first < K.rows(); first += count) {
    count = first < vertices ? 1 : 3;
    T.clear();
    for (std::size_t a = 0; a < count; ++a) {
      const auto others = K.columns(first + a);
      for (std::size_t b = 0; b < others.size(); ++b) {
        const auto other = static_cast<std::size_t>(others[b]);
        const PointNodes& its = nodes_of(other);
        for (std::size_t j = 0; j < its.at.size(); ++j) {
          const auto [node, is_new] = place_of(its.at[j]);
          if (is_new) T.resize(T.size() + count, BlockRows::Block::Zero());
          T[node * count + a] += weight(other, j) * K.blocks(first + a)[b];
        }
      }
    }
    if (nodes.empty()) continue;
    const PointNodes& its = nodes_of(first);
    row_freedoms.clear();
    column_freedoms.clear();
    for (const std::int32_t node : its.at)
      for (int r = 0; r < 3; ++r) row_freedoms.push_back(node + r);
    for (const std::int32_t node : nodes)
      for (int s = 0; s < 3; ++s) column_freedoms.push_back(node + s);
    k.resize(row_freedoms.size() * column_freedoms.size());
    for (std::size_t i = 0; i < its.at.size(); ++i)
      for (std::size_t j = 0; j < nodes.size(); ++j) {
        BlockRows::Block block = BlockRows::Block::Zero();
        for (std::size_t a = 0; a < count; ++a) block += weight(first + a, i) * T[j * count + a];
        for (std::size_t r = 0; r < 3; ++r)
          for (std::size_t s = 0; s < 3; ++s)
            k[(3 * i + r) * column_freedoms.size() + 3 * j + s] =
                block(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(s));
      }
    tangent.add(row_freedoms, column_freedoms, k);
    forget_places();
  }
}

void GridCarrier::add_tangent(const MeshStiffness& stiffness, Tangent& tangent) const {
  assembly_->find_nodes(*this);
  assembly_->sum_by_rows(stiffness);
  assembly_->add_rows(tangent);
}

void GridCarrier::add_diagonal_blocks(const MeshStiffness& stiffness, std::size_t block,
                                      std::span<Real> matrices) const {
  if (block != 0) return;
  assembly_->find_nodes(*this);
  assembly_->for_each_part(stiffness, [&](std::span<const std::int32_t> nodes, std::span<const Real> weights,
                                          const MeshStiffness::Weights& K) {
    const auto m = static_cast<Eigen::Index>(weights.size() / nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Real* W = weights.data() + i * static_cast<std::size_t>(m);
      Mat3 of_node = Mat3::Zero();
      for (Eigen::Index a = 0; a < m; ++a)
        for (Eigen::Index b = 0; b < m; ++b) of_node += W[a] * W[b] * K.block<3, 3>(3 * a, 3 * b);
      Real* to = matrices.data() + 9 * (nodes[i] / NodeField::width);
      for (int e = 0; e < 9; ++e) to[e] += of_node(e / 3, e % 3);
    }
  });
}

}  // namespace weft
