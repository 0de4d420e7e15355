// Bodies of codimensional elements.

#include "weft/bodies/membrane.hpp"

#include "bodies/ingredients.hpp"
#include "weft/base/check.hpp"
#include "weft/bodies/continuum.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/parallel/send.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace weft {
namespace {

/// Mass of a vertex over the weights by which bending stencils share in it.
struct BendingMass : Field<Real> {
  static constexpr Label label{"bending_mass", "kg", Keep::work};
};

/// The elastic directors of a section of a fiber: state.
struct SectionDirectors : Field<Mat32> {
  static constexpr Label label{"directors", "1"};
};
template <class K>
using DirectorsField = std::conditional_t<K::tangents == 2, Director, SectionDirectors>;

/// An element at rest and the numbers of its vertices, on its way to another rank.
template <class K>
struct MovingElement {
  std::int64_t number;
  std::array<std::int32_t, K::corners> vertices;
  ElementAtRest<K> element;
};

/// The bending stencil that lives with an element, as at rest; rows are numbers of vertices, -1 for those of neighbours
/// that have left.
template <class Stencil>
struct MeshBend : Bend<Stencil> {
  std::int64_t number;  ///< Of the element.
};

/// How many quadrature points an element has.
template <class K>
std::int64_t samples_of(const ElementAtRest<K>& element) {
  std::int64_t count = 1;
  for (int t = 0; t < K::tangents; ++t) count *= element.divisions;
  return count;
}

template <class Made>
class CodimensionalBody final : public MeshBody {
  using K = typename Made::Kind;
  using Stencil = typename Made::Bends::Stencil;
  /// Vertices that an element names.
  static constexpr std::size_t uses_of_element = K::corners + Stencil::neighbors;

 public:
  /// The elements of a range, with numbers among those that the rank holds.
  CodimensionalBody(const Made& of, Carrier carrier, const MeshCounts& counts, const ElementRange& range)
      : MeshBody(of.name, carrier, counts),
        law_(of.law),
        density_(of.density),
        half_thickness_(of.half_thickness),
        tear_stretch_(of.tear_stretch),
        bends_(of.bends_anywhere),
        elements_(law_, density_, {}, 0),
        bending_({}, 0) {
    samples().template add<DirectorsField<K>>();
    if (tear_stretch_) allow_edits(static_cast<int>(uses_of_element));
    if (bends()) points_.add<BendingMass>();
    const auto first_vertex = static_cast<std::int32_t>(of.first_vertex());
    const auto count = static_cast<std::size_t>(range.end - range.begin);
    numbers_.reserve(count);
    vertices_.reserve(count);
    apart_.reserve(count);
    for (std::int64_t e = range.begin; e < range.end; ++e) {
      numbers_.push_back(of.first_element() + e);
      apart_.push_back(of.elements[static_cast<std::size_t>(e)]);
      vertices_.push_back(apart_.back().rows);
      for (std::int32_t& vertex : vertices_.back()) vertex += first_vertex;
      auto bend = of.bend(e);
      if (!bend) continue;
      for (std::int32_t& vertex : bend->stencil.rows) vertex += vertex < 0 ? 0 : first_vertex;
      for (std::int64_t& other : bend->beyond) other += other < 0 ? 0 : of.first_element();
      bends_at_rest_.push_back({*bend, numbers_.back()});
    }
  }

  bool is_slack() const override { return true; }
  Real frequency_at(std::span<const Vec3> x) const override { return elements_.speeds(x, directors()).frequency; }

  Real trial_energy(const Parts& parts, const TrialShape& at) const override {
    return elements_.energy(parts, at.x, directors(), at.H) + (parts.elastic ? bending_.energy(at.x) : 0);
  }
  void trial_response(const Parts& parts, const TrialShape& at, const TrialForces& to) const override {
    elements_.respond(parts, at.x, directors(), at.H, to.f, to.A);
    if (parts.elastic && bends()) bending_.respond(at.x, to.f);
  }
  void add_stiffness(const Parts& parts, const TrialShape& at, bool definite, MeshStiffness& stiffness) const override {
    elements_.add_stiffness(parts, at.x, directors(), at.H, definite, stiffness);
    if (parts.elastic) bending_.add_stiffness(at.x, definite, stiffness);
  }
  void weigh_elements(const Vec3& gravity, std::span<Vec3> f) const override {
    for (const ElementAtRest<K>& e : elements_.elements())
      for (const std::int32_t row : e.rows) f[row] += density_ * e.volume / K::corners * gravity;
  }

