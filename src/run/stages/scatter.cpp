// Scatter: points to nodes.

#include <algorithm>
#include <utility>

#include "run/stages/followers.hpp"
#include "run/stages/law_clock.hpp"
#include "run/stages/stages.hpp"
#include "weft/bodies/contact_points.hpp"

namespace weft {
namespace {

void scatter_set(StepContext& step, std::size_t s) {
  const VisitedSet& visited = step.sets[s];
  GridLayer& layer = step.layers[visited.layer];
  const PointSet& set = *visited.points;
  const Table& points = set.points();
  const bool with_forces = layer.advance->takes_forces();
  LawClock clock;
  scatter(
      layer.settings.transfer, step.bins[s],
      {points.get<Position>(), visited.is_predicted ? points.get<TentativeVelocity>() : points.get<Velocity>(),
       points.get<Affine>(), points.get<Mass>(), with_forces ? set.forces() : std::span<const Vec3>()},
      [&](ChunkRows rows, const ChunkForces& forces) {
        if (with_forces) clock.measure(rows.size(), [&] { set.respond(rows, forces); });
        else std::fill(forces.A.begin(), forces.A.end(), Mat3::Zero());  // the solve has them
      },
      step.dt(), layer.nodes.get<NodeInertia>(), RowsAhead(visited.points->points()));
  step.timers.move(clock.seconds(), "scatter", "law");
}

/// Implicit steps have contacts in their solve.
bool takes_contacts(const GridLayer& layer) { return layer.contacts.any() && layer.advance->takes_forces(); }

/// The points of a set in some of its bins, side by side.
struct SomePoints {
  Bins bins;
  std::vector<std::uint32_t> rows;  ///< In the set.
  std::vector<Vec3> x;
  std::vector<Mat3> no_gradient;

