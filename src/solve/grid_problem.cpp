#include "solve/grid_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace weft {
namespace {

/// Differences of energies beneath this fraction of them are round-off.
constexpr Real energy_noise = 1e-12;
/// Of dt^2 K_ii / m_i where a quadratic kernel sees a body all around it, in (dt c / dx)^2, c being the fastest wave:
/// per axis int N'^2 dx^2 / int N = 1 and int N^2 / int N = 0.55, so 0.55^2 (1 + 2 c_s^2 / c^2), with c_s^2 = c^2 / 4.
constexpr Real diagonal = 0.45;
/// Of k: what the derivative gets on its diagonal without inertia, for motions of nodes that no point sees.
constexpr Real unseen = 1e-8;
/// The least k_i / m_i without inertia, as a part of k.
constexpr Real least_wall_share = 1e-3;

}  // namespace

GridProblem::GridProblem(const Comm& comm, const BlockMap& map, std::vector<const Term*> terms,
                         std::vector<const Constraints*> constraints, const ImplicitSettings& settings)
    : comm_(comm),
      map_(map),
      terms_(std::move(terms)),
      settings_(settings),
      nodes_(static_cast<std::size_t>(map.owned()) * nodes_per_block),
      freedoms_({{"grid", NodeField::row, &map.forest()}}),
      block_freedoms_({{"node blocks", 9 * nodes_per_block, &map.forest()}}),
      motion_(freedoms_),
      force_(freedoms_),
      change_(freedoms_),
      node_blocks_(block_freedoms_),
      holds_(comm, freedoms_, std::move(constraints), nodes_),
      root_mass_(nodes_),
      old_velocity_(nodes_),
      free_velocity_(nodes_),
      impulse_(nodes_) {}

GridProblem::~GridProblem() {
  check_petsc(VecDestroy(&held_part_));
  check_petsc(VecDestroy(&held_product_));
}

// --- Of the step -----------------------------------------------------------------------------------------------------

void GridProblem::begin_step(const ImplicitStep& step, std::span<const Wall> walls, const NodeField& inertia) {
  step_ = step;
  motion_.rate_per_u = 1 / step.dt;
  motion_.time = step.time + step.dt;
  // Nodes that had mass in the last step may have none now.
  for (FreedomValues* values : {&motion_.u, &change_}) values->set_zero();
  const Vec3 fall = step.dt * step.gravity;
#pragma omp parallel for schedule(static)
  for (std::size_t n = 0; n < nodes_; ++n) {
    const Real* node = inertia.block(0) + NodeField::width * n;
    root_mass_[n] = node[0] > 0 ? std::sqrt(node[0]) : 0;
    old_velocity_[n] = node[0] > 0 ? Vec3(Eigen::Map<const Vec3>(node + 1) / node[0]) : Vec3::Zero();
    free_velocity_[n] = old_velocity_[n] + fall;
  }
  const Real stiffness = diagonal * std::pow(step.dt * step.wave_speed / step.dx, 2);
  k_ = settings_.inertia ? 1 + stiffness : std::max(1.0, stiffness);
  walls_.begin_step(step, walls, map_, inertia);
  holds_.begin_step(step.time + step.dt, step.dt, k_, root_mass_);

  std::array<Real, 2> sums{sum_over_nodes([&](std::size_t n) { return mass(n); }),
                           sum_over_nodes([&](std::size_t n) { return mass(n) * old_velocity_[n].squaredNorm(); })};
  comm_.sum(sums);
  gravity_size_ = sums[0] * fall.squaredNorm();
  noise_ = 1e-13 * std::sqrt(sums[0]) * step.dt * step.wave_speed * step.wave_speed / step.dx +
           1e-14 * std::sqrt(sums[1] + gravity_size_);
  weigh_walls();
}

/// k_i from the derivative at the start of the step: in the same step, bodies may be soft and hard.
void GridProblem::weigh_walls() {
  if (!comm_.any(!walls_.nodes().empty())) return;
  for (FreedomValues* values : {&motion_.u, &motion_.rate}) values->set_zero();
  take_derivatives(false);
  find_blocks();
  const Real least = settings_.inertia ? 1 : least_wall_share * k_;
  walls_.weigh([&](const WallNode& node) { return std::max(block(node.node).trace() / 3, least); });
}

void GridProblem::guess(Vec x, Vec residual_vector) {
  const auto set = [&](const std::vector<Vec3>& velocity) {
    check_petsc(VecSet(x, 0));
    {
      const NodeWriting to(x);
      for_each_node([&](std::size_t n) { to[n] = root_mass_[n] * velocity[n]; });
      for (const WallNode& node : walls_.nodes())
        to[node.node] = root_mass_[node.node] * walls_.leave(node, velocity[node.node]);
    }
    Real size = 0;
    residual(x, residual_vector);
    check_petsc(VecNorm(residual_vector, NORM_2, &size));
    return size;
  };
  const Real going_on = set(old_velocity_);
  if (!(set(free_velocity_) < going_on)) set(old_velocity_);
}

