// Malformed decks: each mistake is found at its location, all mistakes at once, within a second.

#include "decks.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <random>

namespace weft {
namespace {

using test::complaints;
using test::replaced;
using test::small_deck;

/// One mistake in the small deck: `right` becomes `wrong`. The one complaint stands where `wrong` has a $, or else
/// begins `place` with line and column; the rest of `place` is the path of the key.
struct Mistake {
  const char *right, *wrong, *place, *message;
};

/// The text without its $, and "line:column: " of where that stood; empty if there is none.
std::pair<std::string, std::string> without_mark(const std::string& text) {
  const std::size_t mark = text.find('$');
  if (mark == std::string::npos) return {text, ""};
  const auto line = std::count(text.begin(), text.begin() + static_cast<long>(mark), '\n') + 1;
  const std::size_t column = mark - (mark == 0 ? 0 : text.rfind('\n', mark - 1) + 1) + 1;
  return {replaced(text, "$", ""), std::to_string(line) + ":" + std::to_string(column) + ": "};
}

const Mistake mistakes[] = {
    // Keys.
    {"title: Test", "$tilte: Test", "tilte", "unknown key. Did you mean \"title\"? Keys here: weft, title, domain,"},
    {"end: 1", "$edn: 1", "time.edn", "unknown key. Did you mean \"end\"?"},
    {"density: 2200", "$Density: 2200", "materials.sand.Density", "Did you mean \"density\"?"},
    {"poisson_ratio: 0.3", "$poissson_ratio: 0.3", "materials.sand.poissson_ratio", "Did you mean \"poisson_ratio\"?"},
    {"poisson_ratio: 0.3", "poisson_ratio: 0.3\n    $viscosity: 1", "materials.sand.viscosity", "unknown key."},
    {"sphere:", "$spere:", "bodies.heap.shape.spere", "Did you mean \"sphere\"?"},
    {"radius: 0.2", "$radus: 0.2", "bodies.heap.shape.sphere.radus", "Did you mean \"radius\"?"},
    {"quantile:", "$quantil:", "probes.front.quantil", "Did you mean \"quantile\"?"},
    {"title: Test", "title: Test\n$colour: red", "colour", "unknown key. Keys here: weft,"},
    {"title: Test", "title: Test\n$title: Best", "title", "this key stands here twice"},
    {"end: 1", "end: 1\n  $end: 1", "time.end", "this key stands here twice"},
    {"end: 1", "end: 1\n  $\"end\": 1", "time.end", "this key stands here twice"},
    {"  end: 1\n", "", "5:3: time", "the key \"end\" is missing"},
    {"weft: 1\n", "", "1:1", "the key \"weft\" is missing"},
    {"domain: {dx: 0.02, gravity: [0, -9.81, 0]}\n", "", "1:1", "the grid spacing \"dx\" is missing"},
    {"    density: 2200\n", "", "9:5: materials.sand", "the key \"density\" is missing"},
    {"    poisson_ratio: 0.3\n", "", "9:5: materials.sand", "the key \"poisson_ratio\" is missing"},
    {"    law: drucker_prager\n", "", "9:5: materials.sand", "the key \"law\" is missing"},
    {"    kind: continuum\n", "", "14:5: bodies.heap", "the key \"kind\" is missing"},
    {"name: heap\n    ", "", "14:5: bodies.0", "the key \"name\" is missing"},
    {"shape: {sphere: {center: [0, 1, 0], radius: 0.2}}", "shape: ${}", "bodies.heap.shape",
     "exactly one of these keys is needed: plane, box"},
    {"radius: 0.2}}", "radius: 0.2}, box: {lower: [0, 0, 0], upper: [1, 1, 1]}}", "17:12: bodies.heap.shape",
     "box, sphere exclude one another"},
    {", quantile: {field: position_x, q: 0.9}", "", "23:5: probes.front",
     "exactly one of these keys is needed: centre_of_mass"},
    // Wrong types.
    {"dx: 0.02", "dx: $fine", "domain.dx", "\"fine\" is not a number. Expected a number in m (> 0, or none)."},
    {"dx: 0.02", "dx: $[0.02]", "domain.dx", "expected a number in m (> 0, or none), got a list."},
    {"dx: 0.02", "dx: $\"0.02\"", "domain.dx", "Leave the quotes out."},
    {"dx: 0.02", "dx: $true", "domain.dx", "\"true\" is not a number."},
    {"dx: 0.02", "$dx:", "domain.dx", "has no value. Expected a number in m (> 0, or none)."},
    {"dx: 0.02", "$dx: ~", "domain.dx", "has no value."},
    {"dx: 0.02", "$dx: null", "domain.dx", "has no value."},
    {"dx: 0.02", "dx: $none", "domain.dx", "the grid spacing \"dx\" is missing"},
    {"dx: 0.02", "dx: 1,$5", "domain.5", "unknown key."},
    {"[0, -9.81, 0]", "$-9.81", "domain.gravity", "expected three numbers, [x, y, z], in m/s^2, got \"-9.81\"."},
    {"[0, -9.81, 0]", "$[0, -9.81]", "domain.gravity", "expected three numbers"},
    {"[0, -9.81, 0]", "$[0, -9.81, 0, 0]", "domain.gravity", "expected three numbers"},
    {"[0, -9.81, 0]", "$[0 -9.81 0]", "domain.gravity", "expected three numbers"},
    {"[0, -9.81, 0]", "[0, $down, 0]", "domain.gravity.1", "\"down\" is not a number."},
    {"[0, -9.81, 0]", "[0, $[1], 0]", "domain.gravity.1", "expected a number in m/s^2, got a list."},
    {"title: Test", "title: $[Test]", "title", "expected a text, got a list."},
    {"title: Test", "title: $12", "title", "write it in quotes: '12'."},
    {"title: Test", "title: $1e3", "title", "in quotes"},
    {"title: Test", "title: $yes", "title", "in quotes"},
    {"title: Test", "title: $Off", "title", "in quotes"},
    {"title: Test", "title: $2026-11-21", "title", "in quotes"},
    {"title: Test", "$title:", "title", "has no value."},
    {"time:\n  end: 1\n  frame_interval: 0.1", "time: $1", "time", "expected a mapping (key: value), got \"1\"."},
    {"time:\n  end: 1\n  frame_interval: 0.1", "time: $[]", "time",
     "expected a mapping (key: value), got an empty list."},
    {"time:\n  end: 1\n  frame_interval: 0.1", "$time:", "time", "has no value."},
    {"poisson_ratio: 0.3", "poisson_ratio: 0.3\n    volume_correction: $yes", "materials.sand.volume_correction",
     "expected true or false, got \"yes\"."},
    {"poisson_ratio: 0.3", "poisson_ratio: 0.3\n    volume_correction: $True", "materials.sand.volume_correction",
     "expected true or false"},
    {"poisson_ratio: 0.3", "poisson_ratio: 0.3\n    volume_correction: $1", "materials.sand.volume_correction",
     "expected true or false"},
    {"poisson_ratio: 0.3", "poisson_ratio: 0.3\n    volume_correction: $\"true\"", "materials.sand.volume_correction",
     "expected true or false"},
    {"kind: continuum", "kind: continuum\n    seed: $1.5", "bodies.heap.seed", "expected a whole number"},
    {"kind: continuum", "kind: continuum\n    seed: $4294967296", "bodies.heap.seed", "out of range"},
    {"law: drucker_prager", "law: $drucker_prage", "materials.sand.law",
     "is not known. Did you mean \"drucker_prager\"? Expected one of fixed_corotated,"},
    {"law: drucker_prager", "law: $[snow]", "materials.sand.law", "expected one of fixed_corotated"},
    {"kind: continuum", "kind: $liquid", "bodies.heap.kind",
     "\"liquid\" is not known. Expected one of continuum, shell, membrane, fiber, strand, solid, rigid."},
    {"kind: continuum", "kind: continuum\n    sampling: $Poisson", "bodies.heap.sampling",
     "Did you mean \"poisson\"? Expected one of poisson, jittered, regular."},
    {"friction: 0.5", "condition: $stiky", "colliders.floor.condition", "Did you mean \"sticky\"?"},
    {"bodies:\n", "bodies:\n  - $just text\n", "bodies.0", "expected a mapping (key: value), got \"just text\"."},
    {"title: Test", "title: $.5e3", "title", "in quotes"},
    {"title: Test", "title: $-1_000", "title", "in quotes"},
    // Options for PETSc that touch files or the network.
    {"title: Test", "title: Test\nloading: {path: arc, unstable: $nudge}", "loading.unstable",
     "which path: arc does not keep"},
    {"title: Test", "title: Test\nsolve: {petsc: $\"-ksp_view_solution binary:/tmp/x\"}", "solve.petsc",
     "-ksp_view_solution is not among the options"},
    {"title: Test", "title: Test\nsolve: {petsc: $\"-ksp_monitor ascii:/tmp/x\"}", "solve.petsc",
     "nor a number or plain word"},
    {"title: Test", "title: Test\nsolve: {petsc: $\"-ksp_monitor file\"}", "solve.petsc", "takes no value"},
    {"title: Test", "title: Test\nsolve: {petsc: $\"-options_file rc\"}", "solve.petsc", "-options_file is not"},
    {"title: Test", "title: Test\nsolve: {petsc: $\"-log_view\"}", "solve.petsc", "-log_view is not"},
    {"title: Test", "title: Test\nsolve: {petsc: $\"-mat_mumps_icntl_22 1\"}", "solve.petsc", "icntl_22 is not"},
    {"title: Test", "title: Test\nsolve: {petsc: $\"-prefix_push a -ksp_type cg\"}", "solve.petsc", "-prefix_push is"},
    {"title: Test", "title: Test\nsolve: {petsc: $\"-ksp_type socket\"}", "solve.petsc", "\"socket\" is neither"},
    {"title: Test", "title: Test\nsolve: {petsc: $\"cg -ksp_type\"}", "solve.petsc", "before the first option"},
    // Ranges and numbers.
    {"weft: 1", "weft: $2", "weft", "out of range. Expected a whole number (1)."},
    {"dx: 0.02", "dx: $0", "domain.dx", "\"0\" is out of range. Expected a number in m (> 0, or none)."},
    {"dx: 0.02", "dx: $-1 mm", "domain.dx", "\"-1 mm\" is out of range."},
    {"end: 1", "end: $.nan", "time.end", "\".nan\" is not a number."},
    {"end: 1", "end: $nan", "time.end", "\"nan\" is not a number."},
    {"end: 1", "end: $.inf", "time.end", "\".inf\" is not a number."},
    {"end: 1", "end: $1e400", "time.end", "too large for a double"},
    {"end: 1", "end: $1e-400", "time.end", "too small for a double. Write 0"},
    {"end: 1", "end: $010", "time.end", "leading zero, which some read as octal"},
    {"end: 1", "end: $0x10", "time.end", "not a known unit"},
    {"end: 1", "end: $1_000", "time.end", "not a known unit"},
    {"end: 1", "end: $1:30", "time.end", "not a known unit"},
    {"end: 1", "end: $2 m", "time.end", "\"2 m\" has the wrong unit for this key. Expected a number in s (> 0)."},
    {"end: 1", "end: $2 sec", "time.end", "\"sec\" is not a known unit."},
    {"density: 2200", "density: $2200 kg/m3", "materials.sand.density", "\"m3\" is not a known unit."},
    {"density: 2200", "density: $2200 kg", "materials.sand.density", "wrong unit"},
    {"poisson_ratio: 0.3", "poisson_ratio: $0.5", "materials.sand.poisson_ratio",
     "out of range. Expected a number (> -1 and < 0.5)."},
    {"poisson_ratio: 0.3", "poisson_ratio: $0.3 Pa", "materials.sand.poisson_ratio", "wrong unit"},
    {"poisson_ratio: 0.3", "poisson_ratio: 0.3\n    friction_angle: $90", "materials.sand.friction_angle",
     "out of range. Expected a number in deg (> 0 and < 90)."},
    {"friction: 0.5", "friction: $-0.5", "colliders.floor.friction", "out of range"},
    {"q: 0.9", "q: $1.5", "probes.front.quantile.q", "out of range"},
    {"normal: [0, 1, 0]", "normal: $[0, 0, 0]", "colliders.floor.shape.plane.normal", "must not be zero"},
    {"radius: 0.2", "radius: $0", "bodies.heap.shape.sphere.radius", "out of range"},
    {"sphere: {center: [0, 1, 0], radius: 0.2}", "union: {blend: 0.1, parts: $[]}", "bodies.heap.shape.union.parts",
     "one part at least"},
    {"sphere: {center: [0, 1, 0], radius: 0.2}",
     "union: {blend: 0.1, parts: [${sphere: {center: [0, 1, 0], radius: 1}, box: {lower: [0, 0, 0], upper: [1, 1, "
     "1]}}]}",
     "bodies.heap.shape.union.parts.0", "exclude one another"},
    {"sphere: {center: [0, 1, 0], radius: 0.2}",
     "union: {blend: $0, parts: [{sphere: {center: [0, 1, 0], radius: 1}}]}", "bodies.heap.shape.union.blend",
     "out of range"},
    // Values that disagree.
    {"frame_interval: 0.1", "frame_interval: $2", "time.frame_interval", "must not exceed time.end, 1 s."},
    {"dx: 0.02,", "dx: 0.02, bounds: {lower: [0, 0, 0], upper: $[1, 0, 1]},", "domain.bounds.upper",
     "must be above lower in y: 0 is not above 0."},
    {"upper: [1, 3, 1]", "upper: $[1, 3, -1]", "sources.tap.shape.box.upper", "must be above lower in z"},
    {"sphere: {center: [0, 1, 0], radius: 0.2}", "cylinder: {from: [0, 1, 0], to: $[0, 1, 0], radius: 1}",
     "bodies.heap.shape.cylinder.to", "must differ"},
    {"sphere: {center: [0, 1, 0], radius: 0.2}", "capsule: {from: [0, 1, 0], to: $[0, 1, 0], radius: 1}",
     "bodies.heap.shape.capsule.to", "must differ"},
    {"sphere: {center: [0, 1, 0], radius: 0.2}",
     "torus: {center: [0, 1, 0], axis: [0, 1, 0], major_radius: 1, minor_radius: $1}",
     "bodies.heap.shape.torus.minor_radius", "must be below major_radius"},
    {"sphere: {center: [0, 1, 0], radius: 0.2}", "$plane: {point: [0, 1, 0], normal: [0, 1, 0]}",
     "bodies.heap.shape.plane", "Planes are for colliders."},
    {"box: {lower: [0, 2, 0], upper: [1, 3, 1]}", "$plane: {point: [0, 1, 0], normal: [0, 1, 0]}",
     "sources.tap.shape.plane", "Planes are for colliders."},
    {"sphere: {center: [0, 1, 0], radius: 0.2}", "mesh: {file: $cup.obj}", "bodies.heap.shape.mesh.file",
     "there is no file \"/nowhere/cup.obj\"."},
    {"poisson_ratio: 0.3", "poisson_ratio: 0.3\n    lame_mu: 1e5", "9:5: materials.sand",
     "youngs_modulus with poisson_ratio, or lame_lambda with lame_mu"},
    {"    youngs_modulus: 1e6\n    poisson_ratio: 0.3\n", "", "9:5: materials.sand",
     "youngs_modulus with poisson_ratio, or lame_lambda with lame_mu"},
    {"youngs_modulus: 1e6\n    poisson_ratio: 0.3", "lame_mu: 3\n    lame_lambda: $-2", "materials.sand.lame_lambda",
     "must be above -2/3 of lame_mu, -2 Pa"},
    {"velocity: [0, -1, 0]", "velocity: [0, -1, 0], from: 2, until: $1", "sources.tap.until",
     "must be later than from, 2 s."},
    {"friction: 0.5", "condition: sticky, $friction: 0.5", "colliders.floor.friction",
     "a sticky collider has no friction"},
    {"friction: 0.5", "contact: nodes, $edges: sharp", "colliders.floor.edges", "has no meaning with"},
    {"friction: 0.5", "motion: {$velocity: [1, 0, 0], keyframes: [{time: 0}]}", "colliders.floor.motion.velocity",
     "together with keyframes"},
    {"friction: 0.5", "motion: {$spin: [1, 0, 0], keyframes: [{time: 0}]}", "colliders.floor.motion.spin",
     "together with keyframes"},
    {"friction: 0.5", "motion: {keyframes: [{time: 0}, {time: 1}, {time: $1}]}",
     "colliders.floor.motion.keyframes.2.time", "later than the keyframe before, 1 s."},
    {"probes:",
     "handles: [{name: pull, body: heap, force: {total: [1, 0, 0], amplitude: [{time: 1, factor: 0}, {time: 1, factor: "
     "1}, {time: $0, factor: 1}]}}]\nprobes:",
     "handles.pull.force.amplitude.2.time", "must not be earlier than the key before, 1 s."},
    // Names and references.
    {"material: sand", "material: $snad", "bodies.heap.material",
     "there is no material named \"snad\". Did you mean \"sand\"? Known: sand."},
    {"body: heap, quantile", "body: $heep, quantile", "probes.front.body",
     "there is no body named \"heep\". Did you mean \"heap\"?"},
    {"body: heap, shape", "body: $lake, shape", "sources.tap.body", "there is no body named \"lake\". Known: heap."},
    {"  sand:\n", "  $\"my sand\": {law: tait, density: 1, bulk_modulus: 1}\n  sand:\n", "materials.my sand",
     "cannot be a name"},
    {"name: floor", "name: $a/b", "colliders.a/b.name", "cannot be a name"},
    {"name: floor", "name: $\"\"", "colliders.0.name", "cannot be a name"},
    {"name: floor", "name: $heap", "colliders.heap.name", "another body or collider named \"heap\""},
    {"bodies:\n",
     "bodies:\n  - {name: $collider_floor, kind: continuum, material: sand, shape: {sphere: {center: [0, 1, 0], "
     "radius: "
     "1}}}\n",
     "bodies.collider_floor.name", "pictures of the collider \"floor\""},
    {"bodies:\n",
     "output: {grid: true}\nbodies:\n  - {name: $grid, kind: continuum, material: sand, shape: {sphere: {center: [0, "
     "1, 0], radius: 1}}}\n",
     "bodies.grid.name", "pictures of the grid"},
    {"bodies:\n",
     "bodies:\n  - {name: $heap_contact, kind: continuum, material: sand, shape: {sphere: {center: [0, 1, 0], radius: "
     "1}}}\n",
     "bodies.heap_contact.name", "a part of the body \"heap\""},
    {"probes:\n", "probes:\n  - {name: front, body: heap, centre_of_mass: {}}\n", "24:12: probes.front.name",
     "another probe named \"front\""},
    {"sources:\n",
     "sources:\n  - {name: tap, body: heap, shape: {sphere: {center: [0, 2, 0], radius: 1}}, velocity: [0, -1, 0]}\n",
     "20:12: sources.tap.name", "another source"},
    {"title: Test", "output: {fields: [velocity, pressure, $velocity]}", "output.fields.2",
     "\"velocity\" stands here twice."},
    // YAML itself.
    {"end: 1", "end: 1 # {", "", nullptr},
    {"end: 1", "end: &one 1", "5:8", "anchors (&name) are not allowed"},
    {"end: 1", "end: *one", "5:8", "aliases (*name) are not allowed"},
    {"end: 1", "end: !!float 1", "5:8", "tags (!name) are not allowed"},
    {"end: 1", "<<: {end: 1}", "5:3", "merge keys (<<) are not allowed"},
    {"end: 1", "[end]: 1", "5:3", "a key must be a single word"},
    {"end: 1", "\tend: 1", "5:3", "a tab cannot indent YAML"},
    {"end: 1", " end: 1", "6:3", "Check the indentation."},
    {"end: 1", "end: {a: 1", "6:17", "a { is not closed before this"},
    {"[0, -9.81, 0]}", "[0, -9.81, 0}", "3:41", "does not close anything"},
    {"title: Test", "title: \"Test", "2:8", "quote is not closed"},
    {"title: Test", "title Test", "3:7", "there cannot be a value here"},
    {"title: Test", "title: a: b", "2:9", "there cannot be a value here"},
    {"title: Test", "title: @home", "2:8", "a value cannot begin with this character"},
    {"title: Test", "title: \x01", "2:8", "control character"},
    {"title: Test", "title: caf\xe9", "2:11", "not UTF-8"},
    {"title: Test", "title: \xc0\xaf", "2:8", "not UTF-8"},
    {"title: Test", "title: T\n---\nweft: 1", "3:1", "the deck has ended before this"},
    {"probes:\n  - {name: front, body: heap, quantile: {field: position_x, q: 0.9}}\n", "...\njunk\n", "23:1",
     "the deck has ended before this"},
    {"weft: 1", "%YAML 1.1\n---\nweft: 1", "1:1", "directives"},
    {"weft: 1", "- weft: 1", "2:1", "the deck has ended before this"},
};

TEST(BadDeckTest, EveryMistakeIsFoundAtItsPlaceAndOnlyThere) {
  int tried = 0;
  for (const Mistake& mistake : mistakes) {
    const auto [text, marked_place] = without_mark(replaced(small_deck, mistake.right, mistake.wrong));
    const auto lines = complaints(text);
    if (mistake.message == nullptr) {
      EXPECT_TRUE(lines.empty()) << mistake.wrong << "\n" << lines[0];
      continue;
    }
    ++tried;
    ASSERT_FALSE(lines.empty()) << "no complaint about: " << mistake.wrong;
    EXPECT_EQ(lines.size(), 1u) << mistake.wrong << "\n" << lines[0] << "\n" << lines.back();
    const std::string start = "d.yaml:" + marked_place + mistake.place + ": ";
    EXPECT_EQ(lines[0].substr(0, start.size()), start) << lines[0];
    EXPECT_NE(lines[0].find(mistake.message), std::string::npos) << mistake.message << "\n" << lines[0];
  }
  EXPECT_GE(tried, 80);
}

TEST(BadDeckTest, SomethingThatIsNoDeckAtAllIsSaidSo) {
  const auto first = [](std::string_view text) { return complaints(text).at(0); };
  EXPECT_EQ(first(""), "d.yaml:1:1: the deck is empty.");
  EXPECT_EQ(first("# only a comment\n"), "d.yaml:1:1: the deck is empty.");
  EXPECT_EQ(first("- 1\n- 2\n").rfind("d.yaml:1:1: expected a mapping (key: value)", 0), 0u);
  EXPECT_EQ(first("hello").rfind("d.yaml:1:1: expected a mapping (key: value)", 0), 0u);
  EXPECT_EQ(first(std::string_view("\0\1\2", 3)).rfind("d.yaml:1:1: this is a control character", 0), 0u);
  EXPECT_EQ(first("\xff\xfew\0").rfind("d.yaml:1:1: this is not UTF-8 text", 0), 0u);
}

TEST(BadDeckTest, ColumnsCountLettersAsEditorsDo) {
  const auto lines = complaints(replaced(small_deck, "domain: {", "domain: {\"é雪\": 1, "));
  EXPECT_EQ(lines.at(0).rfind("d.yaml:3:10: domain.é雪: unknown key.", 0), 0u) << lines[0];
  const auto later = complaints(replaced(small_deck, "front, body: heap,", "front, title: \"é雪\", body: heap, y: 1,"));
  EXPECT_EQ(later.at(1).rfind("d.yaml:23:44: probes.front.y: unknown key.", 0), 0u) << later[1];
}

TEST(BadDeckTest, ABodyWithoutShapeNeedsASource) {
  const std::string no_shape = replaced(small_deck, "    shape: {sphere: {center: [0, 1, 0], radius: 0.2}}\n", "");
  EXPECT_TRUE(complaints(no_shape).empty());
  const auto lines = complaints(no_shape, {"sources=[]"});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].rfind("d.yaml:14:5: bodies.heap: has no shape, and no source feeds it", 0), 0u) << lines[0];
}

