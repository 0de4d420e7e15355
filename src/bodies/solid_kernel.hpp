#pragma once
// The loops over the elements of solids, compiled once for each law and order.

#include "bodies/solid_elements.hpp"
#include "weft/base/sums.hpp"
#include "weft/math/svd.hpp"
#include "weft/math/tangent.hpp"

#include <algorithm>
#include <cmath>

namespace weft {

/// The angular velocity with an angular momentum and the second moment of masses about their centre; points on a line
/// have none about it.
inline Vec3 spin_of(const Mat3& second_moment, const Vec3& angular) {
  constexpr Real least_width = 1e-10;
  const SymmetricEigen axes = symmetric_eigen(second_moment.trace() * Mat3::Identity() - second_moment);
  Vec3 spin = Vec3::Zero();
  for (int k = 0; k < 3; ++k)
    if (axes.values[k] > least_width * axes.values.sum())
      spin += axes.Q.col(k).dot(angular) / axes.values[k] * axes.Q.col(k);
  return spin;
}

/// The same by the inverse of the inertia, but for lanes whose points are nearly on a line.
inline Vector3<Pack> spin_of(const Matrix3<Pack>& second_moment, const Vector3<Pack>& angular) {
  constexpr Real least_determinant = 1e-4;  // of the cube of the trace
  const Pack trace = second_moment.trace();
  const Matrix3<Pack> inertia = trace * Matrix3<Pack>::Identity() - second_moment;
  Matrix3<Pack> cofactors;
  for (int k = 0; k < 3; ++k) cofactors.col(k) = inertia.col((k + 1) % 3).cross(inertia.col((k + 2) % 3));
  const Pack determinant = inertia.col(0).dot(cofactors.col(0));
  Vector3<Pack> spin = cofactors * angular / determinant;
  const PackMask is_wide = determinant > least_determinant * trace * trace * trace;
  if (!any(!is_wide)) return spin;
  const Pack wide = select(is_wide, 1, 0);
  for (int lane = 0; lane < Pack::size; ++lane) {
    if (wide[lane] > 0) continue;
    const auto of_lane = [lane](const Pack& all) { return all[lane]; };
    const Vec3 of_narrow = spin_of(Mat3(second_moment.unaryExpr(of_lane)), Vec3(angular.unaryExpr(of_lane)));
    for (int k = 0; k < 3; ++k) spin[k].set(lane, of_narrow[k]);
  }
  return spin;
}

template <SolidLaw L, int nodes>
SolidElements<L, nodes>::SolidElements(const typename L::Constants& constants, Real density,
                                       std::vector<Element> elements, std::size_t rows)
    : constants_(constants), density_(density), elements_(std::move(elements)) {
  std::vector<std::int32_t> rows_of_corners;
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    if (elements_[e].divisions > 0)
      for (const Eigen::Vector4d& at : centres_of_divided_tet(elements_[e].divisions))
        points_.push_back({static_cast<std::int32_t>(e), Basis::values(at)});
    rows_of_corners.insert(rows_of_corners.end(), elements_[e].rows.begin(), elements_[e].rows.end());
  }
  incidence_ = Incidence(rows_of_corners, rows);
  forces_.resize(nodes * elements_.size());
  make_packs();
}

template <SolidLaw L, int nodes>
void SolidElements<L, nodes>::make_packs() {
  for (std::size_t first = 0; first < elements_.size(); first += Pack::size) {
    TetPack& pack = packs_.emplace_back();
    pack.elements = PackRows::range(first, elements_.size());
    for (std::size_t a = 0; a < nodes; ++a) {
      std::array<std::uint32_t, Pack::size> rows;
      for (std::size_t lane = 0; lane < Pack::size; ++lane)
        rows[lane] = static_cast<std::uint32_t>(elements_[pack.elements.row[lane]].rows[a]);
      pack.rows[a] = PackRows::of(rows, pack.elements.count);
    }
    for (int lane = 0; lane < Pack::size; ++lane) {
      const std::size_t e = pack.elements.row[static_cast<std::size_t>(lane)];
      pack.mass.set(lane, mass_of_vertices(e));
      const typename Basis::Values masses = mass_of_vertices(e) * Basis::mass_shares();
      for (int q = 0; q < gauss_points; ++q) {
        const auto [volume, gradients] = elements_[e].at_gauss_point(q);
        GaussPack& at = pack.at[static_cast<std::size_t>(q)];
        for (int a = 1; a < nodes; ++a)
          for (int k = 0; k < 3; ++k) at.gradients(a - 1, k).set(lane, gradients(a, k));
        at.volume.set(lane, volume);
        const typename Basis::Values sizes = gradients.rowwise().norm();
        at.spread.set(lane, volume * sizes.sum() * sizes.cwiseQuotient(masses).maxCoeff());
      }
    }
  }
}

