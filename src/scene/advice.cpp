#include "weft/scene/advice.hpp"

#include "scene/liquids.hpp"
#include "weft/bodies/shell_body.hpp"
#include "weft/geometry/level_set.hpp"
#include "weft/geometry/mesh.hpp"
#include "weft/geometry/overlap.hpp"
#include "weft/math/svd.hpp"
#include "weft/scene/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

namespace weft {
namespace {

/// Calls visit(middle, unit normal, area) for each triangle.
template <class Visit>
void for_each_face(const SurfaceMesh& surface, const Visit& visit) {
  for (const auto& [a, b, c] : triangles_of(surface)) {
    const Vec3 p = surface.points[a], normal = (surface.points[b] - p).cross(surface.points[c] - p);
    if (!normal.isZero())
      visit(Vec3(p + (surface.points[b] - p + surface.points[c] - p) / 3), Vec3(normal.normalized()),
            normal.norm() / 2);
  }
}

/// Share of the area of triangles whose middle and unit normal meet a condition.
template <class Condition>
Real share_of_area(const SurfaceMesh& surface, const Condition& meets) {
  Real share = 0, whole = 0;
  for_each_face(surface, [&](const Vec3& middle, const Vec3& normal, Real area) {
    whole += area;
    if (meets(middle, normal)) share += area;
  });
  return whole > 0 ? share / whole : 0;
}

/// Share of the surface below which the solid is not as deep as `depth` [m]; unbounded solids are deep everywhere.
Real shallow_share(const Shape& shape, Real depth) {
  const auto bounds = shape.bounds();
  if (!bounds) return 0;
  return share_of_area(shape.tessellate(*bounds), [&](const Vec3& middle, const Vec3& normal) {
    // A tenth is for facets that lie below the surface.
    return shape.surface(middle - depth * normal).distance > -0.9 * depth;
  });
}

/// Share of a closed surface beyond which, along the normal, the other side is nearer than `thickness` [m].
Real thin_share(const SurfaceMesh& closed, Real thickness, Real dx) {
  const std::unique_ptr<Shape> shape = make_level_set(closed, {dx / 4, dx});
  return share_of_area(closed, [&](const Vec3& middle, const Vec3& normal) {
    return shape->surface(middle - thickness * normal).distance > 0;
  });
}

/// Of the faces [m].
Real longest_edge(const ControlMesh& mesh) {
  Real longest = 0;
  for (std::int64_t f = 0; f < mesh.material_faces; ++f)
    for (int c = 0; c < mesh.sides(); ++c)
      longest = std::max(longest,
                         (mesh.points[mesh.faces[f][(c + 1) % mesh.sides()]] - mesh.points[mesh.faces[f][c]]).norm());
  return longest;
}

/// The volume over the largest silhouette along the axes of the surface [m].
Real mean_thickness(const MeshSource& mesh) {
  const auto rest = mesh.rest_positions().held();
  std::vector<Vec3> areas;
  Real volume = 0;  // by the divergence theorem, of samples whose normal points inwards
  Mat3 spread = Mat3::Zero();
  for (const Sample& sample : mesh.surface_samples({0, mesh.counts().elements})) {
    if (!(sample.measure > 0)) continue;
    const auto [a1, a2] = tangents_of(sample, rest);
    areas.emplace_back(sample.measure * a1.cross(a2).normalized());
    volume -= sample.where.dot(areas.back()) / 3;
    spread += areas.back() * areas.back().transpose() / sample.measure;
  }
  const Mat3 axes = symmetric_eigen(spread).Q;
  Vec3 silhouettes = Vec3::Zero();
  for (const Vec3& area : areas) silhouettes += (axes.transpose() * area).cwiseAbs() / 2;
  return volume / silhouettes.maxCoeff();
}

/// The collider that comes nearer to a body at rest than half of its size, if one does. Collective.
std::optional<std::string> collider_in_the_way(const Comm& comm, const Scene& scene, const MeshSource& mesh) {
  const Box box = mesh.bounds();
  const Real size = (box.upper - box.lower).norm();
  for (const Wall& wall : scene.walls) {
    const auto is_near = [&](const Vec3& x) { return wall.shape.rest().surface(x).distance < size / 2; };
    if (comm.any(std::ranges::any_of(mesh.rest_positions().held(), is_near))) return wall.name;
  }
  return {};
}

/// Bodies with contact points that begin deeper in one another than this [dx] are named.
constexpr Real least_overlap = 0.01;

/// Particles of a continuum that begin in such a body are named where the body reaches deeper into its shape [dx].
constexpr Real least_immersion = 0.5;

/// Of the points of a closed surface and the middles of its triangles the one that is deepest in a shape.
Overlap deepest_in(const Shape& shape, const SurfaceMesh& surface) {
  Overlap deepest{0, Vec3::Zero()};
  const auto include = [&](const Vec3& x) {
    if (const Real depth = -shape.surface(x).distance; depth > deepest.depth) deepest = {depth, x};
  };
  for (const Vec3& x : surface.points) include(x);
  for (const auto& [a, b, c] : triangles_of(surface))
    include((surface.points[a] + surface.points[b] + surface.points[c]) / 3);
  return deepest;
}

/// How far from a body with contact points grains and solid materials come to rest [dx].
constexpr Real least_room = 0.25;

/// Whether the shape of a material covers a face without that room.
bool covers(const Shape& shape, const Vec3& middle, const Vec3& normal, Real dx) {
  return shape.surface(middle + least_room / 2 * dx * normal).distance < 0;
}

/// Whether materials are drawn around a body from opposite sides: they cover faces that look along an axis and against
/// it. A body that they cover from one side alone gives way.
bool is_enclosed(std::span<const Shape* const> shapes, const SurfaceMesh& surface, Real dx) {
  constexpr Real most_opposed = 0.3;  // of the silhouette
  Vec3 silhouette = Vec3::Zero(), covered = Vec3::Zero(), net = Vec3::Zero();
  for_each_face(surface, [&](const Vec3& middle, const Vec3& normal, Real area) {
    silhouette += area * normal.cwiseAbs();
    if (std::ranges::none_of(shapes, [&](const Shape* shape) { return covers(*shape, middle, normal, dx); })) return;
    covered += area * normal.cwiseAbs();
    net += area * normal;
  });
  const Vec3 opposed = covered - net.cwiseAbs();
  return (opposed.array() > most_opposed * silhouette.array()).any();
}

/// Collective.
void advise_on_immersion(const Comm& comm, const Scene& scene, std::span<const SurfaceMesh> surfaces,
                         std::vector<std::string>& advice) {
  const auto has_surface = [](const SurfaceMesh& surface) { return !surface.points.empty(); };
  if (std::ranges::none_of(surfaces, has_surface)) return;
  std::vector<std::shared_ptr<const Shape>> shapes;
  std::vector<const ContinuumDeck*> drawn;
  for (const BodyDeck& body : scene.deck.bodies)
    if (const auto* deck = std::get_if<ContinuumDeck>(&body); deck != nullptr && deck->shape) {
      shapes.push_back(make_shape(comm, *deck->shape, false, scene.dx));
      drawn.push_back(deck);
    }
  for (std::size_t b = 0; b < surfaces.size(); ++b) {
    std::vector<const Shape*> around;  // materials that it does not begin in
    std::string names;
    for (std::size_t c = 0; c < shapes.size(); ++c) {
      const ContinuumDeck& deck = *drawn[c];
      if (const auto [depth, x] = deepest_in(*shapes[c], surfaces[b]); depth >= least_immersion * scene.dx) {
        advice.push_back(fmt::format(
            "{}: the body {} begins in its shape, {:.3g} m deep at ({:.4g}, {:.4g}, {:.4g}), and particles of "
            "{} in the body. They stay there, or press it. Expected: a mesh with a hole for the body.",
            deck.location.text, scene.bodies[b]->name(), depth, x.x(), x.y(), x.z(), deck.name));
      } else if (scene.bodies[b]->roles().contact_points != nullptr && !is_liquid(scene.deck, deck) &&
                 share_of_area(surfaces[b], [&](const Vec3& middle, const Vec3& normal) {
                   return covers(*shapes[c], middle, normal, scene.dx);
                 }) > 0) {
        around.push_back(shapes[c].get());
        names += (names.empty() ? "" : ", ") + deck.name;
      }
    }
    if (is_enclosed(around, surfaces[b], scene.dx))
      advice.push_back(fmt::format(
          "body {}: materials fit tightly around it ({}). They come to rest a quarter of dx from it, and press it ever "
          "more until they have made that room. Expected: a hole that is {:.3g} m wider on all sides.",
          scene.bodies[b]->name(), names, least_room * scene.dx));
  }
}

/// Solids and rigid bodies that meet others, by their surface or by the grid.
bool meets_others(const Scene& scene, std::size_t b) {
  const Roles roles = scene.bodies[b]->roles();
  return roles.contact_points != nullptr ||
         (roles.is_carried_by_grid && std::holds_alternative<SolidDeck>(scene.deck.bodies[b]));
}

void advise_on_overlaps(const Comm& comm, const Scene& scene, std::vector<std::string>& advice) {
  std::vector<SurfaceMesh> surfaces;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b)
    surfaces.push_back(meets_others(scene, b) ? scene.meshes[b]->closed_surface() : SurfaceMesh{});
  for (std::size_t a = 0; a < surfaces.size(); ++a)
    for (std::size_t b = a + 1; b < surfaces.size(); ++b) {
      if (surfaces[a].points.empty() || surfaces[b].points.empty()) continue;
      const auto overlap = overlap_of(surfaces[a], surfaces[b]);
      if (!overlap || overlap->depth < least_overlap * scene.deck.domain.dx) continue;
      const Vec3& x = overlap->where;
      advice.push_back(fmt::format(
          "bodies {} and {}: they begin in one another, {:.3g} m deep at ({:.4g}, {:.4g}, {:.4g}), and stay "
          "so or pass through. Expected: a gap of a tenth of domain.dx or more.",
          scene.bodies[a]->name(), scene.bodies[b]->name(), overlap->depth, x.x(), x.y(), x.z()));
    }
  advise_on_immersion(comm, scene, surfaces, advice);
}

void advise_on_parts(const Scene& scene, std::vector<std::string>& advice) {
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    if (!std::holds_alternative<RigidDeck>(scene.deck.bodies[b])) continue;
    if (const auto x = wound_twice(scene.meshes[b]->closed_surface()))
      advice.push_back(fmt::format(
          "body {}: parts of its surface overlap at ({:.4g}, {:.4g}, {:.4g}), where it has the mass of both. Expected: "
          "one surface around all, and faces of holes that point inwards.",
          scene.bodies[b]->name(), x->x(), x->y(), x->z()));
  }
}