TEST(BadDeckTest, WhatAStaticAnalysisWouldIgnoreIsRefused) {
  const std::string deck =
      "weft: 1\n"
      "time: {end: 1, frame_interval: 1, scheme: static}\n"
      "materials: {foil: {law: stvk_hencky, density: 1, youngs_modulus: 1, poisson_ratio: 0}}\n"
      "bodies:\n"
      "  - {name: sheet, kind: shell, material: foil, thickness: 1 mm, mesh: {rectangle: {width: 1, height: 1}, "
      "across: "
      "2, along: 2}, velocity: [0, 0, 0],\n"
      "     spin: [0, 0, 0]}\n"
      "handles:\n"
      "  - {name: clamp, body: sheet, hold: {until: none}}\n";
  EXPECT_TRUE(complaints(deck).empty()) << complaints(deck).at(0);
  std::string moving = replaced(deck, "velocity: [0, 0, 0]", "velocity: [0, 1, 0]");
  moving = replaced(moving, "spin: [0, 0, 0]", "spin: [0, 0, 1]");
  moving = replaced(moving, "until: none", "until: 0.5");
  moving += "colliders:\n  - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}}\n";
  const auto lines = complaints(moving);
  const std::vector<std::string> starts{"d.yaml:5:128: bodies.sheet.velocity: has no meaning with \"scheme: static\"",
                                        "d.yaml:6:6: bodies.sheet.spin: has",
                                        "d.yaml:8:39: handles.clamp.hold.until: nothing can be let go",
                                        "d.yaml:9:1: colliders: has no meaning"};
  ASSERT_EQ(lines.size(), starts.size());
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i].rfind(starts[i], 0), 0u) << lines[i];
}

