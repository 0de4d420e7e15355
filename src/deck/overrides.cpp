// Overrides from the command line.

#include "deck/overrides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace weft::deck {
namespace {

/// The keys of mapping, or the names of the entries of a list.
std::vector<std::string> entries_of(const Node& node) {
  std::vector<std::string> names;
  for (const Node& child : node.children) {
    const Node* name = child.child("name");
    if (node.kind == Node::Kind::mapping) names.push_back(child.key);
    else names.push_back(name ? name->text : std::to_string(names.size()));
  }
  return names;
}

std::optional<std::size_t> position_in_list(const Node& list, std::string_view step) {
  const std::vector<std::string> names = entries_of(list);
  const auto named = std::ranges::find(names, step);
  if (named != names.end()) return static_cast<std::size_t>(named - names.begin());
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), number);
  const bool is_number = error == std::errc() && end == step.data() + step.size();
  return is_number && number < names.size() ? std::optional(number) : std::nullopt;
}

/// The child that a step of the path leads to, made anew if a mapping lacks it; null if the step leads nowhere.
Node* step_into(Node& node, std::string_view step, const Location& location) {
  if (node.kind == Node::Kind::list) {
    const auto position = position_in_list(node, step);
    return position ? &node.children[*position] : nullptr;
  }
  if (node.kind == Node::Kind::scalar) return nullptr;
  node.kind = Node::Kind::mapping;
  const auto found = std::ranges::find(node.children, step, &Node::key);
  if (found != node.children.end()) return &*found;
  Node made;
  made.key = step;
  made.location = made.key_location = location;
  return &node.children.emplace_back(std::move(made));
}

}  // namespace

void apply_override(Node& root, const std::string& text, Report& report) {
  const std::size_t equals = text.find('=');
  const std::string path = text.substr(0, equals);
  const int source = report.add_source("--set " + path);
  const Location location{source};
  if (equals == std::string::npos || path.empty())
    return report.add(location, "", fmt::format("{} is not an override. Write key.path=value.", shown(text)));

  Node value = parse_yaml(text.substr(equals + 1), source, report);
  Node* node = &root;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string step = path.substr(begin, end - begin);
    Node* next = step.empty() ? nullptr : step_into(*node, step, location);
    if (next == nullptr) {
      const std::string parent = begin == 0 ? "the deck" : path.substr(0, begin - 1);
      const std::vector<std::string> entries = entries_of(*node);
      const std::string known = entries.empty() ? "It has no entries." : "Entries there: " + listed(entries) + ".";
      return report.add(
          location, "",
          fmt::format("{} has no entry {}. {}{}", parent, shown(step), did_you_mean(step, entries), known));
    }
    node = next;
    begin = end + 1;
  }
  value.key = node->key;
  value.key_location = value.location = location;
  *node = std::move(value);
}

}  // namespace weft::deck
