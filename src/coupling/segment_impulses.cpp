// Impulses between segments.

#include "weft/coupling/segment_impulses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft {
namespace {

/// Nearer than this, over the distance of a pair, two segments have no normal.
constexpr Real touching = 1e-9;
/// Of its distance, what a pair comes nearer by in a step to approach: impulses leave round-off of zero behind, which
/// must not say whom the next ones act on.
constexpr Real least_approach = 1e-9;
/// Free ends whose shares in a pair are smaller are not moved by more than one over this of its approach: they cannot
/// part held ends.
constexpr Real least_share = 0.1;
/// Iterations of those that cross alone.
constexpr int most_rounds = 100;
/// How far segments may move before pairs are sought anew, over their distance.
constexpr Real room = 0.5;
/// Of how far pairs are apart, what round-off may take.
constexpr Real round_off = 1e-9;

template <class T>
ColumnView column_of(std::vector<T>& values) {
  static_assert(sizeof(T) % sizeof(Real) == 0);
  return {{},
          {ScalarKind::real, sizeof(T) / sizeof(Real), 1},
          sizeof(T),
          values.size(),
          reinterpret_cast<std::byte*>(values.data())};
}

bool share_a_vertex(const MeetingSegment& a, const MeetingSegment& b) {
  return std::ranges::any_of(a.vertices,
                             [&](std::int64_t vertex) { return vertex == b.vertices[0] || vertex == b.vertices[1]; });
}

/// Of the four ends, in the velocity of the first segment against the second.
std::array<Real, 4> weights_at(const std::array<Real, 2>& share) {
  return {1 - share[0], share[0], share[1] - 1, -share[1]};
}

}  // namespace

/// The segments of a step, and what of other ranks is near them.
void SegmentImpulses::take(const Segments& own) {
  std::vector<MeetingSegment> segments;
  if (rows_.empty()) {
    segments = own();
    for (const MeetingSegment& segment : segments) {
      rows_.push_back(segment.rows);
      touch_.push_back({segment.distance, segment.friction});
    }
  }
  std::vector<Box> boxes(rows_.size());  // half of the distance belongs to each of two
  for (std::size_t s = 0; s < rows_.size(); ++s) {
    for (const std::int32_t row : rows_[s]) {
      boxes[s].include(vertices_.x[row]);
      if (settings_.swept) boxes[s].include(vertices_.x[row] + dt_ * vertices_.v[row]);
    }
    boxes[s].lower.array() -= touch_[s].distance / 2;
    boxes[s].upper.array() += touch_[s].distance / 2;
  }
  bool is_inside = boxes.size() == boxes_.size();
  for (std::size_t s = 0; s < boxes.size() && is_inside; ++s)
    is_inside = boxes_[s].contains(boxes[s].lower) && boxes_[s].contains(boxes[s].upper);
  if (comm_.any(!is_inside)) find_near(std::move(boxes), segments.empty() ? own() : std::move(segments));
  spread_ends();
}

/// boxes: of the own segments as they are now.
void SegmentImpulses::find_near(std::vector<Box> boxes, std::vector<MeetingSegment> segments) {
  std::vector<std::int64_t> numbers;
  for (std::size_t s = 0; s < boxes.size(); ++s) {
    boxes[s].lower.array() -= room * segments[s].distance;
    boxes[s].upper.array() += room * segments[s].distance;
    numbers.push_back(segments[s].number);
  }
  boxes_ = std::move(boxes);
  near_ = find_pairs(comm_, boxes_, numbers);
  segments.resize(near_.ids.size());
  near_.forest.update_ghosts(column_of(segments));
  touch_.clear();
  least_distance_ = std::numeric_limits<Real>::infinity();
  most_distance_ = 0;
  for (const MeetingSegment& segment : segments) {
    touch_.push_back({segment.distance, segment.friction});
    least_distance_ = std::min(least_distance_, segment.distance);
    most_distance_ = std::max(most_distance_, segment.distance);
  }
  std::erase_if(near_.pairs, [&](const auto& pair) {
    return !may_meet(segments[static_cast<std::size_t>(pair[0])], segments[static_cast<std::size_t>(pair[1])]);
  });
  ends_.clear();
  way_.clear();
  apart_and_ways_.assign(near_.pairs.size(), 0);
}

