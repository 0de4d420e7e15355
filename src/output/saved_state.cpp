// How a checkpoint lies on the disk: its manifest, the data sets of state.h5, and reading them with their digests.

#include "output/saved_state.hpp"

#include "output/descriptor.hpp"
#include "output/digest.hpp"
#include "weft/base/check.hpp"
#include "weft/base/read_text.hpp"
#include "weft/output/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace weft {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// How a manifest ends; 16 digits and `digest_end` follow.
constexpr std::string_view digest_begin = ",\n  \"digest\": \"";
constexpr std::string_view digest_end = "\"\n}\n";

/// The text before the digest; throws unless the digest fits it.
std::string without_digest(const std::string& text, const fs::path& file) {
  const std::size_t tail = digest_begin.size() + 16 + digest_end.size();
  const std::string head = text.size() < tail ? "" : text.substr(0, text.size() - tail);
  const std::string expected = fmt::format("{}{}{}{}", head, digest_begin, digest_of_text(head), digest_end);
  require(text == expected, ExitCode::checkpoint,
          fmt::format("{}: the manifest was cut off or changed: its text does not fit its own digest.", file.string()));
  return head;
}

/// nlohmann::json by itself would make a whole number of any number.
template <class Int>
Int whole(const json& value) {
  return static_cast<Int>(value.get_ref<const json::number_integer_t&>());
}

}  // namespace

std::string Manifest::text() const {
  json data;
  data["weft_checkpoint"] = checkpoint_format;
  data["step"] = step;
  data["time"] = time;
  data["state.h5"] = {{"bytes", state.bytes}, {"structure_digest", hexadecimal(state.structure_digest)}};
  data["parts"] = json::array();
  for (const SavedPart& part : parts) data["parts"].push_back({{"name", part.name}, {"rows", part.rows}});
  data["data_sets"] = json::object();
  for (const auto& [name, rows] : state.data_sets)
    data["data_sets"][name] = {{"rows", rows.rows},
                               {"row_bytes", rows.row_bytes},
                               {"offset", rows.offset},
                               {"digest", hexadecimal(rows.digest)}};
  std::string head = data.dump(2);
  head.resize(head.size() - 2);  // without the closing line
  return fmt::format("{}{}{}{}", head, digest_begin, digest_of_text(head), digest_end);
}

