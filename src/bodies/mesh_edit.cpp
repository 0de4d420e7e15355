// Elements leave a mesh: rows of vertices and elements, dust and grips follow.

#include "weft/bodies/mesh_edit.hpp"

#include "bodies/vertex_fans.hpp"
#include "weft/base/check.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/parallel/directory.hpp"
#include "weft/parallel/ship.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace weft {
namespace {

/// A corner of an element and the ids of its vertex.
struct Corner {
  std::int64_t element;
  std::int32_t before, now;
};

}  // namespace

/// Where grips are anchored after an edit.
struct GripAnchors {
  Runs ids;                               ///< Of vertices before, and who keeps them.
  const FansOfVertices& fans;             ///< At their keepers.
  std::span<const std::uint8_t> touched;  ///< Of each row of vertices: whether its fans are known; empty: all are.
  std::vector<Corner> corners;            ///< Of this rank, by element.
};

namespace {

/// 1 at vertices of elements that leave.
struct Touched : Field<Real> {
  static constexpr Label label{"touched", "1", Keep::work};
};

constexpr std::array<std::string_view, 12> names_of_uses{"vertex_0", "vertex_1", "vertex_2",  "vertex_3",
                                                         "vertex_4", "vertex_5", "vertex_6",  "vertex_7",
                                                         "vertex_8", "vertex_9", "vertex_10", "vertex_11"};
/// One of the vertices that an element names.
template <std::size_t k>
struct NamedVertex : Field<std::int32_t> {
  static constexpr Label label{names_of_uses[k], "1"};
};

template <std::size_t... k>
void add_uses(Table& table, int count, std::index_sequence<k...>) {
  ((k < static_cast<std::size_t>(count) ? table.add<NamedVertex<k>>() : void()), ...);
}

/// The rows of a table of elements that stay or, if `leave`, those that leave; those of element e have ids from each *
/// e on.
std::vector<std::uint32_t> rows_of(const Table& table, std::int64_t each, std::span<const std::int64_t> leaving,
                                   bool leave) {
  const auto id = table.get<Id>();
  std::vector<std::uint32_t> rows;
  for (std::uint32_t r = 0; r < id.size(); ++r)
    if (std::ranges::binary_search(leaving, static_cast<std::int64_t>(id[r]) / each) == leave) rows.push_back(r);
  return rows;
}

std::vector<Corner> corners_among(std::span<const VertexUse> uses, std::span<const std::int32_t> present) {
  std::vector<Corner> corners;
  for (std::size_t k = 0; k < uses.size(); ++k)
    if (uses[k].mass > 0) corners.push_back({uses[k].element, uses[k].vertex, present[k]});
  return corners;
}

/// Gives the vertices of a grip on an element their present ids; returns false if the element has left.
bool follow_element(Grip& grip, std::span<const Corner> corners) {
  const auto its = std::ranges::equal_range(corners, grip.element, {}, &Corner::element);
  if (its.empty()) return false;
  for (Grip::Vertex& vertex : grip.vertices) {
    const auto corner = std::ranges::find(its, vertex.number, &Corner::before);
    WEFT_ENSURE(corner != its.end());
    vertex.number = corner->now;
  }
  return true;
}

/// A grip for each copy of its vertex, and the ranks that have their elements.
void copy_for_fans(const Grip& grip, std::span<const Fan> fans, std::vector<Grip>& copies, std::vector<int>& to) {
  for (const Fan& fan : fans) {
    copies.push_back(grip);
    copies.back().element = fan.element;
    copies.back().vertices.front().number = fan.vertex;
    to.push_back(fan.rank);
  }
}

}  // namespace

Dust::Dust() { points_ = Table::with<Id, Position, Velocity, Affine, Mass>(); }

StepLimit Dust::limit(ChunkRows rows) const {
  const auto v = points_.get<Velocity>();
  StepLimit limit;
  for (const std::uint32_t p : rows) limit.speed = std::max(limit.speed, v[p].norm());
  return limit;
}

StepLimit Dust::limit_of_all() const {
  StepLimit limit;
  for (const Vec3& v : points_.get<Velocity>()) limit.speed = std::max(limit.speed, v.norm());
  return limit;
}

void Dust::take(const Table& from, std::span<const std::uint32_t> rows, PointId first_id) {
  const std::size_t before = points_.rows();
  points_.resize(before + rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::size_t p = before + k, r = rows[k];
    points_.get<Id>()[p] = first_id + from.get<Id>()[r];
    points_.get<Position>()[p] = from.get<Position>()[r];
    points_.get<Velocity>()[p] = from.get<Velocity>()[r];
    points_.get<Affine>()[p] = from.get<Affine>()[r];
    points_.get<Mass>()[p] = from.get<Mass>()[r];
    if (!touches_walls() || !from.has<ContactExtent>()) continue;
    points_.get<ContactExtent>()[p] = from.get<ContactExtent>()[r];
    points_.get<WallForce>()[p] = from.get<WallForce>()[r];
    points_.get<WallFaces>()[p] = from.get<WallFaces>()[r];
  }
  std::vector<std::uint32_t> order(points_.rows());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [id = std::as_const(points_).get<Id>()](std::uint32_t r) { return id[r]; });
  points_.reorder(order);
}

