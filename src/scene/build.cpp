#include "weft/scene/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "scene/handle_builder.hpp"
#include "scene/liquids.hpp"
#include "scene/point_handles.hpp"
#include "weft/base/log.hpp"
#include "weft/base/overloaded.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/bodies/rigid_frame.hpp"
#include "weft/deck/layers.hpp"
#include "weft/geometry/sampling.hpp"
#include "weft/scene/catalogue.hpp"
#include "weft/scene/reach.hpp"

namespace weft {
namespace {

/// Nodes lighter than this fraction of the lightest point's share are held back with the linear kernel, whose forces on
/// nearly empty nodes have no bound (docs/theory/step.md, 4).
constexpr Real light_fraction = 0.01;

const std::string& name_of(const BodyDeck& body) {
  return std::visit([](const auto& b) -> const std::string& { return b.name; }, body);
}

const std::string& name_of_wall(const Wall& wall) { return wall.name; }

template <class List, class Name>
std::size_t position_of(const List& list, const std::string& name, Name&& name_of_entry) {
  const auto it =
      std::find_if(list.begin(), list.end(), [&](const auto& entry) { return name_of_entry(entry) == name; });
  WEFT_ENSURE(it != list.end());  // the deck's cross checks have seen to that
  return static_cast<std::size_t>(it - list.begin());
}

bool overlap(const Box& a, const Box& b) {
  return (a.lower.array() <= b.upper.array()).all() && (b.lower.array() <= a.upper.array()).all();
}

/// f(), whose errors begin with a location in the deck.
template <class F>
auto at_place(const std::string& place, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw Error(error.code(), place + ": " + error.what());
  }
}

/// The points of a shape that is filled, one in each `point_volume`, on each of some ranks.
Demand demand_of(const std::string& what, Table& points, const Shape& shape, Real point_volume, int ranks) {
  std::size_t row_bytes = 0;
  for (const ColumnView& column : points.columns()) row_bytes += column.row_bytes;
  return {what, shape.volume().value_or(0) / point_volume, "particles", static_cast<Real>(row_bytes) / ranks};
}

BodySource make_source(const Comm& comm, const Deck& deck, Scene& scene, std::size_t number) {
  const SourceDeck& source = deck.sources[number];
  const std::size_t body = position_of(deck.bodies, source.body, name_of);
  const ContinuumDeck& receiver = std::get<ContinuumDeck>(deck.bodies[body]);
  const Real spacing = deck.domain.dx / std::cbrt(Real(receiver.particles_per_cell));
  // Streams of sources lie beyond those of bodies.
  const auto stream = static_cast<std::uint32_t>(deck.bodies.size() + number);
  const auto shape = make_shape(comm, source.shape, false, deck.domain.dx);
  // Everything that the lattice of points passes while the source is open.
  const Real open = std::max(0.0, std::min(source.until, deck.time.end) - source.from);
  Box passed = *shape->bounds();
  for (const Vec3& corner : {passed.lower, passed.upper}) {
    passed.include(corner + open * source.velocity);
    passed.include(corner - open * source.velocity);
  }
  const std::string what = fmt::format("{}: source {}", source.location.text, source.name);
  require(!scene.bounds || overlap(*scene.bounds, *shape->bounds()), ExitCode::geometry,
          what + " lies outside domain.bounds, where particles are removed. Move it, or enlarge the bounds.");
  at_place(what, [&] { return cells_covering(passed, spacing); });
  budget_of(comm).require_room(demand_of(what, scene.bodies[body]->points(), *shape, std::pow(spacing, 3), comm.size()),
                               unit_hint);
  return {source.name, body, Source(shape, {source.velocity, source.from, spacing, receiver.seed, stream}), source.from,
          source.until};
}

/// The point of a body that is nearest to a position at rest; of several that of the lowest element.
PointProbe make_probe(const Comm& comm, Scene& scene, const ProbeDeck& deck) {
  const auto* nearest = std::get_if<NearestProbe>(&deck.measure);
  const std::string field = nearest ? nearest->field : "";
  const std::string component = field.size() > 2 ? field.substr(0, field.size() - 2) : "";
  const int axis = field.empty() ? -1 : field.back() - 'x';
  require((component == "displacement" || component == "position") && axis >= 0 && axis < 3 &&
              field[field.size() - 2] == '_',
          ExitCode::deck,
          fmt::format("{}: a static analysis knows probes of the kind nearest with field displacement_x, _y, _z or "
                      "position_x, _y, _z.",
                      deck.location.text));
  const std::size_t b = body_named(scene, deck.body);
  const MeshSource& mesh = *scene.meshes[b];
  const Site site = mesh.nearest(first_share(comm, mesh), nearest->point);
  const Real distance = site.element < 0 ? std::numeric_limits<Real>::infinity() : (site.where - nearest->point).norm();
  const Real least = comm.min(distance);
  const Real first = comm.min(distance == least ? Real(site.element) : std::numeric_limits<Real>::infinity());
  std::vector<Site> found;
  if (distance == least && Real(site.element) == first) found.push_back(site);
  MeshBody& body = *scene.bodies[b]->roles().mesh;
  return {deck.name, "m", b, watch_sites(comm, body, found), axis, component == "displacement", least};
}

Real restitution_of(const BodyDeck& body) {
  return std::visit(
      [](const auto& deck) -> Real {
        if constexpr (requires { deck.contact->restitution; }) return deck.contact ? deck.contact->restitution : 0;
        return 0;
      },
      body);
}

/// Whether it is a sheet, or of fibers.
bool is_thin(const BodyDeck& body) {
  return !std::holds_alternative<ContinuumDeck>(body) && !std::holds_alternative<SolidDeck>(body) &&
         !std::holds_alternative<RigidDeck>(body);
}

/// The layers of the grid, and which body is on which.
void make_layers(const Deck& deck, Scene& scene) {
  const auto add = [&](const std::string& name, KernelKind kernel, bool has_contact_points) {
    scene.layers.push_back({name, {kernel, deck.domain.dx, deck.transfer.rpic_damping}, has_contact_points});
  };
  const auto name_of_layer = [](const SceneLayer& layer) -> const std::string& { return layer.name; };
  add(first_layer, deck.transfer.kernel, false);
  for (const LayerDeck& layer : deck.layers) add(layer.name, layer.kernel.value_or(deck.transfer.kernel), false);
  for (const BodyDeck& body : deck.bodies) {
    const std::string name = layer_of(body).value_or(first_layer);
    if (std::ranges::find(scene.layers, name, &SceneLayer::name) == scene.layers.end())
      add(name, deck.transfer.kernel, false);
    scene.on_layer.push_back(position_of(scene.layers, name, name_of_layer));
    if (has_contact_surface(body)) {
      scene.layers[scene.on_layer.back()].has_contact_points = true;
      scene.layers[scene.on_layer.back()].restitution = restitution_of(body);
    }
    if (has_contact_points(body)) scene.layers[scene.on_layer.back()].has_followers = true;
    if (std::holds_alternative<ContinuumDeck>(body) && blend_of(body))
      scene.layers[scene.on_layer.back()].keeps_motion = true;
    if (!is_liquid(deck, body)) scene.layers[scene.on_layer.back()].has_strength = true;
  }
  for (SceneLayer& layer : scene.layers) layer.is_thin = scene.layers.size() > 1;
  for (std::size_t b = 0; b < deck.bodies.size(); ++b)
    if (!is_thin(deck.bodies[b])) scene.layers[scene.on_layer[b]].is_thin = false;
  const std::size_t count = scene.layers.size();
  scene.friction.assign(count * count, 0);
  for (const LayerContactDeck& pair : deck.layer_contact) {
    const std::size_t a = position_of(scene.layers, pair.between[0], name_of_layer);
    const std::size_t b = position_of(scene.layers, pair.between[1], name_of_layer);
    scene.friction[a * count + b] = scene.friction[b * count + a] = pair.friction;
    if (a == b) scene.layers[a].meets_itself = true;
  }
}

}  // namespace

