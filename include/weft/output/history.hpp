#pragma once
// History: numbers that are written as the run goes on, one row at a time, as comma-separated text.

#include "weft/parallel/comm.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft {

struct HistoryColumn {
  std::string name;
  std::string unit;  ///< Shown in brackets after the name, unless empty or "1".
};

/// A file like diagnostics.csv. Its first column is the step.
class History {
 public:
  /// Starts the file anew with its header; or, given `resume_step`, keeps the rows up to that step and cuts off later
  /// ones and a torn last line. Throws Error(file_system), also if the columns of the file are not these. Collective.
  History(const Comm& comm, const std::filesystem::path& file, std::vector<HistoryColumn> columns,
          std::optional<std::int64_t> resume_step = std::nullopt);

  /// Afterwards the row is in the file, also if the program dies. Values count on the root only: one for each column,
  /// the step first. Throws Error(file_system); then the row is kept, and written with the next. Collective.
  void append(std::span<const Real> row);
  /// Writes the rows that could not be written when they were appended. Throws Error(file_system). Collective.
  void flush();

 private:
  const Comm comm_;
  std::filesystem::path file_;
  std::size_t width_;
  std::uint64_t end_ = 0;  ///< Of the rows that are in the file [byte]; on the root.
  std::string unwritten_;  ///< Rows that are not; on the root.
};

}  // namespace weft