void SegmentImpulses::spread_ends() {
  std::vector<Ends> before = std::move(ends_);
  ends_.resize(touch_.size());
  for (std::size_t s = 0; s < rows_.size(); ++s) {
    const auto [a, b] = rows_[s];
    ends_[s] = {{vertices_.x[a], vertices_.x[b]}, {vertices_.lightness[a], vertices_.lightness[b]}};
  }
  near_.forest.update_ghosts(column_of(ends_));
  way_.resize(ends_.size());
  for (std::size_t s = 0; s < before.size(); ++s)
    way_[s] += std::sqrt(
        std::max((ends_[s].x[0] - before[s].x[0]).squaredNorm(), (ends_[s].x[1] - before[s].x[1]).squaredNorm()));
}

bool SegmentImpulses::may_meet(const MeetingSegment& a, const MeetingSegment& b) {
  if (a.strand != b.strand) return true;
  return !share_a_vertex(a, b) && closest_points(a.rest, b.rest).between.norm() >= (a.distance + b.distance) / 2;
}

Real SegmentImpulses::distance_of(const std::array<std::int32_t, 2>& segments) const {
  return (touch_[static_cast<std::size_t>(segments[0])].distance +
          touch_[static_cast<std::size_t>(segments[1])].distance) /
         2;
}

SegmentImpulses::Spot SegmentImpulses::spot_of(const std::array<std::int32_t, 2>& segments,
                                               const std::array<Real, 2>& share, const Vec3& normal) const {
  const std::array<Real, 4> weight = weights_at(share);
  Real per_mass = 0, lightest = 0;
  for (std::size_t end = 0; end < 4; ++end) {
    const Real lightness = ends_[static_cast<std::size_t>(segments[end / 2])].lightness[end % 2];
    per_mass += weight[end] * weight[end] * lightness;
    lightest = std::max(lightest, lightness);
  }
  return {share, normal, per_mass == 0 ? 0 : std::max(per_mass, least_share * least_share * lightest)};
}

/// Where the two are nearest.
SegmentImpulses::Pair SegmentImpulses::pair_of(std::size_t number) const {
  const std::array<std::int32_t, 2>& segments = near_.pairs[number];
  const auto a = static_cast<std::size_t>(segments[0]), b = static_cast<std::size_t>(segments[1]);
  const Real distance = distance_of(segments);
  const ClosestPoints closest = closest_points(ends_[a].x, ends_[b].x);
  const Real d = closest.between.norm();
  const Vec3 normal = d < touching * distance ? Vec3(Vec3::Zero()) : Vec3(closest.between / d);
  return {static_cast<std::int32_t>(number),
          segments,
          spot_of(segments, closest.share, normal),
          d,
          distance - d,
          (touch_[a].friction + touch_[b].friction) / 2};
}

template <class Take>
void SegmentImpulses::collect(const Take& take) {
  constexpr std::size_t chunk = 4096;
  const std::size_t all = near_.pairs.size();
  std::vector<std::vector<Pair>> of_chunks((all + chunk - 1) / chunk);
#pragma omp parallel for schedule(dynamic)
  for (std::size_t c = 0; c < of_chunks.size(); ++c)
    for (std::size_t k = c * chunk; k < std::min(all, (c + 1) * chunk); ++k) take(k, of_chunks[c]);
  for (const std::vector<Pair>& of_chunk : of_chunks) pairs_.insert(pairs_.end(), of_chunk.begin(), of_chunk.end());
}

template <class F>
void SegmentImpulses::for_each_own_end(const Pair& pair, F&& f) const {
  for (std::size_t end = 0; end < 4; ++end)
    if (const auto s = static_cast<std::size_t>(pair.segments[end / 2]); s < rows_.size())
      f(end, static_cast<std::size_t>(rows_[s][end % 2]));
}

