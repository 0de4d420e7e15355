#pragma once
// The loops over the elements of sheets and fibers, compiled once for each kind.

#include "bodies/director_kernel.hpp"
#include "weft/base/sums.hpp"
#include "weft/bodies/codimensional.hpp"

#include <algorithm>
#include <cmath>

namespace weft {

/// The quadrature points of an element with n divisions: the centres of n intervals, or of n^2 triangles.
inline std::vector<Eigen::Matrix<Real, 2, 1>> spread_points(int n, std::integral_constant<int, 1>) {
  std::vector<Eigen::Matrix<Real, 2, 1>> list;
  for (int i = 0; i < n; ++i) list.emplace_back(1 - (i + 0.5) / n, (i + 0.5) / n);
  return list;
}
inline std::vector<Vec3> spread_points(int n, std::integral_constant<int, 2>) {
  std::vector<Vec3> list;
  for (int i = 0; i < n; ++i)
    for (int j = 0; i + j < n; ++j) {
      const Real s = (i + 1.0 / 3) / n, t = (j + 1.0 / 3) / n, third = 1.0 / (3 * n);
      list.emplace_back(1 - s - t, s, t);
      if (i + j + 1 < n) list.emplace_back(1 - s - t - 2 * third, s + third, t + third);
    }
  return list;
}

template <class K>
CodimensionalElements<K>::CodimensionalElements(const typename K::Constants& constants, Real density,
                                                std::vector<Element> elements, std::size_t rows)
    : constants_(constants), density_(density), elements_(std::move(elements)), first_point_(1, 0) {
  std::vector<std::int32_t> rows_of_corners;
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    for (const auto& weights : spread_points(elements_[e].divisions, std::integral_constant<int, K::tangents>{}))
      points_.push_back({static_cast<std::int32_t>(e), weights});
    first_point_.push_back(static_cast<std::int64_t>(points_.size()));
    rows_of_corners.insert(rows_of_corners.end(), elements_[e].rows.begin(), elements_[e].rows.end());
  }
  incidence_ = Incidence(rows_of_corners, rows);
  directors_.resize(points_.size());
  stress_.resize(elements_.size());
}

template <class K>
typename K::Tangents CodimensionalElements<K>::tangents(const Element& element, std::span<const Vec3> x) {
  Tangents F = Tangents::Zero();
  for (int a = 0; a < K::corners; ++a) F += x[element.rows[a]] * element.gradients.row(a);
  return F;
}

/// Unit directors across the tangents.
inline Vec3 directors_across(const Mat32& F) {
  const Vec3 a = F.col(0), b = F.col(1);
  return a.cross(b).normalized();
}
inline Mat32 directors_across(const Vec3& d) {
  const Vec3 side = d.unitOrthogonal();
  Mat32 N;
  N << side, d.normalized().cross(side);
  return N;
}
template <class K>
void CodimensionalElements<K>::rest(std::span<const Vec3> x) {
  for (std::size_t q = 0; q < points_.size(); ++q)
    directors_[q] = directors_across(tangents(elements_[points_[q].element], x));
}

template <class K>
Vec3 CodimensionalElements<K>::position(std::size_t point, std::span<const Vec3> x) const {
  const auto& [e, weights] = points_[point];
  Vec3 sum = Vec3::Zero();
  for (int a = 0; a < K::corners; ++a) sum += weights[a] * x[elements_[e].rows[a]];
  return sum;
}

template <class K>
void CodimensionalElements<K>::add_force(std::size_t point, const Vec3& force, std::span<Vec3> f) const {
  const auto& [e, weights] = points_[point];
  for (int a = 0; a < K::corners; ++a) f[elements_[e].rows[a]] += weights[a] * force;
}

template <class K>
void CodimensionalElements<K>::add_mass(std::span<Real> of_vertices, std::span<Real> of_points) const {
  incidence_.add(of_vertices, [&](std::int32_t corner) { return mass_share(corner / K::corners); });
  for (std::size_t q = 0; q < points_.size(); ++q) of_points[q] = mass_share(points_[q].element);
}

