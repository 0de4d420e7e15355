#include "solve/lanczos.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft {
namespace {

/// Steps between looks at the eigenvalues.
constexpr std::size_t between_looks = 5;

class Basis {
 public:
  Basis(const Comm& comm, const std::vector<Real>& weight) : comm_(comm), weight_(weight) {}

  std::size_t size() const { return vectors_.size(); }
  const std::vector<Real>& operator[](std::size_t k) const { return vectors_[k]; }
  void append(std::vector<Real> v, Real norm) {
    for (Real& x : v) x /= norm;
    vectors_.push_back(std::move(v));
  }
  Real norm(std::span<const Real> v) const { return std::sqrt(comm_.sum(partial(v, v))); }
  /// Takes the components along the basis out of v; returns them.
  std::vector<Real> take_out_of(std::vector<Real>& v) const {
    std::vector<Real> along(size(), 0.0);
    for (int pass = 0; pass < 2; ++pass) {  // twice is enough [Parlett 1980, section 6.9]
      std::vector<Real> part(size());
      for (std::size_t k = 0; k < size(); ++k) part[k] = partial(v, vectors_[k]);
      comm_.sum(part);
      for (std::size_t k = 0; k < size(); ++k) {
        for (std::size_t i = 0; i < v.size(); ++i) v[i] -= part[k] * vectors_[k][i];
        along[k] += part[k];
      }
    }
    return along;
  }

 private:
  Real partial(std::span<const Real> a, std::span<const Real> b) const {
    Real sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += weight_[i] * a[i] * b[i];
    return sum;
  }

  const Comm& comm_;
  const std::vector<Real>& weight_;
  std::vector<std::vector<Real>> vectors_;
};

using Tridiagonal = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;

Tridiagonal eigenvalues_of(const std::vector<Real>& diagonal, const std::vector<Real>& beside) {
  Tridiagonal solver;
  const auto n = static_cast<Eigen::Index>(diagonal.size());
  solver.computeFromTridiagonal(Eigen::Map<const Eigen::VectorXd>(diagonal.data(), n),
                                Eigen::Map<const Eigen::VectorXd>(beside.data(), n - 1));
  return solver;
}

bool have_converged(const Tridiagonal& found, Real next, const LanczosGoal& goal) {
  const Eigen::Index n = found.eigenvalues().size(), wanted = static_cast<Eigen::Index>(goal.wanted);
  if (n <= wanted) return false;
  for (Eigen::Index k = 0; k < wanted; ++k)
    if (next * std::abs(found.eigenvectors()(n - 1, k)) > goal.tolerance * std::abs(found.eigenvalues()[k]))
      return false;
  return true;
}

}  // namespace

LanczosResult lowest_eigenvalues(const Comm& comm, const WeightedOperator& of, std::vector<Real> start,
                                 const LanczosGoal& goal) {
  Basis basis(comm, of.weight);
  std::vector<Real> diagonal, beside, v = std::move(start);
  Real next = basis.norm(v), largest = 0;
  for (int step = 0; step < goal.most_steps && next > goal.round_off * largest; ++step) {
    if (step > 0) beside.push_back(next);
    basis.append(std::move(v), next);
    v.assign(of.weight.size(), 0.0);
    of.apply(basis[basis.size() - 1], v);
    diagonal.push_back(basis.take_out_of(v).back());
    next = basis.norm(v);
    largest = std::max({largest, std::abs(diagonal.back()), next});
    if (diagonal.size() % between_looks == 0 && have_converged(eigenvalues_of(diagonal, beside), next, goal)) break;
  }
  const Tridiagonal found = eigenvalues_of(diagonal, beside);
  LanczosResult result;
  result.values.assign(found.eigenvalues().begin(), found.eigenvalues().end());
  for (std::size_t k = 0; k < std::min(goal.wanted, result.values.size()); ++k) {
    std::vector<Real>& vector = result.vectors.emplace_back(of.weight.size(), 0.0);
    for (std::size_t j = 0; j < basis.size(); ++j)
      for (std::size_t i = 0; i < vector.size(); ++i)
        vector[i] += found.eigenvectors()(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(k)) * basis[j][i];
  }
  return result;
}

}  // namespace weft
