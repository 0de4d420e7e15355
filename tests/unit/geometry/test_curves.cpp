// Curves: readers of good and broken files, resampling, and what the patterns promise.

#include "weft/base/error.hpp"
#include "weft/base/random.hpp"
#include "weft/geometry/curves.hpp"
#include "weft/geometry/fiber_patterns.hpp"

#include "support/read_curves.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

namespace weft {
namespace {

using test::read_curves;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));  // the test machine is little-endian
}

/// Two strands: (0 0 0)(1 0 0)(2 0 0) and (0 1 0)(0 2 0).
const std::vector<std::array<float, 3>> strand_points = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {0, 2, 0}};

std::string hair(std::uint32_t has, std::uint32_t strands = 2, std::uint32_t points = 5,
                 std::vector<std::uint16_t> segments = {2, 1}) {
  std::string bytes = "HAIR";
  for (const std::uint32_t word : {strands, points, has, std::uint32_t{4}}) put(bytes, word);
  put(bytes, 0.5f);
  bytes.append(128 - bytes.size(), '\0');
  if (has & 1)
    for (const std::uint16_t s : segments) put(bytes, s);
  for (const auto& x : strand_points)
    for (const float v : x) put(bytes, v);
  if (has & 4)
    for (int i = 0; i < 5; ++i) put(bytes, 0.1f * static_cast<float>(i));
  if (has & 8) bytes.append(4 * 5, '\0');
  if (has & 16) bytes.append(12 * 5, '\0');
  return bytes;
}

std::string bcc(const char* type = "C0", std::vector<std::int32_t> lengths = {3, 2}, std::uint64_t points = 5) {
  std::string bytes = "BCC\x44";
  bytes += type;
  bytes += std::string("\x03\x01", 2);
  put(bytes, static_cast<std::uint64_t>(lengths.size()));
  put(bytes, points);
  bytes.append(64 - bytes.size(), ' ');
  std::size_t next = 0;
  for (const std::int32_t length : lengths) {
    put(bytes, length);
    for (int i = 0; i < std::abs(length); ++i, ++next)
      for (const float v : strand_points[next % 5]) put(bytes, v);
  }
  return bytes;
}

void expect_two_strands(const Curves& curves) {
  ASSERT_EQ(curves.count(), 2);
  EXPECT_THAT(curves.offsets, ElementsAre(0, 3, 5));
  EXPECT_THAT(curves.closed, ElementsAre(false, false));
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(curves.points[i], Vec3(strand_points[i][0], strand_points[i][1], strand_points[i][2]));
}

void expect_refusal(const std::string& name, const std::string& bytes, const std::string& text) {
  try {
    read_curves(name, bytes);
    FAIL() << "read without complaint, expected: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::geometry);
    EXPECT_THAT(error.what(), HasSubstr(text));
    EXPECT_THAT(error.what(), HasSubstr(name));
  }
}

TEST(CurveReaderTest, ObjLinesAreJoinedWhereTheyMeet) {
  const std::string points = "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nv 0 2 0\n";
  expect_two_strands(read_curves("a.obj", points + "l 1 2 3\nl 4 5\n"));
  expect_two_strands(read_curves("a.obj", points + "g yarn\nl 1 2\nl 2/1 3/2\nl -2 -1\nf 1 2 3\n"));
  expect_two_strands(read_curves("a.obj", "l 1 2\n" + points + "l 3 2\nl 4 5\n"));
  const Curves ring = read_curves("a.obj", points + "l 1 2 4 1\n");
  EXPECT_THAT(ring.closed, ElementsAre(true));
  EXPECT_EQ(ring.points.size(), 3u);
  EXPECT_EQ(read_curves("a.obj", points + "l 1 2\nl 2 4\nl 4 1\n").closed, ring.closed);
}

