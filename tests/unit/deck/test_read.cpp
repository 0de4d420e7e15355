// Good decks: values, defaults, locations, overrides, the resolved deck.

#include "decks.hpp"
#include "weft/deck/files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <numbers>

namespace weft {
namespace {

using test::complaints;
using test::full_deck;
using test::read;
using test::replaced;
using test::small_deck;

const ContinuumDeck& body(const Deck& deck, std::size_t i) { return std::get<ContinuumDeck>(deck.bodies[i]); }

TEST(ReadDeckTest, WhatIsWrittenIsWhatIsRead) {
  const Deck deck = read(small_deck);
  EXPECT_EQ(deck.format, 1);
  EXPECT_EQ(deck.title, "Test");
  EXPECT_EQ(deck.domain.dx, 0.02);
  EXPECT_EQ(deck.domain.gravity, Vec3(0, -9.81, 0));
  EXPECT_EQ(deck.time.end, 1);
  ASSERT_EQ(deck.materials.size(), 1u);
  EXPECT_EQ(deck.materials[0].name, "sand");
  EXPECT_EQ(deck.materials[0].density, 2200);
  const auto& sand = std::get<DruckerPragerDeck>(deck.materials[0].law);
  EXPECT_EQ(std::get<YoungDeck>(sand.stiffness).youngs_modulus, 1e6);
  EXPECT_EQ(std::get<YoungDeck>(sand.stiffness).poisson_ratio, 0.3);
  EXPECT_EQ(body(deck, 0).name, "heap");
  EXPECT_EQ(body(deck, 0).material, "sand");
  EXPECT_EQ(std::get<SphereDeck>(body(deck, 0).shape->form).radius, 0.2);
  EXPECT_EQ(std::get<BoxDeck>(deck.sources[0].shape.form).upper, Vec3(1, 3, 1));
  EXPECT_EQ(deck.colliders[0].friction, 0.5);
  EXPECT_EQ(std::get<QuantileProbe>(deck.probes[0].measure).field, "position_x");
}

TEST(ReadDeckTest, WhatIsNotWrittenHasItsDefault) {
  const Deck deck = read(small_deck);
  EXPECT_FALSE(deck.domain.bounds);
  EXPECT_EQ(deck.time.cfl, 0.3);
  EXPECT_EQ(deck.time.max_dt, std::numeric_limits<Real>::infinity());
  EXPECT_EQ(deck.time.max_strain, 0.5);
  EXPECT_EQ(deck.time.max_retries, 8);
  EXPECT_EQ(deck.transfer.kernel, KernelKind::quadratic);
  EXPECT_EQ(deck.transfer.rpic_damping, 0);
  const auto& sand = std::get<DruckerPragerDeck>(deck.materials[0].law);
  EXPECT_DOUBLE_EQ(sand.friction_angle, std::numbers::pi / 6);
  EXPECT_EQ(sand.cohesion, 0);
  EXPECT_EQ(sand.hardening_rate, 0.2);
  EXPECT_TRUE(sand.volume_correction);
  EXPECT_EQ(body(deck, 0).particles_per_cell, 8);
  EXPECT_EQ(body(deck, 0).sampling, Sampling::poisson);
  EXPECT_EQ(body(deck, 0).spin, Vec3::Zero());
  EXPECT_EQ(body(deck, 0).shape->scale, 1);
  EXPECT_FALSE(body(deck, 0).shape->rotate);
  EXPECT_EQ(deck.sources[0].until, std::numeric_limits<Real>::infinity());
  EXPECT_EQ(deck.colliders[0].condition, WallCondition::separate);
  EXPECT_FALSE(deck.colliders[0].motion);
  EXPECT_EQ(deck.output.fields, (std::vector<std::string>{"default"}));
  EXPECT_EQ(deck.output.diagnostics_every, 10);
  EXPECT_EQ(deck.output.checkpoint.every_wall, 1800);
  EXPECT_EQ(deck.output.checkpoint.keep, 3);
  EXPECT_EQ(deck.balance.threshold, 1.1);
  EXPECT_EQ(deck.balance.every, 5);
}

TEST(ReadDeckTest, UnitsBecomeSiAndDegreesBecomeRadians) {
  const Deck deck = read(full_deck);
  EXPECT_EQ(deck.domain.dx, 0.02);
  EXPECT_EQ(deck.domain.gravity, Vec3(0, -9.81, 0.01));
  EXPECT_EQ(deck.domain.bounds->upper, Vec3(1000, 1, 1));
  EXPECT_EQ(deck.time.end, 60);
  EXPECT_EQ(deck.materials[0].density, 1000);
  EXPECT_EQ(std::get<VonMisesDeck>(deck.materials[5].law).yield_stress, 60e6);
  EXPECT_EQ(std::get<DruckerPragerDeck>(deck.materials[3].law).friction_angle, 0.6);
  EXPECT_DOUBLE_EQ(std::get<DruckerPragerDeck>(deck.materials[3].law).hardening_gain, 7 * std::numbers::pi / 180);
  EXPECT_DOUBLE_EQ(body(deck, 0).spin.y(), 2 * std::numbers::pi);
  EXPECT_DOUBLE_EQ(deck.colliders[2].motion->keyframes[1].rotate->angle, -std::numbers::pi / 2);
}

TEST(ReadDeckTest, PlacesNameFileLineColumnAndPath) {
  const Deck deck = read(small_deck);
  EXPECT_EQ(deck.materials[0].location.text, "d.yaml:9:5: materials.sand");
  EXPECT_EQ(body(deck, 0).location.text, "d.yaml:14:5: bodies.heap");
  EXPECT_EQ(body(deck, 0).shape->location.text, "d.yaml:17:12: bodies.heap.shape");
  EXPECT_EQ(deck.probes[0].location.text, "d.yaml:23:5: probes.front");
}

TEST(ReadDeckTest, MeshPathsAreRelativeToTheDeckAndBecomeAbsolute) {
  const auto folder = std::filesystem::temp_directory_path() / "weft_test_deck";
  std::filesystem::create_directories(folder / "meshes");
  std::ofstream(folder / "meshes" / "cup.obj") << "v 0 0 0\n";
  const std::string text =
      replaced(small_deck, "sphere: {center: [0, 1, 0], radius: 0.2}", "mesh: {file: meshes/cup.obj}");
  std::ofstream(folder / "a.yaml") << text;
  const Deck deck = read_deck((folder / "a.yaml").string());
  EXPECT_EQ(std::get<MeshDeck>(body(deck, 0).shape->form).file, (folder / "meshes/cup.obj").string());
  const Deck again = parse_deck(resolved_yaml(deck), "resolved.yaml", "/elsewhere");
  EXPECT_EQ(resolved_yaml(again), resolved_yaml(deck));
  std::filesystem::remove_all(folder);
}

TEST(ReadDeckTest, AllFilesOfADeckAreFoundByTheirKeys) {
  Deck deck = read(full_deck);
  std::vector<std::string> keys;
  for_each_file(deck, [&](const std::string& key, std::string& path) {
    EXPECT_TRUE(path.ends_with("/README.md")) << path;
    keys.push_back(key);
    path.clear();
  });
  EXPECT_EQ(keys, (std::vector<std::string>{"bodies.h.shape.mesh.file", "bodies.s1.mesh.file.path",
                                            "bodies.m2.mesh.file.path", "bodies.f1.curves.curve_file.path",
                                            "bodies.r1.curves.curve_file.path", "bodies.r6.curves.groom.file",
                                            "bodies.r7.curves.curve_file.path", "bodies.t1.mesh.file.path"}));
  EXPECT_EQ(resolved_yaml(deck).find("README.md"), std::string::npos);
}

TEST(ReadDeckTest, AFileOfASavedDeckMayBeGone) {
  const std::string text = replaced(small_deck, "sphere: {center: [0, 1, 0], radius: 0.2}", "mesh: {file: gone.obj}");
  EXPECT_THROW(parse_deck(text, "a.yaml", "/nowhere"), Error);
  const Deck deck = parse_saved_deck(text, "a.yaml", "/nowhere");
  EXPECT_EQ(std::get<MeshDeck>(body(deck, 0).shape->form).file, "/nowhere/gone.obj");
}

TEST(ReadDeckTest, TheFirstKeyThatDiffersIsNamedWithBothValues) {
  const Deck deck = read(small_deck);
  EXPECT_FALSE(first_difference(deck, read(small_deck)));
  const auto found = [&](const char* from, const char* to) {
    const auto difference = first_difference(deck, read(replaced(small_deck, from, to)));
    return difference ? difference->key + ": " + difference->values[0] + " | " + difference->values[1] : "";
  };
  EXPECT_EQ(found("density: 2200", "density: 2100"), "materials.sand.density: 2200 kg/m^3 | 2100 kg/m^3");
  EXPECT_EQ(found("radius: 0.2", "radius: 0.3"), "bodies.heap.shape.sphere.radius: 0.2 m | 0.3 m");
  EXPECT_EQ(found("[0, 1, 0], radius: 0.2", "[0, 1, 2], radius: 0.2"), "bodies.heap.shape.sphere.center.2: 0 | 2");
}

TEST(ReadDeckTest, ADeckThatCannotBeOpenedIsADeckError) {
  for (const char* path : {"/nowhere/a.yaml", "/tmp", "/dev/zero", ""}) try {
      read_deck(path);
      FAIL() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::deck) << path;
      EXPECT_EQ(std::string(error.what()).rfind(path, 0), 0u) << error.what();
    }
}

TEST(ReadDeckTest, NamesThatLookLikeNumbersWithoutADigitInFrontAreTexts) {
  for (const char* name : {"e1", "E5", "e10", "_1", "e", "e_2", "e-3", "y", "N"}) {
    const Deck deck = read(replaced(small_deck, "name: front", std::string("name: ") + name));
    EXPECT_EQ(deck.probes[0].name, name);
    EXPECT_EQ(parse_deck(resolved_yaml(deck), "resolved.yaml", "/").probes[0].name, name);
  }
}

TEST(ReadDeckTest, OptionsForPetscThatOnlySolvePass) {
  for (const char* options :
       {"-ksp_type gmres -pc_type asm -sub_pc_type ilu", "-ksp_rtol 1e-3 -ksp_monitor -snes_monitor",
        "-pc_type gamg -pc_gamg_threshold -0.1 -mg_levels_ksp_type chebyshev -mg_levels_2_pc_type sor", "-ksp_view",
        "-pc_type hypre -pc_hypre_type boomeramg -pc_hypre_boomeramg_strong_threshold 0.5 -pc_mg_levels 3",
        "-mat_mumps_icntl_14 80 -pc_factor_mat_solver_type mumps", ""})
    EXPECT_EQ(read(std::string(small_deck) + "solve: {petsc: \"" + options + "\"}\n").solve.petsc, options);
}

TEST(ReadDeckTest, WhatIsNoPlainFileOfADecksSizeIsRefusedUnread) {
  const auto folder = std::filesystem::temp_directory_path() / "weft_test_deck_files";
  std::filesystem::create_directories(folder);
  const std::string pipe = (folder / "pipe").string(), huge = (folder / "huge").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::ofstream(huge) << "weft: 1\n";
  std::filesystem::resize_file(huge, std::uintmax_t{20} << 30);  // without taking room
  for (const std::string& path : {pipe, huge, std::string("/proc/kmsg"), std::string("/proc/self/mem")}) try {
      read_deck(path);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::deck) << path;
      EXPECT_EQ(std::string(error.what()).rfind(path, 0), 0u) << error.what();
    }
  std::filesystem::remove_all(folder);
}

