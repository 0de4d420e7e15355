#include "run/static_system.hpp"

#include "weft/bodies/mesh_body.hpp"
#include "weft/coupling/mesh_term.hpp"
#include "weft/coupling/own_carrier.hpp"

#include <utility>
#include <variant>

namespace weft {
namespace {

Freedoms freedoms_of(const Scene& scene) {
  std::vector<FreedomBlock> blocks;
  for (const auto& body : scene.bodies) blocks.push_back({body->name(), 3, &body->roles().mesh->forest()});
  return Freedoms(std::move(blocks));
}

template <class T>
std::vector<const T*> pointers(const auto& owners) {
  std::vector<const T*> all;
  for (const auto& owner : owners) all.push_back(owner.get());
  return all;
}

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

}  // namespace

StaticSystem::StaticSystem(const Scene& scene) : freedoms(freedoms_of(scene)) {
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    const MeshBody& body = *scene.bodies[b]->roles().mesh;
    terms.push_back(std::make_unique<MeshTerm>(body, std::make_unique<OwnCarrier>(freedoms, b), body.parts_of_energy(),
                                               Vec3::Zero()));
  }
  const Vec3& gravity = scene.deck.domain.gravity;
  for (std::size_t b = 0; b < scene.bodies.size() && !gravity.isZero(0); ++b) {
    std::vector<Vec3> weight(freedoms.rows(b), Vec3::Zero());
    scene.bodies[b]->roles().mesh->weigh_elements(gravity, weight);
    terms.push_back(std::make_unique<DeadLoad>(b, std::move(weight), Amplitude{{{0, 1}}}));
  }
  for (const GridHandle& handle : scene.handles) add(*scene.bodies[handle.body]->roles().mesh, handle);
}

void StaticSystem::add(const MeshBody& body, const GridHandle& handle) {
  const std::vector<Grip>& grips = body.grips(handle.list);
  const auto positions = body.points().get<Position>();
  const auto add_load = [&](std::unique_ptr<Term> load) {
    of_handle.push_back({.load = load.get()});
    terms.push_back(std::move(load));
  };
  std::visit(Overloaded{[&](const GridHandle::Hold& hold) {
                          std::vector<HeldSum> sums;
                          for (const Grip& grip : grips) sums.push_back(held_sum_of(grip));
                          holds.push_back(
                              std::make_unique<Handle>(freedoms, handle.body, std::move(sums), hold.motion, positions));
                          of_handle.push_back({.hold = holds.back().get(), .number = holds.size() - 1});
                        },
                        [&](const GridHandle::Dead& load) {
                          std::vector<Vec3> forces(freedoms.rows(handle.body), Vec3::Zero());
                          for (const Grip& grip : grips) forces[grip.rows.front()] += force_of(grip);
                          add_load(std::make_unique<DeadLoad>(handle.body, std::move(forces), load.amplitude));
                        },
                        [&](const GridHandle::Following& load) {
                          add_load(std::make_unique<FollowerLoad>(load.kind, load.magnitude, load.amplitude,
                                                                  handle.body, grips, positions));
                        }},
             handle.action);
}

std::vector<const Term*> StaticSystem::all_terms() const { return pointers<Term>(terms); }
std::vector<const Constraints*> StaticSystem::all_holds() const { return pointers<Constraints>(holds); }

}  // namespace weft
