#pragma once
// How a quadrature point with directors answers a trial motion: tangents F follow the vertices, directors N become
// (I + H) N and may slip.

#include "weft/base/types.hpp"
#include "weft/bodies/mesh_stiffness.hpp"
#include "weft/math/pack_rows.hpp"
#include "weft/math/scalar.hpp"
#include "weft/math/svd.hpp"
#include "weft/math/tangent.hpp"

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

/// Quadrature points on a trial motion, one in each lane.
template <int tangents>
struct DirectorPack {
  PackRows rows;
  Eigen::Matrix<Pack, 3, tangents> F;
  Eigen::Matrix<Pack, 3, 3 - tangents> N;
  Matrix3<Pack> H;

  /// Tangents and moved directors, before they slip.
  Matrix3<Pack> trial() const { return joined(F, Eigen::Matrix<Pack, 3, 3 - tangents>(N + H * N)); }
};

/// Notes which points of a pack slip.
template <class Contact, int tangents>
void find_slips(const typename Contact::Constants& k, const DirectorPack<tangents>& at, std::span<char> slips) {
  const Matrix3<Pack> trial = at.trial(), state = Contact::return_map(k, trial);
  PackMask differ = state(0) != trial(0);
  for (int i = 1; i < 9; ++i) differ = differ || state(i) != trial(i);
  const Pack slip = select(differ, 1, 0);
  for (int lane = 0; lane < at.rows.count; ++lane) slips[at.rows.row[lane]] = slip[lane] > 0;
}

/// The derivative of `director_response` where directors do not slip, by F and (I + H) N, column by column [Pa].
template <class Contact, int tangents>
Eigen::Matrix<Pack, 9, 9> director_stiffness(const typename Contact::Constants& k, const DirectorPack<tangents>& at,
                                             bool definite) {
  return definite ? tangent_of<Pack>(Contact::projected_differential(k, at.trial()))
                  : tangent_of<Pack>(Contact::stress_differential(k, at.trial()));
}

/// The same where they do, by F and H.
template <class Contact, int tangents>
Eigen::Matrix<Pack, 3 * (tangents + 3), 3 * (tangents + 3)> slipped_stiffness(const typename Contact::Constants& k,
                                                                              const DirectorPack<tangents>& at) {
  using Tangents = Eigen::Matrix<Pack, 3, tangents>;
  using Directors = Eigen::Matrix<Pack, 3, 3 - tangents>;
  const Matrix3<Pack> trial = at.trial(), state = Contact::return_map(k, trial);
  const Matrix3<Pack> growth = Matrix3<Pack>::Identity() + at.H, P = Contact::stress(k, state);
  const Matrix3<Pack> inverse = Pack(1 / determinant(growth)) * cofactor(growth);
  const Directors slipped = state.template rightCols<3 - tangents>(), P_N = P.template rightCols<3 - tangents>();
  const Matrix3<Pack> A = P_N * slipped.transpose() * inverse;
  const auto slip = Contact::return_differential(k, trial);
  const auto stress = Contact::stress_differential(k, state);
  return tangent_of<Pack, tangents + 3>([&](const Eigen::Matrix<Pack, 3, tangents + 3>& change) {
    const Matrix3<Pack> dH = change.template rightCols<3>();
    const Matrix3<Pack> d_state = slip(joined(Tangents(change.template leftCols<tangents>()), Directors(dH * at.N)));
    const Matrix3<Pack> dP = stress(d_state);
    const Directors dP_N = dP.template rightCols<3 - tangents>(), dN = d_state.template rightCols<3 - tangents>();
    const Matrix3<Pack> dA = (dP_N * slipped.transpose() + P_N * dN.transpose() - A * dH.transpose()) * inverse;
    Eigen::Matrix<Pack, 3, tangents + 3> answer;
    answer << dP.template leftCols<tangents>(), dA;
    return answer;
  });
}

/// How many vectors the part of a point looks at: F and (I + H) N, or where directors slip F and H.
template <int tangents>
int vectors_of_point(bool slips) {
  return slips ? tangents + 3 : 3;
}

/// Fills the part of each lane: part(lane), which has vectors_of_point(slips). scaled(K): the matrix of the points
/// [Pa] as that of the parts [J]; w(lane): weights of the rows for each tangent.
template <class Contact, int tangents>
void fill_director_parts(const typename Contact::Constants& k, const DirectorPack<tangents>& at, bool definite,
                         std::span<const char> slips, const auto& scaled, const auto& w, const auto& part) {
  const auto fill = [&](bool slip, auto&& find) {
    const auto is_one = [&](int lane) { return (slips[at.rows.row[lane]] != 0) == slip; };
    int lane = 0;
    while (lane < at.rows.count && !is_one(lane)) ++lane;
    if (lane == at.rows.count) return;
    LanePlaces places{};
    for (; lane < at.rows.count; ++lane) {
      if (!is_one(lane)) continue;
      MeshStiffness::Part its = part(lane);
      const auto& weights = w(lane);
      for (Eigen::Index r = 0; r < its.w.cols(); ++r)
        for (int t = 0; t < tangents; ++t) its.w(t, r) = weights(r, t);
      if (slip) its.d.template rightCols<3>().setIdentity();
      else
        for (int c = 0; c < 3 * (3 - tangents); ++c) its.d.data()[3 * tangents + c] = at.N(c)[lane];
      places[static_cast<std::size_t>(lane)] = its.K.data();
    }
    store_lanes(scaled(find()), places);
  };
  fill(false, [&] { return director_stiffness<Contact, tangents>(k, at, definite); });
  fill(true, [&] { return slipped_stiffness<Contact, tangents>(k, at); });
}

}  // namespace weft
