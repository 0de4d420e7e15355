#pragma once
// Digests that do not depend on how rows are spread over ranks.

#include <cstddef>
#include <cstdint>
#include <string>

struct XXH3_state_s;

namespace weft {

/// The sum modulo 2^64, over these rows, of XXH3-64 of the row's bytes seeded with its global index, which starts at
/// `first`. Digests of the ranks' rows add up to the digest of all rows.
std::uint64_t digest_of_rows(const void* rows, std::size_t count, std::size_t row_bytes, std::uint64_t first);

/// XXH3-64 of bytes that come piece by piece.
class RunningDigest {
 public:
  RunningDigest();
  ~RunningDigest();
  RunningDigest(const RunningDigest&) = delete;
  RunningDigest& operator=(const RunningDigest&) = delete;

  void add(const void* bytes, std::size_t count);
  std::uint64_t value() const;

 private:
  XXH3_state_s* state_;
};

/// XXH3-64 of a text, as 16 hexadecimal digits.
std::string digest_of_text(const std::string& text);

/// 16 hexadecimal digits, and back; other text gives 0.
std::string hexadecimal(std::uint64_t value);
std::uint64_t from_hexadecimal(const std::string& digits);

}  // namespace weft
