#include "weft/scene/shells.hpp"

#include "weft/base/log.hpp"
#include "weft/base/overloaded.hpp"
#include "weft/geometry/mesh_reader.hpp"
#include "weft/geometry/patches.hpp"
#include "weft/scene/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numbers>
#include <set>
#include <utility>

namespace weft {
namespace {

/// What a face takes on a rank at least while the scene is built: every rank has the whole mesh [byte].
constexpr Real face_bytes = 200;
constexpr Real whole_turn = 2 * std::numbers::pi;

ControlMesh generated(const ControlMeshDeck& deck, const SurfaceMap& map) {
  return deck.irregular ? irregular_patch(deck.across, deck.along, map) : patch(deck.across, deck.along, map);
}

}  // namespace

Real voxel_size_for(const Box& bounds) { return (bounds.upper - bounds.lower).norm() / 100; }

ControlMesh make_control_mesh(const Comm& comm, const ControlMeshDeck& deck) {
  if (!std::holds_alternative<MeshFileDeck>(deck.form))
    require_room_for_mesh(comm, deck.across, deck.along, face_bytes);
  ControlMesh mesh = std::visit(
      Overloaded{[&](const MeshFileDeck& d) {
                   const std::string name = std::filesystem::path(d.file).filename().string();
                   ControlMesh read =
                       control_mesh(read_mesh(name, load_everywhere(comm, d.file)), d.file,
                                    deck.through_points.value_or(true) ? MeshPoints::surface : MeshPoints::control);
                   for (int k = 0; k < deck.divide; ++k) {
                     const Real faces = 4 * static_cast<Real>(read.material_faces);
                     budget_of(comm).require_room({name + " divided", faces, "faces", face_bytes},
                                                  "Make \"divide\" smaller.");
                     read = divided(read, d.file);
                   }
                   return read;
                 },
                 [&](const RectangleDeck& d) { return generated(deck, rectangle(d.width, d.height)); },
                 [&](const CylinderPatchDeck& d) {
                   const SurfaceMap map = cylinder(d.radius, d.length, d.from, d.to);
                   const bool closed = std::abs(d.to - d.from - whole_turn) < 1e-12;
                   return closed && !deck.irregular ? tube(deck.across, deck.along, map) : generated(deck, map);
                 },
                 [&](const SpherePatchDeck& d) {
                   const SurfaceMap map = sphere(d.radius, {d.west, d.east}, {d.south, d.north});
                   const bool closed = std::abs(d.east - d.west - whole_turn) < 1e-12;
                   return closed && !deck.irregular ? tube(deck.across, deck.along, map) : generated(deck, map);
                 },
                 [&](const AnnulusDeck& d) { return generated(deck, annulus({d.inner, d.outer}, {d.from, d.to})); }},
      deck.form);
  const Placement placement{
      deck.scale,
      deck.rotate ? rotation_matrix(deck.rotate->axis.normalized() * deck.rotate->angle) : Mat3(Mat3::Identity()),
      deck.translate};
  for (Vec3& x : mesh.points) x = placement(x);
  return mesh;
}

MeshGroups groups_of(const ControlMesh& mesh) {
  return groups_of(mesh, mesh.material_faces, [&](std::int64_t f) { return mesh.faces[static_cast<std::size_t>(f)]; });
}

const GroupMembers& group_named(const MeshGroups& groups, const std::string& name, const std::string& place) {
  std::vector<std::string> names;
  for (const auto& [known, members] : groups) names.push_back(known);
  const auto found = groups.find(name);
  require(found != groups.end(), ExitCode::deck,
          fmt::format("{}: the mesh has no group \"{}\". Its groups: {}.", place, name,
                      names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
  return found->second;
}

namespace {

Vec3 middle_of(const ControlMesh& mesh, std::size_t face) {
  Vec3 sum = Vec3::Zero();
  for (const std::int32_t p : mesh.faces[face]) sum += mesh.points[p] / mesh.sides();
  return sum;
}

/// Of each material face [m].
std::vector<Real> thickness_of(const Comm& comm, const ShellDeck& deck, const ControlMesh& mesh) {
  std::vector<Real> thickness(static_cast<std::size_t>(mesh.material_faces), deck.thickness);
  const MeshGroups groups = groups_of(mesh);
  Box box;
  for (const Vec3& x : mesh.points) box.include(x);
  for (const ShellPartDeck& part : deck.parts) {
    const auto shape = part.where ? make_shape(comm, *part.where, false, voxel_size_for(box)) : nullptr;
    const GroupMembers group = part.group ? group_named(groups, *part.group, deck.location.text) : GroupMembers();
    for (std::size_t f = 0; f < thickness.size(); ++f)
      if ((!part.group || group.faces.contains(static_cast<std::int64_t>(f))) &&
          (!shape || shape->contains(middle_of(mesh, f))))
        thickness[f] = part.thickness;
  }
  return thickness;
}

AnyLamina lamina_of(const MaterialDeck& material, std::optional<LaminaYield>& yield, const ShellDeck& shell) {
  const auto hencky = [](const StiffnessDeck& stiffness) {
    const auto [youngs_modulus, poisson_ratio] = young_of(stiffness);
    return ChosenLamina<LaminaHencky>{LaminaHencky::Constants::from(youngs_modulus, poisson_ratio)};
  };
  return std::visit(
      Overloaded{[&](const StvkHenckyDeck& d) -> AnyLamina { return hencky(d.stiffness); },
                 [&](const VonMisesDeck& d) -> AnyLamina {
                   require(shell.yield == YieldSurface::ellipse || d.hardening_modulus == 0, ExitCode::deck,
                           fmt::format("{}: the diamond is a yield surface without hardening_modulus; {} has one.",
                                       shell.location.text, material.name));
                   yield = LaminaYield::from(d.yield_stress, d.hardening_modulus, shell.yield);
                   return hencky(d.stiffness);
                 },
                 [&](const FabricDeck& d) -> AnyLamina {
                   return ChosenLamina<LaminaWoven>{fabrics()[static_cast<std::size_t>(d.fabric)].constants};
                 },
                 [&](const auto&) -> AnyLamina {
                   throw Error(ExitCode::deck,
                               fmt::format("{}: a shell needs a material with law stvk_hencky, von_mises or fabric; {} "
                                           "has another.",
                                           shell.location.text, material.name));
                 }},
      material.law);
}

/// Whether the material is a single row of quads somewhere. Between its edges a motion may be a cubic whose slope
/// vanishes at both of two Gauss points, and would have no energy.
bool has_single_row(const ControlMesh& mesh) {
  if (mesh.sides() != 4) return false;
  std::set<std::pair<std::int32_t, std::int32_t>> edges;
  const auto edge = [&](std::int64_t f, int c) { return std::pair(mesh.faces[f][c % 4], mesh.faces[f][(c + 1) % 4]); };
  for (std::int64_t f = 0; f < mesh.material_faces; ++f)
    for (int c = 0; c < 4; ++c) edges.insert(edge(f, c));
  const auto is_outer = [&](std::int64_t f, int c) {
    const auto [p, q] = edge(f, c);
    return !edges.contains({q, p});
  };
  for (std::int64_t f = 0; f < mesh.material_faces; ++f)
    for (const int c : {0, 1})
      if (is_outer(f, c) && is_outer(f, c + 2)) return true;
  return false;
}

/// Gauss points of a face along an edge.
int points_in_plane(const ShellDeck& deck, const ControlMesh& mesh) {
  constexpr int of_single_row = 3;
  if (deck.in_plane != of_single_row - 1 || !has_single_row(mesh)) return deck.in_plane;
  log_info(fmt::format("body {}: a single row of quads takes {} Gauss points across, so in_plane is {}", deck.name,
                       of_single_row, of_single_row));
  return of_single_row;
}

/// Plates of such patterns are too stiff, however small the faces, and folds as long as these are large
/// (docs/verification.md).
void warn_of_stiff_patterns(const ShellDeck& deck, const ControlMesh& mesh) {
  if (!std::holds_alternative<MeshFileDeck>(deck.mesh.form)) return;
  const std::string file = std::filesystem::path(std::get<MeshFileDeck>(deck.mesh.form).file).filename().string();
  constexpr Real harmless_share = 0.1, harmless_loss = 0.01, stiffer_by = 0.65;  // times the square
  const Real uneven = pattern_unevenness(mesh), stiffer = stiffer_by * uneven * uneven;
  const Real loss = stiffer / (1 + stiffer);
  if (loss > harmless_loss)
    log_warning(
        fmt::format("body {}: the points of {} lie {:.0f} % of an edge off even lines: plates of it deflect by "
                    "some {:.0f} % too little, however small its faces are. Expected: an even mesh, or "
                    "mesh.divide: 1 or more.",
                    deck.name, file, 100 * uneven, 100 * loss));
  const Real share = irregular_share(mesh);
  if (mesh.sides() == 3 && share > harmless_share)
    log_warning(
        fmt::format("body {}: {:.0f} % of the inner points of {} have other than six edges: plates of such "
                    "triangles deflect by 1 to 9 % too little, with alternating diagonals by 6 to 12 %, "
                    "however small they are. They have up to 1 % too little weight and pressure. Expected: a "
                    "mesh of quads, of triangles with six edges at each point, or mesh.divide: 1 or more.",
                    deck.name, 100 * share, file));
  constexpr Real harmless_fold = 100 * std::numbers::pi / 180;  // of control points; a right angle has 120
  if (sharpest_fold(mesh) > harmless_fold)
    log_warning(
        fmt::format("body {}: {} is folded sharply: what folds join deflects too little, by some 10 % where it is ten "
                    "faces long, by 30 % where it is five. Expected: mesh.divide: 1 or more.",
                    deck.name, file));
}

/// Two Gauss points bear 2 / sqrt 3 times the moment of a plate that flows across its thickness.
void warn_of_few_laminae(const ShellDeck& deck, const ShellDescription& shell) {
  constexpr int few = 2;
  if (shell.yield && shell.across.kind == ThicknessRule::Kind::gauss && shell.across.laminae == few)
    log_warning(
        fmt::format("body {}: two laminae bear a bending moment that is 15 % too large where metal flows across the "
                    "thickness. Expected: laminae: 5 or more.",
                    deck.name));
}

}  // namespace

ShellDescription describe_shell(const Comm& comm, const ShellDeck& deck, const MaterialDeck& material) {
  ShellDescription shell;
  shell.name = deck.name;
  comm.agree([&] { shell.law = lamina_of(material, shell.yield, deck); });
  shell.mesh = make_control_mesh(comm, deck.mesh);
  warn_of_stiff_patterns(deck, shell.mesh);
  shell.density = material.density;
  shell.thickness = thickness_of(comm, deck, shell.mesh);
  shell.direction = deck.direction;
  shell.in_plane = points_in_plane(deck, shell.mesh);
  using Kind = ThicknessRule::Kind;
  shell.across = {deck.across == LaminaPlaces::quarter ? Kind::quarter : Kind::gauss, deck.laminae};
  warn_of_few_laminae(deck, shell);
  return shell;
}

}  // namespace weft
