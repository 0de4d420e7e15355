#include "weft/coupling/wall_contacts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <tuple>

#include "weft/math/svd.hpp"
#include "weft/transfer/dispatch.hpp"

namespace weft {
namespace {

/// A point takes part if it is nearer than this many grid spacings and twice as far as it comes in the step.
constexpr Real near_by = 0.1;
/// No point is larger than this many grid spacings.
constexpr Real largest_size = 1;
/// k = stiffness_number m omega^2, omega being the fastest vibration of the body. Of eight points in a cell the spring
/// is a hundred times as stiff as a layer of dx.
constexpr Real stiffness_number = 200;
/// Beside the normal one.
constexpr Real tangential_share = 0.02;
/// Points this near touch, in grid spacings: as they are drawn, but for round-off.
constexpr Real touching = 1e-9;
/// Gaps that no force explains, as after a hit, close at most with this share of the speed of waves.
constexpr Real closing_share = 0.01;
constexpr int passes_on_nodes = 2;
/// Where passes end when they change impulses by less than this part of the largest, or the motion of a body as a
/// whole, ranks ask so often.
constexpr int passes_between_looks = 10;
constexpr Real settled = 1e-3, settled_motion = 1e-4;

/// The part of its lever by which a wall acts on a point: all but where its surface is deep in the wall, by half of its
/// reach or more none. A grain alone on its nodes has a gradient that no stress opposes, so that its end may rest while
/// its middle sinks; then the wall takes the middle.
Real lever_at(Real gap, Real reach) {
  constexpr Real deep = 0.25;  // where it begins to shorten, as part of the reach
  return reach > 0 ? std::clamp(2 + gap / (deep * reach), Real(0), Real(1)) : Real(1);
}

/// How much nearer a point may be for having closed in with this speed: twice its way in the step [m].
Real approach(Real dt, Real speed) { return 2 * dt * std::max(Real(0), speed); }

/// The reals of a node in a NodeField, all of them at once: a vector register.
using Node = Eigen::Matrix<Real, NodeField::width, 1>;

/// How far a point reaches along the normal of a wall. The depth of one that began in a wall is the negative axis that
/// is nearest to the normal. It is no size of its material: neither the deformation nor another normal changes it, for
/// the force along the normal would do work that no spring has.
Reach reach_of(const PointSet& points, std::uint32_t row, const Vec3& normal) {
  const Mat3 at_rest = points.points().get<ContactExtent>()[row].full();
  if (const Real minor = at_rest.topLeftCorner<2, 2>().determinant();
      at_rest(0, 0) < 0 || minor < 0 || at_rest.determinant() < 0) {
    const SymmetricEigen axes = symmetric_eigen(at_rest);
    int nearest = 0;
    (axes.Q.transpose() * normal).cwiseAbs().maxCoeff(&nearest);
    const Real round_off = 1e-9 * axes.values.cwiseAbs().maxCoeff();
    if (axes.values[nearest] < -round_off) return {-std::sqrt(-axes.values[nearest]), Vec3::Zero()};
  }
  return reach_along(points.contact_extent(row), normal);
}

/// A wall that acts at the surface of the material.
bool acts_on_points(const Wall& wall) { return wall.contact == WallContactKind::surface; }

/// The middle of a bin, about which its points stand, and how far at most along each axis [m].
Vec3 middle_of(const Bin& bin, Real dx) {
  return (bin.block * block_width).cast<Real>() * dx + Vec3::Constant(bin_middle * dx);
}
Real half_edge(const TransferSettings& transfer) {
  return (block_width / Real(2) + drift_margin(transfer.kernel)) * transfer.dx;
}

}  // namespace

/// What was found in a bin.
struct WallContacts::Found {
  std::vector<Contact> contacts;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> left;
};

void WallContacts::find(const Comm& comm, std::span<const Wall> walls, std::span<const TouchingSet> sets,
                        const TransferSettings& transfer, Real time, Real dt) {
  contacts_.clear();
  left_.clear();
  turns_.assign(8 * sets.size(), {});
  any_ = false;
  if (std::none_of(walls.begin(), walls.end(), acts_on_points)) return;
  walls_ = walls;
  sets_.assign(sets.begin(), sets.end());
  transfer_ = transfer;
  time_ = time;
  dt_ = dt;
  states_.clear();
  for (const Wall& wall : walls) states_.push_back(wall.shape.at(time));

  struct NearBin {
    const Bin* bin;
    std::uint32_t set;
    std::vector<Near> walls;
  };
  std::vector<NearBin> near;
  for (std::uint32_t s = 0; s < sets_.size(); ++s)
    for (const Bin& bin : sets_[s].bins->bins()) {
      NearBin here{&bin, s, {}};
      for (std::size_t w = 0; w < walls.size(); ++w)
        if (acts_on_points(walls[w]))
          if (Near seen = seen_from(bin, static_cast<std::int32_t>(w), sets_[s].speed); seen.at_middle.count > 0)
            here.walls.push_back(seen);
      if (!here.walls.empty()) near.push_back(std::move(here));
    }
  std::vector<Found> found(near.size());
#pragma omp parallel for schedule(dynamic)
  for (std::size_t k = 0; k < near.size(); ++k) find_in(*near[k].bin, near[k].set, near[k].walls, found[k]);
  for (std::size_t k = 0; k < near.size(); ++k) {
    const Vec3i odd = near[k].bin->block.unaryExpr([](int b) { return b & 1; });
    const std::size_t first = contacts_.size();
    contacts_.insert(contacts_.end(), found[k].contacts.begin(), found[k].contacts.end());
    left_.insert(left_.end(), found[k].left.begin(), found[k].left.end());
    turns_[near[k].set * 8 + static_cast<std::size_t>(odd[0] << 2 | odd[1] << 1 | odd[2])].push_back(
        {first, contacts_.size()});
  }
  any_ = comm.any(!contacts_.empty());
}

/// Without faces if no point of the bin, of which the fastest has this speed [m/s], comes near the wall.
WallContacts::Near WallContacts::seen_from(const Bin& bin, std::int32_t wall, Real speed) const {
  const MovingShape& shape = walls_[wall].shape;
  const RigidState& state = states_[wall];
  const Vec3 middle = middle_of(bin, transfer_.dx);
  const Real half = half_edge(transfer_), corner = std::sqrt(Real(3)) * half;
  const Real of_wall = state.velocity_at(middle).norm() + corner * state.spin.norm();
  Near near{wall, shape.rest().is_flat(Side::outside), shape.rest().is_convex(), {}, 0};
  near.reach = (near_by + largest_size) * transfer_.dx + approach(dt_, speed + of_wall);
  Faces faces;
  if (near.is_flat) faces = shape.faces(state, middle, near.reach + corner);
  else faces.add(shape.surface(state, middle));
  for (const Surface& face : faces) {
    const Real nearer = near.is_flat || near.is_convex ? half * face.normal.lpNorm<1>() : corner;
    if (face.distance - nearer <= near.reach) near.at_middle.add(face);
  }
  return near;
}

void WallContacts::find_in(const Bin& bin, std::uint32_t set, std::span<const Near> near, Found& found) const {
  const auto& [points, bins, frequency, speed, whole, rebound] = sets_[set];
  const Table& table = std::as_const(*points).points();
  const auto x = table.get<Position>(), v = table.get<Velocity>();
  const auto mass = table.get<Mass>();
  const auto force = table.get<WallForce>();
  const bool at_surface = points->touches_at_surface();
  const Real dx = transfer_.dx;
  const Vec3 middle = middle_of(bin, dx);
  for (const std::uint32_t row : bins->order().subspan(bin.begin, bin.end - bin.begin)) {
    if (row >= table.owned()) continue;
    const std::size_t first = found.contacts.size();
    const Vec3 offset = x[row] - middle;
    bool is_near = false;
    for (const auto& [w, is_flat, is_convex, at_middle, reach] : near) {
      Faces faces;
      for (const auto& [distance, n] : at_middle)
        if (const Real least = distance + (is_flat || is_convex ? n.dot(offset) : -offset.norm()); least <= reach)
          faces.add({least, n});
      if (faces.count == 0 || !(mass[row] > 0)) continue;
      is_near = true;
      if (!is_flat) faces = walls_[w].shape.faces(states_[w], x[row], reach);
      const Vec3 closing = states_[w].velocity_at(x[row]) - v[row];
      for (const auto& [distance, n] : faces) {
        const auto [r, to_end] = reach_of(std::as_const(*points), row, n);
        if (!(distance - r < near_by * dx + approach(dt_, closing.dot(n)))) continue;
        const Real k = whole ? whole->stiffness : stiffness_number * mass[row] * frequency * frequency;
        const Real k_t = whole ? k : tangential_share * k;
        const Vec3 lever = at_surface ? Vec3(lever_at(distance - r, r) * to_end) : Vec3::Zero();
        found.contacts.push_back(
            {set, row, w, distance - r, k, k_t, n, x[row] + lever, force[row], Vec3::Zero(), false, 0});
      }
    }
    if (const auto of_point = std::span(found.contacts).subspan(first); !of_point.empty()) share_memory(of_point);
    else if (is_near && !force[row].isZero(0)) found.left.emplace_back(set, row);
  }
}

/// The force of the last step, which is known of a point alone, among the faces that it touches: as much as possible
/// along normals, and the rest along the face that carries most friction.
void WallContacts::share_memory(std::span<Contact> of_point) const {
  for (Contact& contact : of_point) {
    const WallCondition condition = walls_[contact.wall].condition;
    const bool was_held = !contact.force.isZero(0);
    contact.is_held = condition != WallCondition::separate && (was_held || contact.gap <= touching * transfer_.dx);
  }
  if (of_point.size() == 1) return;
  std::vector<Real> along(of_point.size(), 0);
  Vec3 rest = of_point.front().force;
  constexpr int sweeps = 8;
  for (int sweep = 0; sweep < sweeps; ++sweep)
    for (std::size_t k = 0; k < of_point.size(); ++k) {
      if (of_point[k].gap >= 0) continue;
      const Real now = std::max(Real(0), along[k] + rest.dot(of_point[k].normal));
      rest -= (now - along[k]) * of_point[k].normal;
      along[k] = now;
    }
  std::size_t strongest = 0;
  const auto grip = [&](std::size_t k) { return walls_[of_point[k].wall].friction * along[k]; };
  for (std::size_t k = 0; k < of_point.size(); ++k) {
    of_point[k].force = along[k] * of_point[k].normal;
    if (grip(k) > grip(strongest)) strongest = k;
  }
  of_point[strongest].force += rest;
}

ContactGround ground_of(const BlockMap& map, Layer& layer) {
  return {&map.forest(),
          static_cast<std::ptrdiff_t>(map.owned()) * nodes_per_block,
          layer.get<NodeInertia>().block(0),
          layer.get<NodeVelocity>().view(),
          layer.get<NodeContact>().view(),
          passes_on_nodes};
}

void WallContacts::act_on(std::span<const ContactStencil> of_row, int width) {
  width_ = width;
  constexpr std::size_t n = std::tuple_size_v<decltype(ContactStencil::rows)>;
  each_ = n;
  nodes_.resize(contacts_.size() * n);
  weights_.resize(contacts_.size() * n);
  for (std::size_t c = 0; c < contacts_.size(); ++c)
    for (std::size_t k = 0; k < n; ++k) {
      nodes_[c * n + k] = of_row[contacts_[c].row].rows[k] * width;
      weights_[c * n + k] = of_row[contacts_[c].row].weights[k];
    }
  turns_.assign(1, {{0, contacts_.size()}});  // neighbours share vertices, wherever their bins are
}

void WallContacts::act_on(const BlockMap& map) {
  with_kernel(transfer_.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    constexpr int n = Kernel::nodes;
    each_ = static_cast<std::size_t>(n) * n * n;
    nodes_.resize(contacts_.size() * each_);
    weights_.resize(contacts_.size() * each_);
#pragma omp parallel for schedule(static)
    for (std::size_t c = 0; c < contacts_.size(); ++c) {
      const Contact& contact = contacts_[c];
      const Vec3& point = std::as_const(*sets_[contact.set].points).points().template get<Position>()[contact.row];
      const Vec3 scaled = point / transfer_.dx, offset = (contact.x - point) / transfer_.dx;
      Vec3i base;
      Real w[3][n], tilt[3][n];  // weights along each axis, and G . offset over them
      for (int axis = 0; axis < 3; ++axis) {
        base[axis] = Kernel::base(scaled[axis]);
        const Real t = scaled[axis] - base[axis];
        Kernel::weights(t, w[axis]);
        if constexpr (Kernel::inverse_inertia != 0) {
          for (int i = 0; i < n; ++i) tilt[axis][i] = Kernel::inverse_inertia * (i - t) * offset[axis];
        } else {
          Real slope[n];
          Kernel::gradients(t, slope);
          for (int i = 0; i < n; ++i) tilt[axis][i] = slope[i] * offset[axis];
        }
      }
      // The blocks of its nodes, by octant from that of the first; those that it does not reach are not looked up.
      const Vec3i first = block_of_node(base), last = block_of_node(base + Vec3i::Constant(n - 1));
      std::array<int, 8> blocks;
      for (int o = 0; o < 8; ++o)
        if (const Vec3i block = first + octant_offset(o); (block.array() <= last.array()).all())
          blocks[static_cast<std::size_t>(o)] = map.find(block);
      std::size_t k = c * each_;
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          for (int l = 0; l < n; ++l, ++k) {
            const Vec3i node = base + Vec3i(i, j, l);
            const Vec3i octant = block_of_node(node) - first;
            const int block = blocks[static_cast<std::size_t>(octant[0] << 2 | octant[1] << 1 | octant[2])];
            nodes_[k] = (block * nodes_per_block + place_in_block(node)) * NodeField::width;
            const Real here = w[0][i] * w[1][j] * w[2][l];
            if constexpr (Kernel::inverse_inertia != 0) {
              weights_[k] = here * (1 + tilt[0][i] + tilt[1][j] + tilt[2][l]);
            } else {
              weights_[k] = here + tilt[0][i] * w[1][j] * w[2][l] + w[0][i] * tilt[1][j] * w[2][l] +
                            w[0][i] * w[1][j] * tilt[2][l];
            }
          }
    }
  });
}

