#pragma once
// Opening files without waiting for anybody.

#include <filesystem>
#include <string>

namespace weft {

/// As open(2) with these flags, for plain files and folders alone: -1 with errno ENXIO for anything else, such as a
/// pipe, whose other end is not waited for. New files may be read and written by all whom the umask lets.
int open_file(const std::filesystem::path& file, int flags);

/// Why a file could not be opened, by its errno, in words that follow a colon.
std::string why_not_opened(int number);

}  // namespace weft
