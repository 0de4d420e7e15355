#pragma once
// The loops over the elements of sheets and fibers, compiled once for each kind.

#include "bodies/director_kernel.hpp"
#include "weft/base/sums.hpp"
#include "weft/bodies/codimensional.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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
  first_point_.reserve(elements_.size() + 1);
  rows_of_corners.reserve(K::corners * elements_.size());
  for (const Element& element : elements_) {
    const auto divisions = static_cast<std::size_t>(element.divisions);
    while (weights_.size() <= divisions)
      weights_.push_back(spread_points(static_cast<int>(weights_.size()), std::integral_constant<int, K::tangents>{}));
    first_point_.push_back(first_point_.back() + static_cast<std::int64_t>(weights_[divisions].size()));
    rows_of_corners.insert(rows_of_corners.end(), element.rows.begin(), element.rows.end());
  }
  element_of_points_.resize(static_cast<std::size_t>(first_point_.back()));
  for (std::size_t e = 0; e < elements_.size(); ++e)
    std::fill(element_of_points_.begin() + first_point_[e], element_of_points_.begin() + first_point_[e + 1],
              static_cast<std::int32_t>(e));
  incidence_ = Incidence(rows_of_corners, rows);
  forces_.resize(elements_.size());
  make_packs();
}

/// Elements with as many points go together, in their order.
template <class K>
void CodimensionalElements<K>::make_packs() {
  std::vector<std::int32_t> order(elements_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int32_t e) { return elements_[e].divisions; });
  for (auto rest = std::span<const std::int32_t>(order); !rest.empty();) {
    std::size_t count = 0;
    while (count < Pack::size && count < rest.size() &&
           elements_[rest[count]].divisions == elements_[rest[0]].divisions)
      ++count;
    packs_.push_back(pack_of(rest.first(count)));
    rest = rest.subspan(count);
  }
}

template <class K>
ElementPack<K> CodimensionalElements<K>::pack_of(std::span<const std::int32_t> elements) const {
  const int count = static_cast<int>(elements.size());
  const auto rows_of = [&](auto&& row_of) {
    std::array<std::uint32_t, Pack::size> rows;
    for (int lane = 0; lane < Pack::size; ++lane)
      rows[lane] = static_cast<std::uint32_t>(row_of(elements[std::min(lane, count - 1)]));
    return PackRows::of(rows, count);
  };
  ElementPack<K> pack;
  pack.elements = rows_of([](std::int32_t e) { return e; });
  for (int a = 0; a < K::corners; ++a) pack.rows[a] = rows_of([&](std::int32_t e) { return elements_[e].rows[a]; });
  const auto points = static_cast<std::int64_t>(first_point(elements[0] + 1) - first_point(elements[0]));
  for (std::int64_t j = 0; j < points; ++j)
    pack.points.push_back(rows_of([&](std::int32_t e) { return first_point_[e] + j; }));
  for (int lane = 0; lane < Pack::size; ++lane) {
    const std::uint32_t e = pack.elements.row[lane];
    const Element& element = elements_[e];
    for (int a = 1; a < K::corners; ++a)
      for (int t = 0; t < K::tangents; ++t) pack.gradients(a - 1, t).set(lane, element.gradients(a, t));
    pack.volume.set(lane, element.volume);
    const auto sizes = element.gradients.rowwise().norm().eval();
    pack.spread.set(lane, element.volume * sizes.maxCoeff() * sizes.sum() / mass_share(e));
  }
  return pack;
}

template <class K>
std::size_t CodimensionalElements<K>::bytes() const {
  const auto of = [](const auto& values) { return values.capacity() * sizeof(values[0]); };
  std::size_t bytes =
      of(elements_) + of(first_point_) + of(element_of_points_) + of(packs_) + of(forces_) + incidence_.bytes();
  for (const ElementPack<K>& pack : packs_) bytes += of(pack.points);
  return bytes;
}

