#pragma once
// What key tables cannot say: conditions between values. Each function complains at the keys that disagree.

#include "deck/spot.hpp"
#include "weft/deck/deck.hpp"

#include <concepts>
#include <vector>

namespace weft::deck {

// Called for every struct whose own keys were read without complaint; `at` is the mapping that holds them.
void check(const BoundsDeck& bounds, const Spot& at);
void check(const TimeDeck& time, const Spot& at);
void check(const LameDeck& lame, const Spot& at);
void check(const BoxDeck& box, const Spot& at);
void check(const CylinderDeck& cylinder, const Spot& at);
void check(const CapsuleDeck& capsule, const Spot& at);
void check(const TorusDeck& torus, const Spot& at);
void check(const UnionDeck& shape, const Spot& at);
void check(const ContinuumDeck& body, const Spot& at);
void check(const CylinderPatchDeck& cylinder, const Spot& at);
void check(const SpherePatchDeck& sphere, const Spot& at);
void check(const AnnulusDeck& annulus, const Spot& at);
void check(const WovenSheetLawDeck& law, const Spot& at);
void check(const HairTubeDeck& tube, const Spot& at);
void check(const BraidDeck& braid, const Spot& at);
void check(const KnitDeck& knit, const Spot& at);
void check(const KnitSweaterDeck& sweater, const Spot& at);
void check(const ControlMeshDeck& mesh, const Spot& at);
void check(const GroomDeck& groom, const Spot& at);
void check(const CurvesDeck& curves, const Spot& at);
void check(const EllipticSectionDeck& section, const Spot& at);
void check(const StrandDeck& strand, const Spot& at);
void check(const BlockDeck& block, const Spot& at);
void check(const TetMeshDeck& mesh, const Spot& at);
void check(const HingeDeck& hinge, const Spot& at);
void check(const SliderDeck& slider, const Spot& at);
void check(const RigidDeck& body, const Spot& at);
void check(const HoldDeck& hold, const Spot& at);
void check(const SourceDeck& source, const Spot& at);
void check(const MotionDeck& motion, const Spot& at);
void check(const ColliderDeck& collider, const Spot& at);
void check(const OutputDeck& output, const Spot& at);
void check(const LoadingDeck& loading, const Spot& at);
void check(const SolveDeck& solve, const Spot& at);
void check_order(const std::vector<AmplitudeKeyDeck>& amplitude, const Spot& at);
template <class Load>
  requires std::same_as<decltype(Load::amplitude), std::vector<AmplitudeKeyDeck>>
void check(const Load& load, const Spot& at) {
  check_order(load.amplitude, at["amplitude"]);
}

/// Names are unique and refer to things that exist. Called in any case; ignores what could not be read.
void check_references(const Deck& deck, const Spot& root);

}  // namespace weft::deck
