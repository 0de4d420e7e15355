#pragma once
// Sheets and fibers before they are divided among ranks: what bodies with and without grid are made of.

#include "bodies/nearest_weights.hpp"
#include "weft/bodies/bending.hpp"
#include "weft/bodies/codimensional.hpp"
#include "weft/bodies/membrane.hpp"
#include "weft/bodies/mesh_body.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft {

/// The bending stencil that lives with an element; rows are numbers of vertices.
template <class Stencil>
struct Bend {
  typename Stencil::AtRest stencil;
  std::array<std::int64_t, Stencil::neighbors> beyond;  ///< The other elements, -1 for none.
};

/// The bending of a sheet: every triangle has a stencil, which is made when it is asked for.
template <class StencilOfTriangle>
struct SheetBends {
  using Stencil = StencilOfTriangle;
  TriangleEdges edges;
  PlateRigidity plate{0, 0};

  bool empty() const { return edges.empty(); }
  template <class Elements>
  std::optional<Bend<Stencil>> of(std::int64_t e, const Elements& elements, std::span<const Vec3> rest) const {
    if (empty()) return std::nullopt;
    std::array<std::int32_t, Stencil::corners> rows;
    Bend<Stencil> bend;
    std::ranges::copy(elements[static_cast<std::size_t>(e)].rows, rows.begin());
    const auto look_beyond = [&](std::int32_t from, std::int32_t to, std::size_t right) {
      const std::int32_t corner = from < 0 || to < 0 ? -1 : edges.opposite(to, from);
      rows[right] = corner < 0 ? -1 : elements[static_cast<std::size_t>(corner / 3)].rows[corner % 3];
      bend.beyond[right - 3] = corner < 0 ? -1 : corner / 3;
    };
    for (std::size_t k = 0; k < 3; ++k) look_beyond(rows[(k + 1) % 3], rows[(k + 2) % 3], 3 + k);
    if constexpr (std::is_same_v<Stencil, FoldedPatch>) {
      for (std::size_t k = 0; k < 3; ++k) {
        look_beyond(rows[(k + 1) % 3], rows[3 + k], 6 + 2 * k);
        look_beyond(rows[3 + k], rows[(k + 2) % 3], 7 + 2 * k);
      }
      bend.stencil = patch_at_rest(rows, rest, plate);
    } else {
      bend.stencil = fold_at_rest(rows, rest, plate);
    }
    return bend;
  }
};

/// The bending of fibers: each inner vertex lives with its first segment.
struct FiberBends {
  using Stencil = BentVertex;
  std::vector<std::int64_t> element;   ///< Ascending.
  std::vector<Bend<Stencil>> bends{};  ///< Of each of these.

  bool empty() const { return bends.empty(); }
  template <class Elements>
  std::optional<Bend<Stencil>> of(std::int64_t e, const Elements&, std::span<const Vec3>) const {
    const auto found = std::lower_bound(element.begin(), element.end(), e);
    if (found == element.end() || *found != e) return std::nullopt;
    return bends[static_cast<std::size_t>(found - element.begin())];
  }
};

/// An edge of one triangle alone, as it runs along it.
struct BoundaryEdge {
  std::array<std::int32_t, 2> points;
  std::int64_t element;
};

/// What a body of kind K is made of.
template <class K, class BendsOfBody>
struct Ingredients {
  using Kind = K;
  using Bends = BendsOfBody;
  std::string name;
  typename K::Constants law;
  Real density;
  Real half_thickness;  ///< [m]
  std::vector<Vec3> rest;
  std::vector<ElementAtRest<K>> elements;
  Bends bends;
  std::optional<Real> tear_stretch;
  bool bends_anywhere = false;         ///< On some rank.
  std::optional<CurveNumbers> part{};  ///< Numbers above begin anew: this rank has some of the fibers alone.
  int most_divisions = 0;              ///< Of the elements of all ranks, at least.

  std::int64_t first_element() const { return part ? part->first_segment : 0; }
  std::int64_t first_vertex() const { return part ? part->first_point : 0; }

  /// The bending stencil of an element, if it has one.
  auto bend(std::int64_t element) const { return bends.of(element, elements, rest); }

