// History: numbers that are written as the run goes on, one row at a time, as comma-separated text.

#include "weft/output/history.hpp"
#include "weft/base/read_text.hpp"

#include "output/descriptor.hpp"
#include "weft/base/check.hpp"
#include "weft/base/log.hpp"
#include "weft/output/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace weft {

namespace {

std::string header_of(const std::vector<HistoryColumn>& columns) {
  std::string line;
  for (const HistoryColumn& column : columns) {
    if (!line.empty()) line += ',';
    line += column.name;
    if (!column.unit.empty() && column.unit != "1") line += fmt::format(" [{}]", column.unit);
  }
  return line;
}

/// The step that a row of `width` numbers starts with; none if it is torn or holds anything else.
std::optional<std::int64_t> step_of(const std::string& row, std::size_t width) {
  std::int64_t step = 0;
  const char* next = row.data();
  const char* const end = next + row.size();
  for (std::size_t column = 0; column < width; ++column) {
    if (column > 0) {
      if (next == end || *next != ',') return std::nullopt;
      ++next;
    }
    Real number = 0;
    const auto [after, error] = column == 0 ? std::from_chars(next, end, step) : std::from_chars(next, end, number);
    if (error != std::errc()) return std::nullopt;
    next = after;
  }
  return next == end ? std::optional(step) : std::nullopt;
}

/// The text of a history up to and including `last_step`.
std::string cut_back(const std::filesystem::path& file, const std::string& text, const std::string& header,
                     std::size_t width, std::int64_t last_step) {
  std::string kept = header + '\n';
  const std::size_t end_of_header = text.find('\n');
  const std::string found = text.substr(0, end_of_header);
  require(
      found == header, ExitCode::file_system,
      fmt::format("{}: its columns are not those of this run, so the run cannot go on in it. Found \"{}\", expected "
                  "\"{}\". Move the file away, or choose another folder with --output.",
                  file.string(), found, header));
  std::size_t begin = end_of_header == std::string::npos ? text.size() : end_of_header + 1;
  std::int64_t before = -1;
  for (int line = 2; begin < text.size(); ++line) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;  // torn when the program died
    const std::string row = text.substr(begin, end - begin);
    const std::optional<std::int64_t> step = step_of(row, width);
    const bool last = end + 1 == text.size();
    require((step && *step > before) || last, ExitCode::file_system,
            fmt::format("{}:{}: this is not a row of {} numbers that starts with a later step than the row before. "
                        "Repair or delete the row.",
                        file.string(), line, width));
    if (!step || *step <= before)
      log_warning(
          fmt::format("{}:{}: this is not a row of {} numbers that starts with a later step than the row before, "
                      "and is left out.",
                      file.string(), line, width));
    if (!step || *step <= before || *step > last_step) break;
    before = *step;
    kept += row + '\n';
    begin = end + 1;
  }
  return kept;
}

}  // namespace

History::History(const Comm& comm, const std::filesystem::path& file, std::vector<HistoryColumn> columns,
                 std::optional<std::int64_t> resume_step)
    : comm_(comm), file_(file), width_(columns.size()) {
  comm_.agree([&] {
    if (!comm_.is_root()) return;
    const std::string header = header_of(columns);
    std::error_code ignored;
    const bool goes_on = resume_step && std::filesystem::exists(file_, ignored);
    const std::string text = goes_on ? cut_back(file_, read_text(file_), header, width_, *resume_step) : header + '\n';
    write_text_atomically(file_, text);
    end_ = text.size();
  });
}

void History::append(std::span<const Real> row) {
  if (comm_.is_root()) {
    WEFT_ENSURE(row.size() == width_);
    std::string line = fmt::format("{}", static_cast<std::int64_t>(row[0]));
    for (const Real value : row.subspan(1)) line += fmt::format(",{}", value);  // shortest text that reads back equal
    unwritten_ += line + '\n';
  }
  flush();
}

void History::flush() {
  comm_.agree([&] {
    if (!comm_.is_root() || unwritten_.empty()) return;
    // What a failure left of these rows is written over when they are tried again.
    Descriptor out(file_, O_WRONLY | O_NOFOLLOW);
    out.write(unwritten_.data(), unwritten_.size(), end_);
    out.close();
    end_ += unwritten_.size();
    unwritten_.clear();
  });
}

}  // namespace weft
