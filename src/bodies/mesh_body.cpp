// Bodies with a mesh: their points among ranks, and in a step.

#include "weft/bodies/mesh_body.hpp"

#include <fmt/format.h>

#include "weft/base/check.hpp"
#include "weft/parallel/curve.hpp"
#include "weft/parallel/ship.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace weft {
namespace {

/// Whether the ids of a table, of all ranks together, are the `wanted` numbers below `count`, each once. Collective.
bool has_rows(const Comm& comm, const Table& table, std::span<const std::int64_t> wanted, std::int64_t count) {
  const auto id = table.get<Id>().first(table.owned());
  const std::vector<std::int64_t> there(id.begin(), id.end());
  if (comm.any(std::ranges::any_of(there, [&](std::int64_t n) { return n < 0 || n >= count; }))) return false;
  Directory of_mesh(comm, count), found(comm, count);
  of_mesh.tell(wanted, 0);
  found.tell(there, 0);
  const bool stray = std::ranges::count(of_mesh.ask(there), Directory::unknown) > 0;
  const std::int64_t rows = comm.sum(static_cast<std::int64_t>(there.size()));
  return !comm.any(stray) && rows == found.known() && rows == of_mesh.known();
}

/// The ids of the rows of a table, of which elements have so many.
std::vector<std::int64_t> numbers_of(std::span<const std::int64_t> elements, std::span<const std::int64_t> counts,
                                     std::int64_t each) {
  std::vector<std::int64_t> numbers;
  for (std::size_t e = 0; e < counts.size(); ++e)
    for (std::int64_t k = 0; k < counts[e]; ++k) numbers.push_back(elements[e] * each + k);
  return numbers;
}

}  // namespace

QuadraturePoints::QuadraturePoints() {
  points_ = Table::with<Id, Position, Velocity, Affine, Mass, EnergyDerivative>();
}

void QuadraturePoints::respond(ChunkRows rows, const ChunkForces& forces) const {
  const auto A = points_.get<EnergyDerivative>();
  for (std::size_t k = 0; k < rows.size(); ++k) forces.A[k] = A[rows[k]];
}

StepLimit QuadraturePoints::commit(ChunkRows rows, Real, const ChunkMotion&) { return limit(rows); }

MeshBody::MeshBody(std::string name, Carrier carrier, const MeshCounts& counts)
    : Body(std::move(name)), carrier_(carrier), counts_(counts), next_vertex_(counts.vertices) {
  WEFT_ENSURE((carrier == Carrier::grid) == (counts.samples > 0));
  points_ = carrier == Carrier::grid ? Table::with<Id, Position, Velocity, Affine, Mass, ElementForce>()
                                     : Table::with<Id, Position, Velocity, Mass, RestPosition>();
  if (counts.contact_points > 0) contact_ = std::make_unique<ContactPoints>(true);
}

std::vector<PointSet*> MeshBody::sets() {
  if (carrier_ == Carrier::own) return {this};
  if (may_be_edited_) return {this, &samples_, &dust_};
  return {this, &samples_};
}

std::vector<MeshBody::ElementRows> MeshBody::element_rows() {
  if (contact_) return {{&contact_->points(), counts_.contact_points, "_contact"}};
  if (carrier_ == Carrier::own) return {};
  std::vector<ElementRows> rows{{&samples_.points(), counts_.samples, "_contact"}};
  if (may_be_edited_) rows.push_back({&uses_, 1, "_elements"});
  return rows;
}

std::vector<BodyPart> MeshBody::parts() {
  std::vector<BodyPart> parts{{name(), &points_}};
  for (const ElementRows& rows : element_rows()) parts.push_back({name() + rows.part, rows.table});
  if (may_be_edited_) parts.push_back({name() + "_dust", &dust_.points()});
  return parts;
}

// --- In a step -----------------------------------------------------------------------------------------------------

void MeshBody::prepare() {
  const auto f = points_.get<ElementForce>();
  std::fill(f.begin(), f.end(), Vec3::Zero());
  trial_response(parts_of_energy(), {std::as_const(points_).get<Position>(), {}},
                 {f, samples().get<EnergyDerivative>()});
}

