#pragma once
// One battery of checks for the laws of contact with directors: of surfaces and of fibers.

#include "weft/math/dual.hpp"
#include "weft/math/pack.hpp"
#include "weft/math/pack_rows.hpp"

#include "support/differences.hpp"
#include "support/random_matrices.hpp"

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <vector>

namespace weft::test {

/// A = Q R with det Q = 1 and r11, r22 > 0 by Gram and Schmidt, the third axis by the cross product of the others, so
/// that r33 has the sign of det A. The form in which Jiang et al. 2017 state their energies.
template <class T>
struct OrientedQr {
  Matrix3<T> Q, R;
};
template <class T>
OrientedQr<T> oriented_qr(const Matrix3<T>& A) {
  const Vector3<T> d1 = A.col(0), d2 = A.col(1);
  OrientedQr<T> qr;
  const Vector3<T> q1 = d1 / T(d1.norm());
  const Vector3<T> rest = d2 - q1 * T(q1.dot(d2));
  const Vector3<T> q2 = rest / T(rest.norm());
  qr.Q << q1, q2, q1.cross(q2);
  qr.R = qr.Q.transpose() * A;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < i; ++j) qr.R(i, j) = T(0);
  return qr;
}

/// Of F = rotation(a) diag(s) rotation(b) with s0 >= |s1|: the parts of F that turn and that mirror have the lengths
/// (s0 + s1) / sqrt(2) and (s0 - s1) / sqrt(2).
inline Vector2<Real> signed_singular_values(const Matrix2<Real>& F) {
  const Real turns = std::hypot(F(0, 0) + F(1, 1), F(1, 0) - F(0, 1));
  const Real mirrors = std::hypot(F(0, 0) - F(1, 1), F(1, 0) + F(0, 1));
  return {0.5 * (turns + mirrors), 0.5 * (turns - mirrors)};
}

/// States of a law of directors L: random, near rest, pressed, sheared and inverted across the manifold; never with
/// collapsed tangents.
inline std::vector<Mat3> director_states(MatrixSource& source) {
  std::vector<Mat3> list;
  while (list.size() < 300) {
    Mat3 R;
    const Real size = std::pow(10.0, source.uniform(-3, 0));
    R << 1 + 0.7 * size * source.uniform(-1, 1), size * source.uniform(-1, 1), size * source.uniform(-1, 1),  //
        0, 1 + 0.7 * size * source.uniform(-1, 1), size * source.uniform(-1, 1),                              //
        0, 0, 1 + 2 * size * source.uniform(-1, 1);
    // Away from the kinks of f at r33 = 1 and of the polar rotation of the section at s1 + s2 = 0.
    if (std::abs(R(2, 2) - 1) < 0.05 * size) continue;
    const Matrix2<Real> B = R.bottomRightCorner<2, 2>();
    const Vector2<Real> s = signed_singular_values(B);
    if (s.sum() < 0.05 || std::abs(s[1] - 0.05) < 0.005 || std::abs(s[0] - 0.05) < 0.005) continue;
    list.push_back(source.rotation() * R);
  }
  return list;
}

template <class Map>
Eigen::Matrix<Real, 9, 9> map_matrix(Map&& map) {
  Eigen::Matrix<Real, 9, 9> M;
  for (int i = 0; i < 9; ++i) {
    Mat3 unit = Mat3::Zero();
    unit(i) = 1;
    const Mat3 image = map(unit);
    M.col(i) = image.reshaped();
  }
  return M;
}

/// Specialised beside the tests: constants(), a list; rest_modulus(k) [Pa]; energy_by_qr(k, R), the energy as the text
/// states it, of the triangular factor.
template <class L>
struct DirectorSamples;

template <class L, class Check>
void for_all_director_states(std::uint32_t seed, Check&& check) {
  MatrixSource source(seed);
  for (const auto& k : DirectorSamples<L>::constants())
    for (const Mat3& A : director_states(source)) check(k, A, source);
}

template <class L>
void check_energy_is_that_of_the_triangular_factor() {
  for_all_director_states<L>(1, [](const auto& k, const Mat3& A, MatrixSource&) {
    const Real expected = DirectorSamples<L>::energy_by_qr(k, oriented_qr(A).R);
    EXPECT_NEAR(L::energy(k, A), expected, 1e-12 * (expected + DirectorSamples<L>::rest_modulus(k))) << A;
  });
}