template <class Row>
Vec3 WallContacts::gathered_as(std::size_t c, const Real* rows) const {
  const auto nodes = nodes_of(c);
  const auto W = weights_of(c);
  Row sum = Row::Zero();
  for (std::size_t k = 0; k < each_; ++k) sum += W[k] * Eigen::Map<const Row>(rows + nodes[k]);
  return sum.template head<3>();
}

template <class Row>
void WallContacts::add_as(std::size_t c, const Vec3& value, Real* rows) const {
  const auto nodes = nodes_of(c);
  const auto W = weights_of(c);
  Row of_node = Row::Zero();
  of_node.template head<3>() = value;
  for (std::size_t k = 0; k < each_; ++k) Eigen::Map<Row>(rows + nodes[k]) += W[k] * of_node;
}

Vec3 WallContacts::gathered(std::size_t c, const Real* rows) const {
  return width_ == NodeField::width ? gathered_as<Node>(c, rows) : gathered_as<Vec3>(c, rows);
}

void WallContacts::add(std::size_t c, const Vec3& value, Real* rows) const {
  if (width_ == NodeField::width) add_as<Node>(c, value, rows);
  else add_as<Vec3>(c, value, rows);
}

/// f_n^2 / 2k + f_t^2 / 2k_t.
Real WallContacts::stored(const Contact& contact, const Vec3& force) const {
  const Real f_n = force.dot(contact.normal), f_t2 = std::max(Real(0), force.squaredNorm() - f_n * f_n);
  return f_n * f_n / (2 * contact.stiffness) + f_t2 / (2 * contact.along);
}

