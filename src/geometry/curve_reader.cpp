// Strict readers of curves: OBJ lines, HAIR and BCC.

#include "geometry/words.hpp"
#include "weft/geometry/curves.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace weft {

namespace {

using Line = std::vector<std::int32_t>;  ///< Points counted from 0.

/// Lines joined where two of them meet.
class Joiner {
 public:
  Joiner(const std::string& name, const std::vector<Vec3>& points, const std::vector<Line>& lines)
      : points_(points), neighbours_(points.size()) {
    for (const Line& line : lines)
      for (std::size_t i = 1; i < line.size(); ++i) {
        neighbours_[line[i - 1]].push_back(line[i]);
        neighbours_[line[i]].push_back(line[i - 1]);
      }
    for (std::size_t i = 0; i < points.size(); ++i)
      if (neighbours_[i].size() > 2)
        fail(fmt::format("{}: {} lines meet in point {}; a fiber cannot branch", name, neighbours_[i].size(), i + 1));
    visited_.assign(points.size(), false);
    // In the order of the file: open curves from the end that comes first in it, then rings.
    for (const Line& line : lines)
      for (const std::int32_t i : {line.front(), line.back()})
        if (!visited_[i] && neighbours_[i].size() == 1) walk(i, false);
    for (const Line& line : lines)
      if (!visited_[line.front()]) walk(line.front(), true);
  }
  Curves take() { return std::move(curves_); }

 private:
  void walk(std::int32_t start, bool ring) {
    std::vector<Vec3> curve;
    for (std::int32_t at = start, next = start; next >= 0; at = next) {
      visited_[at] = true;
      curve.push_back(points_[at]);
      next = -1;
      for (const std::int32_t other : neighbours_[at])
        if (next < 0 && !visited_[other]) next = other;
    }
    curves_.add(curve, ring && curve.size() > 2);
  }

  const std::vector<Vec3>& points_;
  std::vector<std::vector<std::int32_t>> neighbours_;
  std::vector<bool> visited_;
  Curves curves_;
};

Curves read_obj_lines(const std::string& name, std::string_view bytes) {
  Words words(name, bytes);
  std::vector<Vec3> points;
  std::vector<Line> lines;
  std::int64_t largest = 0;
  Word place;
  while (words.next_line('#')) {
    const Word keyword = words.take("a keyword");
    if (keyword.text == "v") {
      require_room(name, points.size(), "points");
      Vec3 x;
      for (int a = 0; a < 3; ++a) x[a] = words.real(words.take("a coordinate"));
      for (int extra = 0; extra < 4 && words.left_in_line() > 0; ++extra) words.real(words.take("a number"));
      words.expect_end_of_line();
      points.push_back(x);
    } else if (keyword.text == "l") {
      Line line;
      while (line.size() < 2 || words.left_in_line() > 0) {
        Word word = words.take("a point of a line");
        word.text = word.text.substr(0, word.text.find('/'));  // a texture coordinate may follow
        const std::int64_t given = words.integer(word);
        const auto count = static_cast<std::int64_t>(points.size());
        if (given == 0) words.fail_at(word, "points are counted from 1, found 0");
        if (given > most_items) words.fail_at(word, "the number {} is out of range", in_quotes(word.text));
        if (given < -count)
          words.fail_at(word, "this counts {} points back, but there are only {} so far", -given, count);
        const std::int64_t index = given > 0 ? given : count + 1 + given;
        if (index > largest) largest = index, place = word;
        if (!line.empty() && line.back() == index - 1) words.fail_at(word, "point {} follows itself in a line", index);
        line.push_back(static_cast<std::int32_t>(index - 1));
      }
      lines.push_back(std::move(line));
    } else {
      constexpr std::array others = {"vt", "vn", "vp",     "f",      "o",      "g",      "s",  "mg",
                                     "p",  "t",  "usemtl", "mtllib", "usemap", "maplib", "lod"};
      if (std::find(others.begin(), others.end(), keyword.text) == others.end())
        words.fail_at(keyword, "unknown keyword {}", in_quotes(keyword.text));
    }
  }
  if (largest > static_cast<std::int64_t>(points.size()))
    words.fail_at(place, "this names point {}, but the file has only {}", largest, points.size());
  if (lines.empty()) fail(name + ": expected curves, found no lines (`l` statements)");
  return Joiner(name, points, lines).take();
}

/// Little-endian numbers of a file, of which a piece at a time is in memory.
class Numbers {
 public:
  explicit Numbers(const FileBytes& file) : file_(file) {}

