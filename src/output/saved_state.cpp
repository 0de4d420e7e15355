// How a checkpoint lies on the disk: its manifest, the data sets of state.h5, and reading them with their digests.

#include "output/saved_state.hpp"

#include "output/digest.hpp"
#include "weft/base/check.hpp"
#include "weft/output/files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fstream>

namespace weft {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// How a manifest ends; 16 digits and `digest_end` follow.
constexpr std::string_view digest_begin = ",\n  \"digest\": \"";
constexpr std::string_view digest_end = "\"\n}\n";

/// Bytes of a file that one digest covers, and that a rank reads at a time.
constexpr std::size_t piece_bytes = std::size_t{4} << 20;

/// The text before the digest; throws unless the digest fits it.
std::string without_digest(const std::string& text, const fs::path& file) {
  const std::size_t tail = digest_begin.size() + 16 + digest_end.size();
  const std::string head = text.size() < tail ? "" : text.substr(0, text.size() - tail);
  const std::string expected = fmt::format("{}{}{}{}", head, digest_begin, digest_of_text(head), digest_end);
  require(text == expected, ExitCode::checkpoint,
          fmt::format("{}: the manifest was cut off or changed: its text does not fit its own digest.", file.string()));
  return head;
}

}  // namespace

std::string Manifest::text() const {
  json data;
  data["weft_checkpoint"] = checkpoint_format;
  data["step"] = step;
  data["time"] = time;
  data["deck_digest"] = deck_digest;
  data["files"]["state.h5"] = {{"bytes", state_bytes}, {"digest", state_digest}};
  data["parts"] = json::array();
  for (const SavedPart& part : parts) data["parts"].push_back({{"name", part.name}, {"rows", part.rows}});
  for (const auto& [name, saved] : data_sets)
    data["data_sets"][name] = {{"rows", saved.rows}, {"digest", saved.digest}};
  std::string head = data.dump(2);
  head.resize(head.size() - 2);  // without the closing line
  return fmt::format("{}{}{}{}", head, digest_begin, digest_of_text(head), digest_end);
}

Manifest Manifest::parse(const std::string& text, const fs::path& file) {
  const std::string head = without_digest(text, file);
  try {
    const json data = json::parse(head + "\n}");
    const int format = data.at("weft_checkpoint");
    require(format <= checkpoint_format, ExitCode::checkpoint,
            fmt::format("{}: a newer Weft wrote this checkpoint (layout {}; this program reads up to {}). Use that "
                        "version or a later one.",
                        file.string(), format, checkpoint_format));
    Manifest manifest;
    manifest.step = data.at("step");
    manifest.time = data.at("time");
    manifest.deck_digest = data.at("deck_digest");
    manifest.state_bytes = data.at("files").at("state.h5").at("bytes");
    manifest.state_digest = data.at("files").at("state.h5").at("digest");
    for (const json& part : data.at("parts")) manifest.parts.push_back({part.at("name"), part.at("rows")});
    for (const auto& [name, saved] : data.at("data_sets").items())
      manifest.data_sets[name] = {saved.at("rows"), saved.at("digest")};
    return manifest;
  } catch (const json::exception& error) {
    throw Error(ExitCode::checkpoint,
                fmt::format("{}: this is not a manifest of Weft ({}).", file.string(), error.what()));
  }
}

fs::path state_file(const fs::path& checkpoint) { return checkpoint / "state.h5"; }
fs::path manifest_file(const fs::path& checkpoint) { return checkpoint / "manifest.json"; }

std::string table_group(const std::string& part) { return "/tables/" + part; }
std::string field_data_set(const std::string& part, std::string_view field) {
  return fmt::format("{}/{}", table_group(part), field);
}
std::string rank_rows_data_set(const std::string& part) { return "/rank_rows/" + part; }

RowType row_type(const ColumnView& column) {
  constexpr std::array numbers{Number::float64, Number::uint64, Number::int32};  // in the order of ScalarKind
  const RowType type{numbers[static_cast<std::size_t>(column.shape.kind)], column.shape.components()};
  WEFT_ENSURE(type.bytes() == column.row_bytes);
  return type;
}

Manifest read_manifest(const Comm& comm, const fs::path& checkpoint) {
  const fs::path file = manifest_file(checkpoint);
  std::string text;
  comm.agree([&] {
    if (!comm.is_root()) return;
    std::error_code ignored;
    require(fs::is_directory(checkpoint, ignored), ExitCode::checkpoint,
            fmt::format("{}: there is no such checkpoint folder.", checkpoint.string()));
    text = read_text(file, ExitCode::checkpoint);
  });
  return Manifest::parse(comm.broadcast(text), file);
}

