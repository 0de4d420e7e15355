// Clamps of strands: the bound of what they add to frequencies, and their turns.

#include "weft/bodies/mesh_body.hpp"
#include "weft/bodies/strand.hpp"

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include <cmath>
#include <memory>
#include <numbers>

namespace weft {
namespace {

constexpr Real l = 0.1;

/// A straight strand of four segments along x, whose first end is clamped to a motion.
struct Clamped {
  Comm comm{MPI_COMM_SELF};
  std::unique_ptr<MeshBody> body;
  std::unique_ptr<Freedoms> freedoms;
  std::unique_ptr<Clamp> clamp;
  RodSection section = RodSection::ellipse(0.02, 0.01, 1e5, 1e5, 4e4, 1000);

  explicit Clamped(const RigidMotion& motion) {
    Curves curves;
    std::vector<Vec3> points;
    for (int k = 0; k < 5; ++k) points.emplace_back(l * k, 0, 0);
    curves.add(points);
    const auto mesh = make_strands({"strand", curves, section, 1000, {}, 0.02, false, 0});
    body = mesh->body_of({0, 4});
    const SegmentEnd end = *mesh->sites({0, 4}).vertices.front().end;
    const std::size_t list = body->watch(comm, {grip_of(0, end)});
    body->fill(comm, mesh->rest_positions(), Vec3::Zero(), Mat3::Zero());
    body->share_evenly(comm);
    freedoms = std::make_unique<Freedoms>(
        std::vector<FreedomBlock>{{"strand", 3, &body->forest(), {}}, {"turns", 1, &body->forest_of_turns(), {}}});
    clamp = body->clamp(*freedoms, 0, 1, body->grips(list), motion, 1e9);
  }

  /// By the free vertex of the clamped segment and its turn.
  Eigen::Matrix4d stiffness(const Motion& at) const {
    const auto linear = clamp->linearise(at);
    Eigen::Matrix4d K;
    for (int k = 0; k < 4; ++k) {
      FreedomValues du(*freedoms);
      Load change(*freedoms);
      if (k < 3) du.points(0)[1][k] = 1;
      else du.block(1)[0] = 1;
      clamp->add_force_change(*linear, du, change);
      K.col(k) << -change.points(0)[1], -change.block(1)[0];
    }
    return K;
  }
};

TEST(StrandClampTest, RowSumsBoundItsStiffnessHoweverItsSegmentIsBent) {
  const Clamped clamped{RigidMotion()};
  for (const Real degrees : {0, 30, 90, 140, 165, 175})
    for (const Real turn : {0.0, 1.0, -2.5}) {
      Motion at(*clamped.freedoms);
      const Real angle = degrees * std::numbers::pi / 180;
      at.u.points(0)[1] = l * Vec3(std::cos(angle) - 1, 0.6 * std::sin(angle), 0.8 * std::sin(angle));
      at.u.block(1)[0] = turn * clamped.section.gyration;
      Load sums(*clamped.freedoms);
      clamped.clamp->add_row_sums(at, sums);
      EXPECT_EQ(sums.points(0)[0], Vec3(Vec3::Zero()));
      const Real bound = std::max(sums.points(0)[1][0], sums.block(1)[0]);
      const Eigen::Matrix4d K = clamped.stiffness(at);
      const Real largest = Eigen::SelfAdjointEigenSolver<Eigen::Matrix4d>(K).eigenvalues().cwiseAbs().maxCoeff();
      EXPECT_GE(bound, largest) << degrees << " " << turn;
      if (degrees == 0) {
        EXPECT_LE(bound, 4 * largest);
      }
    }
}

/// The twist of the clamp's joint is about that of the next one over the joints' lengths, of any number of turns.
TEST(StrandClampTest, CountsTheTurnsThatTheNextJointHas) {
  for (const Real turns : {0.3, 0.8, 7.25, -12.9}) {
    const Real angle = 2 * std::numbers::pi * turns;  // from segment to segment
    Clamped clamped{RigidMotion()};
    Motion at(*clamped.freedoms);
    for (std::size_t s = 0; s < 4; ++s)
      at.u.block(1)[s] = angle * (static_cast<Real>(s) + 0.5) * clamped.section.gyration;
    Load force(*clamped.freedoms);
    clamped.clamp->add_force(at, force);
    const Real moment = clamped.section.twist / (l / 2) * angle / 2;
    EXPECT_NEAR(force.block(1)[0] * clamped.section.gyration, -moment, 1e-11 * std::abs(moment));
  }
}

}  // namespace
}  // namespace weft
