#include "run/rigid_body_motion.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <limits>

#include "weft/bodies/mesh_body.hpp"
#include "weft/scene/catalogue.hpp"

namespace weft {
namespace {

/// A step turns a body by no more than this [rad],
constexpr Real largest_turn = 0.5;
/// and gravity moves it by no more than this part of dx, or swings it by so much of its size.
constexpr Real largest_fall = 0.005, largest_swing = 1e-3;
/// Gaps close with this part of the speed of a body and of what falls by dx.
constexpr Real closing_share = 0.001;
/// Steps are no shorter, for contact, than this part of the time in which what moves, or falls by dx, passes by dx.
constexpr Real shortest_step = 0.001;
/// Contact points weigh so many times their mass at most, lest nodes that begin to touch get far too much.
constexpr Real largest_scale = 1000;

using Matrix6 = Eigen::Matrix<Real, 6, 6>;

Vec3 mean(const FourPoints& values) { return (values[0] + values[1] + values[2] + values[3]) / 4; }

RigidVelocity affine(const FourPoints& x, const FourPoints& v) { return {mean(x), mean(v), gradient(x, v)}; }

std::optional<std::size_t> joint_of(const Scene& scene, std::size_t body) {
  const auto found = std::ranges::find(scene.joints, body);
  if (found == scene.joints.end()) return {};
  return static_cast<std::size_t>(found - scene.joints.begin());
}

}  // namespace

RigidBodyMotion::RigidBodyMotion(const Comm& comm, const Scene& scene, const RunState& state, std::size_t body)
    : BodyMotion(comm, scene, state, body), frame_(*scene.bodies[body]->roles().rigid), joint_(joint_of(scene, body)) {}

Real RigidBodyMotion::speed_of_fall() const { return std::sqrt(scene_.step.gravity.norm() * scene_.dx); }

bool RigidBodyMotion::is_here() const { return mesh().points().owned() > 0; }

FourPoints RigidBodyMotion::four(std::span<const Vec3> values) const {
  FourPoints points;
  std::ranges::copy(values.first(4), points.begin());
  return points;
}

std::optional<TouchingSet::Whole> RigidBodyMotion::whole(Real dt) {
  TouchingSet::Whole found{frame_.mass() / (dt * dt), closing_share * (state_.limits[body()].speed + speed_of_fall())};
  if (is_here()) {
    const Table& points = std::as_const(mesh()).points();
    const FourPoints x = four(points.get<Position>()), v = four(points.get<Velocity>());
    const RigidFrame::Moved moved = frame_.move(x, v, frame_.momentum(x, v), dt, state_.time + dt);
    found.turn = turn_ = gradient(x, moved.x) - Mat3::Identity();
    found.centre = mean(x);
  }
  return found;
}

FourPoints RigidBodyMotion::turned(const FourPoints& x) const {
  FourPoints found = x;
  for (Vec3& each : found) each += turn_ * (each - mean(x));
  return found;
}

Real RigidBodyMotion::frequency(Real dt) const {
  Real fastest = 0;
  for (const StepLimit& limit : state_.limits) fastest = std::max(fastest, limit.speed);
  const Real time_to_pass = scene_.dx / (fastest + speed_of_fall());
  return 1 / std::max({dt, state_.last_dt, shortest_step * time_to_pass});
}

DtLimit RigidBodyMotion::dt_limit() {
  Real speed = 0, spin = 0;
  if (is_here()) {
    const Table& points = std::as_const(mesh()).points();
    const auto x = points.get<Position>(), v = points.get<Velocity>();
    for (const Vec3& each : v) speed = std::max(speed, each.norm());
    const RigidMomentum now = frame_.momentum(four(x), four(v));
    spin = frame_.answer(four(x), now).spin.norm();
    if (const PointSet* contact = std::as_const(mesh()).contact_points())
      for (const Vec3& each : contact->points().get<Velocity>()) speed = std::max(speed, each.norm());
  }
  const bool touches = mesh().contact_points() != nullptr;
  const Real g = scene_.step.gravity.norm();
  DtLimit limit{largest_turn / comm_.max(spin), "spin of " + name()};
  const auto include = [&](Real dt, const char* reason) {
    if (dt < limit.dt) limit = {dt, reason + name()};
  };
  if (touches) include(scene_.step.cfl * scene_.dx / comm_.max(speed), "speed of ");
  if (frame_.is_led()) return limit;
  if (touches) include(std::sqrt(largest_fall * scene_.dx / g), "weight of ");
  if (joint_) include(std::sqrt(largest_swing * frame_.radius() / g), "swing of ");
  return limit;
}

void RigidBodyMotion::weigh_contact_points(Real, int passes) {
  if (!is_here()) return;
  if (passes == 0) smallest_scale_ = std::numeric_limits<Real>::infinity();
  scale_ = 1;
  mesh().scale_contact_points(1);
  if (!(by_memory_.mass > 0)) return;
  Matrix6 A = Matrix6::Zero(), B = Matrix6::Zero();
  const auto fill = [](Real mass, const Vec3& first, const Mat3& second, Matrix6& inertia) {
    const Mat3 arm = spin_matrix(first);  // sum m r x
    inertia << mass * Mat3::Identity(), -arm, arm, second.trace() * Mat3::Identity() - second;
  };
  const Table& points = std::as_const(mesh()).points();
  const FourPoints x = four(points.get<Position>());
  const Vec3 centre = mean(x);
  Mat3 second = Mat3::Zero();
  for (const Vec3& each : x) second += frame_.mass() / 4 * (each - centre) * (each - centre).transpose();
  fill(frame_.mass(), Vec3::Zero(), second, B);
  fill(by_memory_.mass, by_memory_.first, by_memory_.second, A);
  const Eigen::GeneralizedSelfAdjointEigenSolver<Matrix6> solver(A, B, Eigen::EigenvaluesOnly);
  smallest_scale_ = std::min({smallest_scale_, largest_scale, 1 / solver.eigenvalues()[5]});
  scale_ = smallest_scale_;
  mesh().scale_contact_points(scale_);
}

Refusal RigidBodyMotion::predict(Real dt) {
  const auto is_loaded = [this](const GridHandle& handle) { return handle.body == body(); };
  if (!system_ && std::ranges::any_of(scene_.handles, is_loaded)) {
    system_.emplace(scene_, std::vector{body()}, scene_.step.gravity);
    loads_.assign(scene_.handles.size(), FourPoints{Vec3::Zero(), Vec3::Zero(), Vec3::Zero(), Vec3::Zero()});
  }
  const std::vector<Vec3> forces = remembered_forces(dt);
  dt_ = dt;
  if (is_here()) {
    const Table& points = std::as_const(mesh()).points();
    const FourPoints x = four(points.get<Position>());
    momentum_ = frame_.momentum(x, four(points.get<Velocity>()));
    FourPoints impulses, by_walls;
    for (std::size_t k = 0; k < 4; ++k) {
      impulses[k] = dt * points.get<Mass>()[k] * scene_.step.gravity;
      if (mesh().contact_points() != nullptr) impulses[k] += dt * node_loads_[k];
      by_walls[k] = forces.empty() ? Vec3(Vec3::Zero()) : Vec3(dt * forces[k]);
    }
    RigidFrame::add(x, impulses, momentum_);
    RigidFrame::add(turned(x), by_walls, momentum_);
    take_loads(dt, momentum_);
    move(dt);
  }
  if (mesh().contact_points() != nullptr) {
    let_walls_act(dt);
    mesh().predict_contact_points(mean_velocities(dt));
  }
  if (is_here() && !(moved_.v[0] + moved_.x[0]).allFinite())
    return {2, fmt::format("the velocity of body {} is not a finite number", name())};
  return {};
}

/// All of what walls gave counts, whatever of it the joint takes.
void RigidBodyMotion::let_walls_act(Real dt) {
  const Table& points = std::as_const(mesh()).points();
  std::vector<Vec3> v = mean_velocities(dt);
  RigidMomentum answered{Vec3::Zero(), Vec3::Zero()};  // of the passes so far
  meet_walls(points.get<Mass>(), state_.last_dt, v, [&](std::span<Vec3> change) {
    if (!is_here()) return;
    const FourPoints x = turned(four(points.get<Position>()));
    const RigidMomentum all = frame_.momentum(x, four(change));
    momentum_.linear += all.linear - answered.linear;
    momentum_.angular += all.angular - answered.angular;
    const Twist twist = frame_.answer(x, all);
    for (std::size_t k = 0; k < 4; ++k) change[k] = twist.velocity + twist.spin.cross(x[k] - mean(x));
    answered = frame_.momentum(x, four(change));
  });
  if (is_here()) move(dt);
}

void RigidBodyMotion::move(Real dt) {
  const Table& points = std::as_const(mesh()).points();
  moved_ = frame_.move(four(points.get<Position>()), four(points.get<Velocity>()), momentum_, dt, state_.time + dt);
}

void RigidBodyMotion::take_loads(Real dt, RigidMomentum& sum) {
  if (!system_) return;
  const FourPoints x = four(std::as_const(mesh()).points().get<Position>());
  Motion start(system_->freedoms);
  start.time = state_.time;
  start.load_span = dt;
  for (std::size_t h = 0; h < loads_.size(); ++h) {
    const Term* load = system_->of_handle[h].load;
    if (load == nullptr) continue;
    Load force(system_->freedoms);
    load->add_force(start, force);
    for (std::size_t k = 0; k < 4; ++k) loads_[h][k] = dt * force.points(0)[k];
    RigidFrame::add(x, loads_[h], sum);
  }
}

/// Loads act where the body is when the step begins. There they do work by the mean of its motions before and after.
void RigidBodyMotion::count_loads() {
  const Table& points = std::as_const(mesh()).points();
  const FourPoints x = four(points.get<Position>()), v = four(points.get<Velocity>());
  const Twist after = frame_.twist(moved_.x, moved_.v);
  const Vec3 centre = mean(x);
  for (std::size_t h = 0; h < loads_.size(); ++h)
    for (std::size_t k = 0; k < 4; ++k) {
      const Vec3 v_after = after.velocity + after.spin.cross(x[k] - centre);
      given_.by_handles[h].add(loads_[h][k], x[k], (v[k] + v_after) / 2);
    }
}

/// Of the points in the step [m/s].
std::vector<Vec3> RigidBodyMotion::mean_velocities(Real dt) const {
  const auto x = std::as_const(mesh()).points().get<Position>();
  std::vector<Vec3> v;
  for (std::size_t k = 0; k < x.size(); ++k) v.emplace_back((moved_.x[k] - x[k]) / dt);
  return v;
}

RigidVelocity RigidBodyMotion::velocity_now() const {
  if (!is_here()) return {};
  const Table& points = std::as_const(mesh()).points();
  return affine(four(points.get<Position>()), four(points.get<Velocity>()));
}

RigidVelocity RigidBodyMotion::velocity_predicted() const {
  if (!is_here()) return {};
  return affine(four(std::as_const(mesh()).points().get<Position>()), four(mean_velocities(dt_)));
}

void RigidBodyMotion::load(const NodeForces& forces) {
  by_memory_ = forces;
  if (is_here())
    node_loads_ = forces_on(four(std::as_const(mesh()).points().get<Position>()), forces.force, forces.moment);
}

void RigidBodyMotion::push(const NodeForces& impulses) {
  if (is_here())
    by_nodes_ = forces_on(four(std::as_const(mesh()).points().get<Position>()), impulses.force, impulses.moment);
}

void RigidBodyMotion::correct(Real dt) {
  if (!is_here() || mesh().contact_points() == nullptr) return;
  RigidFrame::add(four(std::as_const(mesh()).points().get<Position>()), by_nodes_, momentum_);
  move(dt);
}

void RigidBodyMotion::commit(Given& given) {
  if (is_here()) {
    count_loads();
    Table& points = mesh().points();
    std::ranges::copy(moved_.x, points.get<Position>().begin());
    std::ranges::copy(moved_.v, points.get<Velocity>().begin());
    if (joint_) given_.by_joints[*joint_] += moved_.by_joint;
  }
  keep_contact({}, given);
  if (mesh().contact_points() != nullptr) mesh().scale_contact_points(1);
}

}  // namespace weft
