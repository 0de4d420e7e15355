// Thin shells: division among ranks, the reference state, and loops over faces.

#include "weft/bodies/shell.hpp"

#include "weft/base/check.hpp"
#include "weft/base/random.hpp"
#include "weft/base/sums.hpp"
#include "weft/math/quadrature.hpp"

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

/// Tangents and second derivatives; differences to the first control point keep digits far from the origin.
Jet jet_at(const LimitBasis& basis, std::int64_t e, int s, std::span<const Vec3> x) {
  const auto points = basis.points_of(e);
  const auto row = basis.row(e, s);
  Jet q = Jet::Zero();
  for (std::size_t a = 1; a < points.size(); ++a) {
    const Vec3 r = x[points[a]] - x[points[0]];
    q.col(0) += row[a].d1 * r;
    q.col(1) += row[a].d2 * r;
    q.col(2) += row[a].d11 * r;
    q.col(3) += row[a].d12 * r;
    q.col(4) += row[a].d22 * r;
  }
  return q;
}

void add_jet_force(std::span<const BasisWeights> row, const Jet& G, std::span<Vec3> force) {
  for (std::size_t a = 0; a < row.size(); ++a)
    force[a] -= row[a].d1 * G.col(0) + row[a].d2 * G.col(1) + row[a].d11 * G.col(2) + row[a].d12 * G.col(3) +
                row[a].d22 * G.col(4);
}

/// Products of one-dimensional Gauss rules over a face.
struct FaceRule {
  std::vector<Vec2> at;
  std::vector<Real> weight;
  explicit FaceRule(int n) {
    const Quadrature rule = gauss(n);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        at.emplace_back(rule.at[i], rule.at[j]);
        weight.push_back(rule.weight[i] * rule.weight[j]);
      }
  }
};

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
  const Vec2 by_u = (1 - t[1]) * (b - a) + t[1] * (c - d), by_v = (1 - t[0]) * (d - a) + t[0] * (c - b);
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

Real determinant(const Symmetric2<Real>& s) { return s[0] * s[1] - s[2] * s[2]; }

/// Area of the surface for each unit of the face's coordinates.
Real area_of(const SurfacePoint<Real>& at) { return std::sqrt(determinant(at.forms.head<3>())); }

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

void require_thin(const std::vector<Lamina>& stack, const std::string& name) {
  require(std::all_of(stack.begin(), stack.end(), [](const Lamina& l) { return l.volume > 0; }), ExitCode::geometry,
          fmt::format("{}: this shell is thicker than twice its radius of curvature somewhere. Make it thinner or its "
                      "mesh smoother.",
                      name));
}

/// The control points that shape a face: those of all faces around its corners.
std::vector<std::vector<std::int32_t>> points_around(const ControlMesh& mesh) {
  std::vector<std::vector<std::int32_t>> faces_at(mesh.points.size());
  for (std::size_t f = 0; f < mesh.faces.size(); ++f)
    for (const std::int32_t p : mesh.faces[f]) faces_at[p].push_back(static_cast<std::int32_t>(f));
  std::vector<std::vector<std::int32_t>> around(mesh.material_faces);
  for (std::int64_t f = 0; f < mesh.material_faces; ++f) {
    auto& points = around[f];
    for (const std::int32_t p : mesh.faces[f])
      for (const std::int32_t g : faces_at[p]) points.insert(points.end(), mesh.faces[g].begin(), mesh.faces[g].end());
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
  }
  return around;
}

}  // namespace

std::vector<MeshPiece> divide_shell(const ControlMesh& mesh, int ranks) {
  std::vector<Vec3> middles;
  for (std::int64_t f = 0; f < mesh.material_faces; ++f) {
    Vec3& middle = middles.emplace_back(Vec3::Zero());
    for (const std::int32_t p : mesh.faces[f]) middle += mesh.points[p] / 4;
  }
  const auto around = points_around(mesh);
  return divide_mesh(
      equal_runs(middles, ranks), [&](std::int64_t f) { return std::span<const std::int32_t>(around[f]); },
      mesh.points.size(), ranks);
}

