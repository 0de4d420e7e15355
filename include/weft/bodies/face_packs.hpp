#pragma once
// Faces of a subdivision surface by packs.

#include "weft/bodies/incidence.hpp"
#include "weft/geometry/subdivision.hpp"
#include "weft/math/pack_rows.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// Faces with as many control points each, one for each lane.
struct FacePack {
  PackRows faces;
  std::vector<PackRows> points;  ///< Rows of their control points.
  std::size_t first_weight;      ///< Of the basis if the weights of all lanes are the same, else of those by lanes.
  bool alike;                    ///< The weights of all lanes are the same.
  std::size_t first_part;        ///< Of the sums over control points; those of a control point lie side by side.
};

/// A limit basis and the packs of its faces. Faces around which the mesh looks alike come one after the other: their
/// packs read one table of weights. Sums do not depend on the number of threads.
class FacePacks {
 public:
  FacePacks() = default;
  /// The points of the basis are `rows` rows.
  FacePacks(LimitBasis basis, std::size_t rows);

  const LimitBasis& basis() const { return basis_; }
  std::span<const FacePack> packs() const { return packs_; }
  std::size_t bytes() const;

  /// of(pack, its control points) for each pack.
  template <class Of>
  void each(std::span<const Vec3> x, Of&& of) const;
  /// Adds to f what of(pack, its control points, forces) adds to the forces on these, which begin at zero.
  template <class Of>
  void add_forces(std::span<const Vec3> x, std::span<Vec3> f, Of&& of) const;
  /// of(weights of the control points at sample s), of type span<const BasisWeights> or span<const
  /// BasisWeightsOf<Pack>>.
  template <class Of>
  auto at(const FacePack& pack, int s, Of&& of) const;

  /// Rows k of tables with `per_face` rows for each face.
  static PackRows rows_of(const FacePack& pack, std::int64_t per_face, std::int64_t k) {
    std::array<std::uint32_t, Pack::size> rows;
    for (int lane = 0; lane < Pack::size; ++lane)
      rows[lane] = static_cast<std::uint32_t>(per_face * pack.faces.row[lane] + k);
    return PackRows::of(rows, pack.faces.count);
  }

 private:
  LimitBasis basis_;
  std::vector<FacePack> packs_;
  std::vector<BasisWeightsOf<Pack>> weights_by_lanes_;
  std::size_t most_points_ = 0;      ///< Of a face.
  Incidence incidence_;              ///< Of the parts.
  mutable std::vector<Vec3> parts_;  ///< Work: forces on each control point of each face.
};

/// The control points of a pack.
inline void load_corners(const FacePack& pack, std::span<const Vec3> x, std::span<Vector3<Pack>> corners) {
  for (std::size_t a = 0; a < pack.points.size(); ++a) corners[a] = load(x, pack.points[a]);
}

template <class Of>
void FacePacks::each(std::span<const Vec3> x, Of&& of) const {
#pragma omp parallel
  {
    std::vector<Vector3<Pack>> corners(most_points_);
#pragma omp for schedule(static)
    for (const FacePack& pack : packs_) {
      const auto its = std::span(corners).first(pack.points.size());
      load_corners(pack, x, its);
      of(pack, std::span<const Vector3<Pack>>(its));
    }
  }
}

template <class Of>
void FacePacks::add_forces(std::span<const Vec3> x, std::span<Vec3> f, Of&& of) const {
#pragma omp parallel
  {
    std::vector<Vector3<Pack>> corners(most_points_), forces(most_points_);
#pragma omp for schedule(static)
    for (const FacePack& pack : packs_) {
      const std::size_t n = pack.points.size();
      load_corners(pack, x, corners);
      std::fill_n(forces.begin(), n, Vector3<Pack>(Vector3<Pack>::Zero()));
      of(pack, std::span<const Vector3<Pack>>(corners).first(n), std::span(forces).first(n));
      const auto count = static_cast<std::size_t>(pack.faces.count);
      for (std::size_t a = 0; a < n; ++a) {
        const std::size_t first = pack.first_part + a * Pack::size;
        store(forces[a], PackRows::range(first, first + count), std::span(parts_));
      }
    }
  }
  incidence_.add(f, [&](std::int32_t part) -> const Vec3& { return parts_[static_cast<std::size_t>(part)]; });
}

template <class Of>
auto FacePacks::at(const FacePack& pack, int s, Of&& of) const {
  const std::size_t n = pack.points.size(), first = pack.first_weight + static_cast<std::size_t>(s) * n;
  if (pack.alike) return of(std::span(basis_.weights).subspan(first, n));
  return of(std::span(weights_by_lanes_).subspan(first, n));
}

}  // namespace weft
