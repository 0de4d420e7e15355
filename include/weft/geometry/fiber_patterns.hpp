#pragma once
// Curves and sheets made by rule: hair, carpets, braids, woven and knitted yarns, plies, cloth.

#include "weft/geometry/curves.hpp"
#include "weft/geometry/mesh.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace weft {

// All lengths in m. Curves have segments as near to `spacing` as equal division allows. Every maker throws
// Error(geometry) unless counts and lengths are positive, and the points can be numbered and traced in some minutes.
// `points_of` says beforehand about how many points it will make, whatever the counts. Curves do not depend on the part
// that is made.

/// Straight strands along z from 0 to length, spread evenly over the ring between two radii.
struct HairTube {
  Real inner_radius, outer_radius, length;
  int strands;
  Real spacing;
};
Curves hair_tube(const HairTube& tube, const CurvePart& part = {});
Real points_of(const HairTube& tube);

/// Straight strands that stand on a sphere about the origin, spread evenly.
struct HairBall {
  Real radius, length;
  int strands;
  Real spacing;
};
Curves hair_ball(const HairBall& ball, const CurvePart& part = {});
Real points_of(const HairBall& ball);

/// Three or more strands (an odd number) plaited along z; of three, each always crosses over the next.
struct Braid {
  int strands;
  Real width;  ///< Of the braid, across x.
  Real depth;  ///< Of the braid, across y.
  Real pitch;  ///< A strand comes back to its position across z after this length.
  Real length;
  Real spacing;
};
Curves braid(const Braid& braid, const CurvePart& part = {});
Real points_of(const Braid& braid);

/// Pile that stands on the plane z = 0 over [0, width] x [0, depth], one strand in each cell of a grid, leaning at
/// random by up to `lean` (horizontal over vertical). Equal seeds give equal carpets.
struct ShagCarpet {
  Real width, depth, height;
  Real gap;  ///< Between neighbouring strands.
  Real lean;
  std::uint32_t seed;
  Real spacing;
};
Curves shag_carpet(const ShagCarpet& carpet, const CurvePart& part = {});
Real points_of(const ShagCarpet& carpet);

/// Plain weave in the plane z = 0 from the origin: warp yarns along y, then weft yarns along x, over and under in turn.
struct Weave {
  int warp, weft;  ///< Numbers of yarns.
  Real gap;        ///< Between neighbouring yarns.
  Real amplitude;  ///< Yarns pass at +-amplitude; their distance where they cross is about twice that.
  Real spacing;
};
Curves weave(const Weave& weave, const CurvePart& part = {});
Real points_of(const Weave& weave);

/// Knitted fabric in the plane z = 0: each row is a yarn along x whose loops go through those of the row below. With a
/// depth of 0.3 widths, rows keep 0.15 widths apart: room for yarns of that diameter.
struct Knit {
  int stitches, rows;
  Real width;           ///< Of a stitch; rows are 0.9 width apart.
  Real depth;           ///< Loops reach from -depth to depth in z.
  std::string pattern;  ///< Columns in turn, k for knit and p for purl: "k" is stockinette, "kp" and "kkpp" are ribs.
  Real spacing;
};
Curves knit(const Knit& knit, const CurvePart& part = {});
Real points_of(const Knit& knit);

/// A jumper knitted in one piece, upright along z, its hem at z = 0: three tubes of rings, body and two sleeves that
/// hang beside it in x, and above them a yoke whose rings go around all three and narrow towards the neck. Where a
/// sleeve meets the body, `underarm` stitches of each are left out of the yoke. A closed thread binds off the neck.
struct KnitSweater {
  int body_stitches, sleeve_stitches, underarm;  ///< body_stitches is even.
  int body_rows, sleeve_rows, yoke_rows;
  Real width, depth;  ///< Of stitches, as in Knit.
  Real neck;          ///< Width of stitches at the neck over that elsewhere.
  Real spread;        ///< Angle of the sleeves against the body [rad].
  Real spacing;
};
Curves knit_sweater(const KnitSweater& sweater, const CurvePart& part = {});
Real points_of(const KnitSweater& sweater);

/// Each curve replaced by `plies` helices about it that turn once in `twist` of its length; closed curves stay closed
/// (the twist is then rounded). One ply of radius 0 gives the curve.
struct Plies {
  int plies;
  Real radius, twist;
};
Curves plied(const Curves& curves, const Plies& plies);

/// A rectangle of triangles in the plane z = 0 from the origin, across x along squares whose diagonals alternate.
SurfaceMesh cloth_sheet(Real width, Real height, int across, int along);

}  // namespace weft
