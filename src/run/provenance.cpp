#include "weft/run/provenance.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "commit.hpp"
#include "weft/base/read_text.hpp"
#include "weft/deck/files.hpp"
#include "weft/output/files.hpp"
#include "weft/output/hdf5.hpp"
#include "weft/parallel/comm.hpp"

namespace weft {

using std::filesystem::path;

std::string version() { return WEFT_VERSION; }

std::string version_text(bool verbose) {
  const std::string line = fmt::format("weft {} ({})", WEFT_VERSION, WEFT_COMMIT);
  if (!verbose) return line;
  return fmt::format("{}\ncompiler: {}\nflags: {}\nlibraries: {}, {}, {}\nOpenMP threads here: {}", line, WEFT_COMPILER,
                     WEFT_FLAGS, parallel_libraries(), hdf5_library(), WEFT_STANDS_ON, omp_get_max_threads());
}

std::vector<DeckFile> files_of(const Comm& comm, const Deck& deck) {
  std::vector<DeckFile> files;
  Deck looked_at = deck;
  for_each_file(looked_at, [&](const std::string& key, const std::string& path) { files.push_back({key, path, ""}); });
  nlohmann::json digests = nlohmann::json::array();
  comm.agree([&] {
    if (comm.is_root())
      for (const DeckFile& file : files) digests.push_back(digest_of_file(file.path));
  });
  digests = nlohmann::json::parse(comm.broadcast(digests.dump()));
  for (std::size_t f = 0; f < files.size(); ++f) files[f].digest = digests[f];
  return files;
}

std::string provenance_json(int ranks, std::span<const DeckFile> files, const path& output) {
  nlohmann::json j;
  j["version"] = WEFT_VERSION;
  j["commit"] = WEFT_COMMIT;
  j["compiler"] = WEFT_COMPILER;
  j["flags"] = WEFT_FLAGS;
  j["libraries"] = {parallel_libraries(), hdf5_library(), WEFT_STANDS_ON};
  j["ranks"] = ranks;
  j["threads"] = omp_get_max_threads();
  j["files"] = nlohmann::json::array();
  std::error_code ignored;
  const path here = std::filesystem::absolute(output, ignored).lexically_normal();
  for (const DeckFile& file : files)
    j["files"].push_back(
        {{"key", file.key}, {"file", path(file.path).lexically_relative(here).string()}, {"digest", file.digest}});
  return j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<DeckFile> files_in(const std::string& provenance) {
  std::vector<DeckFile> files;
  try {
    const auto told = nlohmann::json::parse(provenance);
    for (const auto& file : told.at("files")) files.push_back({file.at("key"), file.at("file"), file.at("digest")});
  } catch (const nlohmann::json::exception&) {
    return {};
  }
  return files;
}

std::vector<DeckFile> files_of_run(const path& output) {
  std::error_code none;
  const bool is_told = std::filesystem::exists(output / "run.json", none);
  const auto told = nlohmann::json::parse(is_told ? read_text(output / "run.json") : "{}", nullptr, false);
  return files_in(told.is_object() && told.contains("provenance") ? told["provenance"].dump() : "");
}

void find_files_again(Deck& deck, const path& output) {
  const std::vector<DeckFile> files = files_of_run(output);
  for_each_file(deck, [&](const std::string& key, std::string& at) {
    const auto file = std::find_if(files.begin(), files.end(), [&](const DeckFile& f) { return f.key == key; });
    const auto holds_it = [&](const path& place) {
      std::error_code ignored;
      return std::filesystem::is_regular_file(place, ignored) && digest_of_file(place) == file->digest;
    };
    if (file == files.end()) return at.clear();
    const path beside = (output / file->path).lexically_normal();
    if (holds_it(beside)) at = beside.string();
    else if (!holds_it(at)) at.clear();
  });
}

}  // namespace weft