StepLimit MeshBody::finish(Real dt) {
  commit_elements(dt, std::as_const(samples()).get<Affine>());
  sample(std::as_const(points_).get<Position>(), samples().get<Position>());
  return limit_of_elements();
}

StepLimit MeshBody::limit(ChunkRows rows) const {
  const auto v = points_.get<Velocity>();
  Real most = 0;
  for (const std::uint32_t p : rows) most = std::max(most, v[p].squaredNorm());
  return {.speed = std::sqrt(most)};
}

StepLimit MeshBody::limit_from(std::size_t first_row) {
  if (carrier_ == Carrier::own) return limit_by_itself();
  StepLimit all = Body::limit_from(first_row);
  all.include(limit_of_elements());
  all.include(dust_.limit_of_all());
  return all;
}

StepLimit MeshBody::limit_by_itself() {  // no node passes on its waves
  const StepLimit of_elements = limit_of_elements();
  return {.speed = Body::limit_from(0).speed, .frequency = of_elements.frequency, .bending = of_elements.bending};
}

std::unique_ptr<Clamp> MeshBody::clamp(const Freedoms&, std::size_t, std::size_t, std::span<const Grip>,
                                       const RigidMotion&, Real) const {
  WEFT_ENSURE(false);
}

Real MeshBody::elastic_energy() const {
  const std::vector<Mat3> none(samples().rows(), Mat3::Zero());
  const std::vector<Real> still(forest_of_turns_.owned(), 0);
  return trial_energy(parts_of_energy(), {points_.get<Position>(), none, still});
}

void MeshBody::weigh_samples(const Vec3& gravity, std::span<Vec3> f, std::span<Vec3> of_samples) const {
  const auto mass = samples().get<Mass>();
  for (std::size_t q = 0; q < mass.size(); ++q) {
    of_samples[q] = mass[q] * gravity;
    add_force_at_sample(q, of_samples[q], f);
  }
}

// --- By contact points -----------------------------------------------------------------------------------------------

void MeshBody::follow_vertices(std::span<const Real> turns) {
  turn_elements(turns);
  commit_elements(0, {});
  if (!contact_) return;
  place_contact();
  carry_contact_points(std::as_const(points_).get<Velocity>(), contact_->points().get<Velocity>());
}

void MeshBody::place_contact() {
  Table& contact = contact_->points();
  ContactPlaces places{contact.get<Position>(), {}, {}, {}, {}};
  if (contact.has<SurfaceArea>()) {
    places.areas = contact.get<SurfaceArea>();
    places.normals = contact.get<SurfaceNormal>();
    places.at_rest = contact.get<SurfaceAtRest>();
    places.thickness = contact.get<SurfaceThickness>();
  }
  place_contact_points(places);
}

void MeshBody::scale_contact_points(Real factor) {
  const auto mass = contact_->points().get<Mass>();
  weigh_contact_points(mass);
  for (Real& each : mass) each *= factor;
}

void MeshBody::predict_contact_points(std::span<const Vec3> v) {
  carry_contact_points(v, contact_->points().get<TentativeVelocity>());
}

ContactStencil MeshBody::contact_stencil(std::uint32_t row) const {
  if (!contact_points_are_vertices()) return contact_stencils()[row];
  const auto vertex = static_cast<std::int32_t>(row);
  return {{vertex, vertex, vertex, vertex}, {1, 0, 0, 0}};
}

void MeshBody::carry_contact_points(std::span<const Vec3> v, std::span<Vec3> of_points) const {
  if (contact_points_are_vertices()) {
    std::ranges::copy(v, of_points.begin());
    return;
  }
  std::ranges::transform(contact_stencils(), of_points.begin(),
                         [&](const ContactStencil& point) { return point.of(v); });
}

