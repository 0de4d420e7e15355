// Thin shells: division among ranks, the reference state, and loops over faces.

#include "weft/bodies/shell.hpp"

#include "weft/base/check.hpp"
#include "weft/base/random.hpp"
#include "weft/base/sums.hpp"
#include "weft/bodies/shell_cage.hpp"

#include "bodies/shell_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft {

namespace {

using Jet = SurfaceJet<Real>;
using FaceBlock = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Weights of a row as a matrix of five derivatives times control points.
Eigen::Matrix<Real, 5, Eigen::Dynamic> derivative_weights(std::span<const BasisWeights> row) {
  Eigen::Matrix<Real, 5, Eigen::Dynamic> W(5, row.size());
  for (std::size_t a = 0; a < row.size(); ++a) W.col(a) << row[a].d1, row[a].d2, row[a].d11, row[a].d12, row[a].d22;
  return W;
}

void add_jet_force(std::span<const BasisWeights> row, const Jet& G, std::span<Vec3> force) {
  for (std::size_t a = 0; a < row.size(); ++a)
    force[a] -= row[a].d1 * G.col(0) + row[a].d2 * G.col(1) + row[a].d11 * G.col(2) + row[a].d12 * G.col(3) +
                row[a].d22 * G.col(4);
}

/// Heights in units of the thickness, and weights.
Quadrature laminae_of(const ThicknessRule& rule) {
  if (rule.kind == ThicknessRule::Kind::quarter) return {{-0.25, 0.25}, {0.5, 0.5}};
  Quadrature points = gauss(rule.laminae);
  for (Real& at : points.at) at -= 0.5;
  return points;
}

/// Unit tangent along material axis 1 at the place t of a face, before it is made orthogonal to the normal.
Vec3 material_axis(const ShellDescription& shell, std::int64_t face, const Vec2& t, const Jet& q) {
  if (shell.direction) return *shell.direction;
  if (shell.mesh.texture.empty()) return q.col(0);
  const auto& [a, b, c, d] = shell.mesh.texture[face];
  const bool is_quad = shell.mesh.sides() == 4;
  const Vec2 by_u = is_quad ? Vec2((1 - t[1]) * (b - a) + t[1] * (c - d)) : Vec2(b - a),
             by_v = is_quad ? Vec2((1 - t[0]) * (d - a) + t[0] * (c - b)) : Vec2(c - a);
  // Along this change of (u, v) the second coordinate stays and the first grows.
  const Real sign = by_u[0] * by_v[1] - by_u[1] * by_v[0] < 0 ? -1 : 1;
  return sign * (by_v[1] * q.col(0) - by_u[1] * q.col(1));
}

/// Orthonormal tangents e1, e2 of the material frame in columns.
Eigen::Matrix<Real, 3, 2> material_frame(const ShellDescription& shell, std::int64_t face, const Vec2& t, const Jet& q,
                                         const Vec3& n) {
  const auto in_plane = [&](const Vec3& axis) -> Vec3 { return axis - axis.dot(n) * n; };
  Vec3 e1 = in_plane(material_axis(shell, face, t, q));
  // Where the axis has no direction along the surface any other is as good.
  if (!(e1.norm() > 1e-6 * (shell.direction ? shell.direction->norm() : 1e-6 * q.col(0).norm())))
    e1 = in_plane(q.col(0));
  Eigen::Matrix<Real, 3, 2> frame;
  frame.col(0) = e1.normalized();
  frame.col(1) = unit_normal<Real>(n, frame.col(0));
  return frame;
}

/// The laminae of one quadrature point; `weight` is that of the point in the plane, `rule` has the places across.
void add_stack(const Jet& q, const SurfacePoint<Real>& at, const Eigen::Matrix<Real, 3, 2>& frame, Real weight,
               Real thickness, const Quadrature& rule, std::vector<Lamina>& stack) {
  const Mat2 shape = at.inverse_metric * form_matrix<Real>(at.forms.tail<3>());  // n_a = - shape_ca a_c
  for (std::size_t l = 0; l < rule.at.size(); ++l) {
    const Real xi = thickness * rule.at[l];
    const Eigen::Matrix<Real, 3, 2> g = q.leftCols<2>() * (Mat2::Identity() - xi * shape);
    const Mat2 J = frame.transpose() * g;
    const Real D = J(0, 0) * J(1, 1) - J(0, 1) * J(1, 0);
    Mat2 inverse;
    inverse << J(1, 1), -J(0, 1), -J(1, 0), J(0, 0);
    stack.push_back({xi, weight * thickness * rule.weight[l] * D, inverse / D});
  }
}

}  // namespace

