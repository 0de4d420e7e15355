#include "weft/run/record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "weft/base/check.hpp"
#include "weft/bodies/continuum.hpp"
#include "weft/geometry/mesh.hpp"
#include "weft/output/files.hpp"
#include "weft/output/probe.hpp"

namespace weft {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

constexpr const char* axes = "xyz";

/// Pictures of a body have its name.
std::string series_of(const Body& body) { return body.name(); }
std::string series_of(const Wall& wall) { return "collider_" + wall.name; }
constexpr const char* series_of_grid = "grid";

void add_vector(std::vector<HistoryColumn>& columns, const std::string& name, const std::string& unit) {
  for (int a = 0; a < 3; ++a) columns.push_back({fmt::format("{}_{}", name, axes[a]), unit});
}

void add_vector(std::vector<Real>& row, const Vec3& v) { row.insert(row.end(), {v.x(), v.y(), v.z()}); }

Body& body_named(const Scene& scene, const std::string& name) {
  const auto it =
      std::find_if(scene.bodies.begin(), scene.bodies.end(), [&](const auto& b) { return b->name() == name; });
  WEFT_ENSURE(it != scene.bodies.end());  // the deck's cross checks have seen to that
  return **it;
}

/// The table of a body that has a scalar of this name: its state, or what is observed.
struct Observation {
  Body& body;
  Table observed;

  explicit Observation(Body& b) : body(b), observed(b.observe()) {}

