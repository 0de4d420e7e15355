#pragma once
// The watchdog: ends a run that hangs, with the stack of every thread, instead of letting it wait for ever.

#include "weft/base/types.hpp"

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

namespace weft {

/// Exit code of a process that hung; beside ExitCode, whose errors somebody catches.
inline constexpr int exit_code_of_a_hang = 7;

/// Watches this process from a thread of its own, which never communicates. One at a time.
class Watchdog {
 public:
  /// Unless `beat` is called every `patience` seconds (infinity: nobody watches), prints the stack of every thread to
  /// stderr and to `log`, and ends the process with that code; the launcher then ends the other ranks. Time in which
  /// the whole process is stopped (a suspended job) does not count.
  Watchdog(Real patience, int rank, const std::filesystem::path& log);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// A sentence that is printed, too, if the run hangs while this lives. One at a time.
  class Advice {
   public:
    Advice(std::atomic<const char*>& place, const char* sentence) : place_(place) { place_ = sentence; }
    Advice(const Advice&) = delete;
    Advice& operator=(const Advice&) = delete;
    ~Advice() { place_ = ""; }

   private:
    std::atomic<const char*>& place_;
  };
  [[nodiscard]] Advice advise(const char* sentence) { return {advice_, sentence}; }

  /// Something was completed: a step, a file.
  void beat() { beats_.fetch_add(1, std::memory_order_relaxed); }

 private:
  void watch();
  [[noreturn]] void bark() const;

  const Real patience_;
  const int rank_;
  const std::filesystem::path log_;
  std::atomic<long> beats_{0};
  std::atomic<const char*> advice_{""};
  std::mutex mutex_;
  std::condition_variable end_asked_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace weft
