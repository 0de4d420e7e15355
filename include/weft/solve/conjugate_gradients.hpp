#pragma once
// The method of conjugate gradients, for products of any kind.

#include "weft/base/types.hpp"

#include <cmath>
#include <utility>

namespace weft {

using RealVector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

/// Steps from x = 0 towards S x = r; S and the preconditioner M are symmetric without negative eigenvalues [Hestenes &
/// Stiefel 1952]. They end after `most`, where |r| is no longer than `goal`, and at a direction to which S gives
/// nothing. r becomes what is left. Vectors may be spread over ranks; then these are collective:
///   multiply(p, S_p), precondition(r, z)
///   dot(p, S_p), dots(r, z): {r . z, r . r}
/// note(x, length) sees x after each step, and the length of r there.
template <class Multiply, class Precondition, class Dot, class Dots, class Note>
void conjugate_gradients(RealVector& x, RealVector& r, Real goal, int most, Multiply&& multiply,
                         Precondition&& precondition, Dot&& dot, Dots&& dots, Note&& note) {
  x.setZero(r.size());
  RealVector z(r.size()), S_p(r.size());
  precondition(std::as_const(r), z);
  auto [r_z, r_r] = dots(r, z);
  RealVector p = z;
  for (int k = 0; k < most && std::sqrt(r_r) > goal; ++k) {
    multiply(std::as_const(p), S_p);
    const Real p_S_p = dot(p, S_p);
    if (!(p_S_p > 0)) break;
    x += r_z / p_S_p * p;
    r -= r_z / p_S_p * S_p;
    precondition(std::as_const(r), z);
    const auto [r_z_now, r_r_now] = dots(r, z);
    note(std::as_const(x), std::sqrt(r_r_now));
    p = z + r_z_now / r_z * p;
    r_z = r_z_now, r_r = r_r_now;
  }
}

}  // namespace weft