/// What an element resists besides its quadrature points: of(law, constants) of the law that is left for it where
/// contact counts too, or of the law without contact. Contact alone is the whole without the latter.
template <class K, class Of>
auto of_element(const Parts& parts, const typename K::Constants& k, Of&& of) {
  const auto left = [&] { return of(typename K::Manifold{}, K::manifold(k)); };
  const auto free = [&] { return of(typename K::Free{}, K::free(k)); };
  if (!parts.contact) return free();
  return parts.elastic ? left() : decltype(free())(left() - free());
}

template <class K>
Real CodimensionalElements<K>::energy(const Parts& parts, std::span<const Vec3> x, std::span<const Mat3> H) const {
  const Real of_all = parts.contact ? energy_in_contact(x, H) : 0;
  if (parts.contact == parts.elastic) return of_all;
  const Real free = ordered_sum(elements_.size(), Real(0), [&](std::size_t e) {
    return elements_[e].volume * K::Free::energy(K::free(constants_), tangents(elements_[e], x));
  });
  return parts.elastic ? free : of_all - free;
}

/// Of elements that touch something, all parts together.
template <class K>
Real CodimensionalElements<K>::energy_in_contact(std::span<const Vec3> x, std::span<const Mat3> H) const {
  return ordered_sum(elements_.size(), Real(0), [&](std::size_t e) {
    const Tangents F = tangents(elements_[e], x);
    Real sum = 0;
    for (std::size_t q = first_point(e); q < first_point(e + 1); ++q)
      sum += K::Contact::energy(K::contact(constants_), joined(F, Directors(directors_[q] + H[q] * directors_[q])));
    return elements_[e].volume * K::Manifold::energy(K::manifold(constants_), F) + point_volume(e) * sum;
  });
}

template <class K>
void CodimensionalElements<K>::respond(const Parts& parts, std::span<const Vec3> x, std::span<const Mat3> H,
                                       std::span<Vec3> f, std::span<Mat3> A) const {
  if (parts.contact) {
    respond_in_contact(x, H, parts.in_loop, A);
  } else {
    std::fill(stress_.begin(), stress_.end(), Tangents(Tangents::Zero()));
    std::fill(A.begin(), A.end(), Mat3(Mat3::Zero()));
  }
  if (parts.contact != parts.elastic) {
    const Real sign = parts.elastic ? 1 : -1;  // contact alone is all but what the free element resists
#pragma omp parallel for schedule(static)
    for (std::size_t e = 0; e < elements_.size(); ++e)
      stress_[e] += sign * elements_[e].volume * K::Free::stress(K::free(constants_), tangents(elements_[e], x));
  }
  add_corner_forces(f);
}

/// Writes stress_ and A of elements that touch something, all parts together.
template <class K>
void CodimensionalElements<K>::respond_in_contact(std::span<const Vec3> x, std::span<const Mat3> H, bool in_loop,
                                                  std::span<Mat3> A) const {
#pragma omp parallel for schedule(static)
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    const Tangents F = tangents(elements_[e], x);
    const Real V = point_volume(e);
    stress_[e] = elements_[e].volume * K::Manifold::stress(K::manifold(constants_), F);
    for (std::size_t q = first_point(e); q < first_point(e + 1); ++q) {
      const auto response =
          director_response<typename K::Contact, K::tangents>(K::contact(constants_), F, directors_[q], H[q], in_loop);
      stress_[e] += V * response.P;
      A[q] = V * response.A;  // [docs/theory/sheets.md, (10.2)]
    }
  }
}

