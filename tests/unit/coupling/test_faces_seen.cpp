// Faces from the moments of a surface: planes that are known are found again.

#include "coupling/faces_seen.hpp"

#include <gtest/gtest.h>

#include "support/random_matrices.hpp"

#include <cmath>
#include <vector>

namespace weft {
namespace {

using test::MatrixSource;

constexpr Real far = 100;

struct Moments : SurfaceMoments {
  explicit Moments(const std::vector<Face>& faces)
      : SurfaceMoments{Vec3::Zero(), Mat3::Zero(), Vec3::Zero(), Mat3::Zero()} {
    for (const Face& face : faces) {
      const Mat3 along = face.share * face.normal * face.normal.transpose();
      mean += face.share * face.normal;
      facing += along;
      offset -= face.share * face.height * face.normal;
      thickness += face.thickness * along;
    }
  }
  FacesSeen seen(const Vec3& towards = Vec3::Zero()) const { return faces_seen(*this, far, towards); }
};

/// Of the face that looks most that way.
Face nearest(const FacesSeen& seen, const Vec3& normal) {
  Face best{-normal, 0, 0, 0};
  for (const Face& face : seen.all())
    if (face.normal.dot(normal) > best.normal.dot(normal)) best = face;
  return best;
}

void expect_found(const std::vector<Face>& faces, Real tolerance, const Vec3& towards = Vec3::Zero()) {
  const FacesSeen seen = Moments(faces).seen(towards);
  EXPECT_EQ(seen.all().size(), faces.size());
  for (const Face& face : faces) {
    const Face found = nearest(seen, face.normal);
    EXPECT_NEAR((found.normal - face.normal).norm(), 0, tolerance);
    EXPECT_NEAR(found.share, face.share, tolerance);
    EXPECT_NEAR(found.height, face.height, tolerance * far);
    EXPECT_NEAR(found.flat, 1, far * tolerance);
  }
}

TEST(FacesSeenTest, OnePlaneIsFound) {
  MatrixSource random(3);
  for (int trial = 0; trial < 20; ++trial) expect_found({{random.rotation().col(0), 1, 0.3, 1}}, 1e-7);
}

TEST(FacesSeenTest, TwoPlanesAreFoundWhateverTheirAngleAndShares) {
  MatrixSource random(5);
  for (const Real degrees : {70, 90, 120, 150})
    for (const Real share : {0.01, 0.3, 0.5, 0.9}) {
      const Mat3 Q = random.rotation();
      const Real angle = degrees * M_PI / 180;
      const Vec3 other = std::cos(angle) * Q.col(0) + std::sin(angle) * Q.col(1);
      expect_found({{Q.col(0), share, 0.3, 1}, {other, 1 - share, -0.2, 1}}, 1e-6);
    }
}

TEST(FacesSeenTest, ThreeFacesOfABoxAreFoundIfTheyDiffer) {
  MatrixSource random(7);
  const Mat3 Q = random.rotation();
  expect_found({{Q.col(0), 0.5, 0.3, 1}, {Q.col(1), 0.4, -0.2, 1}, {Q.col(2), 0.1, 0.7, 1}}, 1e-6);
  expect_found({{Q.col(0), 0.45, 0.3, 1}, {Q.col(1), 0.45, -0.2, 1}, {Q.col(2), 0.1, 0.7, 1}}, 1e-6);
  expect_found({{Q.col(0), 0.1, 0.3, 1}, {Q.col(1), 0.1, -0.2, 1}, {Q.col(2), 0.8, 0.7, 1}}, 1e-6);
}

TEST(FacesSeenTest, ThreeFacesOfAPrismAreFound) {
  MatrixSource random(13);
  const Mat3 Q = random.rotation();
  const Vec3 other = (Q.col(0) + std::sqrt(3) * Q.col(1)) / 2 - Q.col(0);
  expect_found({{Q.col(0), 0.3, 0.3, 1}, {other, 0.2, -0.2, 1}, {Q.col(2), 0.5, 0.7, 1}}, 1e-6);
}

TEST(FacesSeenTest, ThreeFacesAtAnyAngleAreFoundIfOneIsKnown) {
  MatrixSource random(15);
  const Mat3 Q = random.rotation();
  for (const Real lean : {-0.8, -0.3, 0.2}) {
    const Real sine = std::sqrt(1 - lean * lean);
    const Vec3 a = lean * Q.col(2) + sine * Q.col(0), b = lean * Q.col(2) + sine * Q.col(1);
    for (const Real share : {0.1, 0.5, 0.8}) {
      const std::vector<Face> faces = {
          {a, 0.4 * (1 - share), 0.3, 1}, {b, 0.6 * (1 - share), -0.2, 1}, {Q.col(2), share, 0.7, 1}};
      expect_found(faces, 1e-6, Q.col(2));
    }
  }
}

TEST(FacesSeenTest, BothSidesOfAPlateOfKnownThicknessAreFoundWithWhatIsBesideIt) {
  MatrixSource random(19);
  const Mat3 Q = random.rotation();
  const Vec3 n = Q.col(0), side = Q.col(1), other = Q.col(2);
  const Real height = 0.3, t = 0.5;
  for (const Real far_share : {0.7, 0.5, 0.1, 0.01})
    for (const Real beside : {0.0, 0.2}) {
      const Real all = 1 - 1.5 * beside;
      std::vector<Face> faces = {{n, (1 - far_share) * all, height, 1, t}, {-n, far_share * all, -height - t, 1, t}};
      if (beside > 0) faces.insert(faces.end(), {{side, beside, 0.1, 1, 2}, {other, beside / 2, -0.2, 1, 2}});
      expect_found(faces, 1e-6);
    }
}

TEST(FacesSeenTest, RoundOffDoesNotChooseWhetherAPlateIsSeen) {
  MatrixSource random(23);
  const Mat3 Q = random.rotation();
  for (const Real far_share : {2e-3, 2e-4, 1e-5}) {
    const Moments exact({{Q.col(0), 0.94 - far_share, 0.75, 1, 0.8},
                         {-Q.col(0), far_share, -1.55, 1, 0.8},
                         {Q.col(2), 0.06, -0.83, 1, 3}});
    const Vec3 towards = (Q.col(0) + 0.2 * Q.col(1)).normalized();
    const FacesSeen seen = exact.seen(towards);
    for (int trial = 0; trial < 20; ++trial) {
      Moments moments = exact;
      const Mat3 F = 1e-16 * random.rotation(), T = 1e-16 * random.rotation();
      moments.facing += F + F.transpose();
      moments.thickness += T + T.transpose();
      moments.mean += 1e-16 * random.rotation().col(0);
      const FacesSeen found = moments.seen(towards);
      ASSERT_EQ(found.all().size(), seen.all().size());
      EXPECT_NEAR(found.explained(), seen.explained(), 1e-9);
      for (const Face& face : seen.all()) EXPECT_NEAR(nearest(found, face.normal).share, face.share, 1e-9);
    }
  }
}

TEST(FacesSeenTest, FourSidesOfABarOfKnownThicknessAreFound) {
  const Mat3 Q = MatrixSource(21).rotation();
  const Vec3 n = Q.col(0), side = Q.col(1);
  expect_found({{n, 0.4, 0.3, 1, 0.5}, {-n, 0.1, -0.8, 1, 0.5}, {side, 0.3, 0.1, 1, 1.5}, {-side, 0.2, -1.6, 1, 1.5}},
               1e-6);
}

TEST(FacesSeenTest, BothSidesOfAPlateAreNoFaceUnlessOneIsSeenFarMore) {
  MatrixSource random(9);
  const Vec3 n = random.rotation().col(0);
  for (const Real far_share : {0.5, 0.2, 0.1})
    EXPECT_TRUE(Moments({{n, 1 - far_share, 0.3, 1}, {-n, far_share, 0.1, 1}}).seen().all().empty());
  const FacesSeen seen = Moments({{n, 0.99, 0.3, 1}, {-n, 0.01, 0.1, 1}}).seen();
  ASSERT_EQ(seen.all().size(), 1);
  EXPECT_NEAR(seen.all()[0].normal.dot(n), 1, 1e-12);
  EXPECT_NEAR(seen.all()[0].height, 0.3, 0.01);
}

TEST(FacesSeenTest, WhatIsRoundIsOneFaceLessFlat) {
  MatrixSource random(11);
  const Mat3 Q = random.rotation();
  std::vector<Face> arc;
  for (int k = -10; k <= 10; ++k) {
    const Real angle = 0.02 * k;
    arc.push_back({std::cos(angle) * Q.col(0) + std::sin(angle) * Q.col(1), 1.0 / 21, 0.3, 1});
  }
  const FacesSeen seen = Moments(arc).seen();
  ASSERT_EQ(seen.all().size(), 1);
  EXPECT_NEAR(seen.all()[0].normal.dot(Q.col(0)), 1, 1e-12);
  EXPECT_NEAR(seen.all()[0].height, 0.3, 0.01);
  EXPECT_LT(seen.all()[0].flat, 0.95);
  EXPECT_GT(seen.all()[0].flat, 0.5);
}

TEST(FacesSeenTest, AFlatEndOfWhatIsRoundIsFoundExactly) {
  MatrixSource random(17);
  const Mat3 Q = random.rotation();
  for (const Real end : {0.02, 0.3, 0.5, 0.9}) {
    std::vector<Face> faces = {{Q.col(2), end, 0.4, 1}};
    for (int k = -10; k <= 10; ++k) {
      const Real angle = 0.03 * k;
      faces.push_back({std::cos(angle) * Q.col(0) + std::sin(angle) * Q.col(1), (1 - end) / 21, -0.3, 1});
    }
    const FacesSeen seen = Moments(faces).seen();
    ASSERT_EQ(seen.all().size(), 2);
    const Face flat = nearest(seen, Q.col(2)), round = nearest(seen, Q.col(0));
    EXPECT_NEAR((flat.normal - Q.col(2)).norm(), 0, 1e-7);
    EXPECT_NEAR(flat.share, end, 1e-9);
    EXPECT_NEAR(flat.height, 0.4, 1e-6);
    EXPECT_NEAR((round.normal - Q.col(0)).norm(), 0, 1e-7);
    EXPECT_LT(round.flat, 0.95);
    EXPECT_GT(seen.explained(), 0.7);
  }
}

}  // namespace
}  // namespace weft
