#include "scene/tetrahedra.hpp"

#include "scene/placement_of.hpp"
#include "weft/base/check.hpp"
#include "weft/base/log.hpp"
#include "weft/base/overloaded.hpp"
#include "weft/scene/catalogue.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

namespace weft {
namespace {

/// What a linear tetrahedron takes on every rank at least while the scene is built [byte]: each has the whole mesh.
constexpr Real tet_bytes = 400;
/// Of its volume, that the mesh of a shape has at least, and without a word.
constexpr Real least_share_of_shape = 0.5, usual_share_of_shape = 0.9;

/// Warns if tetrahedra fill a shape badly; throws if they miss most of it.
void warn_of_bad_filling(const DeckLocation& location, const TetMesh& mesh, const Shape& shape) {
  if (const int pieces = pieces_of(mesh); pieces > 1)
    log_warning(
        fmt::format("{}: the tetrahedra are {} pieces that do not hang together. Expected: a smaller \"size\", "
                    "no larger than the shape is thick, or a body for each piece.",
                    location.text, pieces));
  const std::optional<Real> whole = shape.volume();
  if (!whole) return;
  const Real share = volume_of(mesh) / *whole;
  const std::string text =
      fmt::format("the tetrahedra fill {:.0f} % of the shape: make \"size\" smaller.", 100 * share);
  require(share > least_share_of_shape, ExitCode::geometry, text);
  if (share < usual_share_of_shape) log_warning(fmt::format("{}: {}", location.text, text));
}

}  // namespace

TetMesh make_tets(const Comm& comm, const TetMeshDeck& of, std::optional<int> order, const DeckLocation& location) {
  const auto require_room = [&](Real tets) {
    budget_of(comm).require_room({"this mesh", tets, "tetrahedra", order == 2 ? 10 * tet_bytes : tet_bytes}, unit_hint);
  };
  TetMesh mesh =
      std::visit(Overloaded{[&](const TetFileDeck& d) {
                              const std::string name = std::filesystem::path(d.file).filename().string();
                              TetMesh read = read_msh(name, load_everywhere(comm, d.file));
                              require(!(order == 1 && read.nodes_each == 10), ExitCode::deck,
                                      fmt::format("{} has tetrahedra with 10 nodes, which are of order 2.", name));
                              require_sound(read, name);
                              require_room(static_cast<Real>(read.count()));
                              return read;
                            },
                            [&](const BlockDeck& d) {
                              const Box box{d.lower, d.upper};
                              Real tets = 6;
                              for (const int cubes : cubes_of_block(box, *of.size)) tets *= cubes;
                              require_room(tets);
                              require_countable("this block", 10 * tets, "nodes of tetrahedra");
                              return block_of_tets(box, *of.size);
                            },
                            [&](const ShapeDeck& d) {
                              const std::shared_ptr<const Shape> shape = make_shape(comm, d, false, *of.size);
                              const Vec3 extent = shape->bounds()->upper - shape->bounds()->lower;
                              require_room(12 * (extent / *of.size).prod());
                              TetMesh filled = tets_of_shape(*shape, *of.size, of.inner_size.value_or(*of.size));
                              warn_of_bad_filling(location, filled, *shape);
                              return filled;
                            }},
                 of.form);
  if (order == 2) mesh = with_middles(std::move(mesh));
  mesh = placed(std::move(mesh), placement_of(of));
  require_sound(mesh, "the mesh at its place");
  return mesh;
}

}  // namespace weft
