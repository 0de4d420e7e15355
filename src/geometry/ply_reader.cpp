// A strict reader of PLY meshes.

#include "geometry/mesh_formats.hpp"
#include "geometry/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {
namespace {

enum class PlyType { int8, uint8, int16, uint16, int32, uint32, float32, float64 };

constexpr std::array<std::pair<std::string_view, PlyType>, 16> ply_type_names = {{{"char", PlyType::int8},
                                                                                  {"int8", PlyType::int8},
                                                                                  {"uchar", PlyType::uint8},
                                                                                  {"uint8", PlyType::uint8},
                                                                                  {"short", PlyType::int16},
                                                                                  {"int16", PlyType::int16},
                                                                                  {"ushort", PlyType::uint16},
                                                                                  {"uint16", PlyType::uint16},
                                                                                  {"int", PlyType::int32},
                                                                                  {"int32", PlyType::int32},
                                                                                  {"uint", PlyType::uint32},
                                                                                  {"uint32", PlyType::uint32},
                                                                                  {"float", PlyType::float32},
                                                                                  {"float32", PlyType::float32},
                                                                                  {"double", PlyType::float64},
                                                                                  {"float64", PlyType::float64}}};

bool is_real(PlyType type) { return type == PlyType::float32 || type == PlyType::float64; }

/// Calls f with a value of the C++ type that stands for a PLY type.
template <class F>
auto with_type(PlyType type, F f) {
  switch (type) {
    case PlyType::int8:
      return f(std::int8_t{});
    case PlyType::uint8:
      return f(std::uint8_t{});
    case PlyType::int16:
      return f(std::int16_t{});
    case PlyType::uint16:
      return f(std::uint16_t{});
    case PlyType::int32:
      return f(std::int32_t{});
    case PlyType::uint32:
      return f(std::uint32_t{});
    case PlyType::float32:
      return f(float{});
    case PlyType::float64:
      break;
  }
  return f(double{});
}

std::size_t size_of(PlyType type) {
  return with_type(type, [](auto x) { return sizeof(x); });
}

struct PlyProperty {
  std::string name;
  PlyType type;
  std::optional<PlyType> length_type;  ///< Given for lists.
};

struct PlyElement {
  std::string name;
  std::int64_t count;
  Word place;
  std::vector<PlyProperty> properties;

  int find(std::string_view property) const {
    for (std::size_t k = 0; k < properties.size(); ++k)
      if (properties[k].name == property) return static_cast<int>(k);
    return -1;
  }
};

/// Values of one property of one row: a single one, or a list. All PLY types fit a double exactly.
using PlyValues = std::vector<Real>;

class PlyReader {
 public:
  PlyReader(const std::string& name, std::string_view bytes) : name_(name), words_(name, bytes) {}

  SurfaceMesh read() {
    read_header();
    if (format_ == Format::text) {
      for (const PlyElement& element : elements_) read_rows(element, [&](auto& row) { read_text_row(element, row); });
      if (words_.next_line())
        words_.fail_at(words_.line()[0], "expected the end of the file, found {}", in_quotes(words_.line()[0].text));
    } else {
      Binary numbers(name_, words_.rest(), words_.offset(), format_ == Format::big_endian);
      for (const PlyElement& element : elements_)
        read_rows(element, [&](auto& row) { read_binary_row(element, numbers, row); });
      if (numbers.left() > 0)
        numbers.fail_here(fmt::format("expected the end of the file, found {} more bytes", numbers.left()));
    }
    for (const std::int32_t corner : mesh_.corners)
      if (corner >= static_cast<std::int64_t>(mesh_.points.size()))
        fail(fmt::format("{}: a face names point {} (counted from 0), but the file has only {} points", name_, corner,
                         mesh_.points.size()));
    require_surface(name_, mesh_);
    if (texture_[0] >= 0)
      for (const std::int32_t corner : mesh_.corners) mesh_.texture.push_back(texture_points_[corner]);
    if (!mesh_.group_points.empty()) mesh_.group_points.resize(mesh_.groups.size());
    if (!mesh_.groups.empty()) mesh_.group.resize(static_cast<std::size_t>(mesh_.face_count()), -1);
    return std::move(mesh_);
  }