TEST(CurveReaderTest, ObjMistakesHavePlaces) {
  const std::string points = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
  expect_refusal("a.obj", points, "no lines");
  expect_refusal("a.obj", points + "l 1\n", "a.obj:5:4: expected a point of a line");
  expect_refusal("a.obj", points + "l 1 9\n", "a.obj:5:5: this names point 9, but the file has only 4");
  expect_refusal("a.obj", points + "l 1 0\n", "counted from 1");
  expect_refusal("a.obj", points + "l 1 -5\n", "only 4 so far");
  expect_refusal("a.obj", points + "l 2 2\n", "follows itself");
  expect_refusal("a.obj", points + "l 1 x\n", "expected a whole number");
  expect_refusal("a.obj", points + "l 1 2\nl 2 3\nl 2 4\n", "3 lines meet in point 2");
  expect_refusal("a.obj", "v 0 0 nan\nl 1 1\n", "finite");
  expect_refusal("a.obj", points + "line 1 2\n", "unknown keyword");
  expect_refusal("a.txt", points, "must end in .obj, .hair or .bcc");
}

TEST(CurveReaderTest, HairHasSegmentsThicknessAndIgnoresColour) {
  expect_two_strands(read_curves("a.hair", hair(1 | 2)));
  EXPECT_EQ(read_curves("a.hair", hair(1 | 2)).thickness, std::vector<Real>(5, 0.5));
  const Curves full = read_curves("a.HAIR", hair(31));
  expect_two_strands(full);
  EXPECT_NEAR(full.thickness[3], 0.3, 1e-7);
  std::string same = hair(2, 1);  // one strand of the four segments that the header states for all
  EXPECT_EQ(read_curves("a.hair", same).curve(0).size(), 5u);
}

TEST(CurveReaderTest, HairCountsDoNotWrapAround) {
  const auto header = [](std::uint32_t strands, std::uint32_t points, std::uint32_t segments) {
    std::string bytes = "HAIR";
    for (const std::uint32_t word : {strands, points, std::uint32_t{2}, segments}) put(bytes, word);
    bytes.append(128 - bytes.size(), '\0');
    return bytes;
  };
  const std::uint32_t most = ~std::uint32_t{0};
  for (const std::uint32_t strands : {1u, 2u, most})
    expect_refusal("a.hair", header(strands, 0, most), "do not add up to the 0 points");
  expect_refusal("a.hair", header(2, 2, most), "do not add up to the 2 points");
  expect_refusal("a.hair", header(most, 2, 1), "do not add up to the 2 points");
  expect_refusal("a.hair", header(most, 1 << 24, 1), "do not add up to the 16777216 points");  // at once
  expect_refusal("a.hair", header(1u << 31, 0, 1), "do not add up to the 0 points");
}

TEST(CurveReaderTest, HairMistakesAreNamed) {
  expect_refusal("a.hair", "HAIR", "header of 128 bytes");
  expect_refusal("a.hair", "BALD" + hair(3).substr(4), "starts with `HAIR`");
  expect_refusal("a.hair", hair(1), "has no points");
  expect_refusal("a.hair", hair(35), "does not know");
  expect_refusal("a.hair", hair(3, 0), "no strands");
  expect_refusal("a.hair", hair(3, 2, 5, {2, 2}), "do not add up to the 5 points");
  expect_refusal("a.hair", hair(3, 2, 5, {4, 0}), "has no segments");
  expect_refusal("a.hair", hair(3, 2, 4000000000u), "more than");
  expect_refusal("a.hair", hair(3, 3000000000u), "numbers of segments");
  expect_refusal("a.hair", hair(3) + "x", "expected the end of the file, found 1 more");
  for (const std::size_t cut : {1u, 13u, 60u}) {
    const std::string whole = hair(31);
    EXPECT_THROW(read_curves("a.hair", whole.substr(0, whole.size() - cut)), Error);
  }
  std::string infinite = hair(3);
  const float bad = std::numeric_limits<float>::infinity();
  std::memcpy(infinite.data() + 132, &bad, 4);
  expect_refusal("a.hair", infinite, "byte 132: expected a finite number");
}