  ElementRange all() const { return {0, static_cast<std::int64_t>(elements.size())}; }

  /// Where handles can take hold: the vertices whose element is in a range, each by itself.
  Sites sites(const ElementRange& range) const {
    std::vector<std::int64_t> element(rest.size(), -1);
    for (std::int64_t e = all().end - 1; e >= 0; --e)
      for (const std::int32_t vertex : elements[static_cast<std::size_t>(e)].rows)
        element[static_cast<std::size_t>(vertex)] = e;
    Sites sites;
    const std::vector<int> boundary = boundary_numbers(boundary_edges(), rest.size());
    for (std::size_t i = 0; i < rest.size(); ++i) {
      if (!range.has(element[i])) continue;
      Site& site = sites.vertices.emplace_back();
      site.point = static_cast<std::int32_t>(i);
      site.element = element[i];
      site.place = {{site.point}, {1}};
      site.where = rest[i];
      site.boundary = boundary[i];
    }
    return sites;
  }

  /// The point of some elements that is nearest to x.
  Site nearest(const ElementRange& range, const Vec3& x) const {
    return nearest_site<K::corners>(
        range, x, rest, [&](std::int64_t e) { return elements[static_cast<std::size_t>(e)].rows; }, std::identity());
  }

  /// One for each element, in its middle; linear tangents of triangles.
  std::vector<Sample> surface_samples(const ElementRange& range) const {
    std::vector<Sample> samples;
    for (std::int64_t e = range.begin; e < range.end; ++e) {
      const auto& [rows, gradients, volume, divisions] = elements[static_cast<std::size_t>(e)];
      Sample& sample = samples.emplace_back();
      sample.rows.assign(rows.begin(), rows.end());
      sample.value.assign(rows.size(), 1.0 / static_cast<Real>(rows.size()));
      for (const std::int32_t row : rows) sample.where += rest[row] / static_cast<Real>(rows.size());
      sample.mass = density * volume;
      sample.face = sample.element = e;
      if constexpr (K::corners == 3) {
        sample.d1 = {-1, 1, 0};
        sample.d2 = {-1, 0, 1};
        const auto [a1, a2] = tangents_of(sample, rest);
        sample.measure = a1.cross(a2).norm() / 2;
      }
    }
    return samples;
  }

  /// One for each boundary edge, in its middle.
  std::vector<Sample> side_samples(const ElementRange& range) const {
    const std::vector<BoundaryEdge> edges = boundary_edges();
    const std::vector<int> boundary = boundary_numbers(edges, rest.size());
    std::vector<Sample> samples;
    for (const auto& [points, element] : edges) {
      if (!range.has(element)) continue;
      const auto [p, q] = points;
      Sample& sample = samples.emplace_back();
      sample.rows = {p, q};
      sample.value = {0.5, 0.5};
      sample.where = (rest[p] + rest[q]) / 2;
      sample.ends = {rest[p], rest[q]};
      sample.measure = (rest[q] - rest[p]).norm();
      sample.face = sample.element = element;
      sample.boundary = boundary[p];
    }
    return samples;
  }

 private:
  /// None of fibers.
  std::vector<BoundaryEdge> boundary_edges() const {
    std::vector<BoundaryEdge> alone;
    if constexpr (K::corners == 3) {
      std::vector<std::pair<std::array<std::int32_t, 2>, std::int32_t>> edges;  // lower end first, corner 3 e + c
      const auto ends_of = [&](std::int32_t corner) {
        const auto& rows = elements[static_cast<std::size_t>(corner / 3)].rows;
        const auto c = static_cast<std::size_t>(corner % 3);
        return std::array{rows[c], rows[(c + 1) % 3]};
      };
      for (std::int32_t corner = 0; corner < static_cast<std::int32_t>(3 * elements.size()); ++corner) {
        const auto [p, q] = ends_of(corner);
        edges.push_back({{std::min(p, q), std::max(p, q)}, corner});
      }
      std::sort(edges.begin(), edges.end());
      std::vector<std::int32_t> corners;
      for (std::size_t k = 0; k < edges.size(); ++k)
        if ((k == 0 || edges[k - 1].first != edges[k].first) &&
            (k + 1 == edges.size() || edges[k + 1].first != edges[k].first))
          corners.push_back(edges[k].second);
      std::sort(corners.begin(), corners.end());
      for (const std::int32_t corner : corners) alone.push_back({ends_of(corner), corner / 3});
    }
    return alone;
  }
  static std::vector<int> boundary_numbers(const std::vector<BoundaryEdge>& edges, std::size_t points) {
    std::vector<std::array<std::int32_t, 2>> pairs;
    for (const BoundaryEdge& edge : edges) pairs.push_back(edge.points);
    return weft::boundary_numbers(pairs, points);
  }
};

