#include "weft/run/bench.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "run/edit.hpp"
#include "run/progress.hpp"
#include "run/step.hpp"
#include "run/totals.hpp"
#include "weft/bodies/continuum.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/parallel/traffic.hpp"
#include "weft/scene/build.hpp"

namespace weft {
namespace {

/// Steps before the clock starts: memory is touched, F is deformed.
constexpr int warm_up = 5;

// --- The machine -----------------------------------------------------------------------------------------------------

/// The best of a few tries of all ranks at once, as a rate of all of them. Collective.
template <class F>
Real rate_of(const Comm& comm, Real work_of_rank, F&& work) {
  Real best = std::numeric_limits<Real>::infinity();
  for (int attempt = 0; attempt < 4; ++attempt) {
    comm.barrier();
    const double began = wall_seconds();
    work();
    best = std::min(best, comm.max(wall_seconds() - began));
  }
  return comm.size() * work_of_rank / best;
}

Real copy_bandwidth(const Comm& comm) {
  constexpr std::ptrdiff_t count = 8 << 20;  // 64 MiB: more than caches hold
  const auto from = std::make_unique_for_overwrite<Real[]>(count), to = std::make_unique_for_overwrite<Real[]>(count);
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t i = 0; i < count; ++i) from[i] = to[i] = static_cast<Real>(i);
  return rate_of(comm, 2.0 * sizeof(Real) * count, [&] {
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < count; ++i) to[i] = from[i];
  });
}

Real multiply_adds(const Comm& comm) {
  using Vector = Real __attribute__((vector_size(__BIGGEST_ALIGNMENT__)));
  constexpr int chains = 12, rounds = 2'000'000;  // enough chains to hide the latency
  constexpr int width = sizeof(Vector) / sizeof(Real);
  const Real flops = 2.0 * width * chains * rounds * omp_get_max_threads();
  volatile Real result = 0;  // so that the work is done
  return rate_of(comm, flops, [&] {
#pragma omp parallel
    {
      Vector sums[chains], factor, addend;
      for (int lane = 0; lane < width; ++lane) {
        factor[lane] = 1 - 1e-9 * (result + lane + 1);
        addend[lane] = 1e-9;
      }
      for (int c = 0; c < chains; ++c) sums[c] = factor;
      for (int r = 0; r < rounds; ++r)
#pragma GCC unroll 12
        for (int c = 0; c < chains; ++c) sums[c] = sums[c] * factor + addend;
      Real sum = 0;
      for (int c = 0; c < chains; ++c) sum += sums[c][0];
#pragma omp atomic write
      result = 1e-3 * sum;
    }
  });
}

// --- The least that a phase must do ----------------------------------------------------------------------------------

/// Every column of points read or written once by each phase that needs it, and the multiplications and additions of
/// the loops over nodes (src/transfer/stencil_kernel.hpp) with n nodes along each axis. `kept`: bytes that a law keeps
/// of a point.
std::vector<std::pair<std::string, LeastWork>> least_work(KernelKind kernel, Real kept) {
  constexpr Real scalar = sizeof(Real), vector = sizeof(Vec3), matrix = sizeof(Mat3), index = sizeof(std::uint32_t);
  const Real n = static_cast<int>(kernel) + 2;
  return {
      {"sort", {vector + scalar + 2 * index, 0}},
      {"scatter", {index + 2 * vector + matrix + scalar, 12 * n * n * n + 8 * n * n + 8 * n + 80}},
      {"gather", {index + vector, (n * n + n + 1) * (12 * n - 8) + 8 * n * n + 16 * n + 36}},
      {"law", {(scalar + kept) + (2 * vector + vector + matrix + 2 * kept), 0}},
  };
}

/// Memory that a law keeps for a point [byte].
Real kept_of(Table& points) {
  Table known = Table::with<Id, Home, Position, Velocity, Affine, Mass>();
  Real bytes = 0;
  for (const ColumnView& column : points.columns(Keep::state))
    if (known.column(column.label.name).row_bytes == 0) bytes += static_cast<Real>(column.row_bytes);
  return bytes;
}

