// Strict YAML: yaml-cpp's events under our own rules.

#include "deck/yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

namespace weft::deck {
namespace {

constexpr std::size_t most_levels = 24;

/// Ends the reading at the first thing that is not in the subset.
struct NotInSubset {
  Location location;
  std::string text;
};

/// The location of a mark, which counts bytes, in letters. On very long lines it stays with bytes.
Location location_of(const YAML::Mark& mark, std::string_view text, int source) {
  constexpr int longest_line = 1000;
  Location location{source, mark.line + 1, mark.column + 1};
  if (mark.column > longest_line || mark.column > mark.pos || mark.pos > static_cast<int>(text.size())) return location;
  for (const char c :
       text.substr(static_cast<std::size_t>(mark.pos - mark.column), static_cast<std::size_t>(mark.column)))
    if ((c & 0xC0) == 0x80) --location.column;  // a byte that continues a letter of UTF-8
  return location;
}

/// Builds the tree from yaml-cpp's events. Events do not follow aliases, so an alias bomb is seen unexploded.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, int source, Report& report) : text_(text), source_(source), report_(report) {}
  Node take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1)
      refuse(mark, "the deck has ended before this. Check the indentation; a deck is a single document.");
  }
  void OnDocumentEnd() override {}

  void OnAnchor(const YAML::Mark& mark, const std::string&) override {
    refuse(mark, "anchors (&name) are not allowed in decks. Write the value out.");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "aliases (*name) are not allowed in decks. Write the value out.");
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    if (expects_key()) refuse(mark, "a key is missing here.");
    Node node;
    // The mark of an absent value is wherever the next thing stands; the key's location helps more.
    node.location =
        open_.empty() || open_.back().kind == Node::Kind::list ? location_of(mark, text_, source_) : key_location_;
    attach(std::move(node));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& text) override {
    if (tag != "?" && tag != "!") refuse_tag(mark);
    if (!is_closed(mark)) refuse(mark, "this quote is not closed.");
    if (expects_key()) return take_key(mark, text);
    Node node;
    node.kind = Node::Kind::scalar;
    node.location = location_of(mark, text_, source_);
    node.text = text;
    node.in_quotes = tag == "!";
    attach(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, Node::Kind::list);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(mark, tag, Node::Kind::mapping);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  /// A list or mapping whose end has not been seen.
  struct Open {
    Node::Kind kind;
    Node node;
    bool has_key = false;  ///< node is a mapping and `key_` waits for its value.
    std::string key;
    Location key_location;
    std::set<std::string, std::less<>> keys;
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, std::string text) const {
    throw NotInSubset{location_of(mark, text_, source_), std::move(text)};
  }
  [[noreturn]] void refuse_tag(const YAML::Mark& mark) const {
    refuse(mark, "tags (!name) are not allowed in decks. Leave the tag out.");
  }

  bool expects_key() const {
    return !open_.empty() && open_.back().kind == Node::Kind::mapping && !open_.back().has_key;
  }

  void take_key(const YAML::Mark& mark, const std::string& text) {
    if (text == "<<") refuse(mark, "merge keys (<<) are not allowed in decks. Write the keys out.");
    Open& mapping = open_.back();
    mapping.has_key = true;
    mapping.key = text;
    mapping.key_location = key_location_ = location_of(mark, text_, source_);
  }

  void open(const YAML::Mark& mark, const std::string& tag, Node::Kind kind) {
    if (tag != "?" && !tag.empty()) refuse_tag(mark);
    if (expects_key())
      refuse(mark, "a key must be a single word. If this is not meant as a key, a [ or { is not closed.");
    if (open_.size() >= most_levels) refuse(mark, "lists and mappings are nested too deeply for a deck.");
    Open begun{.kind = kind, .node = {}, .key = {}, .key_location = {}, .keys = {}};
    begun.node.kind = kind;
    begun.node.location = location_of(mark, text_, source_);
    open_.push_back(std::move(begun));
  }

  void close() {
    Node done = std::move(open_.back().node);
    open_.pop_back();
    attach(std::move(done));
  }

  void attach(Node node) {
    node.key_location = node.location;
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.kind == Node::Kind::mapping) {
      parent.has_key = false;
      node.key = std::move(parent.key);
      node.key_location = parent.key_location;
      if (!parent.keys.insert(node.key).second) {
        report_.add(node.key_location, path(node.key), "this key stands here twice. Remove one of them.");
        return;
      }
    }
    parent.node.children.push_back(std::move(node));
  }

  /// False for a quoted scalar that the end of the text cuts off, which yaml-cpp accepts.
  bool is_closed(const YAML::Mark& mark) const {
    const auto begin = static_cast<std::size_t>(mark.pos);
    const char quote = begin < text_.size() ? text_[begin] : ' ';
    if (quote != '"' && quote != '\'') return true;
    for (std::size_t i = begin + 1; i < text_.size(); ++i) {
      if (text_[i] == quote) return true;
      if (text_[i] == '\\' && quote == '"') ++i;
    }
    return false;
  }

  /// The way to a key of the innermost open mapping.
  std::string path(const std::string& key) const {
    std::string text;
    for (std::size_t level = 0; level + 1 < open_.size(); ++level)
      text += (open_[level].kind == Node::Kind::mapping ? open_[level].key
                                                        : std::to_string(open_[level].node.children.size())) +
              ".";
    return text + std::string(std::string_view(key).substr(0, 60));
  }

  std::string_view text_;
  int source_;
  Report& report_;
  Node root_;
  int documents_ = 0;
  std::vector<Open> open_;
  Location key_location_;  ///< Of the key seen last.
};

