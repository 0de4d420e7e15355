// Walking through a deck, reading single values, complaining.

#include "deck/spot.hpp"

#include "deck/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace weft::deck {
namespace {

std::string what_stands_at(const Node& node) {
  switch (node.kind) {
    case Node::Kind::nothing:
      return "nothing";
    case Node::Kind::list:
      return node.children.empty() ? "an empty list" : "a list";
    case Node::Kind::mapping:
      return "a mapping (key: value)";
    case Node::Kind::scalar:
      return shown(node.text);
  }
  return {};
}

/// "a number in m/s (> 0)".
std::string number_in_words(const KeyText& key, const char* kind) {
  const std::string unit = std::string_view(key.unit) == "1" ? "" : fmt::format(" in {}", key.unit);
  const std::string range = prose(key.rule);
  return fmt::format("{}{}{}", kind, unit, range.empty() ? "" : fmt::format(" ({})", range));
}

bool is_bare_scalar(const Node& node) { return node.kind == Node::Kind::scalar && !node.in_quotes; }

/// A number with its unit and in its range; nothing after a complaint.
std::optional<Real> read_quantity(const Spot& at, const KeyText& key, const char* kind) {
  const Node& node = at.node();
  if (key.rule.may_be_none && node.text == "none") return std::numeric_limits<Real>::infinity();
  if (node.kind != Node::Kind::scalar) {
    at.expected(number_in_words(key, kind));
    return {};
  }
  // "2 mm" may be quoted, as YAML knows no quantities; a quoted 2 is a text.
  if (node.in_quotes && !is_plain_text(node.text)) {
    at.error(fmt::format("expected {}, got the text {}. Leave the quotes out.", number_in_words(key, kind),
                         shown(node.text)));
    return {};
  }
  try {
    const Quantity quantity = parse_quantity(node.text, key.unit);
    if (key.rule.allows(quantity.in_key_unit)) return quantity.si;
    at.error(fmt::format("{} is out of range. Expected {}.", shown(node.text), number_in_words(key, kind)));
  } catch (const BadNumber& bad) {
    at.error(fmt::format("{} Expected {}.", bad.what(), number_in_words(key, kind)));
  }
  return {};
}

template <class Whole>
void read_whole(const Spot& at, const KeyText& key, Whole& value) {
  const std::optional<Real> number = read_quantity(at, key, "a whole number");
  if (!number) return;
  const bool fits =
      *number >= Real(std::numeric_limits<Whole>::min()) && *number <= Real(std::numeric_limits<Whole>::max());
  if (!fits || *number != std::floor(*number)) return at.expected(number_in_words(key, "a whole number"));
  value = static_cast<Whole>(*number);
}

/// The absolute path of a file that exists, if it must; relative paths are taken from the deck's folder.
std::string file_path(const Spot& at, const std::string& text) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path file = fs::absolute(fs::path(at.reading().folder) / text, error).lexically_normal();
  if (!at.reading().needs_files) return file.string();
  if (text.empty() || !fs::is_regular_file(file, error))
    at.error(fmt::format("there is no file {}. Paths are relative to the deck.", shown(file.string())));
  else if (!is_utf8(file.string()))
    at.error("the path of the file is not UTF-8 text, so the resolved deck could not name it. Rename the folder.");
  return file.string();
}

}  // namespace

std::string prose(const Rule& rule) {
  if (rule.nonzero) return "not zero";
  if (rule.low == rule.high) return fmt::format("{}", rule.low);
  std::vector<std::string> parts;
  if (std::isfinite(rule.low)) parts.push_back(fmt::format("{} {}", rule.low_open ? ">" : ">=", rule.low));
  if (std::isfinite(rule.high)) parts.push_back(fmt::format("{} {}", rule.high_open ? "<" : "<=", rule.high));
  std::string text = fmt::format("{}", fmt::join(parts, " and "));
  if (rule.may_be_none) text += text.empty() ? "or none" : ", or none";
  return text;
}

const Node& Reading::default_node(const char* text) {
  const auto found = defaults.find(text);
  if (found != defaults.end()) return found->second;
  Report unused("default");
  return defaults.emplace(text, parse_yaml(text, 0, unused)).first->second;
}

void Spot::expected(std::string_view what) const {
  if (node_->kind == Node::Kind::nothing) return error(fmt::format("has no value. Expected {}.", what));
  error(fmt::format("expected {}, got {}.", what, what_stands_at(*node_)));
}

Spot Spot::called(const Node& node, std::string_view key) const {
  return {*reading_, node, fmt::format("{}{}{}", path_, path_.empty() ? "" : ".", key)};
}

Spot Spot::operator[](std::string_view key) const {
  const Node* node = node_->child(key);
  return node ? called(*node, key) : *this;
}

