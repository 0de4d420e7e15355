// Complaints about a deck and near-miss suggestions.

#include "deck/messages.hpp"

#include "weft/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace weft::deck {
namespace {
constexpr std::size_t most_words = 40;
constexpr std::size_t longest_quote = 60;
}  // namespace

int Report::add_source(std::string name) {
  sources_.push_back(std::move(name));
  return static_cast<int>(sources_.size()) - 1;
}

std::string Report::where(const Location& location, std::string_view path) const {
  const std::string& source = sources_[static_cast<std::size_t>(location.source)];
  // An override is named by its path already; repeat the path only where it leads further.
  const bool path_is_said = path.empty() || (location.source > 0 && source.ends_with(" " + std::string(path)));
  std::string text = location.source == 0 ? fmt::format("{}:{}:{}", source, location.line, location.column) : source;
  return path_is_said ? text : text + ": " + std::string(path);
}

void Report::add(const Location& location, std::string_view path, std::string_view text) {
  lines_.push_back({location, !is_full() ? where(location, path) + ": " + std::string(text) : std::string()});
}

void Report::throw_if_any() const {
  if (lines_.empty()) return;
  std::vector<Line> lines(lines_.begin(), lines_.begin() + std::min(size(), most_lines));
  std::ranges::stable_sort(lines, {}, &Line::location);
  std::string text;
  for (const Line& line : lines) text += (text.empty() ? "" : "\n") + line.text;
  if (size() > most_lines) text += fmt::format("\n... and {} more errors.", size() - most_lines);
  throw Error(ExitCode::deck, text);
}

int edit_distance(std::string_view a, std::string_view b) {
  const std::size_t columns = b.size() + 1;
  std::vector<int> before_last(columns), last(columns), row(columns);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j < columns; ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row.back();
}

std::string nearest(std::string_view given, const std::vector<std::string>& words) {
  const std::string* best = nullptr;
  int best_distance = 0;
  for (const std::string& word : words) {
    const int tolerated = std::max<int>(1, static_cast<int>(word.size()) / 3);
    const int longer = static_cast<int>(given.size()) - static_cast<int>(word.size());
    if (std::abs(longer) > tolerated) continue;
    const int distance = edit_distance(given, word);
    if (distance <= tolerated && (best == nullptr || distance < best_distance)) {
      best = &word;
      best_distance = distance;
    }
  }
  return best ? *best : std::string();
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& words) {
  const std::string word = nearest(given, words);
  return word.empty() ? word : fmt::format("Did you mean \"{}\"? ", word);
}

std::string shown(std::string_view text) {
  std::size_t length = std::min(text.size(), longest_quote);
  while (length < text.size() && length > 0 && (text[length] & 0xC0) == 0x80) --length;  // keep UTF-8 letters whole
  std::string quote(text.substr(0, length));
  std::ranges::replace_if(quote, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return fmt::format("\"{}{}\"", quote, length < text.size() ? "..." : "");
}

std::string listed(const std::vector<std::string>& words) {
  const auto end = words.begin() + static_cast<long>(std::min(words.size(), most_words));
  return fmt::format("{}{}", fmt::join(words.begin(), end, ", "), end == words.end() ? "" : ", ...");
}

}  // namespace weft::deck
