#include "weft/deck/layers.hpp"

#include <type_traits>

namespace weft {

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

}  // namespace weft
