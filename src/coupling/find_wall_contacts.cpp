// Which points may touch walls in a step, and where.

#include "weft/coupling/wall_contacts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "weft/math/pack_rows.hpp"
#include "weft/math/svd.hpp"

namespace weft {
namespace {

/// A point takes part if it is nearer than this many grid spacings and twice as far as it comes in the step.
constexpr Real near_by = 0.1;
/// The same of points that no wall has pressed, near walls that only press, in short steps. Passes would lag behind a
/// hit if (6.4) summed over many that do not act in it, and walls push for too long.
constexpr Real near_by_foreseen = 0.003;
/// No point is larger than this many grid spacings.
constexpr Real largest_size = 1;
/// k = stiffness_number m omega^2, omega being the fastest vibration of the body. Of eight points in a cell the spring
/// is a hundred times as stiff as a layer of dx.
constexpr Real stiffness_number = 200;
/// Beside the normal one.
constexpr Real tangential_share = 0.02;
/// Gaps that no force explains, as after a hit, close at most with this share of the speed of waves,
constexpr Real closing_share = 0.01;
/// and of liquids, which flatten as they spread, with this one: to lift them again would be work.
constexpr Real closing_share_of_flat = 1e-4;
/// In short steps so of points that go with elements: nodes move them not quite so, and to push them back is work.
constexpr Real closing_share_of_elements = 1e-3;
/// Walls that hold draw what has come away from them by this part of the first: at once it would be a kick.
constexpr Real pulling_share = 0.1;
/// Of lengths that are found in two ways, more than enough.
constexpr Real round_off = 1e-9;

/// The part of its lever by which a wall acts on a point: all but where its surface is deep in the wall, by half of its
/// reach or more none. A grain alone on its nodes has a gradient that no stress opposes, so that its end may rest while
/// its middle sinks; then the wall takes the middle. What flattens on the wall ends where that is.
Real lever_at(Real gap, Real reach, bool flattens) {
  constexpr Real deep = 0.25;  // where it begins to shorten, as part of the reach
  if (!(reach > 0)) return 1;
  return std::clamp(flattens ? 1 + gap / reach : 2 + gap / (deep * reach), Real(0), Real(1));
}

/// How much nearer a point may be for having closed in with this speed: twice its way in the step [m].
Real approach(Real dt, Real speed) { return 2 * dt * std::max(Real(0), speed); }

/// How far a point reaches along the normal n of a wall [m]; Bn: of its deformed extent B. The depth of one that began
/// in a wall is the negative axis that is nearest to the normal. It is no size of its material: neither the deformation
/// nor another normal changes it, for the force along the normal would do work that no spring has.
Real reach_of(const Symmetric3<Real>& at_rest, const Vec3& normal, const Vec3& Bn) {
  const Real squared = normal.dot(Bn), r = std::copysign(std::sqrt(std::abs(squared)), squared);
  const bool is_ball =
      at_rest.xx > 0 && at_rest.yy > 0 && at_rest.zz > 0 && at_rest.yz == 0 && at_rest.xz == 0 && at_rest.xy == 0;
  if (is_ball) return r;
  if (const Real minor = at_rest.xx * at_rest.yy - at_rest.xy * at_rest.xy;
      at_rest.xx < 0 || minor < 0 || at_rest.determinant() < 0) {
    const SymmetricEigen axes = symmetric_eigen(at_rest.full());
    int nearest = 0;
    (axes.Q.transpose() * normal).cwiseAbs().maxCoeff(&nearest);
    const Real least = round_off * axes.values.cwiseAbs().maxCoeff();
    if (axes.values[nearest] < -least) return -std::sqrt(-axes.values[nearest]);
  }
  return r;
}

/// A wall that acts at the surface of the material.
bool acts_on_points(const Wall& wall) { return wall.contact == WallContactKind::surface; }

/// The cube of 2x2x2 blocks that a block is in.
Vec3i cube_of(const Vec3i& block) { return {block.x() >> 1, block.y() >> 1, block.z() >> 1}; }

/// The middle of a bin, about which its points stand, and how far at most along each axis [m].
Vec3 middle_of(const Bin& bin, Real dx) {
  return (bin.block * block_width).cast<Real>() * dx + Vec3::Constant(bin_middle * dx);
}
Real half_edge(const TransferSettings& transfer) {
  return (block_width / Real(2) + drift_margin(transfer.kernel)) * transfer.dx;
}

}  // namespace

Real largest_half_axis(const PointSet& points) {
  const auto extent = points.points().get<ContactExtent>().first(points.points().owned());
  Real largest = 0;  // sum of a row of a tensor
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (std::size_t row = 0; row < extent.size(); ++row) {
    const Symmetric3<Real>& B = extent[row];
    const Real yz = std::abs(B.yz), xz = std::abs(B.xz), xy = std::abs(B.xy);
    largest = std::max({largest, std::abs(B.xx) + xy + xz, std::abs(B.yy) + xy + yz, std::abs(B.zz) + xz + yz});
  }
  return std::sqrt(largest);
}

namespace {

/// Whether points are liquid: they keep their size.
bool flatten(const PointSet& points) { return points.touches_at_surface() && !points.extent_deforms(); }

WallClosing closing_of(const TouchingSet& set, Real dx) {
  const Real wave = set.frequency * dx, closing = set.whole ? set.whole->closing : closing_share * wave;
  const bool drifts = set.is_foreseen && !set.points->touches_at_surface();
  const Real pushed = flatten(*set.points) ? closing_share_of_flat * wave
                      : drifts             ? closing_share_of_elements * wave
                                           : closing;
  return {pushed, drifts ? 0 : pushed, pulling_share * closing};
}

}  // namespace

void WallContacts::find(std::span<const Wall> walls, std::span<const TouchingSet> sets,
                        const TransferSettings& transfer, Real time, Real dt) {
  start_.reset();
  ended_.clear();
  left_.clear();
  bins_.clear();
  turns_.assign(8 * sets.size(), {});
  any_ = false;
  looks_ = std::any_of(walls.begin(), walls.end(), acts_on_points);
  if (!looks_) return contacts_.clear();
  walls_ = walls;
  sets_.assign(sets.begin(), sets.end());
  closing_.clear();
  for (const TouchingSet& set : sets) closing_.push_back(closing_of(set, transfer.dx));
  transfer_ = transfer;
  time_ = time;
  dt_ = dt;
  states_.clear();
  for (const Wall& wall : walls) states_.push_back(wall.shape.at(time));

  std::vector<std::pair<std::uint32_t, const Bin*>> all;  // sets and their bins
  for (std::uint32_t s = 0; s < sets_.size(); ++s)
    for (const Bin& bin : sets_[s].bins->bins()) all.emplace_back(s, &bin);
  if (found_.size() < all.size()) found_.resize(all.size());
#pragma omp parallel for schedule(dynamic)
  for (std::size_t k = 0; k < all.size(); ++k) find_in(*all[k].second, all[k].first, found_[k]);

  std::size_t number = 0;
  std::uint32_t last_set = 0;
  std::vector<std::size_t> first(all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    left_.insert(left_.end(), found_[k].left.begin(), found_[k].left.end());
    first[k] = number;
    number += found_[k].contacts.size();
    if (first[k] == number) continue;
    const auto [set, bin] = all[k];
    const bool is_of_same_cube =
        !bins_.empty() && last_set == set && cube_of(bins_.back().block) == cube_of(bin->block);
    bins_.push_back({{first[k], number}, bin->block});
    const Vec3i odd = cube_of(bin->block).unaryExpr([](int c) { return c & 1; });
    std::vector<Range>& apart = turns_[set * 8 + static_cast<std::size_t>(odd[0] << 2 | odd[1] << 1 | odd[2])];
    if (is_of_same_cube) apart.back().end = number;
    else apart.push_back(bins_.back().contacts);
    last_set = set;
  }
  contacts_.resize(number);
#pragma omp parallel for schedule(dynamic)
  for (std::size_t k = 0; k < all.size(); ++k)
    std::ranges::copy(found_[k].contacts, contacts_.begin() + static_cast<std::ptrdiff_t>(first[k]));
}

void WallContacts::agree(const Comm& comm, std::span<WallContacts* const> all) {
  std::vector<Real> have;
  for (const WallContacts* contacts : all)
    if (contacts->looks_) have.push_back(contacts->contacts_.empty() ? 0 : 1);
  if (have.empty()) return;
  comm.max(have);
  const Real* has = have.data();
  for (WallContacts* contacts : all)
    if (contacts->looks_) contacts->any_ = *has++ > 0;
}

/// The walls that points of a bin of a set come near.
void WallContacts::find_near(const Bin& bin, const TouchingSet& set, std::vector<Near>& near) const {
  near.clear();
  for (std::size_t w = 0; w < walls_.size(); ++w)
    if (acts_on_points(walls_[w]))
      if (const Near seen = seen_from(bin, static_cast<std::int32_t>(w), set); seen.at_middle.count > 0)
        near.push_back(seen);
}

/// Without faces if no point of the bin comes near the wall.
WallContacts::Near WallContacts::seen_from(const Bin& bin, std::int32_t wall, const TouchingSet& set) const {
  const MovingShape& shape = walls_[wall].shape;
  const RigidState& state = states_[wall];
  const Vec3 middle = middle_of(bin, transfer_.dx);
  const Real half = half_edge(transfer_), corner = std::sqrt(Real(3)) * half;
  const Real of_wall = state.velocity_at(middle).norm() + corner * state.spin.norm();
  Near near{wall, shape.rest().is_flat(Side::outside), shape.rest().is_convex(), {}, 0};
  const Real size = std::min((1 + round_off) * set.reach, largest_size * transfer_.dx);
  near.reach = near_by * transfer_.dx + size + approach(dt_, set.speed + of_wall);
  Faces faces;
  if (near.is_flat) faces = shape.faces(state, middle, near.reach + corner);
  else faces.add(shape.surface(state, middle));
  for (const Surface& face : faces) {
    const Real nearer = near.is_flat || near.is_convex ? half * face.normal.lpNorm<1>() : corner;
    if (face.distance - nearer <= near.reach) near.at_middle.add(face);
  }
  return near;
}

/// The rows that may be within reach of one of these walls.
void WallContacts::find_candidates(std::span<const Near> near, ChunkRows rows, std::span<const Vec3> x,
                                   const Vec3& middle, std::vector<std::uint32_t>& candidates) {
  candidates.clear();
  const Vector3<Pack> origin = middle.cast<Pack>();
  for (std::size_t first = 0; first < rows.size(); first += Pack::size) {
    const PackRows some = PackRows::of(rows, first);
    const Vector3<Pack> offset = load(x, some) - origin;
    Pack beyond = 1;
    for (const Near& wall : near)
      for (const auto& [distance, n] : wall.at_middle) {
        const Pack least = wall.is_flat || wall.is_convex ? Pack(n[0] * offset[0] + n[1] * offset[1] + n[2] * offset[2])
                                                          : -sqrt(Pack(offset.squaredNorm()));
        beyond = min(beyond, least + (distance - (1 + round_off) * wall.reach));
      }
    if (!weft::any(beyond <= Pack(0))) continue;
    std::array<Real, Pack::size> of_lane;
    beyond.store(of_lane.data());
    for (int lane = 0; lane < some.count; ++lane)
      if (of_lane[lane] <= 0) candidates.push_back(some.row[lane]);
  }
}

/// The faces near the candidates, and how far these extend towards them.
void WallContacts::find_touches(std::uint32_t set, const Vec3& middle, Found& found) const {
  const PointSet& points = *sets_[set].points;
  const auto& is_led = sets_[set].is_led;
  const auto x = points.points().get<Position>();
  const auto mass = points.points().get<Mass>();
  auto& [rows, walls, distances, normals, extents] = found.touches;
  rows.clear(), walls.clear(), distances.clear(), normals.clear();
  for (const std::uint32_t row : found.candidates) {
    if (row >= points.points().owned() || !(mass[row] > 0) || (is_led && is_led(row))) continue;
    const Vec3 offset = x[row] - middle;
    for (const auto& [wall, is_flat, is_convex, at_middle, reach] : found.near) {
      Faces faces;
      for (const auto& [distance, n] : at_middle)
        if (const Real least = distance + (is_flat || is_convex ? n.dot(offset) : -offset.norm()); least <= reach)
          faces.add({least, n});
      if (faces.count > 0 && !is_flat) faces = walls_[wall].shape.faces(states_[wall], x[row], reach);
      for (const auto& [distance, n] : faces) {
        rows.push_back(row);
        walls.push_back(wall);
        distances.push_back(distance);
        normals.push_back(n);
      }
    }
  }
  extents.resize(rows.size());
  points.contact_extents_along(rows, normals, extents);
}

void WallContacts::find_in(const Bin& bin, std::uint32_t set, Found& found) const {
  found.contacts.clear();
  found.left.clear();
  const auto& [points, bins, frequency, speed, reach, whole, rebound, is_led, is_foreseen] = sets_[set];
  find_near(bin, sets_[set], found.near);
  if (found.near.empty()) return;
  const Table& table = std::as_const(*points).points();
  const auto x = table.get<Position>(), v = table.get<Velocity>();
  const auto mass = table.get<Mass>();
  const auto force = table.get<WallForce>();
  const auto extent = table.get<ContactExtent>();
  const bool at_surface = points->touches_at_surface(), flattens = flatten(*points);
  const Real dx = transfer_.dx;
  const Vec3 middle = middle_of(bin, dx);
  find_candidates(found.near, bins->order().subspan(bin.begin, bin.end - bin.begin), x, middle, found.candidates);
  find_touches(set, middle, found);
  const Touches& touches = found.touches;
  const Real ratio = whole ? 1 : 1 / tangential_share;
  std::size_t t = 0;
  for (const std::uint32_t row : found.candidates) {
    if (row >= table.owned()) continue;
    const std::size_t first = found.contacts.size();
    for (; t < touches.rows.size() && touches.rows[t] == row; ++t) {
      const std::int32_t w = touches.walls[t];
      const Vec3 &n = touches.normals[t], &Bn = touches.extents[t];
      const Real r = reach_of(extent[row], n, Bn), gap = touches.distances[t] - r;
      const bool only_presses = is_foreseen && walls_[w].condition == WallCondition::separate && force[row].isZero(0);
      const Real nearer = (only_presses ? near_by_foreseen : near_by) * dx;
      if (!(gap < nearer + approach(dt_, (states_[w].velocity_at(x[row]) - v[row]).dot(n)))) continue;
      const Real compliance = 1 / (whole ? whole->stiffness : stiffness_number * mass[row] * frequency * frequency);
      const Vec3 x_c = at_surface && r > 0 ? Vec3(x[row] - lever_at(gap, r, flattens) / r * Bn) : x[row];
      found.contacts.push_back({set, row, w, gap, compliance, ratio * compliance, n, x_c, Vec3::Zero(), force[row],
                                Vec3::Zero(), false, Acts::by_spring});
    }
    if (const auto of_point = std::span(found.contacts).subspan(first); !of_point.empty()) share_memory(of_point);
    else if (!force[row].isZero(0)) found.left.emplace_back(set, row);
  }
}

/// The force of the last step, which is known of a point alone, among the faces that it touches: as much as possible
/// along normals, and the rest along the face that carries most friction.
void WallContacts::share_memory(std::span<Contact> of_point) const {
  for (Contact& contact : of_point) contact.is_held = may_pull(contact);
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

}  // namespace weft
