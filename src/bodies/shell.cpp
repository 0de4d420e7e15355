// Thin shells: division among ranks, the reference state, and loops over faces.

#include "weft/bodies/shell.hpp"

#include "bodies/shell_cage.hpp"
#include "weft/base/check.hpp"
#include "weft/base/random.hpp"
#include "weft/base/sums.hpp"

#include "bodies/shell_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft {

namespace {

constexpr int most_laminae = 64;  ///< Across the thickness.

using Jet = SurfaceJet<Real>;

/// Heights in units of the thickness, and weights.
Quadrature laminae_of(const ThicknessRule& rule) {
  if (rule.kind == ThicknessRule::Kind::quarter) return {{-0.25, 0.25}, {0.5, 0.5}};
  Quadrature points = gauss(rule.laminae);
  for (Real& at : points.at) at -= 0.5;
  return points;
}

/// Unit tangent along material axis 1 at the coordinates t of a face, before it is made orthogonal to the normal.
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

/// Sets a lane of the laminae of one quadrature point; `weight` is that of the point in the plane, `rule` has the
/// places across.
void set_laminae(int lane, const Jet& q, const SurfacePoint<Real>& at, const Eigen::Matrix<Real, 3, 2>& frame,
                 Real weight, Real thickness, const Quadrature& rule, std::span<Lamina> stack) {
  const Mat2 shape = at.inverse_metric * form_matrix<Real>(at.forms.tail<3>());  // n_a = - shape_ca a_c
  for (std::size_t l = 0; l < rule.at.size(); ++l) {
    const Real xi = thickness * rule.at[l];
    const Eigen::Matrix<Real, 3, 2> g = q.leftCols<2>() * (Mat2::Identity() - xi * shape);
    const Mat2 J = frame.transpose() * g;
    const Real D = J(0, 0) * J(1, 1) - J(0, 1) * J(1, 0);
    const std::array<Real, 4> inverse{J(1, 1) / D, -J(1, 0) / D, -J(0, 1) / D, J(0, 0) / D};  // by columns
    stack[l].height.set(lane, xi);
    stack[l].volume.set(lane, weight * thickness * rule.weight[l] * D);
    for (int i = 0; i < 4; ++i) stack[l].to_material(i).set(lane, inverse[i]);
  }
}

}  // namespace

/// What a loop over the quadrature points of packs reads.
struct ShellFaces::Stacks {
  const ShellFaces& shell;

  /// Of the quadrature points of all packs.
  std::size_t index_of(const FacePack& pack, int s) const {
    const auto before = static_cast<std::size_t>(&pack - shell.faces_.packs().data());
    return before * static_cast<std::size_t>(shell.basis().samples) + static_cast<std::size_t>(s);
  }
  std::size_t first_lamina(const FacePack& pack, int s) const {
    return index_of(pack, s) * static_cast<std::size_t>(shell.across_);
  }
  std::span<const Lamina> laminae(const FacePack& pack, int s) const {
    return std::span(shell.stack_).subspan(first_lamina(pack, s), static_cast<std::size_t>(shell.across_));
  }
  /// Rows of lamina l of sample s in laminae().
  PackRows rows_of(const FacePack& pack, int s, int l) const {
    return FacePacks::rows_of(pack, shell.laminae_per_face(), s * shell.across_ + l);
  }
  Vector3<Pack> plastic_stretch(const FacePack& pack, int s, int l) const {
    return load(shell.laminae_.get<PlasticStretch>(), rows_of(pack, s, l));
  }

  SurfaceJet<Pack> jet(const FacePack& pack, int s, std::span<const Vector3<Pack>> corners) const {
    return shell.faces_.at(pack, s, [&](const auto row) { return jet_of(row, corners); });
  }
  void add_force(const FacePack& pack, int s, const SurfaceJet<Pack>& G, std::span<Vector3<Pack>> forces) const {
    shell.faces_.at(pack, s, [&](const auto row) { add_jet_force(row, G, forces); });
  }

  /// What the laminae of sample s oppose to these forms.
  template <Asked asked, LaminaLaw L>
  FormsEnergy<Pack> energy_of(const typename L::Constants& k, const FacePack& pack, int s,
                              const Forms<Pack>& forms) const {
    const auto stack = laminae(pack, s);
    if constexpr (std::same_as<L, LaminaHencky>)
      if (shell.yield_) {
        std::array<Pack, most_laminae> strain;
        for (int l = 0; l < shell.across_; ++l)
          strain[l] = load(shell.laminae_.get<PlasticStrain>(), rows_of(pack, s, l));
        return energy_of_laminae<asked, Pack>(
            FlowingLaminae{k, *shell.yield_, strain}, stack,
            [&](int l) -> Matrix2<Pack> { return stack[l].to_material * inverse_of(plastic_stretch(pack, s, l)); },
            forms);
      }
    return energy_of_laminae<asked, Pack>(
        ElasticLaminae<L>{k}, stack, [&](int l) -> const Matrix2<Pack>& { return stack[l].to_material; }, forms);
  }