ShellFaces::ShellFaces(const ShellDescription& shell, std::vector<std::int64_t> numbers)
    : numbers_(std::move(numbers)), law_(shell.law), yield_(shell.yield) {
  WEFT_ENSURE(!yield_ || std::holds_alternative<ChosenLamina<LaminaHencky>>(law_));
  WEFT_ENSURE(static_cast<std::int64_t>(shell.thickness.size()) == shell.mesh.material_faces);
  WEFT_ENSURE(numbers_.size() == shell.thickness.size());
  const FaceRule rule(shell.mesh.sides(), shell.in_plane),
      mass_rule(shell.mesh.sides(), shell.mesh.sides() == 4 ? 4 : 5);
  places_ = rule.at;
  on_quads_ = shell.mesh.sides() == 4;
  const Quadrature across = laminae_of(shell.across);
  across_ = static_cast<int>(across.at.size());

  const std::span<const Vec3> rest = shell.mesh.points;
  std::vector<std::int64_t> faces(numbers_.size());
  std::iota(faces.begin(), faces.end(), std::int64_t(0));
  basis_ = limit_basis(shell.mesh, faces, rule.at);
  mass_basis_ = limit_basis(shell.mesh, faces, mass_rule.at);
  for (const std::int64_t f : faces) {
    for (int s = 0; s < basis_.samples; ++s) {
      const Jet q = jet_at(basis_, f, s, rest);
      const SurfacePoint<Real> at(q);
      add_stack(q, at, material_frame(shell, f, rule.at[s], q, at.n), rule.weight[s], shell.thickness[f], across,
                stack_);
    }
    for (int s = 0; s < mass_basis_.samples; ++s) {
      const Jet q = jet_at(mass_basis_, f, s, rest);
      const SurfacePoint<Real> at(q);
      const Real t = shell.thickness[f];
      const Real curvature = determinant(at.forms.tail<3>()) / determinant(at.forms.head<3>());  // that of Gauss
      mass_.push_back(shell.density * t * (1 + t * t / 12 * curvature) * mass_rule.weight[s] * area_of(at));
    }
  }

  entry_offsets_.assign(shell.mesh.points.size() + 1, 0);
  for (const std::int32_t r : basis_.points) ++entry_offsets_[r + 1];
  std::partial_sum(entry_offsets_.begin(), entry_offsets_.end(), entry_offsets_.begin());
  entries_.resize(basis_.points.size());
  std::vector<std::int64_t> next(entry_offsets_.begin(), entry_offsets_.end() - 1);
  for (std::size_t k = 0; k < basis_.points.size(); ++k)
    entries_[next[basis_.points[k]]++] = static_cast<std::int64_t>(k);

  laminae_ = Table::with<Id, PlasticStretch, PlasticStrain>();
  if (yield_) {
    laminae_.resize(stack_.size());
    const auto in_face = static_cast<PointId>(laminae_per_face());
    for (std::size_t r = 0; r < stack_.size(); ++r)
      laminae_.get<Id>()[r] = static_cast<PointId>(numbers_[r / in_face]) * in_face + r % in_face;
    std::fill_n(laminae_.get<PlasticStretch>().begin(), stack_.size(), LaminaMemory{}.stretch);
  }
}

bool ShellFaces::is_thin() const {
  return std::all_of(stack_.begin(), stack_.end(), [](const Lamina& l) { return l.volume > 0; });
}

std::size_t ShellFaces::bytes() const {
  return basis_.bytes() + mass_basis_.bytes() + bytes_of(stack_) + bytes_of(mass_) + bytes_of(entry_offsets_) +
         bytes_of(entries_);
}

void ShellFaces::add_mass(std::span<Real> mass) const {
  for (std::int64_t e = 0; e < mass_basis_.faces(); ++e)
    for (int s = 0; s < mass_basis_.samples; ++s)
      for (std::int64_t a = 0; a < mass_basis_.points_in(e); ++a)
        mass[mass_basis_.points_of(e)[a]] += mass_[e * mass_basis_.samples + s] * mass_basis_.row(e, s)[a].value;
}

namespace {

std::vector<Vec3> middles_of_faces(const ControlMesh& mesh) {
  std::vector<Vec3> middles;
  for (std::int64_t f = 0; f < mesh.material_faces; ++f) {
    Vec3& middle = middles.emplace_back(Vec3::Zero());
    for (const std::int32_t p : mesh.faces[f]) middle += mesh.points[p] / mesh.sides();
  }
  return middles;
}

}  // namespace