Shell::Shell(const Comm& comm, const ShellDescription& shell)
    : name_(shell.name),
      piece_(divide_shell(shell.mesh, comm.size())[comm.rank()]),
      forest_(comm, piece_.owned, piece_.originals),
      law_(shell.law),
      yield_(shell.yield) {
  WEFT_ENSURE(!yield_ || std::holds_alternative<ChosenLamina<LaminaHencky>>(law_));
  WEFT_ENSURE(static_cast<std::int64_t>(shell.thickness.size()) == shell.mesh.material_faces);
  const FaceRule rule(shell.in_plane), mass_rule(4);
  const Quadrature across = laminae_of(shell.across);
  across_ = static_cast<int>(across.at.size());

  const std::span<const Vec3> rest = shell.mesh.points;
  basis_ = limit_basis(shell.mesh, piece_.elements, rule.at);
  mass_basis_ = limit_basis(shell.mesh, piece_.elements, mass_rule.at);
  for (std::size_t e = 0; e < piece_.elements.size(); ++e) {
    const std::int64_t f = piece_.elements[e];
    for (int s = 0; s < basis_.samples; ++s) {
      const Jet q = jet_at(basis_, e, s, rest);
      const SurfacePoint<Real> at(q);
      add_stack(q, at, material_frame(shell, f, rule.at[s], q, at.n), rule.weight[s], shell.thickness[f], across,
                stack_);
      rest_area_.push_back(rule.weight[s] * area_of(at));
    }
    for (int s = 0; s < mass_basis_.samples; ++s) {
      const Jet q = jet_at(mass_basis_, e, s, rest);
      const SurfacePoint<Real> at(q);
      const Real t = shell.thickness[f];
      const Real curvature = determinant(at.forms.tail<3>()) / determinant(at.forms.head<3>());  // that of Gauss
      mass_.push_back(shell.density * t * (1 + t * t / 12 * curvature) * mass_rule.weight[s] * area_of(at));
    }
  }
  comm.agree([&] { require_thin(stack_, name_); });

  // From numbers in the mesh to rows.
  std::vector<std::int32_t> row(shell.mesh.points.size(), -1);
  for (std::size_t r = 0; r < piece_.points.size(); ++r) row[piece_.points[r]] = static_cast<std::int32_t>(r);
  for (LimitBasis* basis : {&basis_, &mass_basis_})
    for (std::int32_t& p : basis->points) {
      p = row[p];
      WEFT_ENSURE(p >= 0);
    }
  entry_offsets_.assign(piece_.points.size() + 1, 0);
  for (const std::int32_t r : basis_.points) ++entry_offsets_[r + 1];
  std::partial_sum(entry_offsets_.begin(), entry_offsets_.end(), entry_offsets_.begin());
  entries_.resize(basis_.points.size());
  std::vector<std::int64_t> next(entry_offsets_.begin(), entry_offsets_.end() - 1);
  for (std::size_t k = 0; k < basis_.points.size(); ++k)
    entries_[next[basis_.points[k]]++] = static_cast<std::int64_t>(k);

  points_ = Table::with<Id, Position, Velocity, Mass, RestPosition>();
  points_.resize(piece_.points.size(), piece_.owned);
  for (std::size_t r = 0; r < piece_.points.size(); ++r) {
    points_.get<Id>()[r] = static_cast<PointId>(piece_.points[r]);
    points_.get<Position>()[r] = points_.get<RestPosition>()[r] = rest[piece_.points[r]];
  }
  const auto mass = points_.get<Mass>();
  for (std::int64_t e = 0; e < mass_basis_.faces(); ++e)
    for (int s = 0; s < mass_basis_.samples; ++s)
      for (std::int64_t a = 0; a < mass_basis_.points_in(e); ++a)
        mass[mass_basis_.points_of(e)[a]] += mass_[e * mass_basis_.samples + s] * mass_basis_.row(e, s)[a].value;
  forest_.sum_to_owners(points_.column(Mass::label.name));

  laminae_ = Table::with<PlasticStretch, PlasticStrain>();
  if (yield_) {
    laminae_.resize(stack_.size());
    std::fill_n(laminae_.get<PlasticStretch>().begin(), stack_.size(), LaminaMemory{}.stretch);
  }
}