template <class K>
auto CodimensionalElements<K>::tangents(const Element& element, std::span<const Vec3> x) -> Tangents {
  Tangents F = Tangents::Zero();
  for (int a = 0; a < K::corners; ++a) F += x[element.rows[a]] * element.gradients.row(a);
  return F;
}
template <class K>
auto CodimensionalElements<K>::tangents(const ElementPack<K>& pack, std::span<const Vec3> x) const -> PackTangents {
  const Vector3<Pack> first = load(x, pack.rows[0]);
  PackTangents F = Vector3<Pack>(load(x, pack.rows[1]) - first) * pack.gradients.row(0);
  for (int a = 2; a < K::corners; ++a) F += Vector3<Pack>(load(x, pack.rows[a]) - first) * pack.gradients.row(a - 1);
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
void CodimensionalElements<K>::rest(std::span<const Vec3> x, std::span<Directors> N) const {
  for (std::size_t q = 0; q < element_of_points_.size(); ++q)
    N[q] = directors_across(tangents(elements_[element_of_points_[q]], x));
}

template <class K>
void CodimensionalElements<K>::place(std::span<const Vec3> x, std::span<Vec3> places) const {
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < packs_.size(); ++k) {
    const ElementPack<K>& pack = packs_[k];
    std::array<Vector3<Pack>, K::corners> corners;
    for (int a = 0; a < K::corners; ++a) corners[a] = load(x, pack.rows[a]);
    for (const PackRows& rows : pack.points) {
      const Weights& weights = weights_at(rows.row[0]);  // as those of all
      Vector3<Pack> sum = Pack(weights[0]) * corners[0];
      for (int a = 1; a < K::corners; ++a) sum += Pack(weights[a]) * corners[a];
      store(sum, rows, places);
    }
  }
}

template <class K>
void CodimensionalElements<K>::add_force(std::size_t point, const Vec3& force, std::span<Vec3> f) const {
  const Weights& weights = weights_at(point);
  const auto& rows = elements_[element_of_points_[point]].rows;
  for (int a = 0; a < K::corners; ++a) f[rows[a]] += weights[a] * force;
}

template <class K>
void CodimensionalElements<K>::add_mass(std::span<Real> of_vertices, std::span<Real> of_points) const {
  incidence_.add(of_vertices, [&](std::int32_t corner) { return mass_share(corner / K::corners); });
  for (std::size_t q = 0; q < element_of_points_.size(); ++q) of_points[q] = mass_share(element_of_points_[q]);
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
Real CodimensionalElements<K>::energy(const Parts& parts, std::span<const Vec3> x, std::span<const Directors> N,
                                      std::span<const Mat3> H) const {
  const Real of_all = parts.contact ? energy_in_contact(x, N, H) : 0;
  if (parts.contact == parts.elastic) return of_all;
  const Real free = ordered_sum(elements_.size(), Real(0), [&](std::size_t e) {
    return elements_[e].volume * K::Free::energy(K::free(constants_), tangents(elements_[e], x));
  });
  return parts.elastic ? free : of_all - free;
}

/// Of elements that touch something, all parts together.
template <class K>
Real CodimensionalElements<K>::energy_in_contact(std::span<const Vec3> x, std::span<const Directors> N,
                                                 std::span<const Mat3> H) const {
  return ordered_sum(elements_.size(), Real(0), [&](std::size_t e) {
    const Tangents F = tangents(elements_[e], x);
    Real sum = 0;
    for (std::size_t q = first_point(e); q < first_point(e + 1); ++q)
      sum += K::Contact::energy(K::contact(constants_), joined(F, Directors(N[q] + H[q] * N[q])));
    return elements_[e].volume * K::Manifold::energy(K::manifold(constants_), F) + point_volume(e) * sum;
  });
}

template <class K>
void CodimensionalElements<K>::respond(const Parts& parts, std::span<const Vec3> x, std::span<const Directors> N,
                                       std::span<const Mat3> H, std::span<Vec3> f, std::span<Mat3> A) const {
  if (!parts.contact) std::fill(A.begin(), A.end(), Mat3(Mat3::Zero()));
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < packs_.size(); ++k) {
    const ElementPack<K>& pack = packs_[k];
    const PackTangents F = tangents(pack, x);
    PackTangents P = pack.volume * of_element<K>(parts, constants_, [&]<class L>(L, const auto& c) -> PackTangents {
                       return L::stress(c, F);
                     });
    if (parts.contact) {
      const Pack volume = pack.volume / static_cast<Real>(pack.points.size());
      for (const PackRows& rows : pack.points) {
        const Matrix3<Pack> moved = H.empty() ? Matrix3<Pack>(Matrix3<Pack>::Zero()) : load(H, rows);
        const auto response = director_response<typename K::Contact, K::tangents>(K::contact(constants_), F,
                                                                                  load(N, rows), moved, parts.in_loop);
        P += volume * response.P;
        store(Matrix3<Pack>(volume * response.A), rows, A);  // [docs/theory/sheets.md, (10.2)]
      }
    }
    store(Eigen::Matrix<Pack, 3, K::corners - 1>(-P * pack.gradients.transpose()), pack.elements, std::span(forces_));
  }
  add_corner_forces(f);
}

