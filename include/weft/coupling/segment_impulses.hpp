#pragma once
// Impulses between segments that come near one another, or would cross in a step, and limits of their stretch.
// [docs/theory/strands.md, 15.8 and 15.9; Bridson et al. 2002; Han 2020, 4.2.4]

#include "weft/base/kinds.hpp"
#include "weft/coupling/pairs.hpp"
#include "weft/coupling/segment_pair.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace weft {

/// A segment as it always is. Numbers are those among all ranks.
struct MeetingSegment {
  std::array<std::int32_t, 2> rows;  ///< Of its vertices on this rank, which all of their segments are on.
  std::array<std::int64_t, 2> vertices;
  std::int64_t number, strand;
  EndVectors rest;          ///< [m].
  Real distance, friction;  ///< Pairs have means of both.
};

/// The vertices of this rank, row by row, where a step begins.
struct MeetingVertices {
  std::span<const Vec3> x;          ///< [m].
  std::span<const Real> lightness;  ///< One over their masses [1/kg]; 0 of those that are held.
  std::span<Vec3> v;                ///< Where the step ends, as far as is known [m/s].
  std::span<Vec3> impulses;         ///< What impulses give them [N s].
};

struct ImpulseSettings {
  int iterations;
  ImpulseAveraging averaging;
  bool swept;          ///< Pairs that would cross within the step are stopped too.
  Real opening = 0.1;  ///< Share of what pairs are too near by that repulsion opens in a step [1].
};

/// Of one step, on all ranks.
struct ImpulseCounts {
  std::int64_t pairs = 0;      ///< Nearer than their distance when the step begins.
  std::int64_t impulses = 0;   ///< In all iterations.
  std::int64_t crossings = 0;  ///< Pairs that cross in the step all the same (stop_crossings).
};

/// Pairs of segments of a step of dt. Where two approach, v_n < 0, an impulse along the normal n from the second to the
/// first, at the points where they are nearest, ends that and opens what they are too near by, no faster than they
/// came:
///   I_n = m (min(0.1 (distance - d) / dt, -v_n) - v_n),   1/m = sum_i w_i^2 / m_i,   w = (1 - a, a, -(1 - b), -b).
/// Coulomb's friction takes at most mu I_n of what slides. All pairs of an iteration see the same velocities.
/// Pairs that may come near are kept while segments stay in their boxes, and looked at again when both may have come
/// near since. That changes no bit.
class SegmentImpulses {
 public:
  SegmentImpulses(const Comm& comm, const ImpulseSettings& settings) : comm_(comm), settings_(settings) {}

  /// Changes the velocities of vertices that are not held, and adds to the impulses on all. own: gives the segments of
  /// this rank, the same ones whenever it is asked, which happens where pairs are sought anew. Segments of one strand
  /// that have a common vertex, or are nearer than their distance at rest, are no pair. Collective.
  ImpulseCounts act(Real dt, const MeetingVertices& vertices, const std::function<std::vector<MeetingSegment>()>& own);
  /// After that, and all else that changes velocities in the step: pairs that would cross, and only these, are stopped
  /// until none is left. Returns how many cross all the same; none are looked for unless swept. Collective.
  std::int64_t stop_crossings(const MeetingVertices& vertices);

