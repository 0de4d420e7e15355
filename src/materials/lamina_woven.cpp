// Measured fabrics.

#include "weft/materials/lamina_woven.hpp"

namespace weft {

// Fitted values of Clyde, Teran and Tamstorf 2017 as two public codes store them (NeuralClothSim, Codim-IPC), which
// agree digit for digit where both have them; denim and wool stand in the second alone, without the nonlinear terms.
std::span<const Fabric> fabrics() {
  using Eta = LaminaWoven::Eta;
  constexpr Real MPa = 1e6;
  constexpr Eta linear{};
  static constexpr std::array<Fabric, 5> list = {{
      {"silk",
       {4.3 * MPa,
        4.971 * MPa,
        9.942 * MPa,
        0.57 * MPa,
        {Eta{2, {61.769, -60.769}, {-2.23, -115.578}}, Eta{1, {1}, {1}}, Eta{2, {13.46, -12.46}, {-2.612, -195.533}},
         Eta{3, {3213.226, -3503.817, 291.591}, {-2.926, -3.205, -6.401}}},
        0.41,
        0.34,
        0.11},
       2.39e-4,
       0.083},
      {"cotton",
       {15.557 * MPa,
        7.779 * MPa,
        25.004 * MPa,
        1.076 * MPa,
        {Eta{3, {-352.871, 4.952, 348.919}, {-63.206, -550.784, -54.525}}, Eta{1, {1}, {1}},
         Eta{3, {-2587.08, -285.733, 2873.813}, {109.194, 102.720, 108.583}}, Eta{2, {8.362, -7.362}, {5.973, 3.496}}},
        0.14,
        0.14,
        0.063},
       2.53e-4,
       0.1036},
      {"canvas",
       {5.366 * MPa,
        2.683 * MPa,
        19.804 * MPa,
        2.009 * MPa,
        {Eta{2, {1881.386, -1880.386}, {22.619, 22.082}}, Eta{1, {1}, {1}},
         Eta{3, {-27.627, 70.532, -41.905}, {212.682, 149.080, 69.532}},
         Eta{3, {19.484, -1.805, -16.679}, {2.1, 0.869, 1.132}}},
        0.11,
        0.067,
        0.059},
       3.70e-4,
       0.294},
      {"denim",
       {4.793 * MPa, 4.515 * MPa, 9.029 * MPa, 2.448 * MPa, {linear, linear, linear, linear}, 0.28, 0.28, 0.05},
       6.6e-4,
       0.400},
      {"wool",
       {2.29 * MPa, 1.145 * MPa, 2.219 * MPa, 0.371 * MPa, {linear, linear, linear, linear}, 0.5, 0.62, 0.12},
       1.28e-3,
       0.4806},
  }};
  return list;
}

}  // namespace weft
