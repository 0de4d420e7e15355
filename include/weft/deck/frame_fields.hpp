#pragma once
// The fields that frames of bodies can show, by kind of body.

#include "weft/deck/deck.hpp"

#include <string>
#include <vector>

namespace weft {

struct FrameFields {
  const char* kind;                  ///< Of bodies, as decks name it.
  const char* drawn;                 ///< How, in words.
  std::vector<const char*> shown;    ///< Those that the word `default` in output.fields stands for.
  std::vector<const char*> others;   ///< Of all bodies of this kind.
  std::vector<const char*> of_some;  ///< Of bodies of certain laws, or with handles.

  std::vector<const char*> all() const;
};
const std::vector<FrameFields>& frame_fields();

/// What output.fields asks for in the frames of this body: its fields, and others that it has not.
std::vector<std::string> fields_to_show(const Deck& deck, const std::string& body);

/// The fields of the kinds of bodies that this deck has, for a message: "continuum: velocity, ...; shell: ...".
std::string fields_in_words(const Deck& deck);

}  // namespace weft