template <class L>
void check_director_stress_is_the_derivative_of_energy() {
  for_all_director_states<L>(2, [](const auto& k, const Mat3& A, MatrixSource& source) {
    const Mat3 dA = source.matrix(), P = L::stress(k, A);
    EXPECT_NEAR(P.cwiseProduct(dA).sum(), L::energy(k, along(A, dA)).slope,
                1e-11 * (P.norm() + DirectorSamples<L>::rest_modulus(k)) * dA.norm())
        << A;
  });
}

template <class L>
void check_director_differential_is_the_derivative_of_stress() {
  for_all_director_states<L>(3, [](const auto& k, const Mat3& A, MatrixSource& source) {
    const Mat3 dA = source.matrix(), dP = L::stress_differential(k, A)(dA);
    // The laws are smooth over lengths of 0.005 (stretches at which they are joined), (h/L)^8/600 = 7e-10 at h = 5e-4;
    // round-off is 1e-16 / h.
    const Mat3 expected = derivative([&](Real x) { return L::stress(k, Mat3(A + x * dA)); }, 2e-5);
    EXPECT_LE((dP - expected).norm(), 1e-7 * (expected.norm() + L::stiffness(k, A))) << A;
    const Mat3 other = source.matrix();
    EXPECT_NEAR(other.cwiseProduct(dP).sum(), dA.cwiseProduct(L::stress_differential(k, A)(other)).sum(),
                1e-11 * (dP.norm() + L::stiffness(k, A)) * other.norm());
  });
}

template <class L>
void check_return_differential_is_the_derivative_of_slip() {
  int smooth = 0, slid = 0;
  for_all_director_states<L>(7, [&](const auto& k, const Mat3& A, MatrixSource& source) {
    const Mat3 dA = source.matrix();
    const auto slip = [&](Real x) { return L::return_map(k, Mat3(A + x * dA)); };
    const Mat3 expected = derivative(slip, 2e-5), finer = derivative(slip, 5e-6);
    if ((expected - finer).norm() > 1e-6 * (1 + expected.norm())) return;  // it begins or ends here
    ++smooth;
    slid += (slip(0) - A).norm() > 1e-9;
    EXPECT_LE((L::return_differential(k, A)(dA) - expected).norm(), 1e-5 * (1 + expected.norm())) << A;
  });
  EXPECT_GT(smooth, 1000);
  EXPECT_GT(slid, 200);
}

template <class L>
void check_projected_director_differential_is_positive() {
  for_all_director_states<L>(4, [](const auto& k, const Mat3& A, MatrixSource&) {
    const auto projected = map_matrix([&](const Mat3& dA) { return L::projected_differential(k, A)(dA); });
    EXPECT_LE((projected - projected.transpose()).norm(), 1e-12 * projected.norm());
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix<Real, 9, 9>> eigen(0.5 * (projected + projected.transpose()));
    EXPECT_GE(eigen.eigenvalues().minCoeff(), -1e-12 * projected.norm()) << A;
  });
  // What it leaves out vanishes with the stress.
  MatrixSource source(5);
  for (const auto& k : DirectorSamples<L>::constants()) {
    for (const Real size : {1e-3, 1e-5}) {
      const Mat3 A = source.rotation() * (Mat3::Identity() + size * source.matrix());
      const auto exact = map_matrix([&](const Mat3& dA) { return L::stress_differential(k, A)(dA); });
      const auto projected = map_matrix([&](const Mat3& dA) { return L::projected_differential(k, A)(dA); });
      EXPECT_LE((exact - projected).norm(), 30 * size * DirectorSamples<L>::rest_modulus(k));
    }
  }
}

template <class L>
void check_directors_follow_the_frame() {
  for_all_director_states<L>(6, [](const auto& k, const Mat3& A, MatrixSource& source) {
    const Mat3 Q = source.rotation(), P = L::stress(k, A);
    const Real modulus = DirectorSamples<L>::rest_modulus(k);
    EXPECT_NEAR(L::energy(k, Mat3(Q * A)), L::energy(k, A), 1e-12 * (L::energy(k, A) + modulus));
    EXPECT_LE((L::stress(k, Mat3(Q * A)) - Q * P).norm(), 1e-11 * (P.norm() + modulus));
    const Mat3 returned = L::return_map(k, A);
    EXPECT_LE((L::return_map(k, Mat3(Q * A)) - Q * returned).norm(), 1e-11 * (1 + returned.norm()));
  });
}

