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
/// Of k: the drag of the first Newton step without inertia. Nodes that a few points see from afar otherwise go many
/// grid spacings in one step.
constexpr Real first_drag = 1e-3;
/// The least k_i / m_i without inertia, as a part of k.
constexpr Real least_wall_share = 1e-3;

}  // namespace

GridProblem::GridProblem(const Comm& comm, const BlockMap& map, std::vector<const Term*> terms,
                         std::vector<const Constraints*> constraints, const ImplicitSettings& settings)
    : comm_(comm),
      map_(map),
      terms_(std::move(terms)),
      settings_(settings),
      freedoms_({{"grid", NodeField::row, &map.forest(), {NodeField::width, 3}}}),
      diagonal_freedoms_(freedoms_.diagonal()),
      unknowns_(comm, freedoms_),
      points_(unknowns_),
      motion_(freedoms_),
      force_(freedoms_),
      change_(freedoms_),
      diagonal_(diagonal_freedoms_),
      inertia_(points_.owned(), settings.inertia),
      holds_(comm, unknowns_, points_, std::move(constraints)),
      has_reactions_(std::ranges::any_of(terms_, &Term::is_reaction)),
      impulse_(points_.owned()) {}

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
  inertia_.begin_step(comm_, step, inertia);
  const Real stiffness = diagonal * std::pow(step.dt * step.wave_speed / step.dx, 2);
  k_ = settings_.inertia ? 1 + stiffness : std::max(1.0, stiffness);
  walls_.begin_step(step, walls, map_, inertia);
  holds_.begin_step(step.time + step.dt, step.dt, k_, inertia_.root_masses());
  be_definite(false);
  drag_.value = settings_.inertia ? 0 : first_drag;
  weigh_walls();
}

/// k_i from the derivative at the start of the step: in the same step, bodies may be soft and hard.
void GridProblem::weigh_walls() {
  if (!comm_.any(!walls_.nodes().empty())) return;
  motion_.u.set_zero();
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
      inertia_.for_each_node([&](std::size_t n) { to[n] = inertia_.root_mass(n) * velocity[n]; });
      for (const WallNode& node : walls_.nodes())
        to[node.node] = inertia_.root_mass(node.node) * walls_.leave(node, velocity[node.node]);
    }
    Real size = 0;
    residual(x, residual_vector);
    check_petsc(VecNorm(residual_vector, NORM_2, &size));
    return size;
  };
  const Real going_on = set(inertia_.old_velocity());
  if (!(set(inertia_.free_velocity()) < going_on)) set(inertia_.old_velocity());
}

void GridProblem::finish_step(Vec x, Layer& layer, std::span<Impulse> by_walls, ImplicitReport& report) {
  linears_.clear();
  look_at(x);
  if (holds_.any()) report.of_conditions = holds_.impulses(motion_);
  const NodeReading in(x);
  Real* const velocity = layer.get<NodeVelocity>().block(0);
#pragma omp parallel for schedule(static)
  for (std::size_t n = 0; n < nodes(); ++n) {
    Real* node = velocity + NodeField::width * n;
    Vec3::Map(node) = inertia_.root_mass(n) > 0 ? Vec3(in[n] / inertia_.root_mass(n)) : Vec3::Zero();
    node[3] = inertia_.root_mass(n) > 0 ? 1 : 0;
  }
  for (const WallNode& node : walls_.nodes())
    Eigen::Map<Vec3>(velocity + NodeField::width * node.node) =
        walls_.finish(node, asked_velocity(in, node), inertia_.mass(node.node), by_walls);
}

// --- Between unknowns and nodes --------------------------------------------------------------------------------------

/// The displacement dt x / sqrt(m) of the nodes, ghosts up to date; x(node) being the unknowns.
template <class AtNode>
void GridProblem::displace(const AtNode& x, FreedomValues& u) const {
  Real* const to = u.all().data();
  inertia_.for_each_node([&](std::size_t n) {
    Eigen::Map<Vec3>(to + points_.freedom_of_owned(n)) = step_.dt / inertia_.root_mass(n) * x(n);
  });
  u.update_ghosts();
}

void GridProblem::look_at(Vec x) {
  const NodeReading in(x);
  displace([&](std::size_t n) { return in[n]; }, motion_.u);
}

Vec3 GridProblem::force_at(std::size_t n) const {
  return Eigen::Map<const Vec3>(force_.all().data() + points_.freedom_of_owned(n));
}

/// The velocity y of a node that the walls are asked about.
Vec3 GridProblem::asked_velocity(const NodeReading& in, const WallNode& node) const {
  return (in[node.node] - impulse_[node.node] / node.k) / inertia_.root_mass(node.node);
}

// --- Residual and energy ---------------------------------------------------------------------------------------------

/// Of the Terms that are reactions, or of the others.
void GridProblem::add_forces(bool of_reactions) {
  for (const Term* term : terms_)
    if (term->is_reaction() == of_reactions) term->add_force(motion_, force_);
}

