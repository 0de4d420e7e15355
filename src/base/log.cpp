#include "weft/base/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "weft/base/error.hpp"
#include "weft/base/open_file.hpp"

namespace weft {
namespace {

struct Sinks {
  bool terminal = false;
  bool live_line_open = false;
  std::string path;
  int file = -1;
  bool waits_for_file = false;
  std::string unwritten;  ///< Lines for the file: from before there was one, or because it failed.
};

Sinks& sinks() {
  static Sinks the_sinks;
  return the_sinks;
}

/// Writes what is not in the file yet; 0, or the number of the error that kept it from there.
int write_rest(Sinks& s) {
  while (!s.unwritten.empty()) {
    const ssize_t wrote = ::write(s.file, s.unwritten.data(), s.unwritten.size());
    if (wrote < 0 && errno != EINTR) return errno;
    if (wrote > 0) s.unwritten.erase(0, static_cast<std::size_t>(wrote));
  }
  return 0;
}

void write(std::FILE* terminal, const char* label, const std::string& text) {
  Sinks& s = sinks();
  if (s.terminal) {
    if (s.live_line_open) std::fputs("\r\033[K", stdout);
    s.live_line_open = false;
    std::fflush(stdout);
    std::fprintf(terminal, "%s%s\n", label, text.c_str());
    std::fflush(terminal);
  }
  if (s.file < 0 && !s.waits_for_file) return;
  s.unwritten += label + text + '\n';
  if (s.file >= 0) write_rest(s);
}

[[noreturn]] void refuse_to_log(const std::string& path, int number) {
  const std::string why = number == ELOOP ? "a link has its name, which is not followed. Move it away"
                                          : "cannot be opened: " + why_not_opened(number);
  throw Error(ExitCode::file_system, path + ": " + why + '.');
}

}  // namespace

void log_to_terminal(bool speaks) {
  sinks().terminal = sinks().waits_for_file = speaks;
  sinks().unwritten.clear();
}

void log_to_file(const std::string& path) {
  Sinks& s = sinks();
  if (s.file >= 0) ::close(s.file);
  s.path = path;
  s.file = path.empty() ? -1 : open_file(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW);
  s.waits_for_file = false;
  if (path.empty()) s.unwritten.clear();
  else if (s.file < 0) refuse_to_log(path, errno);
  else write_rest(s);
}

std::optional<std::string> log_file_trouble() {
  Sinks& s = sinks();
  if (s.file < 0) return std::nullopt;
  const int number = write_rest(s);
  if (number == 0) return std::nullopt;
  return s.path + ": cannot be written: " + std::strerror(number) + '.';
}

void log_info(const std::string& text) { write(stdout, "", text); }
void log_warning(const std::string& text) { write(stderr, "warning: ", text); }
void log_error(const std::string& text) { write(stderr, "error: ", text); }

bool log_is_interactive() {
  // mpirun gives every rank a terminal of its own, even in a batch job: what counts is where mpirun itself writes.
  static const bool parent_has_terminal = [] {
    const std::string parent = "/proc/" + std::to_string(getppid()) + "/fd/1";
    // A pipe without a reader would keep the program waiting.
    const int stdout_of_parent = open(parent.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    const bool is_terminal = stdout_of_parent >= 0 && isatty(stdout_of_parent) != 0;
    if (stdout_of_parent >= 0) close(stdout_of_parent);
    return is_terminal;
  }();
  return sinks().terminal && isatty(fileno(stdout)) != 0 && parent_has_terminal;
}

void log_live_line(const std::string& text) {
  if (!log_is_interactive()) return;
  std::fprintf(stdout, "\r\033[K%s", text.c_str());
  std::fflush(stdout);
  sinks().live_line_open = true;
}

}  // namespace weft
