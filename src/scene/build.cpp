#include "weft/scene/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "weft/bodies/mesh_body.hpp"
#include "weft/geometry/sampling.hpp"
#include "weft/scene/catalogue.hpp"
#include "weft/scene/handle_parts.hpp"

namespace weft {
namespace {

/// Nodes lighter than this fraction of the lightest point's share are held back with the linear kernel, whose forces on
/// nearly empty nodes have no bound (docs/theory/step.md, 4).
constexpr Real light_fraction = 0.01;

const std::string& name_of(const BodyDeck& body) {
  return std::visit([](const auto& b) -> const std::string& { return b.name; }, body);
}

template <class List, class Name>
std::size_t position_of(const List& list, const std::string& name, Name&& name_of_entry) {
  const auto it =
      std::find_if(list.begin(), list.end(), [&](const auto& entry) { return name_of_entry(entry) == name; });
  WEFT_ENSURE(it != list.end());  // the deck's cross checks have seen to that
  return static_cast<std::size_t>(it - list.begin());
}

const MaterialDeck& material_of(const Deck& deck, const std::string& name) {
  return deck.materials[position_of(deck.materials, name, [](const MaterialDeck& m) { return m.name; })];
}

/// Throws Error(geometry) if the points of a shape that is filled, one in each `point_volume`, cannot fit. Collective.
void require_room(const Comm& comm, const std::string& what, Table& points, const Shape& shape, Real point_volume) {
  std::size_t row_bytes = 0;
  for (const ColumnView& column : points.columns()) row_bytes += column.row_bytes;
  budget_of(comm).require_room(
      {what, shape.volume().value_or(0) / point_volume, "particles", static_cast<Real>(row_bytes) / comm.size()},
      unit_hint);
}

BodySource make_source(const Comm& comm, const Deck& deck, Scene& scene, std::size_t number) {
  const SourceDeck& source = deck.sources[number];
  const std::size_t body = position_of(deck.bodies, source.body, name_of);
  const ContinuumDeck& receiver = std::get<ContinuumDeck>(deck.bodies[body]);
  const Real spacing = deck.domain.dx / std::cbrt(Real(receiver.particles_per_cell));
  // Streams of sources lie beyond those of bodies.
  const auto stream = static_cast<std::uint32_t>(deck.bodies.size() + number);
  const auto shape = make_shape(comm, source.shape, false, deck.domain.dx);
  // Everything that the lattice of points passes while the source is open.
  const Real open = std::max(0.0, std::min(source.until, deck.time.end) - source.from);
  Box passed = *shape->bounds();
  for (const Vec3& corner : {passed.lower, passed.upper}) {
    passed.include(corner + open * source.velocity);
    passed.include(corner - open * source.velocity);
  }
  cells_covering(passed, spacing);
  require_room(comm, fmt::format("{}: source {}", source.place.text, source.name), scene.bodies[body]->points(), *shape,
               std::pow(spacing, 3));
  return {source.name, body, Source(shape, {source.velocity, source.from, spacing, receiver.seed, stream}), source.from,
          source.until};
}

/// Builds one handle: what it does, and its grips on this rank's first share of the body.
class HandleBuilder {
 public:
  HandleBuilder(const Comm& comm, const Deck& deck, Scene& scene, const HandleDeck& handle)
      : comm_(comm),
        scene_deck_(deck),
        deck_(handle),
        result_{handle.name, position_of(deck.bodies, handle.body, name_of), 0, {}} {
    body_ = dynamic_cast<MeshBody*>(scene.bodies[result_.body].get());
    require(body_ != nullptr, ExitCode::deck,
            fmt::format("{}: body {} has no mesh; handles take hold of meshes.", handle.place.text, handle.body));
    share_ = body_->first_share(comm);
    part_.emplace(comm, handle, body_->control_mesh(), body_->rest_places().size(), deck.domain.dx);
  }

  GridHandle build() && {
    std::visit([this](const auto& action) { take(action); }, deck_.action);
    result_.list = body_->watch(comm_, std::move(grips_));
    return std::move(result_);
  }

