// What walls give to the points that touch them, in explicit and implicit steps.

#include "weft/coupling/wall_contacts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <tuple>
#include <utility>

#include "weft/base/sums.hpp"
#include "weft/math/real4.hpp"

namespace weft {
namespace {

/// Points this near touch, in grid spacings: as they are drawn, but for round-off.
constexpr Real touching = 1e-9;
constexpr int passes_on_nodes = 2;
/// Where passes end when they change impulses by less than this part of the largest, or the motion of a body as a
/// whole, or of one that is hit, ranks ask so often.
constexpr unsigned passes_between_looks = 10;
/// Where a vertex is a contact by itself the first pass finds its impulse, unless several walls touch it.
constexpr unsigned passes_of_vertices = 2;
constexpr Real settled = 1e-3, settled_motion = 1e-4, settled_hit = 1e-6;
/// Of a body in a step, one after the other; all contacts stop what is left.
constexpr int most_hits = 10;

}  // namespace

bool WallContacts::may_pull(const Contact& contact) const {
  return walls_[contact.wall].condition != WallCondition::separate &&
         (contact.has_acted || contact.gap <= touching * transfer_.dx);
}

ContactGround ground_of(const BlockMap& map, Layer& layer) {
  return {&map.forest(),
          static_cast<std::ptrdiff_t>(map.owned()) * nodes_per_block,
          layer.get<NodeInertia>().block(0),
          layer.get<NodeVelocity>().view(),
          layer.get<NodeContact>().view(),
          passes_on_nodes};
}

namespace {

/// rows[i] += W_i value.
void add_to(std::span<const std::int32_t> nodes, std::span<const Real> W, const Real4& value, Real* rows) {
  for (std::size_t k = 0; k < nodes.size(); ++k) store4(rows + nodes[k], load4(rows + nodes[k]) + W[k] * value);
}

}  // namespace

Vec3 WallContacts::gathered(std::size_t c, const Real* rows) const {
  const auto nodes = nodes_of(c);
  const auto W = weights_of(c);
  if (width_ != NodeField::width) {
    Vec3 of_vertices = Vec3::Zero();
    for (std::size_t k = 0; k < each_; ++k) of_vertices += W[k] * Eigen::Map<const Vec3>(rows + nodes[k]);
    return of_vertices;
  }
  Real4 sum{};
  for (std::size_t k = 0; k < each_; ++k) sum += W[k] * load4(rows + nodes[k]);
  return {sum[0], sum[1], sum[2]};
}

void WallContacts::add(std::size_t c, const Vec3& value, Real* rows) const {
  const auto nodes = nodes_of(c);
  const auto W = weights_of(c);
  if (width_ == NodeField::width) return add_to(nodes, W, Real4{value[0], value[1], value[2], 0}, rows);
  for (std::size_t k = 0; k < each_; ++k) Eigen::Map<Vec3>(rows + nodes[k]) += W[k] * value;
}

/// f_n^2 / 2k + f_t^2 / 2k_t. Of a remembered force, along a normal that has turned since, no more than what rubs.
Real WallContacts::stored(const Contact& contact, const Vec3& force) const {
  const Wall& wall = walls_[contact.wall];
  const Real f_n = force.dot(contact.normal), most = wall.friction * wall.friction * f_n * f_n;
  Real f_t2 = std::max(Real(0), force.squaredNorm() - f_n * f_n);
  if (wall.condition != WallCondition::sticky) f_t2 = std::min(f_t2, most);
  return (contact.compliance * f_n * f_n + contact.along * f_t2) / 2;
}

/// The gap at the start of a step, of which no more is closed than is allowed at once, by walls that pull neither.
Real WallContacts::gap_to_close(const Contact& contact) const {
  const Real explained = -contact.force.dot(contact.normal) * contact.compliance;
  const auto [pushed, pushed_where_held, drawn] = closing_[contact.set];
  const bool bears = contact.is_held && !contact.force.isZero(0);
  const Real unexplained = contact.gap - explained;
  if (!contact.is_held) return explained + std::max(unexplained, -pushed * dt_);
  const Real nearer = (bears ? pushed_where_held : pushed) + std::max(Real(0), -contact.parting);
  const Real farther = drawn + std::max(Real(0), contact.parting);
  return explained + std::clamp(unexplained, -nearer * dt_, farther * dt_);
}

void WallContacts::follow_walls() {
  std::vector<char> moves;
  for (const Wall& wall : walls_) moves.push_back(wall.shape.motion().moves());
  for (Contact& contact : contacts_) {
    contact.way.setZero();
    if (!moves[contact.wall]) continue;
    contact.way = ends_[contact.wall].to_world(states_[contact.wall].to_rest(contact.x)) - contact.x;
  }
}

Vec3 WallContacts::turned_with_wall(const Contact& contact, const Vec3& vector) const {
  return ends_[contact.wall].rotation * (states_[contact.wall].rotation.transpose() * vector);
}

void WallContacts::begin(Real dt) {
  if (start_) {
    std::tie(time_, contacts_) = std::move(*start_);
    start_.reset();
    for (std::size_t w = 0; w < walls_.size(); ++w) states_[w] = walls_[w].shape.at(time_);
  }
  if (dt != std::exchange(dt_, dt)) ended_.clear();
  part_ = 0;
  ends_.clear();
  for (const Wall& wall : walls_) ends_.push_back(wall.shape.at(time_ + dt));
  follow_walls();
}

void WallContacts::go_on(const Real* displacements) {
  if (!start_) start_.emplace(time_, contacts_);
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    Contact& contact = contacts_[c];
    const Vec3 moved = gathered(c, displacements);
    contact.gap += contact.normal.dot(moved - contact.way);
    contact.x += moved;
    contact.force = turned_with_wall(contact, contact.impulse) / dt_;
    contact.has_acted = !contact.impulse.isZero(0);
    contact.normal = turned_with_wall(contact, contact.normal);
    contact.is_held = may_pull(contact);
  }
  time_ += dt_;
  states_ = ends_;
  for (std::size_t w = 0; w < walls_.size(); ++w) ends_[w] = walls_[w].shape.at(time_ + dt_);
  ++part_;
  follow_walls();
}

