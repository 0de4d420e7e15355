#pragma once
// Who runs into an output folder: the lock that keeps other runs out of it, and whether its owner still lives.

#include "weft/parallel/comm.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

class Descriptor;

/// Seconds without a sign of life after which a run on another host counts as dead.
inline constexpr Real heartbeat_limit = 60;

/// The process that writes into an output folder.
struct Owner {
  std::string host;
  std::int64_t process = 0;
  std::int64_t started = 0;  ///< Clock ticks since the host did: tells a later process of the same number. 0: unknown.
  std::string job;           ///< The number of the batch job; empty without one.

  /// For people: "process 12 on node7, job 34".
  std::string text() const;
};

Owner this_process();

/// One JSON object, and back; none from anything else.
std::string owner_json(const Owner& owner);
std::optional<Owner> owner_from(const std::string& json);

bool is_on_this_host(const Owner& owner);
/// True for a process of this host that has not ended; a suspended one lives.
bool lives_here(const Owner& owner);

/// True if the lock of the folder is held, as far as the file system can tell. Not collective.
bool is_locked(const std::filesystem::path& folder);

/// The lock of an output folder: the file `run.lock`, locked by the kernel and naming its owner. It ends with this
/// object or, at the latest, with the process. Where the file system shows locks on their own host only, an owner on
/// another host counts as dead when neither run.json nor the lock changed for heartbeat_limit.
class FolderLock {
 public:
  /// Makes the folder if there is none, and locks it. Waits up to heartbeat_limit for a sign of life of an owner on
  /// another host. Throws Error(file_system), naming the owner, if it lives. Collective.
  FolderLock(const Comm& comm, const std::filesystem::path& folder);
  /// Removes the lock, and those of the folders that it made that are empty.
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  void take();

  std::filesystem::path folder_, path_;
  std::vector<std::filesystem::path> made_;  ///< The innermost folder first.
  std::unique_ptr<const Descriptor> file_;   ///< On the root, while the lock is held.
};

}  // namespace weft