  SomePoints(const Bins& all, const std::vector<bool>& near, std::span<const Vec3> places)
      : bins(all.near(near)), rows(bins.order().begin(), bins.order().end()), no_gradient(rows.size(), Mat3::Zero()) {
    for (const std::uint32_t row : rows) x.push_back(places[row]);
    bins.rows_were_reordered();
  }
  /// A value for each.
  template <class Of>
  auto map(Of&& of) const {
    std::vector<std::decay_t<decltype(of(0u))>> values;
    for (const std::uint32_t row : rows) values.push_back(of(row));
    return values;
  }
};

/// sum w m v and sum w m of points, and dx sum m G if `with_gradient`: as the impulse of energy derivatives -m.
void scatter_some(StepContext& step, const VisitedSet& set, const SomePoints& points, const std::vector<Vec3>& v,
                  const std::vector<Real>& m, bool with_gradient, NodeField& nodes) {
  scatter(
      step.transfer_of(set), points.bins, {points.x, v, points.no_gradient, m},
      [&](ChunkRows rows, const ChunkForces& forces) {
        for (std::size_t k = 0; k < rows.size(); ++k)
          forces.A[k] = with_gradient ? Mat3(-m[rows[k]] * Mat3::Identity()) : Mat3(Mat3::Zero());
      },
      step.scene.dx, nodes);
}

/// The normals and planes of a surface, weighted by its area.
void scatter_surface(StepContext& step, const VisitedSet& set, const SomePoints& some, const Table& points,
                     Layer& nodes) {
  const auto areas = points.get<SurfaceArea>(), x = points.get<Position>();
  const auto weights = some.map([&](std::uint32_t row) { return areas[row].norm(); });
  const auto add = [&](NodeField& field, auto&& of) {  // of: a vector for a normal and a place
    scatter_some(step, set, some,
                 some.map([&](std::uint32_t row) { return Vec3(of(Vec3(areas[row].stableNormalized()), x[row])); }),
                 weights, false, field);
  };
  add(nodes.get<NodeNormal>(), [](const Vec3& n, const Vec3&) { return n; });
  add(nodes.get<NodeOffset>(), [](const Vec3& n, const Vec3& at) { return n.dot(at) * n; });
  add(nodes.get<NodeFacing>(), [](const Vec3& n, const Vec3&) { return n.cwiseProduct(n); });
  add(nodes.get<NodeFacingAcross>(),
      [](const Vec3& n, const Vec3&) { return Vec3(n.y() * n.z(), n.z() * n.x(), n.x() * n.y()); });
}

/// The normals of a set near blocks that another layer has: the gradient of its mass, or those of its surface.
void scatter_normals(StepContext& step, std::size_t s) {
  const VisitedSet& set = step.sets[s];
  GridLayer& layer = step.layers[set.layer];
  const Table& points = std::as_const(*set.points).points();
  const SomePoints some(step.bins[s], step.layer_contact.is_shared(layer.number), points.get<Position>());
  NodeField& normals = layer.nodes.get<NodeNormal>();
  if (!set.has_surface) {
    const auto mass = points.get<Mass>();
    const std::vector<Vec3> none(some.x.size(), Vec3::Zero());
    scatter_some(step, set, some, none, some.map([&](std::uint32_t row) { return mass[row]; }), true, normals);
  } else {
    scatter_surface(step, set, some, points, layer.nodes);
  }
}

/// What layers have to know of one another at nodes.
void scatter_for_contact(StepContext& step) {
  if (!step.has_layers()) return;
  for (GridLayer& layer : step.layers) {
    layer.nodes.get<NodeNormal>().reset(layer.map.size());
    if (!layer.settings.has_contact_points) continue;
    layer.nodes.get<NodeOffset>().reset(layer.map.size());
    layer.nodes.get<NodeFacing>().reset(layer.map.size());
    layer.nodes.get<NodeFacingAcross>().reset(layer.map.size());
  }
  for (std::size_t s = 0; s < step.sets.size(); ++s) scatter_normals(step, s);
}

}  // namespace

void scatter(StepContext& step) {
  for (GridLayer& layer : step.layers) {
    if (!step.is_due(layer)) continue;
    layer.nodes.reset(layer.map.size());
    layer.contacts.begin(step.dt());
  }
  {
    const auto timing = step.timers.measure("scatter");
    for (std::size_t s = 0; s < step.sets.size(); ++s)
      if (step.is_due(step.layers[step.sets[s].layer])) scatter_set(step, s);
    for (GridLayer& layer : step.layers)
      if (step.is_due(layer) && layer.settings.has_followers && !layer.settings.has_contact_points)
        scatter_followers(step, layer);
    if (step.passes == 0) scatter_for_contact(step);  // surfaces stay where they are in a try
    for (GridLayer& layer : step.layers)
      if (step.is_due(layer) && takes_contacts(layer)) layer.contacts.scatter(ground_of(layer.map, layer.nodes));
  }
  const auto timing = step.timers.measure("exchange");
  for (GridLayer& layer : step.layers) {
    if (!step.is_due(layer)) continue;
    std::vector<ColumnView> fields{layer.nodes.get<NodeInertia>().view()};
    if (takes_contacts(layer)) fields.push_back(layer.nodes.get<NodeContact>().view());
    if (step.passes == 0 && step.has_layers()) fields.push_back(layer.nodes.get<NodeNormal>().view());
    if (step.passes == 0 && layer.settings.has_contact_points) {
      fields.push_back(layer.nodes.get<NodeOffset>().view());
      fields.push_back(layer.nodes.get<NodeFacing>().view());
      fields.push_back(layer.nodes.get<NodeFacingAcross>().view());
    }
    if (layer.settings.has_followers && !layer.settings.has_contact_points)
      fields.push_back(layer.nodes.get<NodeGiven>().view());
    layer.map.forest().sum_to_owners(fields);
    if (!layer.settings.has_followers) continue;
    // Those on a surface are alone on their layer, without forces.
    const bool are_alone = layer.settings.has_contact_points;
    if (are_alone) layer.nodes.get<NodeGiven>().reset(layer.map.size());
    find_velocities(layer.map, are_alone ? layer.nodes.get<NodeInertia>() : layer.nodes.get<NodeGiven>(),
                    layer.nodes.get<NodeGiven>());
  }
}

}  // namespace weft
