// Fuzz target of the checkpoint reader. The input is a list of edits to the two files of a good checkpoint, five bytes
// each. What was edited is found damaged and is never read as something else; what was edited and then given matching
// digests (which no accident does) may be read, but ends in nothing worse than Error(checkpoint).

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "output/digest.hpp"
#include "output/saved_state.hpp"
#include "weft/base/read_text.hpp"
#include "weft/output/checkpoint.hpp"
#include "weft/output/files.hpp"
#include "weft/output/inspect.hpp"

using namespace weft;
namespace fs = std::filesystem;

namespace {

Table empty_table() { return Table::with<Id, Position, Mass>(); }

void put(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// A good checkpoint in a folder of its own, for as long as the program runs.
class Good {
 public:
  Good() : session_(argc_, argv_), comm_(Comm::world()) {
    folder_ = fs::temp_directory_path() / ("weft_fuzz_checkpoint_" + std::to_string(::getpid()));
    Table table = empty_table();
    table.resize(5);
    for (std::size_t r = 0; r < 5; ++r) table.get<Id>()[r] = 10 + r, table.get<Mass>()[r] = 0.5;
    const CheckpointPart part{"sand", &table};
    const CheckpointHeader header{7, 0.25, "{}", "weft: 1\n", "{}", {1}};
    path_ = write_checkpoint(comm_, folder_, header, std::span(&part, 1), {});
    manifest_ = read_text(manifest_file(path_));
    state_ = read_text(state_file(path_));
  }
  ~Good() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  const Comm& comm() const { return comm_; }
  const fs::path& path() const { return path_; }
  const std::string& manifest() const { return manifest_; }
  const std::string& state() const { return state_; }

 private:
  int argc_ = 0;
  char** argv_ = nullptr;
  ParallelSession session_;
  Comm comm_;
  fs::path folder_, path_;
  std::string manifest_, state_;
};

/// Bytes of one edit: what and where, and with which byte.
void edit(std::string& bytes, std::uint8_t action, std::size_t place, char value) {
  if (bytes.empty()) return;
  place %= bytes.size();
  switch (action % 4) {
    case 0:
      bytes[place] = value;
      break;
    case 1:
      bytes[place] = static_cast<char>(bytes[place] ^ (1 << (value & 7)));
      break;
    case 2:
      bytes.insert(place, 1, value);
      break;
    default:
      bytes.resize(place);
  }
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at != std::string::npos) text.replace(at, from.size(), to);
}

/// The manifest with the digests and the length that state.h5 now has.
std::string with_matching_digests(const Good& good, std::string manifest, const std::string& state) {
  const FileLayout right = Manifest::parse(good.manifest(), "manifest.json").state;
  RunningDigest structure;
  for (const Region& region : structure_of(right, "state.h5", ExitCode::checkpoint))
    if (region.end <= state.size()) structure.add(state.data() + region.begin, region.end - region.begin);
  replace(manifest, hexadecimal(right.structure_digest), hexadecimal(structure.value()));
  for (const auto& [name, rows] : right.data_sets) {
    if (rows.offset + rows.bytes() > state.size()) continue;
    const auto count = static_cast<std::size_t>(rows.rows);
    replace(manifest, hexadecimal(rows.digest),
            hexadecimal(digest_of_rows(state.data() + rows.offset, count, rows.row_bytes, 0)));
  }
  replace(manifest, std::to_string(right.bytes), std::to_string(state.size()));
  const std::size_t tail = std::string(",\n  \"digest\": \"0123456789abcdef\"\n}\n").size();
  if (manifest.size() < tail) return manifest;
  const std::string head = manifest.substr(0, manifest.size() - tail);
  return head + ",\n  \"digest\": \"" + digest_of_text(head) + "\"\n}\n";
}

/// Reads all that a run reads; true if it is what was written.
bool reads_as_written(const Good& good) {
  const CheckpointHeader header = read_header(good.comm(), good.path());
  Table table = empty_table();
  read_part(good.comm(), good.path(), "sand", table);
  bool same = header.step == 7 && header.time == 0.25 && header.state == "{}" && header.resolved_deck == "weft: 1\n" &&
              header.cuts == std::vector<std::uint64_t>{1} && table.owned() == 5;
  for (std::size_t r = 0; same && r < 5; ++r)
    same = table.get<Id>()[r] == 10 + r && table.get<Mass>()[r] == 0.5 && table.get<Position>()[r] == Vec3::Zero();
  return same;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Good good;
  std::string manifest = good.manifest(), state = good.state();
  const bool forges = size > 0 && data[0] % 2;
  for (std::size_t i = 1; i + 5 <= size && i < 80; i += 5) {
    const std::size_t place = data[i + 1] | std::size_t{data[i + 2]} << 8 | std::size_t{data[i + 3]} << 16;
    edit(data[i] & 0x80 ? state : manifest, data[i] & 0x7F, place, static_cast<char>(data[i + 4]));
  }
  put(state_file(good.path()), state);
  const bool whole = manifest == good.manifest() && state == good.state();
  if (forges) manifest = with_matching_digests(good, manifest, state);
  put(manifest_file(good.path()), manifest);

  const std::vector<std::string> problems = verify_checkpoint(good.comm(), good.path());
  if (!forges && whole != problems.empty()) std::abort();
  try {
    if (!reads_as_written(good) && !forges) std::abort();
    (void)describe(good.path());
  } catch (const Error& error) {
    if (error.code() != ExitCode::checkpoint || whole) std::abort();
  }
  return 0;
}
