#pragma once
// The log: rank 0 speaks, to the terminal and to log.txt; other ranks keep silent.

#include <optional>
#include <string>

namespace weft {

/// Chooses whether this process speaks at all. Called once at start; silent until then.
void log_to_terminal(bool speaks);
/// Also appends to this file from now on (rank 0 only), beginning with what was said since the start; an empty path
/// closes the file. Throws Error(file_system).
void log_to_file(const std::string& path);
/// Tries again to put lines into the file that could not be; why that does not succeed, or none if they are there.
std::optional<std::string> log_file_trouble();

void log_info(const std::string& text);
void log_warning(const std::string& text);
void log_error(const std::string& text);

/// Rewrites one line in place when the terminal is interactive; otherwise does nothing. The next log line starts fresh.
void log_live_line(const std::string& text);
/// True if log_live_line shows anything.
bool log_is_interactive();

}  // namespace weft
