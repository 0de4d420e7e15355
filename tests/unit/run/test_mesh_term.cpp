// Sheets, fibers and shells as Terms of the grid: forces and their changes against differences, on all ranks.

#include "weft/coupling/continuum_term.hpp"
#include "weft/coupling/grid_carrier.hpp"
#include "weft/coupling/mesh_term.hpp"

#include "support/scenes.hpp"
#include "support/term_checks.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <map>

namespace weft::test {
namespace {

constexpr Real dx = 0.1, dt = 1e-2;
const std::string contact = "contact: {stiffness: 2e4, shear_stiffness: 4e3, friction: 0.1}";

const std::string square = ", mesh: {rectangle: {width: 0.5, height: 0.4}, across: 5, along: 4}}";
const std::map<std::string, std::string> bodies = {
    {"membrane", "{name: a, kind: membrane, material: sheet, thickness: 0.01, bending: {youngs_modulus: 1e6}" + square},
    {"woven", "{name: a, kind: membrane, material: woven, thickness: 0.01" + square},
    {"fibers",
     "{name: a, kind: fiber, material: hair, radius: 0.01, bending_modulus: 1e6, curves: {hair_tube: "
     "{inner_radius: 0, outer_radius: 0.2, length: 0.5, strands: 7}}}"},
    {"metal_shell", "{name: a, kind: shell, material: metal, thickness: 0.01, " + contact + square},
    {"rubber_shell", "{name: a, kind: shell, material: rubber, thickness: 0.01, " + contact + square},
    {"woven_shell", "{name: a, kind: shell, material: denim, thickness: 6.6e-4, " + contact + square}};

std::string deck(const std::string& kind) {
  return "weft: 1\ndomain: {dx: 0.1}\ntime: {end: 1, frame_interval: 1}\nmaterials:\n"
         "  sheet: {law: sheet, density: 500, youngs_modulus: 2e5, poisson_ratio: 0.3, " +
         contact +
         "}\n"
         "  woven: {law: woven_sheet, density: 500, warp_modulus: 1e5, weft_modulus: 8e4, poisson_ratio: 0.1, "
         "shear_modulus: 1e4, " +
         contact +
         "}\n"
         "  hair: {law: fiber, density: 800, stretch_modulus: 2e5, shear_modulus: 2e3, youngs_modulus: 1e4, "
         "poisson_ratio: 0.3, friction_angle: 10}\n"
         "  metal: {law: von_mises, density: 800, youngs_modulus: 1e5, poisson_ratio: 0.3, yield_stress: 2e3}\n"
         "  rubber: {law: stvk_hencky, density: 800, youngs_modulus: 1e5, poisson_ratio: 0.3}\n"
         "  denim: {law: fabric, fabric: denim, density: 606}\n"
         "bodies:\n  - " +
         bodies.at(kind) + "\n";
}

/// A body with its bins, and a motion that presses what is across its elements and disturbs all.
struct CarriedMesh {
  Stage stage;
  const MeshBody& body;
  Bins vertices, samples;
  Freedoms freedoms;

  explicit CarriedMesh(const std::string& kind)
      : stage(deck(kind)),
        body(dynamic_cast<const MeshBody&>(*stage.scene.bodies[0])),
        freedoms({FreedomBlock{"grid", NodeField::row, &stage.stepper.map().forest()}}) {
    const auto sort = [&](Bins& bins, const Table& points) {
      bins.sort(dx, points.get<Position>(), points.get<Id>());
      bins.number(stage.stepper.map());
    };
    sort(vertices, body.points());
    sort(samples, body.samples());
  }

