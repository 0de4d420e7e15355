// Tetrahedra from Gmsh files.

#include "geometry/words.hpp"
#include "weft/geometry/tet_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
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

/// The numbers of a Gmsh file: words of text, or bytes between lines of text.
class MshNumbers {
 public:
  struct Number {
    std::int64_t value;
    Word at;  ///< Of bytes: line 0, and the number of the first as its column.
  };

  MshNumbers(const std::string& name, std::string_view bytes) : name_(name), words_(name_, bytes) {}

  Words& words() { return words_; }
  bool are_bytes() const { return are_bytes_; }
  /// Sections that follow have bytes.
  void become_bytes() { are_bytes_ = true; }

  /// The bytes of a section begin after this line. Nothing for text.
  void begin_bytes() {
    if (are_bytes_) bytes_.emplace(name_, words_.rest(), words_.offset(), false);
  }
  /// The line that ends a section.
  void end_section(const char* wanted) {
    if (bytes_) words_.skip(bytes_->place() - words_.offset());
    bytes_.reset();
    const Word word = words_.take_from_any_line(wanted);
    if (word.text != wanted) fail_at(word, "expected {}, found {}", wanted, in_quotes(word.text));
  }

  /// A whole number; as bytes it has four, or eight if it is `Long`.
  template <class T = std::int32_t>
  Number whole(const char* what) {
    if (!bytes_) {
      const Word word = words_.take_from_any_line(what);
      return {words_.integer(word), word};
    }
    const Word at{{}, 0, static_cast<std::int64_t>(bytes_->place())};
    return {static_cast<std::int64_t>(bytes_->take<T>()), at};
  }
  Real real(const char* what) {
    if (bytes_) return bytes_->take<Real>();
    return words_.real(words_.take_from_any_line(what));
  }

  template <class... Args>
  [[noreturn]] void fail_at(const Word& at, fmt::format_string<Args...> format, Args&&... args) const {
    if (!are_bytes_) words_.fail_at(at, format, std::forward<Args>(args)...);
    const std::size_t byte = at.line == 0 ? static_cast<std::size_t>(at.column) : words_.offset_of(at);
    fail(fmt::format("{}: byte {}: ", name_, byte) + fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  std::string name_;
  Words words_;
  bool are_bytes_ = false;
  std::optional<Binary> bytes_;  ///< Within a section.
};
using Long = std::uint64_t;

/// A point, line, triangle or tetrahedron with its physical groups.
struct MshElement {
  int dimension;
  std::vector<std::int64_t> nodes;  ///< By their tags; a tetrahedron's in our order, of others the corners.
  std::vector<std::int64_t> groups;
  Word at;
};

struct MshPoint {
  Vec3 x;
  std::int32_t place;  ///< In the order of the file.
};

class MshReader {
 public:
  MshReader(const std::string& name, std::string_view bytes) : name_(name), numbers_(name, bytes) {}

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
      else numbers_.fail_at(section, "expected a section such as $Nodes, found {}", in_quotes(section.text));
    }
    if (points_.empty()) fail(name_ + ": the file ends without points in a section $Nodes");
    return mesh();
  }

