#pragma once
// Frames: pictures of a run for ParaView and VisIt. One HDF5 file for each object and frame, which is a VTKHDF
// unstructured grid; an index `<name>.hdf.series` and an XDMF file `<name>.xmf` on the same arrays.

#include "weft/fields/table.hpp"
#include "weft/output/files.hpp"
#include "weft/output/write_mode.hpp"
#include "weft/parallel/comm.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft {

enum class CellKind { vertex, line, triangle, hexahedron, tetrahedron, quadratic_tetrahedron };

/// Corners of a cell: 1, 2, 3, 8, 4, 10 (in the order of VTK).
int corners(CellKind kind);
/// The kind of cells with so many corners.
CellKind cells_with(int corners);

/// Fields of points that are computed while they are written. Several threads ask for rows at once.
struct ComputedFields {
  std::vector<ColumnView> columns;                                  ///< Names and shapes; without rows.
  std::function<Table(std::size_t first, std::size_t count)> rows;  ///< The columns, among others, of so many points.
};

/// This rank's share of the drawn object. Cells name points of this rank unless `shared`; ranks with nothing give empty
/// spans.
struct FrameMesh {
  CellKind kind = CellKind::vertex;
  std::span<const Vec3> points;               ///< [m].
  std::span<const std::int64_t> cells;        ///< corners x number of cells; unused for vertices: each point is one.
  std::span<const ColumnView> point_fields;   ///< Rows: points first; extra rows (ghosts) are not written.
  std::span<const ColumnView> cell_fields{};  ///< Rows: cells first.
  bool shared = false;                        ///< Cells name points of all ranks together, counted rank after rank.
  ComputedFields computed{};                  ///< More fields of points.
};

/// When a frame was taken.
struct FrameMoment {
  std::int64_t frame;
  std::int64_t step;
  Real time;  ///< [s].
};

/// What a frame file says of itself.
struct FrameField {
  std::string name, unit;
  int components;      ///< 1, 3, 6 (a symmetric tensor: xx, yy, zz, xy, yz, xz) or 9 (a tensor, row by row).
  std::string number;  ///< "Float" or "Int".
  int bytes;           ///< Of one number.
};
struct FrameSummary {
  FrameMoment moment;
  CellKind kind;
  std::int64_t points, cells;
  int point_bytes;  ///< Of one coordinate: 4 or 8.
  std::vector<FrameField> point_fields, cell_fields;
};
/// Throws Error(file_system) if the file is not a frame. Not collective.
FrameSummary read_frame_summary(const std::filesystem::path& file);

/// True for the names that frames and their indexes have, finished or not.
bool is_frame_file(const std::string& name);

/// How frames are written.
struct FrameFormat {
  bool double_precision = false;  ///< Reals; otherwise in single precision.
  WriteMode mode{};
};

/// The frames of one object (a body, a collider, the grid) in one folder.
class FrameSeries {
 public:
  /// Takes up the frames that the folder already holds, up to `last_frame`: later ones are deleted and the index is
  /// rebuilt from the files. Without `last_frame` the series starts empty. Throws Error(file_system). Collective.
  FrameSeries(const Comm& comm, const std::filesystem::path& folder, const std::string& name, const FrameFormat& format,
              std::optional<std::int64_t> last_frame = std::nullopt);

  /// Afterwards `<name>_<frame>.hdf` is there and in both indexes. Ids as signed 64-bit. It survives a failing program
  /// from here on, and a failing machine once `flush` returned. Throws Error(file_system), the earlier frames
  /// untouched. Collective.
  void write(const FrameMoment& moment, const FrameMesh& mesh);
  /// Afterwards all frames are on the disk. Throws Error(file_system). Collective.
  void flush();

 private:
  struct Entry {
    std::string file;
    FrameSummary summary;
  };
  void write_index(Flush flush) const;

  const Comm comm_;
  std::filesystem::path folder_;
  std::string name_;
  FrameFormat format_;
  std::vector<Entry> entries_;          ///< On the root only, by frame.
  std::vector<std::string> unflushed_;  ///< Files.
  bool overflowed_ = false;             ///< A number was too large for a frame, and the log says so.
};

/// Bytes of one frame with `points` points, `cells` cells and these fields, within a few per cent.
std::uint64_t frame_bytes(CellKind kind, std::int64_t points, std::int64_t cells,
                          std::span<const ColumnView> point_fields, bool double_precision);

}  // namespace weft
