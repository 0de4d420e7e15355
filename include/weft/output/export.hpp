#pragma once
// Frames of a run as files for artists' tools: surfaces as OBJ or PLY, volumes as OpenVDB.

#include "weft/geometry/point_skin.hpp"
#include "weft/parallel/comm.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace weft {

enum class ExportFormat { obj, ply, vdb };

struct ExportOptions {
  ExportFormat format = ExportFormat::obj;
  std::filesystem::path folder = {};                     ///< Where the files go; made if need be.
  std::vector<std::string> only = {};                    ///< Names of bodies and colliders; empty: all.
  std::function<Real(const std::string&)> spacing = {};  ///< Of a body's points [m]. May throw Error.
  Real voxels_per_spacing = 2;                           ///< Fineness of surfaces around points.
  int smoothing = 2;                                     ///< See SkinFineness.
};

/// Writes `<folder>/<name>_<frame>.<format>` for every frame in `frames` (of a run's output folder) of bodies made of
/// points and of surfaces; as OpenVDB only the former. Returns how many files were written. The ranks share the frames
/// between them. Throws Error(file_system), Error(deck) if a name in `only` is not there. Collective.
std::int64_t export_frames(const Comm& comm, const std::filesystem::path& frames, const ExportOptions& options);

}  // namespace weft