ShellShare::ShellShare(const Comm& comm, const ShellDescription& shell)
    : ShellShare(comm, shell, cage_of(shell, equal_run(middles_of_faces(shell.mesh), comm))) {}

ShellShare::ShellShare(const Comm& comm, const ShellDescription& shell, const ShellCage& cage)
    : ShellShare(comm, shell, cage, [&] {
        const std::vector<std::int32_t> needed = cage.points();
        return piece_of(comm, cage.numbers(), needed, owners_of_points(comm, needed, shell.mesh.points.size()));
      }()) {}

ShellShare::ShellShare(const Comm& comm, const ShellDescription& shell, const ShellCage& cage, MeshPiece piece)
    : ShellFaces(cage.as_shell(shell, piece), piece.elements),
      comm_(comm),
      piece_(std::move(piece)),
      forest_(comm, piece_.owned, piece_.originals) {
  comm.agree([&] {
    require(is_thin(), ExitCode::geometry,
            fmt::format("{}: this shell is thicker than twice its radius of curvature somewhere. Make it thinner or "
                        "its mesh smoother.",
                        shell.name));
  });
  for (const std::int32_t point : piece_.points) rest_.push_back(shell.mesh.points[static_cast<std::size_t>(point)]);
  points_ = Table::with<Mass>();
  points_.resize(piece_.points.size(), piece_.owned);
  add_mass(points_.get<Mass>());
  forest_.sum_to_owners(points_.column(Mass::label.name));
}

namespace {

/// What a loop over quadrature points reads.
struct Stacks {
  const LimitBasis& basis;
  std::span<const Lamina> laminae;
  const Table& memory;  ///< Without rows if the shell never yields.
  const std::optional<LaminaYield>& yield;
  int across;

  /// Energy of the forms at sample s of face e, and the derivatives that are asked for.
  template <LaminaLaw L>
  FormsEnergy at(const typename L::Constants& k, std::int64_t e, int s, const Forms<Real>& forms, bool second) const {
    const std::size_t first = (e * basis.samples + s) * across;
    const auto stack = laminae.subspan(first, across);
    FormsEnergy sum;
    if constexpr (std::same_as<L, LaminaHencky>)
      if (yield) {
        const auto stretch = memory.get<PlasticStretch>();
        const FlowingLaminae law{k, *yield, memory.get<PlasticStrain>().subspan(first, across)};
        add_laminae(
            law, stack, [&](std::size_t l) -> Mat2 { return stack[l].to_material * inverse_of(stretch[first + l]); },
            forms, second, sum);
        return sum;
      }
    add_laminae(
        ElasticLaminae<L>{k}, stack, [&](std::size_t l) -> const Mat2& { return stack[l].to_material; }, forms, second,
        sum);
    return sum;
  }
};

}  // namespace

Real ShellFaces::energy(std::span<const Vec3> x) const {
  const Stacks stacks{basis_, stack_, laminae_, yield_, across_};
  std::vector<Real> of_face(basis_.faces(), 0);
  with_law([&]<class L>(L, const auto& k) {
#pragma omp parallel for schedule(static)
    for (std::int64_t e = 0; e < basis_.faces(); ++e)
      for (int s = 0; s < basis_.samples; ++s)
        of_face[e] += stacks.at<L>(k, e, s, SurfacePoint<Real>(jet_at(basis_, e, s, x)).forms, false).energy;
  });
  return ordered_sum(of_face.size(), Real(0), [&](std::size_t e) { return of_face[e]; });
}

/// Adds to each row what faces have for it, in the order of faces; `part_of_face(e, parts)` adds to one vector for each
/// control point of face e.
template <class F>
void ShellFaces::each_row_sum(std::span<Vec3> rows, F&& part_of_face) const {
  std::vector<Vec3> parts(basis_.points.size(), Vec3::Zero());
#pragma omp parallel for schedule(static)
  for (std::int64_t e = 0; e < basis_.faces(); ++e)
    part_of_face(e, std::span(parts).subspan(basis_.offsets[e], basis_.points_in(e)));
#pragma omp parallel for schedule(static)
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::int64_t k = entry_offsets_[r]; k < entry_offsets_[r + 1]; ++k) rows[r] += parts[entries_[k]];
}

void ShellFaces::add_force(std::span<const Vec3> x, std::span<Vec3> force) const {
  const Stacks stacks{basis_, stack_, laminae_, yield_, across_};
  with_law([&]<class L>(L, const auto& k) {
    each_row_sum(force, [&](std::int64_t e, std::span<Vec3> parts) {
      for (int s = 0; s < basis_.samples; ++s) {
        const Jet q = jet_at(basis_, e, s, x);
        const SurfacePoint<Real> at(q);
        add_jet_force(basis_.row(e, s), jet_gradient<Real>(q, at, stacks.at<L>(k, e, s, at.forms, false).gradient),
                      parts);
      }
    });
  });
}