/// Number of bytes of the UTF-8 letter at the front, 0 if it is not one.
std::size_t utf8_letter(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t size = first < 0x80         ? 1
                           : (first >> 5) == 6  ? 2
                           : (first >> 4) == 14 ? 3
                           : (first >> 3) == 30 ? 4
                                                : 0;
  if (size == 0 || size > text.size()) return 0;
  unsigned code = size == 1 ? first : first & (0xFFu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) >> 6) != 2) return 0;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  constexpr std::array<unsigned, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return code < smallest[size] || code > 0x10FFFF || surrogate ? 0 : size;
}

/// Looks at the bytes before yaml-cpp does, which is silent about most of this.
void check_letters(std::string_view text, int source) {
  if (text.size() > largest_deck)
    throw NotInSubset{{source}, fmt::format("the deck is larger than {} bytes.", largest_deck)};
  Location location{source};
  bool indenting = true;
  for (std::size_t i = 0; i < text.size(); ++location.column) {
    const std::size_t size = utf8_letter(text.substr(i));
    const auto letter = static_cast<unsigned char>(text[i]);
    if (size == 0) throw NotInSubset{location, "this is not UTF-8 text. Save the deck as UTF-8."};
    if ((letter < 0x20 && letter != '\t' && letter != '\n' && letter != '\r') || letter == 0x7F)
      throw NotInSubset{location, "this is a control character; a deck is a text file."};
    if (letter == '\t' && indenting) throw NotInSubset{location, "a tab cannot indent YAML. Use spaces."};
    if (letter == '%' && location.column == 1)
      throw NotInSubset{location, "directives (lines that start with %) are not allowed in decks."};
    indenting = letter == '\n' || (indenting && letter == ' ');
    if (letter == '\n') {
      ++location.line;
      location.column = 0;
    }
    i += size;
  }
}

/// What yaml-cpp means, for people who write decks.
std::string explained(const std::string& message) {
  static const std::map<std::string, std::string> meanings{
      {"end of map flow not found", "a { is not closed before this, or a comma is missing."},
      {"end of sequence flow not found", "a [ is not closed before this, or a comma is missing."},
      {"illegal flow end", "this ] or } does not close anything."},
      {"illegal map value",
       "there cannot be a value here. Check the indentation, the \":\" of the line before, and that texts with \":\" "
       "are in quotes."},
      {"end of map not found", "this does not belong to the keys above it. Check the indentation."},
      {"end of sequence not found", "this does not belong to the list above it. Check the indentation."},
      {"illegal block entry", "a list entry (-) must begin on a line of its own."},
      {"unknown token", "a value cannot begin with this character. Put it in quotes if it is meant."},
      {"illegal EOF in scalar", "a quote is not closed."},
      {"the referenced anchor is not defined", "aliases (*name) are not allowed in decks. Write the value out."}};
  const auto found = meanings.find(message);
  return "this is not valid YAML: " + (found == meanings.end() ? message + "." : found->second);
}

