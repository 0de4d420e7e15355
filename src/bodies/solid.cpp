// Bodies of tetrahedra.

#include "weft/bodies/solid.hpp"

#include "bodies/nearest_weights.hpp"
#include "bodies/solid_contact.hpp"
#include "bodies/solid_kernel.hpp"
#include "weft/base/check.hpp"
#include "weft/bodies/continuum.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/parallel/send.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <unordered_map>

namespace weft {
namespace {

/// A tetrahedron at rest with its number; rows are numbers of vertices.
template <int nodes>
struct NumberedTet {
  std::int64_t number;
  TetAtRest<nodes> element;
};

std::int64_t cube(std::int64_t n) { return n * n * n; }

template <SolidLaw L, int nodes>
class SolidBody final : public MeshBody {
 public:
  SolidBody(std::string name, Carrier carrier, const MeshCounts& counts, const typename L::Constants& law, Real density,
            Real damping, std::vector<NumberedTet<nodes>> elements, std::vector<SolidContactPoint> contact,
            std::shared_ptr<const std::unordered_map<std::int32_t, Sides>> sides)
      : MeshBody(std::move(name), carrier, counts),
        law_(law),
        density_(density),
        damping_(damping),
        at_rest_(std::move(elements)),
        contact_at_rest_(std::move(contact)),
        sides_(std::move(sides)),
        elements_(law_, density_, {}, 0) {}

  Real frequency_at(std::span<const Vec3> x) const override { return elements_.speeds(x).frequency; }

  Real damping() const override { return damping_; }
  void add_loss_within(std::span<const Vec3> x, std::span<const Vec3> v, std::span<Vec3> momentum) const override {
    elements_.add_loss_within(x, v, momentum);
  }

  Real trial_energy(const Parts& parts, const TrialShape& at) const override {
    return parts.elastic ? elements_.energy(at.x) : 0;
  }
  void trial_response(const Parts& parts, const TrialShape& at, const TrialForces& to) const override {
    std::ranges::fill(to.A, Mat3(Mat3::Zero()));
    if (parts.elastic) elements_.add_force(at.x, to.f);
  }
  void add_stiffness(const Parts& parts, const TrialShape& at, bool definite, MeshStiffness& stiffness) const override {
    if (parts.elastic) elements_.add_stiffness(at.x, definite, stiffness);
  }
  void weigh_elements(const Vec3& gravity, std::span<Vec3> f) const override {
    const auto shares = TetBasis<nodes>::mass_shares();
    for (std::size_t e = 0; e < elements_.elements().size(); ++e)
      for (std::size_t a = 0; a < nodes; ++a)
        f[elements_.elements()[e].rows[a]] +=
            shares[static_cast<Eigen::Index>(a)] * elements_.mass_of_vertices(e) * gravity;
  }

  Picture picture() const override {
    Picture picture{nodes, {}, Table::with<VolumeRatio, Pressure, VonMisesStress, CauchyStress>(), &forest()};
    const auto& elements = elements_.elements();
    picture.fields.resize(elements.size());
    for (std::size_t e = 0; e < elements.size(); ++e) {
      picture.cells.insert(picture.cells.end(), elements[e].rows.begin(), elements[e].rows.end());
      const auto [volume_ratio, cauchy] = elements_.state(e, x());
      const Real pressure = -cauchy.trace() / 3;
      picture.fields.template get<VolumeRatio>()[e] = volume_ratio;
      picture.fields.template get<Pressure>()[e] = pressure;
      picture.fields.template get<VonMisesStress>()[e] = std::sqrt(1.5) * (cauchy + pressure * Mat3::Identity()).norm();
      picture.fields.template get<CauchyStress>()[e] = cauchy;
    }
    return picture;
  }

  std::span<const ContactStencil> contact_stencils() const override { return contact_; }

