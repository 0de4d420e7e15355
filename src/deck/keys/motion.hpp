#pragma once
// Key tables of prescribed motion.

#include "deck/keys/shapes.hpp"
#include "deck/table.hpp"
#include "weft/deck/deck.hpp"

namespace weft::deck {

template <>
inline constexpr auto keys<KeyframeDeck> =
    table("keyframe", "A pose at a time.", Key{"time", "s", anything, required, "When.", &KeyframeDeck::time},
          Key{"translate", "m", anything, "[0, 0, 0]", "Shift from the initial place.", &KeyframeDeck::translate},
          Key{"rotate", absent, "Turn from the initial pose, about the centre of the motion.", &KeyframeDeck::rotate});

template <>
inline constexpr auto keys<MotionDeck> =
    table("motion", "Rigid motion: constant velocity and spin, or keyframes, never both.",
          Key{"velocity", "m/s", anything, "[0, 0, 0]", "Constant velocity.", &MotionDeck::velocity},
          Key{"spin", "rad/s", anything, "[0, 0, 0]", "Constant angular velocity.", &MotionDeck::spin},
          Key{"center", "m", anything, "[0, 0, 0]", "Point that rotations turn about, at time 0.", &MotionDeck::center},
          Key{"keyframes", "[]", "Poses in the order of time; interpolated between, constant before and after.",
              &MotionDeck::keyframes});

}  // namespace weft::deck
