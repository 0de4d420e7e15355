// Files and folders handled so that a crash or a full disk leaves either the old or the new, never a torn one.

#include "weft/output/files.hpp"

#include "output/descriptor.hpp"
#include "output/digest.hpp"
#include "weft/base/check.hpp"
#include "weft/base/read_text.hpp"
#include "weft/output/checkpoint.hpp"
#include "weft/output/frame.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <vector>

namespace weft {

namespace fs = std::filesystem;

namespace {

/// What a run leaves in its output folder: run.json, which tells that it was a run, and more.
constexpr const char* run_files[] = {"resolved.yaml", "diagnostics.csv", "load_displacement.csv", "log.txt",
                                     "run.json"};
constexpr const char* frame_folders[] = {"frames", "crash"};
constexpr const char* run_folders[] = {"frames", "crash", "checkpoints"};

/// Runs a file operation of the standard library; its failure becomes our error.
template <class Work>
void checked(const fs::path& path, const char* what, const Work& work) {
  try {
    work();
  } catch (const fs::filesystem_error& error) {
    fail(path, what, error.code().value());
  }
}

/// Names of what a run leaves, and this folder holds; empty folders are nothing.
std::vector<std::string> left_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const char* name : run_files)
    if (fs::exists(folder / name, error)) names.emplace_back(name);
  for (const char* name : run_folders)
    if (fs::exists(folder / name, error) && !fs::is_empty(folder / name, error)) names.emplace_back(name);
  return names;
}

bool is_of_weft(const fs::path& folder) {
  try {
    return nlohmann::json::parse(read_text(folder / "run.json")).contains("provenance");
  } catch (const Error&) {
    return false;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

/// Deletes what has the names that a run gives, whatever else stands beside it. run.json goes last: should this be cut
/// short, it still tells whose the rest is.
void forget_run(const fs::path& folder) {
  for (const char* name : frame_folders) {
    std::vector<fs::path> frames;
    std::error_code absent;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder / name, absent))
      if (is_frame_file(entry.path().filename().string())) frames.push_back(entry.path());
    for (const fs::path& frame : frames) checked(frame, "cannot be deleted", [&] { fs::remove(frame); });
  }
  discard_leftovers(folder / "checkpoints");
  for (const fs::path& checkpoint : list_checkpoints(folder / "checkpoints"))
    checked(checkpoint, "cannot be deleted", [&] { fs::remove_all(checkpoint); });
  for (const char* name : run_files)
    for (const fs::path& file : {folder / (std::string(name) + ".tmp"), folder / name})
      checked(file, "cannot be deleted", [&] {
        if (!fs::is_directory(fs::symlink_status(file))) fs::remove(file);
      });
}

void prepare_here(const fs::path& folder, ExistingRun policy) {
  make_output_folder(folder);
  if (const auto left = left_in(folder); !left.empty()) {
    // Every run deletes something: the run that it replaces, or what came after the checkpoint that it goes on from.
    const bool goes_on_here = policy == ExistingRun::resume && !list_checkpoints(folder / "checkpoints").empty();
    require(goes_on_here || is_of_weft(folder), ExitCode::file_system,
            fmt::format("{} holds {}, but no run.json that says that a run left this: nothing is deleted. Move it "
                        "away, or choose another folder with --output.",
                        folder.string(), fmt::join(left, ", ")));
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
  std::error_code ignored;
  fs::remove(trial, ignored);
}

}  // namespace

void write_text_atomically(const fs::path& file, const std::string& text, Flush flush) {
  const fs::path unfinished = file.string() + ".tmp";
  try {
    Descriptor out = create_unfinished(unfinished);
    out.write(text.data(), text.size(), 0);
    if (flush == Flush::at_once) out.flush();
    out.close();
    put_in_place(unfinished, file, flush);
  } catch (const Error&) {
    discard_unfinished(unfinished);
    throw;
  }
}

void discard_unfinished(const fs::path& file) {
  std::error_code ignored;
  if (fs::is_regular_file(fs::symlink_status(file, ignored))) fs::remove(file, ignored);
}

std::string digest_of_file(const fs::path& file) {
  constexpr std::uint64_t portion = 1 << 20;
  const Descriptor in(file, O_RDONLY);
  RunningDigest digest;
  std::vector<char> bytes(portion);
  for (std::uint64_t done = 0, all = in.bytes(); done < all;) {
    const std::uint64_t next = std::min(portion, all - done);
    in.read(bytes.data(), next, done);
    digest.add(bytes.data(), next);
    done += next;
  }
  return hexadecimal(digest.value());
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

std::vector<fs::path> make_output_folder(const fs::path& folder) {
  std::error_code ignored;
  require(!fs::exists(folder, ignored) || fs::is_directory(folder, ignored), ExitCode::file_system,
          fmt::format("{} is not a folder. Choose another with --output.", folder.string()));
  std::vector<fs::path> missing;
  for (fs::path outer = folder; !outer.empty() && !fs::exists(outer, ignored); outer = outer.parent_path())
    missing.push_back(outer);
  checked(folder, "cannot be made", [&] { fs::create_directories(folder); });
  return missing;
}

bool holds_run(const fs::path& folder) { return !left_in(folder).empty(); }

void prepare_output_folder(const Comm& comm, const fs::path& folder, ExistingRun policy) {
  comm.agree([&] {
    if (comm.is_root()) prepare_here(folder, policy);
  });
}

}  // namespace weft
