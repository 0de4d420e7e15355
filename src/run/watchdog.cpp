#include "run/watchdog.hpp"

#include <execinfo.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "weft/base/open_file.hpp"
#include "weft/base/timer.hpp"

namespace weft {
namespace {

/// How often the watchdog looks, as a part of its patience, and the longest pause, which a clock can count [s].
constexpr Real looks = 20, longest_pause = 60;
/// Time for a thread to write down its stack, and for all ranks to print theirs before the first of them ends [s].
constexpr int seconds_for_a_stack = 1, seconds_for_others = 3, seconds_for_all = 60;
constexpr int most_frames = 64;

/// A stack as a thread finds it when the signal interrupts it. A handler may only do what is safe anywhere.
struct Stack {
  std::array<void*, most_frames> frames;
  std::atomic<int> depth{-1};
};
Stack the_stack;

void write_down_stack(int) { the_stack.depth = backtrace(the_stack.frames.data(), most_frames); }

void end_now(int) { _exit(exit_code_of_a_hang); }

void on_signal(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

std::vector<pid_t> threads_of_this_process() {
  std::vector<pid_t> threads;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", ignored))
    threads.push_back(static_cast<pid_t>(std::stol(entry.path().filename().string())));
  std::sort(threads.begin(), threads.end());
  return threads;
}

void print(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(file, text.data() + done, text.size() - done);
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

}  // namespace

Watchdog::Watchdog(Real patience, int rank, const std::filesystem::path& log)
    : patience_(patience), rank_(rank), log_(log) {
  if (!std::isfinite(patience)) return;
  std::array<void*, 1> first;
  (void)backtrace(first.data(), 1);  // loads what it needs, which the handler may not
  on_signal(SIGRTMIN, write_down_stack);
  thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  end_asked_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::watch() {
  const Real pause = std::min(patience_ / looks, longest_pause);
  Real silence = 0;
  long seen = beats_;
  std::unique_lock lock(mutex_);
  for (double last = wall_seconds(); silence < patience_;) {
    if (end_asked_.wait_for(lock, std::chrono::duration<Real>(pause), [this] { return is_over_; })) return;
    const double now = wall_seconds();
    // A long pause is that of a process that was stopped meanwhile.
    silence += std::min(now - last, 2 * pause);
    last = now;
    if (const long beats = beats_; beats != seen) {
      seen = beats;
      silence = 0;
    }
  }
  bark();
}

void Watchdog::bark() const {
  // Whatever hangs from here on, the process ends.
  on_signal(SIGALRM, end_now);
  alarm(seconds_for_all);
  std::vector<int> files{STDERR_FILENO, open_file(log_, O_WRONLY | O_APPEND | O_NOFOLLOW)};
  std::erase(files, -1);
  const auto say = [&](const std::string& text) {
    for (const int file : files) print(file, text);
  };
  const char* advice = advice_;
  say(
      fmt::format("error: rank {}: neither a step nor a file was completed for {:.6g} s (time.watchdog): the run hangs "
                  "and is ended. {}The stack of each thread, innermost call first (c++filt makes names readable):\n",
                  rank_, patience_, *advice != '\0' ? fmt::format("{} ", advice) : ""));
  const pid_t self = static_cast<pid_t>(syscall(SYS_gettid));
  for (const pid_t thread : threads_of_this_process()) {
    if (thread == self) continue;
    the_stack.depth = -1;
    syscall(SYS_tgkill, getpid(), thread, SIGRTMIN);
    const double sent = wall_seconds();
    while (the_stack.depth < 0 && wall_seconds() - sent < seconds_for_a_stack) usleep(1000);
    say(fmt::format("rank {}, thread {}:\n", rank_, thread));
    for (const int file : files)
      if (the_stack.depth > 0) backtrace_symbols_fd(the_stack.frames.data(), the_stack.depth, file);
  }
  sleep(seconds_for_others);
  _exit(exit_code_of_a_hang);
}

}  // namespace weft