 private:
  enum class Format { text, little_endian, big_endian };

  // Header.

  const Word& header_line(const char* expected) {
    if (!words_.next_line())
      fail(fmt::format("{}:{}: expected {}, found the end of the file", name_, words_.line_number(), expected));
    return words_.take(expected);
  }

  void read_header() {
    const Word magic = header_line("`ply`");
    if (magic.text != "ply") words_.fail_at(magic, "expected `ply`, found {}", in_quotes(magic.text));
    words_.expect_end_of_line();
    read_format();
    for (;;) {
      const Word keyword = header_line("`end_header`");
      if (keyword.text == "comment" || keyword.text == "obj_info") continue;
      if (keyword.text == "element") read_element();
      else if (keyword.text == "property") read_property(keyword);
      else if (keyword.text != "end_header")
        words_.fail_at(keyword, "expected element, property, comment or end_header, found {}", in_quotes(keyword.text));
      words_.expect_end_of_line();
      if (keyword.text == "end_header") break;
    }
    check_elements();
  }

  void read_format() {
    Word keyword = header_line("`format`");
    while (keyword.text == "comment" || keyword.text == "obj_info") keyword = header_line("`format`");
    if (keyword.text != "format") words_.fail_at(keyword, "expected `format`, found {}", in_quotes(keyword.text));
    const Word& format = words_.take("a format");
    if (format.text == "ascii") format_ = Format::text;
    else if (format.text == "binary_little_endian") format_ = Format::little_endian;
    else if (format.text == "binary_big_endian") format_ = Format::big_endian;
    else
      words_.fail_at(format, "expected ascii, binary_little_endian or binary_big_endian, found {}",
                     in_quotes(format.text));
    const Word& version = words_.take("the version 1.0");
    if (version.text != "1.0") words_.fail_at(version, "expected the version 1.0, found {}", in_quotes(version.text));
    words_.expect_end_of_line();
  }

  void read_element() {
    const Word& name = words_.take("the name of an element");
    for (const PlyElement& element : elements_)
      if (element.name == name.text) words_.fail_at(name, "the element {} is given twice", in_quotes(name.text));
    const Word& count = words_.take("the number of rows");
    elements_.push_back({std::string(name.text), words_.integer(count), count, {}});
    if (elements_.back().count < 0 || elements_.back().count > most_items)
      words_.fail_at(count, "expected a number of rows from 0 to {}, found {}", most_items, in_quotes(count.text));
  }

  PlyType read_type() {
    const Word& word = words_.take("a type");
    for (const auto& [name, type] : ply_type_names)
      if (name == word.text) return type;
    words_.fail_at(word, "expected a type such as float, int or uchar, found {}", in_quotes(word.text));
  }

  void read_property(const Word& keyword) {
    if (elements_.empty()) words_.fail_at(keyword, "expected an element before its first property");
    PlyProperty property{};
    const std::size_t begin = words_.line().size() - words_.left_in_line();
    if (words_.left_in_line() > 0 && words_.line()[begin].text == "list") {
      words_.take("list");
      const Word length_place = words_.left_in_line() > 0 ? words_.line()[begin + 1] : keyword;
      property.length_type = read_type();
      if (is_real(*property.length_type))
        words_.fail_at(length_place, "the length of a list must be of a whole-number type");
    }
    property.type = read_type();
    const Word& name = words_.take("the name of a property");
    property.name = name.text;
    if (elements_.back().find(name.text) >= 0)
      words_.fail_at(name, "the property {} is given twice", in_quotes(name.text));
    elements_.back().properties.push_back(property);
  }

