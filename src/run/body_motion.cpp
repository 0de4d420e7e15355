#include "run/body_motion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "weft/base/check.hpp"
#include "weft/bodies/mesh_body.hpp"

namespace weft {
namespace {

/// Of contact with walls: hits gained energy after a few, of a ball of quadratic tetrahedra after twenty.
constexpr int most_passes_on_walls = 500;
/// Of contact with other layers, and where rigid bodies hit one another.
constexpr int most_passes_on_layers = 50, most_passes_of_hits = 200;
/// Rebounds repeat what hits leave: these settle to this part of the tolerance.
constexpr Real tolerance_of_hits = 0.1;
constexpr Real round_off = 1e-12;
/// Passes of an implicit body, or of a hit, that still change forces by more than this part are no motion.
constexpr Real worst_share = 0.05;

/// The vertices of a body, as contact with walls sees them.
struct VertexGround {
  using Four = Eigen::Matrix<Real, 4, 1>;
  std::vector<Four> inertia, velocity, shared;
  std::size_t owned;

  VertexGround(std::span<const Real> mass, std::size_t rows)
      : inertia(rows, Four::Zero()), velocity(inertia), shared(inertia), owned(mass.size()) {
    for (std::size_t r = 0; r < owned; ++r) inertia[r][0] = mass[r];
  }
  ContactGround view(const Comm& comm, const Forest& forest) {
    const auto column = [](std::vector<Four>& values) {
      return ColumnView{
          {}, {ScalarKind::real, 4, 1}, sizeof(Four), values.size(), reinterpret_cast<std::byte*>(values.data())};
    };
    return {.forest = &forest,
            .owned = static_cast<std::ptrdiff_t>(owned),
            .inertia = inertia.data()->data(),
            .velocity = column(velocity),
            .shared = column(shared),
            .passes = most_passes_on_walls,
            .agree = &comm};
  }
};

void add(std::span<const Impulse> more, std::span<Impulse> sum) {
  for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += more[k];
}

}  // namespace

Given& Given::operator+=(const Given& more) {
  add(more.by_walls, by_walls);
  add(more.by_handles, by_handles);
  add(more.by_joints, by_joints);
  contact_energy += more.contact_energy;
  return *this;
}

BodyMotion::BodyMotion(const Comm& comm, const Scene& scene, const RunState& state, std::size_t body)
    : comm_(comm), scene_(scene), state_(state), body_(body), contact_passes_(scene.step.contact_passes[body]) {}

MeshBody& BodyMotion::mesh() const { return *scene_.bodies[body_]->roles().mesh; }

WallContacts& BodyMotion::find_walls(const Bins& bins, const TransferSettings& transfer, Real dt) {
  PointSet& points = has_surface() ? *mesh().contact_points() : mesh();
  if (!points.touches_walls()) return walls_;
  TouchingSet set{&points, &bins, frequency(dt), state_.limits[body_].speed, largest_half_axis(points), whole(dt)};
  if (const Real e = scene_.layer_of(body_).restitution; e > 0) set.rebound = {e, scene_.step.slowest_hit};
  set.is_led = led_points();
  if (has_surface()) set.faces = [&](std::uint32_t row, const Vec3& way) { return mesh().faces(row, way); };
  set.gained = scene_.step.gravity.norm() * dt;
  walls_.find(scene_.walls, {&set, 1}, transfer, state_.time, dt);
  return walls_;
}

void BodyMotion::let_walls_reach_vertices() {
  if (walls_.any() || walls_.lets_go())
    walls_.act_on([&](std::uint32_t row) { return mesh().contact_stencil(row); }, mesh().forest(),
                  is_implicit() ? 3 : NodeField::width);
}

void BodyMotion::begin_passes() {
  passes_ = 0;
  refusal_of_passes_ = {};
  if (const PointSet* contact = std::as_const(mesh()).contact_points(); contact != nullptr && has_surface()) {
    const auto kept = contact->points().get<ContactForce>();
    forces_.assign(kept.begin(), kept.end());
    first_forces_ = forces_;
  }
}

bool BodyMotion::wants_another_pass(Real dt, int passes, bool is_hit, std::span<const Vec3> by_layers) {
  const auto mass = std::as_const(mesh().contact_points()->points()).get<Mass>();
  if (!may_repeat()) begin_passes();  // passes that others make find all of its change anew
  passes_ = passes;
  const auto v = std::as_const(mesh().contact_points()->points()).get<TentativeVelocity>();
  // Of squares: changes, forces as nodes even them out, if that is known, and what is round-off beside the momentum.
  std::array<Real, 3> sums{0, 0, 0};
  for (std::size_t q = 0; q < forces_.size(); ++q) {
    const Vec3 change = mass[q] / dt * by_layers[q];
    forces_[q] += change;
    sums[0] += change.squaredNorm();
    sums[1] += (loads_.empty() ? forces_[q] : Vec3(loads_[q] + change)).squaredNorm();
    sums[2] += (round_off * mass[q] / dt * v[q]).squaredNorm();
  }
  const int most = is_hit ? most_passes_of_hits : most_passes_on_layers;
  if (!may_repeat() || (passes >= most && !is_implicit() && !is_hit)) return false;
  comm_.sum(std::span(sums));
  const auto is_settled_to = [&](Real share) { return sums[0] <= share * share * sums[1] + sums[2]; };
  const Real tolerance = contact_passes_->tolerance * (is_hit ? tolerance_of_hits : 1);
  if (passes < most) return !is_settled_to(tolerance);
  if (!is_settled_to(std::max(tolerance, worst_share)))
    refusal_of_passes_ = {2, fmt::format("contact of body {} has not settled in {} passes", name(), passes)};
  return false;
}

bool BodyMotion::is_last_pass(int passes) { return passes == most_passes_on_layers || passes == most_passes_of_hits; }

void BodyMotion::remember_since_first(std::span<const Vec3> forces) {
  for (std::size_t q = 0; q < forces.size(); ++q) forces_[q] = first_forces_[q] + forces[q];
}

std::vector<Vec3> BodyMotion::remembered_forces(Real dt) {
  given_ = Given(scene_);
  walls_.begin(dt);
  return forces_on_vertices();
}

std::vector<Vec3> BodyMotion::go_on(std::span<const Vec3> moved) {
  std::vector<Real> rows(NodeField::width * moved.size(), 0);
  for (std::size_t r = 0; r < moved.size(); ++r) std::copy_n(moved[r].data(), 3, &rows[NodeField::width * r]);
  walls_.go_on(rows.data());
  return forces_on_vertices();
}

std::vector<Vec3> BodyMotion::forces_on_vertices() const {
  if (!has_surface() && (is_implicit() || walls_.size() == 0)) return {};
  std::vector<Vec3> forces(mesh().points().rows(), Vec3::Zero());
  mesh().add_contact_forces(loads_, forces);
  if (is_implicit()) return forces;
  for (std::size_t c = 0; c < walls_.size(); ++c) mesh().add_contact_force(walls_.row(c), walls_.force(c), forces);
  return forces;
}

std::vector<Vec3> BodyMotion::news_of_walls(Real dt) const {
  std::vector<Vec3> impulses(mesh().points().rows(), Vec3::Zero());
  for (std::size_t c = 0; c < walls_.size(); ++c)
    mesh().add_contact_force(walls_.row(c), walls_.impulse(c) - dt * walls_.force(c), impulses);
  return impulses;
}

/// What walls gave in the last step has loaded the motion that was predicted; what they give now acts at its end.
void BodyMotion::meet_walls(std::span<const Real> mass, Real dt_before, std::span<Vec3> v,
                            const ProjectVelocities& project) {
  if (!walls_.any()) return;
  VertexGround vertices(mass, v.size());
  for (std::size_t r = 0; r < v.size(); ++r) vertices.velocity[r].head<3>() = v[r];
  ContactGround ground = vertices.view(comm_, mesh().forest());
  if (project)
    ground.project = [&, before = std::vector<Vec3>(v.size(), Vec3::Zero())]() mutable {
      std::vector<Vec3> change(v.size());
      for (std::size_t r = 0; r < v.size(); ++r) change[r] = vertices.velocity[r].head<3>() - v[r];
      project(change);
      std::array<Real, 2> most{0, 0};
      for (std::size_t r = 0; r < v.size(); ++r) {
        vertices.velocity[r].head<3>() = v[r] + change[r];
        most[0] = std::max(most[0], (change[r] - before[r]).norm());
        most[1] = std::max(most[1], change[r].norm());
      }
      before = std::move(change);
      return most;
    };
  walls_.scatter(ground);
  ground.forest->sum_to_owners(ground.shared);
  walls_.solve(ground);
  given_.contact_energy = walls_.add_given(dt_before, given_.by_walls);
  ground.forest->update_ghosts(ground.velocity);
  for (std::size_t r = 0; r < v.size(); ++r) v[r] = vertices.velocity[r].head<3>();
}

void BodyMotion::receive(std::span<const Vec3> change) {
  const auto mass = std::as_const(mesh().contact_points()->points()).get<Mass>();
  std::vector<Vec3> impulses(change.size());
  for (std::size_t q = 0; q < change.size(); ++q) impulses[q] = mass[q] * change[q];
  received_.assign(mesh().points().rows(), Vec3::Zero());
  mesh().add_contact_forces(impulses, received_);
}

void BodyMotion::forget(Real dt, std::span<const Vec3> by_hits) {
  const auto mass = std::as_const(mesh().contact_points()->points()).get<Mass>();
  for (std::size_t q = 0; q < forces_.size(); ++q) forces_[q] -= mass[q] / dt * by_hits[q];
}

void BodyMotion::begin_blend(Real) { WEFT_ENSURE(false); }
void BodyMotion::receive_blended(ChunkRows, std::span<const Vec3>, std::span<const Vec3>) { WEFT_ENSURE(false); }
std::span<const Vec3> BodyMotion::displacements() const {
  WEFT_ENSURE(false);
  return {};
}
std::span<const Vec3> BodyMotion::velocities() const {
  WEFT_ENSURE(false);
  return {};
}

void BodyMotion::keep_contact(std::span<const Real> turns, Given& given) {
  if (walls_.any() || walls_.lets_go()) walls_.keep();
  if (PointSet* contact = mesh().contact_points(); contact != nullptr && has_surface())
    std::ranges::copy(forces_, contact->points().get<ContactForce>().begin());
  mesh().follow_vertices(turns);
  given += given_;
}

}  // namespace weft
