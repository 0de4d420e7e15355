#pragma once
// Continuum: lumps, grains and liquids, each point carrying its own elastic deformation (standard MPM).

#include "weft/bodies/body.hpp"
#include "weft/materials/all.hpp"

#include <memory>
#include <variant>

namespace weft {

/// The block that a point is binned in, as a code (weft/grid/block_index.hpp): where it stood when points were last
/// binned.
struct Home : Field<PointId> {
  static constexpr Label label{"home_block", "1"};
};

/// Bit k: the handle of number k among those of the body acts on the point. Of bodies with handles alone.
struct HandledBy : Field<PointId> {
  static constexpr Label label{"handled_by", "1"};
};
inline constexpr std::size_t most_handles_of_points = 64;
inline bool is_handled(PointId by, std::size_t handle) { return (by >> handle & 1) != 0; }

/// What the point keeps of its Affine though nodes do not know of it. Of bodies that keep a part of their motion.
struct KeptAffine : Field<Mat3> {
  static constexpr Label label{"kept_velocity_gradient", "1/s"};
};

/// What loads give in a step. Of bodies with loads alone.
struct LoadForce : Field<Vec3> {
  static constexpr Label label{"load_force", "N", Keep::work};
};

// Shown quantities.
/// Current over rest volume.
struct VolumeRatio : Field<Real> {
  static constexpr Label label{"volume_ratio", "1", Keep::shown};
};
struct Pressure : Field<Real> {
  static constexpr Label label{"pressure", "Pa", Keep::shown};
};
struct VonMisesStress : Field<Real> {
  static constexpr Label label{"von_mises_stress", "Pa", Keep::shown};
};
struct PlasticMeasure : Field<Real> {
  static constexpr Label label{"plastic_measure", "1", Keep::shown};
};
struct CauchyStress : Field<Mat3> {
  static constexpr Label label{"cauchy_stress", "Pa", Keep::shown};
};
struct Density : Field<Real> {
  static constexpr Label label{"density", "kg/m^3", Keep::shown};
};

/// One law with its constants.
template <Law L>
struct Chosen {
  typename L::Constants constants;
};
template <class... L>
using AnyOf = std::variant<Chosen<L>...>;
using AnyLaw = AllLaws::In<AnyOf>;

/// A body of this law without points. rest_density: [kg/m^3]. follows: its points are those of another body, which
/// moves them.
std::unique_ptr<PointBody> make_continuum(std::string name, const AnyLaw& law, Real rest_density, bool follows = false);

}  // namespace weft
