// Files and folders handled so that a crash or a full disk leaves either the old or the new, never a torn one.

#include "weft/output/files.hpp"

#include "weft/base/check.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

namespace weft {

namespace fs = std::filesystem;

namespace {

/// What a run leaves in its output folder.
constexpr const char* run_files[] = {"resolved.yaml", "run.json", "diagnostics.csv", "load_displacement.csv",
                                     "log.txt",       "frames",   "checkpoints"};

std::string cure(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return " Make room there, or choose another folder with --output.";
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

[[noreturn]] void fail(const fs::path& path, const char* what, int error) {
  throw Error(ExitCode::file_system,
              fmt::format("{}: {}: {}.{}", path.string(), what, std::strerror(error), cure(error)));
}

/// An open file descriptor, closed at the end of its scope.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

void flush_descriptor(const Descriptor& descriptor, const fs::path& path) {
  // Some file systems do not flush folders; that is no failure.
  if (::fsync(descriptor.number) != 0 && errno != EINVAL) fail(path, "cannot be flushed to the disk", errno);
}

/// Runs a file operation of the standard library; its failure becomes our error.
template <class Work>
void checked(const fs::path& path, const char* what, const Work& work) {
  try {
    work();
  } catch (const fs::filesystem_error& error) {
    fail(path, what, error.code().value());
  }
}

void forget_run(const fs::path& folder) {
  for (const char* name : run_files)
    checked(folder / name, "cannot be deleted", [&] { fs::remove_all(folder / name); });
}

void prepare_here(const fs::path& folder, ExistingRun policy) {
  std::error_code ignored;
  require(!fs::exists(folder, ignored) || fs::is_directory(folder, ignored), ExitCode::file_system,
          fmt::format("{} is not a folder. Choose another with --output.", folder.string()));
  if (holds_run(folder)) {
    require(policy != ExistingRun::refuse, ExitCode::file_system,
            fmt::format("{} already holds a run. Continue it with --resume auto, replace it with --force, or choose "
                        "another folder with --output.",
                        folder.string()));
    if (policy == ExistingRun::replace) forget_run(folder);
  }
  for (const char* name : {"frames", "checkpoints"})
    checked(folder / name, "cannot be made", [&] { fs::create_directories(folder / name); });
  const fs::path trial = folder / ".weft_can_write";
  write_text_atomically(trial, "");
  fs::remove(trial, ignored);
}

}  // namespace

std::string read_text(const fs::path& file, ExitCode code) {
  std::error_code error;
  const bool plain = fs::is_regular_file(file, error);
  require(plain || fs::exists(file, error), code, fmt::format("{}: there is no such file.", file.string()));
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (plain && in && in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
  require(plain && !in.bad() && !text.bad(), code, fmt::format("{}: the file cannot be read.", file.string()));
  return text.str();
}

void write_text_atomically(const fs::path& file, const std::string& text, Flush flush) {
  const fs::path unfinished = file.string() + ".tmp";
  try {
    {
      const Descriptor out{::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
      if (out.number < 0) fail(file, "cannot be written", errno);
      for (std::size_t done = 0; done < text.size();) {
        const ssize_t wrote = ::write(out.number, text.data() + done, text.size() - done);
        if (wrote < 0 && errno != EINTR) fail(file, "cannot be written", errno);
        if (wrote > 0) done += static_cast<std::size_t>(wrote);
      }
      if (flush == Flush::at_once) flush_descriptor(out, file);
    }
    put_in_place(unfinished, file, flush);
  } catch (const Error&) {
    std::error_code ignored;
    fs::remove(unfinished, ignored);
    throw;
  }
}

void flush_to_disk(const fs::path& file_or_folder) {
  const Descriptor opened{::open(file_or_folder.c_str(), O_RDONLY | O_CLOEXEC)};
  if (opened.number < 0) fail(file_or_folder, "cannot be opened", errno);
  flush_descriptor(opened, file_or_folder);
}

void put_in_place(const fs::path& from, const fs::path& to, Flush flush) {
  const auto flush_folder = [&] {
    if (flush == Flush::at_once) flush_to_disk(to.parent_path().empty() ? "." : to.parent_path());
  };
  std::error_code ignored;
  if (fs::is_directory(to, ignored)) {
    // A folder cannot replace a folder with content, but the two can change places.
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
      checked(from, "cannot be deleted", [&] { fs::remove_all(from); });
      flush_folder();
      return;
    }
    checked(to, "cannot be replaced", [&] { fs::remove_all(to); });
  }
  if (::rename(from.c_str(), to.c_str()) != 0) fail(to, "cannot be put in place", errno);
  flush_folder();
}

std::uint64_t free_bytes(const fs::path& folder) {
  struct statvfs status {};
  if (::statvfs(folder.c_str(), &status) != 0) fail(folder, "its file system cannot be asked for free space", errno);
  return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

void require_free_space(const Comm& comm, const fs::path& folder, std::uint64_t bytes, const std::string& what) {
  comm.agree([&] {
    if (!comm.is_root()) return;
    const std::uint64_t free = free_bytes(folder);
    require(free >= bytes, ExitCode::file_system,
            fmt::format("{} has {:.3g} GB free, but {} needs {:.3g} GB. Make room there, or choose another folder with "
                        "--output.",
                        folder.string(), static_cast<double>(free) * 1e-9, what, static_cast<double>(bytes) * 1e-9));
  });
}

void reserve_space(const fs::path& file, std::uint64_t bytes) {
  const Descriptor opened{::open(file.c_str(), O_WRONLY | O_CLOEXEC)};
  if (opened.number < 0) fail(file, "cannot be opened", errno);
  if (bytes == 0 || ::fallocate(opened.number, 0, 0, static_cast<off_t>(bytes)) == 0) return;
  if (errno != EOPNOTSUPP && errno != ENOSYS)
    fail(file, fmt::format("there is no room for its {:.3g} GB", static_cast<double>(bytes) * 1e-9).c_str(), errno);
}

bool holds_run(const fs::path& folder) {
  std::error_code error;
  for (const char* name : run_files) {
    const fs::path path = folder / name;
    if (fs::is_directory(path, error) ? !fs::is_empty(path, error) : fs::exists(path, error)) return true;
  }
  return false;
}

void prepare_output_folder(const Comm& comm, const fs::path& folder, ExistingRun policy) {
  comm.agree([&] {
    if (comm.is_root()) prepare_here(folder, policy);
  });
}

}  // namespace weft
