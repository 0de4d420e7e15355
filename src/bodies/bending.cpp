// Bending elements at rest, and their loops.

#include "bodies/bending_kernel.hpp"

#include "weft/base/check.hpp"
#include "weft/base/sums.hpp"
#include "weft/math/svd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weft {

namespace {

/// The corners that those beyond an edge lie opposite; the last six are beyond the edges of 3, 3, 4, 4, 5 and 5.
constexpr std::array<int, 12> opposite{0, 1, 2, 0, 1, 2, 2, 1, 0, 2, 1, 0};

/// The row of a corner. Where a neighbour is not there, the corner opposite stands for it: the angle resists nothing.
template <class Stencil>
std::int32_t row_of(const Stencil& s, int corner) {
  return s.rows[corner] >= 0 ? s.rows[corner] : s.rows[opposite[corner]];
}
template <class T, class Stencil>
Corners<T, Stencil::corners> corners_of(const Stencil& s, std::span<const Vector3<T>> x) {
  Corners<T, Stencil::corners> corners;
  for (int c = 0; c < Stencil::corners; ++c) corners[c] = x[row_of(s, c)];
  return corners;
}

/// The weights of its corners: what each feels of the whole, and a little more where that might come to be less. A
/// stencil with such shares in the masses is no faster than Gershgorin's bound of its own matrix.
template <class Stencil>
void weigh(Stencil& s, const Corners<Real, Stencil::corners>& x) {
  constexpr Real least = 0.02;
  const auto slopes = slopes_of(s, x);
  for (int c = 0; c < Stencil::corners; ++c)
    s.weights[c] = s.rows[c] < 0 ? 0 : std::sqrt((slopes[c] * s.stiffness * slopes[c].transpose()).trace());
  const Real most = std::ranges::max(s.weights);
  for (Real& weight : s.weights)
    if (weight > 0) weight = std::max(weight, least * most);
}

/// The corners of a stencil that are there.
template <class Stencil>
struct Present {
  std::array<std::int32_t, Stencil::corners> rows;
  std::array<int, Stencil::corners> corner;  ///< Of each row.
  int count = 0;

  explicit Present(const std::array<std::int32_t, Stencil::corners>& of_stencil) {
    for (int c = 0; c < Stencil::corners; ++c)
      if (of_stencil[c] >= 0) rows[count] = of_stencil[c], corner[count++] = c;
  }
};

void set(int lane, const FoldLaw<Real>& law, FoldLaw<Pack>& pack) {
  for (int i = 0; i < 9; ++i) pack.stiffness(i).set(lane, law.stiffness(i));
  for (int i = 0; i < 3; ++i) pack.rest[i].set(lane, law.rest[i]);
}
void set(int lane, const ShareLaw<Real>& law, ShareLaw<Pack>& pack) {
  for (int i = 0; i < 9; ++i) pack.stiffness(i).set(lane, law.stiffness(i)), pack.own(i).set(lane, law.own(i));
  for (int i = 0; i < 3; ++i) pack.rest[i].set(lane, law.rest[i]);
  for (int i = 0; i < 6; ++i) pack.beyond(i).set(lane, law.beyond(i));
}
void set(int lane, const BendLaw<Real>& law, BendLaw<Pack>& pack) { pack.stiffness.set(lane, law.stiffness); }

/// Stencils begin to begin + count; idle lanes repeat the last.
template <class Stencil>
BendingPack<Stencil> pack_of(std::span<const Stencil> stencils) {
  const int count = static_cast<int>(stencils.size());
  BendingPack<Stencil> pack;
  for (int c = 0; c < Stencil::corners; ++c) {
    std::array<std::uint32_t, Pack::size> rows;
    for (int lane = 0; lane < Pack::size; ++lane)
      rows[lane] = static_cast<std::uint32_t>(row_of(stencils[std::min(lane, count - 1)], c));
    pack.rows[c] = PackRows::of(rows, count);
  }
  for (int lane = 0; lane < Pack::size; ++lane) {
    const Stencil& stencil = stencils[std::min(lane, count - 1)];
    set(lane, stencil, pack.law);
    for (int c = 0; c < Stencil::corners; ++c) pack.weights[c].set(lane, stencil.weights[c]);
  }
  return pack;
}

/// Measure k is free.
void release(Mat3& K, int k) {
  const Vec3 column = K.col(k);
  if (column[k] > 1e-9 * K.trace()) K -= column * column.transpose() / column[k];
  K.row(k).setZero();
  K.col(k).setZero();
}
template <std::size_t N>
void release_free_edges(const std::array<std::int32_t, N>& rows, Mat3& K) {
  for (std::size_t k = 0; k < 3; ++k)
    if (rows[3 + k] < 0) release(K, static_cast<int>(k));
}

/// Of the parts that a triangle with these edges has in its folds: D / A ((1 - nu) (t_i . t_j)^2 / (l_i l_j) + nu l_i
/// l_j); products of edges are those of the edges turned by a right angle.
template <class Edges>
Mat3 stiffness_of_parts(const Edges& edges, Real area, const PlateRigidity& plate) {
  Mat3 K;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const Real products = edges.col(i).dot(edges.col(j)), lengths = edges.col(i).norm() * edges.col(j).norm();
      K(i, j) = plate.rigidity / area *
                ((1 - plate.poisson_ratio) * products * products / lengths + plate.poisson_ratio * lengths);
    }
  return K;
}

