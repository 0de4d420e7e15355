// Which points may touch walls in a step, and where.

#include "weft/coupling/wall_contacts.hpp"

#include "rounded_edges.hpp"
#include "separating_normal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
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
/// So those of points that go with elements: nodes move them not quite so, and to push them back is work.
constexpr Real closing_share_of_elements = 1e-3;
/// Walls that hold draw thin bodies and meshes back by this part of the first: at once it would be a kick. What comes
/// away of points that have a size of their own they hold where it is. Of what flows that size does not follow all
/// motion: such points are not pushed either, but for what a step has left of their motion along the normal.
constexpr Real pulling_share = 0.1;
/// A face that ends this near to the surface of another wall, in grid spacings, is flush with it,
constexpr Real flush = 1e-3;
/// which is looked for so far ahead of the face.
constexpr Real looks_ahead = 0.05;
/// Radius of outer edges as thin bodies meet them, at most, and how far edges recede by it, both in grid spacings.
constexpr Real edge_radius = 1.5, edge_recedes = 0.5;
/// Cosine of the angle of normals that are the same, and sine of that of normals that are not.
constexpr Real same_direction = 0.995, least_slope = 0.1;
constexpr std::int32_t no_wall = -1;
/// Of walls and their faces each has a bit, from which on others share one.
constexpr int walls_with_bits = 10, faces_with_bits = 6;
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

/// Whether a point began in a wall: its tensor has a negative axis, the depth.
bool began_in_wall(const Symmetric3<Real>& at_rest) {
  return at_rest.xx < 0 || at_rest.xx * at_rest.yy - at_rest.xy * at_rest.xy < 0 || at_rest.determinant() < 0;
}