/// The gap at the start of a step, of which no more is closed than is allowed at once.
Real WallContacts::gap_to_close(const Contact& contact) const {
  const Real explained = -contact.force.dot(contact.normal) / contact.stiffness;
  const TouchingSet& set = sets_[contact.set];
  const Real fastest = set.whole ? set.whole->closing : closing_share * set.frequency * transfer_.dx;
  return explained + std::max(contact.gap - explained, -fastest * dt_);
}

/// How far the wall carries the place of a contact in the step [m].
Vec3 WallContacts::way_of_wall(const Contact& contact) const {
  if (!walls_[contact.wall].shape.motion().moves()) return Vec3::Zero();
  return ends_[contact.wall].to_world(states_[contact.wall].to_rest(contact.x)) - contact.x;
}

void WallContacts::begin(Real dt) {
  dt_ = dt;
  ends_.clear();
  for (const Wall& wall : walls_) ends_.push_back(wall.shape.at(time_ + dt));
}

/// (6.2)
WallContacts::Pressed WallContacts::press(std::size_t c, const Vec3& displacement, bool is_lagged) const {
  const Contact& contact = contacts_[c];
  const Wall& wall = walls_[contact.wall];
  const Vec3& n = contact.normal;
  const Real k = contact.stiffness, k_t = contact.along;
  const Vec3 d = displacement - way_of_wall(contact);
  const Real gap = gap_to_close(contact) + n.dot(d), f_n_before = contact.force.dot(n);
  Pressed pressed{Vec3::Zero(), Mat3::Zero(), 0};
  if (gap >= 0 && !contact.is_held) return pressed;

  const Mat3 normal = n * n.transpose(), along = Mat3::Identity() - normal;
  pressed.force = -k * gap * n;
  pressed.slope = k * normal;
  pressed.energy = k * gap * gap / 2;
  const Vec3 f_t = along * (contact.force - k_t * d);
  const Real size = f_t.norm();
  const Real most = wall.condition == WallCondition::sticky
                        ? size
                        : wall.friction * (is_lagged ? std::max(Real(0), f_n_before) : std::abs(k * gap));
  if (size <= most) {
    pressed.force += f_t;
    pressed.slope += k_t * along;
    pressed.energy += f_t.squaredNorm() / (2 * k_t);
    return pressed;
  }
  const Vec3 direction = f_t / size;
  pressed.force += most * direction;
  pressed.slope += k_t * most / size * (along - direction * direction.transpose());
  if (!is_lagged) pressed.slope += std::copysign(wall.friction * k, -gap) * direction * n.transpose();
  pressed.energy += most * (size - most / 2) / k_t;
  return pressed;
}

