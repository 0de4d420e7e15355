#include "scene/point_handles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "scene/handle_selection.hpp"
#include "weft/base/check.hpp"
#include "weft/base/overloaded.hpp"
#include "weft/bodies/continuum.hpp"
#include "weft/scene/catalogue.hpp"

namespace weft {
namespace {

const ContinuumDeck& deck_of(const Scene& scene, std::size_t body) {
  return std::get<ContinuumDeck>(scene.deck.bodies[body]);
}

/// Of the particles of a body [m].
Real spacing_of(const Scene& scene, std::size_t body) {
  return scene.deck.domain.dx / std::cbrt(Real(deck_of(scene, body).particles_per_cell));
}

[[noreturn]] void refuse(const HandleDeck& deck, const std::string& what) {
  throw Error(ExitCode::deck, fmt::format("{}: {} is made of particles, which have no mesh: {}. A handle of it may "
                                          "have \"where\", and hold, force, traction or gravity.",
                                          deck.location.text, deck.body, what));
}

void require_points_suffice(const HandleDeck& deck) {
  if (deck.group || !deck.vertices.empty() || deck.boundary)
    refuse(deck, "they belong to no group, vertices or boundary");
  if (const auto* hold = std::get_if<HoldDeck>(&deck.action))
    if (hold->keep != Hold::place || hold->normal) refuse(deck, "only their place can be kept");
}

GridHandle::Hold hold_of(const HoldDeck& deck) {
  const HandleSettings settings = hold_settings(deck);
  GridHandle::Hold hold{settings.motion, deck.until, {}, {}};
  for (int axis = 0; axis < 3; ++axis)
    if (settings.axes[static_cast<std::size_t>(axis)]) hold.axes.push_back(Vec3::Unit(axis));
  return hold;
}

}  // namespace

GridHandle handle_of_points(Scene& scene, const HandleDeck& deck, std::size_t body) {
  require_points_suffice(deck);
  const auto number = static_cast<std::size_t>(std::count_if(
      scene.handles.begin(), scene.handles.end(), [body](const GridHandle& other) { return other.body == body; }));
  require(number < most_handles_of_points, ExitCode::deck,
          fmt::format("{}: {} has {} handles already, more than which particles cannot tell apart.", deck.location.text,
                      deck.body, most_handles_of_points));
  Table& points = scene.bodies[body]->points();
  if (!points.has<HandledBy>()) points.add<HandledBy>();
  GridHandle handle{deck.name, body, number, {}, {}, {}};
  const auto load = [&](const Vec3& total, const Vec3& acceleration, const std::vector<AmplitudeKeyDeck>& keys) {
    if (!points.has<LoadForce>()) points.add<LoadForce>();
    handle.action = GridHandle::OnPoints{total, acceleration, make_amplitude(keys, scene.deck.time.end)};
  };
  const auto of_mesh = [&](const char* key) {
    refuse(deck, fmt::format("\"{}\" acts on a surface or an edge that turns", key));
  };
  std::visit(Overloaded{
                 [&](const HoldDeck& hold) { handle.action = hold_of(hold); },
                 [&](const ForceDeck& force) { load(force.total, Vec3::Zero(), force.amplitude); },
                 [&](const GravityDeck& gravity) { load(Vec3::Zero(), gravity.acceleration, gravity.amplitude); },
                 [&](const TractionDeck& traction) {
                   // A point of volume V in a layer of this depth has the area V / depth of the surface.
                   const Real mass_per_area =
                       material_of(scene.deck, scene.deck.bodies[body]).density * spacing_of(scene, body);
                   load(Vec3::Zero(), traction.per_area / mass_per_area, traction.amplitude);
                 },
                 [&](const PressureDeck&) { of_mesh("pressure"); },
                 [&](const EdgeForceDeck&) { of_mesh("edge_force"); },
                 [&](const EdgeMomentDeck&) { of_mesh("edge_moment"); },
             },
             deck.action);
  return handle;
}

namespace {

/// Of a handle its points on this rank are marked; returns how much of the body that is. Collective.
HandleExtent choose(const Comm& comm, Scene& scene, const GridHandle& handle, const HandleDeck& deck,
                    const Shape& body_shape, Real volume) {
  const auto where = deck.where ? make_shape(comm, *deck.where, false, scene.deck.domain.dx) : nullptr;
  const Real depth = spacing_of(scene, handle.body);
  const bool is_on_surface = std::holds_alternative<TractionDeck>(deck.action);
  const auto is_in_layer = [&](const Vec3& x) { return body_shape.surface(x).distance > -depth; };
  Table& points = scene.bodies[handle.body]->points();
  const auto x = std::as_const(points).get<Position>();
  const auto m = std::as_const(points).get<Mass>();
  const auto by = points.get<HandledBy>();
  std::vector<std::size_t> chosen;
  std::int64_t all = 0;  // that it might have chosen
  for (std::size_t p = 0; p < x.size(); ++p) {
    if (is_on_surface && !is_in_layer(x[p])) continue;
    ++all;
    if (where && !where->contains(x[p])) continue;
    by[p] |= PointId{1} << handle.list;
    chosen.push_back(p);
  }
  const std::int64_t count = comm.sum(static_cast<std::int64_t>(chosen.size()));
  require(count > 0, ExitCode::deck,
          fmt::format("{}: no particle of {} is in the part that \"where\" chooses{}. `weft check` says where the body "
                      "is.",
                      deck.location.text, deck.body,
                      is_on_surface ? ", and in the outermost layer, one spacing of particles deep" : ""));
  const auto* load = std::get_if<GridHandle::OnPoints>(&handle.action);
  ExtentSum sum;
  for (const std::size_t p : chosen)
    sum.add(x[p], m[p], load ? Vec3(load->total / static_cast<Real>(count) + m[p] * load->acceleration) : Vec3::Zero());
  const Real each = is_on_surface ? volume / depth : volume;
  sum.measure(is_on_surface ? 2 : 3, each * static_cast<Real>(chosen.size()), each * static_cast<Real>(all));
  return sum.total(comm);
}

/// Throws Error(deck) if both hold some point along a direction in common. Collective.
void require_no_overlap(const Comm& comm, const Scene& scene, const GridHandle& one, const GridHandle& other,
                        const HandleDeck& deck) {
  const GridHandle::Hold *a = one.hold(), *b = other.hold();
  if (a == nullptr || b == nullptr || one.body != other.body) return;
  if (std::find_first_of(a->axes.begin(), a->axes.end(), b->axes.begin(), b->axes.end()) == a->axes.end()) return;
  const auto by = std::as_const(*scene.bodies[one.body]).points().get<HandledBy>();
  const std::int64_t both = comm.sum(static_cast<std::int64_t>(std::count_if(
      by.begin(), by.end(), [&](PointId bits) { return is_handled(bits, one.list) && is_handled(bits, other.list); })));
  require(both == 0, ExitCode::deck,
          fmt::format("{}: handles {} and {} hold the same {} particles of {} in one direction. Let one of them hold "
                      "other axes, or less of the body.",
                      deck.location.text, other.name, one.name, both, deck.body));
}

}  // namespace

void choose_points(const Comm& comm, Scene& scene, std::size_t body, const Shape& shape, Real volume) {
  for (std::size_t h = 0; h < scene.handles.size(); ++h) {
    GridHandle& handle = scene.handles[h];
    if (handle.body != body) continue;
    handle.extent = choose(comm, scene, handle, scene.deck.handles[h], shape, volume);
    for (std::size_t before = 0; before < h; ++before)
      require_no_overlap(comm, scene, handle, scene.handles[before], scene.deck.handles[h]);
  }
}

}  // namespace weft