/// A rotation about the middle whose fastest point reaches the CFL number, and waves that strain every point by some
/// percent, eight cells from crest to trough.
void stir_points(const Comm& comm, Scene& scene, RunState& state) {
  find_limits(comm, scene, state);
  const Real step = size_of_step(comm, scene, state, 1).dt, dx = scene.dx;
  const Box box = box_of_points(comm, scene);
  const Vec3 middle = (box.lower + box.upper) / 2, half = (box.upper - box.lower) / 2;
  const Real wave_speed = 0.05 * dx / step, wave_number = M_PI / (8 * dx);
  const Real spin = 0.22 * dx / step / std::hypot(half.x(), half.z());
  for (const auto& body : scene.bodies) {
    const auto x = body->points().get<Position>(), v = body->points().get<Velocity>();
    for (std::size_t p = 0; p < x.size(); ++p) {
      const Vec3 r = x[p] - middle;
      const auto wave = [&](Real at) { return wave_speed * std::sin(wave_number * at); };
      v[p] = Vec3(spin * r.z() + wave(r.y()), wave(r.z()), -spin * r.x() + wave(r.x()));
    }
  }
  find_limits(comm, scene, state);
}

/// The worst imbalance of several moments. points: of this rank, at each of them. Collective.
Real worst_imbalance(const Comm& comm, std::vector<Real> points) {
  std::vector<Real> all = points;
  comm.sum(all);
  comm.max(points);
  Real worst = 1;
  for (std::size_t m = 0; m < all.size(); ++m)
    if (all[m] > 0) worst = std::max(worst, points[m] * comm.size() / all[m]);
  return worst;
}

/// The messages between two looks at the counts, in `steps` steps. Collective.
BenchExchange exchange_of(const Comm& comm, const Traffic& before, const Traffic& after, int steps,
                          const BlockMap& map) {
  const auto mean = [&](std::int64_t count) { return static_cast<Real>(comm.sum(count)) / comm.size(); };
  const auto per_step = [&](std::int64_t first, std::int64_t last) { return mean(last - first) / steps; };
  const auto all_bytes = [](const Traffic& t) { return t.ghosts.bytes + t.shipped.bytes + t.asked.bytes; };

  BenchExchange e{};
  e.owned_blocks = mean(map.owned());
  e.ghost_blocks = mean(map.size() - map.owned());
  e.neighbours = mean(map.forest().neighbours());
  e.most_neighbours = comm.max(Real(map.forest().neighbours()));
  e.ghost_messages = per_step(before.ghosts.messages, after.ghosts.messages);
  e.ghost_bytes = per_step(before.ghosts.bytes, after.ghosts.bytes);
  e.shipped_messages = per_step(before.shipped.messages, after.shipped.messages);
  e.shipped_bytes = per_step(before.shipped.bytes, after.shipped.bytes);
  e.asked_messages = per_step(before.asked.messages, after.asked.messages);
  e.asked_bytes = per_step(before.asked.bytes, after.asked.bytes);
  e.most_bytes = comm.max(static_cast<Real>(all_bytes(after) - all_bytes(before))) / steps;
  e.reductions = per_step(before.reductions, after.reductions);
  return e;
}

/// A run without files.
struct BenchRun {
  BenchRun(const Comm& its_comm, const Deck& deck)
      : comm(its_comm),
        scene(build_scene(comm, deck)),
        state(start_scene(comm, scene)),
        stepper(comm, scene, state, timers) {
    stepper.bring_home(true);
  }

  Real points_here() const { return static_cast<Real>(scene.points()); }
  /// Takes steps and counts. Collective.
  void take(int count) {
    for (int s = 0; s < count; ++s) {
      if (state.step % scene.deck.balance.every == 0) {
        const auto timing = timers.measure("balance");
        const Cuts before = state.cuts;
        stepper.balance();
        if (!(state.cuts == before)) after_cuts.push_back(points_here());
      }
      refused += stepper.take(std::numeric_limits<Real>::infinity()).retries;
      after_steps.push_back(points_here());
      if (state.step % scene.deck.output.diagnostics_every != 0) continue;
      const auto timing = timers.measure("record");
      totals_of(comm, scene);
    }
  }

