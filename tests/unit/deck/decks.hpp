#pragma once
// Decks that several tests read, and a short way to read them.

#include "weft/base/error.hpp"
#include "weft/deck/read.hpp"

#include <algorithm>
#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace weft::test {

/// A small deck; tests refer to its lines by number.
inline constexpr std::string_view small_deck = R"(weft: 1
title: Test
domain: {dx: 0.02, gravity: [0, -9.81, 0]}
time:
  end: 1
  frame_interval: 0.1
materials:
  sand:
    law: drucker_prager
    density: 2200
    youngs_modulus: 1e6
    poisson_ratio: 0.3
bodies:
  - name: heap
    kind: continuum
    material: sand
    shape: {sphere: {center: [0, 1, 0], radius: 0.2}}
sources:
  - {name: tap, body: heap, shape: {box: {lower: [0, 2, 0], upper: [1, 3, 1]}}, velocity: [0, -1, 0]}
colliders:
  - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}, friction: 0.5}
probes:
  - {name: front, body: heap, quantile: {field: position_x, q: 0.9}}
)";

/// Uses every key of the deck language. (A mesh file must exist, whatever is in it.)
inline constexpr std::string_view full_deck =
    R"(weft: 1
title: "Everything: \"quoted\", with \\ and é"
domain:
  dx: 20 mm
  gravity: [0, -9.81, 1 cm/s^2]
  bounds: {lower: [-1, -1, -1], upper: [1 km, 1, 1]}
time: {end: 1 min, frame_interval: 40 ms, cfl: 0.25, max_dt: 1 ms, max_strain: 0.3, max_retries: 5, scheme: explicit}
transfer: {kernel: cubic, rpic_damping: 0.5}
materials:
  rubber: {law: fixed_corotated, density: 1 g/cm^3, youngs_modulus: 1 MPa, poisson_ratio: 0.45}
  gum: {law: neo_hookean, density: 1000, lame_lambda: -1e3, lame_mu: 2 kPa}
  hencky: {law: stvk_hencky, density: 1e3, youngs_modulus: 1 MPa, poisson_ratio: -0.2}
  sand:
    law: drucker_prager
    density: 2.2 t/m^3
    youngs_modulus: 3.537e5
    poisson_ratio: 0.3
    friction_angle: 0.6 rad
    cohesion: 10
    hardening_gain: 7
    hardening_rate: 0.1
    hardening_residual: 0.1 rad
    volume_correction: false
  snow: {law: snow, density: 400, youngs_modulus: 1.4e5, poisson_ratio: 0.2, critical_compression: 2.5 %, critical_stretch: 0.75 %, hardening: 9}
  metal: {law: von_mises, density: 2700, youngs_modulus: 70 GPa, poisson_ratio: 0.33, yield_stress: 60 N/mm^2, hardening_modulus: 4e8}
  water: {law: tait, density: 1000, bulk_modulus: 2e6, exponent: 6, viscosity: 1 mPa s}
  silk: {law: fabric, density: 347, fabric: silk}
  goo: {law: herschel_bulkley, density: 1000, shear_modulus: 290, bulk_modulus: 1.09e5, yield_stress: 31.9, consistency: 27.2, flow_index: 0.22}
  cloth: {law: sheet, density: 200, youngs_modulus: 1e5, poisson_ratio: 0.3, contact: {stiffness: 1 MPa, shear_stiffness: 500, friction: 0.4}}
  denim: {law: woven_sheet, density: 300, warp_modulus: 1e6, weft_modulus: 5e5, poisson_ratio: 0.1, shear_modulus: 1 kPa, contact: {stiffness: 1e6}}
  yarn: {law: fiber, density: 1 g/cm^3, stretch_modulus: 1e6, shear_modulus: 1 kPa, youngs_modulus: 1e5, poisson_ratio: 0.3, friction_angle: 20}
  hair: {law: fiber, density: 1 g/cm^3, stretch_modulus: 1e6, lame_lambda: 1e5, lame_mu: 1e5, friction_along: 0.1, friction_across: 0.3}
  nylon: {law: rod, density: 1100, youngs_modulus: 3 GPa, poisson_ratio: 0.4, stretch_modulus: 1 GPa, viscosity: 2 kPa s}
