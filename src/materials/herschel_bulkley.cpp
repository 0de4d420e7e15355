// The scalar equation of Herschel-Bulkley flow.

#include "weft/materials/herschel_bulkley.hpp"

namespace weft {

Real flow_fraction(Real ln_A, Real n) {
  // c y + exp(ln_B) y^p = 1 with p >= 1: y = x if n >= 1, else y = x^n.
  const bool in_x = n >= 1;
  const Real p = in_x ? n : 1 / n;
  const Real c = in_x ? 1 : std::exp(ln_A), ln_B = in_x ? ln_A : 0;
  Real y = std::min(1 / c, std::exp(-ln_B / p));  // either term alone stays below one
  for (int i = 0; i < 100 && y > 0; ++i) {
    const Real power = std::exp(ln_B + p * std::log(y));
    const Real next = y - (c * y + power - 1) / (c + p * power / y);
    if (!(next < y)) break;
    y = next;
  }
  return in_x ? y : std::pow(y, p);
}

}  // namespace weft
