// Impulses between segments.

#include "weft/coupling/segment_impulses.hpp"

#include <algorithm>
#include <cmath>

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

}  // namespace

/// The segments of a step, and what of other ranks is near them.
void SegmentImpulses::take(const MeetingVertices& vertices, const Segments& own) {
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
      boxes[s].include(vertices.x[row]);
      if (settings_.swept) boxes[s].include(vertices.x[row] + dt_ * vertices.v[row]);
    }
    boxes[s].lower.array() -= touch_[s].distance / 2;
    boxes[s].upper.array() += touch_[s].distance / 2;
  }
  bool is_inside = boxes.size() == boxes_.size();
  for (std::size_t s = 0; s < boxes.size() && is_inside; ++s)
    is_inside = boxes_[s].contains(boxes[s].lower) && boxes_[s].contains(boxes[s].upper);
  if (comm_.any(!is_inside)) find_near(std::move(boxes), segments.empty() ? own() : std::move(segments));
  spread_ends(vertices);
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
  for (const MeetingSegment& segment : segments) touch_.push_back({segment.distance, segment.friction});
  std::erase_if(near_.pairs, [&](const auto& pair) {
    return !may_meet(segments[static_cast<std::size_t>(pair[0])], segments[static_cast<std::size_t>(pair[1])]);
  });
}