layers:
  - {name: tools, kernel: linear}
  - {name: tools2}
  - {name: tools3}
  - {name: wet}
layer_contact:
  - {between: [tools, materials], friction: 0.3}
bodies:
  - {name: a, kind: continuum, layer: tools, material: rubber, shape: {box: {lower: [0, 0, 0], upper: [1, 1, 1]}, scale: 2, rotate: {axis: [1, 1, 0], angle: 30}, translate: [1, 2, 3]}, particles_per_cell: 27, sampling: regular, velocity: [1, 0, 0], spin: [0, 60 rpm, 0], seed: 4294967295}
  - {name: b, kind: continuum, material: gum, sampling: jittered}
  - {name: c, kind: continuum, layer: wet, material: goo, blend: {pic_share: 0.1}, shape: {sphere: {center: [0, 0, 0], radius: 1}}}
  - {name: d, kind: continuum, material: water, shape: {cylinder: {from: [0, 0, 0], to: [0, 1, 0], radius: 1}}}
  - {name: e, kind: continuum, material: snow, shape: {capsule: {from: [0, 0, 0], to: [0, 1, 0], radius: 1}}}
  - {name: f, kind: continuum, material: metal, shape: {ellipsoid: {center: [0, 0, 0], radii: [1, 2, 3]}}}
  - {name: g, kind: continuum, material: sand, shape: {torus: {center: [0, 0, 0], axis: [0, 1, 1], major_radius: 2, minor_radius: 1}}}
  - {name: h, kind: continuum, material: snow, shape: {mesh: {file: ")" WEFT_SOURCE_DIR R"(/README.md"}}}
  - {name: s1, kind: shell, layer: tools, material: hencky, thickness: 3 mm, parts: [{group: hem, where: {sphere: {center: [0, 0, 0], radius: 1}}, thickness: 2 mm}], direction: [0, 1, 0], across: quarter, laminae: 3, in_plane: 3, contact: {stiffness: 1 kPa, friction: 0.3}, contact_points: 2, velocity: [0, 1, 0], spin: [0, 0, 1], mesh: {file: {path: ")" WEFT_SOURCE_DIR
    R"(/README.md"}, through_points: false, divide: 1, scale: 2, rotate: {axis: [1, 0, 0], angle: 90}, translate: [1, 2, 3]}}
  - {name: s2, kind: shell, material: metal, thickness: 1, mesh: {rectangle: {width: 1, height: 2}, across: 12, along: 14, irregular: true}}
  - {name: s3, kind: shell, material: metal, thickness: 1, mesh: {cylinder_patch: {radius: 1, length: 2, from: -90, to: 1 rad}}}
  - {name: s4, kind: shell, material: metal, thickness: 1, mesh: {sphere_patch: {radius: 1, west: 0, east: 90, south: -10, north: 80}}}
  - {name: s5, kind: shell, carrier: own, meets_grid: false, stage: {scheme: implicit, substeps: 2, tolerance: 1e-6}, material: metal, thickness: 1, mesh: {annulus: {inner: 1, outer: 2, from: 0, to: 359}}}
  - {name: m1, kind: membrane, layer: tools, material: cloth, thickness: 1 mm, warp: [0, 1, 0], bending: {youngs_modulus: 1e5, poisson_ratio: 0.2}, velocity: [1, 0, 0], spin: [0, 0, 1], mesh: {rectangle: {width: 1, height: 2}, across: 8, along: 10, scale: 2, rotate: {axis: [1, 0, 0], angle: 90}, translate: [1, 2, 3]}}
  - {name: m2, kind: membrane, material: denim, thickness: 1 mm, tear_stretch: 1.2, mesh: {file: {path: ")" WEFT_SOURCE_DIR
    R"(/README.md"}}}
  - {name: m3, kind: membrane, material: cloth, thickness: 1 mm, mesh: {cylinder_patch: {radius: 1, length: 2, from: -90, to: 1 rad}}}
  - {name: m4, kind: membrane, material: cloth, thickness: 1 mm, mesh: {sphere_patch: {radius: 1, west: 0, east: 90, south: -10, north: 80}}}
  - {name: m5, kind: membrane, carrier: own, meets_grid: false, stage: {scheme: implicit, substeps: 2, tolerance: 1e-6}, material: cloth, thickness: 1 mm, mesh: {annulus: {inner: 1, outer: 2, from: 0, to: 359}}}
  - {name: f1, kind: fiber, layer: tools, material: yarn, radius: 1 mm, bending_modulus: 1 MPa, velocity: [1, 0, 0], spin: [0, 0, 1], curves: {curve_file: {path: ")" WEFT_SOURCE_DIR
    R"(/README.md"}, plies: {count: 2, radius: 1 mm, twist: 1 cm}, spacing: 2 mm, scale: 2, rotate: {axis: [1, 0, 0], angle: 90}, translate: [1, 2, 3]}}
  - {name: f2, kind: fiber, material: hair, radius: 1 mm, tear_stretch: 150 %, curves: {hair_tube: {inner_radius: 0.1, outer_radius: 0.2, length: 1, strands: 100}}}
  - {name: f3, kind: fiber, material: hair, radius: 1 mm, curves: {hair_ball: {radius: 0.1, length: 1, strands: 100}}}
  - {name: f4, kind: fiber, material: hair, radius: 1 mm, curves: {braid: {strands: 3, width: 0.1, depth: 0.05, pitch: 0.2, length: 1}}}
  - {name: f5, kind: fiber, material: hair, radius: 1 mm, curves: {shag_carpet: {width: 1, depth: 1, height: 0.1, gap: 0.02, lean: 0.2, seed: 7}}}
  - {name: f6, kind: fiber, material: yarn, radius: 1 mm, curves: {weave: {warp: 10, weft: 12, gap: 0.02, amplitude: 0.002}}}
  - {name: f7, kind: fiber, carrier: own, meets_grid: false, stage: {scheme: implicit, substeps: 2, tolerance: 1e-6}, material: yarn, radius: 1 mm, curves: {knit: {stitches: 10, rows: 12, width: 0.02, depth: 0.006, pattern: kp}}}
  - {name: f8, kind: fiber, material: yarn, radius: 1 mm, bending_modulus: 1 MPa, tear_stretch: 1.5, curves: {knit_sweater: {body_stitches: 40, sleeve_stitches: 16, underarm: 2, body_rows: 20, sleeve_rows: 18, yoke_rows: 10, width: 0.02, depth: 0.006, neck: 0.5, spread: 10}}}
  - {name: r1, kind: strand, material: nylon, radius: 1 mm, natural: straight, twist: 2 rev/m, turns: quasi_static, velocity: [1, 0, 0], spin: [0, 0, 1], impulses: {distance: 2 mm, iterations: 8, friction: 0.3, averaging: per_vertex, swept: true}, stretch_limit: 10 %, curves: {curve_file: {path: ")" WEFT_SOURCE_DIR
    R"(/README.md"}, spacing: 2 mm}}
  - {name: r2, kind: strand, material: nylon, half_axes: [1 mm, 2 mm], natural: as_made, carrier: own, meets_grid: false, stage: {scheme: implicit, substeps: 2, tolerance: 1e-6}, curves: {braid: {strands: 3, width: 0.1, depth: 0.05, pitch: 0.2, length: 1}}}
  - {name: r3, kind: strand, material: nylon, radius: 1 mm, meets_grid: true, layer: materials, contact: {youngs_modulus: 1e5, poisson_ratio: 0.2, friction: 0.4, packing: 0.2}, response: none, blend: {pic_share: 0.1}, roots: {collider: floor, depth: 1 mm}, curves: {braid: {strands: 3, width: 0.1, depth: 0.05, pitch: 0.2, length: 1}}}
  - {name: r4, kind: strand, material: nylon, radius: 1 mm, meets_grid: true, layer: tools, response: elastoplastic, blend: {pic_rate: 10}, curves: {braid: {strands: 3, width: 0.1, depth: 0.05, pitch: 0.2, length: 1}}}
  - {name: r5, kind: strand, material: nylon, radius: 1 mm, taper: 0.3, curves: {groom: {collider: press, where: {box: {lower: [0, 0, 0], upper: [1, 1, 1]}}, strands: 10, length: 0.3, length_spread: 10 %, lie: 30, lie_spread: 5, toward: [0, -1, 0], droop: 0.1, clearance: 1 mm, wave: {amplitude: 1 mm, length: 0.1, spread: 0.2}, curl: {radius: 1 mm, length: 0.1, spread: 0.2}, seed: 3}}}
  - {name: r6, kind: strand, material: nylon, radius: 1 mm, curves: {groom: {file: ")" WEFT_SOURCE_DIR
    R"(/README.md", strands: 10, length: 0.3}}}
  - {name: r7, kind: strand, material: nylon, thickness: of_file, curves: {curve_file: {path: ")" WEFT_SOURCE_DIR
    R"(/README.md"}}}
  - {name: t1, kind: solid, layer: tools, material: rubber, order: 2, velocity: [1, 0, 0], spin: [0, 0, 1], mesh: {file: {path: ")" WEFT_SOURCE_DIR
    R"(/README.md"}, scale: 2, rotate: {axis: [1, 0, 0], angle: 90}, translate: [1, 2, 3]}}
  - {name: t2, kind: solid, carrier: own, meets_grid: false, stage: {scheme: implicit, substeps: 2, tolerance: 1e-6}, material: gum, mesh: {block: {lower: [0, 0, 0], upper: [1, 1, 1]}, size: 10 cm}}
  - {name: t3, kind: solid, carrier: own, meets_grid: true, damping: 2, contact: {points: 6}, material: hencky, mesh: {shape: {sphere: {center: [0, 0, 0], radius: 1}}, size: 0.1, inner_size: 0.2}}
  - {name: t4, kind: solid, carrier: own, meets_grid: true, layer: tools3, material: hencky, mesh: {shape: {union: {blend: 2 cm, parts: [{sphere: {center: [0, 0, 0], radius: 1}}, {box: {lower: [0, 0, 0], upper: [1, 1, 1]}, scale: 2, rotate: {axis: [1, 1, 0], angle: 30}, translate: [1, 2, 3]}, {cylinder: {from: [0, 0, 0], to: [0, 1, 0], radius: 1}}, {capsule: {from: [0, 0, 0], to: [0, 1, 0], radius: 1}}, {ellipsoid: {center: [0, 0, 0], radii: [1, 2, 3]}}, {torus: {center: [0, 0, 0], axis: [0, 1, 1], major_radius: 2, minor_radius: 1}}]}}, size: 0.1}}
  - {name: g1, kind: rigid, density: 2, velocity: [1, 0, 0], spin: [0, 0, 1], layer: tools2, contact: {points: 5, restitution: 0.5, tolerance: 1 %}, mesh: {block: {lower: [0, 0, 0], upper: [1, 1, 1]}, size: 10 cm}, joint: {ball: {point: [0, 0, 1], damping: 2}}}
  - {name: g2, kind: rigid, mass: 2, meets_grid: false, mesh: {block: {lower: [0, 0, 0], upper: [1, 1, 1]}, size: 10 cm}, joint: {hinge: {point: [0, 0, 1], axis: [0, 0, 2], damping: 2, torque: 3}}}
  - {name: g3, kind: rigid, mass: 2, mesh: {block: {lower: [0, 0, 0], upper: [1, 1, 1]}, size: 10 cm}, joint: {hinge: {point: [0, 0, 1], axis: [0, 0, 2], speed: 2}}}
  - {name: g4, kind: rigid, mass: 2, mesh: {block: {lower: [0, 0, 0], upper: [1, 1, 1]}, size: 10 cm}, joint: {slider: {axis: [0, 0, 2], damping: 2, force: 3}}}
  - {name: g5, kind: rigid, mass: 2, mesh: {block: {lower: [0, 0, 0], upper: [1, 1, 1]}, size: 10 cm}, joint: {slider: {axis: [0, 0, 2], speed: 2}}}
  - {name: g6, kind: rigid, mass: 2, center: [1, 0, 0], inertia: {moments: [1, 1, 1], products: [0, 0, 0.1]}, mesh: {block: {lower: [0, 0, 0], upper: [1, 1, 1]}, size: 10 cm}, joint: {motion: {velocity: [1, 0, 0]}}}
