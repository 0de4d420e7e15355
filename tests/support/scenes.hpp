#pragma once
// Small scenes from deck text, ready to step on the ranks of the test.

#include "weft/deck/read.hpp"
#include "weft/run/step.hpp"
#include "weft/run/totals.hpp"
#include "weft/scene/build.hpp"

#include <string>

namespace weft::test {

/// A scene at its start, points at home.
struct Stage {
  Comm comm = Comm::world();
  Timers timers;
  Scene scene;
  RunState state;
  Stepper stepper;

  explicit Stage(const std::string& deck)
      : scene(build_scene(comm, parse_deck(deck, "test.yaml", "."))), stepper(comm, scene, state, timers) {
    fill_bodies(comm, scene);
    state.wall_impulse.assign(scene.walls.size(), Vec3::Zero());
    state.next_id = scene.first_free_id;
    state.emitted_until.assign(scene.sources.size(), -std::numeric_limits<Real>::infinity());
    state.cuts.at.assign(static_cast<std::size_t>(comm.size() - 1), 0);
    stepper.settle(true);
  }

  void steps(int count) {
    for (int s = 0; s < count; ++s) stepper.take(std::numeric_limits<Real>::infinity());
  }
  Totals totals() const { return totals_of(comm, scene); }
};

}  // namespace weft::test
