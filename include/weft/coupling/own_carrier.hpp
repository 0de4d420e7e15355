#pragma once
// The vertices and turns of a body themselves as its carrier.

#include "weft/coupling/mesh_carrier.hpp"

#include <cstddef>
#include <optional>

namespace weft {

/// The rows of block b of the motion are the vertices, those of another one the turns of elements, if it has any;
/// nothing reaches quadrature points.
class OwnCarrier final : public MeshCarrier {
 public:
  /// The freedoms are not owned.
  OwnCarrier(const Freedoms& freedoms, std::size_t b, std::optional<std::size_t> turns = {})
      : freedoms_(freedoms), block_(b), turns_(turns) {}

  void gather(const FreedomValues& displacement, MeshMotion& to) const override;
  std::optional<TrialForces> place_of_forces(Load& force) const override;
  void scatter(const MeshForces& from, Load& to) const override;
  void add_tangent(const MeshStiffness& stiffness, Tangent& tangent) const override;
  void add_diagonal_blocks(const MeshStiffness& stiffness, std::size_t block, std::span<Real> matrices) const override;

 private:
  const Freedoms& freedoms_;
  std::size_t block_;
  std::optional<std::size_t> turns_;
};

}  // namespace weft