/// How far a point reaches along the normal n of a wall [m]; Bn: of its deformed extent B. The depth of one that began
/// in a wall is the negative axis that is nearest to the normal. It is no size of its material: neither the deformation
/// nor another normal changes it, for the force along the normal would do work that no spring has.
Real reach_of(const Symmetric3<Real>& at_rest, const Vec3& normal, const Vec3& Bn) {
  const Real squared = normal.dot(Bn), r = std::copysign(std::sqrt(std::abs(squared)), squared);
  const bool is_ball =
      at_rest.xx > 0 && at_rest.yy > 0 && at_rest.zz > 0 && at_rest.yz == 0 && at_rest.xz == 0 && at_rest.xy == 0;
  if (is_ball) return r;
  if (began_in_wall(at_rest)) {
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
  const Real wave = set.frequency * dx;
  if (set.whole) return {set.whole->closing, set.whole->closing, pulling_share * set.whole->closing};
  if (!set.points->touches_at_surface()) {
    const Real pushed = closing_share_of_elements * wave;
    return {pushed, set.is_foreseen ? 0 : pushed, pulling_share * closing_share * wave};
  }
  const Real pushed = (flatten(*set.points) ? closing_share_of_flat : closing_share) * wave;
  return {pushed, set.points->extent_forgets_flow() ? 0 : pushed, 0};
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
  near.reach = near_by * transfer_.dx + size + approach(dt_, set.speed + set.gained + of_wall);
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
  const auto& may_face = sets_[set].faces;
  const auto x = points.points().get<Position>();
  const auto mass = points.points().get<Mass>();
  const auto at_rest = points.points().get<ContactExtent>();
  auto& [rows, walls, distances, normals, extents] = found.touches;
  rows.clear(), walls.clear(), distances.clear(), normals.clear();
  const bool may_be_thin = !points.touches_at_surface() && !sets_[set].whole;
  for (const std::uint32_t row : found.candidates) {
    if (row >= points.points().owned() || !(mass[row] > 0) || (is_led && is_led(row))) continue;
    const Vec3 offset = x[row] - middle;
    found.faces.clear();
    for (const auto& [wall, is_flat, is_convex, at_middle, reach] : found.near) {
      Faces faces;
      for (const auto& [distance, n] : at_middle)
        if (const Real least = distance + (is_flat || is_convex ? n.dot(offset) : -offset.norm()); least <= reach)
          faces.add({least, n});
      if (faces.count > 0 && !is_flat) faces = walls_[wall].shape.faces(states_[wall], x[row], reach);
      for (const Surface& face : faces) found.faces.push_back({wall, face, no_wall, false});
    }
    const bool is_thin = may_be_thin && at_rest[row].xx > 0;  // points of solids have no size
    if (is_thin) include_around(x[row], found.faces);
    if (found.faces.size() > 1) leave_covered(x[row], at_rest[row], found.faces);
    for (const auto& [wall, sharp, cover, is_dropped] : found.faces) {
      const Surface face = is_thin ? beside_edges(wall, x[row], sharp) : sharp;
      if (may_face && !may_face(row, -face.normal)) continue;
      rows.push_back(row);
      walls.push_back(wall);
      distances.push_back(face.distance);
      normals.push_back(face.normal);
    }
  }
  extents.resize(rows.size());
  points.contact_extents_along(rows, normals, extents);
  if (!may_be_thin) turn_at_edges(points, found);
}

/// Outer edges touch material along normals that separate the two best where the step ends: a normal to the middle of a
/// point would stop what passes the edge, and do work as the point turns.
void WallContacts::turn_at_edges(const PointSet& points, Found& found) const {
  const auto x = points.points().get<Position>(), v = points.points().get<Velocity>();
  const auto at_rest = points.points().get<ContactExtent>();
  auto& [rows, walls, distances, normals, extents] = found.touches;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const MovingShape& shape = walls_[walls[t]].shape;
    if (!(distances[t] > 0) || began_in_wall(at_rest[rows[t]]) || !shape.rest().has_edges(Side::outside)) continue;
    const RigidState& state = states_[walls[t]];
    const Vec3& at = x[rows[t]];
    const Vec3 n = normals[t], moved = dt_ * (v[rows[t]] - state.velocity_at(at));
    const Vec3 off = moved - n.dot(moved) * n, skew = extents[t] - n.dot(extents[t]) * n;
    if (off.norm() < flush * transfer_.dx && skew.norm() < flush * n.dot(extents[t])) continue;
    const std::array<Vec3, 3> axes{Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()};
    std::array<Vec3, 3> columns;
    const std::array<std::uint32_t, 3> same{rows[t], rows[t], rows[t]};
    points.contact_extents_along(same, axes, columns);
    Mat3 extent;
    for (int k = 0; k < 3; ++k) extent.col(k) = columns[static_cast<std::size_t>(k)];
    const WallAround around{flush * transfer_.dx, [&](const Vec3& y) { return shape.surface(state, y); },
                            [&](const Vec3& y) {
                              Real least = std::numeric_limits<Real>::infinity();
                              for (const Near& near : found.near)
                                least =
                                    std::min(least, walls_[near.wall].shape.surface(states_[near.wall], y).distance);
                              return least;
                            }};
    const Surface met = separated(around, at, {distances[t], n}, at + moved, extent);
    distances[t] = met.distance;
    normals[t] = met.normal;
    extents[t] = extent * met.normal;
  }
}

/// Another wall that lies over a face at its point `foot`; not one whose own face is there as well.
std::int32_t WallContacts::wall_over(std::int32_t wall, const Vec3& foot, const Vec3& normal) const {
  const Real little = flush * transfer_.dx;
  for (std::size_t other = 0; other < walls_.size(); ++other)
    if (static_cast<std::int32_t>(other) != wall &&
        walls_[other].shape.surface(states_[other], foot + 2 * little * normal).distance < little)
      return static_cast<std::int32_t>(other);
  return no_wall;
}