TEST(ReadDeckTest, EveryShippedDeckIsRead) {
  for (const auto& file : std::filesystem::directory_iterator(WEFT_SOURCE_DIR "/decks")) {
    if (file.path().extension() != ".yaml") continue;
    EXPECT_NO_THROW(read_deck(file.path().string())) << file.path();
  }
}

TEST(ReadDeckTest, CommentsByteOrderMarkAndWindowsLinesDoNotMatter) {
  std::string windows = "\xEF\xBB\xBF# a comment\r\n";
  for (const char c : full_deck) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(resolved_yaml(read(windows)), resolved_yaml(read(full_deck)));
}

// --- The resolved deck -----------------------------------------------------------------------------------------------

TEST(ResolvedDeckTest, ReadsBackToTheSameText) {
  for (const std::string_view text : {small_deck, full_deck}) {
    const std::string resolved = resolved_yaml(read(text));
    EXPECT_EQ(resolved_yaml(read(resolved)), resolved);
  }
}

TEST(ResolvedDeckTest, KeepsEveryBitOfAwkwardNumbers) {
  const std::vector<std::string> overrides{"domain.dx=0.1234567890123456789", "time.end=3.3333333333333335",
                                           "materials.sand.friction_angle=0.52359877559829893 rad"};
  const Deck deck = read(small_deck, overrides);
  const Deck again = read(resolved_yaml(deck));
  EXPECT_EQ(again.domain.dx, deck.domain.dx);
  EXPECT_EQ(again.time.end, deck.time.end);
  EXPECT_EQ(std::get<DruckerPragerDeck>(again.materials[0].law).friction_angle,
            std::get<DruckerPragerDeck>(deck.materials[0].law).friction_angle);
}

