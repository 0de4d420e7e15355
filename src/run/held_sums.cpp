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
  if (comm_.any(!bins_.is_numbered() || !(cuts == cuts_))) {
    cuts_ = cuts;
    map_ = BlockMap(comm_, cuts_, touched_blocks(std::span(&bins_, 1)));
    bins_.number(map_);
  }
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
  std::size_t entry = 0;
  for (std::uint32_t point = 0; entry < weights_.at.size(); ++point)
    for (const std::size_t end = entry + weights_.of_each; entry < end; ++entry) {
      const std::uint32_t to = next_[static_cast<std::size_t>(weights_.at[entry] / width)]++;
      point_[to] = point;
      weight_[to] = weights_.w[entry];
    }
}

/// Owned nodes that points of any rank reach. The first number of a row counts this rank, the second the others.
void NodesAround::find_nodes() {
  of_node_.reset(map_.size());
  const std::int32_t ghosts = NodeField::row * map_.owned();
  for (const std::int32_t at : reached_) of_node_.block(0)[at < ghosts ? at : at + 1] = 1;
  map_.forest().sum_to_owners(of_node_.view());
  nodes_.clear();
  reached_by_others_.clear();
  for (int b = 0; b < map_.owned(); ++b)
    for (int place = 0; place < nodes_per_block; ++place)
      if (Real* const row = of_node_.block(b) + place * width; row[0] + row[1] > 0) {
        if (!(row[0] > 0)) reached_by_others_.push_back(nodes_.size());
        nodes_.push_back({map_.first_node(b) + node_at_place(place), row});
      }
}

void NodesAround::gather() {
  share();
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
  for (const std::size_t i : reached_by_others_) nodes_[i].value().setZero();
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
  Row sum = Row::Zero();
  for_each_entry([&](Real* row, Real) {
    sum += row[width - 1] * row[width - 1] * row_at(row, 0);
    row[width - 1] = 0;
  });
  return sum.head<3>();
}

// --- Sums ------------------------------------------------------------------------------------------------------------

std::vector<HeldSums::Holding> HeldSums::holding(Real time) const {
  std::vector<Holding> holding;
  for (std::size_t b = 0; b < scene_.bodies.size(); ++b) {
    const MeshBody* body = scene_.bodies[b]->roles().mesh;
    if (body == nullptr || scene_.on_layer[b] != layer_) continue;
    for (std::size_t h = 0; h < scene_.handles.size(); ++h) {
      const GridHandle& handle = scene_.handles[h];
      if (handle.body != b || !scene_.is_on_layer(handle, layer_)) continue;
      if (const GridHandle::Hold* hold = handle.hold(); hold != nullptr && hold->holds_from(time))
        holding.push_back({h, body->cut()});
    }
  }
  return holding;
}

void HeldSums::find(const Cuts& cuts, Real time) {
  if (std::vector<Holding> now = holding(time); now != holding_) {
    take(now);
    holding_ = std::move(now);
  }
  begin_step();
  around_.find(cuts, scene_.layers[layer_].transfer, x_);
}

void HeldSums::take(std::span<const Holding> holding) {
  held_.clear();
  bundles_.clear();
  points_.clear();
  edges_.clear();
  rows_.clear();
  bodies_.clear();
  for (const auto& [h, cut] : holding) {
    const MeshBody& body = *scene_.mesh_of(scene_.handles[h]);
    if (bodies_.empty() || bodies_.back().body != &body) {
      bodies_.push_back({&body, {rows_.size(), rows_.size()}});
      point_of_row_.assign(body.points().rows(), -1);
    }
    for (const Grip& grip : body.grips(scene_.handles[h].list)) add(h, grip);
    bodies_.back().points.end = rows_.size();
  }
  x_.resize(rows_.size());
  v_.resize(rows_.size());
}

void HeldSums::add(std::size_t handle, const Grip& grip) {
  const std::size_t begin = points_.size(), c = held_.size();
  for (std::size_t k = 0; k < grip.rows.size(); ++k) {
    std::int32_t& point = point_of_row_[static_cast<std::size_t>(grip.rows[k])];
    if (point < 0) {
      point = static_cast<std::int32_t>(rows_.size());
      rows_.push_back(grip.rows[k]);
    }
    points_.push_back({static_cast<std::uint32_t>(point), grip.vertices[k].weights[0]});
    edges_.push_back(grip.vertices[k].weights[1]);
  }
  held_.push_back({{handle, aim_of(grip), {}, {}}, {}, {}});
  const Bundle bundle{{begin, points_.size()}, {c, c + 1}};
  if (!bundles_.empty() && std::ranges::equal(points_of(bundle), points_of(bundles_.back())) &&
      std::ranges::equal(edges_of(bundle), edges_of(bundles_.back()))) {
    points_.resize(begin);
    edges_.resize(begin);
    bundles_.back().held.end = c + 1;
  } else bundles_.push_back(bundle);
}

