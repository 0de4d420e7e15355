// The yardstick of `weft bench`: what this machine allows an explicit step of the standard block to take.
//
// Quadratic kernel, moving least squares, APIC, one law, one thread, a dense grid. No walls, gravity, ranks, limits of
// the step, checks, outputs, or choice of anything. Loops over the nodes of a point and laws are those of the library;
// what differs from the program is that points are kept as packs, so that nothing is turned between memory and
// registers where only packs of points are worked on:
//
//     state   | x 3 | mass 1 | elastic deformation 6 | memory of the law |    each a pack: as many points side by side
//     shares  | momentum 3 | its change from node to node 9 |
//
// Points of a block of nodes stand together; the lanes that its last pack has left carry no mass. In two passes, all
// points receive from the grid and write their shares, then all give. Fused, a chunk gives at once, to a second grid.
//
// What pays, of some 100 ns on a Xeon with AVX-512: pages of 2 MiB (8), lines of the next chunk fetched while nodes are
// worked on, stress found while the deformation is at hand, and sorting only when points might leave their tiles.

#include "transfer/stencil_kernel.hpp"
#include "weft/base/memory.hpp"
#include "weft/base/timer.hpp"
#include "weft/geometry/sampling.hpp"
#include "weft/materials/drucker_prager.hpp"
#include "weft/materials/fixed_corotated.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

namespace weft {
namespace {

// The standard block (src/run/bench.cpp).
constexpr Real dx = 0.01, wave_number = 0.5;  // dt is the time of a wave over so many dx, at rest
constexpr int per_cell = 8, warm_up = 5;
constexpr int free_cells = 40;  // of the grid on each side

template <class L>
struct Material;
template <>
struct Material<FixedCorotated> {
  static constexpr Real density = 1000;
  FixedCorotated::Constants k = FixedCorotated::Constants::from(lame_from(1e5, 0.3));
};
template <>
struct Material<DruckerPrager> {
  static constexpr Real density = 2200;
  DruckerPrager::Constants k = DruckerPrager::Constants::from(lame_from(3.5e5, 0.3), std::numbers::pi / 6, 0, {}, true);
};

template <class L>
struct alignas(64) State {
  Vector3<Pack> x;        // [m]
  Pack mass;              // [kg]
  Symmetric3<Pack> kept;  // elastic deformation as the law keeps it
  [[no_unique_address]] typename L::template MemoryOf<Pack> q;

