#include "weft/scene/catalogue.hpp"

#include "scene/curves.hpp"
#include "scene/rigid_bodies.hpp"
#include "scene/tetrahedra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <filesystem>
#include <limits>
#include <numbers>

#include "weft/base/check.hpp"
#include "weft/base/log.hpp"
#include "weft/base/overloaded.hpp"
#include "weft/base/read_text.hpp"
#include "weft/bodies/contact_points.hpp"
#include "weft/bodies/membrane.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/bodies/rigid.hpp"
#include "weft/bodies/shell_body.hpp"
#include "weft/bodies/solid.hpp"
#include "weft/bodies/strand.hpp"
#include "weft/geometry/fiber_patterns.hpp"
#include "weft/scene/shells.hpp"

namespace weft {
namespace {

Lame lame_of(const StiffnessDeck& stiffness) {
  return std::visit(Overloaded{[](const YoungDeck& d) { return lame_from(d.youngs_modulus, d.poisson_ratio); },
                               [](const LameDeck& d) { return Lame{d.lame_mu, d.lame_lambda}; }},
                    stiffness);
}

template <Law L, class... Numbers>
Chosen<L> chosen(const Numbers&... numbers) {
  return {L::Constants::from(numbers...)};
}

}  // namespace

AnyLaw make_law(const LawDeck& law) {
  return std::visit(
      Overloaded{
          [](const FixedCorotatedDeck& d) -> AnyLaw { return chosen<FixedCorotated>(lame_of(d.stiffness)); },
          [](const NeoHookeanDeck& d) -> AnyLaw { return chosen<NeoHookean>(lame_of(d.stiffness)); },
          [](const StvkHenckyDeck& d) -> AnyLaw { return chosen<StvkHencky>(lame_of(d.stiffness)); },
          [](const DruckerPragerDeck& d) -> AnyLaw {
            const DruckerPrager::Hardening hardening{d.hardening_gain, d.hardening_rate, d.hardening_residual};
            return chosen<DruckerPrager>(lame_of(d.stiffness), d.friction_angle, d.cohesion, hardening,
                                         d.volume_correction);
          },
          [](const SnowDeck& d) -> AnyLaw {
            return chosen<Snow>(lame_of(d.stiffness), d.critical_compression, d.critical_stretch, d.hardening);
          },
          [](const VonMisesDeck& d) -> AnyLaw {
            return chosen<VonMises>(lame_of(d.stiffness), d.yield_stress, d.hardening_modulus);
          },
          [](const TaitDeck& d) -> AnyLaw { return chosen<Tait>(d.bulk_modulus, d.exponent, d.viscosity); },
          [](const HerschelBulkleyDeck& d) -> AnyLaw {
            return chosen<HerschelBulkley>(d.shear_modulus, d.bulk_modulus, d.yield_stress, d.consistency,
                                           d.flow_index);
          },
          [&](const auto&) -> AnyLaw {
            throw Error(ExitCode::deck, "the law of its material is for bodies with a mesh.");
          },
      },
      law);
}

YoungDeck young_of(const StiffnessDeck& stiffness) {
  return std::visit(Overloaded{[](const YoungDeck& d) { return d; },
                               [](const LameDeck& d) {
                                 const Real sum = d.lame_lambda + d.lame_mu;
                                 return YoungDeck{d.lame_mu * (3 * d.lame_lambda + 2 * d.lame_mu) / sum,
                                                  d.lame_lambda / (2 * sum)};
                               }},
                    stiffness);
}

RigidMotion make_motion(const MotionDeck& motion) {
  if (motion.keyframes.empty()) return RigidMotion::steady(motion.velocity, motion.spin, motion.center);
  std::vector<Keyframe> keys;
  for (const KeyframeDeck& key : motion.keyframes)
    keys.push_back(
        {key.time, key.translate, key.rotate ? Vec3(key.rotate->axis.normalized() * key.rotate->angle) : Vec3::Zero()});
  return RigidMotion::keyed(std::move(keys), motion.center);
}

Amplitude make_amplitude(const std::vector<AmplitudeKeyDeck>& keys, Real end) {
  const Real far = 1e6;
  if (keys.empty()) return {{{-far * end, -far}, {far * end, far}}};
  Amplitude result;
  for (const AmplitudeKeyDeck& key : keys) result.keys.push_back({key.time, key.factor});
  return result;
}

const MaterialDeck& material_of(const Deck& deck, const BodyDeck& body) {
  return std::visit(
      [&](const auto& b) -> const MaterialDeck& {
        if constexpr (requires { b.material; })
          for (const MaterialDeck& material : deck.materials)
            if (material.name == b.material) return material;
        WEFT_ENSURE(false);  // the deck's cross checks have seen to that
      },
      body);
}

std::string mass_in_words(const Deck& deck, std::size_t body, Real mass) {
  if (std::holds_alternative<RigidDeck>(deck.bodies[body])) return fmt::format("{:.6g} kg", mass);
  return fmt::format("{:.6g} kg in {:.6g} m^3", mass, mass / material_of(deck, deck.bodies[body]).density);
}

SurfaceContact::Constants contact_of(const SheetContactDeck& deck, const std::string& owner) {
  const Real usual = deck.friction > 0 ? deck.stiffness / 10 : 0;
  if (deck.friction > 0 && !deck.shear_stiffness)
    log_info(fmt::format("{}: contact.shear_stiffness is a tenth of the stiffness, {:.4g} Pa", owner, usual));
  return {deck.stiffness, deck.shear_stiffness.value_or(usual), deck.friction};
}

Fiber::Constants constants_of(const FiberLawDeck& deck, const std::string& owner) {
  const Lame section = lame_of(deck.stiffness);
  Fiber::Constants constants = std::visit(
      Overloaded{[&](const FrictionAngleDeck& d) {
                   return Fiber::Constants::from(deck.stretch_modulus, 0, section, d.friction_angle);
                 },
                 [&](const FrictionPairDeck& d) {
                   return Fiber::Constants{deck.stretch_modulus, 0, section, d.friction_across, d.friction_along};
                 }},
      deck.friction);
  const Real usual = constants.along > 0 ? young_of(deck.stiffness).youngs_modulus / 10 : 0;
  if (constants.along > 0 && !deck.shear_modulus)
    log_info(fmt::format("{}: shear_modulus is a tenth of Young's modulus, {:.4g} Pa", owner, usual));
  constants.shear = deck.shear_modulus.value_or(usual);
  return constants;
}

Budget budget_of(const Comm& comm) { return Budget(comm.min(memory_left(comm.ranks_of_machine()))); }

void require_room_for_mesh(const Comm& comm, int across, int along, Real face_bytes) {
  const std::string what = fmt::format("a mesh of {} x {} faces", across, along);
  const Real faces = Real(across) * along;
  budget_of(comm).require_room({what, faces, "faces", face_bytes}, "Make \"across\" and \"along\" smaller.");
  require_countable(what, 4 * faces, "corners");
}

std::string load_everywhere(const Comm& comm, const std::string& file) {
  std::string bytes;
  comm.agree([&] {
    if (comm.is_root()) bytes = read_text(file, ExitCode::geometry);
  });
  return comm.broadcast(std::move(bytes));
}

namespace {

/// Linear tetrahedra of less compressible material are warned of.
constexpr Real most_poisson_ratio_of_linear = 0.45;

/// Longest edges of elements with one quadrature point, in grid spacings: those of right triangles with legs of one.
constexpr Real sample_spacing = 1.5;
/// Cube root of the volume of tetrahedra with one quadrature point, in grid spacings: six of them fill a cube of one.
constexpr Real solid_sample_spacing = 0.55;

/// What a quadrature point of a sheet or fiber takes on the rank that has it, with its element and the nodes around,
/// and one of a shell or solid without these [byte]. Measured: 1300, 500 and 300 at least.
constexpr Real sheet_sample_bytes = 1000, fiber_sample_bytes = 400, shell_sample_bytes = 300, solid_sample_bytes = 300;
/// What a face of a shell takes, besides what each of its quadrature points and laminae do: these have a matrix of 15 x
/// 15 each while the fastest frequency is found, or in each solve [byte].
constexpr Real face_bytes = 1500, point_bytes = 1800, lamina_bytes = 60;
/// What a face takes in a static analysis: rows of the tangent and of its factor [byte]. Measured: 40000.
constexpr Real solved_face_bytes = 20000;

/// Throws Error(geometry) if the quadrature points, no farther apart than the grid asks for, cannot fit. Collective.
void require_room_for_samples(const Comm& comm, const MembraneDescription& membrane) {
  Real samples = 0;
  for (const auto& [i, j, k] : membrane.triangles) {
    const Vec3 &x = membrane.rest[i], &y = membrane.rest[j], &z = membrane.rest[k];
    samples +=
        std::pow(std::max(1.0, std::max({(x - y).norm(), (y - z).norm(), (z - x).norm()}) / membrane.spacing), 2);
  }
  budget_of(comm).require_room(
      {"this sheet on this grid", samples, "quadrature points", sheet_sample_bytes / comm.size()}, unit_hint);
}

/// Groups of a mesh as its triangles and used points have them.
MeshGroups groups_of(const SurfaceMesh& mesh, std::span<const std::array<std::int32_t, 3>> triangles,
                     const UsedPoints& used) {
  SurfaceMesh named;
  named.groups = mesh.groups;
  for (std::int64_t f = 0; f < mesh.face_count() && !mesh.group.empty(); ++f)
    for (std::size_t k = 2; k < mesh.face(f).size(); ++k)
      named.group.push_back(mesh.group[static_cast<std::size_t>(f)]);
  for (const std::vector<std::int32_t>& listed : mesh.group_points) {
    std::vector<std::int32_t>& points = named.group_points.emplace_back();
    for (const std::int32_t p : listed)
      if (used.number[p] >= 0) points.push_back(used.number[p]);
  }
  return groups_of(named, static_cast<std::int64_t>(triangles.size()),
                   [&](std::int64_t t) -> const auto& { return triangles[static_cast<std::size_t>(t)]; });
}

/// dx: infinity for bodies without grid.
MembraneDescription describe(const Comm& comm, const MembraneDeck& deck, const MaterialDeck& material, Real dx) {
  MembraneDescription membrane;
  membrane.name = deck.name;
  membrane.density = material.density;
  membrane.thickness = deck.thickness;
  membrane.warp = deck.warp.value_or(Vec3::Zero());
  membrane.spacing = sample_spacing * dx;
  membrane.tear_stretch = deck.tear_stretch;
  if (deck.bending) {
    const auto [E, nu] = *deck.bending;
    membrane.bending = {E * std::pow(deck.thickness, 3) / (12 * (1 - nu * nu)), nu};
  }
  const auto contact = [&](const SheetContactDeck& d) { return contact_of(d, material.name); };
  membrane.law = std::visit(
      Overloaded{[&](const SheetLawDeck& d) -> AnySheet {
                   const auto [youngs_modulus, poisson_ratio] = young_of(d.stiffness);
                   return SheetKind<CorotatedSheet>::Constants{
                       CorotatedSheet::Constants::from(youngs_modulus, poisson_ratio), contact(d.contact)};
                 },
                 [&](const WovenSheetLawDeck& d) -> AnySheet {
                   return SheetKind<WovenSheet>::Constants{
                       WovenSheet::Constants::from(d.warp_modulus, d.weft_modulus, d.poisson_ratio, d.shear_modulus),
                       contact(d.contact)};
                 },
                 [&](const auto&) -> AnySheet {
                   throw Error(ExitCode::deck, fmt::format("a membrane needs a material with law sheet or woven_sheet; "
                                                           "{} has another.",
                                                           material.name));
                 }},
      material.law);
  const SurfaceMesh mesh = make_surface(comm, deck.mesh);
  // Points that no triangle uses are left out.
  membrane.triangles = triangles_of(mesh);
  const UsedPoints used = used_points(membrane.triangles, mesh.points.size());
  membrane.given.emplace();
  for (const std::int32_t point : used.points) {
    membrane.rest.push_back(mesh.points[point]);
    membrane.given->add(std::array{point});
  }
  for (auto& triangle : membrane.triangles)
    for (std::int32_t& corner : triangle) corner = used.number[corner];
  membrane.groups = groups_of(mesh, membrane.triangles, used);
  require(!membrane.triangles.empty(), ExitCode::geometry, "the mesh has no faces.");
  require_room_for_samples(comm, membrane);
  return membrane;
}

FiberDescription describe(const Comm& comm, const FiberDeck& deck, const MaterialDeck& material, Real dx,
                          std::span<const Wall> walls) {
  const auto* law = std::get_if<FiberLawDeck>(&material.law);
  require(law != nullptr, ExitCode::deck,
          fmt::format("fibers need a material with law fiber; {} has another.", material.name));
  const auto [curves, numbers] = make_curves(comm, deck.curves, dx, walls);
  budget_of(comm).require_room({"these fibers on this grid", comm.sum(length_of(curves)) / (sample_spacing * dx),
                                "quadrature points", fiber_sample_bytes / comm.size()},
                               unit_hint);
  const Real section = std::numbers::pi * deck.radius * deck.radius;
  std::optional<Real> rigidity;  // E pi r^4 / 4
  if (deck.bending_modulus) rigidity = *deck.bending_modulus * section * deck.radius * deck.radius / 4;
  return {deck.name,
          curves.points,
          segments_of(curves),
          constants_of(*law, material.name),
          material.density,
          section,
          sample_spacing * dx,
          chains_of(curves),
          rigidity,
          deck.tear_stretch,
          numbers};
}

/// Bodies of static analyses move by themselves, whatever else carries them in time.
Carrier carrier_of(const CarriedDeck& deck, bool is_static) { return is_static ? Carrier::own : deck.carrier; }

std::unique_ptr<MeshSource> make_mesh(const Comm& comm, const MembraneDeck& deck, const MaterialDeck& material, Real dx,
                                      bool is_static) {
  MembraneDescription membrane = describe(comm, deck, material, dx);
  auto mesh = make_membrane(membrane, carrier_of(deck, is_static));
  mesh->name_groups(std::move(membrane.groups));
  mesh->name_points(std::move(membrane.given));
  return mesh;
}

AnySolidLaw solid_law_of(const MaterialDeck& material) {
  if (const auto* law = std::get_if<FixedCorotatedDeck>(&material.law))
    return FixedCorotated::Constants::from(lame_of(law->stiffness));
  if (const auto* law = std::get_if<NeoHookeanDeck>(&material.law))
    return NeoHookean::Constants::from(lame_of(law->stiffness));
  if (const auto* law = std::get_if<StvkHenckyDeck>(&material.law))
    return StvkHencky::Constants::from(lame_of(law->stiffness));
  throw Error(ExitCode::deck,
              fmt::format("a solid needs a material with law fixed_corotated, neo_hookean or stvk_hencky; {} has "
                          "another.",
                          material.name));
}

std::unique_ptr<MeshSource> make_mesh(const Comm& comm, const SolidDeck& deck, const MaterialDeck& material, Real dx,
                                      bool is_static) {
  const Carrier carrier = carrier_of(deck, is_static);
  const bool has_contact = !is_static && carrier == Carrier::own && deck.meets_grid.value_or(false);
  const SolidDescription solid{deck.name,
                               make_tets(comm, deck.mesh, deck.order, deck.location),
                               solid_law_of(material),
                               material.density,
                               solid_sample_spacing * dx,
                               deck.damping,
                               has_contact ? deck.contact.value_or(SolidContactDeck{4, 0, {}}).points / (dx * dx) : 0,
                               SurfaceThickness::most_of_thin * dx};
  if (carrier == Carrier::grid)
    budget_of(comm).require_room({"this solid on this grid", volume_of(solid.mesh) / std::pow(solid.spacing, 3),
                                  "quadrature points", solid_sample_bytes / comm.size()},
                                 unit_hint);
  const Lame lame = std::visit([](const auto& law) { return law.lame; }, solid.law);
  const Real poisson_ratio = lame.lambda / (2 * (lame.lambda + lame.mu));
  if (solid.mesh.nodes_each == 4 && poisson_ratio > most_poisson_ratio_of_linear)
    log_warning(
        fmt::format("{}: linear tetrahedra lock at Poisson's ratio {:.3g}: bodies are too stiff. Expected: "
                    "\"order: 2\", or a ratio of {} at most.",
                    deck.location.text, poisson_ratio, most_poisson_ratio_of_linear));
  return make_solid(solid, carrier);
}

/// Of a part of it on each rank. Collective.
std::unique_ptr<MeshSource> agreed(const Comm& comm, const std::function<std::unique_ptr<MeshSource>()>& make) {
  std::unique_ptr<MeshSource> mesh;
  comm.agree([&] { mesh = make(); });
  return mesh;
}

std::unique_ptr<MeshSource> make_mesh(const Comm& comm, const FiberDeck& deck, const MaterialDeck& material, Real dx,
                                      bool is_static, std::span<const Wall> walls) {
  const FiberDescription fibers = describe(comm, deck, material, dx, walls);
  return agreed(comm, [&] { return make_fibers(fibers, carrier_of(deck, is_static)); });
}

/// Of curves from a file, on all ranks [m]. Throws Error(geometry) if it is not known everywhere. Collective.
Real largest_thickness(const Comm& comm, const Curves& curves) {
  require(!comm.any(curves.thickness.size() != curves.points.size()), ExitCode::geometry,
          "thickness: its file tells none. Give a radius.");
  const auto is_bad = [](Real thickness) { return !(thickness > 0) || !std::isfinite(thickness); };
  require(!comm.any(std::ranges::any_of(curves.thickness, is_bad)), ExitCode::geometry,
          "thickness: its file has vertices of no thickness. Give a radius.");
  return comm.max(std::ranges::max(curves.thickness.empty() ? std::vector<Real>{0} : curves.thickness));
}

/// Half axes of the section where strands are thickest [m]; curves get thickness where it changes. Collective.
std::array<Real, 2> make_sections(const Comm& comm, const StrandDeck& deck, Curves& curves) {
  const auto along = [&](Real a, Real b) {
    if (deck.taper) curves.thickness = tapered(curves, 2 * std::max(a, b), *deck.taper);
    else curves.thickness.clear();
    return std::array{a, b};
  };
  return std::visit(Overloaded{[&](const RoundSectionDeck& d) { return along(d.radius, d.radius); },
                               [&](const EllipticSectionDeck& d) { return along(d.half_axes[0], d.half_axes[1]); },
                               [&](const FileSectionDeck&) {
                                 const Real radius = largest_thickness(comm, curves) / 2;
                                 return std::array{radius, radius};
                               }},
                    deck.section);
}

/// Throws Error(deck) if segments are shorter than the distance at which they meet. Collective.
void require_long_segments(const Comm& comm, const StrandDeck& deck, const Curves& curves) {
  if (!deck.impulses) return;
  Real shortest = std::numeric_limits<Real>::infinity();
  for (std::int64_t c = 0; c < curves.count(); ++c) {
    const auto points = std::span(curves.points).subspan(curves.offsets[c], curves.offsets[c + 1] - curves.offsets[c]);
    for (std::size_t p = curves.closed[c] ? 0 : 1; p < points.size(); ++p)
      shortest = std::min(shortest, (points[p] - points[p > 0 ? p - 1 : points.size() - 1]).norm());
  }
  shortest = comm.min(shortest);
  require(deck.impulses->distance <= shortest, ExitCode::deck,
          fmt::format("{}.impulses.distance: {:.4g} m is more than the shortest segment of {}, {:.4g} m, so that the "
                      "strand would meet itself along its way. Make it smaller, or curves.spacing larger.",
                      deck.location.text, deck.impulses->distance, deck.name, shortest));
}

std::optional<StrandContinuum> continuum_of(const StrandDeck& deck) {
  if (!deck.contact || deck.response == StrandResponse::none) return {};
  const StrandContactDeck& contact = *deck.contact;
  return StrandContinuum{DruckerPrager::Constants::from(lame_from(contact.youngs_modulus, contact.poisson_ratio),
                                                        DruckerPrager::angle_of_sliding(contact.friction), 0, {}, true),
                         contact.packing};
}

std::unique_ptr<MeshSource> make_mesh(const Comm& comm, const StrandDeck& deck, const MaterialDeck& material, Real dx,
                                      bool is_static, std::span<const Wall> walls) {
  const auto* law = std::get_if<RodLawDeck>(&material.law);
  require(law != nullptr, ExitCode::deck,
          fmt::format("strands need a material with law rod; {} has another.", material.name));
  const Real E = law->youngs_modulus, G = E / (2 * (1 + law->poisson_ratio)), mu = law->viscosity;
  auto [curves, numbers] = make_curves(comm, deck.curves, dx, walls);
  require_long_segments(comm, deck, curves);
  const bool has_rings = comm.any(std::ranges::any_of(curves.closed, std::identity()));
  require(!deck.roots || !has_rings, ExitCode::deck,
          "a ring has no first vertex that \"roots\" could tie. Leave the key out.");
  require(!deck.taper || !has_rings, ExitCode::deck,
          "a ring has no end that \"taper\" could make thinner. Leave the key out.");
  const auto [a, b] = make_sections(comm, deck, curves);
  std::optional<RodSection> viscosity;
  if (mu > 0) viscosity = RodSection::ellipse(a, b, 3 * mu, 3 * mu, mu, material.density);
  StrandDescription strands{deck.name,
                            std::move(curves),
                            RodSection::ellipse(a, b, law->stretch_modulus.value_or(E), E, G, material.density),
                            material.density,
                            viscosity,
                            std::max(a, b),
                            deck.natural == NaturalShape::straight,
                            deck.twist,
                            !is_static && deck.meets_grid.value_or(false),
                            continuum_of(deck),
                            numbers,
                            deck.turns == StrandTurns::quasi_static};
  return agreed(comm, [&] { return make_strands(std::move(strands)); });
}

/// Throws Error(geometry) if the faces of a shell with their quadrature points, their laminae and `contact_points`, of
/// all faces together, cannot fit. Collective.
void require_room_for_faces(const Comm& comm, const ShellDescription& shell, Real contact_points, bool is_static) {
  const Real faces = static_cast<Real>(shell.mesh.material_faces), in_plane = Real(shell.in_plane) * shell.in_plane;
  const Real face = face_bytes + in_plane * (point_bytes + shell.across.laminae * lamina_bytes) +
                    contact_points / std::max(1.0, faces) * shell_sample_bytes + (is_static ? solved_face_bytes : 0);
  budget_of(comm).require_room({"this shell", faces, "faces with all their points", face / comm.size()}, unit_hint);
}

/// Two for each dx along the edges of each face.
Real usual_contact_points(const ControlMesh& mesh, Real dx) {
  Real points = 0;
  for (std::int64_t f = 0; f < mesh.material_faces; ++f) {
    const auto face = mesh.faces[static_cast<std::size_t>(f)];
    Real longest = 0;
    for (std::size_t c = 0; c < face.size(); ++c)
      longest = std::max(longest, (mesh.points[face[(c + 1) % face.size()]] - mesh.points[face[c]]).norm());
    points += std::pow(std::max(1.0, 2 * longest / dx), 2);
  }
  return points;
}

std::unique_ptr<MeshSource> make_mesh(const Comm& comm, const ShellDeck& deck, const MaterialDeck& material, Real dx,
                                      bool is_static) {
  const ShellDescription shell = describe_shell(comm, deck, material);
  const auto with_groups = [&](std::unique_ptr<MeshSource> mesh) {
    mesh->name_groups(groups_of(shell.mesh));
    mesh->name_points(shell.mesh.given);
    return mesh;
  };
  if (carrier_of(deck, is_static) == Carrier::own) {
    require_room_for_faces(comm, shell, 0, is_static);
    return with_groups(make_shell(comm, shell, std::nullopt, dx, !is_static));
  }
  require(deck.contact.has_value(), ExitCode::deck,
          "the key \"contact\" is missing: what shells resist where they meet something; only \"carrier: own\" and "
          "\"scheme: static\" under time need none.");
  const Real each = Real(deck.contact_points) * deck.contact_points;
  require_room_for_faces(
      comm, shell,
      each > 0 ? each * static_cast<Real>(shell.mesh.material_faces) : usual_contact_points(shell.mesh, dx), is_static);
  const ShellContact contact{contact_of(*deck.contact, deck.name),
                             deck.contact_points > 0 ? deck.contact_points : contact_points_per_edge(shell.mesh, dx)};
  return with_groups(make_shell(comm, shell, contact, dx));
}

/// Larger meshes are worth a word while every rank has the whole.
constexpr std::int64_t many_elements = 1'000'000;

/// Throws for a body with freedoms of its own that shall tear: its elements have no memory of that.
MadeBody make_any(const Comm& comm, const auto& deck, const MaterialDeck& material, Real dx, bool is_static,
                  std::span<const Wall> walls) {
  if constexpr (requires { deck.tear_stretch; })
    require(carrier_of(deck, is_static) == Carrier::grid || !deck.tear_stretch, ExitCode::deck,
            "nothing tears (\"tear_stretch\") with \"carrier: own\", or with \"scheme: static\" under time. Leave the "
            "key out.");
  const auto make = [&] {
    if constexpr (requires { deck.curves; }) return make_mesh(comm, deck, material, dx, is_static, walls);
    else return make_mesh(comm, deck, material, dx, is_static);
  };
  std::unique_ptr<MeshSource> mesh = make();
  if (const std::int64_t elements = mesh->counts().elements; elements > many_elements && !mesh->held())
    log_info(
        fmt::format("body {}: every rank holds all of its {} elements while the scene is built", deck.name, elements));
  std::unique_ptr<Body> body = mesh->body_of(first_share(comm, *mesh));
  return {std::move(body), std::move(mesh)};
}

MadeBody make_any(const Comm& comm, const RigidDeck& deck, Real dx, bool is_static) {
  require(!is_static, ExitCode::deck,
          "rigid bodies have no shapes to be balanced; \"scheme: static\" under time is for bodies that deform.");
  std::unique_ptr<MeshSource> mesh = make_rigid_mesh(comm, deck, dx);
  std::unique_ptr<Body> body = mesh->body_of(first_share(comm, *mesh));
  return {std::move(body), std::move(mesh)};
}

MadeBody make_any(const Comm&, const ContinuumDeck& deck, const MaterialDeck& material, Real, bool is_static,
                  std::span<const Wall>) {
  require(!is_static, ExitCode::deck,
          fmt::format("body {} has no mesh; with \"scheme: static\" under time all bodies are shells, membranes, "
                      "fibers, strands or solids.",
                      deck.name));
  auto body = make_continuum(deck.name, make_law(material.law), material.density);
  if (deck.blend) body->points().add<KeptAffine>();
  return {std::move(body), nullptr};
}

/// The file of a body's mesh, if it has one that the text does not name.
template <class D>
std::string unnamed_file(const D& deck, const std::string& text) {
  std::string name;
  if constexpr (requires { deck.mesh.form; })
    std::visit(
        [&](const auto& form) {
          if constexpr (requires { form.file; }) name = std::filesystem::path(form.file).filename().string();
        },
        deck.mesh.form);
  return name.empty() || text.find(name) != std::string::npos ? "" : name + ": ";
}

/// f(deck), whose errors name the body's location in the deck, and the file of its mesh.
template <class F>
auto at_its_place(const BodyDeck& body, F&& f) {
  return std::visit(
      [&](const auto& deck) {
        try {
          return f(deck);
        } catch (const Error& error) {
          const std::string text = error.what();
          throw Error(error.code(), fmt::format("{}: {}{}", deck.location.text, unnamed_file(deck, text), text));
        }
      },
      body);
}

}  // namespace

MadeBody make_body(const Comm& comm, const Deck& deck, const BodyDeck& body, std::span<const Wall> walls) {
  const Real dx = deck.domain.dx;
  const bool is_static = deck.time.scheme == Scheme::equilibrium;
  return at_its_place(body, [&](const auto& its) {
    if constexpr (requires { its.material; }) return make_any(comm, its, material_of(deck, body), dx, is_static, walls);
    else return make_any(comm, its, dx, is_static);
  });
}

Mat3 spin_matrix(const Vec3& spin) {
  Mat3 W;
  W << 0, -spin.z(), spin.y(), spin.z(), 0, -spin.x(), -spin.y(), spin.x(), 0;
  return W;
}

}  // namespace weft
