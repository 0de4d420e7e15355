#pragma once
// The positions that handles hold along all axes: walls do not oppose what is led.

#include "weft/scene/scene.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace weft {

/// Whether handles hold the position of a row along all axes; empty: they hold none.
using IsHeld = std::function<bool(std::uint32_t)>;

/// Those of a body. Of a mesh they are found anew only when it is cut anew, or other handles hold. The scene is not
/// owned.
class HeldPositions {
 public:
  HeldPositions(const Scene& scene, std::size_t body) : scene_(scene), body_(body) {}

  /// Of rows of a set of points of the body, in a step that begins at `time`; of quadrature points the position of any
  /// vertex that carries them. Reads the body and this when it is asked. Collective.
  IsHeld of(const PointSet& set, Real time);

 private:
  std::vector<std::size_t> holding(Real time) const;
  IsHeld of_continuum(std::span<const std::size_t> holding) const;
  void look_at(const MeshBody& mesh);

  const Scene& scene_;
  std::size_t body_;
  std::vector<std::size_t> holding_;      ///< Handles of the scene, of those below,
  std::uint64_t cut_ = 0;                 ///< and the cut of the mesh.
  std::vector<bool> vertices_, samples_;  ///< By row.
};

}  // namespace weft
