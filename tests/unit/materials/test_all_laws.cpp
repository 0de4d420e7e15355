// The battery of checks, over the list of all laws.

#include "weft/materials/all.hpp"

#include "support/law_checks.hpp"

#include <numbers>

namespace weft::test {

constexpr Real degree = std::numbers::pi / 180;

inline std::vector<Lame> stiffnesses() {
  return {lame_from(1e5, 0.3), lame_from(2e11, 0.45), lame_from(10, 0), lame_from(1e4, -0.2)};
}
inline Real modulus(const Lame& lame) { return lame.lambda + 2 * lame.mu; }

/// No kinks.
struct SmoothEverywhere {
  static bool smooth(const Mat3&) { return true; }
};

/// A law of which nothing but the stiffness is to be chosen.
template <class L>
struct ElasticSamples : SmoothEverywhere {
  static constexpr bool rate_dependent = false;
  static auto constants() {
    std::vector<typename L::Constants> list;
    for (const Lame& lame : stiffnesses()) list.push_back(L::Constants::from(lame));
    return list;
  }
  static NoMemory memory(const typename L::Constants&, MatrixSource&) { return {}; }
  static Real rest_modulus(const typename L::Constants& k) { return modulus(k.lame); }
  static Real yield_excess(const typename L::Constants&, const NoMemory&, const Mat3&) { return -1; }
};
template <>
struct Samples<FixedCorotated> : ElasticSamples<FixedCorotated> {
  // With negative lambda the stated stiffness leaves lambda out.
  static Real rest_modulus(const FixedCorotated::Constants& k) { return 2 * k.lame.mu + std::max(0.0, k.lame.lambda); }
};
template <>
struct Samples<NeoHookean> : ElasticSamples<NeoHookean> {};
template <>
struct Samples<StvkHencky> : ElasticSamples<StvkHencky> {};

template <>
struct Samples<DruckerPrager> : SmoothEverywhere {
  using L = DruckerPrager;
  static constexpr bool rate_dependent = false;
  static std::vector<L::Constants> constants() {
    return {L::Constants::from(lame_from(3.5e5, 0.3), 30 * degree, 0, {}, true),
            L::Constants::from(lame_from(1e7, 0.2), 45 * degree, 0, {}, false),
            L::Constants::from(lame_from(1e5, 0.4), 20 * degree, 2e3, {}, true),
            L::Constants::from(lame_from(1e5, 0.4), 20 * degree, 2e3, {}, false),
            L::Constants::from(lame_from(1e5, 0.3), 0, 0, {}, true)};
  }
  static L::Memory memory(const L::Constants& k, MatrixSource& source) {
    // Only sand at its tip owes volume, which with cohesion is a state of tension: see the test of energy.
    return {source.uniform(0, 1), !k.volume_correction || k.tip == 0 ? source.uniform(0, 0.1) : 0};
  }
  static Real rest_modulus(const L::Constants& k) { return modulus(k.lame); }
  static Real yield_excess(const L::Constants& k, const L::Memory& q, const Mat3& F) {
    return L::yield_excess(k, q, F) / modulus(k.lame);
  }
};

template <>
struct Samples<VonMises> : SmoothEverywhere {
  using L = VonMises;
  static constexpr bool rate_dependent = false;
  static std::vector<L::Constants> constants() {
    return {L::Constants::from(lame_from(2e11, 0.3), 250e6, 2e9), L::Constants::from(lame_from(1e5, 0.4), 1e3, 0),
            L::Constants::from(lame_from(1e5, 0), 2e4, 5e4)};
  }
  static L::Memory memory(const L::Constants&, MatrixSource& source) { return {source.uniform(0, 0.1)}; }
  static Real rest_modulus(const L::Constants& k) { return modulus(k.lame); }
  static Real yield_excess(const L::Constants& k, const L::Memory& q, const Mat3& F) {
    return L::yield_excess(k, q, F) / modulus(k.lame);
  }
};

template <>
struct Samples<Snow> : SmoothEverywhere {
  using L = Snow;
  static constexpr bool rate_dependent = false;
  static std::vector<L::Constants> constants() {
    // No limit on a stretch of the lists: the return map has no derivative there.
    return {L::Constants::from(lame_from(1.4e5, 0.2), 2.5e-2, 7.5e-3, 10),
            L::Constants::from(lame_from(5e3, 0.3), 4.7e-2, 2.1e-2, 5),
            L::Constants::from(lame_from(1e5, 0), 0.29, 0.21, 0)};
  }
  static L::Memory memory(const L::Constants&, MatrixSource& source) { return {source.uniform(0.7, 1.5)}; }
  static Real rest_modulus(const L::Constants& k) { return modulus(k.lame); }
  static Real yield_excess(const L::Constants& k, const L::Memory&, const Mat3& F) {
    const Vec3 s = polar_svd(F).s;
    return std::max(s[0] - k.most_stretch, k.least_stretch - s[2]);
  }
};

template <>
struct Samples<Tait> {
  using L = Tait;
  /// Pressure sets in at J = 1, and its law is continued beneath least_volume.
  static bool smooth(const Mat3& F) {
    const Real J = F.determinant();
    return std::abs(J - 1) > 0.02 && std::abs(J - L::least_volume) > 0.02;
  }
  static constexpr bool rate_dependent = false;
  static std::vector<L::Constants> constants() {
    return {L::Constants::from(2e5, 7, 1e-3), L::Constants::from(1e3, 4, 0), L::Constants::from(2.2e9, 1.5, 1)};
  }
  static NoMemory memory(const L::Constants&, MatrixSource&) { return {}; }
  static Real rest_modulus(const L::Constants& k) { return k.bulk_modulus; }
  static Real yield_excess(const L::Constants&, const NoMemory&, const Mat3& F) {
    return L::least_volume - F.determinant();
  }
};

template <>
struct Samples<HerschelBulkley> : SmoothEverywhere {
  using L = HerschelBulkley;
  static constexpr bool rate_dependent = true;
  static std::vector<L::Constants> constants() {
    return {L::Constants::from(290, 1.09e5, 31.9, 27.2, 0.22), L::Constants::from(1e4, 1e5, 100, 50, 1),
            L::Constants::from(1e4, 1e4, 0, 1e3, 1),           L::Constants::from(1e3, 1e5, 50, 10, 2.8),
            L::Constants::from(1e3, 1e5, 50, 0, 0.5),          L::Constants::from(1e3, 1e5, 50, 3, 0.05)};
  }
  static L::Memory memory(const L::Constants&, MatrixSource& source) { return {source.uniform(0, 1)}; }
  static Real rest_modulus(const L::Constants& k) { return k.bulk_modulus + 4.0 / 3 * k.shear_modulus; }
  static Real yield_excess(const L::Constants& k, const L::Memory& q, const Mat3& F) {
    return L::yield_excess(k, q, F) / k.shear_modulus;
  }
};

template <class L>
class LawTest : public ::testing::Test {};
TYPED_TEST_SUITE(LawTest, AllLaws::In<::testing::Types>);

TYPED_TEST(LawTest, RestIsFreeOfStress) { check_rest_is_free_of_stress<TypeParam>(); }
TYPED_TEST(LawTest, StressIsTheDerivativeOfEnergy) { check_stress_is_the_derivative_of_energy<TypeParam>(); }
TYPED_TEST(LawTest, DifferentialIsTheDerivativeOfStress) {
  check_differential_is_the_derivative_of_stress<TypeParam>();
}
TYPED_TEST(LawTest, DifferentialIsSymmetric) { check_differential_is_symmetric<TypeParam>(); }
TYPED_TEST(LawTest, TurningBeforeOrAfterChangesNothing) { check_frame_indifference_and_isotropy<TypeParam>(); }
TYPED_TEST(LawTest, KirchhoffIsStressTimesDeformationTransposed) {
  check_kirchhoff_is_stress_times_deformation_transposed<TypeParam>();
}
TYPED_TEST(LawTest, ProjectedDifferentialIsThePositivePart) {
  check_projected_differential_is_the_positive_part<TypeParam>();
}
TYPED_TEST(LawTest, StiffnessBoundsEveryWave) { check_stiffness_bounds_every_wave<TypeParam>(); }
TYPED_TEST(LawTest, EveryNumberIsFinite) { check_every_number_is_finite<TypeParam>(); }
TYPED_TEST(LawTest, ReturnMapLandsInTheYieldSurfaceAndStays) {
  check_return_map_lands_in_the_yield_surface_and_stays<TypeParam>();
}
TYPED_TEST(LawTest, ReturnMapLeavesAdmissibleStatesAlone) {
  check_return_map_leaves_admissible_states_alone<TypeParam>();
}
TYPED_TEST(LawTest, ReturnMapNeverCreatesEnergy) { check_return_map_never_creates_energy<TypeParam>(); }
TYPED_TEST(LawTest, WhatIsKeptStandsForTheReturnedDeformation) {
  check_what_is_kept_stands_for_the_returned_deformation<TypeParam>();
}
TYPED_TEST(LawTest, VolumeRatioIsThatOfTheWholeMotion) { check_volume_ratio_is_that_of_the_whole_motion<TypeParam>(); }
TYPED_TEST(LawTest, ReturnMapDoesNotDependOnTheScalar) { check_return_map_does_not_depend_on_the_scalar<TypeParam>(); }
TYPED_TEST(LawTest, ReturnMapFollowsTheFrame) { check_return_map_follows_the_frame<TypeParam>(); }
TYPED_TEST(LawTest, ReturnDifferentialIsTheDerivativeOfTheReturnMap) {
  check_return_differential_is_the_derivative_of_the_return_map<TypeParam>();
}
TYPED_TEST(LawTest, PacksAgreeWithSinglePoints) { check_packs_agree_with_single_points<TypeParam>(); }
TYPED_TEST(LawTest, NeighboursInAPackChangeNoBit) { check_neighbours_in_a_pack_change_no_bit<TypeParam>(); }

}  // namespace weft::test
