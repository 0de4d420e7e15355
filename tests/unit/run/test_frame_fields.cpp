// The table of fields by kind of body tells what bodies have.

#include "weft/deck/frame_fields.hpp"

#include "support/scenes.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace weft {
namespace {

using test::Stage;

const std::string one_of_each_kind =
    "weft: 1\n"
    "domain: {dx: 0.1}\n"
    "time: {end: 1, frame_interval: 1}\n"
    "materials:\n"
    "  jelly: {law: neo_hookean, density: 1e3, youngs_modulus: 1e4, poisson_ratio: 0.3}\n"
    "  rubber: {law: fixed_corotated, density: 1e3, youngs_modulus: 1e4, poisson_ratio: 0.3}\n"
    "  sand: {law: drucker_prager, density: 1e3, youngs_modulus: 1e4, poisson_ratio: 0.3}\n"
    "  snow: {law: snow, density: 400, youngs_modulus: 1e4, poisson_ratio: 0.3}\n"
    "  metal: {law: von_mises, density: 1e3, youngs_modulus: 1e4, poisson_ratio: 0.3, yield_stress: 1e3}\n"
    "  cotton: {law: sheet, density: 500, youngs_modulus: 1e4, poisson_ratio: 0.3, contact: {stiffness: 1e4}}\n"
    "  nylon: {law: rod, density: 1e3, youngs_modulus: 1e6, poisson_ratio: 0.4}\n"
    "  hair: {law: fiber, density: 800, stretch_modulus: 1e5, shear_modulus: 1e3, youngs_modulus: 1e4,"
    " poisson_ratio: 0.3, friction_angle: 10}\n"
    "bodies:\n"
    "  - {name: a, kind: continuum, material: jelly, shape: {sphere: {center: [0, 0, 0], radius: 0.1}}}\n"
    "  - {name: b, kind: continuum, material: rubber, shape: {sphere: {center: [1, 0, 0], radius: 0.1}}}\n"
    "  - {name: c, kind: continuum, material: sand, shape: {sphere: {center: [2, 0, 0], radius: 0.1}}}\n"
    "  - {name: d, kind: continuum, material: snow, shape: {sphere: {center: [3, 0, 0], radius: 0.1}}}\n"
    "  - {name: e, kind: continuum, material: metal, shape: {sphere: {center: [4, 0, 0], radius: 0.1}}}\n"
    "  - {name: f, kind: shell, material: metal, thickness: 0.01, contact: {stiffness: 1e4},"
    " mesh: {rectangle: {width: 0.3, height: 0.3}, across: 3, along: 3, translate: [5, 0, 0]}}\n"
    "  - {name: g, kind: membrane, material: cotton, thickness: 0.01,"
    " mesh: {rectangle: {width: 0.3, height: 0.3}, across: 3, along: 3, translate: [6, 0, 0]}}\n"
    "  - {name: h, kind: fiber, material: hair, radius: 0.01,"
    " curves: {hair_tube: {inner_radius: 0, outer_radius: 0.1, length: 0.4, strands: 3}, translate: [7, 0, 0]}}\n"
    "  - {name: i, kind: solid, material: jelly, mesh: {block: {lower: [8, 0, 0], upper: [8.2, 0.2, 0.2]}, size: "
    "0.1}}\n"
    "  - {name: j, kind: strand, material: nylon, radius: 0.01, meets_grid: true,"
    " contact: {youngs_modulus: 1e4, friction: 0.4},"
    " curves: {hair_tube: {inner_radius: 0, outer_radius: 0.1, length: 0.4, strands: 3}, translate: [9, 0, 0]}}\n"
    "  - {name: k, kind: rigid, density: 1, mesh: {block: {lower: [10, 0, 0], upper: [10.2, 0.2, 0.2]}, size: 0.1}}\n"
    "handles: [{name: hand, body: a, hold: {}}]\n";

std::set<std::string> names_in(Table& table) {
  std::set<std::string> names;
  for (const ColumnView& column : table.columns())
    if (column.label.keep != Keep::work) names.insert(std::string(column.label.name));
  return names;
}

TEST(FrameFieldsTest, TheTableNamesWhatBodiesOfEachKindHave) {
  Stage stage(one_of_each_kind);
  std::map<std::string, std::set<std::string>> of_kind;
  const char* kinds[] = {"continuum", "continuum", "continuum", "continuum", "continuum", "shell",
                         "membrane",  "fiber",     "solid",     "strand",    "rigid"};
  for (std::size_t b = 0; b < stage.scene.bodies.size(); ++b) {
    Body& body = *stage.scene.bodies[b];
    Picture picture = body.picture();
    Table observed = body.observe(0, 0);
    std::set<std::string>& names = of_kind[kinds[b]];
    names.merge(names_in(picture.fields));
    names.merge(names_in(picture.point_fields));
    if (stage.comm.any(!picture.points.empty())) continue;  // a surface of its own, without the fields of its points
    names.merge(names_in(observed));
    names.merge(names_in(body.points()));
  }
  for (const FrameFields& fields : frame_fields()) {
    std::set<std::string>& there = of_kind[fields.kind];
    for (const char* always_or_inner : {"id", "position", "home_block"}) there.erase(always_or_inner);
    const std::vector<const char*> all = fields.all();
    const std::set<std::string> told(all.begin(), all.end());
    EXPECT_EQ(told, there) << fields.kind;
  }
}

TEST(FrameFieldsTest, AShellShowsTheVelocityOfItsSurface) {
  Stage stage(
      "weft: 1\ndomain: {dx: 0.1}\ntime: {end: 1, frame_interval: 1}\n"
      "materials: {metal: {law: stvk_hencky, density: 1e3, youngs_modulus: 1e4, poisson_ratio: 0.3}}\n"
      "bodies: [{name: a, kind: shell, material: metal, thickness: 0.01, contact: {stiffness: 1e4}, velocity: [1, 2, "
      "3],"
      " spin: [0, 2, 5], mesh: {rectangle: {width: 0.4, height: 0.3}, across: 3, along: 3}}]\n");
  const Picture picture = stage.scene.bodies[0]->picture();
  const auto v = picture.point_fields.get<Velocity>();
  ASSERT_EQ(v.size(), picture.points.size());
  for (std::size_t p = 0; p < v.size(); ++p) {  // the middle of the plate is at (0.2, 0.15, 0)
    const Vec3 of_rigid_motion = Vec3(1, 2, 3) + Vec3(0, 2, 5).cross(picture.points[p] - Vec3(0.2, 0.15, 0));
    EXPECT_LT((v[p] - of_rigid_motion).norm(), 1e-13);
  }
}

TEST(FrameFieldsTest, DefaultStandsForThoseOfTheKindAndNothingIsShownTwice) {
  const Deck deck = parse_deck(one_of_each_kind + "output: {fields: [mass, default, stretch]}\n", "a.yaml", ".");
  EXPECT_EQ(fields_to_show(deck, "g"), (std::vector<std::string>{"mass", "velocity", "stretch", "pressure"}));
  EXPECT_EQ(fields_to_show(deck, "f").size(), 7u);
  EXPECT_NE(fields_in_words(deck).find("; fiber: velocity, stretch, pressure, mass"), std::string::npos);
}

}  // namespace
}  // namespace weft
