#pragma once
// Holds agree: no two of them may prescribe different positions for one point.

#include "weft/bodies/handle.hpp"
#include "weft/deck/deck.hpp"

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft {

class HoldAgreement {
 public:
  /// size: of the scene [m].
  HoldAgreement(const Deck& deck, Real size) : deck_(deck), size_(size) {}

  /// Throws Error(deck) if a hold before prescribes another position of one of these points in the same direction.
  /// until: when the hold lets go [s]; positions: of the vertices at rest [m].
  void add(const HandleDeck& handle, std::span<const Site> sites, const HandleSettings& settings, Real until,
           const VertexValues& positions);

 private:
  struct Prescribed {
    std::string handle;
    RigidMotion motion;
    Real until;       ///< [s].
    Vec3 rest, axis;  ///< Where, and along what; unit.
  };
  void require_agreement(const HandleDeck& handle, const Prescribed& one, const Prescribed& other) const;

  const Deck& deck_;
  Real size_;
  std::map<std::pair<std::string, std::int32_t>, std::vector<Prescribed>> by_point_;  ///< By body and vertex.
};

}  // namespace weft
