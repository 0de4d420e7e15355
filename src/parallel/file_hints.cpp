#include "weft/parallel/file_hints.hpp"

namespace weft {

FileHints::FileHints() { MPI_Info_create(&info_); }
FileHints::~FileHints() { MPI_Info_free(&info_); }
void FileHints::set(const std::string& key, const std::string& value) {
  MPI_Info_set(info_, key.c_str(), value.c_str());
}

}  // namespace weft
