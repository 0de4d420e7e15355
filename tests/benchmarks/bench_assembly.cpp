// Speed of what implicit steps and static analyses ask of elements: their stiffness matrices, appended part by part.
// The counter is the time for an element, on one rank.

#include "bodies/solid_kernel.hpp"
#include "support/codimensional.hpp"
#include "support/shell_models.hpp"
#include "weft/bodies/bending.hpp"
#include "weft/bodies/codimensional.hpp"
#include "weft/bodies/shell.hpp"
#include "weft/geometry/tet_mesh.hpp"
#include "weft/materials/fixed_corotated.hpp"
#include "weft/materials/neo_hookean.hpp"
#include "weft/materials/stvk_hencky.hpp"
#include "weft/parallel/comm.hpp"

#include <benchmark/benchmark.h>

#include <cmath>

namespace weft {
namespace {

/// Of a square of triangles or segments, along one edge.
constexpr int side = 60;
constexpr Real edge = 0.1;

/// Displaces everything by some percent of an edge.
std::vector<Vec3> disturbed(std::vector<Vec3> x, Real size) {
  test::MatrixSource source(1);
  for (Vec3& p : x) p += size * source.vector();
  return x;
}

/// of(stiffness) appends the parts of so many elements.
template <class Of>
void assemble(benchmark::State& state, std::size_t elements, Of&& of) {
  MeshStiffness stiffness;
  for (auto _ : state) {
    stiffness.clear();
    of(stiffness);
    benchmark::DoNotOptimize(stiffness.size());
  }
  state.counters["s/element"] = benchmark::Counter(
      static_cast<double>(elements), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

struct How {
  bool in_loop, projected;
};

template <class E>
void add_elements(const std::string& name, const E& elements, const std::vector<Vec3>& rest, const How& how) {
  const auto run = [=](benchmark::State& state) {
    const std::size_t points = elements.element_of_points().size();
    std::vector<typename E::Directors> N(points);
    elements.rest(rest, N);
    for (auto& directors : N) directors *= 0.95;  // pressed
    const std::vector<Vec3> x = disturbed(rest, 0.05 * edge);
    test::MatrixSource source(2);
    const auto H = test::random_matrices(points, 0.05, source);
    assemble(state, elements.elements().size(), [&](MeshStiffness& stiffness) {
      elements.add_stiffness({.in_loop = how.in_loop}, x, N, H, how.projected, stiffness);
    });
  };
  benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond);
}

void add_sheets_and_fibers(const std::string& suffix, const How& how) {
  const SurfaceContact::Constants contact{2000, 500, 0.4};
  const test::SheetMesh sheet{side, side, edge};
  const test::FiberMesh fibers{side, side, edge};
  const auto at_rest = [&]<class S>(S) {
    return sheet_at_rest<S>(sheet.triangles, sheet.points, Vec3::Zero(), 0.01, 1);
  };
  add_elements("sheet" + suffix,
               SheetElements<CorotatedSheet>({CorotatedSheet::Constants::from(400, 0.3), contact}, 2,
                                             at_rest(CorotatedSheet{}), sheet.points.size()),
               sheet.points, how);
  add_elements("woven sheet" + suffix,
               SheetElements<WovenSheet>({WovenSheet::Constants::from(1000, 200, 0.3, 50), contact}, 2,
                                         at_rest(WovenSheet{}), sheet.points.size()),
               sheet.points, how);
  add_elements("fiber" + suffix,
               FiberElements(Fiber::Constants::from(2000, 500, lame_from(500, 0.3), 0.6), 2,
                             fiber_at_rest(fibers.segments, fibers.points, 1e-4, 1), fibers.points.size()),
               fibers.points, how);
}

void add_bending(const std::string& suffix, bool projected) {
  const test::SheetMesh sheet{side, side, edge};
  const TriangleEdges edges(sheet.triangles);
  std::vector<FoldedTriangle> folds;
  for (const test::Triangle& t : sheet.triangles) {
    std::array<std::int32_t, 6> rows{t[0], t[1], t[2], -1, -1, -1};
    for (std::size_t k = 0; k < 3; ++k)
      if (const std::int32_t corner = edges.opposite(t[(k + 2) % 3], t[(k + 1) % 3]); corner >= 0)
        rows[3 + k] = sheet.triangles[static_cast<std::size_t>(corner / 3)][corner % 3];
    folds.push_back(fold_at_rest(rows, sheet.points, {1, 0.3}));
  }
  const std::size_t count = folds.size();
  const SheetBending bending(folds, sheet.points.size());
  const auto x = disturbed(sheet.points, 0.05 * edge);
  benchmark::RegisterBenchmark(("bending of a sheet" + suffix).c_str(), [=](benchmark::State& state) {
    assemble(state, count, [&](MeshStiffness& stiffness) { bending.add_stiffness(x, projected, stiffness); });
  })->Unit(benchmark::kMillisecond);
}

template <class L, int nodes>
void add_solid(const std::string& suffix, bool projected) {
  TetMesh mesh = block_of_tets({Vec3::Zero(), Vec3::Constant(10 * edge)}, edge);
  require_sound(mesh, "block");
  if (nodes == 10) mesh = with_middles(std::move(mesh));
  std::vector<TetAtRest<nodes>> at_rest;
  for (std::int64_t t = 0; t < mesh.count(); ++t) {
    TetAtRest<nodes>& element = at_rest.emplace_back();
    std::ranges::copy(mesh.tet(t), element.rows.begin());
    for (std::size_t a = 0; a < nodes; ++a) element.rest[a] = mesh.points[element.rows[a]];
  }
  const SolidElements<L, nodes> elements(L::Constants::from(lame_from(500, 0.3)), 3, std::move(at_rest),
                                         mesh.points.size());
  const auto x = disturbed(mesh.points, 0.05 * edge);
  const std::string name = "solid of " + std::to_string(nodes) + " nodes, " + std::string(L::name) + suffix;
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    assemble(state, elements.elements().size(),
             [&](MeshStiffness& stiffness) { elements.add_stiffness(x, projected, stiffness); });
  })->Unit(benchmark::kMillisecond);
}

void add_shell(const std::string& suffix, bool projected) {
  benchmark::RegisterBenchmark(("shell" + suffix).c_str(), [=](benchmark::State& state) {
    const auto saddle = [](Real s, Real t) { return Vec3(s, t, 0.2 * s * t); };
    const ShellShare shell(Comm(MPI_COMM_SELF),
                           test::elastic_shell(irregular_patch(side, side, saddle), 100, 0.3, 0.01));
    const auto x = disturbed(test::rest_of(shell), 0.001);
    assemble(state, shell.faces().size(),
             [&](MeshStiffness& stiffness) { shell.add_stiffness(x, projected, stiffness); });
  })->Unit(benchmark::kMillisecond);
}

void add_all() {
  for (const bool projected : {false, true}) {
    const std::string suffix = projected ? ", projected" : "";
    add_sheets_and_fibers(suffix, {false, projected});
    add_bending(suffix, projected);
    add_solid<NeoHookean, 4>(suffix, projected);
    add_solid<FixedCorotated, 4>(suffix, projected);
    add_solid<StvkHencky, 4>(suffix, projected);
    add_solid<NeoHookean, 10>(suffix, projected);
    add_shell(suffix, projected);
  }
  add_sheets_and_fibers(", slip in the loop", {true, false});
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  weft::ParallelSession session(argc, argv);
  benchmark::Initialize(&argc, argv);
  weft::add_all();
  benchmark::RunSpecifiedBenchmarks();
}
