#pragma once
// The list of all laws. A new law adds its header and one line to AllLaws.

#include "weft/materials/drucker_prager.hpp"
#include "weft/materials/fixed_corotated.hpp"
#include "weft/materials/herschel_bulkley.hpp"
#include "weft/materials/law.hpp"
#include "weft/materials/neo_hookean.hpp"
#include "weft/materials/snow.hpp"
#include "weft/materials/stvk_hencky.hpp"
#include "weft/materials/tait.hpp"
#include "weft/materials/von_mises.hpp"

namespace weft {

template <Law... Laws>
struct LawList {
  /// Wrapper<Laws...>, for variants and typed tests.
  template <template <class...> class Wrapper>
  using In = Wrapper<Laws...>;
};

using AllLaws = LawList<  //
    FixedCorotated,       //
    NeoHookean,           //
    StvkHencky,           //
    DruckerPrager,        //
    Snow,                 //
    VonMises,             //
    Tait,                 //
    HerschelBulkley>;

}  // namespace weft