TEST(CurveReaderTest, BccKnowsOpenAndClosedCurves) {
  expect_two_strands(read_curves("a.bcc", bcc()));
  expect_two_strands(read_curves("a.bcc", bcc("PL")));
  EXPECT_THAT(read_curves("a.bcc", bcc("C0", {-3, 2})).closed, ElementsAre(true, false));
}

TEST(CurveReaderTest, BccMistakesAreNamed) {
  expect_refusal("a.bcc", "BCC", "header of 64 bytes");
  expect_refusal("a.bcc", bcc("B3"), "type `B3`");
  expect_refusal("a.bcc", bcc("C0", {3, 2}, 4), "4 control points, but the curves have 5");
  expect_refusal("a.bcc", bcc("C0", {4, 1}), "curve 1 has only 1 points");
  expect_refusal("a.bcc", bcc("C0", {3, -2}), "curve 1 has only 2 points");
  expect_refusal("a.bcc", bcc() + "x", "expected the end");
  expect_refusal("a.bcc", bcc("C0", {}, 0), "found none");
  std::string wide = bcc();
  wide[3] = '\x48';
  expect_refusal("a.bcc", wide, "four bytes");
  std::string flat = bcc();
  flat[6] = 2;
  expect_refusal("a.bcc", flat, "2 dimensions");
  EXPECT_THROW(read_curves("a.bcc", bcc().substr(0, 100)), Error);
}

TEST(CurveReaderTest, PartsOfAFileAreTheWhole) {
  const std::string obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 2 0\nv 3 0 0\nv 4 0 0\nl 1 2\nl 3 4\nl 5 6\n";
  for (const auto& [name, bytes] : {std::pair<std::string, std::string>{"a.hair", hair(7)},
                                    {"b.hair", hair(3)},
                                    {"c.bcc", bcc("PL")},
                                    {"d.obj", obj}}) {
    const Curves whole = read_curves(name, bytes);
    for (const int parts : {2, 3, 4}) {
      Curves all;
      std::vector<Real> thickness;
      for (int k = 0; k < parts; ++k) {
        const Curves some = read_curves(name, bytes, {k, parts});
        all.append(some);
        thickness.insert(thickness.end(), some.thickness.begin(), some.thickness.end());
      }
      EXPECT_EQ(all.points, whole.points) << name;
      EXPECT_EQ(all.offsets, whole.offsets) << name;
      EXPECT_EQ(thickness, whole.thickness) << name;
    }
  }
}

TEST(CurveReaderTest, DamageIsRefusedOrHarmless) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a.hair", hair(31)}, {"a.bcc", bcc()}, {"a.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nl 1 2 3\n"}};
  int refused = 0;
  for (std::uint32_t trial = 0; trial < 3000; ++trial) {
    auto [name, bytes] = files[trial % 3];
    Random random(5, trial, 0);
    for (int changes = 0; changes < 3; ++changes)
      bytes[static_cast<std::size_t>(random.uniform() * static_cast<Real>(bytes.size()))] =
          static_cast<char>(256 * random.uniform());
    try {
      const Curves curves = read_curves(name, bytes);
      for (const Vec3& x : curves.points) EXPECT_TRUE(x.allFinite());
      EXPECT_EQ(curves.offsets.back(), static_cast<std::int64_t>(curves.points.size()));
      for (std::int64_t c = 0; c < curves.count(); ++c) EXPECT_GE(curves.curve(c).size(), 2u);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::geometry);
      ++refused;
    }
  }
  EXPECT_GT(refused, 600);
}

