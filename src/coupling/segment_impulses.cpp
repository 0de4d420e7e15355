// Impulses between segments.

#include "weft/coupling/segment_impulses.hpp"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

/// Nearer than this, over the distance of a pair, two segments have no normal.
constexpr Real touching = 1e-9;

template <class T>
ColumnView column_of(std::vector<T>& values) {
  static_assert(sizeof(T) % sizeof(Real) == 0);
  return {{},
          {ScalarKind::real, sizeof(T) / sizeof(Real), 1},
          sizeof(T),
          values.size(),
          reinterpret_cast<std::byte*>(values.data())};
}

bool share_a_vertex(const MovingSegment& a, const MovingSegment& b) {
  return std::ranges::any_of(a.vertices,
                             [&](std::int64_t vertex) { return vertex == b.vertices[0] || vertex == b.vertices[1]; });
}

/// Around what pairs of a segment may look at: half of the distance belongs to each of them.
Box box_of(const MovingSegment& segment, const EndVectors& moved) {
  Box box;
  for (const std::size_t end : {0u, 1u}) {
    box.include(segment.x[end]);
    box.include(segment.x[end] + moved[end]);
  }
  box.lower.array() -= segment.distance / 2;
  box.upper.array() += segment.distance / 2;
  return box;
}

}  // namespace

SegmentImpulses::SegmentImpulses(const Comm& comm, std::vector<MovingSegment> own,
                                 std::span<const std::array<std::int32_t, 2>> vertices, std::span<const Vec3> v,
                                 Real dt, const ImpulseSettings& settings)
    : comm_(comm), dt_(dt), settings_(settings), vertices_(vertices.begin(), vertices.end()) {
  std::vector<Box> boxes;
  std::vector<std::int64_t> numbers;
  lightness_.assign(v.size(), 0);
  for (std::size_t s = 0; s < own.size(); ++s) {
    EndVectors moved{Vec3::Zero(), Vec3::Zero()};
    for (const std::size_t end : {0u, 1u}) {
      if (settings.swept) moved[end] = dt * v[static_cast<std::size_t>(vertices_[s][end])];
      lightness_[static_cast<std::size_t>(vertices_[s][end])] = own[s].lightness[end];
    }
    boxes.push_back(box_of(own[s], moved));
    numbers.push_back(own[s].number);
  }
  BoxPairs near = find_pairs(comm, boxes, numbers);
  forest_ = std::move(near.forest);
  segments_ = std::move(own);
  segments_.resize(near.ids.size());
  forest_.update_ghosts(column_of(segments_));
  velocity_.resize(segments_.size());
  acting_.resize(segments_.size());
  for (const auto& segments : near.pairs)
    if (const auto pair = pair_of(segments)) pairs_.push_back(*pair);
  given_.resize(pairs_.size());
  list_ends(v.size());
}

/// Where the two are nearest; none if they do not meet.
std::optional<SegmentImpulses::Pair> SegmentImpulses::pair_of(const std::array<std::int32_t, 2>& segments) const {
  const MovingSegment& a = segments_[static_cast<std::size_t>(segments[0])];
  const MovingSegment& b = segments_[static_cast<std::size_t>(segments[1])];
  const Real distance = (a.distance + b.distance) / 2;
  if (a.strand == b.strand && (share_a_vertex(a, b) || closest_points(a.rest, b.rest).between.norm() < distance))
    return {};
  const ClosestPoints closest = closest_points(a.x, b.x);
  const Real d = closest.between.norm();
  if (!settings_.swept && (d >= distance || d < touching * distance)) return {};
  const Vec3 normal = d < touching * distance ? Vec3(Vec3::Zero()) : Vec3(closest.between / d);
  return Pair{segments, closest.share, normal, d, distance - d, (a.friction + b.friction) / 2};
}

void SegmentImpulses::list_ends(std::size_t rows) {
  const auto for_each_own_end = [&](auto&& f) {
    for (std::size_t k = 0; k < pairs_.size(); ++k)
      for (std::int32_t end = 0; end < 4; ++end)
        if (const auto s = static_cast<std::size_t>(pairs_[k].segments[end / 2]); s < vertices_.size())
          f(static_cast<std::size_t>(vertices_[s][end % 2]), EndOfPair{static_cast<std::int32_t>(k), end});
  };
  first_end_.assign(rows + 1, 0);
  for_each_own_end([&](std::size_t row, EndOfPair) { ++first_end_[row + 1]; });
  for (std::size_t r = 0; r < rows; ++r) first_end_[r + 1] += first_end_[r];
  ends_.resize(first_end_.back());
  std::vector<std::size_t> next(first_end_.begin(), first_end_.end() - 1);
  for_each_own_end([&](std::size_t row, EndOfPair end) { ends_[next[row]++] = end; });
}