Real WallContacts::count(const Real* motion, Real unit, Real h, bool is_lagged, std::span<Impulse> by_walls) {
  Real energy = 0;
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    Contact& contact = contacts_[c];
    const Vec3 force = press(c, unit * gathered(c, motion), is_lagged).force;
    contact.impulse = dt_ * force;
    by_walls[contact.wall].add(h * force, contact.x, way_of_wall(contact) / dt_);
    energy += stored(contact, force);
  }
  return energy;
}

namespace {

void set_zero(const ColumnView& column) { std::memset(column.data, 0, column.rows * column.row_bytes); }

}  // namespace

void WallContacts::scatter(const ContactGround& ground) {
  set_zero(ground.shared);
  for_each_in_turn([&](std::size_t c) {
    contacts_[c].impulse = dt_ * contacts_[c].force;
    Node impulse = Node::Zero();
    impulse.tail<3>() = contacts_[c].impulse;
    const auto nodes = nodes_of(c);
    const auto W = weights_of(c);
    for (std::size_t k = 0; k < each_; ++k) {
      Eigen::Map<Node> of_node(ground.shares() + nodes[k]);
      of_node += W[k] * impulse;
      of_node[0] += std::abs(W[k]);
    }
  });
}

void add_shared_impulses(Layer& layer) {
  const NodeField& shared = layer.get<NodeContact>();
  NodeField& inertia = layer.get<NodeInertia>();
  const auto reals = static_cast<std::ptrdiff_t>(inertia.blocks()) * NodeField::row;
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t k = 0; k < reals; k += NodeField::width)
    Eigen::Map<Vec3>(inertia.block(0) + k + 1) += Eigen::Map<const Vec3>(shared.block(0) + k + 1);
}

