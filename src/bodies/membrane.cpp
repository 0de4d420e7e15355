// Bodies of codimensional elements.

#include "weft/bodies/membrane.hpp"

#include "weft/base/check.hpp"
#include "weft/bodies/continuum.hpp"
#include "weft/bodies/trial.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace weft {
namespace {

/// Sum of the norms of a vertex's row of the bending stiffness.
struct BendingSprings : Field<Real> {
  static constexpr Label label{"bending_springs", "N/m", Keep::work};
};

/// The neighbours that a bending stencil has lost, as the sum of 2^k; one for each element of bodies that can tear.
struct LostNeighbors : Field<Real> {
  static constexpr Label label{"lost_neighbors", "1"};
};

/// The bending stencils of a mesh, each with the element that it lives with; rows are numbers of vertices.
template <class Stencil>
struct Bends {
  std::vector<Stencil> stencils;
  std::vector<std::int64_t> element;                                 ///< Ascending, at most one for each.
  std::vector<std::array<std::int64_t, Stencil::neighbors>> beyond;  ///< The other elements, -1 for none.
};

template <class K>
struct StencilOf {
  using Type = FoldedTriangle;
};
template <>
struct StencilOf<FiberKind> {
  using Type = BentVertex;
};

/// What a body of kind K is made of.
template <class K>
struct Ingredients {
  using Stencil = typename StencilOf<K>::Type;
  std::string name;
  typename K::Constants law;
  Real density;
  std::vector<Vec3> rest;
  std::vector<ElementAtRest<K>> elements;
  Bends<Stencil> bends;
  std::optional<Real> tear_stretch;

  RestMesh mesh() const {
    RestMesh mesh;
    mesh.x = rest;
    mesh.vertex_mass.assign(rest.size(), 0);
    std::size_t b = 0;
    for (std::size_t e = 0; e < elements.size(); ++e) {
      const ElementAtRest<K>& element = elements[e];
      std::vector<std::int32_t> needed(element.rows.begin(), element.rows.end());
      for (; b < bends.element.size() && bends.element[b] == static_cast<std::int64_t>(e); ++b)
        for (const std::int32_t vertex : bends.stencils[b].rows)
          if (vertex >= 0) needed.push_back(vertex);
      std::sort(needed.begin(), needed.end());
      needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
      mesh.vertices.insert(mesh.vertices.end(), needed.begin(), needed.end());
      mesh.offsets.push_back(static_cast<std::int64_t>(mesh.vertices.size()));
      int samples = 1;
      for (int t = 0; t < K::tangents; ++t) samples *= element.divisions;
      mesh.first_sample.push_back(mesh.first_sample.back() + samples);
      // An element's mass goes in equal parts to its vertices and quadrature points.
      const Real share = density * element.volume / (K::corners + samples);
      for (const std::int32_t vertex : element.rows) mesh.vertex_mass[vertex] += share;
      mesh.sample_mass.insert(mesh.sample_mass.end(), static_cast<std::size_t>(samples), share);
    }
    return mesh;
  }
};

/// The largest stretch of an element with these tangents.
Real longest(const Vec3& d) { return d.norm(); }
Real longest(const Mat32& F) {
  const Real a = F.col(0).squaredNorm(), b = F.col(1).squaredNorm();
  return std::sqrt((a + b) / 2 + std::hypot((a - b) / 2, F.col(0).dot(F.col(1))));
}

template <class K>
class CodimensionalBody final : public MeshBody, public TrialMesh {
  using Stencil = typename StencilOf<K>::Type;

 public:
  explicit CodimensionalBody(Ingredients<K> of)
      : MeshBody(of.name, of.mesh()), of_(std::move(of)), elements_(of_.law, of_.density, {}, 0), bending_({}, 0) {
    samples().template add<ElasticF>();
    if (of_.tear_stretch) samples().template add<Torn>();
    if (of_.tear_stretch && bends()) samples().template add<LostNeighbors>();
    if (bends()) points_.add<BendingSprings>();
  }

  Real elastic_energy() const override {
    const std::vector<Mat3> none(samples().rows(), Mat3::Zero());
    return elements_.energy(x(), none) + bending_.energy(x());
  }

  bool has_trial_energy(bool in_loop) const override { return !in_loop; }
  Real trial_energy(std::span<const Vec3> x, std::span<const Mat3> H) const override {
    return elements_.energy(x, H) + bending_.energy(x);
  }
  void trial_response(bool in_loop, std::span<const Vec3> x, std::span<const Mat3> H, std::span<Vec3> f,
                      std::span<Mat3> A) const override {
    elements_.respond(x, H, in_loop, f, A);
    if (bends()) bending_.respond(x, f);
  }
  void add_stiffness(bool in_loop, std::span<const Vec3> x, std::span<const Mat3> H, bool definite,
                     MeshStiffness& stiffness) const override {
    elements_.add_stiffness(x, H, in_loop, definite, stiffness);
    bending_.add_stiffness(x, definite, stiffness);
  }