TEST(CurvesTest, ObjTextGivesTheSameCurvesBack) {
  Curves curves = braid({3, 0.1, 0.05, 0.3, 0.7, 0.013});
  curves.append(read_curves("a.bcc", bcc("C0", {-3, 2})));
  const Curves again = read_curves("b.obj", obj_text(curves));
  EXPECT_EQ(again.offsets[1], curves.offsets[1]);
  EXPECT_NEAR(length_of(again), length_of(curves), 1e-12);
  EXPECT_EQ(again.points.size(), curves.points.size());
  EXPECT_EQ(std::count(again.closed.begin(), again.closed.end(), true), 1);
  for (std::int64_t i = 0; i < curves.offsets[3]; ++i) EXPECT_EQ(again.points[i], curves.points[i]);
}

TEST(CurvesTest, BinaryFilesGiveTheSameCurvesBack) {
  Curves curves = read_curves("a.bcc", bcc("C0", {-3, 2}));
  curves.append(read_curves("a.bcc", bcc()));
  const Curves from_bcc = read_curves("b.bcc", bcc_bytes(curves, 1));
  EXPECT_EQ(from_bcc.points, curves.points);
  EXPECT_EQ(from_bcc.offsets, curves.offsets);
  EXPECT_EQ(from_bcc.closed, curves.closed);
  EXPECT_EQ(bcc_bytes(curves, 1)[7], 1);
  const Curves from_hair = read_curves("b.hair", hair_bytes(curves, 0.25));
  EXPECT_THAT(from_hair.offsets, ElementsAre(0, 4, 6, 9, 11));  // a ring comes back to its first point
  EXPECT_EQ(from_hair.points[3], curves.points[0]);
  EXPECT_NEAR(length_of(from_hair), length_of(curves), 1e-6);
  EXPECT_EQ(from_hair.thickness, std::vector<Real>(11, 0.25));
  Curves long_one;
  long_one.add(std::vector<Vec3>(65537, Vec3::Zero()));
  EXPECT_THROW(hair_bytes(long_one, 0), Error);
}

TEST(CurvesTest, ResamplingKeepsEndsRingsAndLength) {
  Curves curves;
  std::vector<Vec3> circle;
  for (int i = 0; i < 200; ++i)
    circle.emplace_back(std::cos(0.01 * std::numbers::pi * i), std::sin(0.01 * std::numbers::pi * i), 0);
  curves.add(circle, true);
  curves.add(std::vector<Vec3>{{0, 0, 0}, {1, 0, 0}, {1, 2, 0}});
  const Curves equal = resampled(curves, 0.1);
  EXPECT_THAT(equal.closed, ElementsAre(true, false));
  EXPECT_EQ(equal.curve(0).size(), 63u);  // 2 pi / 0.1
  EXPECT_EQ(equal.curve(1).size(), 31u);
  EXPECT_LE((equal.curve(1).back() - Vec3(1, 2, 0)).norm(), 1e-15);
  EXPECT_NEAR(length_of(equal), length_of(curves), 0.01);
  EXPECT_LE((equal.curve(1)[15] - Vec3(1, 0.5, 0)).norm(), 1e-14);
  EXPECT_THROW(resampled(curves, 1e-12), Error);
}

/// Smallest distance between different curves.
Real least_gap(const Curves& curves) {
  const Curves fine = resampled(curves, 0.25 * length_of(curves) / static_cast<Real>(curves.points.size()));
  Real least = 1e300;
  for (std::int64_t c = 0; c < fine.count(); ++c)
    for (std::int64_t d = c + 1; d < fine.count(); ++d)
      for (const Vec3& x : fine.curve(c))
        for (const Vec3& y : fine.curve(d)) least = std::min(least, (x - y).norm());
  return least;
}

