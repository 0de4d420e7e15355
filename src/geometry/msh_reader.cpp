// Tetrahedra from Gmsh files.

#include "geometry/words.hpp"
#include "weft/base/read_text.hpp"
#include "weft/geometry/tet_mesh.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace weft {
namespace {

/// Kinds of elements as Gmsh numbers them.
struct MshKind {
  int number, dimension, nodes, corners;
};
constexpr std::array<MshKind, 7> kinds{
    {{15, 0, 1, 1}, {1, 1, 2, 2}, {8, 1, 3, 2}, {2, 2, 3, 3}, {9, 2, 6, 3}, {4, 3, 4, 4}, {11, 3, 10, 4}}};
/// Gmsh exchanges the last two nodes of a tetrahedron with 10.
constexpr std::array<int, 10> our_order{0, 1, 2, 3, 4, 5, 6, 7, 9, 8};

using Entity = std::pair<int, std::int64_t>;  ///< Dimension and tag, of entities and of physical groups.

/// A point, line, triangle or tetrahedron with its physical groups.
struct MshElement {
  int dimension;
  std::vector<std::int64_t> nodes;  ///< By their tags; a tetrahedron's in our order, of others the corners.
  std::vector<std::int64_t> groups;
  Word at;
};

class MshReader {
 public:
  MshReader(const std::string& name, std::string_view bytes) : name_(name), words_(name_, bytes) {}

  TetMesh read() {
    require_section("$MeshFormat");
    read_format();
    while (words_.next_line()) {
      const Word section = words_.take("a section");
      if (section.text == "$PhysicalNames") read_names();
      else if (section.text == "$Entities" && version_ == 4) read_entities();
      else if (section.text == "$Nodes") version_ == 4 ? read_blocks_of_nodes() : read_nodes();
      else if (section.text == "$Elements") version_ == 4 ? read_blocks_of_elements() : read_elements();
      else if (section.text.starts_with("$") && !section.text.starts_with("$End")) skip(section);
      else words_.fail_at(section, "expected a section such as $Nodes, found {}", in_quotes(section.text));
    }
    if (points_.empty()) fail(name_ + ": the file ends without points in a section $Nodes");
    return mesh();
  }

 private:
  // Words and numbers.
  const Word& take(const char* what) { return words_.take_from_any_line(what); }
  std::int64_t whole(const char* what) { return words_.integer(take(what)); }
  std::int64_t count(const char* what) {
    const Word word = take(what);
    const std::int64_t number = words_.integer(word);
    if (number < 0 || number > most_items) words_.fail_at(word, "expected {}, found {}", what, in_quotes(word.text));
    return number;
  }
  /// The number of a physical group, negative where an entity is turned round.
  std::int64_t group() {
    const Word word = take("a group");
    const std::int64_t number = words_.integer(word);
    if (number > most_items || number < -most_items)
      words_.fail_at(word, "the number of a group is out of range: {}", in_quotes(word.text));
    return std::abs(number);
  }
  void require_total(const Word& stated, std::size_t found, const char* what) const {
    if (words_.integer(stated) != static_cast<std::int64_t>(found))
      words_.fail_at(stated, "expected {} {}, as many as the blocks have, found {}", found, what,
                     in_quotes(stated.text));
  }
  void require_section(const char* wanted) {
    if (!words_.next_line()) fail(fmt::format("{}: the file is empty", name_));
    const Word& word = words_.take(wanted);
    if (word.text != wanted) words_.fail_at(word, "expected {}, found {}", wanted, in_quotes(word.text));
  }
  void end_section(const char* wanted) {
    const Word& word = take(wanted);
    if (word.text != wanted) words_.fail_at(word, "expected {}, found {}", wanted, in_quotes(word.text));
  }
  void skip(const Word& section) {
    const std::string end = "$End" + std::string(section.text.substr(1));
    while (words_.next_line())
      if (words_.line().front().text == end) {
        words_.take("the end of a section");
        return;
      }
    words_.fail_at(section, "expected {} after {}, found the end of the file", end, in_quotes(section.text));
  }

  void read_format() {
    const Word version = take("the version");
    const Word form = take("0, a text");
    if (version.text != "2.2" && version.text != "4.1")
      words_.fail_at(version, "expected MSH version 2.2 or 4.1, found {}", in_quotes(version.text));
    if (form.text != "0")
      words_.fail_at(form, "expected 0, a file of text, found {}: save the mesh without \"binary\"",
                     in_quotes(form.text));
    version_ = version.text == "4.1" ? 4 : 2;
    take("the size of numbers");
    end_section("$EndMeshFormat");
  }