  /// All that can be checked before rows are read: what a surface needs is there, and the counts fit the file's size.
  void check_elements() {
    std::size_t least_bytes = 0;
    bool has_points = false, has_faces = false;
    for (const PlyElement& element : elements_) {
      std::size_t row = 0;
      for (const PlyProperty& property : element.properties)
        row += format_ == Format::text ? 2 : size_of(property.length_type.value_or(property.type));
      if (row == 0) words_.fail_at(element.place, "the element {} has no properties", in_quotes(element.name));
      least_bytes += row * static_cast<std::size_t>(element.count);
      if (element.name == "vertex") has_points = check_points(element);
      if (element.name == "face") has_faces = check_faces(element);
      if (element.name == "tristrips")
        words_.fail_at(element.place, "triangle strips cannot be read: export faces instead");
    }
    if (!has_points) fail(name_ + ": expected an element `vertex`");
    if (!has_faces) fail(name_ + ": expected an element `face`: a cloud of points is not a surface");
    // The last number of a text needs no blank after it.
    if (least_bytes > words_.rest().size() + 1)
      fail(fmt::format("{}: the header announces at least {} bytes of rows, but only {} follow", name_, least_bytes,
                       words_.rest().size()));
  }

  bool check_points(const PlyElement& element) {
    for (int a = 0; a < 3; ++a) {
      const char* axis = std::array{"x", "y", "z"}[a];
      axis_[a] = element.find(axis);
      if (axis_[a] < 0 || element.properties[axis_[a]].length_type)
        words_.fail_at(element.place, "the element `vertex` needs a property `{}` that is a single number", axis);
    }
    for (const auto& names : {std::array{"s", "t"}, std::array{"u", "v"}, std::array{"texture_u", "texture_v"}}) {
      const int first = element.find(names[0]), second = element.find(names[1]);
      if (first < 0 || second < 0 || element.properties[first].length_type || element.properties[second].length_type)
        continue;
      texture_ = {first, second};
      break;
    }
    group_of_point_ = group_property(element);
    return true;
  }

  /// The property that numbers the group of each row; -1: there is none.
  static int group_property(const PlyElement& element) {
    const int group = element.find("group");
    return group >= 0 && !element.properties[group].length_type && !is_real(element.properties[group].type) ? group
                                                                                                            : -1;
  }

  bool check_faces(const PlyElement& element) {
    group_of_face_ = group_property(element);
    corners_ = std::max(element.find("vertex_indices"), element.find("vertex_index"));
    if (corners_ < 0 || !element.properties[corners_].length_type || is_real(element.properties[corners_].type))
      words_.fail_at(element.place,
                     "the element `face` needs a property `vertex_indices` that is a list of whole numbers");
    return true;
  }

  // Rows.

  template <class ReadRow>
  void read_rows(const PlyElement& element, ReadRow read_row) {
    std::vector<PlyValues> row(element.properties.size());
    for (std::int64_t k = 0; k < element.count; ++k) {
      for (PlyValues& values : row) values.clear();
      read_row(row);
      if (element.name == "vertex") add_point(row);
      else if (element.name == "face") {
        add_face(k, row[corners_]);
        if (group_of_face_ >= 0) mesh_.group.push_back(group_numbered(row[group_of_face_][0]));
      }
    }
  }

  void add_point(const std::vector<PlyValues>& row) {
    const auto point = static_cast<std::int32_t>(mesh_.points.size());
    mesh_.points.emplace_back(row[axis_[0]][0], row[axis_[1]][0], row[axis_[2]][0]);
    if (texture_[0] >= 0) texture_points_.emplace_back(row[texture_[0]][0], row[texture_[1]][0]);
    const std::int32_t group = group_of_point_ < 0 ? -1 : group_numbered(row[group_of_point_][0]);
    if (group < 0) return;
    mesh_.group_points.resize(mesh_.groups.size());
    mesh_.group_points[static_cast<std::size_t>(group)].push_back(point);
  }

