#include "weft/scene/catalogue.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "weft/geometry/level_set.hpp"
#include "weft/geometry/mesh_reader.hpp"
#include "weft/geometry/primitives.hpp"

namespace weft {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

/// Voxels of a mesh's level set in grid spacings, and how far its distances reach.
constexpr Real voxel_per_dx = 0.25, band_per_dx = 4;

Lame lame_of(const StiffnessDeck& stiffness) {
  return std::visit(Overloaded{[](const YoungDeck& d) { return lame_from(d.youngs_modulus, d.poisson_ratio); },
                               [](const LameDeck& d) {
                                 return Lame{d.lame_mu, d.lame_lambda};
                               }},
                    stiffness);
}

template <Law L, class... Numbers>
Chosen<L> chosen(const Numbers&... numbers) {
  return {L::Constants::from(numbers...)};
}

std::unique_ptr<Shape> make_mesh_shape(const Comm& comm, const MeshDeck& mesh, Real scale, Real dx) {
  const std::string bytes = load_everywhere(comm, mesh.file);
  SurfaceMesh surface = read_mesh(std::filesystem::path(mesh.file).filename().string(), bytes);
  require_closed(surface, mesh.file);
  return make_level_set(std::move(surface), {voxel_per_dx * dx / scale, band_per_dx * dx / scale});
}

}  // namespace

void require_fits_scheme(const Deck& deck) {
  const bool is_static = deck.time.scheme == Scheme::equilibrium;
  for (const BodyDeck& body : deck.bodies) {
    const bool is_meshed = std::holds_alternative<ShellDeck>(body);
    const auto& [name, place] =
        std::visit([](const auto& b) { return std::pair<std::string, std::string>(b.name, b.place.text); }, body);
    require(is_meshed == is_static, ExitCode::deck,
            is_static ? fmt::format("{}: body {} has no mesh; with \"scheme: static\" under time all bodies are of "
                                    "kind shell.",
                                    place, name)
                      : fmt::format("{}: body {} is a shell, which needs \"scheme: static\" under time.", place, name));
  }
  require(is_static || deck.handles.empty(), ExitCode::deck,
          fmt::format("{}: handles need \"scheme: static\" under time.",
                      deck.handles.empty() ? "" : deck.handles.front().place.text));
  require(!is_static || (deck.sources.empty() && deck.colliders.empty()), ExitCode::deck,
          "Sources and colliders have no meaning with \"scheme: static\" under time. Leave them out.");
}

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
      },
      law);
}

YoungDeck young_of(const StiffnessDeck& stiffness) {
  return std::visit(
      Overloaded{[](const YoungDeck& d) { return d; },
                 [](const LameDeck& d) {
                   const Real sum = d.lame_lambda + d.lame_mu;
                   return YoungDeck{d.lame_mu * (3 * d.lame_lambda + 2 * d.lame_mu) / sum, d.lame_lambda / (2 * sum)};
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

std::string load_everywhere(const Comm& comm, const std::string& file) {
  std::string bytes;
  bool readable = true;
  if (comm.is_root()) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    readable = in.good();
    bytes = std::move(all).str();
  }
  require(!comm.any(!readable), ExitCode::geometry, fmt::format("{}: the mesh cannot be read.", file));
  return comm.broadcast(std::move(bytes));
}

std::unique_ptr<Body> make_body(const ContinuumDeck& body, const MaterialDeck& material) {
  return make_continuum(body.name, make_law(material.law), material.density);
}

std::shared_ptr<const Shape> make_shape(const Comm& comm, const ShapeDeck& deck, bool is_hollow, Real dx) {
  std::unique_ptr<Shape> shape;
  try {
    shape =
        std::visit(Overloaded{
                       [](const PlaneDeck& s) { return make_half_space(s.point, s.normal); },
                       [](const BoxDeck& s) { return make_box(s.lower, s.upper); },
                       [](const SphereDeck& s) { return make_sphere(s.center, s.radius); },
                       [](const CylinderDeck& s) { return make_cylinder(s.from, s.to, s.radius); },
                       [](const CapsuleDeck& s) { return make_capsule(s.from, s.to, s.radius); },
                       [](const EllipsoidDeck& s) { return make_ellipsoid(s.center, s.radii); },
                       [](const TorusDeck& s) { return make_torus(s.center, s.axis, s.major_radius, s.minor_radius); },
                       [&](const MeshDeck& s) { return make_mesh_shape(comm, s, deck.scale, dx); },
                   },
                   deck.form);
    Placement placement{deck.scale, Mat3::Identity(), deck.translate};
    if (deck.rotate) placement.rotation = rotation_matrix(deck.rotate->axis.normalized() * deck.rotate->angle);
    shape = placed(std::move(shape), placement);
    if (is_hollow) shape = hollow(std::move(shape));
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", deck.place.text, error.what()));
  }
  return shape;
}

}  // namespace weft