TEST(BadDeckTest, HoldsNameEachAxisOnce) {
  const std::string deck =
      "weft: 1\ndomain: {dx: 0.1}\ntime: {end: 1, frame_interval: 1}\n"
      "materials: {foil: {law: stvk_hencky, density: 1, youngs_modulus: 1, poisson_ratio: 0}}\n"
      "bodies:\n"
      "  - {name: sheet, kind: shell, material: foil, thickness: 1 mm, mesh: {rectangle: {width: 1, height: 1}, "
      "across: 2, along: 2}}\n"
      "handles: [{name: clamp, body: sheet, hold: {axes: [z, x]}}]\n";
  EXPECT_TRUE(complaints(deck).empty()) << complaints(deck).at(0);
  const auto lines = complaints(replaced(deck, "axes: [z, x]", "axes: [z, x, z]"));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("handles.clamp.hold.axes.2: stands in the list before"), std::string::npos) << lines[0];
}

TEST(BadDeckTest, SurfacesGoRoundOnce) {
  const std::string deck =
      "weft: 1\ntime: {end: 1, frame_interval: 1, scheme: static}\n"
      "materials: {foil: {law: stvk_hencky, density: 1, youngs_modulus: 1, poisson_ratio: 0}}\n"
      "bodies:\n"
      "  - {name: sheet, kind: shell, material: foil, thickness: 1 mm, mesh: {FORM}}\n";
  const std::pair<const char*, const char*> forms[] = {
      {"cylinder_patch: {radius: 1, length: 1, from: -360, to: $}", "to: must be within a turn of from."},
      {"sphere_patch: {radius: 1, south: -10, north: 10, west: -360, east: $}", "east: must be within a turn of west."},
      {"annulus: {inner: 1, outer: 2, from: -360, to: $}", "to: must be within a turn of from."}};
  for (const auto& [form, message] : forms) {
    EXPECT_TRUE(complaints(replaced(deck, "FORM", replaced(form, "$", "0"))).empty()) << form;
    const auto lines = complaints(replaced(deck, "FORM", replaced(form, "$", "1")));
    ASSERT_EQ(lines.size(), 1u) << form;
    EXPECT_NE(lines[0].find(message), std::string::npos) << lines[0];
  }
}

