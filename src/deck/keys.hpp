#pragma once
// The key tables of all deck structs: the deck language.

#include "deck/keys/bodies.hpp"
#include "deck/keys/fibers.hpp"
#include "deck/keys/handles.hpp"
#include "deck/keys/materials.hpp"
#include "deck/keys/output.hpp"
#include "deck/keys/scene.hpp"
#include "deck/keys/shapes.hpp"
#include "deck/keys/solve.hpp"
#include "deck/keys/time.hpp"

namespace weft::deck {

template <>
inline constexpr auto keys<BalanceDeck> =
    table("balance", "How work is shared among ranks.",
          Key{"threshold", "1", above(1), "1.1", "Share anew when the largest work over the mean exceeds this.",
              &BalanceDeck::threshold},
          Key{"every", "1", at_least(1), "5", "Steps between looks.", &BalanceDeck::every});

template <>
inline constexpr auto keys<Deck> = table(
    "deck", "The top level of a deck.",
    Key{"weft", "1", at_least(1).at_most(1), required, "Format of the deck.", &Deck::format},
    Key{"title", "\"\"", "What this is, in words.", &Deck::title}, Key{"domain", "{}", "Space.", &Deck::domain},
    Key{"time", required, "Time.", &Deck::time}, Key{"transfer", "{}", "Between points and grid.", &Deck::transfer},
    Key{"materials", "{}", "What bodies are made of, by name; rigid bodies need none.", &Deck::materials},
    Key{"layers", "[]", "Layers of the grid besides that named materials.", &Deck::layers},
    Key{"layer_contact", "[]", "Friction between layers.", &Deck::layer_contact},
    Key{"bodies", at_least(1), required, "What moves.", &Deck::bodies},
    Key{"sources", "[]", "Where material flows in.", &Deck::sources},
    Key{"colliders", "[]", "Obstacles.", &Deck::colliders},
    Key{"handles", "[]", "What holds, moves and loads meshed bodies.", &Deck::handles},
    Key{"loading", "{}", "Steps of a static analysis.", &Deck::loading},
    Key{"solve", "{}", "How balanced states are found.", &Deck::solve},
    Key{"probes", "[]", "What is followed.", &Deck::probes}, Key{"output", "{}", "What is written.", &Deck::output},
    Key{"balance", "{}", "Work among ranks.", &Deck::balance});

}  // namespace weft::deck
