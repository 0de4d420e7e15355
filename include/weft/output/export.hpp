#pragma once
// Frames of a run as files for artists' tools: surfaces as OBJ or PLY, curves as OBJ, HAIR or BCC, volumes as
// OpenVDB.

#include "weft/geometry/control_mesh.hpp"
#include "weft/geometry/mesh.hpp"
#include "weft/geometry/point_skin.hpp"
#include "weft/parallel/comm.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace weft {

enum class ExportFormat { obj, ply, vdb, hair, bcc };

/// A sheet or collider as its file has it, from which the points and faces of its frames are numbered, or the control
/// mesh of a shell.
using FormAtRest = std::variant<SurfaceMesh, ControlMesh>;

struct ExportOptions {
  ExportFormat format = ExportFormat::obj;
  std::filesystem::path folder = {};   ///< Where the files go; made if need be.
  std::vector<std::string> only = {};  ///< Names of bodies and colliders; empty: all.
  /// Of a body's points [m]; none of points that are no material, which have no surface.
  std::function<std::optional<Real>(const std::string&)> spacing = {};
  /// A body or collider at rest in whose form its frames are written; none for others. May throw Error.
  std::function<std::optional<FormAtRest>(const std::string&)> rest = {};
  Real voxels_per_spacing = 2;                             ///< Fineness of surfaces around points.
  int smoothing = 2;                                       ///< See SkinFineness.
  std::function<Real(const std::string&)> thickness = {};  ///< Of a body's curves [m]. May throw Error.
  int up = 2;                                              ///< The axis against gravity.
};

/// Writes `<folder>/<name>_<frame>.<format>` for every frame in `frames` (of a run's output folder) of bodies made of
/// points, of surfaces and of curves; as OpenVDB only the first, as HAIR and BCC only the last. A sheet keeps the
/// points, polygons, texture coordinates and groups of its mesh, all frames alike; what has torn is left out. So does a
/// collider. A shell is written as DrawnLimit. Curves keep their order. PLY has velocities, if the frame does. Returns
/// how many files were written. The ranks share the frames between them. Throws Error(file_system), Error(deck) if a
/// name in `only` is not there. Collective.
std::int64_t export_frames(const Comm& comm, const std::filesystem::path& frames, const ExportOptions& options);

}  // namespace weft
