#pragma once
// Curves from bytes in memory, as the reader takes them from a file.

#include "weft/geometry/curves.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::test {

/// name: stands in messages; its ending tells the format.
inline Curves read_curves(const std::string& name, std::string_view bytes, const CurvePart& part = {}) {
  const auto read = [bytes](std::uint64_t begin, std::uint64_t count) {
    return std::string(bytes.substr(begin, count));
  };
  return weft::read_curves(FileBytes{name, bytes.size(), read}, part);
}

}  // namespace weft::test
