#include "run/reactions.hpp"

#include <utility>
#include <vector>

#include "weft/bodies/mesh_body.hpp"

namespace weft {
namespace {

Impulse given_by(const Handle& hold, std::span<const Real> impulses, const Motion& motion,
                 std::span<const Vec3> mean_velocity) {
  const Reaction reaction = hold.reaction(impulses, motion, hold.center(motion.time));
  Impulse given{reaction.force, reaction.torque, 0};
  ConstraintRows rows;
  hold.append(motion.time, rows);
  for (std::size_t c = 0; c < rows.count(); ++c)
    for (std::size_t k = rows.begin[c]; k < rows.begin[c + 1]; ++k) {
      const auto freedom = static_cast<std::size_t>(rows.freedom[k]);
      given.work += impulses[c] * rows.weight[k] * mean_velocity[freedom / 3][static_cast<int>(freedom % 3)];
    }
  return given;
}

}  // namespace

void PrescribedSum::add_to(Impulse& given, const RigidState& state, Real along, Real speed) const {
  const Vec3 impulse = along * axis;
  given.linear += aim.total * impulse;
  given.angular += (x - aim.total * state.center).cross(impulse);
  given.work += along * speed;
}

VertexHold hold_vertices(const Scene& scene, std::size_t handle, const Freedoms& freedoms, std::size_t block) {
  const GridHandle& of_scene = scene.handles[handle];
  const GridHandle::Hold& hold = *of_scene.hold();
  const MeshBody& body = *scene.mesh_of(of_scene);
  std::vector<HeldSum> sums;
  for (const Grip& grip : body.grips(of_scene.list)) sums.push_back(held_sum_of(grip));
  return {handle, std::make_unique<Handle>(freedoms, block, std::move(sums), hold.motion, body.points().get<Position>(),
                                           hold.until)};
}

void add_reactions(std::span<const VertexHold> holds, std::span<const Real> impulses, const Motion& motion,
                   std::span<const Vec3> mean_velocity, std::span<Impulse> by_handles) {
  std::size_t first = 0;
  for (const auto& [handle, conditions] : holds) {
    if (!conditions->holds_to(motion.time)) continue;
    by_handles[handle] +=
        given_by(*conditions, impulses.subspan(first, conditions->conditions()), motion, mean_velocity);
    first += conditions->conditions();
  }
}

}  // namespace weft