 protected:
  std::vector<std::int64_t> elements() const override {
    std::vector<std::int64_t> numbers;
    for (const auto& tet : at_rest_) numbers.push_back(tet.number);
    return numbers;
  }
  std::vector<std::int32_t> needed_vertices() const override {
    std::vector<std::int32_t> needed;
    for (const auto& tet : at_rest_) needed.insert(needed.end(), tet.element.rows.begin(), tet.element.rows.end());
    sort_unique(needed);
    return needed;
  }
  std::vector<std::int64_t> first_vertices() const override {
    std::vector<std::int64_t> vertices;
    for (const auto& tet : at_rest_) vertices.push_back(tet.element.rows.front());
    return vertices;
  }
  void send_elements(const Comm& comm, std::span<const int> to) override {
    std::vector<int> of_contact;
    for (const SolidContactPoint& point : contact_at_rest_) of_contact.push_back(to[place_of(point.element)]);
    contact_at_rest_ = send(comm, contact_at_rest_, of_contact);
    std::ranges::stable_sort(contact_at_rest_, {}, &SolidContactPoint::element);
    at_rest_ = send(comm, at_rest_, to);
    std::ranges::sort(at_rest_, {}, &NumberedTet<nodes>::number);
  }
  std::size_t bytes_of_elements() const override { return bytes_of(at_rest_) + elements_.bytes(); }
  std::vector<std::int64_t> rows_of_elements(const Table&) const override {
    std::vector<std::int64_t> rows;
    for (const auto& tet : at_rest_) rows.push_back(cube(tet.element.divisions));
    for (const SolidContactPoint& point : contact_at_rest_) ++rows[place_of(point.element)];
    return rows;
  }
  void add_mass(std::span<Real> of_vertices, std::span<Real> of_samples) const override {
    elements_.add_mass(of_vertices, of_samples);
  }

  void rest_elements() override {}
  void take_piece() override {
    std::vector<TetAtRest<nodes>> here;
    for (const auto& tet : at_rest_) {
      here.push_back(tet.element);
      for (std::int32_t& row : here.back().rows) row = row_of(row);
    }
    elements_ = SolidElements<L, nodes>(law_, density_, std::move(here), points_.rows());
    element_at_.assign(points_.rows(), -1);
    for (std::size_t e = 0; e < elements_.elements().size(); ++e)
      for (const std::int32_t row : elements_.elements()[e].rows) element_at_[row] = static_cast<std::int32_t>(e);
    contact_.clear();
    for (const SolidContactPoint& point : contact_at_rest_) contact_.push_back(on_rank(point));
  }
  void commit_elements(Real, std::span<const Mat3>) override {}
  StepLimit limit_of_elements() override {
    const SolidSpeeds speeds = elements_.speeds(x());
    StepLimit limit;
    limit.mesh_speed = speeds.wave;
    limit.frequency = speeds.frequency;
    return limit;
  }

  void sample(std::span<const Vec3> of_vertices, std::span<Vec3> of_samples) const override {
    elements_.place(of_vertices, of_samples);
  }
  void add_force_at_sample(std::size_t row, const Vec3& force, std::span<Vec3> f) const override {
    elements_.add_force(row, force, f);
  }
  void place_contact_points(const ContactPlaces& places) const override {
    for (std::size_t q = 0; q < contact_.size(); ++q) {
      const auto& [a, b, c, none] = contact_[q].rows;
      const Vec3 area = (x()[b] - x()[a]).cross(x()[c] - x()[a]) / 2;
      places.x[q] = contact_[q].of(x());
      places.areas[q] = contact_at_rest_[q].share * area;
      places.normals[q] = area.stableNormalized();
      places.at_rest[q] = contact_at_rest_[q].place;
      places.thickness[q] = contact_at_rest_[q].thickness;
    }
  }
  void weigh_contact_points(std::span<Real> mass) const override {
    std::ranges::transform(contact_at_rest_, mass.begin(), &SolidContactPoint::mass);
  }
  bool faces(std::size_t row, const Vec3& way) const override {
    if (carrier() == Carrier::grid) return vertex_faces(row, way);
    const auto& [rows, weights] = contact_[row];
    if (contact_at_rest_[row].share > 0) {
      const Vec3 side = normal_of({rows[0], rows[1], rows[2]}, x());
      return Sides::of({&side, 1}).face(way);
    }
    const auto corner = std::ranges::find(weights, Real(1)) - weights.begin();
    return vertex_faces(static_cast<std::size_t>(rows[static_cast<std::size_t>(corner)]), way);
  }
  /// The surface goes through the vertices.
  Real half_thickness(std::size_t) const override { return 0; }
  std::optional<Real> half_thickness_at_vertices() const override { return 0; }

