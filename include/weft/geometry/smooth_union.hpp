#pragma once
// Bounded shapes that flow into one another.

#include "weft/geometry/shape.hpp"

#include <vector>

namespace weft {

/// All parts together, with fillets of radius `blend` [m] where two of them meet at right angles, and more where they
/// are nearly parallel. With the distances d_k of the parts the surface is the zero of
///
///     max(blend, min_k d_k) - sqrt(sum_k max(0, blend - d_k)^2),
///
/// which does not depend on their order, and is the distance of a part where no other is nearer than `blend`. Elsewhere
/// distances are right to first order near the surface. Throws Error(geometry) without parts, if one of them is not
/// bounded, or if blend is not positive or larger than all parts together.
std::unique_ptr<Shape> make_smooth_union(std::vector<std::unique_ptr<Shape>> parts, Real blend);

}  // namespace weft