  /// Of sample s, by the jet; projected: without negative eigenvalues.
  template <LaminaLaw L>
  JetHessian<Pack> hessian(const typename L::Constants& k, const FacePack& pack, int s,
                           std::span<const Vector3<Pack>> corners, bool projected) const {
    const SurfaceJet<Pack> q = jet(pack, s, corners);
    const SurfacePoint<Pack> at(q);
    const FormsEnergy<Pack> of_forms = energy_of<Asked::hessian, L>(k, pack, s, at.forms);
    const JetHessian<Pack> H = jet_hessian(q, at, of_forms);
    return projected ? positive_jet_hessian(q, at, of_forms.gradient, H) : H;
  }
};

namespace {

/// A part of a stiffness looks at the tangents and second derivatives of the surface.
void look_at_jet(std::span<const BasisWeights> row, MeshStiffness::Part part) {
  for (std::size_t a = 0; a < row.size(); ++a) {
    const BasisWeights& w = row[a];
    part.w.col(static_cast<int>(a)) << w.d1, w.d2, w.d11, w.d12, w.d22;
  }
}

}  // namespace

ShellFaces::ShellFaces(const ShellDescription& shell, std::vector<std::int64_t> numbers)
    : numbers_(std::move(numbers)), law_(shell.law), yield_(shell.yield) {
  WEFT_ENSURE(!yield_ || std::holds_alternative<ChosenLamina<LaminaHencky>>(law_));
  WEFT_ENSURE(static_cast<std::int64_t>(shell.thickness.size()) == shell.mesh.material_faces);
  WEFT_ENSURE(numbers_.size() == shell.thickness.size());
  const FaceRule rule(shell.mesh.sides(), shell.in_plane);
  places_ = rule.at;
  on_quads_ = shell.mesh.sides() == 4;
  const Quadrature across = laminae_of(shell.across);
  across_ = static_cast<int>(across.at.size());
  WEFT_ENSURE(across_ <= most_laminae);

  const std::span<const Vec3> rest = std::span(shell.mesh.points).first(shell.mesh.free_points());
  std::vector<std::int64_t> faces(numbers_.size());
  std::iota(faces.begin(), faces.end(), std::int64_t(0));
  faces_ = FacePacks(limit_basis(shell.mesh, faces, rule.at), rest.size());
  stack_.resize(faces_.packs().size() * static_cast<std::size_t>(laminae_per_face()));
  for (const FacePack& pack : faces_.packs())
    for (int s = 0; s < basis().samples; ++s) {
      const auto laminae = std::span(stack_).subspan(Stacks{*this}.first_lamina(pack, s), across_);
      for (int lane = 0; lane < Pack::size; ++lane) {
        const std::int64_t f = pack.faces.row[lane];
        const Jet q = jet_at(basis(), f, s, rest);
        const SurfacePoint<Real> at(q);
        set_laminae(lane, q, at, material_frame(shell, f, rule.at[s], q, at.n), rule.weight[s], shell.thickness[f],
                    across, laminae);
      }
    }
  lumped_mass_.resize(rest.size(), 0);
  mass_of_face_.resize(shell.thickness.size(), 0);
  each_mass(shell, [&](std::int64_t f, std::span<const std::int32_t> points, std::span<const BasisWeights> weights,
                       Real mass) {
    mass_of_face_[static_cast<std::size_t>(f)] += mass;
    for (std::size_t a = 0; a < points.size(); ++a) lumped_mass_[points[a]] += mass * weights[a].value;
  });

  laminae_ = Table::with<Id, PlasticStretch, PlasticStrain>();
  if (yield_) {
    const auto in_face = static_cast<PointId>(laminae_per_face());
    laminae_.resize(numbers_.size() * in_face);
    for (std::size_t r = 0; r < laminae_.rows(); ++r)
      laminae_.get<Id>()[r] = static_cast<PointId>(numbers_[r / in_face]) * in_face + r % in_face;
    std::ranges::fill(laminae_.get<PlasticStretch>(), LaminaMemory{}.stretch);
  }
}

bool ShellFaces::is_thin() const {
  return std::ranges::none_of(stack_, [](const Lamina& l) { return any(!(l.volume > 0)); });
}

std::size_t ShellFaces::bytes() const {
  return faces_.bytes() + bytes_of(stack_) + bytes_of(lumped_mass_) + bytes_of(mass_of_face_);
}