 private:
  std::span<const Vec3> x() const { return points_.get<Position>(); }
  /// Inner vertices face all ways. Sides turn with an element that has the vertex.
  bool vertex_faces(std::size_t row, const Vec3& way) const {
    const auto sides = sides_->find(static_cast<std::int32_t>(points_.get<Id>()[row]));
    if (sides == sides_->end()) return true;
    const auto e = static_cast<std::size_t>(element_at_[row]);
    const auto edges = [](const auto& corner) {
      Mat3 D;
      for (Eigen::Index k = 0; k < 3; ++k) D.col(k) = corner(k + 1) - corner(0);
      return D;
    };
    const Mat3 rest = edges([&](Eigen::Index k) { return at_rest_[e].element.rest[k]; });
    const Mat3 now = edges([&](Eigen::Index k) { return x()[elements_.elements()[e].rows[k]]; });
    return sides->second.face((rest * now.inverse() * way).normalized());
  }
  /// Of an element, among those of this rank.
  std::size_t place_of(std::int64_t number) const {
    const auto found = std::ranges::lower_bound(at_rest_, number, {}, &NumberedTet<nodes>::number);
    return static_cast<std::size_t>(found - at_rest_.begin());
  }
  ContactStencil on_rank(const SolidContactPoint& point) const {
    ContactStencil here{};
    here.rows[3] = row_of(point.vertices[0]);
    for (std::size_t k = 0; k < 3; ++k) {
      here.rows[k] = row_of(point.vertices[k]);
      here.weights[k] = point.weights[static_cast<Eigen::Index>(k)];
    }
    return here;
  }

  typename L::Constants law_;
  Real density_, damping_;
  std::vector<NumberedTet<nodes>> at_rest_;  ///< Of this rank, by number; its contact points by element.
  std::vector<SolidContactPoint> contact_at_rest_;
  std::shared_ptr<const std::unordered_map<std::int32_t, Sides>> sides_;  ///< Of vertices of the surface, at rest.
  SolidElements<L, nodes> elements_;                                      ///< Those of at_rest_, over rows.
  std::vector<std::int32_t> element_at_;                                  ///< One that has the vertex of a row.
  std::vector<ContactStencil> contact_;
};

/// Interpolation over the corners of a face with 3 or 6 nodes, at barycentric coordinates: weights of the nodes and
/// their derivatives by the second and third.
template <int nodes>
struct FaceBasis {
  Eigen::Matrix<Real, nodes, 1> values;
  Eigen::Matrix<Real, nodes, 2> derivatives;

  explicit FaceBasis(const Vec3& at) {
    Eigen::Matrix<Real, nodes, 3> by_all = Eigen::Matrix<Real, nodes, 3>::Zero();
    for (int a = 0; a < 3; ++a) {
      values[a] = nodes == 3 ? at[a] : at[a] * (2 * at[a] - 1);
      by_all(a, a) = nodes == 3 ? 1 : 4 * at[a] - 1;
    }
    if constexpr (nodes == 6)
      for (int a = 0; a < 3; ++a) {
        const int b = (a + 1) % 3;
        values[3 + a] = 4 * at[a] * at[b];
        by_all(3 + a, a) = 4 * at[b];
        by_all(3 + a, b) = 4 * at[a];
      }
    derivatives = by_all.template rightCols<2>().colwise() - by_all.col(0);
  }
};

template <SolidLaw L, int nodes>
class SolidSource final : public MeshSource {
 public:
  SolidSource(const SolidDescription& of, const typename L::Constants& law, Carrier carrier)
      : MeshSource(of.name, carrier),
        mesh_(of.mesh),
        law_(law),
        density_(of.density),
        damping_(of.damping),
        spacing_(of.spacing),
        outer_(outer_faces(mesh_)),
        surface_(surface_numbers(mesh_, outer_)) {
    name_groups(mesh_.groups);
    name_points(mesh_.given);
    for (std::int64_t t = 0; t < mesh_.count(); ++t) {
      const TetAtRest<nodes> element = at_rest(t);
      for (int q = 0; q < TetBasis<nodes>::gauss_points; ++q)
        if (!(element.at_gauss_point(q).volume > 0))
          throw Error(
              ExitCode::geometry,
              fmt::format("tetrahedron {} (counted from 0) is inverted by its curved edges. Make the mesh finer "
                          "there, or its edges straight.",
                          t));
      most_divisions_ = std::max(most_divisions_, element.divisions);
    }
    if (of.contact_points > 0) add_contact_points(of.contact_points, of.thick);
    std::vector<Triangle> triangles;
    for (const OuterTriangle& outer : triangles_of(mesh_, outer_)) triangles.push_back(outer.vertices);
    sides_ = std::make_shared<const std::unordered_map<std::int32_t, Sides>>(sides_of(mesh_.points, triangles));
  }

