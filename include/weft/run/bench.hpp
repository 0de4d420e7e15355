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

/// What ranks told one another, counted and not timed: the same on every machine. Of a rank and step on average, but
/// where it says otherwise.
struct BenchExchange {
  Real owned_blocks, ghost_blocks;       ///< Of a rank at the end.
  Real neighbours, most_neighbours;      ///< Ranks that a rank shares blocks with at the end; of the rank with most.
  Real ghost_messages, ghost_bytes;      ///< Nodes between owners and ghosts.
  Real shipped_messages, shipped_bytes;  ///< Points that went to another rank.
  Real asked_messages, asked_bytes;      ///< Who owns what.
  Real most_bytes;                       ///< Of all kinds, of the rank that sent most.
  Real reductions;                       ///< Operations in which all ranks wait for one another.
  Real cuts;                             ///< New cuts of the curve in all steps.
  Real imbalance_cut;                    ///< Largest counted work of a rank over the mean, the worst after any cut.
  Real imbalance_most;                   ///< The worst after any step.
};

struct BenchResult {
  std::int64_t particles;
  int steps, refused;  ///< Taken, and tries with a larger dt that were refused on the way.
  int ranks, threads;
  Real particle_steps_per_second;
  Real bytes_per_particle;  ///< Resident memory of all ranks beyond that of a program without particles.
  Real copy_bandwidth;      ///< Of all threads together, bytes read plus bytes written [byte/s].
  Real multiply_adds;       ///< Of all threads together, two operations each [1/s].
  std::vector<BenchPhase> phases;
  BenchExchange exchange;
};

/// Takes `steps` steps of a deck, after a few that are not timed, as a run does but without files. If `stir`, points
/// get velocities first that deform the whole scene and reach the CFL number. Collective.
BenchResult bench(const Comm& comm, const Deck& deck, int steps, bool stir);

std::string as_text(const BenchResult& result);
std::string as_json(const BenchResult& result);

}  // namespace weft
