#pragma once
// Key tables of bodies of any kind, sources and colliders.

#include "deck/keys/fibers.hpp"
#include "deck/keys/motion.hpp"
#include "deck/keys/shapes.hpp"
#include "deck/table.hpp"
#include "weft/deck/deck.hpp"

#include <functional>

namespace weft::deck {

template <>
inline constexpr std::array words<WallContactKind> = {
    Word{WallContactKind::surface, "surface", "at the surface of the material"},
    Word{WallContactKind::nodes, "nodes", "at the nodes of the grid inside the collider, to within a cell"}};

template <>
inline constexpr std::array words<WallEdges> = {
    Word{WallEdges::rounded, "rounded", "so that meshes slide over them; things are drawn inside by half a dx"},
    Word{WallEdges::sharp, "sharp", "as drawn; faces of meshes catch at them"}};

template <>
inline constexpr std::array words<WallCondition> = {
    Word{WallCondition::sticky, "sticky", "material moves with the collider"},
    Word{WallCondition::slip, "slip", "material slides but does not leave"},
    Word{WallCondition::separate, "separate", "material slides and may leave"}};

template <>
inline constexpr auto keys<BodyDeck> =
    table("body", "What moves.", Choice{"kind", "How it is represented.", std::identity{}});

template <>
inline constexpr auto keys<SourceDeck> =
    table("source", "A region that is kept full of new material while it is open.",
          Key{"name", a_name, required, "Names it in messages.", &SourceDeck::name},
          Key{"body", a_name, required, "Name of the continuum body that receives the points.", &SourceDeck::body},
          Key{"shape", required, "The region.", &SourceDeck::shape},
          Key{"velocity", "m/s", anything, required, "Of the emitted material.", &SourceDeck::velocity},
          Key{"from", "s", at_least(0), "0", "Opens.", &SourceDeck::from},
          Key{"until", "s", above(0).or_none(), "none", "Closes.", &SourceDeck::until});

template <>
inline constexpr auto keys<LayerDeck> =
    table("layer", "A layer of the grid: bodies on the same layer share its nodes, bodies on different layers touch.",
          Key{"name", a_name, required, "Names it for bodies and pairs.", &LayerDeck::name},
          Key{"kernel", absent, "B-spline between points and nodes; absent: transfer.kernel.", &LayerDeck::kernel});

template <>
inline constexpr auto keys<LayerContactDeck> =
    table("layer_contact", "Contact of two layers.",
          Key{"between", a_name, required, "The names of the two layers; that of a solid, twice, lets it touch itself.",
              &LayerContactDeck::between},
          Key{"friction", "1", at_least(0), required, "Coulomb's coefficient; of pairs that are not listed 0.",
              &LayerContactDeck::friction});

template <>
inline constexpr auto keys<ColliderDeck> = table(
    "collider", "A rigid obstacle that material cannot enter.",
    Key{"name", a_name, required, "Names files and columns.", &ColliderDeck::name},
    Key{"shape", required, "The obstacle.", &ColliderDeck::shape},
    Key{"hollow", "false", "Material is inside the shape: a container.", &ColliderDeck::hollow},
    Key{"condition", "separate", "What happens at the surface.", &ColliderDeck::condition},
    Key{"friction", "1", at_least(0), "0", "Coulomb's coefficient; for slip and separate.", &ColliderDeck::friction},
    Key{"contact", "surface", "Where it acts.", &ColliderDeck::contact},
    Key{"edges", "rounded", "How sheets, shells, fibers and strands meet outer edges.", &ColliderDeck::edges},
    Key{"motion", absent, "How it moves; without, it rests.", &ColliderDeck::motion});

}  // namespace weft::deck
