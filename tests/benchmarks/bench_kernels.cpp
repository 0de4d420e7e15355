// Speed of the parts of a step on one rank: transfers by kernel, and the point work of each law.
// Counters: particle steps per second per core, and bytes of particle state moved per second.

#include "bodies/continuum_kernel.hpp"
#include "weft/base/random.hpp"
#include "weft/parallel/comm.hpp"
#include "weft/transfer/transfer.hpp"

#include <benchmark/benchmark.h>
#include <omp.h>

#include <cmath>

namespace weft {
namespace {

constexpr Real dx = 0.01;

/// The elastic deformation as points of a law keep it.
template <Law L>
using KeptColumn = std::vector<typename L::Kept::Value>;
template <Law L>
KeptColumn<L> kept_of(std::span<const Mat3> F) {
  KeptColumn<L> kept;
  for (const Mat3& one : F) kept.push_back(L::kept(one));
  return kept;
}

/// Flow and stress of a pack.
template <Law L>
[[gnu::flatten, gnu::noinline]] void flow_and_stress(const typename L::Constants& k, const PackRows& rows,
                                                     const KeptColumn<L>& kept, KeptColumn<L>& after,
                                                     std::span<Mat3> A) {
  const auto settled =
      L::settle(k, typename L::template MemoryOf<Pack>{}, L::deformation(load(std::span(kept), rows)), 1e-4);
  store(settled.elastic, rows, std::span(after));
  store(L::kirchhoff(k, settled.q, settled.elastic), rows, A);
}

/// Points of a cube, 8 in a cell, in random places, turning and slightly deformed; sorted into blocks.
struct Cloud {
  Table points = Table::with<Id, Position, Velocity, Affine, Mass, ElasticF>();
  TransferSettings settings;
  Bins bins;
  BlockMap map;
  Layer layer;

  Cloud(KernelKind kernel, std::int64_t count) : settings{kernel, dx, 0} {
    points.resize(static_cast<std::size_t>(count));
    const Real edge = std::cbrt(static_cast<Real>(count) / 8) * dx;
    for (std::size_t p = 0; p < points.rows(); ++p) {
      Random random(1, 0, p);
      const Vec3 x = edge * random.uniform3();
      points.get<Id>()[p] = p;
      points.get<Position>()[p] = x;
      points.get<Velocity>()[p] = Vec3(-x.y(), x.x(), 0.1);
      points.get<Affine>()[p] << 0, -1, 0, 1, 0, 0, 0, 0, 0;
      points.get<Mass>()[p] = 1;
      Mat3 F = Mat3::Identity();
      for (int column = 0; column < 3; ++column) F.col(column) += 0.1 * (random.uniform3() - Vec3::Constant(0.5));
      points.get<ElasticF>()[p] = F;
    }
    sort();
    points.reorder(bins.order());
    bins.rows_were_reordered();
    map = BlockMap(Comm(MPI_COMM_SELF), Cuts{}, touched_blocks({&bins, 1}));
    bins.number(map);
    layer.reset(map.size());
  }

