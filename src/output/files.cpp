// Files and folders handled so that a crash or a full disk leaves either the old or the new, never a torn one.

#include "weft/output/files.hpp"

#include "output/descriptor.hpp"
#include "weft/base/check.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace weft {

namespace fs = std::filesystem;

namespace {

/// What a run leaves in its output folder.
constexpr const char* run_files[] = {"resolved.yaml", "run.json", "diagnostics.csv", "load_displacement.csv",
                                     "log.txt",       "frames",   "checkpoints",     "crash"};

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

void write_text_atomically(const fs::path& file, const std::string& text, Flush flush) {
  const fs::path unfinished = file.string() + ".tmp";
  try {
    Descriptor out(unfinished, O_WRONLY | O_CREAT | O_TRUNC);
    out.write(text.data(), text.size(), 0);
    if (flush == Flush::at_once) out.flush();
    out.close();
    put_in_place(unfinished, file, flush);
  } catch (const Error&) {
    std::error_code ignored;
    fs::remove(unfinished, ignored);
    throw;
  }
}

void flush_to_disk(const fs::path& file_or_folder) { Descriptor(file_or_folder, O_RDONLY).flush(); }

void put_in_place(const fs::path& from, const fs::path& to, Flush flush) {
  const auto flush_folder = [&] {
    if (flush == Flush::at_once) flush_to_disk(to.parent_path().empty() ? "." : to.parent_path());
  };
  std::error_code ignored;
  if (fs::is_directory(to, ignored)) {
    // A folder cannot replace a folder with content, but the two can change places.
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
      flush_folder();
      checked(from, "cannot be deleted", [&] { fs::remove_all(from); });
      return;
    }
    if (errno != EINVAL && errno != ENOSYS) fail(to, "cannot be put in place", errno);
    checked(to, "cannot be replaced", [&] { fs::remove_all(to); });  // this file system knows no exchange
  }
  if (::rename(from.c_str(), to.c_str()) != 0) fail(to, "cannot be put in place", errno);
  flush_folder();
}

std::uint64_t free_bytes(const fs::path& folder) {
  struct statvfs status{};
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

void make_folder(const Comm& comm, const fs::path& folder) {
  comm.agree([&] {
    if (comm.is_root()) checked(folder, "cannot be made", [&] { fs::create_directories(folder); });
  });
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