TEST(BadDeckTest, BodiesWithContactPointsAreRefusedWithoutInertia) {
  const std::string quasi_static =
      replaced(std::string(small_deck), "time:\n", "time:\n  scheme: implicit\n") + "solve: {inertia: false}\n";
  const std::string block = "mesh: {block: {lower: [0, 0, 0], upper: [1, 1, 1]}, size: 0.5}";
  const auto with = [&](const std::string& body) {
    return replaced(quasi_static, "sources:\n", "  - {name: block, " + body + ", " + block + "}\nsources:\n");
  };
  for (const std::string body :
       {"kind: rigid, density: 1000", "kind: solid, material: sand, carrier: own, meets_grid: true"}) {
    const std::vector<std::string> found = complaints(with(body));
    ASSERT_EQ(found.size(), 1u) << body;
    EXPECT_NE(found[0].find(": bodies.block"), std::string::npos) << found[0];
    EXPECT_NE(found[0].find("nodes have no velocities"), std::string::npos) << found[0];
    EXPECT_TRUE(complaints(replaced(with(body), "inertia: false", "inertia: true")).empty()) << body;
  }
  EXPECT_TRUE(complaints(with("kind: rigid, density: 1000, meets_grid: false")).empty());
}

TEST(BadDeckTest, ListsThatMustNotBeEmptyAreSaidSo) {
  EXPECT_NE(complaints(small_deck, {"bodies=[]"}).at(0).find("must not be empty"), std::string::npos);
}