void MeshBody::add_contact_force(std::size_t row, const Vec3& force, std::span<Vec3> f) const {
  if (contact_points_are_vertices()) {
    f[row] += force;
    return;
  }
  const auto& [rows, weights] = contact_stencils()[row];
  for (std::size_t k = 0; k < rows.size(); ++k) f[rows[k]] += weights[k] * force;
}

void MeshBody::add_contact_forces(std::span<const Vec3> of_points, std::span<Vec3> f) const {
  const std::span<const ContactStencil> stencils = contact_stencils();
  for (std::size_t q = 0; q < of_points.size(); ++q)
    for (std::size_t k = 0; k < stencils[q].rows.size(); ++k)
      f[stencils[q].rows[k]] += stencils[q].weights[k] * of_points[q];
}

// --- Grips -----------------------------------------------------------------------------------------------------------

std::size_t MeshBody::watch(const Comm& comm, std::vector<Grip> grips) {
  const std::int64_t before = comm.offset(static_cast<std::int64_t>(grips.size()));
  for (std::size_t k = 0; k < grips.size(); ++k) grips[k].order = before + static_cast<std::int64_t>(k);
  grips_.push_back(std::move(grips));
  return grips_.size() - 1;
}

std::int64_t MeshBody::vertices_in(const Comm& comm, std::size_t list) const {
  std::vector<std::int64_t> vertices;
  for (const Grip& grip : grips_[list])
    for (const Grip::Vertex& vertex : grip.vertices) vertices.push_back(vertex.number);
  sort_unique(vertices);
  Directory taken(comm, next_vertex_);
  taken.tell(vertices, 0);
  return taken.known();
}

std::size_t MeshBody::bytes_of_mesh() const {
  std::size_t bytes = bytes_of_elements() + bytes_of(piece_.points) + bytes_of(piece_.originals);
  for (const std::vector<Grip>& list : grips_)
    for (const Grip& grip : list) bytes += sizeof(Grip) + bytes_of(grip.vertices) + bytes_of(grip.rows);
  return bytes;
}

// --- Among ranks -----------------------------------------------------------------------------------------------------

Real size_of(const std::array<Vec3, 3>& triangle) {
  const auto& [p, q, r] = triangle;
  const Real doubled_area = (q - p).cross(r - p).norm();
  const Real longest = std::max({(q - p).squaredNorm(), (r - q).squaredNorm(), (p - r).squaredNorm()});
  return std::sqrt(std::max(doubled_area, longest / 2));
}

Real MeshSource::element_size() const {
  const SurfaceMesh surface = closed_surface();
  Real sum = 0, whole = 0;
  for (const auto& [a, b, c] : triangles_of(surface)) {
    const Vec3 &p = surface.points[a], &q = surface.points[b], &r = surface.points[c];
    const Real area = (q - p).cross(r - p).norm() / 2;
    sum += area * size_of({p, q, r});
    whole += area;
  }
  return whole > 0 ? sum / whole : 0;
}

Box MeshSource::bounds() const {
  Box box;
  for (const Vec3& x : rest_positions().held()) box.include(x);
  return box;
}

ElementRange first_share(const Comm& comm, const MeshSource& mesh) {
  if (const auto held = mesh.held()) return *held;
  const Runs runs{mesh.counts().elements, comm.size()};
  return {runs.begin(comm.rank()), runs.end(comm.rank())};
}

std::int32_t MeshBody::row_of(std::int32_t vertex) const {
  const std::int32_t row = row_in(piece_, vertex);
  WEFT_ENSURE(row >= 0);
  return row;
}

