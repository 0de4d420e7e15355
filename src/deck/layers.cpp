#include "weft/deck/layers.hpp"

#include <algorithm>
#include <type_traits>

namespace weft {
namespace {

bool is_stressed_by_grid(const StrandDeck& strand) {
  return strand.contact && strand.response == StrandResponse::elastoplastic;
}

/// Whether nodes change how a strand moves: they have its stress, or know of another body than strands like it.
bool is_moved_by_grid(const Deck& deck, const StrandDeck& strand) {
  if (!has_contact_points(strand)) return false;
  const auto is_like_it = [&](const BodyDeck& body) {
    const auto* other = std::get_if<StrandDeck>(&body);
    return other != nullptr && !is_stressed_by_grid(*other) && layer_of(body) == layer_of(strand);
  };
  return std::ranges::any_of(deck.bodies, [&](const BodyDeck& body) { return layer_of(body) && !is_like_it(body); });
}

}  // namespace

const CarriedDeck* carried(const BodyDeck& body) {
  return std::visit(
      [](const auto& deck) -> const CarriedDeck* {
        if constexpr (std::is_base_of_v<CarriedDeck, std::remove_cvref_t<decltype(deck)>>) return &deck;
        else return nullptr;
      },
      body);
}

bool is_carried_by_grid(const BodyDeck& body) {
  const CarriedDeck* deck = carried(body);
  return deck != nullptr ? deck->carrier == Carrier::grid : !std::holds_alternative<RigidDeck>(body);
}

std::optional<BlendDeck> blend_of(const BodyDeck& body) {
  constexpr Real usual_pic_rate = 10;  // of strands [1/s]
  if (const auto* continuum = std::get_if<ContinuumDeck>(&body)) return continuum->blend;
  if (const auto* strand = std::get_if<StrandDeck>(&body); strand != nullptr && has_contact_points(body))
    return strand->blend.value_or(BlendDeck{PicRateDeck{usual_pic_rate}});
  return {};
}

std::string roots_name(const StrandDeck& strand) { return strand.name + "_roots"; }

bool has_contact_points(const BodyDeck& body) {
  if (const auto* rigid = std::get_if<RigidDeck>(&body)) return rigid->meets_grid.value_or(true);
  const CarriedDeck* deck = carried(body);
  return deck != nullptr && deck->carrier == Carrier::own && deck->meets_grid.value_or(false);
}

bool has_contact_surface(const BodyDeck& body) {
  return has_contact_points(body) && !std::holds_alternative<StrandDeck>(body);
}

std::optional<std::string> layer_of(const BodyDeck& body) {
  if (!is_carried_by_grid(body) && !has_contact_points(body)) return {};
  return std::visit(
      [&](const auto& b) -> std::string {
        if (b.layer) return *b.layer;
        return has_contact_surface(body) ? b.name : first_layer;
      },
      body);
}

bool acts_on_whole_steps(const Deck& deck, const StrandDeck& strand) {
  return strand.impulses || strand.stretch_limit || is_moved_by_grid(deck, strand);
}

}  // namespace weft
