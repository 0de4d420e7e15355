#include "run/record.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "run/totals.hpp"
#include "run/write_mode.hpp"
#include "weft/base/check.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/deck/frame_fields.hpp"
#include "weft/geometry/mesh.hpp"
#include "weft/output/files.hpp"

namespace weft {
namespace {

/// The grid layer of a node: materials first, then as the deck lists them.
struct LayerNumber : Field<std::int32_t> {
  static constexpr Label label{"layer", "1", Keep::shown};
};

/// Pictures of a body have its name.
std::string series_of(const Body& body) { return body.name(); }
std::string series_of(const Wall& wall) { return "collider_" + wall.name; }
constexpr const char* series_of_grid = "grid";
std::string series_of_contact(const Body& body) { return body.name() + "_contact"; }

/// The columns of a body's table that the deck asks for.
std::vector<ColumnView> chosen_fields(const Scene& scene, const Body& body, Table& table) {
  std::vector<ColumnView> fields;
  for (const std::string& name : fields_to_show(scene.deck, body.name()))
    if (const ColumnView column = table.column(name); column.row_bytes > 0) fields.push_back(column);
  return fields;
}
/// Those of drawn points, and who they are.
std::vector<ColumnView> chosen_state(const Scene& scene, const Body& body, Table& points) {
  const std::vector<ColumnView> identity = identity_of(points);
  std::vector<ColumnView> fields = chosen_fields(scene, body, points);
  for (const ColumnView& each : identity)  // may be asked for
    std::erase_if(fields, [&](const ColumnView& field) { return field.label.name == each.label.name; });
  fields.insert(fields.begin(), identity.begin(), identity.end());
  return fields;
}
/// The fields computed from the state of a body that the deck asks for. Valid as long as the body lives.
ComputedFields chosen_computed(const Scene& scene, const Body& body) {
  Table observed = body.observe(0, 0);
  return {chosen_fields(scene, body, observed),
          [&body](std::size_t first, std::size_t count) { return body.observe(first, count); }};
}

/// Of contact points: who they are, what they carry and what they feel.
std::vector<ColumnView> fields_of_contact(Table& points) {
  std::vector<ColumnView> fields;
  for (const Label& label :
       {Id::label, Mass::label, Velocity::label, SurfaceArea::label, ContactForce::label, WallForce::label})
    if (const ColumnView column = points.column(label.name); column.row_bytes > 0) fields.push_back(column);
  return fields;
}
/// The contact points that are to be drawn, or null.
PointSet* drawn_contact(const Scene& scene, Body& body) {
  return scene.deck.output.contact_points ? body.roles().contact_points : nullptr;
}

/// Everything there is at the start, with room around it.
Box view_of(const Comm& comm, const Scene& scene) {
  Box box = box_of_points(comm, scene);
  for (const BodySource& source : scene.sources) {
    box.include(source.source.bounds().lower);
    box.include(source.source.bounds().upper);
  }
  for (const Wall& wall : scene.walls)
    if (const auto bounds = wall.shape.rest().bounds()) {
      box.include(bounds->lower);
      box.include(bounds->upper);
    }
  const Vec3 middle = (box.lower + box.upper) / 2;
  const Real size = (box.upper - box.lower).maxCoeff();
  return {middle - Vec3::Constant(size), middle + Vec3::Constant(size)};
}

}  // namespace

std::vector<ColumnView> identity_of(Table& points) {
  std::vector<ColumnView> identity{points.column(Id::label.name)};
  if (points.has<VertexAtRest>()) identity.push_back(points.column(VertexAtRest::label.name));
  return identity;
}

void share_points(const Comm& comm, Picture& picture) {
  const auto owned = static_cast<std::int64_t>(picture.forest->owned());
  std::vector<PointId> number(picture.forest->owned() + picture.forest->ghosts());
  std::iota(number.begin(), number.end(), static_cast<PointId>(comm.offset(owned)));
  picture.forest->update_ghosts({{"number", "1", Keep::work},
                                 shape_of<PointId>(),
                                 sizeof(PointId),
                                 number.size(),
                                 reinterpret_cast<std::byte*>(number.data())});
  for (std::int64_t& corner : picture.cells) corner = static_cast<std::int64_t>(number[corner]);
}

Table displacements_of(const Body& body, const Picture& picture, bool is_of_rows) {
  const Table& points = body.points();
  const std::span<const Vec3> x = is_of_rows ? points.get<Position>() : std::span(picture.points),
                              rest = is_of_rows ? points.get<RestPosition>() : std::span(picture.rest);
  Table shown = Table::with<Displacement>();
  shown.resize(x.size());
  for (std::size_t p = 0; p < x.size(); ++p) shown.get<Displacement>()[p] = x[p] - rest[p];
  return shown;
}

Recorder::Recorder(const Comm& comm, const std::filesystem::path& output, const Scene& scene, const RunState& state,
                   bool resumed)
    : comm_(comm),
      crash_folder_(output / "crash"),
      format_(frame_format(scene.deck.output)),
      frames_(comm, output / "frames", format_, resumed ? std::optional(state.next_frame - 1) : std::nullopt),
      view_(view_of(comm, scene)) {
  if (!resumed) return;
  // Later frames go now, not with the next frame, which may never be written.
  for (const auto& body : scene.bodies) frames_.of(series_of(*body));
  for (const Wall& wall : scene.walls) frames_.of(series_of(wall));
  if (scene.deck.output.grid) frames_.of(series_of_grid);
  for (const auto& body : scene.bodies)
    if (drawn_contact(scene, *body) != nullptr) frames_.of(series_of_contact(*body));
}

void Recorder::write_frame(const Scene& scene, const RunState& state, const Stepper& stepper) {
  const FrameMoment moment{state.next_frame, state.step, state.time};
  for (const auto& body : scene.bodies) {
    draw_body(*body, scene, moment);
    if (PointSet* contact = drawn_contact(scene, *body)) draw_contact_points(*body, contact->points(), moment);
  }
  for (const Wall& wall : scene.walls) {
    const bool is_first = moment.frame == 0;
    if (!is_first && !wall.shape.motion().moves()) continue;  // one picture of what stands still is enough
    SurfaceMesh mesh;
    if (comm_.is_root()) mesh = wall.shape.tessellate(wall.shape.at(state.time), view_);
    std::vector<std::int64_t> corners;
    for (const auto& triangle : triangles_of(mesh)) corners.insert(corners.end(), triangle.begin(), triangle.end());
    frames_.of(series_of(wall)).write(moment, {CellKind::triangle, mesh.points, corners, {}});
  }
  if (scene.deck.output.grid) draw_grid(scene, stepper, moment);
}

void Recorder::draw_body(Body& body, const Scene& scene, const FrameMoment& moment) {
  Picture picture = body.picture();
  const bool is_of_rows = body.is_drawn_by_its_points();
  std::vector<ColumnView> fields;
  ComputedFields computed;
  if (is_of_rows) {
    fields = chosen_state(scene, body, body.points());
    computed = chosen_computed(scene, body);
  } else {
    fields = chosen_state(scene, body, picture.point_fields);
  }
  Table displacements;
  if (!body.roles().is_carried_by_grid) {
    displacements = displacements_of(body, picture, is_of_rows);
    fields.push_back(displacements.column(Displacement::label.name));
  }
  const std::vector<ColumnView> cell_fields = chosen_fields(scene, body, picture.fields);
  if (picture.forest != nullptr) share_points(comm_, picture);
  frames_.of(series_of(body))
      .write(moment, {cells_with(picture.corners),
                      is_of_rows ? std::as_const(body.points()).get<Position>().first(body.points().owned())
                                 : std::span<const Vec3>(picture.points),
                      picture.cells, fields, cell_fields, picture.forest != nullptr, computed});
}

void Recorder::draw_contact_points(const Body& body, Table& points, const FrameMoment& moment) {
  frames_.of(series_of_contact(body))
      .write(moment, {CellKind::vertex,
                      std::as_const(points).get<Position>().first(points.owned()),
                      {},
                      fields_of_contact(points)});
}

/// The nodes with mass, layer by layer.
void Recorder::draw_grid(const Scene& scene, const Stepper& stepper, const FrameMoment& moment) {
  Table nodes = Table::with<Position, Mass, Velocity, LayerNumber>();
  for (std::size_t l = 0; l < stepper.layers(); ++l) {
    const std::optional<std::size_t> number = stepper.layer_in_use(l);
    if (!number) continue;
    const BlockMap& map = stepper.map(l);
    const NodeField& inertia = stepper.nodes(l).get<NodeInertia>();
    const NodeField& velocity = stepper.nodes(l).get<NodeVelocity>();
    const int blocks = std::min(map.owned(), inertia.blocks());
    const auto mass_at = [&](int b, int place) { return inertia.block(b)[place * NodeField::width]; };
    std::size_t n = nodes.rows(), with_mass = n;
    for (int b = 0; b < blocks; ++b)
      for (int place = 0; place < nodes_per_block; ++place) with_mass += mass_at(b, place) > 0 ? 1 : 0;
    nodes.resize(with_mass);
    for (int b = 0; b < blocks; ++b)
      for (int place = 0; place < nodes_per_block; ++place) {
        const Real mass = mass_at(b, place);
        if (!(mass > 0)) continue;
        nodes.get<Position>()[n] = (map.first_node(b) + node_at_place(place)).cast<Real>() * scene.dx;
        nodes.get<Mass>()[n] = mass;
        nodes.get<Velocity>()[n] = Eigen::Map<const Vec3>(velocity.block(b) + place * NodeField::width);
        nodes.get<LayerNumber>()[n] = static_cast<std::int32_t>(*number);
        ++n;
      }
  }
  const std::vector<ColumnView> fields{nodes.column("mass"), nodes.column("velocity"), nodes.column("layer")};
  frames_.of(series_of_grid).write(moment, {CellKind::vertex, std::as_const(nodes).get<Position>(), {}, fields});
}

void Recorder::write_crash(const Scene& scene, const RunState& state, const Suspicions& suspicions) const {
  make_folder(comm_, crash_folder_);
  Frames crash(comm_, crash_folder_, format_);
  for (const auto& body : scene.bodies) {
    Table& points = body->points();
    Table marks = Table::with<Suspect>();
    marks.resize(points.owned());
    const auto suspects = suspicions_of(points, suspicions);
    std::transform(suspects.begin(), suspects.end(), marks.get<Suspect>().begin(),
                   [](Suspicion suspicion) { return static_cast<std::int32_t>(suspicion); });
    std::vector<ColumnView> fields = chosen_state(scene, *body, points);
    fields.push_back(marks.column(Suspect::label.name));
    crash.of(series_of(*body))
        .write({state.step, state.step, state.time}, {CellKind::vertex,
                                                      std::as_const(points).get<Position>().first(points.owned()),
                                                      {},
                                                      fields,
                                                      {},
                                                      false,
                                                      chosen_computed(scene, *body)});
  }
  crash.flush();
}

std::uint64_t scene_frame_bytes(const Comm& comm, const Scene& scene) {
  std::uint64_t sum = 0;
  for (const auto& body : scene.bodies) {
    Picture picture = body->picture();
    const bool is_of_rows = body->is_drawn_by_its_points();
    std::vector<ColumnView> fields = chosen_state(scene, *body, is_of_rows ? body->points() : picture.point_fields);
    if (is_of_rows)
      for (const ColumnView& field : chosen_computed(scene, *body).columns) fields.push_back(field);
    const auto points =
        comm.sum(static_cast<std::int64_t>(is_of_rows ? body->points().owned() : picture.points.size()));
    const auto cells = comm.sum(static_cast<std::int64_t>(picture.cells.size()) / picture.corners);
    sum += frame_bytes(cells_with(picture.corners), points, picture.corners == 1 ? points : cells, fields,
                       scene.deck.output.double_precision);
    if (PointSet* contact = drawn_contact(scene, *body)) {
      const auto places = comm.sum(static_cast<std::int64_t>(contact->points().owned()));
      sum += frame_bytes(cells_with(1), places, places, fields_of_contact(contact->points()),
                         scene.deck.output.double_precision);
    }
  }
  return sum;
}

}  // namespace weft
