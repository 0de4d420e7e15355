#pragma once
// An open file by its descriptor: plain POSIX calls whose every failure is an Error naming the file.

#include "weft/base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace weft {

/// Throws Error(code): what cannot be done with the file, why, and a cure where one is known. number: of errno.
[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what, int number,
                       ExitCode code = ExitCode::file_system);

class Descriptor {
 public:
  /// Opens with these flags of open(2), as open_file does: plain files and folders alone.
  Descriptor(const std::filesystem::path& path, int flags, ExitCode code = ExitCode::file_system);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  std::uint64_t bytes() const;
  void write(const void* from, std::size_t bytes, std::uint64_t offset) const;
  /// Fails also where the file ends before that.
  void read(void* to, std::size_t bytes, std::uint64_t offset) const;
  /// Makes the file `bytes` long. Where the file system can promise it, they belong to it from then on, so that writing
  /// them cannot meet a full disk.
  void reserve(std::uint64_t bytes) const;
  /// Lets the disk begin with bytes that were written, while others are made; promises nothing, unlike `flush`.
  void start_flush(std::size_t bytes, std::uint64_t offset) const;
  /// What was written has reached the disk afterwards.
  void flush() const;
  /// Network file systems tell only now what went wrong before.
  void close();

 private:
  std::filesystem::path path_;
  ExitCode code_;
  int number_;
};

/// A new file, open for writing, under a name that says that it is unfinished. A plain file of that name was left by a
/// run that was killed, and goes. Throws Error(file_system) if anything else has the name: it is not followed.
Descriptor create_unfinished(const std::filesystem::path& path);

}  // namespace weft