template <class L>
void check_slip_lands_on_the_cone_and_stays() {
  for_all_director_states<L>(7, [](const auto& k, const Mat3& A, MatrixSource&) {
    const Mat3 once = L::return_map(k, A), twice = L::return_map(k, once);
    const Real modulus = DirectorSamples<L>::rest_modulus(k);
    EXPECT_LE(L::yield_excess(k, once), 1e-12 * modulus) << A;
    EXPECT_LE((twice - once).norm(), 1e-12 * (1 + once.norm())) << A;
    EXPECT_LE(L::energy(k, once), L::energy(k, A) * (1 + 1e-12) + 1e-15 * modulus) << A;
  });
}

template <class L>
void check_degenerate_directors_give_numbers() {
  MatrixSource source(8);
  std::vector<Mat3> list = {Mat3::Zero(), Mat3::Ones(), 1e-200 * Mat3::Identity(), 1e4 * Mat3::Identity(),
                            -Mat3::Identity()};
  for (int zero = 0; zero < 3; ++zero) {
    list.push_back(source.matrix());
    list.back().col(zero).setZero();
    list.push_back(source.matrix());
    list.back().col(zero) = list.back().col((zero + 1) % 3);
    list.push_back(Mat3::Identity());
    list.back()(zero, zero) = 1e-9;
  }
  for (const auto& k : DirectorSamples<L>::constants()) {
    for (const Mat3& A : list) {
      SCOPED_TRACE(::testing::PrintToString(A));
      const Mat3 dA = source.matrix();
      EXPECT_TRUE(std::isfinite(L::energy(k, A)));
      EXPECT_TRUE(L::stress(k, A).allFinite());
      EXPECT_TRUE(L::stress_differential(k, A)(dA).allFinite());
      EXPECT_TRUE(L::projected_differential(k, A)(dA).allFinite());
      EXPECT_TRUE(L::return_map(k, A).allFinite());
      EXPECT_TRUE(std::isfinite(L::stiffness(k, A)));
    }
  }
}

/// Stress, return map and bounds of packs are those of single states to round-off.
template <class L>
void check_packs_agree_with_single_states() {
  MatrixSource source(11);
  for (const auto& k : DirectorSamples<L>::constants()) {
    const std::vector<Mat3> states = director_states(source);
    for (std::size_t first = 0; first < states.size(); first += Pack::size) {
      const PackRows rows = PackRows::range(first, states.size());
      const Matrix3<Pack> A = load(std::span<const Mat3>(states), rows);
      const Matrix3<Pack> stress = L::stress(k, A), returned = L::return_map(k, A);
      const Pack stiffness = L::stiffness(k, A), tangent = L::tangent_stiffness(k, A);
      for (int lane = 0; lane < rows.count; ++lane) {
        const Mat3& state = states[rows.row[lane]];
        const Mat3 P = L::stress(k, state), R = L::return_map(k, state);
        const Real modulus = L::stiffness(k, state);
        for (int i = 0; i < 9; ++i) {
          EXPECT_NEAR(stress(i)[lane], P(i), 1e-12 * (modulus + P.norm()));
          EXPECT_NEAR(returned(i)[lane], R(i), 1e-12 * (1 + R.norm()));
        }
        EXPECT_NEAR(stiffness[lane], modulus, 1e-12 * modulus);
        const Real along = L::tangent_stiffness(k, state);
        EXPECT_NEAR(tangent[lane], along, 1e-12 * along);
        const Mat3 dA = source.matrix();
        const Matrix3<Pack> in_all = dA.template cast<Pack>();
        const auto agree = [&](const Matrix3<Pack>& of_packs, const Mat3& change) {
          for (int i = 0; i < 9; ++i) EXPECT_NEAR(of_packs(i)[lane], change(i), 1e-9 * (1 + change.norm())) << state;
        };
        agree(L::stress_differential(k, A)(in_all), L::stress_differential(k, state)(dA));
        agree(L::projected_differential(k, A)(in_all), L::projected_differential(k, state)(dA));
        agree(L::return_differential(k, A)(in_all), L::return_differential(k, state)(dA));
      }
    }
  }
}

}  // namespace weft::test
