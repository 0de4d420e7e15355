// Mistakes made of the key tables: whatever key the deck language has, or will have, is got wrong in every way that its
// row of a table forbids. (test_bad_decks.cpp has the mistakes that tables cannot tell.)

#include "deck/describe.hpp"
#include "deck/units.hpp"
#include "deck/yaml.hpp"
#include "decks.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>

namespace weft::deck {
namespace {

using test::complaints;

/// Child numbers from the root of a deck to a node.
using Way = std::vector<std::size_t>;

const Node& at(const Node& root, const Way& way) {
  const Node* node = &root;
  for (const std::size_t step : way) node = &node->children[step];
  return *node;
}
Node& at(Node& root, const Way& way) { return const_cast<Node&>(at(std::as_const(root), way)); }

/// A key that a deck has, with its row of the table.
struct Written {
  Way way;
  std::string group;  ///< Name of the table.
  KeyText key;
  Kind kind;
  bool decides = false;  ///< Says by which table its neighbours are read.
};

/// A row whose alternative stands here by its keys: all of them, and what is said if there is none.
struct Alternative {
  std::vector<Way> keys;
  std::string complaint;
};

/// All keys of a deck in the order of their tables.
struct Survey {
  std::vector<Written> keys;
  std::vector<Alternative> alternatives;

  void visit_value(const Node& node, const Way& way, const Kind& kind) {
    for (const Group& group : kind.group) visit(node, way, group);
    for (const Kind& entry : kind.entry)
      for (std::size_t i = 0; i < node.children.size(); ++i) visit_value(node.children[i], step(way, i), entry);
  }

  void visit(const Node& mapping, const Way& way, const Group& group) {
    for (const Row& row : group.rows) {
      if (row.of == Row::Of::key) {
        if (const auto child = child_number(mapping, row.key.name)) {
          keys.push_back({step(way, *child), group.name, row.key, row.kind});
          visit_value(mapping.children[*child], step(way, *child), row.kind);
        }
      } else if (row.of == Row::Of::choice) {
        const std::size_t child = child_number(mapping, row.key.name).value();
        Kind words{Kind::Of::word, {}, {}, {}};
        for (const Group& each : row.alternatives) words.words.push_back({each.name, each.text});
        keys.push_back({step(way, child), group.name, row.key, words, true});
        for (const Group& each : row.alternatives)
          if (each.name == mapping.children[child].text) visit(mapping, way, each);
      } else if (row.of == Row::Of::one_of) {
        for (const Group& each : row.alternatives)
          if (const auto child = child_number(mapping, each.name)) {
            Kind kind{Kind::Of::group, {}, {}, {each}};
            keys.push_back({step(way, *child), group.name, {each.name.c_str(), "", anything, absent, ""}, kind});
            alternatives.push_back({{step(way, *child)}, "exactly one of these keys is needed"});
            visit(mapping.children[*child], step(way, *child), each);
          }
      } else {
        for (const Group& each : row.alternatives) {
          Alternative alternative{{}, row.key.text};
          for (const Row& inner : each.rows)
            if (const auto child = child_number(mapping, inner.key.name)) alternative.keys.push_back(step(way, *child));
          if (alternative.keys.empty()) continue;
          alternatives.push_back(alternative);
          visit(mapping, way, each);
        }
      }
    }
  }

  static Way step(Way way, std::size_t child) {
    way.push_back(child);
    return way;
  }