/// B, lower triangular, with B S B^T = I.
Mat2 inverse_factor(const Mat2& S) {
  const Real a = std::sqrt(S(0, 0)), b = S(1, 0) / a, c = std::sqrt(S(1, 1) - b * b);
  Mat2 B;
  B << 1 / a, 0, -b / (a * c), 1 / c;
  return B;
}

Real cross(const Vec2& a, const Vec2& b) { return a[0] * b[1] - a[1] * b[0]; }

/// The third corner of the triangle (a, b, c) in a plane in which the other two are given, to the right of their edge.
Vec2 unfolded(const Vec2& a, const Vec2& b, const Vec3& a_rest, const Vec3& b_rest, const Vec3& c_rest) {
  const Vec3 edge = b_rest - a_rest, arm = c_rest - a_rest;
  const Vec2 flat = b - a;
  return a + (edge.dot(arm) * flat + edge.cross(arm).norm() * Vec2(flat[1], -flat[0])) / edge.squaredNorm();
}

/// What even curvatures K_xx, K_yy and sqrt(2) K_xy of a plane frame give the triangle (a, b, c) of the fold about its
/// edge from a to b: l / (4 A) (a - c)^T K (b - c). The plane is stretched by B.
Vec3 part_of_fold(const Vec2& a, const Vec2& b, const Vec2& c, const Mat2& B = Mat2::Identity()) {
  const Vec2 p = B * (a - c), q = B * (b - c);
  return (b - a).norm() / (2 * std::abs(cross(a - c, b - c))) *
         Vec3(p[0] * q[0], p[1] * q[1], (p[0] * q[1] + p[1] * q[0]) / std::numbers::sqrt2);
}

/// beta of (10.12a): what a triangle has beyond half of fold k, of that fold, those of the two next edges of the
/// triangle, and the two beyond its neighbour.
Eigen::Vector<Real, 5> beyond_half(const FoldedPatch::AtRest& patch, int k) {
  constexpr Real filter = 1e-3;
  const auto& [rows, x, angle, plate] = patch;
  const auto& [a, b, c, d] = folds_of_patch[static_cast<std::size_t>(k)];
  // The frame in which the edges of both triangles have a mean square of one.
  Mat2 square = Mat2::Zero();
  for (const Vec2& e : {Vec2(x[b] - x[a]), Vec2(x[c] - x[b]), Vec2(x[a] - x[c]), Vec2(x[a] - x[b]), Vec2(x[d] - x[a]),
                        Vec2(x[b] - x[d])})
    square += e * e.transpose() / 6;
  const Mat2 B = inverse_factor(square);
  const auto part = [&](int from, int to, int third) { return part_of_fold(x[from], x[to], x[third], B); };

  Eigen::Matrix<Real, 5, 3> N = Eigen::Matrix<Real, 5, 3>::Zero();
  const std::array<int, 5> folds{k, (k + 1) % 3, (k + 2) % 3, 3 + 2 * k, 4 + 2 * k};
  for (int j = 0; j < 5; ++j) {
    const auto& [from, to, left, right] = folds_of_patch[static_cast<std::size_t>(folds[static_cast<std::size_t>(j)])];
    if (rows[static_cast<std::size_t>(right)] >= 0) N.row(j) = part(from, to, left) + part(from, to, right);
  }
  const Vec3 off = (part(a, b, c) - part(a, b, d)) / 2;
  const Mat3 G = N.transpose() * N;
  const Real least = filter * G.trace();
  const SymmetricEigen axes = symmetric_eigen(G);
  const Vec3 filtered = (axes.values.array() / (axes.values.array().square() + least * least)).matrix();
  return N * (axes.Q * filtered.cwiseProduct(axes.Q.transpose() * off));
}

}  // namespace

