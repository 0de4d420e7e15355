#pragma once
// One battery of checks for every constitutive law. A law joins by its line in AllLaws and its Samples.

#include "weft/materials/law.hpp"
#include "weft/math/dual.hpp"
#include "weft/math/pack.hpp"
#include "weft/math/svd.hpp"

#include "support/differences.hpp"
#include "support/random_matrices.hpp"

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace weft::test {

/// What the battery needs to know of a law; specialised beside the tests.
///   constants()                several sets, soft to stiff
///   memory(k, source)          a random memory that a run could reach
///   rest_modulus(k)            longitudinal modulus at rest with a fresh memory [Pa]
///   yield_excess(k, q, F)      how far F is outside the yield surface, in units of strain; <= 0 inside
///   smooth(F)                     false near the states where the energy has no second derivative by design
///   rate_dependent             flow goes on as long as time does, so that the return map is not idempotent
template <class L>
struct Samples;

using Stretches = std::vector<Vec3>;

/// Three stretches well apart from each other, from crushed to four-fold.
inline Stretches separated_stretches(MatrixSource& source) {
  Stretches list;
  while (list.size() < 60) {
    Vec3 s;
    for (int i = 0; i < 3; ++i) s[i] = std::exp(source.uniform(std::log(0.02), std::log(4.0)));
    std::sort(s.data(), s.data() + 3, std::greater<>());
    if (s[0] - s[1] > 0.02 * s[0] && s[1] - s[2] > 0.02 * s[1]) list.push_back(s);
  }
  for (const Real strain : {0.3, 0.1, 0.03, 0.01}) {
    list.push_back({1 + strain, 1 - 0.4 * strain, 1 - strain});
    list.push_back({1 - 0.2 * strain, 1 - 0.5 * strain, 1 - strain});
  }
  return list;
}
/// Repeated and nearly repeated stretches.
inline Stretches repeated_stretches() {
  Stretches list;
  for (const Real s : {0.4, 0.9, 1.0, 1.1, 2.0})
    for (const Real gap : {0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-4}) {
      list.push_back({s * (1 + gap), s, s * (1 - gap)});
      list.push_back({1.5 * s, s * (1 + gap), s});
      list.push_back({s * (1 + gap), s, 0.6 * s});
    }
  return list;
}
/// Nearly flat and inverted stretches, away from the jump of the polar rotation at s1 + s2 = 0.
inline Stretches inverted_stretches() {
  return {{1.3, 0.9, 1e-2},  {1.3, 0.9, 1e-5},  {1.2, 1.1, 1e-9},   {2, 0.7, 0},         {1.1, 0.8, -1e-9},
          {1.1, 0.9, -1e-4}, {1.1, 0.9, -0.02}, {1.5, 1.2, -0.2},   {1.5, 0.8, -0.5},    {2, 1.5, -1},
          {0.3, 0.2, -0.1},  {1, 0.04, 0.01},   {0.04, 0.03, 0.02}, {0.045, 0.03, -0.01}};
}
/// States where derivatives need not exist, but numbers must.
inline Stretches degenerate_stretches() {
  return {{0, 0, 0},          {1, 0, 0},      {1, 1, 0},      {1, 1, -1},   {2, 1, -1}, {1, 1e-9, -1e-9},
          {1e-8, 1e-8, 1e-8}, {1e-160, 0, 0}, {100, 1, 0.01}, {30, 30, 30}, {50, 1, -1}};
}

inline std::vector<Mat3> matrices_of(const Stretches& list, MatrixSource& source) {
  std::vector<Mat3> matrices;
  for (const Vec3& s : list) matrices.push_back(source.with_singular_values(s));
  return matrices;
}
inline Stretches joined(Stretches a, const Stretches& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
/// Matrices of these stretches at which the energy of L has second derivatives.
template <class L>
std::vector<Mat3> smooth_matrices_of(const Stretches& list, MatrixSource& source) {
  std::vector<Mat3> matrices = matrices_of(list, source);
  std::erase_if(matrices, [](const Mat3& F) { return !Samples<L>::smooth(F); });
  return matrices;
}
template <class L>
std::vector<Mat3> smooth_matrices(MatrixSource& source) {
  return smooth_matrices_of<L>(joined(joined(separated_stretches(source), repeated_stretches()), inverted_stretches()),
                               source);
}

using Matrix9 = Eigen::Matrix<Real, 9, 9>;
/// The matrix of a linear map of 3x3 matrices.
template <class Map>
Matrix9 matrix_of(Map&& map) {
  Matrix9 M;
  for (int i = 0; i < 9; ++i) {
    Mat3 unit = Mat3::Zero();
    unit(i) = 1;
    const Mat3 image = map(unit);
    M.col(i) = image.reshaped();
  }
  return M;
}

/// Calls check(k, q, source) for each set of constants, with a random memory.
template <class L, class Check>
void for_all_constants(std::uint32_t seed, Check&& check) {
  MatrixSource source(seed);
  for (const auto& k : Samples<L>::constants()) check(k, Samples<L>::memory(k, source), source);
}

template <class L>
void check_rest_is_free_of_stress() {
  for (const auto& k : Samples<L>::constants()) {
    MatrixSource source(1);
    const typename L::Memory fresh{};
    const Real round_off = 1e-15 * Samples<L>::rest_modulus(k);
    EXPECT_LE(L::stress(k, fresh, Mat3(Mat3::Identity())).norm(), 10 * round_off);
    const Mat3 R = source.rotation();
    EXPECT_LE(L::stress(k, fresh, R).norm(), 100 * round_off);
    EXPECT_LE(L::kirchhoff(k, fresh, R).norm(), 100 * round_off);
    EXPECT_LE(std::abs(L::energy(k, fresh, R)), 100 * round_off);
    EXPECT_EQ(L::plastic_measure(k, fresh), 0);
  }
}

template <class L>
void check_stress_is_the_derivative_of_energy() {
  for_all_constants<L>(2, [](const auto& k, const auto& q, MatrixSource& source) {
    for (const Mat3& F : smooth_matrices<L>(source)) {
      const Mat3 dF = source.matrix(), P = L::stress(k, q, F);
      const Real expected = L::energy(k, q, along(F, dF)).slope;
      // The floor is the round-off of a stress that is a small difference of large ones.
      const Real floor = 1e-13 * L::stiffness(k, q, F) * dF.norm();
      EXPECT_NEAR(P.cwiseProduct(dF).sum(), expected, 1e-10 * P.norm() * dF.norm() + floor) << F;
    }
  });
}

template <class L>
void check_differential_is_the_derivative_of_stress() {
  for_all_constants<L>(3, [](const auto& k, const auto& q, MatrixSource& source) {
    // Automatic derivatives of the decomposition need stretches apart; differences serve those that are not.
    for (const Mat3& F : smooth_matrices_of<L>(joined(separated_stretches(source), inverted_stretches()), source)) {
      const Mat3 dF = source.matrix(), dP = L::stress_differential(k, q, F)(dF);
      const Mat3 expected = slopes(L::stress(k, q, along(F, dF)));
      const Real floor = 1e-12 * L::stiffness(k, q, F) * dF.norm();
      EXPECT_LE((dP - expected).norm(), 1e-9 * expected.norm() + floor)
          << F << "\nstretches " << polar_svd(F).s.transpose();
    }
    for (const Mat3& F : smooth_matrices_of<L>(repeated_stretches(), source)) {
      const Mat3 dF = source.matrix(), dP = L::stress_differential(k, q, F)(dF);
      // Stretches are 0.24 at least, and the laws are smooth over such lengths: (h/L)^8 < 1e-15, 1e-16/h = 1e-13.
      const Mat3 expected = derivative([&](Real t) { return L::stress(k, q, Mat3(F + t * dF)); }, 1e-3);
      EXPECT_LE((dP - expected).norm(), 1e-9 * expected.norm()) << F << "\nstretches " << polar_svd(F).s.transpose();
    }
  });
}

template <class L>
void check_differential_is_symmetric() {
  for_all_constants<L>(4, [](const auto& k, const auto& q, MatrixSource& source) {
    for (const Mat3& F : smooth_matrices<L>(source)) {
      const Mat3 G = source.matrix(), H = source.matrix();
      const Mat3 dG = L::stress_differential(k, q, F)(G), dH = L::stress_differential(k, q, F)(H);
      EXPECT_NEAR(H.cwiseProduct(dG).sum(), G.cwiseProduct(dH).sum(),
                  1e-11 * (dG.norm() * H.norm() + dH.norm() * G.norm()));
    }
  });
}

template <class L>
void check_frame_indifference_and_isotropy() {
  for_all_constants<L>(5, [](const auto& k, const auto& q, MatrixSource& source) {
    for (const Mat3& F : smooth_matrices<L>(source)) {
      const Mat3 Q = source.rotation(), P = L::stress(k, q, F);
      const Real energy = L::energy(k, q, F), energy_round_off = 1e-12 * (std::abs(energy) + L::stiffness(k, q, F));
      const Real round_off = 1e-11 * P.norm() + 1e-13 * L::stiffness(k, q, F);
      EXPECT_NEAR(L::energy(k, q, Mat3(Q * F)), energy, energy_round_off);
      EXPECT_NEAR(L::energy(k, q, Mat3(F * Q)), energy, energy_round_off);
      EXPECT_LE((L::stress(k, q, Mat3(Q * F)) - Q * P).norm(), round_off) << F;
      EXPECT_LE((L::stress(k, q, Mat3(F * Q)) - P * Q).norm(), round_off) << F;
    }
  });
}

template <class L>
void check_kirchhoff_is_stress_times_deformation_transposed() {
  for_all_constants<L>(6, [](const auto& k, const auto& q, MatrixSource& source) {
    for (const Mat3& F : smooth_matrices<L>(source)) {
      const Mat3 tau = L::kirchhoff(k, q, F), expected = L::stress(k, q, F) * F.transpose();
      const Real round_off = 1e-11 * expected.norm() + 1e-13 * L::stiffness(k, q, F);
      EXPECT_LE((tau - expected).norm(), round_off) << F;
      EXPECT_LE((tau - tau.transpose()).norm(), 1e-14 * tau.norm() + 1e-15 * L::stiffness(k, q, F));
    }
  });
}

template <class L>
void check_projected_differential_is_the_positive_part() {
  for_all_constants<L>(7, [](const auto& k, const auto& q, MatrixSource& source) {
    for (const Mat3& F : smooth_matrices<L>(source)) {
      const Matrix9 exact = matrix_of([&](const Mat3& dF) { return L::stress_differential(k, q, F)(dF); });
      const Matrix9 projected = matrix_of([&](const Mat3& dF) { return L::projected_differential(k, q, F)(dF); });
      const Eigen::SelfAdjointEigenSolver<Matrix9> eigen(0.5 * (exact + exact.transpose()));
      const Matrix9 expected =
          eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() * eigen.eigenvectors().transpose();
      const Real size = exact.norm() + L::stiffness(k, q, F);
      EXPECT_LE((projected - expected).norm(), 1e-9 * size) << F << "\nstretches " << polar_svd(F).s.transpose();
      const Eigen::SelfAdjointEigenSolver<Matrix9> found(0.5 * (projected + projected.transpose()));
      EXPECT_GE(found.eigenvalues().minCoeff(), -1e-12 * size);
    }
  });
}

/// All eigenvalues of the acoustic tensor lie beneath the stated stiffness, which is exact at rest.
template <class L>
void check_stiffness_bounds_every_wave() {
  for_all_constants<L>(8, [](const auto& k, const auto& q, MatrixSource& source) {
    EXPECT_NEAR(L::stiffness(k, typename L::Memory{}, Mat3(Mat3::Identity())), Samples<L>::rest_modulus(k),
                1e-9 * Samples<L>::rest_modulus(k));
    for (int i = 0; i < 300; ++i) {
      const Real range = i % 3 == 0 ? 0.02 : i % 3 == 1 ? 0.3 : 1.0;
      Vec3 s;
      for (int a = 0; a < 3; ++a) s[a] = std::exp(source.uniform(-range, range));
      const Mat3 F = source.with_singular_values(s);
      const Real stiffness = L::stiffness(k, q, F);
      EXPECT_GT(stiffness, 0);
      Real fastest = 0;
      for (int direction = 0; direction < 20; ++direction) {
        const Vec3 n = source.rotation().col(0), N = F.transpose() * n;
        Mat3 A;  // x.A x is the second derivative of the energy along x N^T
        for (int a = 0; a < 3; ++a) A.col(a) = L::stress_differential(k, q, F)(Vec3::Unit(a) * N.transpose()) * N;
        fastest = std::max(fastest, symmetric_eigen(0.5 * (A + A.transpose())).values[0]);
      }
      EXPECT_LE(fastest, stiffness * (1 + 1e-10)) << "stretches " << s.transpose();
      EXPECT_LE(fastest, L::stiffness(k, q, L::kept(F)) * (1 + 1e-10)) << "stretches " << s.transpose();
    }
  });
}

template <class L>
void check_every_number_is_finite() {
  for_all_constants<L>(9, [](const auto& k, const auto& q, MatrixSource& source) {
    const Stretches all = joined(joined(separated_stretches(source), repeated_stretches()),
                                 joined(inverted_stretches(), degenerate_stretches()));
    for (const Mat3& F : matrices_of(all, source)) {
      SCOPED_TRACE(::testing::PrintToString(F));
      const Mat3 dF = source.matrix();
      EXPECT_TRUE(std::isfinite(L::energy(k, q, F)));
      EXPECT_TRUE(L::stress(k, q, F).allFinite());
      EXPECT_TRUE(L::kirchhoff(k, q, F).allFinite());
      EXPECT_TRUE(L::stress_differential(k, q, F)(dF).allFinite());
      EXPECT_TRUE(L::projected_differential(k, q, F)(dF).allFinite());
      EXPECT_TRUE(std::isfinite(L::stiffness(k, q, F)));
      EXPECT_GE(L::stiffness(k, q, F), 0);
      EXPECT_TRUE(L::return_differential(k, q, F, 1e-3)(dF).allFinite());
      const auto returned = L::return_map(k, q, F, 1e-3);
      EXPECT_TRUE(returned.F.allFinite());
      EXPECT_TRUE(std::isfinite(L::plastic_measure(k, returned.q)));
      L::Remembered::each([&](auto item) { EXPECT_TRUE(std::isfinite(returned.q.*decltype(item)::pointer)); });
    }
  });
}

template <class L>
void check_return_map_lands_in_the_yield_surface_and_stays() {
  for_all_constants<L>(10, [](const auto& k, const auto& q, MatrixSource& source) {
    int flowed = 0;
    for (const Mat3& F : smooth_matrices<L>(source)) {
      const auto once = L::return_map(k, q, F, 1e-3);
      flowed += (once.F - F).norm() > 1e-6;
      if constexpr (Samples<L>::rate_dependent) continue;
      EXPECT_LE(Samples<L>::yield_excess(k, once.q, once.F), 1e-11) << F;
      const auto twice = L::return_map(k, once.q, once.F, 1e-3);
      EXPECT_LE((twice.F - once.F).norm(), 1e-10 * once.F.norm()) << F;
      L::Remembered::each([&](auto item) {
        constexpr auto member = decltype(item)::pointer;
        EXPECT_NEAR(twice.q.*member, once.q.*member, 1e-10 * (1 + std::abs(once.q.*member)));
      });
    }
    EXPECT_EQ(flowed > 0, L::yields);
  });
}

template <class L>
void check_return_map_leaves_admissible_states_alone() {
  for_all_constants<L>(11, [](const auto& k, const auto&, MatrixSource& source) {
    const typename L::Memory fresh{};
    // Some yield surfaces have no inside: sand without friction, goo without yield stress.
    if (Samples<L>::yield_excess(k, fresh, 0.9999 * Mat3::Identity()) >= 0) return;
    int admissible = 0;
    for (int i = 0; i < 2000; ++i) {
      const Mat3 F = source.rotation() * source.near_identity(std::pow(10.0, source.uniform(-7, -0.5)));
      if (Samples<L>::yield_excess(k, fresh, F) >= 0) continue;
      ++admissible;
      const auto returned = L::return_map(k, fresh, F, 1e-3);
      // Liquids forget their shape but not their volume, so stress is what must stay.
      const Mat3 tau = L::kirchhoff(k, fresh, F);
      EXPECT_LE((L::kirchhoff(k, fresh, returned.F) - tau).norm(),
                1e-12 * tau.norm() + 1e-14 * Samples<L>::rest_modulus(k));
      L::Remembered::each([&](auto item) {
        constexpr auto member = decltype(item)::pointer;
        EXPECT_EQ(returned.q.*member, fresh.*member);
      });
    }
    EXPECT_GT(admissible, 20);
  });
}

template <class L>
void check_return_map_never_creates_energy() {
  for_all_constants<L>(12, [](const auto& k, const auto& q, MatrixSource& source) {
    std::vector<Mat3> list = smooth_matrices<L>(source);
    for (int i = 0; i < 300; ++i) list.push_back(source.near_identity(std::pow(10.0, source.uniform(-4, -0.5))));
    for (const Mat3& F : list) {
      const Real before = L::energy(k, q, F);
      const Real after = L::energy(k, q, L::return_map(k, q, F, 1e-3).F);
      EXPECT_LE(after, before + 1e-12 * std::abs(before) + 1e-14 * Samples<L>::rest_modulus(k))
          << F << "\nstretches " << polar_svd(F).s.transpose();
    }
  });
}

template <class L>
void check_return_map_follows_the_frame() {
  for_all_constants<L>(13, [](const auto& k, const auto& q, MatrixSource& source) {
    for (const Mat3& F : smooth_matrices<L>(source)) {
      const Mat3 Q = source.rotation();
      const auto still = L::return_map(k, q, F, 1e-3), turned = L::return_map(k, q, Mat3(Q * F), 1e-3),
                 relabelled = L::return_map(k, q, Mat3(F * Q), 1e-3);
      const Mat3 tau = L::kirchhoff(k, still.q, still.F);
      const Real round_off = 1e-10 * tau.norm() + 1e-12 * L::stiffness(k, still.q, still.F);
      EXPECT_LE((L::kirchhoff(k, turned.q, turned.F) - Q * tau * Q.transpose()).norm(), round_off) << F;
      EXPECT_LE((L::kirchhoff(k, relabelled.q, relabelled.F) - tau).norm(), round_off) << F;
    }
  });
}

/// What points keep of what flowed is all that the law needs of it.
template <class L>
void check_what_is_kept_stands_for_the_returned_deformation() {
  for_all_constants<L>(18, [](const auto& k, const auto& q, MatrixSource& source) {
    std::vector<Mat3> list = smooth_matrices<L>(source);
    for (int i = 0; i < 300; ++i) list.push_back(source.near_identity(std::pow(10.0, source.uniform(-7, -0.3))));
    for (const Mat3& F : list) {
      const auto returned = L::return_map(k, q, F, 1e-3);
      const auto settled = L::settle(k, q, F, 1e-3);
      SCOPED_TRACE(::testing::PrintToString(F));
      L::Remembered::each([&](auto item) {
        constexpr auto member = decltype(item)::pointer;
        EXPECT_NEAR(settled.q.*member, returned.q.*member, 1e-12);
      });
      const Mat3 V = L::deformation(settled.elastic);
      EXPECT_LE((V * V.transpose() - returned.F * returned.F.transpose()).norm(), 1e-12 * returned.F.squaredNorm());
      const Real modulus = L::stiffness(k, returned.q, returned.F);
      const Mat3 tau = L::kirchhoff(k, returned.q, returned.F);
      EXPECT_LE((L::kirchhoff(k, settled.q, settled.elastic) - tau).norm(), 1e-12 * (tau.norm() + modulus));
      const Real energy = L::energy(k, returned.q, returned.F);
      EXPECT_NEAR(L::energy(k, settled.q, settled.elastic), energy, 1e-12 * (std::abs(energy) + modulus));
    }
  });
}

/// What is kept and remembered tells the volume, through expansion, shear and compression.
template <class L>
void check_volume_ratio_is_that_of_the_whole_motion() {
  for_all_constants<L>(19, [](const auto& k, const auto&, MatrixSource& source) {
    auto kept = L::kept(Mat3(Mat3::Identity()));
    typename L::Memory q{};
    Real J = 1;
    EXPECT_EQ(L::volume_ratio(q, kept), J);
    for (int step = 0; step < 120; ++step) {
      const Real dilation = step < 40 ? 0.005 : step < 80 ? -0.005 : 0;
      const Mat3 growth = (1 + dilation) * source.near_identity(0.02);
      const auto settled = L::settle(k, q, Mat3(growth * L::deformation(kept)), 1e-3);
      kept = settled.elastic;
      q = settled.q;
      J *= growth.determinant();
      EXPECT_NEAR(L::volume_ratio(q, kept), J, 1e-13 * (step + 1));
    }
  });
}

/// One text serves numbers with derivatives and without; both must arrive at the same state.
template <class L>
void check_return_map_does_not_depend_on_the_scalar() {
  for_all_constants<L>(15, [](const auto& k, const auto& q, MatrixSource& source) {
    std::vector<Mat3> list = smooth_matrices<L>(source);
    for (int i = 0; i < 300; ++i) list.push_back(source.near_identity(std::pow(10.0, source.uniform(-4, -0.3))));
    for (const Mat3& F : list) {
      const auto plain = L::return_map(k, q, F, 1e-3);
      const auto dual = L::return_map(k, q, along(F, Mat3::Zero()), 1e-3);
      EXPECT_LE((plain.F - values(dual.F)).norm(), 1e-12 * (1 + F.norm())) << F;
      L::Remembered::each([&](auto item) {
        constexpr auto member = decltype(item)::pointer;
        EXPECT_NEAR(plain.q.*member, dual.q.*member, 1e-12);
      });
    }
  });
}

/// Points of all kinds, their memories, and packs of them.
template <class L>
struct PointList {
  std::vector<Mat3> F;
  std::vector<typename L::Memory> q;

  PointList(const typename L::Constants& k, MatrixSource& source) {
    const Stretches all = joined(joined(separated_stretches(source), repeated_stretches()),
                                 joined(inverted_stretches(), degenerate_stretches()));
    F = matrices_of(all, source);
    for (int i = 0; i < 100; ++i) F.push_back(source.near_identity(std::pow(10.0, source.uniform(-4, -0.3))));
    for (std::size_t i = 0; i < F.size(); ++i) q.push_back(Samples<L>::memory(k, source));
  }

  /// Points first, first + step, ..., going round.
  struct Packed {
    Matrix3<Pack> F;
    typename L::template MemoryOf<Pack> q;
  };
  Packed packed(std::size_t first, std::size_t step) const {
    Packed all;
    for (int lane = 0; lane < Pack::size; ++lane) {
      const std::size_t p = (first + static_cast<std::size_t>(lane) * step) % F.size();
      for (int i = 0; i < 9; ++i) all.F(i).set(lane, F[p](i));
      copy_memory<L>(q[p], all.q, lane);
    }
    return all;
  }

 private:
  template <class Law>
  static void copy_memory(const typename Law::Memory& from, typename Law::template MemoryOf<Pack>& to, int lane) {
    using Single = typename Law::Remembered;
    using Many = typename Law::template RememberedOf<Pack>;
    copy_items(from, to, lane, Single{}, Many{});
  }
  template <class From, class To, class... Single, class... Many>
  static void copy_items(const From& from, To& to, [[maybe_unused]] int lane, MemoryFields<Single...>,
                         MemoryFields<Many...>) {
    ((to.*Many::pointer).set(lane, from.*Single::pointer), ...);
  }
};
inline Mat3 lane_of(const Matrix3<Pack>& M, int lane) {
  return M.unaryExpr([lane](const Pack& a) { return a[lane]; });
}
/// What a pack remembers in one lane, in the order of the fields.
template <class L>
std::vector<Real> lane_of(const typename L::template MemoryOf<Pack>& q, int lane) {
  std::vector<Real> list;
  L::template RememberedOf<Pack>::each([&](auto item) { list.push_back((q.*decltype(item)::pointer)[lane]); });
  return list;
}
template <class L>
std::vector<Real> numbers_of(const typename L::Memory& q) {
  std::vector<Real> list;
  L::Remembered::each([&](auto item) { list.push_back(q.*decltype(item)::pointer); });
  return list;
}

/// Functions of packs have other round-off than those of the library, nothing more.
template <class L>
void check_packs_agree_with_single_points() {
  for_all_constants<L>(16, [](const auto& k, const auto&, MatrixSource& source) {
    const PointList<L> points(k, source);
    for (std::size_t i = 0; i < points.F.size(); ++i) {
      const auto pack = points.packed(i, 11);
      const auto returned = L::return_map(k, pack.q, pack.F, 1e-3);
      const Matrix3<Pack> tau = L::kirchhoff(k, pack.q, pack.F);
      const auto settled = L::settle(k, pack.q, pack.F, 1e-3);
      const Matrix3<Pack> settled_F = L::deformation(settled.elastic);
      const Pack settled_stiffness = L::stiffness(k, settled.q, settled.elastic);
      const Pack stiffness = L::stiffness(k, pack.q, pack.F), energy = L::energy(k, pack.q, pack.F);
      for (int lane = 0; lane < Pack::size; ++lane) {
        const std::size_t p = (i + 11 * static_cast<std::size_t>(lane)) % points.F.size();
        const Mat3& F = points.F[p];
        const Svd<Real> svd = polar_svd(F);
        if (svd.s[1] + svd.s[2] <= 1e-6 * svd.s[0]) continue;  // any of many polar rotations is right
        SCOPED_TRACE(::testing::PrintToString(F));
        // The determinant of a stretched F has the round-off of its largest products; beneath 0.05 laws are smooth in
        // it.
        const Real lost_in_J = cofactor(F).norm() * F.norm() / std::max(std::abs(F.determinant()), 0.05);
        const Real round_off = 1e-12 + 1e-15 * lost_in_J;
        const auto alone = L::return_map(k, points.q[p], F, 1e-3);
        EXPECT_LE((lane_of(returned.F, lane) - alone.F).norm(), round_off * (1 + F.norm()));
        const std::vector<Real> q = lane_of<L>(returned.q, lane), q_alone = numbers_of<L>(alone.q);
        for (std::size_t n = 0; n < q.size(); ++n)
          EXPECT_NEAR(q[n], q_alone[n], round_off * (1 + std::abs(q_alone[n])));
        const auto settled_alone = L::settle(k, points.q[p], F, 1e-3);
        EXPECT_LE((lane_of(settled_F, lane) - L::deformation(settled_alone.elastic)).norm(),
                  round_off * (1 + F.norm()));
        const Real settled_modulus = L::stiffness(k, settled_alone.q, settled_alone.elastic);
        EXPECT_NEAR(settled_stiffness[lane], settled_modulus, round_off * settled_modulus);
        const Real modulus = L::stiffness(k, points.q[p], F);
        EXPECT_NEAR(stiffness[lane], modulus, round_off * modulus);
        const Real energy_alone = L::energy(k, points.q[p], F);
        EXPECT_NEAR(energy[lane], energy_alone, round_off * (std::abs(energy_alone) + modulus));
        const Mat3 tau_alone = L::kirchhoff(k, points.q[p], F);
        EXPECT_LE((lane_of(tau, lane) - tau_alone).norm(), round_off * (tau_alone.norm() + modulus));
      }
    }
  });
}

/// Every bit of a lane is the same whatever lies in the others; what is not a number stays in its lane, and shows.
template <class L>
void check_neighbours_in_a_pack_change_no_bit() {
  for_all_constants<L>(17, [](const auto& k, const auto&, MatrixSource& source) {
    PointList<L> points(k, source);
    const std::size_t finite = points.F.size();
    for (int i = 0; i < 9; ++i) {
      points.F.push_back(points.F[static_cast<std::size_t>(i)]);
      points.F.back()(i) = std::numeric_limits<Real>::quiet_NaN();
      points.q.push_back(points.q[static_cast<std::size_t>(i)]);
    }
    points.F.push_back(Mat3::Constant(std::numeric_limits<Real>::infinity()));
    points.q.push_back({});
    const auto bits = [](const Mat3& M) {
      std::array<std::uint64_t, 9> all;
      for (int i = 0; i < 9; ++i) all[static_cast<std::size_t>(i)] = std::bit_cast<std::uint64_t>(M(i));
      return all;
    };
    for (std::size_t i = 0; i < points.F.size(); ++i) {
      const auto alone = points.packed(i, 0);
      const auto alone_returned = L::return_map(k, alone.q, alone.F, 1e-3);
      const auto alone_settled = L::settle(k, alone.q, alone.F, 1e-3);
      const Mat3 alone_kept = lane_of(L::deformation(alone_settled.elastic), 0);
      const Mat3 alone_tau = lane_of(L::kirchhoff(k, alone.q, alone.F), 0);
      for (const std::size_t step : {1, 11, 50}) {
        const auto among = points.packed(i, step);
        const auto returned = L::return_map(k, among.q, among.F, 1e-3);
        const Mat3 tau = lane_of(L::kirchhoff(k, among.q, among.F), 0);
        const auto settled = L::settle(k, among.q, among.F, 1e-3);
        const Mat3 kept = lane_of(L::deformation(settled.elastic), 0);
        if (i >= finite) {
          EXPECT_FALSE(lane_of(returned.F, 0).allFinite()) << points.F[i];
          EXPECT_FALSE(tau.allFinite()) << points.F[i];
          EXPECT_FALSE(kept.allFinite()) << points.F[i];
          continue;
        }
        EXPECT_EQ(bits(lane_of(returned.F, 0)), bits(lane_of(alone_returned.F, 0))) << points.F[i];
        EXPECT_EQ(lane_of<L>(returned.q, 0), lane_of<L>(alone_returned.q, 0)) << points.F[i];
        EXPECT_EQ(bits(tau), bits(alone_tau)) << points.F[i];
        EXPECT_EQ(bits(kept), bits(alone_kept)) << points.F[i];
        EXPECT_EQ(lane_of<L>(settled.q, 0), lane_of<L>(alone_settled.q, 0)) << points.F[i];
        EXPECT_EQ(L::stiffness(k, among.q, among.F)[0], L::stiffness(k, alone.q, alone.F)[0]) << points.F[i];
        EXPECT_EQ(L::energy(k, among.q, among.F)[0], L::energy(k, alone.q, alone.F)[0]) << points.F[i];
      }
    }
  });
}

template <class L>
void check_return_differential_is_the_derivative_of_the_return_map() {
  for_all_constants<L>(14, [](const auto& k, const auto& q, MatrixSource& source) {
    for (const Real dt : {1e-4, 1e-2}) {
      for (const Mat3& F : matrices_of(joined(separated_stretches(source), inverted_stretches()), source)) {
        const Mat3 dF = source.matrix(), change = L::return_differential(k, q, F, dt)(dF);
        const Mat3 expected = slopes(L::return_map(k, q, along(F, dF), dt).F);
        EXPECT_LE((change - expected).norm(), 1e-9 * expected.norm() + 1e-12 * dF.norm())
            << F << "\nstretches " << polar_svd(F).s.transpose() << "\n"
            << change << "\n"
            << expected;
      }
      for (const Mat3& F : matrices_of(repeated_stretches(), source)) {
        const Mat3 dF = source.matrix(), change = L::return_differential(k, q, F, dt)(dF);
        const auto map = [&](Real t) { return L::return_map(k, q, Mat3(F + t * dF), dt).F; };
        // The map has kinks where flow sets in; only where two step lengths agree is the difference a derivative.
        const Mat3 expected = derivative(map, 1e-4), coarser = derivative(map, 1.7e-4);
        if ((expected - coarser).norm() > 1e-9) continue;
        EXPECT_LE((change - expected).norm(), 1e-8) << F << "\nstretches " << polar_svd(F).s.transpose();
      }
    }
  });
}

}  // namespace weft::test
