// The standard scenes that steps are timed on.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "weft/base/check.hpp"
#include "weft/deck/read.hpp"
#include "weft/materials/lamina_woven.hpp"
#include "weft/run/bench.hpp"

namespace weft {
namespace {

using Kind = BenchScene::Kind;

constexpr Real dx = 0.01;

/// Materials as soft as each law is used; by name of the law.
constexpr std::array<std::pair<const char*, const char*>, 8> materials{{
    {"fixed_corotated", "density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3"},
    {"neo_hookean", "density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3"},
    {"stvk_hencky", "density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3"},
    {"drucker_prager", "density: 2200, youngs_modulus: 3.5e5, poisson_ratio: 0.3"},
    {"snow", "density: 400, youngs_modulus: 1.4e5, poisson_ratio: 0.2"},
    {"von_mises", "density: 2700, youngs_modulus: 1e6, poisson_ratio: 0.33, yield_stress: 1e3"},
    {"tait", "density: 1000, bulk_modulus: 1e5, viscosity: 1e-3"},
    {"herschel_bulkley",
     "density: 1000, shear_modulus: 290, bulk_modulus: 1.09e5, yield_stress: 31.9, consistency: 27.2, flow_index: "
     "0.22"},
}};

/// Its material and its body, as entries of a deck.
struct Entries {
  std::string material, body;
};

Entries block(const BenchScene& scene) {
  const auto material = std::ranges::find_if(materials, [&](const auto& m) { return scene.law == m.first; });
  std::string known;
  for (const auto& m : materials) known += fmt::format(" {}", m.first);
  require(material != materials.end(), ExitCode::deck,
          fmt::format("--law {}: there is no such law. Laws:{}", scene.law, known));
  const Real edge = std::cbrt(scene.particles / 8) * dx;
  return {
      fmt::format("law: {}, {}", scene.law, material->second),
      fmt::format("kind: continuum, sampling: jittered, shape: {{box: {{lower: [0, 0, 0], upper: [{0}, {0}, {0}]}}}}",
                  edge)};
}

/// A square in the plane y = 0.1 of n x n squares of this edge.
std::string square(int n, Real edge) {
  return fmt::format(
      "mesh: {{rectangle: {{width: {0}, height: {0}}}, across: {1}, along: {1}, rotate: {{axis: [1, 0, 0], angle: "
      "90}}, "
      "translate: [0, 0.1, 0]}}",
      n * edge, n);
}
int side_of(Real squares) { return std::max(2, static_cast<int>(std::lround(std::sqrt(squares)))); }

Entries membrane(const BenchScene& scene) {
  return {"law: sheet, density: 300, youngs_modulus: 3e4, poisson_ratio: 0.3, contact: {stiffness: 1.5e4}",
          fmt::format("kind: membrane, thickness: 1 mm, {}{}", square(side_of(scene.particles / 3), dx),
                      scene.bending ? ", bending: {youngs_modulus: 3e4}" : "")};
}

/// S fibers or strands, three to a square of dx and a vertex in each dx, in a bundle as long as it is wide, 2 sqrt(S /
/// (3 pi)) dx.
std::string bundle(Real strands) {
  strands = std::max(1.0, std::round(strands));
  const Real width = 2 * std::sqrt(strands / (3 * std::numbers::pi)) * dx;
  return fmt::format(
      "radius: 1.2 mm, curves: {{hair_tube: {{inner_radius: 0, outer_radius: {}, length: {}, strands: {}}}, "
      "translate: [0, {}, 0]}}",
      width / 2, std::max(width, 2 * dx), strands, width / 2 + 0.1);
}

/// A point at each vertex and in each segment: N = 4 S^(3/2) / sqrt(3 pi).
Entries fibers(const BenchScene& scene) {
  return {
      "law: fiber, density: 600, stretch_modulus: 2e5, shear_modulus: 3e3, youngs_modulus: 3e4, poisson_ratio: 0.3, "
      "friction_angle: 15",
      fmt::format("kind: fiber, {}{}", bundle(std::pow(scene.particles * std::sqrt(3 * std::numbers::pi) / 4, 2.0 / 3)),
                  scene.bending ? ", bending_modulus: 1e6" : "")};
}

Entries strands(const BenchScene& scene) {
  return {"law: rod, density: 600, stretch_modulus: 2e5, youngs_modulus: 1e6, poisson_ratio: 0.3",
          fmt::format("kind: strand, stage: {{substeps: 1}}, meets_grid: {}, {}{}", scene.contact,
                      bundle(std::pow(scene.particles * std::sqrt(3 * std::numbers::pi) / 2, 2.0 / 3)),
                      scene.contact ? ", contact: {youngs_modulus: 3e4, poisson_ratio: 0.3, friction: 0.3, packing: "
                                      "0.14}"
                                    : "")};
}

Entries shell(const BenchScene& scene) {
  const std::string mesh = square(side_of(scene.particles / 5), 0.99 * dx);
  if (!scene.fabric.empty()) {
    const auto fabric = std::ranges::find(fabrics(), scene.fabric, &Fabric::name);
    require(fabric != fabrics().end(), ExitCode::deck,
            fmt::format("--fabric {}: there is no such fabric.", scene.fabric));
    return {fmt::format("law: fabric, fabric: {}, density: {}", scene.fabric, fabric->area_density / fabric->thickness),
            fmt::format("kind: shell, thickness: {}, contact: {{stiffness: 4e6, shear_stiffness: 4e5, friction: 0.3}}, "
                        "contact_points: 2, {}",
                        fabric->thickness, mesh)};
  }
  return {"law: stvk_hencky, density: 1000, youngs_modulus: 4e5, poisson_ratio: 0.3",
          "kind: shell, thickness: 0.4 mm, contact: {stiffness: 2e5, shear_stiffness: 2e4, friction: 0.3}, "
          "contact_points: 2, " +
              mesh};
}

Entries solid(const BenchScene& scene) {
  const Real cubes = std::max(1.0, std::round(std::cbrt(scene.particles)) - 1);
  return {fmt::format("law: fixed_corotated, {}", materials[0].second),
          fmt::format("kind: solid, carrier: own, stage: {{substeps: 1}}, meets_grid: {}, mesh: {{block: {{lower: [0, "
                      "0.1, 0], upper: [{}, {}, {}]}}, size: {}}}",
                      scene.contact, cubes * dx, 0.1 + cubes * dx, cubes * dx, 1.0001 * dx)};
}

Entries entries_of(const BenchScene& scene) {
  switch (scene.kind) {
    case Kind::membrane:
      return membrane(scene);
    case Kind::fiber:
      return fibers(scene);
    case Kind::shell:
      return shell(scene);
    case Kind::solid:
      return solid(scene);
    case Kind::strand:
      return strands(scene);
    default:
      return block(scene);
  }
}

}  // namespace

Deck bench_deck(const BenchScene& scene) {
  require(scene.particles >= 8, ExitCode::deck, "--particles: a cell holds 8 particles, so give at least that many.");
  require(!scene.bending || scene.kind == Kind::membrane || scene.kind == Kind::fiber, ExitCode::deck,
          "--bending belongs to --kind membrane and --kind fiber.");
  require(scene.fabric.empty() || scene.kind == Kind::shell, ExitCode::deck, "--fabric belongs to --kind shell.");
  require(!scene.contact || scene.kind == Kind::solid || scene.kind == Kind::strand, ExitCode::deck,
          "--contact belongs to --kind solid and --kind strand.");
  const Entries entries = entries_of(scene);
  return parse_deck(fmt::format(R"(weft: 1
title: a standard scene
domain: {{dx: {}}}
time: {{end: 1000, frame_interval: 1000}}
transfer: {{kernel: {}}}
materials: {{it: {{{}}}}}
bodies: [{{name: it, material: it, {}}}]
colliders:
  - {{name: floor, shape: {{plane: {{point: [0, 0, 0], normal: [0, 1, 0]}}}}, condition: separate, friction: 0.5}}
)",
                                dx, scene.kernel, entries.material, entries.body),
                    "the standard scene", ".");
}