 private:
  void take(const HoldDeck& deck) {
    const HandleSettings settings = hold_settings(deck);
    std::vector<Site> sites = part_->held(comm_, body_->sites(share_), deck);
    std::erase_if(sites, [&](const Site& site) { return !share_.has(site.element); });
    for (const HeldSum& sum : held_sums(sites, settings, body_->rest_places())) grips_.push_back(grip_of(sum));
    result_.action = GridHandle::Hold{settings.motion, deck.until};
  }
  void take(const ForceDeck& deck) {
    const std::vector<Site> sites = part_->vertices(body_->sites(share_));
    const std::int64_t count = comm_.sum(static_cast<std::int64_t>(sites.size()));
    part_->require_any(count, "vertex");
    for (const Site& site : sites)
      add(site.element, site.place.rows, site.place.weights, deck.total / static_cast<Real>(count));
    keep(deck.amplitude);
  }
  void take(const EdgeForceDeck& deck) {
    for (const Sample& s : sides()) add(s.face, s.rows, s.value, s.measure * deck.per_length);
    keep(deck.amplitude);
  }
  void take(const TractionDeck& deck) {
    for (const Sample& s : surface()) add(s.face, s.rows, s.value, s.measure * deck.per_area);
    keep(deck.amplitude);
  }
  void take(const GravityDeck& deck) {
    for (const Sample& s : some(part_->inside(body_->surface_samples(share_), "element"), "element"))
      add(s.face, s.rows, s.value, s.mass * deck.acceleration);
    keep(deck.amplitude);
  }
  void take(const PressureDeck& deck) { follow(Follower::pressure, deck.value, surface(), deck.amplitude); }
  void take(const EdgeMomentDeck& deck) {
    part_->require_slope();
    follow(Follower::edge_moment, deck.per_length, sides(), deck.amplitude);
  }

  /// Those of this rank that the handle acts on; throws if there are none on any rank.
  std::vector<Sample> surface() const { return some(part_->faces(body_->surface_samples(share_)), "face"); }
  std::vector<Sample> sides() const {
    return some(part_->inside(body_->side_samples(share_), "boundary edge"), "boundary edge");
  }
  std::vector<Sample> some(std::vector<Sample> samples, const char* what) const {
    part_->require_any(comm_.sum(static_cast<std::int64_t>(samples.size())), what);
    return samples;
  }
  void add(std::int64_t element, std::span<const std::int32_t> vertices, std::span<const Real> weights,
           const Vec3& force) {
    for (std::size_t k = 0; k < vertices.size(); ++k)
      forces_.try_emplace(vertices[k], element, Vec3::Zero()).first->second.second += weights[k] * force;
  }
  Amplitude amplitude(const std::vector<AmplitudeKeyDeck>& keys) const {
    return make_amplitude(keys, scene_deck_.time.end);
  }
  void keep(const std::vector<AmplitudeKeyDeck>& keys) {
    for (const auto& [vertex, at] : forces_) grips_.push_back(grip_of(at.first, vertex, at.second));
    result_.action = GridHandle::Dead{amplitude(keys)};
  }
  void follow(Follower kind, Real magnitude, const std::vector<Sample>& samples,
              const std::vector<AmplitudeKeyDeck>& keys) {
    for (const Sample& sample : samples)
      grips_.push_back(grip_of(sample, follower_measure(kind, sample, body_->rest_places())));
    result_.action = GridHandle::Following{kind, magnitude, amplitude(keys)};
  }

