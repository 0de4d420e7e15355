#pragma once
// A spot in a deck: a node and the way to it. It can look further in, and complain.

#include "deck/messages.hpp"
#include "deck/table.hpp"
#include "deck/yaml.hpp"

#include <map>
#include <string>
#include <vector>

namespace weft::deck {

/// What all spots of one reading share.
struct Reading {
  Report report;
  std::string folder;                           ///< Mesh paths are relative to it.
  bool needs_files = true;                      ///< Whether files that the deck names must be there.
  std::map<std::string_view, Node> defaults{};  ///< Parsed texts of the tables, which outlive the reading.

  const Node& default_node(const char* text);
};

class Spot {
 public:
  Spot(Reading& reading, const Node& node, std::string path)
      : reading_(&reading), node_(&node), path_(std::move(path)) {}

  const Node& node() const { return *node_; }
  const std::string& path() const { return path_; }
  Reading& reading() const { return *reading_; }

  void error(std::string_view text) const { reading_->report.add(node_->location, path_, text); }
  /// As error, at the key instead of the value.
  void error_at_key(std::string_view text) const { reading_->report.add(node_->key_location, path_, text); }
  /// Complains that something else stands here than was expected.
  void expected(std::string_view what) const;

  bool has(std::string_view key) const { return node_->child(key) != nullptr; }
  /// The value under a key, or this spot itself if the key is not written, so that a message always has a location.
  Spot operator[](std::string_view key) const;
  /// The entry of a list or mapping, called by its name if it has one.
  Spot entry(std::size_t number) const;
  std::size_t size() const { return node_->children.size(); }
  /// The same spot holding a default.
  Spot with_default(const char* text) const { return {*reading_, reading_->default_node(text), path_}; }

 private:
  Spot called(const Node& node, std::string_view key) const;

  Reading* reading_;
  const Node* node_;
  std::string path_;
};

/// The keys of one mapping while its table is read: what was asked for, what is left over, what is missing.
class Mapping {
 public:
  explicit Mapping(const Spot& at) : at_(at), taken_(at.size(), false) {}

  const Spot& at() const { return at_; }
  bool has(const char* key) const { return at_.has(key); }
  /// The key is valid here.
  void know(const char* key) { known_.push_back(key); }
  /// The value under this key as it is written, if it is; the key is valid here.
  std::optional<Spot> take(const char* key);
  /// None of these keys is written and one must be.
  void miss(std::vector<std::string> one_of, std::string text) {
    missing_.push_back({std::move(one_of), std::move(text)});
  }
  /// What decides about the other keys is wrong: only those near to a known one are complained about.
  void leave_the_rest() { judges_the_rest_ = false; }
  /// Complains about unknown keys and missing ones; a missing key that an unknown one was meant to be is not named
  /// twice.
  void finish() const;

  int complaints() const { return at_.reading().report.size() + static_cast<int>(missing_.size()); }

 private:
  struct Missing {
    std::vector<std::string> one_of;
    std::string text;
  };
  Spot at_;
  std::vector<bool> taken_;
  std::vector<std::string> known_;
  std::vector<Missing> missing_;
  bool judges_the_rest_ = true;
};

// Values of one node.
void read(const Spot& at, const KeyText& key, Real& value);
void read(const Spot& at, const KeyText& key, int& value);
void read(const Spot& at, const KeyText& key, std::uint32_t& value);
void read(const Spot& at, const KeyText& key, bool& value);
void read(const Spot& at, const KeyText& key, std::string& value);
void read(const Spot& at, const KeyText& key, Vec3& value);
/// The number of the word that stands here, or -1 after a complaint.
int read_word(const Spot& at, const std::vector<std::string>& words);

/// Why the text cannot name files or stand in paths of keys; empty if it can.
std::string complaint_about_name(std::string_view name);

}  // namespace weft::deck