  ScalarField scalar(const std::string& name) {
    const auto names = scalar_names(body.points());
    const bool is_state = std::find(names.begin(), names.end(), name) != names.end();
    return ScalarField(is_state ? body.points() : observed, name);
  }
};

std::vector<HistoryColumn> probe_columns(const Scene& scene, const ProbeDeck& probe) {
  std::vector<HistoryColumn> columns;
  const auto unit = [&](const std::string& field) {
    return Observation(body_named(scene, probe.body)).scalar(field).unit();
  };
  std::visit(Overloaded{
                 [&](const CentreOfMassProbe&) { add_vector(columns, probe.name, "m"); },
                 [&](const BoundingBoxProbe&) {
                   add_vector(columns, probe.name + "_lower", "m");
                   add_vector(columns, probe.name + "_upper", "m");
                 },
                 [&](const QuantileProbe& p) { columns.push_back({probe.name, unit(p.field)}); },
                 [&](const NearestProbe& p) { columns.push_back({probe.name, unit(p.field)}); },
             },
             probe.measure);
  return columns;
}

/// Appends what a probe measures now. Collective.
void measure(const Comm& comm, const Scene& scene, const ProbeDeck& probe, PointId point, std::vector<Real>& row) {
  Body& body = body_named(scene, probe.body);
  std::visit(Overloaded{
                 [&](const CentreOfMassProbe&) { add_vector(row, centre_of_mass(comm, body.points())); },
                 [&](const BoundingBoxProbe&) {
                   const Extent box = extent(comm, body.points());
                   add_vector(row, box.lower);
                   add_vector(row, box.upper);
                 },
                 [&](const QuantileProbe& p) {
                   Observation observation(body);
                   row.push_back(quantile(comm, observation.scalar(p.field).values(), p.q));
                 },
                 [&](const NearestProbe& p) {
                   Observation observation(body);
                   const auto value = value_at(comm, body.points(), point, observation.scalar(p.field));
                   row.push_back(value.value_or(std::numeric_limits<Real>::quiet_NaN()));  // the point is gone
                 },
             },
             probe.measure);
}

std::vector<HistoryColumn> history_columns(const Scene& scene) {
  std::vector<HistoryColumn> columns{{"step", ""}, {"time", "s"}, {"dt", "s"}, {"particles", ""}, {"mass", "kg"}};
  add_vector(columns, "momentum", "kg m/s");
  add_vector(columns, "angular_momentum", "kg m^2/s");
  for (const char* energy :
       {"kinetic_energy", "affine_energy", "elastic_energy", "gravitational_energy", "energy_less_work"})
    columns.push_back({energy, "J"});
  if (!scene.walls.empty()) columns.push_back({"work_of_colliders", "J"});
  for (const Wall& wall : scene.walls) add_vector(columns, "impulse_" + wall.name, "kg m/s");
  for (const GridHandle& handle : scene.handles) {
    add_vector(columns, "force_" + handle.name, "N");
    add_vector(columns, "torque_" + handle.name, "N m");
    columns.push_back({"work_" + handle.name, "J"});
  }
  columns.insert(columns.end(), {{"wall_seconds", "s"},
                                 {"particle_steps_per_second", "1/s"},
                                 {"imbalance", ""},
                                 {"memory_bytes", "byte"},
                                 {"removed_particles", ""}});
  if (scene.deck.time.scheme == Scheme::implicit_euler)
    columns.insert(columns.end(), {{"newton_steps", ""}, {"krylov_steps", ""}});
  for (const ProbeDeck& probe : scene.deck.probes)
    for (HistoryColumn& column : probe_columns(scene, probe)) columns.push_back(std::move(column));
  return columns;
}

/// The columns of the table that the deck asks for.
std::vector<ColumnView> chosen_fields(const Scene& scene, Table& table) {
  std::vector<ColumnView> fields;
  for (const std::string& name : scene.deck.output.fields)
    if (const ColumnView column = table.column(name); column.row_bytes > 0) fields.push_back(column);
  return fields;
}
/// Those of a body's points, and who they are.
std::vector<ColumnView> chosen_state(const Scene& scene, Table& points) {
  std::vector<ColumnView> fields = chosen_fields(scene, points);
  std::erase_if(fields,
                [](const ColumnView& field) { return field.label.name == Id::label.name; });  // may be asked for
  fields.insert(fields.begin(), points.column(Id::label.name));
  return fields;
}
/// What the deck asks for of what a body computes from its state. For as long as the body lives.
ComputedFields chosen_computed(const Scene& scene, const Body& body) {
  Table observed = body.observe(0, 0);
  return {chosen_fields(scene, observed),
          [&body](std::size_t first, std::size_t count) { return body.observe(first, count); }};
}

CellKind kind_of(const Picture& picture) {
  WEFT_ENSURE(1 <= picture.corners && picture.corners <= 3);
  constexpr std::array kinds{CellKind::vertex, CellKind::line, CellKind::triangle};
  return kinds[static_cast<std::size_t>(picture.corners - 1)];
}

/// Cells over rows, ghosts among them, become cells over the owned points of all ranks. Collective.
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

/// Everything there is at the start, with room around it.
Box view_of(const Comm& comm, const Scene& scene) {
  Box box;
  for (const auto& body : scene.bodies)
    for (const Vec3& x : body->points().get<Position>()) box.include(x);
  for (const BodySource& source : scene.sources) {
    box.include(source.source.bounds().lower);
    box.include(source.source.bounds().upper);
  }
  for (const Wall& wall : scene.walls)
    if (const auto bounds = wall.shape.rest().bounds()) {
      box.include(bounds->lower);
      box.include(bounds->upper);
    }
  comm.min(std::span(box.lower.data(), 3));
  comm.max(std::span(box.upper.data(), 3));
  const Vec3 middle = (box.lower + box.upper) / 2;
  const Real size = (box.upper - box.lower).maxCoeff();
  return {middle - Vec3::Constant(size), middle + Vec3::Constant(size)};
}

}  // namespace

void check_field_names(const Scene& scene) {
  std::vector<std::string> known;
  const auto learn = [&](Table& table) {
    for (const ColumnView& column : table.columns())
      if (column.label.keep != Keep::work && std::find(known.begin(), known.end(), column.label.name) == known.end())
        known.emplace_back(column.label.name);
  };
  for (const auto& body : scene.bodies) {
    Table observed = body->observe(0, 0);
    learn(body->points());
    learn(observed);
    Picture picture = body->picture();
    learn(picture.fields);
  }
  // What bodies of other kinds have may be named: the default names it.
  const auto other = make_continuum("", Chosen<FixedCorotated>{}, 1);
  Table observed = other->observe(0, 0);
  learn(observed);
  learn(other->points());
  std::vector<std::string> complaints;
  for (const std::string& name : scene.deck.output.fields)
    if (std::find(known.begin(), known.end(), name) == known.end())
      complaints.push_back(fmt::format("{}: no body has a field \"{}\". Fields here: {}.", scene.deck.output.place.text,
                                       name, fmt::join(known, ", ")));
  for (const ProbeDeck& probe : scene.deck.probes) try {
      probe_columns(scene, probe);
    } catch (const Error& error) {
      complaints.push_back(fmt::format("{}: {}", probe.place.text, error.what()));
    }
  if (complaints.empty()) {
    std::multiset<std::string> names;
    for (const HistoryColumn& column : history_columns(scene)) names.insert(column.name);
    for (const ProbeDeck& probe : scene.deck.probes)
      for (const HistoryColumn& column : probe_columns(scene, probe))
        if (names.count(column.name) > 1)
          complaints.push_back(
              fmt::format("{}: diagnostics.csv has another column \"{}\". Give the probe another name.",
                          probe.place.text, column.name));
  }
  require(complaints.empty(), ExitCode::deck, fmt::format("{}", fmt::join(complaints, "\n")));
}