  const Comm& comm_;
  const Deck& scene_deck_;
  const HandleDeck& deck_;
  GridHandle result_;
  MeshBody* body_;
  ElementRange share_{0, 0};
  std::optional<ChosenPart> part_;
  std::vector<Grip> grips_;
  std::map<std::int32_t, std::pair<std::int64_t, Vec3>> forces_;  ///< Of each vertex, with an element that has it.
};

}  // namespace

Scene build_scene(const Comm& comm, const Deck& deck) {
  Scene scene;
  scene.deck = deck;
  scene.transfer = {deck.transfer.kernel, deck.domain.dx, deck.transfer.rpic_damping};
  if (deck.domain.bounds) scene.bounds = Box{deck.domain.bounds->lower, deck.domain.bounds->upper};
  for (const BodyDeck& body : deck.bodies) {
    const auto& material = std::visit([](const auto& b) -> const std::string& { return b.material; }, body);
    scene.bodies.push_back(make_body(comm, body, material_of(deck, material), deck.domain.dx));
  }
  scene.first_free_id.assign(scene.bodies.size(), 0);
  for (std::size_t s = 0; s < deck.sources.size(); ++s) scene.sources.push_back(make_source(comm, deck, scene, s));
  for (const ColliderDeck& collider : deck.colliders)
    scene.walls.push_back({collider.name,
                           MovingShape(make_shape(comm, collider.shape, collider.hollow, deck.domain.dx),
                                       collider.motion ? make_motion(*collider.motion) : RigidMotion()),
                           collider.condition, collider.friction});

  for (const HandleDeck& handle : deck.handles)
    scene.handles.push_back(HandleBuilder(comm, deck, scene, handle).build());
  scene.step = step_settings(deck, scene.bodies, scene.walls);
  return scene;
}

namespace {

void fill_body(const Comm& comm, Scene& scene, std::size_t b, const ContinuumDeck& deck) {
  if (!deck.shape) return;  // only a source feeds it
  const auto shape = make_shape(comm, *deck.shape, false, scene.deck.domain.dx);
  Body& body = *scene.bodies[b];
  Table& points = body.points();
  require_room(comm, fmt::format("{}: body {}", deck.place.text, deck.name), points, *shape,
               std::pow(scene.deck.domain.dx, 3) / deck.particles_per_cell);
  comm.agree([&] {
    const CellSampler sampler(
        {deck.sampling, scene.deck.domain.dx, deck.particles_per_cell, deck.seed, static_cast<std::uint32_t>(b)});
    const CellRange range = cells_covering(*shape->bounds(), scene.deck.domain.dx);
    const std::int64_t begin = range.count() * comm.rank() / comm.size();
    const std::int64_t end = range.count() * (comm.rank() + 1) / comm.size();
    const Samples samples = sample_shape(sampler, *shape, range, begin, end);
    points.resize(samples.positions.size());
    std::copy(samples.positions.begin(), samples.positions.end(), points.get<Position>().begin());
    std::copy(samples.ids.begin(), samples.ids.end(), points.get<Id>().begin());
    body.rest(0, sampler.point_volume());
    scene.first_free_id[b] = id_end(sampler, range);
  });

  Vec3 center = Vec3::Zero();
  for (const Vec3& x : points.get<Position>()) center += x;
  comm.sum(std::span(center.data(), 3));
  const std::int64_t count = comm.sum(static_cast<std::int64_t>(points.rows()));
  require(
      count > 0, ExitCode::geometry,
      fmt::format("{}: body {} gets no particles: its shape is thinner than the spacing of particles. Use a smaller "
                  "domain.dx or a larger shape.",
                  deck.place.text, deck.name));
  center /= static_cast<Real>(count);

  const Mat3 spin = spin_matrix(deck.spin);
  for (std::size_t p = 0; p < points.rows(); ++p) {
    points.get<Velocity>()[p] = deck.velocity + spin * (points.get<Position>()[p] - center);
    points.get<Affine>()[p] = spin;
  }
}

template <class MeshDeck>
void fill_body(const Comm& comm, Scene& scene, std::size_t b, const MeshDeck& deck) {
  dynamic_cast<MeshBody&>(*scene.bodies[b]).fill(comm, deck.velocity, spin_matrix(deck.spin));
}

}  // namespace

void fill_bodies(const Comm& comm, Scene& scene) {
  for (std::size_t b = 0; b < scene.bodies.size(); ++b)
    std::visit([&](const auto& deck) { fill_body(comm, scene, b, deck); }, scene.deck.bodies[b]);
  find_light_mass(comm, scene);
}

void find_light_mass(const Comm& comm, Scene& scene) {
  const Deck& deck = scene.deck;
  if (deck.transfer.kernel != KernelKind::linear) return;
  Real lightest = std::numeric_limits<Real>::infinity();
  for (std::size_t b = 0; b < deck.bodies.size(); ++b) {
    if (const auto* body = std::get_if<ContinuumDeck>(&deck.bodies[b])) {
      const Real volume = std::pow(deck.domain.dx, 3) / body->particles_per_cell;
      lightest = std::min(lightest, material_of(deck, body->material).density * volume);
    } else {
      const Table& samples = dynamic_cast<const MeshBody&>(*scene.bodies[b]).samples();
      for (const Real mass : samples.get<Mass>()) lightest = std::min(lightest, mass);
    }
  }
  scene.light_mass = light_fraction * comm.min(lightest);
}

}  // namespace weft
