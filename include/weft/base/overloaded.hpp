#pragma once
// A visitor of variants made of functions.

namespace weft {

/// std::visit(Overloaded{[](const A&) { ... }, [](const B&) { ... }}, variant).
template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

}  // namespace weft
