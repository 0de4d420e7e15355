#pragma once
// How stable a balanced state is: signature, softest motion and foresight of the tangent.

#include "solve/static_problem.hpp"
#include "solve/symmetric_factor.hpp"
#include "weft/solve/stability.hpp"

#include <optional>

namespace weft {

/// The tangent K of a problem where it was looked at last, on the motions that the conditions A u = 0 leave.
///
/// With factors of [K + d, -k A^T; -k A, -e k], whose negative eigenvalues are as many as those of the conditions and
/// of K + d + k A^T A / e together (Haynsworth 1968), whether conditions depend on one another or not. The shift
/// d = 1e-13 k keeps motions without stiffness, whose eigenvalues are round-off of either sign, from being counted.
/// Without, from K by Lanczos' method, scaled by its diagonal and projected.
class TangentSignature {
 public:
  /// x: where the problem was looked at. Neither is owned. Collective.
  TangentSignature(const Comm& comm, StaticProblem& problem, Vec x, Factors factors);
  ~TangentSignature();
  TangentSignature(const TangentSignature&) = delete;
  TangentSignature& operator=(const TangentSignature&) = delete;

  /// Collective.
  Stability look(const Foresight& foresight);

 private:
  void look_by_factors(Stability& found);
  void look_by_products(Stability& found);
  std::optional<FreedomValues> increment(Real time, Real sign);
  std::vector<Real> random_values() const;
  void set(Vec vector, std::span<const Real> displacements) const;
  void get(Vec vector, std::span<Real> displacements) const;
  FreedomValues as_motion(std::span<const Real> displacements, Real scale) const;
  FreedomValues mode_of(const std::vector<Real>& values) const;

  const Comm& comm_;
  StaticProblem& problem_;
  Vec x_, right_, solution_;
  const std::size_t owned_;  ///< Displacements of this rank.
  const Factors factors_;
  std::optional<SymmetricFactor> tangent_;  ///< Factored only if asked for.
};

}  // namespace weft
