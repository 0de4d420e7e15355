#pragma once
// From the kernel that a deck names to the type that the loops are compiled for.

#include "weft/base/kinds.hpp"
#include "weft/math/kernels.hpp"

namespace weft {

/// Calls f with a value of the kernel's type: LinearKernel, QuadraticKernel or CubicKernel.
template <class F>
decltype(auto) with_kernel(KernelKind kind, F&& f) {
  switch (kind) {
    case KernelKind::linear:
      return f(LinearKernel{});
    case KernelKind::quadratic:
      return f(QuadraticKernel{});
    case KernelKind::cubic:
      break;
  }
  return f(CubicKernel{});
}

}  // namespace weft
