#pragma once
// What the faces of a shell on one rank are at rest: themselves, and the faces around them, which shape their limit.

#include "weft/bodies/mesh_piece.hpp"
#include "weft/bodies/shell.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

struct ShellCage {
  struct Face {
    std::int64_t number;                 ///< In the whole mesh.
    std::array<std::int32_t, 4> points;  ///< Their numbers there; a triangle has the first three.
    std::array<Vec3, 4> places;
    int sides;

    std::span<const std::int32_t> corners() const { return std::span(points).first(static_cast<std::size_t>(sides)); }
  };
  /// What a face of material has besides.
  struct Material {
    std::int64_t number;
    Real thickness;  ///< [m].
    bool has_texture;
    std::array<Vec2, 4> texture;
  };
  std::vector<Material> material;  ///< Of this rank, by number.
  std::vector<Face> faces;         ///< Those around it, itself among them, by number.
  /// Control points of faces that follow others, which are points of these faces too.
  struct Led {
    std::int32_t point;
    LedPoint follows;
  };
  std::vector<Led> led_points;  ///< By number of the point.

  std::vector<std::int64_t> numbers() const;
  /// The control points of all faces that are free, ascending.
  std::vector<std::int32_t> points() const;
  /// As a shell by itself: the rows of a piece are its free points, its material is that of the piece in its order.
  /// like: has all that is not of the mesh.
  ShellDescription as_shell(const ShellDescription& like, const MeshPiece& piece) const;
};

/// Of some material faces, ascending.
ShellCage cage_of(const ShellDescription& shell, std::span<const std::int64_t> faces);

/// Sends each material face of a cage with what is around it to a rank. Collective.
ShellCage send_cage(const Comm& comm, const ShellCage& cage, std::span<const int> to);

}  // namespace weft
