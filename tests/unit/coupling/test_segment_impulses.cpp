// Impulses between segments: closed forms of two, and what tangles of chains keep on any ranks.

#include "weft/coupling/segment_impulses.hpp"

#include <gtest/gtest.h>

#include "weft/base/random.hpp"

#include <cmath>

namespace weft {
namespace {

constexpr Real dt = 0.01;

Vec3 random_vector(Random& random) { return 2 * random.uniform3() - Vec3::Ones(); }

TEST(SegmentPairTest, NearestPointsAreNoFartherThanAnyOthers) {
  for (std::uint64_t k = 0; k < 2000; ++k) {
    Random random(7, 0, k);
    EndVectors a{random_vector(random), random_vector(random)}, b{random_vector(random), random_vector(random)};
    if (k % 4 == 1) b[1] = b[0] + (a[1] - a[0]) * (2 * random.uniform() - 1);  // parallel
    if (k % 4 == 2) b[1] = b[0];                                               // a point
    if (k % 4 == 3) b[0] = at_share(a, random.uniform());                      // touching
    const ClosestPoints closest = closest_points(a, b);
    EXPECT_LT((at_share(a, closest.share[0]) - at_share(b, closest.share[1]) - closest.between).norm(), 1e-14);
    for (const Real share : closest.share) {
      EXPECT_GE(share, 0);
      EXPECT_LE(share, 1);
    }
    for (int i = 0; i <= 20; ++i)
      for (int j = 0; j <= 20; ++j)
        EXPECT_LE(closest.between.norm(), (at_share(a, i / 20.0) - at_share(b, j / 20.0)).norm() + 1e-9);
  }
}

TEST(SegmentPairTest, CrossingsAreFoundWhereTheyHappen) {
  for (std::uint64_t k = 0; k < 2000; ++k) {
    Random random(8, 0, k);
    // Both pass the origin at a time between 0 and 1.
    const Real time = random.uniform();
    const auto segment = [&](const Vec3& u, const Vec3& v) {
      const Vec3 along = random_vector(random);
      const Real share = random.uniform();
      return EndVectors{-share * along - time * u, (1 - share) * along - time * v};
    };
    const EndVectors u{random_vector(random), random_vector(random)}, w{random_vector(random), random_vector(random)};
    const EndVectors shift{0.3 * u[0], 0.3 * u[0]};  // both turn little
    const EndVectors first = segment(shift[0], shift[1]), second = segment(w[0], w[0]);
    const auto crossing = first_crossing(first, shift, second, {w[0], w[0]});
    ASSERT_TRUE(crossing.has_value()) << k;
    const Vec3 before = at_share(first, crossing->share[0]) - at_share(second, crossing->share[1]);
    EXPECT_GT(crossing->normal.dot(before), 0);
    EXPECT_NEAR(crossing->normal.norm(), 1, 1e-12);
    EXPECT_FALSE(first_crossing(first, shift, second, shift).has_value());  // they go side by side
  }
}

/// Chains of segments that wander about in a box, each on one of the ranks of a communicator.
struct Tangle {
  static constexpr int chains = 60, segments_of_chain = 12;
  Comm comm;
  std::vector<int> chain_of_vertex;
  std::vector<Vec3> x, v;
  std::vector<Real> mass, lightness;
  std::vector<MeetingSegment> segments;

  Tangle(const Comm& its_comm, Real friction, Real distance, Real speed, bool some_held = false) : comm(its_comm) {
    for (int chain = 0; chain < chains; ++chain)
      if (chain % comm.size() == comm.rank()) add_chain(chain, friction, distance, speed, some_held);
  }

  void add_chain(int chain, Real friction, Real distance, Real speed, bool some_held) {
    Random random(9, 1, static_cast<std::uint64_t>(chain));
    const std::size_t first = x.size();
    std::vector<Vec3> rest;
    for (int k = 0; k <= segments_of_chain; ++k) {
      x.push_back(k == 0 ? Vec3(0.5 * random.uniform3()) : Vec3(x.back() + 0.1 * random_vector(random)));
      v.push_back(speed * random_vector(random));
      mass.push_back(0.5 + random.uniform());
      lightness.push_back(some_held && k % 5 == 0 ? 0 : 1 / mass.back());
      rest.emplace_back(0.2 * k, chain, 0);
      chain_of_vertex.push_back(chain);
    }
    for (int k = 0; k < segments_of_chain; ++k) {
      const auto row = static_cast<std::int32_t>(first) + k;
      const std::int64_t vertex = std::int64_t{chain} * (segments_of_chain + 1) + k;
      segments.push_back({{row, row + 1},
                          {vertex, vertex + 1},
                          std::int64_t{chain} * segments_of_chain + k,
                          std::int64_t{chain},
                          {rest[static_cast<std::size_t>(k)], rest[static_cast<std::size_t>(k) + 1]},
                          distance,
                          friction});
    }
  }

