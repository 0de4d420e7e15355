#pragma once
// Curves, fibers and strands of a deck.

#include "weft/base/kinds.hpp"
#include "weft/base/types.hpp"
#include "weft/deck/carried.hpp"
#include "weft/deck/location.hpp"
#include "weft/deck/shapes.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace weft {

// Curves of fibers; the deck gives exactly one of these keys. See geometry/fiber_patterns.hpp.
struct CurveFileDeck {
  std::string file;
};
struct HairTubeDeck {
  Real inner_radius, outer_radius, length;  ///< [m].
  int strands;
};
struct HairBallDeck {
  Real radius, length;  ///< [m].
  int strands;
};
struct BraidDeck {
  int strands;
  Real width, depth, pitch, length;  ///< [m].
};
struct ShagCarpetDeck {
  Real width, depth, height, gap;  ///< [m].
  Real lean;                       ///< [1].
  std::uint32_t seed;
};
struct WeaveDeck {
  int warp, weft;
  Real gap, amplitude;  ///< [m].
};
struct KnitDeck {
  int stitches, rows;
  Real width, depth;  ///< [m].
  std::string pattern;
};
struct KnitSweaterDeck {
  int body_stitches, sleeve_stitches, underarm;
  int body_rows, sleeve_rows, yoke_rows;
  Real width, depth;  ///< [m].
  Real neck;          ///< [1].
  Real spread;        ///< [rad].
};
// What strands of a groom grow on; the deck gives exactly one of these keys.
struct GroomColliderDeck {
  std::string collider;
};
struct GroomFileDeck {
  std::string file;
};
struct WaveDeck {
  Real amplitude, length;  ///< [m].
  Real spread;             ///< [1].
};
struct CurlDeck {
  Real radius, length;  ///< [m].
  Real spread;          ///< [1].
};
struct GroomDeck {
  std::variant<GroomColliderDeck, GroomFileDeck> surface;
  std::optional<ShapeDeck> where;  ///< Roots.
  int strands;
  Real length;         ///< [m].
  Real length_spread;  ///< [1].
  Real lie;            ///< Against the normal [rad].
  Real lie_spread;     ///< [rad].
  std::optional<Vec3> toward;
  std::optional<Real> droop;  ///< [m].
  Real clearance;             ///< [m].
  std::optional<WaveDeck> wave;
  std::optional<CurlDeck> curl;
  std::uint32_t seed;
  DeckLocation location;
};
struct PliesDeck {
  int count;
  Real radius, twist;  ///< [m].
};

struct CurvesDeck {
  std::variant<CurveFileDeck, HairTubeDeck, HairBallDeck, BraidDeck, ShagCarpetDeck, WeaveDeck, KnitDeck,
               KnitSweaterDeck, GroomDeck>
      form;
  std::optional<PliesDeck> plies;
  std::optional<Real> spacing;  ///< Of vertices along the curves [m].
  Real scale;
  std::optional<RotationDeck> rotate;  ///< About the origin.
  Vec3 translate;
};

struct FiberDeck : CarriedDeck {
  std::string name;
  std::string material;
  CurvesDeck curves;
  Real radius;                          ///< [m].
  std::optional<Real> bending_modulus;  ///< [Pa].
  std::optional<Real> tear_stretch;     ///< [1].
  Vec3 velocity;                        ///< Initial [m/s].
  Vec3 spin;                            ///< [rad/s].
  DeckLocation location;
};

// Sections of strands; the deck gives exactly one of these keys.
struct RoundSectionDeck {
  Real radius;  ///< [m].
};
struct EllipticSectionDeck {
  std::vector<Real> half_axes;  ///< Two [m].
};
/// Round ones, as thick as the curves.
enum class CurveThickness { of_file };
struct FileSectionDeck {
  CurveThickness thickness;
};
/// The shape of a strand without moment: as its curve is made, or straight.
enum class NaturalShape { as_made, straight };
/// How segments turn about themselves in time.
enum class StrandTurns { dynamic, quasi_static };
/// What strands are for one another and all else on the grid: a continuum that yields, or nothing.
enum class StrandResponse { elastoplastic, none };

/// The continuum that strands are on the grid.
struct StrandContactDeck {
  Real youngs_modulus;  ///< [Pa].
  Real poisson_ratio;
  Real friction;  ///< Shear over normal stress of a layer that slides.
  Real packing;   ///< Volume of strands in that of the continuum at rest.
};

/// Strands that begin in a collider move with it.
struct RootsDeck {
  std::string collider;
  Real depth;  ///< First vertices are no farther from the collider [m].
  DeckLocation location;
};

/// How segments of strands that move by themselves meet.
struct ImpulsesDeck {
  Real distance;  ///< [m].
  int iterations;
  Real friction;  ///< [1].
  ImpulseAveraging averaging;
  bool swept;
};

struct StrandDeck : CarriedDeck {
  std::string name;
  std::string material;
  CurvesDeck curves;
  std::variant<RoundSectionDeck, EllipticSectionDeck, FileSectionDeck> section;
  std::optional<Real> taper;  ///< Thickness where a strand ends over that where it begins.
  NaturalShape natural;
  Real twist;  ///< Natural, of the section along the strand [rad/m].
  StrandTurns turns;
  std::optional<RootsDeck> roots;            ///< Else nothing ties their first vertices.
  std::optional<StrandContactDeck> contact;  ///< Else the nodes have no stress of them.
  StrandResponse response;
  std::optional<BlendDeck> blend;
  std::optional<ImpulsesDeck> impulses;  ///< Without, strands pass through one another between nodes.
  std::optional<Real> stretch_limit;     ///< [1].
  Vec3 velocity;                         ///< Initial [m/s].
  Vec3 spin;                             ///< [rad/s].
  DeckLocation location;
};

}  // namespace weft