void ShellFaces::add_mass(std::span<Real> mass) const {
  for (std::size_t r = 0; r < mass.size(); ++r) mass[r] += lumped_mass_[r];
}

void each_mass(const ShellDescription& shell, const MassAtPoint& tell) {
  const FaceRule rule(shell.mesh.sides(), shell.mesh.sides() == 4 ? 4 : 5);
  std::vector<std::int64_t> faces(static_cast<std::size_t>(shell.mesh.material_faces));
  std::iota(faces.begin(), faces.end(), std::int64_t(0));
  const LimitBasis basis = limit_basis(shell.mesh, faces, rule.at);
  for (const std::int64_t f : faces)
    for (int s = 0; s < basis.samples; ++s) {
      const SurfacePoint<Real> at(jet_at(basis, f, s, shell.mesh.points));
      const Real t = shell.thickness[f];
      const Real curvature = determinant(at.forms.tail<3>()) / determinant(at.forms.head<3>());  // Gauss'
      tell(f, basis.points_of(f), basis.row(f, s),
           shell.density * t * (1 + t * t / 12 * curvature) * rule.weight[s] * area_of(at));
    }
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
        return piece_of(comm, needed, owners_of_points(comm, needed, shell.mesh.free_points()));
      }()) {}

ShellShare::ShellShare(const Comm& comm, const ShellDescription& shell, const ShellCage& cage, MeshPiece piece)
    : ShellFaces(cage.as_shell(shell, piece), cage.numbers()),
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

Real ShellFaces::energy(std::span<const Vec3> x) const {
  const Stacks stacks{*this};
  std::vector<Real> of_face(numbers_.size(), 0);
  with_law([&]<class L>(L, const auto& k) {
    faces_.each(x, [&](const FacePack& pack, std::span<const Vector3<Pack>> corners) {
      Pack sum = 0;
      for (int s = 0; s < basis().samples; ++s)
        sum += stacks.energy_of<Asked::energy, L>(k, pack, s, SurfacePoint<Pack>(stacks.jet(pack, s, corners)).forms)
                   .energy;
      store(sum, pack.faces, std::span(of_face));
    });
  });
  return ordered_sum(of_face.size(), Real(0), [&](std::size_t e) { return of_face[e]; });
}

void ShellFaces::add_force(std::span<const Vec3> x, std::span<Vec3> force) const {
  const Stacks stacks{*this};
  with_law([&]<class L>(L, const auto& k) {
    faces_.add_forces(x, force, [&](const FacePack& pack, const auto corners, const auto forces) {
      for (int s = 0; s < basis().samples; ++s) {
        const SurfaceJet<Pack> q = stacks.jet(pack, s, corners);
        const SurfacePoint<Pack> at(q);
        const auto by_forms = stacks.energy_of<Asked::gradient, L>(k, pack, s, at.forms).gradient;
        stacks.add_force(pack, s, jet_gradient(q, at, by_forms), forces);
      }
    });
  });
}

JetHessians ShellFaces::linearise(std::span<const Vec3> x) const {
  const Stacks stacks{*this};
  JetHessians hessians(faces_.packs().size() * static_cast<std::size_t>(basis().samples));
  with_law([&]<class L>(L, const auto& k) {
    faces_.each(x, [&](const FacePack& pack, std::span<const Vector3<Pack>> corners) {
      for (int s = 0; s < basis().samples; ++s)
        hessians[stacks.index_of(pack, s)] = stacks.hessian<L>(k, pack, s, corners, false);
    });
  });
  return hessians;
}

void ShellFaces::add_force_change(const JetHessians& at, std::span<const Vec3> dx, std::span<Vec3> change) const {
  using Flat = Eigen::Matrix<Pack, 15, 1>;
  const Stacks stacks{*this};
  faces_.add_forces(dx, change, [&](const FacePack& pack, const auto corners, const auto forces) {
    for (int s = 0; s < basis().samples; ++s) {
      const SurfaceJet<Pack> dq = stacks.jet(pack, s, corners);
      SurfaceJet<Pack> dG;
      Eigen::Map<Flat>(dG.data()) = at[stacks.index_of(pack, s)].lazyProduct(Eigen::Map<const Flat>(dq.data()));
      stacks.add_force(pack, s, dG, forces);
    }
  });
}

