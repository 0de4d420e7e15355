#pragma once
// Polylines in space, of which fibers are made: storage, strict readers of OBJ lines, .hair and .bcc, and writers.

#include "weft/base/runs.hpp"
#include "weft/geometry/shape.hpp"

#include <array>
#include <cstdint>
#include <functional>
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

/// One of several parts of a set of curves in their order, so that nobody needs to make or hold all of them.
struct CurvePart {
  int number = 0, of = 1;

  std::int64_t begin(std::int64_t curves) const { return Runs{curves, of}.begin(number); }
  std::int64_t end(std::int64_t curves) const { return Runs{curves, of}.end(number); }
};

/// What is known of all curves of a set where one has some of them alone.
struct CurveNumbers {
  std::int64_t first_curve, first_point, first_segment;  ///< Numbers of the first ones that one has.
  std::int64_t curves, points, segments;                 ///< How many there are.
  Real longest_segment;                                  ///< [m].
  Box bounds;                                            ///< [m].
  /// One has all of them.
  static CurveNumbers of(const Curves& all);
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
/// Thickness at each point that begins with `first` [m] and falls to taper times that, linearly along each curve.
std::vector<Real> tapered(const Curves& curves, Real first, Real taper);

/// The bytes of a file, read in pieces from its start on: read(begin, count) gives count bytes.
struct FileBytes {
  std::string name;  ///< Stands in messages; its ending tells the format.
  std::uint64_t size;
  std::function<std::string(std::uint64_t begin, std::uint64_t count)> read;
};

/// Reads a part of the curves of a file. The part of a .hair or .bcc file is all that is kept in memory of it, though
/// all of it is checked; of text the whole is.
/// - .obj: `l` statements; those that share end points are joined, so that a chain of pairs is one curve. A point where
///   more than two lines meet is refused. Faces and everything else are ignored.
/// - .hair: binary strands of the HAIR format (header of 128 bytes), with thickness if the file has it.
/// - .bcc: binary curve collection (header of 64 bytes) of polylines ("PL") or uniform Catmull-Rom splines ("C0").
/// These
///   pass through their control points, which are taken as the points.
/// Every number is finite, every index names a point, counts agree with the size of the file and nothing is left over;
/// anything else throws Error(geometry) with line and column, or byte.
Curves read_curves(const FileBytes& file, const CurvePart& part = {});

/// OBJ text: points, and an `l` statement for each curve.
std::string obj_text(const Curves& curves);
/// The HAIR format in single precision, without thickness of points. A closed curve ends with the point that it begins
/// with. Throws Error(geometry) for a curve of more than 65535 segments, which the format cannot tell.
std::string hair_bytes(const Curves& curves, Real thickness);
/// A binary curve collection of polylines in single precision; up: the axis that points up.
std::string bcc_bytes(const Curves& curves, int up);

}  // namespace weft
