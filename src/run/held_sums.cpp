#include "run/held_sums.hpp"

#include "weft/grid/node_field.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace weft {
namespace {

constexpr int width = NodeField::width;

using Row = Eigen::Matrix<Real, width, 1>;

Eigen::Map<const Row> row_at(const Real* values, std::ptrdiff_t at) { return Eigen::Map<const Row>(values + at); }

/// Term by term.
Real dot(const RealVector& a, const RealVector& b) {
  return std::inner_product(a.data(), a.data() + a.size(), b.data(), Real(0));
}

/// Steps of conjugate gradients; more of them throw light nodes about.
constexpr int most_steps = 4;
/// They end where conditions are met to this many grid spacings, all together (root of the sum of squares).
constexpr Real tolerance = 1e-12;

}  // namespace

// --- Points and the nodes around them --------------------------------------------------------------------------------

void NodesAround::find(const Cuts& cuts, const TransferSettings& transfer, std::span<const Vec3> x) {
  id_.resize(x.size());
  std::iota(id_.begin(), id_.end(), PointId(0));
  bins_.sort(transfer.dx, x, id_);
  std::vector<BlockKey> touched = touched_blocks(std::span(&bins_, 1));
  if (comm_.any(!has_map_ || touched != touched_ || !(cuts == cuts_))) {
    touched_ = std::move(touched);
    cuts_ = cuts;
    map_ = BlockMap(comm_, cuts_, touched_);
    has_map_ = true;
  }
  bins_.number(map_);
  find_weights(transfer, bins_, x, weights_);
  of_point_.resize(width * x.size());
  sort_by_node();
  find_nodes();
}

/// The transpose of the weights: a counting sort by node, points of a node in their order.
void NodesAround::sort_by_node() {
  next_.assign(static_cast<std::size_t>(map_.size()) * nodes_per_block, 0);
  for (const std::int32_t at : weights_.at) ++next_[static_cast<std::size_t>(at / width)];
  reached_.clear();
  begin_.assign(1, 0);
  for (std::size_t node = 0; node < next_.size(); ++node) {
    const std::uint32_t count = next_[node];
    if (count == 0) continue;
    reached_.push_back(static_cast<std::int32_t>(width * node));
    next_[node] = static_cast<std::uint32_t>(begin_.back());
    begin_.push_back(begin_.back() + count);
  }
  point_.resize(weights_.at.size());
  weight_.resize(weights_.at.size());
  for (std::size_t entry = 0; entry < weights_.at.size(); ++entry) {
    const std::uint32_t to = next_[static_cast<std::size_t>(weights_.at[entry] / width)]++;
    point_[to] = static_cast<std::uint32_t>(entry / weights_.of_each);
    weight_[to] = weights_.w[entry];
  }
}

/// Owned nodes that points of any rank reach.
void NodesAround::find_nodes() {
  of_node_.reset(map_.size());
  for (const std::int32_t at : reached_) of_node_.block(0)[at] = 1;
  map_.forest().sum_to_owners(of_node_.view());
  nodes_.clear();
  for (int b = 0; b < map_.owned(); ++b)
    for (int place = 0; place < nodes_per_block; ++place)
      if (Real* const row = of_node_.block(b) + place * width; *row > 0)
        nodes_.push_back({map_.first_node(b) + node_at_place(place), row});
}

void NodesAround::gather() {
  map_.forest().update_ghosts(of_node_.view());
  const Real* const of_node = of_node_.block(0);
  const auto count = static_cast<std::ptrdiff_t>(of_point_.size() / width);
  const auto of_each = static_cast<std::ptrdiff_t>(weights_.of_each);
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t p = 0; p < count; ++p) {
    Row sum = Row::Zero();
    for (std::ptrdiff_t entry = p * of_each; entry < (p + 1) * of_each; ++entry)
      sum += weights_.w[entry] * row_at(of_node, weights_.at[entry]);
    Eigen::Map<Row>(of_point_.data() + width * p) = sum;
  }
}

