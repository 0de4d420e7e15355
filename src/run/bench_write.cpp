#include "weft/run/bench_write.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "run/analysis.hpp"
#include "run/watchdog.hpp"
#include "run/write_mode.hpp"
#include "weft/base/check.hpp"
#include "weft/base/timer.hpp"
#include "weft/output/checkpoint.hpp"
#include "weft/output/files.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr int tries = 5;

/// A new folder that goes with all in it at the end of its scope. Collective.
class NewFolder {
 public:
  NewFolder(const Comm& comm, const fs::path& where) : comm_(comm) {
    path_ = comm.broadcast((where / fmt::format("weft_bench_{}", ::getpid())).string());
    comm_.agree([&] {
      if (!comm_.is_root()) return;
      require(!make_output_folder(path_).empty(), ExitCode::file_system,
              fmt::format("{}: there is such a folder already. Move it away.", path_.string()));
      fs::create_directory(path_ / "frames");
    });
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder() {
    std::error_code ignored;
    if (comm_.is_root()) fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  const Comm& comm_;
  fs::path path_;
};

/// Wall time of work that all ranks do [s]. Collective.
template <class Work>
Real seconds_of(const Comm& comm, const Work& work) {
  comm.barrier();
  const double began = wall_seconds();
  work();
  return comm.max(wall_seconds() - began);
}

Real median(std::vector<Real> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Of all files in a folder and below with this ending, on the root; elsewhere 0 [byte].
Real bytes_in(const Comm& comm, const fs::path& folder, const std::string& ending) {
  Real bytes = 0;
  comm.agree([&] {
    if (!comm.is_root()) return;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().extension() == ending) bytes += static_cast<Real>(entry.file_size());
  });
  return bytes;
}

/// Times one writer; counts bytes and points, too. Collective.
WriteTimes measure(const Comm& comm, const Deck& deck, const fs::path& where, BenchWriteResult& result) {
  const NewFolder folder(comm, where);
  Watchdog watchdog(deck.time.watchdog, comm.rank(), folder.path() / "log.txt");
  const auto advice = watchdog.advise(advice_on_hanging_files(deck.output));
  Timers timers;
  const RunEnd end{deck.time.end, std::numeric_limits<std::int64_t>::max()};
  const std::unique_ptr<Analysis> analysis = make_analysis(comm, deck, end, timers);
  analysis->start();
  analysis->open_frames(folder.path(), false);
  CheckpointHeader header;
  header.cuts = analysis->cuts();
  const std::vector<CheckpointPart> tables = analysis->tables();
  std::vector<Real> checkpoints, frames;
  for (int k = 0; k < tries; ++k) {
    checkpoints.push_back(seconds_of(comm, [&] {
      write_checkpoint(comm, folder.path() / "checkpoints", header, tables,
                       {.keep = 1, .mode = write_mode(deck.output)});
    }));
    frames.push_back(seconds_of(comm, [&] { analysis->draw(); }));
    watchdog.beat();
  }
  result.points = static_cast<std::int64_t>(analysis->points());
  result.checkpoint_bytes = comm.sum(bytes_in(comm, folder.path(), ".h5"));
  result.frame_bytes = comm.sum(bytes_in(comm, folder.path(), ".hdf"));
  return {deck.output.writer == FileWriter::collective ? "collective" : "direct", median(checkpoints), median(frames)};
}

}  // namespace

BenchWriteResult bench_write(const Comm& comm, const Deck& its_deck, const fs::path& folder) {
  BenchWriteResult result{};
  result.ranks = comm.size();
  result.tries = tries;
  Deck deck = its_deck;
  for (const FileWriter writer : {FileWriter::direct, FileWriter::collective}) {
    deck.output.writer = writer;
    result.writers.push_back(measure(comm, deck, folder, result));
  }
  return result;
}

std::string as_text(const BenchWriteResult& r) {
  std::string text = fmt::format(
      "{} points on {} ranks: a checkpoint of {:.4g} MB, a frame of {:.4g} MB; the median of {} of each\n\n"
      "{:<14}{:>14}{:>10}{:>14}{:>10}\n",
      r.points, r.ranks, r.checkpoint_bytes / 1e6, r.frame_bytes / 1e6, r.tries, "output.writer", "checkpoint [s]",
      "MB/s", "frame [s]", "MB/s");
  for (const WriteTimes& w : r.writers)
    text += fmt::format("{:<14}{:>14.3f}{:>10.4g}{:>14.3f}{:>10.4g}\n", w.writer, w.checkpoint,
                        r.checkpoint_bytes / 1e6 / w.checkpoint, w.frame, r.frame_bytes / 1e6 / w.frame);
  return text;
}

std::string as_json(const BenchWriteResult& r) {
  nlohmann::json j{{"points", r.points},
                   {"ranks", r.ranks},
                   {"tries", r.tries},
                   {"checkpoint_bytes", r.checkpoint_bytes},
                   {"frame_bytes", r.frame_bytes}};
  for (const WriteTimes& w : r.writers)
    j["writers"][w.writer] = {{"checkpoint_seconds", w.checkpoint}, {"frame_seconds", w.frame}};
  return j.dump(2) + "\n";
}

}  // namespace weft
