#pragma once
// Shells and small linear problems on them, for tests on one rank: assembly, constraints along edges, loads, a direct
// solve.

#include "bodies/shell_sites.hpp"
#include "weft/geometry/patches.hpp"
#include "weft/math/quadrature.hpp"

#include <gtest/gtest.h>
#include <Eigen/Sparse>

#include <map>
#include <numeric>
#include <vector>

namespace weft::test {

/// An elastic isotropic shell of uniform thickness.
inline ShellDescription elastic_shell(ControlMesh mesh, Real youngs_modulus, Real poisson_ratio, Real thickness) {
  ShellDescription shell;
  shell.name = "shell";
  shell.thickness.assign(mesh.material_faces, thickness);
  shell.mesh = std::move(mesh);
  shell.law = ChosenLamina<LaminaHencky>{LaminaHencky::Constants::from(youngs_modulus, poisson_ratio)};
  shell.density = 1;
  return shell;
}

inline std::vector<Vec3> rest_of(const ShellShare& shell) { return {shell.rest().begin(), shell.rest().end()}; }

/// Homogeneous linear conditions on displacements, eliminated one after another: u = T z.
class Conditions {
 public:
  using Row = std::map<int, Real>;  ///< Freedom (3 point + component) and weight.

  /// sum weight_i u_i = 0; what follows from earlier conditions is dropped.
  void add(Row row) {
    row = reduced(row);
    int pivot = -1;
    Real largest = 1e-6;  // what is left of a row that follows from others is round-off, grown on the way
    for (const auto& [freedom, weight] : row)
      if (std::abs(weight) > largest) {
        largest = std::abs(weight);
        pivot = freedom;
      }
    if (pivot < 0) return;
    Row solution;  // u_pivot as a sum of others
    for (const auto& [freedom, weight] : row)
      if (freedom != pivot && std::abs(weight) > 1e-14) solution[freedom] = -weight / row[pivot];
    for (auto& [eliminated, sum] : eliminated_) {
      const auto found = sum.find(pivot);
      if (found == sum.end()) continue;
      const Real factor = found->second;
      sum.erase(found);
      for (const auto& [freedom, weight] : solution) sum[freedom] += factor * weight;
    }
    eliminated_[pivot] = solution;
  }

  /// T of u = T z for so many freedoms.
  Eigen::SparseMatrix<Real> free_motions(int freedoms) const {
    std::vector<int> column(freedoms, -1);
    int columns = 0;
    for (int i = 0; i < freedoms; ++i)
      if (!eliminated_.contains(i)) column[i] = columns++;
    std::vector<Eigen::Triplet<Real>> entries;
    for (int i = 0; i < freedoms; ++i) {
      if (column[i] >= 0) entries.emplace_back(i, column[i], 1);
      else
        for (const auto& [freedom, weight] : eliminated_.at(i)) entries.emplace_back(i, column[freedom], weight);
    }
    Eigen::SparseMatrix<Real> T(freedoms, columns);
    T.setFromTriplets(entries.begin(), entries.end());
    return T;
  }

 private:
  Row reduced(const Row& row) const {
    Row out;
    for (const auto& [freedom, weight] : row) {
      const auto found = eliminated_.find(freedom);
      if (found == eliminated_.end()) out[freedom] += weight;
      else
        for (const auto& [other, factor] : found->second) out[other] += weight * factor;
    }
    return out;
  }
  std::map<int, Row> eliminated_;
};

/// What is held along an edge: u . n = 0 of the limit edge for each listed direction, or also of the slope across.
inline void hold_edge(Conditions& conditions, const std::vector<EdgeLine>& side,
                      std::initializer_list<int> components) {
  for (const auto& [outer, boundary, inner] : side)
    for (const int c : components) conditions.add({{3 * outer + c, 1}, {3 * boundary + c, 4}, {3 * inner + c, 1}});
}
inline void hold_slope(Conditions& conditions, const std::vector<EdgeLine>& side,
                       std::initializer_list<int> components) {
  for (const auto& [outer, boundary, inner] : side)
    for (const int c : components) conditions.add({{3 * outer + c, 1}, {3 * inner + c, -1}});
}
/// The edge lies in a plane of symmetry across axis c.
inline void mirror_edge(Conditions& conditions, const std::vector<EdgeLine>& side, int c) {
  hold_edge(conditions, side, {c});
  hold_slope(conditions, side, {(c + 1) % 3, (c + 2) % 3});
}

/// The side of the boundary whose points all satisfy `where` (limit points of the rest shape).
template <class Where>
std::vector<EdgeLine> side_where(const ControlMesh& mesh, Where&& where) {
  std::vector<EdgeLine> found;
  for (const auto& side : edge_lines(mesh)) {
    bool all = true;
    for (const auto& [outer, boundary, inner] : side)
      all = all && where(Vec3((mesh.points[outer] + 4 * mesh.points[boundary] + mesh.points[inner]) / 6));
    if (all) found.insert(found.end(), side.begin(), side.end());
  }
  EXPECT_FALSE(found.empty());
  return found;
}

/// A matrix of one face: rows of its control points, and a row-major matrix with three rows for each of them.
using FaceMatrix = std::function<void(std::span<const std::int32_t> points, std::span<const Real> matrix)>;

/// Tells the second derivative of the energy [N/m], a matrix for each quadrature point.
inline void each_stiffness(const ShellFaces& shell, std::span<const Vec3> x, const FaceMatrix& tell) {
  MeshStiffness stiffness;
  shell.add_stiffness(x, false, stiffness);
  for (std::size_t k = 0; k < stiffness.size(); ++k) {
    const MeshStiffness::Part part = stiffness.part(k);
    Eigen::MatrixXd W = Eigen::MatrixXd::Zero(15, 3 * part.w.cols());  // the jet by the control points
    for (Eigen::Index a = 0; a < part.w.cols(); ++a)
      for (int i = 0; i < 3; ++i) W.col(3 * a + i)(Eigen::seqN(i, Eigen::fix<5>, Eigen::fix<3>)) = part.w.col(a);
    const Eigen::MatrixXd K = W.transpose() * part.K * W;
    tell(part.rows, {K.data(), static_cast<std::size_t>(K.size())});
  }
}

/// Tells the consistent mass [kg], a matrix for each point that has some.
inline void each_consistent_mass(const ShellDescription& shell, const FaceMatrix& tell) {
  each_mass(shell,
            [&](std::int64_t, std::span<const std::int32_t> points, std::span<const BasisWeights> weights, Real mass) {
              const auto n = std::ssize(points);
              Eigen::MatrixXd M = Eigen::MatrixXd::Zero(3 * n, 3 * n);
              for (int a = 0; a < n; ++a)
                for (int b = 0; b < n; ++b)
                  M.block<3, 3>(3 * a, 3 * b) = mass * weights[a].value * weights[b].value * Mat3::Identity();
              tell(points, {M.data(), static_cast<std::size_t>(M.size())});
            });
}

/// A shell at rest on one rank, whose rows are the control points.
struct LinearProblem {
  explicit LinearProblem(const ShellDescription& its_description)
      : description(its_description),
        mesh(description.mesh),
        shell(Comm(MPI_COMM_SELF), description),
        freedoms(3 * static_cast<int>(mesh.free_points())),
        load(Eigen::VectorXd::Zero(freedoms)) {
    std::vector<std::int32_t> every_point(mesh.free_points());
    std::iota(every_point.begin(), every_point.end(), 0);
    surface = surface_samples(description, shell.faces(), every_point, mesh.points);
  }