void NodesAround::spread() {
  for (const Node& node : nodes_) node.value().setZero();  // other ranks may be all that reach it
  std::fill(of_node_.block(map_.owned()), of_node_.block(map_.size()), Real(0));
  Real* const of_node = of_node_.block(0);
  const auto count = static_cast<std::ptrdiff_t>(reached_.size());
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    Row sum = Row::Zero();
    for (std::size_t entry = begin_[i]; entry < begin_[i + 1]; ++entry)
      sum += weight_[entry] * row_at(of_point_.data(), static_cast<std::ptrdiff_t>(width) * point_[entry]);
    Eigen::Map<Row>(of_node + reached_[i]) = sum;
  }
  map_.forest().sum_to_owners(of_node_.view());
}

Vec3 NodesAround::sum(std::span<const Weighted> points) const {
  Vec3 sum = Vec3::Zero();
  for (const auto& [point, weight] : points) sum += weight * Eigen::Map<const Vec3>(of_point_.data() + width * point);
  return sum;
}

void NodesAround::add(std::span<const Weighted> points, const Vec3& value) {
  for (const auto& [point, weight] : points) Eigen::Map<Vec3>(of_point_.data() + width * point) += weight * value;
}

/// The last number of a node's row, which is zero before and after, collects its weight.
Vec3 NodesAround::square_sum(std::span<const Weighted> points) {
  Real* const of_node = of_node_.block(0);
  const auto for_each_entry = [&](auto&& visit) {
    for (const auto& [point, weight] : points)
      for (std::size_t e = point * weights_.of_each; e < (point + 1) * weights_.of_each; ++e)
        visit(of_node + weights_.at[e], weight * weights_.w[e]);
  };
  for_each_entry([](Real* row, Real weight) { row[width - 1] += weight; });
  Vec3 sum = Vec3::Zero();
  for_each_entry([&](Real* row, Real) {
    sum += row[width - 1] * row[width - 1] * Eigen::Map<const Vec3>(row);
    row[width - 1] = 0;
  });
  return sum;
}

// --- Sums ------------------------------------------------------------------------------------------------------------

void HeldSums::find(const Cuts& cuts, Real time) {
  held_.clear();
  points_.clear();
  x_.clear();
  for (std::size_t b = 0; b < scene_.bodies.size(); ++b) {
    const MeshBody* body = scene_.bodies[b]->roles().mesh;
    if (body == nullptr || scene_.on_layer[b] != layer_) continue;
    point_of_row_.assign(body->points().rows(), -1);
    for (std::size_t h = 0; h < scene_.handles.size(); ++h) {
      const GridHandle& handle = scene_.handles[h];
      if (handle.body != b || !scene_.is_on_layer(handle, layer_)) continue;
      if (const GridHandle::Hold* hold = handle.hold(); hold != nullptr && hold->holds_from(time))
        take(h, *body, body->grips(handle.list));
    }
  }
  around_.find(cuts, scene_.layers[layer_].transfer, x_);
}

void HeldSums::take(std::size_t handle, const MeshBody& body, std::span<const Grip> grips) {
  const auto x = body.points().get<Position>(), v = body.points().get<Velocity>();
  for (const Grip& grip : grips) {
    const HeldAim aim = aim_of(grip);
    held_.push_back(
        {{handle, aim, grip.sum(x), aim.axis}, grip.sum(v), points_.size(), points_.size() + grip.rows.size()});
    for (std::size_t k = 0; k < grip.rows.size(); ++k) {
      std::int32_t& point = point_of_row_[static_cast<std::size_t>(grip.rows[k])];
      if (point < 0) {
        point = static_cast<std::int32_t>(x_.size());
        x_.push_back(x[grip.rows[k]]);
      }
      points_.push_back({static_cast<std::uint32_t>(point), grip.vertices[k].weights[0]});
    }
  }
}

void HeldSums::sum_along_axes(RealVector& of_sum) const {
  for (std::size_t c = 0; c < held_.size(); ++c) of_sum[c] = held_[c].axis.dot(around_.sum(points_of(c)));
}

/// Impulses along the axes of sums to their change of velocity; afterwards nodes have theirs.
void HeldSums::apply(const RealVector& impulse, RealVector& velocity_change) {
  around_.clear_points();
  for (std::size_t c = 0; c < held_.size(); ++c) around_.add(points_of(c), impulse[c] * held_[c].axis);
  around_.spread();
  const auto count = static_cast<std::ptrdiff_t>(grasped_.size());
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    Eigen::Map<Vec3> value = around_.nodes()[i].value();
    value = grasped_[i].mobility * Vec3(value);
  }
  around_.gather();
  sum_along_axes(velocity_change);
}