  static std::optional<std::size_t> child_number(const Node& mapping, std::string_view key) {
    const Node* child = mapping.child(key);
    if (child == nullptr) return {};
    return static_cast<std::size_t>(child - mapping.children.data());
  }
};

Node tree_of(const std::string& text) {
  Report report("deck");
  return parse_yaml(text, 0, report);
}

/// The full deck with every default written out, and its keys. The deck language outlives it.
struct FullDeck {
  Group language = describe_deck();
  Node tree = tree_of(resolved_yaml(test::read(test::full_deck)));
  Survey survey;
  FullDeck() { survey.visit(tree, {}, language); }
};

const FullDeck& full() {
  static const FullDeck deck;
  return deck;
}

// --- Mistakes ------------------------------------------------------------------------------------------------------

Node scalar(const std::string& text, bool in_quotes = false) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.text = text;
  node.in_quotes = in_quotes;
  return node;
}

Node list_of(std::vector<std::string> texts) {
  Node node;
  node.kind = Node::Kind::list;
  for (const std::string& text : texts) node.children.push_back(scalar(text));
  return node;
}

/// Something that must not stand at a key, and a part of what is said about it.
struct Wrong {
  Node value;
  std::string message;
};

/// A unit that does not measure what the key does.
const char* foreign_unit(const KeyText& key) {
  return parse_unit(key.unit).measures_same_as(parse_unit("kg")) ? "m" : "kg";
}

/// Numbers just outside of the range.
std::vector<std::string> outside(const Rule& rule) {
  std::vector<std::string> numbers;
  if (std::isfinite(rule.low)) numbers.push_back(number_text(rule.low_open ? rule.low : rule.low - 1));
  if (std::isfinite(rule.high)) numbers.push_back(number_text(rule.high_open ? rule.high : rule.high + 1));
  return numbers;
}

std::vector<Wrong> wrong_values(const KeyText& key, const Kind& kind) {
  using Of = Kind::Of;
  std::vector<Wrong> wrong{{scalar("~"), "has no value."}};
  switch (kind.of) {
    case Of::number:
    case Of::whole:
      wrong.push_back({scalar("plenty"), "\"plenty\" is not a number."});
      wrong.push_back({scalar(".nan"), "\".nan\" is not a number."});
      wrong.push_back({scalar("1e999"), "too large for a double"});
      wrong.push_back({scalar("1", true), "Leave the quotes out."});
      wrong.push_back({list_of({"1"}), "got a list."});
      wrong.push_back({scalar(fmt::format("1 {}", foreign_unit(key))), "has the wrong unit for this key."});
      for (const std::string& number : outside(key.rule)) wrong.push_back({scalar(number), "is out of range."});
      if (kind.of == Of::whole) wrong.push_back({scalar("1.5"), "a whole number"});
      break;
    case Of::vector:
      wrong.push_back({scalar("1"), "expected three numbers, [x, y, z]"});
      wrong.push_back({list_of({"1", "2"}), "expected three numbers, [x, y, z]"});
      wrong.push_back({list_of({"1", "2", "3", "4"}), "expected three numbers, [x, y, z]"});
      wrong.push_back({list_of({"1", "up", "3"}), "\"up\" is not a number."});
      wrong.push_back({list_of({"1", fmt::format("1 {}", foreign_unit(key)), "3"}), "has the wrong unit"});
      for (const std::string& number : outside(key.rule))
        wrong.push_back({list_of({"1", "1", number}), "is out of range."});
      if (key.rule.nonzero) wrong.push_back({list_of({"0", "0", "0"}), "must not be zero"});
      break;
    case Of::flag:
      wrong.push_back({scalar("yes"), "expected true or false"});
      wrong.push_back({scalar("1"), "expected true or false"});
      break;
    case Of::text:
      wrong.push_back({list_of({"a"}), "expected a text, got a list."});
      wrong.push_back({scalar("12"), "write it in quotes: '12'."});
      if (key.rule.text == Rule::Text::name) wrong.push_back({scalar("a b"), "cannot be a name"});
      if (key.rule.text == Rule::Text::file) wrong.push_back({scalar("absent.obj"), "there is no file"});
      break;
    case Of::word:
      wrong.push_back({scalar("nonsense"), "\"nonsense\" is not known. "});
      wrong.push_back({list_of({kind.words[0].name}), fmt::format("{}, got a list.", kind.words.back().name)});
      break;
    case Of::list:
      wrong.push_back({scalar("one"), "expected a list, got \"one\"."});
      if (!key.rule.allows(0)) wrong.push_back({list_of({}), "must not be empty."});
      break;
    case Of::named:
    case Of::group:
      wrong.push_back({scalar("one"), "expected a mapping"});
      wrong.push_back({list_of({"1"}), "expected a mapping"});
      break;
  }
  return wrong;
}

/// The full deck after one change at a way.
template <class Change>
std::string changed(const Way& way, const Change& change) {
  Node tree = full().tree;
  change(at(tree, way));
  return to_yaml(tree);
}

void set_value(Node& node, Node value) {
  value.key = node.key;
  node = std::move(value);
}

Node without_child(Node parent, std::size_t child) {
  parent.children.erase(parent.children.begin() + static_cast<std::ptrdiff_t>(child));
  return parent;
}

Way parent_of(Way way) {
  way.pop_back();
  return way;
}

/// Where a message about the node may begin: at the value, or at its key.
std::vector<std::string> starts_at(const Node& tree, const Way& way) {
  const Node& node = at(tree, way);
  std::vector<std::string> starts;
  for (const Location& location : {node.location, node.key_location})
    starts.push_back(fmt::format("d.yaml:{}:{}: ", location.line, location.column));
  // The parts of a vector have locations of their own.
  for (const Node& part : node.children)
    starts.push_back(fmt::format("d.yaml:{}:{}: ", part.location.line, part.location.column));
  return starts;
}

/// True if one of the complaints begins at one of these locations and has this in it.
bool is_said(const std::vector<std::string>& lines, const std::vector<std::string>& starts, const std::string& part) {
  return std::ranges::any_of(lines, [&](const std::string& line) {
    return line.find(part) != std::string::npos &&
           std::ranges::any_of(starts, [&](const std::string& start) { return line.starts_with(start); });
  });
}

/// What the deck says, and that it took less than a second of this process.
std::vector<std::string> quick_complaints(const std::string& text) {
  const std::clock_t begin = std::clock();
  const auto lines = complaints(text);
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 1) << text;
  return lines;
}

