#pragma once
// What a constitutive law is: pure functions of numbers, over its constants and what a point remembers.

#include "weft/base/types.hpp"
#include "weft/fields/field.hpp"
#include "weft/math/pack.hpp"
#include "weft/math/scalar.hpp"

#include <concepts>
#include <string_view>

namespace weft {

/// What a return map hands back: the elastic part of the trial deformation, and the memory afterwards.
template <class Memory, class T = Real>
struct Returned {
  Matrix3<T> F;
  Memory q;
};

/// What a step leaves: the elastic deformation as points keep it, and the memory.
template <class Elastic, class Memory>
struct Settled {
  Elastic elastic;
  Memory q;
};

/// The part of a law whose points keep F itself.
template <class Law>
struct KeepsDeformation {
  using Kept = ElasticF;
  template <class T>
  static Matrix3<T> kept(const Matrix3<T>& F) {
    return F;
  }
  template <class T>
  static const Matrix3<T>& deformation(const Matrix3<T>& F) {
    return F;
  }
  template <class Memory, class T>
  static T volume_ratio(const Memory&, const Matrix3<T>& F) {
    return determinant(F);
  }
  /// Assigned number by number: as a whole, compilers copy packs of matrices by slow string instructions.
  template <class Constants, class Memory, class T>
  static Settled<Matrix3<T>, Memory> settle(const Constants& k, const Memory& q, const Matrix3<T>& F, Real dt) {
    Settled<Matrix3<T>, Memory> settled;
    if constexpr (Law::yields) {
      const auto returned = Law::return_map(k, q, F, dt);
      settled.elastic = returned.F;
      settled.q = returned.q;
    } else {
      settled.elastic = F;
      settled.q = q;
    }
    return settled;
  }
};

/// Ties a member of a law's Memory to the field that stores it with the points.
template <FieldKey K, auto member>
struct Remember {
  using Key = K;
  static constexpr auto pointer = member;
};

/// All that a law remembers of a point; the fields join the body's table by themselves.
template <class... Items>
struct MemoryFields {
  static constexpr int count = sizeof...(Items);
  /// Calls visit(Remember<Key, member>{}) for each field.
  template <class Visitor>
  static void each(Visitor&& visit) {
    (visit(Items{}), ...);
  }
};

/// The memory of laws that remember nothing.
struct NoMemory {};
struct RemembersNothing {
  template <class>
  using MemoryOf = NoMemory;
  template <class>
  using RememberedOf = MemoryFields<>;
  using Memory = NoMemory;
  using Remembered = MemoryFields<>;
};

/// Equivalent plastic strain [1]: sqrt(2/3) of the accumulated norm of plastic log strain, so that in uniaxial tension
/// it is the plastic strain along the bar.
struct PlasticStrain : Field<Real> {
  static constexpr Label label{"plastic_strain", "1", Keep::state};
};

/// A law L is a struct of static functions. Throughout, F [1] is the elastic deformation gradient, k the constants, q
/// the memory; energies and stresses are per rest volume, and everything is finite for every finite F.
///   name                          deck key of the law
///   Constants                     plain numbers, made by Constants::from(...)
///   MemoryOf<T>, RememberedOf<T>  what points remember, a plain struct of T, and its fields (MemoryFields);
///                                 Memory and Remembered are those of one point, T = Real
///   energy(k, q, F)               [J/m^3]
///   stress(k, q, F)               first Piola-Kirchhoff stress d(energy)/dF [Pa]
///   kirchhoff(k, q, F)            stress(F) F^T, symmetric, the cheapest way [Pa]
///   stress_differential(k, q, F)  the linear map from dF to the change of stress as F changes by dF, q fixed [Pa]
///   projected_differential(k, q, F)  the same with the negative eigenvalues of the map set to zero
///   return_map(k, q, F, dt)       elastic part of the trial deformation F after flow during dt [s], and the memory;
///                                 unchanged if !yields
///   return_differential(k, q, F, dt)  the linear map from dF to the change of the returned F as the trial changes by
///                                 dF, q fixed
///   viscous_stress(k, J, L)       Kirchhoff stress [Pa] of the velocity gradient L [1/s] at volume ratio J; 0 if
///                                 !viscous
///   viscosity(k)                  shear viscosity [Pa s], for the time step; 0 if !viscous
///   stiffness(k, q, F)            [Pa]: no wave is faster in the current configuration than
///                                 sqrt(stiffness / rest density)
///   plastic_measure(k, q)         what frames show as `plastic_measure`; 0 where nothing ever flowed
///   Kept                          field in which points keep the elastic deformation from step to step: all that this
///                                 law needs of it, e.g. F without its rotation
///   kept(F)                       its value; for laws that do not keep F, of F that is not inverted
///   deformation(kept)             an F of which that is kept
///   volume_ratio(q, kept)         current over rest volume [1]: det of the whole deformation, elastic and plastic, but
///                                 for what bounds of the law cut off
///   settle(k, q, F, dt)           what return_map leaves of a trial F, as it is kept, and the memory
/// energy, kirchhoff and stiffness take what is kept in place of F as well.
/// Laws that yield also say
///   flow_changes_stress           false if the return map forgets only what no stress depends on
///   flow_potential(k, q, F, dt)   if there is one: the function of the trial F whose derivative is the stress that is
///                                 left after the flow of a step, tau(returned F) F^{-T} [J/m^3]; flow is associated.
///                                 Takes packs too
/// energy, stress and return_map are templates on the scalar of F, for automatic derivatives. kirchhoff, return_map,
/// settle, deformation, viscous_stress and stiffness, which every step asks of every point, energy and volume_ratio
/// take packs of points too, with packs of memory; they give NaN where F holds one, and a lane of a pack never depends
/// on its neighbours.
template <class L>
concept Law = requires(const typename L::Constants& k, const typename L::Memory& q, const Mat3& F, const Mat3& dF,
                       Real dt, const typename L::template MemoryOf<Pack>& packed_q, const Matrix3<Pack>& packed_F,
                       const Pack& packed_J, const typename L::Kept::Value& kept) {
  { L::name } -> std::convertible_to<std::string_view>;
  { L::yields } -> std::convertible_to<bool>;
  { L::viscous } -> std::convertible_to<bool>;
  { L::Remembered::count } -> std::convertible_to<int>;
  { L::energy(k, q, F) } -> std::same_as<Real>;
  { L::stress(k, q, F) } -> std::same_as<Mat3>;
  { L::kirchhoff(k, q, F) } -> std::same_as<Mat3>;
  { L::stress_differential(k, q, F)(dF) } -> std::same_as<Mat3>;
  { L::projected_differential(k, q, F)(dF) } -> std::same_as<Mat3>;
  { L::return_map(k, q, F, dt) } -> std::same_as<Returned<typename L::Memory>>;
  { L::return_differential(k, q, F, dt)(dF) } -> std::same_as<Mat3>;
  { L::viscous_stress(k, Real(1), dF) } -> std::same_as<Mat3>;
  { L::energy(k, packed_q, packed_F) } -> std::same_as<Pack>;
  { L::kirchhoff(k, packed_q, packed_F) } -> std::same_as<Matrix3<Pack>>;
  { L::return_map(k, packed_q, packed_F, dt) } -> std::same_as<Returned<typename L::template MemoryOf<Pack>, Pack>>;
  { L::viscous_stress(k, packed_J, packed_F) } -> std::same_as<Matrix3<Pack>>;
  { L::stiffness(k, packed_q, packed_F) } -> std::same_as<Pack>;
  { L::viscosity(k) } -> std::same_as<Real>;
  { L::stiffness(k, q, F) } -> std::same_as<Real>;
  { L::plastic_measure(k, q) } -> std::same_as<Real>;
  { L::kept(F) } -> std::same_as<typename L::Kept::Value>;
  { L::deformation(kept) } -> std::convertible_to<Mat3>;
  { L::volume_ratio(q, kept) } -> std::same_as<Real>;
  { L::volume_ratio(packed_q, L::kept(packed_F)) } -> std::same_as<Pack>;
  { L::energy(k, q, kept) } -> std::same_as<Real>;
  { L::kirchhoff(k, packed_q, L::kept(packed_F)) } -> std::same_as<Matrix3<Pack>>;
  { L::stiffness(k, packed_q, L::kept(packed_F)) } -> std::same_as<Pack>;
  { L::settle(k, q, F, dt) } -> std::same_as<Settled<typename L::Kept::Value, typename L::Memory>>;
};

/// Laws with a flow_potential.
template <class L>
concept AssociatedFlow =
    Law<L> && requires(const typename L::Constants& k, const typename L::Memory& q, const Mat3& F, Real dt) {
      { L::flow_potential(k, q, F, dt) } -> std::same_as<Real>;
    };

/// Laws of solids, which state stresses over the shape at rest and their differentials, of packs too. They never flow.
///   stiffness_at_rest(k, q, F)    [Pa]: bound of the second derivative of the energy by F, of v M^T and u N^T with
///   unit
///                                 vectors
template <class L>
concept SolidLaw = Law<L> && !L::yields && !L::viscous &&
                   requires(const typename L::Constants& k, const typename L::Memory& q, const Matrix3<Pack>& F) {
                     { L::stress(k, q, F) } -> std::same_as<Matrix3<Pack>>;
                     { L::stiffness_at_rest(k, q, F) } -> std::same_as<Pack>;
                     { L::stress_differential(k, q, F)(F) } -> std::same_as<Matrix3<Pack>>;
                     { L::projected_differential(k, q, F)(F) } -> std::same_as<Matrix3<Pack>>;
                   };

/// The part of a law that never flows.
struct NeverYields : RemembersNothing {
  static constexpr bool yields = false;
  static constexpr bool flow_changes_stress = false;
  template <class Constants, class T>
  static Returned<NoMemory, T> return_map(const Constants&, const NoMemory& q, const Matrix3<T>& F, Real) {
    return {F, q};
  }
  template <class Constants>
  static auto return_differential(const Constants&, const NoMemory&, const Mat3&, Real) {
    return [](const Mat3& dF) { return dF; };
  }
  template <class Constants>
  static Real plastic_measure(const Constants&, const NoMemory&) {
    return 0;
  }
};

/// The part of a law without viscosity.
struct Inviscid {
  static constexpr bool viscous = false;
  template <class Constants, class T>
  static Matrix3<T> viscous_stress(const Constants&, const T&, const Matrix3<T>&) {
    return Matrix3<T>::Zero();
  }
  template <class Constants>
  static Real viscosity(const Constants&) {
    return 0;
  }
};

}  // namespace weft