/// A face near x as thin bodies meet it, which catch at sharp edges.
Surface WallContacts::beside_edges(std::int32_t wall, const Vec3& x, const Surface& face) const {
  if (walls_[wall].edges == WallEdges::sharp || !walls_[wall].shape.rest().has_edges(Side::outside)) return face;
  const Vec3 foot = x - face.distance * face.normal;
  // Where another wall lies over a face, its faces that make an outer edge with `face` stand in.
  const auto faces_over = [&](const Vec3& at, Real reach) {
    Faces over;
    const auto take = [&over](const Surface& seen) {
      if (over.count < static_cast<int>(over.of.size())) over.add(seen);
    };
    if (walls_[wall].shape.surface(states_[wall], at).distance <= -reach) return over;
    for (const auto& [depth, inward] : walls_[wall].shape.faces(states_[wall], at, reach, Side::inside)) {
      const Surface seen{-depth, -inward};
      const Vec3 end = at - seen.distance * seen.normal;
      const std::int32_t other = wall_over(wall, end, seen.normal);
      if (other == no_wall) take(seen);
      else
        for (const auto& [beyond, into] : walls_[other].shape.faces(states_[other], end, 2 * reach, Side::inside)) {
          const Surface next{into.dot(end - at) - beyond, -into};
          const Vec3 next_foot = end - beyond * into;
          const bool makes_outer_edge =
              next.normal.dot(foot - next_foot) <= 0 && face.normal.dot(next_foot - foot) <= 0;
          if (makes_outer_edge && next.distance > -reach && wall_over(other, next_foot, next.normal) == no_wall)
            take(next);
        }
    }
    return over;
  };
  return rounded(x, face, {edge_radius * transfer_.dx, edge_recedes * transfer_.dx, faces_over});
}

/// Of the faces of a wall that x is less deep under than edges are rounded the nearest of those that count.
template <class Counts>
std::optional<Surface> WallContacts::nearest_behind(std::int32_t wall, const Vec3& x, const Counts& counts) const {
  std::optional<Surface> nearest;
  for (const auto& [depth, inward] :
       walls_[wall].shape.faces(states_[wall], x, edge_radius * transfer_.dx, Side::inside))
    if (const Surface face{-depth, -inward}; (!nearest || face.distance > nearest->distance) && counts(face))
      nearest = face;
  return nearest;
}

/// The wall that lies over the face of another one that holds x back, so that nothing comes to the face: the side of a
/// box that is buried under a plane or meets another box with flush tops.
std::int32_t WallContacts::cover_of(std::int32_t wall, const Surface& face, const Vec3& x,
                                    std::span<const NearFace> faces) const {
  const auto& [distance, n] = face;
  const Real little = flush * transfer_.dx, ahead = looks_ahead * transfer_.dx;
  const Vec3 foot = x - distance * n;
  for (const NearFace& other : faces) {
    if (other.wall == wall || other.face.distance > std::abs(distance) + little) continue;  // farther than the foot
    const auto over = [&](const Vec3& at) { return walls_[other.wall].shape.surface(states_[other.wall], at); };
    if (over(foot + ahead * n).distance >= same_direction * ahead) continue;  // its foot is what is nearest there
    Surface way_out = over(foot);
    if (way_out.distance > little) continue;
    const auto along_face = [&n](const Vec3& normal) -> Vec3 { return normal - n.dot(normal) * n; };
    if (along_face(way_out.normal).norm() < least_slope) {
      if (n.dot(way_out.normal) > 0) continue;
      // It faces the other wall: is there another way out of that?
      const Vec3 in = foot + near_by * transfer_.dx * n;
      const auto leads_along = [&](const Surface& way) { return along_face(way.normal).norm() >= least_slope; };
      way_out = over(in);
      if (!leads_along(way_out)) way_out = nearest_behind(other.wall, in, leads_along).value_or(way_out);
    }
    const Vec3 beside = along_face(way_out.normal);
    const Real slope = beside.norm();
    if (slope < least_slope) continue;
    // Where the face comes out of the other wall, if it does before it ends.
    const Vec3 end = foot + (std::max(-way_out.distance, Real(0)) + 2 * little) / (slope * slope) * beside;
    const Surface own = walls_[wall].shape.surface(states_[wall], end);
    if (own.normal.dot(n) < same_direction || over(end - own.distance * own.normal).distance < little)
      return other.wall;
  }
  return no_wall;
}