/// (6.2)
WallContacts::Pressed WallContacts::press(std::size_t c, const Vec3& displacement, bool is_lagged) const {
  const Contact& contact = contacts_[c];
  const Wall& wall = walls_[contact.wall];
  const Vec3& n = contact.normal;
  const Real k = 1 / contact.compliance, k_t = 1 / contact.along;
  const Vec3 d = displacement - contact.way;
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
    by_walls[contact.wall].add(h * force, contact.x, contact.way / dt_);
    energy += stored(contact, force);
  }
  return energy;
}

/// Calls visit(first, end) with the points of each of the first `rows` rows that are reached.
template <class Visit>
void WallContacts::for_each_reached(std::size_t rows, const Visit& visit) const {
#pragma omp parallel for schedule(static)
  for (std::size_t r = 0; r < rows; ++r) visit(reached_[r] * points_of_row_, (reached_[r] + 1) * points_of_row_);
}

void WallContacts::scatter(const ContactGround& ground) {
  has_row_sums_ = false;
  for_each_reached(reached_.size(), [&](std::ptrdiff_t first, std::ptrdiff_t end) {
    std::fill(ground.shares() + first * NodeField::width, ground.shares() + end * NodeField::width, Real(0));
  });
  for_each_in_turn([&](std::size_t c) {
    const Vec3 impulse = dt_ * contacts_[c].force;
    const auto nodes = nodes_of(c);
    const auto W = weights_of(c);
    for (std::size_t k = 0; k < each_; ++k) {
      Real* const shared = ground.shares() + nodes[k];
      const Real4 weights{std::abs(W[k]), W[k], W[k], W[k]};
      store4(shared, load4(shared) + weights * Real4{1, impulse[0], impulse[1], impulse[2]});
    }
  });
}