std::vector<JetHessian> ShellFaces::linearise(std::span<const Vec3> x) const {
  const Stacks stacks{basis_, stack_, laminae_, yield_, across_};
  std::vector<JetHessian> hessians(basis_.faces() * basis_.samples);
  with_law([&]<class L>(L, const auto& k) {
#pragma omp parallel for schedule(static)
    for (std::int64_t e = 0; e < basis_.faces(); ++e)
      for (int s = 0; s < basis_.samples; ++s) {
        const Jet q = jet_at(basis_, e, s, x);
        const SurfacePoint<Real> at(q);
        hessians[e * basis_.samples + s] = jet_hessian(q, at, stacks.at<L>(k, e, s, at.forms, true));
      }
  });
  return hessians;
}

void ShellFaces::add_force_change(std::span<const JetHessian> at, std::span<const Vec3> dx,
                                  std::span<Vec3> change) const {
  each_row_sum(change, [&](std::int64_t e, std::span<Vec3> parts) {
    for (int s = 0; s < basis_.samples; ++s) {
      const Jet dq = jet_at(basis_, e, s, dx);
      Jet dG;
      Eigen::Map<Eigen::Matrix<Real, 15, 1>>(dG.data()).noalias() =
          at[e * basis_.samples + s] * Eigen::Map<const Eigen::Matrix<Real, 15, 1>>(dq.data());
      add_jet_force(basis_.row(e, s), dG, parts);
    }
  });
}

namespace {

/// Matrices of faces are computed by all threads, a bounded number at a time, and told by one in order.
template <class MatrixOf>
void tell_in_order(const LimitBasis& basis, const FaceMatrix& tell, MatrixOf&& matrix_of) {
  constexpr std::int64_t batch = 64;
  std::vector<FaceBlock> blocks(batch);
  for (std::int64_t begin = 0; begin < basis.faces(); begin += batch) {
    const std::int64_t end = std::min(begin + batch, basis.faces());
#pragma omp parallel for schedule(static)
    for (std::int64_t e = begin; e < end; ++e) blocks[e - begin] = matrix_of(e);
    for (std::int64_t e = begin; e < end; ++e) {
      const FaceBlock& block = blocks[e - begin];
      tell(basis.points_of(e), {block.data(), static_cast<std::size_t>(block.size())});
    }
  }
}

}  // namespace

void ShellFaces::each_stiffness(std::span<const JetHessian> at, const FaceMatrix& tell) const {
  tell_in_order(basis_, tell, [&](std::int64_t e) {
    const auto n = basis_.points_in(e);
    FaceBlock block = FaceBlock::Zero(3 * n, 3 * n);
    for (int s = 0; s < basis_.samples; ++s) {
      const auto W = derivative_weights(basis_.row(e, s));
      const JetHessian& H = at[e * basis_.samples + s];
      Eigen::Matrix<Real, 5, 5> part;  // of the second derivative: components i and j of the vectors
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          for (int k = 0; k < 5; ++k)
            for (int l = 0; l < 5; ++l) part(k, l) = H(3 * k + i, 3 * l + j);
          const Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic> sum = W.transpose() * (part * W);
          for (int b = 0; b < n; ++b)
            for (int a = 0; a < n; ++a) block(3 * a + i, 3 * b + j) += sum(a, b);
        }
    }
    return block;
  });
}

void ShellFaces::each_mass(const FaceMatrix& tell) const {
  tell_in_order(mass_basis_, tell, [&](std::int64_t e) {
    const auto n = mass_basis_.points_in(e);
    FaceBlock block = FaceBlock::Zero(3 * n, 3 * n);
    for (int s = 0; s < mass_basis_.samples; ++s) {
      const auto row = mass_basis_.row(e, s);
      for (int a = 0; a < n; ++a)
        for (int b = 0; b < n; ++b) {
          const Real m = mass_[e * mass_basis_.samples + s] * row[a].value * row[b].value;
          for (int i = 0; i < 3; ++i) block(3 * a + i, 3 * b + i) += m;
        }
    }
    return block;
  });
}