template <SolidLaw L, int nodes>
std::size_t SolidElements<L, nodes>::bytes() const {
  const auto of = [](const auto& values) { return values.capacity() * sizeof(values[0]); };
  return of(elements_) + of(points_) + of(packs_) + of(forces_) + of(last_x_) + incidence_.bytes();
}

template <SolidLaw L, int nodes>
Eigen::Matrix<Pack, 3, nodes - 1> SolidElements<L, nodes>::sides(const TetPack& pack, std::span<const Vec3> x) {
  const Vector3<Pack> first = load(x, pack.rows[0]);
  Eigen::Matrix<Pack, 3, nodes - 1> sides;
  for (int a = 1; a < nodes; ++a) sides.col(a - 1) = load(x, pack.rows[static_cast<std::size_t>(a)]) - first;
  return sides;
}

template <SolidLaw L, int nodes>
Mat3 SolidElements<L, nodes>::deformation(const Element& element, const typename Basis::Gradients& gradients,
                                          std::span<const Vec3> x) const {
  Mat3 F = Mat3::Zero();
  for (int a = 0; a < nodes; ++a)
    F += (x[element.rows[static_cast<std::size_t>(a)]] - x[element.rows[0]]) * gradients.row(a);
  return F;
}

template <SolidLaw L, int nodes>
Real SolidElements<L, nodes>::energy(std::span<const Vec3> x) const {
  return sum_of_lanes(ordered_sum(packs_.size(), Pack(0), [&](std::size_t k) {
    const TetPack& pack = packs_[k];
    const Eigen::Matrix<Pack, 3, nodes - 1> dx = sides(pack, x);
    Pack sum = 0;
    for (const GaussPack& at : pack.at)
      sum += at.volume * L::energy(constants_, NoMemory{}, Matrix3<Pack>(dx.lazyProduct(at.gradients)));
    return without_idle(sum, pack.elements);
  }));
}

template <SolidLaw L, int nodes>
[[gnu::flatten]] void SolidElements<L, nodes>::find_forces(const TetPack& pack, std::span<const Vec3> x) const {
  const Eigen::Matrix<Pack, 3, nodes - 1> dx = sides(pack, x);
  Eigen::Matrix<Pack, 3, nodes - 1> forces = Eigen::Matrix<Pack, 3, nodes - 1>::Zero();
  for (const GaussPack& at : pack.at) {
    const Matrix3<Pack> P = L::stress(constants_, NoMemory{}, Matrix3<Pack>(dx.lazyProduct(at.gradients)));
    forces -= Matrix3<Pack>(at.volume * P).lazyProduct(at.gradients.transpose());
  }
  Eigen::Matrix<Pack, 3, nodes> of_corners;
  of_corners.template rightCols<nodes - 1>() = forces;
  of_corners.col(0) = -forces.rowwise().sum();
  detail::store_rows<3 * nodes>(of_corners.data(), pack.elements, forces_.data()->data());
}

template <SolidLaw L, int nodes>
void SolidElements<L, nodes>::add_force(std::span<const Vec3> x, std::span<Vec3> f) const {
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < packs_.size(); ++k) find_forces(packs_[k], x);
  gather_forces(f);
}

