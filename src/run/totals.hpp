#pragma once
// Totals of a scene: the conserved quantities and energies of all points.

#include "weft/parallel/comm.hpp"
#include "weft/scene/scene.hpp"

namespace weft {

struct Totals {
  Real particles = 0;
  Real mass = 0;                         ///< [kg].
  Vec3 momentum = Vec3::Zero();          ///< [kg m/s].
  Vec3 angular_momentum = Vec3::Zero();  ///< About the origin, with the points' own rotation m D_p C_p [kg m^2/s].
  Real kinetic_energy = 0;               ///< sum m v^2 / 2 [J].
  Real affine_energy = 0;                ///< Kinetic, of the motion around points: sum m tr(C D C^T) / 2 [J].
  Real elastic_energy = 0;               ///< [J].
  Real gravitational_energy = 0;         ///< -sum m g . x [J].

  Real motion() const { return kinetic_energy + affine_energy; }
  Real potential() const { return elastic_energy + gravitational_energy; }
};

/// The same on every rank; its bits depend on how points lie on ranks, but not on threads. Collective.
Totals totals_of(const Comm& comm, const Scene& scene);

/// Around all points; empty without any. Collective.
Box box_of_points(const Comm& comm, const Scene& scene);

}  // namespace weft