/// Implicit layers answer to their own forces as a whole, to layers that remember no contact by the masses of nodes.
void advise_on_implicit_layers(const Scene& scene, std::vector<std::string>& advice) {
  if (scene.deck.time.scheme != Scheme::implicit_euler) return;
  const auto is_carried = [](const std::unique_ptr<Body>& body) { return body->roles().is_carried_by_grid; };
  const auto first = std::ranges::find_if(scene.bodies, is_carried);
  if (first == scene.bodies.end()) return;
  const std::size_t layer = scene.on_layer[static_cast<std::size_t>(first - scene.bodies.begin())];
  std::string others;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b)
    if (const Roles roles = scene.bodies[b]->roles(); (roles.is_carried_by_grid || roles.contact_points != nullptr) &&
                                                      scene.on_layer[b] != layer &&
                                                      !scene.layers[scene.on_layer[b]].has_contact_points)
      others += (others.empty() ? "" : ", ") + scene.bodies[b]->name();
  if (!others.empty())
    advice.push_back(fmt::format(
        "time.scheme: bodies on other layers ({}) meet what implicit steps move only after these have sprung back. "
        "They press it with too little force, and energy rises. Expected: \"explicit\", or \"kind: solid\" with "
        "\"carrier: own\" and \"meets_grid: true\".",
        others));
}