template <SolidLaw L, int nodes>
void SolidElements<L, nodes>::gather_forces(std::span<Vec3> f) const {
#pragma omp parallel for schedule(static)
  for (std::size_t row = 0; row < incidence_.rows(); ++row) {
    Vec3 sum = f[row];  // in registers, as Incidence::add would not have it
    for (const std::int32_t corner : incidence_.at(row)) sum += forces_[static_cast<std::size_t>(corner)];
    f[row] = sum;
  }
}

template <SolidLaw L, int nodes>
[[gnu::flatten]] void SolidElements<L, nodes>::find_loss(const TetPack& pack, std::span<const Vec3> x,
                                                         std::span<const Vec3> v) const {
  const typename Basis::Values shares = Basis::mass_shares();
  Eigen::Matrix<Pack, 3, nodes> arms, motion;  // from the centre and its velocity
  arms << Vector3<Pack>::Zero(), sides(pack, x);
  motion << Vector3<Pack>::Zero(), sides(pack, v);
  Vector3<Pack> centre = Vector3<Pack>::Zero(), velocity = centre, angular = centre;
  for (int a = 1; a < nodes; ++a) {
    centre += Pack(shares[a]) * arms.col(a);
    velocity += Pack(shares[a]) * motion.col(a);
  }
  Matrix3<Pack> second = Matrix3<Pack>::Zero();
  for (int a = 0; a < nodes; ++a) {
    arms.col(a) -= centre;
    motion.col(a) -= velocity;
    const Vector3<Pack> weighted = Pack(shares[a]) * arms.col(a);
    second += weighted * arms.col(a).transpose();
    angular += weighted.cross(motion.col(a));
  }
  const Vector3<Pack> spin = spin_of(second, angular);
  Eigen::Matrix<Pack, 3, nodes> loss;
  for (int a = 0; a < nodes; ++a) loss.col(a) = shares[a] * pack.mass * (spin.cross(arms.col(a)) - motion.col(a));
  detail::store_rows<3 * nodes>(loss.data(), pack.elements, forces_.data()->data());
}

template <SolidLaw L, int nodes>
void SolidElements<L, nodes>::add_loss_within(std::span<const Vec3> x, std::span<const Vec3> v,
                                              std::span<Vec3> momentum) const {
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < packs_.size(); ++k) find_loss(packs_[k], x, v);
  gather_forces(momentum);
}

template <SolidLaw L, int nodes>
void SolidElements<L, nodes>::add_stiffness(std::span<const Vec3> x, bool projected, MeshStiffness& stiffness) const {
  const std::size_t first = stiffness.size();
  for (const Element& element : elements_)
    for (int q = 0; q < gauss_points; ++q) stiffness.add(3, element.rows, -1);
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < packs_.size(); ++k) {
    const Eigen::Matrix<Pack, 3, nodes - 1> dx = sides(packs_[k], x);
    for (std::size_t q = 0; q < gauss_points; ++q) {
      const GaussPack& at = packs_[k].at[q];
      const Matrix3<Pack> F = dx.lazyProduct(at.gradients);
      auto K = projected ? tangent_of<Pack>(L::projected_differential(constants_, NoMemory{}, F))
                         : tangent_of<Pack>(L::stress_differential(constants_, NoMemory{}, F));
      K *= at.volume;
      LanePlaces places{};
      for (int lane = 0; lane < packs_[k].elements.count; ++lane) {
        MeshStiffness::Part part = stiffness.part(first + packs_[k].elements.row[lane] * gauss_points + q);
        store_gradients(at, lane, part);
        places[static_cast<std::size_t>(lane)] = part.K.data();
      }
      store_lanes(K, places);
    }
  }
}

/// Weights of the nodes; they sum to zero.
template <SolidLaw L, int nodes>
void SolidElements<L, nodes>::store_gradients(const GaussPack& at, int lane, MeshStiffness::Part part) {
  part.w.col(0).setZero();
  for (int a = 1; a < nodes; ++a)
    for (int k = 0; k < 3; ++k) {
      part.w(k, a) = at.gradients(a - 1, k)[lane];
      part.w(k, 0) -= part.w(k, a);
    }
}

