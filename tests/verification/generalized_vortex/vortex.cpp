// A manufactured solution: the generalized vortex, with the order of its error. See README.md.

#include "support/scenes.hpp"
#include "weft/bodies/mesh_body.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace weft {
namespace {

using test::Stage;

constexpr Real density = 1000, youngs_modulus = 1000, poisson_ratio = 0.3;
constexpr Real shear_modulus = youngs_modulus / (2 * (1 + poisson_ratio));
constexpr Real inner = 0.75, outer = 1.25, end_time = 0.75;

/// The angle alpha(R, t) by which the circle of radius R has turned, and its derivatives.
struct Turn {
  static constexpr Real amplitude = 0.2, duration = 1;
  Real alpha, r, rr, t, tt, tr;

  Turn(Real R, Real time) {
    const Real s = R - 1, w = std::numbers::pi / duration;
    const Real h = 1 - 32 * s * s + 256 * s * s * s * s, h1 = -64 * s + 1024 * s * s * s, h2 = -64 + 3072 * s * s;
    const Real g = amplitude * std::sin(w * time), g1 = amplitude * w * std::cos(w * time), g2 = -w * w * g;
    alpha = g * h;
    r = g * h1;
    rr = g * h2;
    t = g1 * h;
    tt = g2 * h;
    tr = g1 * h1;
  }
};

/// Where a point of the ring stands: its radius and the unit vectors along the radius and across.
struct Polar {
  Real R;
  Vec3 e_r, e_t;
  explicit Polar(const Vec3& x)
      : R(std::hypot(x.x(), x.y())), e_r(x.x() / R, x.y() / R, 0), e_t(-e_r.y(), e_r.x(), 0) {}
};

Vec3 exact_position(const Vec3& X, Real time) {
  const Real a = Turn(Polar(X).R, time).alpha;
  return {std::cos(a) * X.x() - std::sin(a) * X.y(), std::sin(a) * X.x() + std::cos(a) * X.y(), X.z()};
}

/// Acceleration that an outside force must give to the point now at x for neo-Hookean rubber to move so:
///     rho b_r = -rho R alpha_t^2 + mu k^2 / R,   rho b_t = rho R alpha_tt - mu (k' + 2 k / R),   k = R alpha_R.
Vec3 body_force(const Vec3& x, Real time) {
  const Polar at(x);
  const Turn turn(at.R, time);
  const Real k = at.R * turn.r, k1 = turn.r + at.R * turn.rr, nu = shear_modulus / density;
  return (-at.R * turn.t * turn.t + nu * k * k / at.R) * at.e_r + (at.R * turn.tt - nu * (k1 + 2 * k / at.R)) * at.e_t;
}

/// v = R alpha_t e_t and its gradient at time 0, where X = x.
void set_motion(const Vec3& x, Vec3& v, Mat3& C) {
  const Polar at(x);
  const Turn turn(at.R, 0);
  v = at.R * turn.t * at.e_t;
  C = (turn.t + at.R * turn.tr) * at.e_t * at.e_r.transpose() - turn.t * at.e_r * at.e_t.transpose();
}

/// A ring of one cell's height between smooth planes; its points come later.
std::string deck(const std::string& kernel, Real dx) {
  return fmt::format(R"(
weft: 1
domain: {{dx: {0}, gravity: [0, 0, 0]}}
time: {{end: 10, frame_interval: 10, max_dt: {1}}}
transfer: {{kernel: {2}}}
materials:
  rubber: {{law: neo_hookean, density: {3}, youngs_modulus: {4}, poisson_ratio: {5}}}
bodies:
  - name: ring
    kind: continuum
    material: rubber
    sampling: regular
    shape: {{cylinder: {{from: [0, 0, 0], to: [0, 0, {0}], radius: {6}}}}}
colliders:
  - {{name: below, shape: {{plane: {{point: [0, 0, 0], normal: [0, 0, 1]}}}}, condition: slip, contact: nodes}}
  - {{name: above, shape: {{plane: {{point: [0, 0, {0}], normal: [0, 0, -1]}}}}, condition: slip, contact: nodes}}
)",
                     dx, 0.2 * dx, kernel, density, youngs_modulus, poisson_ratio, outer);
}

