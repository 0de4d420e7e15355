#include "run/own_system.hpp"

#include "weft/base/overloaded.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/coupling/mesh_term.hpp"
#include "weft/coupling/own_carrier.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace weft {
namespace {

Freedoms freedoms_of(const Scene& scene, const std::vector<std::size_t>& bodies) {
  std::vector<FreedomBlock> blocks;
  for (const std::size_t b : bodies)
    blocks.push_back({scene.bodies[b]->name(), 3, &scene.bodies[b]->roles().mesh->forest()});
  for (const std::size_t b : bodies)
    if (MeshBody* body = scene.bodies[b]->roles().mesh; body->turning() != nullptr)
      blocks.push_back({body->name(), 1, &body->forest_of_turns()});
  return Freedoms(std::move(blocks));
}

std::vector<std::optional<std::size_t>> turns_of(const Scene& scene, const std::vector<std::size_t>& bodies) {
  std::vector<std::optional<std::size_t>> turns;
  std::size_t next = bodies.size();
  for (const std::size_t b : bodies) {
    turns.emplace_back();
    if (scene.bodies[b]->roles().mesh->turning() != nullptr) turns.back() = next++;
  }
  return turns;
}

/// The energy -sum m_p g . u_p of the points of a block, whose masses are not owned.
class Weight final : public Term {
 public:
  Weight(std::size_t b, std::span<const Real> masses, const Vec3& gravity)
      : block_(b), masses_(masses), gravity_(gravity) {}

  Real energy(const Motion& motion) const override {
    const auto u = motion.u.points(block_);
    Real sum = 0;
    for (std::size_t r = 0; r < masses_.size(); ++r) sum -= masses_[r] * gravity_.dot(u[r]);
    return sum;
  }
  void add_force(const Motion&, Load& force) const override {
    const auto f = force.points(block_);
    for (std::size_t r = 0; r < masses_.size(); ++r) f[r] += masses_[r] * gravity_;
  }
  std::unique_ptr<Linear> linearise(const Motion&) const override { return std::make_unique<Linear>(); }
  void add_force_change(const Linear&, const FreedomValues&, Load&) const override {}
  void add_tangent(const Linear&, Tangent&) const override {}

 private:
  std::size_t block_;
  std::span<const Real> masses_;
  Vec3 gravity_;
};

}  // namespace

OwnSystem::OwnSystem(const Scene& scene, const std::vector<std::size_t>& bodies, const Vec3& gravity)
    : freedoms(freedoms_of(scene, bodies)), turns(turns_of(scene, bodies)), of_handle(scene.handles.size()) {
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    const MeshBody& body = *scene.bodies[bodies[k]]->roles().mesh;
    terms.push_back(std::make_unique<MeshTerm>(body, std::make_unique<OwnCarrier>(freedoms, k, turns[k]),
                                               body.parts_of_energy(), Vec3::Zero()));
  }
  for (std::size_t k = 0; k < bodies.size() && !gravity.isZero(0); ++k) {
    MeshBody& body = *scene.bodies[bodies[k]]->roles().mesh;
    if (body.turning() != nullptr) {  // such elements stand for the masses of their vertices, which are no ghosts
      terms.push_back(std::make_unique<Weight>(k, std::as_const(body).points().get<Mass>(), gravity));
      continue;
    }
    std::vector<Vec3> weight(freedoms.rows(k), Vec3::Zero());
    body.weigh_elements(gravity, weight);
    terms.push_back(std::make_unique<DeadLoad>(k, std::move(weight), Amplitude{{{0, 1}}}));
  }
  potentials = terms.size();
  for (std::size_t h = 0; h < scene.handles.size(); ++h) {
    const auto found = std::find(bodies.begin(), bodies.end(), scene.handles[h].body);
    if (found == bodies.end()) continue;
    add(scene, h, static_cast<std::size_t>(found - bodies.begin()));
  }
}

void OwnSystem::add(const Scene& scene, std::size_t number, std::size_t block) {
  const GridHandle& handle = scene.handles[number];
  const MeshBody& body = *scene.mesh_of(handle);
  Action& action = of_handle[number];
  const std::vector<Grip>& grips = body.grips(handle.list);
  const auto positions = body.points().get<Position>();
  action.block = block;
  const auto add_load = [&](std::unique_ptr<Term> load) {
    action.load = load.get();
    terms.push_back(std::move(load));
  };
  std::visit(Overloaded{[&](const GridHandle::Hold& hold) {
                          holds.push_back(hold_vertices(scene, number, freedoms, block));
                          action.hold = holds.back().conditions.get();
                          action.number = holds.size() - 1;
                          if (!hold.ends) return;
                          auto clamp = body.clamp(freedoms, block, *turns[block], body.grips(*hold.ends), hold.motion,
                                                  hold.until);
                          action.clamp = clamp.get();
                          terms.push_back(std::move(clamp));
                        },
                        [&](const GridHandle::Dead& load) {
                          std::vector<Vec3> forces(freedoms.rows(block), Vec3::Zero());
                          for (const Grip& grip : grips) forces[grip.rows.front()] += force_of(grip);
                          add_load(std::make_unique<DeadLoad>(block, std::move(forces), load.amplitude));
                        },
                        [](const GridHandle::OnPoints&) {},  // of a continuum, which the grid moves
                        [&](const GridHandle::Following& load) {
                          add_load(std::make_unique<FollowerLoad>(load.kind, load.magnitude, load.amplitude, block,
                                                                  grips, positions));
                        }},
             handle.action);
}

std::vector<const Term*> OwnSystem::all_terms() const {
  std::vector<const Term*> all;
  for (const auto& term : terms) all.push_back(term.get());
  return all;
}
std::vector<const Constraints*> OwnSystem::all_holds() const {
  std::vector<const Constraints*> all;
  for (const VertexHold& hold : holds) all.push_back(hold.conditions.get());
  return all;
}

}  // namespace weft