 private:
  // Words and numbers.
  using Number = MshNumbers::Number;
  template <class T = std::int32_t>
  std::int64_t whole(const char* what) {
    return numbers_.whole<T>(what).value;
  }
  std::int64_t counted(const Number& number, const char* what) const {
    if (number.value < 0 || number.value > most_items)
      numbers_.fail_at(number.at, "expected {}, found {}", what, number.value);
    return number.value;
  }
  template <class T = std::int32_t>
  std::int64_t count(const char* what) {
    return counted(numbers_.whole<T>(what), what);
  }
  /// The number of a physical group, negative where an entity is turned round.
  std::int64_t group() {
    const Number number = numbers_.whole("a group");
    if (number.value > most_items || number.value < -most_items)
      numbers_.fail_at(number.at, "the number of a group is out of range: {}", number.value);
    return std::abs(number.value);
  }
  void require_total(const Number& stated, std::size_t found, const char* what) const {
    if (stated.value != static_cast<std::int64_t>(found))
      numbers_.fail_at(stated.at, "expected {} {}, as many as the blocks have, found {}", found, what, stated.value);
  }
  void require_section(const char* wanted) {
    if (!words_.next_line()) fail(fmt::format("{}: the file is empty", name_));
    const Word& word = words_.take(wanted);
    if (word.text != wanted) numbers_.fail_at(word, "expected {}, found {}", wanted, in_quotes(word.text));
  }
  void skip(const Word& section) {
    const std::string end = "$End" + std::string(section.text.substr(1));
    if (numbers_.are_bytes()) {
      const std::size_t at = words_.rest().find(end);
      if (at != std::string_view::npos) return words_.skip(at + end.size());
    } else {
      while (words_.next_line())
        if (words_.line().front().text == end) {
          words_.take("the end of a section");
          return;
        }
    }
    numbers_.fail_at(section, "expected {} after {}, found the end of the file", end, in_quotes(section.text));
  }

  void read_format() {
    const Word version = words_.take_from_any_line("the version"), form = words_.take_from_any_line("0 or 1"),
               size = words_.take_from_any_line("the size of numbers");
    if (version.text != "2.2" && version.text != "4.1")
      numbers_.fail_at(version, "expected MSH version 2.2 or 4.1, found {}", in_quotes(version.text));
    if (form.text != "0" && form.text != "1")
      numbers_.fail_at(form, "expected 0, a file of text, or 1, of bytes, found {}", in_quotes(form.text));
    version_ = version.text == "4.1" ? 4 : 2;
    if (form.text == "1") {
      if (size.text != "8") numbers_.fail_at(size, "expected numbers of 8 bytes, found {}", in_quotes(size.text));
      numbers_.become_bytes();
      numbers_.begin_bytes();
      const Number one = numbers_.whole("the number 1");
      if (one.value != 1)
        numbers_.fail_at(one.at, "expected the number 1, found {}: the bytes stand in another order", one.value);
    }
    numbers_.end_section("$EndMeshFormat");
  }

  void read_names() {
    for (std::int64_t left = count("the number of names"); left > 0; --left) {
      const int dimension = static_cast<int>(whole("the dimension of a group"));
      const std::int64_t tag = whole("the number of a group");
      const char* begin = words_.take("the name of a group").text.data();
      const std::string_view last = words_.line().back().text;
      std::string_view name(begin, static_cast<std::size_t>(last.data() + last.size() - begin));
      while (words_.left_in_line() > 0) words_.take("the name of a group");
      if (name.starts_with('"')) name.remove_prefix(1);
      if (name.ends_with('"')) name.remove_suffix(1);
      names_[{dimension, tag}] = name;
    }
    numbers_.end_section("$EndPhysicalNames");
  }

  void read_entities() {
    numbers_.begin_bytes();
    std::array<std::int64_t, 4> counts{};
    for (std::int64_t& of_dimension : counts) of_dimension = count<Long>("a number of entities");
    for (int dimension = 0; dimension < 4; ++dimension)
      for (std::int64_t left = counts[static_cast<std::size_t>(dimension)]; left > 0; --left) {
        const std::int64_t tag = whole("the tag of an entity");
        for (int c = 0; c < (dimension == 0 ? 3 : 6); ++c) numbers_.real("a coordinate");
        std::vector<std::int64_t>& groups = groups_of_entity_[{dimension, tag}];
        for (std::int64_t k = count<Long>("a number of groups"); k > 0; --k) groups.push_back(group());
        if (dimension > 0)
          for (std::int64_t k = count<Long>("a number of entities around it"); k > 0; --k)
            whole("the tag of an entity");
      }
    numbers_.end_section("$EndEntities");
  }