/// Thin bodies come into walls at edges. There includes those other walls that may cover a face which x is behind.
void WallContacts::include_around(const Vec3& x, std::vector<NearFace>& faces) const {
  Real depth = 0;
  for (const NearFace& near : faces) depth = std::max(depth, -near.face.distance);
  const Real little = flush * transfer_.dx;
  if (depth < little) return;
  for (std::int32_t wall = 0; wall < static_cast<std::int32_t>(walls_.size()); ++wall) {
    if (!acts_on_points(walls_[wall]) || std::ranges::find(faces, wall, &NearFace::wall) != faces.end()) continue;
    if (const Surface face = walls_[wall].shape.surface(states_[wall], x); face.distance <= depth + little)
      faces.push_back({wall, face, no_wall, false});
  }
}

/// Leaves those of the faces near x that no other wall covers. Where x is behind or on one, the next face of its wall
/// stands in. What walls have closed on has no other face of them; then all hold it.
void WallContacts::leave_covered(const Vec3& x, const Symmetric3<Real>& at_rest, std::vector<NearFace>& faces) const {
  // What began in a wall leaves it by no other face than that to which it had its depth.
  const auto may_leave_by = [&](const Vec3& n) { return !began_in_wall(at_rest) || n.dot(at_rest.full() * n) <= 0; };
  bool any = false;
  for (std::size_t k = 0, all = faces.size(); k < all; ++k) {
    const auto [wall, face, cover, is_dropped] = faces[k];
    faces[k].covered_by = cover_of(wall, face, x, faces);
    if (faces[k].covered_by == no_wall) continue;
    any = true;
    if (face.distance > flush * transfer_.dx) continue;
    const auto stands_in = [&, wall = wall, normal = face.normal](const Surface& next) {
      return std::abs(next.normal.dot(normal)) < same_direction && may_leave_by(next.normal) &&
             cover_of(wall, next, x, faces) == no_wall;
    };
    const Vec3 deeper = x - near_by * transfer_.dx * face.normal;
    const auto [distance, n] = walls_[wall].shape.surface(states_[wall], deeper);
    std::optional<Surface> next = Surface{distance + n.dot(x - deeper), n};
    if (!stands_in(*next)) next = nearest_behind(wall, x, stands_in);
    if (next) faces.push_back({wall, *next, no_wall, false});
  }
  if (!any) return;
  const auto counts = [&faces](std::int32_t wall) {
    return std::ranges::any_of(
        faces, [wall](const NearFace& face) { return face.wall == wall && face.covered_by == no_wall; });
  };
  const auto holds = [&faces](std::int32_t wall) {
    return std::ranges::any_of(faces, [wall](const NearFace& face) { return face.wall == wall && face.is_dropped; });
  };
  for (bool again = true; std::exchange(again, false);)
    for (NearFace& face : faces) {
      if (face.covered_by == no_wall || face.is_dropped) continue;
      face.is_dropped = counts(face.wall) || counts(face.covered_by) || holds(face.wall) || holds(face.covered_by);
      again = again || face.is_dropped;
    }
  std::erase_if(faces, &NearFace::is_dropped);
}