/// Meshes on the grid, and strands that meet it, whose elements are so much larger than cells that nodes between
/// vertices hardly know them. Collective.
void advise_on_coarse_meshes(const Comm& comm, const Scene& scene, std::vector<std::string>& advice) {
  constexpr Real largest_of_thin = 1.5, largest_of_solids = 1.3;  // in dx
  if (scene.bodies.size() < 2 && scene.walls.empty()) return;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    const MeshSource* mesh = scene.meshes[b].get();
    if (mesh == nullptr) continue;
    const bool meets_by_vertices =
        mesh->carrier() == Carrier::grid || (std::holds_alternative<StrandDeck>(scene.deck.bodies[b]) &&
                                             scene.bodies[b]->roles().contact_points != nullptr);
    if (!meets_by_vertices) continue;
    const bool is_solid = std::holds_alternative<SolidDeck>(scene.deck.bodies[b]);
    const Real largest = is_solid ? largest_of_solids : largest_of_thin, size = comm.max(mesh->element_size());
    if (size < largest * scene.dx) continue;
    advice.push_back(fmt::format(
        "body {}: its elements are {:.3g} m large in the mean, more than {} dx = {:.3g} m. What touches it sinks in or "
        "passes through between its vertices. Expected: elements of about dx{}.",
        scene.bodies[b]->name(), size, largest, largest * scene.dx,
        is_solid ? ", or \"carrier: own\" with \"meets_grid: true\"" : ""));
  }
}