template <class K>
void CodimensionalElements<K>::add_stiffness(const Parts& parts, std::span<const Vec3> x, std::span<const Mat3> H,
                                             bool projected, MeshStiffness& stiffness) const {
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    const Element& element = elements_[e];
    const Tangents F = tangents(element, x);
    if (parts.contact) {
      for (std::size_t q = first_point(e); q < first_point(e + 1); ++q)
        add_director_part<typename K::Contact, K::tangents>(K::contact(constants_), F, directors_[q], H[q],
                                                            parts.in_loop, projected, point_volume(e), element.rows,
                                                            static_cast<std::int64_t>(q), element.gradients, stiffness);
    } else {
      stiffness.add(K::tangents, element.rows, -1);
      stiffness.part(stiffness.size() - 1).w = element.gradients.transpose();
    }
    // What the element itself resists goes with its last point.
    add_own_stiffness(parts, element, F, projected, stiffness.part(stiffness.size() - 1));
  }
}

template <class K>
void CodimensionalElements<K>::add_own_stiffness(const Parts& parts, const Element& element, const Tangents& F,
                                                 bool projected, MeshStiffness::Part part) const {
  constexpr int n = 3 * K::tangents;
  if (projected && !parts.elastic) return;  // what contact alone lacks would make eigenvalues negative
  for (int c = 0; c < n; ++c) {
    Tangents unit = Tangents::Zero();
    unit.data()[c] = element.volume;
    const Tangents change = of_element<K>(parts, constants_, [&]<class L>(L, const auto& k) -> Tangents {
      return projected ? L::projected_differential(k, F, unit) : L::stress_differential(k, F, unit);
    });
    part.K.col(c).template head<n>() += Eigen::Map<const Eigen::Matrix<Real, n, 1>>(change.data());
  }
}

template <class K>
void CodimensionalElements<K>::add_corner_forces(std::span<Vec3> f) const {
  incidence_.add(f, [&](std::int32_t corner) {
    const std::int32_t e = corner / K::corners;
    return Vec3(-stress_[e] * elements_[e].gradients.row(corner % K::corners).transpose());
  });
}

template <class K>
void CodimensionalElements<K>::commit(std::span<const Vec3> x, std::span<const Mat3> H) {
#pragma omp parallel for schedule(static)
  for (std::size_t q = 0; q < points_.size(); ++q) {
    const Directors trial = directors_[q] + H[q] * directors_[q];
    const Mat3 A = joined(tangents(elements_[points_[q].element], x), trial);
    directors_[q] = K::Contact::return_map(K::contact(constants_), A).template rightCols<3 - K::tangents>();
  }
}

template <class K>
Real CodimensionalElements<K>::manifold_stiffness(std::size_t e, const Tangents& F) const {
  if (first_point(e) == first_point(e + 1)) return K::Free::stiffness(K::free(constants_), F);
  Real most = 0;
  for (std::size_t q = first_point(e); q < first_point(e + 1); ++q)
    most = std::max(most, K::Contact::tangent_stiffness(K::contact(constants_), joined(F, directors_[q])));
  return most + K::Manifold::stiffness(K::manifold(constants_), F);
}

template <class K>
ElementSpeeds CodimensionalElements<K>::speeds(std::span<const Vec3> x) const {
  Real across = 0, along = 0, square = 0;
#pragma omp parallel for schedule(static) reduction(max : across, along, square)
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    const Tangents F = tangents(elements_[e], x);
    for (std::size_t q = first_point(e); q < first_point(e + 1); ++q)
      across = std::max(across, K::Contact::stiffness(K::contact(constants_), joined(F, directors_[q])));
    const Real stiffness = manifold_stiffness(e, F);
    const auto gradients = elements_[e].gradients.rowwise().norm().eval();
    along = std::max(along, stiffness);
    square = std::max(square, elements_[e].volume * stiffness * gradients.maxCoeff() * gradients.sum() / mass_share(e));
  }
  return {std::sqrt(across / density_), std::sqrt(along / density_), std::sqrt(square)};
}

template <class K>
Mat3 CodimensionalElements<K>::deformation(std::size_t point, std::span<const Vec3> x) const {
  return joined(tangents(elements_[points_[point].element], x), directors_[point]);
}

}  // namespace weft