  static constexpr std::size_t fields = 10 + L::Remembered::count;
  /// Of point p of a column; its field f stands f * Pack::size further.
  static Real* of(State* states, std::size_t p) {
    return reinterpret_cast<Real*>(states + p / Pack::size) + p % Pack::size;
  }
};

/// What points give to their nodes besides their mass: momentum and, per dx, its change along each axis [kg m/s].
struct alignas(64) Shares {
  Vector3<Pack> momentum;
  Matrix3<Pack> tilt;
};

/// Asks memory for what a point of the next chunk takes of a column. Beyond the last chunk this does no harm.
template <std::size_t bytes_of_point>
[[gnu::always_inline]] inline void fetch(const void* chunk, std::size_t k) {
#pragma GCC unroll 2
  for (std::size_t line = 0; line < bytes_of_point; line += 64)
    __builtin_prefetch(static_cast<const char*>(chunk) + bytes_of_point * k + line);
}

template <class T>
using Column = std::vector<T, LinesAllocator<T>>;
using Grid = Column<std::array<Real4, nodes_per_block>>;  // (m, p) or (v, -) of nodes

/// Of the grid; `sizes` are sums of magnitudes, beside which round-off is small.
struct Moments {
  Real mass = 0;
  Vec3 momentum = Vec3::Zero(), spin = Vec3::Zero(), sizes = Vec3::Zero();
};

template <class L>
class BareStep {
 public:
  BareStep(Real particles, bool is_fused) : is_fused_(is_fused) {
    const Lame lame = material_.k.lame;
    const Real edge = std::cbrt(particles / per_cell) * dx;
    dt_ = wave_number * dx / std::sqrt((lame.lambda + 2 * lame.mu) / material_.density);
    const int cells = static_cast<int>(std::ceil(edge / dx));
    edge_ = (cells + 2 * free_cells) / block_width + 2;
    grid_.resize(static_cast<std::size_t>(edge_) * edge_ * edge_);
    if (is_fused) next_grid_.resize(grid_.size());
    is_touched_.resize(grid_.size());

    const CellSampler sampler({Sampling::jittered, dx, per_cell, 0, 0});
    std::vector<Vec3> x;
    for (int i = 0; i < cells; ++i)
      for (int j = 0; j < cells; ++j)
        for (int k = 0; k < cells; ++k) sampler.sample({i, j, k}, x);
    std::erase_if(x, [edge](const Vec3& x) { return !(x.maxCoeff() < edge); });
    particles_ = x.size();
    states_.resize((particles_ + Pack::size - 1) / Pack::size);
    for (std::size_t p = 0; p < states_.size() * Pack::size; ++p) {
      State<L>& s = states_[p / Pack::size];
      const int lane = static_cast<int>(p % Pack::size);
      if (lane == 0) s = {{}, 0, L::kept(Matrix3<Pack>(Matrix3<Pack>::Identity())), {}};
      const Vec3& at = x[std::min(p, particles_ - 1)];
      for (int axis = 0; axis < 3; ++axis) s.x[axis].set(lane, at[axis] + free_cells * dx);
      if (p < particles_) s.mass.set(lane, material_.density * sampler.point_volume());
    }
    sort();

    // A rotation about the middle, and waves.
    const Real middle = free_cells * dx + edge / 2, wave_speed = 0.05 * dx / dt_, waves = M_PI / (8 * dx);
    const Real spin = 0.22 * dx / dt_ / std::hypot(edge / 2, edge / 2);
    shares_.resize(std::max(states_.size(), packs_in_chunk));
    for (std::size_t k = 0; k < states_.size(); ++k)
      for (int lane = 0; lane < Pack::size; ++lane) {
        const auto r = [&](int axis) { return states_[k].x[axis][lane] - middle; };
        const auto wave = [&](Real at) { return wave_speed * std::sin(waves * at); };
        const Vec3 v(spin * r(2) + wave(r(1)), wave(r(2)), -spin * r(0) + wave(r(0)));
        for (int axis = 0; axis < 3; ++axis) shares_[k].momentum[axis].set(lane, states_[k].mass[lane] * v[axis]);
        shares_[k].tilt.fill(0);
        speed_ = max(speed_, v.cwiseAbs().maxCoeff());
      }
    visit("scatter", false, true);
  }

  void take() {
    find_velocities();
    // Points are sorted before any could leave its tile, even if they were a little faster now than in the last step;
    // and between the passes, while the grid knows their momentum and only their state must be moved.
    if (!(drift_ + 1.05 * dt_ * largest(speed_) < drift_margin(KernelKind::quadratic) * dx)) sort();
    speed_ = 0;
    if (is_fused_) {
      visit("gather, law and scatter", true, true);
    } else {
      visit("gather and law", true, false);
      visit("scatter", false, true);
    }
    drift_ += dt_ * largest(speed_);
  }

  Moments moments() const {
    Moments sum;
    for (int b : touched_)
      for (int n = 0; n < nodes_per_block; ++n) {
        const Real4& node = grid_[b][n];
        const Vec3i place = block_width * block(b) + Vec3i(n / 16, n / 4 % 4, n % 4);
        const Vec3 x = dx * (place.array() - block_width * edge_ / 2).matrix().cast<Real>();
        const Vec3 p(node[1], node[2], node[3]);
        sum.mass += node[0];
        sum.momentum += p;
        sum.spin += x.cross(p);
        sum.sizes += Vec3(node[0], p.norm(), x.norm() * p.norm());
      }
    return sum;
  }
  std::size_t particles() const { return particles_; }
  Timers timers;

 private:
  static constexpr std::size_t packs_in_chunk = most_rows_in_chunk / Pack::size;
  static constexpr std::size_t numbers = 16;  // that a point receives and gives: value and three tilts of four each

  Vec3i block(int b) const { return {b / (edge_ * edge_), b / edge_ % edge_, b % edge_}; }
  int number(const Vec3i& block) const { return (block.x() * edge_ + block.y()) * edge_ + block.z(); }