std::vector<PointId> find_probe_points(const Comm& comm, const Scene& scene) {
  std::vector<PointId> points;
  for (const ProbeDeck& probe : scene.deck.probes)
    if (const auto* nearest = std::get_if<NearestProbe>(&probe.measure)) {
      const auto id = nearest_id(comm, body_named(scene, probe.body).points(), nearest->point);
      require(id.has_value(), ExitCode::deck,
              fmt::format("{}: body {} has no particles at the start to follow.", probe.place.text, probe.body));
      points.push_back(*id);
    }
  return points;
}

Recorder::Recorder(const Comm& comm, const std::filesystem::path& folder, const Scene& scene, const RunState& state,
                   bool resumed)
    : comm_(comm),
      folder_(folder),
      double_precision_(scene.deck.output.double_precision),
      history_(comm, folder / "diagnostics.csv", history_columns(scene),
               resumed ? std::optional(state.step) : std::nullopt),
      view_(view_of(comm, scene)) {
  if (!resumed) return;
  last_frame_ = state.next_frame - 1;
  // What came after this state goes now, not with the next frame, which may never be written.
  for (const auto& body : scene.bodies) series(series_of(*body));
  for (const Wall& wall : scene.walls) series(series_of(wall));
  if (scene.deck.output.grid) series(series_of_grid);
}

FrameSeries& Recorder::series(const std::string& name) {
  const auto it = series_.find(name);
  if (it != series_.end()) return it->second;
  return series_.try_emplace(name, comm_, folder_ / "frames", name, double_precision_, last_frame_).first->second;
}

std::vector<Real> Recorder::history_row(const Scene& scene, const RunState& state, const StepReport& last_step,
                                        const Totals& totals, const Pace& pace) const {
  std::vector<Real> row{Real(state.step), state.time, last_step.size.dt, totals.particles, totals.mass};
  add_vector(row, totals.momentum);
  add_vector(row, totals.angular_momentum);
  row.insert(row.end(), {totals.kinetic_energy, totals.affine_energy, totals.elastic_energy,
                         totals.gravitational_energy, energy_less_work(scene, state, last_step, totals)});
  if (!scene.walls.empty()) row.push_back(state.wall_work);
  for (const Vec3& impulse : state.wall_impulse) add_vector(row, impulse);
  const Real passed = state.time - state.handles_since;
  for (const auto& [linear, angular, work] : state.handle_impulse) {
    add_vector(row, passed > 0 ? Vec3(linear / passed) : Vec3::Zero());
    add_vector(row, passed > 0 ? Vec3(angular / passed) : Vec3::Zero());
    row.push_back(work);
  }
  row.insert(row.end(), {pace.wall_seconds, pace.particle_steps_per_second, pace.imbalance, pace.memory_bytes,
                         Real(state.removed_points)});
  if (scene.deck.time.scheme == Scheme::implicit_euler)
    row.insert(row.end(), {Real(state.newton_steps), Real(state.krylov_steps)});
  std::size_t follower = 0;
  for (const ProbeDeck& probe : scene.deck.probes) {
    const bool follows = std::holds_alternative<NearestProbe>(probe.measure);
    measure(comm_, scene, probe, follows ? state.probe_points[follower++] : 0, row);
  }
  return row;
}

