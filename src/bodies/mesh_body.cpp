// Bodies with a mesh: their points among ranks, and in a step.

#include "weft/bodies/mesh_body.hpp"

#include "weft/base/check.hpp"
#include "weft/parallel/ship.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace weft {

std::int64_t RestMesh::element_of(std::span<const std::int64_t> first, PointId row) {
  return std::upper_bound(first.begin(), first.end(), static_cast<std::int64_t>(row)) - first.begin() - 1;
}

QuadraturePoints::QuadraturePoints() {
  points_ = Table::with<Id, Position, Velocity, Affine, Mass, EnergyDerivative>();
}

void QuadraturePoints::respond(ChunkRows rows, const ChunkForces& forces) const {
  const auto A = points_.get<EnergyDerivative>();
  for (std::size_t k = 0; k < rows.size(); ++k) forces.A[k] = A[rows[k]];
}

StepLimit QuadraturePoints::commit(ChunkRows rows, Real, const ChunkMotion& motion) {
  const auto v = points_.get<Velocity>();
  const auto C = points_.get<Affine>();
  for (std::size_t k = 0; k < rows.size(); ++k) {
    v[rows[k]] = motion.v[k];
    C[rows[k]] = motion.C[k];
  }
  return limit(rows);
}

MeshBody::MeshBody(std::string name, RestMesh mesh) : Body(std::move(name)), mesh_(std::move(mesh)) {
  points_ = Table::with<Id, Position, Velocity, Affine, Mass, ElementForce>();
}

std::vector<BodyPart> MeshBody::parts() {
  std::vector<BodyPart> parts{{name(), &points_}};
  for (const ElementRows& rows : element_rows()) parts.push_back({name() + rows.part, rows.table});
  return parts;
}

// --- In a step -----------------------------------------------------------------------------------------------------

void MeshBody::prepare() { respond_elements(points_.get<ElementForce>(), samples().get<EnergyDerivative>()); }

void MeshBody::respond(ChunkRows rows, const ChunkForces& forces) const {
  for (std::size_t k = 0; k < rows.size(); ++k) forces.A[k].setZero();
}

StepLimit MeshBody::commit(ChunkRows rows, Real dt, const ChunkMotion& motion) {
  const auto x = points_.get<Position>(), v = points_.get<Velocity>();
  const auto C = points_.get<Affine>();
  for (std::size_t k = 0; k < rows.size(); ++k) {
    v[rows[k]] = motion.v[k];
    C[rows[k]] = motion.C[k];
    x[rows[k]] += dt * motion.v[k];
  }
  return limit(rows);
}

StepLimit MeshBody::finish(Real dt) {
  const auto C = std::as_const(samples()).get<Affine>();
  const auto H = samples().get<EnergyDerivative>();  // its values are spent
#pragma omp parallel for schedule(static)
  for (std::size_t q = 0; q < H.size(); ++q) H[q] = dt * C[q];
  commit_elements(H);
  place_samples(dt);
  return limit_of_elements();
}

StepLimit MeshBody::limit(ChunkRows rows) const {
  const auto v = points_.get<Velocity>();
  StepLimit limit;
  for (const std::uint32_t p : rows) limit.speed = std::max(limit.speed, v[p].norm());
  return limit;
}

StepLimit MeshBody::limit_from(std::size_t first_row) {
  StepLimit all = Body::limit_from(first_row);
  all.include(limit_of_elements());
  return all;
}

void MeshBody::place_samples(Real dt) {
  const auto x = samples().get<Position>();
  const auto v = std::as_const(samples()).get<Velocity>();
#pragma omp parallel for schedule(static)
  for (std::size_t q = 0; q < x.size(); ++q) x[q] = is_loose(q) ? Vec3(x[q] + dt * v[q]) : place_of_sample(q);
}

// --- Among ranks ---------------------------------------------------------------------------------------------------

namespace {

void sort_by_id(Table& table) {
  const auto id = std::as_const(table).get<Id>();
  if (std::is_sorted(id.begin(), id.end())) return;
  std::vector<std::uint32_t> order(table.rows());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return id[a] < id[b]; });
  table.reorder(order);
}

void send(const Comm& comm, Table& table, const auto& rank_of_id) {
  std::vector<int> rank;
  for (const PointId id : std::as_const(table).get<Id>().first(table.owned())) rank.push_back(rank_of_id(id));
  ship(comm, table, rank);
  sort_by_id(table);
}

}  // namespace

