#pragma once
// How fast steps are on this machine, phase by phase, each beside what the machine's memory and arithmetic would allow.

#include "weft/deck/deck.hpp"
#include "weft/parallel/comm.hpp"

#include <string>
#include <vector>

namespace weft {

/// The standard block: a cube of one material, 8 particles in a cell, on a floor.
struct BenchBlock {
  Real particles = 1e6;  ///< About.
  std::string law = "fixed_corotated";
  std::string kernel = "quadratic";
};

/// Throws Error(deck) if there is no such law or kernel.
Deck bench_deck(const BenchBlock& block);

/// Time is wall time of all ranks and threads together.
struct BenchPhase {
  std::string name;
  Real nanoseconds;       ///< Per particle step.
  Real memory_floor;      ///< The same work at the machine's copy bandwidth; 0 if it is not counted.
  Real arithmetic_floor;  ///< At the machine's rate of fused multiply-adds; 0 if it is not counted.
};

struct BenchResult {
  std::int64_t particles;
  int steps, ranks, threads;
  Real particle_steps_per_second;
  Real bytes_per_particle;  ///< Resident memory of all ranks beyond that of a program without particles.
  Real copy_bandwidth;      ///< Of all threads together, bytes read plus bytes written [byte/s].
  Real multiply_adds;       ///< Of all threads together, two operations each [1/s].
  std::vector<BenchPhase> phases;
};

/// Takes `steps` steps of a deck, after a few that are not timed, as a run does but without files. If `stir`, points
/// get velocities first that deform the whole scene and reach the CFL number. Collective.
BenchResult bench(const Comm& comm, const Deck& deck, int steps, bool stir);

std::string as_text(const BenchResult& result);
std::string as_json(const BenchResult& result);

}  // namespace weft