  void read_names() {
    for (std::int64_t left = count("the number of names"); left > 0; --left) {
      const int dimension = static_cast<int>(whole("the dimension of a group"));
      const std::int64_t tag = whole("the number of a group");
      std::vector<std::string_view> parts;
      do parts.push_back(words_.take("the name of a group").text);
      while (words_.left_in_line() > 0);
      if (parts.front().starts_with('"')) parts.front().remove_prefix(1);
      if (parts.back().ends_with('"')) parts.back().remove_suffix(1);
      names_[{dimension, tag}] = fmt::format("{}", fmt::join(parts, " "));
    }
    end_section("$EndPhysicalNames");
  }

  void read_entities() {
    std::array<std::int64_t, 4> counts{};
    for (std::int64_t& of_dimension : counts) of_dimension = count("a number of entities");
    for (int dimension = 0; dimension < 4; ++dimension)
      for (std::int64_t left = counts[static_cast<std::size_t>(dimension)]; left > 0; --left) {
        const std::int64_t tag = whole("the tag of an entity");
        for (int c = 0; c < (dimension == 0 ? 3 : 6); ++c) words_.real(take("a coordinate"));
        std::vector<std::int64_t>& groups = groups_of_entity_[{dimension, tag}];
        for (std::int64_t k = count("a number of groups"); k > 0; --k) groups.push_back(group());
        if (dimension > 0)
          for (std::int64_t k = count("a number of entities around it"); k > 0; --k) whole("the tag of an entity");
      }
    end_section("$EndEntities");
  }

  void add_point(const Word& at, std::int64_t tag, const Vec3& x) {
    if (!points_.try_emplace(tag, x).second) words_.fail_at(at, "the node {} is there twice", tag);
    require_room(name_, points_.size(), "points");
  }
  Vec3 place() {
    Vec3 x;
    for (Real& c : x) c = words_.real(take("a coordinate"));
    return x;
  }

  void read_nodes() {
    for (std::int64_t left = count("the number of nodes"); left > 0; --left) {
      const Word at = take("the number of a node");
      const std::int64_t tag = words_.integer(at);
      add_point(at, tag, place());
    }
    end_section("$EndNodes");
  }
  void read_blocks_of_nodes() {
    std::int64_t blocks = count("the number of blocks");
    const Word total = take("the number of nodes");
    for (const char* what : {"the least tag", "the largest tag"}) whole(what);
    for (; blocks > 0; --blocks) {
      const std::int64_t dimension = whole("the dimension of an entity");
      whole("the tag of an entity");
      const bool is_parametric = whole("whether nodes have parameters") != 0;
      std::vector<std::pair<Word, std::int64_t>> tags;
      for (std::int64_t left = count("the number of nodes of a block"); left > 0; --left) {
        const Word at = take("the tag of a node");
        tags.emplace_back(at, words_.integer(at));
      }
      for (const auto& [at, tag] : tags) {
        add_point(at, tag, place());
        if (is_parametric)
          for (std::int64_t c = 0; c < dimension; ++c) words_.real(take("a parameter"));
      }
    }
    require_total(total, points_.size(), "nodes");
    end_section("$EndNodes");
  }

  const MshKind& kind() {
    const Word word = take("the kind of an element");
    const std::int64_t number = words_.integer(word);
    const auto found = std::ranges::find(kinds, number, &MshKind::number);
    if (found == kinds.end())
      words_.fail_at(word, "expected tetrahedra (kind 4 or 11) and what bounds them, found elements of kind {}",
                     number);
    return *found;
  }
  void add_element(const MshKind& kind, const Word& at, std::vector<std::int64_t> groups) {
    MshElement element{kind.dimension, {}, std::move(groups), at};
    for (int n = 0; n < kind.nodes; ++n) element.nodes.push_back(whole("a node of the element"));
    if (kind.dimension < 3) {
      element.nodes.resize(static_cast<std::size_t>(kind.corners));
    } else {
      if (nodes_each_ != 0 && nodes_each_ != kind.nodes)
        words_.fail_at(at, "tetrahedra with {} and with {} nodes do not go together: save the mesh with one order",
                       nodes_each_, kind.nodes);
      nodes_each_ = kind.nodes;
      const std::vector<std::int64_t> theirs = element.nodes;
      for (std::size_t n = 0; n < theirs.size(); ++n) element.nodes[n] = theirs[static_cast<std::size_t>(our_order[n])];
    }
    elements_.push_back(std::move(element));
    require_room(name_, elements_.size(), "elements");
  }

