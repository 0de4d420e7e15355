#pragma once
// Polylines in space, of which fibers are made: storage, strict readers of OBJ lines, .hair and .bcc, and a writer.

#include "weft/geometry/shape.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Curves of straight segments.
struct Curves {
  std::vector<Vec3> points;                 ///< [m].
  std::vector<std::int64_t> offsets = {0};  ///< Curve c has points [offsets[c], offsets[c + 1]), two at least.
  std::vector<bool> closed;                 ///< Of each curve: a last segment joins its last point to its first.
  std::vector<Real> thickness;              ///< Diameter at each point, in the unit of the file; empty if unknown.

  std::int64_t count() const { return static_cast<std::int64_t>(closed.size()); }
  std::span<const Vec3> curve(std::int64_t c) const {
    return {points.data() + offsets[c], static_cast<std::size_t>(offsets[c + 1] - offsets[c])};
  }
  void add(std::span<const Vec3> curve, bool is_closed = false);
  /// Adds all curves of another set. Thickness is kept only if both have it or this one was empty.
  void append(const Curves& other);
};

/// The segments of all curves as pairs of points, in order.
std::vector<std::array<std::int32_t, 2>> segments_of(const Curves& curves);
/// The points of each curve in order; a closed one ends with the point that it starts with.
std::vector<std::vector<std::int32_t>> chains_of(const Curves& curves);

Curves placed(Curves curves, const Placement& placement);
Box bounds_of(const Curves& curves);
/// [m], of all curves together.
Real length_of(const Curves& curves);
/// Every curve divided anew into equal steps along itself, as near to `spacing` [m] as a whole number of them allows;
/// ends stay. Thickness is interpolated.
Curves resampled(const Curves& curves, Real spacing);

/// Reads curves from the contents of a file; the ending of `name` tells the format, and `name` stands in messages.
/// - .obj: `l` statements; those that share end points are joined, so that a chain of pairs is one curve. A point where
///   more than two lines meet is refused. Faces and everything else are ignored.
/// - .hair: binary strands of the HAIR format (header of 128 bytes), with thickness if the file has it.
/// - .bcc: binary curve collection (header of 64 bytes) of polylines ("PL") or uniform Catmull-Rom splines ("C0"),
/// which
///   pass through their control points: these are taken as the points.
/// Every number is finite, every index names a point, counts agree with the size of the file and nothing is left over;
/// anything else throws Error(geometry) with line and column or byte of the place.
Curves read_curves(const std::string& name, std::string_view bytes);
/// Reads curves from a file. Throws Error(geometry) if the file cannot be read.
Curves load_curves(const std::string& path);

/// OBJ text of points and lines, with all digits; read_curves gives the same curves back (without thickness).
std::string obj_of(const Curves& curves);

}  // namespace weft
