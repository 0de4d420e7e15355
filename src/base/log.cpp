#include "weft/base/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

namespace weft {
namespace {

struct Sinks {
  bool terminal = false;
  bool live_line_open = false;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{nullptr, &std::fclose};
};

Sinks& sinks() {
  static Sinks the_sinks;
  return the_sinks;
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
  if (s.file) {
    std::fprintf(s.file.get(), "%s%s\n", label, text.c_str());
    std::fflush(s.file.get());
  }
}

}  // namespace

void log_to_terminal(bool speaks) { sinks().terminal = speaks; }

void log_to_file(const std::string& path) {
  sinks().file.reset(path.empty() ? nullptr : std::fopen(path.c_str(), "a"));
}

void log_info(const std::string& text) { write(stdout, "", text); }
void log_warning(const std::string& text) { write(stderr, "warning: ", text); }
void log_error(const std::string& text) { write(stderr, "error: ", text); }

bool log_is_interactive() {
  // mpirun gives every rank a terminal of its own, even in a batch job: what counts is where mpirun itself writes.
  static const bool parent_has_terminal = [] {
    const std::string parent = "/proc/" + std::to_string(getppid()) + "/fd/1";
    const int stdout_of_parent = open(parent.c_str(), O_WRONLY | O_NOCTTY);
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