void WallContacts::find_in(const Bin& bin, std::uint32_t set, Found& found) const {
  found.contacts.clear();
  found.left.clear();
  const auto& [points, bins, frequency, speed, reach, whole, rebound, is_led, may_face, is_foreseen, gained] =
      sets_[set];
  find_near(bin, sets_[set], found.near);
  if (found.near.empty()) return;
  const Table& table = std::as_const(*points).points();
  const auto x = table.get<Position>(), v = table.get<Velocity>();
  const auto mass = table.get<Mass>();
  const auto force = table.get<WallForce>();
  const auto faces = table.get<WallFaces>();
  const auto extent = table.get<ContactExtent>();
  const auto C = points->extent_forgets_flow() ? table.get<Affine>() : std::span<const Mat3>();
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
      if (!(gap < nearer + approach(dt_, (states_[w].velocity_at(x[row]) - v[row]).dot(n) + gained))) continue;
      const Real compliance = 1 / (whole ? whole->stiffness : stiffness_number * mass[row] * frequency * frequency);
      const Vec3 x_c = whole                 ? Vec3(x[row] + whole->turn * (x[row] - whole->centre))
                       : at_surface && r > 0 ? Vec3(x[row] - lever_at(gap, r, flattens) / r * Bn)
                                             : x[row];
      const Real parting = C.empty() ? Real(0) : n.dot(v[row] + C[row] * (x_c - x[row]) - states_[w].velocity_at(x_c));
      found.contacts.push_back({set, row, w, gap, compliance, ratio * compliance, n, x_c, Vec3::Zero(), force[row],
                                Vec3::Zero(), parting, bit_of(w, n), false, false, Acts::by_spring});
    }
    if (const auto of_point = std::span(found.contacts).subspan(first); !of_point.empty())
      share_memory(of_point, faces[row]);
    else if (!force[row].isZero(0)) found.left.emplace_back(set, row);
  }
}

/// One of sixty, by the wall and the way in which the normal points in its frame: along one of six axes, about.
PointId WallContacts::bit_of(std::int32_t wall, const Vec3& normal) const {
  const Vec3 n = states_[wall].rotation.transpose() * normal;
  int axis = 0;
  n.cwiseAbs().maxCoeff(&axis);
  return PointId{1} << (wall % walls_with_bits * faces_with_bits + 2 * axis + (n[axis] < 0 ? 1 : 0));
}

/// The force of the last step, which is known of a point alone, among the faces that gave it: as much as possible along
/// normals, and the rest along the face that carries most friction. A wall has pulled by no more than what explains the
/// gap.
void WallContacts::share_memory(std::span<Contact> of_point, PointId faces) const {
  for (Contact& contact : of_point) {
    const bool has_others = std::ranges::any_of(
        of_point, [&](const Contact& other) { return &other != &contact && other.wall == contact.wall; });
    const PointId of_wall = ((PointId{1} << faces_with_bits) - 1) << (contact.wall % walls_with_bits * faces_with_bits);
    contact.has_acted = (faces & (has_others ? contact.face : of_wall)) != 0;
    contact.is_held = may_pull(contact);
  }
  if (of_point.size() == 1) return;
  if (std::ranges::none_of(of_point, &Contact::has_acted))  // it has come round an edge
    for (Contact& contact : of_point) contact.has_acted = contact.gap < 0;
  std::vector<Real> along(of_point.size(), 0);
  Vec3 rest = of_point.front().force;
  constexpr int sweeps = 8;
  for (int sweep = 0; sweep < sweeps; ++sweep)
    for (std::size_t k = 0; k < of_point.size(); ++k) {
      const Contact& contact = of_point[k];
      if (!contact.has_acted || (contact.gap >= 0 && !contact.is_held)) continue;
      const Real least = contact.is_held ? std::min(Real(0), -contact.gap / contact.compliance) : 0;
      const Real now = std::max(least, along[k] + rest.dot(contact.normal));
      rest -= (now - along[k]) * contact.normal;
      along[k] = now;
    }
  const auto holds = [&](std::size_t k) {  // first by what sticks
    const Wall& wall = walls_[of_point[k].wall];
    const bool sticks = wall.condition == WallCondition::sticky && of_point[k].has_acted;
    return std::pair(sticks, (sticks ? 1 : wall.friction) * std::abs(along[k]));
  };
  std::size_t strongest = 0;
  for (std::size_t k = 0; k < of_point.size(); ++k) {
    of_point[k].force = along[k] * of_point[k].normal;
    if (holds(k) > holds(strongest)) strongest = k;
  }
  of_point[strongest].force += rest;
}

}  // namespace weft
