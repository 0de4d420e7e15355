// Strict readers of OBJ, PLY and STL.

#include "weft/geometry/mesh_reader.hpp"

#include "geometry/words.hpp"
#include "weft/base/read_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <utility>

namespace weft {

namespace {

void require_surface(const std::string& name, const SurfaceMesh& mesh) {
  if (mesh.points.empty()) fail(name + ": expected a surface, found no points");
  if (mesh.face_count() == 0) fail(name + ": expected a surface, found no faces");
}

// --- OBJ
// --------------------------------------------------------------------------------------------------------------

/// Points, texture coordinates or normals: how many there are, and the largest index that a face used so far.
struct ObjItems {
  const char* what;
  std::int64_t count = 0;
  std::int64_t largest = 0;
  Word place;
};

class ObjReader {
 public:
  ObjReader(const std::string& name, std::string_view bytes) : name_(name), words_(name, bytes) {}

  SurfaceMesh read() {
    while (words_.next_line('#')) read_statement();
    for (const ObjItems& items : {points_, textures_, normals_})
      if (items.largest > items.count)
        words_.fail_at(items.place, "this names {} {}, but the file has only {}", items.what, items.largest,
                       items.count);
    require_surface(name_, mesh_);
    if (listed_points_) mesh_.group_points.resize(mesh_.groups.size());
    if (std::find(texture_of_corner_.begin(), texture_of_corner_.end(), 0) == texture_of_corner_.end())
      for (const std::int64_t t : texture_of_corner_) mesh_.texture.push_back(texture_points_[t - 1]);
    return std::move(mesh_);
  }

 private:
  void read_statement() {
    const Word& keyword = words_.take("a keyword");
    if (keyword.text == "v") read_point();
    else if (keyword.text == "vt") read_texture();
    else if (keyword.text == "g") read_group();
    else if (keyword.text == "vn") read_numbers(normals_, 3, 3);
    else if (keyword.text == "f") read_face();
    else if (keyword.text == "p") read_points_of_group();
    else if (!without_surface(keyword.text)) words_.fail_at(keyword, "unknown keyword {}", in_quotes(keyword.text));
  }

  /// Names, smoothing, materials, lines, crease tags: they do not change the surface.
  static bool without_surface(std::string_view keyword) {
    constexpr std::array names = {"o", "s", "mg", "usemtl", "mtllib", "l", "t", "usemap", "maplib", "lod"};
    return std::find(names.begin(), names.end(), keyword) != names.end();
  }

  void read_point() {
    require_room(name_, mesh_.points.size(), "points");
    const Vec3 point = {real("the x coordinate"), real("the y coordinate"), real("the z coordinate")};
    // A weight, or a colour of three or four numbers, may follow.
    for (int extra = 0; extra < 4 && words_.left_in_line() > 0; ++extra) real("a number");
    words_.expect_end_of_line();
    mesh_.points.push_back(point);
    ++points_.count;
  }

  /// One to three numbers, the later ones 0 if they are not there; the third has no use on a surface.
  void read_texture() {
    Vec3 t = Vec3::Zero();
    for (int k = 0; k < 3 && (k < 1 || words_.left_in_line() > 0); ++k) t[k] = real("a number");
    words_.expect_end_of_line();
    texture_points_.emplace_back(t[0], t[1]);
    ++textures_.count;
  }

  /// The faces that follow belong to the group named first; without a name to none.
  void read_group() {
    group_ = -1;
    if (words_.left_in_line() == 0) return;
    const std::string group(words_.take("a group").text);
    const auto found = std::find(mesh_.groups.begin(), mesh_.groups.end(), group);
    group_ = static_cast<std::int32_t>(found - mesh_.groups.begin());
    if (found != mesh_.groups.end()) return;
    mesh_.groups.push_back(group);
    mesh_.group.resize(mesh_.face_count(), -1);
  }

  /// Points that are listed in a group belong to it; others have no use on a surface.
  void read_points_of_group() {
    while (words_.left_in_line() > 0) {
      const auto point = static_cast<std::int32_t>(resolve(points_, words_.take("a point")) - 1);
      if (group_ < 0) continue;
      listed_points_ = true;
      mesh_.group_points.resize(mesh_.groups.size());
      mesh_.group_points[static_cast<std::size_t>(group_)].push_back(point);
    }
  }