Scene build_scene(const Comm& comm, const Deck& deck) {
  Scene scene;
  scene.deck = deck;
  scene.dx = deck.domain.dx;
  make_layers(deck, scene);
  if (deck.domain.bounds) scene.bounds = Box{deck.domain.bounds->lower, deck.domain.bounds->upper};
  const bool is_static = deck.time.scheme == Scheme::equilibrium;
  for (const ColliderDeck& collider : deck.colliders)
    scene.walls.push_back({collider.name,
                           MovingShape(make_shape(comm, collider.shape, collider.hollow, deck.domain.dx),
                                       collider.motion ? make_motion(*collider.motion) : RigidMotion()),
                           collider.condition, collider.friction, collider.contact, collider.edges});
  Box box;  // around meshes
  for (const BodyDeck& body : deck.bodies) {
    MadeBody made = make_body(comm, deck, body, scene.walls);
    scene.bodies.push_back(std::move(made.body));
    if (const auto* rigid = std::get_if<RigidDeck>(&body); rigid != nullptr && rigid->joint)
      scene.joints.push_back(scene.bodies.size() - 1);
    if (made.mesh)
      for (const Box bounds = made.mesh->bounds(); const Vec3& corner : {bounds.lower, bounds.upper})
        box.include(corner);
    scene.meshes.push_back(std::move(made.mesh));
  }
  if ((box.upper - box.lower).minCoeff() >= 0) scene.size = (box.upper - box.lower).norm();
  scene.first_free_id.assign(scene.bodies.size(), 0);
  for (std::size_t s = 0; s < deck.sources.size(); ++s) scene.sources.push_back(make_source(comm, deck, scene, s));
  const bool has_walls =
      std::ranges::any_of(scene.walls, [](const Wall& w) { return w.contact == WallContactKind::surface; });
  for (std::size_t b = 0; b < scene.bodies.size(); ++b)  // surfaces see how far thin bodies reach, as walls do
    if (const Roles roles = scene.bodies[b]->roles();
        (has_walls || scene.layer_of(b).is_thin) && (roles.is_carried_by_grid || roles.contact_points != nullptr))
      scene.bodies[b]->let_touch_walls();

  HandleBuilder handles(comm, scene);
  for (const HandleDeck& handle : deck.handles) handles.add(handle);
  for (const BodyDeck& body : deck.bodies)
    if (const auto* strand = std::get_if<StrandDeck>(&body); strand != nullptr && strand->roots)
      handles.add_roots(*strand, scene.walls[position_of(scene.walls, strand->roots->collider, name_of_wall)]);
  for (const ProbeDeck& probe : deck.probes) {
    if (is_static) scene.probes.push_back(make_probe(comm, scene, probe));
    else if (const auto* nearest = std::get_if<NearestProbe>(&probe.measure))
      scene.followed_points.push_back({probe.name, body_named(scene, probe.body), nearest->point, probe.location.text});
  }
  if (!is_static) scene.step = step_settings(deck, scene.bodies, scene.walls);
  return scene;
}