/// Crossings of curves c and d seen along z, in the order along c: +1 where c is above.
std::vector<int> crossings(const Curves& curves, std::int64_t c, std::int64_t d) {
  std::vector<int> list;
  const auto p = curves.curve(c), q = curves.curve(d);
  for (std::size_t i = 1; i < p.size(); ++i)
    for (std::size_t j = 1; j < q.size(); ++j) {
      const Vec3 e = p[i] - p[i - 1], f = q[j] - q[j - 1], g = q[j - 1] - p[i - 1];
      const Real det = e[0] * f[1] - e[1] * f[0];
      const Real s = (g[0] * f[1] - g[1] * f[0]) / det, t = (g[0] * e[1] - g[1] * e[0]) / det;
      if (s < 0 || s >= 1 || t < 0 || t >= 1) continue;
      list.push_back((p[i - 1] + s * e)[2] > (q[j - 1] + t * f)[2] ? 1 : -1);
    }
  return list;
}

TEST(FiberPatternsTest, TubesAndBallsAreWhereTheyShouldBe) {
  const Curves tube = hair_tube({0.5, 1, 3, 400, 0.1});
  EXPECT_EQ(tube.count(), 400);
  EXPECT_NEAR(length_of(tube), 1200, 1e-9);
  int inner = 0;
  for (const Vec3& x : tube.points) {
    EXPECT_GE(x.head<2>().norm(), 0.5);
    EXPECT_LE(x.head<2>().norm(), 1);
    inner += x.head<2>().norm() < std::sqrt(0.625);  // half of the area
  }
  EXPECT_NEAR(inner, 200 * 31, 31);
  EXPECT_GT(least_gap(hair_tube({0.5, 1, 0.2, 200, 0.1})), 0.5 * std::sqrt(std::numbers::pi * 0.75 / 200));
  const Curves ball = hair_ball({1, 0.5, 100, 0.1});
  for (std::int64_t c = 0; c < 100; ++c) {
    EXPECT_NEAR(ball.curve(c).front().norm(), 1, 1e-14);
    EXPECT_NEAR(ball.curve(c).back().norm(), 1.5, 1e-14);
  }
}

TEST(FiberPatternsTest, CarpetsDependOnTheSeedAlone) {
  const ShagCarpet carpet{1, 0.5, 0.1, 0.05, 0.3, 7, 0.02};
  const Curves a = shag_carpet(carpet), b = shag_carpet(carpet);
  EXPECT_EQ(a.count(), 200);
  EXPECT_EQ(a.points, b.points);
  ShagCarpet other = carpet;
  other.seed = 8;
  EXPECT_NE(shag_carpet(other).points, a.points);
  for (std::int64_t c = 0; c < a.count(); ++c) {
    EXPECT_EQ(a.curve(c).front()[2], 0);
    EXPECT_NEAR(a.curve(c).back()[2], 0.1, 1e-15);
    EXPECT_LE((a.curve(c).back() - a.curve(c).front()).head<2>().norm(), 0.03 + 1e-15);
  }
}