  void read_numbers(ObjItems& items, std::size_t least, std::size_t most) {
    for (std::size_t k = 0; k < most && (k < least || words_.left_in_line() > 0); ++k) real("a number");
    words_.expect_end_of_line();
    ++items.count;
  }

  void read_face() {
    require_room(name_, mesh_.corners.size(), "corners of faces");
    face_.clear();
    while (face_.size() < 3 || words_.left_in_line() > 0)
      face_.push_back(read_corner(words_.take("a corner of a face")));
    mesh_.add_face(face_);
    if (!mesh_.groups.empty()) mesh_.group.push_back(group_);
  }

  /// point, point/texture, point//normal or point/texture/normal.
  std::int32_t read_corner(const Word& word) {
    std::array<Word, 3> parts;
    std::size_t used = 0, begin = 0;
    for (std::size_t end = 0; end <= word.text.size(); ++end) {
      if (end < word.text.size() && word.text[end] != '/') continue;
      if (used == 3) words_.fail_at(word, "expected point/texture/normal, found {}", in_quotes(word.text));
      parts[used++] = {word.text.substr(begin, end - begin), word.line, word.column + static_cast<std::int64_t>(begin)};
      begin = end + 1;
    }
    const bool textured = used == 2 || (used == 3 && !parts[1].text.empty());
    texture_of_corner_.push_back(textured ? resolve(textures_, parts[1]) : 0);
    if (used == 3) resolve(normals_, parts[2]);
    return static_cast<std::int32_t>(resolve(points_, parts[0]) - 1);
  }

  /// The index counted from 1. Negative ones count back from the latest item; others may name an item still to come.
  std::int64_t resolve(ObjItems& items, const Word& word) {
    const std::int64_t given = words_.integer(word);
    if (given == 0) words_.fail_at(word, "{} are counted from 1, found 0", items.what);
    if (given > most_items) words_.fail_at(word, "the number {} is out of range", in_quotes(word.text));
    if (given < -items.count)
      words_.fail_at(word, "this counts {} {} back, but there are only {} so far", in_quotes(word.text), items.what,
                     items.count);
    const std::int64_t index = given > 0 ? given : items.count + 1 + given;
    if (index > items.largest) {
      items.largest = index;
      items.place = word;
    }
    return index;
  }

  Real real(const char* expected) { return words_.real(words_.take(expected)); }

  const std::string& name_;
  Words words_;
  SurfaceMesh mesh_;
  std::vector<std::int32_t> face_;
  std::int32_t group_ = -1;
  bool listed_points_ = false;
  std::vector<Vec2> texture_points_;
  std::vector<std::int64_t> texture_of_corner_;  ///< Counted from 1; 0: none.
  ObjItems points_{"points", 0, 0, {}}, textures_{"texture coordinates", 0, 0, {}}, normals_{"normals", 0, 0, {}};
};

// --- STL
// --------------------------------------------------------------------------------------------------------------

/// Joins points with exactly equal coordinates.
class Welder {
 public:
  explicit Welder(const std::string& name) : name_(name) {}
  void add_triangle(const std::array<Vec3, 3>& corners) {
    require_room(name_, mesh_.corners.size(), "corners of faces");
    mesh_.add_face({index_of(corners[0]), index_of(corners[1]), index_of(corners[2])});
  }
  SurfaceMesh take() { return std::move(mesh_); }

 private:
  using Key = std::array<std::uint64_t, 3>;
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t hash = 0;
      for (const std::uint64_t word : key) hash = (std::rotl(hash, 23) ^ word) * 0x9E3779B97F4A7C15u;
      return hash ^ (hash >> 32);
    }
  };
  std::int32_t index_of(const Vec3& point) {
    Key key;
    for (int a = 0; a < 3; ++a) key[a] = std::bit_cast<std::uint64_t>(point[a] + 0.0);  // makes -0 and 0 one
    const auto [entry, is_new] = index_.try_emplace(key, static_cast<std::int32_t>(mesh_.points.size()));
    if (is_new) mesh_.points.push_back(point);
    return entry->second;
  }