/// (6.5), (6.6)
void WallContacts::solve_one(Contact& contact, const Vec3& u, Real a) const {
  const Wall& wall = walls_[contact.wall];
  const Vec3& n = contact.normal;
  const bool rebounds = contact.rebound > 0;  // no spring takes any of it
  const Real s = rebounds ? 0 : 1 / (contact.stiffness * dt_ * dt_), s_t = 1 / (contact.along * dt_ * dt_);
  const Real l_n = contact.impulse.dot(n), u_n = u.dot(n), f_n = contact.force.dot(n);
  const Vec3 l_t = contact.impulse - l_n * n, u_t = u - u_n * n, before = dt_ * (contact.force - f_n * n);

  Real normal = l_n - (u_n + closing(contact) + s * l_n) / (a + s);
  if (!contact.is_held) normal = std::max(Real(0), normal);
  Vec3 tangential = l_t - (u_t + s_t * (l_t - before)) / (a + s_t);
  if (wall.condition != WallCondition::sticky) {
    const Real most = wall.friction * std::abs(normal), size = tangential.norm();
    if (size > most) tangential *= most / size;
  } else if (!contact.is_held && normal == 0) {
    tangential.setZero();
  }
  contact.impulse = normal * n + tangential;
}

/// Of contacts with a body that moves as a whole, on the rank that has its points: sqrt(w_c), w_c = sum_i W_ci^2 / m_i.
/// No contact answers to another by more than sqrt(w_c w_d).
std::vector<Real> WallContacts::roots_of_answers(const ContactGround& ground) const {
  std::vector<Real> roots;
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    Real w = 0;
    for (std::size_t k = 0; k < each_; ++k) {
      const Real W = weights_of(c)[k];
      w += W * W / ground.mass(nodes_of(c)[k] / NodeField::width);
    }
    roots.push_back(std::sqrt(w));
  }
  return roots;
}