std::string name_of(const Written& written) { return fmt::format("{}.{}", written.group, written.key.name); }

/// True if other keys refer to what stands here, so that a mistake is followed by others.
bool is_referred_to(const Written& written) {
  return written.key.rule.text == Rule::Text::name || written.kind.of == Kind::Of::named ||
         innermost(written.kind).of == Kind::Of::group;
}

/// Names of all keys of the tables, with their group.
void collect(const Group& group, std::set<std::string>& names);
void collect(const Kind& kind, std::set<std::string>& names) {
  for (const Group& group : kind.group) collect(group, names);
  for (const Kind& entry : kind.entry) collect(entry, names);
}
void collect(const Group& group, std::set<std::string>& names) {
  for (const Row& row : group.rows) {
    if (row.of == Row::Of::key || row.of == Row::Of::choice) names.insert(group.name + "." + row.key.name);
    collect(row.kind, names);
    for (const Group& each : row.alternatives) {
      if (row.of == Row::Of::one_of) names.insert(group.name + "." + each.name);
      collect(each, names);
    }
  }
}

/// One location of each key of the tables.
std::vector<Written> each_key_once() {
  std::vector<Written> once;
  std::set<std::string> seen;
  for (const Written& written : full().survey.keys)
    if (seen.insert(name_of(written)).second) once.push_back(written);
  return once;
}

/// A wrong thing at a way of the full deck: what is done there, and what is said about it.
struct Mistake {
  std::string name;
  Way way;
  std::function<void(Node&)> make;
  std::string message;
};

/// True if one of two ways leads into the mapping that the other one ends in.
bool share_a_mapping(const Way& a, const Way& b) {
  const Way one = parent_of(a), other = parent_of(b);
  const std::size_t shared = std::min(one.size(), other.size());
  return std::equal(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(shared), other.begin());
}