  Eigen::SparseMatrix<Real> assembled(bool mass) const {
    std::vector<Eigen::Triplet<Real>> entries;
    const auto add = [&](std::span<const std::int32_t> rows, std::span<const Real> k) {
      const std::size_t n = 3 * rows.size();
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          if (k[i * n + j] != 0)
            entries.emplace_back(freedom(rows[i / 3], i % 3), freedom(rows[j / 3], j % 3), k[i * n + j]);
    };
    if (mass) each_consistent_mass(description, add);
    else each_stiffness(shell, rest_of(shell), add);
    Eigen::SparseMatrix<Real> K(freedoms, freedoms);
    K.setFromTriplets(entries.begin(), entries.end());
    return K;
  }
  int freedom(std::int32_t row, std::size_t component) const {
    return 3 * shell.piece().points[row] + static_cast<int>(component);
  }

  /// A force for each unit of rest area [N/m^2].
  void add_area_load(const Vec3& pressure) {
    for (const Sample& sample : surface)
      for (std::size_t k = 0; k < sample.rows.size(); ++k)
        for (int c = 0; c < 3; ++c) load[3 * sample.rows[k] + c] += sample.measure * sample.value[k] * pressure[c];
  }

  /// Weights of the limit point nearest to `place` among the corners of faces.
  std::vector<std::pair<std::int32_t, Real>> point_at(const Vec3& place) const {
    std::int64_t nearest = 0;
    int corner = 0;
    Real distance = 1e300;
    std::vector<bool> exists;
    const auto limit = limit_points(mesh, exists);
    for (std::int64_t f = 0; f < mesh.material_faces; ++f)
      for (int c = 0; c < mesh.sides(); ++c)
        if ((limit[mesh.faces[f][c]] - place).norm() < distance) {
          distance = (limit[mesh.faces[f][c]] - place).norm();
          nearest = f;
          corner = c;
        }
    const Vec2 at = corner_places(mesh.sides())[static_cast<std::size_t>(corner)];
    const LimitBasis basis = limit_basis(mesh, std::vector{nearest}, std::vector{at});
    std::vector<std::pair<std::int32_t, Real>> weights;
    for (std::int64_t a = 0; a < basis.points_in(0); ++a)
      weights.emplace_back(basis.points[a], basis.row(0, 0)[a].value);
    return weights;
  }
  void add_point_load(const Vec3& place, const Vec3& force) {
    for (const auto& [p, w] : point_at(place))
      for (int c = 0; c < 3; ++c) load[3 * p + c] += w * force[c];
  }

  void solve() {
    const Eigen::SparseMatrix<Real> T = conditions.free_motions(freedoms);
    const Eigen::SparseMatrix<Real> K = T.transpose() * assembled(false) * T;
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<Real>> factors(K);
    ASSERT_EQ(factors.info(), Eigen::Success);
    u = T * factors.solve(T.transpose() * load);
  }
  Vec3 displacement(const Vec3& place) const {
    Vec3 sum = Vec3::Zero();
    for (const auto& [p, w] : point_at(place)) sum += w * Vec3(u.segment<3>(3 * p));
    return sum;
  }

  ShellDescription description;
  ControlMesh mesh;
  ShellShare shell;
  int freedoms;
  Conditions conditions;
  Eigen::VectorXd load, u;
  std::vector<Sample> surface;
};

}  // namespace weft::test