/// The largest stretch of an element with these tangents.
inline Real longest(const Vec3& d) { return d.norm(); }
inline Real longest(const Mat32& F) {
  const Real a = F.col(0).squaredNorm(), b = F.col(1).squaredNorm();
  return std::sqrt((a + b) / 2 + std::hypot((a - b) / 2, F.col(0).dot(F.col(1))));
}

/// Throws Error(geometry) as sheet_at_rest and TriangleEdges.
template <class S, class Stencil>
Ingredients<SheetKind<S>, SheetBends<Stencil>> ingredients_of(const MembraneDescription& m,
                                                              const typename SheetKind<S>::Constants& law,
                                                              SheetBends<Stencil> bends) {
  Ingredients<SheetKind<S>, SheetBends<Stencil>> of{m.name, law, m.density,        m.thickness / 2,
                                                    m.rest, {},  std::move(bends), m.tear_stretch};
  of.elements = sheet_at_rest<S>(m.triangles, m.rest, m.warp, m.thickness, m.spacing);
  of.bends_anywhere = !of.bends.empty();
  return of;
}

/// f(ingredients) of the law that the sheet has, and of the bending that converges on its mesh.
template <class F>
decltype(auto) with_ingredients(const MembraneDescription& m, F&& f) {
  const auto with_bends = [&](auto bends) {
    if (const auto* law = std::get_if<0>(&m.law)) return f(ingredients_of<CorotatedSheet>(m, *law, std::move(bends)));
    return f(ingredients_of<WovenSheet>(m, std::get<1>(m.law), std::move(bends)));
  };
  if (!m.bending) return with_bends(SheetBends<FoldedTriangle>{});
  TriangleEdges edges(m.triangles);
  if (folds_are_even(m.triangles, edges, m.rest))
    return with_bends(SheetBends<FoldedTriangle>{std::move(edges), *m.bending});
  return with_bends(SheetBends<FoldedPatch>{std::move(edges), *m.bending});
}

/// Throws Error(geometry) as fiber_at_rest.
inline Ingredients<FiberKind, FiberBends> ingredients_of(const FiberDescription& f) {
  Ingredients<FiberKind, FiberBends> of{f.name, f.law, f.density, std::sqrt(f.section / std::numbers::pi),
                                        f.rest, {},    {},        f.tear_stretch};
  of.elements = fiber_at_rest(f.segments, f.rest, f.section, f.spacing);
  of.part = f.part;
  if (f.part) of.most_divisions = divisions_for(f.part->longest_segment, f.spacing);
  if (!f.bending_rigidity) return of;
  std::map<std::array<std::int32_t, 2>, std::int64_t> number;
  for (std::size_t e = 0; e < f.segments.size(); ++e) number[f.segments[e]] = static_cast<std::int64_t>(e);
  std::vector<std::pair<std::int64_t, BentVertex>> bends;  // each with its first segment
  for (const BentVertex& bend : bends_at_rest(f.chains, f.rest, *f.bending_rigidity))
    bends.emplace_back(number.at({bend.rows[0], bend.rows[1]}), bend);
  std::stable_sort(bends.begin(), bends.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [element, bend] : bends) {
    of.bends.element.push_back(element);
    of.bends.bends.push_back({bend, {number.at({bend.rows[1], bend.rows[2]})}});
  }
  // every curve has two points
  of.bends_anywhere = f.part ? f.part->points > 2 * f.part->curves : !of.bends.empty();
  return of;
}

}  // namespace weft