  const std::string& name_;
  SurfaceMesh mesh_;
  std::unordered_map<Key, std::int32_t, Hash> index_;
};

constexpr std::size_t stl_header = 84, stl_triangle = 50;

/// Triangles that the header of a binary STL announces.
std::uint64_t stl_announced(const std::string& name, std::string_view bytes) {
  return Binary(name, bytes.substr(80), 80, false).take<std::uint32_t>();
}

SurfaceMesh read_binary_stl(const std::string& name, std::string_view bytes) {
  Binary numbers(name, bytes.substr(stl_header), stl_header, false);
  Welder welder(name);
  const auto vector = [&] {
    const float x = numbers.take<float>(), y = numbers.take<float>(), z = numbers.take<float>();
    return Vec3(x, y, z);
  };
  while (numbers.left() > 0) {
    vector();  // the normal; the order of the corners says it better
    const std::array<Vec3, 3> corners = {vector(), vector(), vector()};
    numbers.skip(2);
    welder.add_triangle(corners);
  }
  return welder.take();
}

SurfaceMesh read_text_stl(const std::string& name, std::string_view bytes) {
  Words words(name, bytes);
  Welder welder(name);
  const auto expect = [&](const char* keyword) {
    const Word& word = words.take_from_any_line(keyword);
    if (lower_case(word.text) != keyword) words.fail_at(word, "expected `{}`, found {}", keyword, in_quotes(word.text));
  };
  const auto vector = [&] {
    Vec3 v;
    for (int a = 0; a < 3; ++a) v[a] = words.real(words.take_from_any_line("a number"));
    return v;
  };
  while (words.next_line()) {
    expect("solid");  // a name of any number of words follows
    words.next_line();
    for (;;) {
      const Word& word = words.take_from_any_line("`facet` or `endsolid`");
      if (lower_case(word.text) == "endsolid") break;
      if (lower_case(word.text) != "facet")
        words.fail_at(word, "expected `facet` or `endsolid`, found {}", in_quotes(word.text));
      expect("normal");
      vector();
      expect("outer");
      expect("loop");
      std::array<Vec3, 3> corners;
      for (Vec3& corner : corners) {
        expect("vertex");
        corner = vector();
      }
      expect("endloop");
      expect("endfacet");
      welder.add_triangle(corners);
    }
  }
  return welder.take();
}

SurfaceMesh read_stl(const std::string& name, std::string_view bytes) {
  std::string_view text = bytes;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (!text.empty() && (is_blank(text[0]) || text[0] == '\n')) text.remove_prefix(1);
  const bool says_text = lower_case(text.substr(0, 5)) == "solid";

  SurfaceMesh mesh;
  if (bytes.size() >= stl_header && bytes.size() == stl_header + stl_triangle * stl_announced(name, bytes)) {
    mesh = read_binary_stl(name, bytes);
  } else if (says_text) {
    mesh = read_text_stl(name, bytes);
  } else if (bytes.size() < stl_header) {
    fail(fmt::format("{}: expected an STL file, found {} bytes that do not start with `solid`", name, bytes.size()));
  } else {
    const std::uint64_t announced = stl_announced(name, bytes);
    fail(fmt::format("{}: the header announces {} triangles, which take {} bytes, but the file has {}", name, announced,
                     stl_header + stl_triangle * announced, bytes.size()));
  }
  require_surface(name, mesh);
  return mesh;
}

// --- PLY
// --------------------------------------------------------------------------------------------------------------

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

SurfaceMesh read_mesh(const std::string& name, std::string_view bytes) {
  const std::size_t dot = name.find_last_of('.');
  const std::string ending = dot == std::string::npos ? "" : lower_case(std::string_view(name).substr(dot + 1));
  if (ending == "obj") return ObjReader(name, bytes).read();
  if (ending == "ply") return PlyReader(name, bytes).read();
  if (ending == "stl") return read_stl(name, bytes);
  fail(name + ": the name of a mesh file must end in .obj, .ply or .stl");
}

SurfaceMesh load_mesh(const std::string& path) { return read_mesh(path, read_text(path, ExitCode::geometry)); }

}  // namespace weft