  const Comm& comm;
  Timers timers;
  Scene scene;
  RunState state;
  Stepper stepper;
  int refused = 0;
  std::vector<Real> after_steps, after_cuts;  ///< Points of this rank.
};

/// Of the rates of the machine in `rates`; standard: the scene, if it is one. Collective.
std::vector<BenchPhase> phases_of(const Comm& comm, const BenchRun& run, Real particle_steps, const BenchResult& rates,
                                  const BenchScene* standard) {
  auto work = least_work(run.scene.layers.front().transfer.kernel, kept_of(run.scene.bodies.front()->points()));
  if (standard) std::ranges::copy(least_work_of_mesh(*standard), std::back_inserter(work));  // the last entry counts
  std::vector<BenchPhase> phases;
  for (const char* name : step_phases) {
    Real spent = 0;
    for (const auto& phase : run.timers.phases())
      if (phase.name == name) spent = phase.seconds;
    BenchPhase phase{name, 1e9 * comm.sum(spent) / comm.size() / particle_steps, 0, 0};
    for (const auto& [of_phase, least] : work)
      if (phase.name == of_phase) {
        phase.memory_floor = 1e9 * least.bytes / rates.copy_bandwidth;
        phase.arithmetic_floor = 1e9 * least.flops / rates.multiply_adds;
      }
    phases.push_back(phase);
  }
  return phases;
}

/// What meshes have besides points. Collective.
void count_meshes(const Comm& comm, const Scene& scene, BenchResult& result) {
  for (const auto& body : scene.bodies) {
    const Roles roles = body->roles();
    if (roles.mesh != nullptr) result.elements += roles.mesh->counts().elements;
    if (roles.contact_points != nullptr)
      result.contact_points += comm.sum(static_cast<std::int64_t>(roles.contact_points->points().owned()));
  }
}

}  // namespace

BenchResult bench(const Comm& comm, const Deck& deck, int steps, const BenchScene* standard) {
  BenchResult result{};
  result.steps = steps;
  result.ranks = comm.size();
  result.threads = omp_get_max_threads();
  const std::int64_t bytes_before = resident_bytes();

  BenchRun run(comm, deck);
  if (standard) stir_points(comm, run.scene, run.state);
  run.after_cuts.push_back(run.points_here());
  run.take(warm_up);
  run.timers = Timers();
  run.refused = 0;
  run.after_steps.clear();
  const std::size_t cuts_before = run.after_cuts.size();
  comm.barrier();
  const Traffic sent_before = traffic();
  const double began = wall_seconds();
  run.take(steps);
  const Traffic sent_after = traffic();
  const double seconds = comm.max(wall_seconds() - began);
  result.refused = run.refused;
  result.exchange = exchange_of(comm, sent_before, sent_after, steps, run.stepper.map());
  result.exchange.cuts = static_cast<Real>(run.after_cuts.size() - cuts_before);
  result.exchange.imbalance_cut = worst_imbalance(comm, run.after_cuts);
  result.exchange.imbalance_most = worst_imbalance(comm, run.after_steps);

  result.particles = comm.sum(run.scene.points());
  count_meshes(comm, run.scene, result);
  const Real particle_steps = static_cast<Real>(result.particles) * steps;
  result.particle_steps_per_second = particle_steps / seconds;
  return_freed_memory();  // of set-up
  result.bytes_per_particle =
      static_cast<Real>(comm.sum(resident_bytes() - bytes_before)) / static_cast<Real>(result.particles);
  result.copy_bandwidth = copy_bandwidth(comm);
  result.multiply_adds = multiply_adds(comm);
  result.phases = phases_of(comm, run, particle_steps, result, standard);
  return result;
}

