#include "weft/scene/static_scene.hpp"

#include "weft/bodies/follower_load.hpp"
#include "weft/scene/catalogue.hpp"
#include "weft/scene/handle_parts.hpp"
#include "weft/scene/shells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace weft {
namespace {

/// Of directions, and of places over the size of the scene.
constexpr Real round_off = 1e-9;

template <class List>
std::size_t position_of(const List& list, const std::string& name) {
  std::size_t i = 0;
  while (list[i].name != name) WEFT_ENSURE(++i < list.size());  // the deck's cross checks have seen to that
  return i;
}

std::size_t body_named(const StaticScene& scene, const std::string& name) {
  std::size_t b = 0;
  while (scene.bodies[b]->name() != name) ++b;
  return b;
}

Watched watch(const Comm& comm, const StaticScene& scene, std::size_t body, std::span<const Site> vertices) {
  Watched watched{body, {}, static_cast<std::int64_t>(vertices.size())};
  for (Site& site : sites_of_rank(comm, vertices, scene.bodies[body]->row_of_point()))
    watched.stencils.push_back(std::move(site.place));
  return watched;
}

/// Builds the handles of a scene one after another.
class HandleBuilder {
 public:
  HandleBuilder(const Comm& comm, StaticScene& scene) : comm_(comm), scene_(scene) {}

  void add(const HandleDeck& deck) {
    handle_ = {};
    handle_.name = deck.name;
    place_ = deck.place.text;
    handle_.body = body_named(scene_, deck.body);
    part_.emplace(comm_, deck, body().control_mesh(), body().rest().size(), voxel_size_for(body().rest()));
    handle_.part = watch(comm_, scene_, handle_.body, part_->vertices(body().sites()));
    std::visit([this](const auto& action) { build(action); }, deck.action);
    scene_.handles.push_back(std::move(handle_));
  }

 private:
  const StaticBody& body() const { return *scene_.bodies[handle_.body]; }
  std::span<const Vec3> places() const { return body().points().get<Position>(); }

  Amplitude amplitude(const std::vector<AmplitudeKeyDeck>& keys) const {
    return make_amplitude(keys, scene_.deck.time.end);
  }

  /// Those that the handle acts on; throws if there are none on any rank.
  std::vector<Sample> elements() const { return some(part_->inside(body().surface(), "element"), "element"); }
  std::vector<Sample> faces() const { return some(part_->faces(body().surface()), "face"); }
  std::vector<Sample> sides() const { return some(part_->inside(body().sides(), "boundary edge"), "boundary edge"); }
  std::vector<Sample> some(std::vector<Sample> samples, const char* what) const {
    part_->require_any(comm_.sum(static_cast<std::int64_t>(samples.size())), what);
    return samples;
  }

  /// A dead load of a vector per measure of each sample, or per mass.
  void spread(const std::vector<Sample>& samples, const Vec3& density, Real Sample::* measure,
              const std::vector<AmplitudeKeyDeck>& keys) {
    std::vector<Vec3> forces(scene_.freedoms->rows(handle_.body), Vec3::Zero());
    for (const Sample& sample : samples)
      for (std::size_t k = 0; k < sample.rows.size(); ++k)
        forces[sample.rows[k]] += sample.value[k] * sample.*measure * density;
    keep(std::make_unique<DeadLoad>(handle_.body, std::move(forces), amplitude(keys)));
  }

  void keep(std::unique_ptr<Term> load) {
    handle_.load = load.get();
    scene_.terms.push_back(std::move(load));
  }

  void build(const HoldDeck& deck) {
    const auto here = sites_of_rank(comm_, part_->held(comm_, body().sites(), deck), body().row_of_point());
    handle_.number = scene_.holds.size();
    scene_.holds.push_back(
        std::make_unique<Handle>(*scene_.freedoms, handle_.body, here, hold_settings(deck), places()));
    handle_.hold = scene_.holds.back().get();
    comm_.agree([&] { require_agreement(here, hold_settings(deck)); });
  }
  void build(const ForceDeck& deck) {
    part_->require_any(handle_.part.count, "vertex");
    std::vector<Vec3> forces(scene_.freedoms->rows(handle_.body), Vec3::Zero());
    for (const Stencil& stencil : handle_.part.stencils)
      for (std::size_t k = 0; k < stencil.rows.size(); ++k)
        forces[stencil.rows[k]] += stencil.weights[k] / static_cast<Real>(handle_.part.count) * deck.total;
    keep(std::make_unique<DeadLoad>(handle_.body, std::move(forces), amplitude(deck.amplitude)));
  }
  void build(const EdgeForceDeck& deck) { spread(sides(), deck.per_length, &Sample::measure, deck.amplitude); }
  void build(const TractionDeck& deck) { spread(faces(), deck.per_area, &Sample::measure, deck.amplitude); }
  void build(const GravityDeck& deck) { spread(elements(), deck.acceleration, &Sample::mass, deck.amplitude); }
  void build(const PressureDeck& deck) {
    keep(std::make_unique<FollowerLoad>(Follower::pressure, deck.value, amplitude(deck.amplitude), handle_.body,
                                        faces(), places()));
  }
  void build(const EdgeMomentDeck& deck) {
    part_->require_slope();
    keep(std::make_unique<FollowerLoad>(Follower::edge_moment, deck.per_length, amplitude(deck.amplitude), handle_.body,
                                        sides(), places()));
  }