/// Mistakes in decks of up to eight, of which no two share a mapping: reading a deck takes longer than finding
/// mistakes.
std::vector<std::vector<Mistake>> in_few_decks(std::vector<Mistake> mistakes) {
  constexpr std::size_t most = 8;
  std::vector<std::vector<Mistake>> decks;
  for (Mistake& mistake : mistakes) {
    const auto has_room = [&](const std::vector<Mistake>& deck) {
      return deck.size() < most &&
             std::ranges::none_of(deck, [&](const Mistake& other) { return share_a_mapping(mistake.way, other.way); });
    };
    auto deck = std::ranges::find_if(decks, has_room);
    if (deck == decks.end()) deck = decks.insert(decks.end(), std::vector<Mistake>{});
    deck->push_back(std::move(mistake));
  }
  return decks;
}

/// The full deck after mistakes.
std::string with_mistakes(const std::vector<Mistake>& mistakes) {
  Node tree = full().tree;
  for (const Mistake& mistake : mistakes) mistake.make(at(tree, mistake.way));
  return to_yaml(tree);
}

/// Expects that each mistake is told where it stands. Returns how many complaints there are.
std::size_t expect_told(const std::vector<Mistake>& mistakes) {
  const std::string text = with_mistakes(mistakes);
  const auto lines = quick_complaints(text);
  const Node tree = tree_of(text);
  for (const Mistake& mistake : mistakes)
    EXPECT_TRUE(is_said(lines, starts_at(tree, mistake.way), mistake.message))
        << mistake.name << ": " << mistake.message << "\n"
        << fmt::format("{}", fmt::join(lines, "\n"));
  return lines.size();
}

// --- Tests ---------------------------------------------------------------------------------------------------------

TEST(EveryKeyTest, TheFullDeckIsGoodAndHasEveryKeySoThatTheTestsReachThemAll) {
  EXPECT_TRUE(complaints(to_yaml(full().tree)).empty());
  std::set<std::string> known, written;
  collect(full().language, known);
  for (const Written& each : full().survey.keys) written.insert(name_of(each));
  EXPECT_EQ(written, known);
}

TEST(EveryKeyTest, EveryValueThatItsTableForbidsIsRefusedAtItsPlace) {
  std::vector<Mistake> alone, together;
  for (const Written& written : each_key_once())
    for (const Wrong& wrong : wrong_values(written.key, written.kind))
      (is_referred_to(written) ? alone : together)
          .push_back(
              {name_of(written), written.way, [wrong](Node& node) { set_value(node, wrong.value); }, wrong.message});
  EXPECT_GE(alone.size() + together.size(), 300u);
  for (const Mistake& mistake : alone) expect_told({mistake});
  for (const std::vector<Mistake>& mistakes : in_few_decks(together))
    EXPECT_EQ(expect_told(mistakes), mistakes.size()) << mistakes.front().name;
}

TEST(EveryKeyTest, ARequiredKeyThatIsMissingIsNamed) {
  for (const Written& written : each_key_once()) {
    if (!written.key.is_required()) continue;
    const Way parent = parent_of(written.way);
    const std::string text = changed(parent, [&](Node& node) { node = without_child(node, written.way.back()); });
    const auto alternative = std::ranges::find_if(full().survey.alternatives, [&](const Alternative& each) {
      return std::ranges::find(each.keys, written.way) != each.keys.end();
    });
    // The only key of an alternative: then the alternative is missing.
    const bool is_alone = alternative != full().survey.alternatives.end() && alternative->keys.size() == 1;
    const std::string message =
        is_alone ? alternative->complaint : fmt::format("the key \"{}\" is missing", written.key.name);
    EXPECT_TRUE(is_said(quick_complaints(text), starts_at(tree_of(text), parent), message)) << name_of(written);
  }
}

