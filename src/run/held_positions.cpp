#include "run/held_positions.hpp"

#include "weft/bodies/continuum.hpp"
#include "weft/bodies/mesh_body.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace weft {
namespace {

/// The vertex whose position is held: of a limit point the control vertex with the largest weight; none where weights
/// are those of a slope.
std::optional<std::int32_t> row_of_place(const Grip& grip) {
  Real sum = 0;
  std::size_t heaviest = 0;
  for (std::size_t k = 0; k < grip.rows.size(); ++k) {
    sum += grip.vertices[k].weights[0];
    if (grip.vertices[k].weights[0] > grip.vertices[heaviest].weights[0]) heaviest = k;
  }
  constexpr Real half = 0.5;  // positions have the sum 1, slopes 0
  if (!(sum > half)) return {};
  return grip.rows[heaviest];
}

/// The determinant of three directions that are held is 1 unless some are alike.
bool are_all_axes(const Mat3& directions) {
  constexpr Real least = 0.1;
  return directions.determinant() > least;
}

}  // namespace

std::vector<std::size_t> HeldPositions::holding(Real time) const {
  std::vector<std::size_t> found;
  for (std::size_t h = 0; h < scene_.handles.size(); ++h)
    if (const GridHandle::Hold* const hold = scene_.handles[h].hold();
        scene_.handles[h].body == body_ && hold != nullptr && hold->holds_from(time))
      found.push_back(h);
  return found;
}

IsHeld HeldPositions::of_continuum(std::span<const std::size_t> holding) const {
  std::vector<std::size_t> lists;
  for (const std::size_t h : holding)
    if (scene_.handles[h].hold()->axes.size() == 3) lists.push_back(scene_.handles[h].list);
  if (lists.empty()) return {};
  return [lists, by = std::as_const(*scene_.bodies[body_]).points().get<HandledBy>()](std::uint32_t row) {
    return std::ranges::any_of(lists, [&](std::size_t list) { return is_handled(by[row], list); });
  };
}

/// Sums a a^T over the directions a along which each vertex is held. Grips are on the ranks of their elements.
void HeldPositions::look_at(const MeshBody& mesh) {
  Table along = Table::with<Affine>();
  along.resize(mesh.points().rows());
  const auto directions = along.get<Affine>();
  for (const std::size_t h : holding_)
    for (const Grip& grip : mesh.grips(scene_.handles[h].list))
      if (const auto row = row_of_place(grip)) {
        const Vec3 axis = aim_of(grip).axis;
        directions[static_cast<std::size_t>(*row)] += axis * axis.transpose();
      }
  const ColumnView column = along.column(Affine::label.name);
  mesh.forest().sum_to_owners(column);
  mesh.forest().update_ghosts(column);
  std::vector<Vec3> of_vertices;  // a field that is 1 where a vertex is held
  for (const Mat3& of_vertex : directions) of_vertices.push_back(Vec3::Constant(are_all_axes(of_vertex)));
  std::vector<Vec3> of_samples(mesh.samples().rows());
  mesh.sample(of_vertices, of_samples);
  const auto is_held = [](const Vec3& value) {
    constexpr Real round_off = 1e-9;
    return value.x() > round_off;
  };
  const auto fill = [&](std::span<const Vec3> values, std::vector<bool>& held) {
    held.clear();
    for (const Vec3& value : values) held.push_back(is_held(value));
  };
  fill(of_vertices, vertices_);
  fill(of_samples, samples_);
}

IsHeld HeldPositions::of(const PointSet& set, Real time) {
  std::vector<std::size_t> now = holding(time);
  const MeshBody* const mesh = scene_.bodies[body_]->roles().mesh;
  if (mesh == nullptr) return of_continuum(now);
  if (now.empty()) return {};
  if (now != holding_ || mesh->cut() != cut_) {
    holding_ = std::move(now);
    cut_ = mesh->cut();
    look_at(*mesh);
  }
  const auto ask = [](const std::vector<bool>& held) { return [&held](std::uint32_t row) { return held[row]; }; };
  if (&set.points() == &mesh->samples()) return ask(samples_);
  if (&set != mesh) return {};
  return ask(vertices_);
}

}  // namespace weft
