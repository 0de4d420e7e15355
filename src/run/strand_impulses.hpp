#pragma once
// Strands that move by themselves meet one another, and their stretch is limited. [docs/theory/strands.md, 15.8, 15.9]

#include "run/own_motion.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/coupling/segment_impulses.hpp"

#include <optional>
#include <vector>

namespace weft {

/// Changes the motions that strands with `impulses` or `stretch_limit` have predicted: limits their stretch, lets their
/// segments meet, limits their stretch again, and stops what still would cross. None of it is state. Scene and motions
/// are not owned.
class StrandImpulses final : public Corrects {
 public:
  StrandImpulses(const Comm& comm, const Scene& scene);

  void add(OwnMotion& motion) { strands_.push_back({&motion, {}}); }
  void correct(Real dt) override;

  /// Of the last step.
  const ImpulseCounts& counts() const { return counts_; }
  Real energy_taken() const { return energy_taken_; }  ///< Kinetic, on all ranks [J].

 private:
  /// A body, and its segments on this rank once it has its piece for good, if their stretch is limited.
  struct Strands {
    OwnMotion* motion;
    std::vector<LimitedSegment> limited;
  };
  /// Vertices of all bodies on this rank, those of the first body first.
  struct Ground {
    std::vector<Vec3> x, v, impulses;
    std::vector<Real> lightness;
    std::vector<std::size_t> first_vertex;  ///< Of each body.

    MeetingVertices vertices() { return {x, lightness, v, impulses}; }
  };

  const MeshBody& body_of(const Strands& strands) const { return *scene_.bodies[strands.motion->body()]->roles().mesh; }
  Ground ground(Real dt) const;
  /// The segments that meet, of all bodies.
  std::vector<MeetingSegment> meeting() const;
  void limit_stretches(Real dt, Ground& ground);
  void meet(Real dt, Ground& ground);

  const Comm comm_;
  const Scene& scene_;
  std::vector<Strands> strands_;
  std::optional<SegmentImpulses> impulses_;  ///< If any strands meet.
  ImpulseCounts counts_;
  Real energy_taken_ = 0;
};

}  // namespace weft
