#include "run/starts_in_walls.hpp"

#include <fmt/format.h>

#include <utility>

#include "run/held_positions.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/bodies/rigid_frame.hpp"

namespace weft {
namespace {

/// Points that begin deeper than this are named [dx].
constexpr Real least_depth = 0.25;

/// The points of a body that show where it is.
std::vector<const PointSet*> shown_points(Body& body) {
  const Roles roles = body.roles();
  if (roles.rigid != nullptr && (roles.rigid->is_led() || roles.contact_points == nullptr)) return {};
  if (roles.rigid != nullptr) return {roles.contact_points};
  if (roles.contact_points != nullptr) return {roles.mesh};
  std::vector<const PointSet*> found;
  for (const PointSet* set : body.sets())
    if (set->touches_walls()) found.push_back(set);
  return found;
}

struct Deepest {
  Real depth = 0;  ///< [m]
  Vec3 at = Vec3::Zero();
};

/// Of points that nothing holds.
void include_points(const PointSet& set, const IsHeld& is_held, const MovingShape& wall, Deepest& deepest) {
  const RigidState start = wall.at(0);
  const auto x = set.points().get<Position>().first(set.points().owned());
  for (std::size_t row = 0; row < x.size(); ++row) {
    if (is_held && is_held(static_cast<std::uint32_t>(row))) continue;
    if (const Real depth = -wall.surface(start, x[row]).distance; depth > deepest.depth) deepest = {depth, x[row]};
  }
}

/// On any rank.
Deepest deepest_of(const Comm& comm, const Deepest& mine) {
  const Real depth = comm.max(mine.depth);
  const int speaker = static_cast<int>(comm.min(static_cast<Real>(mine.depth == depth ? comm.rank() : comm.size())));
  Deepest all{depth, comm.rank() == speaker ? mine.at : Vec3::Zero()};
  comm.sum(std::span(all.at.data(), 3));
  return all;
}

}  // namespace

std::vector<std::string> starts_in_walls(const Comm& comm, const Scene& scene) {
  std::vector<std::string> named;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    HeldPositions held(scene, b);
    const std::vector<const PointSet*> sets = shown_points(*scene.bodies[b]);
    for (const Wall& wall : scene.walls) {
      if (wall.contact != WallContactKind::surface) continue;
      Deepest mine;
      for (const PointSet* set : sets) include_points(*set, held.of(*set, 0), wall.shape, mine);
      const auto [depth, x] = deepest_of(comm, mine);
      if (depth < least_depth * scene.dx) continue;
      named.push_back(fmt::format(
          "body {}: it begins in the collider {}, {:.3g} m deep at ({:.4g}, {:.4g}, {:.4g}), stays so deep, and may "
          "gain energy as it leaves. Expected: a body that begins outside, or a handle that holds what is inside.",
          scene.bodies[b]->name(), wall.name, depth, x.x(), x.y(), x.z()));
    }
  }
  return named;
}

}  // namespace weft
