#include "scene/rigid_bodies.hpp"

#include "scene/placement_of.hpp"
#include "scene/tetrahedra.hpp"
#include "weft/base/check.hpp"
#include "weft/base/log.hpp"
#include "weft/base/overloaded.hpp"
#include "weft/bodies/contact_points.hpp"
#include "weft/bodies/rigid.hpp"
#include "weft/scene/catalogue.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <utility>

namespace weft {
namespace {

/// The closed surface of a rigid body at its position.
struct ClosedSurface {
  std::vector<Vec3> points;
  std::vector<std::array<std::int32_t, 3>> triangles;
};

ClosedSurface used_part(std::span<const Vec3> points, std::vector<std::array<std::int32_t, 3>> triangles) {
  const UsedPoints used = used_points(triangles, points.size());
  ClosedSurface surface;
  for (const std::int32_t p : used.points) surface.points.push_back(points[static_cast<std::size_t>(p)]);
  for (auto& triangle : triangles)
    for (std::int32_t& corner : triangle) corner = used.number[static_cast<std::size_t>(corner)];
  surface.triangles = std::move(triangles);
  return surface;
}

ClosedSurface closed_surface(const Comm& comm, const RigidDeck& deck) {
  const auto* file = std::get_if<TetFileDeck>(&deck.mesh.form);
  if (file != nullptr && std::filesystem::path(file->file).extension() != ".msh") {
    SurfaceMesh mesh = placed(make_surface(comm, MeshDeck{file->file}), placement_of(deck.mesh));
    require_closed(mesh, std::filesystem::path(file->file).filename().string());
    return used_part(mesh.points, triangles_of(mesh));
  }
  const TetMesh mesh = make_tets(comm, deck.mesh, {}, deck.location);
  std::vector<std::array<std::int32_t, 3>> triangles;
  for (const OuterFace& face : outer_faces(mesh)) {
    auto& triangle = triangles.emplace_back();
    for (std::size_t k = 0; k < 3; ++k)
      triangle[k] = mesh.tet(face.tet)[static_cast<std::size_t>(tet_faces[static_cast<std::size_t>(face.face)][k])];
  }
  return used_part(mesh.points, std::move(triangles));
}

Joint joint_of(const JointDeck& deck) {
  return std::visit(
      Overloaded{
          [](const BallJointDeck& d) { return Joint{Joint::Kind::ball, d.point, Vec3::Zero(), d.damping, 0, {}}; },
          [](const HingeDeck& d) {
            return Joint{Joint::Kind::hinge, d.point, d.axis.normalized(), d.damping, d.torque, d.speed};
          },
          [](const SliderDeck& d) {
            return Joint{Joint::Kind::slider, Vec3::Zero(), d.axis.normalized(), d.damping, d.force, d.speed};
          },
          [](const MotionDeck& d) {
            return Joint{Joint::Kind::prescribed, Vec3::Zero(), Vec3::Zero(), 0, 0, {}, make_motion(d)};
          }},
      deck.form);
}

RigidMass mass_of(const RigidDeck& deck, const ClosedSurface& surface) {
  const RigidMass volume = mass_of_volume(surface.points, surface.triangles);
  const Real density = std::visit(Overloaded{[](const DensityDeck& d) { return d.density; },
                                             [&](const MassDeck& d) { return d.mass / volume.mass; }},
                                  deck.weight);
  RigidMass mass{density * volume.mass, deck.center.value_or(volume.centre), density * volume.second_moment};
  if (!deck.inertia) return mass;
  const auto& [moments, products] = *deck.inertia;
  Mat3 inertia = moments.asDiagonal();
  inertia(0, 1) = inertia(1, 0) = products[0];
  inertia(1, 2) = inertia(2, 1) = products[1];
  inertia(2, 0) = inertia(0, 2) = products[2];
  mass.second_moment = second_moment_of_inertia(inertia);
  require(has_extent(mass.second_moment), ExitCode::deck,
          "\"inertia\" is that of no solid body. Expected: principal moments each smaller than the sum of the other "
          "two.");
  return mass;
}

/// Refuses a prescribed motion that does not begin where the body is drawn, and warns if a body does not begin as its
/// joint lets it.
void check_start(const RigidDeck& deck, const RigidMass& mass, const Joint& joint) {
  const RigidState start = joint.motion.at(0);
  require(start.rotation.isIdentity(0) && start.translation.isZero(0), ExitCode::deck,
          "the motion under \"joint\" begins elsewhere than the body is drawn. Let it begin without shift and turn.");
  if (joint.leads()) return;
  const FourPoints rest = equal_points(mass);
  FourPoints v;
  for (std::size_t k = 0; k < 4; ++k) v[k] = deck.velocity + deck.spin.cross(rest[k] - mass.centre);
  const RigidFrame frame(mass.mass, rest, joint);
  const Twist kept = frame.answer(rest, frame.momentum(rest, v));
  const Real size = deck.velocity.norm() + frame.radius() * deck.spin.norm();
  if ((kept.velocity - deck.velocity).norm() + frame.radius() * (kept.spin - deck.spin).norm() > 1e-6 * size)
    log_warning(
        fmt::format("{}: its joint does not let it move with this velocity and spin: the first step takes the rest. "
                    "Kept of the centre: velocity [{:.4g}, {:.4g}, {:.4g}] m/s, spin [{:.4g}, {:.4g}, {:.4g}] rad/s.",
                    deck.location.text, kept.velocity.x(), kept.velocity.y(), kept.velocity.z(), kept.spin.x(),
                    kept.spin.y(), kept.spin.z()));
}

/// Warns of a centre of mass that no positive density gives.
void check_centre(const RigidDeck& deck, const ClosedSurface& surface) {
  if (!deck.center) return;
  Vec3 lower = surface.points.front(), upper = lower;
  for (const Vec3& x : surface.points) {
    lower = lower.cwiseMin(x);
    upper = upper.cwiseMax(x);
  }
  if (!deck.center->cwiseMax(lower).cwiseMin(upper).isApprox(*deck.center))
    log_warning(
        fmt::format("{}: \"center\" lies outside of the body, which spans [{:.4g}, {:.4g}, {:.4g}] to "
                    "[{:.4g}, {:.4g}, {:.4g}] m.",
                    deck.location.text, lower.x(), lower.y(), lower.z(), upper.x(), upper.y(), upper.z()));
}

}  // namespace

std::unique_ptr<MeshSource> make_rigid_mesh(const Comm& comm, const RigidDeck& deck, Real dx) {
  ClosedSurface surface = closed_surface(comm, deck);
  check_centre(deck, surface);
  const RigidMass mass = mass_of(deck, surface);
  const Real points =
      deck.meets_grid.value_or(true) ? deck.contact.value_or(SolidContactDeck{4, 0, {}}).points / (dx * dx) : 0;
  std::optional<Joint> joint;
  if (deck.joint) joint = joint_of(*deck.joint);
  if (joint) check_start(deck, mass, *joint);
  return make_rigid({deck.name, std::move(surface.points), std::move(surface.triangles), mass, joint, points,
                     SurfaceThickness::most_of_thin * dx});
}

}  // namespace weft