TEST(BadDeckTest, AllMistakesAreToldAtOnceInTheOrderOfTheirPlaces) {
  std::string text(small_deck);
  text = replaced(text, "name: floor", "nam: floor");
  text = replaced(text, "material: sand", "material: snow");
  text = replaced(text, "dx: 0.02", "dx: -1");
  text = replaced(text, "end: 1", "end: soon");
  text = replaced(text, "end: soon", "end: soon\n  end: 2");
  text = replaced(text, "density: 2200", "densty: 2200");
  const auto lines = complaints(text, {"time.cfl=7"});
  const std::vector<std::string> starts{"d.yaml:3:14: domain.dx: ",
                                        "d.yaml:5:8: time.end: ",
                                        "d.yaml:6:3: time.end: this key stands here twice",
                                        "d.yaml:11:5: materials.sand.densty: unknown key. Did you mean \"density\"?",
                                        "d.yaml:17:15: bodies.heap.material: there is no material named \"snow\"",
                                        "d.yaml:22:6: colliders.0.nam: unknown key. Did you mean \"name\"?",
                                        "--set time.cfl: \"7\" is out of range."};
  ASSERT_EQ(lines.size(), starts.size());
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i].rfind(starts[i], 0), 0u) << lines[i];
}

// --- Hostile decks
// -----------------------------------------------------------------------------------------------------