void SegmentImpulses::spread_velocities(std::span<const Vec3> v) {
  for (std::size_t s = 0; s < vertices_.size(); ++s)
    for (const std::size_t end : {0u, 1u}) velocity_[s][end] = v[static_cast<std::size_t>(vertices_[s][end])];
  forest_.update_ghosts(column_of(velocity_));
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
  return first_crossing(segments_[a].x, moved(a), segments_[b].x, moved(b));
}

/// opening: they part with this speed, but no faster than they came [m/s].
SegmentImpulses::Given SegmentImpulses::impulse_at(const Pair& pair, const std::array<Real, 2>& share,
                                                   const Vec3& normal, Real opening) const {
  Given given{Vec3::Zero(), {1 - share[0], share[0], share[1] - 1, -share[1]}};
  Real per_mass = 0;
  Vec3 v = Vec3::Zero();
  for (std::size_t end = 0; end < 4; ++end) {
    const auto s = static_cast<std::size_t>(pair.segments[end / 2]);
    per_mass += given.weight[end] * given.weight[end] * segments_[s].lightness[end % 2];
    v += given.weight[end] * velocity_[s][end % 2];
  }
  const Real v_n = normal.dot(v);
  if (!(v_n < 0) || per_mass == 0) return given;
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
  if (!settings_.swept || !given.impulse.isZero(0)) return given;
  if (const auto crossing = crossing_of(pair)) given = impulse_at(pair, crossing->share, crossing->normal, 0);
  return given;
}

/// How many pairs act on the ends of all segments.
void SegmentImpulses::count_acting() {
  for (std::size_t s = 0; s < vertices_.size(); ++s)
    for (const std::size_t end : {0u, 1u}) {
      acting_[s][end] = 0;
      if (segments_[s].lightness[end] == 0) continue;
      const auto row = static_cast<std::size_t>(vertices_[s][end]);
      for (std::size_t k = first_end_[row]; k < first_end_[row + 1]; ++k)
        acting_[s][end] += given_[static_cast<std::size_t>(ends_[k].pair)].impulse.isZero(0) ? 0 : 1;
    }
  forest_.update_ghosts(column_of(acting_));
}

/// own_count: of pairs that act on the vertex.
Real SegmentImpulses::scale_of(std::size_t pair, std::int32_t own_count) const {
  if (settings_.averaging == ImpulseAveraging::per_vertex) return 1.0 / own_count;
  Real largest = 1;
  for (const std::int32_t s : pairs_[pair].segments)
    for (const Real count : acting_[static_cast<std::size_t>(s)]) largest = std::max(largest, count);
  return 1 / largest;
}

void SegmentImpulses::apply(std::span<Vec3> v, std::span<Vec3> impulses) const {
#pragma omp parallel for schedule(static)
  for (std::size_t r = 0; r < v.size(); ++r) {
    const auto ends = std::span(ends_).subspan(first_end_[r], first_end_[r + 1] - first_end_[r]);
    const auto acts = [&](const EndOfPair& end) {
      return !given_[static_cast<std::size_t>(end.pair)].impulse.isZero(0);
    };
    const auto count = static_cast<std::int32_t>(std::ranges::count_if(ends, acts));
    Vec3 sum = Vec3::Zero();
    for (const EndOfPair& end : ends) {
      if (!acts(end)) continue;
      const auto pair = static_cast<std::size_t>(end.pair);
      sum += scale_of(pair, count) * given_[pair].weight[static_cast<std::size_t>(end.end)] * given_[pair].impulse;
    }
    impulses[r] += sum;
    v[r] += lightness_[r] * sum;
  }
}

ImpulseCounts SegmentImpulses::act(std::span<Vec3> v, std::span<Vec3> impulses) {
  std::array<std::int64_t, 3> counts{};
  for (const Pair& pair : pairs_) counts[0] += is_counted_here(pair) && pair.too_near > 0 ? 1 : 0;
  for (int iteration = 0; iteration < settings_.iterations; ++iteration) {
    spread_velocities(v);
#pragma omp parallel for schedule(dynamic, 256)
    for (std::size_t k = 0; k < pairs_.size(); ++k) given_[k] = answer(pairs_[k]);
    std::int64_t acting = 0;
    for (std::size_t k = 0; k < pairs_.size(); ++k)
      acting += is_counted_here(pairs_[k]) && !given_[k].impulse.isZero(0) ? 1 : 0;
    acting = comm_.sum(acting);
    if (acting == 0) break;
    counts[1] += acting;
    count_acting();
    apply(v, impulses);
  }
  if (settings_.swept) {
    spread_velocities(v);
    for (const Pair& pair : pairs_) counts[2] += is_counted_here(pair) && crossing_of(pair) ? 1 : 0;
  }
  comm_.sum(std::span(counts).first(1));
  comm_.sum(std::span(counts).last(1));
  return {counts[0], counts[1], counts[2]};
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
