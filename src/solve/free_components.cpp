#include "solve/free_components.hpp"

#include "parallel/call.hpp"
#include "solve/components.hpp"

#include <Eigen/Eigenvalues>

#include <cmath>

namespace weft {
namespace {

constexpr Eigen::Index most = 6;  ///< Rigid motions of a component.
using Mat6 = Eigen::Matrix<Real, most, most>;
using Some6 = Eigen::Matrix<Real, most, Eigen::Dynamic, 0, most, most>;  ///< Of these, combinations side by side.

/// Of a motion of the points of a component whose mean square is 1, what is round-off: of the square itself, where
/// points lie on a line; of what conditions see of it, squared; of the work of forces, in typical stiffnesses.
constexpr Real no_motion = 1e-10, unseen = 1e-12, effortless = 1e-12;

/// The eigenvectors of a symmetric matrix whose eigenvalues satisfy a rule.
template <class Rule>
Eigen::MatrixXd eigenvectors(const Eigen::MatrixXd& matrix, const Rule& rule) {
  Eigen::MatrixXd kept(matrix.rows(), 0);
  if (matrix.rows() == 0) return kept;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(matrix);
  for (Eigen::Index k = 0; k < matrix.rows(); ++k)
    if (rule(eigen.eigenvalues()[k])) {
      kept.conservativeResize(Eigen::NoChange, kept.cols() + 1);
      kept.rightCols(1) = eigen.eigenvectors().col(k);
    }
  return kept;
}

/// Components, and which of their rigid motions are left over: combinations of three shifts and of three turns about
/// the middle, these by 1 / radius.
class RigidMotions {
 public:
  RigidMotions(const Comm& comm, StaticProblem& problem, const std::vector<std::span<const Vec3>>& positions);
  void leave_what_conditions_do();
  void leave_what_forces_do();
  std::vector<FreeComponent> left() const;

 private:
  struct Component {
    std::int64_t points = 0;
    std::size_t block = 0;
    Vec3 middle = Vec3::Zero();
    Real radius = 1;
    bool is_held = false;
    Some6 left = Mat6::Identity();
  };

  void place(const std::vector<std::span<const Vec3>>& positions);
  void take_those_that_move();
  Eigen::Matrix<Real, 3, most> motions_at(std::size_t point) const;
  const Component& component_at(std::size_t point) const { return all_[components_.component_of(point)]; }
  Eigen::Matrix<Real, 3, Eigen::Dynamic> left_at(std::size_t point) const {
    return motions_at(point) * component_at(point).left;
  }
  std::vector<Mat6> zeros() const { return std::vector<Mat6>(all_.size(), Mat6::Zero()); }
  void sum(std::vector<Mat6>& of_components) const {
    comm_.sum(std::span(of_components.front().data(), of_components.size() * most * most));
  }

