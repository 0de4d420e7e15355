// The reference page of all deck keys.

#include "deck/describe.hpp"
#include "deck/messages.hpp"
#include "weft/deck/frame_fields.hpp"
#include "weft/deck/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace weft::deck {
namespace {

/// A deck that uses every section; the pieces of it stand in the page, each at its section.
struct Example {
  std::string_view section, text;
};
constexpr std::array examples = {Example{"weft", "weft: 1"},
                                 Example{"title", "title: Sand is poured beside a jelly"},
                                 Example{"domain", R"(domain:
  dx: 2 cm
  gravity: [0, -9.81, 0]
  bounds: {lower: [-1, -0.1, -1], upper: [1, 2, 1]})"},
                                 Example{"time", "time: {end: 2, frame_interval: 40 ms}"},
                                 Example{"transfer", "transfer: {kernel: cubic}"},
                                 Example{"materials", R"(materials:
  sand: {law: drucker_prager, density: 2200, youngs_modulus: 0.35 MPa, poisson_ratio: 0.3, friction_angle: 35}
  jelly: {law: fixed_corotated, density: 1 g/cm^3, lame_lambda: 4e4, lame_mu: 1e4})"},
                                 Example{"layers", R"(layers:
  - {name: soft, kernel: quadratic})"},
                                 Example{"layer_contact", R"(layer_contact:
  - {between: [materials, soft], friction: 0.4})"},
                                 Example{"bodies", R"(bodies:
  - {name: sand, kind: continuum, material: sand}
  - name: jelly
    kind: continuum
    material: jelly
    shape: {box: {lower: [0, 0, 0], upper: [0.2, 0.2, 0.2]}, rotate: {axis: [0, 0, 1], angle: 30}, translate: [0.2, 0.4, 0]}
    spin: [0, 0, 60 rpm]
    layer: soft)"},
                                 Example{"sources", R"(sources:
  - name: spout
    body: sand
    shape: {cylinder: {from: [-0.2, 0.7, 0], to: [-0.2, 0.74, 0], radius: 5 cm}}
    velocity: [0, -1.5, 0]
    until: 1.2)"},
                                 Example{"colliders", R"(colliders:
  - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}, friction: 0.5}
  - name: press
    shape: {sphere: {center: [0.3, 1, 0], radius: 0.1}}
    condition: slip
    motion: {keyframes: [{time: 0}, {time: 1, translate: [0, -0.8, 0]}]})"},
                                 Example{"probes", R"(probes:
  - {name: front, body: sand, quantile: {field: position_x, q: 0.98}}
  - {name: corner, body: jelly, nearest: {point: [0.2, 0.4, 0], field: pressure}}
  - {name: jelly_centre, body: jelly, centre_of_mass: {}})"},
                                 Example{"output", R"(output:
  fields: [velocity, pressure]
  checkpoint: {every_wall: 1 h, keep: 2})"},
                                 Example{"balance", "balance: {threshold: 1.2}"}};

constexpr const char* introduction = R"(# Deck reference

A deck is a YAML file. This page is written by `weft reference` from the tables that also check decks.

- **Numbers** are in the unit of their key: SI units, and degrees for angles. A number may carry another unit:
  `2 mm`, `1 MPa`, `1 g/cm^3`, `30 min`, `60 rpm`, `4 MiB`. What it measures must agree with the key.
- **Vectors** are `[x, y, z]`; each component may carry a unit.
- **Names** have up to 60 of the characters a-z, A-Z, 0-9, `_` and `-`, and begin with a letter or `_`.
- **Keys** that are not on this page are errors, as are keys that stand twice.
- Booleans are `true` and `false` only; YAML's anchors, aliases, tags and merge keys are not used.
- `weft run DECK --set bodies.jelly.spin="[0, 0, 5]"` replaces a value; list entries go by name or by number from 0.

A deck with every section:
)";

std::string code_block(std::string_view text) { return fmt::format("\n```yaml\n{}\n```\n", text); }

std::string code(std::string_view text) { return text.empty() ? std::string() : fmt::format("`{}`", text); }

std::string default_of(const KeyText& key) {
  return key.is_required() ? "**required**" : key.may_be_absent() ? "absent" : code(key.fallback);
}

/// Text for a cell of a table, where a bar would begin the next one.
std::string in_cell(std::string_view text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? "\\|" : std::string(1, c);
  return cell;
}

std::string meaning_of(const Row& row) {
  std::string text = row.key.text;
  if (row.kind.of != Kind::Of::word) return in_cell(text);
  for (const WordText& word : row.kind.words) text += fmt::format(" {}: {}.", code(word.name), word.text);
  return in_cell(text);
}

/// Writes sections; a group that was written before is not written again.
class Page {
 public:
  explicit Page(const Group& deck) {
    std::string whole;
    for (const Example& example : examples) whole += (whole.empty() ? "" : "\n") + std::string(example.text);
    for (const Row& row : deck.rows)
      for (const Group& group : innermost(row.kind).group) anchors_[group.name] = row.key.name;
    text_ = introduction + code_block(whole) + table_of(deck);
    for (const Row& row : deck.rows)
      for (const Group& group : innermost(row.kind).group) top_section(row.key.name, group);
  }
  const std::string& text() const { return text_; }

