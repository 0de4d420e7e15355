#include "weft/run/provenance.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <nlohmann/json.hpp>

#include "commit.hpp"
#include "weft/output/hdf5.hpp"
#include "weft/parallel/comm.hpp"

namespace weft {

std::string version() { return WEFT_VERSION; }

std::string version_text(bool verbose) {
  const std::string line = fmt::format("weft {} ({})", WEFT_VERSION, WEFT_COMMIT);
  if (!verbose) return line;
  return fmt::format("{}\ncompiler: {}\nflags: {}\nlibraries: {}, {}, {}\nOpenMP threads here: {}", line, WEFT_COMPILER,
                     WEFT_FLAGS, parallel_libraries(), hdf5_library(), WEFT_STANDS_ON, omp_get_max_threads());
}

std::string provenance_json(int ranks) {
  nlohmann::json j;
  j["version"] = WEFT_VERSION;
  j["commit"] = WEFT_COMMIT;
  j["compiler"] = WEFT_COMPILER;
  j["flags"] = WEFT_FLAGS;
  j["libraries"] = {parallel_libraries(), hdf5_library(), WEFT_STANDS_ON};
  j["ranks"] = ranks;
  j["threads"] = omp_get_max_threads();
  return j.dump(2);
}

}  // namespace weft