void WallContacts::add_shared_impulses(Layer& layer) const {
  const NodeField& shared = layer.get<NodeContact>();
  NodeField& inertia = layer.get<NodeInertia>();
  for_each_reached(reached_owned_, [&](std::ptrdiff_t first, std::ptrdiff_t end) {
    for (std::ptrdiff_t k = first * NodeField::width; k < end * NodeField::width; k += NodeField::width)
      Eigen::Map<Vec3>(inertia.block(0) + k + 1) += Eigen::Map<const Vec3>(shared.block(0) + k + 1);
  });
}

/// (6.5), (6.6)
void WallContacts::solve_one(Contact& contact, const Vec3& u, Real a) const {
  const Wall& wall = walls_[contact.wall];
  const Vec3& n = contact.normal;
  const Real per_dt2 = 1 / (dt_ * dt_), s = contact.compliance * per_dt2, s_t = contact.along * per_dt2;
  const Real l_n = contact.impulse.dot(n), u_n = u.dot(n), f_n = contact.force.dot(n);
  const Vec3 l_t = contact.impulse - l_n * n, u_t = u - u_n * n, before = dt_ * (contact.force - f_n * n);

  Real normal = l_n - (u_n + gap_to_close(contact) / dt_ + s * l_n) / (a + s);
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
Real WallContacts::closing(std::size_t c) const {
  return contacts_[c].acts == Acts::by_hit ? hits_[c].allowed : gap_to_close(contacts_[c]) / dt_;
}

/// S_i / m_i of owned points, where impulses are shared next; a point without mass has none.
void WallContacts::share_numbers(const ContactGround& ground) const {
  for_each_reached(reached_owned_, [&](std::ptrdiff_t first, std::ptrdiff_t end) {
    for (std::ptrdiff_t point = first; point < end; ++point) {
      Real* const shared = ground.shares() + point * NodeField::width;
      shared[0] = ground.mass(point) > 0 ? shared[0] / ground.mass(point) : 0;
      std::fill(shared + 1, shared + NodeField::width, Real(0));
    }
  });
}

/// u of (6.4) less the velocity of the wall, of some contacts side by side: sums take turns, since each waits for the
/// one before. In the first pass a too.
void WallContacts::gather_some(Range some, bool is_first, const Real* velocity, const Real* shared,
                               std::array<Vec3, at_once>& u) {
  std::array<const std::int32_t*, at_once> nodes;
  std::array<const Real*, at_once> W;
  std::array<Real4, at_once> sum{};
  std::array<Real, at_once> a{};
  for (std::size_t q = 0; q < at_once; ++q) {  // the last one fills up
    const std::size_t c = std::min(some.begin + q, some.end - 1);
    nodes[q] = &nodes_[c * each_];
    W[q] = &weights_[c * each_];
  }
  for (std::size_t k = 0; k < each_; ++k)
    for (std::size_t q = 0; q < at_once; ++q) sum[q] += W[q][k] * load4(velocity + nodes[q][k]);
  for (std::size_t k = 0; is_first && k < each_; ++k)
    for (std::size_t q = 0; q < at_once; ++q) a[q] += std::abs(W[q][k]) * shared[nodes[q][k]];
  for (std::size_t c = some.begin, q = 0; c < some.end; ++c, ++q) {
    u[q] = Vec3(sum[q][0], sum[q][1], sum[q][2]) - contacts_[c].way / dt_;
    if (is_first) row_sums_[c] = a[q];
  }
}

/// u of (6.4) [m/s].
Vec3 WallContacts::velocity_beside_wall(std::size_t c, const Real* velocity) const {
  return gathered(c, velocity) - contacts_[c].way / dt_;
}

/// What contacts have shared of impulses changes the velocities of owned points.
void WallContacts::let_impulses_act(const ContactGround& ground) const {
  ground.forest->sum_to_owners(ground.shared);
  for_each_reached(reached_owned_, [&](std::ptrdiff_t first, std::ptrdiff_t end) {
    for (std::ptrdiff_t point = first; point < end; ++point) {
      Eigen::Map<Vec3> impulse(ground.shares() + point * NodeField::width + 1);
      if (ground.mass(point) > 0)
        Eigen::Map<Vec3>(ground.velocities() + point * NodeField::width) += impulse / ground.mass(point);
      impulse.setZero();
    }
  });
}

/// All contacts at once; how far they are from being settled, if `looks`: the largest change and the largest impulse on
/// this rank [kg m/s], of a body that moves as a whole as velocities [m/s]. What is shared holds no impulse before and
/// after; in the first pass S_i / m_i of owned points.
std::array<Real, 2> WallContacts::pass(const ContactGround& ground, bool looks) {
  const bool is_first = !std::exchange(has_row_sums_, true);
  Real *const velocity = ground.velocities(), *const shared = ground.shares();
  if (is_first) ground.forest->update_ghosts(std::array{ground.velocity, ground.shared});
  else ground.forest->update_ghosts(ground.velocity);
  row_sums_.resize(contacts_.size());
  Real all = 1;  // of a body as a whole, over contacts that act: sqrt(w_c) times this is a of (6.4)
  if (ground.project) {
    all = 0;
    for (std::size_t c = 0; c < contacts_.size(); ++c)
      if (const Contact& contact = contacts_[c];
          contact.acts != Acts::later && (contact.is_held || !contact.impulse.isZero(0) ||
                                          velocity_beside_wall(c, velocity).dot(contact.normal) + closing(c) < 0))
        all += row_sums_[c];
  }
  if (looks) change_.resize(contacts_.size());
  for_each_cube_in_turn([&](const Range& cube) {
    std::array<Vec3, at_once> u;
    for (std::size_t first = cube.begin; first < cube.end; first += at_once) {
      const Range some{first, std::min(first + at_once, cube.end)};
      gather_some(some, is_first && !ground.project, velocity, shared, u);
      for (std::size_t c = some.begin, q = 0; c < some.end; ++c, ++q) {
        const Vec3 before = contacts_[c].impulse;
        const Real a = all * row_sums_[c];
        if (contacts_[c].acts == Acts::by_spring) solve_one(contacts_[c], u[q], a);
        else if (contacts_[c].acts == Acts::by_hit) solve_hit(c, u[q], a);
        const Vec3 change = contacts_[c].impulse - before;
        if (!change.isZero(0)) add_to(nodes_of(c), weights_of(c), Real4{0, change[0], change[1], change[2]}, shared);
        if (looks) change_[c] = change;
      }
    }
  });
  let_impulses_act(ground);
  std::array<Real, 2> largest{0, 0};
  if (ground.project) return ground.project();
  for (std::size_t c = 0; looks && c < contacts_.size(); ++c) {
    largest[0] = std::max(largest[0], change_[c].norm());
    largest[1] = std::max(largest[1], contacts_[c].impulse.norm());
  }
  return largest;
}

void WallContacts::solve(const ContactGround& ground) {
  for (Contact& contact : contacts_) {
    contact.impulse = dt_ * contact.force;
    contact.acts = Acts::by_spring;
  }
  if (!has_row_sums_) share_numbers(ground);
  if (ground.project) row_sums_ = roots_of_answers(ground);
  const bool rebounds = std::ranges::any_of(sets_, [](const TouchingSet& set) { return set.rebound.has_value(); });
  if (rebounds) {
    begin_hits(ground);
    for (int hits = 0; hits < most_hits && find_hits(ground); ++hits) {
      make_passes(ground, settled_hit);
      let_rebound();
      make_passes(ground, settled_hit);
    }
    end_hits();
  }
  const bool goes_on = !rebounds && begin_where_passes_ended(ground);  // bodies that rebound begin anew
  make_passes(ground, ground.project ? settled_motion : settled, goes_on);
  alone_.clear();
  if (ground.agree == nullptr) return;
  ended_.resize(std::max(ended_.size(), part_ + 1));
  ended_[part_].clear();
  for (const Contact& contact : contacts_) ended_[part_].push_back(contact.impulse);
}

/// Whether this part of the step has been tried before.
bool WallContacts::begin_where_passes_ended(const ContactGround& ground) {
  if (ground.agree == nullptr || part_ >= ended_.size()) return false;
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const Vec3 change = ended_[part_][c] - contacts_[c].impulse;
    contacts_[c].impulse = ended_[part_][c];
    add_to(nodes_of(c), weights_of(c), Real4{0, change[0], change[1], change[2]}, ground.shares());
  }
  let_impulses_act(ground);
  if (ground.project) ground.project();
  return true;
}