  Picture picture() const override {
    if (carrier() == Carrier::own) return picture_without_contact();
    Picture picture{K::corners, {}, Table::with<Stretch, Pressure>(), &forest()};
    std::vector<Real> stretch, pressure;
    const auto& elements = elements_.elements();
    for (std::size_t e = 0, q = 0; e < elements.size(); ++e) {
      const std::size_t first = q;
      Real sum = 0;
      for (; q < samples().rows() && elements_.element_of_points()[q] == static_cast<std::int32_t>(e); ++q) {
        const Mat3 A = elements_.deformation(q, x(), directors()), P = K::Contact::stress(K::contact(law_), A);
        for (int b = K::tangents; b < 3; ++b) sum -= P.col(b).dot(A.col(b)) / (3 - K::tangents);
      }
      picture.cells.insert(picture.cells.end(), elements[e].rows.begin(), elements[e].rows.end());
      stretch.push_back(stretch_at(first));
      pressure.push_back(sum / static_cast<Real>(q - first));
    }
    picture.fields.resize(stretch.size());
    std::copy(stretch.begin(), stretch.end(), picture.fields.template get<Stretch>().begin());
    std::copy(pressure.begin(), pressure.end(), picture.fields.template get<Pressure>().begin());
    return picture;
  }
  std::vector<std::int64_t> elements() const override { return numbers_; }

 protected:
  std::vector<std::int32_t> needed_vertices() const override {
    std::vector<std::int32_t> needed;
    needed.reserve(K::corners * vertices_.size());
    for (const auto& vertices : vertices_) needed.insert(needed.end(), vertices.begin(), vertices.end());
    for (const MeshBend<Stencil>& bend : bends_at_rest_)
      std::ranges::copy_if(bend.stencil.rows, std::back_inserter(needed),
                           [](std::int32_t vertex) { return vertex >= 0; });
    sort_unique(needed);
    return needed;
  }
  std::vector<std::int64_t> first_vertices() const override {
    std::vector<std::int64_t> first;
    for (const auto& vertices : vertices_) first.push_back(vertices.front());
    return first;
  }
  Real half_thickness(std::size_t) const override { return half_thickness_; }
  std::optional<Real> half_thickness_at_vertices() const override { return half_thickness_; }
  void send_elements(const Comm& comm, std::span<const int> to) override {
    take_apart();
    std::vector<MovingElement<K>> moving;
    std::vector<int> to_of_bends;
    for (std::size_t e = 0; e < numbers_.size(); ++e) {
      moving.push_back({numbers_[e], vertices_[e], apart_[e]});
      if (bend_of(e, to_of_bends.size()) != nullptr) to_of_bends.push_back(to[e]);
    }
    moving = send(comm, moving, to);
    std::ranges::sort(moving, {}, &MovingElement<K>::number);
    numbers_.clear();
    vertices_.clear();
    apart_.clear();
    numbers_.reserve(moving.size());
    vertices_.reserve(moving.size());
    apart_.reserve(moving.size());
    for (const auto& [number, vertices, element] : moving) {
      numbers_.push_back(number);
      vertices_.push_back(vertices);
      apart_.push_back(element);
    }
    bends_at_rest_ = send(comm, bends_at_rest_, to_of_bends);
    std::ranges::sort(bends_at_rest_, {}, &MeshBend<Stencil>::number);
  }
  std::size_t bytes_of_elements() const override {
    return bytes_of(numbers_) + bytes_of(vertices_) + bytes_of(apart_) + bytes_of(bends_at_rest_) + elements_.bytes() +
           bending_.bytes();
  }
  std::vector<std::int64_t> rows_of_elements(const Table& table) const override {
    if (&table != &samples()) return std::vector<std::int64_t>(numbers_.size(), 1);
    std::vector<std::int64_t> rows;
    for (const ElementAtRest<K>& element : at_rest()) rows.push_back(samples_of(element));
    return rows;
  }
  void add_mass(std::span<Real> of_vertices, std::span<Real> of_samples) const override {
    elements_.add_mass(of_vertices, of_samples);
  }