  MeshTerm term(bool in_loop) const {
    return {body, std::make_unique<GridCarrier>(body, vertices, samples, stage.scene.layers.front().transfer),
            Parts{.in_loop = in_loop}, Vec3(1, -9, 3)};
  }
  Motion moved(Real size) const {
    Motion motion(freedoms);
    motion.rate_per_u = 1 / dt;
    motion.u = random_values(freedoms, size, 4);
    const BlockMap& map = stage.stepper.map();
    for (int b = 0; b < map.size(); ++b)
      for (int place = 0; place < nodes_per_block; ++place) {
        const Vec3 x = (map.first_node(b) + node_at_place(place)).cast<Real>() * dx;
        Eigen::Map<Vec3>(motion.u.block(0).data() + (b * nodes_per_block + place) * NodeField::width) +=
            Vec3(-0.1 * x.x(), -0.15 * x.y(), -0.2 * x.z());
      }
    return motion;
  }
};

class OfMesh : public testing::TestWithParam<std::string> {};

TEST_P(OfMesh, ForcesAndTheirChangesAreDerivatives) {
  const CarriedMesh carried(GetParam());
  for (const bool in_loop : {false, true}) {
    SCOPED_TRACE(in_loop ? "slip in the loop" : "slip lags");
    const MeshTerm term = carried.term(in_loop);
    EXPECT_EQ(term.has_energy(), !in_loop);
    check_term(term, carried.moved(0.01 * dx), 0.001 * dx, 1e-7);
  }
}

TEST_P(OfMesh, WhatTheTangentLeavesOutIsOfSecondOrder) {
  const CarriedMesh carried(GetParam());
  const MeshTerm term = carried.term(false);
  const Motion at = carried.moved(0.01 * dx);
  const FreedomValues du = random_values(carried.freedoms, 0.01 * dx, 21);
  const auto linear = term.linearise(at);
  const auto remainder = [&](Real h) {
    Load rest = force_of(term, moved(at, du, h));
    const Load before = force_of(term, at);
    FreedomValues step(carried.freedoms);
    for (std::size_t i = 0; i < step.all().size(); ++i) step.all()[i] = h * du.all()[i];
    Load change(carried.freedoms);
    term.add_force_change(*linear, step, change);
    for (std::size_t i = 0; i < rest.all().size(); ++i) rest.all()[i] -= before.all()[i] + change.all()[i];
    Load summed = rest;
    summed.sum_to_owners();
    return std::sqrt(work(rest, summed));
  };
  EXPECT_NEAR(std::log10(remainder(0.1) / remainder(0.01)), 2, 0.1);
}

TEST_P(OfMesh, DefiniteTangentsAreSymmetricAndNeverNegative) {
  const CarriedMesh carried(GetParam());
  const MeshTerm term = carried.term(false);
  const auto linear = term.linearise_definite(carried.moved(0.05 * dx));
  for (std::uint32_t seed = 0; seed < 5; ++seed) {
    const FreedomValues a = random_values(carried.freedoms, dx, seed), b = random_values(carried.freedoms, dx, 9);
    Load change_a(carried.freedoms), change_b(carried.freedoms);
    term.add_force_change(*linear, a, change_a);
    term.add_force_change(*linear, b, change_b);
    EXPECT_LE(work(change_a, a), 0);
    EXPECT_NEAR(work(change_a, b), work(change_b, a), 1e-11 * std::abs(work(change_a, a)));
  }
}

TEST_P(OfMesh, NodeBlocksAreThoseOfTheTangent) {
  const CarriedMesh carried(GetParam());
  const MeshTerm term = carried.term(true);
  const auto linear = term.linearise(carried.moved(0.01 * dx));
  struct Diagonal : Tangent {
    std::vector<Real> blocks;
    void add(std::span<const std::int32_t> at, std::span<const std::int32_t> to, std::span<const Real> k) override {
      for (std::size_t i = 0; i < at.size(); ++i)
        for (std::size_t j = 0; j < to.size(); ++j)
          if (at[i] / NodeField::width == to[j] / NodeField::width)
            blocks[static_cast<std::size_t>(9 * (at[i] / NodeField::width) + 3 * (at[i] % NodeField::width) +
                                            to[j] % NodeField::width)] += k[i * to.size() + j];
    }
  } expected;
  const std::size_t numbers = 9 * static_cast<std::size_t>(carried.stage.stepper.map().size()) * nodes_per_block;
  std::vector<Real> blocks(numbers, 0.0);
  term.add_diagonal_blocks(*linear, 0, blocks);
  expected.blocks.assign(numbers, 0.0);
  term.add_tangent(*linear, expected);
  Real largest = 0;
  for (const Real b : expected.blocks) largest = std::max(largest, std::abs(b));
  for (std::size_t i = 0; i < numbers; ++i) ASSERT_NEAR(blocks[i], expected.blocks[i], 1e-12 * largest);
}

TEST_P(OfMesh, ThreadsChangeNoBit) {
  const CarriedMesh carried(GetParam());
  const MeshTerm term = carried.term(false);
  const Motion at = carried.moved(0.01 * dx);
  std::vector<std::vector<Real>> results;
  const int before = omp_get_max_threads();
  for (const int threads : {1, 2}) {
    omp_set_num_threads(threads);
    const auto linear = term.linearise(at);
    Load all = force_of(term, at);
    term.add_force_change(*linear, at.u, all);
    results.emplace_back(all.all().begin(), all.all().end());
    results.back().push_back(term.energy(at));
  }
  omp_set_num_threads(before);
  EXPECT_EQ(results[0], results[1]);
}

INSTANTIATE_TEST_SUITE_P(Kinds, OfMesh,
                         testing::Values("membrane", "woven", "fibers", "metal_shell", "rubber_shell", "woven_shell"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace weft::test