/// How fast a contact may close in the step along its normal [m/s]; less than 0: how fast it parts.
Real WallContacts::closing(const Contact& contact) const {
  return contact.rebound > 0 ? -contact.rebound : gap_to_close(contact) / dt_;
}

/// a of (6.4), of each contact. The number of contacts over the mass is shared; a node without mass has none.
std::vector<Real> WallContacts::row_sums(const ContactGround& ground) const {
  Real* const shared = ground.shares();
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t node = 0; node < ground.owned; ++node) {
    Real& number = shared[node * NodeField::width];
    number = ground.mass(node) > 0 ? number / ground.mass(node) : 0;
  }
  ground.forest->update_ghosts(ground.shared);
  std::vector<Real> a(contacts_.size());
#pragma omp parallel for schedule(static)
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const auto nodes = nodes_of(c);
    const auto W = weights_of(c);
    for (std::size_t k = 0; k < each_; ++k) a[c] += std::abs(W[k]) * shared[nodes[k]];
  }
  return a;
}

/// Contacts that would close within the step part with a share of the speed of their approach.
void WallContacts::find_rebounds(const ContactGround& ground) {
  if (std::ranges::none_of(sets_, [](const TouchingSet& set) { return set.rebound.has_value(); })) return;
  ground.forest->update_ghosts(ground.velocity);
#pragma omp parallel for schedule(static)
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    Contact& contact = contacts_[c];
    const TouchingSet& set = sets_[contact.set];
    const Real approach = -contact.normal.dot(gathered(c, ground.velocities()) - way_of_wall(contact) / dt_);
    const bool hits = set.rebound && approach > set.rebound->slowest_hit && approach * dt_ > gap_to_close(contact);
    contact.rebound = hits ? set.rebound->restitution * approach : 0;
  }
}

