#include "run/reactions.hpp"

#include <numeric>
#include <utility>
#include <vector>

#include "weft/bodies/mesh_body.hpp"

namespace weft {
namespace {

Impulse given_by(const Handle& hold, std::span<const Real> impulses, const Motion& motion,
                 std::span<const Real> mean_speeds) {
  const Reaction reaction = hold.reaction(impulses, motion, hold.center(motion.time));
  return {reaction.force, reaction.torque,
          std::inner_product(impulses.begin(), impulses.end(), mean_speeds.begin(), Real(0))};
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
                   std::span<const Real> mean_speeds, std::span<Impulse> by_handles) {
  std::size_t first = 0;
  for (const auto& [handle, conditions] : holds) {
    if (!conditions->holds_to(motion.time)) continue;
    const std::size_t count = conditions->conditions();
    by_handles[handle] +=
        given_by(*conditions, impulses.subspan(first, count), motion, mean_speeds.subspan(first, count));
    first += count;
  }
}

}  // namespace weft
