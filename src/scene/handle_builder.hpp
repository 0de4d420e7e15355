#pragma once
// From the handles of a deck to those of a scene: what each does, and its grips on a rank's first share of its body.

#include "scene/handle_selection.hpp"
#include "scene/hold_agreement.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/scene/scene.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace weft {

class HandleBuilder {
 public:
  /// A scene with bodies and meshes, which outlives this.
  HandleBuilder(const Comm& comm, Scene& scene) : comm_(comm), scene_(scene), agreement_(scene.deck, scene.size) {}

  /// Throws Error(deck) if the handle takes hold of nothing. Collective.
  void add(const HandleDeck& deck);
  /// Clamps the strands whose first vertices lie in a wall, or near enough, to its motion. Throws Error(geometry) if
  /// none do. Collective.
  void add_roots(const StrandDeck& deck, const Wall& wall);

 private:
  void begin(const HandleDeck& deck);
  void finish(std::span<const Site> vertices);
  void hold(const std::vector<Site>& sites, const HandleSettings& settings, Real until);
  void require_free_end(const Site& site);
  void take(const HoldDeck& deck);
  void take(const ForceDeck& deck);
  void take(const EdgeForceDeck& deck);
  void take(const TractionDeck& deck);
  void take(const GravityDeck& deck);
  void take(const PressureDeck& deck) { follow(Follower::pressure, deck.value, surface(), deck.amplitude); }
  void take(const EdgeMomentDeck& deck);

  /// Those of this rank that the handle acts on; throws if there are none on any rank.
  std::vector<Sample> surface();
  std::vector<Sample> sides();
  std::vector<Sample> some(std::vector<Sample> samples, const char* what) const;
  void add_force(std::int64_t element, std::span<const std::int32_t> vertices, std::span<const Real> weights,
                 const Vec3& force);
  void add_force(const Sample& sample, const Vec3& force);
  void keep_forces(const std::vector<AmplitudeKeyDeck>& keys);
  void follow(Follower kind, Real magnitude, const std::vector<Sample>& samples,
              const std::vector<AmplitudeKeyDeck>& keys);

  const Comm& comm_;
  Scene& scene_;
  HoldAgreement agreement_;
  /// The handle that clamps an end of a strand: by body, segment, and whether it is the last vertex.
  std::map<std::tuple<std::size_t, std::int64_t, bool>, std::string> clamped_;
  // Of the handle at hand.
  const HandleDeck* deck_ = nullptr;
  const MeshSource* mesh_ = nullptr;
  ElementRange share_{0, 0};
  std::optional<HandleSelection> selection_;
  GridHandle handle_;
  ExtentSum extent_;
  std::vector<Grip> grips_;
  std::map<std::int32_t, std::pair<std::int64_t, Vec3>> forces_;  ///< Of each vertex, with an element that has it.
};

/// Lets a body keep track of some of its vertices, of this rank's first share. Collective.
Watched watch_sites(const Comm& comm, MeshBody& body, std::span<const Site> sites);

/// The number of a body; the deck's cross checks have seen to it that there is one of this name.
std::size_t body_named(const Scene& scene, const std::string& name);

}  // namespace weft