/// Fills the ring with points on concentric circles, two in each dx along every direction, so that its edges are round:
/// the body force is largest there. All points start on the root.
void fill_ring(Stage& stage, Real dx, Real dt) {
  Body& body = *stage.scene.bodies[0];
  Table& points = body.points();
  const Real h = dx / 2;
  std::vector<Real> volume;
  std::size_t p = 0;
  points.resize(0);
  const int circles = stage.comm.is_root() ? static_cast<int>(std::lround((outer - inner) / h)) : 0;
  for (int c = 0; c < circles; ++c) {
    const Real R = inner + (c + 0.5) * h;
    const int count = static_cast<int>(std::lround(2 * std::numbers::pi * R / h));
    points.resize(p + 2 * static_cast<std::size_t>(count));
    for (int k = 0; k < count; ++k)
      for (const Real z : {dx / 4, 3 * dx / 4}) {
        const Real angle = 2 * std::numbers::pi * (k + 0.5) / count;
        points.get<Position>()[p] = Vec3(R * std::cos(angle), R * std::sin(angle), z);
        volume.push_back(2 * std::numbers::pi * R * h * h / count);
        points.get<Id>()[p] = p;
        ++p;
      }
  }
  dynamic_cast<PointBody&>(body).rest(0, 1);
  for (p = 0; p < points.rows(); ++p) points.get<Mass>()[p] *= volume[p];
  points.add<RestPosition>();  // a state, so it travels with its point
  for (p = 0; p < points.rows(); ++p) {
    const Vec3& x = points.get<RestPosition>()[p] = points.get<Position>()[p];
    set_motion(x, points.get<Velocity>()[p], points.get<Affine>()[p]);
    // Velocities of symplectic Euler belong to half a step before: the acceleration at 0 takes them there.
    const Turn turn(Polar(x).R, 0);
    points.get<Velocity>()[p] += dt / 2 * Polar(x).R * turn.t * turn.t * Polar(x).e_r;
  }
  stage.state.drift[0] = std::numeric_limits<Real>::infinity();  // they were never binned
  stage.stepper.bring_home(true);
}

/// Root mean square error of the points' positions at the end over the largest displacement.
Real error(const std::string& kernel, int cells) {
  const Real dx = (outer - inner) / cells, dt = 0.2 * dx;
  Stage stage(deck(kernel, dx));
  fill_ring(stage, dx, dt);
  Table& points = stage.scene.bodies[0]->points();
  while (stage.state.time < end_time - dt / 2) {
    const auto x = points.get<Position>();
    for (std::size_t p = 0; p < points.rows(); ++p)
      points.get<Velocity>()[p] += dt * body_force(x[p], stage.state.time);
    const StepReport report = stage.stepper.take(std::numeric_limits<Real>::infinity());
    EXPECT_EQ(report.size.limited_by, "time.max_dt");
    EXPECT_EQ(report.retries, 0);
  }

  Real sum = 0;
  for (std::size_t p = 0; p < points.rows(); ++p)
    sum += (points.get<Position>()[p] - exact_position(points.get<RestPosition>()[p], stage.state.time)).squaredNorm();
  return std::sqrt(stage.comm.sum(sum) / stage.totals().particles) / Turn::amplitude;
}

TEST(GeneralizedVortexTest, TheBodyForceIsWhatAccelerationAndStressLeave) {
  // rho b = rho x_tt - div P with P = mu (F - F^-T), J = 1, by differences of the exact motion.
  const Real time = 0.3, h = 1e-4;
  const auto gradient = [&](const Vec3& X) {
    Mat3 F = Mat3::Identity();
    for (int a = 0; a < 2; ++a)
      F.col(a) = (exact_position(X + h * Vec3::Unit(a), time) - exact_position(X - h * Vec3::Unit(a), time)) / (2 * h);
    return F;
  };
  const auto stress = [&](const Vec3& X) -> Mat3 {
    const Mat3 F = gradient(X);
    return shear_modulus * (F - F.inverse().transpose());
  };
  for (const Vec3& X : {Vec3(0.9, 0.1, 0), Vec3(-0.5, 0.7, 0), Vec3(0.3, -1.1, 0)}) {
    Vec3 force =
        density * (exact_position(X, time + h) - 2 * exact_position(X, time) + exact_position(X, time - h)) / (h * h);
    for (int a = 0; a < 2; ++a)
      force -= (stress(X + h * Vec3::Unit(a)) - stress(X - h * Vec3::Unit(a))).col(a) / (2 * h);
    const Vec3 given = density * body_force(exact_position(X, time), time);
    EXPECT_LT((force - given).norm(),
              1e-4 * given.norm());  // of second order in h = 1e-4, and round-off of 1e-16 / h^2
  }
}

class GeneralizedVortex : public testing::TestWithParam<const char*> {};

TEST_P(GeneralizedVortex, ConvergesWithSecondOrder) {
  const std::string kernel = GetParam();
  const Real coarse = error(kernel, 8), fine = error(kernel, 16), order = std::log2(coarse / fine);
  if (Comm::world().is_root())
    fmt::print("generalized_vortex {}: error {:.3e} with 8 cells across, {:.3e} with 16, order {:.2f}\n", kernel,
               coarse, fine, order);
  EXPECT_GT(order, 1.9);
  EXPECT_LT(fine, 0.01);
}

INSTANTIATE_TEST_SUITE_P(Kernels, GeneralizedVortex, testing::Values("quadratic", "cubic"));

}  // namespace
}  // namespace weft