  void rest_elements() override { elements_.rest(x(), samples().template get<DirectorsField<K>>()); }

  void take_piece() override {
    take_apart();
    const auto in_rows = [this](auto vertices) {
      for (std::int32_t& r : vertices) r = r < 0 ? r : row_of(r);
      return vertices;
    };
    for (std::size_t e = 0; e < apart_.size(); ++e) apart_[e].rows = in_rows(vertices_[e]);
    elements_ = CodimensionalElements<K>(law_, density_, std::exchange(apart_, {}), points_.rows());
    WEFT_ENSURE(elements_.element_of_points().size() == samples().rows());
    std::vector<Stencil> bends_here;
    for (const MeshBend<Stencil>& bend : bends_at_rest_) {
      Stencil left = left_of(bend.stencil);
      if (std::ranges::all_of(beyond(left), [](std::int32_t vertex) { return vertex < 0; })) continue;
      left.rows = in_rows(left.rows);
      bends_here.push_back(left);
    }
    masses_shared_ = false;
    bending_ = BendingElements<Stencil>(bends_here, points_.rows());
  }

  void commit_elements(Real dt, std::span<const Mat3> C) override {
    elements_.commit(x(), dt, C, samples().template get<DirectorsField<K>>());
    if (tear_stretch_) find_torn();
  }

  /// Collective if the body resists bending.
  StepLimit limit_of_elements() override {
    const ElementSpeeds speeds = elements_.speeds(x(), directors());
    StepLimit limit;
    limit.wave_speed = speeds.across;
    limit.mesh_speed = speeds.along;
    limit.frequency = speeds.frequency;
    if (!bends()) return limit;
    if (!masses_shared_) share_masses();
    limit.bending = std::sqrt(bending_.fastest(x(), std::as_const(points_).template get<BendingMass>()));
    limit.mesh_speed = std::numeric_limits<Real>::infinity();  // the grid's bound knows no bending
    return limit;
  }

  void sample(std::span<const Vec3> of_vertices, std::span<Vec3> of_samples) const override {
    elements_.place(of_vertices, of_samples);
  }
  void add_force_at_sample(std::size_t row, const Vec3& force, std::span<Vec3> f) const override {
    elements_.add_force(row, force, f);
  }

  std::span<const std::int64_t> leaving_elements() const override { return torn_; }
  void remove_elements(std::span<const std::int64_t> numbers) override {
    take_apart();
    const auto leaves = [&](std::int64_t number) { return std::ranges::binary_search(numbers, number); };
    std::size_t kept = 0;
    for (std::size_t e = 0; e < numbers_.size(); ++e) {
      if (leaves(numbers_[e])) continue;
      numbers_[kept] = numbers_[e];
      vertices_[kept] = vertices_[e];
      apart_[kept++] = apart_[e];
    }
    numbers_.resize(kept);
    vertices_.resize(kept);
    apart_.resize(kept);
    std::erase_if(bends_at_rest_, [&](const MeshBend<Stencil>& bend) { return leaves(bend.number); });
    torn_.clear();
  }
  std::vector<VertexUse> vertex_uses() const override {
    std::vector<VertexUse> uses;
    std::size_t bends = 0;
    for (std::size_t e = 0; e < numbers_.size(); ++e) {
      const auto& rows = vertices_[e];
      const ElementAtRest<K>& element = at_rest()[e];
      const Real mass = density_ * element.volume / static_cast<Real>(K::corners + samples_of(element));
      for (std::size_t a = 0; a < rows.size(); ++a) {
        uses.push_back({numbers_[e], rows[a], mass});
        for (std::size_t b = 1; b < rows.size(); ++b) uses.back().others[b - 1] = rows[(a + b) % rows.size()];
      }
      const MeshBend<Stencil>* bend = bend_of(e, bends);
      if (bend != nullptr) ++bends;
      for (std::size_t k = 0; k < Stencil::neighbors; ++k)
        uses.push_back(bend != nullptr ? VertexUse{bend->beyond[k], beyond(bend->stencil)[k], 0}
                                       : VertexUse{-1, -1, 0});
    }
    return uses;
  }
  void rename_vertices(std::span<const std::int32_t> ids) override {
    std::size_t bends = 0;
    for (std::size_t e = 0; e < numbers_.size(); ++e) {
      const auto its = ids.first(uses_of_element);
      ids = ids.subspan(uses_of_element);
      std::ranges::copy(its.first(K::corners), vertices_[e].begin());
      if (bend_of(e, bends) != nullptr) std::ranges::copy(its, bends_at_rest_[bends++].stencil.rows.begin());
    }
  }