void MeshBody::fill(const Comm& comm, const VertexValues& rest, const Vec3& velocity, const Mat3& velocity_gradient) {
  const std::vector<std::int32_t> needed = needed_vertices();
  piece_ = piece_of(comm, needed, owners_of_points(comm, needed, counts_.vertices));
  points_.resize(piece_.owned);
  for (std::size_t r = 0; r < piece_.owned; ++r) {
    const std::int64_t vertex = piece_.points[r];
    points_.get<Id>()[r] = static_cast<PointId>(vertex);
    points_.get<Position>()[r] = rest[vertex];
    if (carrier_ == Carrier::own) points_.get<RestPosition>()[r] = rest[vertex];
    if (!may_be_edited_) continue;
    points_.get<VertexAtRest>()[r] = static_cast<PointId>(vertex);
    points_.get<VertexShare>()[r] = 1;
  }
  make_rows_of_elements();
  if (may_be_edited_) write_uses();
  adopt(comm);
  add_mass(points_.get<Mass>(), samples().get<Mass>());
  forest_.sum_to_owners(points_.column(Mass::label.name));
  sample(std::as_const(points_).get<Position>(), samples().get<Position>());
  set_in_motion(comm, velocity, velocity_gradient);
  rest_elements();
  spin_elements(Vec3(velocity_gradient(2, 1), velocity_gradient(0, 2), velocity_gradient(1, 0)));
  if (samples_.touches_walls()) set_contact_extents();
  if (!contact_) return;
  carry_contact_points(std::as_const(points_).get<Velocity>(), contact_->points().get<Velocity>());
  if (contact_->touches_walls()) std::ranges::fill(contact_->points().get<ContactExtent>(), ball_extent(0));
}

void MeshBody::let_touch_walls() {
  if (carrier_ == Carrier::own) {
    contact_->let_points_touch_walls();
    return;
  }
  if (half_thickness_at_vertices()) let_points_touch_walls();
  samples_.let_points_touch_walls();
  dust_.let_points_touch_walls();
}

void MeshBody::set_contact_extents() {
  if (touches_walls()) std::ranges::fill(points_.get<ContactExtent>(), ball_extent(*half_thickness_at_vertices()));
  const auto of_samples = samples().get<ContactExtent>();
  for (std::size_t q = 0; q < of_samples.size(); ++q) of_samples[q] = ball_extent(half_thickness(q));
}

void MeshBody::make_rows_of_elements() {
  for (const ElementRows& rows : element_rows()) {
    const auto numbers = numbers_of(elements(), rows_of_elements(*rows.table), rows.each);
    rows.table->resize(numbers.size());
    std::copy(numbers.begin(), numbers.end(), rows.table->get<Id>().begin());
  }
}

void MeshBody::set_in_motion(const Comm& comm, const Vec3& velocity, const Mat3& velocity_gradient) {
  const auto mass = points_.get<Mass>();
  std::array<Real, 4> sums{};  // mass, and mass times position
  for (std::size_t r = 0; r < points_.owned(); ++r) {
    const Vec3 moment = mass[r] * points_.get<Position>()[r];
    sums[0] += mass[r];
    for (std::size_t c = 0; c < 3; ++c) sums[c + 1] += moment[static_cast<Eigen::Index>(c)];
  }
  comm.sum(std::span(sums));
  const Vec3 center = Vec3(sums[1], sums[2], sums[3]) / sums[0];
  for (PointSet* set : sets()) {
    Table& points = set->points();
    for (std::size_t r = 0; r < points.rows(); ++r)
      points.get<Velocity>()[r] = velocity + velocity_gradient * (points.get<Position>()[r] - center);
    if (carrier_ == Carrier::own) continue;
    const auto affine = points.get<Affine>();
    std::fill(affine.begin(), affine.end(), velocity_gradient);
  }
}

/// Elements are counted by their quadrature points, meshes without by their vertices.
void MeshBody::require_rows_of_mesh(const Comm& comm) {
  const bool has_samples = counts_.samples > 0;
  std::int64_t found = has_samples ? 0 : static_cast<std::int64_t>(points_.owned());
  for (const PointId id : samples().get<Id>().first(samples().owned()))
    if (id % static_cast<PointId>(counts_.samples) == 0) ++found;
  found = comm.sum(found);
  const std::int64_t expected = has_samples ? counts_.elements - removed_elements_ : counts_.vertices;
  require(found == expected, ExitCode::checkpoint,
          fmt::format("body {}: the checkpoint holds {} {} of a mesh that has {}. Resume with the mesh that the run "
                      "began with.",
                      name(), found, has_samples ? "elements" : "vertices", expected));
  const std::vector<std::int32_t> vertices = needed_vertices();
  bool fits = has_rows(comm, points_, std::vector<std::int64_t>(vertices.begin(), vertices.end()), next_vertex_);
  for (const ElementRows& rows : element_rows()) {
    const auto numbers = numbers_of(elements(), rows_of_elements(*rows.table), rows.each);
    fits = has_rows(comm, *rows.table, numbers, counts_.elements * rows.each) && fits;
  }
  require_whole(comm, fits);
}

