#pragma once
// What the deck of a handle means on a body: its selection, and the sites and samples there. The same for steps in time
// and for static analyses.

#include "weft/bodies/handle.hpp"
#include "weft/deck/deck.hpp"
#include "weft/parallel/comm.hpp"

#include <memory>

namespace weft {

class MeshSource;

/// What of a body a handle's deck chooses. Throws Error(deck) if it names a group or vertices that the body
/// does not have.
class HandleSelection {
 public:
  /// voxel_size: of shapes that are meshes [m].
  HandleSelection(const Comm& comm, const HandleDeck& deck, const MeshSource& mesh, Real voxel_size);

  std::vector<Site> vertices(const Sites& sites) const { return vertices_in(sites, selection_); }
  /// Those that a hold keeps. Throws Error(deck) if there are none on any rank, no slope where it keeps one, or if they
  /// are off the plane of symmetry. Collective.
  std::vector<Site> held(const Comm& comm, const Sites& sites, const HoldDeck& hold) const;
  /// Those of some samples. Throws Error(deck) if vertices are chosen.
  std::vector<Sample> inside(const std::vector<Sample>& samples, const char* what) const;
  /// Those of quadrature points of a surface; fibers have none. Throws as `inside`.
  std::vector<Sample> faces(std::vector<Sample> samples) const;
  /// Throws Error(deck) if the body is no shell, whose boundary a moment could turn.
  void require_slope() const;
  /// Throws Error(deck) if there is nothing of what the handle acts on.
  void require_any(std::int64_t count, const char* what) const;

 private:
  void choose_group(const std::string& name, const MeshSource& mesh);
  void require_plane(const Comm& comm, std::span<const Site> sites, const Vec3& normal) const;
  /// Of those that are to keep a slope and have none. Collective.
  void warn_of_lone_vertices(const Comm& comm, std::span<const Site> sites) const;
  void choose_vertices(std::set<std::int32_t> listed, const MeshSource& mesh);

  const HandleDeck& deck_;
  bool has_slope_;
  std::shared_ptr<const Shape> shape_;
  Selection selection_;
};

HandleSettings hold_settings(const HoldDeck& deck);

}  // namespace weft