void WallContacts::solve_after_others(const ContactGround& ground) {
  if (alone_.size() != contacts_.size())
    for (const Contact& contact : contacts_) alone_.push_back(contact.impulse);
  else
    for (std::size_t c = 0; c < contacts_.size(); ++c) contacts_[c].impulse = alone_[c];
  make_passes(ground, ground.project ? settled_motion : settled);
}

void WallContacts::make_passes(const ContactGround& ground, Real share, bool looks_soon) {
  bool is_done = false;
  for (unsigned made = 1; made <= static_cast<unsigned>(ground.passes) && !is_done; ++made) {
    const bool is_due = made % passes_between_looks == 0 || (each_ == 1 && made == passes_of_vertices) ||
                        (looks_soon && std::has_single_bit(made));
    const bool looks = ground.agree != nullptr && is_due;
    std::array<Real, 2> largest = pass(ground, looks);
    if (!looks) continue;
    ground.agree->max(largest);
    is_done = largest[0] <= share * largest[1];
  }
}

namespace {

/// What one contact gave,
struct GivenByOne {
  std::int32_t wall;
  Vec3 impulse, at, velocity;
  Real energy;
};

/// and what some gave.
struct GivenBySome {
  std::vector<Impulse> by_walls;
  Real energy = 0;

  GivenBySome& operator+=(const GivenByOne& one) {
    by_walls[one.wall].add(one.impulse, one.at, one.velocity);
    energy += one.energy;
    return *this;
  }
  GivenBySome& operator+=(const GivenBySome& more) {
    for (std::size_t w = 0; w < by_walls.size(); ++w) by_walls[w] += more.by_walls[w];
    energy += more.energy;
    return *this;
  }
};

}  // namespace

