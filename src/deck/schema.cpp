// The JSON Schema of decks.

#include "deck/describe.hpp"
#include "deck/messages.hpp"
#include "deck/units.hpp"
#include "deck/yaml.hpp"
#include "weft/deck/read.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace weft::deck {
namespace {

using Json = nlohmann::ordered_json;

/// Whole numbers without a decimal point, as people write them.
Json number(Real x) { return x == std::floor(x) && std::abs(x) < 1e15 ? Json(static_cast<std::int64_t>(x)) : Json(x); }

Json json_of(const Node& node) {
  if (node.kind == Node::Kind::list) {
    Json list = Json::array();
    for (const Node& child : node.children) list.push_back(json_of(child));
    return list;
  }
  if (node.kind == Node::Kind::mapping) {
    Json object = Json::object();
    for (const Node& child : node.children) object[child.key] = json_of(child);
    return object;
  }
  if (!node.in_quotes && (node.text == "true" || node.text == "false")) return node.text == "true";
  if (!node.in_quotes && !is_plain_text(node.text)) {
    try {
      return number(parse_number(node.text));
    } catch (const BadNumber&) {
      return node.text;  // a quantity with its unit
    }
  }
  return node.text;
}

Json default_of(const KeyText& key) {
  Report unused("default");
  return json_of(parse_yaml(key.fallback, 0, unused));
}

/// A plain number in its range, or a number with a unit, or the word `none`.
Json number_schema(const KeyText& key, const char* type) {
  Json plain{{"type", type}};
  if (std::isfinite(key.rule.low)) plain[key.rule.low_open ? "exclusiveMinimum" : "minimum"] = number(key.rule.low);
  if (std::isfinite(key.rule.high)) plain[key.rule.high_open ? "exclusiveMaximum" : "maximum"] = number(key.rule.high);
  Json any = Json::array({plain});
  if (std::string_view(key.unit) != "1")
    any.push_back(
        {{"type", "string"}, {"pattern", R"(^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)? *[A-Za-z%1µμ].*$)"}});
  if (key.rule.may_be_none) any.push_back({{"const", "none"}});
  return any.size() == 1 ? plain : Json{{"anyOf", any}};
}

/// Structs that were written once and are referred to.
using Definitions = Json;

Json object_schema(const Group& group, Definitions& definitions);

/// A reference to the definition of this group, which is written at first use.
Json reference_to(const Group& group, Definitions& definitions) {
  if (!definitions.contains(group.name)) {
    definitions[group.name] = Json::object();  // holds the place in the order of first use
    Json schema = object_schema(group, definitions);
    definitions[group.name] = std::move(schema);
  }
  return {{"$ref", "#/definitions/" + group.name}};
}

Json value_schema(const Kind& kind, const KeyText& key, Definitions& definitions) {
  switch (kind.of) {
    case Kind::Of::number:
      return number_schema(key, "number");
    case Kind::Of::whole:
      return number_schema(key, "integer");
    case Kind::Of::flag:
      return {{"type", "boolean"}};
    case Kind::Of::text:
      if (key.rule.text == Rule::Text::name) return {{"type", "string"}, {"pattern", "^[A-Za-z_][A-Za-z0-9_-]{0,59}$"}};
      return {{"type", "string"}};
    case Kind::Of::vector:
      return {{"type", "array"}, {"items", number_schema(key, "number")}, {"minItems", 3}, {"maxItems", 3}};
    case Kind::Of::word: {
      Json names = Json::array();
      for (const WordText& word : kind.words) names.push_back(word.name);
      return {{"enum", names}};
    }
    case Kind::Of::list: {
      Json list{{"type", "array"}, {"items", value_schema(kind.entry.front(), key, definitions)}};
      if (key.rule.low > 0) list["minItems"] = number(key.rule.low);
      return list;
    }
    case Kind::Of::named: {
      Json object{{"type", "object"},
                  {"propertyNames", {{"pattern", "^[A-Za-z_][A-Za-z0-9_-]{0,59}$"}}},
                  {"additionalProperties", value_schema(kind.entry.front(), key, definitions)}};
      if (key.rule.low > 0) object["minProperties"] = number(key.rule.low);
      return object;
    }
    case Kind::Of::group:
      return {{"allOf", Json::array({reference_to(kind.group.front(), definitions)})}};
  }
  return {};
}

std::string described(const KeyText& key) {
  const bool has_unit = *key.unit != '\0' && std::string_view(key.unit) != "1";
  return has_unit ? fmt::format("{} [{}]", key.text, key.unit) : key.text;
}

void add_row(Json& object, const Row& row, Definitions& definitions);

void add_rows(Json& object, const Group& group, Definitions& definitions) {
  for (const Row& row : group.rows) add_row(object, row, definitions);
}

void add_key(Json& object, const Row& row, Definitions& definitions) {
  Json schema = value_schema(row.kind, row.key, definitions);
  schema["description"] = described(row.key);
  if (*row.key.unit != '\0') schema["unit"] = row.key.unit;
  if (row.key.is_required()) object["required"].push_back(row.key.name);
  else if (!row.key.may_be_absent()) schema["default"] = default_of(row.key);
  object["properties"][row.key.name] = std::move(schema);
}

/// Exactly one of the alternatives, each under its own name.
void add_one_of(Json& object, const Row& row, Definitions& definitions) {
  Json exactly_one = Json::array();
  for (const Group& each : row.alternatives) {
    object["properties"][each.name] = {{"allOf", Json::array({reference_to(each, definitions)})},
                                       {"description", each.text}};
    exactly_one.push_back({{"required", {each.name}}});
  }
  object["allOf"].push_back({{"oneOf", exactly_one}});
}

/// Exactly one complete group of keys.
void add_either(Json& object, const Row& row, Definitions& definitions) {
  Json exactly_one = Json::array();
  for (const Group& each : row.alternatives) {
    Json group = Json::object();
    add_rows(group, each, definitions);
    for (const auto& [key, schema] : group["properties"].items()) {
      object["properties"][key] = schema;
      object["dependencies"][key] = group["required"];
    }
    exactly_one.push_back({{"required", group["required"]}});
  }
  object["allOf"].push_back({{"oneOf", exactly_one}});
}

void add_row(Json& object, const Row& row, Definitions& definitions) {
  switch (row.of) {
    case Row::Of::key:
      return add_key(object, row, definitions);
    case Row::Of::one_of:
      return add_one_of(object, row, definitions);
    case Row::Of::either:
      return add_either(object, row, definitions);
    case Row::Of::choice:
      return;  // makes an object of its own for each alternative
  }
}

/// An object that names its kind in a key has one complete schema for each kind.
Json object_schema(const Group& group, Definitions& definitions) {
  Json common{
      {"type", "object"}, {"additionalProperties", false}, {"required", Json::array()}, {"properties", Json::object()}};
  add_rows(common, group, definitions);
  Json schema{{"description", group.text}};
  for (const Row& row : group.rows) {
    if (row.of != Row::Of::choice) continue;
    for (const Group& each : row.alternatives) {
      Json object = common;
      object["description"] = each.text;
      object["properties"][row.key.name] = {{"const", each.name}, {"description", row.key.text}};
      object["required"].push_back(row.key.name);
      add_rows(object, each, definitions);
      schema["oneOf"].push_back(std::move(object));
    }
    return schema;
  }
  schema.update(common);
  return schema;
}

}  // namespace
}  // namespace weft::deck

namespace weft {

std::string deck_schema() {
  const deck::Group top = deck::describe_deck();
  deck::Json definitions = deck::Json::object();
  deck::Json schema{
      {"$schema", "http://json-schema.org/draft-07/schema#"}, {"$id", "urn:weft:deck:1"}, {"title", "A deck of Weft"}};
  schema.update(deck::object_schema(top, definitions));
  schema["definitions"] = std::move(definitions);
  return schema.dump(2) + "\n";
}

}  // namespace weft
