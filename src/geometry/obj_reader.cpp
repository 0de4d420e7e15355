// A strict reader of OBJ meshes.

#include "geometry/mesh_formats.hpp"
#include "geometry/words.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {
namespace {

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

}  // namespace

SurfaceMesh read_obj(const std::string& name, std::string_view bytes) { return ObjReader(name, bytes).read(); }

}  // namespace weft
