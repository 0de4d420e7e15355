#include "run/diagnostics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "run/state_members.hpp"
#include "weft/base/check.hpp"
#include "weft/base/overloaded.hpp"
#include "weft/bodies/contact_points.hpp"
#include "weft/bodies/rigid_frame.hpp"
#include "weft/deck/frame_fields.hpp"
#include "weft/output/probe.hpp"

namespace weft {

template <>
inline constexpr auto members<Totals> = std::tuple{Member{"particles", "", &Totals::particles},
                                                   Member{"mass", "kg", &Totals::mass},
                                                   Member{"momentum", "kg m/s", &Totals::momentum},
                                                   Member{"angular_momentum", "kg m^2/s", &Totals::angular_momentum},
                                                   Member{"kinetic_energy", "J", &Totals::kinetic_energy},
                                                   Member{"affine_energy", "J", &Totals::affine_energy},
                                                   Member{"elastic_energy", "J", &Totals::elastic_energy},
                                                   Member{"gravitational_energy", "J", &Totals::gravitational_energy}};

template <>
inline constexpr auto members<Pace> =
    std::tuple{Member{"wall_seconds", "s", &Pace::wall_seconds},
               Member{"particle_steps_per_second", "1/s", &Pace::particle_steps_per_second},
               Member{"imbalance", "", &Pace::imbalance}, Member{"memory_bytes", "byte", &Pace::memory_bytes}};

namespace {

using Moment = DiagnosticsMoment;
using DiagnosticsColumns = Columns<Moment>;

Body& body_named(const Scene& scene, const std::string& name) {
  const auto it =
      std::find_if(scene.bodies.begin(), scene.bodies.end(), [&](const auto& b) { return b->name() == name; });
  WEFT_ENSURE(it != scene.bodies.end());  // the deck's cross checks have seen to that
  return **it;
}

/// The points of a body that probes look at: those that it is drawn by.
Table& probed_points(Body& body, Table& corners) {
  if (body.is_drawn_by_its_points()) return body.points();
  const Picture picture = body.picture();
  corners = Table::with<Id, Position, Velocity>();
  corners.resize(picture.points.size());
  std::ranges::copy(picture.points, corners.get<Position>().begin());
  if (picture.points.empty()) return corners;
  std::ranges::copy(std::as_const(picture.point_fields).get<Id>(), corners.get<Id>().begin());
  std::ranges::copy(std::as_const(picture.point_fields).get<Velocity>(), corners.get<Velocity>().begin());
  return corners;
}

/// The scalars of a body: of its state, of what is observed at its points, and of the cells that it is drawn by.
class Observation {
 public:
  explicit Observation(Body& body) : body_(body), points_(probed_points(body, corners_)), observed_(body.observe()) {}

  Table& points() { return points_; }

  /// One number for each point. Throws Error(deck) with what there is.
  ScalarField of_points(const std::string& name) {
    for (Table* table : {&points_, &observed_})
      if (has(*table, name)) return {*table, name};
    picture_ = body_.picture();
    const bool is_of_cells = has(picture_.fields, name);
    throw Error(ExitCode::deck, fmt::format("There is no field \"{}\" that is one number for each point{}. Choose one "
                                            "of: {}.",
                                            name, is_of_cells ? ", but for each cell, which \"quantile\" knows" : "",
                                            fmt::join(names({&points_, &observed_}), ", ")));
  }
  /// One number for each point or cell.
  ScalarField of_points_or_cells(const std::string& name) {
    for (Table* table : {&points_, &observed_})
      if (has(*table, name)) return {*table, name};
    picture_ = body_.picture();
    if (has(picture_.fields, name)) return {picture_.fields, name};
    throw Error(ExitCode::deck,
                fmt::format("There is no field \"{}\" that is one number for each point or cell. Choose one of: {}.",
                            name, fmt::join(names({&points_, &observed_, &picture_.fields}), ", ")));
  }