/// Throws Error(checkpoint) unless `fits` on all ranks. Collective.
void MeshBody::require_whole(const Comm& comm, bool fits) const {
  require(!comm.any(!fits), ExitCode::checkpoint,
          fmt::format("body {}: the rows in the checkpoint are not those of its vertices and elements, each once. Take "
                      "another checkpoint.",
                      name()));
}

/// The rank of the first element of each unit: that of its first quadrature point, or without any that of a vertex at
/// rest.
Directory MeshBody::homes_of_units(const Comm& comm, const RankOfPlace& rank_of_place) const {
  std::vector<std::int64_t> firsts;
  std::vector<std::int32_t> ranks;
  if (counts_.samples > 0) {
    const auto id = samples().get<Id>();
    const auto x = samples().get<Position>();
    for (std::size_t q = 0; q < samples().owned(); ++q) {
      const auto number = static_cast<std::int64_t>(id[q]);
      if (number % counts_.samples != 0 || unit_of(number / counts_.samples) != number / counts_.samples) continue;
      firsts.push_back(number / counts_.samples);
      ranks.push_back(rank_of_place(x[q]));
    }
  } else {
    Directory of_vertex(comm, counts_.vertices);
    const auto id = points_.get<Id>().first(points_.owned());
    const auto rest = points_.get<RestPosition>();
    for (std::size_t r = 0; r < points_.owned(); ++r) ranks.push_back(rank_of_place(rest[r]));
    of_vertex.tell(std::vector<std::int64_t>(id.begin(), id.end()), ranks);
    firsts = elements();
    ranks = of_vertex.ask(first_vertices());
    std::size_t kept = 0;
    for (std::size_t e = 0; e < firsts.size(); ++e) {
      if (unit_of(firsts[e]) != firsts[e]) continue;
      firsts[kept] = firsts[e];
      ranks[kept++] = ranks[e];
    }
    firsts.resize(kept);
    ranks.resize(kept);
  }
  Directory homes(comm, counts_.elements);
  homes.tell(firsts, ranks);
  return homes;
}

/// Those of elements whose rows and grips may stand on ranks that do not have them at rest.
Directory MeshBody::homes_of_elements(const Comm& comm, const RankOfPlace& rank_of_place) const {
  Directory of_units = homes_of_units(comm, rank_of_place);
  const std::vector<std::int64_t> numbers = elements();
  std::vector<std::int64_t> firsts(numbers);
  for (std::int64_t& e : firsts) e = unit_of(e);
  if (!comm.any(firsts != numbers)) return of_units;
  Directory homes(comm, counts_.elements);
  homes.tell(numbers, of_units.ask(firsts));
  return homes;
}

void MeshBody::share(const Comm& comm, const RankOfPlace& rank_of_place) {
  require_rows_of_mesh(comm);
  const Directory homes = homes_of_elements(comm, rank_of_place);
  for (const ElementRows& rows : element_rows()) {
    std::vector<std::int64_t> element;  // of each row
    for (const PointId row : std::as_const(*rows.table).get<Id>())
      element.push_back(static_cast<std::int64_t>(row) / rows.each);
    std::vector<std::int64_t> distinct = element;
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    const std::vector<std::int32_t> home = homes.ask(distinct);
    std::vector<int> to;
    for (std::size_t r = 0, d = 0; r < element.size(); ++r) {
      if (element[r] != distinct[d]) ++d;
      to.push_back(home[d]);
    }
    ship_sorted(comm, *rows.table, to);
  }
  for (std::vector<Grip>& list : grips_) {
    std::vector<std::int64_t> element;
    for (const Grip& grip : list) element.push_back(grip.element);
    list = send_grips(comm, list, homes.ask(element));
  }
  send_elements(comm, homes.ask(elements()));
  if (may_be_edited_) {
    std::vector<int> to;
    for (const Vec3& x : dust().get<Position>()) to.push_back(rank_of_place(x));
    ship_sorted(comm, dust_.points(), to);
  }
  regroup(comm);
}