void MeshBody::fill(const Comm& comm, const Vec3& velocity, const Mat3& velocity_gradient) {
  const auto count = mesh_.elements();
  std::vector<int> rank_of(static_cast<std::size_t>(count));
  for (std::int64_t e = 0; e < count; ++e) rank_of[e] = static_cast<int>(e * comm.size() / count);
  const auto pieces = divide_mesh(
      rank_of, [&](std::int64_t e) { return mesh_.vertices_of(e); }, mesh_.x.size(), comm.size());
  const MeshPiece& piece = pieces[static_cast<std::size_t>(comm.rank())];

  Vec3 center = Vec3::Zero();
  for (std::size_t i = 0; i < mesh_.x.size(); ++i) center += mesh_.vertex_mass[i] * mesh_.x[i];
  center /= std::accumulate(mesh_.vertex_mass.begin(), mesh_.vertex_mass.end(), Real(0));
  const auto move = [&](Table& table) {
    for (std::size_t r = 0; r < table.rows(); ++r) {
      table.get<Velocity>()[r] = velocity + velocity_gradient * (table.get<Position>()[r] - center);
      table.get<Affine>()[r] = velocity_gradient;
    }
  };

  points_.resize(piece.owned);
  for (std::size_t r = 0; r < piece.owned; ++r) {
    const std::int32_t i = piece.points[r];
    points_.get<Id>()[r] = static_cast<PointId>(i);
    points_.get<Position>()[r] = mesh_.x[i];
    points_.get<Mass>()[r] = mesh_.vertex_mass[i];
  }
  move(points_);
  for (const ElementRows& rows : element_rows()) {
    std::size_t r = 0;
    for (const std::int64_t e : piece.elements) r += static_cast<std::size_t>(rows.first[e + 1] - rows.first[e]);
    rows.table->resize(r);
    r = 0;
    for (const std::int64_t e : piece.elements)
      for (std::int64_t k = rows.first[e]; k < rows.first[e + 1]; ++k)
        rows.table->get<Id>()[r++] = static_cast<PointId>(k);
  }
  for (std::size_t q = 0; q < samples().rows(); ++q)
    samples().get<Mass>()[q] = mesh_.sample_mass[samples().get<Id>()[q]];
  adopt(comm, pieces);
  place_samples(0);
  move(samples());
  rest_elements();
}

void MeshBody::share(const Comm& comm, const RankOfPlace& rank_of_place) {
  std::vector<std::int64_t> named(static_cast<std::size_t>(mesh_.elements()), 0);
  const auto id = std::as_const(samples()).get<Id>();
  const auto x = std::as_const(samples()).get<Position>();
  for (std::size_t q = 0; q < samples().owned(); ++q) {
    const std::int64_t e = RestMesh::element_of(mesh_.first_sample, id[q]);
    if (static_cast<std::int64_t>(id[q]) == mesh_.first_sample[e]) named[e] = rank_of_place(x[q]);
  }
  comm.sum(std::span(named));
  const std::vector<int> rank_of(named.begin(), named.end());
  const auto pieces = divide_mesh(
      rank_of, [&](std::int64_t e) { return mesh_.vertices_of(e); }, mesh_.x.size(), comm.size());
  std::vector<int> owner(mesh_.x.size());
  for (std::size_t r = 0; r < pieces.size(); ++r)
    for (std::size_t k = 0; k < pieces[r].owned; ++k) owner[pieces[r].points[k]] = static_cast<int>(r);
  send(comm, points_, [&](PointId i) { return owner[i]; });
  for (const ElementRows& rows : element_rows())
    send(comm, *rows.table, [&](PointId k) { return rank_of[RestMesh::element_of(rows.first, k)]; });
  adopt(comm, pieces);
}

/// The owned rows are those of this rank's piece: adds its ghosts and takes it.
void MeshBody::adopt(const Comm& comm, std::span<const MeshPiece> pieces) {
  piece_ = pieces[static_cast<std::size_t>(comm.rank())];
  WEFT_ENSURE(points_.owned() == piece_.owned);
  points_.resize(piece_.points.size(), piece_.owned);
  forest_ = Forest(comm, piece_.owned, piece_.originals);
  for (const ColumnView& column : points_.columns(Keep::state)) forest_.update_ghosts(column);
  for (std::size_t r = piece_.owned; r < points_.rows(); ++r) points_.get<Mass>()[r] = 0;
  for (WatchedList& watched : watched_) {
    watched.here.clear();
    for (std::size_t number = 0; number < watched.all.size(); ++number) {
      const std::vector<std::int32_t>& set = watched.all[number];
      const auto has_all = [&](const MeshPiece& p) {
        return std::all_of(set.begin(), set.end(), [&](std::int32_t vertex) { return row_in(p, vertex) >= 0; });
      };
      const auto holder = std::find_if(pieces.begin(), pieces.end(), has_all);
      require(holder != pieces.end(), ExitCode::geometry,
              "A handle's place depends on vertices that no rank has together. Use fewer ranks.");
      if (holder - pieces.begin() != comm.rank()) continue;
      watched.here.push_back({number, set});
      for (std::int32_t& row : watched.here.back().rows) row = row_in(piece_, row);
    }
  }
  take_piece();
}

std::size_t MeshBody::watch(std::vector<std::vector<std::int32_t>> sets) {
  watched_.push_back({std::move(sets), {}});
  return watched_.size() - 1;
}

std::size_t MeshBody::vertices_in(std::size_t list) const {
  std::set<std::int32_t> vertices;
  for (const auto& set : watched_[list].all) vertices.insert(set.begin(), set.end());
  return vertices.size();
}

}  // namespace weft