Spot Spot::entry(std::size_t number) const {
  const Node& node = node_->children[number];
  if (!node.key.empty()) return called(node, node.key.substr(0, 60));
  const Node* name = node.child("name");
  const bool has_name =
      name != nullptr && name->kind == Node::Kind::scalar && !name->text.empty() && name->text.size() <= 60;
  return called(node, has_name ? name->text : std::to_string(number));
}

std::optional<Spot> Mapping::take(const char* key) {
  know(key);
  const Node* node = at_.node().child(key);
  if (node == nullptr) return {};
  taken_[static_cast<std::size_t>(node - at_.node().children.data())] = true;
  return at_[key];
}

void Mapping::finish() const {
  const std::string valid = known_.empty() ? "No keys are expected here." : "Keys here: " + listed(known_) + ".";
  Report& report = at_.reading().report;
  std::vector<std::string> meant;
  for (std::size_t i = 0; i < at_.size(); ++i) {
    if (taken_[i]) continue;
    const Node& unknown = at_.node().children[i];
    if (report.is_full()) {
      report.add(unknown.key_location, "", "");
      continue;
    }
    const std::string& key = unknown.key;
    const std::string nearest_key = nearest(key, known_);
    if (!judges_the_rest_ && nearest_key.empty()) continue;
    meant.push_back(nearest_key);
    at_.entry(i).error_at_key(fmt::format("unknown key. {}{}", did_you_mean(key, known_), valid));
  }
  for (const auto& [one_of, text] : missing_) {
    const bool was_mistyped = std::ranges::find_first_of(one_of, meant) != one_of.end();
    if (!was_mistyped) at_.error(text);
  }
}

void read(const Spot& at, const KeyText& key, Real& value) {
  if (const auto number = read_quantity(at, key, "a number")) value = *number;
}
void read(const Spot& at, const KeyText& key, int& value) { read_whole(at, key, value); }
void read(const Spot& at, const KeyText& key, std::uint32_t& value) { read_whole(at, key, value); }

void read(const Spot& at, const KeyText&, bool& value) {
  if (!is_bare_scalar(at.node()) || (at.node().text != "true" && at.node().text != "false"))
    return at.expected("true or false");
  value = at.node().text == "true";
}

void read(const Spot& at, const KeyText& key, std::string& value) {
  const Node& node = at.node();
  if (node.kind != Node::Kind::scalar) return at.expected("a text");
  if (!node.in_quotes && !is_plain_text(node.text))
    return at.error(
        fmt::format("expected a text, got {0}, which YAML reads as something else. If the text is meant, "
                    "write it in quotes: '{1}'.",
                    shown(node.text), node.text.substr(0, 20)));
  if (key.rule.text == Rule::Text::name)
    if (const std::string bad = complaint_about_name(node.text); !bad.empty()) return at.error(bad);
  value = key.rule.text == Rule::Text::file ? file_path(at, node.text) : node.text;
}

void read(const Spot& at, const KeyText& key, Vec3& value) {
  if (at.node().kind != Node::Kind::list || at.size() != 3)
    return at.expected(fmt::format("three numbers, [x, y, z]{}", std::string_view(key.unit) == "1"
                                                                     ? std::string()
                                                                     : fmt::format(", in {}", key.unit)));
  const int before = at.reading().report.size();
  for (std::size_t i = 0; i < 3; ++i) read(at.entry(i), key, value[static_cast<Eigen::Index>(i)]);
  const bool complete = at.reading().report.size() == before;
  if (complete && key.rule.nonzero && value.isZero(0)) at.error("the vector must not be zero: it gives a direction.");
}

int read_word(const Spot& at, const std::vector<std::string>& words) {
  const std::string expected = fmt::format("{}{}", words.size() > 1 ? "one of " : "", listed(words));
  if (at.node().kind != Node::Kind::scalar) {
    at.expected(expected);
    return -1;
  }
  const std::string& text = at.node().text;
  const auto found = std::ranges::find(words, text);
  if (found != words.end()) return static_cast<int>(found - words.begin());
  at.error(fmt::format("{} is not known. {}Expected {}.", shown(text), did_you_mean(text, words), expected));
  return -1;
}

std::string complaint_about_name(std::string_view name) {
  constexpr std::size_t longest = 60;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto may_follow = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-'; };
  const bool good =
      !name.empty() && name.size() <= longest && is_letter(name.front()) && std::ranges::all_of(name, may_follow);
  if (good) return {};
  return fmt::format(
      "{} cannot be a name. A name has 1 to {} of the characters a-z, A-Z, 0-9, _ and -, and begins with a "
      "letter or _, since it names files.",
      shown(name), longest);
}

}  // namespace weft::deck
