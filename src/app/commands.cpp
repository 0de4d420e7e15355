#include "app/commands.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include "app/layouts.hpp"
#include "app/selftest.hpp"
#include "app/signals.hpp"
#include "app/walltime.hpp"
#include "weft/base/log.hpp"
#include "weft/base/read_text.hpp"
#include "weft/deck/petsc.hpp"
#include "weft/deck/read.hpp"
#include "weft/output/checkpoint.hpp"
#include "weft/output/export.hpp"
#include "weft/output/files.hpp"
#include "weft/output/inspect.hpp"
#include "weft/run/bench.hpp"
#include "weft/run/bench_write.hpp"
#include "weft/run/loop.hpp"
#include "weft/run/provenance.hpp"
#include "weft/run/status.hpp"
#include "weft/scene/catalogue.hpp"
#include "weft/scene/shells.hpp"

namespace weft {
namespace {

using std::filesystem::path;

/// The deck, read by the root alone and understood by all. Collective.
Deck load_deck(const Comm& comm, const std::string& file, const std::vector<std::string>& overrides) {
  std::string text;
  comm.agree([&] {
    if (comm.is_root()) text = deck_text(file);
  });
  return parse_deck(comm.broadcast(std::move(text)), file, std::filesystem::absolute(file).parent_path().string(),
                    overrides);
}

void print_on_root(const Comm& comm, const std::string& text) {
  if (comm.is_root()) fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
}

/// Runs `work` on the root alone; all ranks return its result or throw its error. Collective.
int on_root(const Comm& comm, const std::function<int()>& work) {
  int result = 0;
  comm.agree([&] {
    if (comm.is_root()) result = work();
  });
  return static_cast<int>(comm.max(Real(result)));
}

/// Adds an option whose value has one of some names; the help goes on with them.
template <class Choice>
CLI::Option* add_choice(CLI::App& command, const std::string& flags, Choice& value,
                        const std::map<std::string, Choice>& choices, const std::string& help) {
  std::string names;
  for (const auto& [name, choice] : choices) names += (names.empty() ? "" : "|") + name;
  const auto choose = [&value, choices, names, flags](const std::string& name) {
    const auto found = choices.find(name);
    if (found == choices.end()) throw CLI::ValidationError(flags, fmt::format("\"{}\" is none of {}", name, names));
    value = found->second;
  };
  return command.add_option_function<std::string>(flags, choose, help)->type_name(names);
}

struct DeckArguments {
  std::string file;
  std::vector<std::string> overrides;

  void add_to(CLI::App& command) {
    command.add_option("deck", file, "The deck, a YAML file")->required();
    command.add_option("--set", overrides, "Change a key of the deck: key.path=value (list entries by name)")
        ->allow_extra_args(false);
  }
};

/// Options for PETSc without -log_view[:file], which is not for its solvers.
std::string without_profile(const std::string& options) {
  std::istringstream words(options);
  std::string others;
  for (std::string word; words >> word;)
    if (!word.starts_with("-log_view")) others += word + " ";
  return others;
}

/// How this program was called.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline");
  std::string line, word;
  while (std::getline(file, word, '\0')) line += (line.empty() ? "" : " ") + word;
  return line;
}

void add_run(CLI::App& app, Command& chosen) {
  struct Arguments {
    DeckArguments deck;
    std::string output, walltime, petsc;
    RunOptions options;
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("run", "Run a deck");
  a->deck.add_to(*command);
  command->add_option("-o,--output", a->output, "Folder for the results [out/<name of the deck>]");
  command->add_option("--until", a->options.until, "Stop at this time [s] instead of time.end")
      ->check([](const std::string& text) {
        const double time = std::strtod(text.c_str(), nullptr);
        return time >= 0 && std::isfinite(time) ? "" : "expected a time of 0 or more, in s";
      });
  command->add_option("--steps", a->options.steps, "Stop at this step, counted from the start of the scene")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--resume", a->options.resume,
                      "Go on from a checkpoint: its folder, or auto for the newest whole one");
  command->add_option("--checkpoint-every", a->options.checkpoint_every, "Steps between checkpoints")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--walltime", a->walltime,
                      "Stop in time for a checkpoint: HH:MM:SS, or slurm for the job's limit");
  command->add_option("--petsc", a->petsc,
                      "Options for PETSc's SNES, KSP and PC after those of solve.petsc, and -log_view[:file]: "
                      "\"-ksp_monitor -log_view\"");
  command->add_flag(
      "--force", a->options.force,
      "Replace a run that the output folder already holds, or what it has after the checkpoint of --resume");
  command->callback([a, &chosen] {
    Requests& requests = requests_by_signal();  // at once: a signal while MPI starts asks for the same as later
    chosen.chosen = [a, &requests](const Comm& comm) {
      Deck deck = load_deck(comm, a->deck.file, a->deck.overrides);
      const std::string complaint = complaint_about_petsc(without_profile(a->petsc));
      require(complaint.empty(), ExitCode::deck, "--petsc: " + complaint);
      if (!a->petsc.empty()) deck.solve.petsc += " " + a->petsc;
      RunOptions options = a->options;
      options.command = command_line();
      options.deck_file = std::filesystem::absolute(a->deck.file).string();
      options.output = a->output.empty() ? path("out") / path(a->deck.file).stem() : path(a->output);
      comm.agree([&] {  // the others need not have the environment of the job, nor the limit
        if (comm.is_root() && !a->walltime.empty()) options.wall_limit = wall_limit_from(a->walltime);
      });
      run(comm, deck, options, requests);
      return 0;
    };
  });
}

