#include "weft/bodies/continuum.hpp"

#include "bodies/continuum_kernel.hpp"

namespace weft {

std::unique_ptr<PointBody> make_continuum(std::string name, const AnyLaw& law, Real rest_density, bool follows) {
  return std::visit(
      [&]<Law L>(const Chosen<L>& chosen) -> std::unique_ptr<PointBody> {
        return std::make_unique<Continuum<L>>(std::move(name), chosen.constants, rest_density, follows);
      },
      law);
}

}  // namespace weft
