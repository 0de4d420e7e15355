#include "run/schedule.hpp"

#include <algorithm>
#include <array>

namespace weft {
namespace {

constexpr double seconds_between_words = 5;

}  // namespace

Schedule::Schedule(const Comm& comm, const CheckpointDeck& checkpoint, const RunOptions& options, Requests& requests)
    : comm_(comm),
      every_steps_(options.checkpoint_every.value_or(checkpoint.every_steps)),
      every_wall_(checkpoint.every_wall),
      wall_limit_(options.wall_limit),
      requests_(requests) {}

void Schedule::step_ended() { longest_step_ = std::max(longest_step_, wall_seconds() - step_began_); }

/// One that fails is tried again when the next is due.
void Schedule::checkpoint_began() { last_checkpoint_ = wall_seconds(); }

void Schedule::checkpoint_ended() {
  const double now = wall_seconds();
  longest_checkpoint_ = std::max(longest_checkpoint_, now - last_checkpoint_);
  last_checkpoint_ = now;
}

Schedule::Due Schedule::due(std::int64_t step) {
  const double now = wall_seconds();
  const bool by_steps = every_steps_ > 0 && step % every_steps_ == 0;
  const bool by_wall = comm_.is_root() && now - last_checkpoint_ > every_wall_;
  // There must be time left for another step and a checkpoint.
  const bool time_is_up =
      comm_.is_root() && wall_limit_ && now - began_ > *wall_limit_ - 1.5 * longest_checkpoint_ - 2 * longest_step_;
  const bool is_silent = comm_.is_root() && now - last_word_ > seconds_between_words;
  const bool by_request = requests_.checkpoint.exchange(false);  // answered, also by a checkpoint that is due anyway
  std::array<Real, 4> due{by_steps || by_wall || by_request ? 1.0 : 0.0, is_silent ? 1.0 : 0.0,
                          requests_.stop ? 1.0 : 0.0, time_is_up ? 1.0 : 0.0};
  comm_.max(due);
  return {due[0] > 0, due[1] > 0,
          due[2] > 0   ? asked_to_stop
          : due[3] > 0 ? "--walltime leaves no room for more"
                       : nullptr};
}

}  // namespace weft