void SegmentImpulses::spread_ends(const MeetingVertices& vertices) {
  ends_.resize(touch_.size());
  for (std::size_t s = 0; s < rows_.size(); ++s) {
    const auto [a, b] = rows_[s];
    ends_[s] = {{vertices.x[a], vertices.x[b]}, {vertices.lightness[a], vertices.lightness[b]}};
  }
  near_.forest.update_ghosts(column_of(ends_));
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

/// Where the two are nearest; none if they cannot meet in this step.
std::optional<SegmentImpulses::Pair> SegmentImpulses::pair_of(const std::array<std::int32_t, 2>& segments) const {
  const auto a = static_cast<std::size_t>(segments[0]), b = static_cast<std::size_t>(segments[1]);
  const Real distance = distance_of(segments);
  const ClosestPoints closest = closest_points(ends_[a].x, ends_[b].x);
  const Real d = closest.between.norm();
  const bool is_touching = d < touching * distance;
  if (!settings_.swept && (d >= distance || is_touching)) return {};
  const Vec3 normal = is_touching ? Vec3(Vec3::Zero()) : Vec3(closest.between / d);
  return Pair{segments, closest.share, normal, d, distance - d, (touch_[a].friction + touch_[b].friction) / 2};
}

void SegmentImpulses::spread_velocities(std::span<const Vec3> v) {
  velocity_.resize(ends_.size());
  for (std::size_t s = 0; s < rows_.size(); ++s) velocity_[s] = {v[rows_[s][0]], v[rows_[s][1]]};
  near_.forest.update_ghosts(column_of(velocity_));
}

/// None that move less than they are apart can cross.
std::optional<Crossing> SegmentImpulses::crossing_of(const Pair& pair) const {
  Real reach = 0;
  for (const std::int32_t s : pair.segments) {
    const auto& [first, second] = velocity_[static_cast<std::size_t>(s)];
    reach += dt_ * std::sqrt(std::max(first.squaredNorm(), second.squaredNorm()));
  }
  if (reach < pair.apart) return {};
  const auto moved = [&](std::size_t s) { return EndVectors{dt_ * velocity_[s][0], dt_ * velocity_[s][1]}; };
  const auto a = static_cast<std::size_t>(pair.segments[0]), b = static_cast<std::size_t>(pair.segments[1]);
  return first_crossing(ends_[a].x, moved(a), ends_[b].x, moved(b));
}

/// opening: they part with this speed, but no faster than they came [m/s].
SegmentImpulses::Given SegmentImpulses::impulse_at(const Pair& pair, const std::array<Real, 2>& share,
                                                   const Vec3& normal, Real opening) const {
  Given given{Vec3::Zero(), {1 - share[0], share[0], share[1] - 1, -share[1]}};
  Real per_mass = 0, lightest = 0;
  Vec3 v = Vec3::Zero();
  for (std::size_t end = 0; end < 4; ++end) {
    const auto s = static_cast<std::size_t>(pair.segments[end / 2]);
    per_mass += given.weight[end] * given.weight[end] * ends_[s].lightness[end % 2];
    lightest = std::max(lightest, ends_[s].lightness[end % 2]);
    v += given.weight[end] * velocity_[s][end % 2];
  }
  const Real v_n = normal.dot(v);
  if (!(v_n < -least_approach * (pair.apart + pair.too_near) / dt_) || per_mass == 0) return given;
  per_mass = std::max(per_mass, least_share * least_share * lightest);
  const Vec3 v_t = v - v_n * normal;
  const Real stopped = std::min(opening, -v_n) - v_n, sliding = v_t.norm();
  given.impulse = stopped / per_mass * normal;
  if (sliding > 0) given.impulse -= std::min(pair.friction * stopped / sliding, 1.0) / per_mass * v_t;
  return given;
}

SegmentImpulses::Given SegmentImpulses::answer(const Pair& pair) const {
  Given given{Vec3::Zero(), {}};
  if (pair.too_near > 0 && !pair.normal.isZero(0))
    given = impulse_at(pair, pair.share, pair.normal, settings_.opening * pair.too_near / dt_);
  return settings_.swept && given.impulse.isZero(0) ? stopped(pair) : given;
}

/// Before they cross; without weights if they do not.
SegmentImpulses::Given SegmentImpulses::stopped(const Pair& pair) const {
  const auto crossing = crossing_of(pair);
  return crossing ? impulse_at(pair, crossing->share, crossing->normal, 0) : Given{Vec3::Zero(), {}};
}

/// What pairs give at these velocities, and which of them act.
template <class Answer>
void SegmentImpulses::find_acting(std::span<const Vec3> v, const Answer& answer) {
  spread_velocities(v);
#pragma omp parallel for schedule(dynamic, 256)
  for (std::size_t k = 0; k < pairs_.size(); ++k) given_[k] = answer(pairs_[k]);
  acting_.clear();
  for (std::size_t k = 0; k < pairs_.size(); ++k)
    if (!given_[k].impulse.isZero(0)) acting_.push_back(static_cast<std::int32_t>(k));
}

template <class F>
void SegmentImpulses::for_each_acting_end(F&& f) const {
  for (const std::int32_t k : acting_) {
    const auto pair = static_cast<std::size_t>(k);
    for (std::size_t end = 0; end < 4; ++end)
      if (const auto s = static_cast<std::size_t>(pairs_[pair].segments[end / 2]); s < rows_.size())
        f(pair, end, static_cast<std::size_t>(rows_[s][end % 2]));
  }
}

/// How many pairs act on rows, and on the ends of all segments, which others need for the largest count alone.
void SegmentImpulses::count_acting(std::size_t rows) {
  count_.assign(rows, 0);
  for_each_acting_end([&](std::size_t, std::size_t, std::size_t row) { ++count_[row]; });
  if (settings_.averaging == ImpulseAveraging::per_vertex) return;
  count_at_.resize(ends_.size());
  for (std::size_t s = 0; s < rows_.size(); ++s)
    for (const std::size_t end : {0u, 1u})
      count_at_[s][end] = ends_[s].lightness[end] > 0 ? count_[static_cast<std::size_t>(rows_[s][end])] : 0;
  near_.forest.update_ghosts(column_of(count_at_));
}

/// What a pair is multiplied with at a row.
Real SegmentImpulses::scale_of(std::size_t pair, std::size_t row) const {
  if (settings_.averaging == ImpulseAveraging::per_vertex) return 1 / count_[row];
  Real largest = 1;
  for (const std::int32_t s : pairs_[pair].segments)
    for (const Real count : count_at_[static_cast<std::size_t>(s)]) largest = std::max(largest, count);
  return 1 / largest;
}

void SegmentImpulses::apply(const MeetingVertices& vertices) {
  sum_.assign(vertices.v.size(), Vec3::Zero());
  for_each_acting_end([&](std::size_t pair, std::size_t end, std::size_t row) {
    sum_[row] += scale_of(pair, row) * given_[pair].weight[end] * given_[pair].impulse;
  });
  for (std::size_t r = 0; r < sum_.size(); ++r) {
    vertices.impulses[r] += sum_[r];
    vertices.v[r] += vertices.lightness[r] * sum_[r];
  }
}

ImpulseCounts SegmentImpulses::act(Real dt, const MeetingVertices& vertices, const Segments& own) {
  dt_ = dt;
  take(vertices, own);
  pairs_.clear();
  for (const auto& segments : near_.pairs)
    if (const auto pair = pair_of(segments)) pairs_.push_back(*pair);
  given_.resize(pairs_.size());
  ImpulseCounts counts;
  for (const Pair& pair : pairs_) counts.pairs += is_counted_here(pair) && pair.too_near > 0 ? 1 : 0;
  counts.pairs = comm_.sum(counts.pairs);
  for (int iteration = 0; iteration < settings_.iterations; ++iteration) {
    find_acting(vertices.v, [this](const Pair& pair) { return answer(pair); });
    std::int64_t acting = 0;
    for (const std::int32_t k : acting_) acting += is_counted_here(pairs_[static_cast<std::size_t>(k)]) ? 1 : 0;
    acting = comm_.sum(acting);
    if (acting == 0) break;
    counts.impulses += acting;
    count_acting(vertices.v.size());
    apply(vertices);
  }
  return counts;
}

std::int64_t SegmentImpulses::stop_crossings(const MeetingVertices& vertices) {
  if (!settings_.swept) return 0;
  for (int round = 0;; ++round) {
    find_acting(vertices.v, [this](const Pair& pair) { return stopped(pair); });
    std::array<std::int64_t, 2> acting_and_crossing{static_cast<std::int64_t>(acting_.size()), 0};
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      const auto& weight = given_[k].weight;
      const bool crosses = std::ranges::any_of(weight, [](Real w) { return w != 0; });
      acting_and_crossing[1] += crosses && is_counted_here(pairs_[k]) ? 1 : 0;
    }
    comm_.sum(std::span(acting_and_crossing));
    const auto [acting, crossing] = acting_and_crossing;
    if (acting == 0 || round == most_rounds) return crossing;
    count_acting(vertices.v.size());
    apply(vertices);
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