std::string digest_of_file(const Comm& comm, const fs::path& file, ExitCode code) {
  std::uint64_t digest = 0;
  comm.agree([&] {
    std::error_code error;
    const std::uint64_t size = fs::file_size(file, error);
    std::ifstream in(file, std::ios::binary);
    require(!error && in, code, fmt::format("{}: the file cannot be opened.", file.string()));
    std::vector<char> piece(std::min<std::uint64_t>(piece_bytes, size));
    const auto ranks = static_cast<std::uint64_t>(comm.size());
    for (auto k = static_cast<std::uint64_t>(comm.rank()); k * piece_bytes < size; k += ranks) {
      const std::size_t count = std::min<std::uint64_t>(piece_bytes, size - k * piece_bytes);
      in.seekg(static_cast<std::streamoff>(k * piece_bytes));
      in.read(piece.data(), static_cast<std::streamsize>(count));
      require(in.good(), code, fmt::format("{}: the file cannot be read.", file.string()));
      digest += digest_of_rows(piece.data(), 1, count, k);
    }
  });
  comm.sum(std::span(&digest, 1));
  return hexadecimal(digest);
}

SavedState::SavedState(const Comm& comm, const fs::path& checkpoint)
    : comm_(comm),
      path_(checkpoint),
      manifest_(read_manifest(comm, checkpoint)),
      file_(HdfFile::open(comm, state_file(checkpoint), ExitCode::checkpoint)) {
  const std::string file = state_file(checkpoint).string();
  const std::int64_t format = file_.integer_attribute("/", "weft_checkpoint");
  const std::int64_t step = file_.integer_attribute("/", "step");
  require(format <= checkpoint_format, ExitCode::checkpoint,
          fmt::format("{}: a newer Weft wrote this file (layout {}; this program reads up to {}).", file, format,
                      checkpoint_format));
  require(step == manifest_.step && file_.text_attribute("/", "deck_digest") == manifest_.deck_digest,
          ExitCode::checkpoint,
          fmt::format("{}: this file belongs to another checkpoint (step {}) than its manifest (step {}).", file, step,
                      manifest_.step));
}

const SavedRows& SavedState::promised(const std::string& data_set) const {
  const auto found = manifest_.data_sets.find(data_set);
  require(found != manifest_.data_sets.end(), ExitCode::checkpoint,
          fmt::format("{}: there is no data set {}.", state_file(path_).string(), data_set));
  return found->second;
}

void SavedState::read_all(const std::string& data_set, RowType type, std::int64_t first, std::size_t count,
                          void* to) const {
  const SavedRows& saved = promised(data_set);
  file_.read_rows(data_set, type, first, count, to);
  std::uint64_t digest = digest_of_rows(to, count, type.bytes(), static_cast<std::uint64_t>(first));
  comm_.sum(std::span(&digest, 1));
  require(comm_.sum(static_cast<std::int64_t>(count)) == saved.rows && hexadecimal(digest) == saved.digest,
          ExitCode::checkpoint,
          fmt::format("{}: data set {} does not hold what was written to it: its digest differs from the manifest's.",
                      state_file(path_).string(), data_set));
}

std::string SavedState::read_bytes(const std::string& data_set, RowType type) const {
  const std::int64_t rows = comm_.is_root() ? promised(data_set).rows : 0;
  std::string bytes(static_cast<std::size_t>(rows) * type.bytes(), '\0');
  read_all(data_set, type, 0, static_cast<std::size_t>(rows), bytes.data());
  return comm_.broadcast(bytes);
}

void SavedState::check(const std::string& data_set) const {
  const DataSetShape shape = file_.shape(data_set);
  require(shape.rows == promised(data_set).rows, ExitCode::checkpoint,
          fmt::format("{}: data set {} has {} rows, but {} were written.", state_file(path_).string(), data_set,
                      shape.rows, promised(data_set).rows));
  const std::int64_t first = slice_begin(shape.rows, comm_.rank(), comm_.size());
  const auto count = static_cast<std::size_t>(slice_begin(shape.rows, comm_.rank() + 1, comm_.size()) - first);
  std::vector<std::byte> rows(count * shape.type.bytes());
  read_all(data_set, shape.type, first, count, rows.data());
}

}  // namespace weft