  /// Brings every point to the others of its block.
  void sort() {
    const auto timing = timers.measure("sort");
    constexpr std::uint32_t nowhere = -1;
    constexpr std::size_t ahead = 4;                 // packs
    std::vector<std::uint32_t> place(grid_.size());  // how many points a block has, then where its next one goes
    home_.resize(states_.size() * Pack::size);
    PackMask outside = Pack(0) > 0;
    for (std::size_t k = 0; k < states_.size(); ++k) {
      for (std::size_t line = 0; line < 4 * sizeof(Pack); line += 64) fetch<64>(states_.data() + k + ahead, line / 64);
      Pack blocks = 0;
      for (int axis = 0; axis < 3; ++axis) {
        const Pack block = floor(states_[k].x[axis] * (1 / (block_width * dx)) - bin_start / block_width);
        outside = outside || block < 0 || block > edge_ - 2;
        blocks = blocks * edge_ + block;
      }
      require(!any(outside), ExitCode::numerics, "Points have left the grid: take fewer steps.");
      for (int lane = 0; lane < Pack::size; ++lane) {
        std::uint32_t& home = home_[k * Pack::size + lane];
        home = states_[k].mass[lane] > 0 ? static_cast<std::uint32_t>(blocks[lane]) : nowhere;
        if (home != nowhere) ++place[home];
      }
    }

    bins_.clear();
    std::uint32_t end = 0;
    for (std::uint32_t b = 0; b < place.size(); ++b) {
      if (place[b] == 0) continue;
      Bin bin{{}, block(static_cast<int>(b)), end, 0};
      end += (place[b] + Pack::size - 1) / Pack::size;
      place[b] = bin.begin * Pack::size;
      bin.end = end;
      for (int o = 0; o < 8; ++o) {
        const int reached = bin.numbers[o] = number(bin.block + octant_offset(o));
        if (!is_touched_[reached]) touched_.push_back(reached);
        is_touched_[reached] = 1;
      }
      bins_.push_back(bin);
    }

    const auto copy = [](const Real* from, Real* to) {
#pragma GCC unroll 12
      for (std::size_t f = 0; f < State<L>::fields; ++f) to[f * Pack::size] = from[f * Pack::size];
    };
    if (sorted_.capacity() < end) sorted_.reserve(end + bins_.size());
    sorted_.resize(end);
    for (std::size_t p = 0; p < home_.size(); ++p) {
      fetch<sizeof(State<L>) / Pack::size>(states_.data() + ahead, p);
      if (home_[p] != nowhere) copy(State<L>::of(states_.data(), p), State<L>::of(sorted_.data(), place[home_[p]]++));
    }
    for (const Bin& bin : bins_)  // Idle lanes repeat a point, so that they compute with numbers that occur.
      for (std::size_t p = place[bin.numbers[0]]; p < bin.end * std::size_t{Pack::size}; ++p) {
        copy(State<L>::of(sorted_.data(), p - 1), State<L>::of(sorted_.data(), p));
        sorted_[p / Pack::size].mass.set(static_cast<int>(p % Pack::size), 0);
      }
    std::swap(states_, sorted_);
    if (!is_fused_) shares_.resize(end);
    drift_ = 0;
  }

  /// Mass and momentum become velocity.
  void find_velocities() {
    const auto timing = timers.measure("grid");
    for (int b : touched_)
      for (Real4& node : grid_[b]) {
        const Real per_mass = node[0] > 0 ? 1 / node[0] : 0;
        node = per_mass * __builtin_shufflevector(node, node, 1, 2, 3, 0);
      }
  }

  /// The bins one after another: points receive from the grid, move and find their shares; points give their shares.
  void visit(const char* phase, bool gathers, bool scatters) {
    const auto timing = timers.measure(phase);
    Grid& to = gathers ? next_grid_ : grid_;
    if (scatters)
      for (int b : touched_) to[b].fill(Real4{});
    for (const Bin& bin : bins_) {
      if (gathers) {
        from_.forget();
        from_.load_from(reinterpret_cast<const Real*>(grid_.data()), bin, TileRuns::all());
      }
      if (scatters) {
        to_.clear();
        to_.reach(TileRuns::all());
      }
      for (std::size_t begin = bin.begin; begin < bin.end; begin += packs_in_chunk) {
        const std::size_t end = std::min<std::size_t>(begin + packs_in_chunk, bin.end);
        Shares* const shares = &shares_[gathers && scatters ? 0 : begin];
        if (gathers) gather(bin, begin, end, shares);
        if (scatters) scatter(bin, begin, end, shares);
      }
      if (scatters) to_.add_to(reinterpret_cast<Real*>(to.data()), bin);
    }
    if (gathers && scatters) std::swap(grid_, next_grid_);
  }

