#include "weft/base/read_text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "weft/base/budget.hpp"
#include "weft/base/check.hpp"
#include "weft/base/open_file.hpp"

namespace weft {
namespace {

/// An open file that is closed at the end of its scope.
class Opened {
 public:
  explicit Opened(const std::filesystem::path& file)
      : number_(open_file(file, O_RDONLY)), error_(number_ < 0 ? errno : 0) {}
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    if (number_ >= 0) ::close(number_);
  }

  /// Bytes of a plain file; -1 for anything else.
  std::int64_t length() const {
    struct stat status{};
    const bool is_plain = number_ >= 0 && ::fstat(number_, &status) == 0 && S_ISREG(status.st_mode);
    return is_plain ? std::int64_t{status.st_size} : -1;
  }
  /// Why it could not be opened or read, in words that follow a sentence; empty if the system did not say.
  std::string reason() const { return error_ == 0 ? "" : std::string(" (") + why_not_opened(error_) + ")"; }
  /// Fills the text from an offset in the file and cuts it where the file ends; false if that fails.
  bool read(std::string& text, std::uint64_t begin) {
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t got = ::pread(number_, text.data() + done, text.size() - done, static_cast<off_t>(begin + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        error_ = errno;
        return false;
      }
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    text.resize(done);
    return true;
  }

 private:
  int number_;
  int error_;
};

/// Fewer where the file ends before.
std::string some_bytes(const std::filesystem::path& file, std::uint64_t begin, std::uint64_t count, ExitCode code) {
  Opened opened(file);
  std::string bytes(static_cast<std::size_t>(count), '\0');
  const bool is_read = opened.read(bytes, begin);
  require(is_read, code, file.string() + ": the file cannot be read" + opened.reason() + ".");
  return bytes;
}

}  // namespace

std::string read_text(const std::filesystem::path& file, ExitCode code) {
  return read_text(file, code, static_cast<std::uint64_t>(memory_of_machine()));
}

std::string read_text(const std::filesystem::path& file, ExitCode code, std::uint64_t most) {
  const std::uint64_t length = size_of_file(file, code);
  require(length <= most, code,
          file.string() + ": the file has " + std::to_string(length) +
              " bytes; it cannot be read if it has more than " + std::to_string(most) + ".");
  return some_bytes(file, 0, length, code);
}

std::uint64_t size_of_file(const std::filesystem::path& file, ExitCode code) {
  std::error_code error;
  require(std::filesystem::exists(file, error), code, file.string() + ": there is no such file.");
  const Opened opened(file);
  const std::int64_t length = opened.length();
  require(length >= 0, code, file.string() + ": the file cannot be read" + opened.reason() + ".");
  return static_cast<std::uint64_t>(length);
}

std::string read_bytes(const std::filesystem::path& file, std::uint64_t begin, std::uint64_t count, ExitCode code) {
  std::string bytes = some_bytes(file, begin, count, code);
  require(bytes.size() == count, code, file.string() + ": the file has become shorter while it was read.");
  return bytes;
}

}  // namespace weft