template <class K>
void CodimensionalElements<K>::add_stiffness(const Parts& parts, std::span<const Vec3> x, std::span<const Directors> N,
                                             std::span<const Mat3> H, bool projected, MeshStiffness& stiffness) const {
  const std::size_t first = stiffness.size();
  slips_.assign(element_of_points_.size(), false);
  if (parts.contact && parts.in_loop) find_slip(x, N, H);
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    const Element& element = elements_[e];
    if (!parts.contact) stiffness.add(K::tangents, element.rows, -1);
    else
      for (std::size_t q = first_point(e); q < first_point(e + 1); ++q)
        stiffness.add(vectors_of_point<K::tangents>(slips_[q]), element.rows, static_cast<std::int64_t>(q));
  }
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < packs_.size(); ++k)
    if (parts.contact) find_stiffness_in_contact(parts, packs_[k], {x, H}, N, projected, first, stiffness);
    else find_stiffness(parts, packs_[k], x, projected, first, stiffness);
}

template <class K>
void CodimensionalElements<K>::find_slip(std::span<const Vec3> x, std::span<const Directors> N,
                                         std::span<const Mat3> H) const {
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < packs_.size(); ++k) {
    const PackTangents F = tangents(packs_[k], x);
    for (const PackRows& rows : packs_[k].points)
      find_slips<typename K::Contact>(K::contact(constants_),
                                      DirectorPack<K::tangents>{rows, F, load(N, rows), load(H, rows)}, slips_);
  }
}

/// Of elements that touch nothing.
template <class K>
void CodimensionalElements<K>::find_stiffness(const Parts& parts, const ElementPack<K>& pack, std::span<const Vec3> x,
                                              bool projected, std::size_t first, MeshStiffness& stiffness) const {
  LanePlaces places{};
  for (int lane = 0; lane < pack.elements.count; ++lane) {
    const std::size_t e = pack.elements.row[lane];
    MeshStiffness::Part part = stiffness.part(first + e);
    part.w = elements_[e].gradients.transpose();
    places[static_cast<std::size_t>(lane)] = part.K.data();
  }
  store_lanes(own_stiffness(parts, pack, tangents(pack, x), projected), places);
}

/// What an element itself resists goes with its last point.
template <class K>
void CodimensionalElements<K>::find_stiffness_in_contact(const Parts& parts, const ElementPack<K>& pack,
                                                         const TrialShape& at, std::span<const Directors> N,
                                                         bool projected, std::size_t first,
                                                         MeshStiffness& stiffness) const {
  const PackTangents F = tangents(pack, at.x);
  const Pack volume = pack.volume / static_cast<Real>(pack.points.size());
  for (const PackRows& rows : pack.points) {
    const bool is_last = &rows == &pack.points.back();
    const auto scaled = [&]<int n>(Eigen::Matrix<Pack, n, n> of_points) {
      of_points *= volume;
      if (is_last)
        of_points.template topLeftCorner<3 * K::tangents, 3 * K::tangents>() +=
            own_stiffness(parts, pack, F, projected);
      return of_points;
    };
    fill_director_parts<typename K::Contact>(
        K::contact(constants_), DirectorPack<K::tangents>{rows, F, load(N, rows), load(at.H, rows)}, projected, slips_,
        scaled, [&](int lane) -> const auto& { return elements_[pack.elements.row[lane]].gradients; },
        [&](int lane) { return stiffness.part(first + rows.row[lane]); });
  }
}