/// All contacts at once; how far they are from being settled, if `looks`: the largest change and the largest impulse on
/// this rank [kg m/s], of a body that moves as a whole as velocities [m/s].
std::array<Real, 2> WallContacts::pass(const ContactGround& ground, std::span<const Real> a, bool looks) {
  Real *const velocity = ground.velocities(), *const shared = ground.shares();
  ground.forest->update_ghosts(ground.velocity);
  set_zero(ground.shared);
  change_.resize(contacts_.size());
  const auto approach = [&](std::size_t c) -> Vec3 { return gathered(c, velocity) - way_of_wall(contacts_[c]) / dt_; };
  Real all = 1;  // of a body as a whole, over contacts that act: sqrt(w_c) times this is a of (6.4)
  if (ground.project) {
    all = 0;
    for (std::size_t c = 0; c < contacts_.size(); ++c)
      if (const Contact& contact = contacts_[c];
          contact.is_held || !contact.impulse.isZero(0) || approach(c).dot(contact.normal) + closing(contact) < 0)
        all += a[c];
  }
#pragma omp parallel for schedule(static)
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    Contact& contact = contacts_[c];
    change_[c] = -contact.impulse;
    solve_one(contact, approach(c), all * a[c]);
    change_[c] += contact.impulse;
  }
  for_each_in_turn([&](std::size_t c) { add(c, change_[c], shared); });
  ground.forest->sum_to_owners(ground.shared);
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t node = 0; node < ground.owned; ++node)
    if (ground.mass(node) > 0)
      Eigen::Map<Vec3>(velocity + node * NodeField::width) +=
          Eigen::Map<const Vec3>(shared + node * NodeField::width) / ground.mass(node);
  std::array<Real, 2> largest{0, 0};
  if (ground.project) return ground.project();
  for (std::size_t c = 0; looks && c < contacts_.size(); ++c) {
    largest[0] = std::max(largest[0], change_[c].norm());
    largest[1] = std::max(largest[1], contacts_[c].impulse.norm());
  }
  return largest;
}

Real WallContacts::solve(Real dt_before, const ContactGround& ground, std::span<Impulse> by_walls) {
  const std::vector<Real> a = ground.project ? roots_of_answers(ground) : row_sums(ground);
  find_rebounds(ground);
  bool is_done = false;
  for (int made = 1; made <= ground.passes && !is_done; ++made) {
    const bool looks = ground.agree != nullptr && made % passes_between_looks == 0;
    std::array<Real, 2> largest = pass(ground, a, looks);
    if (!looks) continue;
    ground.agree->max(largest);
    is_done = largest[0] <= (ground.project ? settled_motion : settled) * largest[1];
  }
  std::vector<RigidState> middle, before;
  for (const Wall& wall : walls_) {
    middle.push_back(wall.shape.at(time_ + dt_ / 2));
    before.push_back(wall.shape.at(time_ - dt_before / 2));
  }
  Real energy = 0;
  for (const Contact& contact : contacts_) {
    const RigidState &then = before[contact.wall], &now = middle[contact.wall];
    by_walls[contact.wall].add(contact.impulse, contact.x,
                               (then.velocity_at(contact.x) + now.velocity_at(contact.x)) / 2);
    energy += stored(contact, contact.force) / 2;
    if (contact.rebound == 0) energy += stored(contact, contact.impulse / dt_) / 2;
  }
  return energy;
}

void WallContacts::keep() {
  const auto force = [&](std::uint32_t set, std::uint32_t row) -> Vec3& {
    return sets_[set].points->points().get<WallForce>()[row];
  };
  for (const auto& [set, row] : left_) force(set, row).setZero();
  for (const Contact& contact : contacts_) force(contact.set, contact.row).setZero();
  // Forces turn with their walls; a hit that rebounds leaves none.
  for (const Contact& contact : contacts_)
    if (contact.rebound == 0)
      force(contact.set, contact.row) +=
          ends_[contact.wall].rotation * (states_[contact.wall].rotation.transpose() * contact.impulse) / dt_;
}

}  // namespace weft
