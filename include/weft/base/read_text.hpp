#pragma once
// Reading of files that somebody else wrote.

#include "weft/base/error.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace weft {

/// The whole content of a file. Throws Error(code) naming the file, if it is no plain file (a pipe would keep the
/// program waiting) or has more than `most` bytes; by default as many as memory_of_machine(). A file of /proc, which
/// has no length, is empty.
std::string read_text(const std::filesystem::path& file, ExitCode code = ExitCode::file_system);
std::string read_text(const std::filesystem::path& file, ExitCode code, std::uint64_t most);
/// How many bytes a file has, and some of them. Throws as read_text; the second one also if the file ends before.
std::uint64_t size_of_file(const std::filesystem::path& file, ExitCode code);
std::string read_bytes(const std::filesystem::path& file, std::uint64_t begin, std::uint64_t count, ExitCode code);

}  // namespace weft