std::string as_text(const BenchResult& r) {
  std::string text = fmt::format(
      "{} particles, {} steps, {} tries with a larger dt refused, {} ranks x {} threads\n"
      "{:.2f} M particle steps/s, {:.2f} per core; {:.0f} bytes per particle\n"
      "machine: copies {:.1f} GB/s, {:.1f} GFLOP/s\n\n"
      "{:<10}{:>18}{:>18}{:>18}\n",
      r.particles, r.steps, r.refused, r.ranks, r.threads, r.particle_steps_per_second / 1e6,
      r.particle_steps_per_second / 1e6 / (r.ranks * r.threads), r.bytes_per_particle, r.copy_bandwidth / 1e9,
      r.multiply_adds / 1e9, "phase", "ns/particle step", "memory floor", "arithmetic floor");
  const auto number = [](Real value) { return value > 0 ? fmt::format("{:.1f}", value) : std::string("-"); };
  Real all = 0;
  for (const BenchPhase& p : r.phases) {
    text += fmt::format("{:<10}{:>18.1f}{:>18}{:>18}\n", p.name, p.nanoseconds, number(p.memory_floor),
                        number(p.arithmetic_floor));
    all += p.nanoseconds;
  }
  text += fmt::format("{:<10}{:>18.1f}\n", "all", all);
  if (r.elements > 0) {
    const Real seconds = static_cast<Real>(r.particles) / r.particle_steps_per_second;  // of a step
    text += fmt::format("\n{} elements, {} contact points: {:.1f} ns of a step for an element\n", r.elements,
                        r.contact_points, 1e9 * seconds / static_cast<Real>(r.elements));
  }
  const BenchExchange& e = r.exchange;
  if (r.ranks > 1)
    text += fmt::format(
        "\na rank, in a step: {:.0f} blocks and {:.0f} ghosts, {:.1f} neighbours (at most {:.0f})\n"
        "messages and bytes: {:.1f}, {:.0f} for nodes; {:.1f}, {:.0f} for points; {:.1f}, {:.0f} for who owns what\n"
        "the busiest sends {:.0f} bytes; all wait for one another {:.1f} times\n"
        "{:.0f} new cuts of the curve; imbalance at most {:.3f} after one, {:.3f} after a step\n",
        e.owned_blocks, e.ghost_blocks, e.neighbours, e.most_neighbours, e.ghost_messages, e.ghost_bytes,
        e.shipped_messages, e.shipped_bytes, e.asked_messages, e.asked_bytes, e.most_bytes, e.reductions, e.cuts,
        e.imbalance_cut, e.imbalance_most);
  return text;
}

std::string as_json(const BenchResult& r) {
  nlohmann::json j{{"particles", r.particles},
                   {"elements", r.elements},
                   {"contact_points", r.contact_points},
                   {"steps", r.steps},
                   {"refused", r.refused},
                   {"ranks", r.ranks},
                   {"threads", r.threads},
                   {"particle_steps_per_second", r.particle_steps_per_second},
                   {"bytes_per_particle", r.bytes_per_particle},
                   {"copy_bytes_per_second", r.copy_bandwidth},
                   {"flops_per_second", r.multiply_adds}};
  for (const BenchPhase& p : r.phases)
    j["phases"][p.name] = {
        {"nanoseconds", p.nanoseconds}, {"memory_floor", p.memory_floor}, {"arithmetic_floor", p.arithmetic_floor}};
  const BenchExchange& e = r.exchange;
  j["exchange"] = {{"owned_blocks", e.owned_blocks},
                   {"ghost_blocks", e.ghost_blocks},
                   {"neighbours", e.neighbours},
                   {"most_neighbours", e.most_neighbours},
                   {"ghost_messages", e.ghost_messages},
                   {"ghost_bytes", e.ghost_bytes},
                   {"shipped_messages", e.shipped_messages},
                   {"shipped_bytes", e.shipped_bytes},
                   {"asked_messages", e.asked_messages},
                   {"asked_bytes", e.asked_bytes},
                   {"most_bytes", e.most_bytes},
                   {"reductions", e.reductions},
                   {"cuts", e.cuts},
                   {"imbalance_cut", e.imbalance_cut},
                   {"imbalance_most", e.imbalance_most}};
  return j.dump(2) + "\n";
}

}  // namespace weft