void GridProblem::finish_step(Vec x, Layer& layer, std::span<Vec3> wall_impulse, ImplicitReport& report) {
  linears_.clear();
  look_at(x);
  if (holds_.any()) report.of_conditions = holds_.impulses(motion_);
  const NodeReading in(x);
  Real* const velocity = layer.get<NodeVelocity>().block(0);
#pragma omp parallel for schedule(static)
  for (std::size_t n = 0; n < nodes_; ++n) {
    Real* node = velocity + NodeField::width * n;
    Vec3::Map(node) = root_mass_[n] > 0 ? Vec3(in[n] / root_mass_[n]) : Vec3::Zero();
    node[3] = root_mass_[n] > 0 ? 1 : 0;
  }
  for (const WallNode& node : walls_.nodes())
    Eigen::Map<Vec3>(velocity + NodeField::width * node.node) =
        walls_.finish(node, asked_velocity(in, node), mass(node.node), wall_impulse, report.wall_work);
}

// --- Between unknowns and nodes --------------------------------------------------------------------------------------

/// The displacement dt x / sqrt(m) of the nodes, ghosts up to date; x(node) are the unknowns.
template <class Unknowns>
void GridProblem::displace(const Unknowns& unknowns, FreedomValues& u) const {
  const std::span<Real> to = u.block(0);
  for_each_node([&](std::size_t n) {
    Eigen::Map<Vec3>(to.data() + NodeField::width * n) = step_.dt / root_mass_[n] * unknowns(n);
  });
  u.update_ghosts();
}

void GridProblem::look_at(Vec x) {
  const NodeReading in(x);
  displace([&](std::size_t n) { return in[n]; }, motion_.u);
  const std::span<const Real> u = std::as_const(motion_).u.all();
  std::transform(u.begin(), u.end(), motion_.rate.all().begin(), [&](Real v) { return motion_.rate_per_u * v; });
}

Vec3 GridProblem::force_at(std::size_t n) const {
  return Eigen::Map<const Vec3>(force_.block(0).data() + NodeField::width * n);
}

/// The velocity y of a node that the walls are asked about.
Vec3 GridProblem::asked_velocity(const NodeReading& in, const WallNode& node) const {
  return (in[node.node] - impulse_[node.node] / node.k) / root_mass_[node.node];
}

// --- Residual and energy ---------------------------------------------------------------------------------------------

void GridProblem::residual(Vec x, Vec out) {
  check_petsc(VecSet(out, 0));  // nodes without mass, which may have had some in the last step
  look_at(x);
  force_.set_zero();
  for (const Term* term : terms_) term->add_force(motion_, force_);
  force_.sum_to_owners();

  const NodeReading in(x);
  const NodeWriting r(out);
  for_each_node([&](std::size_t n) {
    const Real root = root_mass_[n];
    impulse_[n] = settings_.inertia ? Vec3(in[n] - root * free_velocity_[n]) : Vec3(-step_.dt * root * step_.gravity);
    impulse_[n] -= step_.dt / root * force_at(n);
  });
  const auto size_of_forces = [&] {
    return sum_over_nodes([&](std::size_t n) { return (step_.dt / root_mass_[n] * force_at(n)).squaredNorm(); });
  };
  const Real of_inertia =
      settings_.inertia
          ? sum_over_nodes([&](std::size_t n) { return (in[n] - root_mass_[n] * old_velocity_[n]).squaredNorm(); })
          : 0;
  std::array<Real, 4> sizes{size_of_forces(), 0, 0, of_inertia};
  if (holds_.any()) {
    force_.set_zero();
    holds_.add_force(motion_, force_);
    force_.sum_to_owners();
    for_each_node([&](std::size_t n) { impulse_[n] -= step_.dt / root_mass_[n] * force_at(n); });
    sizes[2] = size_of_forces();
  }
  for_each_node([&](std::size_t n) { r[n] = impulse_[n]; });
  for (const WallNode& node : walls_.nodes()) {
    const Vec3 left = walls_.leave(node, asked_velocity(in, node));
    r[node.node] = node.k * (in[node.node] - root_mass_[node.node] * left);
    sizes[1] += impulse_[node.node].squaredNorm();
  }
  comm_.sum(sizes);
  // What is far from balance has forces that nothing answers yet.
  const Real answered = settings_.inertia ? std::min(sizes[0], sizes[3]) : sizes[0];
  reference_ = std::sqrt(std::max({answered, sizes[1], sizes[2], gravity_size_}));
}

GridProblem::Energy GridProblem::energy(Vec x) {
  look_at(x);
  const NodeReading in(x);
  std::array<Real, 3> parts{0, 0, 0};
  for (const Term* term : terms_) parts[0] += term->energy(motion_);
  if (holds_.any()) parts[0] += holds_.energy(motion_);
  parts[1] = sum_over_nodes([&](std::size_t n) {
    const Real root = root_mass_[n];
    return settings_.inertia ? 0.5 * (in[n] - root * free_velocity_[n]).squaredNorm()
                             : -step_.dt * root * step_.gravity.dot(in[n]);
  });
  for (const WallNode& node : walls_.nodes()) parts[2] += walls_.friction(node, in[node.node] / root_mass_[node.node]);
  comm_.sum(parts);
  return {parts[0] + parts[1] + parts[2],
          energy_noise * (std::abs(parts[0]) + std::abs(parts[1]) + std::abs(parts[2]))};
}