/// Handles whose motion begins elsewhere than what they hold is drawn, which has a kick in the first step.
void advise_on_jumps(const Scene& scene, std::vector<std::string>& advice) {
  constexpr Real least = 1e-6;  // in dx, and rad
  for (const GridHandle& handle : scene.handles) {
    if (handle.hold() == nullptr) continue;
    const RigidState start = handle.hold()->motion.at(0);
    if (start.translation.norm() > least * scene.deck.domain.dx || !start.rotation.isIdentity(least))
      advice.push_back(fmt::format(
          "handles.{}: its motion begins elsewhere than the body is drawn, so what it holds jumps in the first step. "
          "Expected: a first keyframe without translate and rotate.",
          handle.name));
  }
}

/// Whether a body that moves by itself has the key `meets_grid`, not refused.
bool may_meet_grid(const BodyDeck& body) {
  return std::holds_alternative<StrandDeck>(body) || std::holds_alternative<SolidDeck>(body) ||
         std::holds_alternative<RigidDeck>(body);
}

}  // namespace

std::vector<std::string> advice_to_begin_with(const Comm& comm, const Scene& scene) {
  std::vector<std::string> advice;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b)
    if (const Roles roles = scene.bodies[b]->roles(); !roles.is_carried_by_grid && roles.contact_points == nullptr)
      if (const auto name = collider_in_the_way(comm, scene, *scene.meshes[b]))
        advice.push_back(fmt::format(
            "body {}: the collider {} is in its way and will not stop it: nothing touches a body that moves by itself "
            "and does not meet the grid. Expected: \"{}\", or no collider near the body.",
            scene.bodies[b]->name(), *name,
            may_meet_grid(scene.deck.bodies[b]) ? "meets_grid: true" : "carrier: grid"));
  advise_on_overlaps(comm, scene, advice);
  advise_on_parts(scene, advice);
  advise_on_implicit_layers(scene, advice);
  if (scene.deck.time.scheme != Scheme::equilibrium) advise_on_coarse_meshes(comm, scene, advice);
  advise_on_jumps(scene, advice);
  for (const SourceDeck& source : scene.deck.sources)
    if (source.from >= scene.deck.time.end)
      advice.push_back(fmt::format("{}: it opens at {:.6g} s, and the run ends at {:.6g} s. Nothing comes of it.",
                                   source.location.text, source.from, scene.deck.time.end));
  if (!scene.deck.solve.petsc.empty() && scene.deck.time.scheme == Scheme::explicit_euler)
    advice.emplace_back(
        "solve.petsc: it has no effect, since nothing is solved with \"scheme: explicit\" under time. Expected: "
        "\"scheme: implicit\" or \"static\", or no options.");
  return advice;
}

