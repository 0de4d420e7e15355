#include "weft/deck/frame_fields.hpp"

#include "deck/keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace weft {
namespace {

const FrameFields& fields_of(const BodyDeck& body) {
  const std::string_view kind =
      std::visit([]<class Kind>(const Kind&) { return std::string_view(deck::keys<Kind>.name); }, body);
  return *std::ranges::find(frame_fields(), kind, &FrameFields::kind);
}

}  // namespace

std::vector<const char*> FrameFields::all() const {
  std::vector<const char*> names = shown;
  names.insert(names.end(), others.begin(), others.end());
  names.insert(names.end(), of_some.begin(), of_some.end());
  return names;
}

const std::vector<FrameFields>& frame_fields() {
  static const std::vector<FrameFields> all{
      {"continuum",
       "particles",
       {"velocity", "volume_ratio", "plastic_measure", "pressure", "von_mises_stress"},
       {"cauchy_stress", "density", "mass", "velocity_gradient"},
       {"elastic_deformation", "left_stretch", "log_strain", "plastic_strain", "plastic_volume", "volume_gain",
        "handled_by"}},
      {"shell",
       "triangles of the limit surface",
       {"velocity", "membrane_strain", "curvature", "plastic_strain", "contact_pressure"},
       {},
       {}},
      {"membrane", "triangles of the mesh", {"velocity", "stretch", "pressure"}, {"mass", "velocity_gradient"}, {}},
      {"fiber", "segments", {"velocity", "stretch", "pressure"}, {"mass", "velocity_gradient"}, {}},
      {"strand",
       "segments",
       {"velocity", "stretch", "bend", "twist_rate"},
       {"mass", "rest_position", "section_director", "half_axis"},
       {"volume_ratio", "plastic_measure", "pressure", "von_mises_stress", "cauchy_stress", "density"}},
      {"solid",
       "tetrahedra",
       {"velocity", "volume_ratio", "pressure", "von_mises_stress"},
       {"cauchy_stress", "mass", "velocity_gradient"},
       {}},
      {"rigid", "triangles of the surface", {"velocity", "contact_pressure"}, {}, {}}};
  return all;
}

std::vector<std::string> fields_to_show(const Deck& deck, const std::string& body) {
  std::vector<std::string> fields;
  const auto add = [&](const std::string& field) {
    if (std::ranges::find(fields, field) == fields.end()) fields.push_back(field);
  };
  const auto is_it = [&](const BodyDeck& each) {
    return std::visit([&](const auto& kind) { return kind.name == body; }, each);
  };
  const auto its = std::ranges::find_if(deck.bodies, is_it);
  for (const std::string& name : deck.output.fields)
    if (name != "default") add(name);
    else if (its != deck.bodies.end())
      for (const char* field : fields_of(*its).shown) add(field);
  return fields;
}

std::string fields_in_words(const Deck& deck) {
  std::vector<std::string> words;
  for (const FrameFields& fields : frame_fields()) {
    const auto is_of = [&](const BodyDeck& body) { return &fields_of(body) == &fields; };
    if (std::ranges::none_of(deck.bodies, is_of)) continue;
    words.push_back(fmt::format("{}: {}", fields.kind, fmt::join(fields.all(), ", ")));
  }
  return fmt::format("{}", fmt::join(words, "; "));
}

}  // namespace weft