TEST(ResolvedDeckTest, KeepsEveryLetterOfATitle) {
  const Deck deck = read(replaced(small_deck, "title: Test", R"(title: "a\"b\\c\n\t\x01\x7f #: é 雪 ")"));
  EXPECT_EQ(deck.title, "a\"b\\c\n\t\x01\x7f #: é 雪 ");
  EXPECT_EQ(read(resolved_yaml(deck)).title, deck.title);
}

TEST(ResolvedDeckTest, SaysEveryDefaultInKeyUnits) {
  const std::string resolved = resolved_yaml(read(small_deck));
  for (const char* line :
       {"\n  cfl: 0.3\n", "\n  max_dt: none\n", "\n    friction_angle: 30  # deg\n", "\n  kernel: quadratic\n",
        "\n    every_wall: 1800  # s\n", "\n    particles_per_cell: 8\n", "\n  dx: 0.02  # m\n"})
    EXPECT_NE(resolved.find(line), std::string::npos) << line << resolved;
}

// --- Overrides -------------------------------------------------------------------------------------------------------

TEST(OverrideTest, ReplacesAndAddsValuesByKeyName) {
  const Deck deck = read(small_deck, {"time.end=2 min", "bodies.heap.particles_per_cell=27", "time.cfl=0.1",
                                      "output.checkpoint.keep=7", "bodies.heap.velocity=[1, 2, 3]"});
  EXPECT_EQ(deck.time.end, 120);
  EXPECT_EQ(body(deck, 0).particles_per_cell, 27);
  EXPECT_EQ(deck.time.cfl, 0.1);
  EXPECT_EQ(deck.output.checkpoint.keep, 7);
  EXPECT_EQ(body(deck, 0).velocity, Vec3(1, 2, 3));
}

TEST(OverrideTest, ReachesListEntriesByNumberAndComponentsOfVectors) {
  const Deck deck =
      read(small_deck, {"bodies.0.seed=3", "domain.gravity.1=-1.62", "colliders.floor.shape.plane.normal.0=1"});
  EXPECT_EQ(body(deck, 0).seed, 3u);
  EXPECT_EQ(deck.domain.gravity, Vec3(0, -1.62, 0));
  EXPECT_EQ(std::get<PlaneDeck>(deck.colliders[0].shape.form).normal, Vec3(1, 1, 0));
}

TEST(OverrideTest, CanGiveWholeSectionsAndTheLastOneWins) {
  const Deck deck = read(small_deck, {"transfer={kernel: cubic}", "transfer.kernel=linear", "probes=[]"});
  EXPECT_EQ(deck.transfer.kernel, KernelKind::linear);
  EXPECT_TRUE(deck.probes.empty());
}

TEST(OverrideTest, CanMendADeckBeforeItIsChecked) {
  EXPECT_TRUE(complaints(replaced(small_deck, "end: 1", "end: -1"), {"time.end=1"}).empty());
}

TEST(OverrideTest, MistakesNameTheOverride) {
  const auto first = [](const std::string& override_text) {
    const auto lines = complaints(small_deck, {override_text});
    return lines.size() == 1 ? lines[0] : "not one line";
  };
  EXPECT_EQ(first("bodies.heep.velocity=[0, 0, 1]"),
            "--set bodies.heep.velocity: bodies has no entry \"heep\". Did you mean \"heap\"? Entries there: heap.");
  EXPECT_EQ(first("bodies.heap.velocty=[0, 0, 1]")
                .rfind("--set bodies.heap.velocty: unknown key. Did you mean \"velocity\"?", 0),
            0u);
  EXPECT_EQ(first("time.end=-1").rfind("--set time.end: \"-1\" is out of range.", 0), 0u);
  EXPECT_EQ(first("bodies.1.seed=1").rfind("--set bodies.1.seed: bodies has no entry \"1\".", 0), 0u);
  EXPECT_EQ(first("time.end.x=1").rfind("--set time.end.x: time.end has no entry \"x\".", 0), 0u);
  EXPECT_EQ(first("time={end: 1, frame_interval: 0.1, cfll: 3}").rfind("--set time: time.cfll: unknown key.", 0), 0u);
  EXPECT_EQ(first("time.end").rfind("--set time.end: \"time.end\" is not an override.", 0), 0u);
  EXPECT_EQ(first("time..end=1").rfind("--set time..end: ", 0), 0u);
  EXPECT_EQ(first("=1").rfind("--set : ", 0), 0u);
  EXPECT_EQ(
      first("time.end=[1")
          .rfind("--set time.end: a key must be a single word. If this is not meant as a key, a [ or { is not closed.",
                 0),
      0u);
  EXPECT_EQ(first("time.end=").rfind("--set time.end: has no value.", 0), 0u);
}

}  // namespace
}  // namespace weft