 private:
  void top_section(const std::string& key, const Group& group) {
    text_ += fmt::format("\n## {}\n\n{}\n", key, group.text);
    const auto example = std::ranges::find(examples, std::string_view(key), &Example::section);
    if (example != examples.end()) text_ += code_block(example->text);
    contents(group);
    if (key == "output") fields_by_kind();
  }

  void section(const std::string& title, const Group& group) {
    text_ += fmt::format("\n### {}\n\n{}\n", title, group.text);
    contents(group);
  }

  void fields_by_kind() {
    text_ +=
        "\n### Fields of frames\n\nParticles and vertices have their `id`, too. Frames of static analyses show the "
        "displacement and, of shells, strain, curvature and plastic strain, of other bodies the stretch; where a state "
        "is "
        "not stable, also its mode.\n\n"
        "| kind | drawn as | `default` | others | of certain laws, or with handles |\n|---|---|---|---|---|\n";
    const auto list = [](const std::vector<const char*>& names) {
      std::string codes;
      for (const char* name : names) codes += (codes.empty() ? "" : ", ") + code(name);
      return codes;
    };
    for (const FrameFields& fields : frame_fields())
      text_ += fmt::format("| {} | {} | {} | {} | {} |\n", code(fields.kind), fields.drawn, list(fields.shown),
                           list(fields.others), list(fields.of_some));
  }

  void contents(const Group& group) {
    for (const Row& row : group.rows) {
      if (row.of == Row::Of::choice)
        text_ += fmt::format("\n{} The key `{}` is required: {}.\n", row.key.text, row.key.name, names_of(row));
      if (row.of == Row::Of::one_of)
        text_ += fmt::format("\n{} Exactly one of these keys is required: {}.\n", row.key.text, names_of(row));
      if (row.of == Row::Of::either) text_ += fmt::format("\n{}\n", row.key.text);
    }
    text_ += table_of(group);
    for (const Row& row : group.rows) {
      for (const Group& each : row.alternatives) {
        if (row.of == Row::Of::choice) section(fmt::format("`{}: {}`", row.key.name, each.name), each);
        if (row.of == Row::Of::one_of) section(code(each.name), each);
      }
      for (const Group& each : innermost(row.kind).group)
        if (written_.insert(each.name).second) section(each.name, each);
    }
  }

  std::string table_of(const Group& group) const {
    std::string lines;
    for (const Row& row : group.rows) {
      if (row.of == Row::Of::key) lines += line_of(row, default_of(row.key));
      if (row.of == Row::Of::either)
        for (const Group& each : row.alternatives)
          for (const Row& key : each.rows) lines += line_of(key, "see above");
    }
    return lines.empty() ? lines : "\n| key | unit | value | default | meaning |\n|---|---|---|---|---|\n" + lines;
  }

  std::string line_of(const Row& row, const std::string& default_text) const {
    return fmt::format("| {} | {} | {} | {} | {} |\n", code(row.key.name), row.key.unit, value_of(row.kind, row.key),
                       default_text, meaning_of(row));
  }

  /// What a value looks like: its range, or what it is, with a link to its section.
  std::string value_of(const Kind& kind, const KeyText& key) const {
    const std::string range = prose(key.rule);
    switch (kind.of) {
      case Kind::Of::number:
        return range.empty() ? "number" : range;
      case Kind::Of::whole:
        return range.empty() ? "whole number" : "whole, " + range;
      case Kind::Of::flag:
        return "`true`, `false`";
      case Kind::Of::text:
        return key.rule.text == Rule::Text::name ? "name" : key.rule.text == Rule::Text::file ? "file" : "text";
      case Kind::Of::vector:
        return range.empty() ? "vector" : "vector, " + range;
      case Kind::Of::word: {
        std::vector<std::string> names;
        for (const WordText& word : kind.words) names.push_back(code(word.name));
        return fmt::format("{}", fmt::join(names, ", "));
      }
      case Kind::Of::list:
        return "list of " + value_of(kind.entry.front(), key);
      case Kind::Of::named:
        return value_of(kind.entry.front(), key) + " by name";
      case Kind::Of::group: {
        const std::string& name = kind.group.front().name;
        const auto anchor = anchors_.find(name);
        return fmt::format("[{}](#{})", name, anchor == anchors_.end() ? name : anchor->second);
      }
    }
    return {};
  }

  static std::string names_of(const Row& row) {
    std::vector<std::string> names;
    for (const Group& each : row.alternatives) names.push_back(code(each.name));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  std::string text_;
  std::set<std::string> written_;
  std::map<std::string, std::string> anchors_;  ///< Of groups whose section is titled by a key of the top level.
};

}  // namespace
}  // namespace weft::deck

namespace weft {

std::string deck_reference() { return deck::Page(deck::describe_deck()).text(); }

}  // namespace weft