void ShellFaces::add_stiffness(std::span<const Vec3> x, bool projected, MeshStiffness& stiffness) const {
  const Stacks stacks{*this};
  const std::size_t first = stiffness.size(), samples = static_cast<std::size_t>(basis().samples);
  for (std::int64_t e = 0; e < basis().faces(); ++e)
    for (std::size_t s = 0; s < samples; ++s) stiffness.add(5, basis().points_of(e), -1);
  with_law([&]<class L>(L, const auto& k) {
    faces_.each(x, [&](const FacePack& pack, std::span<const Vector3<Pack>> corners) {
      for (int s = 0; s < basis().samples; ++s) {
        LanePlaces places{};
        for (int lane = 0; lane < pack.faces.count; ++lane) {
          const std::uint32_t e = pack.faces.row[lane];
          MeshStiffness::Part part = stiffness.part(first + e * samples + static_cast<std::size_t>(s));
          look_at_jet(basis().row(e, s), part);
          places[static_cast<std::size_t>(lane)] = part.K.data();
        }
        store_lanes(stacks.hessian<L>(k, pack, s, corners, projected), places);
      }
    });
  });
}

void ShellFaces::flow(std::span<const Vec3> x) {
  if (!yield_) return;
  const auto& k = std::get<ChosenLamina<LaminaHencky>>(law_).constants;
  const Stacks stacks{*this};
  const auto stretch = laminae_.get<PlasticStretch>();
  const auto strain = laminae_.get<PlasticStrain>();
  faces_.each(x, [&](const FacePack& pack, std::span<const Vector3<Pack>> corners) {
    for (int s = 0; s < basis().samples; ++s) {
      const LaminaMetric<Pack> metric(SurfacePoint<Pack>(stacks.jet(pack, s, corners)).forms);
      const auto stack = stacks.laminae(pack, s);
      for (int l = 0; l < across_; ++l) {
        const PackRows rows = stacks.rows_of(pack, s, l);
        const Symmetric2<Pack> g = congruence<Pack>(stack[l].to_material) * metric.at(stack[l].height);
        const Pack before = load(std::span<const Real>(strain), rows);
        const Symmetric2<Pack> c = congruence<Pack>(inverse_of(stacks.plastic_stretch(pack, s, l))) * g;
        FlowingLaminae{k, *yield_, std::span(&before, 1)}.each_flowing(0, c, [&](int lane, const auto&) {
          if (lane >= rows.count) return;
          const std::uint32_t r = rows.row[lane];
          const LaminaMemory after = flowed(k, *yield_, {stretch[r], strain[r]}, {g[0][lane], g[1][lane], g[2][lane]});
          stretch[r] = after.stretch;
          strain[r] = after.plastic_strain;
        });
      }
    }
  });
}

Real ShellFaces::membrane_stiffness() const {
  return with_law([]<class L>(L, const auto& k) { return L::stiffness(k); });
}

Real ShellFaces::stiffening(std::span<const Vec3> x) const {
  const Stacks stacks{*this};
  std::vector<Real> of_face(numbers_.size(), 1);
  with_law([&]<class L>(L, const auto& k) {
    faces_.each(x, [&](const FacePack& pack, std::span<const Vector3<Pack>> corners) {
      Pack most = 1;
      for (int s = 0; s < basis().samples; ++s) {
        const LaminaMetric<Pack> metric(SurfacePoint<Pack>(stacks.jet(pack, s, corners)).forms);
        const auto stack = stacks.laminae(pack, s);
        for (int l = 0; l < across_; ++l) {
          const Symmetric2<Pack> g = congruence<Pack>(stack[l].to_material) * metric.at(stack[l].height);
          if (!yield_) {
            most = max(most, L::stiffening(k, g));
          } else {
            // What is felt is the elastic stretch, while the whole one changes.
            const Symmetric2<Pack> c = congruence<Pack>(inverse_of(stacks.plastic_stretch(pack, s, l))) * g;
            const Pack share = eigenvalues_of(c)[0] / max(eigenvalues_of(g)[0], Pack(1e-3));
            most = max(most, L::stiffening(k, c) * share);
          }
        }
      }
      store(most, pack.faces, std::span(of_face));
    });
  });
  return of_face.empty() ? 1 : *std::max_element(of_face.begin(), of_face.end());
}

Real ShellFaces::plastic_strain_near(std::int64_t e, const Vec2& at) const {
  if (!yield_) return 0;
  const int n = static_cast<int>(std::lround(std::sqrt(basis().samples)));
  const auto distance = [&](const Vec2& place) { return (place - at).squaredNorm(); };
  const auto s = on_quads_
                     ? std::min(n - 1, static_cast<int>(at[1] * n)) * n + std::min(n - 1, static_cast<int>(at[0] * n))
                     : std::ranges::min_element(places_, {}, distance) - places_.begin();
  const auto strain = laminae_.get<PlasticStrain>().subspan((e * basis().samples + s) * across_, across_);
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
