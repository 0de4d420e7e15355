#pragma once
// What moves bodies with freedoms of their own: elastic energies, weight and loads as Terms, and holds.

#include "run/reactions.hpp"
#include "weft/bodies/handle.hpp"
#include "weft/motion/term.hpp"
#include "weft/scene/scene.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace weft {

/// Of some bodies of a scene, which have their pieces for good. The scene outlives this.
struct OwnSystem {
  /// bodies: their indices in Scene::bodies; gravity [m/s^2]. Collective.
  OwnSystem(const Scene& scene, const std::vector<std::size_t>& bodies, const Vec3& gravity);
  OwnSystem(const OwnSystem&) = delete;
  OwnSystem& operator=(const OwnSystem&) = delete;

  std::vector<const Term*> all_terms() const;
  std::vector<const Constraints*> all_holds() const;

  Freedoms freedoms;  ///< A block for each body, in their order; then one for each whose elements turn.
  std::vector<std::optional<std::size_t>> turns;  ///< Of each body the block of its turns, if it has any.
  std::vector<std::unique_ptr<Term>> terms;  ///< Elastic energies first, one for each body; then weight, then loads.
  std::size_t potentials = 0;                ///< So many of them are no loads of handles.
  std::vector<VertexHold> holds;
  /// Of each handle of the scene either, or none if its body is another.
  struct Action {
    const Handle* hold = nullptr;
    std::size_t number = 0;  ///< In `holds`.
    const Term* load = nullptr;
    Clamp* clamp = nullptr;
    std::size_t block = 0;
  };
  std::vector<Action> of_handle;

 private:
  void add(const Scene& scene, std::size_t number, std::size_t block);
};

}  // namespace weft
