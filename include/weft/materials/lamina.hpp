#pragma once
// What a law for the laminae of a shell is: a plane-stress energy of the elastic right Cauchy-Green tensor, whose three
// components stand in a vector.

#include "weft/base/plane.hpp"
#include "weft/math/pack.hpp"
#include "weft/math/scalar.hpp"

#include <cmath>
#include <concepts>
#include <string_view>

namespace weft {

/// Components (11, 22, 12) of a symmetric 2x2 tensor.
template <class T>
using Symmetric2 = Vector3<T>;

/// Components of A^T C A as a linear function of those of C.
template <class T>
Matrix3<T> congruence(const Matrix2<T>& A) {
  Matrix3<T> M;
  M << A(0, 0) * A(0, 0), A(1, 0) * A(1, 0), 2 * A(0, 0) * A(1, 0),  //
      A(0, 1) * A(0, 1), A(1, 1) * A(1, 1), 2 * A(0, 1) * A(1, 1),   //
      A(0, 0) * A(0, 1), A(1, 0) * A(1, 1), A(0, 0) * A(1, 1) + A(0, 1) * A(1, 0);
  return M;
}

/// Smallest and largest eigenvalue.
template <class T>
Vector2<T> eigenvalues_of(const Symmetric2<T>& c) {
  using std::sqrt;
  const T m = (c[0] + c[1]) / 2, d = (c[0] - c[1]) / 2, r = sqrt(T(d * d + c[2] * c[2]));
  return {m - r, m + r};
}

/// A lamina law L is a struct of static functions, templates on the scalar of c, numbers or packs. Throughout, c holds
/// the components (C11, C22, C12) of the elastic right Cauchy-Green tensor in an orthonormal frame of the reference
/// lamina (axis 1 is the material direction), k the constants; energies are per rest volume, and everything is finite
/// where C is a metric.
///   name               deck key of the law
///   Constants          plain numbers
///   energy(k, c)       [J/m^3]
///   gradient(k, c)     its derivative by the three components [Pa]: 1/2 S11, 1/2 S22, S12 of the second
///                      Piola-Kirchhoff stress S
///   hessian(k, c)      its second derivative [Pa]
///   stiffness(k)       [Pa]: no membrane wave at rest is faster than sqrt(stiffness / density)
///   stiffening(k, c)   [1], >= 1: bound of how many times stiffer a stretched lamina is against further stretch
template <class L>
concept LaminaLaw = requires(const typename L::Constants& k, const Symmetric2<Real>& c, const Symmetric2<Pack>& packs) {
  { L::name } -> std::convertible_to<std::string_view>;
  { L::energy(k, c) } -> std::same_as<Real>;
  { L::gradient(k, c) } -> std::same_as<Symmetric2<Real>>;
  { L::gradient(k, packs) } -> std::same_as<Symmetric2<Pack>>;
  { L::hessian(k, c) } -> std::same_as<Mat3>;
  { L::hessian(k, packs) } -> std::same_as<Matrix3<Pack>>;
  { L::stiffness(k) } -> std::same_as<Real>;
  { L::stiffening(k, c) } -> std::same_as<Real>;
};

}  // namespace weft