void HeldSums::begin_step() {
  for (const auto& [body, points] : bodies_) {
    const auto x = body->points().get<Position>(), v = body->points().get<Velocity>();
    for (std::size_t p = points.begin; p < points.end; ++p) {
      x_[p] = x[rows_[p]];
      v_[p] = v[rows_[p]];
    }
  }
  for (const Bundle& bundle : bundles_) {
    Vec3 x = Vec3::Zero(), v = Vec3::Zero(), edge = Vec3::Zero();
    for (std::size_t k = bundle.points.begin; k < bundle.points.end; ++k) {
      const auto& [point, weight] = points_[k];
      x += weight * x_[point];
      v += weight * v_[point];
      edge += edges_[k] * x_[point];
    }
    for (std::size_t c = bundle.held.begin; c < bundle.held.end; ++c) {
      held_[c].x = x;
      held_[c].v = v;
      held_[c].edge = edge;
    }
  }
}

void HeldSums::sum_along_axes(RealVector& of_sum) const {
  for (const Bundle& bundle : bundles_) {
    const Vec3 sum = around_.sum(points_of(bundle));
    for (std::size_t c = bundle.held.begin; c < bundle.held.end; ++c) of_sum[c] = held_[c].axis.dot(sum);
  }
}

/// Nodes get their change of velocity by impulses along the axes of sums. Collective.
void HeldSums::push(const RealVector& impulse) {
  around_.clear_points();
  for (const Bundle& bundle : bundles_) {
    Vec3 sum = Vec3::Zero();
    for (std::size_t c = bundle.held.begin; c < bundle.held.end; ++c) sum += impulse[c] * held_[c].axis;
    around_.add(points_of(bundle), sum);
  }
  around_.spread();
  const auto count = static_cast<std::ptrdiff_t>(grasped_.size());
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const auto& [velocity, per_mass, at_walls] = grasped_[i];
    Eigen::Map<Vec3> value = around_.nodes()[i].value();
    value *= per_mass;
    if (at_walls >= 0) value = projections_[at_walls] * Vec3(value);
  }
}

/// Impulses along the axes of sums to their change of velocity. Collective.
void HeldSums::apply(const RealVector& impulse, RealVector& velocity_change) {
  push(impulse);
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
  projections_.clear();
  int block = -1;
  for (const NodesAround::Node& node : around_.nodes()) {
    const Vec3i its_block = block_of_node(node.index);
    if (block < 0 || map.block(block) != its_block) block = map.find(its_block);
    const int place = width * place_in_block(node.index);
    WEFT_ENSURE(0 <= block && block < map.owned());
    const Real mass = inertia.block(block)[place];
    const Eigen::Map<Vec3> v(velocity.block(block) + place);
    const auto P = wall_projection(scene_.walls, walls, scene_.dx, node.index.cast<Real>() * scene_.dx, v);
    grasped_.push_back({v, mass > 0 ? 1 / mass : 0, P ? static_cast<std::int32_t>(projections_.size()) : -1});
    if (P) projections_.push_back(*P);
    node.value() = v;
  }
}

/// One over the diagonal of W P M^-1 P W^T, but for what P / m has beside its own diagonal; 0 where walls hold a sum
/// fast. Collective.
std::vector<Real> HeldSums::preconditioner() {
  for (std::size_t i = 0; i < grasped_.size(); ++i) {
    const auto& [velocity, per_mass, at_walls] = grasped_[i];
    around_.nodes()[i].value() =
        at_walls < 0 ? Vec3(Vec3::Constant(per_mass)) : per_mass * projections_[at_walls].diagonal();
  }
  around_.share();
  std::vector<Real> per_diagonal(held_.size(), 0.0);
  for (const Bundle& bundle : bundles_) {
    const Vec3 mobility = around_.square_sum(points_of(bundle));  // along x, y, z
    for (std::size_t c = bundle.held.begin; c < bundle.held.end; ++c)
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
  for (Held& held : held_) held.axis = held.aim.direction(states[held.handle], held.edge);

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
  push(lambda);
  for (std::size_t i = 0; i < grasped_.size(); ++i) grasped_[i].velocity += around_.nodes()[i].value();

  for (std::size_t c = 0; c < count; ++c) {
    const Held& held = held_[c];
    held.add_to(impulses[held.handle], states[held.handle], lambda[c], (held.axis.dot(held.v) + wanted[c]) / 2);
  }
}

}  // namespace weft