  const Comm& comm_;
  StaticProblem& problem_;
  const Components components_;
  std::vector<Vec3> position_;  ///< Of local points.
  std::vector<Component> all_;
};

RigidMotions::RigidMotions(const Comm& comm, StaticProblem& problem,
                           const std::vector<std::span<const Vec3>>& positions)
    : comm_(comm),
      problem_(problem),
      components_(comm, problem.unknowns().freedoms(), problem.terms(), problem.motion()),
      all_(components_.count()) {
  place(positions);
  take_those_that_move();
}

void RigidMotions::place(const std::vector<std::span<const Vec3>>& positions) {
  for (std::size_t b = 0; b < positions.size(); ++b)
    for (std::size_t r = 0; r < positions[b].size(); ++r)
      position_.push_back(positions[b][r] + problem_.motion().u.points(b)[r]);
  constexpr std::size_t width = 6;  // points, block, positions, squares of arms
  std::vector<Real> sums(width * all_.size(), 0.0);
  const auto row = [&](std::size_t component) { return sums.data() + width * component; };
  const Freedoms& freedoms = problem_.unknowns().freedoms();
  std::size_t local = 0, owned = 0;
  for (std::size_t b = 0; b < positions.size(); ++b)
    for (std::size_t r = 0; r < freedoms.rows(b); ++r, ++local) {
      if (r >= freedoms.block(b).forest->owned()) continue;
      Real* its = row(components_.component_of(local));
      its[0] += 1;
      its[1] += static_cast<Real>(b);
      Vec3::Map(its + 2) += position_[local];
      ++owned;
    }
  comm_.sum(sums);
  for (std::size_t p = 0; p < all_.size(); ++p) {
    all_[p].points = static_cast<std::int64_t>(row(p)[0]);
    all_[p].block = static_cast<std::size_t>(std::lround(row(p)[1] / row(p)[0]));
    all_[p].middle = Vec3::Map(row(p) + 2) / row(p)[0];
  }
  std::vector<Real> squares(all_.size(), 0.0);
  for (std::size_t n = 0; n < owned; ++n) {
    const std::size_t at = components_.points().at(n);
    squares[components_.component_of(at)] += (position_[at] - component_at(at).middle).squaredNorm();
  }
  comm_.sum(squares);
  for (std::size_t p = 0; p < all_.size(); ++p)
    if (squares[p] > 0) all_[p].radius = std::sqrt(squares[p] / static_cast<Real>(all_[p].points));
}

/// Displacements of a point, one motion of its component beside the other.
Eigen::Matrix<Real, 3, most> RigidMotions::motions_at(std::size_t point) const {
  const Component& its = component_at(point);
  const Vec3 arm = (position_[point] - its.middle) / its.radius;
  Eigen::Matrix<Real, 3, most> motions;
  motions << Mat3::Identity(), Vec3::UnitX().cross(arm), Vec3::UnitY().cross(arm), Vec3::UnitZ().cross(arm);
  return motions;
}

/// Combinations of mean square 1; the turn of a straight line about itself is none.
void RigidMotions::take_those_that_move() {
  std::vector<Mat6> squares = zeros();
  for (std::size_t n = 0; n < components_.points().owned(); ++n) {
    const std::size_t at = components_.points().at(n);
    const auto motions = motions_at(at);
    squares[components_.component_of(at)] += motions.transpose() * motions;
  }
  sum(squares);
  for (std::size_t p = 0; p < all_.size(); ++p) {
    squares[p] /= static_cast<Real>(all_[p].points);
    all_[p].left = eigenvectors(squares[p], [](Real square) { return square > no_motion; });
    for (Eigen::Index k = 0; k < all_[p].left.cols(); ++k) {
      const auto motion = all_[p].left.col(k);
      all_[p].left.col(k) /= std::sqrt(motion.dot(squares[p] * motion));
    }
  }
}

void RigidMotions::leave_what_conditions_do() {
  const ConstraintRows& rows = problem_.conditions();
  std::vector<Mat6> seen = zeros();
  std::vector<Real> conditions(all_.size(), 0.0);
  for (std::size_t c = 0; c < rows.count(); ++c) {
    Eigen::Matrix<Real, most, 1> gap = Eigen::Matrix<Real, most, 1>::Zero();
    Real square = 0;
    std::size_t component = 0;
    for (std::size_t k = rows.begin[c]; k < rows.begin[c + 1]; ++k) {
      const auto point = static_cast<std::size_t>(components_.points().point_of(rows.freedom[k]));
      component = components_.component_of(point);
      gap += rows.weight[k] * motions_at(point).row(rows.freedom[k] - components_.points().freedom(point)).transpose();
      square += rows.weight[k] * rows.weight[k];
    }
    if (square == 0) continue;
    seen[component] += gap * gap.transpose() / square;
    conditions[component] += 1;
  }
  sum(seen);
  comm_.sum(conditions);
  for (std::size_t p = 0; p < all_.size(); ++p) {
    Component& its = all_[p];
    its.is_held = conditions[p] > 0;
    its.left =
        (its.left * eigenvectors(its.left.transpose() * seen[p] * its.left, [](Real s) { return s < unseen; })).eval();
  }
}

void RigidMotions::leave_what_forces_do() {
  Vec u = problem_.create_vector(), force = problem_.create_vector();
  std::vector<Mat6> work = zeros();
  for (Eigen::Index k = 0; k < most; ++k) {
    PetscScalar* values = nullptr;
    check_petsc(VecSet(u, 0));
    check_petsc(VecGetArray(u, &values));
    for (std::size_t n = 0; n < components_.points().owned(); ++n) {
      const std::size_t at = components_.points().at(n);
      if (k < component_at(at).left.cols()) Vec3::Map(values + 3 * n) = left_at(at).col(k);
    }
    check_petsc(VecRestoreArray(u, &values));
    check_petsc(MatMult(problem_.matrix(), u, force));
    const PetscScalar* forces = nullptr;
    check_petsc(VecGetArrayRead(force, &forces));
    for (std::size_t n = 0; n < components_.points().owned(); ++n) {
      const std::size_t at = components_.points().at(n);
      const auto motions = left_at(at);
      if (k < motions.cols())
        work[components_.component_of(at)].col(k).head(motions.cols()) +=
            motions.transpose() * Vec3::Map(forces + 3 * n);
    }
    check_petsc(VecRestoreArrayRead(force, &forces));
  }
  check_petsc(VecDestroy(&u));
  check_petsc(VecDestroy(&force));
  sum(work);
  for (std::size_t p = 0; p < all_.size(); ++p) {
    Component& its = all_[p];
    const Eigen::Index n = its.left.cols();
    const Eigen::MatrixXd stiffness =
        work[p].topLeftCorner(n, n) / (static_cast<Real>(its.points) * problem_.typical_stiffness());
    its.left = (its.left * eigenvectors((stiffness + stiffness.transpose()) / 2, [](Real s) {
                  return std::abs(s) < effortless;
                })).eval();
  }
}

std::vector<FreeComponent> RigidMotions::left() const {
  std::vector<FreeComponent> free;
  for (const Component& its : all_) {
    if (its.left.cols() == 0) continue;
    FreeComponent& component =
        free.emplace_back(FreeComponent{its.block, 0, its.points, its.middle, its.radius, its.is_held, {}});
    for (const Component& other : all_) component.components += other.block == its.block ? 1 : 0;
    for (Eigen::Index k = 0; k < its.left.cols(); ++k)
      component.motions.push_back({its.left.col(k).head<3>(), its.left.col(k).tail<3>() / its.radius});
  }
  return free;
}

}  // namespace

std::vector<FreeComponent> find_free_components(const Comm& comm, StaticProblem& problem,
                                                const std::vector<std::span<const Vec3>>& positions) {
  RigidMotions motions(comm, problem, positions);
  motions.leave_what_conditions_do();
  if (motions.left().empty()) return {};
  problem.assemble_at_fixed_time();
  motions.leave_what_forces_do();
  return motions.left();
}

}  // namespace weft
