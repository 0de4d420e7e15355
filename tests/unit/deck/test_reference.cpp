// The schema and the reference page say what the reader does.

#include "decks.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace weft {
namespace {

using nlohmann::json;

/// All keys that the schema knows, of all objects.
void collect_keys(const json& schema, std::set<std::string>& keys) {
  if (schema.is_array())
    for (const json& each : schema) collect_keys(each, keys);
  if (!schema.is_object()) return;
  if (schema.contains("properties"))
    for (const auto& [key, value] : schema["properties"].items()) keys.insert(key);
  for (const auto& [key, value] : schema.items()) collect_keys(value, keys);
}

std::set<std::string> all_keys() {
  std::set<std::string> keys;
  collect_keys(json::parse(deck_schema()), keys);
  return keys;
}

TEST(SchemaTest, IsDraft7WithRangesDefaultsUnitsAndNoOtherKeys) {
  const json schema = json::parse(deck_schema());
  EXPECT_EQ(schema["$schema"], "http://json-schema.org/draft-07/schema#");
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["required"], json({"weft", "time", "bodies"}));
  const json& time = schema["definitions"]["time"];
  EXPECT_EQ(time["additionalProperties"], false);
  EXPECT_EQ(time["properties"]["cfl"]["default"], 0.3);
  EXPECT_EQ(time["properties"]["cfl"]["maximum"], 1);
  EXPECT_EQ(time["properties"]["cfl"]["exclusiveMinimum"], 0);
  EXPECT_EQ(time["properties"]["end"]["unit"], "s");
  EXPECT_EQ(schema["definitions"]["transfer"]["properties"]["kernel"]["enum"], json({"linear", "quadratic", "cubic"}));
  for (const json& material : schema["definitions"]["material"]["oneOf"])
    EXPECT_EQ(material["additionalProperties"], false);
}

TEST(SchemaTest, EveryKeyIsDescribed) {
  const std::function<void(const json&)> visit = [&](const json& schema) {
    if (schema.is_array())
      for (const json& each : schema) visit(each);
    if (!schema.is_object()) return;
    if (schema.contains("properties")) {
      for (const auto& [key, value] : schema["properties"].items())
        EXPECT_FALSE(value.value("description", "").empty()) << key;
    }
    for (const auto& [key, value] : schema.items()) visit(value);
  };
  visit(json::parse(deck_schema()));
}