TEST(FiberPatternsTest, BraidedStrandsKeepApartAndEachCrossesOverTheNext) {
  const Curves curves = braid({3, 1, 0.5, 3, 6, 0.05});
  EXPECT_EQ(curves.count(), 3);
  EXPECT_GT(least_gap(curves), 0.25);
  // Seen along y: turned so that crossings looks down on it.
  Curves turned = curves;
  for (Vec3& x : turned.points) x = Vec3(x[0], x[2], x[1]);
  // Twice in each pitch, as in (s1 s2^-1)^n.
  EXPECT_THAT(crossings(turned, 0, 1), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(crossings(turned, 1, 2), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(crossings(turned, 2, 0), ElementsAre(1, 1, 1, 1));
}

TEST(FiberPatternsTest, WovenYarnsPassOverAndUnderInTurn) {
  const Curves curves = weave({4, 3, 0.1, 0.02, 0.01});
  EXPECT_EQ(curves.count(), 7);
  for (int i = 0; i < 4; ++i) {
    std::vector<int> over;
    for (int j = 0; j < 3; ++j) {
      const std::vector<int> list = crossings(curves, i, 4 + j);
      ASSERT_EQ(list.size(), 1u);
      over.push_back(list[0]);
    }
    EXPECT_THAT(over, i % 2 == 0 ? ElementsAre(1, -1, 1) : ElementsAre(-1, 1, -1));
  }
  EXPECT_GT(least_gap(curves), 0.03);
}

TEST(FiberPatternsTest, KnittedLoopsGoThroughThoseOfTheRowBelow) {
  for (const std::string pattern : {"k", "p", "kp", "kkpp"}) {
    const Curves curves = knit({4, 3, 1, 0.3, pattern, 0.03});
    EXPECT_EQ(curves.count(), 3);
    for (int row = 0; row < 2; ++row) {
      // Up the loop below and down again; of the row above, the foot on either side. Legs lie on one side of that row
      // and the head on the other, so the rows cannot be pulled apart.
      const std::vector<int> list = crossings(curves, row, row + 1);
      ASSERT_EQ(list.size(), 16u) << pattern;
      for (int stitch = 0; stitch < 4; ++stitch) {
        const int side = pattern[static_cast<std::size_t>(stitch) % pattern.size()] == 'k' ? 1 : -1;
        const std::vector<int> of_stitch(list.begin() + 4 * stitch, list.begin() + 4 * stitch + 4);
        EXPECT_THAT(of_stitch, ElementsAre(-side, side, side, -side)) << pattern;
      }
    }
    EXPECT_TRUE(crossings(curves, 0, 2).empty());
    EXPECT_GT(least_gap(knit({2, 2, 1, 0.3, pattern, 0.05})), 0.15) << pattern;
  }
}

/// Crossings of rings c and d about the z axis seen from outside around an angle, where they are beyond a radius.
std::vector<int> crossings_at(const Curves& rings, std::int64_t c, std::int64_t d, Real angle, Real radius) {
  Curves flat;
  for (const std::int64_t ring : {c, d}) {
    std::vector<Vec3> turned;  // x along the rings, y up, z outwards
    for (const Vec3& x : rings.curve(ring))
      turned.emplace_back(x.y() * std::cos(angle) - x.x() * std::sin(angle), x.z(),
                          x.x() * std::cos(angle) + x.y() * std::sin(angle));
    const auto least_out = [](const Vec3& a, const Vec3& b) { return a.z() < b.z(); };
    std::rotate(turned.begin(), std::min_element(turned.begin(), turned.end(), least_out), turned.end());
    std::erase_if(turned, [&](const Vec3& x) { return std::abs(x.x()) > 1.2 || x.z() < radius; });
    flat.add(turned);
  }
  return crossings(flat, 0, 1);
}

TEST(FiberPatternsTest, AJumperIsKnittedTogetherInAllItsRows) {
  const KnitSweater sweater{24, 10, 2, 3, 4, 5, 1, 0.3, 0.6, 0, 0.03};
  const Curves curves = knit_sweater(sweater);
  ASSERT_EQ(curves.count(), 3 + 4 + 4 + 5 + 1);  // body, sleeves, yoke, neckband
  EXPECT_TRUE(std::all_of(curves.closed.begin(), curves.closed.end(), [](bool closed) { return closed; }));
  const Real front = -0.5 * std::numbers::pi, back = -front, left = std::numbers::pi, right = 0;
  const auto knitted = [&](std::int64_t row, std::int64_t above, Real angle, Real radius) {
    const std::vector<int> list = crossings_at(curves, row, above, angle, radius);
    ASSERT_GE(list.size(), 6u) << row;  // two stitches or more, of four crossings each
    for (std::size_t k = 2; k < list.size(); ++k) EXPECT_EQ(list[k], -list[k - 2]) << row;
  };
  for (const Real angle : {front, back}) {
    for (const auto& [row, above] : {std::pair{0, 1}, {1, 2}, {2, 11}, {11, 12}, {12, 13}, {13, 14}, {14, 15}})
      knitted(row, above, angle, 0);
    EXPECT_TRUE(crossings_at(curves, 0, 2, angle, 0).empty());
    EXPECT_TRUE(crossings_at(curves, 1, 11, angle, 0).empty());
  }
  const Real sleeve = 24 / (2 * std::numbers::pi) + 0.5 + 10 / (2 * std::numbers::pi);  // its axis
  for (const auto& [angle, first] : {std::pair{left, 3}, {right, 7}})
    for (int row = first; row < first + 3; ++row) knitted(row, row + 1, angle, sleeve + 0.8);
  const std::vector<int> bound = crossings_at(curves, 16, 15, front, 0);
  ASSERT_GE(bound.size(), 3u);
  for (std::size_t k = 1; k < bound.size(); ++k) EXPECT_EQ(bound[k], -bound[k - 1]);
  EXPECT_EQ(knit_sweater({24, 10, 2, 0, 0, 5, 1, 0.3, 0.6, 0, 0.03}).count(), 6);  // the yoke alone
  // Mirror image in x: what hangs on one side hangs on the other.
  const Box box = bounds_of(curves);
  EXPECT_NEAR(box.lower.x(), -box.upper.x(), 0.05);
  EXPECT_NEAR(box.lower.y(), -box.upper.y(), 0.05);
}

TEST(FiberPatternsTest, PliesWindAboutTheirYarn) {
  Curves line;
  line.add(std::vector<Vec3>{{0, 0, 0}, {4, 0, 0}});
  const Curves rope = plied(resampled(line, 0.02), {3, 0.1, 1});
  EXPECT_EQ(rope.count(), 3);
  for (const Vec3& x : rope.points) EXPECT_NEAR(x.tail<2>().norm(), 0.1, 1e-14);
  // Length of a helix.
  EXPECT_NEAR(length_of(rope) / 3, 4 * std::hypot(1, 0.2 * std::numbers::pi), 0.01);
  EXPECT_GT(least_gap(rope), 0.15);
  // A ring out of the plane closes with a step like the others.
  Curves ring;
  std::vector<Vec3> points;
  for (int i = 0; i < 300; ++i) {
    const Real t = 2 * std::numbers::pi * i / 300;
    points.emplace_back(std::cos(t), std::sin(t), 0.5 * std::sin(2 * t));
  }
  ring.add(points, true);
  const Curves wound = plied(ring, {2, 0.1, 0.5});
  EXPECT_THAT(wound.closed, ElementsAre(true, true));
  const auto ply = wound.curve(0);
  EXPECT_LE((ply.front() - ply.back()).norm(), 1.6 * (ply[1] - ply[0]).norm());
}

TEST(FiberPatternsTest, ClothIsOrientedAndHasItsArea) {
  const SurfaceMesh cloth = cloth_sheet(2, 1, 6, 4);
  EXPECT_EQ(cloth.face_count(), 48);
  EXPECT_NEAR(area_of(cloth), 2, 1e-14);
  const MeshReport report = check(cloth);
  EXPECT_EQ(report.flipped_edges.count + report.non_manifold_edges.count + report.degenerate_faces.count, 0);
  EXPECT_EQ(report.open_edges.count, 20);
}

TEST(FiberPatternsTest, RefuseWhatCannotBeMade) {
  EXPECT_THROW(hair_tube({1, 0.5, 1, 10, 0.1}), Error);
  EXPECT_THROW(hair_ball({1, 0, 10, 0.1}), Error);
  EXPECT_THROW(braid({4, 1, 1, 1, 1, 0.1}), Error);
  EXPECT_THROW(knit({3, 3, 1, 0.1, "kx", 0.1}), Error);
  EXPECT_THROW(knit({3, 3, 1, 0.1, "", 0.1}), Error);
  EXPECT_THROW(knit_sweater({23, 10, 2, 3, 4, 5, 1, 0.3, 0.6, 0.3, 0.03}), Error);
  EXPECT_THROW(knit_sweater({24, 10, 12, 3, 4, 5, 1, 0.3, 0.6, 0.3, 0.03}), Error);
  EXPECT_THROW(knit_sweater({60, 10, 2, 3, 4, 1, 1, 0.3, 0.1, 0.3, 0.03}), Error);
  EXPECT_THROW(weave({0, 3, 1, 0.1, 0.1}), Error);
  EXPECT_THROW(cloth_sheet(1, -1, 2, 2), Error);
}

TEST(PatternTest, WhatCannotBeNumberedOrTracedIsRefusedBeforeItIsMade) {
  const int most = std::numeric_limits<int>::max(), many = 1 << 25;
  const auto refuses = [](const auto& make) {
    try {
      make();
      return false;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::geometry);
      return true;
    }
  };
  EXPECT_TRUE(refuses([&] { hair_tube({0, 1, 1, most, 0.01}); }));
  EXPECT_TRUE(refuses([&] { hair_ball({1, 1, most, 0.01}); }));
  EXPECT_TRUE(refuses([&] { braid({3, 1, 1, 1e-9, 1, 0.1}); }));
  EXPECT_TRUE(refuses([&] { braid({most, 1, 1, 1, 1, 0.1}); }));
  EXPECT_TRUE(refuses([&] { shag_carpet({1, 1, 1, 1e-6, 0.1, 0, 0.1}); }));
  EXPECT_TRUE(refuses([&] { shag_carpet({1, 1, 1, 1e-300, 0.1, 0, 0.1}); }));
  for (const int yarns : {many, most}) {
    EXPECT_TRUE(refuses([&] { weave({1, yarns, 1, 0.1, 1}); }));
    EXPECT_TRUE(refuses([&] { weave({yarns, 1, 1, 0.1, 1e9}); }));
    EXPECT_TRUE(refuses([&] { knit({yarns, 1, 1, 0.3, "k", 1}); }));
    EXPECT_TRUE(refuses([&] { knit({1, most, 1, 0.3, "k", 1e9}); }));
  }
  EXPECT_TRUE(refuses([&] { knit_sweater({most - 1, 8, 2, 1, 1, 1, 0.01, 0.003, 0.6, 0.3, 0.01}); }));
  EXPECT_TRUE(refuses([&] { knit_sweater({8, 8, 2, 1, 1, most, 0.01, 0.003, 0.6, 0.3, 0.01}); }));
  Curves line;
  line.add(std::vector<Vec3>{{0, 0, 0}, {1, 0, 0}});
  EXPECT_TRUE(refuses([&] { plied(line, {most, 0.1, 1}); }));
}

TEST(PatternTest, CountsThatAreToldBeforehandAreThoseThatAreMade) {
  const auto agree = [](const auto& pattern, const Curves& made) {
    const Real told = points_of(pattern), points = static_cast<Real>(made.points.size());
    EXPECT_GT(told, 0.5 * points);
    EXPECT_LT(told, 1.5 * points);
  };
  const HairTube tube{0.1, 0.2, 1, 20, 0.05};
  agree(tube, hair_tube(tube));
  const HairBall ball{0.1, 1, 20, 0.05};
  agree(ball, hair_ball(ball));
  const Braid plait{3, 0.02, 0.01, 0.1, 1, 0.01};
  agree(plait, braid(plait));
  const ShagCarpet carpet{1, 1, 0.2, 0.1, 0.3, 0, 0.02};
  agree(carpet, shag_carpet(carpet));
  const Weave cloth{10, 20, 0.1, 0.02, 0.05};
  agree(cloth, weave(cloth));
  const Knit fabric{20, 10, 0.01, 0.003, "k", 0.01};
  EXPECT_LT(points_of(fabric), static_cast<Real>(knit(fabric).points.size()));  // loops are longer than their row
}

}  // namespace
}  // namespace weft
