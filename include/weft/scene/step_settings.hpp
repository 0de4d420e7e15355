#pragma once
// What a deck says of steps.

#include "weft/base/kinds.hpp"
#include "weft/base/types.hpp"
#include "weft/solve/implicit_settings.hpp"

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace weft {

class Body;
class MeshSource;
struct Deck;
struct Wall;

/// How a body moves by freedoms of its own.
struct StageSettings {
  bool is_implicit;  ///< By backward Euler; else by symplectic Euler.
  int substeps;      ///< In each step; 0: as many as are stable, one if it is implicit.
  Real tolerance;    ///< Of implicit ones: unbalanced force over the largest one.
};

/// Of the motion of nodes, what points take over that keep a part of their own.
struct BlendSettings {
  std::optional<Real> by_step;  ///< A share in each step [1]; else by a rate,
  Real rate;                    ///< [1/s].

  /// In a step of dt [1].
  Real share(Real dt) const { return by_step ? *by_step : -std::expm1(-rate * dt); }
};

/// How segments of strands that move by themselves meet.
struct StrandImpulseSettings {
  Real distance;  ///< [m].
  int iterations;
  Real friction;  ///< [1].
  ImpulseAveraging averaging;
  bool swept;
};

/// A body passes contact on to other layers several times in a step.
struct ContactPasses {
  Real tolerance;                      ///< Until forces change by less than this part,
  bool beside_surfaces_alone = false;  ///< in steps in which its surface meets another one, or itself; else in all.
};

struct StepSettings {
  bool is_implicit = false;                          ///< The grid step; else it is explicit.
  Real end = 0;                                      ///< Of the scene [s].
  Real cfl = 0;                                      ///< Largest travel of a point in one step, in grid spacings.
  Real max_dt = 0;                                   ///< [s].
  Real max_strain = 0;                               ///< Largest |dt grad v| of a point in one step.
  int max_retries = 0;                               ///< Halvings of dt before the run gives up.
  Real most_imbalance = 0;                           ///< Of the points of ranks, before the curve is cut anew.
  int balance_every = 1;                             ///< Steps between looks at the imbalance.
  Vec3 gravity = Vec3::Zero();                       ///< [m/s^2].
  ImplicitSettings implicit{};                       ///< Of implicit steps.
  std::vector<bool> flows_in_loop;                   ///< Of implicit steps, for each body: whether trial states flow.
  std::vector<std::optional<StageSettings>> stages;  ///< Of bodies with a mesh that move by freedoms of their own.
  std::vector<std::optional<BlendSettings>> blends;  ///< Of strands that meet the grid, and of continua with one.
  std::vector<std::optional<ContactPasses>>
      contact_passes;    ///< Of bodies that meet other layers several times in a step.
  Real slowest_hit = 0;  ///< Surfaces that approach more slowly do not rebound [m/s].
  std::vector<std::optional<StrandImpulseSettings>> impulses;  ///< Of strands that meet one another.
  std::vector<std::optional<Real>> stretch_limits;             ///< Of strands [1].

  /// Whether velocities of a body that moves by itself change before it moves.
  bool has_impulses(std::size_t body) const { return impulses[body] || stretch_limits[body]; }
  bool has_impulses() const {
    for (std::size_t b = 0; b < impulses.size(); ++b)
      if (has_impulses(b)) return true;
    return false;
  }
};

/// Throws Error(deck) if a body cannot take part in implicit steps in the way that the deck asks for.
StepSettings step_settings(const Deck& deck, std::span<const std::unique_ptr<Body>> bodies,
                           std::span<const Wall> walls);

}  // namespace weft
