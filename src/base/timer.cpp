#include "weft/base/timer.hpp"

#include <algorithm>

namespace weft {

void Timers::charge() {
  const double now = wall_seconds();
  if (current_ >= 0) phases_[current_].seconds += now - since_;
  since_ = now;
}

Timers::Scope::Scope(Timers& timers, const char* name) : timers_(timers), outer_(timers.current_) {
  timers_.charge();
  auto& phases = timers_.phases_;
  auto it = std::find_if(phases.begin(), phases.end(), [&](const Phase& phase) { return phase.name == name; });
  if (it == phases.end()) it = phases.insert(phases.end(), Phase{name});
  ++it->calls;
  timers_.current_ = static_cast<int>(it - phases.begin());
}

Timers::Scope::~Scope() {
  timers_.charge();
  timers_.current_ = outer_;
}

}  // namespace weft