namespace {

std::string words_for(const ContinuumDeck& deck) { return fmt::format("{}: body {}", deck.location.text, deck.name); }

/// The shapes of bodies that have one, by their numbers. Throws Error(geometry) if their points, all together, cannot
/// fit. Collective.
std::vector<std::shared_ptr<const Shape>> shapes_to_fill(const Comm& comm, Scene& scene) {
  const Real dx = scene.deck.domain.dx;
  std::vector<std::shared_ptr<const Shape>> shapes(scene.bodies.size());
  Budget budget = budget_of(comm);
  for (std::size_t b = 0; b < shapes.size(); ++b) {
    const auto* deck = std::get_if<ContinuumDeck>(&scene.deck.bodies[b]);
    if (deck == nullptr || !deck->shape) continue;
    shapes[b] = make_shape(comm, *deck->shape, false, dx);
    budget.spend(demand_of(words_for(*deck), scene.bodies[b]->points(), *shapes[b],
                           std::pow(dx, 3) / deck->particles_per_cell, comm.size()),
                 unit_hint);
  }
  return shapes;
}

/// Differences between a body's volume and that of its cells with a point in the middle that are worth a word.
constexpr Real coarse = 0.1;

/// Fills a shape with points at rest, together of its volume, and lets handles choose of them. Returns their number on
/// all ranks. Collective.
std::int64_t fill_shape(const Comm& comm, Scene& scene, std::size_t b, const ContinuumDeck& deck, const Shape& shape) {
  const std::string what = words_for(deck);
  PointBody& body = *scene.bodies[b]->roles().points;
  Table& points = body.points();
  const Real dx = scene.deck.domain.dx;
  comm.agree([&] {
    at_place(what, [&] {
      const CellSampler sampler({deck.sampling, dx, deck.particles_per_cell, deck.seed, static_cast<std::uint32_t>(b)});
      const CellRange range = cells_covering(*shape.bounds(), dx);
      const std::int64_t begin = range.count() * comm.rank() / comm.size();
      const std::int64_t end = range.count() * (comm.rank() + 1) / comm.size();
      const SampledPoints samples = sample_shape(sampler, shape, range, begin, end);
      points.resize(samples.positions.size());
      std::copy(samples.positions.begin(), samples.positions.end(), points.get<Position>().begin());
      std::copy(samples.ids.begin(), samples.ids.end(), points.get<Id>().begin());
      scene.first_free_id[b] = id_end(sampler, range);
    });
  });
  const std::int64_t count = comm.sum(static_cast<std::int64_t>(points.rows()));
  require(count > 0, ExitCode::geometry,
          what +
              " gets no particles: its shape is thinner than the spacing of particles. Use a smaller domain.dx or a "
              "larger shape.");
  const Real sampled = static_cast<Real>(count) * std::pow(dx, 3) / deck.particles_per_cell;
  const Real volume = shape.volume().value_or(sampled);
  if (std::abs(sampled / volume - 1) > coarse)
    log_warning(
        fmt::format("{} has {} particles, whose cells have {:.0f} % of its volume: they carry its mass, but its "
                    "surface is coarse. Expected: a smaller domain.dx, or more particles_per_cell.",
                    what, count, 100 * sampled / volume));
  body.rest(0, volume / static_cast<Real>(count));
  if (body.touches_walls()) {
    // Points near the surface that is drawn end there, others half way to their neighbours.
    const auto x = std::as_const(points).get<Position>();
    for (std::size_t p = 0; p < x.size(); ++p) set_reach(body, p, shape.faces(x[p], Side::inside, dx / 2));
  }
  choose_points(comm, scene, b, shape, volume / static_cast<Real>(count));
  return count;
}

void fill_body(const Comm& comm, Scene& scene, std::size_t b, const ContinuumDeck& deck, const Shape* shape) {
  if (shape == nullptr) {  // only a source feeds it
    for (std::size_t h = 0; h < scene.handles.size(); ++h)
      if (scene.handles[h].body == b)  // roots of strands, which follow those of the deck, are of others
        throw Error(ExitCode::deck,
                    fmt::format("{}: {} has no particles at the start, of which a handle could choose some.",
                                scene.deck.handles[h].location.text, deck.name));
    return;
  }
  const std::int64_t count = fill_shape(comm, scene, b, deck, *shape);
  Table& points = scene.bodies[b]->points();
  Vec3 center = Vec3::Zero();
  for (const Vec3& x : points.get<Position>()) center += x;
  comm.sum(std::span(center.data(), 3));
  center /= static_cast<Real>(count);

  const Mat3 spin = spin_matrix(deck.spin);
  for (std::size_t p = 0; p < points.rows(); ++p) {
    points.get<Velocity>()[p] = deck.velocity + spin * (points.get<Position>()[p] - center);
    points.get<Affine>()[p] = spin;
  }
}

template <class MeshDeck>
Twist start_of(const MeshDeck& deck, const VertexValues&) {
  return {deck.velocity, deck.spin};
}
/// A joint that leads a body does so from the start.
Twist start_of(const RigidDeck& deck, const VertexValues& rest) {
  const Vec3 centre = (rest[0] + rest[1] + rest[2] + rest[3]) / 4;
  const Twist given{deck.velocity, deck.spin};
  if (!deck.joint) return given;
  return std::visit(Overloaded{[&](const BallJointDeck&) { return given; },
                               [&](const HingeDeck& d) {
                                 if (!d.speed) return given;
                                 const Vec3 spin = *d.speed * d.axis.normalized();
                                 return Twist{spin.cross(centre - d.point), spin};
                               },
                               [&](const SliderDeck& d) {
                                 return d.speed ? Twist{*d.speed * d.axis.normalized(), Vec3::Zero()} : given;
                               },
                               [&](const MotionDeck& d) {
                                 const RigidState start = make_motion(d).at(0);
                                 return Twist{start.velocity_at(centre), start.spin};
                               }},
                    deck.joint->form);
}

template <class MeshDeck>
void fill_body(const Comm& comm, Scene& scene, std::size_t b, const MeshDeck& deck, const Shape*) {
  MeshBody& body = *scene.bodies[b]->roles().mesh;
  const VertexValues rest = scene.meshes[b]->rest_positions();
  const Twist start = start_of(deck, rest);
  body.fill(comm, rest, start.velocity, spin_matrix(start.spin));
  scene.first_free_id[b] = static_cast<PointId>(body.next_vertex());
  if (body.carrier() == Carrier::own) body.share_evenly(comm);
}

/// Throws Error(geometry) if all points of a body begin where points are removed. Collective.
void require_inside(const Comm& comm, const Box& bounds, const Body& body, const BodyDeck& deck) {
  const auto x = body.points().get<Position>();
  const auto outside = static_cast<std::int64_t>(
      std::count_if(x.begin(), x.end(), [&](const Vec3& at) { return !bounds.contains(at); }));
  const std::int64_t all = comm.sum(static_cast<std::int64_t>(x.size()));
  require(all == 0 || comm.sum(outside) < all, ExitCode::geometry,
          fmt::format("{}: the body lies outside domain.bounds, where particles are removed. Move it, or enlarge the "
                      "bounds.",
                      std::visit([](const auto& of) { return of.location.text; }, deck)));
}

}  // namespace