void MeshBody::allow_edits(int uses) {
  WEFT_ENSURE(carrier_ == Carrier::grid && uses <= static_cast<int>(names_of_uses.size()));
  may_be_edited_ = true;
  points_.add<VertexAtRest>();
  points_.add<VertexShare>();
  points_.add<Touched>();
  uses_ = Table::with<Id>();
  add_uses(uses_, uses, std::make_index_sequence<names_of_uses.size()>{});
}

Real MeshBody::share_of_vertex(std::int32_t row) const { return may_be_edited_ ? points_.get<VertexShare>()[row] : 1; }

Edited MeshBody::edit(const Comm& comm) {
  const std::vector<std::int64_t> leaving(leaving_elements().begin(), leaving_elements().end());
  const std::vector<std::uint8_t> touched = touched_vertices(leaving);
  remove_rows(leaving);
  remove_elements(leaving);

  const Runs ids{next_vertex_, comm.size()};
  const std::vector<VertexUse> uses = vertex_uses();
  std::vector<std::int32_t> present, owned;
  std::vector<VertexUse> asked;
  std::vector<std::size_t> use;  // that asks
  for (std::size_t k = 0; k < uses.size(); ++k) {
    present.push_back(uses[k].vertex);
    if (uses[k].vertex < 0 || touched[row_of(uses[k].vertex)] == 0) continue;
    asked.push_back(uses[k]);
    use.push_back(k);
  }
  for (std::size_t r = 0; r < piece_.owned; ++r)
    if (touched[r] != 0) owned.push_back(piece_.points[r]);
  const SplitVertices split = split_vertices(comm, ids, asked, owned);
  for (std::size_t k = 0; k < asked.size(); ++k) present[use[k]] = split.ids[k];
  rename_vertices(present);

  Edited edited;
  edited.removed_elements = comm.sum(static_cast<std::int64_t>(leaving.size()));
  edited.new_vertices = split.new_vertices;
  split_rows(split.copies, edited);
  anchor_grips(comm, {ids, split.fans, touched, corners_among(uses, present)}, edited);
  next_vertex_ += edited.new_vertices;
  removed_elements_ += edited.removed_elements;
  write_uses();
  regroup(comm);
  return edited;
}

/// Of each row of vertices whether an element there leaves on any rank. Collective.
std::vector<std::uint8_t> MeshBody::touched_vertices(std::span<const std::int64_t> leaving) {
  const auto mark = points_.get<Touched>();
  std::ranges::fill(mark, 0.0);
  for (const VertexUse& use : vertex_uses())
    if (use.mass > 0 && std::ranges::binary_search(leaving, use.element)) mark[row_of(use.vertex)] = 1;
  forest_.sum_to_owners(points_.column(Touched::label.name));
  forest_.update_ghosts(points_.column(Touched::label.name));
  std::vector<std::uint8_t> touched;
  for (const Real count : mark) touched.push_back(count > 0 ? 1 : 0);
  return touched;
}

/// Elements lose their rows; their quadrature points are dust.
void MeshBody::remove_rows(std::span<const std::int64_t> leaving) {
  dust_.take(samples(), rows_of(samples(), counts_.samples, leaving, true), 0);
  for (const ElementRows& rows : element_rows()) rows.table->reorder(rows_of(*rows.table, rows.each, leaving, false));
}

/// Owned vertices become their copies; those without elements are dust.
void MeshBody::split_rows(std::span<const VertexCopy> copies, Edited& edited) {
  points_.resize(piece_.owned);
  std::vector<std::uint32_t> order, lost;
  std::vector<std::pair<std::size_t, VertexCopy>> changed;  // of the rows to come
  auto copy = copies.begin();
  for (std::uint32_t r = 0; r < piece_.owned; ++r) {
    if (copy == copies.end() || copy->vertex != piece_.points[r]) {
      order.push_back(r);
      continue;
    }
    for (; copy != copies.end() && copy->vertex == piece_.points[r]; ++copy)
      if (copy->id < 0) {
        lost.push_back(r);
        edited.lost_vertices.push_back(static_cast<PointId>(copy->vertex));
      } else {
        changed.emplace_back(order.size(), *copy);
        order.push_back(r);
      }
  }
  dust_.take(points_, lost, static_cast<PointId>(counts_.elements * counts_.samples));
  points_.reorder(order);
  for (const auto& [row, its] : changed) {
    points_.get<Id>()[row] = static_cast<PointId>(its.id);
    points_.get<Mass>()[row] *= its.share;
    points_.get<VertexShare>()[row] *= its.share;
  }
}