 private:
  std::span<const Vec3> x() const { return points_.get<Position>(); }
  auto directors() const { return samples().template get<DirectorsField<K>>(); }

  /// Its cells and how far they are stretched.
  Picture picture_without_contact() const {
    Picture picture{K::corners, {}, Table::with<Stretch>(), &forest()};
    const auto& elements = elements_.elements();
    picture.fields.resize(elements.size());
    for (std::size_t e = 0; e < elements.size(); ++e) {
      picture.cells.insert(picture.cells.end(), elements[e].rows.begin(), elements[e].rows.end());
      picture.fields.template get<Stretch>()[e] = longest(elements_.tangents(elements[e], x()));
    }
    return picture;
  }

  /// Elements at rest on this rank, by number. While they are apart, their rows mean nothing.
  const std::vector<ElementAtRest<K>>& at_rest() const { return apart_.empty() ? elements_.elements() : apart_; }
  void take_apart() {
    if (apart_.empty()) apart_ = std::move(elements_).elements();
  }
  /// The stencil of element e, if it has one; so many elements before it have.
  const MeshBend<Stencil>* bend_of(std::size_t e, std::size_t before) const {
    const bool has = before < bends_at_rest_.size() && bends_at_rest_[before].number == numbers_[e];
    return has ? &bends_at_rest_[before] : nullptr;
  }

  bool bends() const { return bends_; }
  Real stretch_at(std::size_t q) const {
    return longest(typename K::template TangentsOf<Real>(
        elements_.deformation(q, x(), directors()).template leftCols<K::tangents>()));
  }

  /// Elements that are stretched too much want to leave.
  void find_torn() {
    torn_.clear();
    for (std::size_t e = 0; e < numbers_.size(); ++e)
      if (longest(elements_.tangents(elements_.elements()[e], x())) > *tear_stretch_) torn_.push_back(numbers_[e]);
  }

  /// The vertices of a stencil that its neighbours have and its element has not.
  template <class S>
  static std::span<const std::int32_t> beyond(const S& stencil) {
    return std::span(stencil.rows).template last<Stencil::neighbors>();
  }
  /// The masses that vertices have for each weight of a bending stencil (docs/theory/sheets.md, 10.6). Collective.
  void share_masses() {
    const auto share = points_.template get<BendingMass>();
    const auto mass = std::as_const(points_).template get<Mass>();
    std::ranges::fill(share, 0.0);
    bending_.add_weights(share);
    ColumnView column = points_.column(BendingMass::label.name);
    forest().sum_to_owners(column);
    for (std::size_t r = 0; r < points_.owned(); ++r) share[r] = share[r] > 0 ? mass[r] / share[r] : 0;
    forest().update_ghosts(column);
    masses_shared_ = true;
  }

  typename K::Constants law_;
  Real density_, half_thickness_;
  std::optional<Real> tear_stretch_;
  bool bends_;  ///< On some rank.
  // Of this rank, by number.
  std::vector<std::int64_t> numbers_;
  std::vector<std::array<std::int32_t, K::corners>> vertices_;  ///< Their numbers in the mesh.
  CodimensionalElements<K> elements_;                           ///< Over rows; without elements while they are apart,
  std::vector<ElementAtRest<K>> apart_;                         ///< until a piece is taken.
  std::vector<MeshBend<Stencil>> bends_at_rest_;                ///< Of those that bend.
  BendingElements<Stencil> bending_;
  bool masses_shared_ = false;      ///< Since the piece was taken.
  std::vector<std::int64_t> torn_;  ///< Elements that the last step has torn.
};

template <class Made>
class CodimensionalSource final : public MeshSource {
  using K = typename Made::Kind;