/// Finds what nodes do without handles, and how they give way.
void HeldSums::look_at_nodes(Real time, const BlockMap& map, Layer& layer) {
  std::vector<RigidState> walls;
  for (const Wall& wall : scene_.walls) walls.push_back(wall.shape.at(time));
  const NodeField& inertia = layer.get<NodeInertia>();
  NodeField& velocity = layer.get<NodeVelocity>();
  grasped_.clear();
  for (const NodesAround::Node& node : around_.nodes()) {
    const int block = map.find(block_of_node(node.index)), place = width * place_in_block(node.index);
    WEFT_ENSURE(0 <= block && block < map.owned());
    const Real mass = inertia.block(block)[place];
    const Eigen::Map<Vec3> v(velocity.block(block) + place);
    Mat3 mobility = Mat3::Zero();
    if (mass > 0)
      mobility = wall_projection(scene_.walls, walls, scene_.dx, node.index.cast<Real>() * scene_.dx, v) / mass;
    grasped_.push_back({v, mobility});
    node.value() = v;
  }
}

/// One over the diagonal of W P M^-1 P W^T, but for what P / m has beside its own diagonal; 0 where walls hold a sum
/// fast. Sums along several axes follow one another.
std::vector<Real> HeldSums::preconditioner() {
  for (std::size_t i = 0; i < grasped_.size(); ++i) around_.nodes()[i].value() = grasped_[i].mobility.diagonal();
  around_.gather();
  std::vector<Real> per_diagonal(held_.size(), 0.0);
  Vec3 mobility;  // along x, y, z
  for (std::size_t c = 0; c < held_.size(); ++c) {
    if (c == 0 || !std::ranges::equal(points_of(c), points_of(c - 1))) mobility = around_.square_sum(points_of(c));
    if (const Real diagonal = mobility.dot(held_[c].axis.cwiseAbs2()); diagonal > 0) per_diagonal[c] = 1 / diagonal;
  }
  return per_diagonal;
}

/// Nearly the impulses lambda with W P M^-1 P W^T lambda = change. Collective.
RealVector HeldSums::solve(RealVector change, Real missed) {
  const std::vector<Real> per_diagonal = preconditioner();
  RealVector lambda;
  conjugate_gradients(
      lambda, change, missed, most_steps, [&](const RealVector& p, RealVector& S_p) { apply(p, S_p); },
      [&](const RealVector& r, RealVector& z) {
        z = r.cwiseProduct(Eigen::Map<const RealVector>(per_diagonal.data(), r.size()));
      },
      [&](const RealVector& p, const RealVector& S_p) { return comm_.sum(dot(p, S_p)); },
      [&](const RealVector& r, const RealVector& z) {
        std::array<Real, 2> products{dot(r, z), dot(r, r)};
        comm_.sum(products);
        return products;
      },
      [](const RealVector&, Real) {});
  return lambda;
}

void HeldSums::hold(Real dt, Real time, const BlockMap& map, Layer& layer, std::span<Impulse> impulses) {
  const std::size_t count = held_.size();
  if (comm_.sum(static_cast<std::int64_t>(count)) == 0) return;
  std::vector<RigidState> states;
  for (const GridHandle& handle : scene_.handles)
    states.push_back(handle.hold() ? handle.hold()->motion.at(time + dt) : RigidState{});
  for (Held& held : held_) held.axis = states[held.handle].rotation * held.aim.axis;

  look_at_nodes(time + dt / 2, map, layer);
  std::vector<Real> wanted(count);
  RealVector change(static_cast<Eigen::Index>(count));
  around_.gather();
  sum_along_axes(change);
  for (std::size_t c = 0; c < count; ++c) {
    wanted[c] = held_[c].change(states[held_[c].handle]) / dt;
    change[c] = wanted[c] - change[c];
  }
  const RealVector lambda = solve(change, tolerance * scene_.dx / dt);
  apply(lambda, change);
  for (std::size_t i = 0; i < grasped_.size(); ++i) grasped_[i].velocity += around_.nodes()[i].value();

  for (std::size_t c = 0; c < count; ++c) {
    const Held& held = held_[c];
    held.add_to(impulses[held.handle], states[held.handle], lambda[c], (held.axis.dot(held.v) + wanted[c]) / 2);
  }
}

}  // namespace weft