void ShellFaces::flow(std::span<const Vec3> x) {
  if (!yield_) return;
  const auto& k = std::get<ChosenLamina<LaminaHencky>>(law_).constants;
  const auto stretch = laminae_.get<PlasticStretch>();
  const auto strain = laminae_.get<PlasticStrain>();
#pragma omp parallel for schedule(static)
  for (std::int64_t e = 0; e < basis_.faces(); ++e)
    for (int s = 0; s < basis_.samples; ++s) {
      const LaminaMetric<Real> metric(SurfacePoint<Real>(jet_at(basis_, e, s, x)).forms);
      for (int l = 0; l < across_; ++l) {
        const std::size_t r = (e * basis_.samples + s) * across_ + l;
        const Symmetric2<Real> g = congruence<Real>(stack_[r].to_material) * metric.at(stack_[r].height);
        const LaminaMemory after = flowed(k, *yield_, {stretch[r], strain[r]}, g);
        stretch[r] = after.stretch;
        strain[r] = after.plastic_strain;
      }
    }
}

Real ShellFaces::membrane_stiffness() const {
  return with_law([]<class L>(L, const auto& k) { return L::stiffness(k); });
}

Real ShellFaces::stiffening(std::span<const Vec3> x) const {
  const std::span<const Vec3> plastic = yield_ ? laminae_.get<PlasticStretch>() : std::span<const Vec3>();
  std::vector<Real> of_face(basis_.faces(), 1);
  with_law([&]<class L>(L, const auto& k) {
#pragma omp parallel for schedule(static)
    for (std::int64_t e = 0; e < basis_.faces(); ++e)
      for (int s = 0; s < basis_.samples; ++s) {
        const LaminaMetric<Real> metric(SurfacePoint<Real>(jet_at(basis_, e, s, x)).forms);
        for (int l = 0; l < across_; ++l) {
          const std::size_t r = (e * basis_.samples + s) * across_ + l;
          const Symmetric2<Real> g = congruence<Real>(stack_[r].to_material) * metric.at(stack_[r].height);
          if (plastic.empty()) {
            of_face[e] = std::max(of_face[e], L::stiffening(k, g));
          } else {
            // What is felt is the elastic stretch, while the whole one changes.
            const Symmetric2<Real> c = congruence<Real>(inverse_of(plastic[r])) * g;
            const Real share = eigenvalues_of(c)[0] / std::max(eigenvalues_of(g)[0], 1e-3);
            of_face[e] = std::max(of_face[e], L::stiffening(k, c) * share);
          }
        }
      }
  });
  return of_face.empty() ? 1 : *std::max_element(of_face.begin(), of_face.end());
}

Real ShellFaces::plastic_strain_near(std::int64_t e, const Vec2& at) const {
  if (!yield_) return 0;
  const int n = static_cast<int>(std::lround(std::sqrt(basis_.samples)));
  const auto distance = [&](const Vec2& place) { return (place - at).squaredNorm(); };
  const auto s = on_quads_
                     ? std::min(n - 1, static_cast<int>(at[1] * n)) * n + std::min(n - 1, static_cast<int>(at[0] * n))
                     : std::ranges::min_element(places_, {}, distance) - places_.begin();
  const auto strain = laminae_.get<PlasticStrain>().subspan((e * basis_.samples + s) * across_, across_);
  return *std::max_element(strain.begin(), strain.end());
}

Real ShellShare::stiffest(std::span<const Vec3> x) const {
  Table work = Table::with<Velocity, Position>();
  work.resize(piece_.points.size(), piece_.owned);
  const auto v = work.get<Velocity>(), Kv = work.get<Position>();
  const auto mass = points_.get<Mass>();
  const auto hessians = linearise(x);
  for (std::size_t r = 0; r < piece_.owned; ++r) {
    Random random(1, 0, static_cast<PointId>(piece_.points[r]));
    v[r] = random.uniform3() - Vec3::Constant(0.5);
  }
  const auto sum = [&](auto&& term) { return comm_.sum(ordered_sum(piece_.owned, Real(0), term)); };
  // Power iteration on M^-1 K.
  Real largest = 0;
  for (int iteration = 0; iteration < 100; ++iteration) {
    const Real size = std::sqrt(sum([&](std::size_t r) { return mass[r] * v[r].squaredNorm(); }));
    if (!(size > 0)) return 0;
    for (std::size_t r = 0; r < piece_.owned; ++r) v[r] /= size;
    forest_.update_ghosts(work.column(Velocity::label.name));
    std::fill(Kv.begin(), Kv.end(), Vec3::Zero());
    add_force_change(hessians, v, Kv);
    forest_.sum_to_owners(work.column(Position::label.name));
    largest = -sum([&](std::size_t r) { return v[r].dot(Kv[r]); });
    for (std::size_t r = 0; r < piece_.owned; ++r) v[r] = -Kv[r] / mass[r];
  }
  return largest;
}

}  // namespace weft