std::vector<std::string> advice_on(const Comm& comm, const Scene& scene) {
  const Real dx = scene.deck.domain.dx;
  std::vector<std::string> advice = advice_to_begin_with(comm, scene);
  const bool has_liquid =
      std::ranges::any_of(scene.deck.bodies, [&](const BodyDeck& body) { return is_liquid(scene.deck, body); });
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    if (scene.bodies[b]->roles().contact_points == nullptr) continue;
    const std::string& name = scene.bodies[b]->name();
    const bool has_surface = !std::holds_alternative<StrandDeck>(scene.deck.bodies[b]);
    if (const Real thickness = has_surface ? mean_thickness(*scene.meshes[b]) : dx; thickness < dx / 2)
      advice.push_back(
          fmt::format("body {}: it is {:.3g} m thick in the mean, less than dx / 2 = {:.3g} m: others that "
                      "hit it may pass. Expected: a smaller domain.dx.",
                      name, thickness, dx / 2));
    constexpr Real least_tight = 1.5, most_thin = 0.2;  // in dx; of the surface
    if (has_surface && has_liquid && thin_share(scene.meshes[b]->closed_surface(), least_tight * dx, dx) > most_thin)
      advice.push_back(
          fmt::format("body {}: parts of it are thinner than {} dx = {:.3g} m, and liquid may seep through them. "
                      "Expected: thicker walls or a smaller domain.dx.",
                      name, least_tight, least_tight * dx));
    for (std::size_t w = 0; w < scene.walls.size(); ++w)
      if (scene.walls[w].contact == WallContactKind::nodes)
        advice.push_back(
            fmt::format("{}.contact: at nodes it takes all energy from hits of body {}, which moves by itself, and "
                        "lets it sink in. "
                        "Expected: contact: surface.",
                        scene.deck.colliders[w].location.text, name));
  }
  for (std::size_t w = 0; w < scene.walls.size(); ++w) {
    const bool at_nodes = scene.walls[w].contact == WallContactKind::nodes;
    const Real thickness = at_nodes ? 2 : 2.5;  // in dx
    if (shallow_share(scene.walls[w].shape.rest(), thickness / 2 * dx) > 0.5)
      advice.push_back(fmt::format(
          "{}.shape: it is thinner than {} dx = {:.3g} m: {}. Expected: a thicker shape or a smaller domain.dx.",
          scene.deck.colliders[w].location.text, thickness, thickness * dx,
          at_nodes ? "few nodes lie inside, and things sink in by about dx or pass through"
                   : "what touches it on one side shares nodes with what touches it on the other"));
  }
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    const auto* deck = std::get_if<ShellDeck>(&scene.deck.bodies[b]);
    if (!deck || !scene.bodies[b]->roles().is_carried_by_grid) continue;
    const ControlMesh& mesh = *scene.meshes[b]->control_mesh();
    const Real mean = scene.meshes[b]->element_size(), longest = longest_edge(mesh);
    const int per_edge = deck->contact_points > 0 ? deck->contact_points : contact_points_per_edge(mesh, dx);
    if (longest / per_edge > dx)
      advice.push_back(fmt::format(
          "{}.contact_points: they lie up to {:.3g} m apart, more than dx = {:.3g} m: things may pass between them. "
          "Expected: {} or more.",
          deck->location.text, longest / per_edge, dx, contact_points_per_edge(mesh, dx)));
    if (mean < dx / 2)
      advice.push_back(fmt::format(
          "{}.mesh: its edges are {:.3g} m long in the mean, less than dx / 2 = {:.3g} m: the grid does not tell their "
          "ends apart, and wrinkles between them stay. Expected: faces of about dx.",
          deck->location.text, mean, dx / 2));
  }
  return advice;
}

}  // namespace weft
