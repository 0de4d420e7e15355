#pragma once
// How a quadrature point with directors answers a trial motion: tangents F follow the vertices, directors N become
// (I + H) N and may slip.

#include "weft/base/types.hpp"
#include "weft/bodies/mesh_stiffness.hpp"
#include "weft/math/scalar.hpp"
#include "weft/math/svd.hpp"

namespace weft {

/// Tangents and directors side by side.
template <class Tangents, class Directors>
Matrix3<typename Tangents::Scalar> joined(const Tangents& F, const Directors& N) {
  Matrix3<typename Tangents::Scalar> A;
  A << F, N;
  return A;
}

/// Per rest volume [Pa].
template <class T, int tangents>
struct DirectorResponse {
  Eigen::Matrix<T, 3, tangents> P;  ///< dE/dF
  Matrix3<T> A;                     ///< dE/dH
};

/// With flow in the loop the stress is that of the slipped directors, in the places after the motion:
/// A = P_N N'^T (I + H)^{-T} [docs/theory/implicit.md, (12.10)]. Also of packs.
template <class Contact, int tangents, class T>
DirectorResponse<T, tangents> director_response(const typename Contact::Constants& k,
                                                const Eigen::Matrix<T, 3, tangents>& F,
                                                const Eigen::Matrix<T, 3, 3 - tangents>& N, const Matrix3<T>& H,
                                                bool in_loop) {
  constexpr int directors = 3 - tangents;
  using Directors = Eigen::Matrix<T, 3, directors>;
  const Matrix3<T> trial = joined(F, Directors(N + H * N));
  const Matrix3<T> state = in_loop ? Contact::return_map(k, trial) : trial, P = Contact::stress(k, state);
  const Directors P_N = P.template rightCols<directors>();
  Matrix3<T> A = P_N * N.transpose();
  if (in_loop) {
    const T slip = (state - trial).squaredNorm();
    const Matrix3<T> growth = Matrix3<T>::Identity() + H;
    const Matrix3<T> slipped = P_N * state.template rightCols<directors>().transpose() * cofactor(growth);
    A = select(slip > 0, Matrix3<T>(T(1 / determinant(growth)) * slipped), A);
  }
  return {P.template leftCols<tangents>(), A};
}

/// Its derivative as a part of a stiffness, of `volume`; w: weights of the rows for each tangent. The part looks at F
/// and (I + H) N, or where directors slip at F and H.
template <class Contact, int tangents>
void add_director_part(const typename Contact::Constants& k, const Eigen::Matrix<Real, 3, tangents>& F,
                       const Eigen::Matrix<Real, 3, 3 - tangents>& N, const Mat3& H, bool in_loop, bool definite,
                       Real volume, std::span<const std::int32_t> rows, std::int64_t sample, const auto& w,
                       MeshStiffness& stiffness) {
  constexpr int directors = 3 - tangents;
  using Flat = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
  const Eigen::Matrix<Real, 3, directors> moved = N + H * N;
  const Mat3 trial = joined(F, moved), state = in_loop ? Contact::return_map(k, trial) : trial;
  const bool slips = state != trial;
  stiffness.add(slips ? tangents + 3 : 3, rows, sample);
  MeshStiffness::Part part = stiffness.part(stiffness.size() - 1);
  part.w.setZero();
  for (Eigen::Index r = 0; r < part.w.cols(); ++r)
    for (int t = 0; t < tangents; ++t) part.w(t, r) = w(r, t);
  part.d.setZero();
  if (!slips) {
    part.d.template rightCols<directors>() = N;
    for (int c = 0; c < 9; ++c) {
      Mat3 unit = Mat3::Zero();
      unit.data()[c] = volume;
      const Mat3 change =
          definite ? Contact::projected_differential(k, trial, unit) : Contact::stress_differential(k, trial, unit);
      part.K.col(c) = Eigen::Map<const Flat>(change.data(), 9);
    }
    return;
  }
  part.d.template rightCols<3>().setIdentity();
  const Mat3 inverse = (Mat3::Identity() + H).inverse().transpose(), P = Contact::stress(k, state);
  const Eigen::Matrix<Real, 3, directors> slipped = state.template rightCols<directors>(),
                                          P_N = P.template rightCols<directors>();
  const Mat3 A = P_N * slipped.transpose() * inverse;
  for (int c = 0; c < 3 * (tangents + 3); ++c) {
    Eigen::Matrix<Real, 3, tangents> dF = Eigen::Matrix<Real, 3, tangents>::Zero();
    Mat3 dH = Mat3::Zero();
    if (c < 3 * tangents) dF.data()[c] = volume;
    else dH.data()[c - 3 * tangents] = volume;
    const Eigen::Matrix<Real, 3, directors> dN = dH * N;
    const Mat3 d_state = Contact::return_differential(k, trial, joined(dF, dN));
    const Mat3 dP = Contact::stress_differential(k, state, d_state);
    const Mat3 dA = (dP.template rightCols<directors>() * slipped.transpose() +
                     P_N * d_state.template rightCols<directors>().transpose()) *
                        inverse -
                    A * dH.transpose() * inverse;
    part.K.col(c).template head<3 * tangents>() = Eigen::Map<const Flat>(dP.data(), 3 * tangents);
    part.K.col(c).template tail<9>() = Eigen::Map<const Flat>(dA.data(), 9);
  }
}

}  // namespace weft