 public:
  CodimensionalSource(Made of, Carrier carrier) : MeshSource(of.name, carrier), of_(std::move(of)) {
    if (carrier == Carrier::own)
      for (ElementAtRest<K>& element : of_.elements) element.divisions = 0;
    counts_ = {static_cast<std::int64_t>(of_.rest.size()), of_.all().end, 0};
    if (of_.part) counts_ = {of_.part->points, of_.part->segments, 0};
    if (carrier == Carrier::own) return;
    ElementAtRest<K> most{};
    most.divisions = of_.most_divisions;
    if (of_.part) counts_.samples = samples_of(most);
    for (const ElementAtRest<K>& element : of_.elements)
      counts_.samples = std::max(counts_.samples, samples_of(element));
  }

  MeshCounts counts() const override { return counts_; }
  std::string census() const override {
    return fmt::format("{} {}, {} vertices", counts_.elements, K::corners == 3 ? "triangles" : "segments",
                       counts_.vertices);
  }
  std::optional<ElementRange> held() const override {
    if (!of_.part) return {};
    return ElementRange{of_.first_element(), of_.first_element() + of_.all().end};
  }
  VertexValues rest_positions() const override { return VertexValues(of_.rest, of_.first_vertex()); }
  Box bounds() const override { return of_.part ? of_.part->bounds : MeshSource::bounds(); }
  Real element_size() const override {
    Real sum = 0, whole = 0;
    for (const ElementAtRest<K>& element : of_.elements) {
      const auto corner = [&](int c) -> const Vec3& { return of_.rest[element.rows[c]]; };
      const auto edge = [&](int c) { return Vec3(corner(c) - corner(0)); };
      const Real measure = K::corners == 3 ? edge(1).cross(edge(K::corners - 1)).norm() / 2 : edge(1).norm();
      sum += measure * (K::corners == 3 ? size_of({corner(0), corner(1), corner(K::corners - 1)}) : measure);
      whole += measure;
    }
    return whole > 0 ? sum / whole : 0;
  }
  Sites sites(const ElementRange& range) const override {
    Sites sites = of_.sites(among_held(range));
    for (Site& site : sites.vertices) {
      site.point += static_cast<std::int32_t>(of_.first_vertex());
      number_in_all(site.place.rows, site.element);
    }
    return sites;
  }
  Site nearest(const ElementRange& range, const Vec3& x) const override {
    Site site = of_.nearest(among_held(range), x);
    if (site.element >= 0) number_in_all(site.place.rows, site.element);
    return site;
  }
  std::vector<Sample> surface_samples(const ElementRange& range) const override {
    std::vector<Sample> samples = of_.surface_samples(among_held(range));
    for (Sample& sample : samples) {
      number_in_all(sample.rows, sample.element);
      sample.face = sample.element;
    }
    return samples;
  }
  std::vector<Sample> side_samples(const ElementRange& range) const override { return of_.side_samples(range); }
  std::unique_ptr<MeshBody> body_of(const ElementRange& range) const override {
    return std::make_unique<CodimensionalBody<Made>>(of_, carrier(), counts_, among_held(range));
  }

 private:
  ElementRange among_held(const ElementRange& range) const {
    return {range.begin - of_.first_element(), range.end - of_.first_element()};
  }
  void number_in_all(std::vector<std::int32_t>& vertices, std::int64_t& element) const {
    for (std::int32_t& vertex : vertices) vertex += static_cast<std::int32_t>(of_.first_vertex());
    element += of_.first_element();
  }

  Made of_;
  MeshCounts counts_;
};

}  // namespace

std::unique_ptr<MeshSource> make_membrane(const MembraneDescription& m, Carrier carrier) {
  return with_ingredients(m, [&](auto of) -> std::unique_ptr<MeshSource> {
    return std::make_unique<CodimensionalSource<decltype(of)>>(std::move(of), carrier);
  });
}

std::unique_ptr<MeshSource> make_fibers(const FiberDescription& f, Carrier carrier) {
  return std::make_unique<CodimensionalSource<Ingredients<FiberKind, FiberBends>>>(ingredients_of(f), carrier);
}

}  // namespace weft
