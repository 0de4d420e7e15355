// Bodies with a mesh in steps of the grid, and cut anew among ranks.

#include "weft/bodies/mesh_body.hpp"

#include "support/scenes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>

namespace weft {
namespace {

using test::Stage;

/// Cloth that flies, turning; with something to hit if asked for.
std::string flying_cloth(const std::string& gravity, const std::string& more) {
  return "weft: 1\n"
         "domain: {dx: 0.05, gravity: " +
         gravity +
         "}\n"
         "time: {end: 1, frame_interval: 1}\n"
         "materials:\n"
         "  cotton: {law: sheet, density: 500, youngs_modulus: 2e4, poisson_ratio: 0.3,"
         " contact: {stiffness: 1e4, shear_stiffness: 2e3, friction: 0.3}}\n"
         "  soft: {law: fixed_corotated, density: 200, youngs_modulus: 5e3, poisson_ratio: 0.3}\n"
         "bodies:\n"
         "  - {name: cloth, kind: membrane, material: cotton, thickness: 0.01, mesh: {rectangle:"
         " {width: 0.6, height: 0.5}, across: 12, along: 10}" +
         more;
}
const std::string with_jelly =
    ", velocity: [1, 0, 0.5], spin: [0, 2, 1]}\n"
    "  - {name: ball, kind: continuum, material: soft, shape: {sphere: {center: [0.3, 0.25, 0.2], radius: 0.11}},"
    " velocity: [1, 0, -2]}\n";

MeshBody& cloth_of(Stage& stage) { return dynamic_cast<MeshBody&>(*stage.scene.bodies[0]); }

/// One column of all ranks by id.
template <class F>
std::vector<Real> by_id(const Comm& comm, const Table& table, std::size_t count) {
  constexpr std::size_t width = sizeof(typename F::Value) / sizeof(Real);
  std::vector<Real> all(count * width, 0);
  for (std::size_t r = 0; r < table.owned(); ++r)
    std::memcpy(&all[table.get<Id>()[r] * width], &table.get<F>()[r], sizeof(typename F::Value));
  comm.sum(all);
  return all;
}

TEST(MeshBodyTest, FallsAsOneWithoutDeforming) {
  Stage stage(flying_cloth("[0, 0, -10]", ", velocity: [1, 0, 0.5]}\n"));
  const MeshBody& cloth = cloth_of(stage);
  const auto vertices = static_cast<std::size_t>(cloth.counts().vertices);
  const auto before = by_id<Position>(stage.comm, cloth.points(), vertices);
  stage.steps(20);
  const auto after = by_id<Position>(stage.comm, cloth.points(), vertices);
  const Real t = stage.state.time;
  const Vec3 way = Vec3(after[0], after[1], after[2]) - Vec3(before[0], before[1], before[2]);
  EXPECT_NEAR(way.x(), t, 1e-12);
  EXPECT_NEAR(way.z(), 0.5 * t - 5 * t * t, 5 * t * t);  // to first order in dt
  for (std::size_t k = 0; k < after.size(); ++k) EXPECT_NEAR(after[k] - before[k], way[k % 3], 1e-12);
  EXPECT_LT(stage.totals().elastic_energy, 1e-13);
}

TEST(MeshBodyTest, KeepsMassAndMomentumWhileItIsHit) {
  Stage stage(flying_cloth("[0, 0, 0]", with_jelly));
  const Totals before = stage.totals();
  EXPECT_NEAR(before.mass, 0.6 * 0.5 * 0.01 * 500 + 200 * 4 / 3.0 * M_PI * std::pow(0.11, 3), 0.05 * before.mass);
  stage.steps(60);
  const Totals after = stage.totals();
  EXPECT_EQ(after.particles, before.particles);
  EXPECT_NEAR(after.mass, before.mass, 1e-13 * before.mass);
  EXPECT_LT((after.momentum - before.momentum).norm(), 1e-12 * before.mass);
  EXPECT_GT(after.elastic_energy, 1e-3 * before.kinetic_energy) << "they never met";
}

TEST(MeshBodyTest, GhostsStayWhereTheirOwnersAre) {
  Stage stage(flying_cloth("[0, 0, 0]", with_jelly));
  MeshBody& cloth = cloth_of(stage);
  stage.steps(40);
  const auto seen = cloth.points().get<Position>();
  const std::vector<Vec3> own(seen.begin(), seen.end());
  cloth.forest().update_ghosts(cloth.points().column("position"));
  for (std::size_t r = cloth.points().owned(); r < cloth.points().rows(); ++r) {
    EXPECT_EQ(own[r], seen[r]);
    EXPECT_EQ(cloth.points().get<Mass>()[r], 0);
  }
}

TEST(MeshBodyTest, CutAnewKeepsItsWholeState) {
  Stage stage(flying_cloth("[0, 0, 0]", with_jelly));
  MeshBody& cloth = cloth_of(stage);
  stage.steps(20);
  const MeshCounts& counts = cloth.counts();
  const auto vertices = static_cast<std::size_t>(counts.vertices);
  const auto samples = static_cast<std::size_t>(counts.elements * counts.samples);
  const auto state = [&] {
    std::vector<Real> all;
    const auto add = [&](const std::vector<Real>& values) { all.insert(all.end(), values.begin(), values.end()); };
    add(by_id<Position>(stage.comm, cloth.points(), vertices));
    add(by_id<Velocity>(stage.comm, cloth.points(), vertices));
    add(by_id<Affine>(stage.comm, cloth.points(), vertices));
    add(by_id<Mass>(stage.comm, cloth.points(), vertices));
    add(by_id<Position>(stage.comm, cloth.samples(), samples));
    add(by_id<Affine>(stage.comm, cloth.samples(), samples));
    add(by_id<Mass>(stage.comm, cloth.samples(), samples));
    add(by_id<Director>(stage.comm, cloth.samples(), samples));
    return all;
  };
  const auto before = state();
  const Real energy = stage.comm.sum(cloth.elastic_energy());
  const int ranks = stage.comm.size();
  for (const int shift : {1, 3}) {
    cloth.share(stage.comm,
                [&](const Vec3& x) { return static_cast<int>(std::floor(40 * x.y()) + 400 + shift) % ranks; });
    EXPECT_EQ(state(), before);
    EXPECT_NEAR(stage.comm.sum(cloth.elastic_energy()), energy, 1e-12 * energy);
    // Every element is somewhere once.
    EXPECT_EQ(stage.comm.sum(static_cast<std::int64_t>(cloth.elements().size())), counts.elements);
  }
}

/// A deck of two meshes that are `times` as large as at their smallest, all over under pressure.
std::string meshes_of_size(int times) {
  const auto mesh = [&](const std::string& more) {
    return ", thickness: 0.01, mesh: {rectangle: {width: " + std::to_string(0.6 * times) +
           ", height: 0.5}, across: " + std::to_string(12 * times) + ", along: 10}" + more + "}\n";
  };
  const std::string contact = " contact: {stiffness: 1e4, shear_stiffness: 2e3, friction: 0.3}";
  return "weft: 1\n"
         "domain: {dx: 0.05}\n"
         "time: {end: 1, frame_interval: 1}\n"
         "materials:\n"
         "  cotton: {law: sheet, density: 500, youngs_modulus: 2e4, poisson_ratio: 0.3," +
         contact +
         "}\n"
         "  rubber: {law: stvk_hencky, density: 500, youngs_modulus: 2e4, poisson_ratio: 0.3}\n"
         "bodies:\n"
         "  - {name: cloth, kind: membrane, material: cotton" +
         mesh(", bending: {youngs_modulus: 1e4}, tear_stretch: 2") +
         "  - {name: shell, kind: shell, material: rubber, contact_points: 1, in_plane: 1," + contact + mesh("") +
         "handles:\n"
         "  - {name: a, body: cloth, pressure: {value: 1}}\n"
         "  - {name: b, body: shell, pressure: {value: 1}}\n"
         "  - {name: c, body: shell, hold: {}}\n";
}

TEST(MeshBodyTest, CostsARankNoMoreWhenMeshesGrowWithTheRanks) {
  const Comm world = Comm::world(), self(MPI_COMM_SELF);
  const auto built = [](const Comm& comm, int times) {
    return build_scene(comm, parse_deck(meshes_of_size(times), "test.yaml", "."));
  };
  Scene small = built(self, 1), large = built(world, world.size());
  const auto held_by = [](const Scene& scene, std::size_t b) {
    const auto& body = dynamic_cast<const MeshBody&>(*scene.bodies[b]);
    return std::array{static_cast<Real>(body.elements().size()), static_cast<Real>(body.piece().points.size()),
                      static_cast<Real>(body.bytes_of_mesh())};
  };
  fill_bodies(self, small);
  fill_bodies(world, large);
  for (std::size_t b = 0; b < 2; ++b) {
    // Cut across its length into pieces of the small mesh's size.
    const auto part_at = [&](const Vec3& x) { return std::min(world.size() - 1, static_cast<int>(x.x() / 0.6)); };
    dynamic_cast<MeshBody&>(*large.bodies[b]).share(world, part_at);
    const auto share = held_by(small, b), held = held_by(large, b);
    EXPECT_EQ(held[0], share[0]);
    EXPECT_LE(held[1], 1.2 * share[1]) << "a row of vertices beyond each cut";
    EXPECT_LE(held[2], 1.2 * share[2]);
  }
}

/// Places of the vertices of a cloth by their number.
std::vector<Vec3> places(const Stage& stage, const MeshBody& cloth) {
  const auto x = by_id<Position>(stage.comm, cloth.points(), static_cast<std::size_t>(cloth.counts().vertices));
  std::vector<Vec3> all;
  for (std::size_t i = 0; i < x.size(); i += 3) all.emplace_back(x[i], x[i + 1], x[i + 2]);
  return all;
}

TEST(HandlesTest, LeadTheirPlacesAndGiveWhatTheBodyTakes) {
  // Two rows of vertices half a grid spacing apart, so that conditions depend on one another; they rise and turn.
  Stage stage(flying_cloth("[0, 0, -10]",
                           ", velocity: [0, 0, 0]}\n"
                           "handles:\n"
                           "  - {name: hand, body: cloth, where: {box: {lower: [-1, -1, -1], upper: [0.051, 2, 1]}},"
                           " hold: {motion: {velocity: [0, 0, 0.4], spin: [0, 1, 0]}}}\n"));
  MeshBody& cloth = cloth_of(stage);
  const auto rest = places(stage, cloth);
  const Totals before = stage.totals();
  stage.steps(50);
  const Real t = stage.state.time;
  const auto x = places(stage, cloth);
  const RigidState state = stage.scene.handles[0].hold()->motion.at(t);
  std::int64_t held = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (rest[i].x() < 0.051) {
      ++held;
      EXPECT_LT((x[i] - state.to_world(rest[i])).norm(), 1e-10 * 0.05);
    }
  EXPECT_EQ(3 * held, stage.comm.sum(static_cast<std::int64_t>(cloth.grips(stage.scene.handles[0].list).size())));
  EXPECT_EQ(held, cloth.vertices_in(stage.comm, stage.scene.handles[0].list));
  // Momentum changes by what gravity and the handle give.
  const Totals after = stage.totals();
  const Vec3 given = after.momentum - before.momentum - before.mass * t * Vec3(0, 0, -10);
  EXPECT_LT((stage.state.handle_impulse[0].linear - given).norm(), 1e-11 * given.norm());
  EXPECT_GT(given.z(), 0.3 * before.mass * t * 10) << "the handle carried nothing";
}

// Forces on held vertices are the handle's: nodes that they moved would never rest, and edges of 0.2 dx gained as much
// energy in each tenth of a second as 4 % of what the sheet has.
TEST(HandlesTest, HoldStretchedSheetsAtRestHoweverFineTheyAre) {
  Stage stage(
      "weft: 1\n"
      "domain: {dx: 0.05, gravity: [0, 0, 0]}\n"
      "time: {end: 1, frame_interval: 1}\n"
      "materials: {cotton: {law: sheet, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3, "
      "contact: {stiffness: 1e4}}}\n"
      "bodies: [{name: sheet, kind: membrane, material: cotton, thickness: 0.005, "
      "mesh: {rectangle: {width: 0.2, height: 0.12}, across: 20, along: 12}}]\n"
      "handles:\n"
      "  - {name: left, body: sheet, where: {box: {lower: [-1, -1, -1], upper: [0.001, 1, 1]}}, hold: {}}\n"
      "  - {name: right, body: sheet, where: {box: {lower: [0.199, -1, -1], upper: [1, 1, 1]}}, hold: {motion: "
      "{keyframes: [{time: 0}, {time: 0.2, translate: [0.1, 0, 0.02], rotate: {axis: [1, 0, 0], angle: 20}}]}}}\n");
  const auto to = [&](Real time) {
    while (stage.state.time < time) stage.steps(10);
    const Totals totals = stage.totals();
    return totals.kinetic_energy + totals.elastic_energy;
  };
  const auto work = [&] { return stage.state.handle_impulse[0].work + stage.state.handle_impulse[1].work; };
  const Real early = to(0.22), given = work(), late = to(0.6);
  EXPECT_GT(early, 1);
  EXPECT_LT(early, given * 1.002);
  EXPECT_LT(late, early);
  EXPECT_NEAR(work(), given, 1e-6 * given) << "nothing moves";
  // The left handle bears what the right one does, and both have borne it for as long.
  const Vec3 left = stage.state.handle_impulse[0].linear, right = stage.state.handle_impulse[1].linear;
  EXPECT_LT((left + right).norm(), 0.01 * left.norm());
}

TEST(HandlesTest, HoldOneDirectionAlone) {
  Stage stage(flying_cloth("[0, 0, -10]",
                           ", velocity: [1, 0, 0]}\n"
                           "handles:\n"
                           "  - {name: rail, body: cloth, hold: {axes: [z]}}\n"));
  MeshBody& cloth = cloth_of(stage);
  const auto rest = places(stage, cloth);
  stage.steps(20);
  const auto x = places(stage, cloth);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(x[i].z(), 0, 1e-10 * 0.05);
    EXPECT_NEAR(x[i].x() - rest[i].x(), stage.state.time, 1e-9);
  }
}

TEST(HandlesTest, LetGoWhenTheyAreTold) {
  Stage stage(flying_cloth("[0, 0, -10]",
                           ", velocity: [0, 0, 0]}\n"
                           "handles:\n"
                           "  - {name: hand, body: cloth, hold: {until: 0.03}}\n"));
  while (stage.state.time < 0.03) stage.steps(1);
  EXPECT_EQ(stage.state.time, 0.03);  // no step goes beyond that moment
  const Real let_go = stage.state.time, carried = stage.state.handle_impulse[0].linear.z();
  EXPECT_NEAR(carried, stage.totals().mass * 10 * let_go, 1e-3 * carried);  // handles are a little soft
  stage.steps(20);
  EXPECT_EQ(stage.state.handle_impulse[0].linear.z(), carried);
  EXPECT_NEAR(stage.totals().momentum.z(), -stage.totals().mass * 10 * (stage.state.time - let_go), 1e-3 * carried);
}

TEST(HandlesTest, LetGoAtAnOutputWithoutASliverOfAStep) {
  // As decimals they are the same moment, as numbers they are not.
  const Real until = 0.0375, output = 3 * 0.0125;
  ASSERT_NE(until, output);
  for (const char* scheme : {"explicit", "implicit"}) {
    std::string text = flying_cloth("[0, 0, -10]",
                                    ", velocity: [0, 0, 0]}\n"
                                    "handles:\n"
                                    "  - {name: hand, body: cloth, where: {sphere: {center: [0, 0, 0], radius: 0.2}}, "
                                    "hold: {until: 0.0375}}\n");
    text.replace(text.find("time: {"), 7, std::string("time: {scheme: ") + scheme + ", max_dt: 2e-3, ");
    Stage stage(text);
    std::vector<Real> steps;
    for (const Real stop : {output, output + 0.0125})
      while (stage.state.time < stop) {
        const Real before = stage.state.time;
        stage.stepper.take(stop);
        steps.push_back(stage.state.time - before);
      }
    EXPECT_GT(*std::min_element(steps.begin(), steps.end()), 0.1 * *std::max_element(steps.begin(), steps.end()));
    // It carried all along, and not for one step more.
    const Real carried = stage.state.handle_impulse[0].linear.z();
    EXPECT_GT(carried, 0);
    EXPECT_NEAR(stage.totals().momentum.z(), carried - stage.totals().mass * 10 * stage.state.time, 1e-3 * carried);
    EXPECT_LT(stage.totals().momentum.norm(), 2 * stage.totals().mass * 10 * stage.state.time) << "it was thrown";
  }
}

TEST(HandlesTest, PullByAForceThatIsTheirs) {
  Stage stage(flying_cloth("[0, 0, 0]",
                           ", velocity: [1, 0, 0]}\n"
                           "handles:\n"
                           "  - {name: hook, body: cloth, where: {sphere: {center: [0.3, 0.25, 0], radius: 0.1}},"
                           " force: {total: [0, 0, 0.3], amplitude: [{time: 0, factor: 2}]}}\n"));
  const Totals before = stage.totals();
  stage.steps(20);
  const Vec3 gain = stage.totals().momentum - before.momentum;
  EXPECT_LT((gain - Vec3(0, 0, 0.6) * stage.state.time).norm(), 1e-11);
}

/// Momentum that cloth of 0.6 x 0.5 m and 0.1 kg/m^2 gains from one load in 20 steps.
Vec3 momentum_from(const std::string& load, Real& time) {
  Stage stage(flying_cloth("[0, 0, 0]", "}\nhandles:\n  - {name: load, body: cloth, " + load + "}\n"));
  stage.steps(20);
  time = stage.state.time;
  const Totals after = stage.totals();
  const Impulse& given = stage.state.handle_impulse[0];
  EXPECT_LT((given.linear - after.momentum).norm(), 1e-11 * after.momentum.norm());
  return after.momentum;
}

TEST(HandlesTest, GroupsOfTheMeshFileArePartsOfMembranes) {
  // A point that no face uses comes first, so that vertices have other numbers than points of the file.
  const std::string file = ::testing::TempDir() + "membrane_groups.obj";
  if (Comm::world().is_root()) {
    std::ofstream out(file);
    out << "v 9 9 9\n";
    for (int j = 0; j <= 2; ++j)
      for (int i = 0; i <= 4; ++i) out << "v " << 0.1 * i << " " << 0.1 * j << " 0\n";
    for (int j = 0; j < 2; ++j) {
      out << "g half_" << j << "\n";
      for (int i = 0; i < 4; ++i) {
        const int a = 5 * j + i + 2;
        if (i % 2 == 0) out << "f " << a << " " << a + 1 << " " << a + 6 << " " << a + 5 << "\n";
        else out << "f " << a << " " << a + 1 << " " << a + 6 << "\nf " << a << " " << a + 6 << " " << a + 5 << "\n";
      }
    }
    out << "g corner\np 2\n";
  }
  Comm::world().any(false);
  std::string text = flying_cloth("[0, 0, 0]",
                                  "}\nhandles:\n  - {name: load, body: cloth, group: half_1, traction: {per_area: [0, "
                                  "0, 1], amplitude: [{time: 0, factor: 1}]}}\n  - {name: pull, body: cloth, group: "
                                  "corner, force: {total: [0, 0.02, 0], amplitude: [{time: 0, factor: 1}]}}\n");
  const std::string made = "{rectangle: {width: 0.6, height: 0.5}, across: 12, along: 10}";
  text.replace(text.find(made), made.size(), "{file: {path: " + file + "}}");
  Stage stage(text);
  EXPECT_NEAR(stage.scene.handles[0].extent.part, 0.04, 1e-12);
  EXPECT_LT(stage.scene.handles[1].extent.middle.norm(), 1e-12);
  EXPECT_EQ(cloth_of(stage).vertices_in(stage.comm, stage.scene.handles[1].list), 1);
  stage.steps(5);
  EXPECT_NEAR(stage.totals().momentum.z(), 0.04 * stage.state.time, 1e-12);
  EXPECT_NEAR(stage.totals().momentum.y(), 0.02 * stage.state.time, 1e-12);
}

TEST(HandlesTest, LoadsOnAreasEdgesAndMassesGiveTheirResultants) {
  Real t = 0;
  const std::string full = "amplitude: [{time: 0, factor: 1}]";
  const std::string left = "where: {box: {lower: [-1, -1, -1], upper: [0.301, 2, 1]}}, ";
  const Vec3 traction = momentum_from(left + "traction: {per_area: [1, 0, 2], " + full + "}", t);
  EXPECT_LT((traction - 0.15 * t * Vec3(1, 0, 2)).norm(), 1e-11);
  const Vec3 weight = momentum_from("gravity: {acceleration: [0, 3, 0], " + full + "}", t);
  EXPECT_LT((weight - 0.3 * 5 * t * Vec3(0, 3, 0)).norm(), 1e-11);
  const Vec3 rim = momentum_from("boundary: 0, edge_force: {per_length: [0, 0, 2], " + full + "}", t);
  EXPECT_LT((rim - 2.2 * t * Vec3(0, 0, 2)).norm(), 1e-11);
  const Vec3 pressure = momentum_from("pressure: {value: 0.5, " + full + "}", t);  // the cloth stays nearly flat
  EXPECT_NEAR(pressure.z() / (0.3 * 0.5 * t), 1, 1e-3);
}

}  // namespace
}  // namespace weft