  [[gnu::noinline]] void find_stencils(const Bin& bin, std::size_t begin, std::size_t end) {
    stencils_.resize((end - begin) * Pack::size);
    for (std::size_t k = begin; k < end; ++k)
      stencils_.find((k - begin) * Pack::size, states_[k].x, origin_of(bin), dx);
  }

  /// Velocity and velocity gradient of a chunk from the tile, and what they do to its points.
  [[gnu::noinline]] void gather(const Bin& bin, std::size_t begin, std::size_t end, Shares* shares) {
    find_stencils(bin, begin, end);
    for (std::size_t k = 0; k < stencils_.size(); ++k) {
      fetch<sizeof(State<L>) / Pack::size>(states_.data() + end, k);
      const Received sums = received(stencils_, k, from_.at(stencils_.place(k)));
      store4(rows_ + k * numbers, sums.value);
      for (int axis = 0; axis < 3; ++axis) store4(rows_ + k * numbers + 4 + 4 * axis, sums.tilt[axis]);
    }
    for (std::size_t k = begin; k < end; ++k) move(states_[k], rows_ + (k - begin) * Pack::size * numbers, *shares++);
  }

  /// Motion, deformation, stress and shares of a pack.
  [[gnu::flatten, gnu::noinline]] void move(State<L>& s, const Real* received, Shares& shares) {
    detail::Reals first[numbers], second[numbers];
    detail::load_block<numbers>(received, first);
    detail::load_block<numbers>(received + Register::size * numbers, second);
    Vector3<Pack> v;
    Matrix3<Pack> C;
    const Real per_tilt = Stencils<QuadraticKernel>::per_tilt(dx);
    for (int i = 0; i < 3; ++i) {
      v[i] = Pack::Reals(first[i], second[i]);
      for (int j = 0; j < 3; ++j) C(i, j) = per_tilt * Pack(Pack::Reals(first[4 + 4 * j + i], second[4 + 4 * j + i]));
      speed_ = max(speed_, abs(v[i]));
    }

    s.x += Pack(dt_) * v;
    const Matrix3<Pack> growth = Matrix3<Pack>::Identity() + Pack(dt_) * C;
    const auto settled = L::settle(material_.k, s.q, Matrix3<Pack>(growth * L::deformation(s.kept)), dt_);
    s.kept = settled.elastic;
    s.q = settled.q;
    // With the offset d of a node it receives w (m (v + C d) - dt V0 tau d / D). [docs/theory/transfer.md, 2]
    const Pack pull = Pack(-dt_ * per_tilt / material_.density) * s.mass;
    shares.tilt = Pack(s.mass * dx) * C + pull * L::kirchhoff(material_.k, settled.q, settled.elastic);
    shares.momentum = s.mass * v;
  }

  /// Adds the shares of a chunk to the tile.
  [[gnu::noinline]] void scatter(const Bin& bin, std::size_t begin, std::size_t end, const Shares* shares) {
    find_stencils(bin, begin, end);
    for (std::size_t k = begin; k < end; ++k) {
      const Shares& s = shares[k - begin];
      detail::Reals first[numbers], second[numbers];
      const auto set = [&](int c, const Pack& pack) { first[c] = pack.v.first, second[c] = pack.v.second; };
      set(0, states_[k].mass);
      for (int i = 0; i < 3; ++i) set(1 + i, s.momentum[i]);
      for (int j = 0; j < 3; ++j) {
        set(4 + 4 * j, 0);
        for (int i = 0; i < 3; ++i) set(5 + 4 * j + i, s.tilt(i, j));
      }
      Real* const to = rows_ + (k - begin) * Pack::size * numbers;
      detail::store_block<numbers>(first, to);
      detail::store_block<numbers>(second, to + Register::size * numbers);
    }
    for (std::size_t k = 0; k < stencils_.size(); ++k) {
      if (!is_fused_) {
        fetch<4 * sizeof(Real)>(states_.data() + end, k);
        fetch<sizeof(Shares) / Pack::size>(shares + (end - begin), k);
      }
      const Real* const row = rows_ + k * numbers;
      const PointShare share{load4(row), {{load4(row + 4), load4(row + 8), load4(row + 12)}}};
      give(stencils_, k, at_first_node(stencils_, k, share), to_.at(stencils_.place(k)));
    }
  }