  Table observe() const override {
    Table shown;
    shown.resize(points_.rows(), points_.owned());
    return shown;
  }

  Picture picture() const override {
    Picture picture{K::corners, {}, Table::with<Stretch, Pressure>(), &forest()};
    std::vector<Real> stretch, pressure;
    const auto& elements = elements_.elements();
    for (std::size_t e = 0, q = 0; e < elements.size(); ++e) {
      const std::size_t first = q;
      Real sum = 0;
      for (; q < samples().rows() && elements_.points()[q].element == static_cast<std::int32_t>(e); ++q) {
        const Mat3 A = elements_.deformation(q, x()), P = K::Contact::stress(K::contact(of_.law), A);
        for (int b = K::tangents; b < 3; ++b) sum -= P.col(b).dot(A.col(b)) / (3 - K::tangents);
      }
      if (elements_.is_torn(e)) continue;
      picture.cells.insert(picture.cells.end(), elements[e].rows.begin(), elements[e].rows.end());
      stretch.push_back(stretch_at(first));
      pressure.push_back(sum / static_cast<Real>(q - first));
    }
    picture.fields.resize(stretch.size());
    std::copy(stretch.begin(), stretch.end(), picture.fields.template get<Stretch>().begin());
    std::copy(pressure.begin(), pressure.end(), picture.fields.template get<Pressure>().begin());
    return picture;
  }

  Sites sites() const override {
    Sites sites = MeshBody::sites();
    const std::vector<int> boundary = boundary_numbers(boundary_edges(), mesh().x.size());
    for (Site& site : sites.vertices) site.boundary = boundary[static_cast<std::size_t>(site.point)];
    return sites;
  }

  /// One for each element, in its middle; linear tangents of triangles.
  std::vector<Sample> surface_samples() const override {
    std::vector<Sample> samples;
    for (std::size_t e = 0; e < of_.elements.size(); ++e) {
      const auto& rows = of_.elements[e].rows;
      Sample& sample = samples.emplace_back();
      sample.rows.assign(rows.begin(), rows.end());
      sample.value.assign(rows.size(), 1.0 / static_cast<Real>(rows.size()));
      for (const std::int32_t row : rows) sample.where += mesh().x[row] / static_cast<Real>(rows.size());
      sample.mass = of_.density * of_.elements[e].volume;
      sample.face = static_cast<std::int64_t>(e);
      if constexpr (K::corners == 3) {
        sample.d1 = {-1, 1, 0};
        sample.d2 = {-1, 0, 1};
        const auto [a1, a2] = tangents_of(sample, mesh().x);
        sample.measure = a1.cross(a2).norm() / 2;
      }
    }
    return samples;
  }
  std::vector<Sample> side_samples() const override {
    const auto edges = boundary_edges();
    const std::vector<int> boundary = boundary_numbers(edges, mesh().x.size());
    std::vector<Sample> samples;
    for (const auto& [p, q] : edges) {
      Sample& sample = samples.emplace_back();
      sample.rows = {p, q};
      sample.value = {0.5, 0.5};
      sample.where = (mesh().x[p] + mesh().x[q]) / 2;
      sample.measure = (mesh().x[q] - mesh().x[p]).norm();
      sample.boundary = boundary[p];
    }
    return samples;
  }

 protected:
  void rest_elements() override {
    elements_.rest(x());
    remember();
  }

  void take_piece() override {
    const std::vector<std::int32_t> row = row_of_vertex();
    std::vector<ElementAtRest<K>> here;
    for (const std::int64_t e : piece().elements) {
      here.push_back(of_.elements[e]);
      for (std::int32_t& r : here.back().rows) r = row[r];
    }
    elements_ = CodimensionalElements<K>(of_.law, of_.density, std::move(here), points_.rows());
    WEFT_ENSURE(elements_.points().size() == samples().rows());
    const auto A = std::as_const(samples()).template get<ElasticF>();
    for (std::size_t q = 0; q < A.size(); ++q) elements_.directors()[q] = A[q].template rightCols<3 - K::tangents>();
    if (of_.tear_stretch) {
      const auto torn = std::as_const(samples()).template get<Torn>();
      for (std::size_t q = 0; q < torn.size(); ++q)
        if (torn[q] > 0) elements_.tear(static_cast<std::size_t>(elements_.points()[q].element));
    }
    std::vector<Stencil> bends_here;
    hinges_.clear();
    for (std::size_t b = 0; b < of_.bends.stencils.size(); ++b) {
      const auto& all = piece().elements;
      const auto found = std::lower_bound(all.begin(), all.end(), of_.bends.element[b]);
      if (found == all.end() || *found != of_.bends.element[b]) continue;
      bends_here.push_back(of_.bends.stencils[b]);
      for (std::int32_t& r : bends_here.back().rows) r = r < 0 ? r : row[r];
      Hinge hinge{elements_.first_point(static_cast<std::size_t>(found - all.begin())), bends_here.back(), {}};
      for (int k = 0; k < Stencil::neighbors; ++k) {
        const std::int64_t other = of_.bends.beyond[b][k];
        if (other < 0) continue;
        hinge.beyond[k] = of_.elements[other];
        for (std::int32_t& r : hinge.beyond[k]->rows) r = row[r];
      }
      hinges_.push_back(std::move(hinge));
    }
    bending_ = BendingElements<Stencil>(std::move(bends_here), points_.rows());
    if (of_.tear_stretch && bends()) {
      for (std::size_t b = 0; b < hinges_.size(); ++b) release(b);
    }
  }

