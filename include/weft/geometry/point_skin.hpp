#pragma once
// The outside of a heap of points: a surface around them, and volumes of them for artists' tools.

#include "weft/geometry/mesh.hpp"

#include <filesystem>
#include <span>

namespace weft {

/// Points that stand for a material, each for a cube of edge `spacing`.
struct PointHeap {
  std::span<const Vec3> points;      ///< [m].
  std::span<const Vec3> velocities;  ///< [m/s]; of all points, or empty.
  Real spacing;                      ///< [m].
};

/// How a skin is laid around points.
struct SkinFineness {
  Real voxel;         ///< [m]; at most 0.8 of the spacing.
  int smoothing = 2;  ///< How often the distances are averaged with their neighbours'.
};

/// The surface half a spacing outside of the outermost points, triangles and quads turned outward; no faces without
/// points. Balls around the points are joined, smoothed, and drawn in again by what they stood out, so that gaps up to
/// 2.6 spacings close. Throws Error(deck) if the voxel is too large.
SurfaceMesh skin_of(const PointHeap& heap, const SkinFineness& fineness);

/// Writes an OpenVDB file of the grids
///   surface   narrow-band level set [m] of the skin,
///   density   share of each voxel that the points fill, about 1 within and 0 outside; voxels of one spacing; its sum
///             times the volume of a voxel is the volume of the points,
///   velocity  [m/s], where there is density; only if the heap has velocities.
/// Throws Error(deck) if the voxel is too large, Error(file_system) if the file cannot be written.
void write_vdb(const std::filesystem::path& file, const PointHeap& heap, const SkinFineness& fineness);

}  // namespace weft
