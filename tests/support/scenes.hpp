#pragma once
// Small scenes from deck text, ready to step on the ranks of the test.

#include "run/edit.hpp"
#include "run/step.hpp"
#include "run/totals.hpp"
#include "weft/deck/read.hpp"
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
    state = start_scene(comm, scene);
    stepper.bring_home(true);
  }

  void steps(int count) {
    for (int s = 0; s < count; ++s) stepper.take(std::numeric_limits<Real>::infinity());
  }
  Totals totals() const { return stepper.totals(); }
};

}  // namespace weft::test