  void respond_elements(std::span<Vec3> f, std::span<Mat3> A) override {
    std::fill(f.begin(), f.end(), Vec3::Zero());
    std::fill(A.begin(), A.end(), Mat3::Zero());
    trial_response(false, x(), A, f, A);  // at H = 0
  }

  void commit_elements(std::span<const Mat3> H) override {
    elements_.commit(x(), H);
    if (of_.tear_stretch) tear();
    remember();
  }

  /// Collective if the body resists bending.
  StepLimit limit_of_elements() override {
    const ElementSpeeds speeds = elements_.speeds(x());
    StepLimit limit;
    limit.wave_speed = speeds.across;
    limit.mesh_speed = speeds.along;
    limit.frequency = speeds.frequency;
    if (!bends()) return limit;
    // Row sums of the stiffness of all bending stencils over the masses of vertices (theory, 10.6).
    const auto springs = points_.template get<BendingSprings>();
    const auto mass = std::as_const(points_).template get<Mass>();
    std::fill(springs.begin(), springs.end(), 0.0);
    bending_.add_springs(x(), springs);
    forest().sum_to_owners(points_.column(BendingSprings::label.name));
    Real most = 0;
    for (std::size_t r = 0; r < points_.owned(); ++r) most = std::max(most, springs[r] / mass[r]);
    limit.bending = std::sqrt(most);
    limit.mesh_speed = std::numeric_limits<Real>::infinity();  // the grid's bound knows no bending
    return limit;
  }

  Vec3 place_of_sample(std::size_t row) const override { return elements_.position(row, x()); }
  bool is_loose(std::size_t row) const override {
    return elements_.is_torn(static_cast<std::size_t>(elements_.points()[row].element));
  }

 private:
  std::span<const Vec3> x() const { return points_.get<Position>(); }

  /// Edges of one triangle alone, as it runs along them; none of fibers.
  std::vector<std::array<std::int32_t, 2>> boundary_edges() const {
    std::vector<std::array<std::int32_t, 2>> alone;
    if constexpr (K::corners == 3) {
      std::map<std::array<std::int32_t, 2>, int> triangles;
      const auto each_edge = [&](auto&& visit) {
        for (const auto& element : of_.elements)
          for (int c = 0; c < 3; ++c) visit(element.rows[c], element.rows[(c + 1) % 3]);
      };
      each_edge([&](std::int32_t p, std::int32_t q) { ++triangles[{std::min(p, q), std::max(p, q)}]; });
      each_edge([&](std::int32_t p, std::int32_t q) {
        if (triangles[{std::min(p, q), std::max(p, q)}] == 1) alone.push_back({p, q});
      });
    }
    return alone;
  }
  bool bends() const { return !of_.bends.stencils.empty(); }
  Real stretch_at(std::size_t q) const {
    return longest(typename K::Tangents(elements_.deformation(q, x()).template leftCols<K::tangents>()));
  }

  /// Elements that are stretched too much are gone; their quadrature points are dust from now on.
  void tear() {
    const auto torn = samples().template get<Torn>();
    for (std::size_t q = 0; q < torn.size(); ++q) {
      if (torn[q] > 0 || stretch_at(q) <= *of_.tear_stretch) continue;
      torn[q] = 1;
      elements_.tear(static_cast<std::size_t>(elements_.points()[q].element));
    }
    if (!bends()) return;
    // A stencil sees with its own vertices when an element that may live on another rank is gone.
    const auto lost = samples().template get<LostNeighbors>();
    for (std::size_t b = 0; b < hinges_.size(); ++b) {
      const Hinge& hinge = hinges_[b];
      const Real before = lost[hinge.sample];
      for (int k = 0; k < Stencil::neighbors; ++k) {
        const auto& other = hinge.beyond[k];
        const bool gone = other && longest(elements_.tangents(*other, x())) > *of_.tear_stretch;
        if (!has_lost(hinge, k) && (gone || torn[hinge.sample] > 0)) lost[hinge.sample] += 1 << k;
      }
      if (lost[hinge.sample] != before) release(b);
    }
  }