  const Material<L> material_;
  const bool is_fused_;
  Real dt_, drift_ = 0;  // [s]; how far any point may have come along an axis since the sort [m]
  Pack speed_ = 0;       // largest along any axis in the last step [m/s]
  std::size_t particles_ = 0;
  Column<State<L>> states_, sorted_;
  Column<Shares> shares_;
  int edge_;                         // of the grid [blocks]
  Grid grid_, next_grid_;            // z running fastest
  std::vector<Bin> bins_;            // of packs
  std::vector<int> touched_;         // blocks that points ever reached; all others hold zeros
  std::vector<char> is_touched_;     // by block
  std::vector<std::uint32_t> home_;  // block of each lane
  Tile from_, to_;
  Stencils<QuadraticKernel> stencils_;
  alignas(64) Real rows_[most_rows_in_chunk * numbers];
};

struct Arguments {
  Real particles = 1e6;
  std::string law = "fixed_corotated";
  int steps = 20;
  bool fused = false, json = false;
};

template <class L>
void measure(const Arguments& a) {
  BareStep<L> bare(a.particles, a.fused);
  const Moments before = bare.moments();
  for (int s = 0; s < warm_up; ++s) bare.take();
  bare.timers = Timers();
  const double began = wall_seconds();
  for (int s = 0; s < a.steps; ++s) bare.take();
  const double seconds = wall_seconds() - began, particle_steps = static_cast<double>(bare.particles()) * a.steps;

  const Moments after = bare.moments();
  const Vec3 change(after.mass - before.mass, (after.momentum - before.momentum).norm(),
                    (after.spin - before.spin).norm());
  const Vec3 errors = change.cwiseQuotient(before.sizes).cwiseAbs();
  require((errors.array() < 1e-12).all(), ExitCode::numerics,
          fmt::format("Mass, momentum and angular momentum change by {:.1e}, {:.1e}, {:.1e}: more than round-off.",
                      errors[0], errors[1], errors[2]));

  nlohmann::json j{{"particles", bare.particles()},
                   {"steps", a.steps},
                   {"ranks", 1},
                   {"threads", 1},
                   {"law", a.law},
                   {"fused", a.fused},
                   {"particle_steps_per_second", particle_steps / seconds}};
  std::string text =
      fmt::format("{} particles, {} steps\n{:.2f} M particle steps/s\n\n{:<24}{:>18}\n", bare.particles(), a.steps,
                  particle_steps / seconds / 1e6, "phase", "ns/particle step");
  for (const auto& phase : bare.timers.phases()) {
    const double nanoseconds = 1e9 * phase.seconds / particle_steps;
    j["phases"][phase.name]["nanoseconds"] = nanoseconds;
    text += fmt::format("{:<24}{:>18.1f}\n", phase.name, nanoseconds);
  }
  text += fmt::format("{:<24}{:>18.1f}\n", "all", 1e9 * seconds / particle_steps);
  fmt::print("{}", a.json ? j.dump(2) + "\n" : text);
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  using namespace weft;
  Arguments a;
  CLI::App app("Measure what this machine allows a step of the standard block of `weft bench` to take");
  app.add_option("--particles", a.particles, "About")->capture_default_str()->check(CLI::Range(8.0, 1e8));
  app.add_option("--law", a.law)->capture_default_str()->check(CLI::IsMember({"fixed_corotated", "drucker_prager"}));
  app.add_option("--steps", a.steps, "Steps that are timed")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_flag("--fused", a.fused, "One pass over the points instead of two");
  app.add_flag("--json", a.json, "Print JSON");
  CLI11_PARSE(app, argc, argv);
  try {
    a.law == "drucker_prager" ? measure<DruckerPrager>(a) : measure<FixedCorotated>(a);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