Node parse(std::string text, int source, Report& report) {
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);  // the mark that some editors put before UTF-8
  check_letters(text, source);
  std::istringstream stream(text);
  TreeBuilder builder(text, source, report);
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return {};
    Node root = builder.take_root();
    parser.HandleNextDocument(builder);  // the builder refuses a second one
    return root;
  } catch (const YAML::ParserException& error) {
    throw NotInSubset{location_of(error.mark, text, source), explained(error.msg)};
  }
}

// --- Writing -----------------------------------------------------------------------------------------------------

std::string scalar_text(const Node& node) {
  if (!node.in_quotes) return node.text;
  std::string text = "\"";
  for (const char c : node.text) {
    if (c == '"' || c == '\\') text += {'\\', c};
    else if (c == '\n') text += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else text += c;
  }
  return text + '"';
}

bool fits_on_a_line(const Node& node) {
  return node.kind == Node::Kind::scalar || node.children.empty() ||
         (node.kind == Node::Kind::list &&
          std::ranges::all_of(node.children, [](const Node& n) { return n.kind == Node::Kind::scalar; }));
}

std::string line_of(const Node& node) {
  if (node.kind == Node::Kind::scalar) return scalar_text(node);
  if (node.kind == Node::Kind::mapping) return "{}";
  std::vector<std::string> items;
  for (const Node& child : node.children) items.push_back(scalar_text(child));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

/// Writes the children of a block; the first one continues a line that is already begun at this indent.
void write_block(const Node& node, std::size_t indent, std::string& out) {
  bool first = true;
  for (const Node& child : node.children) {
    if (!first) out.append(indent, ' ');
    first = false;
    const bool in_list = node.kind == Node::Kind::list;
    out += in_list ? "- " : child.key + ":";
    if (fits_on_a_line(child)) {
      out += (in_list ? "" : " ") + line_of(child) + (child.comment.empty() ? "" : "  # " + child.comment) + "\n";
    } else if (in_list) {
      write_block(child, indent + 2, out);
    } else {
      out += "\n" + std::string(indent + 2, ' ');
      write_block(child, indent + 2, out);
    }
  }
}

}  // namespace

const Node* Node::child(std::string_view name) const {
  const auto found = std::ranges::find(children, name, &Node::key);
  return found == children.end() ? nullptr : &*found;
}

Node parse_yaml(const std::string& text, int source, Report& report) {
  try {
    return parse(text, source, report);
  } catch (const NotInSubset& end) {
    report.add(end.location, "", end.text);
    report.throw_if_any();
    throw;  // not reached: the report holds at least one complaint
  }
}

std::string to_yaml(const Node& node) {
  std::string text;
  if (fits_on_a_line(node)) text = line_of(node) + "\n";
  else write_block(node, 0, text);
  return text;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = utf8_letter(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

bool is_plain_text(std::string_view text) {
  // The words of YAML 1.1 and 1.2 together, but for y and n, which no reader takes for anything but names.
  static const std::set<std::string, std::less<>> taken{"",      "yes",  "no", "on",   "off", "true",
                                                        "false", "null", "~",  ".nan", ".inf"};
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool signed_infinity = lower == "+.inf" || lower == "-.inf";
  // Whole and decimal numbers, 1_000, 1:30 (base 60), dates, 0x1f, 0o17. All begin with a digit, after a sign or point.
  std::string_view number = lower;
  if (number.starts_with('+') || number.starts_with('-')) number.remove_prefix(1);
  if (number.starts_with('.')) number.remove_prefix(1);
  const bool digits_only = !number.empty() && number.front() >= '0' && number.front() <= '9' &&
                           number.find_first_not_of("0123456789+-._:e") == std::string::npos;
  const bool other_base = lower.starts_with("0x") || lower.starts_with("0o");
  return !taken.contains(lower) && !signed_infinity && !digits_only && !other_base;
}

}  // namespace weft::deck
