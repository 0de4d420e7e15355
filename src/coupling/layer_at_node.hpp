#pragma once
// A layer at a node, as far as it does not depend on velocities: which way it faces another one, and how near it is.
// [docs/theory/layers.md]

#include "weft/coupling/layer_contact.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace weft {

/// From 0 at a to 1 at b > a.
inline Real smooth_step(Real a, Real b, Real x) {
  const Real t = std::clamp((x - a) / (b - a), Real(0), Real(1));
  return t * t * (3 - 2 * t);
}

struct LayerAtNode {
  /// Sides of a body are not of one part if they were as far apart at rest [dx].
  static constexpr Real least_apart_at_rest = 1.5;

  Vec3 x{};                     ///< Of the node [m].
  Real dx;                      ///< Grid spacing [m].
  bool has_surface;             ///< It is of contact points,
  bool is_rigid;                ///< of a body that keeps its shape.
  bool is_thin;                 ///< It is of sheets and fibers alone.
  bool has_strength;            ///< It is not of liquids alone.
  Real spread;                  ///< Moment of inertia of the kernel [dx^2]; 0: it depends on the place.
  Real area = 0;                ///< Of a surface, by the kernel [m^2].
  Mat3 facing = Mat3::Zero();   ///< Of a surface: the mean of n n^T.
  Vec3 offset = Vec3::Zero();   ///< Of a surface: the mean of n (n . y), y being from the node to the place [m].
  Vec3 at_rest = Vec3::Zero();  ///< Of a side: where it was at rest [m].
  bool is_side = false;         ///< Of a surface with two sides.
  Vec3 middle = Vec3::Zero();   ///< From the node to the middle of the mass of contact points beside rigid ones, and of
                                ///< thin bodies [m].
  Mat3 variance = Mat3::Zero();  ///< Of the places of thin bodies [m^2].
  Vec3 normal = Vec3::Zero();   ///< The mean of a surface, of length 1 at most; else from the middle of the mass to the
                                ///< node, of which that is spread dx^2 times it behind [1, or 1/m].
  bool has_thin_parts = false;  ///< It is a surface that knows
  Mat3 thickness = Mat3::Zero();  ///< the mean of t n n^T, with the thickness t of the body behind it [m].

  /// Of an owned node that has something of the layer.
  LayerAtNode(const MeetingLayer& layer, int block, int place, Real dx);

  /// How a layer meets another one at the node.
  struct Encounter {
    Vec3 normal;  ///< Unit, towards the other one.
    Vec3 at;      ///< Where they move one another, from the node [m].
    Real gap;     ///< They may close it; negative: they are too near by so much [m].
  };
  /// Whether two sides of a surface are not those of a thin part, or of an edge.
  bool is_elsewhere(const LayerAtNode& b) const;
  /// None: they do not face one another. friction: of the pair.
  std::optional<Encounter> meet(const LayerAtNode& b, Real friction) const;

 private:
  /// The same whatever is behind.
  std::optional<Encounter> encounter(const LayerAtNode& b, Real friction) const;
  /// A surface as if all of it faced a liquid, on the side of thin parts where that is. (16.4c)
  LayerAtNode before(const LayerAtNode& liquid) const;
  Vec3 out_of_extent(const Vec3& y) const;
  Vec3 way_between(const LayerAtNode& b) const;
  /// Whether what is along n is before it.
  bool looks(const Vec3& n) const;
  /// What faces a direction n, as a surface of second degree. Lean and curvature are across n.
  struct Roundness {
    Vec3 lean = Vec3::Zero();       ///< Its mean normal less n.
    Mat3 curvature = Mat3::Zero();  ///< [1/m]; negative: hollow.
    Real depth = 0;                 ///< Of its planes, on the mean, below it [m].
    Real certainty = 0;             ///< 1: it is round; 0: flat, or has edges.
  };
  /// Where two surfaces are parallel, and so nearest to one another.
  struct Nearest {
    Vec3 normal;     ///< Unit.
    Vec3 aside;      ///< From the node, across the normal [m].
    Mat3 curvature;  ///< Of both [1/m].
    Real depth;      ///< Of the planes of both [m].
    Real certainty;  ///< 1: one of them is round.
  };

  /// Unit, towards b; zero: they do not face one another. Of two surfaces of which one deforms the flatter one counts.
  Vec3 normal_to(const LayerAtNode& b) const;
  Vec3 normal_of_faces(const LayerAtNode& b) const;
  Roundness roundness(const Vec3& n) const;
  Nearest nearest_with(const LayerAtNode& b, const Vec3& n) const;
  /// Across the normal, where both have something around the node [m].
  Vec3 shared_with(const LayerAtNode& b, const Vec3& to_b) const;
  /// Two rigid bodies move one another where both are around the node, and nearest to one another.
  std::optional<Encounter> meet_rigid(const LayerAtNode& b) const;
  /// At a place beside the node, across the normal, where surfaces are so much farther apart than their planes.
  std::optional<Real> gap_to(const LayerAtNode& b, const Vec3& to_b, const Vec3& aside, Real farther) const;
  /// How much of a surface faces a direction; 0 where as much is behind, or other faces explain what does.
  Real ahead(const Vec3& n) const;
  /// 1 where what faces along is flat across it.
  Real squareness(const Vec3& along) const;
  /// 1 where both face one another and are flat: on the whole, or of rigid bodies, whose edges keep their shape, by
  /// what faces the other one.
  Real opposition(const LayerAtNode& b, const Vec3& to_b) const;
  /// From the planes of a surface to a place beside the node, along a direction, each by how much it faces that [m];
  /// none: it does not. aside: from the node to the place, across the direction.
  std::optional<Real> distance(const Vec3& along, const Vec3& aside) const;
  /// The part of a plane at a distance, as the node sees it, which a share of the surface fills that faces along.
  Real coverage(const Vec3& along, Real share, Real away_by) const;
  /// Whether the edges of two rigid bodies pass one another beside the node: what is of the one is beside the other.
  bool passes(const LayerAtNode& b, const Vec3& to_b, const Vec3& aside) const;
  /// It is of materials with strength, which have a middle, by its normal, but no surface.
  bool fills_space() const;
  /// From the node [m]; roughly with the linear kernel.
  Vec3 middle_of_mass() const { return -dx * (spread > 0 ? spread : 1.0 / 3) * normal; }
  /// A surface and what fills space.
  std::optional<Encounter> meet_mass(const LayerAtNode& b, Real friction) const;
  /// A liquid comes to a surface from all sides, and meets its mean plane where that is flat.
  Real gap_to_liquid(const LayerAtNode& b) const;
  /// From a plane below the node, n being from there to the mass.
  Real gap_to_mass(const LayerAtNode& b, const Vec3& n, Real height, Real friction) const;
  /// n: towards b; none: the surface does not face it.
  std::optional<Real> gap_to_thin(const LayerAtNode& b, const Vec3& n) const;
  /// Middle and variance of thin bodies, from the moments of their mass.
  void find_extent(const Layer& nodes, int block, int place);
  /// Across an axis [dx^2].
  Real variance_of_kernel() const { return spread > 0 ? spread : 1.0 / 6; }
};

/// A mean of v v^T, from its diagonal, and from v_y v_z, v_z v_x and v_x v_y.
Mat3 symmetric_of(const Vec3& squares, const Vec3& products);

/// How wholly a surface has two sides, 0 to 1, and the direction that most of the near one faces. facing, normal: its
/// mean n n^T and n.
std::pair<Real, Vec3> two_sides(const Mat3& facing, const Vec3& normal);

}  // namespace weft