/// Others are not looked at until their segments may have come near.
void SegmentImpulses::find_close() {
  pairs_.clear();
  collect([this](std::size_t k, std::vector<Pair>& close) {
    const auto [a, b] = near_.pairs[k];
    const Real ways = way_[static_cast<std::size_t>(a)] + way_[static_cast<std::size_t>(b)];
    if (apart_and_ways_[k] - ways > most_distance_) return;
    const Pair pair = pair_of(k);
    const bool is_close = pair.too_near > 0;
    apart_and_ways_[k] = is_close ? 0 : (1 - round_off) * pair.apart + ways;
    if (is_close && (settings_.swept || !pair.nearest.normal.isZero(0))) close.push_back(pair);
  });
  close_ = pairs_.size();
  touched_.clear();
  is_touched_.assign(vertices_.v.size(), false);
  count_.assign(vertices_.v.size(), 0);
  sum_.assign(vertices_.v.size(), Vec3::Zero());
  touch(0);
}

/// From a pair on.
void SegmentImpulses::touch(std::size_t first) {
  for (std::size_t k = first; k < pairs_.size(); ++k)
    for_each_own_end(pairs_[k], [&](std::size_t, std::size_t row) {
      if (!is_touched_[row]) touched_.push_back(row);
      is_touched_[row] = true;
    });
}

void SegmentImpulses::spread_velocities() {
  velocity_.resize(ends_.size());
  for (const std::size_t s : near_.forest.lent()) velocity_[s] = {vertices_.v[rows_[s][0]], vertices_.v[rows_[s][1]]};
  near_.forest.update_ghosts(column_of(velocity_));
  for (std::size_t s = rows_.size(); s < velocity_.size(); ++s)
    for (const Vec3& v : velocity_[s]) fastest_ = std::max(fastest_, v.norm());
}

const Vec3& SegmentImpulses::velocity_at(std::int32_t segment, std::size_t end) const {
  const auto s = static_cast<std::size_t>(segment);
  return s < rows_.size() ? vertices_.v[rows_[s][end]] : velocity_[s][end];
}

/// How far both go in the step, together.
Real SegmentImpulses::reach_of(const std::array<std::int32_t, 2>& segments) const {
  Real reach = 0;
  for (const std::int32_t s : segments)
    reach += dt_ * std::sqrt(std::max(velocity_at(s, 0).squaredNorm(), velocity_at(s, 1).squaredNorm()));
  return reach;
}

/// Puts pairs that are not close, but may cross at these velocities, behind those that are.
void SegmentImpulses::add_fast() {
  pairs_.resize(close_);
  if (!settings_.swept || 2 * dt_ * fastest_ < least_distance_) return;
  collect([this](std::size_t k, std::vector<Pair>& fast) {
    const auto& segments = near_.pairs[k];
    const Real ways = way_[static_cast<std::size_t>(segments[0])] + way_[static_cast<std::size_t>(segments[1])];
    const bool is_close = apart_and_ways_[k] == 0;
    if (!is_close && reach_of(segments) >= apart_and_ways_[k] - ways) fast.push_back(pair_of(k));
  });
  touch(close_);
}

/// None that move less than they are apart can cross.
std::optional<Crossing> SegmentImpulses::crossing_of(const Pair& pair) const {
  if (2 * dt_ * fastest_ < pair.apart || reach_of(pair.segments) < pair.apart) return {};
  const auto [a, b] = pair.segments;
  const auto moved = [&](std::int32_t s) { return EndVectors{dt_ * velocity_at(s, 0), dt_ * velocity_at(s, 1)}; };
  const auto ends = [&](std::int32_t s) { return ends_[static_cast<std::size_t>(s)].x; };
  return first_crossing(ends(a), moved(a), ends(b), moved(b));
}