  MeshCounts counts() const override {
    return {static_cast<std::int64_t>(mesh_.points.size()), mesh_.count(), cube(most_divisions_), most_contact_points_};
  }
  std::string census() const override {
    return fmt::format("{} {} tetrahedra, {} vertices", mesh_.count(), nodes == 4 ? "linear" : "quadratic",
                       mesh_.points.size());
  }
  VertexValues rest_positions() const override { return mesh_.points; }

  /// The vertices, each with its first tetrahedron; their boundaries are the parts of the surface.
  Sites sites(const ElementRange& range) const override {
    std::vector<std::int64_t> element(mesh_.points.size(), -1);
    for (std::int64_t t = mesh_.count() - 1; t >= 0; --t)
      for (const std::int32_t vertex : mesh_.tet(t)) element[static_cast<std::size_t>(vertex)] = t;
    Sites sites;
    for (std::size_t i = 0; i < mesh_.points.size(); ++i) {
      if (!range.has(element[i])) continue;
      Site& site = sites.vertices.emplace_back();
      site.point = static_cast<std::int32_t>(i);
      site.element = element[i];
      site.place = {{site.point}, {1}};
      site.where = mesh_.points[i];
      site.boundary = surface_[i];
    }
    return sites;
  }

  /// By the corners: edges count as straight.
  Site nearest(const ElementRange& range, const Vec3& x) const override {
    return nearest_site<4>(
        range, x, mesh_.points, [this](std::int64_t t) { return mesh_.tet(t); },
        [](const std::array<Real, 4>& w) { return TetBasis<nodes>::values(Eigen::Vector4d(w.data())); });
  }

  /// Of each outer face, without mass, and of each tetrahedron its mass.
  std::vector<Sample> surface_samples(const ElementRange& range) const override {
    std::vector<Sample> samples;
    for (const OuterFace& face : outer_)
      if (range.has(face.tet)) add_face(face, samples);
    const auto shares = TetBasis<nodes>::mass_shares();
    for (std::int64_t t = range.begin; t < range.end; ++t) {
      Sample& sample = samples.emplace_back();
      const auto tet = mesh_.tet(t);
      sample.rows.assign(tet.begin(), tet.end());
      sample.value.assign(shares.begin(), shares.end());
      sample.mass = density_ * at_rest(t).volume();
      for (std::size_t a = 0; a < 4; ++a) sample.where += mesh_.points[tet[a]] / 4;
      sample.face = mesh_.number_of_tet(t);
      sample.element = t;
    }
    return samples;
  }
  std::vector<Sample> side_samples(const ElementRange&) const override { return {}; }
  SurfaceMesh closed_surface() const override {
    SurfaceMesh closed;
    closed.points = mesh_.points;
    for (const OuterTriangle& triangle : triangles_of(mesh_, outer_)) closed.add_face(triangle.vertices);
    return closed;
  }

  std::unique_ptr<MeshBody> body_of(const ElementRange& range) const override {
    std::vector<NumberedTet<nodes>> elements;
    for (std::int64_t t = range.begin; t < range.end; ++t) elements.push_back({t, at_rest(t)});
    std::vector<SolidContactPoint> contact;
    for (const SolidContactPoint& point : contact_)
      if (range.has(point.element)) contact.push_back(point);
    return std::make_unique<SolidBody<L, nodes>>(name(), carrier(), counts(), law_, density_, damping_,
                                                 std::move(elements), std::move(contact), sides_);
  }

 private:
  static constexpr int face_nodes = nodes == 4 ? 3 : 6;