template <SolidLaw L, int nodes>
[[gnu::flatten]] auto SolidElements<L, nodes>::bounds(const TetPack& pack, std::span<const Vec3> x) const -> Bounds {
  const Eigen::Matrix<Pack, 3, nodes - 1> dx = sides(pack, x);
  Pack stiffness = 0, square = 0;
  for (const GaussPack& at : pack.at) {
    const Matrix3<Pack> F = dx.lazyProduct(at.gradients);
    stiffness = max(stiffness, L::stiffness(constants_, NoMemory{}, F));
    square += at.spread * L::stiffness_at_rest(constants_, NoMemory{}, F);
  }
  return {largest(stiffness), largest(square)};
}

template <SolidLaw L, int nodes>
SolidSpeeds SolidElements<L, nodes>::speeds(std::span<const Vec3> x) const {
  if (std::ranges::equal(x, last_x_)) return last_speeds_;
  Real wave = 0, square = 0;
#pragma omp parallel for schedule(static) reduction(max : wave, square)
  for (std::size_t k = 0; k < packs_.size(); ++k) {
    const Bounds of_pack = bounds(packs_[k], x);
    wave = std::max(wave, of_pack.stiffness);
    square = std::max(square, of_pack.square);
  }
  last_x_.assign(x.begin(), x.end());
  last_speeds_ = {std::sqrt(wave / density_), std::sqrt(square)};
  return last_speeds_;
}

template <SolidLaw L, int nodes>
Real SolidElements<L, nodes>::mass_of_vertices(std::size_t e) const {
  const Real points = std::pow(elements_[e].divisions, 3);
  return mass(e) * nodes / (nodes + points);
}

template <SolidLaw L, int nodes>
Real SolidElements<L, nodes>::mass_of_point(std::size_t e) const {
  const Real points = std::pow(elements_[e].divisions, 3);
  return mass(e) / (nodes + points);
}

template <SolidLaw L, int nodes>
void SolidElements<L, nodes>::add_mass(std::span<Real> of_vertices, std::span<Real> of_points) const {
  const typename Basis::Values shares = Basis::mass_shares();
  incidence_.add(of_vertices, [&](std::int32_t corner) {
    return shares[corner % nodes] * mass_of_vertices(static_cast<std::size_t>(corner / nodes));
  });
  for (std::size_t q = 0; q < points_.size(); ++q)
    of_points[q] = mass_of_point(static_cast<std::size_t>(points_[q].element));
}

template <SolidLaw L, int nodes>
void SolidElements<L, nodes>::place(std::span<const Vec3> x, std::span<Vec3> places) const {
#pragma omp parallel for schedule(static)
  for (std::size_t q = 0; q < points_.size(); ++q) {
    places[q].setZero();
    const auto& rows = elements_[static_cast<std::size_t>(points_[q].element)].rows;
    for (std::size_t a = 0; a < nodes; ++a) places[q] += points_[q].weights[static_cast<Eigen::Index>(a)] * x[rows[a]];
  }
}

template <SolidLaw L, int nodes>
void SolidElements<L, nodes>::add_force(std::size_t point, const Vec3& force, std::span<Vec3> f) const {
  const auto& rows = elements_[static_cast<std::size_t>(points_[point].element)].rows;
  for (std::size_t a = 0; a < nodes; ++a) f[rows[a]] += points_[point].weights[static_cast<Eigen::Index>(a)] * force;
}

template <SolidLaw L, int nodes>
auto SolidElements<L, nodes>::state(std::size_t e, std::span<const Vec3> x) const -> State {
  State mean{0, Mat3::Zero()};
  for (int q = 0; q < gauss_points; ++q) {
    const Mat3 F = deformation(elements_[e], elements_[e].at_gauss_point(q).gradients, x);
    const Real J = F.determinant();
    mean.volume_ratio += J / gauss_points;
    mean.cauchy += L::kirchhoff(constants_, NoMemory{}, F) / (J * gauss_points);
  }
  return mean;
}

}  // namespace weft
