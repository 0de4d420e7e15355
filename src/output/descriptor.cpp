#include "output/descriptor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "weft/base/open_file.hpp"

namespace weft {
namespace {

bool is_full(int number) { return number == ENOSPC || number == EDQUOT || number == EFBIG; }

std::string cure(int number) {
  if (is_full(number)) return " Make room there, or choose another folder with --output.";
  switch (number) {
    case EACCES:
    case EPERM:
    case EROFS:
      return " Choose a folder that you may write to with --output.";
    case ENOTDIR:
      return " A part of this path is a file, not a folder. Choose another folder with --output.";
    default:
      return "";
  }
}

}  // namespace

void fail(const std::filesystem::path& path, const std::string& what, int number, ExitCode code) {
  throw Error(code, fmt::format("{}: {}: {}.{}", path.string(), what, why_not_opened(number), cure(number)));
}

Descriptor::Descriptor(const std::filesystem::path& path, int flags, ExitCode code)
    : path_(path), code_(code), number_(open_file(path, flags)) {
  if (number_ < 0) fail(path_, "cannot be opened", errno, code_);
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Descriptor create_unfinished(const std::filesystem::path& path) {
  struct stat there{};
  if (::lstat(path.c_str(), &there) == 0) {
    if (!S_ISREG(there.st_mode))
      throw Error(ExitCode::file_system,
                  fmt::format("{}: a file is written under this name, but something has it that is no plain file. Move "
                              "it away, or choose another folder with --output.",
                              path.string()));
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail(path, "cannot be replaced", errno);
  }
  return {path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW};
}

std::uint64_t Descriptor::bytes() const {
  struct stat status{};
  if (::fstat(number_, &status) != 0) fail(path_, "its length cannot be found", errno, code_);
  return static_cast<std::uint64_t>(status.st_size);
}

void Descriptor::write(const void* from, std::size_t bytes, std::uint64_t offset) const {
  const auto* next = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t wrote = ::pwrite(number_, next, bytes, static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail(path_, "cannot be written", errno, code_);
    next += wrote, offset += static_cast<std::uint64_t>(wrote), bytes -= static_cast<std::size_t>(wrote);
  }
}

void Descriptor::read(void* to, std::size_t bytes, std::uint64_t offset) const {
  auto* next = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t found = ::pread(number_, next, bytes, static_cast<off_t>(offset));
    if (found < 0 && errno == EINTR) continue;
    if (found < 0) fail(path_, "cannot be read", errno, code_);
    if (found == 0) throw Error(code_, fmt::format("{}: the file ends too early: it was cut off.", path_.string()));
    next += found, offset += static_cast<std::uint64_t>(found), bytes -= static_cast<std::size_t>(found);
  }
}

void Descriptor::reserve(std::uint64_t bytes) const {
  if (bytes == 0) return;
  int reserved;
  do reserved = ::fallocate(number_, 0, 0, static_cast<off_t>(bytes));
  while (reserved != 0 && errno == EINTR);
  if (reserved == 0) return;
  if (errno == EOPNOTSUPP || errno == ENOSYS) {
    if (::ftruncate(number_, static_cast<off_t>(bytes)) != 0) fail(path_, "cannot be made long enough", errno, code_);
    return;
  }
  fail(path_,
       fmt::format("{} its {:.3g} GB", is_full(errno) ? "there is no room for" : "cannot be given",
                   static_cast<double>(bytes) * 1e-9),
       errno, code_);
}

void Descriptor::start_flush(std::size_t bytes, std::uint64_t offset) const {
  // Where it is not known, `flush` does it all; what goes wrong on the disk, `flush` says.
  (void)::sync_file_range(number_, static_cast<off_t>(offset), static_cast<off_t>(bytes), SYNC_FILE_RANGE_WRITE);
}

void Descriptor::flush() const {
  // Some file systems do not flush folders; that is no failure.
  if (::fsync(number_) != 0 && errno != EINVAL) fail(path_, "cannot be flushed to the disk", errno, code_);
}

void Descriptor::close() {
  if (::close(std::exchange(number_, -1)) != 0) fail(path_, "cannot be closed", errno, code_);
}

}  // namespace weft