  /// On the grid it has as many quadrature points as a cube of its volume.
  TetAtRest<nodes> at_rest(std::int64_t t) const {
    TetAtRest<nodes> element;
    for (std::size_t a = 0; a < nodes; ++a) {
      element.rows[a] = mesh_.tet(t)[a];
      element.rest[a] = mesh_.points[element.rows[a]];
    }
    if (carrier() == Carrier::grid)
      element.divisions = std::max(1, static_cast<int>(std::lround(std::cbrt(element.volume()) / spacing_)));
    return element;
  }
  /// density: [1/m^2]; thick: [m].
  void add_contact_points(Real density, Real thick) {
    std::vector<Real> mass(mesh_.points.size(), 0);
    const auto shares = TetBasis<nodes>::mass_shares();
    for (std::int64_t t = 0; t < mesh_.count(); ++t) {
      const Real of_tet = density_ * at_rest(t).volume();
      for (std::size_t a = 0; a < nodes; ++a)
        mass[static_cast<std::size_t>(mesh_.tet(t)[a])] += shares[static_cast<Eigen::Index>(a)] * of_tet;
    }
    contact_ = contact_points_of(mesh_, outer_, mass, density, thick);
    std::int64_t count = 0;
    for (std::size_t q = 0; q < contact_.size(); ++q) {
      count = q > 0 && contact_[q].element == contact_[q - 1].element ? count + 1 : 1;
      most_contact_points_ = std::max(most_contact_points_, count);
    }
  }
  std::vector<std::int32_t> rows_of(const OuterFace& face) const {
    std::vector<std::int32_t> rows;
    for (int a = 0; a < face_nodes; ++a)
      rows.push_back(mesh_.tet(face.tet)[tet_faces[static_cast<std::size_t>(face.face)][static_cast<std::size_t>(a)]]);
    return rows;
  }

  void add_face(const OuterFace& face, std::vector<Sample>& samples) const {
    const auto add = [&](const Vec3& at, Real weight) {
      const FaceBasis<face_nodes> basis(at);
      Sample& sample = samples.emplace_back();
      sample.rows = rows_of(face);
      sample.value.assign(basis.values.begin(), basis.values.end());
      for (int a = 0; a < face_nodes; ++a) {
        sample.d1.push_back(basis.derivatives(a, 1));  // the normal points inwards, where pressure pushes
        sample.d2.push_back(basis.derivatives(a, 0));
        sample.where += basis.values[a] * mesh_.points[sample.rows[static_cast<std::size_t>(a)]];
      }
      const auto [a1, a2] = tangents_of(sample, mesh_.points);
      sample.measure = weight * a1.cross(a2).norm() / 2;
      sample.face = mesh_.number_of_face(face.tet, face.face);
      sample.element = face.tet;
      sample.boundary = surface_[static_cast<std::size_t>(sample.rows.front())];
    };
    if constexpr (nodes == 4) {
      add(Vec3::Constant(1.0 / 3), 1);
    } else {
      for (int q = 0; q < 3; ++q) add(Vec3::Constant(1.0 / 6) + 0.5 * Vec3::Unit(q), 1.0 / 3);
    }
  }

  TetMesh mesh_;
  typename L::Constants law_;
  Real density_, damping_, spacing_;
  std::vector<OuterFace> outer_;
  std::vector<int> surface_;  ///< Number of the part of the surface that a vertex is on; -1: none.
  std::shared_ptr<const std::unordered_map<std::int32_t, Sides>> sides_;
  int most_divisions_ = 0;
  std::vector<SolidContactPoint> contact_;  ///< By element.
  std::int64_t most_contact_points_ = 0;    ///< Of an element.
};

template <SolidLaw L>
std::unique_ptr<MeshSource> make(const SolidDescription& solid, const typename L::Constants& law, Carrier carrier) {
  if (solid.mesh.nodes_each == 4) return std::make_unique<SolidSource<L, 4>>(solid, law, carrier);
  return std::make_unique<SolidSource<L, 10>>(solid, law, carrier);
}

}  // namespace

std::unique_ptr<MeshSource> make_solid(const SolidDescription& solid, Carrier carrier) {
  if (const auto* law = std::get_if<FixedCorotated::Constants>(&solid.law))
    return make<FixedCorotated>(solid, *law, carrier);
  if (const auto* law = std::get_if<NeoHookean::Constants>(&solid.law)) return make<NeoHookean>(solid, *law, carrier);
  return make<StvkHencky>(solid, std::get<StvkHencky::Constants>(solid.law), carrier);
}

}  // namespace weft
