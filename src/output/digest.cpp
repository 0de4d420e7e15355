// Digests that do not depend on how rows are spread over ranks.

#include "output/digest.hpp"

#include <fmt/format.h>
#include <xxhash.h>

namespace weft {

std::uint64_t digest_of_rows(const void* rows, std::size_t count, std::size_t row_bytes, std::uint64_t first) {
  std::uint64_t sum = 0;
  for (std::size_t r = 0; r < count; ++r)
    sum += XXH3_64bits_withSeed(static_cast<const char*>(rows) + r * row_bytes, row_bytes, first + r);
  return sum;
}

std::string hexadecimal(std::uint64_t value) { return fmt::format("{:016x}", value); }

std::string digest_of_text(const std::string& text) { return hexadecimal(XXH3_64bits(text.data(), text.size())); }

}  // namespace weft
