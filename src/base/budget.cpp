#include "weft/base/budget.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "weft/base/check.hpp"

namespace weft {
namespace {

constexpr Real most_things = std::numeric_limits<std::int32_t>::max();

/// The limit of the control group that a batch system or container put this process into; infinite if there is none.
Real memory_of_group() {
  for (const char* file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream in(file);
    if (Real bytes = 0; in >> bytes) return bytes;
  }
  return std::numeric_limits<Real>::infinity();
}

}  // namespace

Real address_space() {
  rlimit space{};
  const bool is_limited = ::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
  return is_limited ? static_cast<Real>(space.rlim_cur) : std::numeric_limits<Real>::infinity();
}

Real memory_of_machine() {
  const Real machine = static_cast<Real>(::sysconf(_SC_PHYS_PAGES)) * static_cast<Real>(::sysconf(_SC_PAGESIZE));
  return std::min({machine, memory_of_group(), address_space()});
}

Real memory_left(int sharers) {
  const Real page = static_cast<Real>(::sysconf(_SC_PAGESIZE));
  Real addresses = 0, resident = 0;  // in pages: proc(5), /proc/PID/statm
  std::ifstream("/proc/self/statm") >> addresses >> resident;
  const Real machine = static_cast<Real>(::sysconf(_SC_PHYS_PAGES)) * page;
  const Real share = std::min(machine, memory_of_group()) / sharers;
  return std::max(0.0, std::min(share - resident * page, address_space() - addresses * page));
}

void require_countable(const std::string& what, Real count, const char* things) {
  require(
      count < most_things, ExitCode::geometry,
      fmt::format("{} would have {:.3g} {}; more than {:.2g} cannot be numbered.", what, count, things, most_things));
}

void Budget::require_room(const Demand& demand, const std::string& cure) const {
  const Real needed = demand.count * demand.bytes;
  require(needed < bytes_, ExitCode::geometry,
          fmt::format("{} would have {:.3g} {}, which take {:.3g} GB at least; a process here has {:.3g} GB left. {}",
                      demand.what, demand.count, demand.things, needed * 1e-9, bytes_ * 1e-9, cure));
}

void Budget::spend(const Demand& demand, const std::string& cure) {
  require_room(demand, cure);
  bytes_ -= demand.count * demand.bytes;
}

}  // namespace weft