/// Grips go to the copies of their vertices, or stay with their elements; counts those that have lost theirs.
/// Collective.
void MeshBody::anchor_grips(const Comm& comm, const GripAnchors& anchors, Edited& edited) {
  for (std::vector<Grip>& list : grips_) {
    std::vector<Grip> kept, asked, copies;
    std::vector<int> to;
    std::int64_t lost = 0;
    for (Grip& grip : list) {
      if (grip.vertices.size() > 1) {
        if (follow_element(grip, anchors.corners)) kept.push_back(std::move(grip));
        else ++lost;
      } else if (anchors.touched.empty() || anchors.touched[grip.rows.front()] != 0) {
        to.push_back(anchors.ids.rank_of(grip.vertices.front().number));
        asked.push_back(std::move(grip));
      } else {
        kept.push_back(std::move(grip));
      }
    }
    asked = send_grips(comm, asked, to);
    to.clear();
    for (const Grip& grip : asked) {
      const auto found = anchors.fans.find(grip.vertices.front().number);
      if (found == anchors.fans.end()) ++lost;
      else copy_for_fans(grip, found->second, copies, to);
    }
    list = send_grips(comm, copies, to);
    std::ranges::move(kept, std::back_inserter(list));
    std::ranges::sort(list, precedes);
    edited.lost_grips.push_back(lost);
  }
  comm.sum(std::span(edited.lost_grips));
}

// --- In checkpoints --------------------------------------------------------------------------------------------------

/// The elements at rest write the vertices that they name into their rows.
void MeshBody::write_uses() {
  const std::vector<VertexUse> uses = vertex_uses();
  std::vector<ColumnView> columns = uses_.columns();
  columns.erase(columns.begin());  // the ids
  WEFT_ENSURE(uses.size() == uses_.rows() * columns.size());
  for (std::size_t k = 0; k < uses.size(); ++k)
    std::memcpy(columns[k % columns.size()].row(k / columns.size()), &uses[k].vertex, sizeof(std::int32_t));
}

/// What stands in the rows, in the order of `vertex_uses`.
std::vector<std::int32_t> MeshBody::read_uses() {
  std::vector<ColumnView> columns = uses_.columns();
  columns.erase(columns.begin());
  std::vector<std::int32_t> vertices(uses_.rows() * columns.size());
  for (std::size_t k = 0; k < vertices.size(); ++k)
    std::memcpy(&vertices[k], columns[k % columns.size()].row(k / columns.size()), sizeof(std::int32_t));
  return vertices;
}

void MeshBody::restore(const Comm& comm, std::int64_t next_vertex, std::int64_t removed_elements) {
  if (!may_be_edited_) return;
  next_vertex_ = next_vertex;
  removed_elements_ = removed_elements;
  require_possible_rows(comm);
  Directory holders(comm, counts_.elements);  // of elements at rest
  holders.tell(elements(), comm.rank());
  const auto saved = std::as_const(uses_).get<Id>().first(uses_.owned());
  ship_sorted(comm, uses_, holders.ask(std::vector<std::int64_t>(saved.begin(), saved.end())));

  const auto id = std::as_const(uses_).get<Id>();
  const std::vector<std::int64_t> there(id.begin(), id.end());
  std::vector<std::int64_t> left;
  std::ranges::set_difference(elements(), there, std::back_inserter(left));
  require_whole(comm, std::ranges::adjacent_find(there) == there.end());
  remove_elements(left);
  const std::vector<VertexUse> uses = vertex_uses();
  const std::vector<std::int32_t> present = read_uses();
  bool fits = true;
  for (std::size_t k = 0; k < uses.size(); ++k)
    fits = fits && present[k] < next_vertex_ && present[k] >= (uses[k].mass > 0 ? 0 : -1) &&
           (uses[k].vertex >= 0 || present[k] < 0);
  require_whole(comm, fits);
  rename_vertices(present);

  const Runs ids{counts_.vertices, comm.size()};
  const FansOfVertices fans = fans_at_rest(comm, ids, uses, present);
  Edited edited;
  anchor_grips(comm, {ids, fans, {}, corners_among(uses, present)}, edited);
}

/// Before ids are looked up: those of elements and dust are possible, the latter each once. Collective.
void MeshBody::require_possible_rows(const Comm& comm) const {
  const std::int64_t samples_at_rest = counts_.elements * counts_.samples;
  bool fits = counts_.vertices <= next_vertex_ && next_vertex_ <= std::numeric_limits<std::int32_t>::max() &&
              0 <= removed_elements_ && removed_elements_ <= counts_.elements;
  for (const PointId id : uses_.get<Id>()) fits = fits && id < static_cast<PointId>(counts_.elements);
  const std::int64_t ids = samples_at_rest + next_vertex_;
  for (const PointId id : dust().get<Id>()) fits = fits && id < static_cast<PointId>(ids);
  require_whole(comm, fits);
  Directory found(comm, ids);
  const auto id = dust().get<Id>();
  found.tell(std::vector<std::int64_t>(id.begin(), id.end()), 0);
  require_whole(comm, found.known() == comm.sum(static_cast<std::int64_t>(id.size())));
}

}  // namespace weft