  void read_elements() {
    for (std::int64_t left = count("the number of elements"); left > 0; --left) {
      const Word at = take("the number of an element");
      words_.integer(at);
      const MshKind& its = kind();
      std::vector<std::int64_t> tags;
      for (std::int64_t k = count("a number of tags"); k > 0; --k) tags.push_back(group());
      tags.resize(tags.empty() || tags[0] == 0 ? 0 : 1);  // the physical group, then what it was made of
      add_element(its, at, std::move(tags));
    }
    end_section("$EndElements");
  }
  void read_blocks_of_elements() {
    std::int64_t blocks = count("the number of blocks");
    const Word total = take("the number of elements");
    for (const char* what : {"the least tag", "the largest tag"}) whole(what);
    for (; blocks > 0; --blocks) {
      const int dimension = static_cast<int>(whole("the dimension of an entity"));
      const std::int64_t entity = whole("the tag of an entity");
      const MshKind& its = kind();
      const auto groups = groups_of_entity_.find({dimension, entity});
      for (std::int64_t left = count("the number of elements of a block"); left > 0; --left) {
        const Word at = take("the tag of an element");
        words_.integer(at);
        add_element(its, at, groups == groups_of_entity_.end() ? std::vector<std::int64_t>() : groups->second);
      }
    }
    require_total(total, elements_.size(), "elements");
    end_section("$EndElements");
  }

  /// The tetrahedra over the points that they use.
  TetMesh mesh() const {
    if (nodes_each_ == 0) fail(name_ + ": the file holds no tetrahedra (kind 4 or 11). Mesh the volume, too.");
    TetMesh mesh;
    mesh.nodes_each = nodes_each_;
    std::unordered_map<std::int64_t, std::int32_t> number;
    for (const MshElement& element : elements_) {
      if (element.dimension < 3) continue;
      for (const std::int64_t tag : element.nodes) {
        const auto point = points_.find(tag);
        if (point == points_.end()) words_.fail_at(element.at, "the node {} is not in the file", tag);
        const auto [known, is_new] = number.try_emplace(tag, static_cast<std::int32_t>(mesh.points.size()));
        if (is_new) mesh.points.push_back(point->second);
        mesh.nodes.push_back(known->second);
      }
    }
    add_groups(mesh, number);
    return mesh;
  }

  void add_groups(TetMesh& mesh, const std::unordered_map<std::int64_t, std::int32_t>& number) const {
    using Corners = std::array<std::int32_t, 3>;
    std::map<Corners, std::vector<std::int64_t>> faces;
    for (const OuterFace& face : outer_faces(mesh)) {
      Corners corners;
      for (std::size_t c = 0; c < 3; ++c)
        corners[c] = mesh.tet(face.tet)[tet_faces[static_cast<std::size_t>(face.face)][c]];
      std::ranges::sort(corners);
      faces[corners].push_back(mesh.number_of_face(face.tet, face.face));
    }
    const auto name_of = [&](int dimension, std::int64_t group) {
      const auto known = names_.find({dimension, group});
      return known != names_.end() ? known->second : fmt::format("{}", group);
    };
    std::int64_t tet = -1;
    for (const MshElement& element : elements_) {
      if (element.dimension == 3) ++tet;
      for (const std::int64_t group : element.groups) {
        GroupMembers& members = mesh.groups[name_of(element.dimension, group)];
        std::vector<std::int32_t> points;
        for (const std::int64_t tag : element.nodes)
          if (const auto known = number.find(tag); known != number.end()) points.push_back(known->second);
          else if (!points_.contains(tag)) words_.fail_at(element.at, "the node {} is not in the file", tag);
        if (points.size() != element.nodes.size()) continue;  // apart from all tetrahedra
        members.points.insert(points.begin(), points.end());
        if (element.dimension == 3) {
          members.faces.insert(mesh.number_of_tet(tet));
          for (int f = 0; f < 4; ++f) members.faces.insert(mesh.number_of_face(tet, f));
        } else if (element.dimension == 2) {
          Corners corners{points[0], points[1], points[2]};
          std::ranges::sort(corners);
          if (const auto found = faces.find(corners); found != faces.end())
            members.faces.insert(found->second.begin(), found->second.end());
        }
      }
    }
    if (mesh.nodes_each == 10) include_middles(mesh);
  }

  /// Nodes amid edges between points of a group, along its triangles and lines, are in it.
  static void include_middles(TetMesh& mesh) {
    for (auto& [name, members] : mesh.groups)
      for (std::int64_t t = 0; t < mesh.count(); ++t)
        for (std::size_t e = 0; e < tet_edges.size(); ++e)
          if (members.points.contains(mesh.tet(t)[tet_edges[e][0]]) &&
              members.points.contains(mesh.tet(t)[tet_edges[e][1]]))
            members.points.insert(mesh.tet(t)[4 + e]);
  }

  std::string name_;
  Words words_;
  int version_ = 2, nodes_each_ = 0;
  std::map<Entity, std::string> names_;
  std::map<Entity, std::vector<std::int64_t>> groups_of_entity_;
  std::unordered_map<std::int64_t, Vec3> points_;
  std::vector<MshElement> elements_;
};

}  // namespace

TetMesh read_msh(const std::string& name, std::string_view bytes) { return MshReader(name, bytes).read(); }
TetMesh load_msh(const std::string& path) { return read_msh(path, read_text(path, ExitCode::geometry)); }

}  // namespace weft