template <class K>
auto CodimensionalElements<K>::own_stiffness(const Parts& parts, const ElementPack<K>& pack, const PackTangents& F,
                                             bool projected) const -> OwnStiffness {
  OwnStiffness own = OwnStiffness::Zero();
  if (projected && !parts.elastic) return own;  // what contact alone lacks would make eigenvalues negative
  const auto add = [&]<class L>(L, const auto& k, const Pack& volume) {
    own += volume * (projected ? tangent_of<Pack, K::tangents>(L::projected_differential(k, F))
                               : tangent_of<Pack, K::tangents>(L::stress_differential(k, F)));
  };
  if (parts.contact) add(typename K::Manifold{}, K::manifold(constants_), pack.volume);
  if (!parts.contact) add(typename K::Free{}, K::free(constants_), pack.volume);
  else if (!parts.elastic) add(typename K::Free{}, K::free(constants_), -pack.volume);
  return own;
}

template <class K>
void CodimensionalElements<K>::add_corner_forces(std::span<Vec3> f) const {
  incidence_.add(f, [&](std::int32_t corner) {
    const CornerForces& forces = forces_[corner / K::corners];
    const int a = corner % K::corners;
    return a > 0 ? Vec3(forces.col(a - 1)) : Vec3(-forces.rowwise().sum());
  });
}

template <class K>
void CodimensionalElements<K>::commit(std::span<const Vec3> x, Real dt, std::span<const Mat3> C,
                                      std::span<Directors> N) const {
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < packs_.size(); ++k) {
    const PackTangents F = tangents(packs_[k], x);
    for (const PackRows& rows : packs_[k].points) {
      const PackDirectors before = load(std::span<const Directors>(N), rows);
      const Matrix3<Pack> trial = joined(F, PackDirectors(before + Pack(dt) * (load(C, rows) * before)));
      const Matrix3<Pack> state = K::Contact::return_map(K::contact(constants_), trial);
      store(PackDirectors(state.template rightCols<3 - K::tangents>()), rows, N);
    }
  }
}

template <class K>
ElementSpeeds CodimensionalElements<K>::speeds(std::span<const Vec3> x, std::span<const Directors> N) const {
  Real across = 0, along = 0, square = 0;
#pragma omp parallel for schedule(static) reduction(max : across, along, square)
  for (std::size_t k = 0; k < packs_.size(); ++k) {
    const ElementPack<K>& pack = packs_[k];
    const PackTangents F = tangents(pack, x);
    Pack director = 0, tangent = 0;
    for (const PackRows& rows : pack.points) {
      const Matrix3<Pack> A = joined(F, load(N, rows));
      director = max(director, K::Contact::stiffness(K::contact(constants_), A));
      tangent = max(tangent, K::Contact::tangent_stiffness(K::contact(constants_), A));
    }
    const Pack stiffness = pack.points.empty() ? K::Free::stiffness(K::free(constants_), F)
                                               : tangent + K::Manifold::stiffness(K::manifold(constants_), F);
    across = std::max(across, largest(director));
    along = std::max(along, largest(stiffness));
    square = std::max(square, largest(pack.spread * stiffness));
  }
  return {std::sqrt(across / density_), std::sqrt(along / density_), std::sqrt(square)};
}

template <class K>
Mat3 CodimensionalElements<K>::deformation(std::size_t point, std::span<const Vec3> x,
                                           std::span<const Directors> N) const {
  return joined(tangents(elements_[element_of_points_[point]], x), N[point]);
}

}  // namespace weft
