#pragma once
// The advance of a grid layer: from mass and momentum of its nodes to their velocities.

#include "weft/base/types.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weft {

struct GridLayer;
struct StepContext;

struct AdvanceReport {
  std::string failure;          ///< In words; empty if velocities were found. The same on every rank.
  int newton = 0, krylov = 0;   ///< Iterations.
  std::vector<Real> residuals;  ///< By Newton step [sqrt(J)].
};

class GridAdvance {
 public:
  virtual ~GridAdvance() = default;
  /// Whether it takes the forces of bodies at the start of the step, which scatter adds to the momentum. Steps are then
  /// short, and no node may move far. If not, `advance` finds the forces by itself and visits the points many times.
  virtual bool takes_forces() const = 0;
  /// Before the tries of a step: finds what they have in common, for the first dt. Collective.
  virtual void prepare(StepContext& step, GridLayer& layer) = 0;
  /// The next try has a smaller dt. Collective.
  virtual void shorten(StepContext& step, GridLayer& layer) = 0;
  /// Other blocks are active than before.
  virtual void blocks_changed() {}
  /// Writes the velocity of every owned node of the layer at the end of the step, and adds what walls and handles gave
  /// to layer.given; ghosts wait for their owners. Collective.
  virtual AdvanceReport advance(StepContext& step, GridLayer& layer) = 0;
};

std::unique_ptr<GridAdvance> make_explicit_advance();
/// For a layer of the step; its sets are known.
std::unique_ptr<GridAdvance> make_implicit_advance(const StepContext& step, std::size_t layer);

}  // namespace weft
