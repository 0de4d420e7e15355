#pragma once
// Shells and membranes of a deck.

#include "weft/base/kinds.hpp"
#include "weft/base/types.hpp"
#include "weft/deck/carried.hpp"
#include "weft/deck/location.hpp"
#include "weft/deck/materials.hpp"
#include "weft/deck/shapes.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace weft {

// Control meshes of shells; the deck gives exactly one of these keys.
struct MeshFileDeck {
  std::string file;
};  ///< OBJ or PLY of quads (other polygons are divided); path relative to the deck.
struct RectangleDeck {
  Real width, height;  ///< [m].
};
struct CylinderPatchDeck {
  Real radius, length;  ///< [m].
  Real from, to;        ///< [rad]; degrees in the deck.
};
struct SpherePatchDeck {
  Real radius;                    ///< [m].
  Real west, east, south, north;  ///< [rad]; degrees in the deck.
};
struct AnnulusDeck {
  Real inner, outer;  ///< Radii [m].
  Real from, to;      ///< [rad]; degrees in the deck.
};

struct ControlMeshDeck {
  std::variant<MeshFileDeck, RectangleDeck, CylinderPatchDeck, SpherePatchDeck, AnnulusDeck> form;
  int across, along;                   ///< Faces of generated meshes.
  bool irregular;                      ///< Generated meshes get points where other than four edges meet.
  std::optional<bool> through_points;  ///< The surface passes through the points of a file, as it does without the key;
                                       ///< else they are its control points.
  int divide;                          ///< How often faces of a file are divided in four.
  Real scale;
  std::optional<RotationDeck> rotate;  ///< About the origin.
  Vec3 translate;
};

/// Where laminae lie across the thickness of a shell.
enum class LaminaPlaces { gauss, quarter };

/// Faces of a shell that have a thickness of their own.
struct ShellPartDeck {
  std::optional<ShapeDeck> where;    ///< Middles of the faces.
  std::optional<std::string> group;  ///< Of the mesh file.
  Real thickness;                    ///< [m].
};

struct ShellDeck : CarriedDeck {
  std::string name;
  std::string material;
  ControlMeshDeck mesh;
  Real thickness;                           ///< [m].
  std::vector<ShellPartDeck> parts;         ///< Later ones win.
  std::optional<Vec3> direction;            ///< Of material axis 1, in space at rest; else from the texture.
  LaminaPlaces across;                      ///< Where laminae lie across the thickness.
  int laminae;                              ///< Gauss points across the thickness.
  int in_plane;                             ///< Gauss points of a face in each direction.
  YieldSurface yield;                       ///< Of metal.
  std::optional<SheetContactDeck> contact;  ///< For steps in time.
  int contact_points;                       ///< Of a face in each direction; 0: by domain.dx.
  Vec3 velocity;                            ///< Initial [m/s].
  Vec3 spin;                                ///< Initial angular velocity about the body's centre of mass [rad/s].
  DeckLocation location;
};

/// The surface of a membrane, in triangles.
struct SurfaceDeck {
  std::variant<MeshFileDeck, RectangleDeck, CylinderPatchDeck, SpherePatchDeck, AnnulusDeck> form;
  int across, along;  ///< Divisions of generated surfaces.
  Real scale;
  std::optional<RotationDeck> rotate;  ///< About the origin.
  Vec3 translate;
};

/// Resistance of a sheet against bending.
struct PlateDeck {
  Real youngs_modulus;  ///< [Pa].
  Real poisson_ratio;   ///< [1].
};

struct MembraneDeck : CarriedDeck {
  std::string name;
  std::string material;
  SurfaceDeck mesh;
  Real thickness;            ///< [m].
  std::optional<Vec3> warp;  ///< Direction at rest.
  std::optional<PlateDeck> bending;
  std::optional<Real> tear_stretch;  ///< [1].
  Vec3 velocity;                     ///< Initial [m/s].
  Vec3 spin;                         ///< Initial angular velocity about the body's centre of mass [rad/s].
  DeckLocation location;
};

}  // namespace weft
