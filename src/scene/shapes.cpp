// The catalogue of shapes and surfaces.

#include "scene/placement_of.hpp"
#include "weft/base/overloaded.hpp"
#include "weft/geometry/fiber_patterns.hpp"
#include "weft/geometry/level_set.hpp"
#include "weft/geometry/mesh_reader.hpp"
#include "weft/geometry/patches.hpp"
#include "weft/geometry/polyhedron.hpp"
#include "weft/geometry/primitives.hpp"
#include "weft/geometry/smooth_union.hpp"
#include "weft/scene/catalogue.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <numbers>
#include <utility>
#include <vector>

namespace weft {
namespace {

/// Voxels of a mesh's level set in grid spacings, and how far its distances reach.
constexpr Real voxel_per_dx = 0.25, band_per_dx = 4;
/// What a square of a generated sheet takes on every rank at least while the scene is built [byte]: each has the whole
/// mesh.
constexpr Real square_bytes = 400;

std::unique_ptr<Shape> make_mesh_shape(const Comm& comm, const MeshDeck& mesh, Real scale, Real dx) {
  SurfaceMesh surface = make_surface(comm, mesh);
  require_closed(surface, mesh.file);
  return make_level_set(std::move(surface), {voxel_per_dx * dx / scale, band_per_dx * dx / scale});
}

std::unique_ptr<Shape> make_primitive(const BoxDeck& s) { return make_box(s.lower, s.upper); }
std::unique_ptr<Shape> make_primitive(const SphereDeck& s) { return make_sphere(s.center, s.radius); }
std::unique_ptr<Shape> make_primitive(const CylinderDeck& s) { return make_cylinder(s.from, s.to, s.radius); }
std::unique_ptr<Shape> make_primitive(const CapsuleDeck& s) { return make_capsule(s.from, s.to, s.radius); }
std::unique_ptr<Shape> make_primitive(const EllipsoidDeck& s) { return make_ellipsoid(s.center, s.radii); }
std::unique_ptr<Shape> make_primitive(const TorusDeck& s) {
  return make_torus(s.center, s.axis, s.major_radius, s.minor_radius);
}

std::unique_ptr<Shape> make_union(const UnionDeck& deck) {
  std::vector<std::unique_ptr<Shape>> parts;
  for (const UnionPartDeck& part : deck.parts)
    parts.push_back(
        placed(std::visit([](const auto& form) { return make_primitive(form); }, part.form), placement_of(part)));
  return make_smooth_union(std::move(parts), deck.blend);
}

}  // namespace

SurfaceMesh make_surface(const Comm& comm, const MeshDeck& deck) {
  return read_mesh(std::filesystem::path(deck.file).filename().string(), load_everywhere(comm, deck.file));
}

SurfaceMesh make_surface(const Comm& comm, const SurfaceDeck& deck) {
  if (!std::holds_alternative<MeshFileDeck>(deck.form))
    require_room_for_mesh(comm, deck.across, deck.along, square_bytes);
  const auto mapped = [&](const SurfaceMap& map, bool closed) {
    SurfaceMesh mesh = cloth_sheet(1, 1, deck.across, deck.along);
    const std::int32_t row = deck.across + 1;
    if (closed)  // the last column is the first
      for (std::int32_t& corner : mesh.corners)
        if (corner % row == deck.across) corner -= deck.across;
    for (Vec3& x : mesh.points) x = map(x.x(), x.y());
    return mesh;
  };
  const auto is_turn = [](Real from, Real to) { return std::abs(to - from - 2 * std::numbers::pi) < 1e-12; };
  SurfaceMesh mesh = std::visit(
      Overloaded{[&](const MeshFileDeck& d) {
                   return read_mesh(std::filesystem::path(d.file).filename().string(), load_everywhere(comm, d.file));
                 },
                 [&](const RectangleDeck& d) { return cloth_sheet(d.width, d.height, deck.across, deck.along); },
                 [&](const CylinderPatchDeck& d) {
                   return mapped(cylinder(d.radius, d.length, d.from, d.to), is_turn(d.from, d.to));
                 },
                 [&](const SpherePatchDeck& d) {
                   return mapped(sphere(d.radius, {d.west, d.east}, {d.south, d.north}), is_turn(d.west, d.east));
                 },
                 [&](const AnnulusDeck& d) { return mapped(annulus({d.inner, d.outer}, {d.from, d.to}), false); }},
      deck.form);
  return placed(std::move(mesh), placement_of(deck));
}

std::shared_ptr<const Shape> make_shape(const Comm& comm, const ShapeDeck& deck, bool is_hollow, Real dx) {
  std::unique_ptr<Shape> shape;
  try {
    shape = std::visit(Overloaded{
                           [](const PlaneDeck& s) { return make_half_space(s.point, s.normal); },
                           [&](const MeshDeck& s) { return make_mesh_shape(comm, s, deck.scale, dx); },
                           [](const UnionDeck& s) { return make_union(s); },
                           [](const auto& s) { return make_primitive(s); },
                       },
                       deck.form);
    shape = placed(std::move(shape), placement_of(deck));
    if (is_hollow) shape = hollow(std::move(shape));
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", deck.location.text, error.what()));
  }
  return shape;
}

}  // namespace weft