  ImpulseCounts act(const ImpulseSettings& settings) {
    SegmentImpulses impulses(comm, settings);
    return act(impulses);
  }
  ImpulseCounts act(SegmentImpulses& impulses) {
    std::vector<Vec3> given(v.size(), Vec3::Zero());
    const MeetingVertices vertices{x, lightness, v, given};
    ImpulseCounts counts = impulses.act(dt, vertices, [this] { return segments; });
    counts.crossings = impulses.stop_crossings(vertices);
    return counts;
  }
  /// Goes on for a while with the velocities that there are.
  void move(Real time) {
    for (std::size_t r = 0; r < x.size(); ++r) x[r] += time * v[r];
  }
  /// Linear and angular momentum and kinetic energy on all ranks.
  std::array<Real, 7> totals() const {
    std::array<Real, 7> sums{};
    for (std::size_t r = 0; r < x.size(); ++r) {
      const Vec3 p = mass[r] * v[r], l = x[r].cross(p);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        sums[axis] += p[static_cast<Eigen::Index>(axis)];
        sums[3 + axis] += l[static_cast<Eigen::Index>(axis)];
      }
      sums[6] += p.dot(v[r]) / 2;
    }
    comm.sum(std::span(sums));
    return sums;
  }
};

constexpr ImpulseSettings plain{.iterations = 5, .averaging = ImpulseAveraging::largest_count, .swept = false};

TEST(SegmentImpulsesTest, KeepMomentumAndNeverRaiseKineticEnergy) {
  for (const bool swept : {false, true})
    for (const Real friction : {0.0, 0.4}) {
      Tangle tangle(Comm::world(), friction, 0.02, 2);
      const auto before = tangle.totals();
      ImpulseSettings settings = plain;
      settings.swept = swept;
      Real energy = before[6];
      settings.iterations = 1;
      for (int iteration = 0; iteration < 5; ++iteration) {
        const ImpulseCounts counts = tangle.act(settings);
        EXPECT_GT(counts.pairs, 100);
        EXPECT_GT(counts.impulses, iteration == 0 ? 50 : -1);
        const Real now = tangle.totals()[6];
        EXPECT_LE(now, energy * (1 + 1e-15));
        energy = now;
      }
      const auto after = tangle.totals();
      EXPECT_LT(after[6], 0.99 * before[6]);
      for (std::size_t k = 0; k < 6; ++k)
        if (k < 3 || (friction == 0 && !swept)) {
          EXPECT_NEAR(after[k], before[k], 1e-12 * std::sqrt(before[6])) << k;
        }
    }
}

TEST(SegmentImpulsesTest, DependOnNoRankToTheBit) {
  for (const ImpulseAveraging averaging : {ImpulseAveraging::largest_count, ImpulseAveraging::per_vertex})
    for (const bool swept : {false, true}) {
      ImpulseSettings settings = plain;
      settings.averaging = averaging;
      settings.swept = swept;
      Tangle shared(Comm::world(), 0.3, 0.03, 3, true), alone(Comm(MPI_COMM_SELF), 0.3, 0.03, 3, true);
      const ImpulseCounts of_all = shared.act(settings), of_one = alone.act(settings);
      EXPECT_EQ(of_all.pairs, of_one.pairs);
      EXPECT_EQ(of_all.impulses, of_one.impulses);
      EXPECT_EQ(of_all.crossings, of_one.crossings);
      std::size_t r = 0;
      for (std::size_t a = 0; a < alone.v.size(); ++a)
        if (alone.chain_of_vertex[a] % shared.comm.size() == shared.comm.rank()) {
          EXPECT_EQ(shared.v[r++], alone.v[a]);
        }
    }
}

TEST(SegmentImpulsesTest, PairsThatAreKeptChangeNoBit) {
  for (const bool swept : {false, true}) {
    ImpulseSettings settings = plain;
    settings.swept = swept;
    Tangle kept(Comm::world(), 0.3, 0.03, 2), anew(Comm::world(), 0.3, 0.03, 2);
    SegmentImpulses impulses(kept.comm, settings);
    for (int step = 0; step < 40; ++step) {
      EXPECT_EQ(kept.act(impulses).impulses, anew.act(settings).impulses);
      EXPECT_EQ(kept.v, anew.v);
      kept.move(dt / 10);
      anew.move(dt / 10);
    }
  }
}

/// Two crossed segments of unit length, the first one above the other, on the root alone.
struct Cross {
  std::vector<MeetingSegment> segments;
  std::vector<Vec3> x, v{4, Vec3::Zero()}, impulses{4, Vec3::Zero()};
  std::vector<Real> lightness{1, 0.5, 1, 0.5};
  Comm comm{MPI_COMM_SELF};