namespace {

/// What a loop over quadrature points reads.
struct Stacks {
  const LimitBasis& basis;
  std::span<const Lamina> laminae;
  std::span<const Vec3> plastic;  ///< Empty if the shell never yields.
  int across;

  /// Energy of the forms at sample s of face e, and the derivatives that are asked for.
  template <LaminaLaw L>
  FormsEnergy at(const typename L::Constants& k, std::int64_t e, int s, const Forms<Real>& forms, bool second) const {
    const std::size_t first = (e * basis.samples + s) * across;
    const auto stack = laminae.subspan(first, across);
    FormsEnergy sum;
    if (plastic.empty())
      add_laminae<L>(
          k, stack, [&](std::size_t l) -> const Mat2& { return stack[l].to_material; }, forms, second, sum);
    else
      add_laminae<L>(
          k, stack, [&](std::size_t l) -> Mat2 { return stack[l].to_material * inverse_of(plastic[first + l]); }, forms,
          second, sum);
    return sum;
  }
};

std::span<const Vec3> plastic_of(const Table& laminae) {
  return laminae.rows() > 0 ? laminae.get<PlasticStretch>() : std::span<const Vec3>();
}

}  // namespace

Real Shell::energy(std::span<const Vec3> x) const {
  const Stacks stacks{basis_, stack_, plastic_of(laminae_), across_};
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
void Shell::each_row_sum(std::span<Vec3> rows, F&& part_of_face) const {
  std::vector<Vec3> parts(basis_.points.size(), Vec3::Zero());
#pragma omp parallel for schedule(static)
  for (std::int64_t e = 0; e < basis_.faces(); ++e)
    part_of_face(e, std::span(parts).subspan(basis_.offsets[e], basis_.points_in(e)));
#pragma omp parallel for schedule(static)
  for (std::size_t r = 0; r < piece_.points.size(); ++r)
    for (std::int64_t k = entry_offsets_[r]; k < entry_offsets_[r + 1]; ++k) rows[r] += parts[entries_[k]];
}

void Shell::add_force(std::span<const Vec3> x, std::span<Vec3> force) const {
  const Stacks stacks{basis_, stack_, plastic_of(laminae_), across_};
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

std::vector<JetHessian> Shell::linearise(std::span<const Vec3> x) const {
  const Stacks stacks{basis_, stack_, plastic_of(laminae_), across_};
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

void Shell::add_force_change(std::span<const JetHessian> at, std::span<const Vec3> dx, std::span<Vec3> change) const {
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

void Shell::each_stiffness(std::span<const JetHessian> at, const FaceMatrix& tell) const {
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

void Shell::each_mass(const FaceMatrix& tell) const {
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

void Shell::flow(std::span<const Vec3> x) {
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

Real Shell::stiffest(std::span<const Vec3> x) const {
  const std::size_t n = piece_.points.size();
  std::vector<Real> mass(n, 0);
  for (std::int64_t e = 0; e < mass_basis_.faces(); ++e)
    for (int s = 0; s < mass_basis_.samples; ++s)
      for (std::int64_t a = 0; a < mass_basis_.points_in(e); ++a)
        mass[mass_basis_.points_of(e)[a]] += mass_[e * mass_basis_.samples + s] * mass_basis_.row(e, s)[a].value;
  const auto hessians = linearise(x);
  // Power iteration on M^-1 K.
  std::vector<Vec3> v(n), Kv(n);
  Random random(1, 0, 0);
  for (Vec3& entry : v)
    for (int i = 0; i < 3; ++i) entry[i] = random.uniform() - 0.5;
  Real largest = 0;
  for (int iteration = 0; iteration < 100; ++iteration) {
    const Real size = std::sqrt(ordered_sum(n, Real(0), [&](std::size_t r) { return mass[r] * v[r].squaredNorm(); }));
    if (!(size > 0)) return 0;
    for (std::size_t r = 0; r < n; ++r) {
      v[r] /= size;
      Kv[r].setZero();
    }
    add_force_change(hessians, v, Kv);
    largest = -ordered_sum(n, Real(0), [&](std::size_t r) { return v[r].dot(Kv[r]); });
    for (std::size_t r = 0; r < n; ++r) v[r] = -Kv[r] / mass[r];
  }
  return largest;
}

}  // namespace weft