/// opening: they part with this speed, but no faster than they came [m/s].
SegmentImpulses::Given SegmentImpulses::impulse_at(const Pair& pair, const Spot& spot, Real opening) const {
  Given given{Vec3::Zero(), weights_at(spot.share)};
  Vec3 v = Vec3::Zero();
  for (std::size_t end = 0; end < 4; ++end) v += given.weight[end] * velocity_at(pair.segments[end / 2], end % 2);
  const Real v_n = spot.normal.dot(v);
  if (!(v_n < -least_approach * (pair.apart + pair.too_near) / dt_) || spot.per_mass == 0) return given;
  const Vec3 v_t = v - v_n * spot.normal;
  const Real stopped = std::min(opening, -v_n) - v_n, sliding = v_t.norm();
  given.impulse = stopped / spot.per_mass * spot.normal;
  if (sliding > 0) given.impulse -= std::min(pair.friction * stopped / sliding, 1.0) / spot.per_mass * v_t;
  return given;
}

SegmentImpulses::Given SegmentImpulses::answer(const Pair& pair) const {
  Given given{Vec3::Zero(), {}};
  if (pair.too_near > 0 && !pair.nearest.normal.isZero(0))
    given = impulse_at(pair, pair.nearest, settings_.opening * pair.too_near / dt_);
  return settings_.swept && given.impulse.isZero(0) ? stopped(pair) : given;
}

/// Before they cross; without weights if they do not.
SegmentImpulses::Given SegmentImpulses::stopped(const Pair& pair) const {
  const auto crossing = crossing_of(pair);
  if (!crossing) return {Vec3::Zero(), {}};
  return impulse_at(pair, spot_of(pair.segments, crossing->share, crossing->normal), 0);
}

/// What pairs give at these velocities, and which of them act.
template <class Answer>
void SegmentImpulses::find_acting(const Answer& answer) {
  spread_velocities();
  add_fast();
  given_.resize(pairs_.size());
#pragma omp parallel for schedule(dynamic, 256)
  for (std::size_t k = 0; k < pairs_.size(); ++k) given_[k] = answer(pairs_[k]);
  acting_.clear();
  for (std::size_t k = 0; k < pairs_.size(); ++k)
    if (!given_[k].impulse.isZero(0)) acting_.push_back(static_cast<std::int32_t>(k));
  if (pairs_.size() > close_)
    std::ranges::sort(acting_, {}, [this](std::int32_t k) { return pairs_[static_cast<std::size_t>(k)].number; });
}

/// How many pairs act on rows. For the largest count held ones have none, and others need to know.
void SegmentImpulses::count_acting() {
  for (const std::int32_t k : acting_)
    for_each_own_end(pairs_[static_cast<std::size_t>(k)], [&](std::size_t, std::size_t row) { ++count_[row]; });
  if (settings_.averaging == ImpulseAveraging::per_vertex) return;
  for (const std::size_t r : touched_)
    if (vertices_.lightness[r] == 0) count_[r] = 0;
  count_at_.resize(ends_.size());
  for (const std::size_t s : near_.forest.lent()) count_at_[s] = counts_of(s);
  near_.forest.update_ghosts(column_of(count_at_));
}

/// On the ends of an own segment.
std::array<Real, 2> SegmentImpulses::counts_of(std::size_t own) const {
  const auto [a, b] = rows_[own];
  return {count_[static_cast<std::size_t>(a)], count_[static_cast<std::size_t>(b)]};
}

/// Of the pairs that act on one of its free ends.
Real SegmentImpulses::largest_count(const Pair& pair) const {
  Real largest = 1;
  for (const std::int32_t segment : pair.segments) {
    const auto s = static_cast<std::size_t>(segment);
    for (const Real count : s < rows_.size() ? counts_of(s) : count_at_[s]) largest = std::max(largest, count);
  }
  return largest;
}

