// Checkpoints: written by all ranks under a temporary name, read back, and only then given their name.

#include "weft/output/checkpoint.hpp"

#include "output/saved_state.hpp"
#include "weft/base/check.hpp"
#include "weft/output/files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <sstream>

namespace weft {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view unfinished_suffix = ".tmp";

std::string name_of_step(std::int64_t step) { return fmt::format("step_{:012d}", step); }

bool is_checkpoint_name(const std::string& name) {
  return name.size() == 17 && name.starts_with("step_") &&
         std::all_of(name.begin() + 5, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Values that all ranks have, as a data set.
void add_shared(HdfWriter& file, const Comm& comm, const std::string& name, RowType type, std::size_t count,
                const void* values) {
  file.add_rows(fmt::format("{}/{}", header_group, name), type, comm.is_root() ? count : 0, values);
}

void add_part(HdfWriter& file, const CheckpointPart& part) {
  WEFT_ENSURE(!part.name.empty() && part.name.find('/') == std::string::npos);
  file.add_group(table_group(part.name));
  const std::size_t own = part.table->owned();
  for (const ColumnView& column : part.table->columns(Keep::state)) {
    const std::string data_set = field_data_set(part.name, column.label.name);
    file.add_rows(data_set, row_type(column), own, column.data);
    file.set_attribute(data_set, "unit", std::string(column.label.unit));
    // Rows, columns; a tensor lies column by column.
    file.set_attribute(data_set, "shape", std::vector<std::int64_t>{column.shape.rows, column.shape.cols});
  }
  file.add_rows(rank_rows_data_set(part.name), {Number::int64}, 1, [own](std::size_t, std::size_t, std::byte* to) {
    const auto rows = static_cast<std::int64_t>(own);
    std::memcpy(to, &rows, sizeof rows);
  });
}

/// Writes state.h5 and returns what the manifest says of it.
Manifest write_state(const Comm& comm, const fs::path& path, const CheckpointHeader& header,
                     std::span<const CheckpointPart> parts, const WriteMode& mode) {
  Manifest manifest;
  manifest.step = header.step;
  manifest.time = header.time;
  HdfWriter file(comm, mode);
  file.set_attribute("/", "weft_checkpoint", std::int64_t{checkpoint_format});
  file.set_attribute("/", "step", manifest.step);
  file.set_attribute("/", "time", manifest.time);
  file.add_group("/tables");
  add_shared(file, comm, "state", {Number::uint8}, header.state.size(), header.state.data());
  add_shared(file, comm, "resolved_deck", {Number::uint8}, header.resolved_deck.size(), header.resolved_deck.data());
  add_shared(file, comm, "provenance", {Number::uint8}, header.provenance.size(), header.provenance.data());
  add_shared(file, comm, "cuts", {Number::uint64}, header.cuts.size(), header.cuts.data());
  for (const CheckpointPart& part : parts) {
    add_part(file, part);
    manifest.parts.push_back({part.name, comm.sum(static_cast<std::int64_t>(part.table->owned()))});
  }
  manifest.state = file.write(path);
  return manifest;
}

/// Deletes a folder so that a crash meanwhile leaves nothing that looks like a checkpoint.
void discard(const fs::path& checkpoint) {
  std::error_code ignored;
  const fs::path doomed = checkpoint.string() + std::string(unfinished_suffix);
  fs::rename(checkpoint, doomed, ignored);
  fs::remove_all(doomed, ignored);
}

void discard_superseded(const fs::path& folder, const fs::path& newest, int keep) {
  std::vector<fs::path> earlier;
  for (const fs::path& checkpoint : list_checkpoints(folder)) {
    if (checkpoint.filename() > newest.filename()) discard(checkpoint);
    else earlier.push_back(checkpoint);
  }
  const auto kept = std::min(earlier.size(), static_cast<std::size_t>(std::max(keep, 1)));
  for (std::size_t i = 0; i + kept < earlier.size(); ++i) discard(earlier[i]);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// What the root finds, everywhere.
template <class Find>
std::vector<std::string> lines_from_root(const Comm& comm, const Find& find) {
  std::string text;
  comm.agree([&] {
    if (comm.is_root()) text = fmt::format("{}", fmt::join(find(), "\n"));
  });
  return lines_of(comm.broadcast(text));
}

}  // namespace

void discard_leftovers(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> leftovers;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(unfinished_suffix) && is_checkpoint_name(name.substr(0, name.size() - unfinished_suffix.size())))
      leftovers.push_back(entry.path());
  }
  for (const fs::path& leftover : leftovers) fs::remove_all(leftover, ignored);
}

fs::path write_checkpoint(const Comm& comm, const fs::path& folder, const CheckpointHeader& header,
                          std::span<const CheckpointPart> parts, const CheckpointPolicy& policy) {
  const fs::path checkpoint = folder / name_of_step(header.step);
  const fs::path unfinished = checkpoint.string() + std::string(unfinished_suffix);
  const auto on_root = [&](const auto& work) {
    comm.agree([&] {
      if (comm.is_root()) work();
    });
  };
  on_root([&] {
    std::error_code error;
    fs::create_directories(folder, error);
    discard_leftovers(folder);
    if (!error) fs::create_directory(unfinished, error);
    require(!error, ExitCode::file_system,
            fmt::format("{}: the folder cannot be made: {}.", unfinished.string(), error.message()));
  });
  try {
    const std::uint64_t bytes = checkpoint_bytes(comm, parts) + header.state.size() + header.resolved_deck.size() +
                                header.provenance.size() + header.cuts.size() * sizeof(std::uint64_t);
    require_free_space(comm, folder, bytes, "a checkpoint");
    const Manifest manifest = write_state(comm, state_file(unfinished), header, parts, policy.mode);
    on_root([&] {
      write_text_atomically(manifest_file(unfinished), manifest.text());  // flushes the folder as well
    });
    const std::vector<std::string> problems = verify_checkpoint(comm, unfinished);
    require(problems.empty(), ExitCode::file_system,
            fmt::format("A checkpoint does not read back as it was written: {} Older checkpoints were kept. Check the "
                        "disk.",
                        problems.empty() ? "" : problems[0]));
    on_root([&] {
      put_in_place(unfinished, checkpoint);
      discard_superseded(folder, checkpoint, policy.keep);
    });
  } catch (const Error&) {
    std::error_code ignored;
    if (comm.is_root()) fs::remove_all(unfinished, ignored);
    throw;
  }
  return checkpoint;
}

CheckpointHeader read_header(const Comm& comm, const fs::path& checkpoint) {
  const SavedState saved(comm, checkpoint);
  const auto read = [&](const char* name, RowType type) {
    return saved.read_bytes(fmt::format("{}/{}", header_group, name), type);
  };
  CheckpointHeader header;
  header.step = saved.manifest().step;
  header.time = saved.manifest().time;
  header.state = read("state", {Number::uint8});
  header.resolved_deck = read("resolved_deck", {Number::uint8});
  header.provenance = read("provenance", {Number::uint8});
  const std::string cuts = read("cuts", {Number::uint64});
  header.cuts.resize(cuts.size() / sizeof(std::uint64_t));
  std::memcpy(header.cuts.data(), cuts.data(), cuts.size());
  return header;
}

void read_part(const Comm& comm, const fs::path& checkpoint, const std::string& name, Table& table) {
  const SavedState saved(comm, checkpoint);
  const std::vector<SavedPart>& parts = saved.manifest().parts;
  const auto part = std::find_if(parts.begin(), parts.end(), [&](const SavedPart& p) { return p.name == name; });
  require(part != parts.end(), ExitCode::checkpoint,
          fmt::format("{}: it holds nothing of \"{}\". Was the checkpoint written from another deck?",
                      checkpoint.string(), name));

  std::vector<std::string> expected, found;
  for (const ColumnView& column : table.columns(Keep::state)) expected.emplace_back(column.label.name);
  const std::string group = table_group(name) + '/';
  for (const auto& [data_set, rows] : saved.manifest().state.data_sets)
    if (data_set.starts_with(group)) found.push_back(data_set.substr(group.size()));
  std::sort(expected.begin(), expected.end());
  require(expected == found, ExitCode::checkpoint,  // the manifest lists them sorted
          fmt::format("{}: \"{}\" was saved with the fields {}, but this run needs {}. Was its material changed?",
                      checkpoint.string(), name, fmt::join(found, ", "), fmt::join(expected, ", ")));

  const std::string rank_rows = rank_rows_data_set(name);
  std::int64_t first = slice_begin(part->rows, comm.rank(), comm.size());
  std::int64_t count = slice_begin(part->rows, comm.rank() + 1, comm.size()) - first;
  if (saved.rows_of(rank_rows) == comm.size()) {
    saved.read_all(rank_rows, {Number::int64}, comm.rank(), 1, &count);
    comm.agree([&] {
      require(0 <= count && count <= part->rows, ExitCode::checkpoint,
              fmt::format("{}: {} does not have as many rows as \"{}\".", checkpoint.string(), rank_rows, name));
    });
    first = comm.offset(count);
  }
  table.resize(0);
  table.resize(static_cast<std::size_t>(count));
  for (const ColumnView& column : table.columns(Keep::state))
    saved.read_all(field_data_set(name, column.label.name), row_type(column), first, static_cast<std::size_t>(count),
                   column.data);
}

std::vector<std::string> verify_checkpoint(const Comm& comm, const fs::path& checkpoint) {
  try {
    return SavedState(comm, checkpoint).damaged_data_sets();
  } catch (const Error& error) {
    return {error.what()};
  }
}

std::vector<fs::path> list_checkpoints(const fs::path& folder) {
  std::vector<fs::path> checkpoints;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (is_checkpoint_name(entry.path().filename().string())) checkpoints.push_back(entry.path());
  std::sort(checkpoints.begin(), checkpoints.end());
  return checkpoints;
}

std::int64_t step_of_checkpoint(const fs::path& checkpoint) {
  const std::string name = checkpoint.filename().string();
  WEFT_ENSURE(is_checkpoint_name(name));
  return std::stoll(name.substr(5));
}

FoundCheckpoint find_checkpoint(const Comm& comm, const fs::path& folder) {
  const std::vector<std::string> names = lines_from_root(comm, [&] {
    std::vector<std::string> all;
    for (const fs::path& checkpoint : list_checkpoints(folder)) all.push_back(checkpoint.filename().string());
    return all;
  });
  FoundCheckpoint found;
  for (auto name = names.rbegin(); name != names.rend() && !found.path; ++name) {
    const std::vector<std::string> problems = verify_checkpoint(comm, folder / *name);
    if (problems.empty()) found.path = folder / *name;
    else found.passed_over.push_back(problems[0]);
  }
  return found;
}

std::uint64_t checkpoint_bytes(const Comm& comm, std::span<const CheckpointPart> parts) {
  std::int64_t rows = 0, bookkeeping = 8 << 10;
  for (const CheckpointPart& part : parts)
    for (const ColumnView& column : part.table->columns(Keep::state)) {
      rows += static_cast<std::int64_t>(part.table->owned() * column.row_bytes);
      bookkeeping += 1 << 10;
    }
  return static_cast<std::uint64_t>(comm.sum(rows) + bookkeeping);
}

}  // namespace weft