  std::uint64_t left() const { return file_.size - place(); }
  std::uint64_t place() const { return begin_ + at_; }
  void skip(std::uint64_t count) {
    if (left() < count) fail_here(fmt::format("expected {} more bytes, but only {} are left", count, left()));
    at_ += count;
  }
  template <class T>
  T take() {
    if (left() < sizeof(T)) fail_here("the file ends in the middle of a number");
    if (at_ + sizeof(T) > piece_.size()) {
      constexpr std::uint64_t most = 1 << 20;
      begin_ += at_;
      at_ = 0;
      piece_ = file_.read(begin_, std::min(most, file_.size - begin_));
    }
    std::array<char, sizeof(T)> raw;
    std::memcpy(raw.data(), piece_.data() + at_, sizeof(T));
    if constexpr (std::endian::native == std::endian::big) std::reverse(raw.begin(), raw.end());
    const T value = std::bit_cast<T>(raw);
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(value)) fail_here("expected a finite number");
    at_ += sizeof(T);
    return value;
  }
  Vec3 take_point() {
    const float x = take<float>(), y = take<float>(), z = take<float>();
    return {x, y, z};
  }

  [[noreturn]] void fail_here(const std::string& text) const {
    fail(fmt::format("{}: byte {}: {}", file_.name, place(), text));
  }
  /// Refuses a count that the bytes that are left cannot hold.
  void require_bytes(std::uint64_t items, std::uint64_t size, const char* what) const {
    if (items > left() / size)
      fail_here(fmt::format("{} {} take {} bytes each, but only {} bytes are left", items, what, size, left()));
  }
  void require_end() const {
    if (left() > 0) fail_here(fmt::format("expected the end of the file, found {} more bytes", left()));
  }

 private:
  const FileBytes& file_;
  std::string piece_;
  std::uint64_t begin_ = 0, at_ = 0;  ///< Of the piece, and in it.
};

/// Whether the file has so many bytes and begins with a word.
/// A header of so many bytes that starts with the name of the format.
void require_header(const FileBytes& file, std::uint64_t bytes, std::string_view format) {
  if (file.size < bytes || file.read(0, format.size()) != format)
    fail(fmt::format("{}: expected a {} file: a header of {} bytes that starts with `{}`", file.name, format, bytes,
                     format));
}

/// Header of 128 bytes: "HAIR", strands, points, bits of what follows, the segments, thickness, transparency and colour
/// that hold where nothing follows, 88 bytes of text. Then, in this order and if their bit is set: segments of each
/// strand (16 bits), points (which must be there), thickness, transparency and colour of each point.
Curves read_hair(const FileBytes& file, const CurvePart& part) {
  constexpr std::size_t header_bytes = 128;
  const std::string& name = file.name;
  require_header(file, header_bytes, "HAIR");
  Numbers numbers(file);
  numbers.skip(4);
  const auto strands = numbers.take<std::uint32_t>(), points = numbers.take<std::uint32_t>(),
             has = numbers.take<std::uint32_t>(), default_segments = numbers.take<std::uint32_t>();
  const auto default_thickness = numbers.take<float>();
  numbers.skip(header_bytes - 24);
  constexpr std::uint32_t has_segments = 1, has_points = 2, has_thickness = 4, has_transparency = 8, has_colour = 16;
  if (!(has & has_points)) fail(name + ": the header says that the file has no points");
  if (has >= 32) fail(fmt::format("{}: the header announces arrays that the format does not know ({:#x})", name, has));
  if (strands == 0) fail(name + ": expected curves, found no strands");
  require_room(name, points, "points");

  std::vector<std::uint16_t> segments;  // of each strand, if the file says so
  if (has & has_segments) {
    numbers.require_bytes(strands, 2, "numbers of segments");
    segments.resize(strands);
    for (std::uint16_t& s : segments) s = numbers.take<std::uint16_t>();
  }
  const auto points_of_strand = [&](std::uint32_t s) {  // in 64 bits: a header may say 2^32 - 1 segments
    const std::uint64_t count = segments.empty() ? default_segments : segments[s];
    if (count == 0) fail(fmt::format("{}: strand {} has no segments", name, s));
    return count + 1;
  };
  std::uint64_t needed = 0;
  if (segments.empty()) needed = strands * points_of_strand(0);  // a header may say 2^32 - 1 strands
  for (std::uint32_t s = 0; s < segments.size(); ++s) needed += points_of_strand(s);
  if (needed != points)
    fail(fmt::format("{}: the segments of the strands do not add up to the {} points of the header", name, points));

  Curves curves;
  numbers.require_bytes(points, 12, "points");
  std::uint64_t passed = 0, first = 0;  // points; those before the part
  std::vector<Vec3> strand;
  for (std::uint32_t s = 0; s < strands; ++s) {
    strand.resize(points_of_strand(s));
    if (s == part.begin(strands)) first = passed;
    passed += strand.size();
    for (Vec3& x : strand) x = numbers.take_point();
    if (s >= part.begin(strands) && s < part.end(strands)) curves.add(strand);
  }
  if (has & has_thickness) {
    for (std::uint64_t i = 0; i < points; ++i) {
      const auto thickness = numbers.take<float>();
      if (i >= first && i < first + curves.points.size()) curves.thickness.push_back(thickness);
    }
  } else if (default_thickness > 0) {
    curves.thickness.assign(curves.points.size(), default_thickness);
  }
  const std::uint64_t unused = (has & has_transparency ? 4u : 0u) + (has & has_colour ? 12u : 0u);
  if (unused > 0) numbers.require_bytes(points, unused, "transparencies and colours");
  numbers.skip(unused * points);
  numbers.require_end();
  return curves;
}