/// Bytes: rows, vertices, velocities, directors, motion and stresses of quadrature points, forces of corners. A
/// triangle has 1.5 points, a segment 2, a face with 4 contact points 5. Strands: `predict` reads positions,
/// velocities, frames, natural values and weights, and writes velocities and displacements; `elements` brings
/// positions, frames, twists and contact points up to date. On the grid each vertex scatters its motion and its stress,
/// 27 nodes each, receives two values and a gradient, and scatters its displacement. [tests/benchmarks/DIARY.md]
std::vector<std::pair<std::string, LeastWork>> least_work_of_mesh(const BenchScene& scene) {
  switch (scene.kind) {
    case Kind::membrane:
      return {{"elements", {438 / 1.5, scene.bending ? 0 : 330 / 1.5}}};
    case Kind::fiber:
      return {{"elements", {516 / 2.0, scene.bending ? 0 : 530 / 2.0}}};
    case Kind::shell:
      return {{"elements", {1800 / 5.0, scene.fabric.empty() ? 6600 / 5.0 : 0}}};
    case Kind::strand:
      if (!scene.contact) return {{"predict", {270, 0}}, {"elements", {304, 0}}};
      return {{"predict", {294, 0}},
              {"elements", {352, 0}},
              {"scatter", {4 + 24 + 24 + 72 + 8, 880}},
              {"gather", {4 + 24 + 48 + 48 + 8 + 72, 1000}},
              {"law", {(8 + 64) + (72 + 128), 0}}};
    default:
      return {};
  }
}

}  // namespace weft
