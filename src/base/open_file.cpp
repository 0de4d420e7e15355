#include "weft/base/open_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace weft {

int open_file(const std::filesystem::path& file, int flags) {
  const int number = ::open(file.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
  struct stat status{};
  if (number < 0 || ::fstat(number, &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) return number;
  ::close(number);
  errno = ENXIO;
  return -1;
}

std::string why_not_opened(int number) { return number == ENXIO ? "it is no plain file" : std::strerror(number); }

}  // namespace weft