// --- Derivative ------------------------------------------------------------------------------------------------------

/// Of the Terms at the present motion.
void GridProblem::take_derivatives(bool definite) {
  linears_.clear();
  for (const Term* term : terms_)
    linears_.push_back(definite ? term->linearise_definite(motion_) : term->linearise(motion_));
}

void GridProblem::linearise(Vec x, bool definite) {
  look_at(x);
  take_derivatives(definite);
  const NodeReading in(x);
  walls_.linearise([&](const WallNode& node) { return asked_velocity(in, node); },
                   [&](const WallNode& node) { return mass(node.node); });
}

void GridProblem::find_blocks() {
  node_blocks_.set_zero();
  for (std::size_t t = 0; t < terms_.size(); ++t) terms_[t]->add_node_blocks(*linears_[t], node_blocks_.all());
  node_blocks_.sum_to_owners();
}

Mat3 GridProblem::block(std::size_t n) const {
  using Block = Eigen::Matrix<Real, 3, 3, Eigen::RowMajor>;
  const Eigen::Map<const Block> stiffness(node_blocks_.all().data() + 9 * n);
  return least_diagonal() * Mat3::Identity() + std::pow(step_.dt / root_mass_[n], 2) * stiffness;
}

void GridProblem::add_tangent(Tangent& tangent) const {
  for (std::size_t t = 0; t < terms_.size(); ++t) terms_[t]->add_tangent(*linears_[t], tangent);
}

Real GridProblem::least_diagonal() const { return settings_.inertia ? 1 : unseen * k_; }

/// out = d(r/sqrt(m))/dx times the unknowns z(node).
template <class Unknowns>
void GridProblem::free_product(const Unknowns& z, const NodeWriting& out) {
  displace(z, change_);
  force_.set_zero();
  for (std::size_t t = 0; t < terms_.size(); ++t) terms_[t]->add_force_change(*linears_[t], change_, force_);
  if (holds_.any()) holds_.add_force_change(change_, force_);
  force_.sum_to_owners();
  for_each_node([&](std::size_t n) {
    const Vec3 own = least_diagonal() * z(n);  // z may be read from out
    out[n] = own - step_.dt / root_mass_[n] * force_at(n);
  });
}

void GridProblem::multiply(Vec in_vector, Vec out_vector) {
  check_petsc(VecCopy(in_vector, out_vector));  // nodes without mass
  const NodeReading in(in_vector);
  const NodeWriting out(out_vector);
  if (!settings_.minimise) {
    free_product([&](std::size_t n) { return in[n]; }, out);
    for (const WallNode& node : walls_.nodes())
      out[node.node] = node.slope * out[node.node] + node.k * (in[node.node] - node.slope * in[node.node]);
    return;
  }
  // The free directions and the held ones do not see each other.
  for (const WallNode& node : walls_.nodes()) out[node.node] = node.free * in[node.node];
  free_product([&](std::size_t n) { return Vec3(out[n]); }, out);
  for (const WallNode& node : walls_.nodes()) {
    const Vec3 z = node.free * in[node.node];
    out[node.node] = node.free * out[node.node] + node.drag * z + node.k * (in[node.node] - z);
  }
}

void GridProblem::eliminate_held(Vec b_vector) {
  if (held_part_ == nullptr)
    for (Vec* v : {&held_part_, &held_product_}) check_petsc(VecDuplicate(b_vector, v));
  check_petsc(VecSet(held_part_, 0));
  bool moves = false;
  {
    const NodeWriting b(b_vector), h(held_part_);
    for (const WallNode& node : walls_.nodes()) {
      h[node.node] = (b[node.node] - node.free * b[node.node]) / node.k;
      b[node.node] = node.inverse * b[node.node];
      moves = moves || !h[node.node].isZero(0);
    }
  }
  if (!comm_.any(moves)) return;
  check_petsc(VecSet(held_product_, 0));
  const NodeReading h(held_part_);
  const NodeWriting product(held_product_), b(b_vector);
  free_product([&](std::size_t n) { return h[n]; }, product);
  for (const WallNode& node : walls_.nodes())
    product[node.node] = node.free * product[node.node] - node.k * h[node.node];
  for_each_node([&](std::size_t n) { b[n] -= product[n]; });
}

void GridProblem::do_as_walls_dictate(Vec x, Vec dx) const {
  const NodeWriting from(x), part(dx);
  for (const WallNode& node : walls_.nodes()) {
    const Vec3 rest = node.free * part[node.node];
    from[node.node] -= part[node.node] - rest;
    part[node.node] = rest;
  }
}

}  // namespace weft