FoldedTriangle left_of(FoldedTriangle triangle) {
  release_free_edges(triangle.rows, triangle.stiffness);
  return triangle;
}

FoldedPatch left_of(const FoldedPatch::AtRest& patch) {
  FoldedPatch::AtRest left = patch;
  for (int k = 0; k < 3; ++k)
    if (left.rows[3 + k] < 0) left.rows[6 + 2 * k] = left.rows[7 + 2 * k] = -1;
  FoldedPatch s;
  s.rows = left.rows;
  Eigen::Matrix<Real, 2, 3> edges;
  for (int k = 0; k < 3; ++k) edges.col(k) = left.flat[(k + 2) % 3] - left.flat[(k + 1) % 3];
  s.stiffness = stiffness_of_parts(edges, cross(edges.col(0), edges.col(1)) / 2, left.plate);
  release_free_edges(s.rows, s.stiffness);
  s.own.setZero();
  s.beyond.setZero();
  for (int k = 0; k < 3; ++k) {
    if (s.rows[3 + k] < 0) continue;
    const Eigen::Vector<Real, 5> beta = beyond_half(left, k);
    for (int j = 0; j < 3; ++j) s.own(k, (k + j) % 3) = beta[j];
    s.own(k, k) += 0.5;
    s.beyond.row(k) = beta.tail<2>();
  }
  s.rest.setZero();
  s.rest = measures_of(s, left.angle);  // less none
  Corners<Real, 12> x;
  for (int c = 0; c < 12; ++c) x[c] << left.flat[s.rows[c] < 0 ? opposite[c] : c], 0;
  weigh(s, x);
  return s;
}

template <class Stencil>
BendingElements<Stencil>::BendingElements(std::span<const Stencil> stencils, std::size_t rows) {
  for (const Stencil& s : stencils) rows_.push_back(s.rows);
  if constexpr (Stencil::folds > 0) {
    std::vector<FoldRows> folds;
    for (const auto& row : rows_)
      for (std::size_t j = 0; j < Stencil::folds; ++j) {
        const auto& [a, b, left, right] = folds_of_patch[j];
        const FoldRows fold{row[a], row[b], row[left], row[right]};
        folds.push_back(std::ranges::min(fold) < 0 ? FoldRows{-1, -1, -1, -1} : fold);
      }
    folds_ = FoldTable(folds, Stencil::folds, rows);
  } else {
    std::vector<std::int32_t> rows_of_corners;
    for (const auto& row : rows_) rows_of_corners.insert(rows_of_corners.end(), row.begin(), row.end());
    incidence_ = Incidence(rows_of_corners, rows);
    for (auto& of_corner : forces_) of_corner.resize(rows_.size());
  }
  for (std::span<const Stencil> rest = stencils; !rest.empty();) {
    const auto here = rest.first(std::min<std::size_t>(rest.size(), Pack::size));
    packs_.push_back(pack_of(here));
    rest = rest.subspan(here.size());
  }
  of_stencils_.resize(rows_.size());
}

template <class Stencil>
std::size_t BendingElements<Stencil>::bytes() const {
  return rows_.capacity() * (sizeof(rows_[0]) + sizeof(Real)) + packs_.capacity() * sizeof(packs_[0]) + folds_.bytes() +
         incidence_.bytes() + forces_.size() * forces_[0].capacity() * sizeof(Vec3);
}

template <class Stencil>
template <class Of>
void BendingElements<Stencil>::for_packs(std::span<const Vec3> x, Of&& of) const {
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < packs_.size(); ++k) {
    Corners<Pack, Stencil::corners> corners;
    for (int c = 0; c < Stencil::corners; ++c) corners[c] = load(x, packs_[k].rows[c]);
    of(packs_[k], corners, PackRows::range(k * Pack::size, rows_.size()));
  }
}

template <class Stencil>
template <class Of>
void BendingElements<Stencil>::for_folds(std::span<const Vec3> x, Of&& of) const {
  const std::span<const Real> angles = folds_.find_angles(x);
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < packs_.size(); ++k) {
    std::array<Pack, Stencil::folds> of_folds;
    for (int j = 0; j < Stencil::folds; ++j) of_folds[j] = load(angles, folds_.numbers(k, j));
    of(packs_[k], of_folds, PackRows::range(k * Pack::size, rows_.size()));
  }
}