void SegmentImpulses::apply() {
  const bool by_vertex = settings_.averaging == ImpulseAveraging::per_vertex;
  for (const std::int32_t k : acting_) {
    const auto pair = static_cast<std::size_t>(k);
    const Real of_pair = by_vertex ? 0 : 1 / largest_count(pairs_[pair]);
    for_each_own_end(pairs_[pair], [&](std::size_t end, std::size_t row) {
      sum_[row] += (by_vertex ? 1 / count_[row] : of_pair) * given_[pair].weight[end] * given_[pair].impulse;
    });
  }
  for (const std::size_t r : touched_) {
    vertices_.impulses[r] += sum_[r];
    vertices_.v[r] += vertices_.lightness[r] * sum_[r];
    fastest_ = std::max(fastest_, vertices_.v[r].norm());
    count_[r] = 0;
    sum_[r].setZero();
  }
}

/// Before iterations.
void SegmentImpulses::begin(const MeetingVertices& vertices) {
  vertices_ = vertices;
  Real fastest_squared = 0;
  for (const Vec3& v : vertices.v) fastest_squared = std::max(fastest_squared, v.squaredNorm());
  fastest_ = std::sqrt(fastest_squared);
}

ImpulseCounts SegmentImpulses::act(Real dt, const MeetingVertices& vertices, const Segments& own) {
  dt_ = dt;
  begin(vertices);
  take(own);
  find_close();
  ImpulseCounts counts;
  for (const Pair& pair : pairs_) counts.pairs += is_counted_here(pair) ? 1 : 0;
  counts.pairs = comm_.sum(counts.pairs);
  for (int iteration = 0; iteration < settings_.iterations; ++iteration) {
    find_acting([this](const Pair& pair) { return answer(pair); });
    std::int64_t acting = 0;
    for (const std::int32_t k : acting_) acting += is_counted_here(pairs_[static_cast<std::size_t>(k)]) ? 1 : 0;
    acting = comm_.sum(acting);
    if (acting == 0) break;
    counts.impulses += acting;
    count_acting();
    apply();
  }
  return counts;
}

std::int64_t SegmentImpulses::stop_crossings(const MeetingVertices& vertices) {
  if (!settings_.swept) return 0;
  begin(vertices);
  for (int round = 0;; ++round) {
    find_acting([this](const Pair& pair) { return stopped(pair); });
    std::array<std::int64_t, 2> acting_and_crossing{static_cast<std::int64_t>(acting_.size()), 0};
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      const auto& weight = given_[k].weight;
      const bool crosses = std::ranges::any_of(weight, [](Real w) { return w != 0; });
      acting_and_crossing[1] += crosses && is_counted_here(pairs_[k]) ? 1 : 0;
    }
    comm_.sum(std::span(acting_and_crossing));
    const auto [acting, crossing] = acting_and_crossing;
    if (acting == 0 || round == most_rounds) return crossing;
    count_acting();
    apply();
  }
}

void limit_stretch(std::span<const LimitedSegment> segments, Real limit, std::span<const Vec3> x,
                   std::span<const Real> lightness, Real dt, std::span<Vec3> v, std::span<Vec3> impulses) {
  for (const LimitedSegment& segment : segments) {
    const auto a = static_cast<std::size_t>(segment.vertices[0]), b = static_cast<std::size_t>(segment.vertices[1]);
    const Real per_mass = lightness[a] + lightness[b];
    const Vec3 e = x[b] - x[a], to = e + dt * (v[b] - v[a]);
    const Real length = to.norm();
    const Real wanted = std::clamp(length, (1 - limit) * segment.length, (1 + limit) * segment.length);
    if (length == wanted || per_mass == 0 || e.isZero(0)) continue;
    // |to + c t| = wanted, or as near to that as changes along t bring it
    const Vec3 t = e.normalized();
    const Real along = to.dot(t), across_squared = to.squaredNorm() - along * along;
    const Real c = std::sqrt(std::max(wanted * wanted - across_squared, 0.0)) - along;
    const Vec3 impulse = c / (dt * per_mass) * t;
    v[a] -= lightness[a] * impulse;
    v[b] += lightness[b] * impulse;
    impulses[a] -= impulse;
    impulses[b] += impulse;
  }
}

}  // namespace weft