/// Header of 64 bytes: "BCC", bytes of integers and reals (0x44), type of the curves, dimensions, upward axis, curves,
/// control points, 40 bytes of text. Then for each curve the number of its points, negative if it is closed, and these.
Curves read_bcc(const FileBytes& file, const CurvePart& part) {
  constexpr std::size_t header_bytes = 64;
  const std::string& name = file.name;
  require_header(file, header_bytes, "BCC");
  Numbers numbers(file);
  numbers.skip(3);
  if (numbers.take<char>() != '\x44')
    fail(name + ": only integers and reals of four bytes can be read (0x44 in byte 3)");
  const std::string type{numbers.take<char>(), numbers.take<char>()};
  if (type != "C0" && type != "PL")
    fail(fmt::format("{}: curves of type {} cannot be read: expected `C0` or `PL`", name, in_quotes(type)));
  if (const auto dimensions = int{numbers.take<char>()}; dimensions != 3)
    fail(fmt::format("{}: curves of {} dimensions cannot be read: expected 3", name, dimensions));
  numbers.skip(1);
  const auto count = numbers.take<std::uint64_t>(), points = numbers.take<std::uint64_t>();
  numbers.skip(header_bytes - 24);
  if (count == 0) fail(name + ": expected curves, found none");
  numbers.require_bytes(count, 4 + 2 * 12, "curves");
  numbers.require_bytes(points, 12, "control points");
  require_room(name, points, "points");

  Curves curves;
  std::uint64_t found = 0;  // points
  std::vector<Vec3> curve;
  const auto first = static_cast<std::uint64_t>(part.begin(static_cast<std::int64_t>(count)));
  const auto end = static_cast<std::uint64_t>(part.end(static_cast<std::int64_t>(count)));
  for (std::uint64_t c = 0; c < count; ++c) {
    const std::int64_t given = numbers.take<std::int32_t>(), length = std::abs(given);
    if (length < (given < 0 ? 3 : 2)) fail(fmt::format("{}: curve {} has only {} points", name, c, length));
    numbers.require_bytes(static_cast<std::uint64_t>(length), 12, "control points");
    curve.resize(static_cast<std::size_t>(length));
    found += curve.size();
    for (Vec3& x : curve) x = numbers.take_point();
    if (c >= first && c < end) curves.add(curve, given < 0);
  }
  if (found != points)
    fail(fmt::format("{}: the header announces {} control points, but the curves have {}", name, points, found));
  numbers.require_end();
  return curves;
}

/// Some of the curves.
Curves part_of(Curves curves, const CurvePart& part) {
  if (part.of == 1) return curves;
  Curves some;
  for (std::int64_t c = part.begin(curves.count()); c < part.end(curves.count()); ++c)
    some.add(curves.curve(c), curves.closed[static_cast<std::size_t>(c)]);
  return some;
}

}  // namespace

Curves read_curves(const FileBytes& file, const CurvePart& part) {
  const std::string& name = file.name;
  const std::size_t dot = name.find_last_of('.');
  const std::string ending = dot == std::string::npos ? "" : lower_case(std::string_view(name).substr(dot + 1));
  if (ending == "obj") return part_of(read_obj_lines(name, file.read(0, file.size)), part);
  if (ending == "hair") return read_hair(file, part);
  if (ending == "bcc") return read_bcc(file, part);
  fail(name + ": the name of a file of curves must end in .obj, .hair or .bcc");
}

}  // namespace weft
