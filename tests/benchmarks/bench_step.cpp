// Speed of the whole explicit step, as a run takes it: sort, exchange, law, scatter, grid with a wall, gather, checks.
// Run under mpirun and with OMP_NUM_THREADS to see ranks and threads:  bench_step [particles] [steps]

#include "weft/deck/read.hpp"
#include "weft/run/progress.hpp"
#include "weft/run/step.hpp"
#include "weft/scene/build.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace weft {
namespace {

/// A cube that turns, held up by a floor; 8 particles in a cell, dt at its usual limits.
std::string deck_text(const std::string& material, Real particles) {
  const Real edge = std::cbrt(particles / 8) * 0.01;
  return fmt::format(R"(
weft: 1
domain: {{dx: 0.01}}
time: {{end: 1000, frame_interval: 1000}}
materials: {{it: {}}}
bodies:
  - {{name: cube, kind: continuum, material: it, sampling: jittered, spin: [0, 1, 0],
     shape: {{box: {{lower: [0, 0, 0], upper: [{}, {}, {}]}}}}}}
colliders:
  - {{name: floor, shape: {{plane: {{point: [0, 0.02, 0], normal: [0, 1, 0]}}}}, condition: separate, friction: 0.5}}
)",
                     material, edge, edge, edge);
}

void measure(const Comm& comm, const char* name, const std::string& material, Real particles, int steps) {
  Timers timers;
  Scene scene = build_scene(comm, parse_deck(deck_text(material, particles), name, "."));
  fill_bodies(comm, scene);
  RunState state;
  state.wall_impulse.assign(1, Vec3::Zero());
  state.next_id = scene.first_free_id;
  state.cuts.at.assign(static_cast<std::size_t>(comm.size() - 1), 0);
  Stepper stepper(comm, scene, state, timers);
  stepper.settle(true);
  for (int s = 0; s < 4; ++s) stepper.take(1000);  // memory is touched, clocks are up

  timers = Timers();
  comm.barrier();
  const double began = wall_seconds();
  for (int s = 0; s < steps; ++s) stepper.take(1000);
  const double seconds = comm.max(wall_seconds() - began);
  const Real points = static_cast<Real>(comm.sum(scene.points()));
  const Real bytes =
      static_cast<Real>(comm.sum(static_cast<std::int64_t>(scene.bodies[0]->points().bytes() + stepper.bytes())));
  const std::string table = closing_table(comm, timers, points * steps, stepper.imbalance());
  if (comm.is_root())
    fmt::print(
        "{}: {} particles, {} ranks x {} threads: {:.2f} M particle steps/s, {:.2f} per core, {:.0f} bytes "
        "each\n{}\n\n",
        name, static_cast<std::int64_t>(points), comm.size(), omp_get_max_threads(), points * steps / seconds / 1e6,
        points * steps / seconds / 1e6 / comm.size() / omp_get_max_threads(), bytes / points, table);
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  weft::ParallelSession session(argc, argv);
  const weft::Comm comm = weft::Comm::world();
  const double particles = argc > 1 ? std::atof(argv[1]) : 1e5;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 50;
  weft::measure(comm, "elastic", "{law: fixed_corotated, density: 1000, youngs_modulus: 1e5, poisson_ratio: 0.3}",
                particles, steps);
  weft::measure(comm, "sand", "{law: drucker_prager, density: 2200, youngs_modulus: 3.5e5, poisson_ratio: 0.3}",
                particles, steps);
}
