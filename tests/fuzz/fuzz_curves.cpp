// Fuzz target of one curve reader (WEFT_CURVES_NAME tells the format): any bytes are refused with Error(geometry), or
// are curves that fit together and survive what scenes do with them.

#include "weft/base/error.hpp"
#include "weft/geometry/curves.hpp"
#include "weft/geometry/fiber_patterns.hpp"

#include "support/read_curves.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace weft;

namespace {

void demand(bool holds) {
  if (!holds) std::abort();
}

/// Whole chains of two points at least, each point in one of them; a thickness for all points or none.
void demand_fit(const Curves& curves) {
  demand(curves.count() > 0 && curves.offsets.size() == curves.closed.size() + 1 && curves.offsets.front() == 0);
  demand(curves.offsets.back() == static_cast<std::int64_t>(curves.points.size()));
  for (std::int64_t c = 0; c < curves.count(); ++c) demand(curves.offsets[c + 1] - curves.offsets[c] >= 2);
  demand(curves.thickness.empty() || curves.thickness.size() == curves.points.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string name = WEFT_CURVES_NAME;
  Curves curves;
  try {
    curves = test::read_curves(name, std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const Error& error) {
    demand(error.code() == ExitCode::geometry && std::string(error.what()).starts_with(name + ":"));
    return 0;
  }
  demand_fit(curves);
  for (const Vec3& x : curves.points) demand(x.allFinite());
  for (const auto& [a, b] : segments_of(curves))
    demand(a >= 0 && b >= 0 && static_cast<std::size_t>(std::max(a, b)) < curves.points.size());
  try {
    demand_fit(plied(curves, {2, 0.1, 0.5}));
    demand_fit(resampled(curves, std::max(1.0, length_of(curves) / 100)));
  } catch (const Error& error) {
    demand(error.code() == ExitCode::geometry);
  }
  return 0;
}
