#include "weft/output/lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "output/descriptor.hpp"
#include "weft/base/log.hpp"
#include "weft/output/files.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr const char* lock_name = "run.lock";
/// A process that is ending keeps its lock for a moment.
constexpr milliseconds patience{2000}, between_tries{100};

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string job_number() {
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"})
    if (const char* number = std::getenv(name)) return number;
  return "";
}

/// What the kernel says of a process of this host: proc(5), /proc/PID/stat.
struct Stat {
  char state = 0;  ///< 'Z' for one that has ended and whose parent has not asked for its exit code.
  std::int64_t started = 0;
};
std::optional<Stat> stat_of(std::int64_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text);
  const auto end_of_name = text.rfind(") ");  // the name before may hold anything
  if (end_of_name == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(end_of_name + 2));
  Stat stat;
  fields >> stat.state;
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  fields >> stat.started;
  return stat;
}

enum class Held { by_nobody, by_another, nobody_knows };

/// Takes the lock if it is free; it belongs to the open file, and so ends with the process.
Held take_lock(int file) {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(file, F_OFD_SETLK, &whole) == 0) return Held::by_nobody;
  return errno == EAGAIN || errno == EACCES ? Held::by_another : Held::nobody_knows;
}

/// False if the file was removed, or another one has its name.
bool is_file_at(const fs::path& path, int file) {
  struct stat here{}, there{};
  return ::fstat(file, &here) == 0 && ::lstat(path.c_str(), &there) == 0 && here.st_ino == there.st_ino &&
         here.st_dev == there.st_dev;
}

/// None from a file that its owner is just writing.
std::optional<Owner> owner_in(const Descriptor& file) {
  try {
    std::string text(file.bytes(), '\0');
    file.read(text.data(), text.size(), 0);
    return owner_from(text);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// When a run in the folder last gave a sign of life.
fs::file_time_type last_sign(const fs::path& folder) {
  auto last = fs::file_time_type::min();
  for (const char* name : {lock_name, "run.json"}) {
    std::error_code error;
    const auto time = fs::last_write_time(folder / name, error);
    if (!error) last = std::max(last, time);
  }
  return last;
}

/// True once the folder was silent for heartbeat_limit, whatever its host takes for the time; false at the next sign of
/// life.
bool falls_silent(const fs::path& folder) {
  const auto before = last_sign(folder);
  const auto limit = std::chrono::duration<Real>(heartbeat_limit);
  const auto began = std::chrono::steady_clock::now();
  while (fs::file_time_type::clock::now() - before < limit && std::chrono::steady_clock::now() - began < limit) {
    std::this_thread::sleep_for(between_tries);
    if (last_sign(folder) != before) return false;
  }
  return true;
}

bool is_over(const Owner& owner, Held held, const fs::path& folder) {
  if (is_on_this_host(owner)) return held == Held::by_nobody || !lives_here(owner);
  log_info(fmt::format("{} was left by {}: waiting up to {:.0f} s for a sign of life.", (folder / lock_name).string(),
                       owner.text(), heartbeat_limit));
  return falls_silent(folder);
}

[[noreturn]] void refuse(const fs::path& folder, const std::optional<Owner>& owner) {
  throw Error(ExitCode::file_system,
              fmt::format("{}: another run writes into this folder ({}). Wait for its end, stop it, or choose another "
                          "folder with --output.",
                          folder.string(), owner ? owner->text() : "its owner is not known yet"));
}

}  // namespace

std::string Owner::text() const {
  return fmt::format("process {} on {}{}", process, host, job.empty() ? "" : ", job " + job);
}

Owner this_process() {
  const pid_t id = getpid();
  const auto stat = stat_of(id);
  return {host_name(), id, stat ? stat->started : 0, job_number()};
}

std::string owner_json(const Owner& owner) {
  return nlohmann::json{{"host", owner.host}, {"id", owner.process}, {"started", owner.started}, {"job", owner.job}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<Owner> owner_from(const std::string& json) {
  try {
    const auto j = nlohmann::json::parse(json);
    return Owner{j.at("host"), j.at("id"), j.value("started", std::int64_t{0}), j.value("job", "")};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

bool is_on_this_host(const Owner& owner) { return owner.host == host_name(); }

bool lives_here(const Owner& owner) {
  if (!is_on_this_host(owner)) return false;
  const auto process = static_cast<pid_t>(owner.process);
  if (::kill(process, 0) != 0 && errno == ESRCH) return false;
  const auto stat = stat_of(owner.process);
  if (!stat) return true;  // it is there, but hidden
  return stat->state != 'Z' && (owner.started == 0 || stat->started == owner.started);
}

bool is_locked(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / lock_name, ignored)) return false;
  try {
    const Descriptor file(folder / lock_name, O_RDONLY | O_NOFOLLOW);
    struct flock wanted{};
    wanted.l_type = F_RDLCK;
    wanted.l_whence = SEEK_SET;
    return ::fcntl(file.number(), F_OFD_GETLK, &wanted) == 0 && wanted.l_type != F_UNLCK;
  } catch (const Error&) {
    return false;  // it is gone by now, or not for us to read
  }
}

FolderLock::FolderLock(const Comm& comm, const fs::path& folder) : folder_(folder), path_(folder / lock_name) {
  comm.agree([&] {
    if (comm.is_root()) take();
  });
}

void FolderLock::take() {
  made_ = make_output_folder(folder_);
  for (milliseconds waited{0};; waited += between_tries) {
    auto file = std::make_unique<Descriptor>(path_, O_RDWR | O_CREAT | O_NOFOLLOW);
    const Held held = take_lock(file->number());
    const auto last = owner_in(*file);
    if (held == Held::by_another) {
      if (waited >= patience) refuse(folder_, last);
      std::this_thread::sleep_for(between_tries);
      continue;
    }
    if (!is_file_at(path_, file->number())) continue;  // its owner has just removed it
    if (last && !is_over(*last, held, folder_)) refuse(folder_, last);
    if (::ftruncate(file->number(), 0) != 0) fail(path_, "cannot be written", errno);
    const std::string text = owner_json(this_process()) + '\n';
    file->write(text.data(), text.size(), 0);
    file_ = std::move(file);
    return;
  }
}

FolderLock::~FolderLock() {
  if (!file_) return;
  // Removed while it is locked: whoever waits for it sees that its file has lost its name.
  if (is_file_at(path_, file_->number())) ::unlink(path_.c_str());
  file_.reset();
  std::error_code ignored;
  for (const fs::path& folder : made_) fs::remove(folder, ignored);
}

}  // namespace weft
