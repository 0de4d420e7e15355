#include "weft/run/provenance.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <nlohmann/json.hpp>

#include "weft/output/hdf5.hpp"
#include "weft/parallel/comm.hpp"

namespace weft {

std::string version() { return WEFT_VERSION; }

std::string version_text(bool verbose) {
  const std::string line = fmt::format("weft {} ({})", WEFT_VERSION, WEFT_COMMIT);
  if (!verbose) return line;
  return fmt::format("{}\ncompiler: {}\nflags: {}\n{}\n{}\nOpenMP threads here: {}", line, WEFT_COMPILER, WEFT_FLAGS,
                     parallel_libraries(), hdf5_library(), omp_get_max_threads());
}

std::string provenance_json(int ranks) {
  const nlohmann::json j{{"version", WEFT_VERSION},
                         {"commit", WEFT_COMMIT},
                         {"compiler", WEFT_COMPILER},
                         {"flags", WEFT_FLAGS},
                         {"libraries", {parallel_libraries(), hdf5_library()}},
                         {"ranks", ranks},
                         {"threads", omp_get_max_threads()}};
  return j.dump(2);
}

}  // namespace weft