void add_check(CLI::App& app, Command& chosen) {
  struct Arguments {
    DeckArguments deck;
    bool resolved = false;
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("check", "Build everything that a deck describes and say what a run would take");
  a->deck.add_to(*command);
  command->add_flag("--resolved", a->resolved, "Print the deck with every key and its value before");
  command->callback([a, &chosen] {
    chosen.chosen = [a](const Comm& comm) {
      const Deck deck = load_deck(comm, a->deck.file, a->deck.overrides);
      const std::string forecast = check(comm, deck);
      print_on_root(comm, (a->resolved ? resolved_yaml(deck) + "\n" : "") + forecast);
      return 0;
    };
  });
}

/// Benches a deck in every layout of ranks and threads that fills this machine, each a run of its own, and names the
/// best. Layouts that cannot be run are left out of the choice. Throws Error(failure) if none can.
std::string bench_layouts(const std::vector<std::string>& deck_arguments, int steps, bool json) {
  std::string text = fmt::format("{:>6}{:>9}{:>24}\n", "ranks", "threads", "M particle steps/s");
  nlohmann::json results = nlohmann::json::array();
  Layout best{0, 0};
  Real most = 0;
  for (const Layout& layout : layouts_of(omp_get_num_procs())) {
    std::vector<std::string> arguments{"bench", "--here", "--json", "--steps", std::to_string(steps)};
    arguments.insert(arguments.end(), deck_arguments.begin(), deck_arguments.end());
    const auto result = nlohmann::json::parse(output_of(layout, arguments), nullptr, false);
    if (!result.is_object()) {
      text += fmt::format("{:>6}{:>9}{:>24}\n", layout.ranks, layout.threads, "could not be run");
      continue;
    }
    const Real rate = result.at("particle_steps_per_second");
    text += fmt::format("{:>6}{:>9}{:>24.4g}\n", layout.ranks, layout.threads, rate / 1e6);
    results.push_back(result);
    if (rate > most) most = rate, best = layout;
  }
  require(best.ranks > 0, ExitCode::failure,
          "mpiexec could not run this program. `mpiexec -n 1 weft bench --here DECK` says why; --here alone measures "
          "without mpiexec.");
  if (json)
    return nlohmann::json{{"layouts", results}, {"best", {{"ranks", best.ranks}, {"threads", best.threads}}}}.dump(2);
  return text + fmt::format("Best: OMP_NUM_THREADS={} mpiexec -n {} weft run ...", best.threads, best.ranks);
}

void add_bench(CLI::App& app, Command& chosen) {
  struct Arguments {
    std::string deck, write_into;
    std::vector<std::string> overrides;
    BenchScene scene;
    int steps = 20;
    bool json = false, here = false;
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "bench", "Measure how fast steps are: a standard scene, or a deck in all layouts of ranks and threads");
  CLI::Option* deck_option = command->add_option("deck", a->deck, "A deck [a standard scene]");
  command->add_option("--set", a->overrides, "Change a key of the deck: key.path=value")->allow_extra_args(false);
  using Kind = BenchScene::Kind;
  const std::map<std::string, Kind> kinds{{"continuum", Kind::continuum}, {"membrane", Kind::membrane},
                                          {"fiber", Kind::fiber},         {"shell", Kind::shell},
                                          {"solid", Kind::solid},         {"strand", Kind::strand}};
  CLI::Option* kind_option =
      add_choice(*command, "--kind", a->scene.kind, kinds, "Of the standard scene [continuum]")->excludes(deck_option);
  command->add_option("--particles", a->scene.particles, "Of the standard scene: its points, about")
      ->capture_default_str()
      ->excludes(deck_option);
  command->add_option("--law", a->scene.law, "Of the standard continuum")
      ->capture_default_str()
      ->excludes(deck_option)
      ->excludes(kind_option);
  command->add_option("--kernel", a->scene.kernel, "Of the standard scene")
      ->capture_default_str()
      ->excludes(deck_option);
  command->add_flag("--bending", a->scene.bending, "The standard membrane or fibers resist bending")
      ->excludes(deck_option);
  command->add_option("--fabric", a->scene.fabric, "The standard shell is of this fabric")->excludes(deck_option);
  command->add_flag("--contact", a->scene.contact, "The standard solid or strands meet the grid by contact points")
      ->excludes(deck_option);
  command->add_option("--steps", a->steps, "Steps that are timed")->capture_default_str()->check(CLI::PositiveNumber);
  command->add_flag("--json", a->json, "Print JSON");
  command->add_flag("--here", a->here, "Measure the deck with the ranks and threads of this run alone");
  command->add_option(
      "--write", a->write_into,
      "Measure instead how fast each writer (output.writer) puts checkpoints and frames into this folder");
  command->callback([a, &chosen] {
    chosen.chosen = [a](const Comm& comm) {
      const bool is_standard = a->deck.empty();
      require(!is_standard || a->overrides.empty(), ExitCode::deck, "--set changes a key of a deck: name one.");
      const Deck deck = is_standard ? bench_deck(a->scene) : load_deck(comm, a->deck, a->overrides);
      if (!a->write_into.empty()) {
        const BenchWriteResult result = bench_write(comm, deck, a->write_into);
        print_on_root(comm, a->json ? as_json(result) : as_text(result));
        return 0;
      }
      require(deck.time.scheme != Scheme::equilibrium, ExitCode::deck,
              fmt::format("{}: steps in time are measured, and \"scheme: static\" takes none.", a->deck));
      if (!is_standard && !a->here && comm.size() == 1) {
        std::vector<std::string> deck_arguments{a->deck};
        for (const std::string& change : a->overrides) deck_arguments.insert(deck_arguments.end(), {"--set", change});
        print_on_root(comm, bench_layouts(deck_arguments, a->steps, a->json));
        return 0;
      }
      const BenchResult result = bench(comm, deck, a->steps, is_standard ? &a->scene : nullptr);
      print_on_root(comm, a->json ? as_json(result) : as_text(result));
      return 0;
    };
  });
}

void add_info(CLI::App& app, Command& chosen) {
  auto file = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("info", "Say what is in a checkpoint or a frame");
  command->add_option("file", *file, "A checkpoint's folder, or a frame")->required();
  command->callback([file, &chosen] {
    chosen.chosen = [file](const Comm& comm) {
      return on_root(comm, [&] {
        fmt::print("{}\n", describe(*file));
        return 0;
      });
    };
  });
}

/// The checkpoints that a path means: itself, or all that a run or its checkpoint folder holds.
std::vector<path> checkpoints_at(const path& where) {
  for (const path& folder : {where / "checkpoints", where})
    if (const auto all = list_checkpoints(folder); !all.empty()) return all;
  return {where};
}

void add_verify(CLI::App& app, Command& chosen) {
  auto where = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("verify", "Read every byte of a checkpoint, or of all of a run, and check it");
  command->add_option("path", *where, "A checkpoint, or an output folder")->required();
  command->callback([where, &chosen] {
    chosen.chosen = [where](const Comm& comm) {
      bool whole = true;
      for (const path& checkpoint : checkpoints_at(*where)) {
        const auto problems = verify_checkpoint(comm, checkpoint);
        whole = whole && problems.empty();
        print_on_root(comm, fmt::format("{}: {}", checkpoint.string(), problems.empty() ? "whole" : "damaged"));
        for (const std::string& problem : problems) print_on_root(comm, "  " + problem);
      }
      return static_cast<int>(whole ? ExitCode::done : ExitCode::checkpoint);
    };
  });
}

/// A checkpoint, or the newest one of an output folder.
path newest_checkpoint_at(const path& where) { return checkpoints_at(where).back(); }

void add_compare(CLI::App& app, Command& chosen) {
  struct Arguments {
    std::string a, b;
    Real tolerance = 0;
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("compare", "Compare two checkpoints by particle id");
  command->add_option("a", a->a, "A checkpoint, or an output folder: its newest one")->required();
  command->add_option("b", a->b, "Another")->required();
  command->add_option("--tolerance", a->tolerance,
                      "Largest relative difference that counts as equal [0]; others are marked");
  command->callback([a, &chosen] {
    chosen.chosen = [a](const Comm& comm) {
      return on_root(comm, [&] {
        const Comparison comparison = compare_checkpoints(newest_checkpoint_at(a->a), newest_checkpoint_at(a->b));
        fmt::print("{}\n", comparison.text(a->tolerance));
        return comparison.largest() <= a->tolerance ? 0 : 1;
      });
    };
  });
}

void add_status(CLI::App& app, Command& chosen) {
  struct Arguments {
    std::string folder, key;
    bool json = false;
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("status", "Say how a run stands; the exit code tells scripts");
  command->add_option("folder", a->folder, "An output folder")->required();
  command->add_flag("--json", a->json, "As JSON");
  command->add_option("--print", a->key, "Only the value of this key of the JSON");
  command->callback([a, &chosen] {
    chosen.alone = [a] {
      const Outlook outlook = look_at_run(a->folder);
      fmt::print("{}\n", !a->key.empty() ? outlook.value(a->key) : a->json ? outlook.json() : outlook.text());
      return static_cast<int>(status_code(outlook.status));
    };
  });
}

void add_selftest(CLI::App& app, Command& chosen) {
  auto output = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("selftest", "Test this installation by a small run, in seconds");
  command->add_option("-o,--output", *output, "A new or empty folder that all ranks see [one for temporary files]");
  command->callback([output, &chosen] {
    chosen.chosen = [output](const Comm& comm) {
      const std::string temporary = "weft_selftest_" + std::to_string(::getpid());
      const path folder = output->empty() ? std::filesystem::temp_directory_path() / temporary : path(*output);
      return selftest(comm, comm.broadcast(folder.string()));
    };
  });
}

/// Of the fibers or strands of a body where they begin [m]; of a flat section the larger one, and 0 if a file tells it.
Real thickness_of_curves(const Deck& deck, const std::string& name) {
  for (const BodyDeck& body : deck.bodies) {
    if (const auto* fiber = std::get_if<FiberDeck>(&body); fiber && fiber->name == name) return 2 * fiber->radius;
    const auto* strand = std::get_if<StrandDeck>(&body);
    if (!strand || strand->name != name) continue;
    if (const auto* round = std::get_if<RoundSectionDeck>(&strand->section)) return 2 * round->radius;
    if (const auto* flat = std::get_if<EllipticSectionDeck>(&strand->section))
      return 2 * std::ranges::max(flat->half_axes);
  }
  return 0;
}

/// What export wants to know of a run's bodies, from its resolved deck.
void look_at_bodies(const path& output, ExportOptions& options) {
  const path file = output / "resolved.yaml";
  Deck deck = parse_saved_deck(read_text(file), file.string(), output.string());
  find_files_again(deck, output);
  options.spacing = [deck](const std::string& name) -> std::optional<Real> {
    for (const BodyDeck& body : deck.bodies)
      if (const auto* points = std::get_if<ContinuumDeck>(&body); points && points->name == name)
        return deck.domain.dx / std::cbrt(Real(points->particles_per_cell));
    return std::nullopt;  // nodes of the grid, and contact points
  };
  options.thickness = [deck](const std::string& name) { return thickness_of_curves(deck, name); };
  if (!deck.domain.gravity.isZero(0)) deck.domain.gravity.cwiseAbs().maxCoeff(&options.up);
  const auto is_gone = [](const auto& body) {
    const auto* from_file = std::get_if<MeshFileDeck>(&body.mesh.form);
    return from_file != nullptr && from_file->file.empty();
  };
  const auto warn_of_gone = [&](const std::string& name) {
    log_warning(
        fmt::format("{}: the mesh of \"{}\" is not where it was with the content that the run took: its "
                    "faces are written as they were drawn.",
                    output.string(), name));
  };
  const auto warn_if_gone = [&](const auto& body) {
    if (is_gone(body)) warn_of_gone(body.name);
  };
  const auto file_of = [](const ColliderDeck& collider) { return std::get_if<MeshDeck>(&collider.shape.form); };
  for (const ColliderDeck& collider : deck.colliders)
    if (const MeshDeck* mesh = file_of(collider); mesh && mesh->file.empty()) warn_of_gone(collider.name);
  for (const BodyDeck& body : deck.bodies) {
    if (const auto* sheet = std::get_if<MembraneDeck>(&body)) warn_if_gone(*sheet);
    if (const auto* shell = std::get_if<ShellDeck>(&body)) warn_if_gone(*shell);
  }
  options.rest = [deck, is_gone, file_of](const std::string& name) -> std::optional<FormAtRest> {
    const Comm alone(MPI_COMM_SELF);
    for (const BodyDeck& body : deck.bodies) {
      const auto* sheet = std::get_if<MembraneDeck>(&body);
      const auto* shell = std::get_if<ShellDeck>(&body);
      if (sheet && sheet->name == name && !is_gone(*sheet)) return make_surface(alone, sheet->mesh);
      if (shell && shell->name == name && !is_gone(*shell)) return make_control_mesh(alone, shell->mesh);
    }
    for (const ColliderDeck& collider : deck.colliders)
      if (const MeshDeck* mesh = file_of(collider); mesh && "collider_" + collider.name == name && !mesh->file.empty())
        return collider.hollow ? reversed(make_surface(alone, *mesh)) : make_surface(alone, *mesh);
    return std::nullopt;
  };
}

void add_export(CLI::App& app, Command& chosen) {
  struct Arguments {
    std::string output, folder;
    ExportOptions options;
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("export", "Write frames as surfaces, curves or volumes for artists' tools");
  command->add_option("output", a->output, "An output folder")->required();
  const std::map<std::string, ExportFormat> formats{{"obj", ExportFormat::obj},
                                                    {"ply", ExportFormat::ply},
                                                    {"vdb", ExportFormat::vdb},
                                                    {"hair", ExportFormat::hair},
                                                    {"bcc", ExportFormat::bcc}};
  add_choice(*command, "--to,--format", a->options.format, formats,
             "obj: surfaces and curves; ply: surfaces; vdb: level set, density and velocity; hair, bcc: curves")
      ->required();
  command->add_option("--only", a->options.only, "A body or collider (again for more) [all]")->allow_extra_args(false);
  command->add_option("--folder", a->folder, "Where the files go [OUTPUT/export]");
  command->add_option("--voxels", a->options.voxels_per_spacing, "Voxels in each direction for a particle [2]")
      ->check(CLI::Range(1.25, 10.0));
  command->add_option("--smooth", a->options.smoothing, "How often surfaces are smoothed [2]")
      ->check(CLI::Range(0, 100));
  command->callback([a, &chosen] {
    chosen.chosen = [a](const Comm& comm) {
      const path output = a->output;
      a->options.folder = a->folder.empty() ? output / "export" : path(a->folder);
      comm.agree([&] { look_at_bodies(output, a->options); });
      const auto files = export_frames(comm, output / "frames", a->options);
      print_on_root(comm, fmt::format("{} files in {}", files, a->options.folder.string()));
      return 0;
    };
  });
}

void add_text(CLI::App& app, Command& chosen, const char* name, const char* help, std::string (*text)()) {
  app.add_subcommand(name, help)->callback([text, &chosen] {
    chosen.alone = [text] {
      const std::string all = text();
      fmt::print("{}{}", all, all.ends_with('\n') ? "" : "\n");
      return 0;
    };
  });
}

}  // namespace

std::shared_ptr<Command> add_commands(CLI::App& app) {
  auto chosen = std::make_shared<Command>();
  add_run(app, *chosen);
  add_check(app, *chosen);
  add_bench(app, *chosen);
  add_info(app, *chosen);
  add_verify(app, *chosen);
  add_compare(app, *chosen);
  add_status(app, *chosen);
  add_selftest(app, *chosen);
  add_export(app, *chosen);
  add_text(app, *chosen, "schema", "Print the JSON Schema of decks, for editors", deck_schema);
  add_text(app, *chosen, "reference", "Print the reference of all deck keys, in Markdown", deck_reference);
  app.require_subcommand(0, 1);
  return chosen;
}

}  // namespace weft
