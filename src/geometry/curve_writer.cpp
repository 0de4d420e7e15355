// Curves as the contents of files: OBJ lines, HAIR and BCC.

#include "weft/base/check.hpp"
#include "weft/geometry/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace weft {
namespace {

/// Appends a number in little-endian order.
template <class T>
void put(std::string& bytes, T value) {
  auto raw = std::bit_cast<std::array<char, sizeof(T)>>(value);
  if constexpr (std::endian::native == std::endian::big) std::ranges::reverse(raw);
  bytes.append(raw.data(), raw.size());
}
void put(std::string& bytes, const Vec3& x) {
  for (int a = 0; a < 3; ++a) put(bytes, static_cast<float>(x[a]));
}

}  // namespace

std::string obj_text(const Curves& curves) {
  std::string text;
  for (const Vec3& x : curves.points) text += fmt::format("v {} {} {}\n", x.x(), x.y(), x.z());
  for (const std::vector<std::int32_t>& chain : chains_of(curves)) {
    text += 'l';
    for (const std::int32_t point : chain) text += fmt::format(" {}", point + 1);
    text += '\n';
  }
  return text;
}

std::string hair_bytes(const Curves& curves, Real thickness) {
  constexpr std::size_t header_bytes = 128, most_segments = std::numeric_limits<std::uint16_t>::max();
  constexpr std::uint32_t has_segments = 1, has_points = 2;
  const std::vector<std::vector<std::int32_t>> chains = chains_of(curves);
  std::size_t points = 0;
  for (const auto& chain : chains) points += chain.size();
  std::string bytes = "HAIR";
  for (const std::size_t count : {chains.size(), points}) put(bytes, static_cast<std::uint32_t>(count));
  put(bytes, has_segments | has_points);
  put(bytes, std::uint32_t{0});
  put(bytes, static_cast<float>(thickness));
  put(bytes, 0.0f);                              // transparency
  for (int c = 0; c < 3; ++c) put(bytes, 1.0f);  // colour
  bytes.resize(header_bytes, '\0');
  for (const auto& chain : chains) {
    require(chain.size() - 1 <= most_segments, ExitCode::geometry,
            fmt::format("a curve of {} segments: .hair files have {} at most. Take .bcc or .obj instead.",
                        chain.size() - 1, most_segments));
    put(bytes, static_cast<std::uint16_t>(chain.size() - 1));
  }
  for (const auto& chain : chains)
    for (const std::int32_t point : chain) put(bytes, curves.points[point]);
  return bytes;
}

std::string bcc_bytes(const Curves& curves, int up) {
  constexpr std::size_t header_bytes = 64;
  std::string bytes = "BCC\x44PL";
  put(bytes, char{3});
  put(bytes, static_cast<char>(up));
  put(bytes, static_cast<std::uint64_t>(curves.count()));
  put(bytes, static_cast<std::uint64_t>(curves.points.size()));
  bytes.resize(header_bytes, '\0');
  for (std::int64_t c = 0; c < curves.count(); ++c) {
    const std::span<const Vec3> points = curves.curve(c);
    const auto count = static_cast<std::int32_t>(points.size());
    put(bytes, curves.closed[static_cast<std::size_t>(c)] ? -count : count);
    for (const Vec3& x : points) put(bytes, x);
  }
  return bytes;
}

}  // namespace weft
