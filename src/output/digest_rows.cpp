// Rows are short: a call into the library would take longer than their digest, so it is compiled in here.

#include "output/digest.hpp"
#include "weft/base/types.hpp"
#include "weft/math/symmetric.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <type_traits>

namespace weft {
namespace {

/// width: std::size_t, or a constant, for which the digest takes few instructions.
std::uint64_t sum_of_digests(const void* rows, std::size_t count, auto width, std::uint64_t first) {
  std::uint64_t sum = 0;
  for (std::size_t r = 0; r < count; ++r)
    sum += XXH3_64bits_withSeed(static_cast<const char*>(rows) + r * width, width, first + r);
  return sum;
}
template <std::size_t bytes>
using Width = std::integral_constant<std::size_t, bytes>;

}  // namespace

std::uint64_t digest_of_rows(const void* rows, std::size_t count, std::size_t row_bytes, std::uint64_t first) {
  switch (row_bytes) {
    case sizeof(Real):
      return sum_of_digests(rows, count, Width<sizeof(Real)>(), first);
    case sizeof(Vec3):
      return sum_of_digests(rows, count, Width<sizeof(Vec3)>(), first);
    case sizeof(Symmetric3<Real>):
      return sum_of_digests(rows, count, Width<sizeof(Symmetric3<Real>)>(), first);
    case sizeof(Mat3):
      return sum_of_digests(rows, count, Width<sizeof(Mat3)>(), first);
    default:
      return sum_of_digests(rows, count, row_bytes, first);
  }
}

}  // namespace weft
