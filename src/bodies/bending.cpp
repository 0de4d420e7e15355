// Bending elements at rest, and their loops.

#include "bodies/bending_kernel.hpp"

#include "weft/base/check.hpp"
#include "weft/base/sums.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weft {

namespace {

/// The row of a corner. Where a neighbour is not there, the corner opposite stands for it: the angle resists nothing.
template <class Stencil>
std::int32_t row_of(const Stencil& s, int corner) {
  return s.rows[corner] >= 0 ? s.rows[corner] : s.rows[corner % 3];
}
template <class T, class Stencil>
Corners<T, Stencil::corners> corners_of(const Stencil& s, std::span<const Vector3<T>> x) {
  Corners<T, Stencil::corners> corners;
  for (int c = 0; c < Stencil::corners; ++c) corners[c] = x[row_of(s, c)];
  return corners;
}

/// The corners of a stencil that are there.
template <class Stencil>
struct Present {
  std::array<std::int32_t, Stencil::corners> rows;
  std::array<int, Stencil::corners> corner;  ///< Of each row.
  int count = 0;

  explicit Present(const Stencil& s) {
    for (int c = 0; c < Stencil::corners; ++c)
      if (s.rows[c] >= 0) rows[count] = s.rows[c], corner[count++] = c;
  }
};

void set(int lane, const FoldLaw<Real>& law, FoldLaw<Pack>& pack) {
  for (int i = 0; i < 9; ++i) pack.stiffness(i).set(lane, law.stiffness(i));
  for (int i = 0; i < 3; ++i) pack.rest[i].set(lane, law.rest[i]);
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
  for (int lane = 0; lane < Pack::size; ++lane) set(lane, stencils[std::min(lane, count - 1)], pack.law);
  return pack;
}

}  // namespace

void release(FoldedTriangle& triangle, int k) {
  Mat3& K = triangle.stiffness;
  const Vec3 column = K.col(k);
  if (column[k] > 1e-9 * K.trace()) K -= column * column.transpose() / column[k];
  K.row(k).setZero();
  K.col(k).setZero();
  triangle.rows[3 + k] = -1;
}

void release(BentVertex& vertex, int) { vertex.stiffness = 0; }

template <class Stencil>
BendingElements<Stencil>::BendingElements(std::vector<Stencil> stencils, std::size_t rows)
    : stencils_(std::move(stencils)) {
  std::vector<std::int32_t> rows_of_corners;
  for (const Stencil& s : stencils_) rows_of_corners.insert(rows_of_corners.end(), s.rows.begin(), s.rows.end());
  incidence_ = Incidence(rows_of_corners, rows);
  for (auto rest = std::span<const Stencil>(stencils_); !rest.empty();) {
    const auto here = rest.first(std::min<std::size_t>(rest.size(), Pack::size));
    packs_.push_back(pack_of(here));
    rest = rest.subspan(here.size());
  }
  for (auto& of_corner : forces_) of_corner.resize(stencils_.size());
  for (auto& of_corner : springs_) of_corner.resize(stencils_.size());
}

template <class Stencil>
std::size_t BendingElements<Stencil>::bytes() const {
  return stencils_.capacity() * (sizeof(Stencil) + Stencil::corners * (sizeof(Vec3) + sizeof(Real))) +
         packs_.capacity() * sizeof(packs_[0]) + incidence_.bytes();
}

template <class Stencil>
template <class Of>
void BendingElements<Stencil>::for_packs(std::span<const Vec3> x, Of&& of) const {
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < packs_.size(); ++k) {
    Corners<Pack, Stencil::corners> corners;
    for (int c = 0; c < Stencil::corners; ++c) corners[c] = load(x, packs_[k].rows[c]);
    of(packs_[k], corners, PackRows::range(k * Pack::size, stencils_.size()));
  }
}

template <class Stencil>
Real BendingElements<Stencil>::energy(std::span<const Vec3> x) const {
  return ordered_sum(stencils_.size(), Real(0),
                     [&](std::size_t e) { return energy_of(stencils_[e], corners_of<Real>(stencils_[e], x)); });
}

template <class Stencil>
void BendingElements<Stencil>::respond(std::span<const Vec3> x, std::span<Vec3> f) const {
  for_packs(x, [&](const BendingPack<Stencil>& pack, const auto& corners, const PackRows& stencils) {
    const auto forces = forces_of(pack.law, corners);
    for (int c = 0; c < Stencil::corners; ++c) store(forces[c], stencils, std::span(forces_[c]));
  });
  incidence_.add(f, [&](std::int32_t corner) -> const Vec3& {
    return forces_[corner % Stencil::corners][corner / Stencil::corners];
  });
}

template <class Stencil>
void BendingElements<Stencil>::add_stiffness(std::span<const Vec3> x, bool projected, MeshStiffness& stiffness) const {
  const std::size_t first = stiffness.size();
  for (const Stencil& s : stencils_) {
    const Present<Stencil> here(s);
    stiffness.add(here.count, std::span(here.rows).first(here.count), -1);
  }
  for_packs(x, [&](const BendingPack<Stencil>& pack, const auto& corners, const PackRows& stencils) {
    const auto K = projected ? projected_stiffness(stiffness_of(pack.law), slopes_of(corners))
                             : exact_stiffness(pack.law, corners);
    LanePlaces of_whole{};
    for (int lane = 0; lane < stencils.count; ++lane) {
      MeshStiffness::Part part = stiffness.part(first + stencils.row[lane]);
      const Present<Stencil> here(stencils_[stencils.row[lane]]);
      part.w.setIdentity();
      if (here.count == Stencil::corners) {
        of_whole[static_cast<std::size_t>(lane)] = part.K.data();
        continue;
      }
      for (int b = 0; b < 3 * here.count; ++b)
        for (int a = 0; a < 3 * here.count; ++a)
          part.K(a, b) = K(3 * here.corner[a / 3] + a % 3, 3 * here.corner[b / 3] + b % 3)[lane];
    }
    store_lanes(K, of_whole);
  });
}

template <class Stencil>
void BendingElements<Stencil>::add_springs(std::span<const Vec3> x, std::span<Real> springs) const {
  for_packs(x, [&](const BendingPack<Stencil>& pack, const auto& corners, const PackRows& stencils) {
    const auto sums = springs_of(stiffness_of(pack.law), slopes_of(corners));
    for (int c = 0; c < Stencil::corners; ++c) store(sums[c], stencils, std::span(springs_[c]));
  });
  incidence_.add(springs,
                 [&](std::int32_t corner) { return springs_[corner % Stencil::corners][corner / Stencil::corners]; });
}

template class BendingElements<FoldedTriangle>;
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
  Vec3 length;
  for (int k = 0; k < 3; ++k) {
    edges.col(k) = rest[rows[(k + 2) % 3]] - rest[rows[(k + 1) % 3]];
    length[k] = edges.col(k).norm();
  }
  const Real area = 0.5 * edges.col(0).cross(edges.col(1)).norm();
  WEFT_ENSURE(area > 0);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const Real products = edges.col(i).dot(edges.col(j));  // as those of the edges turned by a right angle
      s.stiffness(i, j) = plate.rigidity / (4 * area) *
                          ((1 - plate.poisson_ratio) * products * products / (length[i] * length[j]) +
                           plate.poisson_ratio * length[i] * length[j]);
    }
  for (int k = 0; k < 3; ++k)
    if (s.rows[3 + k] < 0) release(s, k);
  s.rest = Folds<Real>(corners_of<Real>(s, rest)).angle;
  return s;
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