 private:
  static bool has(Table& table, const std::string& name) {
    const auto names = scalar_names(table);
    return std::ranges::find(names, name) != names.end();
  }
  static std::vector<std::string> names(std::initializer_list<Table*> tables) {
    std::vector<std::string> all;
    for (Table* table : tables)
      for (std::string& name : scalar_names(*table)) all.push_back(std::move(name));
    return all;
  }

  Body& body_;
  Table corners_;
  Table& points_;
  Table observed_;
  Picture picture_;
};

/// `follower`: which of RunState::probe_points the next probe follows that follows a point.
void add_probe(DiagnosticsColumns& columns, const Comm& comm, const Scene& scene, const ProbeDeck& probe,
               std::size_t& follower) {
  Body& body = body_named(scene, probe.body);
  std::visit(
      Overloaded{
          [&](const CentreOfMassProbe&) {
            columns.add(probe.name, "m", [comm, &body](const Moment&) { return centre_of_mass(comm, body.points()); });
          },
          [&](const BoundingBoxProbe&) {
            for (const auto& [end, corner] : {std::pair{"_lower", &Extent::lower}, {"_upper", &Extent::upper}})
              columns.add(probe.name + end, "m", [comm, &body, corner = corner](const Moment&) {
                return extent(comm, Observation(body).points()).*corner;
              });
          },
          [&](const QuantileProbe& p) {
            const auto unit = Observation(body).of_points_or_cells(p.field).unit();
            columns.add(probe.name, unit, [comm, &body, p](const Moment&) {
              Observation observation(body);
              return quantile(comm, observation.of_points_or_cells(p.field).values(), p.q);
            });
          },
          [&](const NearestProbe& p) {
            const auto unit = Observation(body).of_points(p.field).unit();
            columns.add(probe.name, unit, [comm, &body, p, k = follower++](const Moment& moment) {
              Observation observation(body);
              const auto value =
                  value_at(comm, observation.points(), moment.state.probe_points[k], observation.of_points(p.field));
              return value.value_or(std::numeric_limits<Real>::quiet_NaN());  // the point is gone
            });
          },
      },
      probe.measure);
}

/// The columns of one probe.
std::vector<HistoryColumn> names_of(const Comm& comm, const Scene& scene, const ProbeDeck& probe) {
  DiagnosticsColumns columns;
  std::size_t follower = 0;
  add_probe(columns, comm, scene, probe, follower);
  return columns.names();
}

/// What something gave to bodies: means since the last row, and all work.
template <class Of>
void add_given(DiagnosticsColumns& columns, const std::string& name, Of impulse_of) {
  const auto mean = [impulse_of](Vec3 Impulse::* impulse) {
    return [impulse_of, impulse](const Moment& moment) {
      const Real passed = moment.state.time - moment.state.handles_since;
      return passed > 0 ? Vec3(impulse_of(moment.state).*impulse / passed) : Vec3(Vec3::Zero());
    };
  };
  columns.add("force_" + name, "N", mean(&Impulse::linear));
  columns.add("torque_" + name, "N m", mean(&Impulse::angular));
  columns.add("work_" + name, "J", [impulse_of](const Moment& moment) { return impulse_of(moment.state).work; });
}

/// Colliders and handles.
void add_impulses(DiagnosticsColumns& columns, const Scene& scene) {
  if (!scene.walls.empty())
    columns.add("work_of_colliders", "J", [](const Moment& moment) { return moment.state.wall_work(); });
  for (std::size_t w = 0; w < scene.walls.size(); ++w) {
    const std::string& name = scene.walls[w].name;
    // What the collider received.
    const auto received = [w](Vec3 Impulse::* impulse) {
      return [w, impulse](const Moment& moment) { return Vec3(Vec3::Zero() - moment.state.wall_impulse[w].*impulse); };
    };
    columns.add("impulse_" + name, "kg m/s", received(&Impulse::linear));
    columns.add("angular_impulse_" + name, "kg m^2/s", received(&Impulse::angular));
  }
  for (std::size_t h = 0; h < scene.handles.size(); ++h)
    add_given(columns, scene.handles[h].name,
              [h](const RunState& state) -> const Impulse& { return state.handle_impulse[h]; });
}

/// A rigid body, seen from every rank.
struct SeenRigid {
  FourPoints x, v;
  Twist twist;
  Mat3 rotation;
  Vec3 centre, force, torque;  ///< Of contact, about the centre.

