#pragma once
// What a deck reader says: locations, all complaints of one deck in order, and the nearest valid word to a mistyped
// one.

#include <string>
#include <string_view>
#include <vector>

namespace weft::deck {

/// Where a piece of a deck was written: line and column count from 1; source 0 is the file, k the k-th override.
struct Location {
  int source = 0, line = 1, column = 1;
  auto operator<=>(const Location&) const = default;
};

/// Collects every complaint about one deck; they leave together, in the order of their locations.
class Report {
 public:
  explicit Report(std::string deck_name) : sources_{std::move(deck_name)} {}

  /// Names the next override, as "--set time.end"; returns its source number.
  int add_source(std::string name);
  void add(const Location& location, std::string_view path, std::string_view text);
  /// True if there are more complaints than will be shown; from then on they are only counted.
  bool is_full() const { return size() >= most_lines; }
  int size() const { return static_cast<int>(lines_.size()); }
  /// "decks/a.yaml:14:5: materials.sand", or "--set materials.sand" for what an override wrote.
  std::string where(const Location& location, std::string_view path) const;
  /// Throws Error(ExitCode::deck) with one line for each complaint if there are any.
  void throw_if_any() const;

 private:
  static constexpr int most_lines = 100;  // nobody reads more, and they must not cost time
  struct Line {
    Location location;
    std::string text;
  };
  std::vector<std::string> sources_;
  std::vector<Line> lines_;
};

/// Smallest number of insertions, deletions, substitutions and swaps of neighbours that turn a into b, each letter
/// being touched once (optimal string alignment).
int edit_distance(std::string_view a, std::string_view b);

/// The word nearest to `given`, or empty if none is near enough to be what was meant.
std::string nearest(std::string_view given, const std::vector<std::string>& words);

/// The sentence `Did you mean "x"? ` with a trailing blank, or nothing.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& words);

/// The text in quotes, shortened and without control characters, fit for a message.
std::string shown(std::string_view text);

/// "a, b, c", cut after a reasonable number of words.
std::string listed(const std::vector<std::string>& words);

}  // namespace weft::deck
