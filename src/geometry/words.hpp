#pragma once
// Words of text files and numbers of binary files, with the locations where they stand: what strict readers are made
// of.

#include "weft/base/check.hpp"
#include "weft/base/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft {

/// Largest number of points or faces: indices have 32 bits.
inline constexpr std::int64_t most_items = std::numeric_limits<std::int32_t>::max();

[[noreturn]] inline void fail(const std::string& text) { throw Error(ExitCode::geometry, text); }

/// The user's own text in a message: short and printable.
inline std::string in_quotes(std::string_view text) {
  std::string shown = "`";
  for (const char c : text.substr(0, 40)) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > 40 ? "...`" : "`");
}

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

struct Word {
  std::string_view text;
  std::int64_t line = 0, column = 0;  ///< Counted from 1.
};

/// Cuts a text into words, line by line, and reports mistakes with line and column.
class Words {
 public:
  Words(const std::string& name, std::string_view bytes) : name_(name), bytes_(bytes) {
    if (bytes_.starts_with("\xEF\xBB\xBF")) start_of_line_ = at_ = 3;  // byte order mark
  }

  /// Goes to the next line that has words; false at the end. `comment` starts a comment; a backslash at the end of a
  /// line joins it to the next.
  bool next_line(char comment = '\0') {
    words_.clear();
    while (words_.empty() && at_ < bytes_.size()) read_line(comment);
    next_ = 0;
    return !words_.empty();
  }
  const std::vector<Word>& line() const { return words_; }
  std::size_t left_in_line() const { return words_.size() - next_; }

  /// The next word of this line; fails naming what was expected.
  const Word& take(const char* expected) {
    if (next_ == words_.size()) fail_at(end_of_line_, "expected {}, found the end of the line", expected);
    return words_[next_++];
  }
  /// The next word, on this or a later line.
  const Word& take_from_any_line(const char* expected) {
    if (next_ == words_.size() && !next_line())
      fail(fmt::format("{}:{}: expected {}, found the end of the file", name_, line_, expected));
    return words_[next_++];
  }
  void expect_end_of_line() {
    if (next_ < words_.size())
      fail_at(words_[next_], "expected the end of the line, found {}", in_quotes(words_[next_].text));
  }

  /// The bytes after the current line.
  std::string_view rest() const { return bytes_.substr(at_); }
  std::size_t offset() const { return at_; }
  /// Of a word, or of an end of line, from the start of the file.
  std::size_t offset_of(const Word& word) const {
    return word.text.data() == nullptr ? at_ : static_cast<std::size_t>(word.text.data() - bytes_.data());
  }
  /// Leaves bytes out, and what is left of the line. Lines are not counted meanwhile.
  void skip(std::size_t count) {
    words_.clear();
    next_ = 0;
    at_ = std::min(at_ + count, bytes_.size());
  }
  std::int64_t line_number() const { return line_; }

  template <class... Args>
  [[noreturn]] void fail_at(const Word& word, fmt::format_string<Args...> format, Args&&... args) const {
    fail(fmt::format("{}:{}:{}: ", name_, word.line, word.column) + fmt::format(format, std::forward<Args>(args)...));
  }

  Real real(const Word& word) const {
    std::string_view digits = word.text;
    if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
    Real value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range) fail_at(word, "the number {} is out of range", in_quotes(word.text));
    if (error != std::errc() || end != digits.data() + digits.size())
      fail_at(word, "expected a number, found {}", in_quotes(word.text));
    if (!std::isfinite(value)) fail_at(word, "expected a finite number, found {}", in_quotes(word.text));
    return value;
  }

  std::int64_t integer(const Word& word) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.text.data(), word.text.data() + word.text.size(), value);
    if (error == std::errc::result_out_of_range) fail_at(word, "the number {} is out of range", in_quotes(word.text));
    if (error != std::errc() || end != word.text.data() + word.text.size())
      fail_at(word, "expected a whole number, found {}", in_quotes(word.text));
    return value;
  }

 private:
  void read_line(char comment) {
    if (at_ > 0 && bytes_[at_ - 1] == '\n') ++line_;
    start_of_line_ = at_;
    bool in_comment = false;
    for (;; ++at_) {
      if (at_ == bytes_.size() || bytes_[at_] == '\n') break;
      if (comment && bytes_[at_] == comment) in_comment = true;
      if (in_comment || is_blank(bytes_[at_]) || skip_line_joint(comment)) continue;
      const std::size_t begin = at_;
      const std::int64_t column = static_cast<std::int64_t>(at_ - start_of_line_) + 1;
      while (at_ + 1 < bytes_.size() && !ends_word(bytes_[at_ + 1], comment)) ++at_;
      words_.push_back({bytes_.substr(begin, at_ + 1 - begin), line_, column});
    }
    end_of_line_ = {{}, line_, static_cast<std::int64_t>(at_ - start_of_line_) + 1};
    if (at_ < bytes_.size()) ++at_;
  }
  static bool ends_word(char c, char comment) {
    return is_blank(c) || c == '\n' || (comment && (c == comment || c == '\\'));
  }
  /// Steps onto the end of line after a backslash, in formats with comments (OBJ).
  bool skip_line_joint(char comment) {
    if (!comment || bytes_[at_] != '\\') return false;
    std::size_t end = at_ + 1;
    if (end < bytes_.size() && bytes_[end] == '\r') ++end;
    if (end >= bytes_.size() || bytes_[end] != '\n') return false;
    at_ = end;
    ++line_;
    start_of_line_ = at_ + 1;
    return true;
  }

  const std::string& name_;
  std::string_view bytes_;
  std::size_t at_ = 0, start_of_line_ = 0, next_ = 0;
  std::int64_t line_ = 1;
  std::vector<Word> words_;
  Word end_of_line_;
};

inline void require_room(const std::string& name, std::size_t items, const char* what) {
  if (items >= static_cast<std::size_t>(most_items)) fail(fmt::format("{}: more than {} {}", name, most_items, what));
}

/// Reads numbers of stated size and byte order from bytes; `start` is the offset of the bytes in the file.
class Binary {
 public:
  Binary(const std::string& name, std::string_view bytes, std::size_t start, bool big_endian)
      : name_(name), bytes_(bytes), start_(start), swap_(big_endian != (std::endian::native == std::endian::big)) {}

  std::size_t left() const { return bytes_.size() - at_; }
  std::size_t place() const { return start_ + at_; }
  void skip(std::size_t count) {
    if (left() < count) fail_here(fmt::format("expected {} more bytes, but only {} are left", count, left()));
    at_ += count;
  }

  template <class T>
  T take() {
    if (left() < sizeof(T)) fail_here("the file ends in the middle of a number");
    std::array<char, sizeof(T)> raw;
    std::memcpy(raw.data(), bytes_.data() + at_, sizeof(T));
    if (swap_) std::reverse(raw.begin(), raw.end());
    const T value = std::bit_cast<T>(raw);
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(value)) fail_here("expected a finite number");
    at_ += sizeof(T);
    return value;
  }

  [[noreturn]] void fail_here(const std::string& text) const {
    fail(fmt::format("{}: byte {}: {}", name_, place(), text));
  }

 private:
  const std::string& name_;
  std::string_view bytes_;
  std::size_t start_, at_ = 0;
  bool swap_;
};

}  // namespace weft