  /// Throws Error(deck) if a hold before leads a place elsewhere, in the same direction.
  void require_agreement(std::span<const Site> sites, const HandleSettings& settings) {
    for (const Site& site : sites)
      for (HeldSum& sum : held_sums(std::span(&site, 1), settings, places())) {
        if (sum.total == 0) continue;  // a slope
        std::vector<Led>& of_point = led_[{handle_.body, site.point}];
        for (const Led& other : of_point)
          for (const Real time : {scene_.deck.time.end / scene_.deck.loading.steps, scene_.deck.time.end}) {
            const RigidState here = settings.motion.at(time), there = other.motion.at(time);
            const Vec3 axis = here.rotation * sum.axis;
            const bool is_same = (sum.rest - other.aim.rest).norm() <= round_off * scene_.size &&
                                 std::abs(axis.dot(there.rotation * other.aim.axis)) > 1 - round_off;
            const Real gap = std::abs(axis.dot(sum.goal(here) - other.aim.goal(there)));
            require(!is_same || gap <= round_off * scene_.size, ExitCode::deck,
                    fmt::format("{}: handles {} and {} hold the same vertex of body {} and lead it to places {:.3g} m "
                                "apart at {:.3g} s. Let one of them hold other axes, or less of the body.",
                                place_, other.name, handle_.name, body().name(), gap, time));
          }
        of_point.push_back({handle_.name, settings.motion, sum});
      }
  }

  /// What a hold leads.
  struct Led {
    std::string name;
    RigidMotion motion;
    HeldAim aim;
  };

  const Comm& comm_;
  StaticScene& scene_;
  StaticHandle handle_;
  std::string place_;  ///< In the deck.
  std::optional<ChosenPart> part_;
  std::map<std::pair<std::size_t, std::int32_t>, std::vector<Led>> led_;  ///< By body and control point.
};

StaticProbe make_probe(const Comm& comm, const StaticScene& scene, const ProbeDeck& deck) {
  const auto* nearest = std::get_if<NearestProbe>(&deck.measure);
  const std::string field = nearest ? nearest->field : "";
  const std::string component = field.size() > 2 ? field.substr(0, field.size() - 2) : "";
  const int axis = field.empty() ? -1 : field.back() - 'x';
  require((component == "displacement" || component == "position") && axis >= 0 && axis < 3 &&
              field[field.size() - 2] == '_',
          ExitCode::deck,
          fmt::format("{}: a static analysis knows probes of the kind nearest with field displacement_x, _y, _z or "
                      "position_x, _y, _z.",
                      deck.place.text));
  const std::size_t body = body_named(scene, deck.body);
  const auto& vertices = scene.bodies[body]->sites().vertices;
  const Site closest = *std::min_element(vertices.begin(), vertices.end(), [&](const Site& a, const Site& b) {
    return (a.where - nearest->point).squaredNorm() < (b.where - nearest->point).squaredNorm();
  });
  return {deck.name, "m", watch(comm, scene, body, std::span(&closest, 1)), axis, component == "displacement"};
}

}  // namespace

std::unique_ptr<StaticScene> build_static_scene(const Comm& comm, const Deck& deck) {
  auto scene = std::make_unique<StaticScene>();
  scene->deck = deck;
  std::vector<FreedomBlock> blocks;
  Box box;
  for (const BodyDeck& entry : deck.bodies) {
    const auto& material = std::visit([](const auto& b) -> const std::string& { return b.material; }, entry);
    scene->bodies.push_back(
        make_static_body(comm, entry, deck.materials[position_of(deck.materials, material)], deck.domain.dx));
    const StaticBody& body = *scene->bodies.back();
    blocks.push_back({body.name(), 3, &body.forest()});
    for (const Vec3& x : body.rest()) box.include(x);
  }
  scene->size = (box.upper - box.lower).norm();
  scene->freedoms = std::make_unique<Freedoms>(std::move(blocks));
  for (std::size_t b = 0; b < scene->bodies.size(); ++b) scene->terms.push_back(scene->bodies[b]->term(b));
  scene->elastic_terms = scene->terms.size();
  for (std::size_t b = 0; b < scene->bodies.size() && !deck.domain.gravity.isZero(0); ++b) {
    std::vector<Vec3> weight(scene->freedoms->rows(b), Vec3::Zero());
    for (const Sample& sample : scene->bodies[b]->surface())
      for (std::size_t k = 0; k < sample.rows.size(); ++k)
        weight[sample.rows[k]] += sample.value[k] * sample.mass * deck.domain.gravity;
    scene->terms.push_back(std::make_unique<DeadLoad>(b, std::move(weight), Amplitude{{{0, 1}}}));
  }
  HandleBuilder builder(comm, *scene);
  for (const HandleDeck& handle : deck.handles) builder.add(handle);
  for (const ProbeDeck& probe : deck.probes) scene->probes.push_back(make_probe(comm, *scene, probe));
  return scene;
}

Vec3 mean_over(const Comm& comm, const Watched& watched, std::span<const Vec3> values) {
  Vec3 sum = Vec3::Zero();
  for (const Stencil& stencil : watched.stencils) sum += stencil.of(values);
  comm.sum(std::span(sum.data(), 3));
  return sum / static_cast<Real>(std::max<std::int64_t>(watched.count, 1));
}

}  // namespace weft
