#pragma once
// Frames of a scene for pictures.

#include "run/step.hpp"
#include "weft/output/frame.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// The frames of one folder: a series for each object.
class Frames {
 public:
  /// Series start empty, or with the frames up to `last_frame` that the folder holds.
  Frames(const Comm& comm, std::filesystem::path folder, const FrameFormat& format,
         std::optional<std::int64_t> last_frame = std::nullopt)
      : comm_(comm), folder_(std::move(folder)), format_(format), last_frame_(last_frame) {}

  /// The series of an object; its earlier frames are taken up, or deleted, when it is first asked for. Collective.
  FrameSeries& of(const std::string& name) {
    const auto it = series_.find(name);
    if (it != series_.end()) return it->second;
    return series_.try_emplace(name, comm_, folder_, name, format_, last_frame_).first->second;
  }
  /// Afterwards all frames are on the disk. Throws Error(file_system). Collective.
  void flush() {
    for (auto& [name, series] : series_) series.flush();
  }

 private:
  Comm comm_;
  std::filesystem::path folder_;
  FrameFormat format_;
  std::optional<std::int64_t> last_frame_;
  std::map<std::string, FrameSeries> series_;
};

/// Columns that say who the points of a table are.
std::vector<ColumnView> identity_of(Table& points);
/// Cells over rows, ghosts among them, become cells over the owned points of all ranks. Collective.
void share_points(const Comm& comm, Picture& picture);

/// From rest, of what is drawn of a body with freedoms of its own.
struct Displacement : Field<Vec3> {
  static constexpr Label label{"displacement", "m", Keep::shown};
};
/// A row for each point of a picture of such a body, or for each row of the body if cells are over rows.
Table displacements_of(const Body& body, const Picture& picture, bool is_of_rows);

class Recorder {
 public:
  /// Starts new frames in the folder `output`, or, if `resumed`, takes up those that state left off. Collective.
  Recorder(const Comm& comm, const std::filesystem::path& output, const Scene& scene, const RunState& state,
           bool resumed);

  /// Writes frame state.next_frame of every body, the colliders and, if asked for, the grid. Collective.
  void write_frame(const Scene& scene, const RunState& state, const Stepper& stepper);
  /// Afterwards all frames are on the disk. Throws Error(file_system). Collective.
  void flush() { frames_.flush(); }
  /// Writes a frame of every body with the field `suspect` into the folder `crash`, numbered by the step; what an
  /// earlier crash left there goes. Collective.
  void write_crash(const Scene& scene, const RunState& state, const Suspicions& suspicions) const;

 private:
  void draw_body(Body& body, const Scene& scene, const FrameMoment& moment);
  void draw_contact_points(const Body& body, Table& points, const FrameMoment& moment);
  void draw_grid(const Scene& scene, const Stepper& stepper, const FrameMoment& moment);

  Comm comm_;
  std::filesystem::path crash_folder_;
  FrameFormat format_;
  Frames frames_;
  Box view_;  ///< Pictures of unbounded colliders end here.
};

/// Bytes of one frame of the whole scene. Collective.
std::uint64_t scene_frame_bytes(const Comm& comm, const Scene& scene);

}  // namespace weft