TEST(EveryKeyTest, AMissingAlternativeIsNamed) {
  for (const Alternative& alternative : full().survey.alternatives) {
    const Way parent = parent_of(alternative.keys.front());
    const std::string text = changed(parent, [&](Node& node) {
      std::vector<std::size_t> numbers;
      for (const Way& way : alternative.keys) numbers.push_back(way.back());
      std::ranges::sort(numbers, std::greater());
      for (const std::size_t number : numbers) node = without_child(node, number);
    });
    EXPECT_TRUE(is_said(quick_complaints(text), starts_at(tree_of(text), parent), alternative.complaint)) << text;
  }
}

TEST(EveryKeyTest, AForeignKeyIsRefusedInEveryMapping) {
  std::set<std::string> groups;
  for (const Written& written : full().survey.keys) {
    if (!groups.insert(written.group).second) continue;
    const Way parent = parent_of(written.way);
    Node foreign = scalar("1");
    foreign.key = "xylophone";
    const std::string text = changed(parent, [&](Node& node) { node.children.push_back(foreign); });
    const Node tree = tree_of(text);
    Way way = parent;
    way.push_back(at(tree, parent).children.size() - 1);
    const auto lines = quick_complaints(text);
    EXPECT_TRUE(is_said(lines, starts_at(tree, way), "xylophone: unknown key. Keys here: ")) << written.group;
    EXPECT_EQ(lines.size(), 1u) << written.group;
  }
  EXPECT_GE(groups.size(), 30u);
}

TEST(EveryKeyTest, ATypoInAnyKeyIsMetWithTheRightSuggestion) {
  std::mt19937 random(7);
  const auto pick = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  std::vector<Mistake> made;
  for (const Written& written : each_key_once()) {
    const std::string key = written.key.name;
    std::vector<std::string> typos(4, key);
    typos[0].erase(pick(key.size()), 1);
    typos[1].insert(pick(key.size()), 1, static_cast<char>('a' + pick(26)));
    typos[2][pick(key.size())] = static_cast<char>('a' + pick(26));
    if (const std::size_t i = pick(key.size()); i + 1 < key.size()) std::swap(typos[3][i], typos[3][i + 1]);
    for (const std::string& typo : typos)
      if (typo != key && !typo.empty())
        made.push_back({name_of(written), written.way, [typo](Node& node) { node.key = typo; },
                        fmt::format("unknown key. Did you mean \"{}\"?", key)});
  }
  EXPECT_GT(made.size(), 400u);
  std::size_t right = 0;
  for (const std::vector<Mistake>& mistakes : in_few_decks(made)) {
    const std::string text = with_mistakes(mistakes);
    const auto lines = quick_complaints(text);
    const Node tree = tree_of(text);
    for (const Mistake& mistake : mistakes) right += is_said(lines, starts_at(tree, mistake.way), mistake.message);
  }
  EXPECT_GE(static_cast<Real>(right), 0.95 * static_cast<Real>(made.size())) << right << " of " << made.size();
}

TEST(EveryKeyTest, ManyMistakesAreToldAtOnce) {
  std::mt19937 random(5);
  std::vector<Written> leaves;
  for (const Written& written : each_key_once())
    if (!is_referred_to(written) && !written.decides) leaves.push_back(written);
  for (int round = 0; round < 60; ++round) {
    std::ranges::shuffle(leaves, random);
    std::vector<Mistake> made;
    std::set<Way> owners;  // one mistake in each mapping, or conditions between two values would count as well
    for (const Written& written : leaves) {
      if (made.size() == 8) break;
      if (!owners.insert(parent_of(written.way)).second) continue;
      const auto wrong = wrong_values(written.key, written.kind);
      const Wrong& one = wrong[random() % wrong.size()];
      made.push_back({name_of(written), written.way, [one](Node& node) { set_value(node, one.value); }, one.message});
    }
    EXPECT_EQ(expect_told(made), made.size());
  }
}

}  // namespace
}  // namespace weft::deck
