#include "weft/base/timer.hpp"

#include <algorithm>

namespace weft {
namespace {

/// What is moved may be an estimate from few samples, one of which was interrupted.
constexpr double largest_share_moved = 0.9;

}  // namespace

void Timers::charge() {
  const double now = wall_seconds();
  if (current_ >= 0) phases_[current_].seconds += now - since_;
  since_ = now;
}

int Timers::index(const char* name) {
  auto it = std::find_if(phases_.begin(), phases_.end(), [&](const Phase& phase) { return phase.name == name; });
  if (it == phases_.end()) it = phases_.insert(phases_.end(), Phase{name});
  return static_cast<int>(it - phases_.begin());
}

void Timers::move(double seconds, const char* from, const char* to) {
  charge();
  seconds = std::min(seconds, largest_share_moved * phases_[index(from)].seconds);
  phases_[index(from)].seconds -= seconds;
  Phase& phase = phases_[index(to)];
  phase.seconds += seconds;
  ++phase.calls;
}

Timers::Scope::Scope(Timers& timers, const char* name) : timers_(timers), outer_(timers.current_) {
  timers_.charge();
  timers_.current_ = timers_.index(name);
  ++timers_.phases_[timers_.current_].calls;
}

Timers::Scope::~Scope() {
  timers_.charge();
  timers_.current_ = outer_;
}

}  // namespace weft