template <class Stencil>
Real BendingElements<Stencil>::energy(std::span<const Vec3> x) const {
  const auto of_pack = [&](const BendingPack<Stencil>& pack, const auto& at, const PackRows& stencils) {
    store(energy_of(pack.law, at), stencils, std::span(of_stencils_));
  };
  if constexpr (Stencil::folds > 0) for_folds(x, of_pack);
  else for_packs(x, of_pack);
  return ordered_sum(rows_.size(), Real(0), [&](std::size_t e) { return of_stencils_[e]; });
}

template <class Stencil>
void BendingElements<Stencil>::respond(std::span<const Vec3> x, std::span<Vec3> f) const {
  if constexpr (Stencil::folds > 0) {
    for_folds(x, [&](const BendingPack<Stencil>& pack, const auto& angles, const PackRows& stencils) {
      const auto moments = moments_of(pack.law, angles);
      for (int j = 0; j < Stencil::folds; ++j) store(moments[static_cast<std::size_t>(j)], stencils, folds_.moments(j));
    });
    folds_.respond(x, f);
  } else {
    for_packs(x, [&](const BendingPack<Stencil>& pack, const auto& corners, const PackRows& stencils) {
      const auto forces = forces_of(pack.law, corners);
      for (int c = 0; c < Stencil::corners; ++c) store(forces[c], stencils, std::span(forces_[c]));
    });
    incidence_.add(f, [&](std::int32_t corner) -> const Vec3& {
      return forces_[corner % Stencil::corners][corner / Stencil::corners];
    });
  }
}

template <class Stencil>
void BendingElements<Stencil>::add_stiffness(std::span<const Vec3> x, bool projected, MeshStiffness& stiffness) const {
  const std::size_t first = stiffness.size();
  for (const auto& row : rows_) {
    const Present<Stencil> here(row);
    stiffness.add(here.count, std::span(here.rows).first(here.count), -1);
  }
  for_packs(x, [&](const BendingPack<Stencil>& pack, const auto& corners, const PackRows& stencils) {
    const auto K = projected ? projected_stiffness(stiffness_of(pack.law), slopes_of(pack.law, corners))
                             : exact_stiffness(pack.law, corners);
    LanePlaces of_whole{};
    for (int lane = 0; lane < stencils.count; ++lane) {
      MeshStiffness::Part part = stiffness.part(first + stencils.row[lane]);
      const Present<Stencil> here(rows_[stencils.row[lane]]);
      part.w.setIdentity();
      if (here.count == Stencil::corners) {
        of_whole[static_cast<std::size_t>(lane)] = part.K.data();
        continue;
      }
      for (int b = 0; b < 3 * here.count; ++b)
        for (int a = 0; a < 3 * here.count; ++a)
          part.K(a, b) = K(3 * here.corner[a / 3] + a % 3, 3 * here.corner[b / 3] + b % 3)[lane];
    }
    store_lanes<9 * Stencil::corners * Stencil::corners>(K, of_whole);
  });
}

template <class Stencil>
void BendingElements<Stencil>::add_weights(std::span<Real> sums) const {
  for (std::size_t e = 0; e < rows_.size(); ++e)
    for (int c = 0; c < Stencil::corners; ++c)
      if (rows_[e][c] >= 0) sums[rows_[e][c]] += packs_[e / Pack::size].weights[c][static_cast<int>(e % Pack::size)];
}

template <class Stencil>
Real BendingElements<Stencil>::fastest(std::span<const Vec3> x, std::span<const Real> mass) const {
  for_packs(x, [&](const BendingPack<Stencil>& pack, const auto& corners, const PackRows& stencils) {
    std::array<Pack, Stencil::corners> inverse_mass;
    for (int c = 0; c < Stencil::corners; ++c) {
      const Pack share = pack.weights[c] * load(mass, pack.rows[c]);
      inverse_mass[c] = select(share > 0, 1 / select(share > 0, share, 1), 0);
    }
    store(largest_eigenvalue(stiffness_of(pack.law), slopes_of(pack.law, corners), inverse_mass), stencils,
          std::span(of_stencils_));
  });
  return rows_.empty() ? 0 : std::ranges::max(of_stencils_);
}

template class BendingElements<FoldedTriangle>;
template class BendingElements<FoldedPatch>;
template class BendingElements<BentVertex>;

TriangleEdges::TriangleEdges(std::span<const std::array<std::int32_t, 3>> triangles) {
  edges_.reserve(3 * triangles.size());
  for (std::size_t e = 0; e < triangles.size(); ++e)
    for (std::size_t k = 0; k < 3; ++k)
      edges_.push_back({triangles[e][(k + 1) % 3], triangles[e][(k + 2) % 3], static_cast<std::int32_t>(3 * e + k)});
  std::sort(edges_.begin(), edges_.end());
  const auto again = std::adjacent_find(edges_.begin(), edges_.end(),
                                        [](const auto& a, const auto& b) { return a[0] == b[0] && a[1] == b[1]; });
  if (again != edges_.end())
    throw Error(ExitCode::geometry,
                fmt::format("bending: two triangles run along the edge from point {} to point {} in the same "
                            "direction; orient the triangles alike and let at most two meet at an edge",
                            (*again)[0], (*again)[1]));
}

