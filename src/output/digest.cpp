// Digests that do not depend on how rows are spread over ranks.

#include "output/digest.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <charconv>

namespace weft {

RunningDigest::RunningDigest() : state_(XXH3_createState()) { XXH3_64bits_reset(state_); }
RunningDigest::~RunningDigest() { XXH3_freeState(state_); }
void RunningDigest::add(const void* bytes, std::size_t count) { XXH3_64bits_update(state_, bytes, count); }
std::uint64_t RunningDigest::value() const { return XXH3_64bits_digest(state_); }

std::string hexadecimal(std::uint64_t value) { return fmt::format("{:016x}", value); }

std::uint64_t from_hexadecimal(const std::string& digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return error == std::errc() && end == digits.data() + digits.size() ? value : 0;
}

std::string digest_of_text(const std::string& text) { return hexadecimal(XXH3_64bits(text.data(), text.size())); }

}  // namespace weft