void fill_bodies(const Comm& comm, Scene& scene) {
  const auto shapes = shapes_to_fill(comm, scene);
  for (std::size_t b = 0; b < scene.bodies.size(); ++b)
    std::visit([&](const auto& deck) { fill_body(comm, scene, b, deck, shapes[b].get()); }, scene.deck.bodies[b]);
  for (const auto& body : scene.bodies) {
    for (PointSet* set : body->sets())
      if (set->touches_walls()) fit_to_walls(scene, 0, *set, 0);
    if (PointSet* contact = body->roles().contact_points; contact != nullptr && contact->touches_walls())
      fit_to_walls(scene, 0, *contact, 0);
  }
  end_building(comm, scene);
  for (std::size_t b = 0; scene.bounds && b < scene.bodies.size(); ++b)
    if (const Body& body = *scene.bodies[b]; scene.bodies[b]->roles().mesh == nullptr)
      require_inside(comm, *scene.bounds, body, scene.deck.bodies[b]);
}

void end_building(const Comm& comm, Scene& scene) {
  scene.meshes.clear();
  const Deck& deck = scene.deck;
  const Real none = std::numeric_limits<Real>::infinity();
  std::vector<Real> lightest(scene.layers.size(), none);
  for (std::size_t b = 0; b < deck.bodies.size(); ++b) {
    Real& of_layer = lightest[scene.on_layer[b]];
    if (const auto* body = std::get_if<ContinuumDeck>(&deck.bodies[b])) {
      const Real volume = std::pow(deck.domain.dx, 3) / body->particles_per_cell;
      of_layer = std::min(of_layer, material_of(deck, deck.bodies[b]).density * volume);
    } else {
      const MeshBody& mesh = *scene.bodies[b]->roles().mesh;
      for (const Table* points : {&mesh.samples(), &mesh.dust()})
        for (const Real mass : points->get<Mass>()) of_layer = std::min(of_layer, mass);
    }
  }
  comm.min(lightest);
  for (std::size_t l = 0; l < lightest.size(); ++l)
    if (scene.layers[l].transfer.kernel == KernelKind::linear && lightest[l] < none)
      scene.layers[l].light_mass = light_fraction * lightest[l];
}

}  // namespace weft