/// Work is by the mean of velocities before and after the step.
Real WallContacts::add_given(Real dt_before, std::span<Impulse> by_walls) const {
  std::vector<RigidState> middle, before;
  for (const Wall& wall : walls_) {
    middle.push_back(wall.shape.at(time_ + dt_ / 2));
    before.push_back(wall.shape.at(time_ - dt_before / 2));
  }
  const auto velocity = [&](const Contact& contact) -> Vec3 {
    const std::int32_t w = contact.wall;
    if (!walls_[w].shape.motion().moves()) return Vec3::Zero();
    return (before[w].velocity_at(contact.x) + middle[w].velocity_at(contact.x)) / 2;
  };
  const GivenBySome all =
      ordered_sum(contacts_.size(), GivenBySome{std::vector<Impulse>(walls_.size())}, [&](std::size_t c) {
        const Contact& contact = contacts_[c];
        const Real now = contact.acts == Acts::by_spring ? stored(contact, contact.impulse / dt_) : 0;
        return GivenByOne{contact.wall, contact.impulse, contact.x, velocity(contact),
                          (stored(contact, contact.force) + now) / 2};
      });
  for (std::size_t w = 0; w < walls_.size(); ++w) by_walls[w] += all.by_walls[w];
  return all.energy;
}

void WallContacts::keep() {
  const auto let_go = [&](std::uint32_t set, std::uint32_t row) {
    Table& points = sets_[set].points->points();
    points.get<WallForce>()[row].setZero();
    points.get<WallFaces>()[row] = 0;
  };
  for (const auto& [set, row] : left_) let_go(set, row);
  const Contact* last = nullptr;  // those of a point are next to one another
  for (const Contact& contact : contacts_) {
    if (last == nullptr || last->row != contact.row || last->set != contact.set) let_go(contact.set, contact.row);
    last = &contact;
    // Forces turn with their walls; a hit that rebounds leaves none.
    if (contact.acts != Acts::by_spring || contact.impulse.isZero(0)) continue;
    Table& points = sets_[contact.set].points->points();
    points.get<WallForce>()[contact.row] += turned_with_wall(contact, contact.impulse) / dt_;
    points.get<WallFaces>()[contact.row] |= contact.face;
  }
}

}  // namespace weft
