#pragma once
// What a static analysis balances: elastic energies and loads of bodies, as Terms of their own freedoms, and holds.

#include "weft/bodies/handle.hpp"
#include "weft/motion/term.hpp"
#include "weft/scene/scene.hpp"

#include <memory>
#include <vector>

namespace weft {

/// Of a scene whose bodies have their pieces for good. It outlives this.
struct StaticSystem {
  /// Collective.
  explicit StaticSystem(const Scene& scene);
  StaticSystem(const StaticSystem&) = delete;
  StaticSystem& operator=(const StaticSystem&) = delete;

  std::vector<const Term*> all_terms() const;
  std::vector<const Constraints*> all_holds() const;

  Freedoms freedoms;                         ///< A block for each body.
  std::vector<std::unique_ptr<Term>> terms;  ///< Elastic energies first, one for each body.
  std::vector<std::unique_ptr<Handle>> holds;
  /// Of each handle of the scene either.
  struct Action {
    const Handle* hold = nullptr;
    std::size_t number = 0;  ///< In `holds`.
    const Term* load = nullptr;
  };
  std::vector<Action> of_handle;

 private:
  void add(const MeshBody& body, const GridHandle& handle);
};

}  // namespace weft