Manifest Manifest::parse(const std::string& text, const fs::path& file) {
  const std::string head = without_digest(text, file);
  try {
    const json data = json::parse(head + "\n}");
    const auto format = whole<std::int64_t>(data.at("weft_checkpoint"));
    require(
        format == checkpoint_format, ExitCode::checkpoint,
        fmt::format("{}: {} Weft wrote this checkpoint (layout {}; this program reads layout {}). Use that version.",
                    file.string(), format > checkpoint_format ? "a newer" : "an older", format, checkpoint_format));
    Manifest manifest;
    manifest.step = whole<std::int64_t>(data.at("step"));
    manifest.time = data.at("time");
    manifest.state.bytes = whole<std::uint64_t>(data.at("state.h5").at("bytes"));
    manifest.state.structure_digest = from_hexadecimal(data.at("state.h5").at("structure_digest"));
    for (const json& part : data.at("parts"))
      manifest.parts.push_back({part.at("name"), whole<std::int64_t>(part.at("rows"))});
    for (const auto& [name, rows] : data.at("data_sets").items())
      manifest.state.data_sets[name] = {whole<std::int64_t>(rows.at("rows")),
                                        whole<std::uint64_t>(rows.at("row_bytes")),
                                        whole<std::uint64_t>(rows.at("offset")), from_hexadecimal(rows.at("digest"))};
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

SavedState::SavedState(const Comm& comm, const fs::path& checkpoint)
    : comm_(comm), file_(state_file(checkpoint)), manifest_(read_manifest(comm, checkpoint)) {
  comm_.agree([&] {
    if (!comm_.is_root()) return;
    std::error_code error;
    require(fs::exists(file_, error), ExitCode::checkpoint, fmt::format("{}: the file is missing.", file_.string()));
    const Descriptor file(file_, O_RDONLY, ExitCode::checkpoint);
    const std::uint64_t bytes = file.bytes();
    require(bytes == manifest_.state.bytes, ExitCode::checkpoint,
            fmt::format("{}: the file has {} bytes, but {} were written: it was cut off, or belongs to another "
                        "checkpoint.",
                        file_.string(), bytes, manifest_.state.bytes));
    require(structure_is_whole(file_, manifest_.state, ExitCode::checkpoint), ExitCode::checkpoint,
            fmt::format("{}: its structure is not what was written: it was damaged, or belongs to another checkpoint.",
                        file_.string()));
  });
  require_rows_of_parts();
}

/// Throws unless every field of a part has as many rows as the part: room is made only for rows that the file holds.
void SavedState::require_rows_of_parts() const {
  for (const SavedPart& part : manifest_.parts) {
    const std::string group = table_group(part.name) + '/';
    bool has_fields = false;
    for (const auto& [data_set, rows] : manifest_.state.data_sets) {
      if (!data_set.starts_with(group)) continue;
      has_fields = true;
      require(rows.rows == part.rows, ExitCode::checkpoint,
              fmt::format("{}: {} does not have as many rows as \"{}\".", file_.string(), data_set, part.name));
    }
    require(has_fields, ExitCode::checkpoint,
            fmt::format("{}: \"{}\" was saved without a field.", file_.string(), part.name));
  }
}

const PlacedRows& SavedState::promised(const std::string& data_set) const {
  const auto found = manifest_.state.data_sets.find(data_set);
  require(found != manifest_.state.data_sets.end(), ExitCode::checkpoint,
          fmt::format("{}: there is no data set {}.", file_.string(), data_set));
  return found->second;
}

std::string SavedState::damage(const std::string& data_set) const {
  return fmt::format("{}: data set {} does not hold what was written to it: its digest differs from the manifest's.",
                     file_.string(), data_set);
}

void SavedState::read(const std::string& data_set, RowType type, std::int64_t first, std::size_t count,
                      void* to) const {
  const PlacedRows& rows = promised(data_set);
  comm_.agree([&] {
    const bool fits = rows.row_bytes == type.bytes() && 0 <= first && first <= rows.rows &&
                      count <= static_cast<std::uint64_t>(rows.rows - first);
    require(fits, ExitCode::checkpoint,
            fmt::format("{}: data set {} has {} rows of {} bytes, not what was expected of it.", file_.string(),
                        data_set, rows.rows, rows.row_bytes));
    if (count == 0) return;
    const Descriptor file(file_, O_RDONLY, ExitCode::checkpoint);
    file.read(to, count * type.bytes(), rows.offset + static_cast<std::uint64_t>(first) * rows.row_bytes);
  });
}

void SavedState::read_all(const std::string& data_set, RowType type, std::int64_t first, std::size_t count,
                          void* to) const {
  const PlacedRows& rows = promised(data_set);
  read(data_set, type, first, count, to);
  std::uint64_t digest = digest_of_rows(to, count, type.bytes(), static_cast<std::uint64_t>(first));
  comm_.sum(std::span(&digest, 1));
  require(comm_.sum(static_cast<std::int64_t>(count)) == rows.rows && digest == rows.digest, ExitCode::checkpoint,
          damage(data_set));
}

std::string SavedState::read_bytes(const std::string& data_set, RowType type) const {
  const PlacedRows& rows = promised(data_set);
  require(rows.row_bytes == type.bytes(), ExitCode::checkpoint,
          fmt::format("{}: data set {} has rows of {} bytes, not what was expected of it.", file_.string(), data_set,
                      rows.row_bytes));
  const auto count = comm_.is_root() ? static_cast<std::size_t>(rows.rows) : 0;
  std::string bytes(count * type.bytes(), '\0');
  read_all(data_set, type, 0, count, bytes.data());
  return comm_.broadcast(bytes);
}

std::vector<std::string> SavedState::damaged_data_sets() const {
  return weft::damaged_data_sets(comm_, file_, manifest_.state, ExitCode::checkpoint);
}

}  // namespace weft