sources:
  - {name: tap, body: b, shape: {box: {lower: [0, 2, 0], upper: [1, 3, 1]}}, velocity: [0, -1, 0], from: 1, until: 2 s}
colliders:
  - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}, hollow: false, condition: separate, friction: 0.5, contact: surface, edges: sharp}
  - {name: mill, shape: {box: {lower: [0, 2, 0], upper: [1, 3, 1]}}, hollow: true, condition: slip, motion: {velocity: [1, 0, 0], spin: [0, 0, 1], center: [0, 1, 0]}}
  - {name: press, shape: {sphere: {center: [0, 2, 0], radius: 1}}, condition: sticky, motion: {keyframes: [{time: 0}, {time: 1, translate: [0, 1, 0], rotate: {axis: [0, 0, 2], angle: -90}}]}}
handles:
  - {name: h1, body: s2, where: {box: {lower: [0, 0, 0], upper: [1, 1, 1]}}, hold: {keep: clamp, axes: [x, z], until: 3, motion: {velocity: [1, 0, 0]}}}
  - {name: h2, body: s2, group: hem, vertices: [3, 4], boundary: 0, hold: {keep: symmetry, normal: [0, 2, 0]}}
  - {name: h3, body: s2, force: {total: [1 kN, 0, 0], amplitude: [{time: 0, factor: 0}, {time: 1, factor: 50 %}]}}
  - {name: h4, body: s2, edge_force: {per_length: [0, 0, 1], amplitude: []}}
  - {name: h5, body: s2, edge_moment: {per_length: 2, amplitude: []}}
  - {name: h6, body: s2, pressure: {value: 1 kPa, amplitude: []}}
  - {name: h7, body: s2, traction: {per_area: [0, 0, 1 kPa], amplitude: []}}
  - {name: h8, body: s2, gravity: {acceleration: [0, 0, -9.81], amplitude: []}}