std::int32_t TriangleEdges::opposite(std::int32_t from, std::int32_t to) const {
  const auto edge = std::lower_bound(edges_.begin(), edges_.end(), std::array{from, to, 0});
  return edge != edges_.end() && (*edge)[0] == from && (*edge)[1] == to ? (*edge)[2] : -1;
}

FoldedTriangle fold_at_rest(const std::array<std::int32_t, 6>& rows, std::span<const Vec3> rest,
                            const PlateRigidity& plate) {
  FoldedTriangle s;
  s.rows = rows;
  Mat3 edges;
  for (int k = 0; k < 3; ++k) edges.col(k) = rest[rows[(k + 2) % 3]] - rest[rows[(k + 1) % 3]];
  const Real area = 0.5 * edges.col(0).cross(edges.col(1)).norm();
  WEFT_ENSURE(area > 0);
  s.stiffness = stiffness_of_parts(edges, area, plate) / 4;  // half a fold is its
  const Corners<Real, 6> x = corners_of<Real>(s, rest);
  for (int k = 0; k < 3; ++k) s.rest[k] = fold_of(x, k).angle();
  s = left_of(s);
  weigh(s, x);
  return s;
}

FoldedPatch::AtRest patch_at_rest(const std::array<std::int32_t, 12>& rows, std::span<const Vec3> rest,
                                  const PlateRigidity& plate) {
  FoldedPatch::AtRest patch{rows, {}, {}, plate};
  const auto x = [&](int corner) -> const Vec3& { return rest[static_cast<std::size_t>(rows[corner])]; };
  auto& flat = patch.flat;
  flat.fill(Vec2::Zero());
  flat[1] = Vec2((x(1) - x(0)).norm(), 0);
  flat[2] = unfolded(flat[1], flat[0], x(1), x(0), x(2));
  for (std::size_t j = 0; j < folds_of_patch.size(); ++j) {
    const auto& [a, b, left, right] = folds_of_patch[j];
    if (rows[a] < 0 || rows[b] < 0 || rows[right] < 0) continue;
    flat[right] = unfolded(flat[a], flat[b], x(a), x(b), x(right));
    patch.angle[j] = Fold<Real>(x(a), x(b), x(left), x(right)).angle();
  }
  return patch;
}

bool folds_are_even(std::span<const std::array<std::int32_t, 3>> triangles, const TriangleEdges& edges,
                    std::span<const Vec3> rest) {
  constexpr Real most = 1e-3;
  for (const auto& triangle : triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int32_t a = triangle[(k + 1) % 3], b = triangle[(k + 2) % 3], corner = edges.opposite(b, a);
      if (corner < 0) continue;
      const std::int32_t c = triangle[k], d = triangles[static_cast<std::size_t>(corner / 3)][corner % 3];
      const Vec2 at_a = Vec2::Zero(), at_b((rest[b] - rest[a]).norm(), 0);
      const Vec3 own = part_of_fold(at_a, at_b, unfolded(at_b, at_a, rest[b], rest[a], rest[c]));
      const Vec3 other = part_of_fold(at_a, at_b, unfolded(at_a, at_b, rest[a], rest[b], rest[d]));
      if ((own - other).norm() > most * (own + other).norm()) return false;
    }
  return true;
}

std::vector<BentVertex> bends_at_rest(std::span<const std::vector<std::int32_t>> fibers, std::span<const Vec3> rest,
                                      Real rigidity) {
  std::vector<BentVertex> bends;
  const auto add = [&](std::int32_t a, std::int32_t b, std::int32_t c) {
    bends.push_back({{2 * rigidity / ((rest[b] - rest[a]).norm() + (rest[c] - rest[b]).norm())}, {a, b, c}});
  };
  for (const std::vector<std::int32_t>& fiber : fibers) {
    for (std::size_t i = 1; i + 1 < fiber.size(); ++i) add(fiber[i - 1], fiber[i], fiber[i + 1]);
    if (fiber.size() > 3 && fiber.front() == fiber.back()) add(fiber[fiber.size() - 2], fiber[0], fiber[1]);
  }
  return bends;
}

}  // namespace weft