void Recorder::write_frame(const Scene& scene, const RunState& state, const Stepper& stepper) {
  const FrameMoment moment{state.next_frame, state.step, state.time};
  for (const auto& body : scene.bodies) {
    Picture picture = body->picture();
    const bool is_of_rows = !comm_.any(!picture.points.empty());  // some ranks may have nothing to draw
    std::vector<ColumnView> fields;
    ComputedFields computed;
    if (is_of_rows) {
      fields = chosen_state(scene, body->points());
      computed = chosen_computed(scene, *body);
    }
    const std::vector<ColumnView> cell_fields = chosen_fields(scene, picture.fields);
    if (picture.forest != nullptr) share_points(comm_, picture);
    series(series_of(*body))
        .write(moment, {kind_of(picture),
                        is_of_rows ? std::as_const(body->points()).get<Position>().first(body->points().owned())
                                   : std::span<const Vec3>(picture.points),
                        picture.cells, fields, cell_fields, picture.forest != nullptr, computed});
  }
  for (const Wall& wall : scene.walls) {
    const bool is_first = moment.frame == 0;
    if (!is_first && !wall.shape.motion().moves()) continue;  // one picture of what stands still is enough
    SurfaceMesh mesh;
    if (comm_.is_root()) mesh = wall.shape.tessellate(wall.shape.at(state.time), view_);
    std::vector<std::int64_t> corners;
    for (const auto& triangle : triangles_of(mesh)) corners.insert(corners.end(), triangle.begin(), triangle.end());
    series(series_of(wall)).write(moment, {CellKind::triangle, mesh.points, corners, {}});
  }
  if (scene.deck.output.grid) {
    Table nodes = Table::with<Position, Mass, Velocity>();
    const BlockMap& map = stepper.map();
    const NodeField& inertia = stepper.layer().get<NodeInertia>();
    const NodeField& velocity = stepper.layer().get<NodeVelocity>();
    const int blocks = std::min(map.owned(), inertia.blocks());
    const auto mass_at = [&](int b, int place) { return inertia.block(b)[place * NodeField::width]; };
    std::size_t with_mass = 0;
    for (int b = 0; b < blocks; ++b)
      for (int place = 0; place < nodes_per_block; ++place) with_mass += mass_at(b, place) > 0 ? 1 : 0;
    nodes.resize(with_mass);
    std::size_t n = 0;
    for (int b = 0; b < blocks; ++b)
      for (int place = 0; place < nodes_per_block; ++place) {
        const Real mass = mass_at(b, place);
        if (!(mass > 0)) continue;
        nodes.get<Position>()[n] = (map.first_node(b) + node_at_place(place)).cast<Real>() * scene.transfer.dx;
        nodes.get<Mass>()[n] = mass;
        nodes.get<Velocity>()[n] = Eigen::Map<const Vec3>(velocity.block(b) + place * NodeField::width);
        ++n;
      }
    const std::vector<ColumnView> fields{nodes.column("mass"), nodes.column("velocity")};
    series(series_of_grid).write(moment, {CellKind::vertex, std::as_const(nodes).get<Position>(), {}, fields});
  }
}

void Recorder::write_crash(const Scene& scene, const RunState& state, const Suspicions& suspicions) const {
  const std::filesystem::path folder = folder_ / "crash";
  make_folder(comm_, folder);
  for (const auto& body : scene.bodies) {
    Table& points = body->points();
    Table marks = Table::with<Suspect>();
    marks.resize(points.owned());
    const auto suspects = suspicions_of(points, suspicions);
    std::transform(suspects.begin(), suspects.end(), marks.get<Suspect>().begin(),
                   [](Suspicion suspicion) { return static_cast<std::int32_t>(suspicion); });
    std::vector<ColumnView> fields = chosen_state(scene, points);
    fields.push_back(marks.column(Suspect::label.name));
    FrameSeries(comm_, folder, body->name(), double_precision_)
        .write({state.step, state.step, state.time}, {CellKind::vertex,
                                                      std::as_const(points).get<Position>().first(points.owned()),
                                                      {},
                                                      fields,
                                                      {},
                                                      false,
                                                      chosen_computed(scene, *body)});
  }
}

std::uint64_t scene_frame_bytes(const Comm& comm, const Scene& scene) {
  std::uint64_t sum = 0;
  for (const auto& body : scene.bodies) {
    std::vector<ColumnView> fields = chosen_state(scene, body->points());
    for (const ColumnView& field : chosen_computed(scene, *body).columns) fields.push_back(field);
    const Picture picture = body->picture();
    const auto points = comm.sum(static_cast<std::int64_t>(body->points().owned()));
    const auto cells = comm.sum(static_cast<std::int64_t>(picture.cells.size()) / picture.corners);
    sum += frame_bytes(kind_of(picture), points, picture.corners == 1 ? points : cells, fields,
                       scene.deck.output.double_precision);
  }
  return sum;
}

}  // namespace weft
