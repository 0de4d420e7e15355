#pragma once
// Named exclusive timers: where the wall time of a run went.

#include <chrono>
#include <string>
#include <vector>

namespace weft {

/// Wall-clock seconds since an arbitrary fixed moment.
inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds and calls of named phases, in the order of their first use. A phase inside a phase is not charged
/// to the outer one.
class Timers {
 public:
  struct Phase {
    std::string name;
    double seconds = 0;
    long calls = 0;
  };

  /// Charges the time until the end of scope to `name`.
  class Scope {
   public:
    Scope(Timers& timers, const char* name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Timers& timers_;
    int outer_;
  };

  [[nodiscard]] Scope measure(const char* name) { return {*this, name}; }
  /// Charges seconds that were measured within phase `from` to phase `to` instead.
  void move(double seconds, const char* from, const char* to);
  const std::vector<Phase>& phases() const { return phases_; }
  /// Since these timers were made [s].
  double elapsed() const { return wall_seconds() - began_; }

 private:
  void charge();
  /// Where this phase stands in phases(), after its first use.
  int index(const char* name);
  std::vector<Phase> phases_;
  int current_ = -1;
  double since_ = 0;
  double began_ = wall_seconds();
};

}  // namespace weft