  void sort() { bins.sort(dx, points.get<Position>(), points.get<Id>()); }
};

void report(benchmark::State& state, double bytes_per_point) {
  const double steps = static_cast<double>(state.iterations()) * static_cast<double>(state.range(0));
  state.counters["Mparticle_steps/s/core"] =
      benchmark::Counter(steps / 1e6 / omp_get_max_threads(), benchmark::Counter::kIsRate);
  state.counters["bytes/s"] = benchmark::Counter(steps * bytes_per_point, benchmark::Counter::kIsRate);
}

template <KernelKind kernel>
void sort_points(benchmark::State& state) {
  Cloud cloud(kernel, state.range(0));
  for (auto _ : state) cloud.sort();
  report(state, sizeof(Vec3) + sizeof(PointId));
}

template <KernelKind kernel>
void scatter_points(benchmark::State& state) {
  Cloud cloud(kernel, state.range(0));
  const Table& points = cloud.points;
  for (auto _ : state)
    scatter(
        cloud.settings, cloud.bins,
        {points.get<Position>(), points.get<Velocity>(), points.get<Affine>(), points.get<Mass>()},
        [](ChunkRows, const ChunkForces& forces) { std::ranges::fill(forces.A, Mat3::Identity()); }, 1e-4,
        cloud.layer.get<NodeInertia>());
  report(state, 2 * sizeof(Vec3) + sizeof(Mat3) + sizeof(Real));
}

template <KernelKind kernel>
void gather_points(benchmark::State& state) {
  Cloud cloud(kernel, state.range(0));
  Table& points = cloud.points;
  for (auto _ : state)
    gather(cloud.settings, cloud.bins, std::as_const(points).get<Position>(), cloud.layer.get<NodeVelocity>(),
           [](ChunkRows, const ChunkMotion&) {}, {points.get<Velocity>(), points.get<Affine>()});
  report(state, 2 * sizeof(Vec3) + sizeof(Mat3));
}

/// Flow of every point, and the stress of what it leaves.
template <Law L>
void law(benchmark::State& state, typename L::Constants k) {
  Cloud cloud(KernelKind::quadratic, state.range(0));
  const auto F = kept_of<L>(cloud.points.get<ElasticF>());
  auto after = F;
  std::vector<Mat3> A(F.size());
  for (auto _ : state) {
#pragma omp parallel for schedule(static)
    for (std::size_t first = 0; first < F.size(); first += Pack::size)
      flow_and_stress<L>(k, PackRows::range(first, F.size()), F, after, A);
    benchmark::ClobberMemory();
  }
  report(state, 2 * sizeof(F[0]) + sizeof(Mat3));
}

/// The bound of wave speeds, which every step takes of every point.
template <Law L>
void stiffness(benchmark::State& state, typename L::Constants k) {
  Cloud cloud(KernelKind::quadratic, state.range(0));
  const auto F = kept_of<L>(cloud.points.get<ElasticF>());
  Real most = 0;
  for (auto _ : state) {
#pragma omp parallel for schedule(static) reduction(max : most)
    for (std::size_t first = 0; first < F.size(); first += Pack::size) {
      const typename L::template MemoryOf<Pack> q;
      most = std::max(most, largest(L::stiffness(k, q, load(std::span(F), PackRows::range(first, F.size())))));
    }
    benchmark::DoNotOptimize(most);
  }
  report(state, sizeof(F[0]));
}

template <class F, class... Arguments>
void add(const std::string& name, F&& f, const Arguments&... arguments) {
  benchmark::RegisterBenchmark(name.c_str(), f, arguments...)
      ->Arg(2000)
      ->Arg(100000)
      ->Arg(1000000)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}

template <Law L, class... Numbers>
void add_law(const Numbers&... numbers) {
  add("law/" + std::string(L::name), law<L>, L::Constants::from(numbers...));
  add("stiffness/" + std::string(L::name), stiffness<L>, L::Constants::from(numbers...));
}

void add_all() {
  add("sort/quadratic", sort_points<KernelKind::quadratic>);
  add("scatter/linear", scatter_points<KernelKind::linear>);
  add("scatter/quadratic", scatter_points<KernelKind::quadratic>);
  add("scatter/cubic", scatter_points<KernelKind::cubic>);
  add("gather/linear", gather_points<KernelKind::linear>);
  add("gather/quadratic", gather_points<KernelKind::quadratic>);
  add("gather/cubic", gather_points<KernelKind::cubic>);
  const Lame lame = lame_from(1e5, 0.3);
  add_law<FixedCorotated>(lame);
  add_law<NeoHookean>(lame);
  add_law<StvkHencky>(lame);
  add_law<DruckerPrager>(lame, 0.5, 0.0, DruckerPrager::Hardening{}, true);
  add_law<Snow>(lame, 0.025, 0.0075, 10.0);
  add_law<VonMises>(lame, 1e3, 0.0);
  add_law<Tait>(1e5, 7.0, 0.0);
  add_law<HerschelBulkley>(1e4, 1e5, 10.0, 1.0, 0.5);
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  weft::ParallelSession session(argc, argv);
  benchmark::Initialize(&argc, argv);
  weft::add_all();
  benchmark::RunSpecifiedBenchmarks();
}