/// The vertices go to the ranks whose elements need them, which take their pieces.
void MeshBody::regroup(const Comm& comm) {
  const std::vector<std::int32_t> needed = needed_vertices();
  const Directory owners = owners_of_points(comm, needed, next_vertex_);
  const auto vertex = std::as_const(points_).get<Id>().first(points_.owned());
  ship_sorted(comm, points_, owners.ask(std::vector<std::int64_t>(vertex.begin(), vertex.end())));
  piece_ = piece_of(comm, needed, owners);
  adopt(comm);
}

void MeshBody::share_evenly(const Comm& comm) {
  const auto rest = std::as_const(points_).get<RestPosition>().first(points_.owned());
  Box box;
  for (const Vec3& x : rest) box.include(x);
  comm.min(std::span(box.lower.data(), 3));
  comm.max(std::span(box.upper.data(), 3));
  const Real cell = (box.upper - box.lower).maxCoeff() / 4096;
  const auto key_at = [lower = box.lower, cell](const Vec3& x) {
    return cell > 0 ? key_of(Vec3((x - lower) / cell).cast<std::int32_t>()) : key_of(Vec3i::Zero());
  };
  const std::vector<std::int64_t> weights = [&] {
    if (turning() == nullptr) return std::vector<std::int64_t>(rest.size(), 1);
    // units go where their first vertex is, which stands for their elements
    const std::vector<std::int64_t> numbers = elements(), vertices = first_vertices();
    std::vector<std::int64_t> firsts;
    std::vector<std::int32_t> sizes;
    for (std::size_t e = 0; e < numbers.size(); ++e) {
      if (unit_of(numbers[e]) == numbers[e]) firsts.push_back(vertices[e]), sizes.push_back(0);
      if (!sizes.empty()) ++sizes.back();
    }
    Directory size_of(comm, counts_.vertices);
    size_of.tell(firsts, sizes);
    const auto id = std::as_const(points_).get<Id>().first(points_.owned());
    std::vector<std::int64_t> of_rows;
    for (const std::int32_t size : size_of.ask(std::vector<std::int64_t>(id.begin(), id.end())))
      of_rows.push_back(std::max(0, size));
    return of_rows;
  }();
  std::vector<BlockWork> work;
  for (std::size_t r = 0; r < rest.size(); ++r) work.push_back({key_at(rest[r]), weights[r]});
  const Cuts cuts = balanced_cuts(comm, work);
  share(comm, [&](const Vec3& x) { return cuts.owner(key_at(x)); });
}

/// The rows of elements and the owned ones of vertices are those of this rank's piece: adds ghosts and takes it.
void MeshBody::adopt(const Comm& comm) {
  WEFT_ENSURE(points_.owned() == piece_.owned);
  points_.resize(piece_.points.size(), piece_.owned);
  forest_ = Forest(comm, piece_.owned, piece_.originals);
  forest_of_turns_ = Forest(comm, turning() != nullptr ? turning()->rows() : 0, {});
  ++cut_;
  for (const ColumnView& column : points_.columns(Keep::state)) forest_.update_ghosts(column);
  for (std::size_t r = piece_.owned; r < points_.rows(); ++r) points_.get<Mass>()[r] = 0;
  for (std::vector<Grip>& list : grips_)
    for (Grip& grip : list) {
      grip.rows.clear();
      for (const Grip::Vertex& vertex : grip.vertices) grip.rows.push_back(row_of(vertex.number));
    }
  take_piece();
  if (!contact_) return;
  place_contact();
  weigh_contact_points(contact_->points().get<Mass>());
}

}  // namespace weft