loading: {path: arc, steps: 20, max_steps: 100, max_growth: 3, unstable: stop, nudge: 0.02}
solve: {tolerance: 1e-9, max_iterations: 20, petsc: "-ksp_type gmres", plasticity: lagged, solver: residual, preconditioner: none, inertia: false}
probes:
  - {name: p, body: a, centre_of_mass: {}}
  - {name: q, body: b, bounding_box: {}}
  - {name: r, body: c, quantile: {field: position_x, q: 98 %}}
  - {name: s, body: d, nearest: {point: [0, 1, 0], field: pressure}}
output: {fields: [velocity, pressure], grid: true, contact_points: true, double_precision: true, diagnostics_every: 5, checkpoint: {every_steps: 1000, every_wall: 1 h, keep: 2}, on_io_error: continue, writer: collective, hints: {cb_nodes: 4, cb_buffer_size: 16 MiB, alignment: 1 MiB}}
balance: {threshold: 1.2, every: 10}
)";

inline Deck read(std::string_view text, const std::vector<std::string>& overrides = {}) {
  return parse_deck(std::string(text), "d.yaml", "/nowhere", overrides);
}

/// The lines of the error that reading this text ends with; empty if it is read.
inline std::vector<std::string> complaints(std::string_view text, const std::vector<std::string>& overrides = {}) {
  std::vector<std::string> lines;
  try {
    read(text, overrides);
  } catch (const Error& error) {
    if (error.code() != ExitCode::deck) throw;
    std::istringstream all(error.what());
    for (std::string line; std::getline(all, line);) lines.push_back(line);
  }
  return lines;
}

/// The text with the first `from` replaced; throws if there is none, so that no test runs on an unchanged deck.
inline std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string_view::npos) throw std::logic_error("not in the deck: " + std::string(from));
  return std::string(text.substr(0, at)) + std::string(to) + std::string(text.substr(at + from.size()));
}

}  // namespace weft::test
