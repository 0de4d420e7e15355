#pragma once
// Directory: what belongs to the numbers of things that nobody has all of, such as the vertices of a mesh.

#include "weft/base/runs.hpp"
#include "weft/parallel/comm.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// A value for each of `count` numbers. Each rank keeps those of its run; whoever wants to know one asks there.
class Directory {
 public:
  Directory(const Comm& comm, std::int64_t count)
      : comm_(comm),
        runs_{count, comm.size()},
        values_(static_cast<std::size_t>(runs_.end(comm.rank()) - runs_.begin(comm.rank())), unknown) {}

  static constexpr std::int32_t unknown = -1;

  /// Each of these numbers gets the least value, not below 0, that any rank has ever told of it. Collective.
  void tell(std::span<const std::int64_t> numbers, std::int32_t value) {
    tell(numbers, std::vector<std::int32_t>(numbers.size(), value));
  }
  void tell(std::span<const std::int64_t> numbers, std::span<const std::int32_t> values);
  /// The values of some numbers. Collective.
  std::vector<std::int32_t> ask(std::span<const std::int64_t> numbers) const;
  /// How many numbers have a value. Collective.
  std::int64_t known() const;

 private:
  std::vector<int> keepers(std::span<const std::int64_t> numbers) const;

  Comm comm_;
  Runs runs_;
  std::vector<std::int32_t> values_;  ///< Of this rank's run.
};

}  // namespace weft