  /// Writes the state of the elements into the table of quadrature points.
  void remember() {
    const auto A = samples().template get<ElasticF>();
#pragma omp parallel for schedule(static)
    for (std::size_t q = 0; q < A.size(); ++q) A[q] = elements_.deformation(q, x());
  }

  /// What a bending stencil of this rank needs when things tear.
  struct Hinge {
    std::size_t sample;  ///< The first quadrature point of its element.
    Stencil whole;
    std::array<std::optional<ElementAtRest<K>>, Stencil::neighbors> beyond;  ///< The other elements.
  };
  bool has_lost(const Hinge& hinge, int k) const {
    return static_cast<int>(std::as_const(samples()).template get<LostNeighbors>()[hinge.sample]) >> k & 1;
  }
  /// The stencil does without the neighbours that it has lost; the order in which it lost them is no part of the state.
  void release(std::size_t b) {
    Stencil left = hinges_[b].whole;
    for (int k = 0; k < Stencil::neighbors; ++k)
      if (has_lost(hinges_[b], k)) weft::release(left, k);
    bending_.replace(b, left);
  }

  Ingredients<K> of_;
  CodimensionalElements<K> elements_;  ///< Of this rank, as the bending ones.
  BendingElements<Stencil> bending_;
  std::vector<Hinge> hinges_;  ///< One for each stencil.
};

template <class S>
std::unique_ptr<MeshBody> make_sheet(const MembraneDescription& m, const typename SheetKind<S>::Constants& law) {
  Ingredients<SheetKind<S>> of{m.name, law, m.density, m.rest, {}, {}, m.tear_stretch};
  of.elements = sheet_at_rest<S>(m.triangles, m.rest, m.warp, m.thickness, m.spacing);
  if (m.bending) {
    of.bends.stencils = folds_at_rest(m.triangles, m.rest, *m.bending);  // one for each triangle
    std::map<std::array<std::int32_t, 2>, std::int64_t> triangle_at;  // directed edge
    for (std::size_t e = 0; e < m.triangles.size(); ++e)
      for (int k = 0; k < 3; ++k)
        triangle_at[{m.triangles[e][(k + 1) % 3], m.triangles[e][(k + 2) % 3]}] = static_cast<std::int64_t>(e);
    for (std::size_t e = 0; e < m.triangles.size(); ++e) {
      of.bends.element.push_back(static_cast<std::int64_t>(e));
      auto& beyond = of.bends.beyond.emplace_back();
      for (int k = 0; k < 3; ++k) {
        const auto other = triangle_at.find({m.triangles[e][(k + 2) % 3], m.triangles[e][(k + 1) % 3]});
        beyond[k] = other == triangle_at.end() ? -1 : other->second;
      }
    }
  }
  return std::make_unique<CodimensionalBody<SheetKind<S>>>(std::move(of));
}

}  // namespace

std::unique_ptr<MeshBody> make_membrane(const MembraneDescription& m) {
  if (const auto* law = std::get_if<0>(&m.law)) return make_sheet<CorotatedSheet>(m, *law);
  return make_sheet<WovenSheet>(m, std::get<1>(m.law));
}

std::unique_ptr<MeshBody> make_fibers(const FiberDescription& f) {
  Ingredients<FiberKind> of{f.name, f.law, f.density, f.rest, {}, {}, f.tear_stretch};
  of.elements = fiber_at_rest(f.segments, f.rest, f.section, f.spacing);
  if (f.bending_rigidity) {
    std::map<std::array<std::int32_t, 2>, std::int64_t> number;
    for (std::size_t e = 0; e < f.segments.size(); ++e) number[f.segments[e]] = static_cast<std::int64_t>(e);
    std::vector<std::pair<std::int64_t, BentVertex>> bends;  // each with its first segment
    for (const BentVertex& bend : bends_at_rest(f.chains, f.rest, *f.bending_rigidity))
      bends.emplace_back(number.at({bend.rows[0], bend.rows[1]}), bend);
    std::stable_sort(bends.begin(), bends.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [element, bend] : bends) {
      of.bends.element.push_back(element);
      of.bends.stencils.push_back(bend);
      of.bends.beyond.push_back({number.at({bend.rows[1], bend.rows[2]})});
    }
  }
  return std::make_unique<CodimensionalBody<FiberKind>>(std::move(of));
}

}  // namespace weft