  Cross(Real height, Real shift, Real distance, Real friction) {
    const auto add = [&](const EndVectors& ends) {
      const auto first = static_cast<std::int32_t>(2 * segments.size());
      segments.push_back({{first, first + 1}, {first, first + 1}, first, first, ends, distance, friction});
      x.insert(x.end(), ends.begin(), ends.end());
    };
    add({Vec3(-0.5 + shift, 0, height), Vec3(0.5 + shift, 0, height)});
    add({Vec3(0, -0.5, 0), Vec3(0, 0.5, 0)});
  }
  ImpulseCounts act(const ImpulseSettings& settings) {
    return SegmentImpulses(comm, settings).act(dt, {x, lightness, v, impulses}, [this] { return segments; });
  }
  /// Of the first against the second, where they are nearest.
  Vec3 slip() const {
    const ClosestPoints at = closest_points({x[0], x[1]}, {x[2], x[3]});
    return at_share({v[0], v[1]}, at.share[0]) - at_share({v[2], v[3]}, at.share[1]);
  }
};

TEST(SegmentImpulsesTest, EndTheApproachOfTwoAndOpenWhatIsTooNear) {
  for (const Real shift : {0.0, 0.3, -0.45}) {
    Cross cross(0.09, shift, 0.1, 0);
    cross.v[0] = cross.v[1] = {1, 0, -3};
    cross.act(plain);
    EXPECT_NEAR(cross.slip().z(), 0.1 * 0.01 / dt, 1e-12);
    EXPECT_NEAR(cross.slip().x(), 1, 1e-12);
    EXPECT_NEAR(cross.impulses[0].z() + cross.impulses[1].z(), -cross.impulses[2].z() - cross.impulses[3].z(), 1e-12);
  }
  Cross parting(0.09, 0, 0.1, 0.5);
  parting.v[0] = parting.v[1] = {1, 0, 3};
  EXPECT_EQ(parting.act(plain).impulses, 0);
  Cross far(0.11, 0, 0.1, 0.5);
  far.v[0] = far.v[1] = {1, 0, -3};
  EXPECT_EQ(far.act(plain).pairs, 0);
}

TEST(SegmentImpulsesTest, FreeEndsAreNotThrownByHeldOnesThatComeNear) {
  for (const Real beside : {0.2, 1e-2, 1e-5}) {  // the shares of the free ends
    Cross cross(0.09, 0, 0.1, 0.3);
    for (const std::size_t a : {0u, 1u}) cross.x[a].x() += 0.5 - beside;
    for (const std::size_t b : {2u, 3u}) cross.x[b].y() += 0.5 - beside;
    cross.lightness = {0, 0.5, 0, 0.5};
    cross.v[0] = cross.v[1] = {0, 0, -1};
    cross.act(plain);
    EXPECT_LT(std::max(cross.v[1].norm(), cross.v[3].norm()), 6) << beside;
    EXPECT_NEAR(cross.slip().z() > -0.1, beside > 0.1, 0);
  }
}

TEST(SegmentImpulsesTest, FrictionIsCoulombs) {
  for (const auto& [friction, left] : {std::pair{0.2, 0.8}, {0.6, 0.4}, {1.5, 0.0}}) {
    ImpulseSettings settings = plain;
    settings.opening = 0;
    Cross cross(0.09, 0.2, 0.1, friction);
    cross.v[0] = cross.v[1] = {1, 0, -1};
    cross.act(settings);
    EXPECT_NEAR(cross.slip().x(), left, 1e-12);
    EXPECT_NEAR(cross.slip().z(), 0, 1e-12);
  }
}

TEST(SegmentImpulsesTest, SweptOnesStopWhatWouldPassThrough) {
  for (const bool swept : {false, true}) {
    ImpulseSettings settings = plain;
    settings.swept = swept;
    Cross cross(0.5, 0.1, 0.1, 0.2);
    cross.v[0] = {3, 0, -100};
    cross.v[1] = {3, 0, -90};
    const ImpulseCounts counts = cross.act(settings);
    EXPECT_EQ(counts.impulses > 0, swept);
    EXPECT_EQ(counts.crossings, 0);
    EXPECT_EQ(cross.slip().z() < -50, !swept);
  }
}

TEST(SegmentImpulsesTest, SegmentsOfOneStrandMeetUnlessTheyAreNearAtRest) {
  Cross cross(0.09, 0, 0.1, 0);
  for (MeetingSegment& segment : cross.segments) segment.strand = 0;
  cross.v[0] = cross.v[1] = {1, 0, -3};
  EXPECT_EQ(cross.act(plain).pairs, 0);  // nearer than that at rest
  cross.segments[1].rest[0].z() = cross.segments[1].rest[1].z() = -1;
  EXPECT_EQ(cross.act(plain).pairs, 1);
  cross.segments[1].vertices[0] = cross.segments[0].vertices[1];
  EXPECT_EQ(cross.act(plain).pairs, 0);  // they have a common vertex
}

TEST(SegmentImpulsesTest, AnyVelocitiesAndPlacesGiveFiniteOnes) {
  for (const ImpulseAveraging averaging : {ImpulseAveraging::largest_count, ImpulseAveraging::per_vertex}) {
    ImpulseSettings settings = plain;
    settings.swept = true;
    settings.averaging = averaging;
    Cross cross(0, 0, 0.1, 0.5);  // they touch already
    cross.v = {Vec3(1e150, 0, 1), Vec3(0, -1e150, 0), Vec3::Zero(), Vec3(1e-300, 0, -1e150)};
    cross.act(settings);
    for (const Vec3& v : cross.v) EXPECT_TRUE(v.allFinite());
    Cross held(0.05, 0, 0.1, 0.5);
    held.lightness.assign(4, 0);
    held.v[0] = {0, 0, -3};
    held.act(settings);
    EXPECT_EQ(held.v[0], Vec3(0, 0, -3));
  }
}

TEST(StretchLimitTest, BringsLengthsIntoItsBoundsAndKeepsMomentum) {
  for (std::uint64_t k = 0; k < 200; ++k) {
    Random random(11, 0, k);
    std::vector<Vec3> x{random_vector(random), random_vector(random)}, v;
    const std::vector<Real> mass{1, 3}, lightness{1, 1.0 / 3};
    for (int end = 0; end < 2; ++end) v.push_back(0.1 / dt * random_vector(random));
    const Real length = (x[1] - x[0]).norm() * (0.8 + 0.4 * random.uniform());
    const auto momentum = [&] { return Vec3(mass[0] * v[0] + mass[1] * v[1]); };
    const auto angular = [&] { return Vec3(mass[0] * x[0].cross(v[0]) + mass[1] * x[1].cross(v[1])); };
    const Vec3 p = momentum(), l = angular();
    std::vector<Vec3> impulses(2, Vec3::Zero());
    const std::vector<LimitedSegment> segment{{{0, 1}, length}};
    limit_stretch(segment, 0.1, x, lightness, dt, v, impulses);
    const Real stretch = (x[1] - x[0] + dt * (v[1] - v[0])).norm() / length;
    EXPECT_GE(stretch, 0.9 - 1e-12);
    EXPECT_LE(stretch, 1.1 + 1e-12);
    EXPECT_TRUE(p.isApprox(momentum(), 1e-12));
    EXPECT_LT((l - angular()).norm(), 1e-12 * (1 + l.norm()));
  }
}

TEST(StretchLimitTest, GoesAlongAHeldChainFromItsRoot) {
  // All fall as one: the first sweep stops the second vertex, and half of the excess goes on from vertex to vertex.
  const std::vector<Vec3> x{{0, 0, 0}, {0, 0, -1}, {0, 0, -2}};
  std::vector<Vec3> v{{0, 0, 0}, {0, 0, -20}, {0, 0, -20}}, impulses(3, Vec3::Zero());
  const std::vector<LimitedSegment> segments{{{0, 1}, 1}, {{1, 2}, 1}};
  limit_stretch(segments, 0.1, x, std::vector<Real>{0, 1, 1}, dt, v, impulses);
  EXPECT_EQ(v[0], Vec3(0, 0, 0));
  EXPECT_NEAR(v[1].z(), -10, 1e-9);
  EXPECT_NEAR(v[2].z(), -20, 1e-9);
  EXPECT_NEAR(impulses[0].z(), -10, 1e-9);
}

}  // namespace
}  // namespace weft
