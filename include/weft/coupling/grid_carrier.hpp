#pragma once
// The grid as carrier of a mesh: vertices are displaced as the grid is around them, and directors turn with it.

#include "weft/bodies/mesh_body.hpp"
#include "weft/coupling/mesh_carrier.hpp"
#include "weft/transfer/pipe.hpp"

#include <memory>

namespace weft {

/// Block 0 of the motion is the grid; displacements count from the start of the step, where the points are.
class GridCarrier final : public MeshCarrier {
 public:
  /// vertices, samples: bins of the body's points and of its quadrature points. Nothing is owned.
  GridCarrier(const MeshBody& body, const Bins& vertices, const Bins& samples, const TransferSettings& transfer);
  ~GridCarrier() override;

  void gather(const FreedomValues& displacement, MeshMotion& to) const override;
  void scatter(const MeshForces& from, Load& to) const override;
  void add_tangent(const MeshStiffness& stiffness, Tangent& tangent) const override;
  void add_diagonal_blocks(const MeshStiffness& stiffness, std::size_t block, std::span<Real> matrices) const override;

 private:
  struct Assembly;
  std::span<const Vec3> positions() const { return body_.points().get<Position>(); }
  std::span<const Vec3> sample_positions() const { return body_.samples().get<Position>(); }

  const MeshBody& body_;
  const Bins &vertices_, &samples_;
  const TransferSettings& transfer_;
  const std::unique_ptr<Assembly> assembly_;
};

}  // namespace weft
