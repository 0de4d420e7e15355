#pragma once
// Which grid layer a body is on.

#include "weft/deck/deck.hpp"

#include <optional>
#include <string>

namespace weft {

/// The layer of bodies that the grid carries and that name none.
inline constexpr const char* first_layer = "materials";

/// The keys of bodies with a mesh; null for others.
const CarriedDeck* carried(const BodyDeck& body);
/// Whether the nodes of the grid move it; else it has freedoms of its own.
bool is_carried_by_grid(const BodyDeck& body);
/// How much of the motion of nodes its points take over, if not all: of strands that meet the grid 10 /s, unless the
/// deck says otherwise.
std::optional<BlendDeck> blend_of(const BodyDeck& body);

/// What diagnostics call the roots of strands.
std::string roots_name(const StrandDeck& strand);
/// Whether a body with freedoms of its own meets the grid, by contact points.
bool has_contact_points(const BodyDeck& body);
/// Whether these lie on its surface, and not at its vertices with all of its mass. It is alone on its layer.
bool has_contact_surface(const BodyDeck& body);
/// The layer of a body that meets the grid. One with a surface of contact points that names none has a layer of its own
/// name.
std::optional<std::string> layer_of(const BodyDeck& body);
/// Whether a strand takes one substep in a step: impulses, a stretch limit or nodes change its velocity once in it.
bool acts_on_whole_steps(const Deck& deck, const StrandDeck& strand);

}  // namespace weft
