#include "app/signals.hpp"

#include <csignal>

namespace weft {
namespace {

Requests the_requests;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

void on_signal(int signal) {
  if (signal == SIGUSR2) {
    the_requests.checkpoint = true;
    return;
  }
  the_requests.stop = true;
  if (signal == SIGINT) std::signal(SIGINT, SIG_DFL);
}

}  // namespace

Requests& requests_by_signal() {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may grow no further is an error like a full disk
  for (const int signal : {SIGUSR1, SIGUSR2, SIGTERM, SIGINT}) std::signal(signal, on_signal);
  return the_requests;
}

}  // namespace weft