bool GridProblem::residual(Vec x, Vec out) {
  check_petsc(VecSet(out, 0));  // nodes without mass, which may have had some in the last step
  look_at(x);
  const NodeReading in(x);
  const NodeWriting r(out);
  inertia_.for_each_node([&](std::size_t n) { impulse_[n] = inertia_.impulse(n, in[n]); });
  const auto add_impulse_of = [&](auto&& add_forces) {  // returns its square
    force_.set_zero();
    add_forces();
    force_.sum_to_owners();
    return inertia_.sum_over_nodes([&](std::size_t n) {
      const Vec3 impulse = step_.dt / inertia_.root_mass(n) * force_at(n);
      impulse_[n] -= impulse;
      return impulse.squaredNorm();
    });
  };
  const Real of_inertia =
      inertia_.counts() ? inertia_.sum_over_nodes([&](std::size_t n) { return inertia_.change_of_momentum(n, in[n]); })
                        : 0;
  std::array<Real, 4> sizes{0, 0, 0, of_inertia};
  sizes[0] = add_impulse_of([&] { add_forces(false); });
  if (holds_.any() || has_reactions_)
    sizes[2] = add_impulse_of([&] {
      add_forces(true);
      if (holds_.any()) holds_.add_force(motion_, force_);
    });
  inertia_.for_each_node([&](std::size_t n) { r[n] = impulse_[n]; });
  for (const WallNode& node : walls_.nodes()) {
    const Vec3 left = walls_.leave(node, asked_velocity(in, node));
    r[node.node] = node.k * (in[node.node] - inertia_.root_mass(node.node) * left);
    sizes[1] += impulse_[node.node].squaredNorm();
  }
  comm_.sum(sizes);
  // What is far from balance has forces that nothing answers yet.
  const Real answered = inertia_.counts() ? std::min(sizes[0], sizes[3]) : sizes[0];
  reference_ = std::sqrt(std::max({answered, sizes[1], sizes[2], inertia_.load_size()}));
  return true;
}

NoisyEnergy GridProblem::energy(Vec x) {
  look_at(x);
  const NodeReading in(x);
  std::array<Real, 3> parts{0, 0, 0};
  for (const Term* term : terms_) parts[0] += term->energy(motion_);
  if (holds_.any()) parts[0] += holds_.energy(motion_);
  parts[1] = inertia_.sum_over_nodes([&](std::size_t n) { return inertia_.energy(n, in[n]); });
  for (const WallNode& node : walls_.nodes())
    parts[2] += walls_.friction(node, in[node.node] / inertia_.root_mass(node.node));
  comm_.sum(parts);
  return {parts[0] + parts[1] + parts[2],
          energy_noise * (std::abs(parts[0]) + std::abs(parts[1]) + std::abs(parts[2])) + inertia_.energy_noise()};
}

// --- Derivative ------------------------------------------------------------------------------------------------------

/// Of the Terms at the present motion.
void GridProblem::take_derivatives(bool definite) {
  linears_.clear();
  for (const Term* term : terms_)
    linears_.push_back(definite ? term->linearise_definite(motion_) : term->linearise(motion_));
}

void GridProblem::linearise(Vec x) {
  look_at(x);
  take_derivatives(is_definite());
  const NodeReading in(x);
  walls_.linearise([&](const WallNode& node) { return asked_velocity(in, node); },
                   [&](const WallNode& node) { return inertia_.mass(node.node); });
}

void GridProblem::find_blocks() {
  diagonal_.set_zero();
  for (std::size_t t = 0; t < terms_.size(); ++t)
    for (std::size_t b = 0; b < freedoms_.block_count(); ++b)
      terms_[t]->add_diagonal_blocks(*linears_[t], b, diagonal_.block(b));
  diagonal_.sum_to_owners();
}

Mat3 GridProblem::block(std::size_t n) const {
  using Block = Eigen::Matrix<Real, 3, 3, Eigen::RowMajor>;
  const Eigen::Map<const Block> stiffness(diagonal_.all().data() + 9 * points_.at(n));
  return least_diagonal() * Mat3::Identity() + std::pow(step_.dt / inertia_.root_mass(n), 2) * stiffness;
}

void GridProblem::add_tangent(Tangent& tangent) const {
  for (std::size_t t = 0; t < terms_.size(); ++t) terms_[t]->add_tangent(*linears_[t], tangent);
}

Real GridProblem::least_diagonal() const { return inertia_.counts() ? 1 : drag_.value * k_; }

/// out = d(r/sqrt(m))/dx times the unknowns z(node).
template <class AtNode>
void GridProblem::free_product(const AtNode& z, const NodeWriting& out) {
  displace(z, change_);
  force_.set_zero();
  for (std::size_t t = 0; t < terms_.size(); ++t) terms_[t]->add_force_change(*linears_[t], change_, force_);
  if (holds_.any()) holds_.add_force_change(change_, force_);
  force_.sum_to_owners();
  inertia_.for_each_node([&](std::size_t n) {
    const Vec3 own = least_diagonal() * z(n);  // z may be read from out
    out[n] = own - step_.dt / inertia_.root_mass(n) * force_at(n);
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
  inertia_.for_each_node([&](std::size_t n) { b[n] -= product[n]; });
}

void GridProblem::dictate(Vec x, Vec dx) const {
  const NodeWriting from(x), part(dx);
  for (const WallNode& node : walls_.nodes()) {
    const Vec3 rest = node.free * part[node.node];
    from[node.node] -= part[node.node] - rest;
    part[node.node] = rest;
  }
}

}  // namespace weft
