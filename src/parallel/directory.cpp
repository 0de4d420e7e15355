#include "weft/parallel/directory.hpp"

#include "weft/base/check.hpp"
#include "weft/parallel/forest.hpp"
#include "weft/parallel/send.hpp"

#include <algorithm>

namespace weft {

std::vector<int> Directory::keepers(std::span<const std::int64_t> numbers) const {
  std::vector<int> ranks;
  ranks.reserve(numbers.size());
  for (const std::int64_t number : numbers) {
    WEFT_ENSURE(0 <= number && number < runs_.count);
    ranks.push_back(runs_.rank_of(number));
  }
  return ranks;
}

void Directory::tell(std::span<const std::int64_t> numbers, std::span<const std::int32_t> values) {
  struct Told {
    std::int64_t number;
    std::int32_t value;
  };
  std::vector<Told> told;
  for (std::size_t k = 0; k < numbers.size(); ++k) told.push_back({numbers[k], values[k]});
  for (const auto& [number, value] : send(comm_, told, keepers(numbers))) {
    std::int32_t& known = values_[static_cast<std::size_t>(number - runs_.begin(comm_.rank()))];
    known = known == unknown ? value : std::min(known, value);
  }
}

std::vector<std::int32_t> Directory::ask(std::span<const std::int64_t> numbers) const {
  const std::vector<std::uint64_t> keys(numbers.begin(), numbers.end());
  return ask_rows(comm_, keepers(numbers), keys, [&](std::uint64_t number) {
    return values_[static_cast<std::size_t>(static_cast<std::int64_t>(number) - runs_.begin(comm_.rank()))];
  });
}

std::int64_t Directory::known() const {
  return comm_.sum(static_cast<std::int64_t>(values_.size()) - std::count(values_.begin(), values_.end(), unknown));
}

}  // namespace weft