  /// Which of the groups of the mesh has this number for its name; negative numbers stand for none.
  std::int32_t group_numbered(Real number) {
    if (number < 0) return -1;
    const std::string name = fmt::format("{:.0f}", number);
    const auto found = std::find(mesh_.groups.begin(), mesh_.groups.end(), name);
    const auto group = static_cast<std::int32_t>(found - mesh_.groups.begin());
    if (found == mesh_.groups.end()) mesh_.groups.push_back(name);
    return group;
  }

  void add_face(std::int64_t k, const PlyValues& corners) {
    require_room(name_, mesh_.corners.size(), "corners of faces");
    if (corners.size() < 3)
      fail(fmt::format("{}: face {} has {} corners; expected at least 3", name_, k, corners.size()));
    face_.clear();
    for (const Real corner : corners) {
      if (corner < 0 || corner > static_cast<Real>(most_items))
        fail(fmt::format("{}: face {} names point {:.0f}, which cannot exist", name_, k, corner));
      face_.push_back(static_cast<std::int32_t>(corner));
    }
    mesh_.add_face(face_);
  }

  Real text_number(PlyType type) {
    const Word& word = words_.take("a number");
    if (is_real(type)) return words_.real(word);
    const std::int64_t value = words_.integer(word);
    const bool fits = with_type(type, [&](auto x) {
      using T = decltype(x);
      return static_cast<Real>(value) >= static_cast<Real>(std::numeric_limits<T>::lowest()) &&
             static_cast<Real>(value) <= static_cast<Real>(std::numeric_limits<T>::max());
    });
    if (!fits) words_.fail_at(word, "the number {} does not fit the type of its property", in_quotes(word.text));
    return static_cast<Real>(value);
  }

  void read_text_row(const PlyElement& element, std::vector<PlyValues>& row) {
    if (!words_.next_line())
      fail(fmt::format("{}:{}: expected {} rows of the element `{}`, found the end of the file", name_,
                       words_.line_number(), element.count, element.name));
    for (std::size_t k = 0; k < row.size(); ++k) {
      const PlyProperty& property = element.properties[k];
      const Real length = property.length_type ? text_number(*property.length_type) : 1;
      if (length < 0) words_.fail_at(words_.line()[0], "the length of a list is negative");
      // The words of the line bound the list, whatever its stated length.
      for (Real j = 0; j < length; ++j) row[k].push_back(text_number(property.type));
    }
    words_.expect_end_of_line();
  }

  static Real binary_number(Binary& numbers, PlyType type) {
    return with_type(type, [&](auto x) { return static_cast<Real>(numbers.take<decltype(x)>()); });
  }

  void read_binary_row(const PlyElement& element, Binary& numbers, std::vector<PlyValues>& row) {
    for (std::size_t k = 0; k < row.size(); ++k) {
      const PlyProperty& property = element.properties[k];
      const Real length = property.length_type ? binary_number(numbers, *property.length_type) : 1;
      if (length < 0) numbers.fail_here("the length of a list is negative");
      if (length * static_cast<Real>(size_of(property.type)) > static_cast<Real>(numbers.left()))
        numbers.fail_here("the file ends in the middle of a row");
      for (Real j = 0; j < length; ++j) row[k].push_back(binary_number(numbers, property.type));
    }
  }

  const std::string& name_;
  Words words_;
  Format format_ = Format::text;
  std::vector<PlyElement> elements_;
  std::array<int, 3> axis_{};
  std::array<int, 2> texture_{-1, -1};  ///< Properties of points.
  int corners_ = -1, group_of_point_ = -1, group_of_face_ = -1;
  SurfaceMesh mesh_;
  std::vector<std::int32_t> face_;
  std::vector<Vec2> texture_points_;
};

}  // namespace

SurfaceMesh read_ply(const std::string& name, std::string_view bytes) { return PlyReader(name, bytes).read(); }

}  // namespace weft
