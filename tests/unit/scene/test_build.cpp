#include "weft/scene/build.hpp"

#include "weft/base/log.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/deck/read.hpp"
#include "weft/scene/advice.hpp"
#include "weft/scene/catalogue.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace weft {
namespace {

Scene empty_scene_of(const std::string& rest) {
  return build_scene(
      Comm::world(),
      parse_deck("weft: 1\ndomain: {dx: 0.1}\ntime: {end: 1, frame_interval: 0.1}\n" + rest, "test.yaml", "."));
}

Scene scene_of(const std::string& rest) {
  Scene scene = empty_scene_of(rest);
  fill_bodies(Comm::world(), scene);
  return scene;
}

constexpr const char* soft =
    "materials: {soft: {law: fixed_corotated, density: 500, youngs_modulus: 1e4, poisson_ratio: 0.3}}\n";

TEST(CatalogueTest, EveryLawOfTheDeckBecomesTheLawOfThatName) {
  const YoungDeck stiffness{1e5, 0.3};
  const auto name_of = [](const LawDeck& deck) {
    return std::visit([]<Law L>(const Chosen<L>&) { return std::string(L::name); }, make_law(deck));
  };
  EXPECT_EQ(name_of(FixedCorotatedDeck{stiffness}), "fixed_corotated");
  EXPECT_EQ(name_of(NeoHookeanDeck{stiffness}), "neo_hookean");
  EXPECT_EQ(name_of(StvkHenckyDeck{stiffness}), "stvk_hencky");
  EXPECT_EQ(name_of(DruckerPragerDeck{stiffness, 0.5, 0, 0, 0, 0, true}), "drucker_prager");
  EXPECT_EQ(name_of(SnowDeck{stiffness, 0.02, 0.01, 10}), "snow");
  EXPECT_EQ(name_of(VonMisesDeck{stiffness, 1e3, 0}), "von_mises");
  EXPECT_EQ(name_of(TaitDeck{1e5, 7, 0}), "tait");
  EXPECT_EQ(name_of(HerschelBulkleyDeck{1e4, 1e5, 10, 1, 1}), "herschel_bulkley");
}

TEST(CatalogueTest, LamePairAndYoungPairGiveTheSameLaw) {
  const Lame lame = lame_from(1e5, 0.25);
  const auto a = std::get<Chosen<NeoHookean>>(make_law(NeoHookeanDeck{YoungDeck{1e5, 0.25}}));
  const auto b = std::get<Chosen<NeoHookean>>(make_law(NeoHookeanDeck{LameDeck{lame.lambda, lame.mu}}));
  EXPECT_EQ(a.constants.lame.mu, b.constants.lame.mu);
  EXPECT_EQ(a.constants.lame.lambda, b.constants.lame.lambda);
}

TEST(FillTest, ABoxOfWholeCellsHasItsExactMass) {
  const Scene scene = scene_of(std::string(soft) +
                               "bodies: [{name: a, kind: continuum, material: soft, sampling: regular,"
                               " shape: {box: {lower: [0, 0, 0], upper: [0.4, 0.3, 0.2]}}}]\n");
  Real mass = 0;
  for (const Real m : scene.bodies[0]->points().get<Mass>()) mass += m;
  EXPECT_NEAR(Comm::world().sum(mass), 500 * 0.4 * 0.3 * 0.2, 1e-12);
  EXPECT_EQ(Comm::world().sum(scene.points()), 24 * 8);
}

TEST(FillTest, ABodyHasTheMassOfItsShapeWhereverItLies) {
  const Real pi = std::numbers::pi;
  const std::vector<std::pair<std::string, Real>> shapes = {
      {"sphere: {center: [0, 0, 0], radius: 0.23}", 4 * pi / 3 * std::pow(0.23, 3)},
      {"sphere: {center: [0.013, 0.05, -0.031], radius: 0.23}", 4 * pi / 3 * std::pow(0.23, 3)},
      {"box: {lower: [0.01, 0, 0], upper: [0.37, 0.33, 0.26]}, rotate: {axis: [1, 2, 3], angle: 25}",
       0.36 * 0.33 * 0.26},
      {"cylinder: {from: [0, 0, 0], to: [0.3, 0.1, 0.4], radius: 0.17}", pi * 0.17 * 0.17 * std::sqrt(0.26)},
      {"ellipsoid: {center: [0, 0, 0], radii: [0.1, 0.2, 0.1]}, scale: 1.7", 4 * pi / 3 * 0.002 * std::pow(1.7, 3)}};
  for (const char* sampling : {"regular", "jittered", "poisson"})
    for (const auto& [shape, volume] : shapes) {
      const Scene scene = scene_of(
          fmt::format("{}bodies: [{{name: a, kind: continuum, material: soft, sampling: {}, shape: {{{}}}}}]\n", soft,
                      sampling, shape));
      Real mass = 0;
      for (const Real m : scene.bodies[0]->points().get<Mass>()) mass += m;
      EXPECT_NEAR(Comm::world().sum(mass), 500 * volume, 1e-12 * 500 * volume) << sampling << ' ' << shape;
    }
}

TEST(FillTest, SpinIsARigidRotationAboutTheCentreOfMass) {
  const Scene scene = scene_of(std::string(soft) +
                               "bodies: [{name: a, kind: continuum, material: soft, sampling: regular,"
                               " shape: {box: {lower: [0, 0, 0], upper: [0.4, 0.2, 0.2]}},"
                               " velocity: [1, 2, 3], spin: [0, 0, 2]}]\n");
  const Table& points = scene.bodies[0]->points();
  const Vec3 centre(0.2, 0.1, 0.1);
  for (std::size_t p = 0; p < points.rows(); ++p) {
    const Vec3 r = points.get<Position>()[p] - centre;
    EXPECT_LT((points.get<Velocity>()[p] - Vec3(1 - 2 * r.y(), 2 + 2 * r.x(), 3)).norm(), 1e-13);
    EXPECT_EQ(points.get<Affine>()[p], (Mat3() << 0, -2, 0, 2, 0, 0, 0, 0, 0).finished());
  }
}

TEST(FillTest, ABodyTooThinForItsParticlesIsNamedWithItsPlace) {
  try {
    scene_of(std::string(soft) +
             "bodies: [{name: film, kind: continuum, material: soft, sampling: regular,"
             " shape: {box: {lower: [0, 0, 0.001], upper: [0.4, 0.3, 0.002]}}}]\n");
    FAIL() << "an empty body passed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::geometry);
    EXPECT_NE(std::string(error.what()).find("test.yaml:5:"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("film"), std::string::npos) << error.what();
  }
}

/// What building this scene ends with.
std::string complaint_of(const std::string& text) {
  try {
    scene_of(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(BuildTest, MeshesAndTheirHandlesAreRefusedAtTheirPlaces) {
  const std::string cloth =
      "materials: {soft: {law: fixed_corotated, density: 500, youngs_modulus: 1e4, poisson_ratio: 0.3},"
      " silk: {law: sheet, density: 300, youngs_modulus: 1e4, poisson_ratio: 0.3, contact: {stiffness: 1e4}}}\n"
      "bodies:\n"
      "  - {name: sheet, kind: membrane, material: silk, thickness: 0.001, mesh: {rectangle: {width: 1, height: 1}}}\n";
  EXPECT_EQ(complaint_of(cloth), "");
  const auto expect = [&](const std::string& text, const std::string& place, const std::string& words) {
    const std::string complaint = complaint_of(text);
    EXPECT_NE(complaint.find(place), std::string::npos) << complaint;
    EXPECT_NE(complaint.find(words), std::string::npos) << complaint;
  };
  expect(cloth + "  - {name: lump, kind: continuum, material: silk, shape: {sphere: {center: [0, 0, 0], radius: 1}}}\n",
         "test.yaml:7:", "for bodies with a mesh");
  expect(
      cloth +
          "  - {name: other, kind: membrane, material: soft, thickness: 1, mesh: {rectangle: {width: 1, height: 1}}}\n",
      "test.yaml:7:", "law sheet or woven_sheet");
  expect(cloth +
             "  - {name: hair, kind: fiber, material: silk, radius: 1,"
             " curves: {hair_ball: {radius: 1, length: 1, strands: 3}}}\n",
         "test.yaml:7:", "law fiber");
  expect(cloth + "handles: [{name: pin, body: sheet, where: {sphere: {center: [5, 0, 0], radius: 1}}, hold: {}}]\n",
         "test.yaml:7:", "no vertex of sheet");
  EXPECT_EQ(complaint_of(cloth + "handles: [{name: press, body: sheet, pressure: {value: 1}}]\n"), "");
  expect(cloth + "handles: [{name: turn, body: sheet, edge_moment: {per_length: 1}}]\n",
         "test.yaml:7:", "only shells have");
  expect(cloth + "handles: [{name: slope, body: sheet, hold: {keep: clamp}}]\n", "test.yaml:7:", "no slope to keep");
  expect(cloth + "handles: [{name: hem, body: sheet, group: hem, hold: {}}]\n",
         "test.yaml:7:", "has no group \"hem\". Its groups: none");
  expect(cloth + "handles: [{name: one, body: sheet, vertices: [9999], hold: {}}]\n", "test.yaml:7:", "no vertex 9999");
}

TEST(BuildTest, ASourceOutsideTheBoundsIsRefused) {
  const auto of = [](const char* center) {
    return "weft: 1\ndomain: {dx: 0.1, bounds: {lower: [0, 0, 0], upper: [1, 1, 1]}}\n"
           "time: {end: 1, frame_interval: 0.1}\n" +
           std::string(soft) + "bodies: [{name: a, kind: continuum, material: soft}]\n" +
           "sources: [{name: spout, body: a, velocity: [1, 0, 0], shape: {sphere: {center: " + center +
           ", radius: 0.1}}}]\n";
  };
  const auto build = [&](const char* center) {
    return build_scene(Comm::world(), parse_deck(of(center), "test.yaml", "."));
  };
  EXPECT_NO_THROW(build("[0, 0.5, 0.5]"));  // half of it is inside
  try {
    build("[-0.2, 0.5, 0.5]");
    FAIL() << "a source whose points are removed at once passed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::geometry);
    EXPECT_NE(std::string(error.what()).find("test.yaml:6:"), std::string::npos) << error.what();
  }
}

/// What a handle on a shell that is a flat plate of 2 m x 1 m, turned and moved, acts on.
HandleExtent extent_of(const std::string& action) {
  return build_scene(Comm::world(),
                     parse_deck("weft: 1\ndomain: {dx: 0.1}\ntime: {end: 1, frame_interval: 0.1, scheme: static}\n"
                                "materials: {steel: {law: stvk_hencky, density: 7800, youngs_modulus: 1e9,"
                                " poisson_ratio: 0.3}}\n"
                                "bodies: [{name: plate, kind: shell, material: steel, thickness: 0.01, mesh:"
                                " {rectangle: {width: 2, height: 1}, across: 8, along: 4,"
                                " rotate: {axis: [0, 0, 1], angle: 90}, translate: [5, 0, 0]}}]\n"
                                "handles: [{name: it, body: plate, " +
                                    action + "}]\n",
                                "test.yaml", "."))
      .handles.at(0)
      .extent;
}

TEST(BuildTest, HandlesSayHowMuchTheyActOnAndWithWhatForce) {
  // The plate lies over x from 4 to 5 and y from 0 to 2; its normal is +z.
  const std::string far_edge = "where: {box: {lower: [3, 1.99, -1], upper: [6, 2.01, 1]}}, ";
  const HandleExtent clamp = extent_of(far_edge + "hold: {keep: clamp}");
  EXPECT_NEAR(clamp.part, 1, 1e-12);
  EXPECT_NEAR(clamp.whole, 6, 1e-12);
  EXPECT_EQ(clamp.slopes, 5);
  EXPECT_LT((clamp.middle - Vec3(4.5, 2, 0)).norm(), 1e-12);
  EXPECT_EQ(in_words(clamp), ", 5 with their slope, 1 m of 6 m of the boundary");

  const HandleExtent pull = extent_of(far_edge + "edge_force: {per_length: [0, 3, 1]}");
  EXPECT_LT((pull.force - Vec3(0, 3, 1)).norm(), 1e-12);
  EXPECT_LT(pull.moment.norm(), 1e-12);  // about the middle of the edge

  const HandleExtent turn = extent_of(far_edge + "edge_moment: {per_length: 2}");
  EXPECT_LT(turn.force.norm(), 1e-12);
  EXPECT_LT((turn.moment - Vec3(-2, 0, 0)).norm(), 1e-12);  // the material is on the left of -x

  const HandleExtent press = extent_of("pressure: {value: 7}");
  EXPECT_EQ(press.dimension, 2);
  EXPECT_NEAR(press.part, 2, 1e-12);
  EXPECT_LT((press.force - Vec3(0, 0, 14)).norm(), 1e-11);
  EXPECT_LT((press.middle - Vec3(4.5, 1, 0)).norm(), 1e-12);

  const HandleExtent weight = extent_of("gravity: {acceleration: [0, 0, -10]}");
  EXPECT_LT((weight.force - Vec3(0, 0, -10 * 7800 * 0.01 * 2)).norm(), 1e-9);
}

TEST(BuildTest, ASingleVertexOfTheBoundaryThatIsToKeepItsSlopeIsWarnedOf) {
  const auto warning = [](const std::string& action) {
    log_to_terminal(true);
    testing::internal::CaptureStderr();
    extent_of(action);
    log_to_terminal(false);
    return testing::internal::GetCapturedStderr();
  };
  // An edge from x = 4 to 5, and the vertex (5, 1) of another side.
  const std::string edge = "where: {box: {lower: [3, 1.99, -1], upper: [6, 2.01, 1]}}, hold: {keep: ";
  EXPECT_EQ(warning(edge + "clamp}"), "");
  const std::string some = "vertices: [0, 1, 9, 2, 4], hold: {keep: ";
  EXPECT_EQ(warning(some + "place}"), "");
  const std::string text = warning(some + "clamp}");
  EXPECT_NE(text.find(": 1 of the vertices of the boundary"), std::string::npos) << text;
}

TEST(BuildTest, FrictionOfSheetsNeedsNoStiffnessInShear) {
  const auto shear = [](const std::string& keys) {
    const Deck deck = parse_deck(
        "weft: 1\ndomain: {dx: 0.1}\ntime: {end: 1, frame_interval: 0.1}\nmaterials: {silk: {law: sheet, density: 300,"
        " youngs_modulus: 1e4, poisson_ratio: 0.3, contact: {stiffness: 2e4" +
            keys +
            "}}}\n"
            "bodies: [{name: sheet, kind: membrane, material: silk, thickness: 0.001, mesh: {rectangle: {width: 1, "
            "height: 1}}}]\n",
        "test.yaml", ".");
    return contact_of(std::get<SheetLawDeck>(deck.materials.at(0).law).contact, "silk").shear;
  };
  EXPECT_EQ(shear(", friction: 0.3"), 2e3);
  EXPECT_EQ(shear(", friction: 0.3, shear_stiffness: 50"), 50);
  EXPECT_EQ(shear(", friction: 0.3, shear_stiffness: 0"), 0);
  EXPECT_EQ(shear(""), 0);
}

TEST(BuildTest, FrictionAlongFibersNeedsNoStiffnessInShear) {
  const auto shear = [](const std::string& keys) {
    const Deck deck = parse_deck(
        "weft: 1\ndomain: {dx: 0.1}\ntime: {end: 1, frame_interval: 0.1}\nmaterials: {yarn: {law: fiber, density: 300,"
        " stretch_modulus: 1e5, " +
            keys +
            "}}\n"
            "bodies: [{name: thread, kind: fiber, material: yarn, radius: 0.001, curves: {hair_tube: {inner_radius: "
            "0.01,"
            " outer_radius: 0.02, length: 1, strands: 5}}}]\n",
        "test.yaml", ".");
    return constants_of(std::get<FiberLawDeck>(deck.materials.at(0).law), "yarn").shear;
  };
  const std::string young = "youngs_modulus: 2e4, poisson_ratio: 0.3, ";
  EXPECT_EQ(shear(young + "friction_angle: 20"), 2e3);
  EXPECT_EQ(shear(young + "friction_along: 0.1, friction_across: 0"), 2e3);
  EXPECT_NEAR(shear("lame_lambda: 1e4, lame_mu: 1e4, friction_along: 0.1, friction_across: 0"), 2.5e3, 1e-9);
  EXPECT_EQ(shear(young + "friction_angle: 20, shear_modulus: 50"), 50);
  EXPECT_EQ(shear(young + "friction_angle: 20, shear_modulus: 0"), 0);
  EXPECT_EQ(shear(young + "friction_along: 0, friction_across: 0.2"), 0);
}

TEST(BuildTest, WallsMoveAsTheDeckSays) {
  const Scene scene = scene_of(std::string(soft) +
                               "bodies: [{name: a, kind: continuum, material: soft,"
                               " shape: {sphere: {center: [0, 0, 0], radius: 0.2}}}]\n"
                               "colliders:\n"
                               "  - {name: wheel, shape: {sphere: {center: [1, 0, 0], radius: 0.1}}, condition: sticky,"
                               " motion: {velocity: [0, 1, 0], spin: [0, 0, 3], center: [1, 0, 0]}}\n"
                               "  - {name: bowl, hollow: true, shape: {sphere: {center: [0, 0, 0], radius: 2}},"
                               " condition: separate, friction: 0.4}\n");
  ASSERT_EQ(scene.walls.size(), 2u);
  const RigidState wheel = scene.walls[0].shape.at(0.5);
  EXPECT_LT((wheel.velocity_at(Vec3(1.1, 0.5, 0)) - Vec3(0, 1.3, 0)).norm(), 1e-14);
  EXPECT_NEAR(scene.walls[0].shape.surface(wheel, Vec3(1, 0.7, 0)).distance, 0.1, 1e-14);
  EXPECT_EQ(scene.walls[1].friction, 0.4);
  EXPECT_GT(scene.walls[1].shape.surface(scene.walls[1].shape.at(0), Vec3(0, 0, 0)).distance, 0) << "inside is free";
}

/// A sheet of 2 m x 1 m in 8 x 4 squares, balanced without grid; more: of the body and below it.
Scene static_scene_of(const std::string& of_body, const std::string& below) {
  return build_scene(Comm::world(),
                     parse_deck("weft: 1\ntime: {scheme: static, end: 2, frame_interval: 1}\n"
                                "materials: {paper: {law: sheet, density: 500, youngs_modulus: 1e4, poisson_ratio: "
                                "0.3, contact: {stiffness: 1, shear_stiffness: 1, friction: 0}}}\n"
                                "bodies: [{name: a, kind: membrane, material: paper, thickness: 0.01, mesh: "
                                "{rectangle: {width: 2, height: 1}, across: 8, along: 4}" +
                                    of_body + "}]\n" + below,
                                "test.yaml", "."));
}

TEST(StaticTest, BodiesHaveFreedomsOfTheirOwnAndWhatIsRecordedIsInGrips) {
  const Comm comm = Comm::world();
  Scene scene =
      static_scene_of("",
                      "handles:\n"
                      "  - {name: hand, body: a, where: {box: {lower: [-1, -1, -1], upper: [0.01, 2, 1]}}, "
                      "hold: {}}\n"
                      "  - {name: pull, body: a, where: {box: {lower: [1.99, -1, -1], upper: [3, 2, 1]}}, "
                      "force: {total: [3, 0, 0]}}\n"
                      "probes: [{name: tip, body: a, nearest: {point: [2, 0.9, 0], field: displacement_x}}]\n");
  EXPECT_NEAR(scene.size, std::sqrt(5.0), 1e-14);
  EXPECT_EQ(scene.handles[0].part->vertices, 5);
  EXPECT_EQ(scene.handles[1].part->vertices, 5);
  EXPECT_EQ(scene.probes[0].point.vertices, 1);
  EXPECT_LT(scene.probes[0].distance, 1e-15);
  fill_bodies(comm, scene);
  EXPECT_TRUE(scene.meshes.empty());
  const MeshBody& body = *scene.bodies[0]->roles().mesh;
  EXPECT_EQ(body.carrier(), Carrier::own);
  EXPECT_EQ(comm.sum(static_cast<std::int64_t>(body.points().owned())), 45);
  EXPECT_EQ(body.samples().rows(), 0u);
  EXPECT_EQ(comm.sum(static_cast<std::int64_t>(body.grips(scene.handles[0].list).size())), 15);
  Vec3 total = Vec3::Zero(), tip = Vec3::Zero();
  for (const Grip& grip : body.grips(scene.handles[1].list)) total += force_of(grip);
  for (const Grip& grip : body.grips(scene.probes[0].point.list)) tip += grip.sum(body.points().get<Position>());
  comm.sum(std::span(total.data(), 3));
  comm.sum(std::span(tip.data(), 3));
  EXPECT_LE((total - Vec3(3, 0, 0)).norm(), 1e-14);
  EXPECT_LE((tip - Vec3(2, 0.9, 0)).norm(), 1e-14);
}

TEST(StaticTest, HoldsThatDisagreeAndSheetsThatTearAreRefused) {
  const auto refusal = [](const std::string& of_body, const std::string& below) -> std::string {
    try {
      static_scene_of(of_body, below);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string two = "handles:\n  - {name: one, body: a, hold: {}}\n  - {name: two, body: a, hold: ";
  EXPECT_EQ(refusal("", two + "{}}\n"), "");
  EXPECT_NE(refusal("", two + "{motion: {velocity: [0, 0, 1]}}}\n").find("handles one and two hold the same vertex"),
            std::string::npos);
  EXPECT_NE(refusal(", tear_stretch: 2", "").find("nothing tears"), std::string::npos);
}

TEST(HandleTest, HoldsOnTheGridThatDisagreeAreRefusedWhileBothHold) {
  const auto refusal = [](const std::string& of_two) -> std::string {
    try {
      empty_scene_of(
          "materials: {silk: {law: sheet, density: 300, youngs_modulus: 1e4, poisson_ratio: 0.3, contact: {stiffness: "
          "1e4}}}\n"
          "bodies: [{name: a, kind: membrane, material: silk, thickness: 0.01, mesh: {rectangle: {width: 1, height: "
          "1}, "
          "across: 4, along: 4}}]\n"
          "handles:\n  - {name: one, body: a, hold: {until: 0.3}}\n  - {name: two, body: a, hold: " +
          of_two + "}\n");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string named = "handles one and two hold the same vertex";
  EXPECT_EQ(refusal("{}"), "");
  EXPECT_NE(refusal("{motion: {velocity: [0, 1e-6, 0]}}").find(named), std::string::npos);
  EXPECT_EQ(refusal("{motion: {keyframes: [{time: 0.3}, {time: 0.6, translate: [0, 1, 0]}]}}"), "");
}

/// Advice on a collider of this shape and a shell with these keys, at dx = 0.1.
std::vector<std::string> advice(const std::string& shape, const std::string& shell) {
  return advice_on(
      Comm::world(),
      empty_scene_of("materials: {rubber: {law: stvk_hencky, density: 500, youngs_modulus: 1e4, poisson_ratio: 0.3}}\n"
                     "bodies: [{name: s, kind: shell, material: rubber, thickness: 0.01, contact: {stiffness: 1e4}, " +
                     shell + "}]\ncolliders: [{name: c, shape: {" + shape + "}}]\n"));
}

TEST(AdviceTest, NamesWhatIsTooThinOrTooFarApartForTheGridAndNothingElse) {
  const std::string faces_of_dx = "mesh: {rectangle: {width: 1, height: 0.5}, across: 10, along: 5}";
  for (const char* thick :
       {"sphere: {center: [0, 0, 0], radius: 0.135}", "box: {lower: [0, 0, 0], upper: [1, 1, 0.26]}",
        "plane: {point: [0, 0, 0], normal: [0, 0, 1]}", "capsule: {from: [0, 0, 0], to: [1, 0, 0], radius: 0.135}",
        "sphere: {center: [0, 0, 0], radius: 0.11}}, contact: nodes, motion: {velocity: [0, 0, 0]"})
    EXPECT_TRUE(advice(thick, faces_of_dx).empty()) << thick;
  for (const char* thin : {"sphere: {center: [0, 0, 0], radius: 0.09}", "box: {lower: [0, 0, 0], upper: [1, 1, 0.2]}",
                           "cylinder: {from: [0, 0, 0], to: [1, 0, 0], radius: 0.09}"}) {
    const auto said = advice(thin, faces_of_dx);
    ASSERT_EQ(said.size(), 1u) << thin;
    EXPECT_EQ(said[0].find("test.yaml:6:"), 0u) << said[0];
    EXPECT_NE(said[0].find("colliders.c.shape: it is thinner than 2.5 dx = 0.25 m"), std::string::npos) << said[0];
  }
  const std::string ball = "sphere: {center: [0, 0, 0], radius: 0.3}";
  const auto sparse =
      advice(ball, "contact_points: 1, mesh: {rectangle: {width: 1, height: 0.5}, across: 5, along: 5}");
  ASSERT_EQ(sparse.size(), 1u);
  EXPECT_NE(sparse[0].find("bodies.s.contact_points: they lie up to 0.2 m apart"), std::string::npos);
  const auto fine = advice(ball, "mesh: {rectangle: {width: 1, height: 0.5}, across: 40, along: 20}");
  ASSERT_EQ(fine.size(), 1u);
  EXPECT_NE(fine[0].find("less than dx / 2"), std::string::npos);
}

TEST(AdviceTest, NamesSourcesThatOpenAfterTheEnd) {
  Scene scene = empty_scene_of(std::string(soft) +
                               "bodies: [{name: a, kind: continuum, material: soft}]\n"
                               "sources: [{name: late, body: a, shape: {sphere: {center: [0, 0, 0], radius: 0.3}},"
                               " velocity: [1, 0, 0], from: 0.5}]\n");
  EXPECT_TRUE(advice_on(Comm::world(), scene).empty());
  scene.deck.time.end = 0.5;
  const auto said = advice_on(Comm::world(), scene);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("sources.late: it opens at 0.5 s, and the run ends at 0.5 s"), std::string::npos) << said[0];
}

TEST(AdviceTest, NamesOptionsForSolvesThatThereAreNot) {
  Scene scene = empty_scene_of(
      std::string(soft) +
      "bodies: [{name: a, kind: continuum, material: soft, shape: {sphere: {center: [0, 0, 0], radius: 0.3}}}]\n"
      "solve: {petsc: -ksp_rtol 1e-9}\n");
  const auto said = advice_on(Comm::world(), scene);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("solve.petsc: it has no effect"), std::string::npos) << said[0];
  scene.deck.time.scheme = Scheme::implicit_euler;
  EXPECT_TRUE(advice_on(Comm::world(), scene).empty());
}

}  // namespace
}  // namespace weft