TEST(SchemaTest, AgreesWithTheReaderOnGoodAndBadDecks) {
  // Decks as JSON, which is YAML too, so that both read one text; judged by python3-jsonschema if it is installed.
  if (std::system("/usr/bin/python3 -c 'import jsonschema' 2> /dev/null") != 0) GTEST_SKIP() << "no python3-jsonschema";
  const json good = json::parse(R"({"weft": 1, "domain": {"dx": 0.02}, "time": {"end": 1, "frame_interval": "40 ms"},
    "materials": {"sand": {"law": "drucker_prager", "density": 2200, "youngs_modulus": 1e6, "poisson_ratio": 0.3},
                  "water": {"law": "tait", "density": 1000, "bulk_modulus": 1e6}},
    "bodies": [{"name": "heap", "kind": "continuum", "material": "sand", "shape": {"sphere": {"center": [0, "1 m", 0], "radius": 1}}}],
    "colliders": [{"name": "floor", "shape": {"plane": {"point": [0, 0, 0], "normal": [0, 1, 0]}, "rotate": {"axis": [0, 0, 1], "angle": 9}}}],
    "probes": [{"name": "p", "body": "heap", "centre_of_mass": {}}],
    "output": {"checkpoint": {"every_wall": "none"}}})");
  std::vector<json> decks{good};
  const auto with = [&](const char* pointer, const json& value) {
    decks.push_back(good);
    decks.back()[json::json_pointer(pointer)] = value;
  };
  const auto without = [&](const char* parent, const char* key) {
    decks.push_back(good);
    decks.back()[json::json_pointer(parent)].erase(key);
  };
  with("/time/max_dt", "1 ms");
  with("/transfer", {{"kernel", "cubic"}});
  with("/materials/sand/friction_angle", 35);
  with("/materials/sand", {{"law", "snow"}, {"density", 400}, {"lame_lambda", 1}, {"lame_mu", 1}});
  const std::size_t good_decks = decks.size();
  with("/weft", 2);
  with("/colour", "red");
  with("/domain/dx", 0);
  with("/domain/dx", "thin");
  with("/domain/dx", json::array());
  with("/domain/gravity", {0, 1});
  with("/time/cfl", 2);
  with("/time/max_retries", 1.5);
  with("/transfer", {{"kernel", "quintic"}});
  with("/materials/sand/law", "snwo");
  with("/materials/sand/viscosity", 1);
  with("/materials/sand/lame_mu", 1);
  with("/materials/water/youngs_modulus", 1);
  with("/materials/my sand", good["materials"]["sand"]);
  with("/bodies", json::array());
  with("/bodies/0/kind", "ghost");
  with("/bodies/0/name", "a b");
  with("/bodies/0/shape/box", {{"lower", {0, 0, 0}}, {"upper", {1, 1, 1}}});
  with("/bodies/0/shape/sphere/radius", -1);
  with("/bodies/0/sampling", true);
  with("/probes/0/bounding_box", json::object());
  with("/output/grid", "yes");
  without("/materials/sand", "poisson_ratio");
  without("/materials/sand", "density");
  without("/bodies/0/shape", "sphere");
  without("/probes/0", "centre_of_mass");
  without("", "weft");

  json file{{"schema", json::parse(deck_schema())}, {"decks", decks}};
  const auto path = std::filesystem::temp_directory_path() / "weft_test_schema.json";
  const auto verdicts_path = std::filesystem::temp_directory_path() / "weft_test_verdicts.json";
  std::ofstream(path) << file;
  const std::string command =
      "/usr/bin/python3 -c 'import json, sys, jsonschema\n"
      "f = json.load(open(sys.argv[1]))\n"
      "jsonschema.Draft7Validator.check_schema(f[\"schema\"])\n"
      "v = jsonschema.Draft7Validator(f[\"schema\"])\n"
      "json.dump([v.is_valid(d) for d in f[\"decks\"]], open(sys.argv[2], \"w\"))' " +
      path.string() + " " + verdicts_path.string();
  ASSERT_EQ(std::system(command.c_str()), 0);
  const json verdicts = json::parse(std::ifstream(verdicts_path));
  for (std::size_t i = 0; i < decks.size(); ++i) {
    const auto lines = test::complaints(decks[i].dump());
    EXPECT_EQ(lines.empty(), i < good_decks) << decks[i] << (lines.empty() ? "" : lines[0]);
    EXPECT_EQ(verdicts[i], lines.empty()) << decks[i];
  }
  std::filesystem::remove(path);
  std::filesystem::remove(verdicts_path);
}

TEST(ReferenceTest, EveryRowOfATableHasFiveCells) {
  std::istringstream page(deck_reference());
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with('|')) continue;
    int bars = 0;
    for (std::size_t k = 0; k < line.size(); ++k) bars += line[k] == '|' && (k == 0 || line[k - 1] != '\\');
    EXPECT_EQ(bars, 6) << line;
  }
}

TEST(ReferenceTest, NamesEveryKeyOfTheSchema) {
  const std::string page = deck_reference();
  for (const std::string& key : all_keys())
    EXPECT_TRUE(page.find("| `" + key + "` |") != std::string::npos ||
                page.find("### `" + key + "`") != std::string::npos ||
                page.find("The key `" + key + "` is required") != std::string::npos)
        << key;
}

TEST(ReferenceTest, TheExampleOfThePageIsAGoodDeckAndItsPartsStandInTheSections) {
  const std::string page = deck_reference();
  const std::string fence = "```yaml\n";
  std::vector<std::string> examples;
  for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at + 1)) {
    const std::size_t begin = at + fence.size();
    examples.push_back(page.substr(begin, page.find("```", begin) - begin));
  }
  ASSERT_EQ(examples.size(), 13u);  // the whole deck and the ten sections
  EXPECT_TRUE(test::complaints(examples[0]).empty()) << test::complaints(examples[0])[0];
  for (const std::string& example : examples) EXPECT_NE(examples[0].find(example), std::string::npos) << example;
}

TEST(ReferenceTest, LinksLeadToSections) {
  const std::string page = deck_reference();
  for (std::size_t at = page.find("](#"); at != std::string::npos; at = page.find("](#", at + 1)) {
    const std::string anchor = page.substr(at + 3, page.find(')', at) - at - 3);
    EXPECT_TRUE(page.find("## " + anchor + "\n") != std::string::npos) << anchor;
  }
}

}  // namespace
}  // namespace weft
