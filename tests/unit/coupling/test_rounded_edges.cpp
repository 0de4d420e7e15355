// Edges as thin bodies meet them: closed forms of boxes, wedges and plates that were opened with a ball.

#include "coupling/rounded_edges.hpp"

#include <gtest/gtest.h>

#include "support/random_matrices.hpp"
#include "weft/geometry/primitives.hpp"

#include <cmath>

namespace weft {
namespace {

using test::MatrixSource;

/// A shape that is turned and moved, whose edges are rounded.
struct Solid {
  std::unique_ptr<Shape> shape;
  Real radius, deepest;

  Surface rounded(const Vec3& x) const {
    const auto faces_over = [this](const Vec3& at, Real reach) {
      Faces over;
      for (const auto& [depth, inward] : shape->faces(at, Side::inside, reach)) over.add({-depth, -inward});
      return over;
    };
    return weft::rounded(x, shape->surface(x), {radius, deepest, faces_over});
  }
};

constexpr Real never = 1e9;

/// A box with edges of radius R: a smaller box, grown by R.
Real distance_of_rounded_box(const Vec3& half, Real R, const Vec3& x) {
  return (x.cwiseAbs() - half + Vec3::Constant(R)).cwiseMax(0).norm() - R;
}

TEST(RoundedEdgesTest, ABoxIsTheSmallerBoxGrownByTheRadius) {
  MatrixSource random(11);
  const Vec3 half(0.5, 0.7, 0.6);
  const Real R = 0.2;
  for (int trial = 0; trial < 2000; ++trial) {
    const Placement placement{1, random.rotation(), random.vector()};
    const Solid box{placed(make_box(-half, half), placement), R, never};
    Vec3 x = 0.9 * random.vector();
    if (!((x.cwiseAbs() - half + Vec3::Constant(R)).maxCoeff() > 0.05 * R)) x[trial % 3] = half[trial % 3];
    const Surface found = box.rounded(placement(x));
    EXPECT_NEAR(found.distance, distance_of_rounded_box(half, R, x), 2e-3 * R);
    const Vec3 core = x.cwiseMin(half - Vec3::Constant(R)).cwiseMax(Vec3::Constant(R) - half);
    EXPECT_NEAR((found.normal - placement.rotation * (x - core).normalized()).norm(), 0, 0.05);
  }
}

TEST(RoundedEdgesTest, FacesStayWhereTheyAre) {
  const Solid box{make_box(Vec3::Zero(), Vec3::Ones()), 0.1, never};
  for (const Real height : {-0.05, 0.0, 0.02, 0.3}) {
    const Surface found = box.rounded({0.85, 0.5, 1 + height});
    EXPECT_EQ(found.distance, 1 + height - 1);
    EXPECT_EQ(found.normal, Vec3::UnitZ());
  }
}

TEST(RoundedEdgesTest, RoundShapesStayAsTheyAre) {
  MatrixSource random(12);
  const Solid ball{make_sphere(Vec3::Zero(), 1), 0.5, never}, small{make_sphere(Vec3::Zero(), 1), 1.5, never};
  for (int trial = 0; trial < 100; ++trial) {
    const Vec3 n = random.rotation().col(0);
    EXPECT_NEAR(ball.rounded(1.1 * n).distance, 0.1, 1e-12);
    EXPECT_NEAR(small.rounded(1.1 * n).distance, 0.1, 0.02);
  }
}

TEST(RoundedEdgesTest, EdgesRecedeByNoMoreThanIsAllowed) {
  const Real deepest = 0.05;
  const Solid box{make_box(Vec3::Constant(-1), Vec3::Ones()), 0.5, deepest};
  const Vec3 along = Vec3(1, 1, 0).normalized();
  for (const Real height : {0.0, 0.03}) {
    const Surface found = box.rounded(Vec3(1, 1, 0) + height * along);
    EXPECT_NEAR(found.distance, height + deepest, 1e-3 * deepest);
    EXPECT_NEAR((found.normal - along).norm(), 0, 1e-3);
  }
}

TEST(RoundedEdgesTest, ThePlatesRimIsRoundByHalfItsThickness) {
  const Real thickness = 0.1, R = 0.49 * thickness;
  const Solid plate{make_box({-1, -1, -thickness / 2}, {1, 1, thickness / 2}), 0.5, 0.2};
  EXPECT_NEAR(plate.rounded({0, 0, 0.06}).distance, 0.01, 1e-12);
  for (const Real angle : {0.1, 0.5, 1.0, 1.5}) {
    const Vec3 n(std::cos(angle), 0, std::sin(angle));
    const Surface found = plate.rounded(Vec3(1 - R, 0, 0.5 * thickness - R) + (R + 0.01) * n);
    EXPECT_NEAR(found.distance, 0.01, 2e-3 * R);
    EXPECT_NEAR((found.normal - n).norm(), 0, 0.02);
  }
}

TEST(RoundedEdgesTest, TheNormalIsTheGradientOfTheDistance) {
  MatrixSource random(13);
  const Solid cylinder{make_cylinder({0, 0, -1}, {0, 0, 1}, 1), 0.2, 0.08};
  for (int trial = 0; trial < 50; ++trial) {
    Vec3 x = random.rotation().col(0);
    x.z() = 0;
    x = 1.02 * x.normalized() + Vec3(0, 0, 0.95 + 0.001 * trial);
    constexpr Real h = 1e-5;
    Vec3 gradient;
    for (int a = 0; a < 3; ++a)
      gradient[a] =
          (cylinder.rounded(x + h * Vec3::Unit(a)).distance - cylinder.rounded(x - h * Vec3::Unit(a)).distance) /
          (2 * h);
    EXPECT_NEAR((gradient - cylinder.rounded(x).normal).norm(), 0, 0.03);
  }
}

}  // namespace
}  // namespace weft
