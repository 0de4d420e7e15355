// A strict reader of STL meshes.

#include "geometry/mesh_formats.hpp"
#include "geometry/words.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace weft {
namespace {

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

}  // namespace

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

}  // namespace weft