  /// Collective.
  SeenRigid(const Comm& comm, Body& body) : x{}, v{}, force(Vec3::Zero()), torque(Vec3::Zero()) {
    std::array<Real, 24> all{};
    const Table& points = std::as_const(body).points();
    for (std::size_t k = 0; k < points.owned(); ++k)
      for (std::size_t axis = 0; axis < 3; ++axis) {
        all[3 * k + axis] = points.get<Position>()[k][static_cast<Eigen::Index>(axis)];
        all[12 + 3 * k + axis] = points.get<Velocity>()[k][static_cast<Eigen::Index>(axis)];
      }
    comm.sum(std::span(all));
    for (std::size_t k = 0; k < 4; ++k) {
      x[k] = {all[3 * k], all[3 * k + 1], all[3 * k + 2]};
      v[k] = {all[12 + 3 * k], all[13 + 3 * k], all[14 + 3 * k]};
    }
    const RigidFrame& frame = *body.roles().rigid;
    twist = frame.twist(x, v);
    rotation = frame.rotation(x);
    centre = (x[0] + x[1] + x[2] + x[3]) / 4;
    if (PointSet* contact = body.roles().contact_points) add_forces(comm, std::as_const(*contact).points());
  }
  void add_forces(const Comm& comm, const Table& contact) {
    const auto at = contact.get<Position>(), of_layers = contact.get<ContactForce>();
    for (std::size_t q = 0; q < at.size(); ++q) {
      const Vec3 by_walls = contact.has<WallForce>() ? contact.get<WallForce>()[q] : Vec3(Vec3::Zero());
      force += of_layers[q] + by_walls;
      torque += (at[q] - centre).cross(of_layers[q] + by_walls);
    }
    comm.sum(std::span(force.data(), 3));
    comm.sum(std::span(torque.data(), 3));
  }
};

/// Place, motion and contact of rigid bodies; of joints what they gave, as of handles.
void add_rigid_bodies(DiagnosticsColumns& columns, const Comm& comm, const Scene& scene) {
  for (const auto& body : scene.bodies) {
    if (body->roles().rigid == nullptr) continue;
    const auto add = [&](const char* what, const char* unit, auto of) {
      columns.add(what + ("_" + body->name()), unit,
                  [comm, of, &body = *body](const Moment&) { return Vec3(of(SeenRigid(comm, body))); });
    };
    add("position", "m", [](const SeenRigid& seen) { return seen.centre; });
    add("rotation", "rad", [](const SeenRigid& seen) {
      const Eigen::AngleAxis<Real> turn(seen.rotation);
      return Vec3(turn.angle() * turn.axis());
    });
    add("velocity", "m/s", [](const SeenRigid& seen) { return seen.twist.velocity; });
    add("spin", "rad/s", [](const SeenRigid& seen) { return seen.twist.spin; });
    add("contact_force", "N", [](const SeenRigid& seen) { return seen.force; });
    add("contact_torque", "N m", [](const SeenRigid& seen) { return seen.torque; });
  }
  for (std::size_t j = 0; j < scene.joints.size(); ++j)
    add_given(columns, "joint_" + scene.bodies[scene.joints[j]]->name(),
              [j](const RunState& state) -> const Impulse& { return state.joint_impulse[j]; });
}

/// Of strands that meet one another.
void add_strand_impulses(DiagnosticsColumns& columns, const Scene& scene) {
  if (!scene.step.has_impulses()) return;
  columns.add("energy_taken_by_impulses", "J",
              [](const Moment& moment) { return moment.state.energy_taken.value_or(0); });
  const auto count = [&](const char* name, std::int64_t ImpulseCounts::* of) {
    columns.add(name, "", [of](const Moment& moment) { return moment.last_step.impulses.*of; });
  };
  const auto is_swept = [](const std::optional<StrandImpulseSettings>& impulses) {
    return impulses && impulses->swept;
  };
  count("pairs", &ImpulseCounts::pairs);
  count("impulses", &ImpulseCounts::impulses);
  if (std::ranges::any_of(scene.step.impulses, is_swept)) count("crossings", &ImpulseCounts::crossings);
}

}  // namespace

Columns<DiagnosticsMoment> diagnostics_columns(const Comm& comm, const Scene& scene) {
  const auto state = [](const Moment& moment) -> const RunState& { return moment.state; };
  DiagnosticsColumns columns;
  columns.add(member_of<RunClock>(&RunClock::step), state);
  columns.add(member_of<RunClock>(&RunClock::time), state);
  columns.add(member_of<RunState>(&RunState::last_dt), state);
  columns.add_all<Totals>([](const Moment& moment) -> const Totals& { return moment.totals; });
  columns.add("energy_less_work", "J", [](const Moment& moment) {
    return energy_less_work(moment.scene, moment.state, moment.last_step, moment.totals);
  });
  add_impulses(columns, scene);
  add_rigid_bodies(columns, comm, scene);
  add_strand_impulses(columns, scene);
  columns.add_all<Pace>([](const Moment& moment) -> const Pace& { return moment.pace; });
  columns.add(member_of<RunState>(&RunState::removed_points), state);
  if (scene.step.is_implicit) {
    columns.add(member_of<RunState>(&RunState::newton_steps), state);
    columns.add(member_of<RunState>(&RunState::krylov_steps), state);
  }
  std::size_t follower = 0;
  for (const ProbeDeck& probe : scene.deck.probes) add_probe(columns, comm, scene, probe, follower);
  return columns;
}

void check_field_names(const Comm& comm, const Scene& scene) {
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
    learn(picture.point_fields);
  }
  // Fields of bodies of other kinds may be named.
  known.emplace_back("default");
  for (const FrameFields& fields : frame_fields())
    for (const char* name : fields.all()) known.emplace_back(name);
  std::vector<std::string> complaints;
  for (const std::string& name : scene.deck.output.fields)
    if (std::find(known.begin(), known.end(), name) == known.end())
      complaints.push_back(fmt::format("{}: no body has a field \"{}\". Fields by kind of body: {}.",
                                       scene.deck.output.location.text, name, fields_in_words(scene.deck)));
  for (const ProbeDeck& probe : scene.deck.probes) try {
      names_of(comm, scene, probe);
    } catch (const Error& error) {
      complaints.push_back(fmt::format("{}: {}", probe.location.text, error.what()));
    }
  if (complaints.empty()) {
    std::multiset<std::string> names;
    const DiagnosticsColumns columns = diagnostics_columns(comm, scene);
    for (const HistoryColumn& column : columns.names()) names.insert(column.name);
    for (const ProbeDeck& probe : scene.deck.probes)
      for (const HistoryColumn& column : names_of(comm, scene, probe))
        if (names.count(column.name) > 1)
          complaints.push_back(
              fmt::format("{}: diagnostics.csv has another column \"{}\". Give the probe another name.",
                          probe.location.text, column.name));
  }
  require(complaints.empty(), ExitCode::deck, fmt::format("{}", fmt::join(complaints, "\n")));
}

std::vector<NearestRow> find_probe_points(const Comm& comm, const Scene& scene) {
  std::vector<NearestRow> points;
  for (const FollowedPoint& point : scene.followed_points) {
    Body& body = *scene.bodies[point.body];
    const auto row = nearest_row(comm, Observation(body).points(), point.start);
    require(row.has_value(), ExitCode::deck,
            fmt::format("{}: body {} has no particles at the start to follow.", point.location, body.name()));
    points.push_back(*row);
  }
  return points;
}

}  // namespace weft