std::string repeated(const std::function<std::string(int)>& piece, std::size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) text += piece(i);
  return text;
}

#ifdef __SANITIZE_ADDRESS__
constexpr double allowed_seconds = 10;  // the sanitizer takes its time
#else
constexpr double allowed_seconds = 1;
#endif

TEST(HostileDeckTest, EveryOneIsRefusedWithinASecond) {
  constexpr std::size_t size = 500'000;
  const auto same = [](std::string piece) { return [piece](int) { return piece; }; };
  const auto number = [](int i) { return std::to_string(i); };
  std::string bomb = "a: &a [x, x]\n";
  for (char c = 'b'; c < 'z'; ++c)
    bomb += std::string(1, c) + ": &" + c + " [*" + char(c - 1) + ", *" + char(c - 1) + "]\n";
  const std::vector<std::pair<const char*, std::string>> decks{
      {"brackets", std::string(size, '[')},
      {"braces", repeated(same("{a: "), size)},
      {"dashes", repeated(same("- "), size)},
      {"questions", repeated(same("? "), size)},
      {"colons", std::string(size, ':')},
      {"quotes", std::string(size, '"')},
      {"alias bomb", bomb},
      {"alias of itself", "a: &x [*x]\n"},
      {"one word", std::string(size, 'a')},
      {"too large", std::string(10 * size, '\n')},
      {"unknown keys", repeated([&](int i) { return "k" + number(i) + ": 1\n"; }, size)},
      {"one key again and again", repeated(same("time: 1\n"), size)},
      {"flow list", "[" + repeated(same("1,"), size) + "]"},
      {"flow mapping", "{" + repeated([&](int i) { return "k" + number(i) + ": 1,"; }, size) + "}"},
      {"a long key", std::string(size, 'k') + ": 1\n"},
      {"a long number", "weft: " + std::string(size, '1')},
      {"a long exponent", "weft: 1e" + std::string(size, '9')},
      {"a long string", "title: \"" + repeated(same("\\x41"), size)},
      {"a block of text", "title: |\n" + repeated(same(" x\n"), size)},
      {"deep indentation",
       repeated([](int i) { return std::string(static_cast<std::size_t>(i), ' ') + "a:\n"; }, size)},
      {"documents", repeated(same("---\n"), size)},
      {"anchors", repeated(same("&a "), size)},
      {"bad materials",
       "weft: 1\nmaterials:\n" + repeated([&](int i) { return "  m" + number(i) + ": {law: snw}\n"; }, size)},
      {"bad bodies", "weft: 1\nmaterials: {a: {}}\nbodies:\n" +
                         repeated([&](int i) { return "  - {name: m" + number(i) + ", material: b}\n"; }, size)},
      {"bad references",
       "weft: 1\nmaterials:\n" + repeated([&](int i) { return "  a" + number(i) + ": {}\n"; }, size / 2) + "bodies:\n" +
           repeated([&](int i) { return "  - {name: m" + number(i) + ", material: b" + number(i) + "}\n"; }, size / 2)},
      {"bad keyframes",
       "weft: 1\ncolliders: [{name: a, motion: {keyframes: [" + repeated(same("{time: 1}, "), size) + "]}}]"},
      {"noise", [] {
         std::mt19937 random(3);
         std::string text;
         for (int i = 0; i < 100'000; ++i) text += static_cast<char>(random() % 256);
         return text;
       }()}};
  for (const auto& [name, text] : decks) {
    const std::clock_t begin = std::clock();  // of this process, whatever else the machine does
    const auto lines = complaints(text);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    EXPECT_FALSE(lines.empty()) << name;
    EXPECT_LT(seconds, allowed_seconds) << name;
    EXPECT_LE(lines.size(), 101u) << name << ": nobody reads more";
  }
}

TEST(HostileDeckTest, RandomDamageEndsInAnErrorOrADeckNeverInACrash) {
  std::mt19937 random(11);
  const std::string_view letters = "{}[]:,-#&*!|>'\"%@` \n\t0a.\\~?=<\x80";
  for (int round = 0; round < 3000; ++round) {
    std::string text(small_deck);
    for (unsigned edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      if (random() % 3 == 0) text.erase(at, 1 + random() % 8);
      else if (random() % 2) text[at] = letters[random() % letters.size()];
      else text.insert(at, 1, letters[random() % letters.size()]);
    }
    for (const std::string& line : complaints(text)) EXPECT_EQ(line.rfind("d.yaml:", 0), 0u) << line;
  }
}

}  // namespace
}  // namespace weft