 private:
  /// Where two segments act on one another.
  struct Spot {
    std::array<Real, 2> share;
    Vec3 normal;    ///< Zero where they touch.
    Real per_mass;  ///< sum_i w_i^2 / m_i, but no less than where free ends have a share; 0 if nothing is free [1/kg].
  };
  /// Two segments when the step begins.
  struct Pair {
    std::int32_t number;  ///< Among the pairs that may come near.
    std::array<std::int32_t, 2> segments;
    Spot nearest;
    Real apart;     ///< [m].
    Real too_near;  ///< Distance of the pair less that [m]; if it is negative only a crossing brings them together.
    Real friction;
  };
  /// What a pair gives in an iteration: weight times impulse to each of the four ends.
  struct Given {
    Vec3 impulse;  ///< Zero if it does not act [N s].
    std::array<Real, 4> weight;
  };
  /// What pairs of a segment need of it in every step.
  struct Touch {
    Real distance, friction;
  };
  /// A segment where a step begins.
  struct Ends {
    EndVectors x;
    std::array<Real, 2> lightness;
  };
  using Segments = std::function<std::vector<MeetingSegment>()>;
  void take(const Segments& own);
  void find_near(std::vector<Box> boxes, std::vector<MeetingSegment> segments);
  void spread_ends();
  static bool may_meet(const MeetingSegment& a, const MeetingSegment& b);
  Real distance_of(const std::array<std::int32_t, 2>& segments) const;
  Spot spot_of(const std::array<std::int32_t, 2>& segments, const std::array<Real, 2>& share, const Vec3& normal) const;
  Pair pair_of(std::size_t number) const;
  /// Calls take(number, pairs) for all that may come near, and puts what it adds behind the pairs that there are.
  template <class Take>
  void collect(const Take& take);
  void find_close();
  void touch(std::size_t first);
  void spread_velocities();
  const Vec3& velocity_at(std::int32_t segment, std::size_t end) const;
  Real reach_of(const std::array<std::int32_t, 2>& segments) const;
  void add_fast();
  std::optional<Crossing> crossing_of(const Pair& pair) const;
  Given answer(const Pair& pair) const;
  Given stopped(const Pair& pair) const;
  template <class Answer>
  void find_acting(const Answer& answer);
  Given impulse_at(const Pair& pair, const Spot& spot, Real opening) const;
  /// Calls f(end, row) for the ends on this rank.
  template <class F>
  void for_each_own_end(const Pair& pair, F&& f) const;
  void begin(const MeetingVertices& vertices);
  void count_acting();
  std::array<Real, 2> counts_of(std::size_t own) const;
  Real largest_count(const Pair& pair) const;
  void apply();
  /// Each pair is counted by the rank of its first segment.
  bool is_counted_here(const Pair& pair) const { return static_cast<std::size_t>(pair.segments[0]) < rows_.size(); }

  const Comm comm_;
  const ImpulseSettings settings_;

  // While segments stay in these boxes.
  std::vector<std::array<std::int32_t, 2>> rows_;  ///< Of the vertices of own segments.
  std::vector<Touch> touch_;                       ///< [own, ghost]
  Real least_distance_ = 0, most_distance_ = 0;    ///< Of these.
  std::vector<Box> boxes_;                         ///< Of own segments, with room to move.
  BoxPairs near_;                                  ///< Without those that never meet.
  std::vector<Real> way_;                          ///< How far the ends of each segment have gone at most [m].
  /// How far each pair near_ was apart when it was looked at, and the ways of both till then; 0 if it is close.
  std::vector<Real> apart_and_ways_;

  // Of a step.
  Real dt_ = 0;
  MeetingVertices vertices_{};
  std::vector<Ends> ends_;            ///< [own, ghost]
  std::vector<Pair> pairs_;           ///< By their numbers, those that are close before others that may cross.
  std::size_t close_ = 0;             ///< How many are close.
  std::vector<std::size_t> touched_;  ///< Rows of these pairs,
  std::vector<char> is_touched_;      ///< by rows too.
  Real fastest_ = 0;                  ///< No vertex has been faster in the iterations [m/s].

  // Of an iteration.
  std::vector<EndVectors> velocity_;           ///< Of the ends of segments that others know or that are others'.
  std::vector<Given> given_;                   ///< By pairs,
  std::vector<std::int32_t> acting_;           ///< and which of them act.
  std::vector<Real> count_;                    ///< How many of these act on rows,
  std::vector<Vec3> sum_;                      ///< and the sum of their impulses; 0 between iterations.
  std::vector<std::array<Real, 2>> count_at_;  ///< On ends, as velocity_; 0 on those that are held.
};

/// A segment whose stretch is limited.
struct LimitedSegment {
  std::array<std::int32_t, 2> vertices;  ///< Rows.
  Real length;                           ///< At rest [m].
};

/// One sweep over segments in their order: impulses along them, as they are at x, on their ends bring their lengths
/// after dt into [1 - limit, 1 + limit] times those at rest. Changes v and adds to the impulses, as above.
void limit_stretch(std::span<const LimitedSegment> segments, Real limit, std::span<const Vec3> x,
                   std::span<const Real> lightness, Real dt, std::span<Vec3> v, std::span<Vec3> impulses);

}  // namespace weft
