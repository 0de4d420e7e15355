#include "run/starts_inside.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "run/held_positions.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/bodies/rigid_frame.hpp"
#include "weft/scene/catalogue.hpp"

namespace weft {
namespace {

/// Points that begin deeper than this in a collider, and in the shape of another continuum, are named [dx].
constexpr Real least_depth = 0.25, least_mixture = 0.5;

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

  void include(Real its_depth, const Vec3& x) {
    if (its_depth > depth) depth = its_depth, at = x;
  }
};

/// Of points that nothing holds.
void include_points(const PointSet& set, const IsHeld& is_held, const MovingShape& wall, Deepest& deepest) {
  const RigidState start = wall.at(0);
  const auto x = set.points().get<Position>().first(set.points().owned());
  for (std::size_t row = 0; row < x.size(); ++row) {
    if (is_held && is_held(static_cast<std::uint32_t>(row))) continue;
    deepest.include(-wall.surface(start, x[row]).distance, x[row]);
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

void name_starts_in_walls(const Comm& comm, const Scene& scene, std::vector<std::string>& named) {
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
}

/// The shape that a continuum fills to begin with; none: it does not, or the body is none.
const ShapeDeck* filled_shape(const BodyDeck& body) {
  const auto* deck = std::get_if<ContinuumDeck>(&body);
  return deck != nullptr && deck->shape ? &*deck->shape : nullptr;
}

/// Collective.
void name_mixtures(const Comm& comm, const Scene& scene, std::vector<std::string>& named) {
  if (std::ranges::count_if(scene.deck.bodies, filled_shape) < 2) return;
  std::vector<std::shared_ptr<const Shape>> shapes;
  for (const BodyDeck& body : scene.deck.bodies) {
    const ShapeDeck* filled = filled_shape(body);
    shapes.push_back(filled != nullptr ? make_shape(comm, *filled, false, scene.dx) : nullptr);
  }
  const auto include_points = [&](std::size_t filled, std::size_t other, Deepest& deepest) {
    const PointSet& set = *scene.bodies[filled]->sets().front();
    const std::optional<Box> around = shapes[other]->bounds();
    for (const Vec3& x : set.points().get<Position>().first(set.points().owned()))
      if (!around || around->contains(x)) deepest.include(-shapes[other]->surface(x).distance, x);
  };
  for (std::size_t a = 0; a < shapes.size(); ++a)
    for (std::size_t b = a + 1; b < shapes.size(); ++b) {
      if (!shapes[a] || !shapes[b]) continue;
      Deepest mine;
      include_points(a, b, mine);
      include_points(b, a, mine);
      const auto [depth, x] = deepest_of(comm, mine);
      if (depth < least_mixture * scene.dx) continue;
      named.push_back(fmt::format(
          "bodies {} and {}: both fill the place around ({:.4g}, {:.4g}, {:.4g}), {:.3g} m deep. They have the mass of "
          "both there, and press one another apart. Expected: shapes that do not overlap.",
          scene.bodies[a]->name(), scene.bodies[b]->name(), x.x(), x.y(), x.z(), depth));
    }
}

}  // namespace

std::vector<std::string> starts_inside(const Comm& comm, const Scene& scene) {
  std::vector<std::string> named;
  name_starts_in_walls(comm, scene, named);
  name_mixtures(comm, scene, named);
  return named;
}

}  // namespace weft