  void add_point(const Number& tag, const Vec3& x) {
    const auto place = static_cast<std::int32_t>(points_.size());
    if (!points_.try_emplace(tag.value, MshPoint{x, place}).second)
      numbers_.fail_at(tag.at, "the node {} is there twice", tag.value);
    require_room(name_, points_.size(), "points");
  }
  Vec3 place() {
    Vec3 x;
    for (Real& c : x) c = numbers_.real("a coordinate");
    return x;
  }

  void read_nodes() {
    std::int64_t left = count("the number of nodes");
    numbers_.begin_bytes();
    for (; left > 0; --left) {
      const Number tag = numbers_.whole("the number of a node");
      add_point(tag, place());
    }
    numbers_.end_section("$EndNodes");
  }
  void read_blocks_of_nodes() {
    numbers_.begin_bytes();
    std::int64_t blocks = count<Long>("the number of blocks");
    const Number total = numbers_.whole<Long>("the number of nodes");
    for (const char* what : {"the least tag", "the largest tag"}) whole<Long>(what);
    for (; blocks > 0; --blocks) {
      const std::int64_t dimension = count("the dimension of an entity");
      whole("the tag of an entity");
      const bool is_parametric = whole("whether nodes have parameters") != 0;
      std::vector<Number> tags;
      for (std::int64_t left = count<Long>("the number of nodes of a block"); left > 0; --left)
        tags.push_back(numbers_.whole<Long>("the tag of a node"));
      for (const Number& tag : tags) {
        add_point(tag, place());
        if (is_parametric)
          for (std::int64_t c = 0; c < dimension; ++c) numbers_.real("a parameter");
      }
    }
    require_total(total, points_.size(), "nodes");
    numbers_.end_section("$EndNodes");
  }

  const MshKind& kind() {
    const Number number = numbers_.whole("the kind of an element");
    const auto found = std::ranges::find(kinds, number.value, &MshKind::number);
    if (found == kinds.end())
      numbers_.fail_at(number.at, "expected tetrahedra (kind 4 or 11) and what bounds them, found elements of kind {}",
                       number.value);
    return *found;
  }
  /// T: what nodes are as bytes.
  template <class T>
  void add_element(const MshKind& kind, const Word& at, std::vector<std::int64_t> groups) {
    MshElement element{kind.dimension, {}, std::move(groups), at};
    for (int n = 0; n < kind.nodes; ++n) element.nodes.push_back(whole<T>("a node of the element"));
    if (kind.dimension < 3) {
      element.nodes.resize(static_cast<std::size_t>(kind.corners));
    } else {
      if (nodes_each_ != 0 && nodes_each_ != kind.nodes)
        numbers_.fail_at(at, "tetrahedra with {} and with {} nodes do not go together: save the mesh with one order",
                         nodes_each_, kind.nodes);
      nodes_each_ = kind.nodes;
      const std::vector<std::int64_t> theirs = element.nodes;
      for (std::size_t n = 0; n < theirs.size(); ++n) element.nodes[n] = theirs[static_cast<std::size_t>(our_order[n])];
    }
    elements_.push_back(std::move(element));
    require_room(name_, elements_.size(), "elements");
  }

