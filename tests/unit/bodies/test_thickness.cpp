// How thick bodies are behind points of their surface.

#include "bodies/thickness.hpp"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

namespace weft {
namespace {

struct Points {
  std::vector<Vec3> places, normals;
  std::vector<Real> thickness(Real spacing, Real most) const {
    return thickness_behind(places, normals, spacing, most);
  }
};

Mat3 turned() { return Eigen::AngleAxis<Real>(0.6, Vec3(1, 2, -1).normalized()).toRotationMatrix(); }

/// On the faces of a box about the origin.
Points on_box(const Vec3& size, int across) {
  Points points;
  for (int axis = 0; axis < 3; ++axis)
    for (const Real side : {-1, 1})
      for (int i = 0; i < across; ++i)
        for (int j = 0; j < across; ++j) {
          Vec3 at;
          at[axis] = side / 2;
          at[(axis + 1) % 3] = (i + 0.5) / across - 0.5;
          at[(axis + 2) % 3] = (j + 0.5) / across - 0.5;
          points.places.emplace_back(turned() * at.cwiseProduct(size));
          points.normals.emplace_back(turned() * (side * Vec3::Unit(axis)));
        }
  return points;
}

TEST(ThicknessTest, OfABoxFromFaceToFace) {
  const Vec3 size(1, 0.4, 0.7);
  const Points points = on_box(size, 8);
  const std::vector<Real> found = points.thickness(0.15, 0.8);
  for (std::size_t q = 0; q < found.size(); ++q) {
    const Vec3 n = (turned().transpose() * points.normals[q]).cwiseAbs();
    EXPECT_NEAR(found[q], std::min(Real(0.8), n.dot(size)), 1e-14);
  }
}

TEST(ThicknessTest, OfABallThroughItsMiddle) {
  constexpr int count = 2000;
  constexpr Real spacing = 0.1;
  Points points;
  for (int k = 0; k < count; ++k) {
    const Real z = (2 * k + 1.) / count - 1, turn = k * (3 - std::sqrt(5.)) * std::numbers::pi;
    points.normals.emplace_back(std::sqrt(1 - z * z) * std::cos(turn), std::sqrt(1 - z * z) * std::sin(turn), z);
  }
  points.places = points.normals;
  for (const Real found : points.thickness(spacing, 3)) {
    EXPECT_LE(found, 2);
    EXPECT_GE(found, 1 + std::sqrt(1 - spacing * spacing) - 1e-12);
  }
  for (const Real found : points.thickness(spacing, 1.5)) EXPECT_EQ(found, 1.5);
}

TEST(ThicknessTest, OfAWedgeByWhereItIs) {
  constexpr Real spacing = 0.05, angle = 0.5;
  Points points;
  for (const Real side : {-1, 1})
    for (int i = 0; i < 40; ++i)
      for (int j = 0; j < 10; ++j) {
        const Real along = spacing * (i + 0.5);
        points.places.emplace_back(along * std::cos(angle / 2), side * along * std::sin(angle / 2), spacing * j);
        points.normals.emplace_back(-std::sin(angle / 2), side * std::cos(angle / 2), 0);
      }
  const std::vector<Real> found = points.thickness(spacing, 0.4);
  for (std::size_t q = 0; q < found.size(); ++q) {
    const Real along = points.places[q].head<2>().norm(), behind = along * std::tan(angle);
    EXPECT_LE(found[q], std::min(Real(0.4), behind + 1e-12));
    EXPECT_GE(found[q], std::min(Real(0.4), behind - 2 * spacing * std::tan(angle)));
  }
}

TEST(ThicknessTest, NothingIsBehindAnOpenSheetOrWhatFacesAlike) {
  Points points;
  for (const Real height : {0., 0.3})
    for (int i = 0; i < 10; ++i)
      for (int j = 0; j < 10; ++j) {
        points.places.emplace_back(0.1 * i, 0.1 * j, height);
        points.normals.emplace_back(Vec3::UnitZ());
      }
  for (const Real found : points.thickness(0.1, 1)) EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace weft