  /// Bytes come in runs of elements of one kind, with the number of their tags.
  void read_elements() {
    std::int64_t left = count("the number of elements");
    numbers_.begin_bytes();
    while (left > 0) {
      const MshKind* its = nullptr;
      std::int64_t run = 1, number_of_tags = 0;
      if (numbers_.are_bytes()) {
        its = &kind();
        const Number stated = numbers_.whole("the number of elements of this kind");
        if (stated.value < 1 || stated.value > left)
          numbers_.fail_at(stated.at, "expected 1 to {} elements of this kind, found {}", left, stated.value);
        run = stated.value;
        number_of_tags = count("a number of tags");
      }
      for (left -= run; run > 0; --run) {
        const Word at = numbers_.whole("the number of an element").at;
        if (!numbers_.are_bytes()) {
          its = &kind();
          number_of_tags = count("a number of tags");
        }
        std::vector<std::int64_t> tags;
        for (std::int64_t k = number_of_tags; k > 0; --k) tags.push_back(group());
        tags.resize(tags.empty() || tags[0] == 0 ? 0 : 1);  // the physical group, then what it was made of
        add_element<std::int32_t>(*its, at, std::move(tags));
      }
    }
    numbers_.end_section("$EndElements");
    join_groups();
  }
  void read_blocks_of_elements() {
    numbers_.begin_bytes();
    std::int64_t blocks = count<Long>("the number of blocks");
    const Number total = numbers_.whole<Long>("the number of elements");
    for (const char* what : {"the least tag", "the largest tag"}) whole<Long>(what);
    for (; blocks > 0; --blocks) {
      const int dimension = static_cast<int>(whole("the dimension of an entity"));
      const std::int64_t entity = whole("the tag of an entity");
      const MshKind& its = kind();
      const auto groups = groups_of_entity_.find({dimension, entity});
      for (std::int64_t left = count<Long>("the number of elements of a block"); left > 0; --left) {
        const Word at = numbers_.whole<Long>("the tag of an element").at;
        add_element<Long>(its, at, groups == groups_of_entity_.end() ? std::vector<std::int64_t>() : groups->second);
      }
    }
    require_total(total, elements_.size(), "elements");
    numbers_.end_section("$EndElements");
  }

  /// MSH 2.2 lists an element once for each of its groups: the first one has them all, and the others go.
  void join_groups() {
    std::vector<std::size_t> order;
    for (std::size_t e = 0; e < elements_.size(); ++e)
      if (elements_[e].dimension == 3 && !elements_[e].groups.empty()) order.push_back(e);
    std::ranges::stable_sort(order, {}, [this](std::size_t e) -> const auto& { return elements_[e].nodes; });
    std::vector<bool> goes(elements_.size(), false);
    for (std::size_t k = 0, first = 0; k < order.size(); ++k) {
      MshElement &kept = elements_[order[first]], &other = elements_[order[k]];
      if (k == first) continue;
      if (kept.nodes != other.nodes) first = k;
      else if (std::ranges::find(kept.groups, other.groups[0]) == kept.groups.end()) {
        kept.groups.push_back(other.groups[0]);
        goes[order[k]] = true;
      }
    }
    std::size_t e = 0;
    std::erase_if(elements_, [&](const MshElement&) { return goes[e++]; });
  }

  /// The tetrahedra over the points that they use.
  TetMesh mesh() const {
    if (nodes_each_ == 0) fail(name_ + ": the file holds no tetrahedra (kind 4 or 11). Mesh the volume, too.");
    TetMesh mesh;
    mesh.nodes_each = nodes_each_;
    mesh.given.emplace();
    std::unordered_map<std::int64_t, std::int32_t> number;
    for (const MshElement& element : elements_) {
      if (element.dimension < 3) continue;
      for (const std::int64_t tag : element.nodes) {
        const auto point = points_.find(tag);
        if (point == points_.end()) numbers_.fail_at(element.at, "the node {} is not in the file", tag);
        const auto [known, is_new] = number.try_emplace(tag, static_cast<std::int32_t>(mesh.points.size()));
        if (is_new) {
          mesh.points.push_back(point->second.x);
          mesh.given->add(std::array{point->second.place});
        }
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
          else if (!points_.contains(tag)) numbers_.fail_at(element.at, "the node {} is not in the file", tag);
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
  MshNumbers numbers_;
  Words& words_ = numbers_.words();
  int version_ = 2, nodes_each_ = 0;
  std::map<Entity, std::string> names_;
  std::map<Entity, std::vector<std::int64_t>> groups_of_entity_;
  std::unordered_map<std::int64_t, MshPoint> points_;
  std::vector<MshElement> elements_;
};

}  // namespace

TetMesh read_msh(const std::string& name, std::string_view bytes) { return MshReader(name, bytes).read(); }

}  // namespace weft
